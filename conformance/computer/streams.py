"""Standard output and files as this project writes them: all of it, or an error.

Python writes stdout without a buffer under ``PYTHONUNBUFFERED`` or ``-u``; then one write may
take a part of a text, and callers do not look at how much. A character that an encoding lacks, or
half of one that came with a file's name, is written as JSON escapes it.
"""

from __future__ import annotations

import codecs
import io
import json
import sys

__all__ = ["ESCAPE", "SHOW_TRACEBACK", "write_all"]

SHOW_TRACEBACK = "CHECKVALVE_TRACEBACK"
"""Set this environment variable to see where an error came from."""

ESCAPE = "checkvalve.escape"
"""The name of the error handler that writes what cannot be encoded as ``\\uXXXX``."""


def _escaped(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return json.dumps(error.object[error.start:error.end])[1:-1], error.end


codecs.register_error(ESCAPE, _escaped)


def write_all() -> None:
    """Have stdout write all of every text or raise OSError, and neither it nor stderr refuse
    a character."""
    for stream in (sys.stdout, sys.stderr):
        # It is None where the shell has closed it, and something else where it is captured.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=ESCAPE)
    stdout = sys.stdout
    if isinstance(stdout, io.TextIOWrapper) and isinstance(stdout.buffer, io.RawIOBase):
        # A buffered writer continues until all is written.
        whole = io.BufferedWriter(stdout.buffer)
        sys.stdout = io.TextIOWrapper(whole, stdout.encoding, ESCAPE, write_through=True)
        _kept.append(stdout)


_kept: list[object] = []
"""Streams that would close their descriptor if they were forgotten."""
