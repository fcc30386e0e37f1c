"""The controller's state machines, cell by cell, and its four selectors, case by case."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import permutations, product

import pytest

from checkvalve.reference.coordination.server import Server
from checkvalve.reference.coordination.terms import (
    BadVersion, Committed, ConnectionLost, Create, Data, Found, NodeExists, NoNode, Result,
    RolledBack, Stat, Write,
)
from checkvalve.reference.kafka.controller import znodes
from checkvalve.reference.kafka.controller.batch import Batch, BatchMisuse
from checkvalve.reference.kafka.controller.channels import Channels
from checkvalve.reference.kafka.controller.context import Context, Replica
from checkvalve.reference.kafka.controller.elector import Elector
from checkvalve.reference.kafka.controller.kafka_0_9 import TwoStepElector
from checkvalve.reference.kafka.controller.partitions import PartitionMachine
from checkvalve.reference.kafka.controller.replicas import ReplicaMachine
from checkvalve.reference.kafka.controller.selectors import (
    Candidates, Elected, NotElected, controlled_shutdown, controlled_shutdown_0_9, offline,
    offline_unclean, preferred, reassigned,
)
from checkvalve.reference.kafka.controller.states import (
    REPLICAS_0_9, PartitionState, ReplicaState,
)
from checkvalve.reference.kafka.controller.store import Steps, Store
from checkvalve.reference.kafka.controller.terms import (
    NOBODY, Effect, LeaderAndIsr, Leadership, Noted, Send, StopReplica, TopicPartition,
    UpdateMetadata,
)

ONE, OTHER = TopicPartition("t", 0), TopicPartition("t", 1)
EPOCH = 5
P, R = PartitionState, ReplicaState

LEGAL_PARTITIONS = {
    (P.NON_EXISTENT, P.NEW), (P.NEW, P.ONLINE), (P.ONLINE, P.ONLINE), (P.OFFLINE, P.ONLINE),
    (P.NEW, P.OFFLINE), (P.ONLINE, P.OFFLINE), (P.OFFLINE, P.OFFLINE), (P.OFFLINE, P.NON_EXISTENT),
}
LEGAL_REPLICAS = {
    (R.NON_EXISTENT, R.NEW), (R.NEW, R.ONLINE), (R.ONLINE, R.ONLINE), (R.OFFLINE, R.ONLINE),
    (R.DELETION_INELIGIBLE, R.ONLINE), (R.NEW, R.OFFLINE), (R.ONLINE, R.OFFLINE),
    (R.OFFLINE, R.OFFLINE), (R.DELETION_INELIGIBLE, R.OFFLINE), (R.OFFLINE, R.DELETION_STARTED),
    (R.DELETION_STARTED, R.DELETION_SUCCESSFUL), (R.DELETION_STARTED, R.DELETION_INELIGIBLE),
    (R.OFFLINE, R.DELETION_INELIGIBLE), (R.DELETION_SUCCESSFUL, R.NON_EXISTENT),
}
"""As the sources of Kafka 3.9 have them, written a second time."""


class Machines:
    """Both machines over a service without a network; brokers 1, 2 and 3 are registered."""

    def __init__(self) -> None:
        self.server, self.effects = Server(), list[Effect]()
        self.session = self.server.open()
        for path in ("/brokers", znodes.TOPICS, f"{znodes.TOPICS}/t"):
            self.server.handle(self.session, Create(path))
        self.server.handle(self.session, Create(znodes.CONTROLLER_EPOCH, b"5"))
        self.store = Store()
        self.store.session, self.store.epoch, self.store.epoch_version = self.session, EPOCH, 0
        self.context = Context(registered={1: 11, 2: 12, 3: 13}, topics={"t"})
        channels = Channels(self.effects.append, iter(range(1, 10_000)).__next__)
        for broker in self.context.registered:
            channels.add(broker)
        self.channels = channels
        batch = Batch(1, self.context, channels)
        self.partitions = PartitionMachine(
            self.store, self.context, batch, self.effects.append, lambda _: offline)
        self.replicas = ReplicaMachine(self.store, self.context, batch, self.effects.append)

    def run(self, steps: Steps[None]) -> None:
        """Do it, with every reply at once."""
        try:
            request = next(steps)
            while True:
                request = steps.send(self.server.handle(self.session, request)[0])
        except StopIteration:
            pass

    def partition(self, which: TopicPartition, state: PartitionState,
                  leadership: Leadership | None = None) -> None:
        """There is a partition on all brokers, in a state."""
        self.context.assignment[which] = (1, 2, 3)
        if state is not P.NON_EXISTENT:
            self.context.partition_states[which] = state
        if leadership is not None:
            path = znodes.state_path(which)
            above = path.removesuffix("/state")
            for folder in (above.rpartition("/")[0], above):
                self.server.handle(self.session, Create(folder))
            self.server.handle(self.session, Create(path, znodes.state_text(leadership)))
            self.context.leaderships[which] = leadership

    def written(self, which: TopicPartition) -> Leadership | None:
        """The leadership of a partition as the store has it."""
        steps = self.store.read_leadership(which)
        try:
            steps.send(self.server.handle(self.session, next(steps))[0])
        except StopIteration as end:
            found = end.value
            assert found is None or isinstance(found, Leadership)
            return found
        raise AssertionError

    def noted(self, what: str) -> list[tuple[object, ...]]:
        """The entries that were noted under a word."""
        return [each.about for each in self.effects
                if isinstance(each, Noted) and each.what == what]

    def queued(self, broker: int) -> list[str]:
        """The kinds of requests in a broker's queue, in order."""
        return [type(each).__name__ for each in self.channels.queue_of(broker)]


