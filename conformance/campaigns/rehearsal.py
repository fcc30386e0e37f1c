"""The choice of a program where each run takes seconds: the one that exercises most in a rehearsal.

A target in real time gets one program a case. Drawn by chance, many of these never come to what
some rule is about: no event follows after all was quiet, or a breach ends the judging early.
So more are drawn than are run. Each is rehearsed first, on an implementation in virtual time that
answers as the target is expected to, and the one is run that could break most rules there. What the
target answers is judged as ever; a rehearsal chooses, and decides nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ...spec.notation.rules import Rule
from ..ports.base import Target
from ..suites.run import run_program
from ..suites.suite import AnySuite, Program

__all__ = ["most_telling"]


def most_telling(
    suite: AnySuite, drafts: Sequence[Program], on: Target, capacity: int, focus: Rule
) -> Program:
    """The one of some programs that can show most.

    In its rehearsal the rule in focus could be broken, and if that can be had, nothing is broken
    besides it: a queue that drops cannot be seen to drop the right item without a breach. Of such
    programs it is the one that exercises most, where a rule counts the more the fewer of the
    programs exercise it; then the shortest, and then the first.
    """
    runs = [run_program(suite, on, program, capacity, count=True) for program in drafts]
    often = Counter(rule for run in runs for rule, steps in run.exercised.items() if steps)

    def worth(at: int) -> tuple[bool, bool, float, int, int]:
        run = runs[at]
        goes_on = all(breach.rule == focus for breach in run.breaches)
        exercised = [rule for rule, steps in run.exercised.items() if steps]
        return (focus.id in exercised, goes_on, sum(1 / often[rule] for rule in exercised),
                -len(run.acts), -at)

    return drafts[max(range(len(drafts)), key=worth)]
