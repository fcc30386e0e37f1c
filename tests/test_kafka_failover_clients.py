"""Clients of a cluster of brokers: the brokers that a consumer asks."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from types import SimpleNamespace
from typing import Any

from checkvalve.reference.kafka.cluster.clients import ASK_AFTER, Consumer
from checkvalve.reference.kafka.cluster.requests import Leader, Metadata, WhoLeads
from checkvalve.reference.kafka.replication.messages import Code, Read, ReadUpTo, Record


class Asked:
    """A process that gets its calls answered at once, by a broker that takes itself for the
    leader."""

    def __init__(self, knows: Leader) -> None:
        self.world = SimpleNamespace(record=lambda *about: None)
        self.knows = knows
        self.calls: list[tuple[int, object]] = []
        self.due: list[Callable[[], None]] = []

    def call(self, to: int, body: object, within: int, then: Callable[[Any], None]) -> None:
        """Answer a read with no record, and a question with what is known."""
        self.calls.append((to, body))
        then(Metadata(self.knows) if isinstance(body, WhoLeads) else self.read())

    def read(self) -> ReadUpTo:
        """The broker's answer: nothing new."""
        return ReadUpTo(Code.DONE, (), 0, 0)

    def later(self, delay: int, what: Callable[[], None]) -> None:
        """Remember it, for ``go_on``."""
        self.due.append(what)

    def go_on(self, times: int) -> None:
        """Do what is due, one after the other."""
        for _ in range(times):
            self.due.pop(0)()


def consumer(process: Asked) -> Consumer:
    """One that takes broker 0 for the leader of epoch 0."""
    found = Consumer(process, 0, 3, Random(0))  # type: ignore[arg-type]
    found.leader = Leader(0, 0)
    found.go_on()
    return found


def test_a_consumer_that_reads_nothing_new_asks_again_who_leads() -> None:
    """A broker that is a replica no more, and did not learn of it, would answer it forever."""
    process = Asked(Leader(2, 1))
    consumer(process)
    process.go_on(ASK_AFTER - 1)
    assert [to for to, body in process.calls if isinstance(body, Read)] == [0] * ASK_AFTER
    process.go_on(1)
    assert process.calls[-1] == (2, Read(0, 0))


def test_a_consumer_that_reads_on_asks_nobody_else() -> None:
    """It has the right leader, as it seems; the count begins anew with each record."""
    process = Asked(Leader(2, 1))
    process.read = lambda: ReadUpTo(  # type: ignore[method-assign]
        Code.DONE, (Record(1, 0),) * (len(process.calls) % ASK_AFTER == 0), 1, 0)
    consumer(process)
    process.go_on(5 * ASK_AFTER)
    assert {to for to, _ in process.calls} == {0}
