"""The runs of a benchmark, taken in turn, their medians, and what was aimed at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf
from statistics import median
from typing import Any

from .contenders import CONTENDERS, AsyncioTimers, Contender, NewPurgatory, OldDesign, WheelsAlone
from .driver import Measured, in_real_time, in_virtual_time
from .workload import CASES, Case, Settings, Workload, draw

__all__ = ["Aim", "Plan", "Row", "aims", "real_rows", "virtual_rows"]

IN_REAL_TIME = (NewPurgatory.name, OldDesign.name, AsyncioTimers.name)

AIM_RATE = 105_000
AIM_OVER_OLD = {"low": 2.6, "high": 4.2}
"""The text's saturation: 105,000 against 25,000 in the high case; in the low one 40,000 against
what was not saturated at 105,000."""
AIM_OVER_ASYNCIO = 2.0
AIM_SIZE = 0.1


@dataclass(frozen=True)
class Plan:
    """What to measure. ``rate`` and ``rates`` in requests a second, times in seconds.

    ``limit`` stops a run in virtual time, and ``seconds`` the enqueueing of one in real time.
    """

    requests: int = 1_000_000
    rate: float = 100_000
    rates: tuple[float, ...] = (5_000, 10_000, 25_000, 50_000, 105_000, 150_000, inf)
    repeats: int = 3
    limit: float = 12.0
    seconds: float = 2.0
    settings: Settings = Settings()


@dataclass(frozen=True)
class Row:
    """The runs of one contender with one workload, in the order in which they were made."""

    mode: str
    case: Case
    contender: str
    target: float
    runs: tuple[Measured, ...]

    def middle(self, of: Callable[[Measured], float]) -> float:
        """The median of a figure over the runs."""
        return median(of(run) for run in self.runs)

    @property
    def rate(self) -> float:
        """Requests a second: of processor time in virtual time, where nothing ever waits."""
        return self.middle(self._rate)

    @property
    def largest_size(self) -> int:
        """The largest of all runs, in entries."""
        return max(run.largest_size for run in self.runs)

    def over(self, other: Row) -> float:
        """How many times the rate of the ``other``: the median of the ratios of pairs."""
        return median(self._rate(mine) / other._rate(theirs)
                      for mine, theirs in zip(self.runs, other.runs, strict=True))

    def _rate(self, run: Measured) -> float:
        return run.cpu_rate if self.mode == "virtual" else run.rate

    def as_json(self, settings: Settings) -> dict[str, Any]:
        """For a file: medians, and the rate of each run. No target is null."""
        fraction = sum(run.expired for run in self.runs) / sum(run.requests for run in self.runs)
        return {
            "mode": self.mode, "case": self.case.name, "contender": self.contender,
            "target": None if self.target == inf else self.target,
            "requests": int(self.middle(lambda run: run.requests)),
            "rate": round(self.rate), "rates": [round(self._rate(run)) for run in self.runs],
            "expired": fraction, "expected_expired": self.case.expired(settings.timeout),
            "seconds": self.middle(lambda run: run.seconds),
            "all_seconds": self.middle(lambda run: run.all_seconds),
            "cpu_seconds": self.middle(lambda run: run.cpu_seconds),
            "gc_seconds": self.middle(lambda run: run.gc_seconds),
            "largest_size": self.largest_size,
            "largest_pending": max(run.largest_pending for run in self.runs),
            "purges": int(self.middle(lambda run: run.purges)),
            "left": max(run.left for run in self.runs),
        }


Driven = Callable[[Contender[Any], Workload, Settings, float], Measured]


def _in_turn(
    mode: str, drive: Driven, names: Sequence[str], workload: Workload, plan: Plan, limit: float,
) -> Iterator[Row]:
    """A row for each contender; a machine that drifts is as slow for all of them."""
    runs: dict[str, list[Measured]] = {name: [] for name in names}
    for _ in range(plan.repeats):
        for name in names:
            contender = CONTENDERS[name](plan.settings)
            try:
                runs[name].append(drive(contender, workload, plan.settings, limit))
            finally:
                contender.close()
    for name in names:
        yield Row(mode, workload.case, name, workload.rate, tuple(runs[name]))


def virtual_rows(plan: Plan) -> Iterator[Row]:
    """Each case at ``plan.rate`` in virtual time."""
    for case in CASES:
        workload = draw(case, plan.rate, plan.requests, plan.settings.seed)
        yield from _in_turn(
            "virtual", in_virtual_time, tuple(CONTENDERS), workload, plan, plan.limit)


def real_rows(plan: Plan) -> Iterator[Row]:
    """Each case at each of ``plan.rates`` in real time, for ``plan.seconds`` at the most."""
    for case in CASES:
        for rate in plan.rates:
            count = plan.requests
            if rate != inf:
                count = max(1, min(count, round(rate * plan.seconds)))
            workload = draw(case, rate, count, plan.settings.seed)
            # A run with late last requests, by chance, is not one that fell behind.
            limit = plan.seconds * (1 if rate == inf else 1.5)
            yield from _in_turn("real", in_real_time, IN_REAL_TIME, workload, plan, limit)


@dataclass(frozen=True)
class Aim:
    """Something that the design was to reach, and what it reached."""

    text: str
    aim: float
    figure: float
    at_most: bool = False

    @property
    def met(self) -> bool:
        """Whether the figure is on the right side of the aim."""
        return self.figure <= self.aim if self.at_most else self.figure >= self.aim

    def as_json(self) -> dict[str, Any]:
        """The aim as an object of the results' file."""
        return {"text": self.text, "aim": self.aim, "figure": self.figure, "met": self.met}


