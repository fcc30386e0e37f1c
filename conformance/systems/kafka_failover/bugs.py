"""Bugs of Kafka's history that brokers, clients or the next controller notice."""

from __future__ import annotations

from typing import Final

from ...suites.bug import bug

__all__ = ["BUGS"]

BUGS: Final = (
    bug("KAFKA-532", "two controllers after a pause, and no epoch to distinguish them",
        twins="failover-no-controller-epoch",
        machines="kafka.controller_epochs.NotFenced"),
    bug("KAFKA-1096", "an old controller uses the newest epoch as its own",
        twins="failover-adopts-the-epoch",
        machines="kafka.controller_epochs.AdoptingTheEpoch",
        apart="the twin's two controllers of one epoch show as two leaders, and the machine has no "
              "partition"),
    bug("KAFKA-6082", "a replaced controller writes",
        twins="kafka-6082 failover-unguarded-controller",
        machines="kafka.controller_epochs.WritingUnchecked "
                 "kafka.partition_changes.OverwritingNewer"),
    bug("KAFKA-1029, KAFKA-1387", "a broker's znode of an earlier session prevents its "
        "registration",
        twins="failover-waits-for-its-znode"),
    bug("KAFKA-1451", "the controller's znode of an earlier session prevents an election",
        twins="failover-waits-for-itself"),
    bug("KAFKA-840", "preferred leaders are elected before there are states to change",
        twins="failover-never-preferred controller-never-preferred",
        machines="kafka.controller_turns.WishesFirst"),
    bug("KAFKA-928", "a change between the read and the watch is never noticed",
        twins="failover-watches-late",
        machines="kafka.controller_start.ReadingFirst"),
    bug("KAFKA-7235",
        "a broker that bounced is invisible; requests for its earlier life are obeyed",
        twins="failover-no-broker-epoch",
        machines="kafka.controller_start.ComparingNumbers "
                 "kafka.controller_start.WithoutBrokerEpochs",
        apart="ComparingNumbers is refused at its end (KAFKA-F15)"),
    bug("KAFKA-1187", "a request that failed is not sent again",
        twins="failover-no-retry",
        machines="kafka.controller_requests.GivingUp"),
    bug("KAFKA-1188", "a stale LeaderAndIsr is obeyed; only the leader learns of a shrunk ISR",
        twins="failover-stale-leader-epoch kafka-1188 controller-shrink-epoch"),
    bug("KAFKA-14140", "a broker that shuts down joins the ISR again",
        twins="failover-follows-as-it-goes",
        machines="kafka.broker_changes.LettingItRejoin"),
    bug("KAFKA-1097, KAFKA-1170, KAFKA-9672", "the ISR has a member that is no longer a replica",
        twins="failover-struck-in-sync",
        machines="kafka.reassignment.KeepingTheOldList"),
    bug("KAFKA-1382, KAFKA-2729",
        "the ISR was written, the reply was lost: the version is old forever",
        twins="failover-lost-reply"),
    bug("KAFKA-12686, KAFKA-12751", "a change of the ISR is under way forever",
        twins="failover-lost-reply"),
    bug("KAFKA-8966", "the high watermark waits only for the known ISR",
        twins="failover-hw-of-known-isr failover-hw-without-wanted-shrink",
        machines="kafka.isr_changes.WaitingForKnown",
        apart="the machine does not show what a leader has requested without an answer"),
    bug("KAFKA-769, KAFKA-1647", "the checkpoint is written before all partitions are known again",
        machines="kafka.checkpoints.WritingWhatIsKnown"),
    bug("KAFKA-851", "a request sets the high watermark to 0",
        machines="kafka.checkpoints.BeginningAtZero"),
    bug("KAFKA-858", "the last checkpoint lacks the partitions that a shutdown has stopped",
        machines="kafka.checkpoints.ForgettingWhatStops"),
    bug("KAFKA-2143", "a follower ahead of its leader cuts its whole log",
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
        apart="CuttingUnfenced needs three epochs, and the search over pairs would take minutes"),
    bug("KAFKA-7128", "a replica joins the ISR below the beginning of its leader's epoch",
        twins="failover-joins-early",
        machines="kafka.replication.JoiningEarly"),
    bug("KAFKA-7164", "a follower that has missed an epoch does not cut",
        twins="failover-missed-epoch"),
    bug("KAFKA-5745", "consumers reach a new leader before its high watermark is right",
        twins="failover-hw-of-all"),
    bug("KAFKA-6857", "a request for an unknown epoch gets the end of the log",
        not_modelled="such an epoch is newer than all that the leader knows; since KIP-320 it is "
                     "refused as unknown before its end is looked up"),
    bug("KAFKA-9491", "a high watermark below the start of the log after a full cut",
        not_modelled="logs here begin at 0: no record is deleted at the front"),
    bug("KAFKA-4485", "a replica at the end of the log is removed from the ISR, or never comes "
        "back",
        not_modelled="the ISR changes repeatedly during writes, and nothing is lost; suites judge "
                     "quiescent states"),
    bug("KAFKA-7152", "followers of an idle partition leave the ISR and join again",
        not_modelled="the ISR changes repeatedly, and nothing is lost or late"),
    bug("KAFKA-13091", "the high watermark is not recomputed when the ISR shrinks",
        not_modelled="the reference's leader recomputes it with every fetch, and followers always "
                     "fetch, so it rises a few ms later"),
    bug("KAFKA-15221", "a fetch from before the loss of a disk lets a follower join",
        not_modelled="disks here keep what was written to them"),
)
