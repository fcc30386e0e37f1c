"""Reading a file with a text that cannot be trusted."""

from __future__ import annotations

from pathlib import Path

from checkvalve.spec.design.reading.source import MAX_CHARACTERS
from checkvalve.spec.notation.errors import InputError

__all__ = ["MAX_BYTES", "byte_order_mark", "read_text"]

MAX_BYTES = 4 * MAX_CHARACTERS
"""The most bytes of a text of ``MAX_CHARACTERS``, in UTF-8."""
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def read_text(path: Path) -> str:
    """The text of a regular UTF-8 file of at most ``MAX_BYTES`` bytes.

    Raises InputError for anything else; never reads more than that, and never waits (as
    reading a pipe would).
    """
    try:
        if path.is_dir():
            raise InputError("this is a directory, not a design file", str(path),
                             f"Name the files in it, as in `{path}/*.yaml`.")
        if path.exists() and not path.is_file():
            raise InputError("this is not a regular file", str(path), "Name a design file.")
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise InputError("there is no such file", str(path), "Check the path.") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot read this file: {reason}", str(path),
                         "Give a file that you may read.") from None
    if len(data) > MAX_BYTES:
        raise InputError(f"the file has more than the {MAX_CHARACTERS} characters allowed",
                         str(path), "Split the design into several files.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[:error.start].split(b"\n")
        spot = f"{path}:{len(before)}:{len(before[-1].decode()) + 1}"
        what = "the file is UTF-16, and not UTF-8" if data.startswith(_UTF_16) \
            else f"byte {data[error.start]:#04x} is not UTF-8"
        raise InputError(what, spot, "Save the file as UTF-8 text.") from None


def byte_order_mark(path: Path) -> str:
    """The mark with which a file begins that ``read_text`` has read; empty where there is none."""
    with path.open("rb") as file:
        return "\ufeff" if file.read(3) == b"\xef\xbb\xbf" else ""
