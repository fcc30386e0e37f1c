"""The names of a class's operations, read off the class itself.

A system says which operations it needs, and under which names they are usual. The names are
searched in the order in which they are listed; names that the user gives by ``--names`` come first.
The result is reported, so that the reader need not guess which methods were called.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import Any, Final

from ...spec.notation.errors import InputError, TargetError
from ...spec.notation.labels import counted
from ..ports.base import excerpt
from .guard import guarded
from .loading import IMPORT_ADVICE
from .place import ASYNCIO, PYTHON, THREAD, Place

__all__ = [
    "GIVES_WAY", "Missing", "Renamed", "Surface", "Wanted", "found_at", "has_coroutines",
    "is_awaited", "is_in_c", "knows_loops", "made_with", "takes_argument", "waits_in_coroutines",
    "wrong_kind",
]


@dataclass(frozen=True)
class Wanted:
    """An operation that a class may have: the names under which it is searched, in order.

    ``needed``: without it there is nothing to test, unless the class has ``instead``, the name of
    another operation. ``given``: the number of arguments that it is called with; a method that
    needs more is another one, whatever its name. ``at_first``: the number that it answers for a new
    object; an attribute with another one then is something else, such as a limit.
    """

    name: str
    usual: tuple[str, ...]
    needed: bool = False
    given: int | None = None
    instead: str = ""
    at_first: int | None = None

    def is_in(self, made: Any) -> bool:
        """True if an object has it, by one of its usual names."""
        return any(_has(made, name) and self.fits(_reach(made, name)) for name in self.usual)

    def fits(self, method: Any) -> bool:
        """True if a method needs no more arguments than it is given, as far as that shows. What
        is called with a number of them is a method.
        """
        if self.at_first is not None and not callable(method):
            return bool(method == self.at_first)
        return self.given is None or (callable(method) and _least(method) <= self.given)


GIVES_WAY: Final = ("block", "blocking", "wait")
"""Parameters of a method that waits which, if they are false, make it answer at once."""

_SPELLINGS: Final = ("async_{}", "{}_async", "a{}", "green_{}", "sync_{}")
"""Names that libraries make of usual ones, where a class is for threads and for tasks."""


class Missing(InputError):
    """The class lacks an operation without which nothing can be tested. ``made`` is an object of
    it."""

    made: Any = None


class Surface:
    """The operations of one object, by the names that checkvalve uses.

    ``also`` are other things that may have a name, such as an argument of the constructor.
    """

    def __init__(
        self, made: Any, wanted: Sequence[Wanted], place: Place, also: Sequence[str] = (),
    ) -> None:
        self.made = made
        self.place = place
        self._also = also
        self.called: dict[str, str] = {}
        """By our name, the object's name."""
        self._check_names(wanted)
        for each in wanted:
            if name := self._name_of(each):
                self.called[each.name] = name
        lacking = [each for each in wanted if each.needed and each.name not in self.called
                   and each.instead not in self.called]
        if lacking:
            raise self._lacks(*lacking)

    def __contains__(self, name: str) -> bool:
        return name in self.called

    def __getitem__(self, name: str) -> Callable[..., Any]:
        """The method itself; for an attribute or a property, a function that reads it."""
        found = _reach(self.made, self.called[name])
        if callable(found):
            method: Callable[..., Any] = found
            return method
        return lambda: _reach(self.made, self.called[name])

    def takes(self, name: str, argument: str) -> bool:
        """True if the method has a parameter of this name."""
        parameters = _parameters(self[name])
        return parameters is not None and argument in parameters

    def takes_more(self, name: str) -> bool:
        """True if the method takes an argument, as far as its signature shows."""
        parameters = _parameters(self[name])
        return parameters is None or _takes_more(parameters, 0)

    def must_have(self, name: str, wanted: Wanted) -> None:
        """Raise ``Missing`` if the object lacks an operation."""
        if name not in self.called:
            raise self._lacks(wanted)

    @property
    def words(self) -> str:
        """The names that were found, for a reader: ``put = put, get = get``."""
        return ", ".join(f"{ours} = {theirs}" for ours, theirs in self.called.items())

    def _check_names(self, wanted: Sequence[Wanted]) -> None:
        known = [each.name for each in wanted]
        unknown = [name for name in self.place.names if name not in (*known, *self._also)]
        if unknown:
            raise InputError(
                f"--names says {unknown[0]}, which is no operation here",
                next_step=f"{_meant(unknown[0], (*known, *self._also))}These have names: "
                f"{', '.join((*known, *self._also))}.")

    def _lacks(self, *wanted: Wanted) -> Missing:
        if isinstance(self.made, tuple):
            return self._is_several(wanted)
        none = ", and none for ".join(
            f"{each.name}: none of {', '.join(each.usual)}" for each in wanted)
        names = ",".join(f"{each.name}=…" for each in wanted)
        at_once = ",".join(f"{each.instead}=…" for each in wanted if each.instead)
        lacks = Missing(
            f"{self.place.words} has no method for {none}",
            next_step=f"{self._within(wanted)}Say what it calls "
            f"{'it' if len(wanted) == 1 else 'them'}: --names {names}"
            f"{f' (of methods that never wait: --names {at_once})' if at_once else ''}; it has "
            f"{', '.join(_methods(self.made)) or 'no public methods'}. Or name a class of yours "
            "that calls it, and has them.")
        lacks.made = self.made
        return lacks

    def _is_several(self, wanted: Sequence[Wanted]) -> Missing:
        """The error for a function that makes more than one object, as the two ends of a stream."""
        kinds = ", ".join(type(each).__name__ for each in self.made)
        several = Missing(
            f"{self.place.words} makes {counted(len(self.made), 'object')}, and one is tested: "
            f"{kinds}",
            next_step="Name a class of yours that makes them, and has the methods "
            f"{' and '.join(each.name for each in wanted)}.")
        several.made = self.made
        return several

    def _within(self, wanted: Sequence[Wanted]) -> str:
        """The advice to name methods of one of its parts, or methods with names that are made of
        usual ones; empty if it has none such."""
        def names(spelling: str) -> str:
            found = {each.name: name for each in wanted for usual in reversed(each.usual)
                     if _has(self.made, name := spelling.format(usual))
                     and each.fits(_reach(self.made, name))}
            return ",".join(f"{ours}={found[ours]}" for ours in found) if len(
                found) == len(wanted) else ""

        parts = [f"{part}.{{}}" for part in dir(self.made) if not part.startswith("_")
                 and not _is_plain(getattr(self.made, part, None))]
        ways = [told for spelling in (*_SPELLINGS, *parts) if (told := names(spelling))]
        return f"It may be --names {' or --names '.join(ways)}. " if ways else ""

    def _name_of(self, wanted: Wanted) -> str:
        """The name of the method that does an operation: the one that the user gave, or the first
        usual one that fits; empty if none does."""
        said = self.place.names.get(wanted.name)
        if said is None:
            return next((name for name in wanted.usual if _has(self.made, name)
                         and wanted.fits(_reach(self.made, name))), "")
        there = _methods(self.made)
        if not _has(self.made, said):
            raise InputError(
                f"{self.place.words} has no {said}, which --names says is its {wanted.name}",
                next_step=f"{_meant(said, there)}It has {', '.join(there) or 'no public methods'}.")
        if wanted.given is not None and not wanted.fits(_reach(self.made, said)):
            raise InputError(
                f"{said} of {self.place.words} needs "
                f"{counted(_least(_reach(self.made, said)), 'argument')}, and {wanted.name} is "
                f"called with {wanted.given or 'none'}",
                next_step="Name another method, or give it one that needs no more: a class of your "
                "own with methods of these names will do.")
        return said


