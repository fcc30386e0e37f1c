"""Options that say where cases run: here, or on a Spark cluster."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from checkvalve.spec.notation.errors import InputError

if TYPE_CHECKING:
    from ..engines.conduct import Engine

__all__ = ["engine_of", "place_options"]

F = TypeVar("F", bound=Callable[..., Any])


_OPTIONS = (
    click.option("--jobs", type=click.IntRange(1, 256), default=1, show_default=True,
                 help="Processes of the local engine."),
    click.option("--engine", type=click.Choice(["local", "spark"]), default="local",
                 show_default=True, help="Where the cases run."),
    click.option("--master", help="The address of a Spark cluster, e.g. spark://host:7077."),
    click.option("--partitions", type=click.IntRange(1, 100_000),
                 help="Tasks on the cluster  [default: one for every 25 cases]"),
    click.option("--ship", is_flag=True,
                 help="Send checkvalve's own code to the cluster: its nodes lack it."),
    click.option("--ship-also", "files", multiple=True, metavar="PATH",
                 type=click.Path(path_type=Path),
                 help="Send your adapter to the cluster: a Python file, a package, a folder of "
                      "sources, a wheel, or a program; may be given more than once."),
)


def place_options(command: F) -> F:
    """Add the options; the command gets what ``engine_of`` takes."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def engine_of(
    engine: str, master: str | None, jobs: int, partitions: int | None, ship: bool,
    files: tuple[Path, ...],
) -> Engine:
    """The engine that the options describe. Raises InputError for options that do not fit."""
    from ..engines.conduct import Engine

    if (engine == "spark") != (master is not None):
        raise InputError("--engine spark and --master go together", "",
                         "Write for example: --engine spark --master local[2].")
    given = {"--partitions": partitions is not None, "--ship": ship, "--ship-also": bool(files)}
    if engine != "spark" and any(given.values()):
        name = next(name for name, is_given in given.items() if is_given)
        raise InputError(f"{name} is about a cluster, and the cases run here", "",
                         "Add --engine spark --master ADDRESS, or leave it out.")
    if files:
        from ..engines.shipping import check_shippable

        check_shippable(files)
    return Engine(jobs, master, partitions=partitions, ship=ship, files=files)