LEADS = Leadership(1, 3, (1, 2, 3), EPOCH, 0)


@pytest.mark.parametrize(("before", "target"), list(product(P, P)), ids=lambda state: state.name)
def test_every_cell_of_the_partition_table(before: P, target: P) -> None:
    """Legal requests change the state, illegal ones are noted and change nothing; either way the
    rest of the batch continues.
    """
    machines = Machines()
    had_leader = before in (P.ONLINE, P.OFFLINE)
    machines.partition(ONE, before, LEADS if had_leader else None)
    source = next(one for one, other in sorted(LEGAL_PARTITIONS, key=str) if other is target)
    machines.partition(OTHER, source, LEADS if source in (P.ONLINE, P.OFFLINE) else None)
    written = machines.written(ONE)
    machines.run(machines.partitions.change([ONE, OTHER], target))
    legal = (before, target) in LEGAL_PARTITIONS
    assert machines.context.state_of(ONE) is (target if legal else before)
    assert machines.context.state_of(OTHER) is target
    assert machines.noted("illegal") == ([] if legal else [(ONE, before, target)])
    if not legal:
        assert machines.written(ONE) == written
        assert not any(ONE in request.partitions for broker in (1, 2, 3)
                       for request in machines.channels.queue_of(broker))


@pytest.mark.parametrize(("before", "target"), list(product(R, R)), ids=lambda state: state.name)
def test_every_cell_of_the_replica_table(before: R, target: R) -> None:
    """Legal requests change the state, illegal ones are noted and change nothing; either way the
    rest of the batch continues.
    """
    machines = Machines()
    for partition in (ONE, OTHER):
        machines.partition(partition, P.ONLINE, LEADS)
    one, other = Replica(ONE, 2), Replica(OTHER, 2)
    source = next(one for one, other in sorted(LEGAL_REPLICAS, key=str) if other is target)
    machines.context.replica_states |= {one: before, other: source}
    machines.run(machines.replicas.change([one, other], target))
    legal = (before, target) in LEGAL_REPLICAS
    assert machines.context.replica_state_of(one) is (target if legal else before)
    assert machines.context.replica_state_of(other) is target
    assert machines.noted("illegal") == ([] if legal else [(one, before, target)])
    if not legal:
        assert machines.written(ONE) == LEADS
        assert not any(ONE in request.partitions for broker in (1, 2, 3)
                       for request in machines.channels.queue_of(broker))


def test_in_0_9_one_pair_of_replica_states_is_missing() -> None:
    """A replica that is offline cannot become ineligible for deletion there; 13 pairs are legal
    and not 14."""
    old = {(before, target) for target, befores in REPLICAS_0_9.items() for before in befores}
    assert LEGAL_REPLICAS - old == {(R.OFFLINE, R.DELETION_INELIGIBLE)} and old < LEGAL_REPLICAS
    assert (len(LEGAL_PARTITIONS), len(LEGAL_REPLICAS)) == (8, 14)


