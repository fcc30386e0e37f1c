"""The suite ``kafka.controller``: batches of changes, legal and illegal, among failures."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise, permutations, product
from typing import Any, Final

from ....spec.kafka.controller.observed_controller import ObservedController, Request
from ....spec.kafka.controller.selectors import ALL, BROKERS, NOBODY, ORDERS, Selector
from ....spec.kafka.controller.transitions import Era, PartitionState, ReplicaState
from ....spec.notation.errors import InputError
from ....spec.notation.rules import Rule
from ...ports.base import Message, excerpt
from ...suites.plain import PlainConversation
from ...suites.says import Among, Fields, Says, done, each, on, over, says, table
from ...suites.suite import Act, Program, Suite, Watch
from .courses import COURSES, first_acts
from .port import PARTITION_STATES, REPLICA_STATES, REQUESTS, SELECTORS

__all__ = ["PARTITIONS", "SUITE", "ControllerConversation"]

PARTITIONS: Final = 2
PICKS: Final = 512

_ERAS: Final[Mapping[str, Era]] = {"0.9": Era.V0_9, "3.9": Era.V3_9}
_P, _R = PartitionState, ReplicaState

Numbers = dict[str, int]


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

_SAYS: Final = table(
    ObservedController,
    on("assign", "partition {partition} has the list {replicas}{elections}", done(),
       tells="assign"),
    on("brokers", "registered are {up}{shutting}", done(), tells="are_up"),
    on("write_isr", "the leader of partition {partition} writes the ISR {isr}", done(),
       tells="isr_written"),
    on("take_over", "a newer controller writes the node of partition {partition}", done(),
       tells="taken_over"),
    on("look", "how partition {partition} is", _BATCH),
    on("change", "change partitions {partitions} to {target}{by}{while}", _BATCH),
    on("change_replicas",
       "change the replicas [partition, broker] {replicas} to {target}{while}", _BATCH),
)


def _phrases(request: Message) -> Mapping[str, str]:
    """The parts of a request's words that not every request has."""
    elects = "selector" in request and request["target"] == "online"
    by = f" by {request['selector']}" if elects else ""
    to = f" of {request['to']}" if elects and request["selector"] == "reassigned" else ""
    return {
        "elections": ", unclean elections on" if request.get("unclean") else "",
        "shutting": f", {request['leaving']} shut down" if request.get("leaving") else "",
        "while": (f", whose leader writes the ISR {request['meanwhile']} meanwhile"
                  if "meanwhile" in request else ""),
        "by": by + to}


def _numbered(request: Message) -> Numbers:
    """The parameters of the observer's step for an action of the harness."""
    do = request["do"]
    if do == "assign":
        return {"order": _row(request["replicas"]), "unclean": int(request["unclean"])}
    if do == "brokers":
        return {"brokers": _number(request["up"]), "leaving": _number(request["leaving"])}
    return {"brokers": _number(request["isr"])} if do == "write_isr" else {}


# ---- the conversation ---------------------------------------------------------------------------


class ControllerConversation(PlainConversation):
    """One session with a controller. An act has numbers for all fields of its request; sets of
    brokers are numbers as in the chapters, and lists are rows of ``ORDERS``. A pick stands for
    fields that are drawn by it."""

    says = _SAYS

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.era = _ERAS[self.policy]
        self.touched: set[int] = set()
        self._leader = [NOBODY] * PARTITIONS

    def about(self, message: Message) -> Fields:
        return {**message, **_numbered(message), **_phrases(message)} if "do" in message else (
            message)

    def note(self, action: str, about: Fields) -> None:
        if action == "told_seen":
            self.touched.add(about["partition"])
        elif action == "leader_seen":
            self._leader[about["partition"]] = min(about["leader"], NOBODY)

    # --- requests ----------------------------------------------------------------------------

    def request_of(self, act: Act) -> Message | None:
        """The request of an act; None if it makes no sense now."""
        fields = {name: int(value) for name, value in act.about} or _drawn(act.do, act.pick)
        partition = fields.get("partition", 0)
        if act.do == "assign" and partition in self.touched:
            return None
        if act.do in ("write_isr", "take_over") and self._leader[partition] == NOBODY:
            return None
        return {"do": act.do, **self._spelt(act.do, fields)}

    def _spelt(self, do: str, fields: Numbers) -> Message:
        """The fields of a request, in the port's form."""
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

    def _meanwhile(self, partition: int, fields: Numbers) -> Message:
        leader = self._leader[partition]
        if fields["meanwhile"] == 0 or leader == NOBODY:
            return {}
        return {"meanwhile": _set(fields["meanwhile"] | 1 << leader)}

    def act_for(self, request: Mapping[str, Any]) -> Act | None:
        """The act that makes this request; None if it makes another one."""
        if not _is_about_what_is_there(request):
            raise InputError(f"{excerpt(request)} is not a request that this suite would send here")
        act = Act(request["do"], about=tuple(_fields_of(request).items()))
        return act if self.request_of(act) == dict(request) else None


# ---- numbers, lists and names -------------------------------------------------------------------


def _name(state: PartitionState | ReplicaState) -> str:
    return state.name.lower()


def _number(brokers: Iterable[int]) -> int:
    return sum(1 << each for each in set(brokers) if each < BROKERS)


def _list(row: int) -> list[int]:
    return [each for each in ORDERS[row] if each >= 0]


def _row(brokers: list[int]) -> int:
    return ORDERS.index((*brokers, *(-1,) * (BROKERS - len(brokers))))


def _partitions_of(request: Mapping[str, Any]) -> set[int]:
    if "partition" in request:
        return {request["partition"]}
    return {*request.get("partitions", ()), *(each for each, _ in request.get("replicas", ()))}


def _is_about_what_is_there(request: Mapping[str, Any]) -> bool:
    """True if the request names partitions and lists of brokers that the machine has."""
    lists = [request[name] for name in ("replicas", "to")
             if name in request and request["do"] != "change_replicas"]
    pairs = request.get("replicas", ()) if request["do"] == "change_replicas" else ()
    return all(each < PARTITIONS for each in _partitions_of(request)) \
        and all(broker < BROKERS for _, broker in pairs) \
        and all((*brokers, *(-1,) * (BROKERS - len(brokers))) in ORDERS for brokers in lists) \
        and request.get("partitions") != [] and request.get("replicas") != []


def _fields_of(request: Mapping[str, Any]) -> Numbers:
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


def _drawn(do: str, pick: int) -> Numbers:
    """The fields for a pick; useful ones come more often."""
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
