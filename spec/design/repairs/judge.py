"""Asks the engines of ``check`` whether a changed design keeps what is wanted of it.

Every question is counted in steps (a row that is tried in a state is one, and the equations have
a price), never in seconds: the same design gets the same answer on a slow machine as on a fast one.
Only where the user's own time ends is nothing asked any more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count

from ...notation.errors import InputError
from ...verdicts.deadline import Deadline, Spent
from ...verdicts.verdict import Budget, Outcome
from ..check import decide_property
from ..equations.structure import decide
from ..net.builder import Aim
from ..reading.language import Design, Flow
from ..reading.properties import BOUNDED, DEADLOCK_FREE, NO_FAILURE
from ..search.searching import Settings
from ..search.ways import way_into
from ..verdicts.deadlock import NO_CYCLE, decide_deadlock
from ..verdicts.local import Spaces
from ..why.findings import Finding
from ..why.parts import Part, parts
from ..why.waits import WaitGraph
from .numbered import named, numbered

__all__ = ["Answer", "Judge", "PATIENCE"]

PATIENCE = (2_000, 30_000)
"""Steps of the two searches for one question, before the equations are asked and after them. So
few that the interpreter does it alone."""
STATES = 100_000
"""States for a question about another property than deadlock, in a changed design that never
deadlocks.
"""
TRYING = 30_000
"""Steps of the runs that try to block a part of such a design."""
LOOKS = 4_000
"""Times that an engine may look at a clock that counts its looks, for one question: the wait-for
graph does so for each wait, the equations between their steps.
"""
LOOKS_OF_A_ROW = 40
STEPS_OF_A_LOOK = 10
"""Cost of a look, in steps."""
EQUATIONS = 1_000
EQUATIONS_OF_A_ROW = 10
"""Cost of equations, in steps, for each transition in them."""
MAX_ROWS = 400
"""Transitions of a part that is searched state by state."""
ENDLESS, LATE = 10**12, 10**15
"""More looks than anything takes; and what such a clock shows where the user's time has ended."""
MAX_NUMBERED = 60
"""Tasks of a part that may be asked about under other names: of a large one there is no other."""
MAX_GRAPH = 120
"""Most transitions of a part for its wait-for graph to be asked."""
NOTHING = WaitGraph((), complete=False, proves_live=False)


@dataclass(frozen=True)
class Answer:
    """The answer about a design: the first property that fails, or that all are kept; ``finding``
    is the one that fails, or is not known, or the last that holds.
    """

    outcome: Outcome
    finding: Finding


