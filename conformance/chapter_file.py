"""A user's own chapter: machines in a Python file."""

from __future__ import annotations

import importlib.util
import sys
import traceback
from pathlib import Path

from checkvalve.spec.chapters import Chapter
from checkvalve.spec.expectations import expect
from checkvalve.spec.notation.errors import CheckvalveError, InputError

__all__ = ["load_chapter"]


def load_chapter(path: Path) -> Chapter:
    """The chapter in a file; what it lacks in EXPECTATIONS is that every rule holds.

    The file is run, as any module is that is imported. Raises InputError where it cannot be
    run, or defines no machine.
    """
    name = path.stem
    specification = importlib.util.spec_from_file_location(name, path)
    if not path.is_file() or specification is None or specification.loader is None:
        raise InputError("there is no such Python file", str(path), "Check the path.")
    module = importlib.util.module_from_spec(specification)
    sys.modules[name] = module
    try:
        specification.loader.exec_module(module)
    except CheckvalveError:
        raise
    except Exception as error:
        raise _cannot_run(path, error) from error
    chapter = Chapter(name, module)
    if not chapter.machines and not chapter.lemmas:
        raise InputError("this file defines no machine", str(path),
                         "Derive a class from checkvalve.spec.notation.Machine.")
    if not hasattr(module, "EXPECTATIONS"):
        module.EXPECTATIONS = tuple(  # type: ignore[attr-defined]
            expect(machine, rule.id, "holds", rule.statement)
            for machine in chapter.machines
            for rule in machine.rules_declared if rule.predicate is not None
        )
    return chapter


def _cannot_run(path: Path, error: Exception) -> InputError:
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__)
             if frame.filename == str(path)]
    line = lines[-1] if lines else getattr(error, "lineno", None)
    where = f"{path}:{line}" if line else str(path)
    told = " ".join(str(error).split())
    return InputError(f"this file cannot be run: {type(error).__name__}: {told}", where,
                      "Run it with python to see the whole trace.")
