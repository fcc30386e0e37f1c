"""Sabotage: implementations that do not work, made of each reference by a machine.

A suite has to find each of them in the run that a user makes, and most by a rule of progress. How
an implementation is sabotaged is in ``acts``, what it answers then in ``replies``, the runs are in
``runs`` and their table in ``report``. docs/sabotage.md has what came out.
"""
