"""The laws of the coordination port, one function each, for any implementation of it.

Every law gets a ``World``: a port, and a path of its own below which nothing is there yet.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from checkvalve.reference.coordination.port import FaultyCoordination, Loss
from checkvalve.reference.coordination.terms import (
    BadVersion, Check, Checked, Children, Committed, Connected, ConnectionLost, Create, Created,
    Data, Delete, Deleted, Delivery, Disconnected, EphemeralParent, Event, Exists, Expired, Found,
    Kind, Listed, Multi, NodeExists, NoNode, NotEmpty, Read, Reply, Request, Result, RolledBack,
    SessionExpired, Write, Written,
)

TIMEOUT = 20_000
"""Timeout of a session, in ms."""

PATIENCE = 60_000
"""Longest wait of a law for a delivery that must come, in ms."""


class World:
    """A port, and sessions that remember every delivery to them."""

    def __init__(self, port: FaultyCoordination, root: str) -> None:
        self.port, self.root = port, root
        self.told: dict[int, list[Delivery]] = {}
        self.here = self.open()
        assert isinstance(self.ask(self.here, Create(root)), Created)

    def at(self, name: str) -> str:
        """A path below the world's own."""
        return f"{self.root}/{name}".rstrip("/")

    def open(self, timeout: int = TIMEOUT) -> int:
        """Open a session: its handle, as soon as it is there."""
        handle = self.port.open(timeout)
        self.told[handle] = []
        self.wait_for(handle, lambda told: isinstance(told, Connected))
        return handle

    def submit(self, handle: int, request: Request) -> int:
        """Ask without waiting."""
        return self.port.submit(handle, request)

    def ask(self, handle: int, request: Request) -> Result:
        """Ask, and wait for the result."""
        return self.result(handle, self.submit(handle, request))

    def result(self, handle: int, number: int) -> Result:
        """The result of what was asked under a number; waits for it."""
        told = self.wait_for(
            handle, lambda told: isinstance(told, Reply) and told.number == number)
        assert isinstance(told, Reply)
        return told.result

    def wait_for(self, handle: int, is_it: Callable[[Delivery], bool]) -> Delivery:
        """The first delivery of the session that fits, now or later."""
        while True:
            for told in self.told[handle]:
                if is_it(told):
                    return told
            collected = self.port.collect(PATIENCE)
            assert collected, f"nothing came within {PATIENCE} ms; so far: {self.told[handle]}"
            for whose, delivery in collected:
                self.told[whose].append(delivery)

    def wait_for_event(self, handle: int, kind: Kind, name: str) -> None:
        """Wait until the session gets that event."""
        self.wait_for(handle, lambda told: told == Event(kind, self.at(name)))

    def events(self, handle: int) -> list[tuple[Kind, str]]:
        """The events of a session's watches so far, with names instead of paths."""
        return [(told.kind, told.path.removeprefix(self.root).lstrip("/"))
                for told in self.told[handle] if isinstance(told, Event)]


def what_is_written_is_read(world: World) -> None:
    """Bytes come back as they were written, and each write makes the version greater by one."""
    made = world.ask(world.here, Create(world.at("a"), b"\x00one"))
    assert isinstance(made, Created) and made.path == world.at("a") and made.stat is not None
    assert made.stat.version == 0 and made.stat.owner == 0
    for version, data in enumerate((b"two", b"", b"three")):
        written = world.ask(world.here, Write(world.at("a"), data, version))
        assert isinstance(written, Written) and written.stat.version == version + 1
        read = world.ask(world.here, Read(world.at("a")))
        assert isinstance(read, Data) and read.data == data and read.stat == written.stat


def a_conditional_operation_names_its_version(world: World) -> None:
    """With another version nothing happens; of two with the same version one succeeds."""
    path = world.at("a")
    world.ask(world.here, Create(path))
    numbers = [world.submit(world.here, Write(path, data, 0)) for data in (b"one", b"two")]
    first, second = (world.result(world.here, number) for number in numbers)
    assert isinstance(first, Written) and second == BadVersion(path)
    assert world.ask(world.here, Delete(path, 0)) == BadVersion(path)
    assert world.ask(world.here, Delete(path, 7)) == BadVersion(path)
    read = world.ask(world.here, Read(path))
    assert isinstance(read, Data) and read.data == b"one" and read.stat.version == 1
    assert world.ask(world.here, Delete(path, 1)) == Deleted()
    assert world.ask(world.here, Exists(path)) == Found(None)


