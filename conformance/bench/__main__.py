"""``make bench``: the explorer, programs a second, and the explorer beside SPIN."""

from __future__ import annotations

from .explorer import main
from .peers.__main__ import SIZES, compare

if __name__ == "__main__":
    main()
    print("\nbeside other programs, once on the smaller ring (more: make bench-peers):\n")
    compare(SIZES[0], 1)
