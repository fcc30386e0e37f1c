"""Random fault schedules on the reference's cluster: that none of them is a false alarm.

``make failover`` runs a thousand, with the rules in focus in turn, and prints what they amounted
to; ``--target zookeeper`` coordinates them by a real ZooKeeper. Ends with 1 if a rule is broken.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import NamedTuple

from checkvalve.conformance.systems.kafka_failover.adapter import ReferenceCluster
from checkvalve.conformance.systems.kafka_failover.histories import (
    RULES, HistoryJudge, Terms, in_words,
)
from checkvalve.conformance.systems.kafka_failover.on_zookeeper import ClusterOnZooKeeper
from checkvalve.conformance.systems.kafka_failover.port import FAULTS, HISTORIES, OPERATING, PORT
from checkvalve.conformance.systems.kafka_failover.programs import draw

__all__ = ["Schedule", "main", "schedule"]

_TARGETS = {"memory": ReferenceCluster, "zookeeper": ClusterOnZooKeeper}
_FAULTS = frozenset(operation.name for operation in (*FAULTS, *OPERATING))


class Schedule(NamedTuple):
    """What a schedule came to: its faults, its events, and what was broken, in words."""

    faults: int
    events: int
    elections: int
    broken: str


def schedule(seed: int, target: Callable[[], ReferenceCluster]) -> Schedule:
    """Run the schedule of a seed on a new cluster, and judge it."""
    rule = list(RULES.values())[seed % len(RULES)]
    program = draw(Random(f"schedule {seed}"), set(PORT.operations), rule, seed // len(RULES))
    cluster, min_isr = target(), 1 + seed // len(RULES) % 2
    cluster.request({"do": "hello", "port": PORT.name, "settings": {"capacity": min_isr}})
    judge = HistoryJudge(Terms(
        int(dict(program[0].about)["brokers"]), min_isr,
        int(dict(program[0].about)["partitions"])))
    words: Counter[str] = Counter()
    for act in program:
        about = dict(act.about)
        reply = cluster.request({"do": act.do, **about})
        if "ok" not in reply:
            continue    # what is asked is not there any more
        if act.do == "produce":
            judge.produce(int(about["partition"]), about["acks_all"] == 1, int(about["records"]))
        if isinstance(reply["ok"], list):
            judge.asked({"do": act.do, **about})
        for row in reply["ok"] if isinstance(reply["ok"], list) else ():
            event = HISTORIES.event(row)
            assert event is not None
            words[event.what] += 1
            offence = judge.see(event)
            if offence is not None:
                return Schedule(0, 0, 0, f"{offence.rule.id}, {in_words(event)}")
        if act.do == "permit_unclean":
            judge.permit_unclean()
    faults = sum(act.do in _FAULTS for act in program)
    return Schedule(faults, sum(words.values()), words["took"], "")


def main() -> int:
    """Run, and print what is broken, and how much there was; 1 if anything is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--schedules", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--target", choices=sorted(_TARGETS), default="memory")
    options = parser.parse_args()
    begin, done, broken = time.process_time(), [], 0
    for seed in range(options.first, options.first + options.schedules):
        done.append(schedule(seed, _TARGETS[options.target]))
        if done[-1].broken:
            broken += 1
            print(f"schedule {seed} breaks {done[-1].broken}", flush=True)
    print(f"{len(done)} schedules on {options.target}: {sum(each.faults for each in done)} faults, "
          f"{sum(each.elections for each in done)} leaders, "
          f"{sum(each.events for each in done)} events; {broken} break a rule; "
          f"{time.process_time() - begin:.0f} s of CPU")
    return int(broken > 0)


if __name__ == "__main__":
    sys.exit(main())
