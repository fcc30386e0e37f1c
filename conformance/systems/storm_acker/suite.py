"""The suite ``storm.acker``: INIT, ACK, FAIL, RESET_TIMEOUT and ticks, in any order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from ....spec.notation.interpreter import Step
from ....spec.storm.acking.observed_acker import ObservedAcker, Told
from ...ports.base import Message, Session
from ...suites.plain import PlainConversation, Seen
from ...suites.suite import Act, Answer, Suite, Watch

__all__ = ["EDGES", "ROOTS", "SUITE", "AckerConversation"]

ROOTS: Final = ("9ae16a3b2f90404f", "c949d7c7509e6557", "000000000000002a")
"""The ids of the three roots."""

EDGES: Final = (
    ("ff51afd7ed558ccd", "0000000000000001"),
    ("00000000deadbeef", "8000000000000000"),
    ("c4ceb9fe1a85ec53", "0123456789abcdef"),
)
"""The ids of each root's edges a and b, independent over GF(2); b of the second is a single
high bit, which whoever keeps fewer than 64 does not see."""


class _Content(NamedTuple):
    """What an INIT or an ACK carries: edges of a root, and how a reader says so."""

    root: int
    a: int
    b: int
    words: str

    def value(self) -> str:
        a, b = (int(edge, 16) for edge in EDGES[self.root])
        return f"{a * self.a ^ b * self.b:016x}"


_INITS: Final = (
    _Content(0, 1, 0, "INIT of r1, emitted along edge a"),
    _Content(1, 1, 1, "INIT of r2, emitted along edges a and b"),
    _Content(2, 0, 0, "INIT of r3, emitted to nobody"),
)
_ACKS: Final = (
    _Content(0, 1, 1, "ACK of r1's edge a, b emitted from it"),
    _Content(1, 1, 0, "ACK of r2's edge a"),
    _Content(1, 0, 1, "ACK of r2's edge b"),
    _Content(0, 0, 1, "ACK of r1's edge b"),
)
_WITH_EDGES: Final = 2
"""The first roots have edges, hence bolts that may fail a tuple or ask for time."""

_TOLD: Final[Mapping[str, Told]] = {
    "ack": Told.ACK, "fail": Told.FAIL, "reset_timeout": Told.RESET}
_WORDS: Final = {
    Told.NOTHING: "nothing is told", Told.ACK: "ack is told", Told.FAIL: "fail is told",
    Told.RESET: "the request is passed on",
}


class AckerConversation(PlainConversation):
    """One session with an acker.

    Root r has the spout task r + 1. Each INIT and ACK is sent at most once, in any order;
    FAIL and RESET_TIMEOUT as often as wanted.
    """

    def __init__(self, session: Session, capacity: int, items_max: int) -> None:
        super().__init__(session, "storm.acker", {"capacity": capacity})
        self._sent: set[_Content] = set()

    def request_of(self, act: Act) -> Message | None:
        """See ``PlainConversation``."""
        if act.do in ("init", "ack"):
            every = _INITS if act.do == "init" else _ACKS
            left = [content for content in every if content not in self._sent]
            if not left:
                return None
            content = left[act.pick % len(left)]
            request = {"do": act.do, "root": ROOTS[content.root], "value": content.value()}
            return request | ({"task": content.root + 1} if act.do == "init" else {})
        if act.do in ("fail", "reset_timeout"):
            return {"do": act.do, "root": ROOTS[act.pick % _WITH_EDGES]}
        return {"do": act.do}

    def asked(self, request: Message) -> str:
        """See ``PlainConversation``."""
        if "value" in request:
            return _content(request).words
        if "root" in request:
            return f"{request['do'].upper()} of r{ROOTS.index(request['root']) + 1}"
        return str(request["do"])

    def possible(self, request: Message) -> Iterator[Answer]:
        """See ``PlainConversation``."""
        if request["do"] == "size":
            for count in range(len(ROOTS) + 2):
                yield Answer(str(count), ("sized", (("count", count),)))
            return
        for told in Told:
            yield Answer(_WORDS[told], _step(request, told))
        if request["do"] != "tick":
            yield Answer("somebody else is told", ("stray", ()), (_step(request, Told.NOTHING),))

    def seen(self, request: Message, answer: Any) -> Seen:
        """See ``PlainConversation``."""
        if request["do"] == "size":
            count = min(answer, len(ROOTS) + 1)
            return Seen((("sized", (("count", count),)),), f"{answer} entries")
        if "value" in request:
            self._sent.add(_content(request))
        due = [each for each in answer if self._is_addressed(request, each)]
        first = _TOLD[due[0]["tell"]] if due else Told.NOTHING
        strays = len(answer) - len(due[:1])
        words = _WORDS[first] + (f", and {strays} more to whom it may concern" if strays else "")
        steps = (("stray", ()),) * strays + (_step(request, first),)
        return Seen(steps, words)

    def _is_addressed(self, request: Message, telling: Message) -> bool:
        """Whether a message goes to the right task. Of a tick none is expected at all, and
        before INIT nobody can know a right one."""
        if request["do"] == "tick":
            return True
        root = ROOTS.index(request["root"])
        known = any(each in self._sent for each in _INITS if each.root == root)
        return telling["root"] == ROOTS[root] and (not known or telling["to"] == root + 1)


def _content(request: Message) -> _Content:
    every = _INITS if request["do"] == "init" else _ACKS
    return next(each for each in every
                if ROOTS[each.root] == request["root"] and each.value() == request["value"])


def _step(request: Message, told: Told) -> Step:
    if request["do"] == "tick":
        return "tick", (("tells", told),)
    root = ROOTS.index(request["root"])
    if "value" not in request:
        return request["do"], (("root", root), ("tells", told))
    content = _content(request)
    return request["do"], (("root", root), ("a", content.a), ("b", content.b), ("tells", told))


def _constants(capacity: int, items_max: int) -> Mapping[str, int]:
    return {"N": capacity, "R": len(ROOTS)}


SUITE: Final = Suite(
    name="storm.acker",
    version=2,
    port="storm.acker",
    watches=(Watch(ObservedAcker),),
    weights={"init": 3, "ack": 4, "fail": 2, "reset_timeout": 2, "tick": 3, "size": 1},
    epilogue=(Act("size"), Act("tick"), Act("size"), Act("tick"), Act("tick"), Act("size")),
    constants=_constants,
    converse=AckerConversation,
    scene="An acker. Ticks that an entry lives: {capacity}.",
)
