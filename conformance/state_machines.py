"""Hypothesis's state machines, made from a suite: for pytest runs of your own.

    from checkvalve.conformance.state_machines import state_machine
    TestMyQueue = state_machine("queue", MyAdapter).TestCase

Hypothesis draws the operations of the suite's port, one by one, as far as they make sense where
they stand; the suite's machines judge each reply. A broken rule is reported in the words of the
suite. Hypothesis shrinks it, and keeps it in its example database for the next run. How many
examples there are, and how long, is its setting: ``TestMyQueue.settings = settings(…)``.

A campaign (``checkvalve conform``) knows which rules need what, counts what was exercised, and
runs what may hang or crash apart; a state machine does none of it, and runs in your process. What
it cannot show of an adapter, by its hello, is among Hypothesis's statistics as *not shown*.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from keyword import iskeyword
from typing import Any, Final

from ..spec.notation.errors import InputError, TargetError
from .adapters.session import InProcessTarget
from .computer.environment import missing_extra
from .ports.base import Adapter, Session, SettingsRefused, Target
from .suites.results import Case
from .suites.fixture import fixture_of
from .suites.run import ITEMS_MAX, Run
from .suites.suite import Act, Conversation, Suite
from .systems.catalogue import port_named, suite_named
from .systems.targets import resolve_target

try:
    from hypothesis import event
    from hypothesis import strategies as st
    from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
except ModuleNotFoundError as error:
    raise (missing_extra(error) or error) from None

__all__ = ["RuleBroken", "state_machine"]

_PICKS: Final = 3
"""Values to pick from, where the suite says that any neighbours will do."""


class RuleBroken(AssertionError):
    """The implementation under test broke a rule; the message shows the run, step by step."""


class _Conversing(RuleBasedStateMachine):
    """A session under the eyes of a suite's machines. Subclasses have a rule per operation."""

    suite: Suite
    target: Target

    def __init__(self) -> None:
        super().__init__()
        self._session: Session | None = None
        self._conversation: Conversation | None = None
        self._over = False

    def begin(self, capacity: int) -> None:
        """Open a session with this capacity; where it is not supported, there is nothing to do."""
        self._capacity = capacity
        self._judge = self.suite.judge(capacity, ITEMS_MAX, None)
        self._run = Run(breaches=self._judge.breaches)
        self._session = self.target.open()
        try:
            self._conversation = self.suite.converse(self._session, capacity, ITEMS_MAX)
            for rule_id, lacks in self._not_shown(self._conversation.can):
                event(f"not shown: {rule_id}: {lacks}")
        except SettingsRefused:
            self._over = True

    def enabled(self, do: str) -> bool:
        """True if an operation makes sense now; all are let through where none does."""
        sensible = [name for name in self.suite.weights if self._makes_sense(Act(name))]
        return do in sensible or not sensible

    def act(self, act: Act) -> None:
        """Request an act, if it makes sense. Raises RuleBroken for a reply that breaks a rule."""
        if not self._makes_sense(act):
            return
        assert self._conversation is not None
        try:
            exchange = self._conversation.say(act)
        except TargetError:
            self._over = True
            raise
        self._run.acts.append(act)
        self._run.exchanges.append(exchange)
        self._judge.see(exchange, len(self._run.acts) - 1)
        self._over = not exchange.judged or self._judge.blind
        if self._run.breaches:
            self._over = True
            raise RuleBroken("\n".join(["", *self._story()]))

    def teardown(self) -> None:
        """End as the suite's programs do, and close the session."""
        try:
            for act in self.suite.epilogue:
                self.act(act)
            if self._session is not None and self._judge.unjudged:
                event("a machine that judges lost track: the rest of the run was not judged by it")
        finally:
            if self._session is not None:
                self._session.close()

    def _makes_sense(self, act: Act) -> bool:
        return (not self._over and self._conversation is not None
                and self._conversation.makes_sense(act))

    def _not_shown(self, can: Collection[str]) -> Iterator[tuple[str, str]]:
        """The rules that the target does not offer to show, or not in full; what each takes."""
        for each in self.suite.rules():
            lacks = self.suite.missing(each, can) or tuple(
                " or ".join(part.takes) for part in self.suite.fuller.get(each.id, ())
                if not {*part.takes} & {*can})
            if lacks:
                yield each.id, f"that takes {'; and '.join(lacks)}"

    def _story(self) -> list[str]:
        fixture = fixture_of(
            self.suite, self._capacity, self._run, self._run.breaches[0], self.target.name,
            Case(0, 0))
        return fixture.story()


def state_machine(
    suite: str, adapter: Callable[[], Adapter] | str, *, capacity: int | None = None
) -> type[RuleBasedStateMachine]:
    """A state machine that tests an implementation by a suite; its ``TestCase`` is for pytest.

    ``adapter`` makes a new adapter (docs/adapter-protocol.md), such as its class; or it is the
    name of a target, as for ``checkvalve conform``. ``capacity`` None: Hypothesis picks one of
    the suite's. Raises ``InputError`` for a suite with programs that are planned as a whole, and
    for a name that is not there.
    """
    found = suite_named(suite)
    if not (isinstance(found, Suite) and found.one_by_one):
        raise InputError(
            f"the programs of the suite {suite} are planned as a whole, and Hypothesis would "
            "draw their operations one by one", next_step="Run it by checkvalve conform.")
    if isinstance(adapter, str):
        target, name = resolve_target(adapter), adapter
    else:
        name = getattr(adapter, "__name__", type(adapter).__name__)
        target = InProcessTarget(name, adapter, port_named)
    members: dict[str, Any] = {
        "suite": found, "target": target,
        "__doc__": f"The suite {suite} on {name}.", "__module__": __name__,
        "start": _start((capacity,) if capacity else found.capacities),
    }
    for do in found.weights:
        name_of_rule = re.sub(r"\W", "_", do)
        while (hasattr(_Conversing, name_of_rule) or name_of_rule in members
               or iskeyword(name_of_rule)):
            name_of_rule += "_"
        members[name_of_rule] = _rule_of(found, do, name_of_rule)
    label = "".join(part for part in f"{suite} on {name}".title() if part.isalnum())
    return type(label, (_Conversing,), members)


def _start(capacities: tuple[int, ...]) -> Any:
    @initialize(capacity=st.sampled_from(capacities))
    def start(self: _Conversing, capacity: int) -> None:
        self.begin(capacity)
    return start


def _rule_of(suite: Suite, do: str, name: str) -> Any:
    def perform(self: _Conversing, pick: int) -> None:
        self.act(Act(do, pick))
    perform.__name__ = name
    drawn = rule(pick=st.integers(0, (suite.picks or _PICKS) - 1))(perform)
    return precondition(lambda self: self.enabled(do))(drawn)
