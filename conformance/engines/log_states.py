"""The judge of each key in the state of a query: a processor of Spark's ``transformWithState``.

A key has one state: its judge as bytes, and the time of its one timer. Spark keeps any number of
timers for a key, and takes away the one that has run once the processor is done with it; so the old
one is taken away before another is set, and none is set at the time of the one that runs. Editions
of Spark differ in whether a timer runs when the watermark is at its time (4.3) or only when it is
beyond: one that runs too early finds nothing to do, and is set again a millisecond later.
"""

from __future__ import annotations

import pickle
import platform
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from checkvalve.spec.notation.errors import InputError

from ..computer.environment import install_command, package_version
from ..logs.kinds import Terms
from ..logs.rows import COLUMNS
from .log_pieces import Pace
from .task import Batches

if TYPE_CHECKING:
    from pyspark.sql.streaming.stateful_processor import StatefulProcessor

__all__ = ["STORE", "Talking", "check_protobuf", "judging"]

STORE: Final = {
    "spark.sql.streaming.stateStore.providerClass":
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
}
"""The settings of the one store that ``transformWithState`` accepts, which is among Spark's jars. A
batch writes down the states that it changed, and not all of them."""

_MESSAGES: Final = "pyspark.sql.streaming.proto.StateMessage_pb2"
"""Spark's module of what its Python and its Java say to each other of a state."""


def judging(suite: str, terms: Terms, pace: Pace, *, is_timed: bool) -> StatefulProcessor:
    """The processor of a stream's keys; without ``is_timed`` it asks for no watermark and sets no
    timers. It is sent by value, and its ``init`` runs where the query is started, too: until there
    are events it needs nothing of ours."""
    from pyspark.sql.streaming.stateful_processor import StatefulProcessor

    parcel, names = pickle.dumps((suite, terms, pace)), list(COLUMNS)

    class Judging(StatefulProcessor):
        """The names of its methods and of their parameters are Spark's."""

        def init(self, handle: Any) -> None:
            self._timers = handle
            self._state = handle.getValueState("judge", "judge binary, timer bigint")

        def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Iterator[Any]:
            if isinstance(key[0], str):     # a row without a key has moved the watermark
                piece = [row for each in rows for row in zip(
                    each["file"], each["line"], each["event"], strict=True)]
                yield from self._judged(key[0], piece, timerValues, 0)

        def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any
                               ) -> Iterator[Any]:
            yield from self._judged(key[0], [], timerValues, expiredTimerInfo.getExpiryTimeInMs())

        def close(self) -> None:
            pass

        def _judged(self, key: str, piece: Any, values: Any, runs: int) -> Iterator[Any]:
            import pickle

            import pandas as pd

            from checkvalve.conformance.engines.log_pieces import MS, piece_judged, timer
            from checkvalve.conformance.engines.task import written
            from checkvalve.spec.notation.errors import CheckvalveError

            suite, terms, pace = pickle.loads(parcel)
            kept, was = self._state.get() or (None, 0)
            horizon = values.getCurrentWatermarkInMs() * MS if is_timed else 0
            try:
                after, rows, wakes = piece_judged(suite, terms, key, kept, piece, pace, horizon)
            except CheckvalveError as error:
                raise RuntimeError(written(error)) from None
            at = 0 if wakes is None else max(timer(wakes), runs + 1)
            self._state.update((after, at))
            if was not in (0, at, runs):
                self._timers.deleteTimer(was)
            if at not in (0, was):
                self._timers.registerTimer(at)
            if rows:
                yield pd.DataFrame(rows, columns=names).astype(object)

    return Judging()


@dataclass(frozen=True)
class Talking:
    """Looks whether the Python of an executor can talk of states with Spark's Java."""

    def of(self, batches: Batches) -> Batches:
        """The batches as they are. Raises InputError as ``check_protobuf`` does."""
        check_protobuf()
        yield from batches


def check_protobuf() -> None:
    """Raise InputError unless this Python has a protobuf of which pyspark can make use: a stream
    would say so only once it runs."""
    here = f"the Python of {platform.node()} ({sys.executable})"
    step = (f"Install the extra, into the Python of every node: {install_command('spark')}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")     # it is older than the protobuf, which will do
            import_module(_MESSAGES)
    except ImportError as error:
        raise InputError(f"--follow needs protobuf, which {here} lacks: {error}", "",
                         step) from None
    except Exception as error:  # noqa: BLE001 - protobuf's own, of editions that do not go together
        raise InputError(
            f"--follow needs a protobuf that goes with pyspark {package_version('pyspark')}, and "
            f"{here} has {package_version('protobuf')}: {error}", "", step) from None
