------------------------------- MODULE LaneLog -------------------------------
\* A log of a lane between two tasks, validated by TLC: what is sent has the next number, and is
\* processed in this order. The log leaves nothing open, so there is one state for each event.
\* An event is <<process, what, item>>. Written by hand, as small as it can be made.
EXTENDS Integers, Sequences, TLC, Events
VARIABLES at, sent, processed

vars == <<at, sent, processed>>

Init == at = 1 /\ sent = 0 /\ processed = 0

Emits ==
    /\ at <= Len(Log) /\ Log[at][2] = "emits point"
    /\ Log[at][3] = sent
    /\ sent' = sent + 1
    /\ at' = at + 1
    /\ UNCHANGED processed

Processes ==
    /\ at <= Len(Log) /\ Log[at][2] = "processes point"
    /\ Log[at][3] = processed /\ processed < sent
    /\ processed' = processed + 1
    /\ at' = at + 1
    /\ UNCHANGED sent

Accepted ==
    /\ at = Len(Log) + 1
    /\ PrintT("accepted")
    /\ at' = at + 1
    /\ UNCHANGED <<sent, processed>>

Next == Emits \/ Processes \/ Accepted

Spec == Init /\ [][Next]_vars
=============================================================================
