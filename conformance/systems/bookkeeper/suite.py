"""The suite ``bookkeeper``: requests come, storage and clients are slow, time passes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar, Final

from ....spec.bookkeeper.observed_bookkeeper import Kind, ObservedBookkeeper
from ....spec.notation.errors import InputError
from ....spec.notation.interpreter import Step
from ...suites.besides import asked, inside, just, made, number_of, same, told, worded
from ...suites.capacities import half_of, that_goes_with
from ...suites.lengthy import Long, enough, grown
from ...suites.plain import PlainConversation
from ...suites.remembered import kept, numbered, those
from ...suites.says import ANY, Fields, Listed, On, Says, each, ends, on, one, says, table
from ...suites.suite import Act, Suite, Watch
from ...suites.values import KEYS, Payloads, Value, in_words

__all__ = ["SUITE", "BookieConversation"]

REQUESTS_MAX: Final = 14
REQUESTS_OF_LONG: Final = 300
"""Requests that a run may name."""

CAPACITY_MAX: Final = 400
"""The largest limit of adds that programs fill: its machine looks at each request, at each step."""

CHANNELS: Final = 2
PICKS: Final = 48

_SETTINGS: Final[Mapping[int, Mapping[str, int]]] = {
    1: {"reads": 1, "places": 1, "threads": 1, "patience": 2, "closing": 0},
    2: {"reads": 1, "places": 2, "threads": 1, "patience": 1, "closing": 1},
    3: {"reads": 3, "places": 1, "threads": 1, "patience": 2, "closing": 0},
    4: {"reads": 0, "places": 2, "threads": 1, "patience": 0, "closing": 0},
    6: {"reads": 2, "places": 6, "threads": 1, "patience": 2, "closing": 0},
}
"""By capacity, which is the limit of adds. In the third, pools get full before limits are reached;
the fourth waits for no client, and has no limit for reads; with the last, more requests come at
once than there are permits."""

_LARGE: Final = 6
_AT_ONCE: Final = 3
"""Requests that are read at once; with a large capacity, this many times as many."""


def _requests(talk: BookieConversation, request: Fields) -> list[Fields]:
    names = [*talk.names, *request.get("names", ())]
    return [{"request": number, "called": in_words(name)} for number, name in enumerate(names)]


def _does(event: str, action: str, words: str) -> Says:
    among: Listed = _requests if "request" in words else range(CHANNELS)
    return says(event, action, f"the server {words} {{called}}", f"{words} {{called}}",
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
                among=lambda talk, request: range(len(talk.names) + 1))


def _arriving(kinds: list[str], names: list[Value]) -> str:
    return ", ".join(f"{kind} {in_words(name)}" for kind, name in zip(kinds, names, strict=True))


def _channel(name: Value) -> int:
    return name if isinstance(name, int) else -1


class BookieConversation(PlainConversation):
    """One session with a server; this is its network, its storage, and its clock."""

    names = numbered("names", "receive")        # of the requests so far
    storing = kept("name", adds="starts:known", drops="done", once=True)
    closed = kept("channel", adds="hangs_up closes")
    paused = kept("channel", adds="pauses", drops="resumes", once=True)
    unwritable = kept("channel", adds="turns", drops="turns:writable", once=True)
    carries: ClassVar[Mapping[str, tuple[str, ...]]] = {"receive": ("names",)}
    knows = (
        asked("kinds", named=made(_arriving, "kinds", "names")),
        asked("request", called=worded("request"), name=same("request"),
              request=number_of("request", "names")),
        told("add", kind=just(Kind.ADD), count=same("add")),
        told("read", kind=just(Kind.READ), count=same("read")),
        told("number", called=worded("number"), request=number_of("number", "names"),
             name=same("number"), known=inside("number", "names"),
             channel=made(_channel, "number")),
    )
    says = table(
        ObservedBookkeeper,
        on("receive", "channel {channel} brings {named}", _DOES, tells="receive",
           picks={"channel": those(range(CHANNELS), outside="closed paused"), "kinds": "arriving",
                  "names": lambda talk, request: [[
                      *range(len(talk.names), len(talk.names) + len(request["kinds"]))]]},
           lists=("names",), new={"names": "names"}),
        on("done", "storage has finished request {called}", _DOES, tells="done",
           picks={"request": "storing"}),
        on("turn", "channel {channel} is writable again", _DOES, tells="turns", where="writable",
           picks={"channel": those(range(CHANNELS), outside="closed"), "writable": (
               lambda talk, request: [request["channel"] in talk.unwritable])}),
        on("turn", "channel {channel} is no longer writable", _DOES, tells="turns"),
        on("hang_up", "channel {channel} is closed by its client", _DOES, tells="hangs_up",
           picks={"channel": those(range(CHANNELS), outside="closed")}),
        on("tick", "a tick passes", _DOES, tells="ticks"),
        on("gauge", "ask how many are in progress",
           {"add": one(_gauge("add")), "read": one(_gauge("read"))}, joined=" and "),
    )

    @property
    def arriving(self) -> list[list[str] | None]:
        """The kinds of the requests that may come at once, as far as the observer has numbers."""
        left = self.constants["R"] - len(self.names)
        return [kinds if len(kinds) <= left else None
                for kinds in _ARRIVING[self.settings["capacity"] >= _LARGE]]

    def told(self, row: On, request: Fields) -> Iterable[Step]:
        """See ``PlainConversation``: each of the requests is one."""
        kinds = [Kind[kind.upper()] for kind in request.get("kinds", ())]
        return [tells.step({**request, "kind": kind}, self.known)
                for tells in row.tells for kind in kinds or (Kind.ADD,)]


def _kinds(pick: int, large: bool) -> list[str]:
    """One to three requests, or three to nine; of any kinds."""
    count = pick % _AT_ONCE + 1
    kinds = ["read" if pick // _AT_ONCE >> each & 1 else "add" for each in range(count)]
    return kinds * _AT_ONCE if large else kinds


_ARRIVING: Final = {large: [_kinds(pick, large) for pick in range(_AT_ONCE << _AT_ONCE)]
                    for large in (False, True)}
"""The requests that may come at once, to a small server and to a large one."""


def _how_many(pick: int) -> int:
    """The largest number of requests that a pick brings."""
    return len(_kinds(pick // CHANNELS, large=True))


def _chosen(capacity: int) -> Mapping[str, int]:
    if capacity > CAPACITY_MAX:
        raise InputError(
            f"this suite has no programs that fill a limit of {capacity} adds", "",
            f"Use a capacity of at most {CAPACITY_MAX}: its machine looks at each request.")
    return that_goes_with(capacity, _SETTINGS, lambda other: {
        **_SETTINGS[_LARGE], "reads": half_of(other), "places": other})


def _settings(capacity: int) -> Mapping[str, int]:
    return {"capacity": capacity, "channels": CHANNELS, **_chosen(capacity)}


def _constants(capacity: int, items_max: int) -> Mapping[str, int]:
    chosen = _chosen(capacity)
    return {
        "N": CHANNELS, "K": capacity, "J": chosen["reads"], "Q": chosen["places"],
        "W": chosen["threads"], "t": chosen["patience"], "c": chosen["closing"],
        "R": grown(REQUESTS_MAX, items_max, enough(REQUESTS_OF_LONG, capacity), 3),
    }


def _first(do: str) -> tuple[tuple[Act, ...]]:
    """An act on the first channel, with one add if it brings requests."""
    return ((Act(do, 0),),)



SUITE: Final = Suite(
    name="bookkeeper",
    version=5,
    port="bookkeeper",
    watches=(Watch(ObservedBookkeeper),),
    weights={"receive": 6, "done": 6, "turn": 3, "tick": 3, "gauge": 1, "hang_up": 1},
    epilogue=(Act("turn"), *(Act("done"), Act("tick")) * 3, Act("gauge"), Act("turn"),
              Act("gauge")),
    constants=_constants,
    payloads=Payloads({"receive": "names"}, styles=KEYS, several={"receive": _how_many}),
    long=Long(fills=("receive",), drains=("done",), ending=("hang_up", "turn"),
              sizes=(_LARGE,)),
    conversation=BookieConversation,
    settings=_settings,
    capacities=tuple(capacity for capacity in _SETTINGS if capacity < _LARGE),
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
