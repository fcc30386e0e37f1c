"""Changes of a design's file with which every wanted verdict holds: looked for, and checked.

Parts of a design that have no entry of the file in common are repaired one by one. A part that is
large is not searched: the changes are looked for in a *region* around the deadlock, and the whole
part is asked about those that help there. Where it deadlocks elsewhere then, that is repaired too.

What is offered was checked, for the whole design, by the engines of ``check``: that it never
deadlocks, and that each other verdict that is wanted is not violated.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from ...verdicts.deadline import Spent
from ...verdicts.verdict import Budget, Outcome
from ..reading.language import Design
from ..reading.properties import DEADLOCK_FREE, LIVE, NO_LOCAL_DEADLOCK, starved_task
from ..reading.source import NOWHERE, Spot
from ..why.findings import DesignReport, Finding, Repair, RepairStep, Way
from ..why.parts import parts
from .change import Change, Scope
from .judge import Answer, Judge
from .region import Blockage, around, region
from .search import WAYS, Chosen, Found, Search, changed

__all__ = ["repair", "with_repair"]

MAX_STEPS = 480_000
"""Steps that may be tried for all questions about one group of parts (a row that is tried in a
state is one): some seconds, where nothing helps."""
MAX_TASKS = 60
"""Tasks of a part that is searched as a whole."""
ROUNDS = 6
"""Deadlocks of a large part that are repaired one after the other."""
ENOUGH = 2
"""Ways for a large part, each of which is checked in all of it."""
MAX_MIDDLE = 40
"""Tasks that a region is made around."""
RADII = (1, 2, 4)
"""Numbers of links around the blocked tasks that a region has."""
LATE = "the time allowed has ended"
"""Why nothing more was tried: the reason of a repair that the budget ended."""


def with_repair(report: DesignReport, budget: Budget | None = None) -> DesignReport:
    """The report, with what was found and tried for what is violated in it: at its deadlock, or
    at the first verdict that is not as expected.

    Of the ``budget`` only the seconds count.
    """
    broken = _broken(report)
    if not broken:
        return report
    try:
        found = repair(report, budget)
    except Spent:
        found = Repair((), (), LATE)
    return replace(report, findings=tuple(
        replace(finding, repair=found) if finding.name == broken[0] else finding
        for finding in report.findings))


def _broken(report: DesignReport) -> list[str]:
    """The properties that are to be repaired: a deadlock in any case, others where they are
    expected to hold."""
    violated = [each for each in report.findings if each.outcome is Outcome.VIOLATED]
    return [each.name for each in violated
            if each.name == DEADLOCK_FREE or each.expected == Outcome.HOLDS.value]


def _wanted(report: DesignReport) -> list[str]:
    """The properties that are not to be violated after it, beside deadlock. Where the design is
    expected not to be live, or a task to starve, a part of it may be blocked forever.
    """
    against = [name for name, verdict in report.design.expect.items() if verdict == "violated"]
    if any(name == LIVE or starved_task(name) is not None for name in against):
        against.append(NO_LOCAL_DEADLOCK)
    return [each.name for each in report.findings if each.name not in (DEADLOCK_FREE, *against)]


def repair(report: DesignReport, budget: Budget | None = None) -> Repair:
    """The changes with which every wanted verdict of a design holds. Raises Spent where the budget
    ends before any was looked for."""
    judge = Judge(MAX_STEPS, (budget or Budget()).start().deadline)
    judge.deadline.check("looking for a repair")
    broken, design = _broken(report), report.design
    groups = _groups(design) if broken == [DEADLOCK_FREE] else [design]
    ways: list[list[Way]] = []
    undecided: list[Way] = []
    tried: list[str] = []
    reasons: dict[str, None] = {}
    for group in groups:
        names = [name for name in _wanted(report) if _is_about(name, group)]
        base = _base(report, broken, group, judge)
        if base is None:
            continue
        if base.outcome is Outcome.UNKNOWN:  # another group is deadlocked
            undecided.append(Way((), open=(broken[0],)))
            continue
        several = WAYS if len(groups) == 1 else 1
        left_out = _left_open(report) if len(group.tasks) > MAX_TASKS else ()
        done = _Repairing(group, base, _Asked(judge, broken[1:], names, left_out), several)
        found = done.ways()
        if not found and broken[0] == DEADLOCK_FREE and broken[1:]:  # then without the others
            kept = [name for name in names if name not in broken]
            rest = _Repairing(group, base, _Asked(judge, [], kept, left_out), several)
            found = [replace(way, violated=tuple(broken[1:])) for way in rest.ways()]
        reasons |= done.reasons
        if not found:
            late = judge.deadline.passed()
            return Repair((), tuple(done.tried), LATE if late else "; ".join(reasons),
                          tuple(done.untried))
        tried += done.tried
        ways.append(found)
    return Repair(tuple(_together(ways, undecided)), tuple(tried),
                  LATE if judge.deadline.passed() else "")


def _left_open(report: DesignReport) -> list[str]:
    """The properties that are not known of the design as it is, for it is large: no more will be
    known of them with a change or two."""
    return [each.name for each in report.findings if each.outcome is Outcome.UNKNOWN]


def _together(ways: Sequence[Sequence[Way]], undecided: Sequence[Way]) -> Iterator[Way]:
    """One way for the design of those for its groups; of some it is not known whether they need
    one."""
    if len(ways) == 1 and not undecided:
        yield from ways[0]
    elif ways:
        best = [*(group[0] for group in ways), *undecided]
        left = tuple(dict.fromkeys(name for way in best for name in way.open))
        checked: dict[str, dict[str, None]] = {}
        for name, method in (each for way in best for each in way.checked if each[0] not in left):
            checked.setdefault(name, {})[method] = None
        yield Way(tuple(step for way in best for step in way.steps),
                  tuple((name, "; ".join(methods)) for name, methods in checked.items()), left,
                  tuple(dict.fromkeys(name for way in best for name in way.violated)))


def _is_about(name: str, group: Design) -> bool:
    """True if a property is one of this group: starvation is of one task."""
    return starved_task(name) in (None, *group.tasks)


def _base(
    report: DesignReport, broken: Sequence[str], group: Design, judge: Judge
) -> Finding | None:
    """The finding that fails in a group, or is not known of it; None if nothing does."""
    finding = report.finding(broken[0])
    waits = {wait for wait in (*finding.cycle, *finding.waits) if wait.task in group.tasks}
    if waits or broken[0] != DEADLOCK_FREE:
        return replace(finding, waits=tuple(w for w in finding.waits if w in waits),
                       cycle=tuple(w for w in finding.cycle if w in waits))
    judge.left = MAX_STEPS
    answer = judge.deadlock(group)
    return None if answer.outcome is Outcome.HOLDS else answer.finding


def _groups(design: Design) -> list[Design]:
    """The parts of a design, those together that have an entry of the file in common."""
    found: dict[int, Design] = {}
    of: dict[Spot, int] = {}
    spots_of: dict[int, set[Spot]] = {}
    for number, part in enumerate(parts(design)):
        spots = {*(task.spot for task in part.tasks.values()),
                 *(link.spot for link in part.links.values())} - {NOWHERE}
        for other in {of[spot] for spot in spots if spot in of}:
            joined = found.pop(other)
            part = replace(part, tasks={**joined.tasks, **part.tasks},
                           links={**joined.links, **part.links})
            spots |= spots_of.pop(other)
        found[number], spots_of[number] = part, spots
        of |= dict.fromkeys(spots, number)
    order = {name: number for number, name in enumerate(design.tasks)}
    return [replace(part, tasks=dict(sorted(part.tasks.items(), key=lambda each: order[each[0]])))
            for part in found.values()]


# --- what is asked ------------------------------------------------------------------------------

@dataclass
class _Asked:
    """The questions about a changed design: ``broken`` are to be repaired beside deadlock,
    ``names`` are not to be violated, of which those of ``left_out`` are not asked."""

    judge: Judge
    broken: list[str]
    names: Sequence[str]
    left_out: Collection[str] = ()

    def helps(self, design: Design) -> Answer:
        """Decide whether what is broken holds."""
        answer = self.judge.deadlock(design)
        if answer.outcome is Outcome.HOLDS and self.broken:
            found = self.judge.verdicts(design, self.broken)
            bad = next((each for each in found if each.outcome is not Outcome.HOLDS), None)
            if bad is not None or len(found) < len(self.broken):
                return Answer(bad.outcome if bad else Outcome.UNKNOWN, bad or answer.finding)
        return answer

    def others(self, design: Design) -> list[Finding]:
        """The findings on the other properties."""
        return self.judge.verdicts(design, [
            name for name in self.names if name not in self.left_out])


@dataclass
class _Repairing:
    """The repair of one group of parts, in ``several`` ways."""

    design: Design
    base: Finding
    asked: _Asked
    several: int
    tried: list[str] = field(default_factory=list)
    untried: dict[str, None] = field(default_factory=dict)
    reasons: dict[str, None] = field(default_factory=dict)
    _checked: dict[Found, tuple[Answer, list[Finding]]] = field(default_factory=dict)

    def ways(self) -> list[Way]:
        """Ways that help the group, what gives up least first."""
        self.asked.judge.left = MAX_STEPS
        if len(self.design.tasks) <= MAX_TASKS:
            found = self._searched(self.design, self.base, self._broken_by)
        else:
            found = self._by_regions()
        return [self._way(each) for each in found]

    def _searched(
        self, design: Design, base: Finding, accepts: Callable[[Found], Finding | None]
    ) -> list[Found]:
        """Look for changes near the blocked tasks first; what was tried in vain is kept for the
        report."""
        blockage = Blockage.of(base)
        places = (wait.where for wait in (*base.cycle, *base.waits))
        near = (wait.task for wait in (*base.cycle, *base.waits))
        scope = Scope(self.design, (*blockage.tasks, *near), places,
                      self.asked.judge.deadline.passed)
        search = Search(design, scope, base, self.asked.judge, self.asked.helps, accepts,
                        self.several)
        found = search.run()
        if not found:
            self.tried += search.tried()
            self.untried |= dict.fromkeys(search.untried())
            self.reasons |= dict.fromkeys(filter(None, [search.undecided()]))
        self.tried += [self._broken(each) for each in search.rejected]
        return found

    def _broken_by(self, found: Found) -> Finding | None:
        """The finding that the whole group would not keep with these changes; None if it keeps all.

        """
        design = changed(self.design, found.chosen)
        if design is None:
            return self.base
        answer = self.asked.helps(design)
        others = self.asked.others(design) if answer.outcome is Outcome.HOLDS else []
        self._checked[found] = answer, others
        bad = [each for each in others if each.outcome is Outcome.VIOLATED]
        self.asked.broken += [each.name for each in bad if each.name not in self.asked.broken]
        if answer.outcome is not Outcome.HOLDS:
            return answer.finding
        return bad[0] if bad else None

    # --- large parts -----------------------------------------------------------------------------

    def _by_regions(self) -> list[Found]:
        """Repair one deadlock after the other, each in its region, until there is none."""
        before: Chosen = ()
        least: tuple[bool, ...] = ()
        finding = self.base
        for _ in range(ROUNDS):
            design = changed(self.design, before) or self.design
            for radius in RADII:
                self.asked.judge.deadline.check("looking for a repair in a region")
                near = around(design, _middle(finding), radius)
                part = region(design, near)
                shown = self.asked.judge.deadlock(part)
                if shown.outcome is Outcome.VIOLATED:
                    break
            else:
                return [] if before else self._searched(self.design, self.base, self._broken_by)
            here = self._searched(part, shown.finding, lambda found: None)
            done, elsewhere = self._tried_on_all(here, before, least, near)
            if done or elsewhere is None:
                return done
            before, least, finding = elsewhere
        self.reasons[f"there are deadlocks in more than {ROUNDS} places"] = None
        return []

    def _tried_on_all(
        self, here: Sequence[Found], before: Chosen, least: tuple[bool, ...], near: Collection[str]
    ) -> tuple[list[Found], tuple[Chosen, tuple[bool, ...], Finding] | None]:
        """Those changes of a region with which the whole group keeps what is wanted; else, the
        first with which it deadlocks in other places only, and how.
        """
        elsewhere = None
        done = []
        for each in here:
            found = Found((*before, *each.chosen), (*least, *each.least), each.answer)
            if self._broken_by(found) is None:
                done.append(self._confirmed(found))
                if len(done) == ENOUGH:
                    break
                continue
            answer = self._checked[found][0]
            away = answer.outcome is Outcome.VIOLATED and not (
                {*Blockage.of(answer.finding).tasks} & {*near})
            if away and elsewhere is None:
                elsewhere = found.chosen, found.least, answer.finding
                break
            self.tried.append(self._broken(found))
        return done, elsewhere

    def _confirmed(self, found: Found) -> Found:
        """The same, where less was asked of the whole group too."""
        least = []
        for place, (candidate, index) in enumerate(found.chosen):
            fewer = [*found.chosen]
            fewer[place] = candidate, index - 1
            design = changed(self.design, tuple(fewer)) if index else None
            least.append(not index or (design is not None and self.asked.helps(
                design).outcome is Outcome.VIOLATED))
        told = replace(found, least=tuple(least))
        self._checked[told] = self._checked[found]
        return told

    # --- the words for the result ----------------------------------------------------------------

    def _way(self, found: Found) -> Way:
        answer, others = self._checked[found]
        steps = tuple(
            RepairStep(c.kind.name, c.change.says(c.change.values[index]),
                       c.kind.price(c.change, c.change.values[index]), least,
                       c.change.edits(c.change.values[index]), c.kind.tier.name.lower(),
                       _doing(c.change, c.change.values[index]))
            for (c, index), least in zip(found.chosen, found.least, strict=True))
        held = {each.name: each.method for each in others if each.outcome is Outcome.HOLDS}
        names = self.asked.names
        return Way(steps, ((DEADLOCK_FREE, answer.finding.method), *(
            (name, held[name]) for name in names if name in held)),
            tuple(name for name in names if name not in held))

    def _broken(self, found: Found) -> str:
        """The words for what a change that helps would break."""
        says = " and ".join(c.change.says(c.change.values[index]) for c, index in found.chosen)
        _, others = self._checked.get(found, (None, []))
        bad = [each.name for each in others if each.outcome is Outcome.VIOLATED]
        return f"{says}, which violates {' and '.join(bad) or 'something else'}"


def _doing(change: Change, value: int) -> Callable[[Design], Design]:
    return lambda design: change.done(design, value)


def _middle(finding: Finding) -> tuple[str, ...]:
    """The tasks that a region is made around: the blocked tasks, or the cycle of those if they are
    many (the whole of it, for a piece of it is not deadlocked)."""
    tasks = Blockage.of(finding).tasks
    cycle = tuple(wait.task for wait in finding.cycle)
    return tasks if len(tasks) <= MAX_MIDDLE else cycle or tasks[:MAX_MIDDLE]