def refusals_say_what_is_wrong(world: World) -> None:
    """Each operation that cannot be carried out says why, and changes nothing."""
    path, below = world.at("a"), world.at("a/b")
    missing: tuple[Request, ...] = (
        Read(path), Children(path), Write(path, b""), Delete(path), Create(below))
    for request in missing:
        assert isinstance(world.ask(world.here, request), NoNode), request
    world.ask(world.here, Create(path))
    assert world.ask(world.here, Create(path)) == NodeExists(path)
    world.ask(world.here, Create(below))
    assert world.ask(world.here, Delete(path)) == NotEmpty(path)
    fleeting = world.at("c")
    world.ask(world.here, Create(fleeting, ephemeral=True))
    assert isinstance(world.ask(world.here, Create(f"{fleeting}/d")), EphemeralParent)
    listed = world.ask(world.here, Children(world.root))
    assert isinstance(listed, Listed) and listed.names == ("a", "c")


def requests_of_a_session_keep_their_order(world: World) -> None:
    """A later request takes effect later, and is answered later."""
    path = world.at("a")
    numbers = [world.submit(world.here, Create(path))]
    numbers += [world.submit(world.here, Write(path, bytes([each]), each)) for each in range(20)]
    results = [world.result(world.here, number) for number in numbers]
    assert isinstance(results[0], Created)
    assert [isinstance(each, Written) for each in results[1:]] == [True] * 20
    replies = [told.number for told in world.told[world.here] if isinstance(told, Reply)]
    assert replies == sorted(replies)


def sequential_names_grow(world: World) -> None:
    """Every sequential name in a folder is greater than those before, deleted ones included."""
    made = []
    for _ in range(3):
        result = world.ask(world.here, Create(world.at("n-"), sequential=True))
        assert isinstance(result, Created)
        made.append(result.path)
        world.ask(world.here, Delete(result.path))
    assert made == sorted(set(made)) and {len(path) for path in made} == {len(world.at("n-")) + 10}


def a_multi_is_atomic(world: World) -> None:
    """All parts take effect, or none, and the first part that failed is named."""
    path, other = world.at("a"), world.at("b")
    done = world.ask(world.here, Multi((Create(path, b"x"), Create(other), Write(path, b"y", 0),
                                        Check(path, 1), Delete(other))))
    assert isinstance(done, Committed)
    created, again, written, checked, deleted = done.results
    assert created == Created(path, None) and again == Created(other, None)
    assert isinstance(written, Written) and written.stat.version == 1
    assert (checked, deleted) == (Checked(), Deleted())
    before = world.ask(world.here, Read(path))
    undone = world.ask(world.here, Multi((Create(other), Write(path, b"z"), Check(path, 1))))
    assert undone == RolledBack(2, BadVersion(path))
    assert world.ask(world.here, Read(path)) == before
    assert world.ask(world.here, Exists(other)) == Found(None)


def a_multi_that_fails_fires_no_watch(world: World) -> None:
    """A change that was not made is not reported."""
    path = world.at("a")
    world.ask(world.here, Create(path))
    world.ask(world.here, Read(path, watch=True))
    world.ask(world.here, Multi((Write(path, b"x"), Check(path, 9))))
    world.ask(world.here, Read(path))
    assert world.events(world.here) == []


def czxid_grows(world: World) -> None:
    """A znode that is made again has a greater czxid than before."""
    seen = []
    for _ in range(3):
        made = world.ask(world.here, Create(world.at("a")))
        assert isinstance(made, Created) and made.stat is not None
        world.ask(world.here, Write(world.at("a"), b"x"))
        read = world.ask(world.here, Read(world.at("a")))
        assert isinstance(read, Data) and read.stat.czxid == made.stat.czxid < read.stat.mzxid
        seen.append(made.stat.czxid)
        world.ask(world.here, Delete(world.at("a")))
    assert seen == sorted(set(seen))


def a_watch_fires_once(world: World) -> None:
    """Of several changes only the first is reported, until the client reads and watches again."""
    path = world.at("a")
    world.ask(world.here, Create(path))
    other = world.open()
    world.ask(world.here, Read(path, watch=True))
    world.ask(world.here, Read(path, watch=True))
    for data in (b"x", b"y"):
        world.ask(other, Write(path, data))
    world.wait_for_event(world.here, Kind.CHANGED, "a")
    world.ask(world.here, Read(path))
    assert world.events(world.here) == [(Kind.CHANGED, "a")]
    world.ask(world.here, Read(path, watch=True))
    world.ask(other, Delete(path))
    world.wait_for_event(world.here, Kind.DELETED, "a")
    assert world.events(world.here) == [(Kind.CHANGED, "a"), (Kind.DELETED, "a")]


