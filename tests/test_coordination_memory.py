"""The coordination service in virtual time: the laws of its port, and what goes wrong in it."""

from __future__ import annotations

from random import Random

import pytest
from coordination_laws import LAWS, TIMEOUT, Law, World

from checkvalve.reference.coordination.changes import NOBODY, ChangesInOrder
from checkvalve.reference.coordination.memory import CoordinationMisuse, InMemory
from checkvalve.reference.coordination.port import Loss, Transaction
from checkvalve.reference.coordination.terms import (
    Children, Connected, ConnectionLost, Create, Created, Data, Delete, Delivery, Disconnected,
    Exists, Expired, Found, Read, Reply, Request, SessionExpired, Stat, Write, Written,
)
from checkvalve.reference.coordination.tree import PathMisuse


def delays(seed: int) -> InMemory:
    """A service with delays, from 0 to 9 ms, that come from a seed."""
    random = Random(seed)
    return InMemory(lambda: random.randrange(10))


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.check.__name__)
@pytest.mark.parametrize("seed", range(8))
def test_the_port_keeps_its_laws(law: Law, seed: int) -> None:
    """Every law of the port holds, whatever the delays are."""
    law.check(World(delays(seed), "/world"))


def after(service: InMemory, ms: int) -> list[tuple[int, Delivery]]:
    """Let time pass; return all deliveries to clients."""
    service.advance(service.now + ms)
    return service.collect()


def kinds(deliveries: list[tuple[int, Delivery]], handle: int = 0) -> list[str]:
    """The names of a session's deliveries."""
    return [type(told).__name__ for whose, told in deliveries if whose == handle]


