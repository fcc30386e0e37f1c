----------------------------- MODULE PostOffice ------------------------------

\* A post office, which has one of everything that the notation has.
\*
\* The constants here: carts = 1

EXTENDS Integers, Sequences

CONSTANTS Len_

ASSUME Len_ \in Int
ASSUME Len_ >= 1

BoundedSeq(S_, n_) == {s_ \in Seq(S_) : Len(s_) <= n_}

\* mode: 0 = open, 1 = closed
VARIABLES line, van, posted, busy, mode, heavy

vars == <<line, van, posted, busy, mode, heavy>>

TypeOK ==
    /\ line \in [0..1 -> BoundedSeq(1..2, Len_)]
    /\ van \in BoundedSeq([window : 0..1, weight : 1..2], 2)
    /\ posted \in [0..0 -> 0..2]
    /\ busy \in SUBSET (0..1)
    /\ mode \in 0..1
    /\ heavy \in BOOLEAN

Init ==
    /\ line = [i \in 0..1 |-> <<>>]
    /\ van = <<>>
    /\ posted = [i \in 0..0 |-> 0]
    /\ busy = {}
    /\ mode = 0
    /\ heavy = FALSE

queue_up(window) ==
    /\ mode = 0
    /\ Len(line[window]) < Len_
    /\ line' = [line EXCEPT ![window] = Append(line[window], IF heavy THEN 1 ELSE 2)]
    /\ busy' = busy \union {window}
    /\ heavy' = (~heavy)
    /\ UNCHANGED <<van, posted, mode>>

serve(window) ==
    /\ Len(van) < 2
    /\ line[window] # <<>>
    /\ line' = [line EXCEPT ![window] = Tail(line[window])]
    /\ van' = Append(van, [window |-> window, weight |-> Head(line[window])])
    /\ busy' = (busy \ {window}) \union (IF ~(Len(line[window]) - 1 <= 0) /\ window \in busy THEN {window} ELSE {})
    /\ UNCHANGED <<posted, mode, heavy>>

drive ==
    /\ van # <<>>
    /\ (Head(van).weight = 1 \/ Len(van) = 2) = TRUE
    /\ van' = Tail(van)
    /\ posted' = [posted EXCEPT ![0] = (posted[0] + Head(van).weight) % 3]
    /\ UNCHANGED <<line, busy, mode, heavy>>

close ==
    /\ mode' = 1
    /\ UNCHANGED <<line, van, posted, busy, heavy>>

Next ==
    \/ \E window \in 0..1 : queue_up(window)
    \/ \E window \in 0..1 : serve(window)
    \/ drive
    \/ close

Spec ==
    /\ Init
    /\ [][Next]_vars
    /\ \A window \in 0..1 : WF_vars(serve(window))
    /\ WF_vars(drive)

\* POST-1 MUST: A line with customers keeps its window busy.
\* Source: the rules
lines_are_busy ==
    \A window \in 0..1 :
        window \in busy \/ line[window] = <<>>

\* POST-2 MUST: The office does not open again.
\* Source: the rules
stays_closed ==
    [][
        mode <= mode'
    ]_vars

\* POST-3 MUST: The office rests only when closed.
\* Source: the rules
may_rest ==
    ENABLED Next \/ mode = 1

\* POST-4 MUST: Each line gets shorter.
\* Source: the rules
is_served ==
    \A window \in 0..1 :
        (Len(line[window]) = 2) ~> (Len(line[window]) < 2)

\* POST-5 MUST: It always closes at last.
\* Source: the rules
closes ==
    <>[](mode = 1)

==============================================================================
