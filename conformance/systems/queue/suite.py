"""The suite ``queue``: a bounded queue with waiting producers and consumers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ....spec.notation.interpreter import Step
from ....spec.queues.conserved import ConservingQueue
from ....spec.queues.dropping import DroppingQueue, Policy
from ....spec.queues.policies import UnknownQueue
from ....spec.queues.queue import IN_TURN, BoundedQueue, OrderlyQueue
from ...ports.base import STEPPED_WAKES, Message
from ...suites.besides import asked, given, next_names, worded
from ...suites.items import could_come_out, meant_by, named_items
from ...suites.lengthy import Long, grown
from ...suites.plain import policy
from ...suites.says import ANY, WAITS, Fields, done, on, one, says, table
from ...suites.suite import Act, Fuller, Suite, Watch
from ...suites.tickets import WAITERS_MAX, TicketConversation
from ...suites.values import Payloads, in_words

__all__ = ["PLACES", "ROWS", "SUITE", "QueueConversation", "constants", "policy"]

TAKES_MAX: Final = 12
"""Limit of the takes that begin to wait in one short program."""

TAKES_OF_LONG: Final = 600

STEPS_MAX: Final = 16
"""The most steps after which a thread is stopped."""


PROMISES: Final[Mapping[str, Policy]] = {
    "drop-oldest": Policy.DROP_OLDEST, "drop-newest": Policy.DROP_NEWEST,
    "drop-youngest-queued": Policy.DROP_YOUNGEST, "clear": Policy.CLEAR,
    "conflate": Policy.CONFLATE,
}
"""The promise of a target's policy about dropped items; other policies promise nothing."""


_ITEM: Final[dict[str, Any]] = {"gives": "value", "among": could_come_out("items")}

_NEW: Final[Mapping[str, Any]] = {"item": "next_items"}
PLACES: Final[Mapping[str, Any]] = {"place": range(WAITERS_MAX)}
_STEPS: Final[Mapping[str, Any]] = {"steps": range(1, STEPS_MAX + 1)}
"""Values from which requests pick: the next item, which call it is that can continue, and after how
many steps a call is stopped."""

ROWS: Final = (
    on("offer", "offer {named}", says(True, "offer_accepted", "accepted"),
       says(False, "offer_refused", "refused"), picks=_NEW),
    on("poll", "poll", says(None, "poll_empty", "empty"),
       says(ANY, "poll_item", "{named}", **_ITEM)),
    on("put", "put {named} by {by}", says(True, "put_done", "done at once"),
       says(WAITS, "put_waits", "waits"),
       later=one(says(True, "woken_put", "the put of {named} completes")),
       picks={**_NEW, "by": lambda talk, request: [f"producer {len(talk.items) + 1}"]}),
    on("take", "take by {by}", says(ANY, "take_item", "{named}", **_ITEM),
       says(WAITS, "take_waits", "waits"),
       later=one(says(ANY, "woken_take", "{by} gets {named}", **_ITEM)),
       picks={"by": "next_takes"}),
    on("size", "size", says(
        ANY, "sized", "{count}", gives="count", exact=True,
        among=lambda talk, request: range(min(len(talk.items), talk.constants["C"] + 1) + 1))),
    on("resident", "resident", says(ANY, "held", "", "{count}", gives="count", exact=True)),
    on("settle", "settle",
       says(True, "settled", "no further wait completes", "all has run that can run")),
)
"""The meaning of the requests and answers that the ports of queues have in common."""

_LIKELY: Final = ("inside", "waiting", "refused", "cancelled", "out")
"""The fates of an item, from the most to the least likely to come out."""

_STOPPED: Final = ("begin_offer", "begin_poll")
"""Operations that never wait, and can be stopped on their way."""

_CANCEL: Final = "cancel what began to wait in step {began}{over}"


