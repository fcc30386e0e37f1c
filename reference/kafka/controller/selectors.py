"""The four selectors for a partition's next leader, as pure functions.

Each takes the candidates and returns the leader, the ISR, and the receivers of the request; or the
reason why there is no leader. The state machine raises and writes the leader epoch.

Source: Election.scala and PartitionStateMachine.scala of Kafka 3.9.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import NamedTuple, TypeAlias

__all__ = [
    "Candidates", "Elected", "NotElected", "Selector", "controlled_shutdown",
    "controlled_shutdown_0_9", "offline", "offline_unclean", "preferred", "reassigned",
]


class Candidates(NamedTuple):
    """A partition as an election finds it.

    ``replicas`` are the assigned ones in order, the preferred first; ``targets`` those of a
    reassignment under way, in order. ``registered`` brokers have a session; those of them that are
    ``shutting_down`` will stop. A broker is *live* if it is registered and not shutting down.
    """

    replicas: tuple[int, ...]
    leader: int
    isr: tuple[int, ...]
    registered: frozenset[int]
    shutting_down: frozenset[int] = frozenset()
    targets: tuple[int, ...] = ()

    @property
    def live(self) -> frozenset[int]:
        """The brokers that can lead."""
        return self.registered - self.shutting_down


class Elected(NamedTuple):
    """The leader, the ISR, and the receivers of a LeaderAndIsr request."""

    leader: int
    isr: tuple[int, ...]
    recipients: tuple[int, ...]


class NotElected(Enum):
    """Reasons for an election without a leader; the partition does not change."""

    NO_LIVE_REPLICA = "no assigned replica is live"
    NONE_IN_SYNC = "no live replica is in sync"
    NOT_LIVE_IN_SYNC = "the preferred replica is not both live and in sync"
    NOT_NEEDED = "the preferred replica leads already"


Selector: TypeAlias = Callable[[Candidates], Elected | NotElected]


def offline(found: Candidates) -> Elected | NotElected:
    """For a partition without a leader: the first assigned replica that is live and in sync."""
    live = tuple(each for each in found.replicas if each in found.live)
    for replica in live:
        if replica in found.isr:
            return Elected(replica, tuple(each for each in found.isr if each in found.live), live)
    return NotElected.NONE_IN_SYNC if live else NotElected.NO_LIVE_REPLICA


def offline_unclean(found: Candidates) -> Elected | NotElected:
    """As ``offline``; if no replica is in sync, the first live one, whatever it lacks.

    This is ``unclean.leader.election.enable``: it loses records that only the others had.
    """
    clean = offline(found)
    if clean is not NotElected.NONE_IN_SYNC:
        return clean
    live = tuple(each for each in found.replicas if each in found.live)
    return Elected(live[0], live[:1], live)


def reassigned(found: Candidates) -> Elected | NotElected:
    """For a reassignment that replaces the leader: the first target that is live and in sync."""
    for replica in found.targets:
        if replica in found.live and replica in found.isr:
            return Elected(replica, found.isr, found.targets)
    return NotElected.NONE_IN_SYNC


def preferred(found: Candidates) -> Elected | NotElected:
    """The first assigned replica, if it is live and in sync, and does not lead already."""
    if not found.replicas:
        return NotElected.NOT_LIVE_IN_SYNC
    wanted = found.replicas[0]
    if wanted == found.leader:
        return NotElected.NOT_NEEDED
    if wanted in found.live and wanted in found.isr:
        return Elected(wanted, found.isr, found.replicas)
    return NotElected.NOT_LIVE_IN_SYNC


def controlled_shutdown(found: Candidates) -> Elected | NotElected:
    """For a leader that shuts down: the first assigned replica that is live and in sync.

    Brokers that shut down leave the ISR, and also get the request, so that they stop leading
    (KAFKA-7482). The order is that of the assignment, not of the ISR (KAFKA-3670).
    """
    there = tuple(each for each in found.replicas if each in found.registered)
    isr = tuple(each for each in found.isr if each not in found.shutting_down)
    for replica in there:
        if replica in found.live and replica in isr:
            return Elected(replica, isr, there)
    return NotElected.NONE_IN_SYNC


def controlled_shutdown_0_9(found: Candidates) -> Elected | NotElected:
    """As in Kafka 0.9: the first in the order of the ISR, without a test whether it is live."""
    isr = tuple(each for each in found.isr if each not in found.shutting_down)
    if not isr:
        return NotElected.NONE_IN_SYNC
    there = tuple(each for each in found.replicas if each in found.registered)
    return Elected(isr[0], isr, there)
