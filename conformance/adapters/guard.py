"""Calls into adapters of this process: what they raise becomes an error of the target.

A Python function cannot be killed as a process can. On the main thread an alarm interrupts one
that takes too long; elsewhere there is no limit, and ``command:`` is the way to test what may
hang.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Final, TypeVar

from ...spec.notation.errors import CheckvalveError, TargetError
from ..ports.base import excerpt

__all__ = ["Guard"]

R = TypeVar("R")

_REPEAT_SECONDS: Final = 0.5     # for code that swallows the first interruption


class _Late(BaseException):
    """Not an ``Exception``, so that ``except Exception`` in a target does not swallow it."""


class Guard:
    """Runs calls for a target, each for at most ``timeout`` seconds (``None``: no limit).

    With a limit, what the target prints on stdout goes to stderr: stdout belongs to us.
    """

    def __init__(self, timeout: float | None) -> None:
        self._timeout = timeout

    def __call__(self, name: str, action: Callable[[], R]) -> R:
        """The result of ``action``; raises ``TargetError`` for what it raises, or when late."""
        try:
            if self._timeout is None:
                return action()
            with contextlib.redirect_stdout(sys.stderr), _alarm(self._timeout):
                return action()
        except CheckvalveError:
            raise
        except _Late:
            raise TargetError(
                f"{name} did not answer within {self._timeout:g} s",
                next_step="Find what it waits for: an adapter answers every request at once.",
            ) from None
        except (Exception, SystemExit) as error:
            raise _raised(name, error) from error


def _raised(name: str, error: BaseException) -> TargetError:
    frames = traceback.extract_tb(error.__traceback__)
    where = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    return TargetError(
        f"{name} raised {type(error).__name__}: {excerpt(str(error))}", where,
        "Mend it, or answer with an error of the protocol.")


@contextlib.contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    if (threading.current_thread() is not threading.main_thread()
            or not hasattr(signal, "setitimer")):
        yield
        return
    armed = True

    def interrupt(signum: int, frame: FrameType | None) -> None:
        if armed:
            raise _Late

    before = signal.signal(signal.SIGALRM, interrupt)
    left, interval = signal.setitimer(signal.ITIMER_REAL, seconds, _REPEAT_SECONDS)
    try:
        yield
    finally:
        armed = False
        signal.setitimer(signal.ITIMER_REAL, left, interval)
        signal.signal(signal.SIGALRM, before)
