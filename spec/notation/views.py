"""Views: what the steps of a machine look like to an observer outside.

A chapter's machine models a mechanism, an observer's machine accepts any mechanism by its calls
and answers. A view says how the one looks to the other: which of the observer's steps each of
the machine's actions shows. What no method of the view names is hidden.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, ClassVar, Final, Generic, TypeVar

from .errors import InputError
from .machine import Machine
from .types import DomainLike

__all__ = ["LEFT_OUT", "Seen", "View", "check_view", "see", "shown", "steps_of"]

Seen = tuple[str, tuple[tuple[str, int], ...]]
"""A step of the observer's machine: an action with its arguments."""

M = TypeVar("M", bound=Machine)
F = TypeVar("F", bound=Callable[..., Any])


LEFT_OUT: Final = "left out"
"""The result of a view's method for a step at which the observer does not look on."""


def see(name: str, **arguments: int) -> Seen:
    """The observer's step ``name`` with these arguments."""
    return name, tuple(arguments.items())


def shown(method: F) -> F:
    """Mark a view's method: it has the name of an action, and says what that shows.

    It gets the machine before and after the step, and the action's arguments by name; it returns
    a step of the observer, several in their order, None, or LEFT_OUT for a step that no run that
    the observer looks at has. Both machines are for reading only.
    """
    method.__checkvalve_shown__ = True  # type: ignore[attr-defined]
    return method


class View(Generic[M]):
    """Base of all views of a machine.

    ``history`` is what the view has to remember of a run, such as the numbers that an observer
    gives to things in the order in which it meets them; a hashable value, which a method may
    replace. ``same`` names actions that the observer sees as what they are: by their own name, and
    with their arguments. ``around`` names actions and variables of the world around the
    implementation, which a harness plays: a change of those breaks no implementation. ``enabled``
    has the names of the actions that can change the machine in the state that ``asked`` and
    ``at_rest`` are about: a machine without any is quiescent, whatever its state says.
    """

    history: Hashable = ()
    same: ClassVar[tuple[str, ...]] = ()
    around: ClassVar[tuple[str, ...]] = ()
    enabled: frozenset[str] = frozenset()
    shows_actions: ClassVar[dict[str, Callable[..., Any]]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.shows_actions = {
            name: member for name in dir(cls)
            if hasattr(member := getattr(cls, name), "__checkvalve_shown__")}

    def begins(self, machine: M) -> Iterable[Seen]:
        """The observer's steps before the machine's first step."""
        return ()

    def follows(self, machine: M, action: str) -> bool:
        """True if the observer looks on at any step of an action in a state.

        Runs with a step at which it does not are left out: where two calls overlap, and it learns
        of one at a time.
        """
        return True

    def asked(self, machine: M) -> Iterable[Seen | Sequence[Seen]]:
        """The questions that an observer may ask in a state, any number of times, with the answers;
        each is one step of the observer, or several in their order."""
        return ()

    def at_rest(self, machine: M) -> Iterable[Seen | Sequence[Seen]]:
        """The questions that may be asked where the machine can take no step at all, or cycles
        forever through states that show nothing; as ``asked``."""
        return ()


def check_view(view: type[View[Any]], machine: type[Machine]) -> None:
    """Raise InputError for a method of a view that has the name of no action of the machine."""
    for name in (*view.shows_actions, *view.same):
        if name not in machine.actions_declared:
            raise InputError(
                f"{view.__name__} says what {name} shows, which is no action of "
                f"{machine.__name__}",
                next_step=f"Its actions are {', '.join(machine.actions_declared)}.")


def steps_of(found: Any, observer: type[Machine]) -> tuple[Seen, ...]:
    """The result of a view's method as steps of an observer, with plain numbers.

    Raises InputError for what is no step of the observer.
    """
    if found is None:
        return ()
    if isinstance(found, tuple) and len(found) == 2 and isinstance(found[0], str):
        found = (found,)
    return tuple(_checked(each, observer) for each in found)


def _checked(step: Seen, observer: type[Machine]) -> Seen:
    name, arguments = step
    action = observer.actions_declared.get(name)
    if action is None or action.internal:
        visible = [a.name for a in observer.actions_declared.values() if not a.internal]
        raise InputError(f"{observer.__name__} sees no step {name}",
                         next_step=f"It sees {', '.join(visible)}.")
    wanted, given = [each for each, _ in action.over], dict(arguments)
    if sorted(wanted) != sorted(given):
        raise InputError(
            f"{name} of {observer.__name__} is shown with {', '.join(given) or 'no arguments'}",
            next_step=f"It takes {', '.join(wanted) or 'none'}.")
    return name, tuple((each, _value(given[each], domain)) for each, domain in action.over)


def _value(value: int, domain: DomainLike) -> int:
    """A member of an enumeration, which reports show by its name, or a plain number."""
    return domain(value) if isinstance(domain, type) else int(value)
