"""From the name of a target to the target: ``resolve_target``.

A target is always named by a text, its *spec*, and never pickled: an executor on another
machine resolves the same text again.
"""

from __future__ import annotations

import math
import shlex
import shutil
import sys
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Final, NamedTuple

from ..spec.notation.errors import InputError, TargetError
from .adapters.guard import Guard
from .adapters.session import InProcessTarget
from .ports.base import Adapter, Target, excerpt

__all__ = ["TIMEOUT_SECONDS", "adapter_factory", "known_targets", "resolve_target"]

TIMEOUT_SECONDS: Final = 5.0
"""Real time that a target has for one reply."""

_FORMS: Final = "python:package.module:factory, command:PROGRAM ARGUMENTS, or zoo:TWIN"


class _Known(NamedTuple):
    place: str       # module under conformance/adapters, and class
    line: str
    port: str = "queue"


_KNOWN: Final[Mapping[str, _Known]] = {
    "reference": _Known("reference:ReferenceQueue", "the reference queue of checkvalve"),
    "reference.deferred": _Known(
        "reference:DeferredQueue", "the reference queue, its woken waiters run at settle only"),
    "reference.asyncio": _Known(
        "event_loop:ReferenceAsyncQueue", "the reference queue through its asyncio driver"),
    "queue.Queue": _Known("thread_queue:ThreadQueue", "the standard library's queue for threads"),
    "asyncio.Queue": _Known("event_loop:AsyncioQueue", "the standard library's queue for tasks"),
    "janus": _Known("event_loop:JanusQueue", "the asynchronous side of janus.Queue"),
    "anyio": _Known("event_loop:AnyioQueue", "anyio's memory object stream, on asyncio"),
    "trio": _Known("trio_channel:TrioQueue", "trio's memory channel"),
    "deque": _Known(
        "dropping:DroppingDeque", "collections.deque(maxlen=...), which drops its oldest item"),
    "reference.storm.input": _Known(
        "storm_input:ReferenceInput", "the reference of a Storm task's input", "storm.input"),
    "reference.storm.status": _Known(
        "storm_status:ReferenceStatus", "the reference of Storm's backpressure status",
        "storm.status"),
    "reference.storm.acker": _Known(
        "storm_acker:ReferenceAcker", "the reference of Storm's acker", "storm.acker"),
    "reference.storm.spout": _Known(
        "storm_acker:ReferenceSpout", "the reference of a spout's pending roots", "storm.spout"),
    "reference.storm.partition": _Known(
        "storm_partition:ReferencePartition", "the reference of a replayable source",
        "storm.partition"),
}
_JAVASCRIPT: Final = "a queue in JavaScript behind the protocol (needs node)"


def resolve_target(spec: str, *, timeout: float = TIMEOUT_SECONDS) -> Target:
    """The target that ``spec`` names; it has at most ``timeout`` seconds for each reply.

    Raises ``InputError``, with what to do next, for a spec that names nothing.
    """
    if not (0 < timeout < math.inf):
        raise InputError(f"a time limit of {timeout} s", next_step="Give a positive number.")
    kind, _, rest = spec.partition(":")
    if kind == "command":
        return _program(spec, _split(rest), timeout)
    if spec == "js":
        script = Path(__file__).with_name("adapters") / "queue.js"
        return _program(spec, ["node", str(script)], timeout)
    if kind == "python":
        return InProcessTarget(spec, _imported(rest, timeout), Guard(timeout))
    return InProcessTarget(spec, adapter_factory(spec))


def known_targets(port: str = "") -> dict[str, str]:
    """The targets that come with checkvalve, each with one line that says what it is.

    With ``port``, only those that it fits.
    """
    from .suites.catalogue import suite_named
    from .zoo.catalogue import zoos

    shipped = {name: each.line for name, each in _KNOWN.items() if port in ("", each.port)}
    if port in ("", "queue"):
        shipped["js"] = _JAVASCRIPT
    return shipped | {
        f"zoo:{name}": twin.bug for name, twin in zoos().items()
        if not port or suite_named(twin.suite).port == port}


def adapter_factory(spec: str) -> Callable[[], Adapter]:
    """What makes a new adapter of ``spec``: a shipped name, ``zoo:TWIN`` or ``module:factory``.

    Raises ``InputError`` when there is no such thing.
    """
    kind, colon, rest = spec.partition(":")
    if kind == "zoo" and colon:
        return _twin(rest)
    if spec in _KNOWN:
        module, _, attribute = _KNOWN[spec].place.partition(":")
        return partial(_shipped, module, attribute)
    if colon:
        return _imported(spec, TIMEOUT_SECONDS)
    raise InputError(
        f"there is no target {excerpt(spec)}",
        next_step=f"Use one of {', '.join([*_KNOWN, 'js'])}; or {_FORMS}.")


def _shipped(module: str, attribute: str) -> Adapter:
    # Imported when the first one is made: each may need a library of its own.
    adapter: Adapter = getattr(import_module(f".adapters.{module}", __package__), attribute)()
    return adapter


def _twin(name: str) -> Callable[[], Adapter]:
    from .zoo.catalogue import zoos

    twins = zoos()
    if name not in twins:
        raise InputError(
            f"there is no twin {excerpt(name)} in the zoo",
            next_step=f"Use one of: {', '.join(twins)}.")
    return twins[name].adapter


# ---- python: --------------------------------------------------------------------------------


def _imported(place: str, timeout: float) -> Callable[[], Adapter]:
    module_name, _, attributes = place.partition(":")
    if not module_name or not attributes:
        raise InputError(
            f"python:{excerpt(place)} names no factory",
            next_step="Write python:package.module:factory.")
    module = _import(module_name, timeout)
    factory: Any = module
    for attribute in attributes.split("."):
        factory = getattr(factory, attribute, None)
    if not callable(factory):
        raise InputError(
            f"the module {module_name} has no callable {excerpt(attributes)}",
            where=str(getattr(module, "__file__", None) or ""),
            next_step="Name a class with request(message), or a function that makes one.")
    return lambda: _made_by(factory, place)


def _import(module_name: str, timeout: float) -> Any:
    # As the interpreter does for scripts, a module in the current folder is found.
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))
    try:
        return Guard(timeout)(module_name, lambda: import_module(module_name))
    except TargetError as error:
        raise InputError(
            f"the module {excerpt(module_name)} cannot be imported: {error.what}", error.where,
            "Check its name, and that it and what it imports are installed, or in this folder.",
        ) from None


def _made_by(factory: Callable[[], Any], place: str) -> Adapter:
    made = factory()
    if isinstance(made, type):
        made = made()
    if not callable(getattr(made, "request", None)):
        raise InputError(
            f"python:{place} made a {type(made).__name__}, which has no method request",
            next_step="Make an object with request(message: dict) -> dict.")
    adapter: Adapter = made
    return adapter


# ---- command: -------------------------------------------------------------------------------


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


def _program(spec: str, argv: list[str], timeout: float) -> Target:
    if shutil.which(argv[0]) is None:
        raise InputError(
            f"the program {excerpt(argv[0])} is not there, or is not executable",
            next_step="Install it, or give its path, with its executable bit set.")
    from .adapters.process import ProcessTarget

    return ProcessTarget(spec, argv, timeout)
