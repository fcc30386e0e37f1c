"""The work of an executor on its share of the cases, and its report of errors.

The function that Spark sends is pickled by value and imports nothing of ours before it has
looked whether it can: an executor without checkvalve, or with another edition of it, answers
in one line instead of failing somewhere inside of unpickling. Errors cross as one line of
JSON in the message of an exception, which is all that comes through from an executor.
"""

from __future__ import annotations

import gc
import hashlib
import json
import os
import pickle
import platform
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

from checkvalve.spec.notation.errors import CheckvalveError, InputError, InternalError, TargetError

if TYPE_CHECKING:
    import pyarrow as pa

    from ..campaigns.case import RunSettings
    from ..suites.results import CaseRow

__all__ = [
    "MARK", "ROWS_AT_ONCE", "Batches", "Order", "Part", "edition", "error_in", "execute",
    "surroundings", "work", "written",
]

MARK = "checkvalve-error:"
"""The prefix of the line of JSON in the message of an executor's exception."""

PACKAGES = ("checkvalve.spec", "checkvalve.reference", "checkvalve.conformance")

ROWS_AT_ONCE: Final = 64
"""Rows in a batch that an executor sends: a fixture can have kilobytes, a batch stays small."""

Batches: TypeAlias = "Iterator[pa.RecordBatch]"


@dataclass(frozen=True)
class Order:
    """The order that a task carries out, besides its cases.

    ``folder`` and ``path`` are the driver's working folder and search path: where they exist
    on the executor too, a target is found there as it is found here.
    """

    suite: str
    target: str
    settings: RunSettings
    folder: str
    path: tuple[str, ...]

    @classmethod
    def here(cls, suite: str, target: str, settings: RunSettings) -> Order:
        """An order that is given from this process."""
        ours = tuple(os.path.abspath(place) for place in sys.path
                     if not place.startswith((sys.prefix, sys.base_prefix)))
        return cls(suite, target, settings, os.getcwd(), ours)


class Part(Protocol):
    """Work of another kind: it makes rows of rows, and says itself what it needs."""

    def of(self, batches: Batches) -> Batches:
        """The batches made of some."""
        ...


def work(order: Order | Part | None) -> Callable[[Batches], Batches]:
    """The function for ``mapInArrow``: batches of cases in, batches of rows out.

    Without an order it only looks whether the executor can do such work, and gives back
    what it got.
    """
    # Pickled apart, so that nothing of ours is unpickled before the check below.
    parcel, ours, mark = pickle.dumps(order), (_place(), edition()), MARK

    def run(batches: Batches) -> Batches:
        import os
        import sys

        # Shipped code may come from a zip on a relative path, and the work changes folder.
        # (What is no place is the name of somebody's import hook, and stays as it is.)
        sys.path[:] = [os.path.abspath(place) if os.path.exists(place) else place
                       for place in sys.path]
        try:
            from checkvalve.conformance.engines.task import execute
        except ImportError as error:
            import json
            import platform

            what = f"{platform.node()} ({sys.executable}) cannot import checkvalve: {error}"
            told = json.dumps({"kind": "missing", "what": what})
            raise RuntimeError(f"{mark}{told}") from None
        yield from execute(parcel, *ours, batches)

    return run


def execute(parcel: bytes, place: str, expected: str, batches: Batches) -> Batches:
    """Carry out the order in ``parcel``, which was given by the edition ``expected``.

    ``place`` is where that one is installed: an executor that imports the same files compares
    nothing, so that editing them during a run does not make the cluster count as out of date.
    """
    try:
        if _place() != place and _own_edition() != expected:
            raise _other_edition()
        order = pickle.loads(parcel)
        if order is None:
            yield from batches
        elif not isinstance(order, Order):
            yield from order.of(batches)
            _keep_what_is_here()
        else:
            yield from _carry_out(order, batches)
    except CheckvalveError as error:
        raise RuntimeError(written(error)) from None


def _carry_out(order: Order, batches: Batches) -> Batches:
    import pyarrow as pa

    from .table import arrow_schema

    with surroundings(order):
        rows = _rows(order, batches)
        while some := list(islice(rows, ROWS_AT_ONCE)):
            yield pa.RecordBatch.from_pylist([asdict(row) for row in some], arrow_schema())
    _keep_what_is_here()


@cache
def _keep_what_is_here() -> None:
    """Spare Spark's collector what lives as long as this process.

    A Python of Spark's collects all garbage after each task that it ends. With our modules and
    machines loaded that took 50 ms, three times as long as all else that a small task costs.
    """
    gc.collect()
    gc.freeze()


def _rows(order: Order, batches: Batches) -> Iterator[CaseRow]:
    from ..suites.results import Case
    from .local import row_of

    for batch in batches:
        for line in batch.to_pylist():
            case = Case(line["case"], line["seed"], line.get("draft", ""))
            yield row_of(order.suite, order.target, order.settings, case)


@contextmanager
def surroundings(order: Order) -> Iterator[None]:
    """Look for targets where the driver does; other tasks of this worker see nothing of it."""
    folder, path = os.getcwd(), list(sys.path)
    sys.path.extend(place for place in order.path
                    if place not in path and os.path.exists(place))
    if os.path.isdir(order.folder):
        os.chdir(order.folder)
    try:
        yield
    finally:
        sys.path[:] = path
        os.chdir(folder)


def _place() -> str:
    return f"{platform.node()}:{resources.files(PACKAGES[0])}"


def edition() -> str:
    """A fingerprint of the Python source of the checkvalve that this process imports."""
    digest = hashlib.sha256()
    for package in PACKAGES:
        for name, text in sorted(_sources(resources.files(package), package)):
            digest.update(f"{name}\0{len(text)}\0".encode() + text)
    return digest.hexdigest()[:16]


@cache
def _own_edition() -> str:
    # Once for each process of an executor, for it is asked for every task.
    return edition()


def _sources(folder: Traversable, name: str) -> Iterator[tuple[str, bytes]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _sources(entry, f"{name}/{entry.name}")
        elif entry.name.endswith(".py"):
            yield f"{name}/{entry.name}", entry.read_bytes()


def _other_edition() -> InputError:
    what = f"{platform.node()} ({sys.executable}) has another edition of checkvalve"
    return InputError(what, "", "Install the edition that you run from there too, or send it "
                      "along: --ship, or ship_checkvalve(session).")


_KINDS: dict[str, type[CheckvalveError]] = {
    "input": InputError, "target": TargetError, "us": InternalError,
}


def written(error: CheckvalveError) -> str:
    """An error as a line for the message of an exception that crosses to the driver."""
    told = {"kind": error.fault, "what": error.what, "where": error.where,
            "next_step": error.next_step}
    return MARK + json.dumps(told)


def error_in(message: str) -> CheckvalveError | None:
    """The error that an executor reported in ``message``; None if the message is of other origin.
    """
    place = message.find(MARK)
    if place < 0:
        return None
    try:
        told: dict[str, Any] = json.JSONDecoder().raw_decode(message, place + len(MARK))[0]
    except ValueError:
        return None
    if told["kind"] == "missing":
        return InputError(f"an executor has no checkvalve: {told['what']}", "", _ABSENT)
    return _KINDS[told["kind"]](told["what"], told["where"], told["next_step"])


_ABSENT = (
    "Install checkvalve[spark] into the Python of every node (PYSPARK_PYTHON names it), or, if "
    "only checkvalve itself is missing there, send it along: --ship (ship_checkvalve). "
    "See docs/spark.md."
)
