"""Memory for the search: anonymous maps with huge pages, and how much there may be."""

from __future__ import annotations

import contextlib
import ctypes
import mmap
from pathlib import Path

__all__ = ["Arena", "default_budget"]

HUGE = 2 << 20  # bytes of a huge page
_NORESERVE = 0x4000 if hasattr(mmap, "MADV_HUGEPAGE") else 0  # Linux's MAP_NORESERVE
_SHARE_OF_FREE = 0.7
_FALLBACK = 2 << 30
_GROUPS = (  # control groups, version 2 and version 1
    (Path("/sys/fs/cgroup"), "memory.max", "memory.current"),
    (Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes", "memory.usage_in_bytes"),
)


def default_budget() -> int:
    """Bytes that a search may use where the user did not say: most of what is free."""
    free = [room for room in (_free_memory(), _free_in_group()) if room is not None]
    return int(min(free, default=_FALLBACK) * _SHARE_OF_FREE)


def _free_memory() -> int | None:
    """The bytes that the system says are available."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            fields = dict(line.split(":", 1) for line in lines)
        return int(fields["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return None


def _free_in_group() -> int | None:
    """The bytes that a container's limit leaves; None where there is no limit."""
    for folder, limit, used in _GROUPS:
        try:
            most, now = (int((folder / name).read_text()) for name in (limit, used))
            lines = (folder / "memory.stat").read_text().splitlines()
            parts = dict(line.split() for line in lines)
        except (OSError, ValueError):  # no such file, or the word "max"
            continue
        # Cached files that were not used lately are given up before anything is killed.
        return max(most - now + int(parts.get("inactive_file", 0)), 0)
    return None


class Arena:
    """Zeroed memory that costs nothing until it is touched.

    ``address`` is aligned to a huge page. Raises OSError where the system refuses.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NORESERVE
        self._map = mmap.mmap(-1, size + HUGE, flags=flags)
        start = ctypes.addressof(ctypes.c_char.from_buffer(self._map))
        self._skip = -start % HUGE
        self.address = start + self._skip
        if size >= HUGE and hasattr(mmap, "MADV_HUGEPAGE"):
            self._advise(mmap.MADV_HUGEPAGE, 0, size)

    def _advise(self, advice: int, start: int, size: int) -> None:
        # Only speed or memory depend on it, and not every system has such a thing.
        with contextlib.suppress(OSError):
            self._map.madvise(advice, self._skip + start, size)

    def words(self, start: int, count: int) -> ctypes.Array[ctypes.c_uint64]:
        """A window of 64-bit words, from the word ``start`` on."""
        return (ctypes.c_uint64 * count).from_address(self.address + 8 * start)

    def close(self) -> None:
        """Unmap; the addresses are invalid from here on."""
        self._map.close()
