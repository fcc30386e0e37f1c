"""How a command ends: what it returns or raises becomes an exit code and one message.

Exit codes: what the command returns (0 as expected, 1 violated, 2 unknown); 64 for bad
usage and bad input; 69 for a target that failed to answer as its port asks; 70 for an error of
checkvalve itself (EX_USAGE, EX_UNAVAILABLE and EX_SOFTWARE of sysexits.h); 130 after an
interrupt, 143 after a SIGTERM and 141 when nobody reads the output any more, as a shell would
have it.
"""

from __future__ import annotations

import errno
import json
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType, TracebackType

import click

from checkvalve.spec.notation.errors import CheckvalveError, InputError, InternalError
from checkvalve.spec.verdicts.deadline import Spent

from ..computer.collecting import collecting_rarely
from ..computer.streams import SHOW_TRACEBACK

__all__ = [
    "BAD_INPUT", "BROKEN_PIPE", "EXPECTED", "INTERNAL", "INTERRUPTED", "TARGET_FAILED",
    "TERMINATED", "UNKNOWN", "VIOLATED", "run",
]

EXPECTED, VIOLATED, UNKNOWN, BAD_INPUT, TARGET_FAILED, INTERNAL = 0, 1, 2, 64, 69, 70
INTERRUPTED, BROKEN_PIPE, TERMINATED = 130, 141, 143

_UNWRITABLE = (
    errno.ENOSPC, errno.EIO, errno.EFBIG, errno.EDQUOT, errno.EBADF, errno.EAGAIN,
    errno.ECONNRESET,
)
"""The errors of the system for an output that takes no more."""

_WHAT_CHARS_MAX = 2000


def run(group: click.Command, arguments: list[str], program: str = "checkvalve") -> int:
    """Run ``group`` on ``arguments`` and return the exit code; raises nothing."""
    try:
        with _termination_interrupts(), collecting_rarely():
            return _end(group, arguments, program)
    except _Terminated:
        _say("Terminated.")
        return TERMINATED
    except (KeyboardInterrupt, click.Abort):
        _say("Interrupted.")
        return INTERRUPTED
    except BrokenPipeError:
        _stop_writing()
        return BROKEN_PIPE
    except OSError as error:
        _stop_writing()
        what = f"cannot write the output: {error.strerror or error}"
        return _report(InputError(what, "", "Make room for it, or send it elsewhere."), ())


class _Terminated(KeyboardInterrupt):
    """A SIGTERM: whatever ends its workers on an interrupt does so on this."""


@contextmanager
def _termination_interrupts() -> Iterator[None]:
    """Turn a SIGTERM into an interrupt, unless somebody has other plans for it already."""
    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise _Terminated

    try:
        ours = signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
        if ours:
            signal.signal(signal.SIGTERM, interrupt)
    except ValueError:  # only the main thread of a process may
        ours = False
    try:
        yield
    finally:
        if ours:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _end(group: click.Command, arguments: list[str], program: str) -> int:
    """The exit code; raises only what ends the output or the run, of which nothing is left to
    say on stdout."""
    code: object = EXPECTED
    try:
        # Not group.main: it turns a closed pipe into the exit code 1, which means violated.
        # See no-color.org: any value but an empty one.
        color = False if os.environ.get("NO_COLOR") else None
        with group.make_context(program, list(arguments), color=color) as context:
            code = group.invoke(context)
    except click.exceptions.Exit as end:
        code = end.exit_code
    except (BrokenPipeError, click.Abort):
        raise
    except click.ClickException as error:
        code = _report(_from_usage(error), arguments)
    except CheckvalveError as error:
        code = _report(error, arguments)
    except (Spent, MemoryError) as error:  # of a phase that decides nothing by itself
        code = _undecided(error, arguments)
    except Exception as error:  # the last resort: no traceback for the user
        if _is_of_output(error):
            raise
        code = _report(_from_unexpected(error), arguments)
    if sys.stdout is not None:  # so it is where the shell has closed it
        sys.stdout.flush()
    return code if isinstance(code, int) else EXPECTED


