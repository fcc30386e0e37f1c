"""A small change that makes a stuck design live, found by trying and checking it.

The kinds of changes are the table of :mod:`changes`. They are tried in its order, so what gives
up least is offered: a kind is left for the next when none of its changes was found to help.
Within a kind, amounts grow twofold, and the one that helps is then made the least by halving.
Whatever is offered has been checked: the wait-for graph proved it, or the explorer visited every
state.

The search is kept small, for nobody should wait long for it, and it is counted in steps that the
engines try, never in seconds: the same design gets the same answer on a slow machine as on a fast
one. Only where the user's own time for the check ends is it cut short, and says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count

from ..notation.errors import InputError
from ..verdicts.deadline import Deadline, OutOfTime
from ..verdicts.verdict import Budget, Outcome
from .changes import KINDS, Change, KindOfChange, Scope
from .deadlock import decide_deadlock
from .parts import Part, parts
from .searching import Settings
from .findings import DesignReport, Finding, Repair, RepairStep
from .language import Design
from .stuck import Blocked
from .translate import Aim, translate
from .waits import WaitGraph

__all__ = ["repair", "with_repair"]

MAX_STEPS = 480_000
"""Steps that may be tried for all questions together (a row that is tried in a state is one):
about a second, where nothing helps."""
SHARE = 4
LEAST_SHARE = 60_000
"""A kind may use one part in so many of what is left, but so many steps at least; what it leaves
is for the kinds after it."""
PATIENCE = (2_000, 10_000, 39_000)
"""Steps for one question: first few for each, then more for those that need more. So many that
the interpreter does it alone."""
STEPS_OF_A_LOOK = 10
"""What the wait-for graph costs each time it looks at what its waits imply, in steps."""
LOOKS = 4_000
"""How often it may look for one question."""

LATE = "the time allowed has ended"


def with_repair(report: DesignReport, budget: Budget | None = None) -> DesignReport:
    """The report, with what was found and tried for its deadlock if it has one.

    Of the ``budget`` only the seconds count.
    """
    return replace(report, findings=tuple(
        replace(finding, repair=repair(report.design, finding, budget))
        if finding.name == "deadlock" and finding.outcome is Outcome.VIOLATED else finding
        for finding in report.findings
    ))


def repair(design: Design, finding: Finding, budget: Budget | None = None) -> Repair:
    """The changes with which the design is never stuck: one for each part of it that is."""
    judge = _Judge(MAX_STEPS, (budget or Budget()).start().deadline)
    found: list[RepairStep] = []
    tried: list[str] = []
    for part in parts(design):
        waits = _waits(part, finding, judge)
        if waits is None:
            continue
        search = _Search(Scope(part, waits), judge)
        step = search.run()
        tried += search.tried
        if step is None:
            return Repair((), tuple(tried), search.cut_short())
        found.append(step)
    return Repair(tuple(found), tuple(tried), LATE if judge.deadline.passed() else "")


def _waits(part: Design, finding: Finding, judge: _Judge) -> list[Blocked] | None:
    """Who waits in a part that may get stuck; None if it never does."""
    waits = list(dict.fromkeys((*finding.cycle, *finding.waits)))
    if any(wait.task in part.tasks for wait in waits):
        return waits
    if judge.graph(part) or judge.explorer(part, PATIENCE[-1]) is Outcome.HOLDS:
        return None
    return list(judge.last.waits)


class _Judge:
    """Asks the engines whether a design is never stuck, as long as there are steps and time."""

    def __init__(self, steps: int, deadline: Deadline) -> None:
        self.left = steps
        self.deadline = deadline
        self.last = Finding("deadlock", Outcome.UNKNOWN, "")

    def may_ask(self, price: int) -> bool:
        """Whether so many steps are left, and time."""
        return self.left >= price and not self.deadline.passed()

    @contextmanager
    def share(self, parts: int, least: int = 0) -> Iterator[None]:
        """Within, one of so many parts of what is left may be used, and so many steps at least."""
        rest = max(0, self.left - max(self.left // parts, least))
        self.left -= rest
        yield
        self.left += rest

    def graph(self, design: Design) -> bool:
        """Whether the wait-for graph proves it; false too where nothing may be asked any more."""
        if not self.may_ask(STEPS_OF_A_LOOK * LOOKS // 10):
            return False
        looks = Deadline(LOOKS, count().__next__)  # counted, not timed
        try:
            return all(Part.of(part, cycles=False, deadline=looks).graph.proves_live
                       for part in parts(design))
        except InputError:  # more ways to move than can be listed
            return False
        finally:
            self.left -= int(STEPS_OF_A_LOOK * looks.spent())

    def explorer(self, design: Design, patience: int) -> Outcome:
        """What a search of so many steps says; unknown too where nothing may be asked."""
        try:
            for part in parts(design):
                outcome = self._explored(part, patience)
                if outcome is not Outcome.HOLDS:
                    return outcome
        except (InputError, OutOfTime):
            return Outcome.UNKNOWN
        return Outcome.HOLDS

    def _explored(self, part: Design, patience: int) -> Outcome:
        table = translate(part, Aim())
        states = patience // max(1, len(table.rows))
        if not states or not self.may_ask(patience):
            return Outcome.UNKNOWN
        budget = Budget(max_states=states, threads=1, running=self.deadline)
        graph = WaitGraph((), complete=False, proves_live=False)
        self.last = decide_deadlock(Part(part, table, graph), Settings("explorer", budget))
        self.left -= min(patience, (self.last.states + 1) * len(table.rows))
        return self.last.outcome


@dataclass
class _Try:
    """A change while it is tried: the answers so far, by the index of the value."""

    change: Change
    answers: dict[int, Outcome]
    graphs: dict[int, bool]

    @property
    def ladder(self) -> list[int]:
        """The values to begin with: of what grows ever more, of the rest the utmost."""
        last = len(self.change.values) - 1
        if not self.change.grows:
            return [last]
        return [*(i for i in (2 ** k - 1 for k in range(last.bit_length() + 1)) if i < last), last]

    @property
    def hopeless(self) -> bool:
        """Whether more of it would only be a larger search of the same kind."""
        return self.change.grows and Outcome.UNKNOWN in self.answers.values()


class _Search:
    """The search for a change of one part of a design."""

    def __init__(self, scope: Scope, judge: _Judge) -> None:
        self.scope = scope
        self.judge = judge
        self.tried: list[str] = []
        self.untried: list[str] = []
        self.undecided = False

    def run(self) -> RepairStep | None:
        """The least change of the first kind that has one."""
        for kind in KINDS:
            tries = [_Try(c, {}, {}) for c in kind.find(self.scope) if c.values]
            if not tries:
                continue
            with self.judge.share(SHARE, LEAST_SHARE):
                found = self._of_kind(tries)
            if found is not None:
                return self._told(kind, *found)
            self._note(kind, tries)
        return None

    def _of_kind(self, tries: Sequence[_Try]) -> tuple[_Try, int] | None:
        """A change and the index of a value with which it helps."""
        with self.judge.share(3):
            found = next((item for item in _rounds(tries) if self._graph(*item)), None)
        rounds = list(_rounds(tries))
        if found is not None:  # only less of something is better
            rounds = rounds[:rounds.index(found)]
            rounds = [(each, i) for each, i in rounds if each.change.grows and i < found[1]]
        for patience, part in zip(PATIENCE, (3, 2, 1), strict=True):
            with self.judge.share(part):
                live = next((item for item in rounds if self._asked(*item, patience)), None)
            if live is not None:
                return live
        return found

    def _asked(self, each: _Try, index: int, patience: int) -> bool:
        """Whether the explorer says so; it is not asked what is known or was too much."""
        if each.answers.get(index) is Outcome.VIOLATED:
            return False
        if each.hopeless and index not in each.answers:
            return False
        return self._explorer(each, index, patience) is Outcome.HOLDS

    def _graph(self, each: _Try, index: int) -> bool:
        if index not in each.graphs:
            each.graphs[index] = self.judge.graph(self._design(each, index))
        return each.graphs[index]

    def _explorer(self, each: _Try, index: int, patience: int) -> Outcome:
        if not self.judge.may_ask(patience):
            return Outcome.UNKNOWN
        each.answers[index] = self.judge.explorer(self._design(each, index), patience)
        return each.answers[index]

    def _design(self, each: _Try, index: int) -> Design:
        return each.change.done(each.change.values[index])

    # --- the least that helps ---------------------------------------------------------------

    def _told(self, kind: KindOfChange, each: _Try, enough: int) -> RepairStep:
        enough = self._lowered(each, enough, self._graph)
        enough = self._lowered(each, enough, self._search)
        value = each.change.values[enough]
        least = not enough or each.answers.get(enough - 1) is Outcome.VIOLATED
        return RepairStep(kind.name, each.change.says(value), kind.gives_up, least)

    def _lowered(self, each: _Try, enough: int, helps: Callable[[_Try, int], bool]) -> int:
        """The least index that helps, if more helps ever more: down by steps that double, then
        by halving. What moves less needs a smaller search, so nothing far away is asked about."""
        step, few = 1, -1
        while enough > 0:
            below = max(0, enough - step)
            if not helps(each, below):
                few = below
                break
            enough, step = below, 2 * step
        while enough - few > 1:
            middle = (few + enough) // 2
            if helps(each, middle):
                enough = middle
            else:
                few = middle
        return enough

    def _search(self, each: _Try, index: int) -> bool:
        """Whether the explorer says so; it is given more for what it could not decide."""
        for patience in PATIENCE:
            if each.answers.get(index, Outcome.UNKNOWN) is Outcome.UNKNOWN:
                self._explorer(each, index, patience)
        return each.answers.get(index) is Outcome.HOLDS

    # --- what is said about it -----------------------------------------------------------------

    def _note(self, kind: KindOfChange, tries: Sequence[_Try]) -> None:
        """What was tried of a kind, and what was not."""
        asked = [(each.change, max(each.answers)) for each in tries if each.answers]
        told = [change.tried(change.values[index]) for change, index in asked]
        large = sum(outcome is Outcome.UNKNOWN for each in tries
                    for outcome in each.answers.values())
        if told:
            decided = f" ({large} of them too large to decide)" if large else ""
            self.tried.append(f"{kind.name}: {', '.join(told)}{decided}")
        self.undecided = self.undecided or bool(large)
        self.untried += [f"{kind.name} of {each.change.place}"
                         for each in tries if not each.answers]

    def cut_short(self) -> str:
        """Why there may be a change that was not found, or nothing."""
        if self.judge.deadline.passed():
            return LATE
        reasons = ["some of what was tried is too large to decide"] if self.undecided else []
        if self.untried:
            reasons.append(f"nothing was left for {', '.join(self.untried)}")
        return "; ".join(reasons)


def _rounds(tries: Sequence[_Try]) -> Iterator[tuple[_Try, int]]:
    """The first value of every change, then the second of every ladder, and so on."""
    ladders = [each.ladder for each in tries]
    for rung in range(max(map(len, ladders), default=0)):
        for each, ladder in zip(tries, ladders, strict=True):
            if rung < len(ladder):
                yield each, ladder[rung]
