"""The suite ``bookkeeper``: requests come, storage and clients are slow, time passes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from ....spec.bookkeeper.observed_bookie import Kind, ObservedBookie
from ....spec.notation.interpreter import Step
from ...ports.base import Message, Session
from ...suites.capacities import that_goes_with
from ...suites.lengthy import Long, grown
from ...suites.plain import PlainConversation
from ...suites.says import ANY, Fields, On, Says, each, ends, on, one, says, table
from ...suites.suite import Act, Suite, Watch

__all__ = ["SUITE", "BookieConversation"]

REQUESTS_MAX: Final = 14
REQUESTS_OF_LONG: Final = 300
"""Requests that a run may name."""

CHANNELS: Final = 2
PICKS: Final = 48

_SETTINGS: Final[Mapping[int, Mapping[str, int]]] = {
    1: {"reads": 1, "places": 1, "threads": 1, "patience": 2, "closing": 0},
    2: {"reads": 1, "places": 2, "threads": 1, "patience": 1, "closing": 1},
    3: {"reads": 3, "places": 1, "threads": 1, "patience": 2, "closing": 0},
    4: {"reads": 0, "places": 2, "threads": 1, "patience": 0, "closing": 0},
}
"""By capacity, which is the limit of adds. In the third, pools get full before limits are reached;
the fourth waits for no client, and limits no reads."""



def _requests(talk: BookieConversation, request: Fields) -> list[Fields]:
    return [{"number": each_, "request": each_}
            for each_ in range(len(talk.kinds) + len(request.get("kinds", ())))]


def _does(event: str, action: str, words: str) -> Says:
    among = _requests if "request" in words else lambda talk, request: range(CHANNELS)
    return says(event, action, f"the server {words} {{number}}", f"{words} {{number}}",
                gives="number", beyond="invents", among=among)


_DOES: Final = each(
    ends("rests", "the server does nothing more"),
    _does("start", "starts", "starts request"),
    _does("reject", "rejects", "rejects request"),
    _does("write", "writes", "answers request"),
    _does("drop", "drops", "drops the response to request"),
    _does("pause", "pauses", "stops reading from channel"),
    _does("resume", "resumes", "reads from channel"),
    _does("close", "closes", "closes channel"),
    words="the server {}", nothing="the server does nothing")


def _gauge(kind: str) -> Says:
    return says(ANY, "gauged", f"{{count}} of kind {kind}", f"{{count}} {kind}s", gives=kind,
                among=lambda talk, request: range(len(talk.kinds) + 1))


class BookieConversation(PlainConversation):
    """One session with a server; this is its network, its storage, and its clock."""

    says = table(
        ObservedBookie,
        on("receive", "channel {channel} brings {named}", _DOES, tells="receive"),
        on("done", "storage has done with request {request}", _DOES, tells="done"),
        on("turn", "channel {channel} is writable again", _DOES, tells="turns", where="writable"),
        on("turn", "channel {channel} is no longer writable", _DOES, tells="turns"),
        on("hang_up", "channel {channel} is closed by its client", _DOES, tells="hangs_up"),
        on("tick", "a tick passes", _DOES, tells="ticks"),
        on("gauge", "ask how many are in progress",
           {"add": one(_gauge("add")), "read": one(_gauge("read"))}, joined=" and "),
    )

    def __init__(self, session: Session, capacity: int, items_max: int) -> None:
        super().__init__(session, "bookkeeper", _settings(capacity),
                         _constants(capacity, items_max))
        self._most = grown(REQUESTS_MAX, items_max, REQUESTS_OF_LONG, 3)
        self.kinds: list[str] = []                  # of the requests so far
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
        if not self._reading[channel] or len(self.kinds) + len(kinds) > self._most:
            return None
        return {"do": "receive", "channel": channel, "kinds": kinds}

    def about(self, message: Message) -> Fields:
        """See ``PlainConversation``."""
        if "kinds" in message:
            named = [f"{kind} {len(self.kinds) + place}"
                     for place, kind in enumerate(message["kinds"])]
            return {**message, "named": ", ".join(named)}
        for kind in Kind:
            if (name := kind.name.lower()) in message:
                return {"kind": kind, "count": message[name]}
        if "number" not in message:
            return message
        number = message["number"]
        known = {"request": number if number < len(self.kinds) else -1, "channel": number}
        return {**known, **message}

    def told(self, row: On, request: Fields) -> Iterable[Step]:
        """See ``PlainConversation``: each of the requests is one."""
        kinds = [Kind[kind.upper()] for kind in request.get("kinds", ())]
        return [tells.step({**request, "kind": kind}, self.known)
                for tells in row.tells for kind in kinds or (Kind.ADD,)]

    def note(self, action: str, about: Fields) -> None:
        """See ``PlainConversation``."""
        if action == "receive":
            self.kinds += about["kinds"]
        elif action == "done":
            self._storing.remove(about["request"])
        elif action == "turns":
            self._writable[about["channel"]] = about["writable"]
        elif action in ("hangs_up", "closes"):
            self._open[about["channel"]] = False
        elif action in ("pauses", "resumes"):
            self._reading[about["channel"]] = action == "resumes"
        elif action == "starts" and about["request"] not in (-1, *self._storing):
            self._storing.append(about["request"])


def _kinds(pick: int) -> list[str]:
    """One to three requests; of any kinds."""
    count = pick % 3 + 1
    return ["read" if pick // 3 >> each & 1 else "add" for each in range(count)]


def _settings(capacity: int) -> Mapping[str, int]:
    return {"capacity": capacity, "channels": CHANNELS, **that_goes_with(capacity, _SETTINGS)}


def _constants(capacity: int, items_max: int) -> Mapping[str, int]:
    chosen = that_goes_with(capacity, _SETTINGS)
    return {
        "N": CHANNELS, "K": capacity, "J": chosen["reads"], "Q": chosen["places"],
        "W": chosen["threads"], "t": chosen["patience"], "c": chosen["closing"],
        "R": grown(REQUESTS_MAX, items_max, REQUESTS_OF_LONG, 3),
    }


def _first(do: str) -> tuple[tuple[Act, ...]]:
    """An act about the first channel; of one add, if it brings requests."""
    return ((Act(do, 0),),)



SUITE: Final = Suite(
    name="bookkeeper",
    version=3,
    port="bookkeeper",
    watches=(Watch(ObservedBookie),),
    weights={"receive": 6, "done": 6, "turn": 3, "tick": 3, "gauge": 1, "hang_up": 1},
    epilogue=(Act("turn"), *(Act("done"), Act("tick")) * 3, Act("gauge"), Act("turn"),
              Act("gauge")),
    constants=_constants,
    long=Long(fills=("receive",), drains=("done",), ending=("hang_up", "turn")),
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
    scene=("A server with two channels. Adds in progress: {capacity}; reads: {reads} (0: no "
           "limit); pools of {places} places and {threads} threads; a response waits {patience} "
           "ticks; channels are closed after that (1: yes): {closing}."),
)
