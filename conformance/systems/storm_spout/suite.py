"""The suite ``storm.spout``: rounds, answers of the acker, and ticks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ....spec.notation.interpreter import Step
from ....spec.storm.spouts.observed_spout import Due, ObservedSpout
from ...ports.base import Message, Session
from ...suites.plain import PlainConversation, Seen
from ...suites.suite import Act, Answer, Suite, Watch

__all__ = ["ROOTS", "SUITE", "SpoutConversation"]

ROOTS: Final = tuple(f"{(number * 0x9E3779B97F4A7C15) % 2**64:016x}" for number in range(1, 9))
"""The ids that a program may use."""

BUCKETS: Final = 2

_DUE: Final[Mapping[str, Due]] = {"ack": Due.ACK, "fail": Due.FAIL}
_CALLED: Final = {Due.NOTHING: "nothing is called", Due.ACK: "ack() is called",
                  Due.FAIL: "fail() is called"}


class SpoutConversation(PlainConversation):
    """One session with a spout executor.

    A round's ``pick`` says what it has to emit: one new root, two, or one whose id was drawn
    before. Message mN is the first of root rN, and nN is what comes with the same id later.
    """

    def __init__(self, session: Session, capacity: int, items_max: int) -> None:
        super().__init__(session, "storm.spout", _settings(capacity))
        self._used = 0                              # roots emitted so far
        self._carries: dict[str, str] = {}          # root to the message that it is of

    def request_of(self, act: Act) -> Message | None:
        """See ``PlainConversation``."""
        if act.do == "round":
            if act.pick % 3 == 2:
                # Of those used, the newest is the likeliest to be pending still.
                return self._round([self._used - 1], "n") if self._used else None
            count = act.pick % 3 + 1
            new = range(self._used, self._used + count)
            return self._round(list(new), "m") if new.stop <= len(ROOTS) else None
        if act.do == "tick":
            return {"do": "tick"}
        if not self._used:
            return None
        return {"do": act.do, "root": ROOTS[self._used - 1 - act.pick % self._used]}

    def _round(self, numbers: list[int], letter: str) -> Message:
        return {"do": "round", "roots": [ROOTS[number] for number in numbers],
                "messages": [f"{letter}{number + 1}" for number in numbers]}

    def asked(self, request: Message) -> str:
        """See ``PlainConversation``."""
        if request["do"] == "round":
            pairs = zip(request["messages"], request["roots"], strict=True)
            return "a round with " + " and ".join(
                f"{message} as {_name(root)}" for message, root in pairs)
        if request["do"] == "tick":
            return "tick"
        return f"the acker says {request['do']} of {_name(request['root'])}"

    def possible(self, request: Message) -> Iterator[Answer]:
        """See ``PlainConversation``."""
        if request["do"] == "round":
            yield Answer("all are emitted", _emits(request["roots"]))
            yield Answer("nothing is emitted", _nothing(request))
        elif request["do"] == "tick":
            yield Answer("nothing times out", ("ticks", ()))
            for number in range(self._used):
                yield Answer(f"r{number + 1} times out", ("times_out", (("root", number),)))
        elif request["do"] == "reset_timeout":
            yield Answer("nothing is called", _said(request, Due.NOTHING))
            yield Answer("something is called", ("stray", ()), (_said(request, Due.NOTHING),))
        else:
            for due in Due:
                yield Answer(_CALLED[due], _said(request, due))

    def seen(self, request: Message, answer: Any) -> Seen:
        """See ``PlainConversation``."""
        if request["do"] == "round":
            return self._emitted(request, answer)
        words = ", ".join(f"{each['call']}({each['message']}) is called" for each in answer)
        if request["do"] == "tick":
            steps = tuple(map(self._timed_out, answer))
            return Seen((*steps, ("ticks", ())), words or "nothing times out")
        root = ROOTS.index(request["root"])
        own = [each for each in answer if each["message"] == self._carries[ROOTS[root]]]
        due = _DUE[own[0]["call"]] if own else Due.NOTHING
        if request["do"] == "reset_timeout":
            own, due = [], Due.NOTHING
        strays = len(answer) - len(own[:1])
        return Seen((("stray", ()),) * strays + (_said(request, due),),
                    words or "nothing is called")

    def _emitted(self, request: Message, answer: list[str]) -> Seen:
        if not answer:
            return Seen((_nothing(request),), "nothing is emitted")
        words = f"{' and '.join(map(_name, answer))} emitted"
        if answer != request["roots"]:
            return Seen((("emits_some", ()),), f"only {words}")
        self._used = max(self._used, ROOTS.index(answer[-1]) + 1)
        self._carries |= zip(answer, request["messages"], strict=True)
        return Seen((_emits(answer),), words)

    def _timed_out(self, call: Message) -> Step:
        roots = [root for root, message in self._carries.items() if message == call["message"]]
        if call["call"] != "fail" or not roots:
            return "stray", ()
        return "times_out", (("root", ROOTS.index(roots[0])),)


def _name(root: str) -> str:
    return f"r{ROOTS.index(root) + 1}" if root in ROOTS else root


def _emits(roots: list[str]) -> Step:
    return "emits", (("first", ROOTS.index(roots[0])), ("second", ROOTS.index(roots[-1])))


def _nothing(request: Message) -> Step:
    if request["messages"][0].startswith("n"):
        return "draws_again", (("root", ROOTS.index(request["roots"][0])),)
    return "holds_back", ()


def _said(request: Message, due: Due) -> Step:
    root = ("root", ROOTS.index(request["root"]))
    if request["do"] == "reset_timeout":
        return "reset_timeout", (root,)
    return request["do"], (root, ("calls", due))


def _settings(capacity: int) -> Mapping[str, int]:
    return {"capacity": capacity, "tasks": _tasks(capacity), "buckets": BUCKETS}


def _tasks(capacity: int) -> int:
    """Cases take the capacities in turn, and with them executors of one task and of two."""
    return 2 if capacity == 2 else 1


def _constants(capacity: int, items_max: int) -> Mapping[str, int]:
    return {"M": capacity * _tasks(capacity), "R": len(ROOTS), "N": BUCKETS}


SUITE: Final = Suite(
    name="storm.spout",
    version=2,
    port="storm.spout",
    watches=(Watch(ObservedSpout),),
    weights={"round": 5, "ack": 3, "fail": 2, "reset_timeout": 2, "tick": 3},
    epilogue=(Act("tick"), Act("tick"), Act("round")),
    constants=_constants,
    converse=SpoutConversation,
    settings=_settings,
    scene="A spout of {tasks} tasks. Maximum of pending roots: {capacity} for each; ticks that a "
          "root lives: {buckets}.",
)
