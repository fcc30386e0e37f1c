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
from typing import Any

from ...spec.engines.candidates import LostTrack
from ...spec.engines.monitor import Failure
from .live import Live

__all__ = ["Many", "Step", "Unclear", "Ways", "step"]

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
    """The states of ``live``'s machine, at most ``most`` of them. ``live`` is in one of them."""

    def __init__(self, live: Live, most: int) -> None:
        self._live, self._most = live, most
        self._states = [live.saved()]
        self._against: set[str] = set()     # rules by which a state was ruled out
        self.way: Sequence[Step] = ()       # of those that were taken last, one

    def __len__(self) -> int:
        return len(self._states)

    def splits(self, of: Callable[[Any], Iterable[Mapping[str, Any]]]) -> None:
        """Let each state become several: by the machine in it, those variables that differ. Raises
        ``LostTrack`` if they are too many."""
        after: dict[Any, dict[str, Any]] = {}
        for state in self._states:
            self._live.restore(state)
            for changed in of(self._live.machine):
                more = {**state, **changed}
                after[_frozen(more)] = more
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
                self._live.restore(state)
                failure = next((failure for action, args in way if (
                    failure := self._live.takes(action, **args)) is not None), None)
                if failure is not None:
                    failures.append(failure)
                    continue
                more, self.way = self._live.saved(), way
                after[_frozen(more)] = more
                self._count(after)
        if after:
            self._against |= {failure.rule.id for failure in failures if failure.rule}
            self._are(after)
            return None
        self._live.restore(self._states[0])
        return self._agreed(failures)

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


def _frozen(state: Mapping[str, Any]) -> Any:
    """A state as a key."""
    return tuple(frozenset(value) if isinstance(value, set) else
                 tuple(value) if isinstance(value, list) else value for value in state.values())
