"""The 43 rules of Reactive Streams, and what the book does about each.

The specification (version 1.0.4) numbers its rules by the party that has to keep them: 1 for
publishers, 2 for subscribers, 3 for subscriptions, 4 for processors. Each is listed here once, with
its strength, its statement, and how far it is checked; ``rules`` makes rules of the book of the
checked ones. The statements are ours, and shorter than the specification's.

Five rules are permissions. They cannot be violated; what is checked is that no observer reports
their use as a fault. The specification's own kit has no executable check for 17 rules
(``BEYOND_ITS_KIT``). Most need a moment that a kit with real threads and time limits cannot bring
about: a signal that has not returned, or a publisher that is known to be quiescent.

Source: reactive#specification.
"""

from __future__ import annotations

from typing import Final, NamedTuple

__all__ = ["BEYOND_ITS_KIT", "THE_43", "Stated", "anchor_of", "table_of_the_43"]

CHECKED, IN_PART, UNCHECKED = "checked", "checked in part", "unchecked"


class Stated(NamedTuple):
    """One rule of the specification: its strength, its statement, its status, the rules of the
    book that check it (empty: the one with its own number), and a remark on how."""

    strength: str
    statement: str
    status: str = CHECKED
    through: tuple[str, ...] = ()
    how: str = ""


def _may(statement: str, how: str, status: str = CHECKED) -> Stated:
    return Stated("MAY", statement, status, ("none",), how)


