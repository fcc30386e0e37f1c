"""From the name of a target to the target: ``resolve_target``.

A target is always named by a text, its *spec*, and never pickled: an executor on another
machine resolves the same text again.
"""

from __future__ import annotations

import math
import shlex
import shutil
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Final, NamedTuple

from ..spec.notation.errors import InputError
from .adapters.loading import split_place
from .adapters.session import InProcessTarget
from .ports.base import Adapter, Target, excerpt

__all__ = [
    "TIMEOUT_SECONDS", "adapter_factory", "check_name", "is_shipped", "known_targets",
    "reference_of", "resolve_target",
]

TIMEOUT_SECONDS: Final = 5.0
"""Real time that a target has for one reply."""

_FORMS: Final = "python:package.module:factory, command:PROGRAM ARGUMENTS, or zoo:TWIN"


class _Known(NamedTuple):
    place: str       # module under conformance/systems, and class
    line: str
    port: str = "queue"


_KNOWN: Final[Mapping[str, _Known]] = {
    "reference": _Known("queue.reference:ReferenceQueue", "the reference queue of checkvalve"),
    "reference.deferred": _Known(
        "queue.reference:DeferredQueue",
        "the reference queue, its woken waiters run at settle only"),
    "reference.asyncio": _Known(
        "queue.event_loop:ReferenceAsyncQueue", "the reference queue through its asyncio driver"),
    "queue.Queue": _Known(
        "queue.thread_queue:ThreadQueue", "the standard library's queue for threads"),
    "asyncio.Queue": _Known(
        "queue.event_loop:AsyncioQueue", "the standard library's queue for tasks"),
    "janus": _Known("queue.event_loop:JanusQueue", "the asynchronous side of janus.Queue"),
    "anyio": _Known("queue.event_loop:AnyioQueue", "anyio's memory object stream, on asyncio"),
    "trio": _Known("queue.trio_channel:TrioQueue", "trio's memory channel"),
    "deque": _Known(
        "queue.dropping:DroppingDeque",
        "collections.deque(maxlen=...), which drops its oldest item"),
    "reference.storm.input": _Known(
        "storm_input.adapter:ReferenceInput",
        "the reference of a Storm task's input", "storm.input"),
    "reference.storm.status": _Known(
        "storm_status.adapter:ReferenceStatus",
        "the reference of Storm's backpressure status", "storm.status"),
    "reference.storm.acker": _Known(
        "storm_acker.adapter:ReferenceAcker", "the reference of Storm's acker", "storm.acker"),
    "reference.storm.spout": _Known(
        "storm_spout.adapter:ReferenceSpout",
        "the reference of a spout's pending roots", "storm.spout"),
    "reference.storm.partition": _Known(
        "storm_partition.adapter:ReferencePartition",
        "the reference of a replayable source", "storm.partition"),
    "reference.storm.topology": _Known(
        "storm_topology.adapter:ReferenceTopology",
        "the reference's cluster of Storm workers", "storm.topology"),
    "reference.storm.client": _Known(
        "storm_partition.adapter:ReferenceClient",
        "a replayable source in the way of storm-kafka-client", "storm.partition"),
    "reference.timer": _Known(
        "kafka_timer.timers:ReferenceTimer",
        "the reference of Kafka's hierarchical timing wheels", "timer"),
    "reference.timer.old": _Known(
        "kafka_timer.timers:ReferenceOldTimer",
        "the reference of the timer before the wheels: a queue of all tasks, with lazy deletion",
        "timer"),
    "asyncio.timer": _Known(
        "kafka_timer.timers:AsyncioTimer", "asyncio's call_at and cancel", "timer"),
    "sched": _Known(
        "kafka_timer.timers:SchedTimer", "the standard library's sched.scheduler", "timer"),
    "trio.timer": _Known(
        "kafka_timer.trio_timer:TrioTimer", "trio's deadlines, by its mock clock", "timer"),
    "reference.purgatory": _Known(
        "kafka_purgatory.adapter:ReferencePurgatory",
        "the reference purgatory, over timing wheels", "kafka.purgatory"),
    "reference.purgatory.old": _Known(
        "kafka_purgatory.adapter:ReferenceOldPurgatory",
        "the reference of the purgatory before the timing wheels", "kafka.purgatory"),
    "reference.kafka.races": _Known(
        "kafka_races.adapter:ReferenceRaces",
        "the reference timer and purgatory under chosen schedules", "kafka.races"),
}
_JAVASCRIPT: Final[Mapping[str, _Known]] = {
    "js": _Known("queue/queue.js", "a queue in JavaScript behind the protocol (needs node)"),
    "js.timer": _Known(
        "kafka_timer/timer.js",
        "setTimeout, as the mock timers of node:test have it (needs node)", "timer"),
}


