"""The conversation with a subscriber: the harness acts as its publisher and its application."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import ClassVar, Final

from ...suites.besides import (
    Derived, Given, asked, is_there, just, lacks, minus, room, told, value, worded,
)
from ...suites.plain import PlainConversation
from ...suites.remembered import flag, kept, largest, next_number, tally
from ...suites.says import On, Part, Says, all_events, done, ends, on, over, says

__all__ = ["SHOWN_ABOVE", "Application", "Upstream", "above", "application"]

_SIGNALS: Final = ("on_subscribe", "on_subscribe_again", "on_next", "on_complete", "on_error")
_TO_SIGNALS: Final = " ".join(_SIGNALS)
_NULLS: Final = ("next", "error", "subscribe")
_DROPS: Final = "stop cancel error cancels on_error"
"""Actions with which a subscriber may drop its elements: those are not counted any more."""

_IS_HELD: Final = says(None, "hold_call", "", where="holds_call")

SHOWN_ABOVE: Final[tuple[Says | tuple[Says, ...], ...]] = (
    ends("comes_to_rest", "nothing more", only_if="quiescent"),
    says("requests", "requests", "request({n})", gives="n", then=_IS_HELD),
    says("cancels", "cancels", "cancel", then=_IS_HELD),
    over("second",
         says("requests_other", "requests_other", "request of the second subscription",
              "request({n}) of the second subscription"),
         says("cancels_other", "cancels_other", "cancel of the second subscription")),
    (says("returned", "signal_returns", "it returns", to=_TO_SIGNALS, quiet=True),
     says("raised", "signal_raises", "it raises", to=_TO_SIGNALS)),
)
"""The events of a subscriber, as its publisher sees them."""

_SHOWN_BY_APPLICATION: Final = (
    (says("consumes", "consumes", "the oldest element is processed",
          "element {named} is processed", where="is_oldest", to="process on_next"),
     says("consumes", "consumes_another", "another element is processed",
          "element {named} is processed", where="is_some", to="process on_next")),
    says("consumes", "consumes_nothing", "nothing is processed", "nothing", to="process"),
    says("finishes", "finishes", "the application is notified of the end",
         to="process on_complete settle"),
    says("breaks_off", "breaks_off", "the application is notified of the failure",
         to="on_error settle"),
)


def above(shown: Part) -> tuple[On, ...]:
    """The requests of a publisher, most of which are answered with some events."""
    return (
        on("on_subscribe", "onSubscribe", shown, tells="subscribe", unless="is_on"),
        on("on_subscribe_again", "onSubscribe, with a second subscription", shown,
           tells="subscribe_again", only="is_on", unless="again"),
        on("on_next", "onNext({named})", shown, tells="next", only="is_on requested has_room",
           unless="is_over", picks={"element": next_number("brought")}),
        on("on_complete", "onComplete", shown, tells="complete", only="is_on", unless="is_over"),
        on("on_error", "onError", shown, tells="error", only="is_on", unless="is_over"),
        on("on_null", "null in the signal {signal}", says(False, "takes_null", "no exception"),
           says(True, "refuses_null", "an exception"), picks={"signal": _NULLS}),
        on("hold_call", "the next call of the subscription will not return", done("so be it"),
           unless="held"),
        on("release_call", "the call of the subscription returns", shown, tells="release_call",
           only="held"),
    )


def application() -> tuple[On, ...]:
    """The requests of a publisher and of the application."""
    shown = all_events(ends("consumes_nothing", only_if="quiescent due"), *SHOWN_ABOVE,
                       *_SHOWN_BY_APPLICATION)
    return (
        *above(shown),
        on("process", "the application processes an element", shown, tells="process",
           unless="stopped"),
        on("stop", "the application needs no more elements", shown, tells="stop", only="is_on",
           unless="stopped"),
        on("settle", "everything runs that can run", shown),
    )


class Upstream(PlainConversation):
    """The side of the publisher: the demand, and the progress of the stream.

    At most C elements may be requested at a time. For the measures it counts the elements that a
    subscriber holds, and those that it has requested, apart from all rules: ``inside`` elements
    were received and have not been processed, or passed on.
    """

    carries: ClassVar[Mapping[str, Collection[str]]] = {"on_next": ("element",)}
    measures: ClassVar[Mapping[str, str]] = {
        "within": "deepest_above", "buffer": "inside", "demand": "demand"}
    is_on = flag(on="subscribe")
    again = flag(on="subscribe_again")
    is_over = flag(on="complete error")
    cancelled = flag(on="cancels")
    requested = tally({"requests": "comes", "next": -1})
    brought = tally({"next": 1})
    has_room = room("brought", "most")
    arming_call = flag(on="hold_call()", off="hold_call")
    held = flag(on="hold_call", off="release_call")
    second = Derived(lambda talk: [{}] * (talk.again or talk.request["do"] == "on_subscribe_again"))
    drops = flag(on=_DROPS)
    inside = tally({"next:counts": 1, "consumes": -1, "consumes_another": -1, "on_next": -1,
                    "on_next_other": -1}, clears=_DROPS)
    coming = tally({"requests": "more", "next": -1}, clears=_DROPS)
    demand = Derived(lambda talk: talk.inside + talk.coming)
    in_signal = flag(on="subscribe subscribe_again next complete error", off="signal_returns")
    deepest_above = largest("levels", "requests:is_within cancels:is_within")
    knows: ClassVar[tuple[Given, ...]] = (
        asked("element", named=worded("element"), counts=lacks("drops")),
        told("n", more=minus("n", 0, least=0),
             comes=lambda talk, event: 0 if talk.cancelled or talk.is_over else min(
                 event["more"], talk.constants["C"] - talk.requested)),
        told("event", holds_call=value("arming_call"), levels=just(2),
             is_within=lambda talk, event: (
                 talk.in_signal and talk.request["do"] in _SIGNALS)),
    )


class Application(Upstream):
    """The side of the publisher and of the application, with the elements that wait for it."""

    stopped = flag(on="stop")
    # It was asked to process an element, and has not answered: quiescent, it has processed none.
    due = flag(on="process", off="consumes consumes_another consumes_nothing")
    waiting = kept("element", adds="next:waits", drops="consumes")
    quiescent = Derived(lambda talk: (
        talk.request["do"] == "settle" or talk.policy == "inline") and not talk.held)
    knows: ClassVar[tuple[Given, ...]] = (
        asked("element", waits=lambda talk, request: not (talk.stopped or talk.cancelled)),
        told("element", named=worded("element"), is_some=is_there("element"),
             is_oldest=lambda talk, event: talk.waiting[:1] == [event["element"]]),
    )