THE_43: Final[dict[str, Stated]] = {
    "1.1": Stated(
        "MUST", "A publisher signals no more elements than were requested.",
        how="every element is counted"),
    "1.2": _may(
        "A publisher may signal fewer elements than were requested, and end.",
        "accepted: sources with fewer elements than are requested"),
    "1.3": Stated(
        "MUST", "A publisher signals serially: no signal begins before another thread's signal has "
        "returned.",
        how="the harness keeps a signal from returning, and calls from outside; a target that "
            "cannot `hold` is not judged"),
    "1.4": Stated("MUST", "A publisher that fails signals onError.",
                  how="when quiescent, once the source has failed"),
    "1.5": Stated("MUST", "A publisher that ends without failure signals onComplete.",
                  how="when quiescent, once more was requested than there is"),
    "1.6": Stated(
        "MUST", "After onComplete or onError the subscription is considered cancelled.",
        how="the publisher drops its reference to the subscriber, as 3.13 says after cancel"),
    "1.7": Stated("MUST", "After onComplete or onError there are no more signals.",
                  how="any signal, after any call"),
    "1.8": Stated("MUST", "When a subscription is cancelled, its signals stop eventually.",
                  how="one signal may have been under way, and none comes once the publisher was "
                      "quiescent: in virtual time 'eventually' is a moment"),
    "1.9": Stated(
        "MUST", "Subscribing calls onSubscribe before any other signal, and returns normally; "
        "a null subscriber is refused by an exception."),
    "1.10": Stated(
        "MUST", "A caller that subscribes several times does so with different subscribers.",
        UNCHECKED,
        ("none",), "it binds the caller of subscribe, which is the harness: it never violates it"),
    "1.11": _may(
        "A publisher may have several subscribers, and decides which elements each receives.",
        "accepted: two subscribers, each judged alone, or an onError for the second one"),
    "2.1": Stated("MUST", "A subscriber requests elements, at least one at a time.",
                  how="when quiescent it has requested, if it has nothing to process and is not "
                      "done"),
    "2.2": Stated("SHOULD", "A subscriber does not do work that takes long within the publisher's "
                  "signal.", how="no element is processed before its onNext has returned"),
    "2.3": Stated("MUST", "onComplete and onError call nothing of the subscription or publisher.",
                  how="calls between the beginning and the end of the signal"),
    "2.4": Stated("MUST", "After onComplete or onError a subscriber considers its subscription "
                  "cancelled.", how="it requests no more"),
    "2.5": Stated("MUST", "A subscriber that has a subscription cancels any further one that "
                  "it receives."),
    "2.6": Stated("MUST", "A subscriber that needs no more elements cancels.",
                  how="when quiescent, once its application has stopped"),
    "2.7": Stated("MUST", "A subscriber's calls of request and cancel are serial.",
                  how="the harness keeps a call from returning, and makes another one meanwhile; a "
                      "target that cannot `hold` is not judged"),
    "2.8": Stated("MUST", "A subscriber that has cancelled still accepts the elements that it had "
                          "requested."),
    "2.9": Stated("MUST", "A subscriber accepts onComplete, with or without a request before it."),
    "2.10": Stated("MUST", "A subscriber accepts onError, with or without a request before it."),
    "2.11": Stated(
        "MUST", "The content of a signal is visible when the signal is processed.", IN_PART,
        how="the processed elements are the signalled ones, in order; the memory order between "
            "threads cannot be seen through calls"),
    "2.12": Stated("MUST", "onSubscribe is called at most once for a subscriber.",
                   how="it judges the publisher"),
    "2.13": Stated("MUST", "Signals return normally, except that null is refused by an "
                   "exception."),
    "3.1": Stated(
        "MUST", "Only its subscriber calls a subscription.", UNCHECKED, ("none",),
        "all parts of a program that hold a subscription can call it, and a call does not show its "
        "caller"),
    "3.2": Stated("MUST", "A subscriber may call request from within onSubscribe and onNext.",
                  how="such a request returns normally, and its elements come"),
    "3.3": Stated("MUST", "Synchronous recursion between request and onNext is bounded: at most "
                          "D onNext calls are open at a time on one thread.",
                  how="the number of signals open at a time, compared with the setting `depth`"),
    "3.4": Stated("SHOULD", "request returns promptly.",
                  how="it does not wait for a signal that has not returned; no clock is needed"),
    "3.5": Stated("MUST", "cancel returns promptly, can be called twice, and by any thread.",
                  how="it does not wait for a signal that has not returned; twice: 3.7"),
    "3.6": Stated("MUST", "After cancel, request does nothing."),
    "3.7": Stated("MUST", "After cancel, cancel does nothing."),
    "3.8": Stated("MUST", "Requests add up.",
                  how="when quiescent, all elements that were requested and exist have "
                  "come"),
    "3.9": Stated("MUST", "A request for less than one element is answered with an onError that "
                  "reports an illegal argument."),
    "3.10": _may("request may call onNext before it returns.",
                 "accepted: the reference `inline` does so"),
    "3.11": _may("request may call onComplete or onError before it returns.",
                 "accepted: the reference `inline` does so"),
    "3.12": Stated("MUST", "cancel makes the signals stop eventually.", CHECKED, ("1.8",),
                   "1.8 says the same of the publisher; from outside the two cannot be told "
                   "apart"),
    "3.13": Stated("MUST",
                   "After cancel the publisher eventually drops its references to the subscriber.",
                   how="by `references`, when quiescent; a target that does not offer it is not "
                       "judged"),
    "3.14": _may("cancel may end a publisher that has no other subscriber.",
                 "accepted: the harness never subscribes again after a cancel, so nothing changes"),
    "3.15": Stated("MUST", "cancel returns normally."),
    "3.16": Stated("MUST", "request returns normally."),
    "3.17": Stated("MUST", "Requests of up to 2^63 - 1 in all are supported.",
                   how="two such requests in a row: a sum that overflows is negative, or small"),
    "4.1": Stated("MUST", "A processor keeps the rules of both sides.", CHECKED,
                  ("all of a publisher's", "all of a subscriber's"),
                  "both observers judge it, each its side"),
    "4.2": Stated("MUST", "A processor that receives onError passes it on at once, or recovers and "
                  "considers its subscription cancelled.", IN_PART,
                  how="of processors that do not recover: before anything else is signalled"),
}
"""By number, the rules of the specification."""

BEYOND_ITS_KIT: Final = (
    "1.6", "1.8", "1.10", "2.2", "2.4", "2.6", "2.7", "2.11", "2.12", "3.1", "3.4", "3.5", "3.10",
    "3.11", "3.14", "3.15", "3.16",
)
"""The rules that the specification's own kit has no executable check of."""


def anchor_of(number: str) -> str:
    """The anchor of a rule on the page about the specification."""
    return "R" + number.replace(".", "-")


def table_of_the_43() -> str:
    """The rules as a table in Markdown, for a page on them."""
    head = ["| rule | strength | says | status | by | how |", "|---|---|---|---|---|---|"]
    return "\n".join(head + [_row(number, each) for number, each in THE_43.items()])


def _row(number: str, each: Stated) -> str:
    by = ", ".join(each.through) or f"RS-{number}"
    if each.through and each.through[0][0].isdigit():
        by = ", ".join(f"RS-{one}" for one in each.through)
    anchor = f'<a id="{anchor_of(number)}"></a>'
    return (f"| {anchor}{number}{'*' if number in BEYOND_ITS_KIT else ''} | {each.strength} | "
            f"{each.statement} | {each.status} | {'—' if by == 'none' else by} | {each.how} |")