def each_kind_of_watch_tells_its_events(world: World) -> None:
    """Exists reports a creation, children their comings and goings, a deletion is reported by both.
    """
    path = world.at("a")
    assert world.ask(world.here, Exists(path, watch=True)) == Found(None)
    world.ask(world.here, Children(world.root, watch=True))
    world.ask(world.here, Create(path))
    world.ask(world.here, Children(path, watch=True))
    world.ask(world.here, Read(path, watch=True))
    world.ask(world.here, Create(f"{path}/b"))
    world.ask(world.here, Children(path, watch=True))
    world.ask(world.here, Delete(f"{path}/b"))
    world.ask(world.here, Children(path, watch=True))
    world.ask(world.here, Delete(path))
    assert world.events(world.here) == [
        (Kind.CREATED, "a"), (Kind.CHILDREN, ""), (Kind.CHILDREN, "a"), (Kind.CHILDREN, "a"),
        (Kind.DELETED, "a")]


def a_watch_fires_before_its_change_is_read(world: World) -> None:
    """A client that reads the new bytes has got the event before."""
    path = world.at("a")
    world.ask(world.here, Create(path))
    other = world.open()
    world.ask(other, Read(path, watch=True))
    world.submit(world.here, Write(path, b"x"))
    while True:
        read = world.ask(other, Read(path))
        assert isinstance(read, Data)
        if read.data == b"x":
            break
    is_event = [isinstance(told, Event) for told in world.told[other]]
    assert is_event.index(True) < len(is_event) - 1


def ephemerals_vanish_with_their_session(world: World) -> None:
    """A session that is closed takes its ephemeral znodes with it, and no others."""
    other = world.open()
    made = world.ask(other, Create(world.at("mine"), ephemeral=True))
    assert isinstance(made, Created) and made.stat is not None
    connected = next(told for told in world.told[other] if isinstance(told, Connected))
    assert made.stat.owner == connected.session
    world.ask(other, Create(world.at("lasting")))
    world.ask(world.here, Exists(world.at("mine"), watch=True))
    world.port.close(other)
    world.wait_for_event(world.here, Kind.DELETED, "mine")
    listed = world.ask(world.here, Children(world.root))
    assert isinstance(listed, Listed) and listed.names == ("lasting",)


def the_end_of_a_session_is_later_than_all_before(world: World) -> None:
    """The deletion of its ephemeral znodes is a change of the folder like any other, with a greater
    zxid.
    """
    other = world.open()
    world.ask(other, Create(world.at("mine"), ephemeral=True))
    world.ask(world.here, Exists(world.at("mine"), watch=True))
    written = world.ask(world.here, Write(world.root, b"x"))
    world.port.close(other)
    world.wait_for_event(world.here, Kind.DELETED, "mine")
    found = world.ask(world.here, Exists(world.root))
    assert isinstance(written, Written) and isinstance(found, Found) and found.stat is not None
    assert found.stat.pzxid > written.stat.mzxid


def an_expired_session_learns_of_it(world: World) -> None:
    """Its ephemeral znodes are gone first; then it gets the event, and no later request has an
    effect.
    """
    other = world.open()
    world.ask(other, Create(world.at("mine"), ephemeral=True))
    world.ask(world.here, Exists(world.at("mine"), watch=True))
    world.port.expire(other)
    world.wait_for_event(world.here, Kind.DELETED, "mine")
    world.wait_for(other, lambda told: told == Expired())
    assert world.ask(other, Create(world.at("late"))) == SessionExpired()
    assert world.ask(world.here, Exists(world.at("late"))) == Found(None)
    again = world.open()
    assert isinstance(world.ask(again, Create(world.at("mine"), ephemeral=True)), Created)


def a_silent_session_expires_before_its_client_knows(world: World) -> None:
    """A client that is paused for longer than its timeout loses its ephemeral znodes by the clock
    of the server, and gets the event when it is resumed.
    """
    other = world.open(600)
    world.ask(other, Create(world.at("mine"), ephemeral=True))
    world.ask(world.here, Exists(world.at("mine"), watch=True))
    world.port.pause(other)
    world.wait_for_event(world.here, Kind.DELETED, "mine")
    assert not {Disconnected(), Expired()} & set(world.told[other])
    world.port.resume(other)
    world.wait_for(other, lambda told: told == Expired())


