"""One replica of a partition on one broker, follower or leader by the controller's requests.

Theory of operation
-------------------
The controller's requests name the leader and its epoch; a replica obeys those of a newer epoch than
its own, and ignores all others. A *leader* appends the records of producers and answers fetches.
Its high watermark (``hw``) is the smallest log end of all replicas that may be in sync, as far as
it knows from their fetches in this epoch. Records below it are committed: consumers may read them,
and producers with acks=all are answered. A *follower* first finds out where to cut its log (see
``truncation``), and then fetches.

Nothing here uses a clock, a network or a disk. Messages to send are returned; events are passed to
``record``. Times are those of the broker's clock.

    took partition epoch            it takes writes, and answers, as the leader of an epoch
    wrote partition epoch offset value          a leader has appended
    copied partition epoch offset value         a follower has
    cut partition at                            the log now ends there
    committed partition epoch hw                the leader's high watermark has risen
    held partition value                        a producer waits until all have the record …
    replied partition value                     … and is answered, whatever the answer

Source: Kafka's ``Partition``, ``Replica`` and ``ReplicaManager``; KIP-101, KIP-279, KIP-320.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from .in_sync import InSync
from .log import NO_EPOCH, Log, Record
from .messages import (
    NOBODY, Code, EndedAt, EndOfEpoch, Fetch, Fetched, PartitionState, Produce, Produced, Read,
    ReadUpTo,
)
from .settings import Settings

__all__ = ["Disk", "Replica", "Told"]


class Told(NamedTuple):
    """A controller's request about a partition: its state, the version of that, all replicas."""

    state: PartitionState
    version: int
    replicas: tuple[int, ...]


@dataclass
class Disk:
    """Data that outlives a broker's process: the log, and the checkpoint of the high watermark."""

    log: Log = field(default_factory=Log)
    hw: int = 0


@dataclass
class _Progress:
    """A leader's knowledge of a follower in its epoch: its log end, and when it had caught up."""

    end: int
    caught_up: int
    fetched: int = 0        # time of its last fetch …
    there: int = 0          # … and the end of the leader's log then


class _Waiting(NamedTuple):
    """A producer that waits until all records below ``offset`` are committed."""

    offset: int
    value: int
    answer: Callable[[Produced], None]


