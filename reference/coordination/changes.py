"""The changes of znodes in the order of their versions, from the replies that clients got.

A reply may be read late, because its client was paused, or be lost with its server. By then others
may have read the new value, and have written more. A client that writes on a version knows of it by
some reply, and so does an observer of all replies: what is missing in between is in some read.

The order is that of each znode alone. Between two of them, a change may be reported later than it
was made, and the delay is unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from .port import Transaction
from .terms import (
    Committed, Create, Created, Data, Delete, Deleted, Multi, Operation, Read, Request, Result,
    Write, Written,
)

__all__ = ["NOBODY", "ChangesInOrder"]

NOBODY = -1
"""The handle of a change by an unknown author."""


class ChangesInOrder:
    """Reports every change to ``record`` once, and each znode's in the order of its versions.

    A change that only reads have shown is reported before the next one, as a ``Write`` of
    ``NOBODY``; its own reply, when it comes at last, is not reported again.
    """

    def __init__(self, record: Callable[[Transaction], object]) -> None:
        self._record = record
        self._next: dict[str, int] = {}
        self._read: dict[tuple[str, int], Data] = {}

    def answered(self, done: Transaction) -> None:
        """A client was answered, or would have been."""
        request, result = done.request, done.result
        if isinstance(request, Read) and isinstance(result, Data):
            self._read[request.path, result.stat.version] = result
            return
        changes = list(_changes(request, result))
        news = [(path, version) for path, version in changes
                if version is None or version >= self._next.get(path, 0)]
        for path, version in news:
            self._tell_before(done.at, path, version)
        if news:
            self._record(done)

    def _tell_before(self, at: int, path: str, version: int | None) -> None:
        if version is None:
            self._next.pop(path, None)      # deleted: it may be made again
            return
        for missing in range(self._next.get(path, 0), version):
            read = self._read.get((path, missing))
            if read is not None:
                self._record(Transaction(
                    at, NOBODY, Write(path, read.data, missing - 1), Written(read.stat)))
        self._next[path] = version + 1


def _changes(request: Request, result: Result) -> Iterator[tuple[str, int | None]]:
    """The paths that were changed, with the version then; None: it was deleted."""
    if isinstance(request, Multi) and isinstance(result, Committed):
        for operation, part in zip(request.operations, result.results, strict=True):
            yield from _change(operation, part)
    elif isinstance(request, Create | Write | Delete):
        yield from _change(request, result)


def _change(operation: Operation, result: Result) -> Iterator[tuple[str, int | None]]:
    if isinstance(result, Created):
        yield result.path, 0
    elif isinstance(result, Written):
        yield operation.path, result.stat.version
    elif isinstance(result, Deleted):
        yield operation.path, None
