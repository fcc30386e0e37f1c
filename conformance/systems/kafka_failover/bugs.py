"""Bugs of Kafka's history that brokers, clients or the next controller notice."""

from __future__ import annotations

from typing import Final

from ...suites.bug import bug

__all__ = ["BUGS"]

BUGS: Final = (
    bug("KAFKA-532", "two controllers after a pause, and no epoch to tell them apart",
        twins="failover-no-controller-epoch",
        machines="kafka.controller_epochs.NotFenced"),
    bug("KAFKA-1096", "an old controller takes the newest epoch for its own",
        twins="failover-adopts-the-epoch",
        machines="kafka.controller_epochs.AdoptingTheEpoch",
        apart="two controllers of one epoch are seen as two leaders in the twin, and the machine "
              "has no partition"),
    bug("KAFKA-6082", "a controller that was replaced writes",
        twins="kafka-6082 failover-unguarded-controller",
        machines="kafka.controller_epochs.WritingUnchecked "
                 "kafka.partition_changes.OverwritingNewer"),
    bug("KAFKA-1029, KAFKA-1387", "a broker's znode of an earlier session is in its way",
        twins="failover-waits-for-its-znode"),
    bug("KAFKA-1451", "the controller's znode of an earlier session is in the way of its broker",
        not_modelled="who misses that the znode goes is elected when its next session opens, and "
                     "in a run that comes to rest every broker opens one"),
    bug("KAFKA-840", "preferred leaders are elected before there are states to be changed",
        twins="failover-never-preferred controller-never-preferred",
        machines="kafka.controller_turns.WishesFirst"),
    bug("KAFKA-928", "what comes between reading and watching is never noticed",
        twins="failover-watches-late",
        machines="kafka.controller_start.ReadingFirst"),
    bug("KAFKA-7235",
        "a broker that bounced is invisible; requests for its earlier life are obeyed",
        twins="failover-no-broker-epoch",
        machines="kafka.controller_start.ComparingNumbers "
                 "kafka.controller_start.WithoutBrokerEpochs",
        apart="ComparingNumbers is refused by how it ends (KAFKA-F15)"),
    bug("KAFKA-1187", "a request that failed is not sent again",
        twins="failover-no-retry",
        machines="kafka.controller_requests.GivingUp"),
    bug("KAFKA-1188", "a stale LeaderAndIsr is obeyed; only the leader hears of a shrunk ISR",
        twins="failover-stale-leader-epoch kafka-1188 controller-shrink-epoch"),
    bug("KAFKA-14140", "a broker that shuts down joins the ISR again",
        machines="kafka.broker_changes.LettingItRejoin"),
    bug("KAFKA-1097, KAFKA-1170, KAFKA-9672", "the ISR has a member that is no replica any more",
        twins="failover-struck-in-sync",
        machines="kafka.reassignment.KeepingTheOldList"),
    bug("KAFKA-1382, KAFKA-2729",
        "the ISR was written, the reply lost: the version is old for ever",
        twins="failover-lost-reply"),
    bug("KAFKA-12686, KAFKA-12751", "a change of the ISR is under way for ever",
        twins="failover-lost-reply"),
    bug("KAFKA-8966", "the high watermark waits for the known ISR alone",
        twins="failover-hw-of-known-isr failover-hw-without-wanted-shrink",
        machines="kafka.isr_changes.WaitingForKnown",
        apart="what a leader has asked for and not heard of is no part of what the machine would "
              "show"),
    bug("KAFKA-769, KAFKA-1647", "the checkpoint is written before all partitions are known again",
        machines="kafka.checkpoints.WritingWhatIsKnown"),
    bug("KAFKA-851", "a request sets the high watermark to 0",
        machines="kafka.checkpoints.BeginningAtZero"),
    bug("KAFKA-858", "the last checkpoint lacks what a shutdown has stopped",
        machines="kafka.checkpoints.ForgettingWhatStops"),
    bug("KAFKA-2143", "who is ahead of its leader cuts its log to nothing",
        machines="kafka.checkpoints.CuttingToNothing"),
    bug("KAFKA-1211", "a follower cuts to its own high watermark",
        twins="failover-cut-to-hw",
        machines="kafka.replication.CutToHighWatermark"),
    bug("KAFKA-6361", "logs differ after fast changes of leaders",
        twins="failover-kip-101",
        machines="kafka.replication.CutByEpoch"),
    bug("KAFKA-7395", "fetches carry no epoch",
        twins="failover-kip-279",
        machines="kafka.replication.CutAtLastMatch kafka.replication.CuttingUnfenced",
        apart="CuttingUnfenced takes three epochs, and a search over pairs minutes"),
    bug("KAFKA-7128", "a replica joins the ISR below the beginning of its leader's epoch",
        twins="failover-joins-early",
        machines="kafka.replication.JoiningEarly"),
    bug("KAFKA-7164", "a follower that has missed an epoch does not cut",
        twins="failover-missed-epoch"),
    bug("KAFKA-5745", "a leader is there for consumers before its high watermark is",
        twins="failover-hw-of-all"),
    bug("KAFKA-6857", "who asks for an unknown epoch is told the end of the log",
        not_modelled="such an epoch is newer than all that the leader knows; since KIP-320 it is "
                     "refused as unknown before anybody looks for its end"),
    bug("KAFKA-9491", "a high watermark below the start of the log after a full cut",
        not_modelled="logs here begin at 0: nothing is deleted at the front"),
    bug("KAFKA-4485", "a replica at the end of the log is thrown out, or never comes back",
        not_modelled="the ISR churns while writes go on, and nothing is lost; suites judge what "
                     "has come to rest"),
    bug("KAFKA-7152", "followers of an idle partition leave the ISR and join again",
        not_modelled="the ISR churns, and nothing is lost or late"),
    bug("KAFKA-13091", "the high watermark is not computed anew when the ISR shrinks",
        not_modelled="the reference's leader looks at it with every fetch, and followers never "
                     "stop to fetch, so it rises a few ms later"),
    bug("KAFKA-15221", "a fetch from before a disk was lost lets a follower join",
        not_modelled="disks keep here what was written to them"),
)
