"""The znodes, as a value: the effect of an operation on them, and which watches it fires.

A tree is a dictionary of immutable nodes, so a transaction that fails is undone by keeping the
earlier dictionary. The session and the time of a request do not matter here: sessions and watches
are in the modules beside this one.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from .terms import (
    ANY_VERSION, BadVersion, Check, Checked, Children, Committed, Create, Created, Data, Delete,
    Deleted, EphemeralParent, Event, Exists, Found, Kind, Listed, Multi, NodeExists, NoNode,
    NotEmpty, Operation, Reading, Request, RolledBack, Stat, Write, Written,
)

__all__ = ["PathMisuse", "Tree", "check_paths", "parent_of"]

_Refusal: TypeAlias = NodeExists | NoNode | BadVersion | NotEmpty | EphemeralParent
_Done: TypeAlias = Created | Written | Deleted | Checked


class PathMisuse(ValueError):
    """A path is not absolute, ends in a slash, has an empty part, or is the root."""


class _Node(NamedTuple):
    """``creations`` counts the children that ever were: sequential names come from it."""

    data: bytes
    czxid: int
    mzxid: int
    pzxid: int
    version: int
    owner: int
    names: frozenset[str]
    creations: int

    def stat(self) -> Stat:
        deletions = self.creations - len(self.names)
        return Stat(self.czxid, self.mzxid, self.pzxid, self.version,
                    self.creations + deletions, self.owner, len(self.names))


@lru_cache(maxsize=1 << 12)     # the same few paths come again and again
def parent_of(path: str) -> str:
    """The path of the znode above; raises ``PathMisuse``."""
    if not path.startswith("/") or path.endswith("/") or "//" in path:
        raise PathMisuse(f"{path!r} is no path of a znode: those look like /brokers/ids/3")
    return path.rpartition("/")[0] or "/"


def check_paths(request: Request | Check) -> None:
    """Raise ``PathMisuse`` where a request names what can be no znode; the root is only read."""
    if isinstance(request, Multi):
        for operation in request.operations:
            check_paths(operation)
    elif request.path != "/" or not isinstance(request, Reading):
        parent_of(request.path)


class Tree:
    """All znodes of a service; the root is always there."""

    def __init__(self) -> None:
        self._nodes = {"/": _Node(b"", 0, 0, 0, 0, 0, frozenset(), 0)}
        self._fired: list[Event] = []

    # -- reading ------------------------------------------------------------------------------

    def read(self, request: Reading) -> Data | Listed | Found | NoNode:
        """The present result of a reading request."""
        node = self._nodes.get(request.path)
        if isinstance(request, Exists):
            return Found(node and node.stat())
        if node is None:
            return NoNode(request.path)
        if isinstance(request, Children):
            return Listed(tuple(sorted(node.names)), node.stat())
        return Data(node.data, node.stat())

    def owned_by(self, session: int) -> list[str]:
        """The ephemeral znodes of a session, sorted."""
        return sorted(path for path, node in self._nodes.items() if node.owner == session)

    # -- changing -----------------------------------------------------------------------------

    def change(self, request: Operation | Multi, zxid: int, session: int,
               ) -> tuple[_Done | Committed | _Refusal | RolledBack, list[Event]]:
        """Carry out one transaction: its result, and its events for watches."""
        self._fired = []
        if isinstance(request, Multi):
            return self._multi(request, zxid, session), self._fired
        return self._one(request, zxid, session), self._fired

    def _multi(self, request: Multi, zxid: int, session: int) -> Committed | RolledBack:
        before, results = dict(self._nodes), []
        for part, operation in enumerate(request.operations):
            result = self._one(operation, zxid, session)
            if isinstance(result, _Refusal):
                self._nodes, self._fired = before, []
                return RolledBack(part, result)
            results.append(replace(result, stat=None) if isinstance(result, Created) else result)
        return Committed(tuple(results))

    def _one(self, operation: Operation, zxid: int, session: int) -> _Done | _Refusal:
        if isinstance(operation, Create):
            return self._create(operation, zxid, session)
        node = self._nodes.get(operation.path)
        if node is None:
            return NoNode(operation.path)
        if operation.version not in (ANY_VERSION, node.version):
            return BadVersion(operation.path)
        if isinstance(operation, Write):
            return self._write(operation, node, zxid)
        if isinstance(operation, Delete):
            return self._delete(operation.path, node, zxid)
        assert isinstance(operation, Check)
        return Checked()

    def _create(self, operation: Create, zxid: int, session: int) -> Created | _Refusal:
        above = parent_of(operation.path)
        parent = self._nodes.get(above)
        if parent is None:
            return NoNode(operation.path)
        path = operation.path + (f"{parent.creations:010}" if operation.sequential else "")
        if path in self._nodes:
            return NodeExists(path)
        if parent.owner:
            return EphemeralParent(path)
        owner = session if operation.ephemeral else 0
        made = _Node(operation.data, zxid, zxid, zxid, 0, owner, frozenset(), 0)
        self._nodes[path] = made
        self._nodes[above] = parent._replace(
            names=parent.names | {path.rpartition("/")[2]}, pzxid=zxid,
            creations=parent.creations + 1)
        self._fired += [Event(Kind.CREATED, path), Event(Kind.CHILDREN, above)]
        return Created(path, made.stat())

    def _write(self, operation: Write, node: _Node, zxid: int) -> Written:
        written = node._replace(data=operation.data, mzxid=zxid, version=node.version + 1)
        self._nodes[operation.path] = written
        self._fired.append(Event(Kind.CHANGED, operation.path))
        return Written(written.stat())

    def _delete(self, path: str, node: _Node, zxid: int) -> Deleted | NotEmpty:
        if node.names:
            return NotEmpty(path)
        above = parent_of(path)
        del self._nodes[path]
        parent = self._nodes[above]
        self._nodes[above] = parent._replace(
            names=parent.names - {path.rpartition("/")[2]}, pzxid=zxid)
        self._fired += [Event(Kind.DELETED, path), Event(Kind.CHILDREN, above)]
        return Deleted()
