"""The suite ``storm.acker``: INIT, ACK, FAIL, RESET_TIMEOUT and ticks, in any order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from ....spec.storm.acking.observed_acker import ObservedAcker, Told
from ...ports.base import Message
from ...suites.lengthy import Long, grown
from ...suites.plain import PlainConversation, Seen
from ...suites.says import ANY, Fields, Part, each, on, says, table, unsaid
from ...suites.suite import Act, Suite, Watch

__all__ = ["EDGES", "ROOTS", "SUITE", "AckerConversation"]

ROOTS: Final = ("9ae16a3b2f90404f", "c949d7c7509e6557", "000000000000002a")
"""The ids of the three roots."""

EDGES: Final = (
    ("ff51afd7ed558ccd", "0000000000000001"),
    ("00000000deadbeef", "8000000000000000"),
    ("c4ceb9fe1a85ec53", "0123456789abcdef"),
)
"""The ids of each root's edges a and b, independent over GF(2); b of the second root is a single
high bit, which is lost if fewer than 64 bits are kept."""


GROUPS: Final = 100
"""Groups of three roots each, of the same kinds; a short program has the first one."""

_KINDS: Final = len(ROOTS)
_ENDS: Final = (2**64 - 1, 2**64 - 2, 2**63, 2**32 + 1, 2**33 + 1, 2**63 - 1)
"""Roots of the next groups, at the ends of 64 bits: alike in 32 bits, or as a double."""


def _mixed(number: int) -> int:
    """Numbers of 64 bits that look random (SplitMix64)."""
    mixed = number * 0x9E3779B97F4A7C15 % 2**64
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB % 2**64
    return mixed ^ mixed >> 31


_ROOTS: Final = (*ROOTS, *[f"{number:016x}" for number in (
    *_ENDS, *map(_mixed, range(len(ROOTS) + len(_ENDS), _KINDS * GROUPS)))])
_NUMBERS: Final = {root: number for number, root in enumerate(_ROOTS)}
_EDGES: Final = (*EDGES, *[
    (f"{_mixed(2_000 + 2 * root):016x}", f"{_mixed(2_001 + 2 * root):016x}")
    for root in range(len(EDGES), _KINDS * GROUPS)])


class _Content(NamedTuple):
    """The content of an INIT or an ACK: edges of a root, and its words for a reader."""

    root: int
    a: int
    b: int
    words: str

    def value(self) -> str:
        a, b = (int(edge, 16) for edge in _EDGES[self.root])
        return f"{a * self.a ^ b * self.b:016x}"

    def of(self, group: int) -> _Content:
        """The same of the root of another group."""
        root = self.root + group * _KINDS
        return _Content(root, self.a, self.b,
                        self.words.replace(f"r{self.root + 1}", f"r{root + 1}"))


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
    "nothing": Told.NOTHING, "ack": Told.ACK, "fail": Told.FAIL, "reset_timeout": Told.RESET}
_WORDS: Final = {
    Told.NOTHING: "no answer", Told.ACK: "ack is answered", Told.FAIL: "fail is answered",
    Told.RESET: "the request is passed on",
}
_STRAY: Final = says("stray", "stray", "the wrong task is answered")


def _tells(action: str, *strays: Any) -> Part:
    """The messages of an answer: those to a wrong task, and then the one that is due."""
    return each(says(ANY, action, "{told}", gives="tell", among=lambda talk, request: _TOLD),
                *strays or (_STRAY,), joined=", ")


class AckerConversation(PlainConversation):
    """One session with an acker.

    Root r has the spout task r + 1. Each INIT and ACK is sent at most once, in any order;
    FAIL and RESET_TIMEOUT as often as wanted. When all of a group is sent, the next one begins.
    """

    says = table(
        ObservedAcker,
        on("init", "{words}", _tells("init")), on("ack", "{words}", _tells("ack")),
        on("fail", "FAIL of r{name}", _tells("fail")),
        on("reset_timeout", "RESET_TIMEOUT of r{name}", _tells("reset_timeout")),
        on("tick", "tick", _tells("tick", *unsaid(_STRAY))),
        on("size", "size", says(ANY, "sized", "{count}", "{count} entries", gives="count", among=(
            lambda talk, request: range((talk.group + 1) * _KINDS + 2)))),
    )

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._sent: set[_Content] = set()
        self.group = 0

    def request_of(self, act: Act) -> Message | None:
        if act.do in ("init", "ack"):
            left = self._left(_INITS if act.do == "init" else _ACKS)
            if not left:
                return None
            content = left[act.pick % len(left)]
            request = {"do": act.do, "root": _ROOTS[content.root], "value": content.value()}
            return request | ({"task": content.root + 1} if act.do == "init" else {})
        if act.do in ("fail", "reset_timeout"):
            return {"do": act.do, "root": _ROOTS[self.group * _KINDS + act.pick % _WITH_EDGES]}
        return {"do": act.do}

    def _left(self, kinds: tuple[_Content, ...]) -> list[_Content]:
        """Contents of the present group that were not sent yet."""
        every = [content.of(self.group) for content in kinds]
        return [content for content in every if content not in self._sent]

    def about(self, message: Message) -> Fields:
        fields = dict(message)
        if "root" in message:
            fields["root"] = _NUMBERS[message["root"]]
            fields["name"] = fields["root"] + 1
        if "tell" in message:
            fields["tells"] = _TOLD[message["tell"]]
            fields["told"] = _WORDS[fields["tells"]]
        return fields | _content(message)._asdict() if "value" in message else fields

    def seen(self, request: Message, answer: Any) -> Seen:
        """The messages that are due, of which there is one at most, come after all others."""
        if request["do"] == "size":
            return super().seen(request, answer)
        if "value" in request:
            self._sent.add(_content(request))
            is_last = (self.group + 1) * _KINDS >= self.constants["R"]
            self.group += not is_last and not self._left((*_INITS, *_ACKS))
        due = [each["tell"] for each in answer if self._is_addressed(request, each)][:1]
        strays = ["stray"] * (len(answer) - len(due))
        return super().seen(request, [*strays, *(due or ["nothing"])])

    def _is_addressed(self, request: Message, telling: Message) -> bool:
        """True if a message goes to the right task. For a tick no message is expected at all, and
        before INIT no right task can be known."""
        if request["do"] == "tick":
            return True
        root = _NUMBERS[request["root"]]
        known = any(init.of(root // _KINDS) in self._sent
                    for init in _INITS if init.root == root % _KINDS)
        return telling["root"] == _ROOTS[root] and (not known or telling["to"] == root + 1)


def _content(request: Message) -> _Content:
    root = _NUMBERS[request["root"]]
    every = [content.of(root // _KINDS)
             for content in (_INITS if request["do"] == "init" else _ACKS)]
    return next(each for each in every
                if each.root == root and each.value() == request["value"])


def _constants(capacity: int, items_max: int) -> Mapping[str, int]:
    return {"N": capacity, "R": _groups(items_max) * _KINDS}


def _groups(items_max: int) -> int:
    """Number of groups that a program may reach: each takes as many requests as it has messages."""
    messages = len(_INITS) + len(_ACKS)
    return min(GROUPS, grown(1, items_max, items_max // messages + 1))


SUITE: Final = Suite(
    name="storm.acker",
    version=3,
    port="storm.acker",
    watches=(Watch(ObservedAcker),),
    weights={"init": 3, "ack": 4, "fail": 2, "reset_timeout": 2, "tick": 3, "size": 1},
    epilogue=(Act("size"), Act("tick"), Act("size"), Act("tick"), Act("tick"), Act("size")),
    constants=_constants,
    long=Long(fills=("init",), drains=("ack",), sizes=(6,)),
    conversation=AckerConversation,
    scene="An acker. Ticks that an entry lives: {capacity}.",
)
