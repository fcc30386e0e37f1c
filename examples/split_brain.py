"""The split brain: a leader is paused, another one is elected, and the first one comes back.

Run it with ``python examples/split_brain.py``. Broker A leads a partition with replicas on A, B
and C. It is paused, as by a long collection of garbage. Its session expires, B is elected, and
takes writes. Then A continues, and does not know that time has passed: producers that have not
heard of B still write to it. What A acknowledges with acks=1 is lost, for A will cut its log to
match B's. With acks=all it acknowledges nothing: B and C fetch from it no more, so its high
watermark does not advance.
"""

from __future__ import annotations

from collections.abc import Iterator

from checkvalve.reference.kafka.cluster.cluster import Cluster, Deployment
from checkvalve.reference.kafka.cluster.faults import Faults

BEFORE, MEANWHILE = 3, 5


def told(cluster: Cluster) -> dict[int, int]:
    """The records that producers believe to be safe, with 1 for acks=all."""
    return {int(event.about[4]): int(event.about[2])
            for event in cluster.history if event.what == "acked"}


def split(acks_all: bool, seed: int) -> tuple[set[int], set[int]]:
    """Let it happen: the records that were acknowledged, and those of them that are lost."""
    cluster = Cluster(Deployment(brokers=3, min_isr=2, seed=seed))
    faults = Faults(cluster)
    cluster.produce(0, acks_all, BEFORE)
    cluster.elapse(400)
    leader, _ = cluster.quorum(0)
    faults.pause(leader, 250)
    cluster.produce(0, acks_all, MEANWHILE)
    cluster.elapse(400)
    cluster.quiet()
    kept = {record.value for record in cluster.nodes[leader].disks[0].log.records}
    acknowledged = set(told(cluster))
    return acknowledged, acknowledged - kept


def story() -> Iterator[str]:
    """Lines that count acknowledged and lost records, over twenty seeds of each kind."""
    for acks_all, name in ((False, "acks=1"), (True, "acks=all")):
        runs = [split(acks_all, seed) for seed in range(20)]
        acknowledged = sum(len(each) for each, _ in runs)
        lost = sum(len(each) for _, each in runs)
        yield f"{name:9} {acknowledged} records acknowledged, {lost} of them lost"


if __name__ == "__main__":
    print("\n".join(story()))
