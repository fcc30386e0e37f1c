"""How a broker becomes the controller: whoever creates ``/controller``.

The znode is ephemeral, so it vanishes with the session of its maker. The controller epoch grows
in the same transaction: there is no moment at which a controller exists under an old epoch.
Source: KafkaZkClient.registerControllerAndIncrementControllerEpoch; KAFKA-6082.
"""

from __future__ import annotations

from ...coordination.terms import (
    BadVersion, Committed, ConnectionLost, Create, Created, Data, Delete, Exists, Found, Multi,
    NodeExists, NoNode, Read, Result, SessionExpired, Stat, Write, Written,
)
from . import znodes
from .store import SessionOver, Steps, Store

__all__ = ["Elector", "TwoStepElector"]


class Elector:
    """Of one broker. What it finds out goes into the store: epoch, and version of its znode."""

    def __init__(self, broker: int, store: Store) -> None:
        self.broker, self.store = broker, store

    def elect(self) -> Steps[bool]:
        """Try to become the controller; False: another one is, and its znode is watched.

        Raises ``SessionOver``.
        """
        while True:
            found = yield from self.who_is()
            if found is not None and found.owner == self.store.session:
                # A controller that has resigned left it behind: begin anew, with another epoch.
                yield from self.store.ask(Delete(znodes.CONTROLLER))
            elif found is not None:
                return False
            elif (yield from self.register()):
                return True

    def who_is(self) -> Steps[Stat | None]:
        """The znode of the controller, which is watched from now on; None: there is none."""
        found = yield from self.store.ask(Exists(znodes.CONTROLLER, watch=True))
        assert isinstance(found, Found)
        return found.stat

    def register(self) -> Steps[bool]:
        """Create ``/controller`` and raise the epoch at once; False: somebody was faster."""
        epoch, version = yield from self.read_epoch()
        result: Result = ConnectionLost()
        while isinstance(result, ConnectionLost):
            result = yield Multi((
                Create(znodes.CONTROLLER, znodes.controller_text(self.broker), ephemeral=True),
                Write(znodes.CONTROLLER_EPOCH, str(epoch + 1).encode(), version)))
        if isinstance(result, SessionExpired):
            raise SessionOver
        if not isinstance(result, Committed) and not (yield from self.is_mine()):
            return False
        # Where only the reply was lost the znode is its own, and so is the epoch: both came at
        # once, and nobody else can raise the epoch while the znode is there.
        self.store.epoch, self.store.epoch_version = epoch + 1, version + 1
        return True

    def is_mine(self) -> Steps[bool]:
        """Whether ``/controller`` is there and belongs to this session."""
        found = yield from self.store.read(znodes.CONTROLLER)
        return found is not None and found[1].owner == self.store.session

    def read_epoch(self) -> Steps[tuple[int, int]]:
        """The controller epoch and the version of its znode, which is made where there is none."""
        while True:
            found = yield from self.store.ask(Read(znodes.CONTROLLER_EPOCH))
            if isinstance(found, Data):
                return int(found.data), found.stat.version
            yield from self.store.ask(Create(znodes.CONTROLLER_EPOCH, b"0"))


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
