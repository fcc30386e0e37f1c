"""The suite ``awaits.closing``: whoever waits at a queue that ends is told, and nothing is lost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ....spec.notation.errors import TargetError
from ....spec.notation.interpreter import Step
from ....spec.notation.labels import counted
from ....spec.queues.closing import ClosableQueue
from ...ports.base import Message, Session, excerpt
from ...suites.plain import PlainConversation, Seen
from ...suites.suite import Act, Answer, Suite, Watch
from ...suites.sweeping import STEPS_MAX, steps_of
from .port import PORT

__all__ = ["SUITE", "ClosingConversation"]

CALLS_MAX: Final = 10
"""Puts in one program; and takes, and joins."""

_KINDS: Final[Mapping[str, str]] = {"put": "p", "spoil": "p", "take": "t", "join": "j"}
_ENDS: Final[Mapping[tuple[str, str], tuple[str, str]]] = {
    ("p", "in"): ("goes_in", "item"), ("p", "told"): ("put_is_told", "item"),
    ("p", "fails"): ("put_fails", "item"), ("t", "has"): ("gives", "take"),
    ("t", "told"): ("take_is_told", "take"), ("j", "over"): ("join_ends", "join")}
"""By a call's kind and its event, the step that it shows, and what its number is there."""
_WORDS: Final[Mapping[str, str]] = {
    "in": "{by} is in", "told": "{by} is told that it is closed", "fails": "{by} fails",
    "has": "{by} has {item}", "over": "{by} ends", "spins": "it does not come to rest"}


class ClosingConversation(PlainConversation):
    """One session. Puts and their items are named p1, p2, …, takes t1, …, and joins j1, …"""

    def __init__(self, session: Session, capacity: int, items_max: int) -> None:
        super().__init__(session, PORT.name, {"capacity": capacity})
        self._begun: dict[str, int] = dict.fromkeys("ptj", 0)
        self._under_way: dict[str, None] = {}
        self._bad: set[str] = set()
        self._given = 0         # items that a consumer has to be done with
        self._closed = False
        self._cut = False

    # --- what makes sense ----------------------------------------------------------------

    def _waits(self, kind: str) -> list[str]:
        return [name for name in self._under_way if name.startswith(kind)]

    def request_of(self, act: Act) -> Message | None:
        """See ``PlainConversation``."""
        if act.do in _KINDS:
            kind = _KINDS[act.do]
            room = self._begun[kind] < CALLS_MAX and len(self._waits(kind)) < STEPS_MAX
            return {"do": act.do, "by": f"{kind}{self._begun[kind] + 1}"} if room else None
        if act.do == "run":
            return {"do": "run", "steps": steps_of(act)} if self._under_way else None
        if act.do == "done" and not self._given:
            return None
        if (act.do == "close" and self._closed) or (act.do == "cut" and self._cut):
            return None
        return {"do": act.do}

    # --- words ---------------------------------------------------------------------------

    def asked(self, request: Message) -> str:
        """See ``PlainConversation``."""
        if request["do"] == "run":
            return f"run up to {counted(request['steps'], 'callback')}"
        words = {"put": "{by} puts", "spoil": "{by} puts what may fail", "take": "{by} takes",
                 "join": "{by} joins", "done": "an item is done", "close": "it is closed",
                 "cut": "it is cut off", "settle": "all runs that can run"}
        return words[request["do"]].format_map(request)

    # --- what is seen --------------------------------------------------------------------

    def possible(self, request: Message) -> Iterator[Answer]:
        """See ``PlainConversation``."""
        begun = dict(self._begun)
        if request["do"] in _KINDS:
            begun[_KINDS[request["do"]]] += 1
        if request["do"] == "settle":
            yield Answer("nothing else happens", ("settled", ()))
            yield Answer("it does not come to rest", ("spins", ()))
        own = [request["by"]] if "by" in request else []
        for name in (*self._under_way, *own):
            number, kind = int(name[1:]) - 1, name[0]
            for (of, _), (action, about) in _ENDS.items():
                if of != kind or action in ("put_fails", "gives"):
                    continue
                yield Answer(f"{name}: {action.replace('_', ' ')}", (action, ((about, number),)))
            if kind == "t":
                for item in range(begun["p"]):
                    yield Answer(f"{name} has p{item + 1}",
                                 ("gives", (("take", number), ("item", item))))

    def seen(self, request: Message, answer: Any) -> Seen:
        """See ``PlainConversation``."""
        do = request["do"]
        steps: list[Step] = []
        if do in _KINDS:
            self._begun[_KINDS[do]] += 1
            self._under_way[request["by"]] = None
        if do in ("put", "spoil"):
            steps.append(("puts", (("bad", int(do == "spoil")),)))
        if do == "spoil":
            self._bad.add(request["by"])
        simple = {"take": "begins_to_take", "join": "begins_to_join", "done": "done",
                  "close": "closes", "cut": "is_cut_off"}
        if do in simple:
            steps.append((simple[do], ()))
        self._closed = self._closed or do in ("close", "cut")
        self._cut = self._cut or do == "cut"
        self._given -= do == "done"
        steps += [self._step(event) for event in answer]
        told = [_WORDS[event["does"]].format_map(event) for event in answer]
        if do == "settle":
            steps.append(("settled", ()))
        return Seen(tuple(steps), "; ".join(told) or "nothing is to be seen")

    def _step(self, event: Message) -> Step:
        name, does = event["by"], event["does"]
        if does == "spins":
            return "spins", ()
        end = _ENDS.get((name[0], does))
        if end is None or name not in self._under_way or (
                does == "fails" and name not in self._bad):
            raise TargetError(
                f"the target reports {excerpt(event)}, which cannot be of that call",
                next_step="Mend the adapter: a call ends once, as its kind of calls does.")
        del self._under_way[name]
        action, about = end
        if does != "has":
            return action, ((about, int(name[1:]) - 1),)
        self._given += not self._cut
        return action, ((about, int(name[1:]) - 1), ("item", self._item(event)))

    def _item(self, event: Message) -> int:
        item = event["item"]
        number = int(item[1:]) - 1 if item.startswith("p") and item[1:].isdecimal() else -1
        if not 0 <= number < self._begun["p"]:
            raise TargetError(
                f"the target reports {excerpt(event)}, and nobody has put such an item",
                next_step="Mend the adapter: an item is named as its put.")
        return number