def resolve_target(spec: str, *, timeout: float = TIMEOUT_SECONDS) -> Target:
    """The target that ``spec`` names; it has at most ``timeout`` seconds for each reply.

    Raises ``InputError``, with what to do next, for a spec that names nothing.
    """
    if not (0 < timeout < math.inf):
        raise InputError(f"a time limit of {timeout} s", next_step="Give a positive number.")
    kind, _, rest = spec.partition(":")
    if kind == "command":
        return _program(spec, _split(rest), timeout)
    if spec in _JAVASCRIPT:
        script = Path(__file__).with_name("systems") / _JAVASCRIPT[spec].place
        return _program(spec, ["node", str(script)], timeout)
    if kind == "python":
        return _hosted(spec, rest, timeout)
    return InProcessTarget(spec, adapter_factory(spec))


def check_name(spec: str, suite: str = "") -> None:
    """Raise the ``InputError`` of a spec that names nothing on any machine, or, if a suite is
    given, something of checkvalve's that another suite is for.

    Nothing is imported or started: a module or a program may be missing here alone.
    """
    kind, _, rest = spec.partition(":")
    if kind == "command":
        _split(rest)
    elif kind == "python":
        split_place(rest)
    elif spec not in _JAVASCRIPT:
        adapter_factory(spec)
    if suite and is_shipped(spec):
        _check_port(spec, suite)


def _check_port(spec: str, suite: str) -> None:
    from .systems.catalogue import SUITES, suite_named

    port = suite_named(suite).port
    fitting = known_targets(port)
    if spec in fitting:
        return
    for_it = [name for name, each in SUITES.items() if spec in known_targets(each.port)]
    meant = get_close_matches(spec, fitting, n=1, cutoff=0.4) or [reference_of(suite)]
    shipped = [name for name in fitting if not name.startswith("zoo:")]
    raise InputError(
        f"the target {spec} is for the suite {' and '.join(for_it)}, and not for {suite}",
        next_step=f"Did you mean {meant[0]}? For {suite} there are {', '.join(shipped)}; or use "
        f"--suite {for_it[0]}.")


def known_targets(port: str = "") -> dict[str, str]:
    """The targets that come with checkvalve, each with one line that says what it is.

    With ``port``, only those that it fits.
    """
    from .systems.catalogue import suite_named
    from .zoo.hunt import zoos

    shipped = {name: each.line for name, each in {**_KNOWN, **_JAVASCRIPT}.items()
               if port in ("", each.port)}
    return shipped | {
        f"zoo:{name}": twin.bug for name, twin in zoos().items()
        if not port or suite_named(twin.suite).port == port}


def reference_of(suite: str) -> str:
    """The name of the reference that a suite is proved on: the first known one of its port.

    Raises ``InputError`` for a suite that is not there, or has no reference.
    """
    from .systems.catalogue import suite_named

    port = suite_named(suite).port
    for name, known in _KNOWN.items():
        if known.port == port and name.partition(".")[0] == "reference":
            return name
    raise InputError(f"the suite {suite} has no reference",
                     next_step="Give its port one, in conformance/targets.py.")


def is_shipped(spec: str) -> bool:
    """Whether ``spec`` is the name of something that comes with checkvalve, spelt right or not.

    All else is code of the user's, which never runs in the process that gives the verdict.
    """
    return spec in _KNOWN or ":" not in spec or spec.startswith("zoo:")


def adapter_factory(spec: str) -> Callable[[], Adapter]:
    """What makes a new adapter of ``spec``: the name of a shipped one, or ``zoo:TWIN``.

    Raises ``InputError`` when there is no such thing, and for ``module:factory``, which is
    the user's and has to be hosted.
    """
    if spec.startswith("zoo:"):
        return _twin(spec.removeprefix("zoo:"))
    if spec in _KNOWN:
        module, _, attribute = _KNOWN[spec].place.partition(":")
        return partial(_shipped, module, attribute)
    if not is_shipped(spec):
        raise InputError(
            f"there is no kind of target {excerpt(spec.partition(':')[0])}",
            next_step=f"Write python:{excerpt(spec)} for a factory in a module of yours; the forms "
            f"are {_FORMS}.")
    raise InputError(
        f"there is no target {excerpt(spec)}",
        next_step=f"Use one of {', '.join([*_KNOWN, *_JAVASCRIPT])}; or {_FORMS}.")


def _shipped(module: str, attribute: str) -> Adapter:
    # Imported when the first one is made: each may need a library of its own.
    adapter: Adapter = getattr(import_module(f".systems.{module}", __package__), attribute)()
    return adapter


def _twin(name: str) -> Callable[[], Adapter]:
    from .zoo.hunt import zoos

    twins = zoos()
    if name not in twins:
        raise InputError(
            f"there is no twin {excerpt(name)} in the zoo",
            next_step=f"Use one of: {', '.join(twins)}.")
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


def _hosted(spec: str, place: str, timeout: float) -> Target:
    from .adapters.hosted import HostedTarget

    target = HostedTarget(spec, place, timeout)
    target.prepare()
    return target


def _program(spec: str, argv: list[str], timeout: float) -> Target:
    if shutil.which(argv[0]) is None:
        raise InputError(
            f"the program {excerpt(argv[0])} is not there, or is not executable",
            next_step="Install it, or give its path, with its executable bit set.")
    from .adapters.process import ProcessTarget

    return ProcessTarget(spec, argv, timeout)
