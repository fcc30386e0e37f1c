"""The conversation with a publisher: the harness acts as its subscribers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Final

from ...suites.besides import (
    Derived, Given, asked, inside, looked_up, outside, same, told, worded,
)
from ...suites.plain import PlainConversation
from ...suites.remembered import counts, kept, largest, tallies, those
from ...suites.says import ANY, On, Part, Says, done, ends, for_each, on, over, says
from .port import CAUSES

__all__ = ["COUNTS", "DEPTH", "REFERRED", "SHOWN_BELOW", "Downstream", "below"]

COUNTS: Final = (1, 2, 3, 0, 9, -1)
"""The requested numbers: the last but one exceeds the source, and 0 and less is illegal."""

DEPTH: Final = 4
"""The number of onNext that may be open, one in the other."""

Entries = tuple[Says | tuple[Says, ...], ...]

_CALLS: Final = {"subscribe": "subscribe", "request": "request", "request_all": "request",
                 "cancel": "cancel"}
_TO_CALLS: Final = " ".join(_CALLS)
_TO_REQUESTS: Final = "request request_all"
_WHY: Final = dict(zip(
    CAUSES, (": the source has failed", ": the request was illegal", ""), strict=True))
_CAUSES: Final = {cause: CAUSES.index(cause) for cause in CAUSES}

_SIGNALLED: Final = for_each("signalled", "s", {"deep": 0})
_PLANNED: Final = for_each("planned", "s", {"deep": DEPTH})
_FAILING: Final = for_each("signalled", "s", *({"cause": cause} for cause in CAUSES))
_HELD_UP: Final = for_each("signalled", "s", only="holding")


def _from(event: str, action: str, words: str, seen: str = "", where: str = "is_known",
          **more: Any) -> Says:
    """An event of a subscriber that was subscribed."""
    return says(event, action, words, seen, where=where, **more)


def _could_be(action: str, words: str, to: str = "") -> Says:
    """An entry that is listed alone: the event is read by another one."""
    return says(None, action, words, to=to)


def _from_strangers(shown: Entries) -> Iterator[Says]:
    """Any event of a subscriber that was not subscribed: an element that does not exist."""
    entries = [entry for group in shown
               for entry in (group if isinstance(group, tuple) else (group,))]
    for entry in {entry.answer: entry for entry in entries if entry.where}.values():
        yield replace(entry, action="on_next_other", words="", where="is_unknown", then=None)


_ELEMENT: Final = "onNext({named}) to {subscriber}"
_IS_HELD: Final = says(None, "hold", "", where="holds_signal")
_RAISES, _WAITS = "({subscriber}) {call} raises", "({subscriber}) {call} does not return"

_SHOWN: Final[Entries] = (
    ends("call_returns", to=_TO_CALLS, denying="is_own"),
    over(_SIGNALLED,
         ends("rests", "no more for subscriber {s}", "s", of_each="joined", only_if="quiescent"),
         _from("subscribed", "on_subscribe", "onSubscribe to {s}", "onSubscribe to {subscriber}"),
         _from("next", "on_next", "the next element to {s}", _ELEMENT, "is_due", then=_IS_HELD)),
    over(_PLANNED, _could_be("on_next", "the next element to {s}, within {deep} others")),
    over(_SIGNALLED,
         _from("next", "on_next_other", "another element to {s}", _ELEMENT, then=_IS_HELD),
         _from("complete", "on_complete", "onComplete to {s}", "onComplete to {subscriber}")),
    over(_FAILING, _from("error", "on_error", "onError to {s}{why}",
                         "onError to {subscriber}{why}")),
    over(_SIGNALLED, _could_be("call_returns", "{call} returns", to=_TO_CALLS)),
    over(_SIGNALLED, _from("raised", "subscribe_raises", "subscribe raises", _RAISES, "subscribe",
                           to="subscribe")),
    over(_SIGNALLED, _from("raised", "request_raises", "request raises", _RAISES, "request",
                           to=_TO_REQUESTS)),
    over(_SIGNALLED, _from("raised", "cancel_raises", "cancel raises", _RAISES, "cancel",
                           to="cancel")),
    over(_HELD_UP, _from("waits", "request_waits", "request does not return", _WAITS, "request",
                         to=_TO_REQUESTS)),
    over(_HELD_UP, _from("waits", "cancel_waits", "cancel does not return", _WAITS, "cancel",
                         to="cancel")),
    over(_PLANNED, _from("raised", "request_within_raises", "a request within a signal raises",
                         _RAISES, "requests")),
    _from("waits", "request_waits", "", _WAITS, "requests"),
    _from("waits", "subscribe_raises", "", _WAITS, "subscribe"),
    _from("requests", "asks_within", "", "({subscriber}) it requests {n} within"),
    _from("cancels", "cancel", "", "({subscriber}) it cancels within"),
    _from("returned", "", "", quiet=True),
    says("holds", "", "", quiet=True),
)
SHOWN_BELOW: Final[Entries] = (*_from_strangers(_SHOWN), *_SHOWN)
"""The events of a publisher, as its subscribers see them."""

REFERRED: Final[Entries] = (
    over(for_each("signalled", "s"), says(
        ANY, "refers", "to subscriber {s}", "to subscriber {subscriber}", "subscriber",
        where="is_known")),
    says(ANY, "", "", "to subscriber {subscriber}"))
"""The subscribers to which a publisher refers."""


def below(shown: Part, referred: Part) -> tuple[On, ...]:
    """The requests of subscribers, most of which are answered with some events."""
    here, there = those("S", inside="active"), those("S", outside="joined")
    return (
        on("subscribe", "subscriber {subscriber} is subscribed, and is to request {n} within",
           shown, tells="subscriber", picks={"subscriber": there, "n": (
               0, *(max(0, count) for count in COUNTS[4:]), *COUNTS[:3])}),
        on("request", "subscriber {subscriber} requests {n}", shown, tells="asks",
           picks={"subscriber": here, "n": COUNTS}),
        on("request_all", "subscriber {subscriber} requests 2^63 - 1", shown, tells="asks_for_all",
           picks={"subscriber": here}),
        on("cancel", "subscriber {subscriber} cancels", shown, tells="cancel",
           picks={"subscriber": here}),
        on("plan", "subscriber {subscriber} will request {n} in each onNext", done("so be it"),
           picks={"subscriber": here, "n": [max(1, count) for count in COUNTS]}),
        on("quit", "subscriber {subscriber} will cancel in its next onNext", done("so be it"),
           picks={"subscriber": here}),
        on("hold", "the next onNext of subscriber {subscriber} will not return", done("so be it"),
           picks={"subscriber": those("S", inside="active", outside="holding")}),
        on("release", "the onNext of subscriber {subscriber} may return", shown, tells="release",
           picks={"subscriber": those("S", inside="active holding")}),
        on("subscribe_null", "null is subscribed", says(False, "takes_nobody", "no exception"),
           says(True, "refuses_nobody", "an exception")),
        on("references", "subscribers it refers to", referred),
        on("run", "one piece of work runs", shown),
        on("settle", "everything runs that can run", shown),
    )


class Downstream(PlainConversation):
    """The side of the S subscribers. An act picks a subscriber, and how many elements it requests.

    It knows which subscribers have a subscription, and which onNext is held. A held one belongs to
    another thread, and is no recursion. Elements are compared with those of the source.
    """

    carries: ClassVar[Mapping[str, Collection[str]]] = {"request": ("n",)}
    measures: ClassVar[Mapping[str, str]] = {"depth": "deepest_below", "buffer": "drawn"}
    joined = kept("s", adds="subscriber")
    active = kept("s", adds="on_subscribe", once=True)
    planning = kept("s", adds="plan() subscriber:n", once=True)
    arming = kept("s", adds="hold()", drops="hold", once=True)
    holding = kept("s", adds="hold", drops="release", once=True)
    sent = counts("s", "on_next on_next_other:is_known")
    open = tallies("s", {"on_next": 1, "on_next_other:is_known": 1, "returned:is_known": -1})
    elements = Derived(lambda talk: range(talk.settings["first"], 2**63))
    deepest_below = largest("level", "on_next on_next_other:is_known")
    drawn = largest("n", "holds")
    signalled = Derived(
        lambda talk: sorted({*talk.joined, talk.request.get("subscriber")} - {None}))
    planned = Derived(lambda talk: [s for s in talk.signalled if s in talk.planning])
    quiescent = Derived(lambda talk: (
        talk.request["do"] == "settle" or talk.policy == "inline") and not talk.holding)
    knows: ClassVar[tuple[Given, ...]] = (
        asked("subscriber", s=same("subscriber"), call=looked_up("do", _CALLS, "")),
        told("subscriber", is_known=inside("subscriber", "joined"),
             is_unknown=outside("subscriber", "joined"),
             s=lambda talk, event: event["subscriber"] if event["is_known"] else min(
                 talk.joined, default=0),
             named=worded("element"), holds_signal=inside("s", "arming"),
             deep=lambda talk, event: min(talk.open[event["s"]], DEPTH),
             level=lambda talk, event: talk.open[event["s"]] + 1 - (event["s"] in talk.holding),
             is_due=lambda talk, event: event["is_known"] and [event.get("element")] == [
                 *talk.elements[talk.sent[event["s"]]:][:1]]),
        told("cause", why=looked_up("cause", _WHY, ""), cause=looked_up("cause", _CAUSES, 0)),
        told("call", lambda talk, event: {
            "cancel" if event["call"] == "cancels" else event["call"]: True,
            "is_own": event.get("subscriber") == talk.request.get("subscriber")
            and talk.request["do"].startswith(event["call"])}),
    )
