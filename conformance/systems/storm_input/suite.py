"""The suite ``storm.input``: a task's input in Storm, its two queues and its consumer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ....spec.storm.inputs.observed_input import ObservedInput
from ...ports.base import Message
from ...suites.besides import (
    asked, equal, first_of, given, next_names, next_several, number_in, same, told, worded,
)
from ...suites.items import could_come_out, meant_by, named_items
from ...suites.lengthy import Long
from ...suites.plain import PlainConversation
from ...suites.says import ANY, Fields, done, each, on, one, says, table
from ...suites.exchange import PICKS
from ...suites.suite import Act, Fuller, Suite, Watch
from ...suites.values import BEYOND, Payloads, Value

__all__ = ["SUITE", "InputConversation"]

REMOTE: Final = 2
LOCAL: Final = 1
MORE: Final = 8
"""Tuples that a run may name beyond the harness's items, because a transfer names several."""

ALL: Final = 99
"""A number of tuples that is large enough to empty the two queues."""


_ARRIVE: Final = ("arrive", "arrive from r2")
_FIELDS: Final = {**dict.fromkeys(_ARRIVE, "tuples"), "publish": "tuple"}
"""The field of the tuples, by act."""

_FATES: Final = {"kept": "inside", "published": "inside", "refused": "away",
                 "dropped_on_arrival": "away", "held_up": "away"}
"""By action, what becomes of the next tuple that was sent."""

_TUPLE: Final = says(ANY, "processed", "{named}", gives="value",
                     among=could_come_out("items"))


def _size(action: str, words: str, among: Any) -> Any:
    return one(says(ANY, action, f"{{count}} {words}", gives="count", exact=True, among=among))


class InputConversation(PlainConversation):
    """One session with a task's input. Tuples are the texts m1, m2, … in the order in which they
    are first named, or what the program says; an act's ``pick`` says how many arrive together, less
    one. A task that is interrupted after every tuple shows most, so that it consumes one or all.
    """

    items = named_items(("inside", "away", "processed"), ("inside",), {},
                        {"processed": "processed"})
    coming: list[Value] = []        # tuples of a request that are not answered yet
    carries = {"arrive": ("tuples",), "publish": ("tuple",), "consume": ("max",)}
    arriving = next_several("m", "items", "K", few=PICKS, spare=1)
    next_tuple = next_names("m", "items", "K", spare=1)
    knows = (
        given("", next=first_of("coming")),
        asked("sender", by=same("sender"), sender=number_in("sender"), listed=worded("tuples")),
        asked("max", all=equal("max", ALL)),
        told("value", meant_by("value", "items"), tuple=same("item")),
        told("item", tuple=same("item")),
    )
    says = table(
        ObservedInput,
        on("arrive", "{by} sends {listed}", each(
            says(True, "kept", "kept", "{next} kept"),
            says(False, "dropped_on_arrival", "dropped", "{next} dropped"),
            says(None, "held_up", "the receiving thread waits",
                 "the receiving thread waits with {next}"), joined="; ", most="tuples", fewer=True),
           picks={"sender": ("r1",), "tuples": "arriving"}, lists=("tuples",),
           also={_ARRIVE[1]: {"sender": ("r2",), "tuples": "arriving"}}),
        on("publish", "{by} publishes {next}", says(True, "published", "taken"),
           says(False, "refused", "refused"), picks={
               "sender": ("l1",), "tuple": "next_tuple"}),
        on("consume", "process all", each(
            _TUPLE, says(None, "ran_out", "no more tuples", "no more"), joined=", ", most="max",
            fewer=True), where="all",
           picks={"max": (1,)}, also={"consume all": {"max": (ALL,)}}),
        on("consume", "process {max}, then pause", each(
            _TUPLE, says(None, "ran_out", "no more tuples", "no more"), joined=", ", most="max",
            fewer=True)),
        on("step", "the task takes one step",
           each(_TUPLE, words="it processes {}", nothing="no tuple", most=1)),
        on("flush", "the local senders flush", one(says(True, "flushed", "done"), listed=True)),
        on("sizes", "ask for the sizes", {
            "recvq": _size("recvq_sized", "in recvQ",
                           lambda talk, _: range(talk.constants["C"] + 2)),
            "overflowq": _size("overflowq_sized", "in the overflowQ", lambda talk, _: range(min(
                talk.items.count("inside"),
                talk.constants["X"] + 1 or talk.items.count("inside")) + 1)),
            "dropped": _size("drops_counted", "dropped",
                             lambda talk, _: range(talk.items.count("away") + 2))}),
        on("settle", "settle", done("everything has run that can run")),
    )

    def about(self, message: Message) -> Fields:
        if "sender" in message:
            self.coming = list(message.get("tuples") or [message["tuple"]])
        return super().about(message)

    def note(self, action: str, about: Fields) -> None:
        super().note(action, about)
        while action in _FATES and self.coming:
            self.items.add(self.coming.pop(0), _FATES[action])
            if action != "held_up":
                break


