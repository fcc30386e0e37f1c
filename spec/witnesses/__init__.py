"""Witnesses: that each rule of the book can be broken at all.

A rule that no change of its machine breaks says nothing. So the machines are mutated, by small
mechanical changes of their text, until each of their rules is violated (``benchmarks/witnesses``).
What was found is kept here, in ``witnesses.json`` (``book``) and ``breakers.json`` (``refused``),
and shown by ``checkvalve rules``. Guard rules, by which observers judge, need no mutant: their
witness is a run of the observer and a step that it then refuses by that rule.
"""
