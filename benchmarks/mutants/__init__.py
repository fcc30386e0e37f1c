"""Mechanical mutants of checkvalve's own code, and what kills them: ``make mutants``.

Theory of operation. A *mutant* is the text of one module with one small change that a slip of
the pen could have made (``operators``). It is *killed* if something that is run anyway notices:
for a mutant of the reference first the default run of a suite, as a user makes it, then the
reference's own tests; for a mutant of an engine the tests of that engine. A mutant that nobody
notices is either no bug at all, which is argued in ``arguments.toml``, or a hole in the suites
or the tests.

``modules`` lists what is mutated and which tests are asked, ``draw`` takes so many mutants of
each module, always the same ones for the same text and seed. ``survey`` runs every killer once
on the text as it is, to learn how long it takes and which functions it reaches; then a mutant is
shown only to the killers that reach its function, the fastest first, up to the first that
fails. ``stand`` does that in a fork of this process, which has the heavy libraries imported but
takes checkvalve from a copy of the tree with the mutant in it (``tree``), under limits of time
and memory. ``ledger`` remembers results and reads the arguments, ``report`` prints the table.

Works on Linux, in a clone: it needs ``fork``, ``/proc`` and the tests.
"""
