"""The suite ``storm.spout``: rounds, answers of the acker, and ticks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ....spec.notation.interpreter import Step
from ....spec.storm.spouts.observed_spout import Due, ObservedSpout
from ...ports.base import Message, Session
from ...suites.lengthy import Long, grown
from ...suites.plain import PlainConversation, Seen
from ...suites.suite import Act, Answer, Suite, Watch
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


class SpoutConversation(PlainConversation):
    """One session with a spout executor.

    A round's ``pick`` chooses what it has to emit: one new root, two, or one whose id was drawn
    before. Message mN is the first of root rN, and nN is a later one with the same id.
    """

    def __init__(self, session: Session, capacity: int, items_max: int) -> None:
        super().__init__(session, "storm.spout", _settings(capacity))
        self._most = _roots(items_max)
        self._used = 0                              # roots emitted so far
        self._carries: dict[str, str] = {}          # root to its message

    def request_of(self, act: Act) -> Message | None:
        if act.do == "round":
            if act.pick % 3 == 2:
                # Of the used ones, the newest is the likeliest to be still pending.
                return self._round([self._used - 1], "n", act) if self._used else None
            count = act.pick % 3 + 1
            new = range(self._used, self._used + count)
            return self._round(list(new), "m", act) if new.stop <= self._most else None
        if act.do == "tick":
            return {"do": "tick"}
        if not self._used:
            return None
        return {"do": act.do, "root": ROOTS[self._used - 1 - act.pick % self._used]}

    def _round(self, numbers: list[int], letter: str, act: Act) -> Message:
        plain = [f"{letter}{number + 1}" for number in numbers]
        told = [text for _, text in act.about][:len(plain)]
        return {"do": "round", "roots": [ROOTS[number] for number in numbers],
                "messages": [*told, *plain[len(told):]]}

    def act_for(self, request: Mapping[str, Any]) -> Act | None:
        """See ``Conversation``: a round may have any messages."""
        if request["do"] != "round" or not isinstance(request.get("messages"), list):
            return super().act_for(request)
        about = tuple(("messages", message) for message in request["messages"])
        for act in (Act("round", pick) for pick in range(3)):
            if self.request_of(act) == request:
                return act
            if self.request_of(act._replace(about=about)) == request:
                return act._replace(about=about)
        return super().act_for(request)

    def asked(self, request: Message) -> str:
        if request["do"] == "round":
            pairs = zip(request["messages"], request["roots"], strict=True)
            return "a round with " + " and ".join(
                f"{in_words(message)} as {_name(root)}" for message, root in pairs)
        if request["do"] == "tick":
            return "tick"
        return f"the acker answers {request['do']} for {_name(request['root'])}"

    def possible(self, request: Message) -> Iterator[Answer]:
        if request["do"] == "round":
            yield Answer("all are emitted", _emits(request["roots"]))
            yield Answer("nothing is emitted", self._nothing(request))
        elif request["do"] == "tick":
            yield Answer("nothing times out", ("ticks", ()))
            for number in range(self._used):
                yield Answer(f"r{number + 1} times out", ("times_out", (("root", number),)))
        elif request["do"] == "reset_timeout":
            yield Answer("nothing is called", _said(request, Due.NOTHING))
            yield Answer("another callback is called", ("stray", ()), (_said(request,
                                                                             Due.NOTHING),))
        else:
            for due in Due:
                yield Answer(_CALLED[due], _said(request, due))

    def seen(self, request: Message, answer: Any) -> Seen:
        if request["do"] == "round":
            return self._emitted(request, answer)
        words = ", ".join(
            f"{each['call']}({in_words(each['message'])}) is called" for each in answer)
        if request["do"] == "tick":
            steps = tuple(map(self._timed_out, answer))
            return Seen((*steps, ("ticks", ())), words or "nothing times out")
        root = _NUMBERS[request["root"]]
        own = [each for each in answer if each["message"] == self._carries[ROOTS[root]]]
        due = _DUE[own[0]["call"]] if own else Due.NOTHING
        if request["do"] == "reset_timeout":
            own, due = [], Due.NOTHING
        strays = len(answer) - len(own[:1])
        return Seen((("stray", ()),) * strays + (_said(request, due),),
                    words or "nothing is called")

    def _emitted(self, request: Message, answer: list[str]) -> Seen:
        if not answer:
            return Seen((self._nothing(request),), "nothing is emitted")
        words = f"{' and '.join(map(_name, answer))} emitted"
        if answer != request["roots"]:
            return Seen((("emits_some", ()),), f"only {words}")
        self._used = max(self._used, _NUMBERS[answer[-1]] + 1)
        self._carries |= zip(answer, request["messages"], strict=True)
        return Seen((_emits(answer),), words)

    def _nothing(self, request: Message) -> Step:
        first = _NUMBERS[request["roots"][0]]
        if first < self._used:      # drawn before
            return "draws_again", (("root", first),)
        return "holds_back", ()

    def _timed_out(self, call: Message) -> Step:
        roots = [root for root, message in self._carries.items() if message == call["message"]]
        if call["call"] != "fail" or not roots:
            return "stray", ()
        return "times_out", (("root", _NUMBERS[roots[0]]),)


def _name(root: str) -> str:
    return f"r{_NUMBERS[root] + 1}" if root in _NUMBERS else root


def _emits(roots: list[str]) -> Step:
    return "emits", (("first", _NUMBERS[roots[0]]), ("second", _NUMBERS[roots[-1]]))


def _said(request: Message, due: Due) -> Step:
    root = ("root", _NUMBERS[request["root"]])
    if request["do"] == "reset_timeout":
        return "reset_timeout", (root,)
    return request["do"], (root, ("calls", due))


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
    converse=SpoutConversation,
    settings=_settings,
    scene="A spout of {tasks} tasks. Maximum of pending roots: {capacity} for each; ticks that a "
          "root lives: {buckets}.",
)
