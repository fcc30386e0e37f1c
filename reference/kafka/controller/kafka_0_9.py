"""The controller of Kafka 0.9, as differences from that of 3.9.

Each of these was a bug, or the cause of one; the issues are named at the differences. Other
differences are only of form: 0.9 has locks and threads instead of jobs, and sends a StopReplica
request for each replica. One difference is left out: with unclean elections on, 0.9 empties the ISR
when its last member goes.
"""

from __future__ import annotations

from ...coordination.terms import (
    BadVersion, ConnectionLost, Create, Created, NodeExists, NoNode, Operation, Result,
    SessionExpired, Write, Written,
)
from . import znodes
from .context import Replica
from .controller import Controller
from .elector import Elector
from .partitions import PartitionMachine
from .replicas import ReplicaMachine
from .selectors import NotElected, Selector, controlled_shutdown_0_9
from .states import REPLICAS_0_9
from .store import SessionOver, Steps, Store
from .terms import TopicPartition

__all__ = [
    "ControllerOf09", "PartitionMachineOf09", "ReplicaMachineOf09", "TwoStepElector",
    "UnguardedStore",
]


class UnguardedStore(Store):
    """A store with writes that do not depend on the controller epoch (KAFKA-6082)."""

    def guard(self) -> tuple[Operation, ...]:
        """No check before a change."""
        return ()


class TwoStepElector(Elector):
    """As in Kafka 0.9: first the znode, then the epoch.

    A crash in between leaves the epoch as it was, which is harmless. A controller that is slow in
    between may raise the epoch when it is no longer the controller; the version on which that write
    depends makes it fail, if it was read before.
    """

    def register(self) -> Steps[bool]:
        """Create ``/controller``, and then raise the epoch; False if another broker was faster."""
        made = yield from self.store.ask(Create(
            znodes.CONTROLLER, znodes.controller_text(self.broker), ephemeral=True))
        if isinstance(made, NodeExists) and not (yield from self.is_mine()):
            return False
        assert isinstance(made, Created | NodeExists)
        return (yield from self.raise_epoch())

    def raise_epoch(self) -> Steps[bool]:
        """The second step; False if the epoch that it had read was not the last."""
        epoch, version = yield from self.read_epoch()
        wanted = str(epoch + 1).encode()
        result: Result = ConnectionLost()
        is_doubtful = False
        while isinstance(result, ConnectionLost):
            result = yield Write(znodes.CONTROLLER_EPOCH, wanted, version)
            is_doubtful = is_doubtful or isinstance(result, ConnectionLost)
        if isinstance(result, SessionExpired):
            raise SessionOver
        if not isinstance(result, Written):
            assert isinstance(result, BadVersion | NoNode)
            if not is_doubtful or (yield from self.read_epoch()) != (epoch + 1, version + 1):
                return False
        self.store.epoch, self.store.epoch_version = epoch + 1, version + 1
        return True


class PartitionMachineOf09(PartitionMachine):
    """If the preferred replica leads already, that counts as an election."""

    def nobody_elected(self, partition: TopicPartition, why: NotElected) -> bool:
        """True if the preferred replica leads already; otherwise as in 3.9."""
        return why is NotElected.NOT_NEEDED or super().nobody_elected(partition, why)


class ReplicaMachineOf09(ReplicaMachine):
    """One legal change is missing, and stopped replicas stay in the ISR (KAFKA-3143)."""

    legal = REPLICAS_0_9

    def take_unled_offline(self, replica: Replica) -> bool:
        """Refuse a replica of a partition that never had a leader."""
        return self.fails(replica, "its partition never had a leader")

    def take_dead_offline(self, replicas: list[Replica]) -> Steps[None]:
        """Do nothing for replicas on stopped brokers."""
        yield from ()


class ControllerOf09(Controller):
    """The list of live brokers is sent last, not first (KAFKA-4443), and bounced brokers are not
    noticed (KAFKA-7235).
    """

    store_type = UnguardedStore
    elector_type = TwoStepElector
    partitions_type = PartitionMachineOf09
    replicas_type = ReplicaMachineOf09

    def take_over(self) -> Steps[None]:
        """Take over as in 3.9, and then send the metadata."""
        yield from super().take_over()
        self.announce(sorted(self.context.registered))

    def tell_who_is_there(self) -> None:
        """Send nothing yet; ``take_over`` does so at its end."""

    def announce(self, new: list[int]) -> None:
        """Send the metadata of all partitions to all brokers."""
        self.batch.begin()
        self.batch.update_metadata(self.context.registered, self.context.leaderships)
        self.batch.send(self.store.epoch)

    def find_bounced(self, there: dict[int, int]) -> list[int]:
        """No broker, since only ids are compared."""
        return []

    def shutdown_selector(self) -> Selector:
        """The selector that uses the order of the ISR (KAFKA-3670)."""
        return controlled_shutdown_0_9
