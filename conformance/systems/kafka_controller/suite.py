"""The suite ``kafka.controller``: batches of changes, legal and illegal, among failures."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise, permutations, product
from operator import and_
from typing import Any, Final

from ....spec.kafka.controller.observed_controller import ObservedController, Request
from ....spec.kafka.controller.selectors import ALL, BROKERS, NOBODY, ORDERS, Selector
from ....spec.kafka.controller.transitions import Era, PartitionState, ReplicaState
from ....spec.notation.rules import Rule
from ...ports.base import Message
from ...suites.besides import (
    Derived, asked, if_any, index_in, list_of, looked_up, made, outside, place_of, same,
)
from ...suites.plain import PlainConversation
from ...suites.remembered import drawn, kept, latest
from ...suites.says import Among, Fields, Says, Works, done, each, on, over, says, table
from ...suites.suite import Act, Program, Suite, Watch
from .courses import COURSES, first_acts
from .port import PARTITION_STATES, REPLICA_STATES, REQUESTS, SELECTORS

__all__ = ["PARTITIONS", "SUITE", "ControllerConversation"]

PARTITIONS: Final = 2
PICKS: Final = 512

_ERAS: Final[Mapping[str, Era]] = {"0.9": Era.V0_9, "3.9": Era.V3_9}
_P, _R = PartitionState, ReplicaState


# ---- what answers show --------------------------------------------------------------------------


def _events(talk: Any, request: Fields, answer: Any) -> Iterator[Message]:
    """A batch: it begins, each of its changes, and what is seen of each partition and replica that
    it names, and of no others."""
    concerned = sorted(_partitions_of(request))
    yield {"does": "begin"}
    if answer["met"]:
        yield {"does": "meanwhile", "partition": concerned[0],
               "brokers": _number(request["meanwhile"])}
    for partition in request.get("partitions", ()):
        yield {"does": "change", "partition": partition, "era": talk.era,
               "target": PARTITION_STATES[request["target"]],
               "selector": SELECTORS.index(request["selector"]), "to": _row(request["to"])}
    for partition, broker in request.get("replicas", ()):
        yield {"does": "change replica", "partition": partition, "broker": broker,
               "target": REPLICA_STATES[request["target"]], "era": talk.era}
    for replica in answer["replicas"]:
        if replica["partition"] in concerned and replica["broker"] < BROKERS:
            yield {"does": "replica", **replica, "state": REPLICA_STATES[replica["state"]]}
    by_number = {each["partition"]: each for each in answer["partitions"]}
    for number in concerned:
        if number in by_number:
            yield from _seen_of(by_number[number])
    for number, request_ in product(concerned, Request):
        yield {"does": "told", "partition": number, "request": request_, "brokers": _number(
            each["to"] for each in answer["told"] if each["partition"] == number
            and each["request"] == REQUESTS[request_])}
    yield from _in_turn(answer["told"])


def _seen_of(one: Message) -> Iterator[Message]:
    """The state, leader, ISR and epoch of a partition."""
    about = {"partition": one["partition"]}
    yield {"does": "state", **about, "state": PARTITION_STATES[one["state"]]}
    yield {"does": "leader", **about, "leader": NOBODY if one["leader"] is None else one["leader"]}
    yield {"does": "isr", **about, "brokers": _number(one["isr"])}
    yield {"does": "epoch", **about, "epoch": one["epoch"]}


def _in_turn(told: list[Message]) -> Iterator[Message]:
    """Requests to a broker, one directly after another of another kind."""
    for broker in sorted({one["to"] for one in told}):
        requests = [REQUESTS.index(one["request"]) for one in told if one["to"] == broker]
        for earlier, later in pairwise(requests):
            if earlier != later:
                yield {"does": "next", "earlier": earlier, "later": later}


# ---- what they could show instead ---------------------------------------------------------------


def _of_each(*those: Message) -> Among:
    """Each of these, for each partition of a request."""
    def among(talk: Any, request: Fields) -> Iterator[Message]:
        for partition, that in product(sorted(_partitions_of(request)), those):
            yield {"partition": partition, **that}
    return among


def _replicas(talk: Any, request: Fields) -> Iterator[Message]:
    for (partition, broker), state in product(request.get("replicas", ()), ReplicaState):
        yield {"partition": partition, "broker": broker, "state": state, "name": _name(state)}


def _set(brokers: int) -> list[int]:
    return [each for each in range(BROKERS) if brokers >> each & 1]


_STATES: Final = _of_each(*({"state": state, "name": state.name.lower()}
                            for state in PartitionState))
_LEADERS: Final = _of_each(*({
    "leader": each, "led": f"{each} leads" if each < NOBODY else "there is no leader"}
    for each in range(NOBODY + 1)))
_ISRS: Final = _of_each(*({"brokers": each, "isr": str(_set(each))} for each in range(ALL + 1)))
_EPOCHS: Final = _of_each(*({"epoch": each} for each in range(3)))
# The other requests go to all brokers, to none, or to one.
_TOLD: Final = _of_each(*(
    {"request": request, "name": REQUESTS[request], "brokers": each, "to_all": str(_set(each))}
    for request in Request
    for each in (range(ALL + 1) if request == Request.LEADER_AND_ISR else (0, ALL, 1, 2, 4))))


def _turns(talk: Any, request: Fields) -> Iterator[Message]:
    for earlier, later in permutations(Request, 2):
        yield {"earlier": earlier, "later": later, "first": REQUESTS[earlier],
               "then": REQUESTS[later]}


def _shows(does: str, action: str, words: str, among: Among) -> tuple[Says, ...]:
    """An entry of the answer, and those of the same kind that could be in its place."""
    return over(among, says(does, action, words, instead_of=(action,)))


def _words(talk: Any, request: Fields, answer: Any) -> str:
    shown = [
        f"partition {each['partition']} is {each['state']}, "
        + (f"led by {each['leader']}" if each["leader"] is not None else "without a leader")
        + f" in epoch {each['epoch']}, ISR {each['isr']}" for each in answer["partitions"]]
    shown += [f"replica {each['broker']} of partition {each['partition']} is {each['state']}"
              for each in answer["replicas"]]
    for request in dict.fromkeys(one["request"] for one in answer["told"]):
        told = sorted({one["to"] for one in answer["told"] if one["request"] == request})
        shown.append(f"{request} to {told}")
    return "; ".join(shown)


_BATCH: Final = each(
    says("begin", "begin", ""), says("meanwhile", "isr_written_late", ""),
    says("change", "change", ""), says("change replica", "change_replica", ""),
    _shows("state", "state_seen", "partition {partition} is {name}", _STATES),
    _shows("leader", "leader_seen", "{led}", _LEADERS),
    _shows("isr", "isr_seen", "the ISR is {isr}", _ISRS),
    _shows("epoch", "epoch_seen", "the epoch is {epoch}", _EPOCHS),
    _shows("told", "told_seen", "{name} goes to {to_all}", _TOLD),
    _shows("replica", "replica_seen", "replica {broker} is {name}", _replicas),
    _shows("next", "told_next", "{then} behind {first}", _turns),
    reads=_events, reports=_words)

def _elects(talk: Any, request: Fields) -> str:
    """The words for the selector, which matters to partitions that go online."""
    to = f" of {request['to']}" if request["selector"] == "reassigned" else ""
    return f" by {request['selector']}{to}" if request["target"] == "online" else ""


# ---- what an act picks, and sends ---------------------------------------------------------------


def _leader(talk: ControllerConversation, partition: int) -> int:
    leader: int = talk.leaders.get(partition, NOBODY)
    return min(leader, NOBODY)


def _is_led(talk: ControllerConversation, picked: Fields) -> bool:
    return _leader(talk, picked["partition"]) < NOBODY


def _isr(field: str, partition: Works, least: int = 0) -> Works:
    """The ISR that a leader writes: its own, too. None if there is no leader, or it writes none."""
    def works(talk: ControllerConversation, picked: Fields) -> list[int] | None:
        leader = _leader(talk, partition(talk, picked))
        return _set(picked[field] | 1 << leader) if (
            leader < NOBODY and picked[field] >= least) else None
    return works


def _pair(talk: Any, picked: Fields) -> list[list[int]]:
    both = {picked["first"], picked["first"] if picked["last"] is None else picked["last"]}
    return [[*_PAIRS[each]] for each in sorted(both)]


def _first_partition(talk: Any, picked: Fields) -> int:
    return _pair(talk, picked)[0][0]


def _is_unclean(talk: Any, picked: Fields) -> bool:
    return bool(picked["partition"] if picked["unclean"] is None else picked["unclean"])


_ONE: Final = range(PARTITIONS)
_SETS: Final = [[each for each in range(BROKERS) if brokers >> each & 1]
                for brokers in range(ALL + 1)]
_LISTS: Final = [[each for each in order if each >= 0] for order in ORDERS]
_BATCHES: Final = (None, [0], [1], [0, 1])
_PAIRS: Final = [[one, broker] for one in range(PARTITIONS) for broker in range(BROKERS)]
_MEANWHILE: Final = (0, 0, 0, *range(1, ALL + 1))
_NUMBERS: Final = range(len(_PAIRS))
_STATE_NAMES: Final = [state.name.lower() for state in PartitionState]
_REPLICA_NAMES: Final = [state.name.lower() for state in ReplicaState]

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
       sends=_THE_PARTITION | {"replicas": list_of("order", _LISTS),
                               "unclean": _is_unclean}),
    on("brokers", "registered are {up}{shutting}", done(), tells="are_up",
       picks={"": _REGISTERED}, sends={
           "up": list_of("up", _SETS), "leaving": list_of(made(and_, "leaving", "up"), _SETS)}),
    on("write_isr", "the leader of partition {partition} writes the ISR {isr}", done(),
       tells="isr_written", picks={"": _WRITTEN}, if_all=(_is_led,),
       sends=_THE_PARTITION | {"isr": _isr("isr", same("partition"))}),
    on("take_over", "a newer controller writes the node of partition {partition}", done(),
       tells="taken_over", picks={"": drawn("take_over", PICKS, partition=_ONE)},
       if_all=(_is_led,), sends=_THE_PARTITION),
    on("look", "how partition {partition} is", _BATCH,
       picks={"": drawn("look", PICKS, partition=_ONE)}, sends=_THE_PARTITION),
    on("change", "change partitions {partitions} to {target}{by}{while}", _BATCH,
       picks={"": _CHANGED}, sends={
           "partitions": list_of("batch", _BATCHES), "target": looked_up("target", _STATE_NAMES),
           "selector": looked_up("selector", SELECTORS), "to": list_of("to", _LISTS),
           "meanwhile": _isr("meanwhile", looked_up("batch", (0, 0, 1, 0)), 1)}),
    on("change_replicas",
       "change the replicas [partition, broker] {replicas} to {target}{while}", _BATCH,
       picks={"": _REPLICAS_CHANGED}, sends={
           "replicas": _pair, "target": looked_up("target", _REPLICA_NAMES),
           "meanwhile": _isr("meanwhile", _first_partition, 1)}),
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
    knows = (
        asked("", **{"while": if_any(
            "meanwhile", ", whose leader writes the ISR {meanwhile} meanwhile")}),
        asked("unclean", order=index_in("replicas", _LISTS),
              elections=if_any("unclean", ", unclean elections on")),
        asked("leaving", shutting=if_any("leaving", ", {leaving} shut down"),
              leaving=index_in("leaving", _SETS), brokers=index_in("up", _SETS)),
        asked("isr", brokers=index_in("isr", _SETS)),
        asked("selector", by=_elects),
    )
    era = Derived(lambda talk: _ERAS[talk.policy])
    says = _SAYS


# ---- numbers, lists and names -------------------------------------------------------------------


def _name(state: PartitionState | ReplicaState) -> str:
    return state.name.lower()


def _number(brokers: Iterable[int]) -> int:
    return sum(1 << each for each in set(brokers) if each < BROKERS)


def _row(brokers: list[int]) -> int:
    return ORDERS.index((*brokers, *(-1,) * (BROKERS - len(brokers))))


def _partitions_of(request: Mapping[str, Any]) -> set[int]:
    if "partition" in request:
        return {request["partition"]}
    return {*request.get("partitions", ()), *(each for each, _ in request.get("replicas", ()))}


# ---- the suite ------------------------------------------------------------------------------


def _settings(capacity: int) -> Mapping[str, int]:
    return {"capacity": capacity, "brokers": BROKERS}


def _constants(capacity: int, items_max: int) -> Mapping[str, int]:
    # Each act raises the epoch of a partition by at most two: one for each replica of it.
    return {"P": capacity, "E": 2 * items_max + 8}


@dataclass(frozen=True)
class ControllerSuite(Suite):
    """A suite whose programs mostly begin with existing partitions."""

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
