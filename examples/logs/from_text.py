"""Lines of text to JSON lines: python from_text.py 'REGEX' < app.log > app.jsonl

The named groups of the pattern, which is looked for in each line, are the columns. Lines without a
match are left out, and counted.
"""

import json
import re
import sys
from collections.abc import Iterable
from typing import TextIO


def convert(pattern: str, lines: Iterable[str], out: TextIO) -> int:
    """Write an object for each line that matches; the number of the others."""
    wanted, others = re.compile(pattern), 0
    for line in lines:
        found = wanted.search(line.rstrip("\r\n"))
        if found is None:
            others += 1
        else:
            columns = {name: text for name, text in found.groupdict().items() if text is not None}
            out.write(json.dumps(columns, ensure_ascii=False) + "\n")
    return others


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.stdin.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    left_out = convert(sys.argv[1], sys.stdin, sys.stdout)
    print(f"{left_out} lines do not match", file=sys.stderr)
