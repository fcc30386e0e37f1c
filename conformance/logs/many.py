"""A machine in all the states in which it may be: for logs that begin in the middle.

Nothing is known of what was before. So the machine is in every state that it can have by then, as
far as these differ in what may follow, and each event is a step from all of them. A state that
refuses an event was not the true one, or the event breaks a rule. Only where all that are left
refuse is something wrong, and only where they agree in the rule is that rule broken.

What is first mentioned later may be in several states as well: each state becomes several then
(``splits``). It does no harm if there are too many: less is found then, and nothing is invented.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from ...spec.engines.candidates import LostTrack
from ...spec.engines.monitor import Failure
from .live import Live, frozen

__all__ = ["Many", "Step", "Unclear", "Ways", "step"]

_HIGHEST: Final = "the most of it"

Step = tuple[str, Mapping[str, int]]
"""An action with its arguments."""

Ways = Callable[[Any], Iterable[Sequence[Step]]]
"""By the machine in one state, the ways in which an event may be taken, each some steps."""


class Unclear(Exception):
    """No state explains an event, and which rule is broken depends on the state before the log."""


def step(action: str, **args: int) -> tuple[Step]:
    """One way: a single step."""
    return ((action, args),)


class Many:
    """The states of ``live``'s machine, at most ``most`` of them. ``live`` is in one of them.

    The ``ranged`` variable has a range in each state, from its value to ``most_of`` it, if any: a
    counter of which no guard asks more than that it is at least, or at most, something.
    """

    def __init__(self, live: Live, most: int, ranged: str = "", most_of: int = 0) -> None:
        self._live, self._most = live, most
        self._ranged = ranged
        self._states = [live.saved()]
        if ranged:
            self._states[0][_HIGHEST] = most_of
        self._against: set[str] = set()     # rules by which a state was ruled out
        self.way: Sequence[Step] = ()       # of those that were taken last, one

    def __len__(self) -> int:
        return len(self._states)

    def variables(self) -> Mapping[str, Any]:
        """One of the states in words: the variables with their values."""
        return self._live.variables()

    def splits(self, of: Callable[[Any], Iterable[Mapping[str, Any]]]) -> None:
        """Let each state become several: by the machine in it, those variables that differ. Raises
        ``LostTrack`` if they are too many."""
        after: dict[Any, dict[str, Any]] = {}
        for state in self._states:
            self._live.restore(state)
            for changed in of(self._live.machine):
                more = {**state, **changed}
                after[frozen(more.values())] = more
                self._count(after)
        self._are(after)

    def takes(self, of: Ways) -> Failure | None:
        """Take an event from all states; if none of them does, why. Raises ``Unclear`` where they
        do not agree in what is wrong, and ``LostTrack``."""
        after: dict[Any, dict[str, Any]] = {}
        failures: list[Failure] = []
        for state in self._states:
            self._live.restore(state)
            for way in [*of(self._live.machine)]:
                more = self._after(state, way)
                if isinstance(more, Failure):
                    failures.append(more)
                    continue
                self.way = way
                after[frozen(more.values())] = more
                self._count(after)
        if after:
            self._against |= {failure.rule.id for failure in failures if failure.rule}
            self._are(after)
            return None
        self._live.restore(self._states[0])
        return self._agreed(failures)

    def _after(self, state: Mapping[str, Any], way: Sequence[Step]) -> dict[str, Any] | Failure:
        """The state after some steps, or why they are refused."""
        if not self._ranged:
            return self._run(state, way)
        low, high = state[self._ranged], state[_HIGHEST]
        found = {at: self._run({**state, self._ranged: at}, way) for at in {low, high}}
        good = next((at for at, after in found.items() if not isinstance(after, Failure)), None)
        if good is None:
            return found[low]
        bad = low + high - good     # the other end
        while isinstance(found[bad], Failure) and abs(good - bad) > 1:
            at = (good + bad) // 2
            found[at] = self._run({**state, self._ranged: at}, way)
            good, bad = (good, at) if isinstance(found[at], Failure) else (at, bad)
        ends = [after for at in (low, high, good) if not isinstance(after := found[at], Failure)]
        values = [after[self._ranged] for after in ends]
        return {**ends[0], self._ranged: min(values), _HIGHEST: max(values)}

    def _run(self, state: Mapping[str, Any], way: Sequence[Step]) -> dict[str, Any] | Failure:
        self._live.restore(state)
        for action, args in way:
            failure = self._live.takes(action, **args)
            if failure is not None:
                return failure
        return self._live.saved()

    def _agreed(self, failures: Sequence[Failure]) -> Failure:
        """The rule that all states name; those that refuse without a rule were not the true one.
        """
        broken = [failure for failure in failures if failure.rule is not None]
        if len({failure.rule for failure in broken}) == 1:
            return broken[0]
        rules = {failure.rule.id for failure in broken if failure.rule} or self._against
        if rules:
            raise Unclear(f"something is wrong by then, and it depends on what was before the log "
                          f"which of {', '.join(sorted(rules))} is broken, if no record is missing")
        if failures:
            return failures[0]
        raise Unclear("no state that is left can have this event: a record is missing, or a rule "
                      "was broken before")

    def _count(self, after: Mapping[Any, Any]) -> None:
        if len(after) > self._most:
            raise LostTrack

    def _are(self, after: Mapping[Any, dict[str, Any]]) -> None:
        self._states = [*after.values()]
        if self._states:
            self._live.restore(self._states[0])
