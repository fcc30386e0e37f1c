"""Options that several commands share."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.notation.labels import size_of

__all__ = [
    "Seconds", "budget_options", "html_option", "itf_option", "memory_option", "names_option",
    "parameters_given",
    "quiet_option", "size", "states_option",
]

F = TypeVar("F", bound=Callable[..., Any])


class _Size(click.ParamType):  # type: ignore[type-arg]
    """A number of bytes, with an optional unit: 500M, 2G."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number of bytes; fails with a usage error."""
        if isinstance(value, int):
            return value
        found = size_of(str(value))
        if found is None:
            self.fail(f"{value!r} is not a size; write for example 500M or 2G", param, ctx)
        return found


size = _Size()


class Seconds(click.ParamType):  # type: ignore[type-arg]
    """A number of seconds above 0, up to ``most``."""

    name = "seconds"

    def __init__(self, most: float = math.inf) -> None:
        self._most = most

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """The number; fails with a usage error, also for one that is no number or has no end."""
        try:
            seconds = float(value)
        except ValueError:
            seconds = math.nan
        if not (0 < seconds <= self._most and math.isfinite(seconds)):
            limit = "" if math.isinf(self._most) else f" and at most {self._most:g}"
            self.fail(f"{value!r} is not a number of seconds above 0{limit}; write for example 5",
                      param, ctx)
        return seconds


def html_option(command: F) -> F:
    """Add --html; the command gets ``html``."""
    return click.option(
        "--html", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
        help="Write the report as one HTML file, with each failure to step through.")(command)


def states_option(command: F) -> F:
    """Add --max-states for the machines that judge a run; the command gets ``max_states``."""
    return click.option(
        "--max-states", type=click.IntRange(1, 10_000_000), default=100_000, show_default=True,
        help="States that a machine which judges may be in at one time; more are unknown.",
    )(command)


def memory_option(command: F) -> F:
    """Add --max-memory, which the command keeps without knowing of it."""
    @click.option("--max-memory", type=size, help=_MEMORY)
    @functools.wraps(command)
    def with_memory(*args: Any, max_memory: int | None, **rest: Any) -> Any:
        from checkvalve.spec.verdicts.memory import limited_to
        with limited_to(max_memory):
            return command(*args, **rest)
    return with_memory  # type: ignore[return-value]


_MEMORY = ("End what takes more memory as unknown, e.g. 2G: of the whole process.  "
           "[default: most of what is free]")


def names_option(command: F) -> F:
    """Add --names, the names of a class's operations, to a command with a target that may be a
    class."""
    return click.option(
        "--names", multiple=True, metavar="OURS=THEIRS",
        help="What a class calls an operation, as in put=push; may be given more than once.",
    )(command)


def quiet_option(command: F) -> F:
    """Add --quiet; the command gets ``quiet``."""
    return click.option(
        "-q", "--quiet", is_flag=True,
        help="Print only what is not as expected, and the last line.")(command)


def itf_option(command: F) -> F:
    """Add --itf; the command gets ``itf``."""
    return click.option(
        "--itf", type=click.Path(path_type=Path, file_okay=False), metavar="DIR",
        help="Write each counterexample into this folder in the Informal Trace Format, for the "
             "viewers of TLA+ and Quint.")(command)


def budget_options(command: F) -> F:
    """Add --max-memory, --max-seconds and --max-states; the command gets ``budget``."""
    @click.option("--max-seconds", type=Seconds(),
                  help="End each search as unknown after this many seconds, all phases included.")
    @click.option("--max-states", type=click.IntRange(min=1),
                  help="End each search as unknown if there are more states.")
    @click.option("--max-memory", type=size, help=_MEMORY)
    @functools.wraps(command)
    def with_budget(
        *args: Any, max_memory: int | None, max_seconds: float | None,
        max_states: int | None, **rest: Any,
    ) -> Any:
        from checkvalve.spec.verdicts.memory import limited_to
        from checkvalve.spec.verdicts.verdict import Budget
        budget = Budget(max_memory, max_seconds, max_states)
        with limited_to(max_memory):
            return command(*args, budget=budget, **rest)
    return with_budget  # type: ignore[return-value]


def parameters_given(settings: tuple[str, ...]) -> dict[str, str]:
    """The values of ``--set NAME=VALUE``, as text. Raises InputError for what is none."""
    found: dict[str, str] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise InputError(f"--set {setting[:60]!r} gives no value to a parameter",
                             next_step="Write for example --set n=4, or --set n=1..8.")
        found[name.strip()] = value.strip()
    return found
