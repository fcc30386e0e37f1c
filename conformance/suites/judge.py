"""Judging a run: several machines watch it side by side, each until it no longer explains it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from ...spec.engines.candidates import Candidates, alternatives_of
from ...spec.engines.monitor import STATES_MAX, Failure, LostTrack, why_refused
from ...spec.notation.errors import InternalError
from ...spec.notation.interpreter import Step
from ...spec.notation.rules import Rule
from ..computer.places import from_root
from .breach import Breach
from .exchange import Answer, Exchange, Watch
from .standing import Group, Watcher, at_stake, watchers_of

__all__ = ["Judge"]


class _Eye:
    """One machine that watches, while it is ``open``; it may have ``lost`` track.

    ``here`` are its candidates: once it has lost track, the last that it had.
    """

    __slots__ = ("here", "lost", "open", "watcher")

    def __init__(self, watcher: Watcher, here: Candidates | None) -> None:
        self.watcher = watcher
        self.here = here
        self.lost = here is None
        self.open = not self.lost

    @property
    def watch(self) -> Watch:
        return self.watcher.watch

    def loses_track(self) -> None:
        self.lost, self.open = True, False

    def observe(self, step: Step, before: int) -> Failure | None:
        """Take a step that was seen after so many others. Raises ``LostTrack``."""
        assert self.here is not None
        sets = self.watcher.sets
        after = sets.after(self.here, step)
        if after is None:
            return why_refused(
                sets.bound.interpreter, self.here.states, alternatives_of(step), before)
        self.here = after
        return None


class Judge:
    """Watches one run, by the ``watches`` of a suite at some ``constants``. ``focus`` is the rule
    that is looked for, or None for all rules.

    ``exercised`` counts, by rule, the replies and events in whose place another one would
    have broken the rule; only if ``counting``, for it takes as long as judging does, and only of
    answers that show a ``wanted`` action (None: any). A machine
    that could be in more than ``candidates`` states loses track, and judges no more. In a ``long``
    run little is remembered for others.

    While every machine explains the run they are ``together`` in one standing; after that each
    is an eye of its own.
    """

    def __init__(
        self, watches: tuple[Watch, ...], constants: Mapping[str, int], focus: Rule | None,
        counting: bool = False, candidates: int = STATES_MAX, every: bool = False,
        long: bool = False,
    ) -> None:
        needed = watches if counting or every or focus is None else tuple([
            watch for watch in watches if watch.adds is None or watch.adds is focus])
        self._watchers = watchers_of(needed, tuple(constants.items()), candidates, long)
        self._together = self._watchers.initial()
        self._eyes: list[_Eye] = []
        if self._together is None:
            self._eyes = [_Eye(each, each.begins()) for each in self._watchers.every]
        self._counting = counting
        self._seen = 0
        self._sought = None if focus is None else focus.id
        self._could_see = self._sought is None or any(
            self._sought in ids for ids in self._watchers.ids)
        self.breaches: list[Breach] = []
        self.exercised: Counter[str] = Counter()
        self.wanted: frozenset[str] | None = None
        self._missing: frozenset[str] = frozenset()
        self._grouped: tuple[tuple[Answer, ...], frozenset[str] | None, Group | None] = (
            (), None, None)

    def count_once(self, rules: Collection[str]) -> None:
        """Count these rules alone, by their ids, and each until a step could have broken it."""
        self._missing = frozenset(rules)
        self.wanted = self._watchers.citing(self._missing)

    @property
    def unjudged(self) -> frozenset[str]:
        """The ids of the rules with a machine that lost track."""
        return frozenset().union(*(eye.watcher.rule_ids for eye in self._eyes if eye.lost))

    @property
    def blind(self) -> bool:
        """True if no later step could show a breach that is looked for."""
        if self._together is not None:
            return not self._could_see
        return not any(
            eye.open and (self._sought is None or self._sought in eye.watcher.rule_ids)
            for eye in self._eyes)

    def see(self, exchange: Exchange, step: int) -> None:
        """Take what an exchange showed; breaches are added to ``breaches``."""
        if self._counting:
            self.count(exchange.possible)
        shown = exchange.observed()
        for position, (observed, is_event) in enumerate(shown):
            answers = exchange.completions if is_event else exchange.possible
            if self._counting and is_event:
                self.count(answers)
            if not self._all_explain(observed):
                given = "" if len(shown) == 1 else next(
                    (each.words for each in answers if each.step == observed), "")
                self._look_closely(observed, answers, step, position, given)
            self._seen += 1

    def count(self, answers: tuple[Answer, ...]) -> None:
        """Count the rules that one of some answers would have broken; called before each step."""
        group = self._group(answers)
        if group is None:
            return
        found = self._at_stake(group)
        for rule_id in found:
            self.exercised[rule_id] += 1
        if self.wanted is not None and not found.isdisjoint(self._missing):
            self.count_once(self._missing - found)

    def _group(self, answers: tuple[Answer, ...]) -> Group | None:
        """Those of some answers that are wanted, if any. The events of one reply have the same
        answers, one after the other."""
        last, wanted, group = self._grouped
        if last is answers and wanted is self.wanted:
            return group
        wanted = self.wanted
        chosen = answers if wanted is None else tuple([
            each for each in answers if each.step[0] in wanted])
        group = self._watchers.group(chosen) if chosen or wanted is None else None
        self._grouped = answers, wanted, group
        return group

    def at_stake(self, answers: tuple[Answer, ...]) -> frozenset[str]:
        """The ids of the rules that one of some answers would break, now."""
        return self._at_stake(self._watchers.group(answers))

    def _at_stake(self, group: Group) -> frozenset[str]:
        if self._together is not None:
            return self._watchers.at_stake(self._together, group)
        return at_stake([(eye.watcher, eye.here) for eye in self._eyes
                         if eye.open and eye.here is not None], group.answers)

    def takes(self, answer: Answer) -> bool:
        """True if all machines would take an answer now; false once one no longer explains the run.
        """
        return self._together is not None and (
            self._watchers.after(self._together, answer.step) is not None)

    def _all_explain(self, observed: Step) -> bool:
        """Take a step, if all machines have explained the run, and explain this too."""
        if self._together is None:
            return False
        after = self._watchers.after(self._together, observed)
        if after is None:
            self._eyes = [_Eye(each, here) for each, here in zip(
                self._watchers.every, self._together.heres, strict=True)]
        self._together = after
        return after is not None

    def _look_closely(
        self, observed: Step, answers: Sequence[Answer], step: int, position: int, given: str
    ) -> None:
        """Take a step, one machine after the other."""
        held = [(eye.watcher, eye.here) for eye in self._eyes
                if eye.open and eye.here is not None]
        if self.wanted is not None:     # some of them alone would be taken for all
            answers = ()
        for eye, rule, failure in self._observe(observed):
            self.breaches.append(Breach(
                rule, step, failure.observation, failure.conjunct, from_root(failure.where),
                _alternatives(answers, observed, held), position, given,
                is_added=eye.watch.adds is not None, is_apart=eye.watch.apart,
            ))

    def _observe(self, observed: Step) -> list[tuple[_Eye, Rule, Failure]]:
        """The refusals of a step: of the first machine that refuses it, and of those that stand
        apart."""
        found: list[tuple[_Eye, Rule, Failure]] = []
        told = False
        for eye in self._eyes:
            if not eye.open or observed[0] not in eye.watcher.actions:
                continue
            if eye.watch.base is not None and not self._has_base(eye):
                continue
            try:
                failure = eye.observe(observed, self._seen)
            except LostTrack:
                eye.loses_track()
                continue
            if failure is None:
                continue
            eye.open = False
            rule = eye.watch.adds or failure.rule
            if told and not eye.watch.apart:
                continue
            if rule is None:
                raise InternalError(
                    f"{failure.observation} is refused, and no rule says why", failure.where)
            found.append((eye, rule, failure))
            told = told or not eye.watch.apart
        return found

    def _has_base(self, eye: _Eye) -> bool:
        """True if the machine that an eye adds a rule to, if any, still explains the run."""
        base = eye.watch.base
        closed = [other for other in self._eyes
                  if base is not None and other.watch.machine is base and not other.open]
        if any(other.lost for other in closed):
            eye.loses_track()
        elif closed:
            eye.open = False
        return not closed


def _alternatives(
    answers: Sequence[Answer], refused: Step, held: Sequence[tuple[Watcher, Candidates]]
) -> tuple[Answer, ...]:
    """Those answers that every machine would have taken instead of a step, in these states."""
    return tuple(
        answer for answer in answers
        if (not answer.instead_of or refused[0] in answer.instead_of)
        and all(_takes(watcher, answer, here) for watcher, here in held)
    )


def _takes(watcher: Watcher, answer: Answer, here: Candidates) -> bool:
    steps = [step for step in (answer.step, *answer.then) if step[0] in watcher.actions]
    return watcher.sets.accepts(here, steps)
