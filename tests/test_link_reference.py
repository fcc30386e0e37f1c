"""The reference of a link: what stays true whatever a driver does with its two ends."""

from __future__ import annotations

from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkvalve.reference.flow.counted import CountedReceiver, CountedSender
from checkvalve.reference.flow.link import LinkMisuse, LinkReceiver, LinkSender


class Network:
    """Both ends, and the messages under way between them."""

    def __init__(self, capacity: int, batch: int) -> None:
        self.sender: LinkSender[int] = LinkSender(capacity)
        self.receiver: LinkReceiver[int] = LinkReceiver(capacity, batch)
        self.data: deque[int] = deque()
        self.permits: deque[int] = deque()
        self.processed: list[int] = []
        self.offered = 0

    def step(self, do: str) -> bool:
        """Do one thing if there is occasion to; whether there was."""
        if do == "offer":
            self.data.extend(self.sender.offer([self.offered]))
            self.offered += 1
        elif do == "permit" and self.permits:
            self.data.extend(self.sender.permit(self.permits.popleft()))
        elif do == "data" and self.data:
            self._send(self.receiver.arrive(self.data.popleft()))
        elif do == "process" and len(self.receiver):
            element, permits = self.receiver.process()
            self.processed.append(element)
            self._send(permits)
        else:
            return False
        return True

    def _send(self, permits: int) -> None:
        if permits:
            self.permits.append(permits)

    @property
    def tokens(self) -> int:
        """All of them, in their five places."""
        return (self.sender.permits + sum(self.permits) + len(self.data) + len(self.receiver)
                + self.receiver.freed)


CAPACITIES = st.integers(1, 6).flatmap(lambda c: st.tuples(st.just(c), st.integers(1, c)))
STEPS = st.lists(st.sampled_from(["offer", "permit", "data", "process"]), max_size=60)


@given(CAPACITIES, STEPS)
def test_every_step_keeps_all_tokens(size: tuple[int, int], steps: list[str]) -> None:
    """P + Q + D + N + F is the capacity at every instant."""
    network = Network(*size)
    for do in steps:
        network.step(do)
        assert network.tokens == size[0]


@given(CAPACITIES, STEPS)
def test_whatever_is_offered_is_processed_in_the_end_in_order(
    size: tuple[int, int], steps: list[str]
) -> None:
    """Once the network delivers and the consumer works, nothing is left."""
    network = Network(*size)
    for do in steps:
        network.step(do)
    while any(network.step(do) for do in ("permit", "data", "process")):
        pass
    assert network.processed == list(range(network.offered))


def test_a_batch_that_never_comes_together_is_refused() -> None:
    """A link of C slots with larger batches deadlocks."""
    with pytest.raises(LinkMisuse, match="deadlock"):
        LinkReceiver[int](2, 3)


def test_an_element_without_a_slot_is_refused_and_nothing_changes() -> None:
    """The sender had no permit for it."""
    receiver = LinkReceiver[int](1)
    receiver.arrive(0)
    with pytest.raises(LinkMisuse, match="no slot"):
        receiver.arrive(1)
    assert receiver.process().element == 0
    assert len(receiver) == 0


@pytest.mark.parametrize("count", [0, -1, True, "1"])
def test_a_message_without_permits_is_refused(count: object) -> None:
    """A permit is a whole number from 1 up."""
    with pytest.raises(LinkMisuse, match="from 1 up"):
        LinkSender[int](0).permit(count)  # type: ignore[arg-type]


@pytest.mark.parametrize("permits", [-1, False, 1.0])
def test_a_sender_begins_with_permits_or_none(permits: object) -> None:
    """A whole number from 0 up."""
    assert LinkSender[int](0).offer([1]) == []
    with pytest.raises(LinkMisuse, match="from 0 up"):
        LinkSender[int](permits)  # type: ignore[arg-type]


