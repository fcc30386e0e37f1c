"""The example system, for real and under overload: its rules hold, and the three ways differ."""

from __future__ import annotations

import asyncio
import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from checkvalve.reference.drivers.job_server import (
    ALWAYS_READS, SUMMARY, Event, JobServer, Monitor, Terms,
)
from checkvalve.reference.flow.bucket import TokenBucket
from checkvalve.reference.flow.jobs import Happens, Job, Master, Worker
from checkvalve.reference.flow.link import LinkMisuse

EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "job_server"


def loaded() -> ModuleType:
    """The example's program, which is a folder that one runs."""
    spec = importlib.util.spec_from_file_location("job_server_example", EXAMPLE / "__main__.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


EXAMPLE_SYSTEM: Any = loaded()
PLAN = EXAMPLE_SYSTEM.Plan(jobs=90, work=0.001, again=0.005, patience=0.002, tick=0.01)


@pytest.fixture(scope="module", params=list(EXAMPLE_SYSTEM.MODES))
def ran(request: pytest.FixtureRequest) -> tuple[str, Any]:
    """One short run; it ends when all jobs are done, however long that takes."""
    terms = EXAMPLE_SYSTEM.MODES[request.param]
    return request.param, asyncio.run(EXAMPLE_SYSTEM.run(terms, PLAN))


def test_ten_seconds_of_it_break_no_rule_in_any_of_the_three_ways() -> None:
    """As its users run it, as a program; on a busy machine the ten seconds last longer."""
    ended = subprocess.run([sys.executable, str(EXAMPLE), "--seconds", "10"],
                           capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.count("no rules broken") == len(EXAMPLE_SYSTEM.MODES)
    assert ended.stdout.count("1,500 jobs done") == len(EXAMPLE_SYSTEM.MODES)


def test_no_rule_is_broken_while_it_runs(ran: tuple[str, Any]) -> None:
    """The machines have seen every job, ask, value and packet."""
    mode, run = ran
    assert run.watch.wrong == {}
    least = {"ObservedMaster": 2 * run.done, "ObservedSummaries": run.measured, "Bucket": 1}
    if mode != "dropping":
        least["ObservedLink"] = 6 * run.done
    assert {name: run.watch.steps[name] >= count for name, count in least.items()} == dict.fromkeys(
        least, True)


def test_every_job_is_done_in_the_end(ran: tuple[str, Any]) -> None:
    """A dropped job was submitted again."""
    _, run = ran
    assert run.done == PLAN.jobs * PLAN.clients
    assert run.submitted == run.done + run.dropped


def test_it_drops_exactly_where_the_shares_do_not_fit(ran: tuple[str, Any]) -> None:
    """n s <= K drops nothing, and holds everybody back; without a share nobody is."""
    mode, run = ran
    if mode == "held back":
        assert run.dropped == 0 and run.held_back >= PLAN.clients
    elif mode == "dropping":
        assert run.dropped > 0 and run.held_back == 0
    else:
        assert run.dropped > 0


def test_no_value_is_missing_and_no_packet_too_many(ran: tuple[str, Any]) -> None:
    """Each measured value was sent or is held, within the rate of the buckets."""
    _, run = ran
    assert run.measured == run.done * 40 == run.watch.values_sent + run.pending
    assert run.watch.counted["summary"] <= run.packets_allowed
    assert run.monitor.packets <= run.watch.counted["summary"]


@pytest.mark.parametrize(("events", "rule"), [
    ([("worker", 7), ("submit", 0, 0), ("leaves", 0, 0), ("gives", 7, 0)], "FLOW-50"),
    ([("worker", 7), ("ask", 7, 0), ("submit", 0, 0), ("submit", 1, 0), ("leaves", 1, 0)],
     "FLOW-51"),
    ([("submit", 0, 0), ("leaves", 0, 0), ("drops", 0, 0)], "FLOW-52"),
    ([("submit", 0, 0), ("submit", 1, 0), ("submit", 2, 0), ("rests", -1)], "FLOW-53"),
    ([("worker", 7), ("ask", 7, 0), ("submit", 0, 0), ("rests", -1)], "FLOW-54"),
    ([("submit", 0, 0), ("submit", 0, 1)], "FLOW-6"),
    ([("measured", 0, 1), ("measured", 0, 1), ("summary", 0, 1)], "FLOW-56"),
])
def test_each_rule_of_the_system_is_one_that_its_watch_sees_broken(
    events: list[tuple[Any, ...]], rule: str
) -> None:
    """Events of a system that does what it must not."""
    watch = EXAMPLE_SYSTEM.Watch(Terms(places=2, share=1), 1, TokenBucket(1, 2))
    for event in events:
        watch.told(Event(*event))
    assert [failure.rule.id for failure in watch.wrong.values()] == [rule]


def test_more_packets_in_a_tick_than_the_bucket_has_are_seen() -> None:
    """Its depth is what may go at once."""
    watch = EXAMPLE_SYSTEM.Watch(Terms(2, ALWAYS_READS), 1, TokenBucket(1, 2))
    for event in [Event("measured", 0, 1), Event("summary", 0, 1)] * 3:
        watch.told(event)
    watch.told(Event("tick", 0))
    assert list(watch.wrong) == ["bucket of worker 0"]


# --- the servers -----------------------------------------------------------------------------


def test_a_monitor_counts_packets_and_the_values_in_them() -> None:
    """A summary stands for several values."""
    monitor = Monitor()
    for values in (3, 1):
        monitor.datagram_received(SUMMARY.pack(values, 10, 7), None)
    assert (monitor.packets, monitor.values) == (2, 4)


async def served() -> tuple[list[Event], int]:
    """A server with a client and a worker that stay: its events, and the tasks that are left."""
    told: list[Event] = []
    peers = []
    async with JobServer(Terms(), told.append) as server:
        for port in (server.client_port, server.worker_port):
            peers.append((await asyncio.open_connection("127.0.0.1", port))[1])
        while len(told) < 2:
            await asyncio.sleep(0)
    left = len(asyncio.all_tasks())
    for writer in peers:
        writer.transport.abort()
    return told, left


def test_nobody_is_served_any_more_when_the_server_has_ended() -> None:
    """Its tasks end with it, though its peers are there still."""
    told, left = asyncio.run(served())
    assert {event.what for event in told} >= {"client", "worker"}
    assert left == 1


# --- the cores -------------------------------------------------------------------------------


def test_a_late_ask_makes_no_second_job() -> None:
    """An ask says how many jobs its worker has got; one that was answered says another number."""
    master = Master(2)
    for number in range(2):
        master.submit(Job("client", number))
    assert [news.worker for news in master.ask("worker", 0)] == ["worker"]
    assert master.ask("worker", 0) == [] and master.ask("worker", 1) == []
    assert master.done("worker").number == 0
    assert [news.job.number for news in master.ask("worker", 1)] == [1]


def test_a_full_queue_drops_its_oldest_job() -> None:
    """And says whose it was."""
    master = Master(1)
    assert master.submit(Job("one", 0)) == []
    assert master.submit(Job("other", 0)) == [(Happens.DROPPED, Job("one", 0), None)]


def test_a_job_is_lost_with_its_worker_and_its_client_is_told() -> None:
    """A waiting job stays; a worker that has gone and comes again begins anew."""
    master = Master(2)
    master.submit(Job("client", 0))
    master.ask("worker", 0)
    assert master.leave("worker") == [(Happens.LOST, Job("client", 0), "worker")]
    assert master.leave("worker") == []
    master.submit(Job("client", 1))
    assert [news.what for news in master.ask("worker", 0)] == [Happens.GIVEN]


def test_a_worker_has_one_job_at_a_time() -> None:
    """A second one is the master's mistake."""
    worker = Worker()
    with pytest.raises(LinkMisuse, match="no job"):
        worker.finish()
    worker.take("a job")
    with pytest.raises(LinkMisuse, match="second job"):
        worker.take("another")
    assert (worker.finish(), worker.got) == ("a job", 1)


@pytest.mark.parametrize(("rate", "depth"), [(0, 1), (1, 0), (3, 2)])
def test_a_bucket_keeps_the_permits_of_a_tick(rate: int, depth: int) -> None:
    """One that cannot is refused."""
    with pytest.raises(LinkMisuse):
        TokenBucket(rate, depth)
    assert [TokenBucket(2, 3).tick(held) for held in range(4)] == [2, 2, 1, 0]