def _constants(capacity: int, items_max: int) -> Mapping[str, int]:
    return {"C": capacity, "K": CALLS_MAX}


_PUT: Final = (("put",), ("settle",))
_PASS: Final = (*_PUT, ("take",))
_END: Final = (("close", "cut"), ("settle",))
_JOIN: Final = (*_PASS, ("join",), ("done",))

SUITE: Final = Suite(
    name=PORT.name,
    version=1,
    port=PORT.name,
    watches=(Watch(ClosableQueue),),
    weights={"put": 5, "take": 4, "done": 3, "join": 2, "spoil": 1, "close": 1, "cut": 1,
             "run": 4, "settle": 2},
    needs={
        "QUEUE-1": _PUT, "QUEUE-6": _PASS, "QUEUE-7": _PASS, "QUEUE-8": _PASS,
        "CLOSE-1": (*_PUT, *_END), "CLOSE-3": (*_PUT, *_END),
        "CLOSE-4": (*_PASS, ("close",)), "CLOSE-5": (*_PASS, ("cut",)), "CLOSE-6": (*_PASS, *_END),
        "JOIN-1": _JOIN, "JOIN-2": _JOIN, "JOIN-3": (("settle",),),
        "FAIL-1": (*_PASS, ("spoil",)),
    },
    epilogue=(Act("settle"), Act("take"), Act("take"), Act("take"), Act("settle"), Act("done"),
              Act("done"), Act("settle")),
    constants=_constants,
    converse=ClosingConversation,
    scene="A queue of capacity {capacity}, on an event loop whose callbacks run one by one.",
    courses={
        "CLOSE-2": (("take", "take", "take", "settle", "put", "close", "settle"),),
        "CLOSE-3": (("put", "put", "put", "put", "settle", "close", "settle"),),
        "CLOSE-4": (("put", "settle", "close", "take", "settle"),
                    ("take", "settle", "put", "close", "settle")),
        "CLOSE-5": (("put", "settle", "cut", "take", "settle"),),
        "JOIN-1": (("put", "put", "settle", "join", "take", "settle", "done", "settle"),),
        "JOIN-2": (("put", "settle", "join", "settle", "take", "settle", "done", "settle"),),
        "JOIN-3": (("put", "settle", "take", "settle", "done", "put", "settle", "join", "settle"),),
        "FAIL-1": (("spoil", "settle", "put", "put", "put", "settle"),
                   ("put", "spoil", "settle", "take", "take", "settle")),
    },
)
