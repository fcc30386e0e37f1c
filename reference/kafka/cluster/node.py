"""A machine of the cluster: the lives of its broker, and its faults."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

from ...coordination.memory import Loss
from ...coordination.port import TimedCoordination
from ...coordination.terms import Event
from ..replication.replica import Disk, Replica
from .deployment import Deployment, Parts
from .leaving import Leaving
from .process import Process, World
from .requests import WantsToGo

__all__ = ["Node", "Surroundings"]

SESSION_TIMEOUT = 90


class _Together:
    """A broker and its controller in one process, as ``Hosted``."""

    def __init__(self, broker: Any, controller: Any) -> None:
        self.broker, self.controller = broker, controller
        broker.when_registered = controller.begin

    def handle(self, sender: int, body: Any, answer: Callable[[Any], None]) -> None:
        """Pass a request to the controller or the broker."""
        if isinstance(body, WantsToGo):
            self.controller.asked_to_let_go(sender, body, answer)
        else:
            self.broker.handle(sender, body, answer)

    def connected(self) -> None:
        """Notify the broker of its session."""
        self.broker.connected()

    def changed(self, event: Event) -> None:
        """Pass an event of a watch to the controller."""
        self.controller.changed(event)

    def expired(self) -> None:
        """Notify controller and broker of the session's end."""
        self.controller.expired()
        self.broker.expired()


class Surroundings(World, Protocol):
    """The part of its cluster that a machine uses."""

    is_unclean: bool
    """True if a replica that is not in sync may be elected."""

    @property
    def parts(self) -> Parts:
        """The classes that are made for each life."""
        ...

    @property
    def deployment(self) -> Deployment:
        """The setup of the cluster."""
        ...

    @property
    def store(self) -> TimedCoordination:
        """The coordination service of all processes."""
        ...

    def disks(self) -> dict[int, Disk]:
        """New disks, by partition."""
        ...

    def begins(self, process: Process) -> None:
        """A process has begun."""
        ...


class Node:
    """One machine: its disks outlive its processes."""

    def __init__(self, cluster: Surroundings, id: int) -> None:
        self.cluster, self.id = cluster, id
        self.disks: dict[int, Disk] = cluster.disks()
        self.process: Process | None = None
        self.broker: Any = None
        self.controller: Any = None
        self._leaving: Process | None = None    # the life that is shutting down
        self._life = -1
        self._rate = 100
        self._cut_off = 0               # reasons why the service is out of reach

    def replica(self, partition: int) -> Replica | None:
        """The replica of a partition, if the broker is up."""
        return None if self.process is None else self.broker.replicas.get(partition)

    # -- lives ------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Start the broker, for the first time or again."""
        if self.process is not None:
            return
        self._life += 1
        cluster = self.cluster
        self.process = Process(cluster, self.id, self._life, self._rate, SESSION_TIMEOUT)
        parts = cluster.parts
        self.broker = parts.broker(self.process, self.disks, self._settings(), parts.replica)
        self.controller = parts.controller(self.id)
        self.permit()
        controller = parts.controlling(self.process, self.controller)
        self.process.hosted = _Together(self.broker, controller)
        cluster.begins(self.process)
        cluster.record("began", self.id, self._life)
        self.broker.start()

    def permit(self) -> None:
        """Its controller elects uncleanly, if the cluster permits it."""
        if self.cluster.is_unclean and self.controller is not None:
            self.controller.settings = replace(self.controller.settings, unclean_all=True)

    def _settings(self) -> Any:
        return replace(self.cluster.parts.settings, min_isr=self.cluster.deployment.min_isr)

    def has_session(self, process: Process) -> None:
        """A new session is cut off from the service, too, as long as the machine is."""
        if self._cut_off:
            self.cluster.store.partition(process.session)

    def crash(self) -> None:
        """The process crashes; its session is left to expire."""
        if self.process is not None:
            self.process.is_up = False
            self.cluster.store.pause(self.process.session)
            self.process = None
            self.cluster.record("crashed", self.id)

    def shut_down(self, gone: Callable[[], None]) -> None:
        """The broker asks to shut down, and stops: its session ends at once."""
        process = self.process
        if process is not None and self._leaving is not process:
            self._leaving = process
            Leaving(self.broker, lambda: self._leave(process, gone)).ask()

    def _leave(self, process: Process, gone: Callable[[], None]) -> None:
        if self.process is process:
            process.is_up = False
            self.cluster.store.close(process.session)
            self.process = None
            self.cluster.record("left", self.id)
            gone()

    def pause(self) -> None:
        """The process is paused."""
        if self.process is not None and not self.process.is_paused:
            self.process.is_paused = True
            self.cluster.store.pause(self.process.session)
            self.cluster.record("paused", self.id)

    def resume(self) -> None:
        """The process continues, and does not know that time has passed."""
        if self.process is not None and self.process.is_paused:
            self.cluster.store.resume(self.process.session)
            self.cluster.record("resumed", self.id)
            self.process.resume()

    def expire(self) -> None:
        """The coordination service ends the session, and will notify the broker."""
        if self.process is not None:
            self.cluster.store.expire(self.process.session)
            self.cluster.record("expired", self.id)

    def isolate(self) -> None:
        """The coordination service cannot be reached."""
        self._cut_off += 1
        if self.process is not None and self._cut_off == 1:
            self.cluster.store.partition(self.process.session)

    def rejoin(self) -> None:
        """Remove one reason for that."""
        self._cut_off = max(0, self._cut_off - 1)
        if self.process is not None and self._cut_off == 0:
            self.cluster.store.heal(self.process.session)

    def lose(self, loss: Loss) -> None:
        """The connection breaks at the next request to the coordination service."""
        if self.process is not None:
            self.cluster.store.lose(self.process.session, loss)

    def drift(self, rate: int) -> None:
        """Its clock goes ``rate`` ms in 100."""
        self._rate = rate
        if self.process is not None:
            self.process.drift(rate)

    def recover(self) -> None:
        """End all faults of the machine."""
        self.drift(100)
        self._cut_off = min(1, self._cut_off)
        self.rejoin()
        if self.process is not None and self._leaving is self.process:
            self._leave(self.process, lambda: None)
        self.begin()
        self.resume()
