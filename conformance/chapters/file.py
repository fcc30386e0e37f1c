"""A user's own chapter: machines in a Python file."""

from __future__ import annotations

import importlib.util
import sys
import warnings
from contextlib import redirect_stdout
from pathlib import Path
from traceback import walk_tb

from checkvalve.spec.chapters import Chapter
from checkvalve.spec.expectations import expect
from checkvalve.spec.notation.errors import (
    CheckvalveError, InputError, InternalError, line_in, raised_here,
)

from ..ports.base import EXCERPT_CHARS_MAX, excerpt

__all__ = ["fault_of", "load_chapter"]


def load_chapter(path: Path) -> Chapter:
    """The chapter in a file; what it lacks in EXPECTATIONS is that every rule holds.

    The file is run, as any module is that is imported, so this belongs into a process that may
    end: see ``host``. What it prints goes to stderr. Raises InputError, with the file's line,
    where it cannot be run, defines no machine, or promises what cannot be decided.
    """
    # A name of its own: the file may be called as a module is that others import.
    name = f"{path.stem} (a chapter of its own)"
    specification = importlib.util.spec_from_file_location(name, path)
    if not path.is_file() or specification is None or specification.loader is None:
        raise InputError("there is no such Python file", str(path), "Check the path.")
    module = importlib.util.module_from_spec(specification)
    sys.modules[name] = module
    try:
        with redirect_stdout(sys.stderr), warnings.catch_warnings():
            # Python's own remarks on the text would come before the message about it.
            warnings.simplefilter("ignore", SyntaxWarning)
            specification.loader.exec_module(module)
    except CheckvalveError as error:
        error.where = error.where or _place(path, error)
        raise
    except BaseException as error:
        raise fault_of(path, error) from error
    chapter = Chapter(path.stem, module)
    if not chapter.machines and not chapter.lemmas:
        raise InputError("this file defines no machine", str(path),
                         "Derive a class from checkvalve.spec.notation.Machine.")
    if "EXPECTATIONS" not in vars(module) and not (chapter.expectations or chapter.refinements):
        module.EXPECTATIONS = tuple(  # type: ignore[attr-defined]
            expect(machine, rule.id, "holds", rule.statement)
            for machine in chapter.machines
            for rule in machine.rules_declared if rule.predicate is not None
        )
    if not (chapter.expectations or chapter.refinements or chapter.lemmas):
        raise InputError("this file has no rule to decide", str(path),
                         "Give a machine a rule, as with @always; docs/notation.md has them.")
    return chapter


def fault_of(path: Path, error: BaseException) -> CheckvalveError:
    """The error to report for ``error``, by what raised it: the chapter ``path``, or our own code.
    """
    if isinstance(error, CheckvalveError):
        return error
    ended = isinstance(error, SystemExit | KeyboardInterrupt | GeneratorExit)
    if line_in(error, str(path)) is None and raised_here(error) and not (
        ended or isinstance(error, MemoryError | RecursionError)
    ):
        return InternalError(f"{type(error).__name__}: {_words(error)}", _innermost(error))
    what = (f"this file ends the program that reads it ({type(error).__name__}: {_words(error)})"
            if ended else f"this file cannot be run: {type(error).__name__}: {_words(error)}")
    return InputError(what, _place(path, error), "Run it with python to see the whole trace.")


def _place(path: Path, error: BaseException) -> str:
    """``file:line`` of the user's own line that ``error`` comes from, as far as it is known."""
    line = line_in(error, str(path))
    if line is None and isinstance(error, SyntaxError):
        line = error.lineno
    return f"{path}:{line}" if line else str(path)


def _innermost(error: BaseException) -> str:
    """``file:line`` in checkvalve where ``error`` was raised."""
    *_, (frame, line) = walk_tb(error.__traceback__)
    return f"{Path(frame.f_code.co_filename).name}:{line}"


def _words(error: BaseException) -> str:
    """The text of an error, which code of the user's may make, on one short line."""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - any at all
        text = "its own text cannot be made"
    if isinstance(error, ImportError) and error.path:
        text = text.replace(f" ({error.path})", "")    # of a file of ours, most often
    return excerpt(" ".join(text[:EXCERPT_CHARS_MAX * 4].split())) or "no message"
