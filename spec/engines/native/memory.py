"""Memory for the search: anonymous maps with huge pages."""

from __future__ import annotations

import contextlib
import ctypes
import mmap

__all__ = ["HUGE", "Arena"]

HUGE = 2 << 20  # bytes of a huge page
_NORESERVE = 0x4000 if hasattr(mmap, "MADV_HUGEPAGE") else 0  # Linux's MAP_NORESERVE


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
