"""The reference of a replayable source, against its promises."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkvalve.conformance.systems.storm_partition.adapter import Log
from checkvalve.reference.storm.spout import Fetch, PartitionManager, PartitionMisuse


def read(manager: PartitionManager, log: Log) -> int | None:
    """The next message, the log having been read as often as there is a reason to."""
    wanted = manager.wants()
    while wanted is not None and manager.fetched(*log.read(wanted)):
        wanted = manager.wants()
    return manager.next()


@given(
    st.integers(1, 4), st.sampled_from([None, 0, 1, 2]), st.integers(0, 3), st.integers(0, 8),
    st.lists(st.tuples(st.sampled_from("nnafCRPT"), st.integers(0, 7)), max_size=40),
)
def test_nothing_is_lost_and_nothing_stops(
    fetch_size: int, retries: int | None, outstanding: int, messages: int,
    steps: list[tuple[str, int]],
) -> None:
    """After any history, what is acked to the end is all that the log still has or had."""
    log, settings = Log(), {
        "fetch_size": fetch_size, "retries": retries, "outstanding_max": outstanding}
    log.append(messages)
    manager, recorded = PartitionManager(**settings), 0  # type: ignore[arg-type]
    under_way: list[int] = []
    done: set[int] = set()
    failures: dict[int, int] = {}
    for do, number in steps:
        if do == "n":
            under_way += [offset for offset in [read(manager, log)] if offset is not None]
        elif do in "af" and under_way:
            offset = under_way.pop(number % len(under_way))
            failures[offset] = failures.get(offset, 0) + (do == "f")
            if do == "a" or (retries is not None and failures[offset] > retries):
                done.add(offset)
            assert (manager.ack if do == "a" else manager.fail)(offset)
        elif do == "C":
            recorded = manager.commit()
        elif do == "R":
            manager = PartitionManager(recorded, **settings)  # type: ignore[arg-type]
            under_way, failures = [], {}
        elif do == "P":
            manager = manager.successor()
        elif do == "T" and number < messages:
            log.remove(number, number)
            done.add(number)
        assert set(range(recorded)) <= done
        assert outstanding == 0 or len(under_way) <= outstanding
    for _ in range(100):
        offset = under_way.pop() if under_way else read(manager, log)
        if offset is None:
            break
        assert manager.ack(offset)
        done.add(offset)
    assert (manager.commit(), done) == (messages, set(range(messages)))


@pytest.mark.parametrize(("committed", "settings"), [
    (-1, {}), (0, {"fetch_size": 0}), (0, {"fetch_size": 1 << 21}), (0, {"retries": -1}),
    (0, {"outstanding_max": -2}), ("0", {}), (True, {}),
])
def test_settings_out_of_range_are_refused(committed: Any, settings: dict[str, Any]) -> None:
    """With a message that names the range."""
    with pytest.raises(PartitionMisuse, match="an integer from"):
        PartitionManager(committed, **settings)


@pytest.mark.parametrize(("records", "reached"), [
    ([0, 1, 2], 3), ([1, 0], 2), ([0, 0], 1), ([0], 0), ([], -1), (["0"], 1), ([0], 1.5),
])
def test_an_answer_that_no_log_gives_changes_nothing(records: list[Any], reached: Any) -> None:
    """Too many records, out of order, or beyond what was looked at."""
    manager = PartitionManager(fetch_size=2)
    assert manager.wants() == Fetch(0, 2)
    before = manager.statistics()
    with pytest.raises(PartitionMisuse, match="cannot bring"):
        manager.fetched(records, reached)
    assert manager.statistics() == before
    assert manager.fetched([0], 1)


def test_records_that_nobody_asked_for_are_refused() -> None:
    """Not even the same ones twice."""
    manager = PartitionManager()
    with pytest.raises(PartitionMisuse, match="not asked for"):
        manager.fetched([0], 1)


def test_what_is_not_under_way_is_neither_acked_nor_failed() -> None:
    """Late answers change nothing; offsets that are none are misuse."""
    manager = PartitionManager(fetch_size=2)
    manager.wants()
    manager.fetched([0, 1], 2)
    before = manager.statistics()
    assert not manager.ack(0)
    assert not manager.fail(1)
    for call in (manager.ack, manager.fail):
        with pytest.raises(PartitionMisuse):
            call(-1)
    assert manager.statistics() == before


def test_offsets_are_pending_from_the_fetch_on() -> None:
    """D13: fetch three, emit and ack one; a crash now must lose nothing."""
    log = Log()
    log.append(3)
    manager = PartitionManager(fetch_size=3)
    assert read(manager, log) == 0
    assert manager.ack(0)
    assert manager.commit() == 1