def test_an_element_beyond_the_limit_is_refused_and_nothing_changes() -> None:
    """The last number below the limit is accepted when its turn comes."""
    receiver = CountedReceiver[str](2)
    with pytest.raises(LinkMisuse, match="the limit is 2"):
        receiver.arrive(2, "c")
    assert (receiver.arrive(0, "a"), receiver.arrive(1, "b")) == (1, 2)
    assert len(receiver) == receiver.accepted == 2


class LossyNetwork:
    """Both ends of a link with limits; of what was sent any message arrives, or none."""

    def __init__(self, capacity: int, batch: int, first: int = 0) -> None:
        self.sender: CountedSender[int] = CountedSender(capacity, first=first)
        self.receiver: CountedReceiver[int] = CountedReceiver(capacity, batch, first=first)
        self.data: list[tuple[int, int]] = []
        self.limits: list[int] = []
        self.acks: list[int] = []
        self.processed: list[int] = []
        self.offered = 0

    def step(self, do: str, pick: int) -> None:
        """Do one thing, with one of the messages that were ever sent, if there is occasion to."""
        if do == "offer":
            self.data += self.sender.offer([self.offered])
            self.offered += 1
        elif do == "repeat":
            self.data += self.sender.repeat()
            self._say(self.limits, self.receiver.repeat())
        elif do == "permit" and self.limits:
            self.data += self.sender.permit(self.limits[pick % len(self.limits)])
        elif do == "ack" and self.acks:
            self.sender.ack(self.acks[pick % len(self.acks)])
        elif do == "data" and self.data:
            self._say(self.acks, self.receiver.arrive(*self.data[pick % len(self.data)]))
        elif do == "process" and len(self.receiver):
            element, limit = self.receiver.process()
            self.processed.append(element)
            self._say(self.limits, limit)

    @staticmethod
    def _say(messages: list[int], number: int | None) -> None:
        messages += [] if number is None else [number]


LOSSY_STEPS = st.lists(st.tuples(
    st.sampled_from(["offer", "repeat", "permit", "ack", "data", "process"]), st.integers(0, 9)),
    max_size=60)


@given(CAPACITIES, LOSSY_STEPS)
def test_limits_keep_a_link_bounded_whatever_the_network_does(
    size: tuple[int, int], steps: list[tuple[str, int]]
) -> None:
    """Neither the receiver's buffer nor the sender's store exceeds the capacity; all in order."""
    network = LossyNetwork(*size)
    for do, pick in steps:
        network.step(do, pick)
        assert len(network.receiver) <= size[0]
        assert network.sender.kept <= size[0]
        assert network.processed == list(range(len(network.processed)))


@given(CAPACITIES, LOSSY_STEPS, st.integers(1, 2**40))
def test_a_link_does_the_same_whatever_its_first_number(
    size: tuple[int, int], steps: list[tuple[str, int]], first: int
) -> None:
    """All numbers are larger by that."""
    one, other = LossyNetwork(*size), LossyNetwork(*size, first)
    for do, pick in steps:
        one.step(do, pick)
        other.step(do, pick)
    assert other.data == [(number + first, element) for number, element in one.data]
    assert other.limits == [limit + first for limit in one.limits]
    assert other.acks == [number + first for number in one.acks]
    assert (other.processed, other.receiver.accepted) == (one.processed, one.receiver.accepted)


@given(CAPACITIES, LOSSY_STEPS)
def test_what_is_repeated_brings_everything_through(
    size: tuple[int, int], steps: list[tuple[str, int]]
) -> None:
    """Once the newest messages arrive, a repetition by each end is enough to continue."""
    network = LossyNetwork(*size)
    for do, pick in steps:
        network.step(do, pick)
    for _ in range(3 * network.offered):
        for do in ("repeat", "data", "process", "ack", "permit"):
            network.step(do, -1)
    assert network.processed == list(range(network.offered))
    assert network.sender.kept == network.sender.waiting == 0