class QueueConversation(TicketConversation):
    """One session with a queue. Items are the texts a1, a2, … in the order in which they are first
    named, or those that the program gives."""

    items = named_items(
        _LIKELY, inside=_LIKELY[:2],
        named={"offer_accepted": "inside", "put_done": "inside", "put_waits": "waiting",
               "offer_refused": "refused"},
        becomes={**dict.fromkeys(("poll_item", "take_item", "woken_take"), "out"),
                 "cancelled_put": "cancelled", "woken_put": "inside from waiting"})
    next_items = next_names("a", "items", "K", spare=1)
    next_takes = next_names("consumer ", most="T", action="take_waits")
    needs_policy = True
    knows = (given("value", meant_by("value", "items")),
             asked("item", named=worded("item")))
    carries = {"offer": ("item",), "put": ("item",), "begin_offer": ("item",)}
    says = table(
        (BoundedQueue, UnknownQueue), *ROWS,
        on("cancel", _CANCEL, says(True, "cancelled_put", "undone"),
           says(False, "too_late_for_put", "too late"), where="put"),
        on("cancel", _CANCEL, says(True, "cancelled_take", "undone"),
           says(False, "too_late_for_take", "too late"), where="take"),
        on("pause", "the next put or take is stopped after {steps} steps", done(), picks=_STEPS),
        on("proceed", "a call that can continue does", done(), picks=PLACES),
        # One that is refused late had no effect, as if its put had been cancelled.
        on("begin_offer", "offer {named}, stopped after {steps} steps",
           says(True, "offer_accepted", "accepted"), says(False, "offer_refused", "refused"),
           says(WAITS, "put_waits", "stopped"),
           later=one(says(True, "woken_put", "the offer of {named} is accepted"),
                     says(False, "cancelled_put", "the offer of {named} is refused")),
           picks={**_NEW, **_STEPS}),
        on("begin_poll", "poll, stopped after {steps} steps",
           says(None, "poll_empty", "empty"), says(ANY, "poll_item", "{named}", **_ITEM),
           says(WAITS, "take_waits", "stopped"),
           later=one(says(None, "cancelled_take", "the poll of step {at} finds nothing"),
                     says(ANY, "woken_take", "the poll of step {at} gets {named}", **_ITEM)),
           picks=_STEPS, only="next_takes"),
    )

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._promise = PROMISES.get(self.policy, Policy.NONE)
        self._pauses = False        # whether the next put or take is to be stopped on its way

    def begun(self, request: Message) -> Fields:
        if "item" in request:
            return {"item": len(self.items) - 1, "named": in_words(request["item"])}
        return {"ticket": self.times["take_waits"] - 1, "by": request.get("by"), "at": self._said}

    def beside(self, act: Act, reply: Message) -> tuple[Step, ...]:
        """The promise of its policy, at the beginning; and that a thread was stopped on its way, so
        that its call waits, and may be in no wait queue."""
        promise, self._promise = self._promise, Policy.NONE
        steps: tuple[Step, ...] = (("promised", (("promise", promise),)),) if promise else ()
        if "waiting" in reply and (self._pauses or act.do in _STOPPED):
            steps += (("stopped_on_its_way", ()),)
        self._pauses = act.do == "pause" or (self._pauses and act.do not in ("put", "take"))
        return steps


def constants(capacity: int, items_max: int) -> Mapping[str, int]:
    """The constants of the machines, for a capacity and the most items that a program names."""
    return {"C": capacity, "K": items_max, "T": grown(TAKES_MAX, items_max, TAKES_OF_LONG),
            "W": WAITERS_MAX}


TWICE: Final = {"QUEUE-6": (Fuller(("put", "take"), "a wait that completes twice"),)}

IN_BETWEEN: Final = {rule: (Fuller((STEPPED_WAKES,), finds),) for rule, finds in {
    "QUEUE-6": "an item that goes to a woken call and to another as well",
    "QUEUE-9": "a wait that is cancelled after it was woken, and has had an effect",
    "QUEUE-10": "a wait that is cancelled after it was woken, and wakes no other",
    "QUEUE-12": "a later call that overtakes a woken one",
}.items()}
"""Bugs that show only if other calls can come between a wake-up and the first step of the woken
call:
the rules of twins that are not found if all settles after each request.
"""

_TWO_PUTS: Final = (
    ("pause", "put", "put", "settle"),  # not all queues say their size
    ("put", "pause", "put", "take", "put", "settle"),
    ("pause", "put", "pause", "put", "proceed", "settle", "size"),
)
_TWO_TAKES: Final = (
    ("put", "pause", "take", "take", "settle"),
    ("pause", "take", "put", "take", "settle"),
    ("put", "pause", "take", "pause", "take", "proceed", "settle"),
)
STOPPED_BETWEEN: Final = {
    "QUEUE-1": _TWO_PUTS, "QUEUE-3": _TWO_PUTS, "QUEUE-4": _TWO_PUTS, "QUEUE-7": _TWO_PUTS,
    "QUEUE-6": _TWO_TAKES, "QUEUE-8": _TWO_TAKES,
}
"""Programs for a queue for threads: one is stopped on its way, and others come in between."""

SUITE: Final = Suite(
    name="queue",
    version=8,
    port="queue",
    # The order counts: of two machines that refuse the same step, the first names the rule.
    watches=(
        Watch(ConservingQueue),
        Watch(BoundedQueue),
        Watch(OrderlyQueue, adds=IN_TURN, base=BoundedQueue),
        Watch(DroppingQueue, apart=True),
    ),
    weights={"offer": 2, "poll": 2, "put": 3, "take": 3, "settle": 1, "cancel": 3, "size": 1,
             "pause": 4, "proceed": 1, "begin_offer": 3, "begin_poll": 3},
    own_picks={"pause": range(STEPS_MAX), "begin_offer": range(STEPS_MAX),
               "begin_poll": range(STEPS_MAX)},
    long=Long(fills=("offer", "put"), drains=("poll", "take"), sizes=(7,)),
    payloads=Payloads({"offer": "item", "put": "item", "begin_offer": "item"}, equal=True),
    needs={
        # A wait ends once, so that no program has both answers to it.
        "QUEUE-9": (("put", "take"), ("cancel",)),
        # In a queue of another policy no put waits.
        "QUEUE-7": (("put",), ("poll", "take"), (policy("wait"),)),
    },
    epilogue=(Act("settle"), *(Act("poll"),) * 5, Act("settle")),
    constants=constants,
    conversation=QueueConversation,
    scene="A queue of capacity {capacity}.",
    plainer={"put": "offer", "take": "poll", "begin_offer": "offer", "begin_poll": "poll"},
    fuller={**TWICE, **IN_BETWEEN, "QUEUE-6": TWICE["QUEUE-6"] + IN_BETWEEN["QUEUE-6"]},
    courses=STOPPED_BETWEEN,
    takes_more={
        "QUEUE-12": "a target in which one call waits while another one puts or takes",
    },
)
