"""An adapter never lists ``settle``, as docs/settling.md says, and loses nothing by that."""

from __future__ import annotations

from collections.abc import Collection

import pytest
from checkvalve.conformance.adapters.session import InProcessTarget
from checkvalve.conformance.ports.base import ALWAYS, Adapter, Message
from checkvalve.conformance.suites.run import capabilities, run_program
from checkvalve.conformance.suites.suite import Act, Program, Suite
from checkvalve.conformance.systems.catalogue import SYSTEMS, port_named

WITH_SETTLE = [name for name, system in SYSTEMS.items() if "settle" in system.port.operations]
DRIVEN = [name for name in WITH_SETTLE if name.startswith("awaits.") or name == "kafka.races"]


class Unlisted:
    """An adapter with a ``can`` that lacks what every adapter has."""

    def __init__(self, adapter: Adapter) -> None:
        self._adapter = adapter
        self.close = getattr(adapter, "close", lambda: None)

    def request(self, message: Message) -> Message:
        """The reply to a message, as ``Adapter`` has it."""
        reply = self._adapter.request(message)
        if message["do"] == "hello" and "ok" in reply:
            can = [name for name in reply["ok"]["can"] if name not in ALWAYS]
            return {**reply, "ok": {**reply["ok"], "can": can}}
        return reply


def unlisted(name: str) -> InProcessTarget:
    """The reference of a system, which lists ``settle`` nowhere."""
    system = SYSTEMS[name]
    return InProcessTarget(
        system.reference.name, lambda: Unlisted(system.adapter(system.reference)), port_named)


@pytest.mark.parametrize("name", WITH_SETTLE)
def test_settle_is_optional_in_no_port(name: str) -> None:
    """So ``can`` may name it in none: that is what the page says."""
    assert not port_named(name).operations["settle"].optional
    assert "settle" not in port_named(name).capabilities()


@pytest.mark.parametrize("name", SYSTEMS)
def test_no_rule_needs_settle_to_be_listed(name: str) -> None:
    """The groups have none of it alone, and what applies is the same with it and without."""
    suite = SYSTEMS[name].suite
    can = {*SYSTEMS[name].port.operations}
    for rule in suite.rules():
        assert ("settle",) not in suite.groups(rule)
        assert suite.missing(rule, can - ALWAYS) == suite.missing(rule, can | ALWAYS)


def programs(name: str, can: Collection[str]) -> list[Program]:
    """Some programs of a suite for a target that can do so much."""
    suite = SYSTEMS[name].suite
    drawn: list[Program] = []
    for rule in suite.rules():
        suite.explore(can, rule, 1, 2, drawn.append)
    return drawn


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_programs_are_the_same_whether_settle_is_listed_or_not(name: str) -> None:
    """No weight, course or epilogue waits for it to be listed."""
    can = {*SYSTEMS[name].port.operations}
    assert programs(name, can - ALWAYS) == programs(name, can | ALWAYS)


@pytest.mark.parametrize("name", WITH_SETTLE)
def test_a_target_that_does_not_list_settle_is_asked_to(name: str) -> None:
    """Where programs have it, the conversation makes sense of it, and the target answers."""
    suite = SYSTEMS[name].suite
    target = unlisted(name)
    can = capabilities(suite, target, *suite.capacities)
    drawn = [each for each in programs(name, can) if any(act.do == "settle" for act in each)]
    if not isinstance(suite, Suite) or "settle" not in suite.weights:
        return
    assert drawn
    asked = [act for each in drawn[:3]
             for act in run_program(suite, target, each, suite.capacities[-1]).acts]
    assert any(act.do == "settle" for act in asked)


@pytest.mark.parametrize("name", DRIVEN)
def test_every_rule_about_callbacks_and_threads_has_occasions_without_it_listed(name: str) -> None:
    """As many as with it: of no rule there are no cases that could have broken it."""
    suite, listed = SYSTEMS[name].suite, SYSTEMS[name].reference
    def occasions(target: InProcessTarget) -> dict[str, int]:
        return {rule.id: sum(
            run_program(suite, target, each, suite.capacities[-1], count=True).exercised[rule.id]
            for each in drawn[:4]) for rule in suite.rules()}

    drawn = [(*each, Act("settle")) for each in programs(name, capabilities(
        suite, unlisted(name), *suite.capacities))]
    plain = InProcessTarget(listed.name, lambda: SYSTEMS[name].adapter(listed), port_named)
    assert occasions(unlisted(name)) == occasions(plain)
