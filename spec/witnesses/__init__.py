"""Witnesses: that each rule of the book can be broken at all.

A rule that no change of its machine breaks says nothing. So the machines are mutated, by small
mechanical changes of their text (``mutate``, ``classes``), until each of their rules is violated
(``find``). What was found is kept in ``witnesses.json`` and shown by ``checkvalve rules``; to
confirm it, the interpreter replays the run on the mutant, which takes milliseconds (``book``).
Guard rules, by which observers judge, need no mutant: their witness is a run of the observer
and a step that it then refuses by that rule.
"""
