"""Bugs of Storm's history about whole topologies, and readings of its texts."""

from __future__ import annotations

from typing import Final

from ...suites.bug import bug

__all__ = ["BUGS"]

BUGS: Final = (
    bug("STORM-3073", "pendingEmits throws when it is full", twins="cluster-STORM-3073",
        machines="storm.topology.BoundedPending storm.topology.EmittingInAck",
        apart="The twin's worker dies of a full queue (STORM-C14); the machines show the other "
              "effects of such a queue: the task waits, or the queue is not full."),
    bug("STORM-3637", "bolts that feed each other deadlock", twins="cluster-STORM-3637",
        machines="storm.topology.LoopingBolts"),
    bug("STORM-2983", "the transfer thread is not started", twins="cluster-STORM-2983",
        machines="storm.crossing.WithoutTransferThread"),
    bug("STORM-3620", "threads share a serializer",
        not_modelled="the content of a tuple, and threads inside one execution: a tuple is only a "
                     "name here"),
    bug("STORM-1027", "a metrics tick waits in the spout's thread",
        machines="storm.topology.BlockingFlush"),
    bug("STORM-292", "emit waits on a full queue", twins="cluster-gated-spout",
        machines="storm.topology.BoundedPending"),
    bug("STORM-329, STORM-404, STORM-510", "one dead worker blocks its peers",
        twins="cluster-STORM-329"),
    bug("JStorm #377", "spout, bolt and acker wait for each other", twins="cluster-gated-spout",
        machines="storm.topology.SpoutThatStopsConsuming"),
    bug("spout gates recvQ", "the spout stops consuming", twins="cluster-gated-spout",
        machines="storm.topology.SpoutThatStopsConsuming"),
    bug("greedy bolt", "a bolt consumes while messages are pending", twins="cluster-greedy-bolt",
        machines="storm.topology.GreedyBolt"),
    bug("skipped head", "a blocked head is passed over", twins="cluster-skipped-head",
        machines="storm.senders.HeadSkippingSender"),
)
