"""Exhaustive breadth-first search: the part that Python does between native calls."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Literal

from ...notation.errors import InternalError
from ...notation.model import Fault, LoweredRule, Model
from ...notation.renaming import Renaming
from ...verdicts.deadline import Spent
from ...verdicts.memory import meter, room
from ...verdicts.verdict import Budget
from .control import (
    BLOCK, CHUNK, SHARED_WORDS, THREAD_WORDS, Shared, Status, Thread, pending_states,
    recent_states,
)
from .jit import Native, compile_model
from .memory import HUGE, Arena
from .successors import FOUND_HEAD

__all__ = ["NativeResult", "Search", "Stop", "explore"]

Stop = Literal["", "memory", "time", "states"]

FULL_AT = 0.75  # share of the table's places that may be taken
GROWTH = 1.5  # with FULL_AT, a large table is never less than half full
GROWTHS = ((1 << 18, 4.0), (1 << 21, 2.0))  # smaller tables, by lines, grow more at once
FIRST_LINES = 1 << 12
LEVEL_WIDE = 16_384  # states; narrower levels are not worth a second thread's start
QUOTA = 1 << 18  # states between two looks at the clock, at most
WORK_QUOTA = 1 << 24  # actions times words tried between two looks
QUOTAS_QUICK = 4  # after so many the code is compiled again, to run fast
LEVEL_ROOM = 1 << 16
_FIXED = 4 << 20  # bytes set aside for bookkeeping
STASH_ROOM = 1 << 16  # entries out of place while a table grows


@dataclass(frozen=True)
class NativeResult:
    """The result of a search.

    ``transitions`` counts enabled action instances over all expanded states; ``depth`` is
    the number of steps to the farthest state. ``violations`` maps the place of a rule in
    the caller's list to its shortest run, as indices into ``model.actions``; ``fault`` is
    the first fault with the run to the state in which its action (the last one) is at
    fault. ``complete`` is true only if every reachable state was expanded;
    ``stopped_by`` names the budget that ended the search otherwise, and ``late`` what was
    done besides searching when the time ended. ``seconds`` and ``compile_seconds`` have
    nothing in common. ``peak_bytes`` counts the table, the states and the buffers; ``words``
    is the size of a state.
    """

    states: int
    transitions: int
    depth: int
    complete: bool
    stopped_by: Stop
    seconds: float
    compile_seconds: float
    bytes_per_state: float
    peak_bytes: int
    words: int
    late: str = ""
    violations: dict[int, list[int]] = field(default_factory=dict)
    fault: tuple[Fault, list[int]] | None = None


@dataclass
class _Worker:
    """The buffers and the control block of one thread."""

    control: ctypes.Array[ctypes.c_uint64]
    buffers: list[ctypes.Array[ctypes.c_uint64]]


class Search:
    """One search of one model, with its table and its states.

    ``order`` holds the states as they were found; level ``d`` is the part up to
    ``ends[d]`` from where level ``d - 1`` ends. Places with a zero word 0 are empty (a
    thread claimed them and did not need them).
    """

    def __init__(
        self, native: Native, rules: int, budget: Budget, threads: int
    ) -> None:
        self.native = native
        self.model = native.layout.model
        self.words = native.layout.words
        self.via_bytes = 1 if native.commuting.words else 0
        self.state_bytes = 8 * self.words + self.via_bytes
        self.rules = rules
        self.budget = budget
        self.deadline = budget.deadline
        self.memory = room(budget.max_memory)
        self.quota = quota(len(self.model.actions), self.words)
        self.stride = FOUND_HEAD + self.words
        self.block_successors = native.block * len(self.model.actions) + 1
        self.workers = [self._worker() for _ in range(threads)]
        self.buffer_bytes = sum(
            ctypes.sizeof(part) for worker in self.workers for part in worker.buffers)
        self.most_lines = self._most_lines()
        # What the threads may still add after the last look at the limits.
        self.slack = threads * (
            CHUNK + self.block_successors + pending_states(len(self.model.actions), self.words))
        self.table, self.order, self.via = self._arenas()
        table = native.commuting.table()
        self.skips = (ctypes.c_uint64 * max(len(table), 1))(*table)
        self.lines = min(max(FIRST_LINES, self.slack // 2), self.most_lines)
        self.stash = (ctypes.c_uint64 * STASH_ROOM)()
        self.peak = 0
        self.ends: list[int] = []
        self.shared = (ctypes.c_uint64 * SHARED_WORDS)()
        self.level_ends = (ctypes.c_uint64 * LEVEL_ROOM)()
        self.pool = ThreadPoolExecutor(threads - 1) if threads > 1 else None
        self.found = (ctypes.c_uint64 * (self.stride * (rules + 1)))()
        for rule in range(rules + 1):
            self.found[rule * self.stride] = 1  # live: no trace yet
        self.late = ""
        self.most_states: tuple[int, int] | None = None  # of the budget, and their depth
        self.violations: dict[int, list[int]] = {}
        self.fault: tuple[Fault, list[int]] | None = None
        self._begin()

    # --- memory ----------------------------------------------------------------------

    def _worker(self) -> _Worker:
        n, actions = self.block_successors, len(self.model.actions)
        waiting = pending_states(actions, self.words)
        buffers = [(ctypes.c_uint64 * size)() for size in (
            n * self.words + self.words, n // 2 + actions + 2,
            recent_states(self.words) * self.words, waiting * self.words, waiting,
            waiting // 8 + 1)]
        control = (ctypes.c_uint64 * THREAD_WORDS)()
        for place, part in zip(
            (Thread.SUCCESSORS, Thread.ACTIONS, Thread.RECENT, Thread.PENDING,
             Thread.HASHES, Thread.VIAS), buffers, strict=True,
        ):
            control[place] = ctypes.addressof(part)
        return _Worker(control, buffers)

    def _most_lines(self) -> int:
        """The largest table that leaves enough memory for its states."""
        room = self.memory - self.buffer_bytes - _FIXED
        per_line = 64 + 8 * FULL_AT * 1.05 * self.state_bytes
        return max(int(room / per_line), 64)

    def _arenas(self) -> tuple[Arena, Arena, Arena]:
        """Address space for the largest table and its states; the system may grant less."""
        while True:
            self.order_room = int(self.most_lines * 8 * FULL_AT * 1.05) + 2 * self.slack + 1024
            try:
                return (Arena(64 * self.most_lines), Arena(8 * self.words * self.order_room),
                        Arena(self.via_bytes * self.order_room + 1))
            except OSError:
                if self.most_lines < FIRST_LINES:
                    raise
                self.most_lines //= 2

    def _used(self) -> int:
        """Bytes in use now: table and states in whole huge pages, the buffers."""
        states = self.state_bytes * self.shared[Shared.OUT_END]
        pages = -(-states // HUGE) + -(-64 * self.lines // HUGE)
        return pages * HUGE + self.buffer_bytes

    def _grow(self) -> bool:
        """Make the table larger; false where the budget has no room for one."""
        factor = next((by for lines, by in GROWTHS if self.lines < lines), GROWTH)
        lines = min(int(self.lines * factor), self.most_lines)
        if lines < self.lines * 1.1:
            return False
        ratio = lines / self.lines
        end, stashed = self.lines, 0
        while (first := int(end / ratio) + 2) < end:
            stashed = self._migrate(first, end, lines, stashed)
            end = first
        stashed += self.native.migrate(
            self.table.address, 0, end, lines, lines, lines, self._stash_at(stashed))
        self.native.restore(self.table.address, lines, self._stash_at(0), stashed)
        self.lines = lines
        self._publish_table()
        return True

    def _migrate(self, first: int, end: int, lines: int, stashed: int) -> int:
        """Move a part of the table to its places in a table of so many lines.

        Returns how many entries are stashed now.
        """
        def part(first: int, until: int, floor: int, limit: int, stash: int) -> int:
            return self.native.migrate(
                self.table.address, first, until, floor, limit, lines, self._stash_at(stash))

        if stashed > STASH_ROOM // 4:
            raise InternalError("the explorer's table has too many entries out of place")
        if self.pool is None or end - first < 4096:
            return stashed + part(first, end, end, lines, stashed)
        # Neither thread writes to a line of the other: what would overflow is stashed.
        half = (first + end) // 2
        border = half * lines // self.lines
        other = self.pool.submit(part, half, end, border, lines, STASH_ROOM // 2)
        stashed += part(first, half, end, border, stashed)
        more = other.result()
        ctypes.memmove(self._stash_at(stashed), self._stash_at(STASH_ROOM // 2), 8 * more)
        return stashed + more

    def _stash_at(self, place: int) -> int:
        return ctypes.addressof(self.stash) + 8 * place

    def _publish_table(self) -> None:
        # What the threads may add after they saw the limit must find a free slot.
        limit = max(min(int(self.lines * 8 * FULL_AT), self.lines * 8 - 2 * self.slack), 1)
        if self.budget.max_states is not None:
            limit = min(limit, self.budget.max_states + (self.most_states is not None))
        self.shared[Shared.TABLE] = self.table.address
        self.shared[Shared.LINES] = self.lines
        self.shared[Shared.LIMIT] = limit

    # --- the search --------------------------------------------------------------------

    def _begin(self) -> None:
        """Put the initial state in place and prepare to expand level 0."""
        shared = self.shared
        self._publish_table()
        shared[Shared.ORDER] = self.order.address
        shared[Shared.VIA] = self.via.address
        shared[Shared.SKIPS] = ctypes.addressof(self.skips)
        shared[Shared.ORDER_LIMIT] = self.order_room - self.slack
        shared[Shared.LEVELS] = ctypes.addressof(self.level_ends)
        shared[Shared.LEVEL_ROOM] = LEVEL_ROOM
        shared[Shared.LEVEL_WIDE] = LEVEL_WIDE if self.pool else (1 << 63)
        shared[Shared.LEVEL_END] = shared[Shared.OUT_END] = shared[Shared.COUNT] = 1
        initial = self.native.layout.initial()
        window = self.order.words(0, self.words)
        for index, word in enumerate(initial):
            window[index] = word
        if self.via_bytes:
            ctypes.c_uint8.from_address(self.via.address).value = self.native.commuting.start
        self.native.seed(self.table.address, self.lines, self.order.address)
        self.ends.append(1)

    def run(self) -> tuple[bool, Stop]:
        """Search until nothing is left to find; true where all states were expanded."""
        try:
            while True:
                status = self._expand()
                self.peak = max(self.peak, self._used())
                if status == Status.FULL and (stop := self._make_room()):
                    return False, stop
                if status == Status.LEVEL_DONE:
                    finished = self._close_level()
                    if finished is not None:
                        return finished, ""
                elif status == Status.EXHAUSTED:
                    self._take_levels()
                    return True, ""
                if self.shared[Shared.CURSOR] > QUOTAS_QUICK * self.quota:
                    self.native.hasten(self.deadline)
                if self.deadline.passed():
                    return False, "time"
                if meter().is_over():
                    return False, "memory"
        except Spent as late:
            self.late = str(late)
            return False, "time"
        finally:
            if self.pool is not None:
                self.pool.shutdown()

    def found_until(self, stopped_by: Stop) -> tuple[int, int]:
        """The number of states that were found, and the depth, without what showed that there are
        more."""
        if stopped_by == "states" and self.most_states is not None:
            return self.most_states
        return int(self.shared[Shared.COUNT]), len(self.ends) - 1

    def _make_room(self) -> Stop:
        """Grow the table; the name of the budget that does not allow it, or nothing."""
        shared = self.shared
        most = self.budget.max_states
        if most is not None and shared[Shared.COUNT] >= most:
            if self.most_states is not None or shared[Shared.COUNT] > most:
                return "states"
            # These may be all, which is known when one more is found or nothing is left.
            self.most_states = most, len(self.ends) - 1
            self._publish_table()
            return ""
        if shared[Shared.OUT_END] >= shared[Shared.ORDER_LIMIT] or not self._grow():
            return "memory"
        return ""

    def _expand(self) -> Status:
        """Let the workers expand (what is left of) the level, or many narrow levels."""
        width = self.shared[Shared.LEVEL_END] - (self.ends[-2] if len(self.ends) > 1 else 0)
        wide = self.pool is not None and width >= LEVEL_WIDE
        for worker in self.workers:
            worker.control[Thread.QUOTA] = self.quota
        first = self.workers[0].control
        if not wide:
            first[Thread.POSITION] = self.shared[Shared.OUT_END]
            first[Thread.CHUNK_END] = self.order_room
            status = Status(self.native.levels(
                ctypes.addressof(self.shared), ctypes.addressof(first)))
            self._take_levels()
            return status
        calls = [ctypes.addressof(worker.control) for worker in self.workers]
        shared = ctypes.addressof(self.shared)
        assert self.pool is not None
        others = [self.pool.submit(self.native.work, shared, call) for call in calls[1:]]
        statuses = [self.native.work(shared, calls[0]), *(other.result() for other in others)]
        return Status(max(statuses, key=lambda status: (status == Status.FULL, status)))

    def _take_levels(self) -> None:
        """Copy the ends of the levels that native code closed."""
        count = self.shared[Shared.LEVEL_COUNT]
        self.ends.extend(self.level_ends[:count])
        self.shared[Shared.LEVEL_COUNT] = 0

    def _close_level(self) -> bool | None:
        """Look at what the level broke and go to the next; its answer ends the search."""
        self._collect()
        shared = self.shared
        start, end = shared[Shared.LEVEL_END], shared[Shared.OUT_END]
        if self._is_empty(start, end):
            return True
        if self.fault is not None or (self.rules and len(self.violations) == self.rules):
            return False
        self.ends.append(end)
        shared[Shared.CURSOR] = start
        shared[Shared.LEVEL_END] = end
        for worker in self.workers:  # the next level's states start after this one's
            worker.control[Thread.POSITION] = worker.control[Thread.CHUNK_END] = 0
        return None

    def _is_empty(self, start: int, end: int) -> bool:
        """True if a part of the order has no state, though threads may have claimed it."""
        if end - start > CHUNK * len(self.workers):
            return False  # each thread leaves less than a chunk empty
        window = self.order.words(start * self.words, (end - start) * self.words)
        return not any(window[::self.words])

    # --- broken rules ------------------------------------------------------------------

    def _collect(self) -> None:
        """If the level breaks something, find out what, and rebuild the traces."""
        if not any(worker.control[Thread.FLAGGED] for worker in self.workers):
            return
        for worker in self.workers:
            worker.control[Thread.FLAGGED] = 0
        start = self.ends[-2] if len(self.ends) > 1 else 0
        inspect = self.native.inspector(self.deadline)
        for address, count in self._pieces(start, self.ends[-1]):
            self.deadline.check("finding out which rule is broken at depth "
                                f"{len(self.ends) - 1}")
            inspect(address, count, ctypes.addressof(self.found))
        for rule in range(self.rules + 1):
            record = self.found[rule * self.stride:(rule + 1) * self.stride]
            if record[1]:
                self._record(rule, tuple(record[FOUND_HEAD:]), record[2])

    def _pieces(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """A part of the order, as pieces between which there is time to look at the clock."""
        for first in range(start, end, self.quota):
            yield (self.order.address + 8 * self.words * first,
                   min(self.quota, end - first))

    def _record(self, rule: int, state: tuple[int, ...], code: int) -> None:
        path = self.path_to(state, len(self.ends) - 1)
        if rule == self.rules:
            action = code >> 16
            self.fault = (self.model.actions[action].faults[code & 0xFFFF], [*path, action])
        else:
            self.violations[rule] = [*path, code - 1] if code else path
        self.found[rule * self.stride] = self.found[rule * self.stride + 1] = 0

    def path_to(self, state: tuple[int, ...], level: int) -> list[int]:
        """A shortest run to a state of a level: the indices of its actions.

        Of all such runs, the one found by going back to the smallest predecessor each
        time; so it does not depend on the order of the search.
        """
        target = (ctypes.c_uint64 * self.words)(*state)
        result = (ctypes.c_uint64 * (self.words + 1))()
        buffer, taken = (ctypes.addressof(part) for part in self.workers[0].buffers[:2])
        path = []
        for depth in range(level - 1, -1, -1):
            start = self.ends[depth - 1] if depth else 0
            best: tuple[list[int], int] | None = None  # the smallest state, as in one piece
            for address, count in self._pieces(start, self.ends[depth]):
                self.deadline.check("retracing the way to a violation (it was found at depth "
                                    f"{level})")
                if self.native.predecessor(address, count, ctypes.addressof(target), buffer,
                                           taken, ctypes.addressof(result)):
                    found = result[1:], int(result[0])
                    best = found if best is None else min(best, found)
            assert best is not None, "a state has a predecessor in the level before"
            path.append(best[1])
            target = (ctypes.c_uint64 * self.words)(*best[0])
        return path[::-1]


def quota(actions: int, words: int) -> int:
    """The number of states of a machine that are expanded between two looks at the clock."""
    return max(BLOCK, min(QUOTA, WORK_QUOTA // (max(actions, 1) * words)))


def thread_count(budget: Budget) -> int:
    """The threads to use: those asked for, or one per core that this process may use."""
    if budget.threads is not None:
        return max(1, budget.threads)
    affinity: Callable[[int], set[int]] | None = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


def explore(
    model: Model, rules: Sequence[LoweredRule], budget: Budget,
    renamings: Sequence[Renaming] = (),
) -> NativeResult:
    """Search every reachable state of a model, within a budget.

    ``rules`` are of the kinds *always*, ``never stuck`` and *step*; each broken one gets a
    shortest trace of its own, and the search continues until all are broken or no state is
    left. With ``renamings``, the smallest of a state's renamings stands for all of them, and
    a trace's step leads to a state of which the next is the smallest renaming. Raises TooWide
    where a state does not fit in the words that the explorer packs.
    """
    budget, threads = budget.start(), thread_count(budget)
    began = budget.deadline.spent()
    native = compile_model(
        model, rules, threads, deadline=budget.deadline, renamings=renamings)
    search = Search(native, len(rules), budget, threads)
    complete, stopped_by = search.run()
    states, depth = search.found_until(stopped_by)
    return NativeResult(
        states=states,
        transitions=sum(worker.control[Thread.TRANSITIONS] for worker in search.workers),
        depth=depth,
        complete=complete,
        stopped_by=stopped_by,
        seconds=budget.deadline.spent() - began - native.seconds,
        compile_seconds=native.seconds,
        late=search.late,
        bytes_per_state=search.peak / states,
        peak_bytes=search.peak,
        words=search.words,
        violations=search.violations,
        fault=search.fault,
    )
