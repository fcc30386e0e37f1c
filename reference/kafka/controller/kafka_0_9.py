"""The controller of Kafka 0.9, as differences from that of 3.9.

Each of these was a bug, or the reason of one; the issues stand where the difference is. What is
not here differs in form only: 0.9 has locks and threads instead of jobs, and sends a StopReplica
request for each replica. One difference is left out: with unclean election, 0.9 empties the ISR
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
    """Its writes do not depend on the controller epoch (KAFKA-6082)."""

    def guard(self) -> tuple[Operation, ...]:
        """See ``Store.guard``: nothing."""
        return ()


class TwoStepElector(Elector):
    """As in Kafka 0.9: first the znode, then the epoch.

    A crash in between leaves the epoch as it was, which harms nobody. A controller that is slow
    in between may raise the epoch when it is not the controller any more; the version on which
    that write depends makes it fail, if it was read before.
    """

    def register(self) -> Steps[bool]:
        """Create ``/controller``, and then raise the epoch; False: somebody was faster."""
        made = yield from self.store.ask(Create(
            znodes.CONTROLLER, znodes.controller_text(self.broker), ephemeral=True))
        if isinstance(made, NodeExists) and not (yield from self.is_mine()):
            return False
        assert isinstance(made, Created | NodeExists)
        return (yield from self.raise_epoch())

    def raise_epoch(self) -> Steps[bool]:
        """The second step; False: the epoch that it had read was not the last."""
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
    """Takes it for an election when the preferred replica leads already."""

    def nobody_elected(self, partition: TopicPartition, why: NotElected) -> bool:
        return why is NotElected.NOT_NEEDED or super().nobody_elected(partition, why)


class ReplicaMachineOf09(ReplicaMachine):
    """Has one legal change less, and leaves dead replicas in the ISR (KAFKA-3143)."""

    legal = REPLICAS_0_9

    def take_unled_offline(self, replica: Replica) -> bool:
        """See ``ReplicaMachine.take_unled_offline``: it is not possible."""
        return self.fails(replica, "its partition never had a leader")

    def take_dead_offline(self, replicas: list[Replica]) -> Steps[None]:
        """See ``ReplicaMachine.take_dead_offline``: nothing is done."""
        yield from ()


class ControllerOf09(Controller):
    """Says who is there last and not first (KAFKA-4443), and does not see that a broker has
    bounced (KAFKA-7235)."""

    store_type = UnguardedStore
    elector_type = TwoStepElector
    partitions_type = PartitionMachineOf09
    replicas_type = ReplicaMachineOf09

    def take_over(self) -> Steps[None]:
        yield from super().take_over()
        self.announce(sorted(self.context.registered))

    def tell_who_is_there(self) -> None:
        """See ``Controller.tell_who_is_there``: not yet."""

    def announce(self, new: list[int]) -> None:
        """See ``Brokers.announce``: all brokers are told of all partitions."""
        self.batch.begin()
        self.batch.update_metadata(self.context.registered, self.context.leaderships)
        self.batch.send(self.store.epoch)

    def find_bounced(self, there: dict[int, int]) -> list[int]:
        """See ``Brokers.find_bounced``: ids alone are compared."""
        return []

    def shutdown_selector(self) -> Selector:
        """See ``Brokers.shutdown_selector``: by the order of the ISR (KAFKA-3670)."""
        return controlled_shutdown_0_9
