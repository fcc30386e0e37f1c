"""Workers over TCP while something goes wrong, and the history that they leave.

``run_with_faults`` runs a topology on two worker processes. On the way a connection is dropped
and made again, and a worker is killed and started anew; both happen after so much *work*, not
after so much time, so that a loaded machine changes little. Every worker keeps a book. The
history is made of the books and of what the parent did, in the order of the machine's
monotonic clock, which all processes share. It has the words of ``cluster``; its instants are
milliseconds.

What is in a connection that breaks, or in a process that is killed, nobody in the cluster can
count. The books show it, so it is counted here: a message that went into a broken connection
and did not come out, that a killed worker had received and not processed, or that it had
emitted itself. Any other message that is missing stays missing.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

from ..storm.cluster import Happened
from ..storm.topologies import TOPOLOGIES, deploy
from ..storm.worker import Settings
from .tcp import GRACE_SECONDS, WorkerFailed, WorkerProcess

__all__ = ["Books", "Row", "history_of", "is_at_rest", "run_with_faults"]

WORKERS: Final = 2
KILLED: Final = 1
"""The worker that is killed; the spout is on the other one."""

_POLL_SECONDS: Final = 0.005
_OF_CONNECTIONS: Final = ("sent", "got", "broke")

Row = tuple[int, str, list[str]]
"""A line of a book: nanoseconds, word, what it is about."""


class Books(NamedTuple):
    """The books by worker and life, and what the parent did."""

    pages: Mapping[tuple[int, int], list[Row]]
    deeds: list[Row]


def run_with_faults(
    *, topology: str = "word-count", messages: int = 30, settings: Settings | None = None,
    cut_after: int = 0, kill_after: int = 0, seconds: float = 20.0, tick_seconds: float = 0.4,
    slow_seconds: float = 0.0,
) -> tuple[Happened, ...]:
    """Run a topology on two worker processes until all is acked: the history.

    The connection from worker 0 to worker 1 is dropped when ``cut_after`` tuples were written
    to it, and worker 1 is killed when it has written ``kill_after`` events (0: never).
    ``tick_seconds`` is the period of the message timeout. A run that has not ended after
    ``seconds`` has stalled. No process is left when this returns or raises. Raises
    ``WorkerFailed`` when a process dies that was not killed, or ends before it could be.
    """
    order = {"topology": topology, "messages": messages, "seconds": seconds,
             "settings": asdict(settings or Settings(capacity=4, max_pending=4)),
             "slow_seconds": slow_seconds, "tick_seconds": tick_seconds}
    with TemporaryDirectory(prefix="checkvalve-") as folder:
        run = _Run(order, Path(folder), cut_after, kill_after)
        try:
            ended = asyncio.run(asyncio.wait_for(run.run(), seconds + GRACE_SECONDS))
        except TimeoutError:
            raise WorkerFailed(
                f"the workers have not ended {GRACE_SECONDS} s after their deadline") from None
        return history_of(run.books(), ended)


class _Run:
    """The parent of one run."""

    def __init__(
        self, order: dict[str, Any], folder: Path, cut_after: int, kill_after: int
    ) -> None:
        self._order, self._folder = order, folder
        self._cut_after, self._kill_after = cut_after, kill_after
        self._processes: dict[int, WorkerProcess] = {}
        self._deeds: list[Row] = []
        self._lives = dict.fromkeys(range(WORKERS), 0)

    async def run(self) -> bool:
        """Run to the end; True if all was acked, and every worker is idle."""
        try:
            for number in self._lives:
                self._processes[number] = await WorkerProcess.start(number)
            self._order["ports"] = {
                str(number): process.port for number, process in self._processes.items()}
            for number in self._lives:
                self._begin(number)
            if self._kill_after:
                await self._kill_and_restart()
            rows = [json.loads(await each.line()) for each in self._processes.values()]
            return is_at_rest(rows)
        finally:
            for process in self._processes.values():
                await process.kill()

    def _begin(self, number: int) -> None:
        own = {"life": self._lives[number], "book": str(self._book(number))}
        if number == 0:
            own["cut_after"] = self._cut_after
        self._processes[number].order(self._order | own)

    async def _kill_and_restart(self) -> None:
        process, book = self._processes[KILLED], self._book(KILLED)
        while not book.exists() or book.read_bytes().count(b"\n") < self._kill_after:
            if process.process.returncode is not None:
                raise WorkerFailed("the worker ended before it could be killed")
            await asyncio.sleep(_POLL_SECONDS)
        await process.kill()
        self._note("killed", KILLED)
        tasks = deploy(TOPOLOGIES[self._order["topology"]], WORKERS)
        for task, worker in tasks.items():
            if worker == KILLED:
                self._note("forgot", task, 0)
        self._lives[KILLED] += 1
        self._processes[KILLED] = await WorkerProcess.start(KILLED, process.port)
        self._begin(KILLED)

    def _note(self, what: str, *about: int) -> None:
        self._deeds.append((time.monotonic_ns(), what, [str(each) for each in about]))

    def _book(self, number: int) -> Path:
        return self._folder / f"{number}.{self._lives[number]}"

    def books(self) -> Books:
        """The books that the workers have written."""
        pages = {}
        for path in sorted(self._folder.iterdir()):
            worker, _, life = path.name.partition(".")
            # A line without its end is one of a worker that was killed while it wrote.
            lines = path.read_text().split("\n")[:-1]
            pages[int(worker), int(life)] = [_row(line) for line in lines]
        return Books(pages, self._deeds)


def is_at_rest(rows: Iterable[Mapping[str, Any]]) -> bool:
    """True if all was acked, which the spout's worker knows, and each worker has settled."""
    found = list(rows)
    return any(row["done"] for row in found) and all(row["settled"] for row in found)


