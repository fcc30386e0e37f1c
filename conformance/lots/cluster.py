"""Running lots on a Spark cluster; its executors write the rows.

A lot goes there as pairs of numbers (unit, place), and its rows never come here. The folder of the
campaign has to be one that all nodes and this machine share, or a URL that both know.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from typing import TYPE_CHECKING

from ..campaigns.case import case_at
from ..engines.local import row_of
from ..engines.spark import spark_errors, tasks_for
from ..engines.table import arrow_schema, spark_schema
from ..engines.task import ROWS_AT_ONCE, Batches, Order, surroundings, work
from .config import Unit
from .run import Lot
from .store import Store

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Cluster", "Share"]


@dataclass(frozen=True)
class Share:
    """The work of a task: the rows of its share of a lot, each with the id of its unit."""

    units: tuple[Unit, ...]
    here: Order

    def of(self, batches: Batches) -> Batches:
        """The batches of rows of some batches of tasks."""
        import pyarrow as pa

        schema = arrow_schema().append(pa.field("unit", pa.string()))
        ids = [unit.id for unit in self.units]
        with surroundings(self.here):
            rows = self._rows(batches, ids)
            while some := list(islice(rows, ROWS_AT_ONCE)):
                yield pa.RecordBatch.from_pylist(some, schema)

    def _rows(self, batches: Batches, ids: list[str]) -> Iterator[dict[str, object]]:
        for batch in batches:
            for line in batch.to_pylist():
                unit = self.units[line["unit"]]
                row = row_of(unit.suite, unit.target, unit.settings,
                             case_at(unit.suite, line["place"], unit.seed))
                yield {**asdict(row), "unit": ids[line["unit"]]}


class Cluster:
    """A cluster that runs lots, by its session; each lot has a name in Spark's pages."""

    def __init__(self, session: SparkSession, partitions: int | None = None) -> None:
        self._session = session
        self._partitions = partitions
        self._lots = 0

    def run(self, lot: Lot, store: Store) -> None:
        """Run a lot: the executors write the rows, and Spark moves them there when all of the lot
        are written. Raises one of DEATHS if Spark gave up a task after its Python was ended."""
        import pyarrow as pa

        units = tuple(dict.fromkeys(task.unit for task in lot))
        number = {unit: at for at, unit in enumerate(units)}
        columns = {"unit": [number[task.unit] for task in lot],
                   "place": [task.place for task in lot]}
        schema = pa.schema([("unit", pa.int64()), ("place", pa.int64())])
        share = Share(units, Order.here("", "", units[0].settings))
        tasks = self._partitions or tasks_for(len(lot))
        tag = f"checkvalve-campaign-lot-{self._lots}"
        self._lots += 1
        self._session.addTag(tag)
        try:
            with spark_errors("running a lot on Spark"):
                spread = self._session.createDataFrame(pa.table(columns, schema)).repartition(tasks)
                rows = spread.mapInArrow(work(share), f"{spark_schema()}, `unit` string")
                rows.write.mode("append").partitionBy("unit").parquet(store.rows.url)
        except KeyboardInterrupt:
            self._session.interruptTag(tag)
            raise
        finally:
            self._session.removeTag(tag)
