"""Finds the witnesses of the book: mutants of its machines that break its rules.

The machines are mutated (``mutate``, ``classes``) until each of their rules is violated
(``find``); a guard rule needs a step that an observer refuses (``refusals``). To ``confirm`` a
witness, the interpreter replays its run on the mutant.
"""
