"""Election of the controller: the broker that creates ``/controller``.

The znode is ephemeral, so it vanishes with the session of its creator. The controller epoch grows
in the same transaction: there is no moment at which a controller exists under an old epoch. Source:
KafkaZkClient.registerControllerAndIncrementControllerEpoch; KAFKA-6082.
"""

from __future__ import annotations

from ...coordination.terms import (
    Committed, ConnectionLost, Create, Data, Delete, Exists, Found, Multi, Read, Result,
    SessionExpired, Stat, Write,
)
from . import znodes
from .store import SessionOver, Steps, Store

__all__ = ["Elector"]


class Elector:
    """The election for one broker. The resulting epoch and its version go into the store."""

    def __init__(self, broker: int, store: Store) -> None:
        self.broker, self.store = broker, store

    def elect(self) -> Steps[bool]:
        """Try to become the controller; False if another one is, and its znode is watched.

        Raises ``SessionOver``.
        """
        while True:
            found = yield from self.who_is()
            if found is not None and self.was_left_behind(found):
                # A controller that has resigned left it behind: begin anew, with another epoch.
                yield from self.store.ask(Delete(znodes.CONTROLLER))
            elif found is not None:
                return False
            elif (yield from self.register()):
                return True

    def was_left_behind(self, found: Stat) -> bool:
        """True if the znode belongs to this session, which is not the controller now.

        A znode of an earlier session counts as another's, whatever broker it names: it vanishes by
        itself (KAFKA-1387, KAFKA-1451).
        """
        return found.owner == self.store.session

    def who_is(self) -> Steps[Stat | None]:
        """The znode of the controller, which is watched from now on; None if there is none."""
        found = yield from self.store.ask(Exists(znodes.CONTROLLER, watch=True))
        assert isinstance(found, Found)
        return found.stat

    def register(self) -> Steps[bool]:
        """Create ``/controller`` and raise the epoch at once; False if another broker was faster.
        """
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
        # If only the reply was lost the znode is its own, and so is the epoch: both came at once,
        # and no other broker can raise the epoch while the znode exists.
        self.store.epoch, self.store.epoch_version = epoch + 1, version + 1
        return True

    def is_mine(self) -> Steps[bool]:
        """True if ``/controller`` exists and belongs to this session."""
        found = yield from self.store.read(znodes.CONTROLLER)
        return found is not None and found[1].owner == self.store.session

    def read_epoch(self) -> Steps[tuple[int, int]]:
        """The controller epoch and the version of its znode, which is created if it is missing."""
        while True:
            found = yield from self.store.ask(Read(znodes.CONTROLLER_EPOCH))
            if isinstance(found, Data):
                return int(found.data), found.stat.version
            yield from self.store.ask(Create(znodes.CONTROLLER_EPOCH, b"0"))