def a_lost_reply_hides_whether_it_was_done(world: World) -> None:
    """The client hears the same, whether the request got lost or its reply; the session and its
    watches continue.
    """
    other = world.open()
    world.ask(other, Exists(world.at("done"), watch=True))
    for loss, name in ((Loss.REQUEST, "undone"), (Loss.REPLY, "done")):
        world.port.lose(other, loss)
        number = world.submit(other, Create(world.at(name)))
        assert world.result(other, number) == ConnectionLost()
        assert isinstance(world.ask(other, Read(world.root)), Data)
    world.wait_for_event(other, Kind.CREATED, "done")
    listed = world.ask(world.here, Children(world.root))
    assert isinstance(listed, Listed) and listed.names == ("done",)


def a_partition_that_heals_is_no_end(world: World) -> None:
    """Requests made meanwhile are answered afterwards, in order."""
    other = world.open()
    world.port.partition(other)
    numbers = [world.submit(other, Create(world.at(name))) for name in "ab"]
    world.ask(world.here, Create(world.at("c")))
    world.port.heal(other)
    assert all(isinstance(world.result(other, each), Created) for each in numbers)


def a_watch_survives_a_killed_server(world: World) -> None:
    """A change made while a client had no connection is reported when it has one again."""
    for name in ("changed", "deleted", "same"):
        world.ask(world.here, Create(world.at(name)))
    other = world.open()
    for name in ("changed", "deleted", "same"):
        world.ask(other, Read(world.at(name), watch=True))
    world.ask(other, Exists(world.at("created"), watch=True))
    world.ask(other, Children(world.root, watch=True))
    world.port.stop()
    for each in (world.here, other):
        world.wait_for(each, lambda told: told == Disconnected())
    changes = [world.submit(world.here, request) for request in (
        Write(world.at("changed"), b"x"), Delete(world.at("deleted")), Create(world.at("created")))]
    world.port.restart()
    assert not any(isinstance(world.result(world.here, each), ConnectionLost) for each in changes)
    for kind, name in ((Kind.CHANGED, "changed"), (Kind.DELETED, "deleted"),
                       (Kind.CREATED, "created"), (Kind.CHILDREN, "")):
        world.wait_for_event(other, kind, name)
    world.ask(world.here, Write(world.at("same"), b"y"))
    world.wait_for_event(other, Kind.CHANGED, "same")
    assert len(world.events(other)) == 5


def a_session_survives_a_killed_server(world: World) -> None:
    """Sessions, their ephemeral znodes, and all that was acknowledged are there again."""
    world.ask(world.here, Create(world.at("mine"), b"x", ephemeral=True))
    world.port.stop()
    world.wait_for(world.here, lambda told: told == Disconnected())
    world.port.restart()
    read = world.ask(world.here, Read(world.at("mine")))
    assert isinstance(read, Data) and read.data == b"x"
    sessions = {told.session for told in world.told[world.here] if isinstance(told, Connected)}
    assert sessions == {read.stat.owner}


def what_has_no_reply_when_the_server_dies_is_lost(world: World) -> None:
    """Every request is answered: what it cannot know it calls a lost connection."""
    numbers = [world.submit(world.here, Create(world.at(f"n{each}"))) for each in range(30)]
    world.port.stop()
    world.wait_for(world.here, lambda told: told == Disconnected())
    world.port.restart()
    results = [world.result(world.here, number) for number in numbers]
    assert all(isinstance(each, Created | ConnectionLost) for each in results)
    listed = world.ask(world.here, Children(world.root))
    assert isinstance(listed, Listed)
    acknowledged = [f"n{each}" for each, result in enumerate(results)
                    if isinstance(result, Created)]
    assert set(acknowledged) <= set(listed.names)


class Law(NamedTuple):
    """A law, and whether it stops the server."""

    check: Callable[[World], None]
    stops_server: bool = False


LAWS = (
    *map(Law, (
        what_is_written_is_read, a_conditional_operation_names_its_version,
        refusals_say_what_is_wrong, requests_of_a_session_keep_their_order, sequential_names_grow,
        a_multi_is_atomic, a_multi_that_fails_fires_no_watch, czxid_grows, a_watch_fires_once,
        each_kind_of_watch_tells_its_events, a_watch_fires_before_its_change_is_read,
        ephemerals_vanish_with_their_session, the_end_of_a_session_is_later_than_all_before,
        an_expired_session_learns_of_it,
        a_silent_session_expires_before_its_client_knows,
        a_lost_reply_hides_whether_it_was_done, a_partition_that_heals_is_no_end)),
    Law(a_watch_survives_a_killed_server, stops_server=True),
    Law(a_session_survives_a_killed_server, stops_server=True),
    Law(what_has_no_reply_when_the_server_dies_is_lost, stops_server=True),
)
