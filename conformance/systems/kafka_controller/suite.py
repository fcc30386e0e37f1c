"""The suite ``kafka.controller``: batches of changes, legal and illegal, among failures."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any, Final

from ....spec.kafka.controller.observed_controller import ObservedController, Request
from ....spec.kafka.controller.selectors import ALL, BROKERS, NOBODY, ORDERS, Selector
from ....spec.kafka.controller.transitions import Era, PartitionState, ReplicaState
from ....spec.notation.errors import InputError
from ....spec.notation.interpreter import Step
from ....spec.notation.rules import Rule
from ...ports.base import Message, Session, excerpt
from ...suites.plain import PlainConversation, Seen
from ...suites.suite import Act, Answer, Program, Suite, Watch
from .courses import COURSES, first_acts
from .port import PARTITION_STATES, REPLICA_STATES, REQUESTS, SELECTORS

__all__ = ["PARTITIONS", "SUITE", "ControllerConversation"]

PARTITIONS: Final = 2
PICKS: Final = 512

_ERAS: Final[Mapping[str, Era]] = {"0.9": Era.V0_9, "3.9": Era.V3_9}
_P, _R = PartitionState, ReplicaState

Fields = dict[str, int]


class ControllerConversation(PlainConversation):
    """One session with a controller. An act has numbers for all fields of its request; sets of
    brokers are numbers as in the chapters, and lists are rows of ``ORDERS``. A pick stands for
    fields that are drawn by it."""

    def __init__(self, session: Session, capacity: int, items_max: int) -> None:
        super().__init__(session, "kafka.controller", _settings(capacity))
        self._era = _ERAS[self.policy]
        self._touched: set[int] = set()
        self._leader = [NOBODY] * PARTITIONS
        self._epoch_max = _constants(capacity, items_max)["E"]

    # --- what is asked -----------------------------------------------------------------------

    def request_of(self, act: Act) -> Message | None:
        fields = {name: int(value) for name, value in act.about} or _drawn(act.do, act.pick)
        partition = fields.get("partition", 0)
        if act.do == "assign" and partition in self._touched:
            return None
        if act.do in ("write_isr", "take_over") and self._leader[partition] == NOBODY:
            return None
        return {"do": act.do, **self._spelt(act.do, fields)}

    def _spelt(self, do: str, fields: Fields) -> Message:
        """The fields of a request, as the port has them."""
        if do == "assign":
            return {"partition": fields["partition"], "replicas": _list(fields["order"]),
                    "unclean": bool(fields["unclean"])}
        if do == "brokers":
            return {"up": _set(fields["up"]), "leaving": _set(fields["leaving"] & fields["up"])}
        if do == "write_isr":
            leader = self._leader[fields["partition"]]
            return {"partition": fields["partition"], "isr": _set(fields["isr"] | 1 << leader)}
        if do == "change":
            partitions = [each for each in range(PARTITIONS) if fields["batch"] >> each & 1]
            return {"partitions": partitions, "target": _name(_P(fields["target"])),
                    "selector": SELECTORS[fields["selector"]], "to": _list(fields["to"]),
                    **self._meanwhile(partitions[0], fields)}
        if do == "change_replicas":
            both = sorted({fields["first"], fields["last"]})
            replicas = [[*divmod(each, BROKERS)] for each in both]
            return {"replicas": replicas, "target": _name(_R(fields["target"])),
                    **self._meanwhile(replicas[0][0], fields)}
        return {"partition": fields["partition"]}

    def _meanwhile(self, partition: int, fields: Fields) -> Message:
        leader = self._leader[partition]
        if fields["meanwhile"] == 0 or leader == NOBODY:
            return {}
        return {"meanwhile": _set(fields["meanwhile"] | 1 << leader)}

    def act_for(self, request: Mapping[str, Any]) -> Act | None:
        if not _is_about_what_is_there(request):
            raise InputError(f"{excerpt(request)} is not what this suite would ask for here")
        act = Act(request["do"], about=tuple(_fields_of(request).items()))
        return act if self.request_of(act) == dict(request) else None

    def asked(self, request: Message) -> str:
        return _asked(request)

    # --- what is seen -------------------------------------------------------------------------

    def seen(self, request: Message, answer: Any) -> Seen:
        do = request["do"]
        if answer is True:
            return Seen((_told_to(request),), "done")
        self._touched |= _partitions_of(request)
        steps: list[Step] = [("begin", ())]
        if answer["met"]:
            first = min(_partitions_of(request))
            steps.append(_step("isr_written_late", partition=first,
                               brokers=_number(request["meanwhile"])))
        if do == "change":
            steps += [self._changed(request, each) for each in request["partitions"]]
        elif do == "change_replicas":
            steps += [_step("change_replica", partition=partition, broker=broker,
                            target=REPLICA_STATES[request["target"]], era=self._era)
                      for partition, broker in request["replicas"]]
        return Seen((*steps, *self._shown(request, answer)), _words(answer))

    def _changed(self, request: Message, partition: int) -> Step:
        return _step("change", partition=partition, target=PARTITION_STATES[request["target"]],
                     selector=SELECTORS.index(request["selector"]), to=_row(request["to"]),
                     era=self._era)

    def _shown(self, request: Message, answer: Any) -> Iterator[Step]:
        """What is seen of the partitions and replicas that were asked about, and no others."""
        concerned = _partitions_of(request)
        by_number = {each["partition"]: each for each in answer["partitions"]}
        for replica in answer["replicas"]:
            if replica["partition"] in concerned and replica["broker"] < BROKERS:
                yield _step("replica_seen", partition=replica["partition"],
                            broker=replica["broker"], state=REPLICA_STATES[replica["state"]])
        for number in sorted(concerned & by_number.keys()):
            one = by_number[number]
            leader = NOBODY if one["leader"] is None else min(one["leader"], NOBODY)
            self._leader[number] = leader
            yield _step("state_seen", partition=number, state=PARTITION_STATES[one["state"]])
            yield _step("leader_seen", partition=number, leader=leader)
            yield _step("isr_seen", partition=number, brokers=_number(one["isr"]))
            yield _step("epoch_seen", partition=number, epoch=min(one["epoch"], self._epoch_max))
        for number in sorted(concerned):
            for request_ in Request:
                told = {each["to"] for each in answer["told"] if each["partition"] == number
                        and each["request"] == REQUESTS[request_]}
                yield _step("told_seen", partition=number, request=request_,
                            brokers=_number(told))
        yield from _in_turn(answer["told"])

    # --- what there could be in its place -------------------------------------------------------

    def possible(self, request: Message) -> Iterator[Answer]:
        if request["do"] not in ("change", "change_replicas", "look"):
            return
        for partition in sorted(_partitions_of(request)):
            yield from _possible_of_partition(partition)
        for partition, broker in request.get("replicas", ()):
            yield from _possible_of_replica(partition, broker)
        yield from _POSSIBLE_IN_TURN


def _in_turn(told: list[Message]) -> Iterator[Step]:
    """By which requests each broker was told, one after the other."""
    for broker in sorted({each["to"] for each in told}):
        requests = [REQUESTS.index(each["request"]) for each in told if each["to"] == broker]
        for earlier, later in pairwise(requests):
            if earlier != later:
                yield _step("told_next", earlier=earlier, later=later)


_POSSIBLE_IN_TURN: Final = tuple(
    Answer(f"{REQUESTS[later]} behind {REQUESTS[earlier]}",
           ("told_next", (("earlier", earlier), ("later", later))), instead_of=("told_next",))
    for earlier in Request for later in Request if earlier != later)


@cache
def _possible_of_partition(partition: int) -> tuple[Answer, ...]:
    found = [
        *(_instead("state_seen", f"partition {partition} is {_name(state)}",
                   partition=partition, state=state) for state in PartitionState),
        *(_instead("leader_seen", f"{leader} leads" if leader < NOBODY else "nobody leads",
                   partition=partition, leader=leader) for leader in range(NOBODY + 1)),
        *(_instead("isr_seen", f"the ISR is {_set(brokers)}", partition=partition,
                   brokers=brokers) for brokers in range(ALL + 1)),
        *(_instead("epoch_seen", f"the epoch is {epoch}", partition=partition, epoch=epoch)
          for epoch in range(3))]
    for request in Request:
        # The others are told all or nothing, or one broker is.
        sets = range(ALL + 1) if request == Request.LEADER_AND_ISR else (0, ALL, 1, 2, 4)
        found += [_instead("told_seen", f"{REQUESTS[request]} goes to {_set(brokers)}",
                           partition=partition, request=request, brokers=brokers)
                  for brokers in sets]
    return tuple(found)


@cache
def _possible_of_replica(partition: int, broker: int) -> tuple[Answer, ...]:
    return tuple(
        _instead("replica_seen", f"replica {broker} is {_name(state)}", partition=partition,
                 broker=broker, state=state) for state in ReplicaState)


# ---- numbers, lists and names -------------------------------------------------------------------


def _name(state: PartitionState | ReplicaState) -> str:
    return state.name.lower()


def _set(brokers: int) -> list[int]:
    return [each for each in range(BROKERS) if brokers >> each & 1]


def _number(brokers: Iterable[int]) -> int:
    return sum(1 << each for each in set(brokers) if each < BROKERS)


def _list(row: int) -> list[int]:
    return [each for each in ORDERS[row] if each >= 0]


def _row(brokers: list[int]) -> int:
    return ORDERS.index((*brokers, *(-1,) * (BROKERS - len(brokers))))


def _step(name: str, **arguments: int) -> Step:
    return name, tuple(arguments.items())


def _instead(name: str, words: str, **arguments: int) -> Answer:
    return Answer(words, _step(name, **arguments), instead_of=(name,))


def _partitions_of(request: Mapping[str, Any]) -> set[int]:
    if "partition" in request:
        return {request["partition"]}
    return {*request.get("partitions", ()), *(each for each, _ in request.get("replicas", ()))}


def _told_to(request: Message) -> Step:
    """The step of the machine for what the harness does by itself."""
    do = request["do"]
    if do == "assign":
        return _step("assign", partition=request["partition"], order=_row(request["replicas"]),
                     unclean=int(request["unclean"]))
    if do == "brokers":
        return _step("are_up", brokers=_number(request["up"]),
                     leaving=_number(request["leaving"]))
    if do == "write_isr":
        return _step("isr_written", partition=request["partition"],
                     brokers=_number(request["isr"]))
    return _step("taken_over", partition=request["partition"])


def _is_about_what_is_there(request: Mapping[str, Any]) -> bool:
    """Whether a request names partitions and lists of brokers that the machine has."""
    lists = [request[name] for name in ("replicas", "to")
             if name in request and request["do"] != "change_replicas"]
    pairs = request.get("replicas", ()) if request["do"] == "change_replicas" else ()
    return all(each < PARTITIONS for each in _partitions_of(request)) \
        and all(broker < BROKERS for _, broker in pairs) \
        and all((*brokers, *(-1,) * (BROKERS - len(brokers))) in ORDERS for brokers in lists) \
        and request.get("partitions") != [] and request.get("replicas") != []


def _fields_of(request: Mapping[str, Any]) -> Fields:
    """The numbers of an act that makes a request."""
    do = request["do"]
    meanwhile = {"meanwhile": _number(request.get("meanwhile", ()))}
    if do == "assign":
        return {"partition": request["partition"], "order": _row(request["replicas"]),
                "unclean": int(request["unclean"])}
    if do == "brokers":
        return {"up": _number(request["up"]), "leaving": _number(request["leaving"])}
    if do == "write_isr":
        return {"partition": request["partition"], "isr": _number(request["isr"])}
    if do == "change":
        return {"batch": sum(1 << each for each in request["partitions"]),
                "target": PARTITION_STATES[request["target"]],
                "selector": SELECTORS.index(request["selector"]), "to": _row(request["to"]),
                **meanwhile}
    if do == "change_replicas":
        numbers = [partition * BROKERS + broker for partition, broker in request["replicas"]]
        return {"first": min(numbers), "last": max(numbers),
                "target": REPLICA_STATES[request["target"]], **meanwhile}
    return {"partition": request["partition"]}


def _drawn(do: str, pick: int) -> Fields:
    """The fields for which a pick stands; what leads somewhere comes more often."""
    draw = random.Random(f"{do} {pick}")
    one = draw.randrange(PARTITIONS)
    if do == "assign":
        return {"partition": one, "order": draw.randrange(len(ORDERS) - 1), "unclean": one}
    if do == "brokers":
        up = draw.choice((ALL, 1, 2, 3, 4, 5, 6))
        return {"up": up, "leaving": draw.choice((0, 0, 1, 2, 4))}
    if do == "write_isr":
        return {"partition": one, "isr": draw.randrange(ALL + 1)}
    meanwhile = draw.choice((0, 0, 0, *range(1, ALL + 1)))
    if do == "change":
        return {"batch": draw.choice((1, 2, 3)),
                "target": draw.choice((*_P, _P.ONLINE, _P.ONLINE, _P.ONLINE)),
                "selector": draw.choice(tuple(Selector)),
                "to": draw.randrange(len(ORDERS) - 1), "meanwhile": meanwhile}
    if do == "change_replicas":
        numbers = range(PARTITIONS * BROKERS)
        first = draw.choice(numbers)
        return {"first": first, "last": draw.choice((first, first, *numbers)),
                "target": draw.choice((*_R, _R.ONLINE, _R.OFFLINE)), "meanwhile": meanwhile}
    return {"partition": one}


# ---- words ----------------------------------------------------------------------------------


def _asked(request: Message) -> str:
    do = request["do"]
    partition = f"partition {request.get('partition')}"
    meanwhile = (f", whose leader writes the ISR {request['meanwhile']} meanwhile"
                 if "meanwhile" in request else "")
    if do == "assign":
        unclean = ", unclean elections on" if request["unclean"] else ""
        return f"{partition} has the list {request['replicas']}{unclean}"
    if do == "brokers":
        leaving = f", {request['leaving']} shut down" if request["leaving"] else ""
        return f"registered are {request['up']}{leaving}"
    if do == "write_isr":
        return f"the leader of {partition} writes the ISR {request['isr']}"
    if do == "take_over":
        return f"a newer controller writes the node of {partition}"
    if do == "look":
        return f"how {partition} is"
    if do == "change_replicas":
        return (f"change the replicas [partition, broker] {request['replicas']} to "
                f"{request['target']}{meanwhile}")
    by = "" if request["target"] != "online" else f" by {request['selector']}"
    to = f" of {request['to']}" if request["selector"] == "reassigned" and by else ""
    return f"change partitions {request['partitions']} to {request['target']}{by}{to}{meanwhile}"


def _words(answer: Any) -> str:
    shown = [
        f"partition {each['partition']} is {each['state']}, "
        + (f"led by {each['leader']}" if each["leader"] is not None else "led by nobody")
        + f" in epoch {each['epoch']}, ISR {each['isr']}" for each in answer["partitions"]]
    shown += [f"replica {each['broker']} of partition {each['partition']} is {each['state']}"
              for each in answer["replicas"]]
    for request in dict.fromkeys(each["request"] for each in answer["told"]):
        told = sorted({each["to"] for each in answer["told"] if each["request"] == request})
        shown.append(f"{request} to {told}")
    return "; ".join(shown)


# ---- the suite ------------------------------------------------------------------------------


def _settings(capacity: int) -> Mapping[str, int]:
    return {"capacity": capacity, "brokers": BROKERS}


def _constants(capacity: int, items_max: int) -> Mapping[str, int]:
    # Each act raises the epoch of a partition by two at most: one for each replica of it.
    return {"P": capacity, "E": 2 * items_max + 8}


@dataclass(frozen=True)
class ControllerSuite(Suite):
    """A suite whose programs begin with partitions that are there, most of the time."""

    def explore(
        self, can: Collection[str], focus: Rule, seed: int, examples: int,
        attempt: Callable[[Program], None],
    ) -> None:
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
    converse=ControllerConversation,
    settings=_settings,
    capacities=(PARTITIONS,),
    courses=COURSES,
    picks=PICKS,
    scene="A controller with {capacity} partitions on {brokers} brokers, all of them registered.",
)
