"""``python -m benchmarks.pages`` (``make pages``): writes all pages and the builder anew."""

from __future__ import annotations

from . import builder, records

if __name__ == "__main__":
    records.main()
    builder.main()
