"""The suite ``delivery``: messages are published, given, acknowledged or not, and come again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from ....spec.flow.observed_delivery import Law, ObservedDelivery
from ...ports.base import Message
from ...suites.lengthy import Long, enough, grown
from ...suites.plain import PlainConversation
from ...suites.remembered import kept, kept_by, next_number, numbered
from ...suites.says import ANY, Fields, On, Says, on, one, over, says, table
from ...suites.suite import Act, Suite, Watch
from ...suites.values import BEYOND, Payloads, in_words

__all__ = ["SUITE", "DeliveryConversation"]

CONSUMERS: Final = 2
TIMEOUT: Final = 2
MESSAGES: Final = 10
"""Limit of the messages of a short program."""
MESSAGES_OF_LONG: Final = 200
PICKS: Final = 24

_TICKS: Final = (1, 2, 3, 1)
_LIMITS: Final = (1, 2, 0)
_TRIES: Final = (1, 2, 3, 0)
_LOOKED_AT: Final = 12
"""The last so many messages are those that could have been given in place of another."""

_COMES_BACK: Final = ("requeue", "disconnect", "advance", "restart")
"""Operations by which what is in flight comes back."""

_LAWS: Final[Mapping[str, Law]] = {
    "refuse": Law.REFUSE, "drop-head": Law.DROP_HEAD, "drop-tail": Law.DROP_TAIL,
    "unbounded": Law.UNBOUNDED, "any-order": Law.ANY_ORDER}


def _named(action: str, words: str) -> tuple[Says, ...]:
    """An answer that is one of the last messages."""
    return over(lambda talk, request: [{"message": name} for name in [*talk.names][-_LOOKED_AT:]],
                says(ANY, action, words, gives="message", where="known"))


def _answered(do: str, action: str, words: str) -> On:
    """A consumer's answer to a delivery, perhaps a late one."""
    return on(do, f"consumer {{consumer}} {words} {{named}}",
              says(ANY, action, "that is {said}", gives="taken"),
              picks={"consumer": range(CONSUMERS),
                     "message": lambda talk, request: talk.given_to(request["consumer"])})


class DeliveryConversation(PlainConversation):
    """One session with a broker; this is its producers, its consumers, and the clock.

    The broker's policy is among what it ``can``: rules depend on it.
    """

    names = numbered("name", "confirms refuses")
    given = kept_by("consumer", "name", adds="gives", drops="acks:taken rejects:taken")
    over = kept("name", adds="acks:taken buries", renewed=True)
    needs_policy = True
    carries: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "publish": ("message",), "limit": ("most",), "tries": ("most",), "advance": ("ticks",)}
    says = table(
        ObservedDelivery,
        on("publish", "{named} is published", says(True, "confirms", "it is confirmed"),
           says(False, "refuses", "it is refused"), new={"message": "names"},
           makes_sense=lambda talk: len(talk.names) < talk.constants["R"],
           picks={"message": next_number("names")}),
        on("receive", "consumer {consumer} asks", one(
            says(None, "gives_nothing", "there is nothing"), _named("gives", "{named} is given"),
            says(ANY, "gives_another", "", "{named} is given, which nobody published")),
           picks={"consumer": range(CONSUMERS)}),
        _answered("ack", "acks", "acknowledges"),
        _answered("requeue", "requeues", "gives back"),
        _answered("reject", "rejects", "rejects"),
        on("limit", "consumer {consumer} limits itself to {most}", says(True, "limits", "done"),
           picks={"consumer": range(CONSUMERS), "most": _LIMITS}),
        on("tries", "{most} deliveries are allowed", says(True, "allows", "done"),
           picks={"most": _TRIES}),
        on("dead", "the dead letters are looked at", one(
            says(None, "buries_nothing", "there is none"), _named("buries", "{named} is taken "
                                                                            "away"),
            says(ANY, "buries_another", "", "{named} is there, which nobody published"))),
        on("count", "the deliveries of {named}",
           says(None, "counts_nothing", "it is not there any more"),
           says(ANY, "counts", "{count}", gives="count",
                among=lambda talk, request: range(talk.times["gives"] + 2)),
           picks={"message": "counted"}),
        on("disconnect", "the connection of consumer {consumer} is lost",
           says(True, "disconnects", "done"),
           picks={"consumer": range(CONSUMERS)}),
        on("advance", "{ticks} ticks pass", says(True, "advances", "done"),
           picks={"ticks": _TICKS}),
        on("restart", "the broker is killed, and started again", says(True, "restarts", "done")),
    )

    def given_to(self, consumer: int) -> Sequence[int | str]:
        """Messages that a consumer may answer for: its last deliveries, and sometimes one that is
        over."""
        return [*self.given[consumer][:-4:-1], *self.over[-1:]]

    @property
    def counted(self) -> Sequence[int | str]:
        """Messages of which deliveries may be asked for: the last two that each consumer was
        given."""
        return [name for each in range(CONSUMERS) for name in self.given[each][:-3:-1]]

    def about(self, message: Message) -> Fields:
        """A request, event or answer, with the fields that are known besides."""
        fields: dict[str, Any] = {**message, "law": _LAWS[self.policy]}
        if "message" in message:
            name = message["message"]
            new = message.get("do") == "publish"
            fields |= {"name": name, "named": in_words(name), "known": name in self.names,
                       "message": len(self.names) if new else self.names.get(name, -1)}
        if "taken" in message:
            fields["said"] = "taken" if message["taken"] else "ignored"
        return fields