def _row(line: str) -> Row:
    at, what, *about = line.split(" ")
    return int(at), what, about


# ---- from books to a history ----------------------------------------------------------------


_Tuple = tuple[str, ...]
"""The identity of a tuple: its sender, the sender's life, its receiver, and its number."""


def history_of(books: Books, ended: bool) -> tuple[Happened, ...]:
    """The history in the books, of a run that has ended or was given up."""
    rows = sorted([*books.deeds, *(row for page in books.pages.values() for row in page)],
                  key=lambda row: row[0])
    first, last = rows[0][0], rows[-1][0]
    events = [_event(row, first) for row in rows if row[1] not in _OF_CONNECTIONS]
    at = (last - first) // 1_000_000
    events += [Happened(at, "lost", tuple(map(int, each))) for each in _lost_in_faults(books)]
    end = Happened(at, "rested", ()) if ended else Happened(at, "stalled", ("in no cycle",))
    return (*events, end)


def _event(row: Row, first: int) -> Happened:
    at, what, about = row
    return Happened((at - first) // 1_000_000, what, tuple(map(int, about)))


def _lost_in_faults(books: Books) -> list[_Tuple]:
    """Tuples of which the books show that a fault took them."""
    killed = {(KILLED, life) for life in range(sum(deed[1] == "killed" for deed in books.deeds))}
    every = [row for page in books.pages.values() for row in page]
    taken: set[_Tuple] = set()
    broken = {row[2][0] for row in every if row[1] == "broke"}
    came = {tuple(row[2]) for row in every if row[1] == "got"}
    for _at, what, about in every:
        if what == "sent" and about[0] in broken and tuple(about) not in came:
            taken.add(tuple(about[1:]))
    for place in killed:
        taken |= _had(books.pages.get(place, ()))
    return sorted(taken - _accounted(every))


def _had(page: Iterable[Row]) -> set[_Tuple]:
    """The tuples that a worker had received, or emitted itself."""
    return {tuple(about if what == "emitted" else about[1:])
            for _at, what, about in page if what in ("emitted", "got")}


def _accounted(rows: Iterable[Row]) -> set[_Tuple]:
    """The tuples that were processed, or lost and counted by a worker."""
    found = set()
    for _at, what, about in rows:
        if what == "lost":
            found.add(tuple(about))
        elif what == "processed":
            task, sender, life, number = about
            found.add((sender, life, task, number))
    return found
