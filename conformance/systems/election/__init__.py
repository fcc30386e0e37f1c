"""Leader election, and the fencing of candidates that no longer lead."""

from ...suites.system import Shipped, System

__all__ = ["SYSTEM"]

_FENCED, _UNFENCED = "reference.election", "zoo:election-unfenced-store"
"""The targets on which programs are rehearsed: a store that compares tokens, and one that takes
every write."""


def _real(name: str, place: str, about: str) -> tuple[Shipped, ...]:
    """A real system as it is, and with a token that its store compares."""
    return (
        Shipped(name, f"real.{place}Unfenced", about, rehearsal=_UNFENCED),
        Shipped(f"{name}.fenced", f"real.{place}Fenced", f"{about}, and a store that compares "
                "tokens", rehearsal=_FENCED),
    )


SYSTEM = System(
    name="election",
    folder=__name__,
    subject="elections and replication",
    about="leader election, and the fencing of candidates that no longer lead",
    page="election-port.md",
    shipped=(
        Shipped("reference.election", "adapter:ReferenceElection",
                "the reference of an election with fencing"),
        *_real("kazoo.Election", "targets:KazooElection", "kazoo's Election on a real ZooKeeper"),
        *_real("kazoo.Lock", "targets:KazooLock", "kazoo's Lock on a real ZooKeeper"),
        *_real("curator.LeaderLatch", "curator:Latch", "Curator's LeaderLatch on ZooKeeper"),
        *_real("curator.LeaderSelector", "curator:Selector",
               "Curator's LeaderSelector on ZooKeeper"),
        *_real("curator.InterProcessMutex", "curator:Mutex",
               "Curator's InterProcessMutex on ZooKeeper"),
        *_real("etcd", "targets:Etcd", "etcd's elections by lease"),
        *_real("redis", "targets:Redis", "SET NX PX on one Redis"),
        Shipped("redlock", "real.targets:RedlockUnfenced", "Redlock on three Redis servers",
                rehearsal=_UNFENCED),
        *_real("postgresql", "targets:PostgreSQL", "PostgreSQL's advisory locks"),
    ),
)
