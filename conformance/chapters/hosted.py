"""A chapter of a user's, verified in a child: the verdict is given here, from what it reports."""

from __future__ import annotations

import codecs
import math
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from checkvalve.spec.notation.errors import (
    CheckvalveError, InputError, InternalError, TargetError,
)
from checkvalve.spec.verdicts.verdict import Budget, Outcome, Verdict
from checkvalve.spec.verify import Row

from ..adapters.child import SESSION_BYTES_MAX
from ..adapters.hosted import FATAL, STACK, HostedChild, search_path
from ..adapters.process import converse
from .host import BOOT
from .wire import row_from

__all__ = ["GRACE_SECONDS", "OWN_SECONDS", "OwnChapter"]

OWN_SECONDS: Final = 20.0
"""Real time that the Python of a chapter has: its import, its tables, its assumptions."""

_START_SECONDS: Final = 120.0     # of our own imports, on a machine that has much else to do
GRACE_SECONDS: Final = 10.0      # for an engine to notice that its budget is spent
_KINDS: Final = {kind.blame: kind for kind in (InputError, TargetError, InternalError)}
_LIMITS: Final = ("max_memory", "max_seconds", "max_states", "threads")
_KILLED: Final = "was ended by signal 9 "
_OURS: Final = str(Path(__file__).parents[2])
_MEND: Final = "Fix it: a chapter defines machines, and never ends or holds up its reader."


class OwnChapter:
    """The chapter in the Python file ``path``; ``seconds`` are for what it does by itself.

    Raises InputError, with the file and the line, for a chapter that cannot be verified: it
    is not there, fails, hangs, ends its process or takes all memory.
    """

    def __init__(self, path: Path, budget: Budget, seconds: float | None = None) -> None:
        self._path = path
        self._budget = budget
        self._seconds = OWN_SECONDS if seconds is None else seconds
        self._loaded = False
        self._promised = self._load()

    def rows(self) -> Iterator[Row]:
        """The chapter's rows, each as soon as it is decided.

        An engine that runs long after its budget is spent is ended, and the row is unknown.
        """
        try:
            for number, promised in enumerate(self._promised):
                yield self._row(number, promised)
        finally:
            self._child.kill()

    def _row(self, number: int, promised: Row) -> Row:
        """The verdict on a promised row, from the child; unknown if it was late or killed, and then
        another child is started."""
        try:
            reply = self._ask({"do": "row", "number": number}, self.patience)
        except TargetError as error:
            if self._child.was_late:
                reason = (f"the budget of {self._budget.max_seconds:g} s was spent long ago, and "
                          "the search was ended")
            elif _KILLED in error.what:
                reason = ("the system has killed the search, most often because memory ran out; "
                          "--max-memory ends it before")
            else:
                raise self._ended(error) from None
            self._load()
            return replace(promised, verdict=Verdict(
                Outcome.UNKNOWN, "search, incomplete", reason=reason))
        return row_from(reply["row"])

    @property
    def patience(self) -> float:
        """Seconds that the child has for one row."""
        seconds = self._budget.max_seconds
        return math.inf if seconds is None else 2 * seconds + GRACE_SECONDS

    def _load(self) -> list[Row]:
        """Have a child read the chapter; what it promises."""
        self._child = _ChapterChild(str(self._path), self._seconds, BOOT)
        order = {"path": search_path(), "file": str(self._path),
                 "budget": {name: getattr(self._budget, name) for name in _LIMITS}}
        try:
            self._ask(order, _START_SECONDS)
            reply = self._ask({"do": "load"})
        except TargetError as error:
            raise self._ended(error) from None
        self._loaded = True
        return [row_from(row) for row in reply["rows"]]

    def _ask(self, request: dict[str, Any], patience: float | None = None) -> dict[str, Any]:
        """The child's answer; raises TargetError where the child itself fails."""
        self._child.begin_session()
        reply = converse(self._child, request, patience)
        failed = reply.get("failed")
        if failed is None:
            return reply
        self._child.kill()
        raise _KINDS[failed["fault"]](failed["what"], failed["where"], failed["next_step"])

    def _ended(self, error: TargetError) -> CheckvalveError:
        """The error to report where a child was late or has ended by itself."""
        in_file = bool(error.where) and not error.where.startswith(_OURS)
        if self._loaded and not in_file:
            return InternalError(error.what, error.where)
        what = error.what.removeprefix(f"{self._path} ")
        what = what.replace("did not answer within", "does not come to an end within")
        return InputError(f"this file {what}", error.where if in_file else str(self._path), _MEND)


class _ChapterChild(HostedChild):
    """Shows on stderr at once what the chapter prints, for that is why it prints."""

    line_bytes_max = SESSION_BYTES_MAX

    def __init__(self, name: str, timeout: float, boot: str) -> None:
        super().__init__(name, timeout, boot)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._dead = False

    def _keep_tail(self, chunk: bytes) -> None:
        before = self._log()
        super()._keep_tail(chunk)
        # Once it reports its own end, what it says becomes part of the message.
        said = before + chunk.decode("utf-8", "replace")
        self._dead = self._dead or self.was_late or STACK in said or FATAL in said
        if not self._dead:
            with suppress(OSError):
                sys.stderr.write(self._decoder.decode(chunk))
                sys.stderr.flush()

    def _printed(self, log: str) -> str:
        return ""    # it has been shown
