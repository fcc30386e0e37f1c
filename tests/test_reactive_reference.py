"""The reference of streams with demand: what stays true whatever drives it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkvalve.reference.reactive.outlet import Outlet
from checkvalve.reference.reactive.processor import MapProcessor
from checkvalve.reference.reactive.publisher import IterablePublisher
from checkvalve.reference.reactive.signals import (
    COMPLETE, DEMAND_MAX, SUBSCRIBED, Cancel, Failed, Next, Request, StreamMisuse,
)
from checkvalve.reference.reactive.subscriber import BatchSubscriber

SIZES = st.integers(1, 5).flatmap(lambda c: st.tuples(st.just(c), st.integers(1, c)))


class Stream:
    """A publisher of some elements and a subscriber; their threads take turns as the test says."""

    def __init__(self, elements: int, capacity: int, batch: int) -> None:
        self.outlet: Outlet[int] = IterablePublisher(lambda: range(elements)).subscribe("it")
        self.subscriber: BatchSubscriber[int] = BatchSubscriber(capacity, batch)
        self.processed: list[int] = []
        self.most = 0

    def step(self, do: str) -> bool:
        """One thing happens, if there is occasion; whether there was."""
        if do == "signal":
            return self._signal()
        if do == "call":
            return self._call()
        element = self.subscriber.process()
        if element is not None:
            self.processed.append(element)
        return element is not None

    def _signal(self) -> bool:
        signal = self.outlet.take()
        if signal is None:
            return False
        if signal is SUBSCRIBED:
            self.subscriber.on_subscribe(self.outlet)
        elif isinstance(signal, Next):
            self.subscriber.on_next(signal.element)
        else:
            self.subscriber.on_complete()
        self.most = max(self.most, len(self.subscriber))
        self.outlet.done()
        return True

    def _call(self) -> bool:
        call = self.subscriber.take()
        if isinstance(call, Request):
            self.outlet.request(call.count)
        elif isinstance(call, Cancel):
            self.outlet.cancel()
        self.subscriber.done()
        return call is not None


@given(st.integers(0, 12), SIZES, st.lists(st.sampled_from(["signal", "call", "process"])))
def test_all_elements_come_in_their_order_whatever_the_order_of_steps(
    elements: int, size: tuple[int, int], steps: list[str]
) -> None:
    """The buffer never has more than its capacity, and the stream comes to its end."""
    stream = Stream(elements, *size)
    for do in steps:
        stream.step(do)
    while True in [stream.step(do) for do in ("signal", "call", "process")]:
        pass
    assert stream.processed == list(range(elements))
    assert stream.most <= size[0]
    assert stream.subscriber.end is COMPLETE


def test_nobody_subscribes_twice_and_none_not_at_all() -> None:
    """Others may, and each is known until its subscription is over."""
    publisher = IterablePublisher(lambda: range(3))
    first = publisher.subscribe("one")
    for wrong in ("one", None):
        with pytest.raises(StreamMisuse, match="cannot subscribe"):
            publisher.subscribe(wrong)
    publisher.subscribe("other")
    assert publisher.subscribers == ("one", "other")
    first.cancel()
    assert publisher.subscribers == ("other",)


@pytest.mark.parametrize("way", ["cancelled", "at its end"])
def test_whoever_is_done_may_subscribe_again(way: str) -> None:
    """Both if the subscribers have been listed meanwhile and if not."""
    publisher = IterablePublisher(lambda: range(1))
    first = publisher.subscribe("one")
    if way == "cancelled":
        first.cancel()
    else:
        first.request(DEMAND_MAX)
        while first.take() is not None:
            first.done()
    again = publisher.subscribe("one")
    again.request(1)
    assert [again.take(), again.done(), again.take()] == [SUBSCRIBED, None, Next(0)]


def test_nothing_is_drawn_from_the_iterable_without_demand() -> None:
    """So it may be endless, and the publisher needs no buffer."""
    drawn = []

    def endless() -> Iterator[int]:
        for number in iter(int, 1):
            drawn.append(number)
            yield number

    outlet = IterablePublisher(endless).subscribe("it")
    outlet.request(3)
    while outlet.take() is not None:
        outlet.done()
    assert len(drawn) == 3


def test_there_is_no_other_signal_while_one_is_out() -> None:
    """Whatever is requested meanwhile: a driver's loop is never in two places."""
    outlet = IterablePublisher(lambda: range(3)).subscribe("it")
    assert outlet.take() is SUBSCRIBED
    outlet.request(2)
    assert outlet.take() is None
    outlet.done()
    assert outlet.take() == Next(0)


