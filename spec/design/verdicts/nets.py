"""The findings on a Petri net, which is decided as it is (``checkvalve.spec.nets``).

A net with tasks and links is one engine among others for the question of a deadlock (``asked``):
its run is replayed by the interpreter of designs, so it is explained, drawn and certified as that
of any design. A net alone has no other engines (``check_net``), and its runs are replayed by the
rule of nets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from ...nets.answer import Answer, Limits
from ...nets.deadlock import decide_deadlock, stages
from ...nets.growth import decide_bounded
from ...nets.local import decide_local, excluded
from ...nets.net import Net
from ...nets.parts import NetPart, net_parts, part_with
from ...verdicts.deadline import Spent
from ...verdicts.verdict import Budget, Outcome, Verdict
from ..net.builder import Aim
from ..net.places import Unbounded
from ..net.translate import translate
from ..reading.language import Design
from ..reading.properties import BOUNDED, DEADLOCK_FREE, NO_LOCAL_DEADLOCK
from ..search.searching import ABSTRACTIONS, Settings, finding_of
from ..why.blocked import Blocked
from ..why.findings import Attempt, Finding
from ..why.parts import Part

__all__ = ["NET_PROPERTIES", "asked", "check_net", "growth_of", "unlocked_of"]

ENGINES = {
    "graph": frozenset[str](), "structure": frozenset({"reduce", "siphons", "equations"}),
    "explorer": frozenset({"visit", "stubborn sets"}), "runs": frozenset({"walks"}),
}
"""The engines of nets that each method means; ``auto`` means all."""
SHOWN_WAITS = 40
SHOWN_PRODUCERS = 12
"""Waits that are reported of a dead marking, and transitions that could end each."""


Timed = tuple[Answer, float]
"""An answer, and the seconds that it took."""


NET_PROPERTIES = (DEADLOCK_FREE, NO_LOCAL_DEADLOCK, BOUNDED)
"""The properties that are decided of a net alone, in the order of a report."""


def check_net(design: Design, settings: Settings) -> Iterator[Finding]:
    """The findings on a net alone, each when it is known: deadlock, growth, local deadlock."""
    assert design.net is not None
    sections = net_parts(design.net)
    budget = settings.budget.start()
    dead: list[Timed] = []
    for each, share in _shared(sections, budget, 1.5):
        dead.append(_timed(partial(_deadlock, each.net, share, settings.engine), budget))
        if dead[-1][0].outcome is Outcome.VIOLATED:
            break
    yield _found(DEADLOCK_FREE, sections, dead)
    bounded = [_timed(partial(decide_bounded, each.net, _limits(share)), budget)
               for each, share in _shared(sections, budget, 1.5)]
    yield _found(BOUNDED, sections, bounded)
    known = [answer for answer, _ in dead] + [_NOT_ASKED] * (len(sections) - len(dead))
    local = [_timed(partial(decide_local, each.net, _limits(share), deadlock, growth), budget)
             for (each, share), deadlock, (growth, _) in zip(
                 _shared(sections, budget, 1), known, bounded, strict=True)]
    yield _found(NO_LOCAL_DEADLOCK, sections, local)


_NOT_ASKED = Answer(Outcome.UNKNOWN, "", "another part deadlocks")


def _shared(
    sections: Sequence[NetPart], budget: Budget, of: float
) -> Iterator[tuple[NetPart, Budget]]:
    """Each part with its share of what is left, of which one part in ``of`` is for all."""
    whole = budget.share(of)
    for at, section in enumerate(sections):
        yield section, whole.share(len(sections) - at)


def _limits(budget: Budget) -> Limits:
    return Limits(budget.deadline, budget.max_states, budget.max_memory)


def _deadlock(net: Net, budget: Budget, engine: str) -> Answer:
    if engine == "auto":
        return decide_deadlock(net, _limits(budget))
    answer = Answer(Outcome.UNKNOWN, engine, f"the method {engine} does not decide this")
    for name, ask in stages(net, _limits(budget)):
        try:
            found = ask()
        except Spent as late:
            found = Answer(Outcome.UNKNOWN, "search, incomplete", str(late))
        if name in ENGINES[engine]:
            answer = found
            if answer.outcome is not Outcome.UNKNOWN:
                return answer
    return answer


def _timed(ask: Callable[[], Answer], budget: Budget) -> Timed:
    began = budget.deadline.spent()
    answer = ask()
    return answer, budget.deadline.spent() - began


def _found(
    name: str, sections: Sequence[NetPart], answers: Sequence[Timed]
) -> Finding:
    """The finding of the answers on the parts: the worst."""
    worst = (Outcome.VIOLATED, Outcome.UNKNOWN, Outcome.HOLDS)
    answered = list(zip(sections, answers, strict=False))
    if not answered:
        return Finding(name, Outcome.HOLDS, "by construction: the net has no transition")
    section, (answer, _) = min(answered, key=lambda each: worst.index(each[1][0].outcome))
    method = answer.method
    if answer.outcome is Outcome.HOLDS:
        method = "; ".join(dict.fromkeys(each.method for each, _ in answers[:3]))
    finding = Finding(
        name, answer.outcome, method, sum(each.states for each, _ in answers),
        sum(each.transitions for each, _ in answers), answer.depth,
        sum(seconds for _, seconds in answers), reason=answer.reason,
        is_shortest=answer.is_shortest,
        tried=tuple(Attempt(part.net.transitions[0], "net", seconds, each.outcome,
                            each.reason or each.method, each.states)
                    for part, (each, seconds) in answered) if name == DEADLOCK_FREE else ())
    return finding if answer.outcome is not Outcome.VIOLATED else _told(
        finding, section.net, answer)


def _told(finding: Finding, net: Net, answer: Answer) -> Finding:
    """The finding with its run in words, and the waits of a dead marking."""
    steps = tuple(f"{net.transitions[each]} fires" for each in answer.run)
    after = net.replay(answer.run)
    contents = tuple((net.places[place], number) for place, number in enumerate(after) if number)
    if finding.name != DEADLOCK_FREE:
        return replace(finding, steps=steps, loop=answer.loop, contents=contents)
    waits, cycle = _waits(net, after)
    empty = tuple((wait.where, 0) for wait in waits)
    return replace(finding, steps=steps, waits=waits, cycle=cycle,
                   contents=tuple({**dict(empty), **dict(contents)}.items()))


def _waits(net: Net, marking: Sequence[int]) -> tuple[tuple[Blocked, ...], tuple[Blocked, ...]]:
    """Waits that follow from each other in a dead marking, and those of them that are a cycle."""
    chain: list[Blocked] = []
    seen: dict[int, int] = {}
    here = 0
    while here not in seen and len(chain) < SHOWN_WAITS:
        seen[here] = len(chain)
        short = [place for place, weight in net.takes[here] if marking[place] < weight]
        place = min(short, key=lambda place: (not net.producers[place], len(net.producers[place])))
        ends = [each for each in net.producers[place] if each != here]
        names = tuple(net.transitions[each] for each in ends[:SHOWN_PRODUCERS])
        chain.append(Blocked(net.transitions[here], "data", net.places[place], names,
                             never=not ends))
        if not ends:
            return tuple(chain), ()
        here = ends[0]
    return tuple(chain), tuple(chain[seen[here]:]) if here in seen else ()


def growth_of(design: Design, settings: Settings) -> Finding | None:
    """The finding of the engines of nets on growth, None where they do not know.

    Its run is one of the net.
    """
    assert design.net is not None
    answers = [(section, decide_bounded(section.net, _limits(share)))
               for section, share in _shared(net_parts(design.net), settings.budget, 2)]
    for section, answer in answers:
        if answer.outcome is Outcome.VIOLATED:
            return _told(Finding(BOUNDED, answer.outcome, answer.method, depth=answer.depth,
                                 reason=answer.reason, is_shortest=answer.is_shortest),
                         section.net, answer)
    if any(answer.outcome is Outcome.UNKNOWN for _, answer in answers):
        return None
    return Finding(BOUNDED, Outcome.HOLDS, "; ".join(dict.fromkeys(
        answer.method for _, answer in answers)))


def unlocked_of(design: Design, settings: Settings) -> Finding | None:
    """The finding that the structure of each part of a net excludes local deadlock; None if it does
    not."""
    assert design.net is not None
    why: list[str] = []
    for section, share in _shared(net_parts(design.net), settings.budget, 4):
        try:
            why.append(excluded(section.net, _limits(share)))
        except Spent:
            return None
        if not why[-1]:
            return None
    return Finding(NO_LOCAL_DEADLOCK, Outcome.HOLDS, "; ".join(dict.fromkeys(why)))


def asked(part: Part, settings: Settings) -> Finding:
    """The finding of the engines of nets on a part of a design that was read from a net.

    A run into a dead marking is replayed by the interpreter of designs.
    """
    design = part.design
    assert design.net is not None
    net = part_with(design.net, design.tasks.keys()).net
    answer = Answer(Outcome.UNKNOWN, "", "")
    reasons: list[str] = []
    for _, ask in stages(net, _limits(settings.budget), glance=False):
        try:
            answer = ask()
        except Spent as late:
            answer = Answer(Outcome.UNKNOWN, "", str(late))
        if answer.outcome is not Outcome.UNKNOWN:
            break
        reasons.append(answer.reason)
    if answer.outcome is Outcome.VIOLATED:
        return _replayed(design, net, answer, settings)
    return Finding(DEADLOCK_FREE, answer.outcome, answer.method or "structure and runs",
                   answer.states, answer.transitions,
                   reason="; ".join(dict.fromkeys(reasons))
                   if answer.outcome is Outcome.UNKNOWN else "")


def _replayed(design: Design, net: Net, answer: Answer, settings: Settings) -> Finding:
    """The run as one of the design's tasks, step by step."""
    from ...engines.replay import trace_of
    from ...engines.search import instances
    from ...notation import bind
    from ..net.net import Net as Chapter
    settings.budget.deadline.check("replaying a run")
    table = translate(design, Aim(unbounded=Unbounded(ABSTRACTIONS[-1], abstract=True)))
    number: dict[str, list[int]] = {}
    for at, row in enumerate(table.rows):
        number.setdefault(row.task, []).append(at)
    if any(len(rows) != 1 for rows in number.values()):
        # Unbounded links are counted up to a number there, which the run may pass.
        return _told(Finding(DEADLOCK_FREE, Outcome.VIOLATED, answer.method, depth=answer.depth,
                             is_shortest=answer.is_shortest), net, answer)
    bound = bind(Chapter, **table.constants())
    item, = instances(bound, "DESIGN-1")
    rows = [number[net.transitions[each]][0] for each in answer.run]
    trace = trace_of(bound.interpreter, rows, item, deadline=settings.budget.deadline)
    found = finding_of(design, table, "DESIGN-1", Verdict(
        Outcome.VIOLATED, answer.method, answer.states, answer.transitions, trace=trace))
    return replace(found, is_shortest=answer.is_shortest)
