"""Conversations about calls that begin, wait and end: on an event loop that the harness drives, or
by threads of which one runs at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from ...spec.notation.errors import TargetError
from ..ports.base import Message, excerpt
from .besides import Given, counted_as, given, number_in
from .exchange import Act
from .plain import PlainConversation, Seen
from .says import Fields, On, Part, Says, done, each, on
from .sweeping import STEPS_MAX

__all__ = [
    "CALLS_MAX", "CALLS_OF_LONG", "CallsConversation", "WAITERS_OF_LONG", "driving", "events",
    "stopping"]

CALLS_MAX: Final = 12
"""Calls of a kind in one program."""
CALLS_OF_LONG: Final = 160
"""As many calls of a kind begin in a long program: each internal step may be of any of them."""

WAITERS_OF_LONG: Final = 8
"""So many of them may wait at the same time there; in short programs ``STEPS_MAX``."""

LINES_MAX: Final = 16
"""The most steps after which a call of a thread is stopped."""

WAITING: Final = ("begun", "waits", "stopping")
"""States of a call without an outcome; one that is ``stopping`` has been cancelled."""


def events(*entries: Any) -> Part:
    """The actions of the callbacks that ran, in their order."""
    return each(*entries, joined="; ", nothing="nothing is to be seen")


def stopping(proceeds: Part) -> tuple[On, On]:
    """The rows of the operations by which a call of a thread is stopped on its way, and continues.
    """
    return (on("pause", "the next call is stopped after {lines}", done(),
               picks={"steps": range(1, LINES_MAX + 1)}),
            on("proceed", "a call that can continue does", proceeds, only="under_way",
               picks={"place": range(STEPS_MAX)}))


def driving(run: Part, *settled: Says) -> tuple[On, On]:
    """The rows of the operations that let callbacks run: some of them, or all until none is left.
    """
    return (on("run", "run up to {callbacks}", run, only="under_way",
               picks={"steps": range(1, STEPS_MAX + 1)}),
            on("settle", "all runs that can run", *settled, run))


class CallsConversation(PlainConversation):
    """One session. Calls are named by a letter and a number, in the order in which they begin.

    ``letters`` are those of the operations that ``begin`` a call. An event ``moves`` its call: by
    action, the state in which it is then, and those in which it may have been (none: any).
    ``asked_of`` has the operations that are asked of a call: by the state that it must have, the
    one that it has then. As many calls may wait as the constant W says.
    """

    letters: ClassVar[Mapping[str, str]]
    first: ClassVar[str] = "waits"
    moves: ClassVar[Mapping[str, tuple[str, ...]]]
    knows: ClassVar[tuple[Given, ...]] = (
        given("steps", callbacks=counted_as("steps", "callback"),
              lines=counted_as("steps", "step")),
        given("by", call=number_in("by")))
    room_for_each: ClassVar[bool] = False
    """True if so many calls of each letter may wait."""
    asked_of: ClassVar[Mapping[str, Mapping[str, str]]] = {"interrupt": {"waits": "stopping"}}

    stops_at: ClassVar[tuple[str, ...]] = ()
    """The operations after which the observer learns that their call was stopped on its way."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._pauses = False        # whether the next call is to be stopped on its way
        self.states: dict[str, str] = {}
        self.most = self.constants.get("K", CALLS_MAX)
        self.waiters = self.constants.get("W", STEPS_MAX)

    @property
    def under_way(self) -> list[str]:
        """The calls that a callback may be of."""
        return self.calls(*WAITING)

    def calls(self, *states: str, letter: str = "") -> list[str]:
        """The calls in some states."""
        return [name for name, state in self.states.items()
                if state in states and name.startswith(letter)]

    def has_room(self, letter: str) -> bool:
        """True if one more call may wait."""
        those = self.calls(*WAITING, letter=letter if self.room_for_each else "")
        return len(those) < self.waiters

    def begun(self, letter: str) -> int:
        """The number of calls that have begun, of those with a letter."""
        return sum(name.startswith(letter) for name in self.states)

    def begin(self, do: str, act: Act) -> Message | None:
        if do in self.letters:
            letter = self.letters[do]
            number = self.begun(letter)
            return {"do": do, "by": f"{letter}{number + 1}"} if (
                number < self.most and self.has_room(letter)) else None
        if do in self.asked_of:
            those = self.calls(*self.asked_of[do])
            return {"do": do, "by": those[act.pick % len(those)]} if those else None
        return {"do": do}

    def seen(self, request: Message, answer: Any) -> Seen:
        if request["do"] in self.letters:
            self.states[request["by"]] = self.first
        elif request["do"] in self.asked_of:
            self.states[request["by"]] = self.asked_of[request["do"]][self.states[request["by"]]]
        shown = super().seen(request, answer)
        pauses, self._pauses = self._pauses, request["do"] == "pause" or (
            self._pauses and request["do"] not in self.stops_at)
        if pauses and request["do"] in self.stops_at and (
                self.states[request["by"]] in (*WAITING, "giving")):
            return Seen((*shown.steps, ("stopped_on_its_way", ())), shown.words)
        return shown

    def note(self, action: str, about: Fields) -> None:
        """Note an action of a call. Raises ``TargetError`` for one that the call cannot have."""
        super().note(action, about)
        if "do" in about or action not in self.moves:
            return
        state, *before = self.moves[action]
        here = self.states.get(about["by"])
        if here is None or (before and here not in before):
            raise TargetError(
                f"the target reports {excerpt(dict(about))}, which cannot be of that call",
                next_step="Fix the adapter: a call has the name that its request gave it, and "
                          "ends once, as such calls do.")
        self.states[about["by"]] = state