def test_demand_beyond_the_greatest_counts_as_endless() -> None:
    """Two requests of 2^63 - 1 are no more than one, and elements do not use it up."""
    outlet = IterablePublisher(lambda: range(3)).subscribe("it")
    outlet.request(DEMAND_MAX)
    outlet.request(DEMAND_MAX)
    for _ in range(2):
        outlet.take()
        outlet.done()
    assert outlet.demand == DEMAND_MAX


def test_a_failure_of_the_iterable_is_signalled_where_it_happens() -> None:
    """Also a failure of the function that makes the iterable."""
    def failing() -> Iterator[int]:
        raise OSError("gone")

    outlet = IterablePublisher(failing).subscribe("it")
    outlet.take()
    outlet.done()
    outlet.request(1)
    signal = outlet.take()
    assert isinstance(signal, Failed)
    assert isinstance(signal.error, OSError)


def pairs(processor: MapProcessor[int, int], outlet: Outlet[int]) -> Iterator[object]:
    """All signals that a processor makes now."""
    while (signal := outlet.take()) is not None:
        yield signal
        outlet.done()
        processor.follow()


def test_a_processor_passes_a_failure_on_before_what_waits() -> None:
    """And without demand."""
    processor = MapProcessor(lambda element: 2 * element, BatchSubscriber[int](3))
    outlet = processor.subscribe("it")
    processor.inlet.on_subscribe("above")
    processor.inlet.on_next(1)
    processor.inlet.on_error(OSError("gone"))
    assert [type(each) for each in pairs(processor, outlet)] == [type(SUBSCRIBED), Failed]


def test_a_function_that_fails_ends_both_sides() -> None:
    """The subscriber gets the error, and the publisher is cancelled."""
    processor = MapProcessor(lambda element: 1 // element, BatchSubscriber[int](3))
    outlet = processor.subscribe("it")
    processor.inlet.on_subscribe("above")
    assert processor.inlet.take() == Request(3)
    processor.inlet.done()
    outlet.request(5)
    for element in (1, 0, 1):
        processor.inlet.on_next(element)
    signals = list(pairs(processor, outlet))
    assert signals[1] == Next(1)
    assert isinstance(signals[2], Failed)
    assert isinstance(signals[2].error, ZeroDivisionError)
    assert isinstance(processor.inlet.take(), Cancel)


def test_a_processor_refers_to_its_subscriber_until_its_stream_is_over() -> None:
    """Before and after that there is nobody, and it cancels only after that."""
    processor = MapProcessor(lambda element: element, BatchSubscriber[int](3))
    processor.follow()
    assert processor.subscribers == () and processor.inlet.end is None
    outlet = processor.subscribe("it")
    processor.inlet.on_subscribe("above")
    processor.follow()
    assert processor.subscribers == ("it",) and isinstance(processor.inlet.take(), Request)
    processor.inlet.done()
    outlet.cancel()
    processor.follow()
    assert processor.subscribers == () and isinstance(processor.inlet.take(), Cancel)


@pytest.mark.parametrize("batch", [0, 3])
def test_a_batch_that_does_not_fit_is_refused(batch: int) -> None:
    """It could never come together."""
    with pytest.raises(StreamMisuse, match="from 1 to 2"):
        BatchSubscriber(2, batch)
