"""The suite ``marks``: elements come in bursts, and are taken in draughts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ....spec.flow.observed_marks import ObservedMarks
from ....spec.notation.interpreter import Step
from ...ports.base import Message, Session
from ...suites.plain import PlainConversation, Seen
from ...suites.suite import Act, Answer, Suite, Watch

__all__ = ["SUITE", "MarksConversation"]

PICKS: Final = 12
_UNDER_WAY: Final = 3
"""Elements that may come although stop was said, at most."""

_REST: Final[Step] = ("rests", ())
_SAYS: Final[Mapping[str, Step]] = {"stop": ("says_stop", ()), "go": ("says_go", ())}
_SIGNALS: Final = ("says_stop", "says_go", "rests")


class MarksConversation(PlainConversation):
    """One session with a receiver; this is its sender, and who takes from it."""

    acts = ("arrive",)

    def __init__(self, session: Session, capacity: int, items_max: int) -> None:
        super().__init__(session, "marks", _settings(capacity))
        self._most = _constants(capacity, items_max)["M"]
        self._high = _settings(capacity)["high"]
        self._held = 0
        self._stopped = False
        self._late = 0                          # elements that have come since stop was said

    def request_of(self, act: Act) -> Message | None:
        """See ``PlainConversation``."""
        if act.do == "take":
            return {"do": "take", "most": act.pick % (self._high + 1) + 1}
        count = act.pick % (_UNDER_WAY if self._stopped else self._high) + 1
        # A sender that never hears of a stop ends when the observer's numbers do.
        if self._stopped and self._late + count > _UNDER_WAY or self._held + count > self._most:
            return None
        return {"do": "arrive", "count": count}

    def asked(self, request: Message) -> str:
        """See ``PlainConversation``."""
        if request["do"] == "take":
            return f"somebody asks for {request['most']}"
        return "an element comes" if request["count"] == 1 else f"{request['count']} elements come"

    def possible(self, request: Message) -> Iterator[Answer]:
        """See ``PlainConversation``."""
        if request["do"] == "take":
            for given in range(request["most"] + 1):
                yield Answer(f"{given} are given", _of("gives", given), instead_of=("gives",))
        yield Answer("it says stop", _SAYS["stop"], (_REST,), _SIGNALS)
        yield Answer("it says go", _SAYS["go"], (_REST,), _SIGNALS)
        yield Answer("it says nothing more", _REST, instead_of=_SIGNALS)

    def seen(self, request: Message, answer: Any) -> Seen:
        """See ``PlainConversation``."""
        if request["do"] == "take":
            given, says = answer["given"], answer["says"]
            first, words = _of("gives", min(given, self._most)), f"{given} are given"
            self._held = max(0, self._held - given)
        else:
            first, words, says = _of("arrives", request["count"]), "", answer
            self._held += request["count"]
            self._late += request["count"] * self._stopped
        for each in says:
            self._stopped, self._late = each == "stop", 0
        said = " and ".join(f"it says {each}" for each in says) or "it says nothing"
        return Seen((first, *(_SAYS[each] for each in says), _REST),
                    f"{words}, and {said}" if words else said)


def _of(action: str, count: int) -> Step:
    return action, (("count", count),)


def _settings(capacity: int) -> Mapping[str, int]:
    return {"capacity": capacity, "high": 2 * capacity}


def _constants(capacity: int, items_max: int) -> Mapping[str, int]:
    return {"H": 2 * capacity, "L": capacity, "M": 6 * capacity + _UNDER_WAY}


SUITE: Final = Suite(
    name="marks",
    version=1,
    port="marks",
    watches=(Watch(ObservedMarks),),
    weights={"arrive": 4, "take": 3},
    epilogue=(Act("take", 0), Act("take", 1), Act("arrive", 0), Act("take", 3), Act("arrive", 2),
              Act("take", 5), Act("take", 5)),
    constants=_constants,
    converse=MarksConversation,
    settings=_settings,
    capacities=(1, 2, 3),
    picks=PICKS,
    scene="A receiver. Low mark: {capacity}; high mark: {high}.",
)
