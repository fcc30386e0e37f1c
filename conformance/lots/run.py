"""Running a campaign: lot by lot, until every case has its row or is set apart.

First come a few cases of each unit: one with a target that fails in all of them is given up. Then
come the others, in lots of some seconds each. Rows do not depend on lots, and a lot that was cut
off leaves nothing behind, so an interrupted campaign continues as if it had not been.

If a process dies under a lot, its halves are run, and theirs, until one case alone does it. A case
that has ended three processes is set apart.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Final, NamedTuple, Protocol

from checkvalve.spec.verdicts.deadline import Deadline

from ..campaigns.failures import GIVEN_UP_AFTER, is_given_up
from ..computer.progress import counted_off
from ..engines.deaths import DEATHS
from ..engines.table import rows_of
from .config import Campaign, Unit
from .store import Store

__all__ = ["TRIAL", "Lot", "Ran", "Task", "run_campaign", "was_given_up"]

TRIAL: Final = GIVEN_UP_AFTER
"""Cases of each unit that come first: if they all fail alike, the others are not run."""

_SECONDS_OF_A_LOT: Final = 20.0
_SMALLEST, _LARGEST, _FIRST, _GROWS = 16, 50_000, 64, 4
_DEATHS: Final = 3
"""Processes that a case may end before it is set apart."""


class Task(NamedTuple):
    """One case of a unit, by its place."""

    unit: Unit
    place: int


Lot = Sequence[Task]


class Ran(Protocol):
    """An engine: it runs a lot and writes its rows."""

    def run(self, lot: Lot, store: Store) -> None:
        """Run all of it. Raises one of DEATHS, and has written nothing, if a process was ended."""
        ...


def run_campaign(
    campaign: Campaign, store: Store, engine: Ran, deadline: Deadline
) -> bool:
    """Run what is missing; true if nothing is any more. No lot begins after the ``deadline``."""
    trial = [Task(unit, place) for unit in campaign.units
             for place in store.missing(unit) if place < TRIAL]
    if not _all_of(iter(trial), len(trial), store, engine, deadline):
        return False
    units = [unit for unit in campaign.units if not was_given_up(unit, store)]
    left = sum(sum(1 for _ in store.missing(unit)) for unit in units)
    rest = chain.from_iterable((Task(unit, place) for place in store.missing(unit))
                               for unit in units)
    return _all_of(rest, left, store, engine, deadline)


def was_given_up(unit: Unit, store: Store) -> bool:
    """True if the target failed alike in the first cases, or ended the process in each: it is asked
    no more."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if unit.cases <= TRIAL:
        return False
    if {str(place) for place in range(TRIAL)} <= store.apart().get(unit.id, {}).keys():
        return True
    first = [batch.filter(pc.less(batch["case"], TRIAL)) for batch in store.read(unit)]
    return bool(first) and is_given_up(rows_of(pa.Table.from_batches(first)))


def _all_of(
    tasks: Iterator[Task], count: int, store: Store, engine: Ran, deadline: Deadline
) -> bool:
    """Run tasks, lot by lot; true if none is left."""
    size = _FIRST
    counted = counted_off(tasks, count)
    while lot := list(islice(counted, size)):
        if deadline.passed():
            return False
        began = time.monotonic()
        _settle(lot, store, engine)
        size = _next_size(len(lot), time.monotonic() - began)
    return True


def _next_size(size: int, seconds: float) -> int:
    """The size of the lot after one of this size: as many as take some seconds."""
    wanted = int(size * _SECONDS_OF_A_LOT / max(seconds, 1e-3))
    return max(_SMALLEST, min(wanted, size * _GROWS, _LARGEST))


def _settle(lot: Lot, store: Store, engine: Ran, deaths: int = 0) -> None:
    """Run a lot; where it ends its process, run its halves, or set its only case apart."""
    try:
        engine.run(lot, store)
    except DEATHS as death:
        if len(lot) > 1:
            half = len(lot) // 2
            _settle(lot[:half], store, engine)
            _settle(lot[half:], store, engine)
        elif deaths + 1 < _DEATHS:
            _settle(lot, store, engine, deaths + 1)
        else:
            store.set_apart(*lot[0], death.what)
