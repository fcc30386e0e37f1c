"""The memory that this process may use, which every phase of a command asks about.

Memory belongs to a process and not to a search, so there is one limit for it. A command sets it
(:func:`limited_to`); each look at the deadline is a look at the memory as well, and raises
:class:`~checkvalve.spec.verdicts.deadline.OutOfMemory` where more is in use. What is about to take
much at once (tables, arrays, a solver) asks before (:func:`ask`, :func:`room`), since nothing can
look at a clock or a meter in the middle of it.

In use is what is resident, as the system counts it: the program and its libraries too, some 50 to
200 MB. That is what a container's limit is about, and what the system kills for.
"""

from __future__ import annotations

import ctypes
import gc
import math
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

__all__ = [
    "Meter", "fitting", "free", "in_use", "limit_for_good", "limited_to", "meter", "room",
]

SHARE_OF_FREE: Final = 0.7
"""The part of what is free that is used where nobody said how much. What is left is for files that
are read meanwhile, for other processes that grow (a test run beside this one), and for the tenth
by which a phase may overshoot; a process that is killed gives no verdict at all."""
FALLBACK: Final = 2 << 30
LOOK_SECONDS: Final = 0.002
"""Seconds between two looks: Python itself takes some 2 MB in them, arrays are asked for before."""
LEAST_GAIN: Final = 0.02
"""A part of the limit; where collecting garbage gains less, it is not tried again soon."""
_STATM = "/proc/self/statm"
_GROUPS = Path("/sys/fs/cgroup")
_GROUP_FILES = (  # control groups, version 2 and version 1
    ("", "memory.max", "memory.current"),
    ("memory", "memory.limit_in_bytes", "memory.usage_in_bytes"),
)
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


def in_use() -> int:
    """Bytes of this process that are resident now; 0 where the system does not say."""
    try:
        with open(_STATM, "rb", buffering=0) as file:
            return int(file.read(96).split()[1]) * _PAGE
    except (OSError, IndexError, ValueError):
        pass
    try:
        import resource
    except ImportError:
        return 0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # the peak, at least
    return most if sys.platform == "darwin" else most * 1024


def fitting() -> int:
    """Bytes that this process may use where nobody said how many: what it has, and most of what is
    free in the machine, in its container, and below its limits (``ulimit``)."""
    return in_use() + int(free() * SHARE_OF_FREE)


def free() -> int:
    """Bytes that are free for this process."""
    known = (_free_in_machine(), _free_in_groups(), _free_below_limits())
    return min((bytes_ for bytes_ in known if bytes_ is not None), default=FALLBACK)


def _free_in_machine() -> int | None:
    """The bytes that the system says are available."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            fields = dict(line.split(":", 1) for line in lines)
        return int(fields["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return None


def _free_in_groups() -> int | None:
    """The bytes that the limits of a container leave; None where there is no limit. A process is in
    a group, and that in another: the closest limit counts."""
    found = [left for folder, limit, used in _groups()
             if (left := _left_in(folder, limit, used)) is not None]
    return min(found, default=None)


def _groups() -> Iterator[tuple[Path, str, str]]:
    """The folders of the groups that this process is in, up to their root, with the names of the
    files for the limit and for what is used."""
    own: dict[str, str] = {}
    with suppress(OSError, ValueError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, kinds, path = line.split(":", 2)
            own.update(dict.fromkeys(kinds.split(","), path))
    for kind, limit, used in _GROUP_FILES:
        root = _GROUPS / kind
        # In a container the path may be that of the host, of which nothing is there.
        below = root / own.get(kind, "/").lstrip("/")
        for folder in (below, *below.parents):
            yield folder, limit, used
            if folder == root:
                break


def _left_in(folder: Path, limit: str, used: str) -> int | None:
    try:
        most, now = (int((folder / name).read_text()) for name in (limit, used))
        lines = (folder / "memory.stat").read_text().splitlines()
        parts = dict(line.split() for line in lines)
    except (OSError, ValueError):  # no such file, or the word "max"
        return None
    # Cached files that were not used lately are given up before anything is killed.
    return max(most - now + int(parts.get("inactive_file", 0)), 0)


def _free_below_limits() -> int | None:
    """The bytes that the limits of this process leave (``ulimit -v`` and ``-d``)."""
    try:
        import resource
        with open(_STATM, "rb", buffering=0) as file:
            numbers = [int(part) * _PAGE for part in file.read(96).split()]
        limits = ((resource.RLIMIT_AS, numbers[0]), (resource.RLIMIT_DATA, numbers[5]))
        left = [most - used for limit, used in limits
                if (most := resource.getrlimit(limit)[0]) != resource.RLIM_INFINITY]
    except (ImportError, OSError, IndexError, ValueError):
        return None
    return max(min(left), 0) if left else None


class Meter:
    """The bytes in use, beside those that may be: ``most`` bytes (infinite: no limit).

    ``used`` says how much is in use, and ``clock`` when that was; a test replaces both.
    """

    def __init__(
        self, most: float = math.inf, used: Callable[[], int] = in_use,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.most = most
        self._used, self._clock = used, clock
        self._next_look = -math.inf
        self._collected_at = 0.0

    def left(self) -> float:
        """Bytes that may still be taken, never negative; infinite without a limit."""
        return math.inf if math.isinf(self.most) else max(0.0, self.most - self._used())

    def is_over(self) -> bool:
        """True if more is in use than may be, also after garbage was given back. Asked often, it
        looks every few milliseconds."""
        if math.isinf(self.most):
            return False
        now = self._clock()
        if now < self._next_look:
            return False
        self._next_look = now + LOOK_SECONDS
        if self._used() <= self.most:
            return False
        if self._used() < self._collected_at + LEAST_GAIN * self.most:
            return True  # so little is new that nothing can be gained
        self.give_back()
        self._collected_at = self._used()
        over = self._collected_at > self.most
        if over:
            self._next_look = -math.inf  # the next look finds it as well
        return over

    def has_room(self, size: float) -> bool:
        """True if so many bytes may be taken at once."""
        if size <= self.left():
            return True
        self.give_back()
        return size <= self.left()

    def give_back(self) -> None:
        """Give what is garbage back to the system."""
        gc.collect()
        trim = getattr(_libc(), "malloc_trim", None)
        if trim is not None:
            trim(0)


def _libc() -> ctypes.CDLL | None:
    try:
        return ctypes.CDLL(None) if os.name == "posix" else None
    except OSError:
        return None


_meters: Final = [Meter()]
"""The meters that are set, the last of which counts."""


def meter() -> Meter:
    """The meter of this process."""
    return _meters[-1]


@contextmanager
def limited_to(most: int | None) -> Iterator[Meter]:
    """Let this process use so many bytes (None: what fits the machine) inside of the block."""
    _meters.append(Meter(fitting() if most is None else most))
    try:
        yield _meters[-1]
    finally:
        _meters.pop()


def limit_for_good(most: float) -> None:
    """Let this process use so many bytes from now on: a worker that another process has started."""
    _meters.append(Meter(most))


def room(budget: int | None = None) -> int:
    """Bytes that the tables of a search may take: of its ``budget``, and of what is left for the
    process; most of what is free where nothing says how much."""
    left = meter().left()
    if budget is None and math.isinf(left):
        return int(free() * SHARE_OF_FREE)
    return int(min(left, math.inf if budget is None else budget))
