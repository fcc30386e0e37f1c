"""How a broker becomes the controller: whoever creates ``/controller``.

The znode is ephemeral, so it vanishes with the session of its maker. The controller epoch grows
in the same transaction: there is no moment at which a controller exists under an old epoch.
Source: KafkaZkClient.registerControllerAndIncrementControllerEpoch; KAFKA-6082.
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
    """Of one broker. What it finds out goes into the store: epoch, and version of its znode."""

    def __init__(self, broker: int, store: Store) -> None:
        self.broker, self.store = broker, store

    def elect(self) -> Steps[bool]:
        """Try to become the controller; False: another one is, and its znode is watched.

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
        """Whether the znode is of this very session, which is not the controller now.

        One of an earlier session is somebody else's, whatever broker it names: it vanishes by
        itself (KAFKA-1387, KAFKA-1451).
        """
        return found.owner == self.store.session

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
