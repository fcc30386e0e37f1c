"""From the name of a target to the target: ``resolve_target``.

A target is always named by a text, its *spec*, and never pickled: an executor on another
machine resolves the same text again.
"""

from __future__ import annotations

import math
import shlex
import shutil
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Final

from ...spec.notation.errors import InputError
from ...spec.notation.labels import nearest
from ..foreign.place import FILE, as_module, is_named, place_of
from ..adapters.session import InProcessTarget
from ..ports.base import Adapter, Target, excerpt
from .catalogue import SYSTEMS, makers, port_named, shipped, system_of, zoo

__all__ = [
    "TIMEOUT_SECONDS", "adapter_factory", "check_name", "is_in_real_time", "is_shipped",
    "known_targets", "reference_of", "rehearsal_of", "resolve_target", "suite_for",
]

TIMEOUT_SECONDS: Final = 5.0
"""Real time that a target has for one reply."""

_FORMS: Final = (
    "thread:package.module:Class, asyncio:package.module:Class, python:package.module:factory, "
    "command:PROGRAM ARGUMENTS, or zoo:TWIN")


def resolve_target(spec: str, *, timeout: float = TIMEOUT_SECONDS) -> Target:
    """The target that ``spec`` names; it has at most ``timeout`` seconds for each reply.

    Raises ``InputError``, with what to do next, for a spec that names nothing.
    """
    if not (0 < timeout < math.inf):
        raise InputError(f"a time limit of {timeout} s", next_step="Give a positive number.")
    kind, _, rest = spec.partition(":")
    if kind == "command":
        return _program(spec, _split(rest), timeout)
    system, known = shipped().get(spec, (None, None))
    if system is not None and known is not None and known.is_program:
        return _program(spec, system.program(known), timeout)
    if is_named(spec):
        return _hosted(spec, timeout)
    return InProcessTarget(spec, adapter_factory(spec), port_named)


def check_name(spec: str, suite: str = "") -> None:
    """Raise the ``InputError`` of a spec that names nothing on any machine, or, if a suite is
    given, something of checkvalve's that another suite is for.

    Nothing is imported or started: a module or a program may be missing here alone.
    """
    kind, _, rest = spec.partition(":")
    if kind == "command":
        _split(rest)
    elif is_named(spec):
        place_of(spec)
    elif spec not in shipped():
        _check_shipped(spec, suite)
    if suite and is_shipped(spec):
        _check_port(spec, suite)


def _check_shipped(spec: str, suite: str) -> None:
    """Raise where nothing that comes with checkvalve has this name, with the names of the suite:
    those that are near to it come first."""
    if not suite or not is_shipped(spec) or spec.removeprefix("zoo:") in zoo():
        adapter_factory(spec)
        return
    is_twin = spec.startswith("zoo:")
    own = [name for name in known_targets(suite) if name.startswith("zoo:") == is_twin]
    near = _near(spec, own, 3, 0.6)
    meant = _near(spec, known_targets(), 1, 0.8) or near[:1]
    meant = [name if name in own else f"{name} of --suite {_suite_of(name)}" for name in meant]
    name = excerpt(spec).strip() or "without a name"
    raise InputError(
        f"there is no {'twin' if is_twin else 'target'} {name}",
        next_step=f"{f'Did you mean {meant[0]}? ' if meant else ''}{_listed(suite)} A target of "
        f"yours is {_FORMS}.")


def _near(spec: str, names: Iterable[str], most: int, cutoff: float) -> list[str]:
    """The names that are nearest to one; that all twins begin alike makes none of them near."""
    start = "zoo:" if spec.startswith("zoo:") else ""
    bare = [name.removeprefix(start) for name in names if name.startswith(start)]
    return [start + name for name in
            get_close_matches(spec.removeprefix(start), bare, n=most, cutoff=cutoff)]


def _suite_of(spec: str) -> str:
    """The first suite that something shipped is for."""
    return next(name for name in SYSTEMS if spec in known_targets(name))


def _check_port(spec: str, suite: str) -> None:
    fitting = known_targets(suite)
    if spec in fitting:
        return
    for_it = [name for name in SYSTEMS if spec in known_targets(name)]
    meant = get_close_matches(spec, fitting, n=1, cutoff=0.4) or [reference_of(suite)]
    raise InputError(
        f"the target {spec} is for the suite {' and '.join(for_it)}, and not for {suite}",
        next_step=f"Did you mean {meant[0]}, or --suite {for_it[0]}? {_listed(suite)}")


def _listed(suite: str) -> str:
    """The command that lists the targets of a suite."""
    return f"`checkvalve targets {suite}` lists those of the suite {suite}, --twins its twins too."


