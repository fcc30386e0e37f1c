"""The suite ``kafka.controller``: batches of changes, legal and illegal, among failures."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby, pairwise, permutations, product
from operator import and_, itemgetter
from typing import Any, Final

from ....spec.kafka.controller.observed_controller import ObservedController, Request
from ....spec.kafka.controller.selectors import ALL, BROKERS, NOBODY, ORDERS, Selector
from ....spec.kafka.controller.transitions import Era, PartitionState, ReplicaState
from ....spec.notation.rules import Rule
from ...ports.base import Message
from ...suites.besides import (
    Derived, as_set, asked, below, both, by_policy, fails, first_there, if_any, if_equal, index_in,
    inside, inside_asked, list_of, looked_up, made, one_each, outside, phrase, place_of, same,
    spread, told,
)
from ...suites.plain import PlainConversation
from ...suites.remembered import drawn, kept, latest
from ...suites.says import (
    ANY, Among, Fields, Listed, Part, Says, Works, done, each, for_each, of_request, on, one, over,
    says, table,
)
from ...suites.suite import Act, Program, Suite, Watch
from .courses import COURSES, first_acts
from .port import PARTITION_STATES, REPLICA_STATES, REQUESTS, SELECTORS

__all__ = ["PARTITIONS", "SUITE", "ControllerConversation"]

PARTITIONS: Final = 2
PICKS: Final = 512

_ERAS: Final[Mapping[str, Era]] = {"0.9": Era.V0_9, "3.9": Era.V3_9}
_P, _R = PartitionState, ReplicaState


# ---- numbers, lists and names -------------------------------------------------------------------

_SETS: Final = [[each for each in range(BROKERS) if brokers >> each & 1]
                for brokers in range(ALL + 1)]
_LISTS: Final = [[each for each in order if each >= 0] for order in ORDERS]
_BATCHES: Final = (None, [0], [1], [0, 1])
_PAIRS: Final = [[one, broker] for one in range(PARTITIONS) for broker in range(BROKERS)]
_STATE_NAMES: Final = [state.name.lower() for state in PartitionState]
_REPLICA_NAMES: Final = [state.name.lower() for state in ReplicaState]


# ---- what answers show --------------------------------------------------------------------------


def _sent(talk: Any, request: Fields, told: list[Message]) -> Iterator[Message]:
    """The brokers that each request about a partition went to, and those requests to a broker that
    came directly after one of another kind."""
    for partition, kind in product(request["concerned"], REQUESTS):
        yield {"does": "told", "partition": partition, "kind": kind, "to": sorted({
            sent["to"] for sent in told
            if (sent["partition"], sent["request"]) == (partition, kind)})}
    for _, those in groupby(sorted(told, key=itemgetter("to")), itemgetter("to")):
        for earlier, later in pairwise(REQUESTS.index(sent["request"]) for sent in those):
            if earlier != later:
                yield {"does": "next", "earlier": earlier, "later": later}


def _shows(kind: Any, action: str, words: str, among: Listed, **more: Any) -> tuple[Says, ...]:
    """An entry of the answer, and those of the same kind that could be in its place."""
    return over(among, says(kind, action, words, instead_of=(action,), **more))


def _of_each(*those: Message) -> Among:
    """Each of these, for each partition of a request."""
    return for_each("concerned", "partition", *those)


_MET: Final = one(says(True, "isr_written_late", "", gives="met", where="is_asked"),
                  says(True, "", "", gives="met"), says(False, "", "", gives="met"))
_REPLICA_IS: Final = "replica {broker} of partition {partition} is {name}"
_REPLICAS_SEEN: Final = each(
    _shows(ANY, "replica_seen", "replica {broker} is {name}", for_each(
        "changes", "", *({"state": name} for name in _REPLICA_NAMES)),
        seen=_REPLICA_IS, to="change_replicas",
        where="is_concerned"),
    says(ANY, "", "", _REPLICA_IS), joined="; ", follows="concerned changes")
_PARTITION_IS: Final = "partition {partition} is {name}, {led} in epoch {epoch}, ISR {isr}"
_PARTITIONS_SEEN: Final = each(
    _shows(ANY, "state_seen", "partition {partition} is {name}", _of_each(*(
        {"state": state, "name": state.name.lower()} for state in PartitionState)),
        seen=_PARTITION_IS, where="is_concerned"),
    _shows(ANY, "leader_seen", "{led}", _of_each(*(
        {"leader": each, "led": f"{each} leads" if each < NOBODY else "there is no leader"}
        for each in range(NOBODY + 1))), quiet=True, where="is_concerned"),
    _shows(ANY, "isr_seen", "the ISR is {set}", _of_each(*(
        {"brokers": number, "set": str(brokers)} for number, brokers in enumerate(_SETS))),
        quiet=True, where="is_concerned"),
    _shows(ANY, "epoch_seen", "the epoch is {epoch}", _of_each(*(
        {"epoch": each} for each in range(3))), quiet=True, where="is_concerned"),
    says(ANY, "", "", _PARTITION_IS, where="is_other"), every=True, joined="; ",
    follows="concerned")
# The other requests go to all brokers, to none, or to one.
_TOLD: Final = each(
    _shows("told", "told_seen", "{name} goes to {set}", _of_each(*(
        {"request": request, "name": REQUESTS[request], "brokers": each, "set": str(_SETS[each])}
        for request in Request
        for each in (range(ALL + 1) if request == Request.LEADER_AND_ISR else (0, ALL, 1, 2, 4)))),
        seen="{kind} of partition {partition} to {to}", where="to"),
    says("told", "told_seen", "", quiet=True),
    _shows("next", "told_next", "{then} behind {first}", [
        {"earlier": earlier, "later": later, "first": REQUESTS[earlier], "then": REQUESTS[later]}
        for earlier, later in permutations(Request, 2)], quiet=True),
    reads=_sent, joined="; ", follows="concerned")


def _batch(action: str = "") -> Mapping[str, Part]:
    """The parts of the answer to a batch: its changes, and what is seen of each partition and
    replica that it names, and of no others; a reading has no changes."""
    changes = {"": each(says(ANY, action, "", quiet=True), reads=of_request("changes"))}
    return {"met": _MET, **(changes if action else {}), "replicas": _REPLICAS_SEEN,
            "partitions": _PARTITIONS_SEEN, "told": _TOLD}


# ---- what an act picks, and sends ---------------------------------------------------------------


def _isr(field: str, partition: Works, least: int = 0) -> Works:
    """The ISR that a leader writes: its own, too. None if there is no leader, or it writes none."""
    def works(talk: Any, picked: Fields) -> list[int] | None:
        leader = talk.led.get(partition(talk, picked))
        return _SETS[picked[field] | 1 << leader] if (
            leader is not None and picked[field] >= least) else None
    return works


_ONE: Final = range(PARTITIONS)
_MEANWHILE: Final = (0, 0, 0, *range(1, ALL + 1))
_NUMBERS: Final = range(len(_PAIRS))

# Useful ones come more often.
_ASSIGNED: Final = drawn("assign", PICKS, partition=_ONE, order=range(len(ORDERS) - 1),
                         unclean=(None,))
_REGISTERED: Final = drawn("brokers", PICKS, any=_ONE, up=(ALL, 1, 2, 3, 4, 5, 6),
                           leaving=(0, 0, 1, 2, 4))
_WRITTEN: Final = drawn("write_isr", PICKS, partition=_ONE, isr=range(ALL + 1))
_CHANGED: Final = drawn(
    "change", PICKS, any=_ONE, meanwhile=_MEANWHILE, batch=(1, 2, 3),
    target=(*_P, _P.ONLINE, _P.ONLINE, _P.ONLINE), selector=tuple(Selector),
    to=range(len(ORDERS) - 1))
_REPLICAS_CHANGED: Final = drawn(
    "change_replicas", PICKS, any=_ONE, meanwhile=_MEANWHILE, first=_NUMBERS,
    last=(None, None, *_NUMBERS), target=(*_R, _R.ONLINE, _R.OFFLINE))


_MEANWHILE_AGAIN: Final = index_in("meanwhile", _SETS, 0)
_THE_PARTITION: Final = {"partition": same("partition")}
_SAYS: Final = table(
    ObservedController,
    on("assign", "partition {partition} has the list {replicas}{elections}", done(),
       tells="assign", picks={"": _ASSIGNED}, if_all=(outside("partition", "touched"),),
       sends=_THE_PARTITION | {"replicas": list_of("order", _LISTS), "unclean": looked_up(
           first_there("unclean", "partition"), (False, True))}),
    on("brokers", "registered are {up}{shutting}", done(), tells="are_up",
       picks={"": _REGISTERED}, sends={
           "up": list_of("up", _SETS), "leaving": list_of(made(and_, "leaving", "up"), _SETS)}),
    on("write_isr", "the leader of partition {partition} writes the ISR {isr}", done(),
       tells="isr_written", picks={"": _WRITTEN}, if_all=(inside("partition", "led"),),
       sends=_THE_PARTITION | {"isr": _isr("isr", same("partition"))}),
    on("take_over", "a newer controller writes the node of partition {partition}", done(),
       tells="taken_over", picks={"": drawn("take_over", PICKS, partition=_ONE)},
       if_all=(inside("partition", "led"),), sends=_THE_PARTITION),
    on("look", "how partition {partition} is", _batch(), tells="begin", joined="; ",
       picks={"": drawn("look", PICKS, partition=_ONE)}, sends=_THE_PARTITION),
    on("change", "change partitions {partitions} to {name}{by}{while}", _batch("change"),
       tells="begin", joined="; ", picks={"": _CHANGED}, sends={
           "partitions": list_of("batch", _BATCHES), "target": looked_up("target", _STATE_NAMES),
           "selector": looked_up("selector", SELECTORS), "to": list_of("to", _LISTS),
           "meanwhile": _isr("meanwhile", place_of("partitions", 0), 1)}),
    on("change_replicas", "change the replicas [partition, broker] {replicas} to {name}{while}",
       _batch("change_replica"), tells="begin", joined="; ", picks={"": _REPLICAS_CHANGED}, sends={
           "replicas": lambda talk, picked: [[*_PAIRS[each]] for each in sorted(
               {picked["first"], first_there("last", "first")(talk, picked)})],
           "target": looked_up("target", _REPLICA_NAMES),
           "meanwhile": _isr("meanwhile", place_of("replicas", 0, 0), 1)}),
)


# ---- the conversation ---------------------------------------------------------------------------


class ControllerConversation(PlainConversation):
    """One session with a controller. An act has numbers for all fields of its request; sets of
    brokers are numbers as in the chapters, and lists are rows of ``ORDERS``. A pick stands for
    fields that are drawn by it."""

    carries = {
        "assign": {"partition": same("partition"), "order": index_in("replicas", _LISTS),
                   "unclean": same("unclean")},
        "brokers": {"up": index_in("up", _SETS), "leaving": index_in("leaving", _SETS)},
        "write_isr": {"partition": same("partition"), "isr": index_in("isr", _SETS)},
        "take_over": _THE_PARTITION, "look": _THE_PARTITION,
        "change": {
            "batch": index_in("partitions", _BATCHES), "to": index_in("to", _LISTS),
            "target": looked_up("target", PARTITION_STATES),
            "selector": index_in("selector", SELECTORS), "meanwhile": _MEANWHILE_AGAIN},
        "change_replicas": {
            "first": index_in(place_of("replicas", 0), _PAIRS),
            "last": index_in(place_of("replicas", -1), _PAIRS),
            "target": looked_up("target", REPLICA_STATES), "meanwhile": _MEANWHILE_AGAIN},
    }
    touched = kept("partition", adds="told_seen", once=True)
    leaders = latest("leader", "leader_seen", of="partition")
    led = Derived(lambda talk: {
        partition: leader for partition, leader in talk.leaders.items() if leader < NOBODY})
    knows = (
        asked("", **{"while": if_any(
            "meanwhile", "; its leader writes the ISR {meanwhile} meanwhile")}),
        asked("unclean", order=index_in("replicas", _LISTS),
              elections=if_any("unclean", ", unclean elections on")),
        asked("leaving", shutting=if_any("leaving", ", {leaving} shut down"),
              leaving=index_in("leaving", _SETS), brokers=index_in("up", _SETS)),
        asked("isr", brokers=index_in("isr", _SETS)),
        asked("meanwhile", brokers=as_set("meanwhile", BROKERS)),
        asked("partitions", name=same("target"),
              of=if_equal("selector", "reassigned", " of {to}"),
              by=if_equal("target", "online", " by {selector}{of}"),
              partition=place_of("partitions", 0), changes=spread("partitions", "partition"),
              concerned=one_each("partitions"),
              target=looked_up("target", PARTITION_STATES), to=index_in("to", _LISTS),
              selector=index_in("selector", SELECTORS), era=by_policy(_ERAS)),
        asked("replicas target", name=same("target"), partition=place_of("replicas", 0, 0),
              changes=spread("replicas", "partition", "broker"), concerned=one_each("replicas", 0),
              target=looked_up("target", REPLICA_STATES), era=by_policy(_ERAS)),
        asked("partition", concerned=lambda talk, request: [request["partition"]]),
        told("met", is_asked=lambda talk, met: "meanwhile" in talk.request),
        told("broker state", is_concerned=both(
            inside_asked("partition", "concerned"), below("broker", BROKERS)),
             name=same("state"), state=looked_up("state", REPLICA_STATES)),
        told("isr", is_concerned=inside_asked("partition", "concerned"),
             is_other=fails(inside_asked("partition", "concerned")),
             name=same("state"), state=looked_up("state", PARTITION_STATES),
             leader=first_there("leader", none=NOBODY),
             led=phrase("leader", "led by {leader}", {NOBODY: "without a leader"}),
             brokers=as_set("isr", BROKERS)),
        told("kind", request=index_in("kind", REQUESTS), brokers=as_set("to", BROKERS)),
    )
    says = _SAYS


# ---- the suite ------------------------------------------------------------------------------


def _settings(capacity: int) -> Mapping[str, int]:
    return {"capacity": capacity, "brokers": BROKERS}


def _constants(capacity: int, items_max: int) -> Mapping[str, int]:
    # Each act raises the epoch of a partition by at most two: one for each replica of it.
    return {"P": capacity, "E": 2 * items_max + 8}


@dataclass(frozen=True)
class ControllerSuite(Suite):
    """A suite with programs that mostly begin with existing partitions."""

    def explore(
        self, can: Collection[str], focus: Rule, seed: int, examples: int,
        attempt: Callable[[Program], None],
    ) -> None:
        """Explore with programs that begin with `first_acts`, unless they set their own scene."""
        draw = random.Random(f"begin {seed}")

        def begin(program: Program) -> None:
            first = tuple(act for act in first_acts(draw) if act.do in can)
            sets_its_scene = any(act.do == "assign" and act.about for act in program)
            attempt(program if sets_its_scene else first + program)

        super().explore(can, focus, seed, examples, begin)


_CHANGE, _REPLICAS = (("change",),), (("change",), ("change_replicas",))

SUITE: Final = ControllerSuite(
    name="kafka.controller",
    version=2,
    port="kafka.controller",
    watches=(Watch(ObservedController),),
    weights={"change": 6, "change_replicas": 5, "brokers": 3, "write_isr": 1, "take_over": 1,
             "assign": 1, "look": 1},
    needs={
        **{f"KAFKA-C{number}": _CHANGE for number in range(1, 16)},
        **{f"KAFKA-C{number}": _REPLICAS for number in range(16, 24)},
        "KAFKA-C13": (("change",), ("take_over",)),
        "KAFKA-C24": _CHANGE,
    },
    epilogue=(Act("look", about=(("partition", 0),)), Act("look", about=(("partition", 1),))),
    constants=_constants,
    conversation=ControllerConversation,
    settings=_settings,
    capacities=(PARTITIONS,),
    courses=COURSES,
    picks=PICKS,
    scene="A controller with {capacity} partitions on {brokers} brokers, all of them registered.",
)
