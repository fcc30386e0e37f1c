"""Running a fixture again, on any target: does the same rule break at the same step?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...spec.engines.monitor import STATES_MAX
from ...spec.notation.errors import InputError
from ...spec.notation.rules import Rule
from ...spec.verdicts.deadline import Deadline, Spent
from ..ports.base import Message, Operation, Port, Target, check_request, excerpt
from ..suites.fixture import Fixture
from ..suites.breach import Breach
from ..suites.run import Run, items_for
from ..suites.suite import AnyJudge, AnySuite, Conversation, Exchange
from ..systems.catalogue import port_named, suite_named

__all__ = ["Replay", "replay"]


@dataclass(frozen=True)
class Replay:
    """The outcome of a replay.

    ``breach`` is the first breach of any rule, or of the fixture's own rule if there is one;
    ``root`` is what that one follows from, if anything (see ``Run.root_of``). ``same`` is true
    if it is of that rule and in the same step. ``left_at`` is the step (from 0) of which the
    request could no longer be made, because this target answered otherwise. ``unjudged`` are the
    ids of the rules of which the machine lost track before a breach was seen. ``replies`` are what
    the target said in each step, as it came. ``spent`` is the budget that was spent before its end.
    """

    target: str
    breach: Breach | None
    same: bool
    words: tuple[str, ...]
    left_at: int | None = None
    unjudged: frozenset[str] = frozenset()
    root: Breach | None = None
    replies: tuple[Message, ...] = ()
    spent: str = ""


def replay(
    fixture: Fixture, target: Target, where: str = "", candidates: int = STATES_MAX,
    deadline: Deadline | None = None,
) -> Replay:
    """Run a fixture on a fresh instance of a target; ``candidates`` is as in ``RunSettings``. No
    request is made after the ``deadline``, nor without memory.

    Raises ``InputError`` for a fixture that this suite could not have written, or that asks
    for what the target cannot do, and ``TargetError`` when the target fails.
    """
    suite = suite_named(fixture.suite)
    rule = suite.rule(fixture.rule_id)
    if rule is None:
        raise InputError(
            f"the suite {suite.name} has no rule {fixture.rule_id[:80]!r}", where,
            f"Its rules are {', '.join(rule.id for rule in suite.rules())}.")
    if fixture.document["port"] != suite.port:
        raise InputError(f"the suite {suite.name} uses the port {suite.port!r}, and no other",
                         where, 'Fix "port".')
    operations = _operations(fixture, where)
    _check_settings(suite, fixture, where)
    session = target.open()
    try:
        items_max = fixture.items or items_for(fixture.requests)
        judge = suite.judge(fixture.capacity, items_max, rule, candidates=candidates)
        conversation = suite.converse(session, fixture.capacity, items_max)
        said: list[Exchange] = []
        spent, left_at = "", None
        try:
            left_at = _converse(conversation, judge, fixture, operations, where, said,
                                deadline or Deadline())
        except Spent as late:
            spent = str(late)
    finally:
        session.close()
    words = tuple(exchange.words for exchange in said)
    found = _outcome(target.name, judge, rule, fixture, words, left_at)
    return replace(found, replies=tuple(exchange.reply for exchange in said), spent=spent)


def _check_settings(suite: AnySuite, fixture: Fixture, where: str) -> None:
    try:
        settings = dict(suite.settings(fixture.capacity))
    except InputError as error:
        raise InputError(error.what, where, error.next_step) from None
    if settings != fixture.document["settings"]:
        raise InputError(f"the suite {suite.name} runs with no such settings", where,
                         f"Use {settings}.")


def _operations(fixture: Fixture, where: str) -> list[Operation]:
    """The operation of each step. Raises ``InputError`` for one that the fixture's port does not
    have."""
    port = port_named(fixture.document["port"])
    for number, request in enumerate(fixture.requests):
        if request["do"] not in port.operations or request["do"] == "hello":
            raise InputError(
                f"step {number + 1} of the fixture asks for {excerpt(request['do'])!r}, which is "
                f"no operation of the port {port.name}", where,
                f'Fix "do" of steps[{number}].request; docs/fixtures.md describes the file.')
        _check_arguments(port, request, number, where)
    return [port.operations[request["do"]] for request in fixture.requests]


def _check_arguments(port: Port, request: Message, number: int, where: str) -> None:
    """Raise ``InputError`` where an argument is of a kind that the port does not have; a ticket is
    one of the replay, which the fixture names by its step."""
    sent = {**request, "ticket": 0} if "ticket_of" in request else request
    try:
        check_request(port, sent)
    except InputError as error:
        raise InputError(f"step {number + 1} of the fixture cannot be asked for: {error.what}",
                         where, f"Fix steps[{number}].request. {error.next_step}") from None


def _converse(
    conversation: Conversation, judge: AnyJudge, fixture: Fixture,
    operations: Sequence[Operation], where: str, said: list[Exchange], deadline: Deadline,
) -> int | None:
    """Ask what the fixture asks, in order, and add what is ``said``; the number of the first
    request that makes no sense now. Raises ``Spent``."""
    for number, (request, operation) in enumerate(zip(fixture.requests, operations, strict=True)):
        deadline.check("the fixture was replayed")
        try:
            act = conversation.act_for(request)
        except InputError as error:
            lacking = operation.optional and operation.name not in conversation.can
            advice = (
                "Replay it on a target that can do what the fixture asks for." if lacking
                else f"Fix steps[{number}].request; docs/fixtures.md describes the file.")
            raise InputError(
                f"step {number + 1} of the fixture cannot be replayed: {error.what}", where,
                error.next_step or advice) from None
        if act is None:
            return number
        exchange = conversation.say(act)
        said.append(exchange)
        judge.see(exchange, number)
        if not exchange.judged:
            break
    return None


def _outcome(
    target: str, judge: AnyJudge, rule: Rule, fixture: Fixture, words: tuple[str, ...],
    left_at: int | None,
) -> Replay:
    own = [breach for breach in judge.breaches if breach.rule == rule]
    breach = next(iter([*own, *judge.breaches]), None)
    same = breach is not None and breach.rule == rule and breach.step == fixture.length - 1
    if breach is not None:
        at = breach.step
        words = (*words[:at], breach.in_words(words[at]), *words[at + 1:])
    unjudged = frozenset() if breach is not None else frozenset(judge.unjudged)
    root = None if breach is None else Run(breaches=judge.breaches).root_of(breach)
    return Replay(target, breach, same, words, left_at, unjudged,
                  None if root is breach else root)
