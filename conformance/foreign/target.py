"""A class of the user's as a target: found, recognised by its kind, and made an adapter.

This imports the user's code, so it belongs into a process that may end: see ``host.py``.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from importlib import import_module
from typing import Any, Final

from ...spec.notation.errors import InputError
from ..ports.base import Adapter, Message, excerpt
from .place import ASYNCIO, PYTHON, THREAD, Place, place_of
from .stage import STAGE, install
from .surface import (
    Missing, Surface, Wanted, found_at, has_coroutines, knows_loops, waits_in_coroutines,
    wrong_kind,
)

__all__ = ["Makers", "Named", "NamedAdapter", "named_factory", "named_of"]

Makers = Mapping[str, str]
"""By the name of a port, ``module:function`` of the function that makes adapters of a ``Named``."""

_KEPT: Final = frozenset({*sys.stdlib_module_names, "checkvalve"})
"""Modules that are not imported anew: their locks are made on request."""

_BETWEEN_PROCESSES: Final = ("multiprocessing", "billiard")
"""Packages of objects that are shared between processes, and of their parts."""

UNKNOWN_VERSION: Final = "unknown"


class Named:
    """The object that a place names: its ``factory``, and whether it has the stage's locks."""

    def __init__(self, place: Place, factory: Callable[..., Any], before: Collection[str]) -> None:
        self.place = place
        self.factory = factory
        self.staged = place.kind == THREAD
        self._before = before
        self._kind = ""     # once it is known
        self.is_tried = False
        """True once it was seen that its methods wait."""
        self.modules: tuple[str, ...] = ()
        """The modules with lines that were steps in the last session of its threads."""
        self.waits_in_c: dict[str, str] = {}
        """By our names, the methods that were seen to wait in C, and where they do."""
        self.version = _version_of(place.module)
        self.called: dict[str, str] = {}
        """The names of its operations, as far as they were asked for: for the report."""

    def surface(
        self, made: Any, wanted: Sequence[Wanted], also: Sequence[str] = (),
    ) -> Surface:
        """The operations of an object that the factory has made; ``also`` may have names, too.

        Raises ``InputError`` for one that is shared between processes.
        """
        self._is_of_one_process(made)
        surface = Surface(made, wanted, self.place, also)
        self.called = surface.called
        return surface

    def _is_of_one_process(self, made: Any) -> None:
        for name, part in getattr(made, "__dict__", {}).items():
            kind = type(part)
            if kind.__module__.partition(".")[0].lstrip("_") in _BETWEEN_PROCESSES:
                raise InputError(
                    f"{self.place.words} is shared between processes: its {name} is a "
                    f"{kind.__qualname__} of {kind.__module__}, which waits in the operating "
                    "system, where no wait is seen and no schedule can be chosen",
                    next_step="Record its calls in a program of yours, and judge the log: "
                    "docs/logs.md; or write an adapter: docs/settling.md.")

    def kind_by(self, is_for_tasks: Callable[[Any], bool], sample: Callable[[], Any]) -> str:
        """``thread`` or ``asyncio``, whether a class is for threads or for tasks: as given, or as
        found.

        ``sample`` makes an object, if the factory is a function and shows nothing by itself. A
        class for threads is imported anew, with the stage's locks in it. Raises ``InputError`` if
        it was given as one for tasks and none of its methods is a coroutine, or the other way
        round.
        """
        if self._kind:
            return self._kind
        made: Any = self.factory
        if not isinstance(made, type):
            from ...reference.drivers.schedules.virtual_loop import VirtualLoop

            with VirtualLoop().running():
                made = sample()
        # A method that is no coroutine may return a future, and not declare it; and a class with
        # methods have other names is for tasks all the same.
        said_so = self.place.kind == ASYNCIO and (knows_loops(made) or has_coroutines(made))
        kind = ASYNCIO if said_so or is_for_tasks(made) else THREAD
        if self.place.kind not in (PYTHON, kind):
            raise wrong_kind(self.place, kind)
        if kind == THREAD and not self.staged:
            self._import_anew()
        self._kind = kind
        return kind

    def is_for_tasks(self, wanted: Wanted, sample: Callable[[], Any]) -> bool:
        """True if the method that waits is a coroutine; false if it is for threads."""
        names = [*wanted.usual, *self.place.names.values()]
        # If it has coroutines under other names, the message on what is missing has these.
        return self.kind_by(
            lambda made: waits_in_coroutines(made, names)
            or (self.place.kind != THREAD and has_coroutines(made)), sample) == ASYNCIO

    def for_tasks(self, wanted: Wanted, sample: Callable[[], Any]) -> None:
        """Raise ``InputError`` unless it is for tasks."""
        if not self.is_for_tasks(wanted, sample):
            raise wrong_kind(
                self.place, THREAD, "This suite is for tasks of asyncio; of what threads call, "
                "--suite queue judges queues, --suite awaits.permits, awaits.condition and "
                "awaits.gate semaphores, conditions and events, --suite rate limits, and --suite "
                "timer timers.")

    def _import_anew(self) -> None:
        for name in {*sys.modules} - {*self._before}:
            if name.partition(".")[0] not in _KEPT and str(
                    getattr(sys.modules[name], "__file__", None) or "").endswith(".py"):
                del sys.modules[name]
        self.factory = _found_on_stage(self.place)
        self.staged = True