def aims(rows: Iterable[Row], plan: Plan) -> Iterator[Aim]:
    """Every aim for which there are rows, met or not."""
    found = {(row.mode, row.case.name, row.contender, row.target): row for row in rows}
    for case in CASES:
        virtual = {name: found.get(("virtual", case.name, name, plan.rate)) for name in CONTENDERS}
        real = {name: found.get(("real", case.name, name, inf)) for name in CONTENDERS}
        yield from _aims_in_real_time(case, real)
        yield from _aims_in_virtual_time(case, virtual, plan)


def _aims_in_real_time(case: Case, rows: dict[str, Row | None]) -> Iterator[Aim]:
    new, old = rows[NewPurgatory.name], rows[OldDesign.name]
    if new is not None and case.name == "high":
        yield Aim("real time, high: requests/s", AIM_RATE, new.rate)
    if new is not None and old is not None:
        yield Aim(f"real time, {case.name}: times the old purgatory", AIM_OVER_OLD[case.name],
                  new.over(old))
    if new is not None:
        pending = max(run.largest_pending for run in new.runs)
        yield Aim(f"real time, {case.name}: largest timer size off the largest number pending, "
                  f"{pending:,}", AIM_SIZE, abs(new.largest_size / pending - 1), at_most=True)


def _aims_in_virtual_time(case: Case, rows: dict[str, Row | None], plan: Plan) -> Iterator[Aim]:
    asyncio = rows[AsyncioTimers.name]
    for name, what in ((NewPurgatory.name, "the new purgatory"),
                       (WheelsAlone.name, "timing wheels alone")):
        row = rows[name]
        if row is not None and asyncio is not None:
            yield Aim(f"virtual time, {case.name}: {what}, times asyncio's timers",
                      AIM_OVER_ASYNCIO, row.over(asyncio))
    new = rows[NewPurgatory.name]
    if new is not None:
        pending = plan.rate * case.pending_ms(plan.settings.timeout) / 1000
        yield Aim(f"virtual time, {case.name}: largest timer size off rate x E[min(latency, "
                  f"timeout)] = {pending:,.0f}", AIM_SIZE, abs(new.largest_size / pending - 1),
                  at_most=True)
