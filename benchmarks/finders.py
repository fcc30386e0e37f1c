"""What finds more twins in equal time: the campaign's seeded programs, or Hypothesis's machines.

Each twin of the zoo with a suite that draws operations one by one is given to both, with the same
processor seconds. The campaign runs its cases as ``checkvalve conform`` does, and ends with a
shrunk failure. The state machine ends with its first failure, unshrunk, which is in its favour.
Both run in this process.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import count
from typing import Any

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from checkvalve.conformance.campaigns.case import RunSettings, case_at, run_case
from checkvalve.conformance.suites.results import VIOLATED
from checkvalve.conformance.state_machines import RuleBroken, state_machine
from checkvalve.conformance.suites.suite import Suite
from checkvalve.conformance.suites.twin import Twin
from checkvalve.conformance.systems.catalogue import suite_named
from checkvalve.conformance.zoo.hunt import twins

__all__ = ["main"]

STEPS = 20
"""About as many as a program of the campaign has."""


class OutOfTime(KeyboardInterrupt):
    """The processor seconds are spent. What derives from ``Exception`` would be shrunk."""


def by_campaign(twin: Twin, seconds: float, number: int) -> float | None:
    """The processor seconds until a case told of a breach; None: not in time."""
    begun = time.process_time()
    for index in count():
        case = case_at(twin.suite, index, number)
        row = run_case(twin.suite, f"zoo:{twin.name}", case, RunSettings())
        spent = time.process_time() - begun
        if spent > seconds:
            return None
        if row.verdict == VIOLATED:
            return spent
    raise AssertionError("there are cases without end")


def by_state_machine(twin: Twin, seconds: float, number: int) -> float | None:
    """The processor seconds until a state machine saw a rule broken; None: not in time."""
    begun = time.process_time()
    found: list[float] = []
    machine = seed(number)(_timed(twin, begun, seconds, found))
    with suppress(OutOfTime):
        run_state_machine_as_test(machine, settings=settings(
            max_examples=1_000_000, stateful_step_count=STEPS, deadline=None, database=None,
            phases=[Phase.generate], suppress_health_check=list(HealthCheck)))
    return found[0] if found else None


def _timed(
    twin: Twin, begun: float, seconds: float, found: list[float]
) -> type[RuleBasedStateMachine]:
    """The state machine of a twin, that ends when it has found something, or spent its time."""
    made: Any = state_machine(twin.suite, f"zoo:{twin.name}")

    class Timed(made):  # type: ignore[misc]
        def act(self, act: Any) -> None:
            try:
                super().act(act)
            except RuleBroken as broken:
                found.append(time.process_time() - begun)
                raise OutOfTime from broken
            if time.process_time() - begun > seconds:
                raise OutOfTime
    return Timed


FINDERS: dict[str, Callable[[Twin, float, int], float | None]] = {
    "campaign": by_campaign, "state machine": by_state_machine}


def main() -> None:
    """Give each twin to both, in turn, and print who found what."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=1.0, help="for each twin and finder")
    parser.add_argument("--suite", action="append", default=[], help="only the twins of this one")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    talking = [twin for twin in twins(options.suite)
               if _is_drawn_one_by_one(twin.suite) and not twin.equivalent]
    for suite in dict.fromkeys(twin.suite for twin in talking):
        found = {name: [finder(twin, options.seconds, options.seed)
                        for twin in talking if twin.suite == suite]
                 for name, finder in FINDERS.items()}
        for name, times in found.items():
            _show(suite, name, times)
        missed = [twin.name for twin, *times in zip(
            (twin for twin in talking if twin.suite == suite), *found.values(), strict=True)
            if None in times]
        if missed:
            print(f"{'':18}missed by one or both: {', '.join(missed)}", flush=True)


def _is_drawn_one_by_one(name: str) -> bool:
    suite = suite_named(name)
    return isinstance(suite, Suite) and suite.one_by_one


def _show(suite: str, name: str, times: Sequence[float | None]) -> None:
    done = sorted(each for each in times if each is not None)
    middle = f"{done[len(done) // 2]:.2f} s" if done else "-"
    print(f"{suite:18}{name:16}{len(done):4} of {len(times):3}, median {middle}", flush=True)


if __name__ == "__main__":
    main()
