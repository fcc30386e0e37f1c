"""The queue of a controller to a broker that does not answer: bounded, in order, and complete."""

from __future__ import annotations

from random import Random

from checkvalve.reference.kafka.controller.channels import Channels, waiting_max
from checkvalve.reference.kafka.controller.terms import (
    BrokerAnswer, ControllerRequest, Effect, LeaderAndIsr, Leadership, Metadata, PartitionTold,
    Send, StopReplica, Stopped, TopicPartition, UpdateMetadata,
)

BROKER = 3


def partition(number: int) -> TopicPartition:
    """A partition."""
    return TopicPartition("t", number)


def leads(*numbers: int, epoch: int = 0, new: bool = False) -> LeaderAndIsr:
    """Broker 1 leads these partitions in an epoch."""
    told = PartitionTold(Leadership(1, epoch, (1,), 1, 0), (1, BROKER), new)
    return LeaderAndIsr(0, 1, 1, {partition(each): told for each in numbers}, (1,))


def metadata(*numbers: int, epoch: int = 0, live: tuple[int, ...] = (1,)) -> UpdateMetadata:
    """Metadata that a broker gives clients: these partitions, and the live brokers."""
    told = Metadata(1, epoch, (1,), (1,))
    return UpdateMetadata(0, 1, 1, {partition(each): told for each in numbers}, live)


def stop(number: int, epoch: int, *, delete: bool) -> StopReplica:
    """Stop a replica, or delete it."""
    return StopReplica(0, 1, 1, {partition(number): Stopped(delete, epoch)})


class Line:
    """Channels with one broker, and what they have sent to it."""

    def __init__(self) -> None:
        self.effects: list[Effect] = []
        self.channels = Channels(self.effects.append, iter(range(1, 100_000)).__next__)
        self.channels.add(BROKER)

    def send(self, *requests: ControllerRequest) -> None:
        """Put requests into the queue."""
        for each in requests:
            self.channels.send(BROKER, each)

    @property
    def waiting(self) -> tuple[ControllerRequest, ...]:
        """All but the one that is under way."""
        return self.channels.queue_of(BROKER)[1:]

    def arrived(self) -> list[ControllerRequest]:
        """Everything is answered: what has arrived."""
        found, place = [], 0
        while place < len(self.effects):
            effect = self.effects[place]
            if isinstance(effect, Send):
                found.append(effect.request)
                self.channels.answered(BROKER, effect.number, BrokerAnswer())
            place += 1
        return found


def test_a_thousand_requests_to_a_broker_that_does_not_answer_are_two() -> None:
    """The one that is under way, and the newest; a thousand waited before."""
    line = Line()
    line.send(*(leads(0, epoch=epoch) for epoch in range(1_000)))
    assert line.channels.lengths() == {BROKER: 2}
    assert line.arrived() == [leads(0, epoch=0), leads(0, epoch=999)]


def test_the_queue_never_holds_more_than_its_bound_and_reaches_it() -> None:
    """Whatever is sent, of three partitions."""
    line, random, longest = Line(), Random(1), 0
    for epoch in range(2_000):
        some = random.sample(range(3), random.randrange(1, 3))
        line.send(random.choice((
            leads(*some, epoch=epoch), metadata(*some, epoch=epoch), metadata(),
            stop(some[0], epoch, delete=False), stop(some[0], epoch, delete=True))))
        longest = max(longest, len(line.waiting))
    assert longest <= waiting_max(3)
    line = Line()
    line.send(leads(7), metadata(), *(request for each in range(3) for request in (
        leads(each), metadata(each), stop(each, 0, delete=False), stop(each, 0, delete=True))))
    assert len(line.waiting) == waiting_max(3)


def test_the_last_word_of_each_kind_about_a_partition_arrives_in_order() -> None:
    """A broker ends with what it would have if nothing had been replaced."""
    for seed in range(30):
        random, line, sent = Random(seed), Line(), []
        for epoch in range(40):
            some = random.sample(range(3), random.randrange(1, 4))
            sent.append(random.choice((
                leads(*some, epoch=epoch), metadata(*some, epoch=epoch, live=(epoch,)),
                stop(some[0], epoch, delete=random.random() < 0.5))))
        line.send(*sent)
        assert last_words(line.arrived()) == last_words(sent)


def last_words(requests: list[ControllerRequest]) -> list[tuple[object, ...]]:
    """The last word of each kind about each partition, in the order of those words."""
    found: dict[tuple[object, ...], tuple[object, ...]] = {}
    for request in requests:
        for which, told in request.partitions.items():
            key = (type(request).__name__, which, isinstance(told, Stopped) and told.delete)
            found.pop(key, None)
            found[key] = (*key, told)
    return list(found.values())


def test_what_is_under_way_is_sent_again_as_it_was() -> None:
    """Its answer is not an answer to what replaced it."""
    line = Line()
    line.send(leads(0, epoch=1), leads(0, epoch=2))
    [first] = [each for each in line.effects if isinstance(each, Send)]
    line.channels.failed(BROKER, first.number)
    line.send(leads(0, epoch=3))
    assert line.channels.queue_of(BROKER) == (leads(0, epoch=1), leads(0, epoch=3))


def test_who_is_there_is_known_before_anybody_is_to_be_followed() -> None:
    """The newest list takes the place of the oldest that waits (KAFKA-4443)."""
    line = Line()
    line.send(leads(7), metadata(live=(1,)), leads(0), metadata(0, live=(1,)),
              metadata(live=(1, 2)))
    assert line.waiting == (metadata(live=(1, 2)), leads(0), metadata(0, live=(1, 2)))


def test_a_replica_that_is_new_stays_new_when_its_request_is_replaced() -> None:
    """It was not made yet."""
    line = Line()
    line.send(leads(7), leads(0, 1, new=True), leads(0, epoch=1))
    assert line.waiting == (leads(1, new=True), leads(0, epoch=1, new=True))
