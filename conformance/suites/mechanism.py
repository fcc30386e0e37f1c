"""A chapter's machine as an implementation: so that a variant of the chapter is a twin.

A chapter proves of a mechanism that an observer accepts it, and of its broken variants that the
observer refuses them, each at a rule, by what a ``View`` shows of their steps. An adapter can run
such a machine in place of a reference: for each request it fires the actions that the request
stands for, and answers what the view shows. The twin's rule and its words are those of the
chapter's row.

This is sound only where the harness chooses every step: after each request the machine must be
idle, or get there by steps of its ``own``, which are taken in the order of the text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from typing import Any, ClassVar, Final

from ...spec.notation.interpreter import Args, Interpreter, Step
from ...spec.notation.machine import Machine, constants_of
from ...spec.notation.views import Seen, View

__all__ = ["Mechanism"]

_OWN_MOST: Final = 200
"""Steps of its own after which a machine is taken for one that would never be idle again."""


class Mechanism:
    """One run of a machine, with what a view shows of it; a subclass plays the requests of a port.

    ``machine`` is what a variant replaces, and ``view`` what its row in the chapter is seen by.
    ``own`` has the actions that the machine takes by itself.
    """

    machine: ClassVar[type[Machine]]
    view: ClassVar[type[View[Any]]]
    own: ClassVar[tuple[str, ...]] = ()

    def __init__(self, **constants: int) -> None:
        self._constants = constants
        self._run = _run_of(self.machine, constants)
        self._view = self.view()
        self._state = self._run.initial()

    @property
    def now(self) -> Any:
        """The machine in its present state, to read its variables before the next step."""
        return self._run.look(self._state)

    def can(self, action: str, **arguments: int) -> bool:
        """True if the action is enabled."""
        return self._run.step(self._state, action, tuple(arguments.items())) is not None

    def put(self, **slots: int) -> None:
        """Set variables to what many steps that show nothing would make of them."""
        self._state = self._run.from_slots(self._run.slots(self._state) | slots)

    def grow(self, **constants: int) -> None:
        """Continue with larger constants: what there is more of is as it is in the beginning."""
        slots = self._run.slots(self._state)
        self._constants |= constants
        self._run = _run_of(self.machine, self._constants)
        self._state = self._run.from_slots(self._run.slots(self._run.initial()) | slots)

    def fire(self, action: str, **arguments: int) -> tuple[Seen, ...] | None:
        """Take a step, and return the observer's steps that it shows; None if it is not enabled."""
        return self._fire(action, tuple(arguments.items()))

    def _fire(self, action: str, arguments: Args) -> tuple[Seen, ...] | None:
        after = self._run.step(self._state, action, arguments)
        if after is None:
            return None
        before, self._state = self._state, after
        if action in self._view.same:
            return ((action, arguments),)
        shows = self._view.shows_actions.get(action)
        if shows is None:
            return ()
        was = copy(self._run.look(before))
        found = shows(self._view, was, self._run.look(after), **dict(arguments))
        if not found:
            return ()
        is_one = isinstance(found, tuple) and isinstance(found[0], str)
        return (found,) if is_one else tuple(found)

    def own_steps(self) -> Iterable[Step]:
        """The steps of its own; a subclass may leave out some that it knows are not enabled."""
        return [step for step in self._run.steps() if step[0] in self.own]

    def settle(self) -> tuple[Seen, ...]:
        """Take steps of its own until it is idle, and return what they show. A machine that would
        never be idle is left where it is."""
        shown: tuple[Seen, ...] = ()
        for _ in range(_OWN_MOST):
            for step in self.own_steps():
                more = self._fire(*step)
                if more is not None:
                    shown += more
                    break
            else:
                break
        return shown


_RUNS: Final[dict[Any, Interpreter]] = {}


def _run_of(machine: type[Machine], constants: Mapping[str, int]) -> Interpreter:
    """A machine with its constants, which many runs have: it keeps no state."""
    key: Any = machine, *constants.items()
    if key not in _RUNS:
        _RUNS[key] = Interpreter(machine, constants_of(machine, constants))
    return _RUNS[key]
