"""The suite ``storm.acker``: INIT, ACK, FAIL, RESET_TIMEOUT and ticks, in any order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from ....spec.storm.acking.observed_acker import ObservedAcker, Told
from ...ports.base import Message
from ...suites.besides import asked, looked_up, made, plus, told
from ...suites.lengthy import Long, grown
from ...suites.plain import PlainConversation
from ...suites.remembered import kept
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
_EVERY: Final = {
    do: [[content.of(group) for content in kinds] for group in range(GROUPS)]
    for do, kinds in (("init", _INITS), ("ack", _ACKS))}
"""By operation and group, what can be sent."""

_CONTENTS: Final = {(each.root, each.value()): each
                    for groups in _EVERY.values() for group in groups for each in group}
_OF_A_GROUP: Final = len(_INITS) + len(_ACKS)

_WITH_EDGES: Final = 2
"""The first roots have edges, hence bolts that may fail a tuple or ask for time."""

_TOLD: Final[Mapping[str, Told]] = {
    "nothing": Told.NOTHING, "ack": Told.ACK, "fail": Told.FAIL, "reset_timeout": Told.RESET}
_WORDS: Final = {
    Told.NOTHING: "no answer", Told.ACK: "ack is answered", Told.FAIL: "fail is answered",
    Told.RESET: "the request is passed on",
}
_STRAY: Final = says(ANY, "stray", "the wrong task is answered")


def _tells(action: str, *strays: Any) -> Part:
    """The messages of an answer: those to a wrong task, and then the one that is due."""
    return each(says(ANY, action, "{told}", gives="tell", among=tuple(_TOLD), where="is_due"),
                *strays or (_STRAY,), joined=", ",
                due="addressed", undue={"tell": "nothing", "is_due": True})


def _left(talk: AckerConversation, request: Fields) -> list[Message]:
    """Contents of the present group that were not sent yet."""
    return [{"root": _ROOTS[each.root], "value": each.value()} | (
        {"task": each.root + 1} if request["do"] == "init" else {})
            for each in _EVERY[request["do"]][talk.group] if each.words not in talk.sent]


def _content(root: int, value: str) -> Fields:
    return _CONTENTS[root, value]._asdict()


def _is_addressed(talk: AckerConversation, fields: Fields) -> bool:
    """True if a message goes to the right task. For a tick no message is expected at all, and
    before INIT no right task can be known."""
    do, root = talk.request["do"], _NUMBERS.get(talk.request.get("root", ""), -1)
    is_known = do == "init" or any(
        each.words in talk.sent for each in _EVERY["init"][talk.group] if each.root == root)
    return do == "tick" or fields["root"] == root and (
        not is_known or fields["to"] == root + 1)


_CONTENT: Final = {"content": _left}
_ROOT: Final[Mapping[str, Any]] = {"root": lambda talk, request: _ROOTS[
    talk.group * _KINDS:talk.group * _KINDS + _WITH_EDGES]}


class AckerConversation(PlainConversation):
    """One session with an acker.

    Root r has the spout task r + 1. Each INIT and ACK is sent at most once, in any order;
    FAIL and RESET_TIMEOUT as often as wanted. When all of a group is sent, the next one begins.
    """

    sent = kept("words", adds="init() ack()")
    knows = (
        asked("root", root=looked_up("root", _NUMBERS), name=plus("root", 1)),
        asked("value", made(_content, "root", "value")),
        told("tell", tells=looked_up("tell", _TOLD), told=looked_up("tells", _WORDS)),
        told("root", root=looked_up("root", _NUMBERS, -1), addressed=_is_addressed),
    )
    says = table(
        ObservedAcker,
        on("init", "{words}", _tells("init"), picks=_CONTENT),
        on("ack", "{words}", _tells("ack"), picks=_CONTENT),
        on("fail", "FAIL of r{name}", _tells("fail"), picks=_ROOT),
        on("reset_timeout", "RESET_TIMEOUT of r{name}", _tells("reset_timeout"), picks=_ROOT),
        on("tick", "tick", _tells("tick", *unsaid(_STRAY))),
        on("size", "size", says(ANY, "sized", "{count}", "{count} entries", gives="count", among=(
            lambda talk, request: range((talk.group + 1) * _KINDS + 2)))),
    )

    @property
    def group(self) -> int:
        """The present group: with the last one it ends."""
        return min(len(self.sent) // _OF_A_GROUP, self.constants["R"] // _KINDS - 1)


def _constants(capacity: int, items_max: int) -> Mapping[str, int]:
    return {"N": capacity, "R": _groups(items_max) * _KINDS}


def _groups(items_max: int) -> int:
    """Number of groups that a program may reach: each takes as many requests as it has messages."""
    return min(GROUPS, grown(1, items_max, items_max // _OF_A_GROUP + 1))


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
