"""The suite ``storm.spout``: rounds, answers of the acker, and ticks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from ....spec.storm.spouts.observed_spout import Due, ObservedSpout
from ...ports.base import Message
from ...suites.lengthy import Long, grown
from ...suites.plain import PlainConversation, Seen
from ...suites.remembered import highest, latest
from ...suites.says import Fields, On, each, ends, on, over, says, table
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


_SOME: Final = says("some", "emits_some", "", "only {emitted} emitted")
_ALL: Final = says("all", "emits", "all are emitted", "{emitted} emitted")
_CALL: Final = "{call}({named}) is called"


_USED: Final[Mapping[str, Any]] = {"root": lambda talk, request: ROOTS[:talk.used][::-1]}
"""Of the roots that were emitted, the newest is the likeliest to be still pending."""


def _answered(do: str) -> On:
    """The acker's answer: of the callbacks then, others come before the one that is due."""
    return on(do, f"the acker answers {do} for {{name}}", each(
        *over(lambda talk, request: ({"calls": due, "called": _CALLED[due]} for due in Due),
              says("due", do, "{called}")),
        says("own", do, "", _CALL), says("other", "stray", "", _CALL), joined=", "), picks=_USED)


class SpoutConversation(PlainConversation):
    """One session with a spout executor.

    A round's ``pick`` chooses what it has to emit: one new root, two, or one whose id was drawn
    before. Message mN is the first of root rN, and nN is a later one with the same id.
    """

    used = highest("after", "emits")        # the roots emitted so far
    messages = latest("messages", "emits", of="roots")
    carries: ClassVar[Mapping[str, tuple[str, ...]]] = {"round": ("messages",)}
    says = table(
        ObservedSpout,
        on("round", "a round with {pairs}", _ALL,
           says("nothing", "draws_again", "nothing is emitted"), _SOME, where="again",
           picks={"roots": "rounds", "messages": lambda talk, request: [[
               f"{'mn'[root in talk.messages]}{_NUMBERS[root] + 1}" for root in request["roots"]]]},
           lists=("messages",)),
        on("round", "a round with {pairs}", _ALL,
           says("nothing", "holds_back", "nothing is emitted"), _SOME),
        _answered("ack"), _answered("fail"),
        on("reset_timeout", "the acker answers reset_timeout for {name}", each(
            says("due", "reset_timeout", "nothing is called"),
            says("other", "stray", "another callback is called", _CALL), joined=", "),
           picks=_USED),
        on("tick", "tick", each(
            ends("ticks", "nothing times out"),
            *over(lambda talk, request: ({"root": n, "name": f"r{n + 1}"}
                                         for n in range(talk.used)),
                  says("own", "times_out", "{name} times out", _CALL)),
            says("other", "stray", "", _CALL), joined=", ", nothing="nothing times out")),
    )

    @property
    def rounds(self) -> list[list[str] | None]:
        """The roots of a round: one new one, two, or the newest of those that were emitted."""
        left = self.constants["R"] - self.used
        return [[*ROOTS[self.used:self.used + count]] if count <= left else None
                for count in (1, 2)] + [[ROOTS[self.used - 1]] if self.used else None]

    def about(self, message: Message) -> Fields:
        if "roots" in message:
            numbers = [_NUMBERS[root] for root in message["roots"]]
            pairs = zip(message["messages"], message["roots"], strict=True)
            return {**message, "first": numbers[0], "second": numbers[-1], "root": numbers[0],
                    "again": numbers[0] < self.used, "after": numbers[-1] + 1,
                    "pairs": " and ".join(
                        f"{in_words(text)} as {_name(root)}" for text, root in pairs)}
        if "do" in message and "root" in message:
            return {**message, "root": _NUMBERS[message["root"]], "name": _name(message["root"])}
        return message

    def seen(self, request: Message, answer: Any) -> Seen:
        """The same with the kind of each callback: the own one of a root, due or not, or others."""
        if request["do"] == "round":
            kind = "all" if answer == request["roots"] else "some" if answer else "nothing"
            return super().seen(request, {
                "does": kind, "emitted": " and ".join(map(_name, answer))})
        named = [{**call, "does": "other", "named": in_words(call["message"])} for call in answer]
        if request["do"] == "tick":
            for call in named:
                roots = [root for root, text in self.messages.items() if text == call["message"]]
                if call["call"] == "fail" and roots:
                    call |= {"does": "own", "root": _NUMBERS[roots[0]]}
            return super().seen(request, named)
        own = [call for call in named if request["do"] != "reset_timeout"
               and call["message"] == self.messages[request["root"]]][:1]
        for call in own:
            named.remove(call)
            call |= {"does": "own", "calls": _DUE[call["call"]]}
        return super().seen(request, [*named, *(own or [{
            "does": "due", "calls": Due.NOTHING, "called": "nothing is called"}])])


def _name(root: str) -> str:
    return f"r{_NUMBERS[root] + 1}" if root in _NUMBERS else root


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
    version=3,
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