class Renamed:
    """An object with methods of the names that checkvalve uses."""

    def __init__(self, surface: Surface) -> None:
        self._surface = surface

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in self._surface:
            raise AttributeError(name)
        return self._surface[name]


def takes_argument(factory: Callable[..., Any], place: Place, ours: str, usual: Sequence[str],
                   ) -> bool:
    """True if a factory takes an argument: by a usual name, or as its first one."""
    parameters = _parameters(factory)
    if parameters is None or ours in place.names:
        return True
    return any(name in parameters for name in usual) or any(
        each.default is each.empty and each.kind in (
            each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD) for each in parameters.values())


def is_in_c(method: Callable[..., Any]) -> bool:
    """True if a method is written in C, where its waits cannot be seen."""
    return inspect.isbuiltin(method)


def has_coroutines(made: Any) -> bool:
    """True if any of the public methods is a coroutine function."""
    return waits_in_coroutines(made, _methods(made))


def waits_in_coroutines(made: Any, names: Sequence[str]) -> bool:
    """True if any of the methods of these names is a coroutine function, or declares that its
    result is to be awaited.
    """
    return any(is_awaited(getattr(made, name, None)) for name in names)


def is_awaited(method: Any) -> bool:
    """True if a method is a coroutine function, or declares that its result is to be awaited."""
    returns = str(getattr(method, "__annotations__", {}).get("return", ""))
    return inspect.iscoroutinefunction(method) or any(
        word in returns for word in ("Awaitable", "Coroutine", "Future"))


def knows_loops(made: Any) -> bool:
    """True if a class, or one of its bases, is in a module that uses an event loop."""
    kind = made if isinstance(made, type) else type(made)
    modules = [vars(sys.modules[each.__module__]) for each in kind.__mro__
               if each.__module__ in sys.modules]
    return any(name in module for module in modules for name in ("asyncio", "anyio", "tornado"))


