"""Searching one state of all that differ only by the names of alike members.

Theory. See :mod:`~..notation.renaming`: the renamings of a machine map its runs to runs. The search
keeps of each state the *smallest* of all its renamings, and is otherwise as ever. A rule is decided
for all arguments that renamings map to each other at once: whether all of them hold is the same in
a state and in a renamed one. What it finds is a run of smallest states; the run of the machine
behind it is made by undoing the renamings one after the other, and the interpreter replays it.

That members are alike is proved before (see ``prove.alike``), in every state within the declared
ranges. Rules about what happens in the end are decided on all states: fairness is about each
action by itself, and renaming would mix them up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ..notation.bound import BoundMachine
from ..notation.expr import and_
from ..notation.interpreter import Args, State
from ..notation.labels import counted
from ..notation.machine import values_of
from ..notation.model import LoweredRule
from ..notation.renaming import Renaming, alike_sets, generators, renamings
from ..verdicts.deadline import Deadline
from ..verdicts.verdict import Budget

__all__ = ["Renamed", "Together", "alike_members", "named", "together"]


@dataclass(frozen=True)
class Together:
    """A rule for all arguments that renamings map to each other, as one rule. ``members`` are the
    places of those that were asked for."""

    rule: LoweredRule
    members: tuple[int, ...]


class Renamed:
    """The renamings of a machine with its constants, all of which are proved to keep it."""

    def __init__(self, bound: BoundMachine) -> None:
        self.bound = bound
        self.group = renamings(bound.machine, bound.constants)
        self.sets = named(bound)
        from .native.layout import Layout
        self._layout = Layout(bound.model)
        self._numbers = {step: number for number, step in enumerate(bound.interpreter.steps())}

    def smallest(self, state: State) -> Renaming:
        """The renaming that makes a state the smallest of its renamings."""
        slots = self.bound.interpreter.slots(state)
        return min(self.group, key=lambda each: self._layout.pack(each.state(slots)))

    def step(self, renaming: Renaming, number: int) -> int:
        """The number of a step after a renaming."""
        name, args = self.bound.interpreter.steps()[number]
        over = self.bound.machine.actions_declared[name].over
        return self._numbers[name, renaming.args(over, args)]

    def run_behind(self, path: Sequence[int], deadline: Deadline) -> list[int]:
        """The machine's run behind a run of smallest states, from steps to steps.

        The last step may be one that is at fault, and is not taken.
        """
        interpreter = self.bound.interpreter
        state, undone, run = interpreter.initial(), self.group[0], []
        for place, number in enumerate(path):
            deadline.check("finding the run behind renamed states")
            run.append(self.step(undone, number))
            if place + 1 < len(path):
                after = interpreter.step(state, *interpreter.steps()[run[-1]])
                assert after is not None, "a renamed step is enabled where the step is"
                state = after
                undone = self._inverse(self.smallest(state))
        return run

    def _inverse(self, renaming: Renaming) -> Renaming:
        images = {each: tuple(sorted(range(len(new)), key=new.__getitem__))
                  for each, new in renaming.images.items()}
        return next(each for each in self.group if each.images == images)

    def breaking(self, run: Sequence[int], item: LoweredRule) -> list[int]:
        """A run that breaks a rule for its arguments, made of one that breaks it for some
        arguments which renamings make of them: the same run with other names."""
        interpreter = self.bound.interpreter
        states = [interpreter.initial()]
        for number in run:
            after = interpreter.step(states[-1], *interpreter.steps()[number])
            assert after is not None, "the run can be taken"
            states.append(after)
        last = states[-2:] if item.rule.kind == "step" else states[-1:]
        for renaming in self.group:
            args = renaming.args(item.rule.over, item.args)
            if not interpreter.holds(item.rule, args, *last):
                back = self._inverse(renaming)
                return [self.step(back, number) for number in run]
        return list(run)  # the replay will say that it breaks nothing


# --- what is proved ---------------------------------------------------------------------------

def named(bound: BoundMachine) -> str:
    """The sets of a machine with at least two alike members, in words; empty where none are."""
    sizes = {name: len(values_of(each, bound.constants))
             for name, each in alike_sets(bound.machine).items()}
    return " and ".join(f"{name} ({counted(size, 'member')})"
                        for name, size in sizes.items() if size > 1)


def alike_members(
    bound: BoundMachine, rules: Mapping[int, LoweredRule], budget: Budget
) -> dict[int, LoweredRule]:
    """Those of some rules that may be decided up to renaming; none where nothing is alike.

    Raises InputError where the machine says of members that they are alike, and they are not.
    """
    from .prove.alike import Alikeness, Undecided
    from .prove.terms import Unsupported
    if not named(bound):
        return {}
    kept = dict(rules)
    try:
        for renaming in generators(bound.machine, bound.constants):
            proof = Alikeness(bound.model, renaming, budget.deadline)
            proof.check_model()
            for one in together(bound, kept):
                if not all(proof.keeps(expression) for expression in one.rule.exprs):
                    for place in one.members:
                        del kept[place]
    except (Undecided, Unsupported):
        return {}
    return kept


def together(bound: BoundMachine, rules: Mapping[int, LoweredRule]) -> list[Together]:
    """Some rules, those together that renamings map to each other."""
    by_args: dict[tuple[str, Args], LoweredRule] = {
        (rule.rule.id, rule.args): rule for rule in bound.model.rules}
    some = generators(bound.machine, bound.constants)
    found: dict[tuple[str, frozenset[Args]], list[int]] = {}
    for place, rule in rules.items():
        found.setdefault((rule.rule.id, _orbit(some, rule)), []).append(place)
    result = []
    for (rule_id, orbit), places in found.items():
        every = [by_args[rule_id, args] for args in sorted(orbit)]
        # A rule has one expression here: those with two are about what happens in the end.
        whole = and_(*(expression for each in every for expression in each.exprs))
        result.append(Together(replace(every[0], exprs=(whole,)), tuple(places)))
    return result


def _orbit(some: Sequence[Renaming], rule: LoweredRule) -> frozenset[Args]:
    """All arguments that renamings make of a rule's."""
    found, left = {rule.args}, [rule.args]
    while left:
        args = left.pop()
        for renaming in some:
            new = renaming.args(rule.rule.over, args)
            if new not in found:
                found.add(new)
                left.append(new)
    return frozenset(found)