def test_a_new_partition_is_led_by_its_first_live_replica() -> None:
    """All live replicas are in sync, the leader epoch is 0, and they learn of it as new."""
    machines = Machines()
    machines.partition(ONE, P.NEW)
    del machines.context.registered[1]
    machines.run(machines.partitions.change([ONE], P.ONLINE))
    assert machines.written(ONE) == Leadership(2, 0, (2, 3), EPOCH, 0)
    for broker in (2, 3):
        led, metadata = machines.channels.queue_of(broker)
        assert isinstance(led, LeaderAndIsr) and isinstance(metadata, UpdateMetadata)
        assert led.partitions[ONE].is_new and led.broker_epoch == 10 + broker
    assert machines.queued(1) == []


def test_a_partition_without_a_live_replica_stays_as_it_is() -> None:
    """A new one stays new, and one that is offline stays offline; nothing is written."""
    for before, leadership in ((P.NEW, None), (P.OFFLINE, LEADS)):
        machines = Machines()
        machines.partition(ONE, before, leadership)
        machines.context.registered.clear()
        machines.run(machines.partitions.change([ONE], P.ONLINE))
        assert machines.context.state_of(ONE) is before and machines.written(ONE) == leadership


def test_an_election_is_written_on_the_newest_version() -> None:
    """Where a leader has changed the ISR meanwhile, the election looks at that ISR."""
    machines = Machines()
    machines.partition(ONE, P.OFFLINE, LEADS)
    shrunk = LEADS._replace(isr=(1, 3))
    machines.server.handle(machines.session, Write(
        znodes.state_path(ONE), znodes.state_text(shrunk)))
    machines.context.registered.pop(1)
    machines.run(machines.partitions.change([ONE], P.ONLINE))
    assert machines.written(ONE) == Leadership(3, 4, (3,), EPOCH, 2)


def test_what_a_later_controller_wrote_is_left_alone() -> None:
    """Neither machine touches a leadership with a greater controller epoch."""
    machines = Machines()
    later = LEADS._replace(controller_epoch=EPOCH + 1)
    machines.partition(ONE, P.OFFLINE, later)
    machines.context.replica_states[Replica(ONE, 2)] = R.ONLINE
    machines.run(machines.partitions.change([ONE], P.ONLINE))
    machines.run(machines.replicas.change([Replica(ONE, 2)], R.OFFLINE))
    assert machines.written(ONE) == later and machines.context.state_of(ONE) is P.OFFLINE
    assert [about[0] for about in machines.noted("not changed")] == [ONE, Replica(ONE, 2)]
    assert machines.context.replica_state_of(Replica(ONE, 2)) is R.ONLINE


@pytest.mark.parametrize(("isr", "leader", "after"), [
    ((1, 2, 3), 1, Leadership(1, 4, (1, 3), EPOCH, 1)),
    ((2, 3), 2, Leadership(NOBODY, 4, (3,), EPOCH, 1)),
    ((2,), 2, Leadership(NOBODY, 4, (2,), EPOCH, 1)),
    ((1, 3), 1, Leadership(1, 3, (1, 3), EPOCH, 0)),
])
def test_a_replica_that_goes_offline_leaves_the_isr(isr: tuple[int, ...], leader: int,
                                                    after: Leadership) -> None:
    """It does not lead any more; the last of an ISR stays in it; a replica in no ISR causes no
    write. The broker gets the request to stop, the others get the leader.
    """
    machines = Machines()
    machines.partition(ONE, P.ONLINE, LEADS._replace(isr=isr, leader=leader))
    machines.context.replica_states[Replica(ONE, 2)] = R.ONLINE
    machines.run(machines.replicas.change([Replica(ONE, 2)], R.OFFLINE))
    assert machines.written(ONE) == after
    assert machines.queued(1) == ["LeaderAndIsr", "UpdateMetadata"]
    assert machines.queued(2) == ["UpdateMetadata", "StopReplica"]


def test_the_first_request_alone_is_under_way() -> None:
    """The others wait for its answer; what gets none is sent again, the same, after a pause."""
    machines = Machines()
    machines.partition(ONE, P.NEW)
    machines.run(machines.partitions.change([ONE], P.ONLINE))
    first, *more = [each for each in machines.effects
                    if isinstance(each, Send) and each.broker == 2]
    assert more == [] and isinstance(first.request, LeaderAndIsr)
    machines.effects.clear()
    machines.channels.failed(2, first.number)
    [pause] = machines.effects
    machines.channels.elapsed(getattr(pause, "number", -1))
    again = machines.effects[-1]
    assert isinstance(again, Send) and again.request is first.request
    assert again.number != first.number


