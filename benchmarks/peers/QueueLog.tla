------------------------------ MODULE QueueLog ------------------------------
\* A log of a bounded first-in first-out queue, validated by TLC as people do it: each state is a
\* place in the log and what the queue may be there; a call has its effect in a step of its own,
\* which the log does not show. An event is <<process, what, item>>. Written by hand, as small as it can be made, so that the comparison
\* is with TLC and not with a module that checkvalve exports.
EXTENDS Integers, Sequences, TLC, Events
VARIABLES at, inside, putting, taking, ended, got

vars == <<at, inside, putting, taking, ended, got>>

Init ==
    /\ at = 1
    /\ inside = <<>>
    /\ putting = {}     \* <<process, item>>: the call began, and its item is not in
    /\ taking = {}      \* processes whose take began, and has nothing
    /\ ended = {}       \* processes whose item is in, and whose put has not ended
    /\ got = {}         \* <<process, item>>: the take has it, and has not ended

Is(what) == at <= Len(Log) /\ Log[at][2] = what

BeginPut ==
    /\ Is("put begin")
    /\ putting' = putting \cup {<<Log[at][1], Log[at][3]>>}
    /\ at' = at + 1
    /\ UNCHANGED <<inside, taking, ended, got>>

Enter == \E call \in putting :
    /\ Len(inside) < Capacity
    /\ inside' = Append(inside, call[2])
    /\ putting' = putting \ {call}
    /\ ended' = ended \cup {call[1]}
    /\ UNCHANGED <<at, taking, got>>

EndPut ==
    /\ Is("put end")
    /\ Log[at][1] \in ended
    /\ ended' = ended \ {Log[at][1]}
    /\ at' = at + 1
    /\ UNCHANGED <<inside, putting, taking, got>>

BeginTake ==
    /\ Is("take begin")
    /\ taking' = taking \cup {Log[at][1]}
    /\ at' = at + 1
    /\ UNCHANGED <<inside, putting, ended, got>>

Leave == \E process \in taking :
    /\ inside /= <<>>
    /\ got' = got \cup {<<process, Head(inside)>>}
    /\ inside' = Tail(inside)
    /\ taking' = taking \ {process}
    /\ UNCHANGED <<at, putting, ended>>

EndTake ==
    /\ Is("take end")
    /\ <<Log[at][1], Log[at][3]>> \in got
    /\ got' = got \ {<<Log[at][1], Log[at][3]>>}
    /\ at' = at + 1
    /\ UNCHANGED <<inside, putting, taking, ended>>

Accepted ==
    /\ at = Len(Log) + 1
    /\ PrintT("accepted")
    /\ at' = at + 1
    /\ UNCHANGED <<inside, putting, taking, ended, got>>

Next == BeginPut \/ Enter \/ EndPut \/ BeginTake \/ Leave \/ EndTake \/ Accepted

Spec == Init /\ [][Next]_vars
=============================================================================