def made_with(
    factory: Callable[..., Any], place: Place, arguments: Mapping[str, tuple[Any, Sequence[str]]],
) -> Any:
    """The object that the factory makes with arguments: by our name, the value, and its usual
    names.

    An argument is given by the name that the factory has for it. If it has none of the usual names
    for any of them, they are given in their order, as far as it takes so many. Raises the
    exceptions of the factory.
    """
    parameters = _parameters(factory)
    by_name: dict[str, Any] = {}
    for ours, (value, usual) in arguments.items():
        said = place.names.get(ours)
        name = said or next((name for name in usual if name in (parameters or ())), "")
        if said and parameters is not None and said not in parameters:
            raise InputError(
                f"{place.words} takes no {said}, which --names says is its {ours}",
                next_step=f"It takes {', '.join(parameters) or 'nothing'}.")
        if name:
            by_name[name] = value
    in_place: list[Any] = []
    for value, _ in arguments.values() if not by_name else ():
        if parameters is None or _takes_more(parameters, len(in_place)):
            in_place.append(value)
    told = ", ".join((*map(str, in_place), *(f"{name}={value}" for name, value in by_name.items())))
    try:
        return factory(*in_place, **by_name)
    except Exception as error:
        is_of_the_call = isinstance(error, TypeError) and (
            error.__traceback__ is None or error.__traceback__.tb_next is None)
        if in_place and parameters and not is_of_the_call:
            raise InputError(
                f"{place.words} cannot be made by {place.attributes}({told}): it raised "
                f"{type(error).__name__}: {excerpt(str(error))}",
                next_step=f"It takes {', '.join(parameters)}. Say which of them is "
                f"{', which is '.join(arguments)}: --names {next(iter(arguments))}=…; or name a "
                "function of yours that makes one.") from error
        if not is_of_the_call:
            raise       # of a line of its own
        raise InputError(
            f"{place.words} cannot be made by {place.attributes}({told}): {error}",
            next_step="Name a function of yours in its place: "
            f"def make({', '.join(arguments)}): return {place.attributes}(…).") from None


def _is_plain(part: Any) -> bool:
    """True of numbers, texts and lists, and of a lock of the standard library, or the stage in its
    place: the lock within a class is not what is to be tested."""
    made_by = type(part).__module__.partition(".")[0]
    return made_by == "builtins" or (
        hasattr(part, "acquire") and made_by in {*sys.stdlib_module_names, "checkvalve"})


def found_at(place: Place) -> Callable[..., Any]:
    """The class or factory itself. Raises ``InputError`` if it cannot be imported or called."""
    try:
        module = guarded("it", lambda: import_module(place.module), caught=(BaseException,))
    except TargetError as error:
        raise InputError(f"the module {excerpt(place.module)} cannot be imported: {error.what}",
                         error.where, IMPORT_ADVICE) from None
    found: Any = module
    for part in place.attributes.split("."):
        if not hasattr(found, part):
            raise InputError(f"the module {place.module} has no {excerpt(place.attributes)}",
                             str(getattr(module, "__file__", None) or ""),
                             f"{_meant(part, _methods(found))}Name a class, or a function that "
                             "makes what is to be tested.")
        found = getattr(found, part)
    if not callable(found):
        raise InputError(f"{place.words} cannot be called: it is of the type "
                         f"{type(found).__name__}",
                         next_step="Name a class, or a function that makes what is to be tested.")
    factory: Callable[..., Any] = found
    return factory


def _parameters(method: Callable[..., Any]) -> Mapping[str, inspect.Parameter] | None:
    try:
        return inspect.signature(method).parameters
    except (TypeError, ValueError):     # as of some classes that are written in C
        return None


def _least(method: Any) -> int:
    """The number of arguments without which a method cannot be called; 0 if that does not show."""
    parameters = _parameters(method) if callable(method) else None
    return sum(each.default is each.empty and each.kind in (
        each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)
        for each in (parameters or {}).values())


def _meant(name: str, among: Sequence[str]) -> str:
    """The question whether a name that is near was meant; empty if none is."""
    near = get_close_matches(name, among, n=2)
    return f"Did you mean {' or '.join(near)}? " if near else ""


def _takes_more(parameters: Mapping[str, inspect.Parameter], given: int) -> bool:
    positional = [each for each in parameters.values()
                  if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    return len(positional) > given or any(
        each.kind == each.VAR_POSITIONAL for each in parameters.values())


def _reach(made: Any, name: str) -> Any:
    for part in name.split("."):
        made = getattr(made, part)
    return made


def _has(made: Any, name: str) -> bool:
    try:
        _reach(made, name)
    except AttributeError:
        return False
    return True


def _methods(made: Any) -> list[str]:
    return [name for name in dir(made)
            if not name.startswith("_") and callable(getattr(made, name, None))]


def wrong_kind(place: Place, is_for: str, advice: str = "") -> InputError:
    """The error for a class of the other kind; ``advice`` says what to do instead of writing the
    other kind.
    """
    other = ASYNCIO if is_for == ASYNCIO else THREAD
    how = "its methods are coroutines" if other == ASYNCIO else "none of its methods is a coroutine"
    return InputError(
        f"{place.words} is for {'tasks' if other == ASYNCIO else 'threads'}: {how}",
        next_step=advice or f"Write {other}:{place.module}:{place.attributes}, or {PYTHON}:… to "
        "have it found out.")