def test_stopping_goes_behind_leading_and_metadata() -> None:
    """A broker gets in one batch the leaders, the metadata, and then the replicas to stop."""
    machines = Machines()
    machines.partition(ONE, P.ONLINE, LEADS)
    machines.context.replica_states[Replica(ONE, 2)] = R.OFFLINE
    machines.run(machines.replicas.change([Replica(ONE, 2)], R.DELETION_STARTED))
    [stop] = machines.channels.queue_of(2)
    assert isinstance(stop, StopReplica) and stop.partitions[ONE].delete


def test_a_batch_is_not_begun_while_another_was_not_sent() -> None:
    """Either machine refuses, so no request gets into a batch that it does not belong to."""
    machines = Machines()
    machines.partition(ONE, P.ONLINE, LEADS)
    machines.context.replica_states[Replica(ONE, 2)] = R.ONLINE
    machines.partitions.batch.stop(3, ONE, delete=False)
    for steps in (machines.partitions.change([ONE], P.OFFLINE),
                  machines.replicas.change([Replica(ONE, 2)], R.OFFLINE)):
        with pytest.raises(BatchMisuse):
            machines.run(steps)


def test_what_is_written_is_in_version_1_of_kafkas_formats() -> None:
    """All that is JSON says so, and is read back."""
    assert json.loads(znodes.state_text(LEADS)) == {
        "version": 1, "leader": 1, "leader_epoch": 3, "isr": [1, 2, 3], "controller_epoch": EPOCH}
    assert znodes.state_of(znodes.state_text(LEADS), 0) == LEADS
    texts = (znodes.controller_text(1), znodes.assignment_text({0: (1, 2)}),
             znodes.partitions_text([ONE]), znodes.reassignment_text({ONE: (1,)}))
    assert [json.loads(text)["version"] for text in texts] == [1, 1, 1, 1]


# -- replies that get lost ------------------------------------------------------------------------

def scripted(steps: Steps[bool], *replies: Result) -> bool:
    """The result of steps that get these replies and ask for no more."""
    next(steps)
    for number, reply in enumerate(replies, 1):
        try:
            steps.send(reply)
        except StopIteration as end:
            assert number == len(replies), "not all replies were wanted"
            return bool(end.value)
    raise AssertionError("more is asked")


def data(text: bytes, version: int) -> Data:
    """The bytes of a znode of some version."""
    return Data(text, Stat(1, 1, 1, version, 0, 0, 0))


def test_an_election_that_was_answered_asks_nothing_more() -> None:
    """A broker that got the answer that it is the controller does not check it."""
    store = Store()
    assert scripted(Elector(1, store).elect(), Found(None), data(b"4", 9), Committed(()))
    assert (store.epoch, store.epoch_version) == (5, 10)


@pytest.mark.parametrize(("replies", "is_raised"), [
    ((BadVersion("/controller_epoch"),), False),
    ((ConnectionLost(), BadVersion("/controller_epoch"), data(b"5", 10)), True),
    ((ConnectionLost(), BadVersion("/controller_epoch"), data(b"6", 11)), False),
], ids=["somebody else", "itself", "somebody else later"])
def test_in_0_9_the_epoch_is_ones_own_only_if_a_reply_was_lost(
        replies: tuple[Result, ...], is_raised: bool) -> None:
    """An epoch that is greater by one may as well be somebody else's."""
    store = Store()
    assert scripted(TwoStepElector(1, store).raise_epoch(), data(b"4", 9), *replies) is is_raised
    assert store.epoch == (5 if is_raised else 0)


@pytest.mark.parametrize(("found", "is_made"), [
    (data(znodes.state_text(LEADS), 0), True),
    (data(znodes.state_text(LEADS._replace(leader=2)), 0), False),
    (NoNode(znodes.state_path(ONE)), False),
], ids=["its own", "another's", "gone again"])
def test_a_first_leadership_whose_reply_was_lost_is_looked_up(found: Result,
                                                              is_made: bool) -> None:
    """It was made if it says what was wanted; meanwhile the topic may be gone."""
    exists = RolledBack(1, NodeExists(znodes.state_path(ONE)))
    assert scripted(Store().create_leadership(ONE, LEADS), Committed(()), Committed(()),
                    ConnectionLost(), exists, found) is is_made


# -- selectors ------------------------------------------------------------------------------------

def subsets(of: Iterable[int]) -> Iterator[tuple[int, ...]]:
    """All subsets, each in the order of ``of``."""
    of = tuple(of)
    for chosen in product((False, True), repeat=len(of)):
        yield tuple(each for each, is_in in zip(of, chosen, strict=True) if is_in)