def _settings(capacity: int) -> Mapping[str, int]:
    """The settings of ``hello`` for a capacity: every third has no overflow limit, and if a batch
    of two fits into half of the buffer, there are batches."""
    return {
        "capacity": capacity, "overflow_limit": (0, 2, 1)[capacity % 3] if capacity < 4 else 0,
        "batch": 2 if capacity >= 4 else 1, "remote": REMOTE, "local": LOCAL,
    }


def _constants(capacity: int, items_max: int) -> Mapping[str, int]:
    chosen = _settings(capacity)
    return {
        "C": capacity, "X": chosen["overflow_limit"], "B": chosen["batch"], "R": REMOTE,
        "S": LOCAL, "K": items_max + MORE,
    }


SUITE: Final = Suite(
    name="storm.input",
    version=5,
    port="storm.input",
    watches=(Watch(ObservedInput),),
    weights={"arrive": 3, "arrive from r2": 1, "publish": 3, "consume": 3, "consume all": 1,
             "step": 2, "flush": 1, "sizes": 1},
    # This race needs tuples that arrive while the task reads the size of a queue.
    needs={"STORM-Q1": (("arrive",), ("consume", "step"))},
    epilogue=(Act("flush"), Act("sizes"), Act("consume all"), Act("sizes")),
    constants=_constants,
    payloads=Payloads(_FIELDS, several=dict.fromkeys(_ARRIVE, lambda pick: pick + 1),
                      ends={"consume all": ("max", BEYOND)}),
    long=Long(fills=("arrive", "publish"), drains=("consume", "consume all", "step"), sizes=(7,)),
    conversation=InputConversation,
    settings=_settings,
    capacities=(1, 2, 3, 4),
    telling={"STORM-I4": (1, 2), "STORM-I10": (1,), "STORM-I12": (4,)},
    favoured={
        # Sizes would show a violation of another rule first, and end the judging.
        "STORM-Q1": ("arrive", "arrive from r2", "publish", "consume", "step", "flush"),
        "STORM-I10": ("arrive", "publish", "consume"),
    },
    courses={
        "STORM-Q1": (("arrive", "consume", "arrive", "consume", "consume"),
                     ("arrive from r2", "arrive", "arrive", "consume all")),
        # A round has begun when the overflowQ gets its first tuple; recvQ never runs dry.
        "STORM-I10": (("publish", "step", "arrive", *("consume", "publish") * 3, "consume"),
                      ("arrive", "consume", *("publish", "consume") * 4)),
    },
    takes_more={
        "STORM-I10": "a task that can be stopped between its reads of the two sizes (step), or "
                     "one that starves the overflowQ",
    },
    fuller={
        "STORM-Q1": (Fuller(("step",),
                            "the race of an arrival with a task that has read the size of "
                            "one of its two queues (D2)"),
                     Fuller(("publish",), "the order of a local sender's tuples (STORM-342)")),
    },
    scene=("A task's input: recvQ of {capacity}, overflow limit {overflow_limit} (0: none), "
           "batches of {batch}."),
)
