"""The suite ``storm.spout``: rounds, answers of the acker, and ticks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from ....spec.storm.spouts.observed_spout import Due, ObservedSpout
from ...suites.besides import (
    as_asked, asked, below, each_looked_up, empty, looked_up, made, place_of, plus, same, told,
    worded,
)
from ...suites.lengthy import Long, grown
from ...suites.plain import PlainConversation
from ...suites.remembered import highest, latest
from ...suites.says import ANY, Fields, On, Says, each, ends, on, over, says, table
from ...suites.suite import Act, Suite, Watch
from ...suites.values import Payloads, in_words

__all__ = ["ROOTS", "SUITE", "SpoutConversation"]

_ENDS: Final = (2**64 - 1, 2**64 - 2, 2**32 + 1, 2**33 + 1, 2**63, 2**63 - 1)
"""Ids at the ends of 64 bits; they are equal if they are kept in 32 bits, or as a double."""

ROOTS_MAX: Final = 8
"""The roots that a short program may use."""

_FIRST: Final = 2
ROOTS: Final = tuple(f"{number:016x}" for number in (
    *[(number * 0x9E3779B97F4A7C15) % 2**64 for number in range(1, _FIRST + 1)], *_ENDS,
    *[(number * 0x9E3779B97F4A7C15) % 2**64 for number in range(_FIRST + 1, 3_000)]))
"""The ids that a program may use, the first ones if it is short."""

_NUMBERS: Final = {root: number for number, root in enumerate(ROOTS)}

BUCKETS: Final = 2

_DUE: Final[Mapping[str, Due]] = {"ack": Due.ACK, "fail": Due.FAIL}
_CALLED: Final = {Due.NOTHING: "nothing is called", Due.ACK: "ack() is called",
                  Due.FAIL: "fail() is called"}


_ALL: Final = says(ANY, "emits", "all are emitted", "{listed} emitted", gives="emitted",
                   where="all")
_SOME: Final = says(ANY, "emits_some", "", "only {listed} emitted", gives="emitted")
_CALL: Final = "{call}({named}) is called"


def _nothing(action: str) -> Says:
    return says(ANY, action, "nothing is emitted", gives="emitted", where="nothing")


_USED: Final[Mapping[str, Any]] = {"root": lambda talk, request: ROOTS[:talk.used][::-1]}
"""Of the roots that were emitted, the newest is the likeliest to be still pending."""


def _answered(do: str) -> On:
    """The acker's answer: of the callbacks then, others come before the one that is due."""
    return on(do, f"the acker answers {do} for {{name}}", each(
        *over([{"calls": due, "called": _CALLED[due]} for due in Due],
              says("nothing", do, "{called}")),
        says(ANY, do, "", _CALL, where="is_due"), says(ANY, "stray", "", _CALL), joined=", ",
        due="own", undue={"does": "nothing", "calls": Due.NOTHING, "called": _CALLED[Due.NOTHING]}),
        picks=_USED)


def _name(root: str) -> str:
    return f"r{_NUMBERS[root] + 1}" if root in _NUMBERS else root


def _names(roots: list[str]) -> str:
    return " and ".join(map(_name, roots))


def _pairs(messages: list[str], roots: list[str]) -> str:
    return " and ".join(f"{in_words(text)} as {_name(root)}"
                        for text, root in zip(messages, roots, strict=True))


def _of_root(talk: SpoutConversation, fields: Fields) -> Fields:
    """The root of a message that a callback names: it may be that of the request."""
    roots = [root for root, text in talk.messages.items() if text == fields["message"]]
    return {"own": talk.request.get("root") in roots, "timed_out": roots and (
        fields["call"] == "fail"), "root": _NUMBERS[roots[0]] if roots else -1}


class SpoutConversation(PlainConversation):
    """One session with a spout executor.

    A round's ``pick`` chooses what it has to emit: one new root, two, or one with an id that was
    drawn before. Message mN is the first of root rN, and nN is a later one with the same id.
    """

    used = highest("after", "emits")        # the roots emitted so far
    messages = latest("messages", "emits", of="roots")
    carries: ClassVar[Mapping[str, tuple[str, ...]]] = {"round": ("messages",)}
    knows = (
        asked("roots", numbers=each_looked_up("roots", _NUMBERS), first=place_of("numbers", 0),
              second=place_of("numbers", -1), root=same("first"), again=below("first", "used"),
              after=plus("second", 1), pairs=made(_pairs, "messages", "roots")),
        asked("root", name=made(_name, "root"), root=looked_up("root", _NUMBERS)),
        told("emitted", all=as_asked("emitted", "roots"), nothing=empty("emitted"),
             listed=made(_names, "emitted")),
        told("message", _of_root, named=worded("message")),
        told("call", calls=looked_up("call", _DUE)),
    )
    says = table(
        ObservedSpout,
        on("round", "a round with {pairs}", _ALL,
           _nothing("draws_again"), _SOME, where="again",
           picks={"roots": "rounds", "messages": lambda talk, request: [[
               f"{'mn'[root in talk.messages]}{_NUMBERS[root] + 1}" for root in request["roots"]]]},
           lists=("messages",)),
        on("round", "a round with {pairs}", _ALL,
           _nothing("holds_back"), _SOME),
        _answered("ack"), _answered("fail"),
        on("reset_timeout", "the acker answers reset_timeout for {name}", each(
            says("nothing", "reset_timeout", "nothing is called"),
            says(ANY, "stray", "another callback is called", _CALL), joined=", ",
            undue={"does": "nothing"}),
           picks=_USED),
        on("tick", "tick", each(
            ends("ticks", "nothing times out"),
            *over(lambda talk, request: ({"root": n, "name": f"r{n + 1}"}
                                         for n in range(talk.used)),
                  says(ANY, "times_out", "{name} times out", _CALL, where="timed_out")),
            says(ANY, "stray", "", _CALL), joined=", ", nothing="nothing times out")),
    )

    @property
    def rounds(self) -> list[list[str] | None]:
        """The roots of a round: one new one, two, or the newest of those that were emitted."""
        left = self.constants["R"] - self.used
        return [[*ROOTS[self.used:self.used + count]] if count <= left else None
                for count in (1, 2)] + [[ROOTS[self.used - 1]] if self.used else None]


def _settings(capacity: int) -> Mapping[str, int]:
    return {"capacity": capacity, "tasks": _tasks(capacity), "buckets": BUCKETS}


def _tasks(capacity: int) -> int:
    """Cases take the capacities in turn, and with them executors of one task and of two."""
    return 2 if capacity == 2 else 1


def _constants(capacity: int, items_max: int) -> Mapping[str, int]:
    return {"M": capacity * _tasks(capacity), "R": _roots(items_max), "N": BUCKETS}


def _roots(items_max: int) -> int:
    return min(len(ROOTS), grown(ROOTS_MAX, items_max, each=2))


SUITE: Final = Suite(
    name="storm.spout",
    version=4,
    port="storm.spout",
    watches=(Watch(ObservedSpout),),
    weights={"round": 5, "ack": 3, "fail": 2, "reset_timeout": 2, "tick": 3},
    epilogue=(Act("tick"), Act("tick"), Act("round")),
    constants=_constants,
    payloads=Payloads({"round": "messages"}, several={"round": lambda pick: 2}, texts=True),
    long=Long(fills=("round",), drains=("ack", "fail"), sizes=(6,)),
    conversation=SpoutConversation,
    settings=_settings,
    scene="A spout of {tasks} tasks. Maximum of pending roots: {capacity} for each; ticks that a "
          "root lives: {buckets}.",
)