class NamedAdapter:
    """An adapter that waits for a hello; then the port's system makes one of the class."""

    def __init__(self, named: Named, makers: Makers) -> None:
        self._named = named
        self._makers = makers
        self._adapter: Adapter | None = None

    def request(self, message: Message) -> Message:
        """Answer ``message`` with one of ``ok``, ``waiting`` or ``error``, and ``events``."""
        try:
            return self._answer(message)
        except Missing as error:
            fitting = self._fitting(error.made)
            more = (f" Or is it of another suite? These find all that they need: "
                    f"{', '.join(f'--suite {each}' for each in fitting)}." if fitting else "")
            raise InputError(error.what, error.where, f"{error.next_step}{more}") from None

    def _fitting(self, made: Any) -> list[str]:
        """The suites with operations that an object has, by their usual names."""
        found = []
        for port, maker in self._makers.items():
            name, _, function = maker.partition(":")
            module = import_module(name)
            needed = [each for each in module.WANTED if each.needed]
            if not needed or not all(each.is_in(made) for each in needed):
                continue
            try:
                getattr(module, function)(self._named)
            except InputError:      # it is of the other kind
                continue
            found.append(port)
        return found

    def _answer(self, message: Message) -> Message:
        if message["do"] == "hello":
            self.close()
            self._adapter = self._made(message["port"])
        assert self._adapter is not None
        reply = self._adapter.request(message)
        if message["do"] == "hello" and "ok" in reply:
            reply["ok"]["called"] = {
                ours: f"{theirs} (waits in C, at {self._named.waits_in_c[ours]}: not offered)"
                if ours in self._named.waits_in_c else theirs
                for ours, theirs in self._named.called.items()}
        return reply

    def close(self) -> None:
        """End the session of the adapter that was made, if it has a ``close``."""
        adapter, self._adapter = self._adapter, None
        close = getattr(adapter, "close", None)
        if close is not None:
            close()

    def _made(self, port: str) -> Adapter:
        if port not in self._makers:
            raise InputError(
                f"the suite of {excerpt(port)} takes no class by its name",
                next_step=f"These do: {', '.join(self._makers)}. For others write an adapter: "
                "docs/adapter-protocol.md.")
        module, _, function = self._makers[port].partition(":")
        adapter: Adapter = getattr(import_module(module), function)(self._named)
        return adapter


def named_factory(spec: str, makers: Makers) -> Callable[[], Adapter]:
    """A factory of adapters for ``thread:…`` or ``asyncio:…``.

    Raises ``InputError`` for an object that cannot be imported.
    """
    place = place_of(spec)
    before = {*sys.modules}
    factory = _found_on_stage(place) if place.kind == THREAD else found_at(place)
    named = Named(place, factory, before)
    return lambda: NamedAdapter(named, makers)


def named_of(
    place: Place, before: Collection[str], makers: Makers,
) -> Callable[[Callable[..., Any]], Adapter]:
    """A factory of adapters for the objects that ``python:…`` makes, if these are no adapters.

    Once its kind is known, and it was imported anew, that serves all sessions.
    """
    known: list[Named] = []

    def other(factory: Callable[..., Any]) -> Adapter:
        if not known:
            known.append(Named(place, factory, before))
        return NamedAdapter(known[0], makers)

    return other


def _found_on_stage(place: Place) -> Callable[..., Any]:
    if not _INSTALLED:
        install()
        _INSTALLED.append(True)
    with STAGE.importing():
        return found_at(place)


_INSTALLED: Final[list[bool]] = []


def _version_of(module: str) -> str:
    """The version of the distribution that a module is of; of the standard library, Python's."""
    top = module.partition(".")[0]
    if top in sys.stdlib_module_names:
        return platform.python_version()
    # Imported here: it takes a fifth of the time that a host needs to start.
    from importlib import metadata

    for name in metadata.packages_distributions().get(top, ()):
        return metadata.version(name)
    return UNKNOWN_VERSION