def cases() -> Iterator[Candidates]:
    """Every partition of up to three replicas on three brokers, in every order."""
    for replicas in (order for size in (1, 2, 3) for order in permutations((1, 2, 3), size)):
        for isr, registered in product(subsets(sorted(replicas)), subsets((1, 2, 3))):
            for shutting_down in subsets(registered):
                for leader in (NOBODY, *replicas):
                    yield Candidates(replicas, leader, isr, frozenset(registered),
                                     frozenset(shutting_down), tuple(reversed(replicas)))


def first(order: tuple[int, ...], *conditions: Iterable[int]) -> int | None:
    """The first of an order that is in all of some sets."""
    return next((each for each in order if all(each in some for some in conditions)), None)


def test_the_offline_selector_takes_the_first_live_replica_in_sync() -> None:
    """Unclean, it takes the first live one where none is in sync; those in sync are the live of the
    ISR, or the unclean leader alone; all live replicas get the request.
    """
    for case in cases():
        live = case.registered - case.shutting_down
        clean, any_live = first(case.replicas, live, case.isr), first(case.replicas, live)
        told = tuple(each for each in case.replicas if each in live)
        for selector in (offline, offline_unclean):
            found = selector(case)
            if clean is not None:
                assert found == Elected(clean, tuple(e for e in case.isr if e in live), told)
            elif any_live is None:
                assert found is NotElected.NO_LIVE_REPLICA
            elif selector is offline:
                assert found is NotElected.NONE_IN_SYNC
            else:
                assert found == Elected(any_live, (any_live,), told)


def test_the_selector_of_reassignments_takes_the_first_target_in_sync() -> None:
    """In the order of the targets; the ISR stays, and all targets get the request."""
    for case in cases():
        leader = first(case.targets, case.registered - case.shutting_down, case.isr)
        expected = (NotElected.NONE_IN_SYNC if leader is None
                    else Elected(leader, case.isr, case.targets))
        assert reassigned(case) == expected


def test_the_preferred_selector_takes_the_first_replica_or_nobody() -> None:
    """It must be live and in sync, and not lead already; the ISR stays, and all get the request."""
    for case in cases():
        head = case.replicas[0]
        if head == case.leader:
            expected: Elected | NotElected = NotElected.NOT_NEEDED
        elif first((head,), case.registered - case.shutting_down, case.isr) is None:
            expected = NotElected.NOT_LIVE_IN_SYNC
        else:
            expected = Elected(head, case.isr, case.replicas)
        assert preferred(case) == expected


def test_of_no_replicas_every_selector_elects_nobody() -> None:
    """A list may be empty; that is no failure of the controller."""
    nothing = Candidates((), NOBODY, (), frozenset({0, 1}))
    for selector in (offline, offline_unclean, reassigned, preferred, controlled_shutdown,
                     controlled_shutdown_0_9):
        assert isinstance(selector(nothing), NotElected)


def test_the_selector_of_shutdowns_takes_the_first_that_stays() -> None:
    """In the order of the assignment; a broker that shuts down leaves the ISR and gets the request
    none the less.
    """
    for case in cases():
        rest = tuple(each for each in case.isr if each not in case.shutting_down)
        leader = first(case.replicas, case.registered, rest)
        expected = (NotElected.NONE_IN_SYNC if leader is None else Elected(
            leader, rest, tuple(each for each in case.replicas if each in case.registered)))
        assert controlled_shutdown(case) == expected


def test_in_0_9_shutdowns_go_by_the_isr_and_ask_nobody() -> None:
    """The first of the ISR that stays is elected, in the order of the ISR, though it is dead."""
    for case in cases():
        rest = tuple(each for each in case.isr if each not in case.shutting_down)
        told = tuple(each for each in case.replicas if each in case.registered)
        expected = Elected(rest[0], rest, told) if rest else NotElected.NONE_IN_SYNC
        assert controlled_shutdown_0_9(case) == expected


def test_no_clean_selector_elects_who_is_not_in_sync() -> None:
    """Only the unclean one does, and only where no live replica is in sync."""
    for case in cases():
        for selector in (offline, reassigned, preferred, controlled_shutdown):
            found = selector(case)
            if isinstance(found, Elected):
                assert found.leader in case.isr and found.leader in found.isr
                assert found.leader in case.live
