"""The kind of a machine, among several: the questions that tell them apart.

Theory of operation. A machine may begin with a step by which it turns out to be of some *kind*, and
keep to it; the step cannot be seen. For each kind there is a set of states that explain what was
seen (a *belief* has all these sets), and an answer rules out the kinds that have none left. A
*question* is something that can be asked, with the steps that it may show. Of all sequences of
questions after which some kinds give answers that others do not give, ``next_questions`` finds a
shortest, by breadth-first search over beliefs; asked again after each answer, this is an adaptive
distinguishing experiment (Lee and Yannakakis, 1994). Where no such sequence is left, no further
question helps.

``telling_questions`` looks back: what is the shortest sequence that would have told one kind from
the others? This is what a reader is shown, and what can be asked of a fresh instance.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..notation.interpreter import Step, choices
from .candidates import Candidates, CandidateSets

__all__ = ["Belief", "Experiment", "Kind"]

Kind = tuple[int, ...]
"""The kind that a machine turns out to be: the arguments of the step that shows it."""

Belief = dict[Kind, Candidates]
"""For each kind that is not ruled out, the states that it may be in."""

_Node = tuple[tuple[Kind, Candidates], ...]


@dataclass(frozen=True)
class _Told:
    """A sequence of questions, and the kinds that it leaves beside the one it is about."""

    questions: tuple[str, ...]
    left: frozenset[Kind]


class Experiment:
    """The kinds of one machine, and what can be asked of it.

    ``birth`` is the action by which it turns out to be of a kind. ``questions`` has the actions
    that each question may show; those that come first are preferred. A search looks at ``nodes``
    beliefs at most, and asks ``watch``, which may raise, at each.
    """

    def __init__(
        self, sets: CandidateSets, birth: str, questions: Mapping[str, Sequence[str]],
        nodes: int = 20_000, watch: Callable[[], None] = lambda: None,
    ) -> None:
        self.sets = sets
        self.steps = {name: _steps(sets, actions) for name, actions in questions.items()}
        self._nodes = nodes
        self._watch = watch
        self._fresh: Belief = {
            tuple(value for _, value in args): born for name, args in _steps(sets, (birth,))
            if (born := sets.after(sets.initial, (name, args))) is not None}

    # --- following what is seen ----------------------------------------------------------

    def fresh(self, kinds: Iterable[Kind] | None = None) -> Belief:
        """The belief at the beginning, if the machine is of one of some kinds (any, if none are
        given)."""
        if kinds is None:
            return dict(self._fresh)
        return {kind: self._fresh[kind] for kind in kinds if kind in self._fresh}

    def after(self, belief: Belief, step: Step) -> Belief:
        """The belief after a step was seen; empty where no kind explains it."""
        found = ((kind, self.sets.after(here, step)) for kind, here in belief.items())
        return {kind: there for kind, there in found if there is not None}

    def possible(self, belief: Belief, question: str) -> dict[Step, Belief]:
        """The answers that a question may get, and what each leaves."""
        found = ((step, self.after(belief, step)) for step in self.steps[question])
        return {step: left for step, left in found if left}

    # --- looking ahead -------------------------------------------------------------------

    def next_questions(self, belief: Belief) -> tuple[str, ...]:
        """A shortest sequence of questions; the last rules out some kind, whatever the answer.

        If there is none, a shortest in which the last may do so. Empty where there is none either,
        or none among as many beliefs as may be looked at.
        """
        perhaps: tuple[str, ...] = ()
        seen = {_node(belief)}
        todo: deque[tuple[tuple[str, ...], Belief]] = deque([((), belief)])
        while todo and len(seen) <= self._nodes:
            self._watch()
            asked, here = todo.popleft()
            for question in self.steps:
                answers = self.possible(here, question)
                whole = [left for left in answers.values() if len(left) == len(here)]
                if answers and not whole:
                    return (*asked, question)
                if len(whole) < len(answers):
                    perhaps = perhaps or (*asked, question)
                for left in whole:
                    node = _node(left)
                    if node not in seen:
                        seen.add(node)
                        todo.append(((*asked, question), left))
        return perhaps

    def telling_questions(self, kind: Kind, among: Iterable[Kind]) -> Iterator[tuple[str, ...]]:
        """Short sequences of questions, each from the beginning, which tell a kind from others.

        One, if one does; else several, each of which rules out as many of the rest as any does.
        What no question tells apart from it stays.
        """
        rest = frozenset(among) - {kind}
        while rest:
            found = self._most_telling(kind, rest)
            if found.left == rest:
                return
            yield found.questions
            rest = found.left

    def _most_telling(self, kind: Kind, rest: frozenset[Kind]) -> _Told:
        """The shortest of the sequences that leave the fewest of the rest."""
        best = _Told((), rest)
        start = self.fresh([kind, *rest])
        seen = {_node(start)}
        todo: deque[tuple[tuple[str, ...], Belief]] = deque([((), start)])
        while todo and len(seen) <= self._nodes:
            self._watch()
            asked, here = todo.popleft()
            for question in self.steps:
                for step in self._answers_of(here[kind], question):
                    there = self.after(here, step)
                    told = _Told((*asked, question), frozenset(there) - {kind})
                    if not told.left:
                        return told
                    if len(told.left) < len(best.left):
                        best = told
                    node = _node(there)
                    if node not in seen:
                        seen.add(node)
                        todo.append((told.questions, there))
        return best

    def _answers_of(self, here: Candidates, question: str) -> Iterator[Step]:
        return (step for step in self.steps[question] if self.sets.after(here, step) is not None)


def _node(belief: Mapping[Kind, Candidates]) -> _Node:
    return tuple(belief.items())


def _steps(sets: CandidateSets, actions: Sequence[str]) -> tuple[Step, ...]:
    """All steps of some actions, with every choice of their parameters."""
    declared = sets.bound.machine.actions_declared
    return tuple((name, args) for name in actions
                 for args in choices(declared[name].over, sets.bound.constants))
