"""The controller's requests to the coordination service, as steps that wait for their results.

A *step* is a generator: it yields a request, gets the result, and finally returns. Lost connections
are handled here: the request is repeated, and if it may have taken effect the first time, the
present content is compared with the wanted one.

Source: KafkaZkClient; KAFKA-1382, KAFKA-6082.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import NamedTuple, TypeAlias, TypeVar

from ...coordination.terms import (
    BadVersion, Check, Children, ConnectionLost, Create, Data, Delete, Listed, Multi, NodeExists,
    NoNode, Operation, Read, Request, Result, RolledBack, SessionExpired, Stat, Write,
)
from . import znodes
from .terms import Leadership, TopicPartition

__all__ = ["ControllerMoved", "Outcome", "SessionOver", "Steps", "Store"]

T = TypeVar("T")
Steps: TypeAlias = Generator[Request, Result, T]
"""Yields requests, is sent their results, and returns a ``T``."""


class ControllerMoved(Exception):
    """Another broker is the controller, or was meanwhile: this one must resign."""


class SessionOver(Exception):
    """The session has expired; the current job ends here."""


class Outcome(NamedTuple):
    """Result of a change: None, or the error.

    ``is_doubtful``: a reply was lost, so an error may come from its own first attempt.
    """

    error: Result | None
    is_doubtful: bool


class Store:
    """The controller's side of the coordination service, in one session.

    ``epoch`` is the controller epoch, and ``epoch_version`` the version of its znode.
    """

    def __init__(self) -> None:
        self.session = 0
        self.epoch = 0
        self.epoch_version = -1

    def guard(self) -> tuple[Operation, ...]:
        """The check before each change, which makes it fail once there is a later controller.

        Without it, a replaced controller can still write (KAFKA-6082).
        """
        return (Check(znodes.CONTROLLER_EPOCH, self.epoch_version),)

    # -- requests -------------------------------------------------------------------------------

    def ask(self, request: Request) -> Steps[Result]:
        """Ask until there is a reply; for requests that may be repeated. Raises ``SessionOver``."""
        result: Result = ConnectionLost()
        while isinstance(result, ConnectionLost):
            result = yield request
        if isinstance(result, SessionExpired):
            raise SessionOver
        return result

    def change(self, *operations: Operation) -> Steps[Outcome]:
        """Change something as the present controller; all operations or none.

        Raises ``ControllerMoved`` if there is a later controller, and ``SessionOver``.
        """
        guard, is_doubtful = self.guard(), False
        result: Result = ConnectionLost()
        while isinstance(result, ConnectionLost):
            result = yield Multi((*guard, *operations))
            is_doubtful = is_doubtful or isinstance(result, ConnectionLost)
        if isinstance(result, SessionExpired):
            raise SessionOver
        if isinstance(result, RolledBack):
            if result.part < len(guard):
                raise ControllerMoved
            return Outcome(result.error, is_doubtful)
        return Outcome(None, is_doubtful)

    def read(self, path: str, *, watch: bool = False) -> Steps[tuple[bytes, Stat] | None]:
        """The bytes of a znode; None if there is none, and then nothing is watched."""
        result = yield from self.ask(Read(path, watch))
        return (result.data, result.stat) if isinstance(result, Data) else None

    def children(self, path: str, *, watch: bool = False) -> Steps[tuple[str, ...]]:
        """The names below a znode; none if there is no such znode."""
        result = yield from self.ask(Children(path, watch))
        return result.names if isinstance(result, Listed) else ()

    def create_top_level(self) -> Steps[None]:
        """Create the znodes that everything else needs; they may exist already."""
        for path in znodes.TOP_LEVEL:
            yield from self.ask(Create(path))

    def delete(self, path: str) -> Steps[None]:
        """Delete a znode and all below it; it may be gone already."""
        for name in (yield from self.children(path)):
            yield from self.delete(f"{path}/{name}")
        yield from self.change(Delete(path))

    # -- leaderships --------------------------------------------------------------------------

    def read_leadership(self, partition: TopicPartition, *, watch: bool = False,
                        ) -> Steps[Leadership | None]:
        """The leadership of a partition; None if it never had one."""
        found = yield from self.read(znodes.state_path(partition), watch=watch)
        return found and znodes.state_of(found[0], found[1].version)

    def create_leadership(self, partition: TopicPartition, wanted: Leadership) -> Steps[bool]:
        """Write the first leadership of a partition; False if there is one already."""
        path = znodes.state_path(partition)
        above = path.removesuffix("/state")
        for folder in (above.rpartition("/")[0], above):
            made = yield from self.change(Create(folder))
            if isinstance(made.error, NoNode):
                return False        # the topic is gone
        outcome = yield from self.change(Create(path, znodes.state_text(wanted)))
        if outcome.is_doubtful and isinstance(outcome.error, NodeExists):
            found = yield from self.read_leadership(partition)
            return found is not None and found.says_the_same(wanted)
        return outcome.error is None

    def write_leadership(self, partition: TopicPartition, wanted: Leadership,
                         ) -> Steps[Leadership | None]:
        """Replace a leadership of ``wanted``'s version; return it as written, or None if the
        version was another one.
        """
        operation = Write(znodes.state_path(partition), znodes.state_text(wanted), wanted.version)
        outcome = yield from self.change(operation)
        if outcome.error is None:
            return wanted._replace(version=wanted.version + 1)
        if outcome.is_doubtful and isinstance(outcome.error, BadVersion):
            found = yield from self.read_leadership(partition)
            return found if found is not None and found.says_the_same(wanted) else None
        return None