def test_a_client_cut_off_learns_of_its_expiry_only_afterwards() -> None:
    """It gives up after two thirds of the timeout; the server ends the session after all of it; the
    client gets the event when it gets through again, a minute later.
    """
    service = InMemory()
    service.open(TIMEOUT)
    service.submit(0, Create("/mine", ephemeral=True))
    after(service, 10)
    service.advance(10)
    service.partition(0)
    service.advance(10 + TIMEOUT * 2 // 3 - 1)
    assert service.collect() == []
    service.advance(10 + TIMEOUT - 1)
    assert kinds(service.collect()) == ["Disconnected"] and service.peek("/mine") is not None
    service.advance(10 + TIMEOUT)
    assert service.peek("/mine") is None and not service.is_alive(0)
    service.advance(60_000)
    assert service.collect() == []
    service.heal(0)
    assert kinds(after(service, 10)) == ["Expired"]


def test_a_short_partition_is_not_even_noticed() -> None:
    """Messages under way arrive later, in order, and the session continues."""
    service = InMemory()
    service.open(TIMEOUT)
    after(service, 10)
    service.submit(0, Create("/a"))
    service.partition(0)
    service.submit(0, Create("/b"))
    service.advance(service.now + TIMEOUT // 2)
    assert service.peek("/a") is None and service.collect() == []
    service.heal(0)
    service.advance(service.now + 5)
    assert kinds(service.collect()) == ["Reply", "Reply"]
    service.advance(service.now + 2 * TIMEOUT)
    assert service.is_alive(0)


def test_a_paused_client_finds_out_when_it_wakes() -> None:
    """It sleeps over its own expiry, hears nothing meanwhile, and gets three events when it wakes.
    """
    service = InMemory()
    service.open(TIMEOUT)
    service.submit(0, Create("/mine", ephemeral=True))
    after(service, 10)
    service.submit(0, Read("/mine"))
    service.pause(0)
    service.advance(service.now + TIMEOUT)
    assert service.peek("/mine") is None and service.collect() == []
    service.resume(0)
    assert service.collect() == [(0, Disconnected()), (0, Reply(1, ConnectionLost()))]
    assert after(service, 10) == [(0, Expired())]


@pytest.mark.parametrize("loss", list(Loss))
def test_a_reply_is_lost_before_or_after_the_effect(loss: Loss) -> None:
    """The client gets the same answer; only the effect on the server differs."""
    service = InMemory()
    service.open(TIMEOUT)
    after(service, 10)
    service.lose(0, loss)
    number = service.submit(0, Create("/a"))
    told = [told for _, told in after(service, 10)]
    assert told == [Disconnected(), Reply(number, ConnectionLost()), Connected(1)]
    assert (service.peek("/a") is not None) == (loss is Loss.REPLY)


def test_a_session_dies_only_of_silence() -> None:
    """A session that asks nothing lives on, as its client keeps sending heartbeats; a service that
    is down lets none expire, and each has its whole timeout after that.
    """
    service = InMemory()
    service.open(TIMEOUT)
    service.advance(100 * TIMEOUT)
    service.stop()
    service.advance(200 * TIMEOUT)
    service.partition(0)
    service.restart()
    service.advance(201 * TIMEOUT - 1)
    assert service.is_alive(0)
    service.advance(201 * TIMEOUT)
    assert not service.is_alive(0)


def test_a_closed_session_tells_nothing_more() -> None:
    """Messages on their way to it are dropped, and no client can use it."""
    service = InMemory()
    service.open(TIMEOUT)
    service.submit(0, Create("/mine", ephemeral=True))
    service.advance(10)
    service.submit(0, Read("/mine"))
    service.close(0)
    assert after(service, 10) == [] and service.peek("/mine") is None
    for use in (lambda: service.submit(0, Read("/")), lambda: service.close(0)):
        with pytest.raises(CoordinationMisuse):
            use()


def test_a_session_closed_without_a_connection_expires() -> None:
    """The server cannot hear of it, so it waits for the timeout."""
    service = InMemory()
    service.open(TIMEOUT)
    service.submit(0, Create("/mine", ephemeral=True))
    service.advance(10)
    service.partition(0)
    service.advance(10 + TIMEOUT * 2 // 3)
    service.close(0)
    service.advance(10 + TIMEOUT - 1)
    assert service.peek("/mine") is not None
    service.advance(10 + TIMEOUT)
    service.heal(0)
    assert service.peek("/mine") is None and service.collect() == []


def test_every_transaction_is_recorded() -> None:
    """With its time, the session that asked, and its result, failed ones too; reads are none."""
    record: list[Transaction] = []
    service = InMemory(record=record.append)
    service.open(TIMEOUT)
    requests: tuple[Request, ...] = (Create("/a"), Create("/a"), Read("/a"), Delete("/a"))
    for request in requests:
        service.submit(0, request)
    service.advance(10)
    assert [(each.at, each.handle, each.request, type(each.result).__name__) for each in record] \
        == [(2, 0, Create("/a"), "Created"), (2, 0, Create("/a"), "NodeExists"),
            (2, 0, Delete("/a"), "Deleted")]


@pytest.mark.parametrize("path", ["", "a", "/a/", "//a", "/"])
def test_a_path_that_names_no_znode_is_refused(path: str) -> None:
    """It is refused by a word about paths, not by a result of the service."""
    service = InMemory()
    service.open(TIMEOUT)
    with pytest.raises(PathMisuse):
        service.submit(0, Create(path))


@pytest.mark.parametrize("request_of", [Read, Children, Exists])
def test_reads_need_a_path_as_well(request_of: type[Read | Children | Exists]) -> None:
    """Only that the root is a path for them."""
    service = InMemory()
    service.open(TIMEOUT)
    for path in ("", "a", "/a/", "//a"):
        with pytest.raises(PathMisuse):
            service.submit(0, request_of(path))
    assert service.submit(0, request_of("/")) == 0


def test_transactions_are_numbered_from_1() -> None:
    """The opening of a session is one, the root was there before."""
    service = InMemory()
    for handle, path in enumerate(("/a", "/b")):
        service.open(TIMEOUT)
        after(service, 10)
        service.submit(handle, Create(path))
        after(service, 10)
    stats = [found[1].czxid for path in ("/", "/a", "/b") if (found := service.peek(path))]
    assert stats == [0, 2, 4]


def test_a_client_needs_its_time_to_connect_again() -> None:
    """However long it was cut off, it gets through a delay after it could, and not at once."""
    service = InMemory(lambda: 5)
    service.open(TIMEOUT)
    service.advance(10)
    service.partition(0)
    service.advance(TIMEOUT)
    service.collect()
    service.heal(0)
    assert after(service, 4) == [] and after(service, 1) == [(0, Connected(1))]


def test_time_and_timeouts_are_checked() -> None:
    """Time does not go back, a timeout is 1 ms or more, and a handle comes from open."""
    service = InMemory()
    service.advance(5)
    for misuse in (lambda: service.advance(4), lambda: service.open(0),
                   lambda: service.partition(0), lambda: service.submit(3, Read("/"))):
        with pytest.raises(CoordinationMisuse):
            misuse()


def random_run(seed: int) -> tuple[list[tuple[int, int, Delivery]], list[Transaction]]:
    """Three clients that count in one znode while everything goes wrong now and then."""
    random = Random(seed)
    record: list[Transaction] = []
    service = InMemory(lambda: random.randrange(8), record.append)
    handles = [service.open(100) for _ in range(3)]
    told: list[tuple[int, int, Delivery]] = []
    for _ in range(400):
        for handle, delivery in service.collect(random.randrange(12)):
            told.append((service.now, handle, delivery))
            if isinstance(delivery, Expired):
                handles[handles.index(handle)] = service.open(100)
        handle = random.choice(handles)
        service.submit(handle, random.choice(
            [Create("/n", b"", random.random() < 0.5), Write("/n", b"x", random.randrange(3)),
             Delete("/n", 1), Read("/n", True), Exists("/n", True)]))
        _harm(service, random, handle)
    for handle in range(max(handles) + 1):
        service.heal(handle)
        service.resume(handle)
    service.restart()
    while deliveries := service.collect(1_000):
        told += [(service.now, handle, delivery) for handle, delivery in deliveries]
    return told, record


def _harm(service: InMemory, random: Random, handle: int) -> None:
    if random.random() < 0.5:
        return
    random.choice([
        lambda: service.partition(handle), lambda: service.heal(handle),
        lambda: service.heal(handle), lambda: service.pause(handle),
        lambda: service.resume(handle), lambda: service.resume(handle),
        lambda: service.lose(handle, random.choice(list(Loss))), lambda: service.expire(handle),
        service.stop, service.restart, service.restart, lambda: service.cut(handle)])()


@pytest.mark.parametrize("seed", range(40))
def test_every_request_is_answered_once_and_in_order(seed: int) -> None:
    """Whatever goes wrong, each number gets one reply in the end, and numbers only grow."""
    told, _ = random_run(seed)
    handles = {handle for _, handle, _ in told}
    for handle in handles:
        numbers = [each.number for _, whose, each in told
                   if whose == handle and isinstance(each, Reply)]
        assert numbers == list(range(len(numbers)))


@pytest.mark.parametrize("seed", range(40))
def test_what_clients_are_told_agrees_with_what_happened(seed: int) -> None:
    """A success that a client was notified of is one that the server recorded, and an expired
    session gets no other event afterwards.
    """
    told, record = random_run(seed)
    succeeded = [each.result for each in record if isinstance(each.result, Created | Written)]
    for _, _, delivery in told:
        if isinstance(delivery, Reply) and isinstance(delivery.result, Created | Written):
            assert delivery.result in succeeded
    for handle in {handle for _, handle, each in told if isinstance(each, Expired)}:
        mine = [each for _, whose, each in told if whose == handle]
        after = mine[mine.index(Expired()) + 1:]
        assert all(isinstance(each, Reply) and each.result == SessionExpired() for each in after)


def test_a_run_repeats_itself() -> None:
    """The same seed gives the same deliveries at the same instants."""
    assert random_run(7) == random_run(7) and random_run(7) != random_run(8)


def test_reads_and_absent_znodes() -> None:
    """A look from outside sees what the server has, without a session."""
    service = InMemory()
    service.open(TIMEOUT)
    service.submit(0, Create("/a", b"x"))
    service.submit(0, Read("/a"))
    service.submit(0, Exists("/b"))
    told = [each.result for _, each in after(service, 10) if isinstance(each, Reply)]
    assert isinstance(told[1], Data) and service.peek("/a") == (told[1].data, told[1].stat)
    assert told[2] == Found(None) and service.peek("/b") is None


@pytest.mark.parametrize("seed", range(20))
def test_changes_are_told_in_the_order_of_their_versions(seed: int) -> None:
    """Three clients write a znode on versions that they have read; their replies are seen late, and
    some never. Every change is reported once, in order, and none is missing before another.
    """
    random = Random(seed)
    service = delays(seed)
    handles = [service.open(TIMEOUT) for _ in range(3)]
    told: list[Transaction] = []
    changes = ChangesInOrder(told.append)
    service.submit(handles[0], Create("/n", b"0"))
    after(service, 40)
    late: list[Transaction] = []
    for number in range(30):
        handle = random.choice(handles)
        asked = {service.submit(handle, each): each
                 for each in (Read("/n"), Write("/n", b"x", number))}
        for whose, delivery in after(service, 40):
            if whose == handle and isinstance(delivery, Reply) and delivery.number in asked:
                done = Transaction(number, handle, asked[delivery.number], delivery.result)
                if isinstance(done.result, Data) or random.random() < 0.5:
                    changes.answered(done)
                elif random.random() < 0.7:
                    late.append(done)
        while late and random.random() < 0.3:
            changes.answered(late.pop(0))
    found = [each.result.stat.version for each in told if isinstance(each.result, Written)]
    assert found == sorted(set(found)) and set(range(found[0], found[-1])) <= set(found)


def test_a_change_that_only_a_read_has_shown_is_told_before_the_next() -> None:
    """Changes are reported from the creation on, which has version 0; and its own reply does not
    report it a second time.
    """
    def stat(version: int) -> Stat:
        return Stat(1, 1, 1, version, 0, 0, 0)

    told: list[Transaction] = []
    changes = ChangesInOrder(told.append)
    created = Transaction(1, 0, Create("/n", b"0"), Created("/n", stat(0)))
    first = Transaction(2, 0, Write("/n", b"1", 0), Written(stat(1)))
    unknown = Transaction(3, 1, Write("/n", b"2", 1), Written(stat(2)))
    read = Transaction(4, 0, Read("/n"), Data(b"2", stat(2)))
    last = Transaction(5, 0, Write("/n", b"3", 2), Written(stat(3)))
    for each in (created, first, read, last, unknown):
        changes.answered(each)
    assert told == [created, first, unknown._replace(at=5, handle=NOBODY), last]


@pytest.mark.parametrize("seed", range(6))
def test_what_is_due_next_is_remembered_until_a_client_changes(seed: int) -> None:
    """After each of many random calls the next instant is that of all clients, worked out anew."""
    random, service = Random(seed), delays(seed)
    calls = (service.expire, service.cut, service.partition, service.heal, service.pause,
             service.resume, lambda handle: service.lose(handle, random.choice([*Loss])),
             lambda handle: service.submit(handle, Create(f"/{random.randrange(9)}")),
             lambda handle: service.submit(handle, Children("/", watch=True)),
             lambda _: service.advance(service.now + random.randrange(40)),
             lambda _: service.stop(), lambda _: service.restart(),
             lambda _: service.collect())
    for _ in range(3):
        service.open(60)
    for _ in range(300):
        random.choice(calls)(random.randrange(3))
        anew = [when for client in service._clients
                if (when := service._next_worked_out(client)) is not None]
        assert service.next_instant() == min(anew, default=None)