def _settings(capacity: int) -> Mapping[str, int]:
    return {"capacity": capacity, "consumers": CONSUMERS, "timeout": TIMEOUT}


def _constants(capacity: int, items_max: int) -> Mapping[str, int]:
    return {"K": capacity, "W": CONSUMERS, "T": TIMEOUT,
            "R": grown(MESSAGES, items_max, enough(MESSAGES_OF_LONG, capacity)),
            "D": max(MESSAGES, items_max) + 1}


SUITE: Final = Suite(
    name="delivery",
    version=3,
    port="delivery",
    watches=(Watch(ObservedDelivery),),
    weights={"publish": 6, "receive": 7, "ack": 3, "requeue": 2, "reject": 1, "limit": 1,
             "tries": 1, "dead": 1, "count": 1, "disconnect": 1, "advance": 3, "restart": 1},
    epilogue=(Act("limit", 4), Act("advance", 1), *[Act("receive")] * 6, Act("count"),
              Act("count", 1), *[Act("dead")] * 3),
    constants=_constants,
    payloads=Payloads({"publish": "message"}, ends={
        "limit": ("most", BEYOND), "tries": ("most", BEYOND), "advance": ("ticks", BEYOND)}),
    long=Long(fills=("publish",), drains=("receive", "ack"), sizes=(7,), requests=500),
    conversation=DeliveryConversation,
    settings=_settings,
    capacities=(1, 2, 3),
    favoured={
        "DELIV-10": ("publish", "publish", "receive", "receive", *_COMES_BACK),
        "DELIV-14": ("publish", "receive", "dead", "dead", "tries", "reject", *_COMES_BACK),
        "DELIV-15": ("publish", "receive", "dead", "dead", "tries", "reject", *_COMES_BACK),
        "DELIV-16": ("publish", "receive", "receive", "tries", "reject", *_COMES_BACK),
        "DELIV-17": ("publish", "receive", "receive", "count", "count", *_COMES_BACK),
        "DELIV-18": ("publish", "publish", "publish", "receive")},
    courses={
        "DELIV-4": ((*["publish"] * 3, *[(Act("receive"),)] * 3, (Act("disconnect"),),
                     *[(Act("receive", 1),)] * 3),),
        # It comes back for the first time, and before anyone asks again the dead letters are seen.
        "DELIV-14": (((Act("tries", 1), Act("tries", 2)), "publish", (Act("receive"),),
                      (Act("requeue"), Act("disconnect")), "dead", "dead"),),
        "DELIV-8": (((Act("limit", 0), Act("limit", 2)), *["publish"] * 3,
                     *[(Act("receive"),)] * 3),)},
    picks=PICKS,
    scene="A broker. Ready messages of a full queue: {capacity}; consumers: {consumers}; ticks in "
          "flight: {timeout}.",
)
