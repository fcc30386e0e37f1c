"""Bugs of Kafka's controller come back by one method each, and not without it."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest
from kafka_controller_world import T0, T1, World, running

from checkvalve.reference.coordination.port import Loss
from checkvalve.reference.coordination.terms import Create, Multi, Request, Stat, Write
from checkvalve.reference.kafka import controller as package
from checkvalve.reference.kafka.controller import znodes
from checkvalve.reference.kafka.controller.controller import Controller
from checkvalve.reference.kafka.controller.elector import Elector
from checkvalve.reference.kafka.controller.store import Steps, Store
from checkvalve.reference.kafka.controller.terms import Leadership, TopicPartition

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference-controller.md"


def test_the_page_names_methods_that_are_there() -> None:
    """Each method of the table of bugs is one of a class of the controller's."""
    classes = {}
    for module in iter_modules(package.__path__):
        loaded = import_module(f"{package.__name__}.{module.name}")
        classes |= {name: thing for name, thing in vars(loaded).items() if isinstance(thing, type)}
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith(("| KAFKA", "| 0.9"))]
    named = [name for row in rows for name in re.findall(r"`(\w+)\.(\w+)`", row)]
    assert len(rows) >= 14
    for owner, method in named:
        if owner != "kafka_0_9":
            assert method in vars(classes[owner]), f"{owner}.{method}"


class TellsOthersOnly(Controller):
    """KAFKA-831: a new broker does not get all partitions."""

    def announce(self, new: list[int]) -> None:
        self.batch.begin()
        self.batch.update_metadata(self.context.registered.keys() - set(new), ())
        self.batch.send(self.store.epoch)


@pytest.mark.parametrize(("kind", "known"), [(Controller, {T0, T1}), (TellsOthersOnly, set())])
def test_a_broker_without_replicas_learns_of_all_partitions(
        kind: type[Controller], known: set[TopicPartition]) -> None:
    """Its clients ask it for leaders, though it leads and follows nothing itself."""
    world = running(3, controller_type=kind)
    world.start(4)
    world.run()
    assert set(world.nodes[4].metadata) == known


class WatchesAfterReading(Store):
    """KAFKA-928: what comes between the read and the watch is not seen."""

    def children(self, path: str, *, watch: bool = False) -> Steps[tuple[str, ...]]:
        found = yield from super().children(path)
        if watch:
            yield from super().children(path, watch=True)
        return found


class SeesTopicsLate(Controller):
    """Reads by ``WatchesAfterReading``."""

    store_type = WatchesAfterReading


def is_missed(kind: type[Controller], ms: int) -> bool:
    """True if a topic that is made ``ms`` after a controller has gone has no leader."""
    world = running(3, seed=ms, controller_type=kind)
    world.service.expire(world.active().handle)
    world.run(ms)
    world.create_topic("u", {0: (1, 2)})
    return world.service.peek(znodes.state_path(TopicPartition("u", 0))) is None


def test_no_topic_is_missed_that_comes_during_an_election() -> None:
    """Whenever it comes; with the watch after the read, it is at some moments."""
    moments = range(5, 60, 3)
    assert not any(is_missed(Controller, each) for each in moments)
    assert any(is_missed(SeesTopicsLate, each) for each in moments)


class FinishesEarly(Controller):
    """KAFKA-1097: a reassignment ends before the new replicas are in sync."""

    def may_finish(self, targets: tuple[int, ...], found: Leadership) -> bool:
        return True


@pytest.mark.parametrize(("kind", "is_sound"), [(Controller, True), (FinishesEarly, False)])
def test_a_reassignment_leaves_nobody_else_in_sync(kind: type[Controller], is_sound: bool) -> None:
    """In the end all that are in sync are assigned, and one of them leads."""
    world = running(5, controller_type=kind)
    world.do(Create(znodes.REASSIGN, znodes.reassignment_text({T0: (5, 4)})))
    world.run()
    found = world.leadership(T0)
    assert (set(found.isr) <= {4, 5} and found.leader in found.isr) is is_sound


class TakesLossForRefusal(Store):
    """KAFKA-1382: its own write looks like another's when the reply was lost."""

    def write_leadership(self, partition: TopicPartition, wanted: Leadership,
                         ) -> Steps[Leadership | None]:
        outcome = yield from self.change(Write(
            znodes.state_path(partition), znodes.state_text(wanted), wanted.version))
        return None if outcome.error else wanted._replace(version=wanted.version + 1)


