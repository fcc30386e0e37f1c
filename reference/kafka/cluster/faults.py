"""Faults of a cluster: of brokers, links, clocks, and the coordination service.

Every fault that lasts has an end, ``lasts`` ms later. A fault may also wait for a moment
(``upon``), and then befalls the broker of that moment: so a fault that needs one moment out of
thousands happens every time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from ...coordination.memory import Loss
from .cluster import Cluster
from .node import Node

__all__ = ["DEEDS", "MOMENTS", "FaultMisuse", "Faults"]

MOMENTS: Final[Mapping[str, str]] = {
    "state": "a broker has written the state of a partition, and has no reply yet",
    "stands": "a broker asks to be the controller, and has no reply yet",
    "controls": "a broker has become the controller, and has sent no request yet",
    "took": "a broker takes writes as a new leader",
    "wrote": "a leader has appended a record that no follower has yet",
    "changing": "a leader has asked the quorum for another ISR, and has no reply yet",
    "committed": "the high watermark of a leader has risen, and no other broker knows it yet",
    "cut": "a follower has cut its log",
    "registered": "a broker has registered, and the controller does not know it yet",
}
"""Moments that a fault may wait for."""

DEEDS: Final[Mapping[str, str]] = {
    "crash": "it crashes", "pause": "it is paused", "expire": "its session expires",
    "isolate": "it is cut off from the coordination service",
    "lose_reply": "the reply of its next request to the coordination service gets lost",
    "lose_request": "its next request to the coordination service gets lost",
}
"""Faults of a broker at a moment."""


class FaultMisuse(ValueError):
    """There is no such broker, moment or deed, or the numbers make no sense."""


class Faults:
    """Causes faults in a cluster. Raises ``FaultMisuse`` for impossible ones."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster

    def crash(self, broker: int, lasts: int) -> None:
        """A broker's process crashes, and starts again after ``lasts`` ms."""
        node = self._node(broker)
        node.crash()
        self._after(lasts, node.begin)

    def pause(self, broker: int, lasts: int) -> None:
        """A broker's process is paused: a zombie, if others continue without it."""
        node = self._node(broker)
        node.pause()
        process = node.process

        def resume() -> None:
            if node.process is process:
                node.resume()

        self._after(lasts, resume)

    def expire(self, broker: int, lasts: int = 0) -> None:
        """A broker's session expires."""
        self._node(broker).expire()

    def isolate(self, broker: int, lasts: int) -> None:
        """A broker cannot reach the coordination service."""
        node = self._node(broker)
        node.isolate()
        self._after(lasts, node.rejoin)

    def lose_reply(self, broker: int, lasts: int = 0) -> None:
        """A broker's next request to the service takes effect, and the reply gets lost."""
        self._node(broker).lose(Loss.REPLY)

    def lose_request(self, broker: int, lasts: int = 0) -> None:
        """A broker's next request to the service gets lost."""
        self._node(broker).lose(Loss.REQUEST)

    def drift(self, broker: int, rate: int, lasts: int) -> None:
        """A broker's clock goes ``rate`` ms in 100."""
        node = self._node(broker)
        self._need(10 <= rate <= 1000, f"a clock of {rate} ms in 100")
        node.drift(rate)
        self._after(lasts, partial(node.drift, 100))

    def cut(self, one: int, other: int, lasts: int) -> None:
        """Two brokers cannot reach each other."""
        self._two(one, other)
        self.cluster.network.cut(one, other)
        self._after(lasts, partial(self.cluster.network.mend, one, other))

    def delay(self, one: int, other: int, extra: int, lasts: int) -> None:
        """Messages between two brokers take up to ``extra`` ms more, and overtake each other."""
        self._two(one, other)
        self._need(extra >= 0, f"a delay of {extra} ms")
        self.cluster.network.delay(one, other, extra)
        self._after(lasts, partial(self.cluster.network.delay, one, other, -extra))

    def lose(self, one: int, other: int, percent: int, lasts: int) -> None:
        """``percent`` of the messages between two brokers get lost."""
        self._two(one, other)
        self._need(0 <= percent <= 100, f"a loss of {percent} in 100")
        self.cluster.network.lose(one, other, percent)
        self._after(lasts, partial(self.cluster.network.lose, one, other, -percent))

    def shut_down(self, broker: int, lasts: int) -> None:
        """A broker asks the controller to shut down, stops, and starts again some time later."""
        node = self._node(broker)
        node.shut_down(lambda: self._after(lasts, node.begin))

    def stop_service(self, lasts: int) -> None:
        """The coordination service is down, and comes back with all acknowledged writes."""
        store = self.cluster.store

        def restart() -> None:
            if not store.is_running:
                store.restart()

        if store.is_running:
            store.stop()
        self._after(lasts, restart)

    def upon(self, moment: str, deed: str, lasts: int) -> None:
        """When the moment comes next, do the deed to its broker."""
        self._need(moment in MOMENTS and deed in DEEDS, f"{deed} upon {moment}")
        self._need(lasts >= 1, f"for {lasts} ms")
        do: Callable[[int, int], None] = getattr(self, deed)
        self.cluster.upon.append((moment, lambda broker: do(broker, lasts)))

    def _after(self, lasts: int, what: Callable[[], None]) -> None:
        self._need(lasts >= 1, f"for {lasts} ms")
        era = self.cluster.era

        def end() -> None:
            if self.cluster.era == era:     # otherwise quiet has ended it already
                what()

        self.cluster.at(self.cluster.now + lasts, end)

    def _node(self, broker: int) -> Node:
        self._need(broker in self.cluster.nodes, f"broker {broker}")
        return self.cluster.nodes[broker]

    def _two(self, one: int, other: int) -> None:
        self._node(one)
        self._node(other)
        self._need(one != other, f"broker {one} and itself")

    @staticmethod
    def _need(is_so: bool, what: str) -> None:
        if not is_so:
            raise FaultMisuse(f"this cannot be: {what}")
