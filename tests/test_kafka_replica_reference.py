"""A replica of the reference: its log, where it cuts, which replicas it waits for, which producers
it answers.
"""

from __future__ import annotations

from random import Random

import pytest

from checkvalve.reference.kafka.replication.in_sync import InSync, Outcome
from checkvalve.reference.kafka.replication.log import (
    NO_EPOCH, UNKNOWN, EpochEnd, Log, LogMisuse, Record,
)
from checkvalve.reference.kafka.replication.messages import (
    Code, EndOfEpoch, Fetch, Fetched, PartitionState, Produce, Produced, Read,
)
from checkvalve.reference.kafka.replication.replica import Disk, Replica, Told
from checkvalve.reference.kafka.replication.settings import Settings
from checkvalve.reference.kafka.replication.truncation import (
    AtLastMatch, ByEpoch, Cut, Fenced, ToHighWatermark, Truncation, WhenFetching,
)

ALL = (0, 1, 2)


def log_of(*epochs: int) -> Log:
    """A log with a record for each epoch; values count from 0."""
    log = Log()
    for value, epoch in enumerate(epochs):
        log.append(Record(value, epoch))
    return log


def replica_of(broker: int, log: Log | None = None, *, leader: int = 0, epoch: int = 5,
               isr: tuple[int, ...] = ALL, settings: Settings | None = None) -> Replica:
    """A replica that knows the leader."""
    replica = Replica(0, broker, Disk(log or Log()), settings or Settings(), lambda *_: None)
    assert replica.obey(Told(PartitionState(leader, epoch, isr, 1), 7, ALL), now=0)
    return replica


def fetched_by(leader: Replica, follower: int, offset: int, now: int = 1) -> Code:
    """The leader's answer to a follower of its epoch."""
    return leader.fetch(Fetch(0, follower, offset, leader.epoch), now).code


def test_an_epoch_ends_where_the_next_one_begins() -> None:
    """The last one ends with the log; what is larger or none is not known."""
    log = log_of(1, 1, 3, 3, 3, 6)
    assert [log.end_of(epoch) for epoch in (1, 2, 3, 5, 6)] == [
        EpochEnd(1, 2), EpochEnd(1, 2), EpochEnd(3, 5), EpochEnd(3, 5), EpochEnd(6, 6)]
    assert log.end_of(7).epoch == log.end_of(NO_EPOCH).epoch == NO_EPOCH
    assert log.end_of(0) == EpochEnd(0, 0)


def test_the_epoch_cache_agrees_with_the_records_whatever_is_appended_and_cut() -> None:
    """A hundred random histories; an epoch without a record leaves no trace below the last."""
    for seed in range(100):
        random, log, epoch = Random(seed), Log(), 0
        for _ in range(30):
            if random.random() < 0.3:
                log.cut(random.randint(0, log.end))
            epoch += random.randrange(2)
            log.append(Record(0, epoch))
        for asked in range(epoch + 1):
            below = [at for at, record in enumerate(log.records) if record.epoch <= asked]
            assert log.end_of(asked).offset == len(below)


def test_a_log_is_not_cut_beyond_its_end() -> None:
    """Nor does an epoch fall: a lower one that begins leaves no trace."""
    log = log_of(3)
    log.begin(2)
    assert log.last_epoch == 3
    with pytest.raises(LogMisuse):
        log.cut(2)


@pytest.mark.parametrize(("rule", "kept"), [
    (ByEpoch(), 3), (AtLastMatch(), 1), (WhenFetching(), 1), (Fenced(), 1)])
def test_a_follower_cuts_where_its_rule_says(rule: Truncation, kept: int) -> None:
    """Its epochs 1 2 2, the leader's 1 1 1: KIP-101 keeps what both numbered alike only by
    offset, KIP-279 asks until both have the epoch."""
    mine, leaders = log_of(1, 2, 2), log_of(1, 1, 1)
    leaders.begin(5)
    while True:
        cut = rule.answered(mine, 0, leaders.end_of(mine.epoch_at(mine.end - 1)))
        mine.cut(cut.at)
        if cut.is_last:
            break
    assert mine.end == kept


@pytest.mark.parametrize(("answer", "cut"), [
    (UNKNOWN, Cut(2, True)), (EpochEnd(7, 2), Cut(2, True)), (EpochEnd(7, 9), Cut(3, True)),
    (EpochEnd(4, 2), Cut(2, True)), (EpochEnd(4, 9), Cut(3, True)), (EpochEnd(3, 2), Cut(1, False)),
])
def test_a_follower_asks_again_only_from_a_lower_epoch(answer: EpochEnd, cut: Cut) -> None:
    """Its epochs are 2 4 4, its high watermark is 2. What neither end knows needs no more
    questions, and nothing is cut beyond either end."""
    assert AtLastMatch().answered(log_of(2, 4, 4), 2, answer) == cut


def test_every_record_has_its_epoch_and_nothing_else_has_one() -> None:
    """From the first record to the last."""
    log = log_of(4, 6)
    assert [log.epoch_at(at) for at in (-1, 0, 1, 2)] == [NO_EPOCH, 4, 6, NO_EPOCH]


def test_the_old_rule_cuts_to_the_high_watermark() -> None:
    """Whatever has been committed meanwhile."""
    assert ToHighWatermark().at_once(log_of(1, 1, 1), 1) == 1


def test_the_high_watermark_waits_for_all_that_may_be_in_sync() -> None:
    """And never falls while the leader leads."""
    leader = replica_of(0)
    answers: list[Produced] = []
    leader.produce(Produce(0, 11, acks_all=True), answers.append)
    assert (leader.hw, answers) == (0, [])
    fetched_by(leader, 1, 1)
    assert (leader.hw, answers) == (0, [])
    fetched_by(leader, 2, 1)
    assert (leader.hw, answers) == (1, [Produced(Code.DONE, 0)])
    fetched_by(leader, 2, 0)
    assert leader.hw == 1