class Judge:
    """Asks, as long as there are steps and time. ``left`` is how many steps there are."""

    def __init__(self, steps: int, deadline: Deadline) -> None:
        self.left = steps
        self.deadline = deadline
        self._known: dict[int, list[tuple[Design, Finding]]] = {}
        self._verdicts: list[tuple[Design, tuple[str, ...], list[Finding]]] = []
        self._refused = False
        """True if an engine was not asked for want of steps or time."""
        self._decided = ""
        """The engine that decided the question before: it is asked first, as the designs are much
        alike."""

    def may_ask(self, price: int = PATIENCE[0]) -> bool:
        """True if so many steps are left, and time."""
        allowed = self.left >= price and not self.deadline.passed()
        self._refused = self._refused or not allowed
        return allowed

    @contextmanager
    def share(self, parts: float) -> Iterator[None]:
        """Within, one of so many parts of what is left may be used."""
        rest = self.left - int(self.left / parts)
        self.left -= rest
        try:
            yield
        finally:
            self.left += rest

    # --- deadlock ----------------------------------------------------------------------------

    def deadlock(self, design: Design) -> Answer:
        """Decide whether a design can deadlock: it does not if none of its parts does."""
        findings = []
        try:
            for part in parts(design):
                finding = self._part(part)
                if finding.outcome is not Outcome.HOLDS:
                    return Answer(finding.outcome, finding)
                findings.append(finding)
        except (InputError, Spent) as told:  # more transitions than can be listed
            return Answer(Outcome.UNKNOWN, Finding(DEADLOCK_FREE, Outcome.UNKNOWN, "", reason=str(
                told)))
        methods = dict.fromkeys(finding.method for finding in findings)
        return Answer(Outcome.HOLDS, replace(findings[-1], method="; ".join(methods)))

    def _part(self, part: Design) -> Finding:
        """The finding on a part, from one that differs by names alone if there is one, or from the
        engines.
        """
        plain, names = numbered(part) if len(part.tasks) <= MAX_NUMBERED else (part, {})
        known = self._known.setdefault(len(plain.tasks), [])
        for design, finding in known:
            if design == plain:
                return named(finding, names)
        self._refused = False
        finding = self._asked(plain)
        if finding.outcome is not Outcome.UNKNOWN or not self._refused:
            known.append((plain, finding))
        return named(finding, names)

    def _asked(self, part: Design) -> Finding:
        """Ask one engine after the other until one decides, first the one that decided before."""
        section = Part(part, NOTHING, Aim(), self.deadline.watch("translating a changed design"))
        rows = len(section.table.rows)
        finding = Finding(DEADLOCK_FREE, Outcome.UNKNOWN, "", reason="nothing is left to ask with")
        small = rows <= MAX_ROWS
        engines: dict[str, Callable[[], Finding | None]] = {
            "graph": lambda: self._graph(part, rows),
            "short search": lambda: self._searched(section, PATIENCE[0], small),
            "equations": lambda: self._equations(section, rows),
            "search": lambda: self._searched(section, PATIENCE[1], small and (
                _room(part) * rows <= PATIENCE[1]))}
        for name in sorted(engines, key=lambda name: name != self._decided):
            found = engines[name]()
            if found is not None:
                finding = found
            if finding.outcome is not Outcome.UNKNOWN:
                self._decided = name
                break
        return finding

    def _graph(self, part: Design, rows: int) -> Finding | None:
        if rows > MAX_GRAPH or not self.may_ask(STEPS_OF_A_LOOK * LOOKS // 10):
            return None
        looks = self._counting(LOOKS)
        try:
            if not Part.of(part, cycles=False, deadline=looks).graph.proves_live:
                return None
        finally:
            self._spend(looks)
        return Finding(DEADLOCK_FREE, Outcome.HOLDS, NO_CYCLE)

    def _equations(self, section: Part, rows: int) -> Finding | None:
        """Ask the equations, if there is enough of the budget for them: it is counted in steps, so
        that all machines agree."""
        price = EQUATIONS + EQUATIONS_OF_A_ROW * rows
        if not self.may_ask(price):
            return None
        self.left -= price
        looks = self._counting(LOOKS + LOOKS_OF_A_ROW * rows)
        try:
            answer = decide(section.design, looks)
            if answer.legs is not None:
                return way_into(section.design, answer.table, answer.net, answer.legs, looks,
                                brief=True)
        except Spent as late:
            return Finding(DEADLOCK_FREE, Outcome.UNKNOWN, "structure", reason=str(late))
        finally:
            self.left -= int(min(looks.spent(), looks.seconds)) // 4
        outcome = Outcome.HOLDS if answer.deadlock_free else Outcome.UNKNOWN
        method = answer.method if answer.deadlock_free else "structure"
        return Finding(DEADLOCK_FREE, outcome, method, reason=answer.reason)

    def _searched(self, section: Part, patience: int, small: bool) -> Finding | None:
        rows = len(section.table.rows)
        states = patience // max(1, rows)
        if not small or not states or not self.may_ask(patience):
            return None
        budget = Budget(max_states=states, threads=1, running=self._counting(ENDLESS))
        finding = decide_deadlock(section, Settings("explorer", budget))
        self.left -= min(patience, (finding.states + 1) * rows)
        return finding

    def _counting(self, looks: float) -> Deadline:
        """A deadline after so many looks at it; it has passed, too, where the user's has."""
        counter = count()
        return Deadline(looks, lambda: LATE if self.deadline.passed() else next(counter))

    def _spend(self, looks: Deadline) -> None:
        self.left -= int(STEPS_OF_A_LOOK * min(looks.spent(), looks.seconds))

    # --- every wanted verdict ------------------------------------------------------------------

    def verdicts(self, design: Design, names: Sequence[str]) -> list[Finding]:
        """The findings on these properties of a design that is known to be free of deadlock: as far
        as time allows, up to the first that fails."""
        found = [Finding(name, Outcome.HOLDS, "by construction")
                 for name in names if _is_plain(design, name)]
        asked = tuple(name for name in names if not _is_plain(design, name))
        if not asked or self.deadline.passed():
            return found
        # The name of a task may be part of that of a property.
        same = all(": " not in name for name in asked) and len(design.tasks) <= MAX_NUMBERED
        plain, back = numbered(design) if same else (design, {})
        for known, of, findings in self._verdicts:
            if of == asked and known == plain:
                return found + [named(each, back) for each in findings]
        findings = self._decided_of(plain, asked)
        if not self.deadline.passed():
            self._verdicts.append((plain, asked, findings))
        return found + [named(each, back) for each in findings]

    def _decided_of(self, design: Design, asked: Sequence[str]) -> list[Finding]:
        """The findings on some properties, up to the first that is violated; what they took is paid
        for."""
        budget = Budget(max_states=STATES, threads=1, running=self._counting(ENDLESS))
        settings = Settings(budget=budget)
        sections = [Part.of(part, cycles=False, deadline=self._counting(LOOKS))
                    for part in parts(design)]
        spaces = Spaces(sections, settings, asked=False)
        spaces.never_ends, spaces.trying = True, TRYING
        found = []
        for name in asked:
            finding = decide_property(design, sections, spaces, name, settings)
            self.left -= min(self.left, EQUATIONS * len(sections) + finding.transitions)
            found.append(finding)
            if finding.outcome is Outcome.VIOLATED:
                break
        return found


def _room(part: Design) -> int:
    """So many elements fit into its links: a search that is to fill them has more states."""
    return sum(link.capacity or 0 for link in part.links.values())


def _is_plain(design: Design, name: str) -> bool:
    """True if a property holds by what a design is made of."""
    links = design.links.values()
    if name == BOUNDED:
        return all(link.flow is not Flow.UNBOUNDED for link in links)
    return name == NO_FAILURE and not any(link.may_fail for link in links)