class TellsNobody(Controller):
    """Writes by ``TakesLossForRefusal``."""

    store_type = TakesLossForRefusal


def lose_reply_of_first_write(world: World) -> None:
    """The reply of the controller's next change of a leadership gets lost."""
    handle, submit = world.active().handle, world.service.submit

    def losing(who: int, request: Request) -> int:
        if who == handle and isinstance(request, Multi) and any(
                isinstance(each, Write) and each.path == znodes.state_path(T0)
                for each in request.operations):
            world.service.lose(handle, Loss.REPLY)
            world.service.submit = submit  # type: ignore[method-assign]
        return submit(who, request)

    world.service.submit = losing  # type: ignore[method-assign]


@pytest.mark.parametrize(("kind", "is_told"), [(Controller, True), (TellsNobody, False)])
def test_an_election_whose_reply_is_lost_is_told(kind: type[Controller], is_told: bool) -> None:
    """The controller finds its own write, and sends it to the brokers.

    Else it elects again, finds that the preferred replica leads already, and sends nothing.
    """
    world = running(controller_type=kind)
    world.crash(1)
    world.run()
    world.start(1)
    world.run()
    before = world.leadership(T0)
    lose_reply_of_first_write(world)
    world.do(Create(znodes.PREFERRED, znodes.partitions_text([T0])))
    world.run()
    after = world.leadership(T0)
    assert (before.leader, after.leader) == (2, 1)
    assert after.leader_epoch == before.leader_epoch + 1
    assert world.agrees() is is_told


class WaitsForItself(Elector):
    """KAFKA-1387: the znode of its own session blocks it for good."""

    def was_left_behind(self, found: Stat) -> bool:
        return False


class NeverAgain(Controller):
    """Is elected by ``WaitsForItself``."""

    elector_type = WaitsForItself


@pytest.mark.parametrize(("kind", "is_there"), [(Controller, True), (NeverAgain, False)])
def test_a_controller_that_resigned_does_not_block_the_next(
        kind: type[Controller], is_there: bool) -> None:
    """Somebody has raised the epoch, so it resigns; its session, and its znode, live on."""
    world = running(controller_type=kind)
    world.do(Write(znodes.CONTROLLER_EPOCH, b"7"))
    world.create_topic("u", {0: (1, 2)})
    assert any(each.controller.is_active for each in world.nodes.values()) is is_there
    if is_there:
        assert world.active().controller.epoch == 8
        assert world.leadership(TopicPartition("u", 0)).controller_epoch == 8


class KeepsItsQueues(Controller):
    """KAFKA-1578: what it had to say is still said after it has resigned."""

    def resign(self, why: str) -> None:
        self.is_active = False


@pytest.mark.parametrize(("kind", "left"), [(Controller, False), (KeepsItsQueues, True)])
def test_nothing_is_left_after_a_resignation(kind: type[Controller], left: bool) -> None:
    """No request of a controller that was waits for an answer."""
    world = running(controller_type=kind)
    old = world.active()
    deaf = 3 if old.id != 3 else 2
    world.cut.add(deaf)
    world.create_topic("u", {0: (deaf, 1)})
    world.service.expire(old.handle)
    world.run(60)
    was_elected_again = old.controller.is_active
    assert bool(not was_elected_again and old.controller.channels.queue_of(deaf)) is left


class PreferredFirst(Controller):
    """KAFKA-840: preferred leaders are elected before the machines have started."""

    def take_over(self) -> Steps[None]:
        self.begin_anew()
        yield from self.read_everything()
        yield from self.preferred_wanted()
        yield from super().take_over()


@pytest.mark.parametrize(("kind", "leader"), [(Controller, 1), (PreferredFirst, 2)])
def test_a_wish_from_before_the_election_is_fulfilled(
        kind: type[Controller], leader: int) -> None:
    """Preferred leaders are elected when the present leaders are known."""
    world = running(controller_type=kind)
    world.crash(1)
    world.run()
    world.start(1)
    world.run()
    assert world.leadership(T0).leader == 2
    old = world.active()
    world.pause(old.id)
    world.do(Create(znodes.PREFERRED, znodes.partitions_text([T0])))
    world.service.expire(old.handle)
    world.run(100)
    world.resume(old.id)
    world.run()
    assert world.leadership(T0).leader == leader
    assert world.service.peek(znodes.PREFERRED) is None