def _undecided(error: Spent | MemoryError, arguments: Sequence[str]) -> int:
    """Say that a budget was spent where there was no verdict to say it of."""
    why = str(error) if isinstance(error, Spent) else "there is no memory left"
    step = "Give it more (--max-memory, --max-seconds), or ask about less at a time."
    _say(f"checkvalve: undecided: {why}.\n  {step}")
    _tell_programs(arguments, UNKNOWN, "budget", why, "", step)
    return UNKNOWN


def _is_of_output(error: Exception) -> bool:
    """True if a stream takes no more: an error about a file would name it."""
    return isinstance(error, OSError) and error.filename is None and error.errno in _UNWRITABLE


def _stop_writing() -> None:
    # Python flushes stdout once more when it exits, which would print a traceback.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say(text: str) -> None:
    with suppress(OSError):  # stderr may be full as well, and the exit code still tells
        click.echo(text, err=True)


def _from_usage(error: click.ClickException) -> InputError:
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "checkvalve"
    return InputError(error.format_message().rstrip("."), "", f"See `{command} --help`.")


def _from_unexpected(error: Exception) -> CheckvalveError:
    """Attribute an exception that is not of our own family."""
    if isinstance(error, ModuleNotFoundError):
        from ..computer.environment import missing_extra  # not for the starts where all goes well

        missing = missing_extra(error)
        if missing is not None:
            return _because(missing, error)
    if isinstance(error, OSError) and error.filename is not None:
        what = f"cannot use this file: {error.strerror or error}"
        return _because(InputError(what, str(error.filename), "Give a path that exists and that "
                                   "you may read or write."), error)
    told = " ".join(str(error).split()) or "no message"
    return _because(InternalError(f"{type(error).__name__}: {told}", _place(error)), error)


def _because(error: CheckvalveError, cause: Exception) -> CheckvalveError:
    error.__cause__ = cause
    return error


def _place(error: Exception) -> str:
    """``file:line`` of the innermost frame of ``error``."""
    trail: TracebackType | None = error.__traceback__
    while trail is not None and trail.tb_next is not None:
        trail = trail.tb_next
    if trail is None:
        return ""
    return f"{os.path.basename(trail.tb_frame.f_code.co_filename)}:{trail.tb_lineno}"


def _report(error: CheckvalveError, arguments: Sequence[str]) -> int:
    """Say ``error`` on stderr, and on stdout too where --json was asked for."""
    code = {"input": BAD_INPUT, "target": TARGET_FAILED, "us": INTERNAL}[error.fault]
    if len(error.what) > _WHAT_CHARS_MAX:  # it quotes what was given, which may be of any length
        error.what = error.what[:_WHAT_CHARS_MAX] + "…"
    step = error.next_step[:_WHAT_CHARS_MAX]
    if error.fault == "us":
        step = (f"{step} This is an error of checkvalve; please report it with the command that "
                f"showed it and what it prints with {SHOW_TRACEBACK}=1.").strip()
    _say(_message(error, step))
    if os.environ.get(SHOW_TRACEBACK):
        import traceback  # only here: half a millisecond of every start otherwise

        traceback.print_exception(error)
    _tell_programs(arguments, code, error.fault, error.what, error.where, step)
    return code


def _tell_programs(
    arguments: Sequence[str], code: int, fault: str, what: str, where: str, step: str,
) -> None:
    """Print the document of a command that was asked for one and has no other."""
    if "--json" in arguments:
        click.echo(json.dumps({"error": {
            "fault": fault, "what": what, "where": where, "next_step": step,
            "exit_code": code}}, indent=2))


def _message(error: CheckvalveError, step: str) -> str:
    whose = {"input": "error", "target": "error of the target", "us": "internal error"}
    place = f"{error.where}: " if error.where else ""
    advice = f"\n  {step}" if step else ""
    return f"checkvalve: {whose[error.fault]}: {place}{error.what}.{advice}"