class Replica:
    """One replica on the broker ``broker``, as the module describes it."""

    def __init__(
        self, partition: int, broker: int, disk: Disk, settings: Settings,
        record: Callable[..., None],
    ) -> None:
        self.partition, self.broker, self.disk, self.settings = partition, broker, disk, settings
        self.record = record
        self.log = disk.log
        self.hw = min(disk.hw, self.log.end)
        self.epoch = NO_EPOCH
        self.leader = NOBODY
        self.replicas: tuple[int, ...] = ()
        self.is_matched = False                         # a follower's log is known to match
        self.in_sync: InSync | None = None              # the ISR, of a leader
        self.epoch_start = 0
        self._progress: dict[int, _Progress] = {}
        self._waiting: list[_Waiting] = []

    @property
    def leads(self) -> bool:
        """True if it considers itself the leader."""
        return self.leader == self.broker

    # -- the controller's requests ---------------------------------------------------------------

    def obey(self, told: Told, now: int) -> bool:
        """Take the role that the controller assigns; False if the request is not a newer one."""
        if not self.is_news(told.state):
            return False
        self.release(Code.NOT_LEADER)
        self.epoch, self.leader = told.state.epoch, told.state.leader
        self.replicas = told.replicas
        if self.leads:
            self.lead(told, now)
        else:
            self.follow()
        return True

    def is_news(self, state: PartitionState) -> bool:
        """True if the state's epoch is newer than the replica's."""
        return state.epoch > self.epoch

    def lead(self, told: Told, now: int) -> None:
        """Become the leader, without knowledge of the followers yet."""
        self.in_sync = InSync(told.state, told.version)
        self.log.begin(self.epoch)
        self.epoch_start = self.log.end
        self._progress = {each: _Progress(-1, now) for each in told.replicas
                          if each != self.broker}
        self.record("took", self.partition, self.epoch)
        self.raise_hw()

    def follow(self) -> None:
        """Become a follower, possibly without a leader."""
        self.in_sync = None
        self.is_matched = not self.settings.truncation.asks
        if self.leader != NOBODY:
            self.cut(self.settings.truncation.at_once(self.log, self.hw))

    def stop(self) -> None:
        """Stop serving, until a newer request."""
        self.release(Code.NOT_LEADER)
        self.leader, self.in_sync = NOBODY, None

    def delete(self) -> None:
        """Stop serving, and delete the log."""
        self.stop()
        self.cut(0)

    def cut(self, at: int) -> None:
        """Remove the records from an offset on."""
        if at < self.log.end:
            self.log.cut(at)
            self.hw = min(self.hw, at)
            self.disk.hw = min(self.disk.hw, at)
            self.record("cut", self.partition, at)

    def checkpoint(self) -> None:
        """Write the high watermark to the disk."""
        self.disk.hw = self.hw

    # -- a leader: producers and consumers ---------------------------------------------------------

    def produce(self, request: Produce, answer: Callable[[Produced], None]) -> None:
        """Append a value; the answer comes now, or when it is committed."""
        if not self.leads or self.in_sync is None:
            return answer(Produced(Code.NOT_LEADER))
        if request.acks_all and self.has_too_few():
            return answer(Produced(Code.TOO_FEW))
        offset = self.log.append(Record(request.value, self.epoch))
        self.record("wrote", self.partition, self.epoch, offset, request.value)
        if not request.acks_all:
            answer(Produced(Code.DONE, offset))
        else:
            self._waiting.append(_Waiting(offset + 1, request.value, answer))
            self.record("held", self.partition, request.value)
        return self.raise_hw()

    def has_too_few(self) -> bool:
        """True if fewer replicas are in sync than a producer requires."""
        return self.in_sync is None or len(self.in_sync.members) < self.settings.min_isr

    def read(self, request: Read) -> ReadUpTo:
        """The committed records for a consumer."""
        if not self.leads:
            return ReadUpTo(Code.NOT_LEADER)
        end = self.readable()
        records = tuple(self.log.records[request.offset:end][:self.settings.fetch_max])
        return ReadUpTo(Code.DONE, records, self.hw, self.epoch)

    def readable(self) -> int:
        """The offset up to which consumers may read."""
        return self.hw

    # -- a leader: followers -----------------------------------------------------------------------

    def fetch(self, request: Fetch, now: int) -> Fetched:
        """Answer a follower; the requested offset shows the end of its log."""
        refusal = self.refusal(request.epoch)
        if refusal is not None:
            return Fetched(refusal)
        if self.settings.truncation.compares and not self._matches(request):
            return Fetched(Code.DIVERGING, diverging=self.log.end_of(request.last_epoch))
        if request.offset > self.log.end:
            return Fetched(Code.OUT_OF_RANGE)
        self.has_fetched(request, now)
        records = self.log.records[request.offset:request.offset + self.settings.fetch_max]
        return Fetched(Code.DONE, request.offset, tuple(records), self.hw)

    def refusal(self, epoch: int) -> Code | None:
        """The reason to refuse a follower in this epoch; None if it is answered."""
        if not self.leads:
            return Code.NOT_LEADER
        if not self.settings.truncation.fenced or epoch == self.epoch:
            return None
        return Code.FENCED if epoch < self.epoch else Code.UNKNOWN_EPOCH

    def _matches(self, request: Fetch) -> bool:
        return request.offset == 0 or self.log.epoch_at(request.offset - 1) == request.last_epoch

    def has_fetched(self, request: Fetch, now: int) -> None:
        """A follower's log reaches up to the requested offset."""
        progress = self._progress.get(request.replica)
        if progress is None:
            return
        if request.offset >= self.log.end:
            progress.caught_up = now
        elif request.offset >= progress.there:
            progress.caught_up = max(progress.caught_up, progress.fetched)
        progress.fetched, progress.there = now, self.log.end
        progress.end = self.end_after(progress.end, request.offset)
        self.raise_hw()

    def end_after(self, known: int, fetched: int) -> int:
        """The end of a follower's log after its fetch from an offset."""
        return fetched

    def end_of_epoch(self, request: EndOfEpoch) -> EndedAt:
        """Answer a follower that asks where an epoch ends."""
        refusal = self.refusal(request.epoch)
        if refusal is Code.NOT_LEADER and not self.settings.truncation.fenced:
            refusal = None      # the named replica answers, leader or not
        if refusal is not None:
            return EndedAt(refusal)
        return EndedAt(Code.DONE, self.log.end_of(request.wanted))

    # -- a leader: the high watermark
    # ---------------------------------------------------------------

    def raise_hw(self) -> None:
        """Raise the high watermark to the smallest log end of the replicas waited for."""
        if self.in_sync is None:
            return
        reached = min((self.end_of(each) for each in self.waited_for()), default=self.log.end)
        if reached > self.hw:
            self.hw = reached
            self.record("committed", self.partition, self.epoch, self.hw)
        self.answer_committed()

    def waited_for(self) -> frozenset[int]:
        """All replicas that may be in sync, and the leader itself."""
        assert self.in_sync is not None
        return self.in_sync.maximal | {self.broker}

    def end_of(self, replica: int) -> int:
        """The end of a replica's log, as known in this epoch; -1 if unknown."""
        if replica == self.broker:
            return self.log.end
        progress = self._progress.get(replica)
        return -1 if progress is None else progress.end

    def answer_committed(self) -> None:
        """Answer the producers of committed records."""
        done = [each for each in self._waiting if each.offset <= self.hw]
        self._waiting = [each for each in self._waiting if each.offset > self.hw]
        for each in done:
            code = Code.TOO_FEW_AFTER if self.has_too_few() else Code.DONE
            self._reply(each, Produced(code, each.offset - 1))

    def release(self, code: Code) -> None:
        """Answer all waiting producers with this code."""
        waiting, self._waiting = self._waiting, []
        for each in waiting:
            self._reply(each, Produced(code))

    def _reply(self, waiting: _Waiting, answer: Produced) -> None:
        self.record("replied", self.partition, waiting.value)
        waiting.answer(answer)

    # -- a leader: the ISR ------------------------------------------------------------------

    def shrunk(self, now: int) -> frozenset[int] | None:
        """The ISR without lagging replicas; None if none lags, or a change is under way."""
        if self.in_sync is None or not self.in_sync.may_change:
            return None
        staying = {each for each in self.in_sync.members
                   if each == self.broker or not self.lags(each, now)}
        return None if staying == self.in_sync.members else frozenset(staying)

    def lags(self, replica: int, now: int) -> bool:
        """True if a follower has not caught up for too long."""
        progress = self._progress.get(replica)
        return progress is None or (
            progress.end != self.log.end and now - progress.caught_up > self.settings.lag_max)

    def expanded(self) -> frozenset[int] | None:
        """The ISR with one replica that has caught up; None if none has, or a change is under way.
        """
        if self.in_sync is None or not self.in_sync.may_change:
            return None
        joining = [each for each in self._progress
                   if each not in self.in_sync.members and self.may_join(each)]
        return self.in_sync.members | {joining[0]} if joining else None

    def may_join(self, replica: int) -> bool:
        """True if it has all records committed by this leader, and by earlier ones (KAFKA-7128)."""
        start = 0 if self.settings.joins_early else self.epoch_start
        return self.end_of(replica) >= max(self.hw, start)

    # -- a follower --------------------------------------------------------------------------------

    def next_request(self) -> EndOfEpoch | Fetch | None:
        """The next request of a follower to its leader; None if it has no leader."""
        if self.leader in (NOBODY, self.broker):
            return None
        last = self.log.epoch_at(self.log.end - 1)
        if not self.is_matched and last != NO_EPOCH:
            return EndOfEpoch(self.partition, self.broker, last, self.epoch)
        self.is_matched = True
        return Fetch(self.partition, self.broker, self.log.end, self.epoch, last)

    def has_ended(self, answer: EndedAt) -> bool:
        """The leader answers where an epoch ends: cut there. False if it refuses to answer."""
        if answer.code is not Code.DONE:
            return False
        at, is_last = self.settings.truncation.answered(self.log, self.hw, answer.end)
        self.cut(at)
        self.is_matched = is_last
        return True

    def fetched(self, answer: Fetched) -> bool:
        """Append the records that the leader has sent. False if it has sent none."""
        if answer.code is Code.DIVERGING and answer.diverging is not None:
            self.cut(self.settings.truncation.answered(self.log, self.hw, answer.diverging).at)
            return True
        if answer.code is Code.OUT_OF_RANGE:
            self.out_of_range()
        if answer.code is not Code.DONE or answer.offset != self.log.end:
            return False
        for each in answer.records:
            offset = self.log.append(each)
            self.record("copied", self.partition, each.epoch, offset, each.value)
        self.hw = self.follower_hw(answer.hw)
        return bool(answer.records)

    def follower_hw(self, hw: int) -> int:
        """The leader's high watermark, up to the end of the log; it does not decrease."""
        return max(self.hw, min(hw, self.log.end))

    def out_of_range(self) -> None:
        """The leader's log is shorter: find out again where to cut."""
        self.is_matched = not self.settings.truncation.asks
