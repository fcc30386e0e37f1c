"""The real targets of the suite ``election``: a kind of candidates, on a service, with a store."""

from __future__ import annotations

from .driver import RealElection
from .service import (
    EtcdService, PostgreSQLService, RedisService, RedlockService, ZooKeeperService,
)

__all__ = [
    "EtcdFenced", "EtcdUnfenced", "KazooElectionFenced", "KazooElectionUnfenced",
    "KazooLockFenced", "KazooLockUnfenced", "PostgreSQLFenced", "PostgreSQLUnfenced",
    "RedisFenced", "RedisUnfenced", "RedlockUnfenced",
]


class KazooElectionUnfenced(RealElection):
    """kazoo's ``Election``, used as its documentation says."""

    name = "kazoo Election"
    kind = "kazoo.election"
    service = ZooKeeperService


class KazooElectionFenced(KazooElectionUnfenced):
    """The same, with the sequence number of its node as token."""

    name = "kazoo Election, fenced"
    fenced = True


class KazooLockUnfenced(RealElection):
    """kazoo's ``Lock``, used as its documentation says."""

    name = "kazoo Lock"
    kind = "kazoo.lock"
    service = ZooKeeperService


class KazooLockFenced(KazooLockUnfenced):
    """The same, with the sequence number of its node as token."""

    name = "kazoo Lock, fenced"
    fenced = True


class EtcdUnfenced(RealElection):
    """etcd's ``Election`` service, without a check of revisions."""

    name = "etcd election"
    kind = "etcd"
    service = EtcdService


class EtcdFenced(EtcdUnfenced):
    """The same, with the revision of the leader's key as token."""

    name = "etcd election, fenced"
    fenced = True


class RedisUnfenced(RealElection):
    """``SET key value NX PX`` on one Redis."""

    name = "Redis SET NX PX"
    kind = "redis"
    service = RedisService


class RedisFenced(RedisUnfenced):
    """The same, with a counter beside the key as token."""

    name = "Redis SET NX PX, fenced by INCR"
    fenced = True


class RedlockUnfenced(RealElection):
    """Redlock on three servers; there is no number that grows over all of them."""

    name = "Redlock"
    kind = "redlock"
    service = RedlockService


class PostgreSQLUnfenced(RealElection):
    """A PostgreSQL advisory lock."""

    name = "PostgreSQL advisory lock"
    kind = "postgresql"
    service = PostgreSQLService


class PostgreSQLFenced(PostgreSQLUnfenced):
    """The same, with the next value of a sequence as token."""

    name = "PostgreSQL advisory lock, fenced"
    fenced = True
