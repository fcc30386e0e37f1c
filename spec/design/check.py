"""Deciding the properties of a design: by the wait-for graph, by search, by runs that try it.

| property | rule | what is searched |
|---|---|---|
| deadlock | DESIGN-1 | the design itself, each connected part on its own |
| bounded | DESIGN-2 | unbounded links counted up to a number that only growth can reach |
| loss, failure | DESIGN-2 | a place whose limit is passed by the first loss (failure) |
| starvation | DESIGN-3 | the watched task's steps flip a bit, for ever or not |
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

from ..notation.labels import counted
from ..verdicts.deadline import Deadline, OutOfTime
from ..verdicts.verdict import Budget, Outcome, Trace, Verdict
from .explain import end_marking, helping, marking_of, steps_of, told_waits
from .findings import DesignReport, Finding, GraphCycle
from .language import Design, Flow, Kind
from .links import Unbounded
from .rows import Place, Row, Table
from .runs import Runs
from .stuck import Blocked, closed_cycle, waits_in
from .translate import Aim, translate
from .waits import WaitGraph, wait_graph

__all__ = ["Engine", "Part", "Settings", "check", "decide_deadlock", "parts"]

Engine = Literal["auto", "graph", "explorer", "runs"]
LOOK = 1_000_000
"""States that are searched before runs are tried: of so few, a shortest way is worth its time."""
ABSTRACTIONS = (3, 8, 24)
GROWTHS = (8, 40, 200)
NO_END = Deadline()


@dataclass(frozen=True)
class Settings:
    """How to check: the engine, and what it may use."""

    engine: Engine = "auto"
    budget: Budget = field(default_factory=Budget)


def check(design: Design, settings: Settings | None = None) -> DesignReport:
    """Decide every property that the design's author expects something of, and those that
    every design should have: that it is never stuck, is bounded, and does not fail."""
    settings = settings or Settings()
    settings = replace(settings, budget=settings.budget.start())
    deadline = settings.budget.deadline
    found = parts(design)
    sections = [Part.of(part, deadline=deadline.share(2 * (len(found) - place)))
                for place, part in enumerate(found)]
    findings = []
    for name in _properties(design):
        finding = _decide(design, sections, name, settings)
        findings.append(replace(finding, expected=design.expect.get(name, "holds")))
    told = [_told_cycles(section, deadline) for section in sections]
    complete = all(section.graph.complete for section in sections) and None not in told
    cycles = [cycle for cycles in told if cycles is not None for cycle in cycles]
    return DesignReport(design, tuple(findings), tuple(cycles), complete)


@dataclass(frozen=True)
class Part:
    """A connected part of a design with its wait-for graph, which is made once."""

    design: Design
    table: Table
    graph: WaitGraph

    @staticmethod
    def of(design: Design, cycles: bool = True, deadline: Deadline = NO_END) -> Part:
        """The part with its graph; its ``cycles`` take long to list, and prove nothing more.

        Where the deadline passes, the graph is one that says nothing.
        """
        table = translate(design, Aim(relaxed=True))
        nothing = Part(design, table, WaitGraph((), complete=False, proves_live=False))
        if any(link.capacity == 0 for link in design.links.values()):
            return nothing
        helps = helping(design, table) if cycles else None
        try:
            return Part(design, table, wait_graph(
                table, _unending(design), helps, deadline.watch("making the wait-for graph")))
        except OutOfTime:
            return nothing


def _properties(design: Design) -> list[str]:
    names = ["deadlock", "bounded"]
    if any(link.flow is Flow.FAIL for link in design.links.values()):
        names.append("failure")
    return names + [name for name in design.expect if name not in names]


def _decide(
    design: Design, sections: list[Part], name: str, settings: Settings
) -> Finding:
    deadline = settings.budget.deadline
    began = deadline.spent()
    try:
        if name == "deadlock":
            finding = _deadlock(sections, settings)
        elif name == "bounded":
            finding = _bounded(design, settings)
        elif name in ("loss", "failure"):
            finding = _first_time(design, name, settings)
        else:
            finding = _starvation(design, name.removeprefix("starvation: "), settings)
    except OutOfTime as late:
        finding = Finding(name, Outcome.UNKNOWN, "search, incomplete", reason=str(late))
    return replace(finding, name=name, seconds=deadline.spent() - began)


# --- connected parts ------------------------------------------------------------------------

def parts(design: Design) -> list[Design]:
    """The parts of a design that have no link and no pool in common, in their order.

    A part can be stuck while another goes on, so each is checked on its own.
    """
    group = {name: name for name in design.tasks}

    def root(name: str) -> str:
        while group[name] != name:
            name = group[name]
        return name

    for members in _tied_together(design):
        for other in members[1:]:
            group[root(other)] = root(members[0])
    found: dict[str, list[str]] = {}
    for name in design.tasks:
        found.setdefault(root(name), []).append(name)
    return [_only(design, set(names)) for names in found.values()]


def _tied_together(design: Design) -> Iterator[list[str]]:
    for link in design.links.values():
        yield [*link.writers, *link.readers]
    for pool in design.pools:
        yield [
            task.name for task in design.tasks.values()
            if pool in task.pool or any(step.target == pool for step in task.steps)
        ]


def _only(design: Design, names: set[str]) -> Design:
    return replace(
        design, tasks={n: t for n, t in design.tasks.items() if n in names},
        links={n: link for n, link in design.links.items()
               if {*link.writers, *link.readers} <= names},
    )


# --- deadlock -------------------------------------------------------------------------------

def _deadlock(sections: list[Part], settings: Settings) -> Finding:
    findings: list[Finding] = []
    for place, section in enumerate(sections):
        # Each part gets its share, so that one of them does not leave the others without time.
        share = settings.budget.share(len(sections) - place)
        findings.append(decide_deadlock(
            section, replace(settings, budget=share), trying=settings.budget))
        if findings[-1].outcome is Outcome.VIOLATED:
            break
    worst = (Outcome.VIOLATED, Outcome.UNKNOWN, Outcome.HOLDS)
    finding = min(findings, key=lambda f: worst.index(f.outcome))
    if finding.outcome is Outcome.HOLDS:
        finding = replace(finding, depth=max(f.depth for f in findings),
                          method="; ".join(dict.fromkeys(f.method for f in findings)))
    return replace(finding, states=sum(f.states for f in findings),
                   transitions=sum(f.transitions for f in findings))


def decide_deadlock(part: Part, settings: Settings, trying: Budget | None = None) -> Finding:
    """Whether one connected part can get stuck.

    By the wait-for graph; then by a short search, which finds a shortest way; then by runs that
    try to get there, which may use what is left of ``trying`` (they end by themselves); and by
    search as far as the budget goes.
    """
    if settings.engine in ("auto", "graph"):
        if part.graph.proves_live:
            return Finding("deadlock", Outcome.HOLDS, "wait-for graph, for every order of steps")
        if settings.engine == "graph":
            return Finding(
                "deadlock", Outcome.UNKNOWN, "wait-for graph",
                reason="the wait-for graph has cycles that it cannot exclude; "
                       "the engine `explorer` decides",
            )
    runs = replace(settings, budget=trying or settings.budget)
    if settings.engine == "runs":
        return _tried(part.design, runs)
    states = settings.budget.max_states
    if settings.engine == "explorer" or states is not None and states <= LOOK:
        return _abstracting(part.design, Aim(), "DESIGN-1", settings)
    look = replace(settings, budget=replace(settings.budget.share(2), max_states=LOOK))
    finding = _abstracting(part.design, Aim(), "DESIGN-1", look)
    if finding.outcome is not Outcome.UNKNOWN:
        return finding
    try:
        tried = _tried(part.design, runs)
        if tried.outcome is Outcome.VIOLATED:
            return tried
        searched = _abstracting(part.design, Aim(), "DESIGN-1", settings)
    except OutOfTime as late:  # of this part; others may still be decided
        return replace(finding, reason=f"{finding.reason}; {late}")
    if searched.outcome is not Outcome.UNKNOWN:
        return searched
    return replace(searched, reason=f"{searched.reason}; {tried.reason}")


def _tried(design: Design, settings: Settings) -> Finding:
    """What runs come to that try to get the design stuck."""
    from ..engines.replay import trace_of
    from ..engines.search import instances
    from ..notation import bind
    from .net import Net
    table = translate(design, Aim(unbounded=Unbounded(ABSTRACTIONS[-1], abstract=True)))
    watch = settings.budget.deadline.watch("trying runs")
    tried = Runs(table, watch).try_all()
    what = f"{counted(tried.runs, 'run')} of {counted(tried.steps, 'step')} in all"
    if tried.stuck is None:
        return Finding("deadlock", Outcome.UNKNOWN, "runs that try to get stuck",
                       reason=f"{what} did not get stuck")
    bound = bind(Net, **table.constants())
    item, = instances(bound, "DESIGN-1")
    trace = trace_of(bound.interpreter, tried.stuck, item, deadline=settings.budget.deadline)
    found = _finding(design, table, "DESIGN-1", Verdict(
        Outcome.VIOLATED, f"found by trying: {what}", trace=trace))
    return replace(found, is_shortest=False)


def _unending(design: Design) -> bool:
    """Whether no task can ever have finished."""
    return all(
        task.count is None for task in design.tasks.values()
        if task.kind in (Kind.SOURCE, Kind.SCRIPT)
    )


# --- the other properties ---------------------------------------------------------------------

def _first_time(design: Design, name: str, settings: Settings) -> Finding:
    if name == "failure":
        able, aim = {Flow.FAIL}, Aim(failures=True)
    else:
        able, aim = {Flow.DROP_NEWEST, Flow.DROP_OLDEST}, Aim(losses=True)
    links = design.links.values()
    if not any(link.flow in able or (name == "loss" and link.lossy) for link in links):
        what = "fails when it is full" if name == "failure" else "drops or loses anything"
        return Finding(name, Outcome.HOLDS, f"by construction: no link {what}")
    return _abstracting(design, aim, "DESIGN-2", settings)


def _starvation(design: Design, task: str, settings: Settings) -> Finding:
    part = next(part for part in parts(design) if task in part.tasks)
    found = _abstracting(part, Aim(watch=task), "DESIGN-3", settings)
    unbounded = any(link.flow is Flow.UNBOUNDED for link in part.links.values())
    if found.outcome is Outcome.HOLDS and unbounded:
        # Fairness of a step that stands for several is weaker than that of each of them.
        return replace(found, outcome=Outcome.UNKNOWN, method="search, of a coarser design",
                       reason="an unbounded link makes fairness undecided here")
    return found


def _abstracting(design: Design, aim: Aim, rule: str, settings: Settings) -> Finding:
    """Search, counting unbounded links further as long as a violation rests on not doing so."""
    if settings.engine == "graph":
        return _not_the_graphs()
    unbounded = any(link.flow is Flow.UNBOUNDED for link in design.links.values())
    finding = Finding("", Outcome.UNKNOWN, "")
    for most in ABSTRACTIONS if unbounded else ABSTRACTIONS[:1]:
        table = translate(design, replace(aim, unbounded=Unbounded(most, abstract=True)))
        verdict = _search(table, rule, settings)
        finding = _finding(design, table, rule, verdict)
        if verdict.trace is None or not _is_abstract(table, verdict.trace):
            return finding
    return replace(
        finding, outcome=Outcome.UNKNOWN, steps=(), waits=(), cycle=(), loop=None,
        method="search, of a coarser design",
        reason=f"a way to a violation was found only where unbounded links are counted up to "
               f"{ABSTRACTIONS[-1]}; it may not be real",
    )


def _is_abstract(table: Table, trace: Trace) -> bool:
    return any(row.effect.abstract for row in _rows(table, trace))


def _bounded(design: Design, settings: Settings) -> Finding:
    grows = [link.name for link in design.links.values() if link.flow is Flow.UNBOUNDED]
    if not grows:
        return Finding("bounded", Outcome.HOLDS, "by construction: every link is bounded")
    if settings.engine == "graph":
        return _not_the_graphs()
    finding = Finding("bounded", Outcome.UNKNOWN, "")
    for most in GROWTHS:
        table = translate(design, Aim(Unbounded(most, abstract=False)))
        verdict = _search(table, "DESIGN-2", settings)
        finding = _finding(design, table, "DESIGN-2", verdict)
        if verdict.trace is None:
            return finding
        loop = _pump(table, verdict.trace, settings.budget.deadline)
        if loop is not None:
            first, last = loop
            return replace(finding, loop=first, steps=finding.steps[:last], contents=(),
                           reason="the repeated steps leave everything as it was, and more "
                                  "in an unbounded link")
    return replace(finding, outcome=Outcome.UNKNOWN, steps=(), waits=(), cycle=(),
                   method="search, incomplete",
                   reason=f"an unbounded link reaches {GROWTHS[-1]} elements, but no "
                          "repetition was found that shows that it grows for ever")


def _not_the_graphs() -> Finding:
    return Finding("", Outcome.UNKNOWN, "wait-for graph",
                   reason="only the engine `explorer` decides this property")


def _pump(table: Table, trace: Trace, deadline: Deadline) -> tuple[int, int] | None:
    """Two points of a run between which only unbounded links change, and only grow.

    The steps between them can then be repeated for ever, as no step among them needs an
    unbounded link to be empty (the bound of the count itself is not real).
    """
    growing = {p.name: p for p in table.places if p.role == "queue" and p.limit < p.most}
    markings = [marking_of(table, s) for s in (trace.initial, *(t.state for t in trace.steps))]
    rows = _rows(table, trace)
    for length in range(1, len(markings)):  # the shortest repetition is the clearest
        deadline.check("looking for a repetition that shows how a link grows")
        for first in range(len(markings) - length):
            last = first + length
            before, after = markings[first], markings[last]
            same = all(after[p] == n for p, n in before.items() if p not in growing)
            more = all(after[p] >= before[p] for p in growing) and before != after
            if same and more and not any(_needs_empty(row, growing) for row in rows[first:last]):
                return first, last
    return None


def _needs_empty(row: Row, growing: Mapping[str, Place]) -> bool:
    return any(
        place in growing and n + row.effect.change.get(place, 0) < growing[place].most
        for place, n in row.effect.at_most.items()
    )


# --- the search -------------------------------------------------------------------------------

def _search(table: Table, rule: str, settings: Settings) -> Verdict:
    """The verdict on a rule of the net; the violated instance, if it has several."""
    from ..engines.search import check_rules, instances
    from ..notation import bind
    from .net import Net
    settings.budget.deadline.check("translating the design")
    bound = bind(Net, **table.constants())
    verdicts = check_rules(bound, instances(bound, rule), settings.budget)
    worst = (Outcome.VIOLATED, Outcome.UNKNOWN, Outcome.HOLDS)
    return min(verdicts, key=lambda verdict: worst.index(verdict.outcome))


def _rows(table: Table, trace: Trace) -> list[Row]:
    return [table.row_of(step.action, step.args[0][1]) for step in trace.steps]


def _finding(design: Design, table: Table, rule: str, verdict: Verdict) -> Finding:
    make = partial(
        Finding, "", verdict.outcome, verdict.method, verdict.states, verdict.transitions,
        verdict.depth, reason=verdict.reason,
    )
    if verdict.trace is None:
        return make()
    steps, loop = tuple(steps_of(table, verdict.trace)), verdict.trace.loop
    marking = end_marking(table, verdict.trace)
    contents = tuple((p.of, marking[p.name]) for p in table.places if p.role == "queue")
    if rule == "DESIGN-2" or (loop is not None and loop < len(steps)):
        return make(steps=steps, loop=loop, contents=contents)  # nobody waits for ever there
    waits = waits_in(design, table, marking)
    return make(steps=steps, waits=tuple(waits), cycle=tuple(closed_cycle(waits)),
                contents=contents)


# --- the wait-for graph, for the reader ---------------------------------------------------------

def _told_cycles(part: Part, deadline: Deadline) -> list[GraphCycle] | None:
    """The elementary cycles in the words of the design, the possible and plain ones first;
    None where there is no time to tell them."""
    found: dict[tuple[Blocked, ...], str] = {}
    for cycle in part.graph.cycles:
        if deadline.passed():
            return None
        told = told_waits(part.design, part.table, cycle)
        if told and found.get(told, "excluded"):
            found[told] = cycle.excluded
    cycles = [GraphCycle(waits, why) for waits, why in found.items()]
    return sorted(cycles, key=_plainness)


def _plainness(cycle: GraphCycle) -> tuple[bool, int, int]:
    hungry = sum(wait.what == "data" for wait in cycle.waits)  # the full ones tell more
    return bool(cycle.excluded), len(cycle.waits), hungry
