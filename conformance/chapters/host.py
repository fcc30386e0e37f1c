"""The process that reads and verifies a user's chapter, and reports it to its parent.

A chapter is Python: what it imports, computes and assumes may hang, end the process, print or
take all memory. So ``hosted.py`` starts a child with ``BOOT``, and asks it one line at a time:
for the promises of a chapter (``{"do": "load"}``), then for one row after another (``{"do":
"row", "number": n}``). The answer is what was asked for, or ``{"failed": …}``.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, Final

from checkvalve.spec.verdicts.memory import limited_to
from checkvalve.spec.verdicts.verdict import Budget
from checkvalve.spec.verify import Deciding

from ..adapters.host import confine, end_process, limited_memory, private_pipes
from ..computer.streams import SHOW_TRACEBACK
from .file import fault_of, load_chapter
from .wire import row_to

__all__ = ["BOOT", "hosted", "load"]

BOOT: Final = (
    "import json, sys; order = json.loads(sys.stdin.buffer.readline()); "
    "sys.path[:] = order['path']; "
    "from checkvalve.conformance.chapters.host import hosted; hosted(order)"
)
"""The text of the child: what is imported is looked for where its parent looks."""

Message = dict[str, Any]


def load(path: Path, budget: Budget) -> Deciding:
    """The chapter in a file, its promises and assumptions looked at, and nothing decided.

    This runs whatever the file has to say. Raises InputError, with the line, for a mistake.
    """
    deciding = Deciding(load_chapter(path), budget)
    deciding.check_constants()
    return deciding


def hosted(order: Message) -> None:
    """Answer for the chapter that ``order``, the first line, names. Ends the process."""
    code = 70
    try:
        requests, replies = private_pipes()
        confine()
        os.environ["PYTHONBREAKPOINT"] = "0"     # there is nobody to type at it
        budget = Budget(**order["budget"])
        with limited_to(budget.max_memory):
            _Host(Path(order["file"]), budget, replies).run(order["id"], requests)
        code = 0
    except BaseException:  # noqa: BLE001 - the parent reports it
        traceback.print_exc()
    finally:
        # Threads that the chapter has left running would keep an ordinary exit waiting.
        end_process(code)


class _Host:
    """Puts what is found, or how it failed, into lines."""

    def __init__(self, path: Path, budget: Budget, replies: IO[bytes]) -> None:
        self._path = path
        self._budget = budget
        self._replies = replies
        self._deciding: Deciding | None = None

    def run(self, number: int, requests: IO[bytes]) -> None:
        """Say that all is ready, and answer until ``requests`` ends."""
        self._send(number, {"ready": True})
        for line in requests:
            request = json.loads(line)
            ask = self._load if request["do"] == "load" else self._row
            self._send(request["id"], self._answered(ask, request))

    def _answered(self, ask: Callable[[Message], Message], request: Message) -> Message:
        try:
            return ask(request)
        except BaseException as caught:  # noqa: BLE001 - whatever the chapter may raise
            if os.environ.get(SHOW_TRACEBACK):
                traceback.print_exc()
            error = fault_of(self._path, caught)
            return {"failed": {"fault": error.fault, "what": error.what, "where": error.where,
                               "next_step": error.next_step}}

    def _load(self, _request: Message) -> Message:
        with limited_memory():
            self._deciding = load(self._path, self._budget)
        return {"rows": [row_to(row) for row in self._deciding.promised]}

    def _row(self, request: Message) -> Message:
        assert self._deciding is not None
        return {"row": row_to(self._deciding.row(request["number"]))}

    def _send(self, number: int, reply: Message) -> None:
        sys.stdout.flush()    # what the chapter printed comes before what is found
        self._replies.write(json.dumps({"id": number} | reply).encode() + b"\n")
        self._replies.flush()
