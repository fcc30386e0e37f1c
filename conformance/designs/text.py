"""The report on a design for people to read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from textwrap import wrap

from checkvalve.spec.design.reading.language import Design, Flow
from checkvalve.spec.design.reading.lints import lints
from checkvalve.spec.design.reading.properties import (
    BOUNDED, DEADLOCK_FREE, FOUND, LIVE, NO_DUPLICATES, ORDERED, fact, starved_task,
)
from checkvalve.spec.design.why.findings import (
    DesignReport, Finding, GraphCycle, Meanwhile, Repair, RepairStep, Way, in_short,
)
from checkvalve.spec.design.why.cycles import held, led, ranged, round_of
from checkvalve.spec.design.why.blocked import FRONT, OF_A_POOL, Blocked, told_gone
from checkvalve.spec.design.repairs.repair import LATE
from checkvalve.spec.notation.labels import counted
from checkvalve.spec.verdicts.verdict import Outcome, mark

from .wording import basis, verdict

__all__ = [
    "AsKnown", "example_lines", "explanation_lines", "head", "lines", "numbered", "repair_lines",
    "sweep_lines", "verdict_lines", "violation_lines",
]

SHOWN_CYCLES = 3
SHOWN_LINKS = 12
SHOWN_TASKS = 12
SHOWN_TRIED = 320
"""Characters of the changes that were tried in vain."""
SHOWN_LINES = (40, 20)
"""Lines that are shown of a long counterexample, at its beginning and at its end."""


def lines(report: DesignReport) -> Iterator[str]:
    """The report, line by line."""
    yield from head(report.design)
    yield from verdict_lines(report)
    yield from example_lines(report)


def head(design: Design) -> Iterator[str]:
    """The lines that are known before anything is decided: what was taken for granted, and what is
    odd.
    """
    yield f"{design.name}  ({design.file})"
    yield from notes(design.assumed, [lint.to_json() for lint in lints(design)])


def notes(assumed: Iterable[str], odd: Iterable[Mapping[str, str]]) -> Iterator[str]:
    """The assumptions about a design, and its lints as JSON has them, line by line."""
    for each in assumed:
        yield from _wrapped(f"  taken for granted: {each}")
    for lint in odd:
        yield from _wrapped(f"  odd: {lint['where']}: {lint['what']}. {lint['next_step']}")


def _wrapped(text: str) -> list[str]:
    return wrap(text, 98, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False,
                drop_whitespace=True)


def verdict_lines(report: DesignReport) -> Iterator[str]:
    """The verdicts, a line for each property."""
    verdicts = AsKnown(finding.name for finding in report.findings)
    for finding in report.findings:
        yield from verdicts.lines(finding)


class AsKnown:
    """The lines on verdicts, one after another as they get known; ``names`` are the properties."""

    def __init__(self, names: Iterable[str]) -> None:
        self._width = max(len(fact(name)) for name in names)
        self._told: set[str] = set()

    def lines(self, finding: Finding) -> Iterator[str]:
        """The verdict, once; then how full each link gets, where the finding has that."""
        if finding.name not in self._told:
            self._told.add(finding.name)
            yield from _verdict(finding, self._width)
        if finding.name == BOUNDED:
            yield from _fullest(finding)


def example_lines(report: DesignReport) -> Iterator[str]:
    """The counterexample of each violation, and what is left of the wait-for graph."""
    for finding in report.findings:
        if finding.outcome is Outcome.VIOLATED:
            yield ""
            yield from violation_lines(finding, report.design)
    yield from _graph(report)


def explanation_lines(report: DesignReport) -> Iterator[str]:
    """The engines that were asked about deadlock, in their order, with their times and answers."""
    tried = [attempt for finding in report.findings for attempt in finding.tried]
    parts = list(dict.fromkeys(attempt.part for attempt in tried))
    for part in parts:
        where = f", in the part of {part}" if len(parts) > 1 else ""
        yield f"  Engines that were asked about deadlock{where}:"
        for attempt in tried:
            if attempt.part == part:
                yield (f"    {attempt.engine:<9} {attempt.seconds:8.2f} s  "
                       f"{FOUND[attempt.outcome.value]:<7}  {attempt.why}")


def sweep_lines(reports: Sequence[DesignReport]) -> Iterator[str]:
    """The findings on the designs of one file, a line for each property; then the report on the
    first that is not as expected."""
    design = reports[0].design
    swept = {name: sorted({dict(report.design.parameters)[name] for report in reports})
             for name, _ in design.parameters}
    told = ", ".join(f"{name} = {values[0]}" + (f"..{values[-1]}" if len(values) > 1 else "")
                     for name, values in swept.items())
    yield f"{design.file}  {told}: {counted(len(reports), 'design')}"
    names = list(dict.fromkeys(each.name for report in reports for each in report.findings))
    width = max(len(fact(name)) for name in names)
    for name in names:
        yield "  " + _swept(name, [report for report in reports if any(
            each.name == name for each in report.findings)], width)
    wrong = next((report for report in reports if not report.as_expected), None)
    if wrong is not None:
        yield ""
        yield from lines(wrong)


def _swept(name: str, reports: Sequence[DesignReport], width: int) -> str:
    """One property of several designs: how often which verdict, and where it is not expected."""
    found = [report.finding(name) for report in reports]
    counts = [(outcome, sum(each.outcome is outcome for each in found)) for outcome in Outcome]
    several = [(FOUND[outcome.value], number) for outcome, number in counts if number]
    told = ", ".join([f"{said} in {counted(number, 'design')}" for said, number in several[:1]]
                     + [f"{said} in {number:,}" for said, number in several[1:]])
    wrong = [report for report in reports if not report.finding(name).as_expected]
    worst = next((each.outcome for each in found if not each.as_expected), found[0].outcome)
    line = f"{mark(worst, not wrong)}  {fact(name):<{width}}  {told}"
    if wrong:
        where = ", ".join(report.design.name for report in wrong[:3])
        line += f"; not as expected: {where}" + (f" and {len(wrong) - 3} more"
                                                 if len(wrong) > 3 else "")
    return line


def _verdict(finding: Finding, width: int) -> Iterator[str]:
    unasked = finding.outcome is Outcome.UNKNOWN and finding.expected is None
    known = mark(finding.outcome, finding.as_expected and not unasked)
    line = (f"{known}  {fact(finding.name):<{width}}  {verdict(finding)}, "
            f"{finding.seconds:.2f} s")
    if finding.outcome is Outcome.UNKNOWN:
        yield from _indented(line, "  ", "        ")
    else:
        yield f"  {line}"


def violation_lines(finding: Finding, design: Design) -> Iterator[str]:
    """The counterexample to one property, the waits at its end, and their cycle."""
    what = fact(finding.name)
    if finding.legs:
        yield (f"  {what}: {finding.way} ({counted(finding.length, 'step')} in "
               f"{counted(len(finding.legs), 'leg')}):")
        yield from _in_part(list(_legs(finding)))
    elif not finding.steps:
        yield f"  {what}: found at the start, before any step."
    elif finding.loop is not None and finding.loop < len(finding.steps):
        if finding.loop:
            yield f"  {what}: {finding.way} ({counted(finding.loop, 'step')}):"
            yield from numbered(finding.steps[:finding.loop], 1)
        yield f"  {what}: from there on, these steps repeat forever:"
        yield from numbered(finding.steps[finding.loop:], finding.loop + 1)
    else:
        steps = counted(len(finding.steps), "step")
        yield f"  {what}: {finding.way} ({steps}):"
        yield from _in_part(list(numbered(finding.steps, 1)))
    if finding.waits:
        yield "  At the end these tasks wait:"
        yield from _waits(finding, design)
    yield from _cycle(finding, design)
    yield from _endless(finding)
    if finding.name in (ORDERED, LIVE, NO_DUPLICATES) or starved_task(finding.name) is not None:
        yield f"  {finding.reason}."
    if finding.meanwhile is not None:
        yield from _others(finding.meanwhile)


def _cycle(finding: Finding, design: Design) -> Iterator[str]:
    """The cycle of waits, and the holders of the pools in it. A task that waits for itself needs no
    arrow where the pool that it holds says it all."""
    if not finding.cycle:
        return
    tasks = [wait.task for wait in round_of(finding.cycle)]
    around = {*tasks}
    pools = list(held(design, finding.cycle, dict(finding.free)))
    if len(tasks) == 1 and pools:
        first = pools.pop(0)
        yield from _indented(f"Cycle of waits: {first[:1].lower()}{first[1:]}", "  ", "    ")
    else:
        told = ["Cycle of waits: " + " -> ".join([*_shortened(tasks), tasks[0]])]
        behind = [(wait.task, other) for wait, other in led(finding.cycle)
                  if wait.task not in around]
        if behind:
            told.append("; with it " + ", ".join(
                " -> ".join(each) for each in behind[:SHOWN_LINKS]))
        yield from _indented("".join(told), "  ", "    ")
    for sentence in pools:
        yield from _indented(sentence, "  ", "    ")


def _shortened(tasks: Sequence[str]) -> list[str]:
    return [*tasks] if len(tasks) <= SHOWN_TASKS else [*tasks[:3], "…", tasks[-1]]


def _others(meanwhile: Meanwhile) -> Iterator[str]:
    """The tasks that are blocked forever, and the steps that others can repeat forever."""
    tasks = meanwhile.tasks
    yield (f"  {ranged(tasks)} {'is' if len(tasks) == 1 else 'are'} blocked forever. "
           "Meanwhile these steps can repeat forever:")
    yield from _in_part(list(numbered(meanwhile.steps[meanwhile.loop:], 1)))


def _fullest(finding: Finding) -> Iterator[str]:
    """The largest number in each link: first the links for which it is known exactly."""
    if not finding.bounds:
        return
    exact = [f"{name} {most:,}" for name, most in finding.bounds if name in finding.reached]
    proved = [f"{name} {most:,}" for name, most in finding.bounds if name not in finding.reached]
    for told, links in (("largest number in each link", exact),
                        ("never more in each link than", proved)):
        if links:
            some = ", ".join(links[:SHOWN_LINKS])
            more = len(links) - SHOWN_LINKS
            if more > 0:
                some += f" and {counted(more, 'more link')} (--json lists all)"
            yield from wrap(f"{told}: {some}", 98, initial_indent="      ",
                            subsequent_indent="        ", break_on_hyphens=False)


def _legs(finding: Finding) -> Iterator[str]:
    """The legs of a long counterexample with their numbers, and the steps of each."""
    for number, leg in enumerate(finding.legs, start=1):
        kept = f" the first {counted(leg.keep, 'step')} of leg {number - 1}" if leg.keep else ""
        and_then = ", then" if leg.keep and leg.steps else ""
        yield f"    {number:>5}  {counted(leg.times, 'time')}:{kept}{and_then}"
        yield from (f"           . {step}" for step in leg.steps)


def numbered(steps: Sequence[str], first: int) -> Iterator[str]:
    """The steps with their numbers; what repeats is one entry with the numbers from and to."""
    entries: list[tuple[str, list[str], int]] = []
    number = first
    for block, times in in_short(steps):
        last = number + len(block) * times - 1
        entries.append((f"{number}" if last == number else f"{number}–{last}", block, times))
        number = last + 1
    width = max([5, *(len(label) for label, _, _ in entries)])
    for label, block, times in entries:
        if len(block) == 1:
            again = f", {counted(times, 'time')}" if times > 1 else ""
            yield f"    {label:>{width}}  {block[0]}{again}"
        else:
            yield f"    {label:>{width}}  {counted(times, 'time')}:"
            yield from (f"    {'':>{width}}  . {step}" for step in block)


def _in_part(told: list[str]) -> Iterator[str]:
    """The lines; of very many the first and the last."""
    first, last = SHOWN_LINES
    if len(told) <= first + last:
        yield from told
        return
    yield from told[:first]
    yield f"        …  {len(told) - first - last} lines are left out here; --json has every step"
    yield from told[-last:]


def _endless(finding: Finding) -> Iterator[str]:
    """The waits that no task can end: where there is no cycle, they are the reason."""
    ceased = finding.ceased
    yield from dict.fromkeys(
        f"  {_why_no_task(wait, ceased)}" for wait in finding.waits if not wait.on)
    for left in finding.left:
        yield f"  {left.sentence(ceased)}"


def _why_no_task(wait: Blocked, ceased: Mapping[str, str]) -> str:
    """The reason that nobody ends a wait: no task ever could, or those that could have ended."""
    does = {"room": f"free a slot in {wait.where}", "data": f"bring data to {wait.where}",
            FRONT: f"take the element at the front of {wait.where}",
            "a go": f"send go for {wait.where} again, as the call was lost",
            "a thread": f"give back threads of {wait.where}",
            "a permit": f"give back permits of {wait.where}",
            "an end": f"reach the end of {wait.where}", "a close": f"close {wait.where}",
            "an acquire": f"acquire {wait.where} before {wait.task} gives back"}[wait.what]
    if wait.never:
        return f"No task can ever {does} as {wait.task} needs it."
    if not wait.gone or wait.what == "an acquire":
        return f"No task can {does}."
    if wait.what in OF_A_POOL and not ceased.keys() & {*wait.gone}:
        return f"No task can {does} any more: {' and '.join(wait.gone)} will not."
    return f"No task can {does} any more: {told_gone(wait.gone, ceased)}."


def _waits(finding: Finding, design: Design) -> Iterator[str]:
    contents, free = dict(finding.contents), dict(finding.free)
    rows = [("task", "waits for", "in", "on")] + [
        (wait.task, _NEEDED.get(wait.what, wait.what), _place(wait, contents, free, design),
         ranged(wait.on, ", ") or "no task can end it")
        for wait in finding.waits
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    for row in rows:
        yield "    " + "  ".join(
            f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)
        ).rstrip()


_NEEDED = {"an acquire": "room to give back", "an end": "the end", "a close": "the close"}


def _place(
    wait: Blocked, contents: Mapping[str, int], free: Mapping[str, int], design: Design
) -> str:
    """The place where a task waits: a link with what it holds, and how far that has to fall where
    stop was called; or a pool with how much of it is free."""
    if wait.where in free and wait.where in design.pools and wait.where not in contents:
        return f"{wait.where} ({free[wait.where]} of {design.pools[wait.where].threads} free)"
    if wait.where not in contents:
        return wait.where
    link = design.links.get(wait.where)
    stopped = link is not None and link.flow is Flow.STOP_GO and wait.what == "room"
    until = f", and resumes at {link.go}" if link is not None and stopped else ""
    return f"{wait.where} (holds {contents[wait.where]}{until})"


def _graph(report: DesignReport) -> Iterator[str]:
    """The lines on the wait-for graph of a design that is not proved to be free of deadlock: how
    many cycles there are, and the shortest of those that it does not rule out beside the one that
    was found, those of the same tasks together."""
    deadlock = next((f for f in report.findings if f.name == DEADLOCK_FREE), None)
    if not report.cycles or (deadlock and deadlock.outcome is Outcome.HOLDS):
        return
    if len(report.cycles) == 1 and deadlock and deadlock.cycle and not report.cycles[0].excluded:
        return  # it is the one that was found
    yield ""
    found = {wait.task for wait in deadlock.cycle} if deadlock else set()
    possible = [cycle for cycle in report.cycles if not cycle.excluded]
    others = [cycle for cycle in possible if not {wait.task for wait in cycle.waits} <= found]
    number = len(report.cycles)
    if not possible:
        every = (f"The quick test rules out {_all_of(number)}" if report.all_cycles
                 else f"The quick test rules out the first {number} cycles of waits")
        acyclic = any(finding.waits and not finding.cycle for finding in report.findings)
        yield f"  {every}{'; the tasks that wait here form no cycle' if acyclic else ''}."
        return
    of = "" if report.all_cycles else "more than "
    every = (f"Of {of}{number} possible {'cycle' if number == 1 else 'cycles'} of waits, the quick "
             f"test rules out {number - len(possible)}")
    if not others:
        rest = ("the last one has" if len(possible) == 1 else "the others have")
        yield f"  {every}; {rest} only tasks of the cycle above."
    else:
        yield from _possible(f"{every}. It leaves {len(others)}"
                             f"{' beside the cycle above' if found else ''}", others)


def _all_of(number: int) -> str:
    return {1: "the only cycle of waits", 2: "both cycles of waits"}.get(
        number, f"all {number} cycles of waits")


def _possible(every: str, possible: Sequence[GraphCycle]) -> Iterator[str]:
    groups: dict[tuple[str, ...], list[GraphCycle]] = {}
    for cycle in possible:
        groups.setdefault(tuple(wait.task for wait in cycle.waits), []).append(cycle)
    rounds = f", among {counted(len(groups), 'group')} of tasks" if len(groups) > 1 else ""
    yield from _indented(f"{every}{rounds}:".strip(), "  ", "    ")
    for tasks, cycles in list(groups.items())[:SHOWN_CYCLES]:
        others = len(cycles) - 1
        more = f" (and {counted(others, 'more cycle')} of these tasks)" if others else ""
        yield f"    {' -> '.join([*tasks, tasks[0]])}: {_waiting(cycles[0])}{more}"
    if len(groups) > SHOWN_CYCLES:
        yield f"    and {counted(len(groups) - SHOWN_CYCLES, 'more cycle')} (--json lists all)"


def _waiting(cycle: GraphCycle) -> str:
    return "; ".join(wait.in_short for wait in cycle.waits)


# --- fixes ----------------------------------------------------------------------------------------

def repair_lines(repair: Repair, file: str = "") -> Iterator[str]:
    """The fixes with what they give up, what to write where, and how that was checked; or what was
    tried."""
    for number, way in enumerate(repair.ways):
        several = ", with all of these together" if len(way.steps) > 1 else ""
        yield f"  {'Or' if number else _kind_of_fix(way)}, checked{several}:"
        for step in way.steps:
            yield from _change(step, file)
        yield from _indented(_checked(way), "      ", "      ")
        yield from _patch(way)
    if not repair.ways:
        yield from _indented(" ".join(_in_vain(repair)), "  ", "    ")
    elif repair.undecided:
        yield from _indented(f"There may be more: {repair.undecided}.", "  ", "    ")


def _tried(tried: Sequence[str]) -> str:
    """The changes that were tried in vain; of very many their kinds."""
    told = "; ".join(tried)
    if len(told) <= SHOWN_TRIED:
        return told
    kinds = [kind for kind, colon, _ in (each.partition(": ") for each in tried) if colon]
    return f"{', '.join(kinds)} (--json has how far)"


def _in_vain(repair: Repair) -> Iterator[str]:
    """The sentences about a search that found no fix."""
    late = repair.undecided == LATE
    yield "No fix found within the time limit." if late else "No fix found."
    if any(each.startswith(("capacity: ", "more capacity")) for each in repair.tried) and not late:
        yield "Larger queues do not help."
    if repair.tried:
        yield f"Tried: {_tried(repair.tried)}."
    if repair.untried:
        yield f"Not tried: {counted(len(repair.untried), 'change')} (--json lists them)."
    if repair.undecided and not late:
        yield f"{repair.undecided[:1].upper()}{repair.undecided[1:]}."


def _patch(way: Way) -> Iterator[str]:
    """The patch as it is, so that it can be copied."""
    if way.patch:
        yield "      As a patch (patch -p0):"
        yield from way.patch.rstrip("\n").split("\n")
    elif way.no_patch:
        yield from _indented(f"No patch: {way.no_patch}.", "      ", "      ")


def _kind_of_fix(way: Way) -> str:
    """The kind of a fix, where all that would keep the program as it is was tried."""
    tiers = {step.tier for step in way.steps}
    if "loses" in tiers:
        return "No fix was found that loses nothing; one that LOSES something"
    if "primes" in tiers:
        return "No task of the design can help; a fix for a program that is primed"
    return "A fix"


def _indented(text: str, first: str, others: str) -> list[str]:
    return wrap(text, 98, initial_indent=first, subsequent_indent=others,
                break_long_words=False, break_on_hyphens=False)


def _change(step: RepairStep, file: str) -> Iterator[str]:
    less = "" if step.least else " Whether less would do was not decided."
    yield from _indented(f"- {step.change}; {step.gives_up}.{less}", "    ", "      ")
    for edit in step.edits:
        where = f"{file}:{edit.spot.line}" if edit.spot.line else file
        now = f"{edit.key}: {edit.new}" if edit.new else f"no {edit.key}"
        was = f" (now {edit.old})" if edit.old else " (new)"
        yield f"      {where}: {edit.of}: {now}{was}"


def _checked(way: Way) -> str:
    told = ["; ".join(f"{fact(name)}: none, {basis(method)}" for name, method in way.checked)]
    if way.open:
        told.append(f"Not decided then: {', '.join(map(fact, way.open))}")
    if way.violated:
        told.append(f"Still found then: {', '.join(map(fact, way.violated))}")
    return ". ".join(told)
