"""How a command ends: what it returns or raises becomes an exit code and one message.

Exit codes: what the command returns (0 as expected, 1 violated, 2 unknown); 64 for bad
usage and for what only the user or the target's author can mend; 70 for an error of
checkvalve itself (64 and 70 are EX_USAGE and EX_SOFTWARE of sysexits.h); 130 after an
interrupt and 141 when nobody reads the output any more, as a shell would have it.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from types import TracebackType

import click

from checkvalve.spec.notation.errors import CheckvalveError, InputError, InternalError

__all__ = [
    "BAD_INPUT", "BROKEN_PIPE", "INTERNAL", "INTERRUPTED", "EXPECTED", "UNKNOWN", "VIOLATED",
    "run",
]

EXPECTED, VIOLATED, UNKNOWN, BAD_INPUT, INTERNAL = 0, 1, 2, 64, 70
INTERRUPTED, BROKEN_PIPE = 130, 141

SHOW_TRACEBACK = "CHECKVALVE_TRACEBACK"
"""Set this environment variable to see where an error came from."""


def run(group: click.Command, arguments: list[str], program: str = "checkvalve") -> int:
    """Run ``group`` on ``arguments`` and return the exit code; raises nothing."""
    try:
        # Not group.main: it turns a closed pipe into the exit code 1, which means violated.
        with group.make_context(program, list(arguments)) as context:
            code = group.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as end:
        return end.exit_code
    except (KeyboardInterrupt, click.Abort):
        click.echo("Interrupted.", err=True)
        return INTERRUPTED
    except BrokenPipeError:
        return _stop_writing()
    except click.ClickException as error:
        return _report(_from_usage(error), arguments)
    except CheckvalveError as error:
        return _report(error, arguments)
    except Exception as error:  # noqa: BLE001 - the last resort: no traceback for the user
        return _report(_from_unexpected(error), arguments)
    return code if isinstance(code, int) else EXPECTED


def _stop_writing() -> int:
    # Python flushes stdout once more when it exits, which would print a traceback.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return BROKEN_PIPE


def _from_usage(error: click.ClickException) -> InputError:
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "checkvalve"
    return InputError(error.format_message().rstrip("."), "", f"See `{command} --help`.")


def _from_unexpected(error: Exception) -> CheckvalveError:
    """Attribute an exception that is not of our own family."""
    if isinstance(error, ModuleNotFoundError):
        from ..environment import missing_extra  # not for the starts where all goes well

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
    code = INTERNAL if error.fault == "us" else BAD_INPUT
    step = error.next_step
    if error.fault == "us":
        step = (f"{step} This is an error of checkvalve; please report it with the command that "
                f"showed it and what it prints with {SHOW_TRACEBACK}=1.").strip()
    click.echo(_message(error, step), err=True)
    if os.environ.get(SHOW_TRACEBACK):
        import traceback  # only here: half a millisecond of every start otherwise

        traceback.print_exception(error)
    if "--json" in arguments:
        document = {"fault": error.fault, "what": error.what, "where": error.where,
                    "next_step": step, "exit_code": code}
        click.echo(json.dumps({"error": document}, indent=2))
    return code


def _message(error: CheckvalveError, step: str) -> str:
    whose = {"input": "error", "target": "error of the target", "us": "internal error"}
    place = f"{error.where}: " if error.where else ""
    advice = f"\n  {step}" if step else ""
    return f"checkvalve: {whose[error.fault]}: {place}{error.what}.{advice}"