def suite_for(specs: Iterable[str]) -> str:
    """The suite that some targets are for, which come with checkvalve.

    Raises ``InputError`` where they are for several, and where none of them comes with checkvalve:
    then nothing says which suite is meant.
    """
    specs = list(specs)
    suites = {name: spec for spec in specs for name in SYSTEMS if spec in known_targets(name)}
    if len(suites) > 1:
        told = ", ".join(f"{spec} is for {name}" for name, spec in suites.items())
        raise InputError(f"the targets are for several suites: {told}",
                         next_step="Run each suite by itself, or name one with --suite.")
    for spec in specs:
        check_name(spec)
    if not suites:
        raise InputError(
            f"nothing says which suite {excerpt(specs[0]) if specs else 'this'} is for",
            next_step=f"{_for_a_class(specs)}`checkvalve suites` lists them all.")
    return next(iter(suites))


def _for_a_class(specs: Sequence[str]) -> str:
    """Advice that names a suite, or those that take a class by its name if one is named."""
    if any(is_named(spec) for spec in specs):
        return f"A class by its name is tested by --suite {', '.join(makers())}; "
    return "Name one, as in --suite queue; "


def known_targets(suite: str = "") -> dict[str, str]:
    """The targets that come with checkvalve, each with one line that says what it is.

    With ``suite``, only those that it is for; ``InputError`` where there is no such suite.
    """
    systems = [system_of(suite)] if suite else list(SYSTEMS.values())
    known = {each.name: each.about for system in systems for each in system.shipped}
    return known | {
        f"zoo:{name}": twin.bug for system in systems for name, twin in system.twins.items()}


def reference_of(suite: str) -> str:
    """The name of the reference that a suite is proved on.

    Raises ``InputError`` for a suite that is not there.
    """
    return system_of(suite).reference.name


def is_in_real_time(spec: str) -> bool:
    """True if ``spec`` is the name of something shipped to which a program takes seconds."""
    return spec in shipped() and shipped()[spec][1].in_real_time


def rehearsal_of(spec: str) -> str:
    """On which target programs are rehearsed for one in real time; empty for all others."""
    return shipped()[spec][1].rehearsal if spec in shipped() else ""


def is_shipped(spec: str) -> bool:
    """True if ``spec`` is the name of something that comes with checkvalve, spelt right or not.

    All else is code of the user's, which never runs in the process that gives the verdict.
    """
    return ":" not in spec or spec.startswith("zoo:")


def adapter_factory(spec: str) -> Callable[[], Adapter]:
    """The factory of adapters for ``spec``: the name of a shipped one, or ``zoo:TWIN``.

    Raises ``InputError`` when there is no such thing, and for ``module:factory``, which is
    the user's and has to be hosted.
    """
    if spec.startswith("zoo:"):
        return _twin(spec.removeprefix("zoo:"))
    if spec in shipped():
        system, known = shipped()[spec]
        # Made when it is asked for: each may need a library of its own.
        return partial(system.adapter, known)
    if not is_shipped(spec):
        module, _, rest = spec.partition(":")
        meant = f"{as_module(module) if module.endswith(FILE) else module}:{rest}"
        raise InputError(
            f"there is no kind of target {excerpt(module)}",
            next_step=f"Write python:{excerpt(meant)} for a class or a factory in a module of "
            f"yours; the forms are {_FORMS}.")
    if (file := Path(spec)).is_file():
        is_python = file.suffix == ".py"
        raise InputError(
            f"{excerpt(spec)} is a file, and no target",
            next_step=f"Name a class in it: thread:{file.stem}:CLASS, or asyncio:{file.stem}:CLASS "
            "for one with coroutines." if is_python else
            f"A design is checked by `checkvalve check {excerpt(spec)}`; a program that speaks the "
            f"adapter protocol is command:{excerpt(spec)}.")
    raise InputError(
        f"there is no target {excerpt(spec)}",
        next_step=f"{nearest(spec, shipped(), '`checkvalve targets`')} A target of yours is "
        f"{_FORMS}.")


def _twin(name: str) -> Callable[[], Adapter]:
    twins = zoo()
    if name not in twins:
        raise InputError(
            f"there is no twin {excerpt(name)} in the zoo",
            next_step=nearest(name, twins, "`checkvalve targets --twins`"))
    return twins[name].adapter


# ---- processes -------------------------------------------------------------------------------


def _split(command: str) -> list[str]:
    try:
        argv = shlex.split(command)
    except ValueError as error:
        raise InputError(
            f"the command {excerpt(command)} cannot be read: {error}",
            next_step="Quote it as in a shell.") from None
    if not argv:
        raise InputError(
            "command: names no program", next_step="Write command:PROGRAM ARGUMENTS.")
    return argv


def _hosted(spec: str, timeout: float) -> Target:
    from ..adapters.hosted import HostedTarget

    target = HostedTarget(spec, timeout, port_named, makers())
    target.prepare()
    return target


def _program(spec: str, argv: list[str], timeout: float) -> Target:
    if shutil.which(argv[0]) is None:
        raise InputError(
            f"the program {excerpt(argv[0])} is not there, or is not executable",
            next_step="Install it, or give its path, with its executable bit set.")
    from ..adapters.process import ProcessTarget

    return ProcessTarget(spec, argv, timeout, port_named)
