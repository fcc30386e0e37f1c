"""Deciding the properties of a design: by proofs, by search, by runs that try it.

| property | rule | what is searched |
|---|---|---|
| deadlock-free | DESIGN-1 | the design itself, each connected part on its own (``deadlock``) |
| no-local-deadlock | | all states of each part, backwards (``local``) |
| bounded | DESIGN-2 | unbounded links counted up to a number that only growth can reach |
| ordered | DESIGN-2 | two marked elements of a sender (``order``) |
| no-duplicates | DESIGN-2 | all copies of a marked element (``duplication``) |
| no-loss, no-failure | DESIGN-2 | a place; the first loss (failure) passes its limit |
| live | DESIGN-3 | reads, writes and sources flip a bit, forever or not (``live``) |
| no-starvation | DESIGN-3 | the watched task's steps flip a bit, forever or not |
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from ..notation.errors import InputError
from ..verdicts.deadline import Deadline, Spent, told_of_memory
from ..verdicts.verdict import Outcome, Trace
from .equations.bounds import bounds
from .net.places import Unbounded
from .net.rows import Place, Row, Table
from .net.builder import Aim
from .net.translate import translate
from .reading.language import Design, Flow
from .reading.properties import (
    BOUNDED, DEADLOCK_FREE, LIVE, NO_DUPLICATES, NO_FAILURE, NO_LOCAL_DEADLOCK, NO_LOSS,
    ORDERED, no_starvation, starved_task,
)
from .search.searching import (
    Engine, Settings, abstracting, finding_of, not_the_searchs, rows_of, search,
)
from .verdicts.deadlock import decide_deadlock, told_all
from .verdicts.duplication import decide_duplication
from .verdicts.live import decide_live, going_round, is_steady
from .verdicts.local import Spaces, decide_local
from .verdicts.nets import NET_PROPERTIES, check_net, growth_of, unlocked_of
from .verdicts.occupancy import largest
from .verdicts.order import decide_order
from .verdicts.steady import PROOF, is_fed
from .why.explain import marking_of, told_waits
from .why.findings import DesignReport, Finding, GraphCycle
from .why.parts import Part, parts
from .why.blocked import Blocked

__all__ = [
    "Engine", "Part", "Settings", "check", "decide_deadlock", "decide_one", "decide_property",
    "fullest", "parts", "properties",
]

GROWTHS = (8, 40, 200)


def check(
    design: Design, settings: Settings | None = None,
    tell: Callable[[Finding], None] | None = None,
) -> DesignReport:
    """Decide every property that the design's author expects something of, and those that
    every design should have: that it is never deadlocked, is bounded, and does not fail.

    ``tell`` is called with each finding as soon as its verdict is known; with that on boundedness
    once more when it is known how full each link gets.
    """
    settings = settings or Settings()
    settings = replace(settings, budget=settings.budget.start())
    if design.net_alone:
        known = {each.name: each for each in _told(design, check_net(design, settings), tell)}
        return DesignReport(design, tuple(known[name] for name in properties(design)))
    deadline = settings.budget.deadline
    found = parts(design)
    sections = [Part.of(part, deadline=deadline.share(2 * (len(found) - place)))
                for place, part in enumerate(found)]
    spaces = Spaces(sections, settings, NO_LOCAL_DEADLOCK in design.expect)
    decided = {finding.name: finding for finding in _told(
        design, _each(design, sections, spaces, settings), tell)}
    findings = [decided[name] for name in properties(design)]
    told = [_told_cycles(section, deadline) for section in sections]
    complete = all(section.graph.complete for section in sections) and None not in told
    proofs = _proofs(findings)
    cycles = [_beside(cycle, proofs.get(next(iter(section.design.tasks), "")))
              for section, cycles in zip(sections, told, strict=True) for cycle in cycles or ()]
    return DesignReport(design, tuple(findings), tuple(cycles), complete)


def _each(
    design: Design, sections: list[Part], spaces: Spaces, settings: Settings
) -> Iterator[Finding]:
    """The findings, each when it is known; a better one on the same property replaces it."""
    for name in properties(design):
        finding = decide_property(design, sections, spaces, name, settings)
        yield finding
        if name == DEADLOCK_FREE:
            spaces.know(finding)
        if name == BOUNDED:
            yield _with_bounds(finding, design, spaces)


def _told(
    design: Design, findings: Iterator[Finding], tell: Callable[[Finding], None] | None
) -> Iterator[Finding]:
    """The findings with what was expected of them, as soon as ``tell`` was called with each."""
    for finding in findings:
        judged = replace(finding, expected=_expected(design, finding))
        if tell is not None:
            tell(judged)
        yield judged


def decide_one(design: Design, name: str, settings: Settings | None = None) -> Finding:
    """The finding on one property that is asked of the design, without all others.

    Raises InputError for a property that the design does not ask for.
    """
    if name not in properties(design):
        raise InputError(f"the design does not ask for the property {name[:60]!r}", design.file,
                         f"Name it in `expect`. Decided are: {', '.join(properties(design))}.")
    settings = settings or Settings()
    settings = replace(settings, budget=settings.budget.start())
    if design.net_alone:
        return next(each for each in check_net(design, settings) if each.name == name)
    found = parts(design)
    sections = [Part.of(part, deadline=settings.budget.deadline.share(2 * (len(found) - place)))
                for place, part in enumerate(found)]
    spaces = Spaces(sections, settings, NO_LOCAL_DEADLOCK in design.expect)
    return decide_property(design, sections, spaces, name, settings)


def fullest(design: Design, settings: Settings | None = None) -> Finding:
    """The finding on boundedness, with how full each link gets, and nothing else."""
    settings = settings or Settings()
    settings = replace(settings, budget=settings.budget.start())
    deadline = settings.budget.deadline
    if design.net_alone:
        return next(each for each in check_net(design, settings) if each.name == BOUNDED)
    sections = [Part.of(part, deadline=deadline) for part in parts(design)]
    spaces = Spaces(sections, settings, True)
    return _with_bounds(decide_property(design, sections, spaces, BOUNDED, settings), design,
                        spaces)


def _expected(design: Design, finding: Finding) -> str | None:
    """The verdict that is wanted: *holds* where the design says nothing. A local deadlock that
    nobody asked about may be there, or stay unknown, in a design that is expected to deadlock or
    not to be live, or of which the blocked tasks are expected to starve."""
    said = design.expect.get(finding.name)
    if said is not None or finding.name != NO_LOCAL_DEADLOCK:
        return said or "holds"
    blocked = finding.meanwhile.tasks if finding.meanwhile else ()
    starve = all(design.expect.get(no_starvation(task)) == "violated" for task in blocked)
    known = "violated" in (design.expect.get(DEADLOCK_FREE), design.expect.get(LIVE)) or bool(
        blocked and starve)
    return None if known or finding.outcome is Outcome.UNKNOWN else "holds"


def properties(design: Design) -> list[str]:
    """The names of the properties that ``check`` decides, in the order of its report."""
    if design.net_alone:
        return [*NET_PROPERTIES]
    names = [DEADLOCK_FREE, NO_LOCAL_DEADLOCK, BOUNDED]
    if any(link.may_fail for link in design.links.values()):
        names.append(NO_FAILURE)
    return names + [name for name in design.expect if name not in names]


def decide_property(
    design: Design, sections: list[Part], spaces: Spaces, name: str, settings: Settings
) -> Finding:
    """The finding on one property (its ``name``) of a design with the parts ``sections``."""
    deadline = settings.budget.deadline
    began = deadline.spent()
    try:
        with told_of_memory(f"deciding {name}"):
            finding = _decided(design, sections, spaces, name, settings)
    except Spent as late:
        finding = Finding(name, Outcome.UNKNOWN, "search, incomplete", reason=str(late))
    return replace(finding, name=name, seconds=deadline.spent() - began)


def _decided(
    design: Design, sections: list[Part], spaces: Spaces, name: str, settings: Settings
) -> Finding:
    """The finding on one property, from the module of ``verdicts`` that decides it."""
    if name == DEADLOCK_FREE:
        return told_all(sections, settings)
    if name == NO_LOCAL_DEADLOCK:
        by_net = None
        if design.net is not None and not all(map(spaces.is_small, range(len(sections)))):
            by_net = unlocked_of(design, settings)
        return by_net or decide_local(spaces)
    if name == ORDERED:
        return decide_order([part.design for part in sections], settings)
    if name == NO_DUPLICATES:
        return decide_duplication([part.design for part in sections], settings)
    if name == LIVE:
        return decide_live([part.design for part in sections], settings)
    if name == BOUNDED:
        return _bounded(design, settings)
    if name in (NO_LOSS, NO_FAILURE):
        return _first_time(design, name, settings)
    task = starved_task(name)
    assert task is not None, name
    return _starvation(design, task, settings)


def _with_bounds(finding: Finding, design: Design, spaces: Spaces) -> Finding:
    """The finding on boundedness, with how full each link gets."""
    deadline = spaces.settings.budget.deadline
    began = deadline.spent()
    with suppress(Spent):  # what is proved stays proved
        finding = largest(finding, design, spaces)
    return replace(finding, seconds=finding.seconds + deadline.spent() - began)


# --- the other properties ---------------------------------------------------------------------

def _first_time(design: Design, name: str, settings: Settings) -> Finding:
    if name == NO_FAILURE:
        able, aim = {Flow.FAIL}, Aim(failures=True)
    else:
        able, aim = {Flow.DROP_NEWEST, Flow.DROP_OLDEST}, Aim(losses=True)
    links = design.links.values()
    if not any(link.overflow in able or (name == NO_FAILURE and link.may_fail)
               or (name == NO_LOSS and link.lossy and link.flow is not Flow.STOP_GO)
               for link in links):
        what = "fails when it is full or closed" if name == NO_FAILURE \
            else "drops or loses anything"
        return Finding(name, Outcome.HOLDS, f"by construction: no link {what}")
    return abstracting(design, aim, "DESIGN-2", settings)


def _starvation(design: Design, task: str, settings: Settings) -> Finding:
    """Decide whether a task takes a step again and again: by structure where it can, else by a
    search."""
    settings.budget.deadline.check(f"asking whether {task} starves")
    part = next(part for part in parts(design) if task in part.tasks)
    if is_steady(part, settings) and is_fed(part, task):
        return Finding("", Outcome.HOLDS, PROOF)
    found = abstracting(part, Aim(watch=task), "DESIGN-3", settings)
    unbounded = any(link.flow is Flow.UNBOUNDED for link in part.links.values())
    if found.outcome is Outcome.HOLDS and unbounded:
        # Fairness of a step that stands for several is weaker than that of each of them.
        return replace(found, outcome=Outcome.UNKNOWN, method="search, of a coarser design",
                       reason="an unbounded link makes fairness undecided here")
    if found.outcome is Outcome.VIOLATED:
        others = "" if found.loop is None else going_round(part, found.steps[found.loop:])
        return replace(found, reason=f"{task} takes no step while these continue forever: {others}"
                       if others else f"neither {task} nor any other task takes a step")
    return found


def _bounded(design: Design, settings: Settings) -> Finding:
    """Decide whether no link grows without a limit: by invariants, by counting, and in a net by a
    pump."""
    grows = [link.name for link in design.links.values() if link.flow is Flow.UNBOUNDED]
    if not grows:
        return Finding(BOUNDED, Outcome.HOLDS, "by construction: every link is bounded")
    if settings.engine in ("auto", "structure"):
        finding = _bounded_by_sums(design, settings)
        if settings.engine == "structure" or finding.outcome is Outcome.HOLDS:
            return finding
    if settings.engine == "graph":
        return not_the_searchs(settings.engine)
    if design.net is None or settings.engine != "auto":
        return _counted(design, settings)
    with suppress(Spent):
        finding = _counted(design, replace(settings, budget=settings.budget.share(8)))
        if finding.outcome is not Outcome.UNKNOWN:
            return finding
    return growth_of(design, settings) or _counted(design, settings)


def _counted(design: Design, settings: Settings) -> Finding:
    """Decide growth by counting unbounded links further and further."""
    finding = Finding(BOUNDED, Outcome.UNKNOWN, "")
    for most in GROWTHS:
        table = translate(design, Aim(Unbounded(most, abstract=False)))
        verdict = search(table, "DESIGN-2", settings)
        finding = finding_of(design, table, "DESIGN-2", verdict)
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
                          "repetition was found that shows that it grows forever")


def _bounded_by_sums(design: Design, settings: Settings) -> Finding:
    """Decide whether sums that no step raises bound every unbounded link."""
    grows = [link for link in design.links.values() if link.flow is Flow.UNBOUNDED]
    watch = settings.budget.deadline.watch("looking for sums that bound the links")
    known = bounds(design, grows, watch)[1]
    told = tuple((link.name, known[link.name].most) for link in grows if link.name in known)
    least = ", ".join(f"at most {most:,} in {name}" for name, most in told[:3])
    if len(known) == len(grows):
        return Finding(BOUNDED, Outcome.HOLDS, f"sums that no step raises allow {least}",
                       bounds=told)
    missing = next(link.name for link in grows if link.name not in known)
    return Finding(BOUNDED, Outcome.UNKNOWN, "structure", bounds=told,
                   reason=f"no sum that no step raises bounds {missing}")


def _pump(table: Table, trace: Trace, deadline: Deadline) -> tuple[int, int] | None:
    """Two points of a run between which only unbounded links change, and only grow.

    The steps between them can then be repeated forever, as no step among them needs an
    unbounded link to be empty (the bound of the count itself is not real).
    """
    growing = {p.name: p for p in table.places if p.role == "queue" and p.limit < p.most}
    markings = [marking_of(table, s) for s in (trace.initial, *(t.state for t in trace.steps))]
    rows = rows_of(table, trace)
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


# --- the wait-for graph, for the reader ---------------------------------------------------------

def _told_cycles(part: Part, deadline: Deadline) -> list[GraphCycle] | None:
    """The elementary cycles in the words of the design, the possible and plain ones first; None if
    the time is too short for that."""
    found: dict[tuple[Blocked, ...], str] = {}
    for cycle in part.graph.cycles:
        if deadline.passed():
            return None
        told = told_waits(part.design, part.table, cycle)
        if told and found.get(told, "excluded"):
            found[told] = cycle.excluded
    cycles = [GraphCycle(waits, why) for waits, why in found.items()]
    return sorted(cycles, key=_plainness)


def _proofs(findings: Sequence[Finding]) -> dict[str, str]:
    """By its first task, why a part is never deadlocked, where that is known."""
    return {attempt.part: attempt.why for finding in findings if finding.name == DEADLOCK_FREE
            for attempt in finding.tried if attempt.outcome is Outcome.HOLDS}


def _beside(cycle: GraphCycle, proof: str | None) -> GraphCycle:
    """The cycle, excluded if its part is proved never to deadlock."""
    if cycle.excluded or proof is None:
        return cycle
    return replace(cycle, excluded=f"no state of these tasks is deadlocked: {proof}")


def _plainness(cycle: GraphCycle) -> tuple[bool, int, int]:
    hungry = sum(wait.what == "data" for wait in cycle.waits)  # a cycle of full links explains more
    return bool(cycle.excluded), len(cycle.waits), hungry
