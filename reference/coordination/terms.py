"""Requests to a coordination service, and its replies: plain data.

The terms are ZooKeeper's. A *znode* has a path (``/brokers/ids/3``), some bytes, a version that
counts its writes, and the *zxid* (the number of a transaction) that created it. An *ephemeral*
znode belongs to a session and vanishes with it. A *watch* is set by a read and fires once.

Terms of different classes are never equal, whatever they hold. Nothing raises: a failure is
a result as well. Three of these say more than that:

- ``ConnectionLost``: the operation took effect, or not, and that cannot be known.
- ``SessionExpired``: the session is gone; this operation had no effect.
- ``RolledBack``: one part of a ``Multi`` failed, so no part of it had an effect.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final, NamedTuple, TypeAlias

__all__ = [
    "ANY_VERSION", "BadVersion", "Check", "Checked", "Children", "Committed", "Connected",
    "ConnectionLost", "Create", "Created", "Data", "Delete", "Deleted", "Delivery",
    "Disconnected", "EphemeralParent", "Event", "Exists", "Expired", "Failure", "Found", "Kind",
    "Listed", "Multi", "NoNode", "NodeExists", "NotEmpty", "Operation", "Read", "Reading", "Reply",
    "Request", "Result", "RolledBack", "SessionExpired", "Stat", "Write", "Written",
]

ANY_VERSION: Final = -1
"""As the version of a write, a deletion or a check: whatever the version is."""


class Stat(NamedTuple):
    """The status of a znode, besides its bytes.

    ``czxid``, ``mzxid`` and ``pzxid`` are the transactions that created it, wrote it last, and
    changed its children last. ``cversion`` counts the changes of its children. ``owner`` is the
    id of the session that an ephemeral znode belongs to (0: it is not ephemeral).
    """

    czxid: int
    mzxid: int
    pzxid: int
    version: int
    cversion: int
    owner: int
    children: int


# -- requests -------------------------------------------------------------------------------------

@dataclass(frozen=True, slots=True)
class Create:
    """Make a znode. A sequential one gets ten digits after its path, which grow in its folder."""

    path: str
    data: bytes = b""
    ephemeral: bool = False
    sequential: bool = False


@dataclass(frozen=True, slots=True)
class Write:
    """Replace the bytes of a znode if it has this version."""

    path: str
    data: bytes
    version: int = ANY_VERSION


@dataclass(frozen=True, slots=True)
class Delete:
    """Remove a znode without children if it has this version."""

    path: str
    version: int = ANY_VERSION


@dataclass(frozen=True, slots=True)
class Check:
    """Only within a ``Multi``: whether a znode has this version."""

    path: str
    version: int


@dataclass(frozen=True, slots=True)
class Read:
    """The bytes of a znode; the watch fires when it is written or deleted.

    Where there is no such znode no watch is set.
    """

    path: str
    watch: bool = False


@dataclass(frozen=True, slots=True)
class Children:
    """The names below a znode; the watch fires when one comes or goes, or the znode goes."""

    path: str
    watch: bool = False


@dataclass(frozen=True, slots=True)
class Exists:
    """A question if a znode exists; the watch fires when it is created, written or deleted."""

    path: str
    watch: bool = False


Operation: TypeAlias = Create | Write | Delete | Check


@dataclass(frozen=True, slots=True)
class Multi:
    """Several operations as one transaction: all of them take effect, or none."""

    operations: tuple[Operation, ...]


Reading: TypeAlias = Read | Children | Exists
Request: TypeAlias = Create | Write | Delete | Read | Children | Exists | Multi


# -- results --------------------------------------------------------------------------------------

@dataclass(frozen=True, slots=True)
class Created:
    """It is made, at this path; ``stat`` is None for a part of a ``Multi``."""

    path: str
    stat: Stat | None


@dataclass(frozen=True, slots=True)
class Written:
    """The bytes were replaced; the version in ``stat`` is the new one."""

    stat: Stat


@dataclass(frozen=True, slots=True)
class Deleted:
    """The znode is gone."""


@dataclass(frozen=True, slots=True)
class Checked:
    """It has the version that was asked for."""


@dataclass(frozen=True, slots=True)
class Data:
    """The bytes of a znode, and what it says of itself."""

    data: bytes
    stat: Stat


@dataclass(frozen=True, slots=True)
class Listed:
    """The names of the znodes below, sorted; they are names, not paths."""

    names: tuple[str, ...]
    stat: Stat


@dataclass(frozen=True, slots=True)
class Found:
    """The status of the znode; None if there is none."""

    stat: Stat | None


@dataclass(frozen=True, slots=True)
class Committed:
    """The result of every part of a ``Multi``, in order."""

    results: tuple[Created | Written | Deleted | Checked, ...]


@dataclass(frozen=True, slots=True)
class NodeExists:
    """A znode with this path is there already."""

    path: str


@dataclass(frozen=True, slots=True)
class NoNode:
    """There is no znode with this path, or none above it."""

    path: str


@dataclass(frozen=True, slots=True)
class BadVersion:
    """The znode has another version."""

    path: str


@dataclass(frozen=True, slots=True)
class NotEmpty:
    """A znode with children is not deleted."""

    path: str


@dataclass(frozen=True, slots=True)
class EphemeralParent:
    """Nothing can be created below an ephemeral znode."""

    path: str


@dataclass(frozen=True, slots=True)
class RolledBack:
    """The operation number ``part`` (from 0) of a ``Multi`` failed, and so did all."""

    part: int
    error: NodeExists | NoNode | BadVersion | NotEmpty | EphemeralParent


@dataclass(frozen=True, slots=True)
class SessionExpired:
    """The session is over; the operation had no effect."""


@dataclass(frozen=True, slots=True)
class ConnectionLost:
    """The connection went before the reply came: it took effect, or it did not."""


Failure: TypeAlias = (NodeExists | NoNode | BadVersion | NotEmpty | EphemeralParent | RolledBack
                      | SessionExpired | ConnectionLost)
Result: TypeAlias = (Created | Written | Deleted | Checked | Data | Listed | Found | Committed
                     | Failure)


# -- deliveries to a session ---------------------------------------------------------------------

class Kind(Enum):
    """The change of a watched znode."""

    CREATED = "created"
    DELETED = "deleted"
    CHANGED = "changed"     # its bytes
    CHILDREN = "children"   # the names below it


@dataclass(frozen=True, slots=True)
class Event:
    """A watch has fired.

    It is used up: a client that wants further changes reads and watches again.
    """

    kind: Kind
    path: str


@dataclass(frozen=True, slots=True)
class Reply:
    """The result of the request that was submitted under this number."""

    number: int
    result: Result


@dataclass(frozen=True, slots=True)
class Connected:
    """The session is there, for the first time or again; ``session`` is its id."""

    session: int


@dataclass(frozen=True, slots=True)
class Disconnected:
    """The connection is gone. The session may live on, or be over: nobody here knows."""


@dataclass(frozen=True, slots=True)
class Expired:
    """The session is over, and the client has learnt of it, maybe long after."""


Delivery: TypeAlias = Reply | Event | Connected | Disconnected | Expired
