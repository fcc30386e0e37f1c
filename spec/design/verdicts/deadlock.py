"""The question whether a design can deadlock: engines, asked in turn, the cheapest first.

| engine | says | what it costs |
|---|---|---|
| `graph` | holds | the wait-for graph of a small part: next to nothing |
| `explorer`, a few states | either | a short search: the shortest run of a small design |
| `net` | either | what was read from a Petri net: reductions, equations, runs, fewer states |
| `structure` | either | equations with capacities as mere numbers; runs to what is open |
| `explorer`, a million states | either | half a second or two |
| `runs` | violated | some seconds |
| `explorer` | either | what is left of the budget |

The first that knows ends it. The answer of each, and its time, is kept with the finding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from ...notation.labels import counted
from ...verdicts.deadline import Spent, told_of_memory
from ...verdicts.verdict import Budget, Outcome, Verdict
from ..equations.structure import Answer, decide
from ..net.places import Unbounded
from ..net.builder import Aim
from ..net.translate import translate
from ..reading.language import Design
from ..reading.properties import DEADLOCK_FREE
from ..search.runs import Runs
from ..search.searching import ABSTRACTIONS, Settings, abstracting, finding_of
from ..search.ways import way_into
from ..why.cycles import closed_cycle
from ..why.findings import Attempt, Finding
from ..why.parts import Part, shares, unending
from ..why.blocked import waits_in
from .nets import asked

__all__ = ["decide_deadlock", "told_all"]

GLANCE = 20_000
"""States that are searched before any equation is made: that takes less than loading a solver."""
LOOK = 1_000_000
"""States that are searched before runs are tried: of so few, a shortest way is worth its time."""
MAX_GLANCED = 400
"""Transitions of a part that gets a short search first: to compile more takes longer than
that.
"""
MAX_SEARCHED = 2_000
"""Transitions of a part that is searched at all: each is compiled, and has states of its
own.
"""
MAX_TOLD = 2_000
"""Most transitions of a part for its open candidate to be described: waits take long to find."""

NO_CYCLE = "no cycle of the wait-for graph is possible, for every scheduling"
"""The proof by the wait-for graph."""

Stage = tuple[str, Callable[[], Finding]]


def told_all(sections: list[Part], settings: Settings) -> Finding:
    """The finding on all connected parts of a design, the large ones last: a deadlock of a small
    one is soon found, and then nothing else is asked."""
    late = settings.budget.deadline.passed
    ordered = sorted(sections, key=lambda part: late() or part.has_more_than(MAX_SEARCHED))
    findings = _in_shares(ordered, settings)
    worst = (Outcome.VIOLATED, Outcome.UNKNOWN, Outcome.HOLDS)
    finding = min(findings, key=lambda f: worst.index(f.outcome))
    if finding.outcome is Outcome.HOLDS:
        finding = replace(finding, depth=max(f.depth for f in findings),
                          method="; ".join(dict.fromkeys(f.method for f in findings)))
    return replace(finding, states=sum(f.states for f in findings),
                   transitions=sum(f.transitions for f in findings),
                   tried=tuple(each for f in findings for each in f.tried))


def _in_shares(sections: Sequence[Part], settings: Settings) -> list[Finding]:
    """The findings on the parts up to the first that can deadlock. Each gets its share of the
    time, so that one of them does not leave the others without any; where that was not enough, it
    is asked once more in what all of them have left.
    """
    found: list[Finding] = []
    again: list[int] = []
    places: Sequence[int] = range(len(sections))
    for turn in range(2):
        for place, parts in zip(places, shares([sections[n] for n in places]), strict=True):
            share = settings.budget.share(parts)
            finding = decide_deadlock(sections[place], replace(settings, budget=share),
                                      trying=settings.budget)
            if turn:
                found[place] = replace(finding, tried=(*found[place].tried, *finding.tried))
            else:
                found.append(finding)
            if finding.outcome is Outcome.VIOLATED:
                return found
            if finding.outcome is Outcome.UNKNOWN and share.deadline.passed():
                again.append(place)
        if settings.budget.deadline.passed():
            break
        places, again = again, []
    return found


def decide_deadlock(part: Part, settings: Settings, trying: Budget | None = None) -> Finding:
    """Decide whether one connected part can deadlock; runs of a small one, which end by themselves,
    may use what is left of ``trying``. The finding has an attempt for each engine that was asked.
    """
    clock = settings.budget.deadline
    attempts: list[Attempt] = []
    asked: list[tuple[str, Finding]] = []
    for engine, ask in _stages(part, settings, trying or settings.budget):
        began = clock.spent()
        try:
            with told_of_memory(f"the engine {engine} was asked"):
                finding = ask()
        except Spent as late:  # of this part; others may still be decided
            finding = Finding(DEADLOCK_FREE, Outcome.UNKNOWN, "search, incomplete",
                              reason=str(late))
        attempts.append(Attempt(next(iter(part.design.tasks), ""), engine,
                                clock.spent() - began, finding.outcome,
                                finding.reason or finding.method, finding.states))
        if finding.outcome is not Outcome.UNKNOWN:
            return replace(finding, tried=tuple(attempts))
        asked.append((engine, finding))
    return replace(_undecided(asked), tried=tuple(attempts))


def _undecided(asked: Sequence[tuple[str, Finding]]) -> Finding:
    """The finding where no engine could decide: what is left open, what was tried, and how far."""
    if len(asked) == 1:
        return asked[0][1]
    searched = [finding for engine, finding in asked if engine == "explorer"]
    furthest = max(searched, key=lambda finding: finding.states)
    told = [finding.reason for wanted in ("structure", "runs") for engine, finding in asked
            if engine == wanted]
    next_step = ("next, give it more time (--max-seconds), or ask about the same design with "
                 "smaller capacities")
    return replace(furthest, reason="; ".join(dict.fromkeys(
        [*told, furthest.reason, next_step])))


def _stages(part: Part, settings: Settings, trying: Budget) -> Iterator[Stage]:
    """The engines in their order, as the settings want them."""
    engine, states = settings.engine, settings.budget.max_states
    small = not settings.budget.deadline.passed() and not part.has_more_than(MAX_SEARCHED)
    runs = replace(settings, budget=trying) if small else settings
    if engine in ("auto", "graph"):
        yield "graph", lambda: _graphed(part)
    if engine == "structure":
        yield "structure", lambda: _proved(part.design, settings)
    if engine == "runs":
        yield "runs", lambda: _tried(part.design, runs)
    if engine == "explorer":
        yield "explorer", lambda: _searched(part, settings)
    if engine != "auto":
        return
    if small and not part.has_more_than(MAX_GLANCED):
        yield "explorer", lambda: _searched(part, settings, GLANCE)
    if part.design.net is not None:
        yield "net", lambda: asked(part, replace(settings, budget=settings.budget.share(2)))
    yield "structure", lambda: _proved(part.design, settings, 3 if small else 1.2)
    if small and (states is None or states > LOOK):
        yield "explorer", lambda: _searched(part, settings, LOOK)
    if states is None or states > LOOK:
        yield "runs", lambda: _tried(part.design, runs)
    if not small or part.has_more_than(MAX_GLANCED) or states is None or states > GLANCE:
        yield "explorer", lambda: _searched(part, settings)


def _graphed(part: Part) -> Finding:
    if part.graph.proves_live:
        return Finding(DEADLOCK_FREE, Outcome.HOLDS, NO_CYCLE)
    graph = part.graph
    if graph.complete and all(cycle.excluded for cycle in graph.cycles) \
            and not unending(part.design):
        return Finding(DEADLOCK_FREE, Outcome.UNKNOWN, "wait-for graph",
                       reason="no cycle of waits is possible, but a task may wait for another one "
                              "that has ended, stopped or crashed; the engine `explorer` decides")
    return Finding(DEADLOCK_FREE, Outcome.UNKNOWN, "wait-for graph",
                   reason="the wait-for graph has cycles that it cannot rule out; "
                          "the engine `explorer` decides")


def _proved(design: Design, settings: Settings, share: float = 1) -> Finding:
    """The finding of the equations of deadlocked states, in one of so many parts of the time."""
    answer = decide(design, settings.budget.deadline.share(share))
    if answer.deadlock_free:
        return Finding(DEADLOCK_FREE, Outcome.HOLDS, answer.method)
    if answer.legs is not None:
        return way_into(design, answer.table, answer.net, answer.legs, settings.budget.deadline)
    return Finding(DEADLOCK_FREE, Outcome.UNKNOWN, "structure", reason=_left_open(design, answer))


def _left_open(design: Design, answer: Answer) -> str:
    """The words for what the equations do not exclude, with the waits in it."""
    told = f"the equations ({answer.used}) do not rule out every deadlocked state"
    if answer.candidate is None or len(answer.net.transitions) > MAX_TOLD:
        return f"{told}: {answer.reason}"
    waits = waits_in(design, answer.table, answer.candidate)
    cycle = closed_cycle(waits)
    open_ones = "; ".join(wait.sentence() for wait in cycle or waits[:3])
    return f"{told}; one that is left open, and may not be reachable: {open_ones or answer.reason}"


def _searched(part: Part, settings: Settings, most: int | None = None) -> Finding:
    """A search of at most so many states, in a share of the time where it is only a short one."""
    budget = settings.budget
    budget.deadline.check("searching")
    if part.has_more_than(MAX_SEARCHED):
        return Finding(DEADLOCK_FREE, Outcome.UNKNOWN, "search, not begun",
                       reason=f"more than {MAX_SEARCHED:,} transitions are too many to search")
    if most is not None:
        limit = most if budget.max_states is None else min(most, budget.max_states)
        budget = replace(budget.share(2), max_states=limit)
    return abstracting(part.design, Aim(), "DESIGN-1",
                       replace(settings, engine="explorer", budget=budget))


def _tried(design: Design, settings: Settings) -> Finding:
    """The finding of runs that try to deadlock the design."""
    from ...engines.replay import trace_of
    from ...engines.search import instances
    from ...notation import bind
    from ..net.net import Net
    watch = settings.budget.deadline.watch("trying runs")
    watch()
    table = translate(design, Aim(unbounded=Unbounded(ABSTRACTIONS[-1], abstract=True)), watch)
    tried = Runs(table, watch).try_all()
    what = f"{counted(tried.runs, 'run')} of {counted(tried.steps, 'step')} in all"
    if tried.deadlocked is None:
        return Finding(DEADLOCK_FREE, Outcome.UNKNOWN, "runs that try to deadlock",
                       reason=f"{what} did not deadlock")
    bound = bind(Net, **table.constants())
    item, = instances(bound, "DESIGN-1")
    trace = trace_of(bound.interpreter, tried.deadlocked, item, deadline=settings.budget.deadline)
    found = finding_of(design, table, "DESIGN-1", Verdict(
        Outcome.VIOLATED, f"found by trying {what}", trace=trace))
    return replace(found, is_shortest=False)