def test_one_acknowledgement_comes_at_once_and_all_when_it_is_committed() -> None:
    """With acks=1 nobody but the leader need have the record."""
    leader = replica_of(0)
    answers: list[Produced] = []
    leader.produce(Produce(0, 11, acks_all=False), answers.append)
    assert answers == [Produced(Code.DONE, 0)]
    assert leader.read(Read(0, 0)).records == ()


def test_too_small_an_isr_refuses_before_or_after_the_append() -> None:
    """NotEnoughReplicas, and NotEnoughReplicasAfterAppend."""
    settings = Settings(min_isr=2)
    answers: list[Produced] = []
    alone = replica_of(0, isr=(0,), settings=settings)
    alone.produce(Produce(0, 11, acks_all=True), answers.append)
    assert answers.pop() == Produced(Code.TOO_FEW)
    assert alone.log.end == 0
    leader = replica_of(0, isr=(0, 1), settings=settings)
    leader.produce(Produce(0, 11, acks_all=True), answers.append)
    assert leader.in_sync is not None
    leader.in_sync.want(frozenset({0}))
    leader.in_sync.written(8)
    leader.raise_hw()
    assert answers == [Produced(Code.TOO_FEW_AFTER, 0)]


def test_a_deposed_leader_answers_those_who_wait() -> None:
    """They look for another leader."""
    leader = replica_of(0)
    answers: list[Produced] = []
    leader.produce(Produce(0, 11, acks_all=True), answers.append)
    leader.obey(Told(PartitionState(1, 6, ALL, 1), 8, ALL), now=1)
    assert [each.code for each in answers] == [Code.NOT_LEADER]


def test_requests_of_the_same_or_an_older_epoch_have_no_effect() -> None:
    """So a request may come twice, and late."""
    replica = replica_of(1)
    for epoch in (5, 4):
        assert not replica.obey(Told(PartitionState(1, epoch, ALL, 9), 8, ALL), now=1)
    assert (replica.leader, replica.epoch) == (0, 5)


def test_fetches_of_other_epochs_are_fenced() -> None:
    """Older ones are fenced, newer ones unknown; before KIP-320 nobody looks."""
    leader = replica_of(0)
    codes = [leader.fetch(Fetch(0, 1, 0, epoch), 1).code for epoch in (4, 5, 6)]
    assert codes == [Code.FENCED, Code.DONE, Code.UNKNOWN_EPOCH]
    assert leader.end_of_epoch(EndOfEpoch(0, 1, 5, 4)).code is Code.FENCED
    before = replica_of(0, settings=Settings(truncation=AtLastMatch()))
    assert before.fetch(Fetch(0, 1, 0, 4), 1).code is Code.DONE


def test_who_lags_leaves_and_who_has_caught_up_joins() -> None:
    """One that is at the end of the log has caught up, however long ago it fetched."""
    leader = replica_of(0, settings=Settings(lag_max=100))
    fetched_by(leader, 1, 0, now=50)
    fetched_by(leader, 2, 0, now=50)
    assert leader.shrunk(1_000) is None
    leader.produce(Produce(0, 11, acks_all=False), lambda _: None)
    fetched_by(leader, 1, 1, now=140)
    assert leader.shrunk(150) is None
    assert leader.shrunk(151) == frozenset({0, 1})


def test_of_several_that_have_caught_up_one_joins_at_a_time() -> None:
    """The first of the assignment."""
    leader = replica_of(0, isr=(0,))
    for follower in (2, 1):
        fetched_by(leader, follower, 0)
    assert leader.expanded() == frozenset({0, 1})


def test_a_follower_goes_on_at_once_only_if_it_was_sent_something() -> None:
    """A fetch that was refused, or is for another place in its log, is made again after a while."""
    follower = replica_of(1)
    records = (Record(11, 5),)
    answers = (Fetched(Code.NOT_LEADER), Fetched(Code.DONE, 1, records),
               Fetched(Code.DONE, 0, records), Fetched(Code.DONE, 1, ()))
    assert [follower.fetched(each) for each in answers] == [False, False, True, False]
    assert follower.log.records == list(records)


def test_nobody_joins_below_the_beginning_of_the_leaders_epoch() -> None:
    """The new leader's high watermark lags behind what its predecessor committed (KAFKA-7128)."""
    for early, joins in ((False, None), (True, frozenset(ALL))):
        leader = replica_of(0, log_of(1, 1), isr=(0, 2), settings=Settings(joins_early=early))
        fetched_by(leader, 1, 1)
        assert (leader.hw, leader.expanded()) == (0, joins)
        fetched_by(leader, 1, 2)
        assert leader.expanded() == frozenset(ALL)


def test_a_change_that_was_made_is_known_again_when_it_is_read() -> None:
    """The reply was lost (KAFKA-1382); what others wrote deposes, what nobody wrote is free."""
    state = PartitionState(0, 5, ALL, 1)
    for found, version, outcome in (
        (state._replace(isr=(0, 1)), 8, Outcome.CHANGED), (state, 7, Outcome.NOT_MADE),
        (state._replace(leader=1, epoch=6), 8, Outcome.DEPOSED),
    ):
        in_sync = InSync(state, 7)
        in_sync.want(frozenset({0, 1}))
        assert in_sync.maximal == frozenset(ALL)
        assert in_sync.read_again(found, version) is outcome
        assert in_sync.may_change is (outcome is not Outcome.DEPOSED)
