"""A second opinion: certificates of verdicts on designs, checked without the engines.

Nothing here imports what translates, searches or proves designs. Only the reading of files, and the
data types that it fills, are shared (``checkvalve.spec.design.reading.language`` and ``symbols``).

What has to be believed, in the order in which it is best read:

1. What a design does: ``system`` (counters, and transitions, of class ``Transition``, between their
   values), and how the language is read as such: ``transitions``, with ``scripts``, ``meetings``
   (links of capacity 0), ``signals`` (stop and go) and ``lines`` (kinds in one queue).
2. What is asked of it: ``checker``, with ``parts``, ``wanted`` (steps that must recur) and
   ``finished``.
3. *Violated*, by a run: ``run``; ``repeated`` (forever, or with an accident at its end), with
   ``halted`` (transitions that are never possible again).
4. *Holds*, by one form each: ``confluence`` (one run), ``kept`` (sums and clauses, in whole
   numbers), ``emptying`` (an order of waits), ``proofs`` with ``solver``, ``silence`` and
   ``rescued`` (what sums and runs exclude, by cvc5), ``states`` with ``visited`` (all states).
   ``order`` has both verdicts on order and duplication.
5. ``law``: the same for all values of parameters.

How many lines that is for each kind of certificate, ``benchmarks/pages/roles.py`` counts.
"""
