"""A chapter's machine as an implementation: so that a variant of the chapter is a twin.

A chapter proves of a mechanism that an observer accepts it, and of its broken variants that the
observer refuses them, each at a rule, by what a ``View`` shows of their steps. An adapter can run
such a machine in place of a reference: for each request it fires the actions that the request
stands for, and answers what the view shows. The twin's rule and its words are those of the
chapter's row.

This is sound only where the harness chooses every step: the machine must be idle after each
request, without steps of its own that a schedule would choose. ``Mechanism`` does not look for any.
"""

from __future__ import annotations

from copy import copy
from typing import Any, ClassVar

from ...spec.notation.errors import InternalError
from ...spec.notation.interpreter import Interpreter
from ...spec.notation.machine import Machine
from ...spec.notation.views import Seen, View

__all__ = ["Mechanism"]


class Mechanism:
    """One run of a machine, with what a view shows of it; a subclass plays the requests of a port.

    ``machine`` is what a variant replaces, and ``view`` what its row in the chapter is seen by.
    """

    machine: ClassVar[type[Machine]]
    view: ClassVar[type[View[Any]]]

    def __init__(self, **constants: int) -> None:
        self._run = Interpreter(self.machine, constants)
        self._view = self.view()
        self._state = self._run.initial()

    def fire(self, action: str, **arguments: int) -> tuple[Seen, ...] | None:
        """Take a step, and return the observer's steps that it shows; None if it is not enabled.

        Raises InternalError for a step that the view does not show: the adapter plays another.
        """
        after = self._run.step(self._state, action, tuple(arguments.items()))
        if after is None:
            return None
        shows = self._view.shows_actions.get(action)
        if shows is None:
            raise InternalError(f"{self.view.__name__} does not show {action}",
                                type(self).__name__, "Play an action that the view shows.")
        before = copy(self._run.look(self._state))
        self._state = after
        return tuple(shows(self._view, before, self._run.look(after), **arguments))
