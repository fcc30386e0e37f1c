"""The suite ``bookkeeper``: requests come, storage and clients are slow, time passes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ....spec.bookkeeper.observed_bookie import Kind, ObservedBookie
from ....spec.notation.interpreter import Step
from ...ports.base import Message, Session
from ...suites.plain import PlainConversation, Seen
from ...suites.suite import Act, Answer, Suite, Watch
from .port import EVENTS

__all__ = ["SUITE", "BookieConversation"]

REQUESTS_MAX: Final = 14
"""Requests that a run may name."""

CHANNELS: Final = 2
PICKS: Final = 48

_SETTINGS: Final[Mapping[int, Mapping[str, int]]] = {
    1: {"reads": 1, "places": 1, "threads": 1, "patience": 2, "closing": 0},
    2: {"reads": 1, "places": 2, "threads": 1, "patience": 1, "closing": 1},
    3: {"reads": 3, "places": 1, "threads": 1, "patience": 2, "closing": 0},
    4: {"reads": 2, "places": 2, "threads": 1, "patience": 0, "closing": 0},
}
"""By capacity, which is the limit of adds. In the third, pools get full before limits are reached;
the fourth waits for no client."""

_ACTIONS: Final = dict(zip(
    EVENTS, ("starts", "rejects", "writes", "drops", "pauses", "resumes", "closes"), strict=True))
_WORDS: Final = {
    "start": "starts request", "reject": "rejects request", "write": "answers request",
    "drop": "drops the response to request", "pause": "stops reading from channel",
    "resume": "reads from channel", "close": "closes channel",
}
_OF_REQUESTS: Final = EVENTS[:4]


class BookieConversation(PlainConversation):
    """One session with a server; this is its network, its storage, and its clock."""

    acts = ("receive", "done", "turn", "hang_up", "tick")

    def __init__(self, session: Session, capacity: int, items_max: int) -> None:
        super().__init__(session, "bookkeeper", _settings(capacity))
        self._kinds: list[str] = []                 # of the requests so far
        self._storing: list[int] = []               # those that storage has
        self._open = dict.fromkeys(range(CHANNELS), True)
        self._reading = dict.fromkeys(range(CHANNELS), True)
        self._writable = dict.fromkeys(range(CHANNELS), True)

    def request_of(self, act: Act) -> Message | None:
        """See ``PlainConversation``."""
        channel = act.pick % CHANNELS
        if act.do in ("tick", "gauge"):
            return {"do": act.do}
        if act.do == "done":
            pick = act.pick % max(1, len(self._storing))
            return {"do": "done", "request": self._storing[pick]} if self._storing else None
        if not self._open[channel]:
            return None
        if act.do == "hang_up":
            return {"do": "hang_up", "channel": channel}
        if act.do == "turn":
            return {"do": "turn", "channel": channel, "writable": not self._writable[channel]}
        kinds = _kinds(act.pick // CHANNELS)
        if not self._reading[channel] or len(self._kinds) + len(kinds) > REQUESTS_MAX:
            return None
        return {"do": "receive", "channel": channel, "kinds": kinds}

    def asked(self, request: Message) -> str:
        """See ``PlainConversation``."""
        do = request["do"]
        if do == "receive":
            named = [f"{kind} {len(self._kinds) + each}"
                     for each, kind in enumerate(request["kinds"])]
            return f"channel {request['channel']} brings {', '.join(named)}"
        if do == "done":
            return f"storage has done with request {request['request']}"
        if do == "turn":
            turned = "is writable again" if request["writable"] else "is no longer writable"
            return f"channel {request['channel']} {turned}"
        if do == "hang_up":
            return f"channel {request['channel']} is closed by its client"
        return "a tick passes" if do == "tick" else "ask how many are in progress"

    def possible(self, request: Message) -> Iterator[Answer]:
        """See ``PlainConversation``."""
        if request["do"] == "gauge":
            for kind in Kind:
                for count in range(len(self._kinds) + 1):
                    step: Step = "gauged", (("kind", kind), ("count", count))
                    yield Answer(f"{count} of kind {kind.name.lower()}", step)
            return
        yield Answer("the server does nothing more", ("rests", ()))
        named = len(self._kinds) + len(request.get("kinds", ()))
        for event in EVENTS:
            for number in range(named if event in _OF_REQUESTS else CHANNELS):
                yield Answer(f"the server {_WORDS[event]} {number}", _step(event, number, named))

    def seen(self, request: Message, answer: Any) -> Seen:
        """See ``PlainConversation``."""
        do = request["do"]
        if do == "gauge":
            return Seen(tuple(_gauged(kind, answer) for kind in Kind),
                        f"{answer['add']} adds and {answer['read']} reads")
        told = list(self._told(request))
        steps = [_step(event, number, len(self._kinds)) for event, number in answer]
        self._follow(answer)
        words = " and ".join(f"{_WORDS[event]} {number}" for event, number in answer)
        return Seen((*told, *steps, ("rests", ())),
                    f"the server {words}" if words else "the server does nothing")

    def _told(self, request: Message) -> Iterator[Step]:
        """What the server is told."""
        do, channel = request["do"], int(request.get("channel", 0))
        if do == "receive":
            self._kinds += request["kinds"]
            for kind in request["kinds"]:
                yield "receive", (("channel", channel), ("kind", Kind[kind.upper()]))
        elif do == "done":
            self._storing.remove(request["request"])
            yield "done", (("request", request["request"]),)
        elif do == "turn":
            self._writable[channel] = request["writable"]
            yield "turns", (("channel", channel),)
        elif do == "hang_up":
            self._open[channel] = False
            yield "hangs_up", (("channel", channel),)
        else:
            yield "ticks", ()

    def _follow(self, answer: Sequence[tuple[str, int]]) -> None:
        """What follows for network and storage."""
        for event, number in answer:
            if event == "start" and number < len(self._kinds) and number not in self._storing:
                self._storing.append(number)
            elif event in ("pause", "resume"):
                self._reading[number] = event == "resume"
            elif event == "close":
                self._open[number] = False


def _kinds(pick: int) -> list[str]:
    """One to three requests; of any kinds."""
    count = pick % 3 + 1
    return ["read" if pick // 3 >> each & 1 else "add" for each in range(count)]


def _step(event: str, number: int, named: int) -> Step:
    about = "request" if event in _OF_REQUESTS else "channel"
    if number >= (named if about == "request" else CHANNELS):
        return "invents", ()
    return _ACTIONS[event], ((about, number),)


def _gauged(kind: Kind, answer: Mapping[str, int]) -> Step:
    # Any other wrong number is as wrong as that.
    count = min(answer[kind.name.lower()], REQUESTS_MAX)
    return "gauged", (("kind", kind), ("count", count))


def _settings(capacity: int) -> Mapping[str, int]:
    return {"capacity": capacity, "channels": CHANNELS, **_SETTINGS[capacity]}


def _constants(capacity: int, items_max: int) -> Mapping[str, int]:
    chosen = _SETTINGS[capacity]
    return {
        "N": CHANNELS, "K": capacity, "J": chosen["reads"], "Q": chosen["places"],
        "W": chosen["threads"], "t": chosen["patience"], "c": chosen["closing"],
        "R": REQUESTS_MAX,
    }


def _first(do: str) -> tuple[tuple[Act, ...]]:
    """An act about the first channel; of one add, if it brings requests."""
    return ((Act(do, 0),),)


_DONE: Final = (("receive",), ("done",))
_SLOW: Final = (*_DONE, ("turn",))

SUITE: Final = Suite(
    name="bookkeeper",
    version=1,
    port="bookkeeper",
    watches=(Watch(ObservedBookie),),
    weights={"receive": 6, "done": 6, "turn": 3, "tick": 3, "gauge": 1, "hang_up": 1},
    needs={
        "BK-50": _DONE,
        "BK-51": _DONE,
        "BK-52": _DONE,
        "BK-53": _DONE,
        "BK-56": _DONE,
        "BK-60": (*_SLOW, ("tick",)),
        "BK-61": _SLOW,
    },
    epilogue=(Act("turn"), *(Act("done"), Act("tick")) * 3, Act("gauge"), Act("turn"),
              Act("gauge")),
    constants=_constants,
    converse=BookieConversation,
    settings=_settings,
    capacities=tuple(_SETTINGS),
    picks=PICKS,
    telling={"BK-59": (1, 2, 3)},
    courses={
        # A client reads again while its channel is still listed, and gets another response.
        "BK-57": ((*_first("turn"), *_first("receive"), "done", "tick", "tick", *_first("turn"),
                   *_first("receive"), "done"),),
    },
    scene=("A server with two channels. Adds in progress: {capacity}; reads: {reads}; pools of "
           "{places} places and {threads} threads; a response waits {patience} ticks; "
           "channels are closed after that (1: yes): {closing}."),
)
