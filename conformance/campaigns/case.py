"""A case: one seeded, bounded search for a program that breaks a rule; and its row."""

from __future__ import annotations

import gc
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Final

from ...spec.engines.monitor import STATES_MAX
from ...spec.notation.errors import CheckvalveError, InputError, TargetError
from ...spec.notation.labels import counted
from ...spec.notation.rules import Rule
from ...spec.verdicts.deadline import Deadline
from ..ports.base import SettingsRefused, Target
from ..suites.results import ERROR, FLAKY, PASSED, REFUSED, UNKNOWN, VIOLATED, Case, CaseRow
from ..suites.fixture import Fixture, fixture_of
from ..suites.generate import GENERATOR
from ..suites.run import Run, capabilities, items_for, run_program
from ..suites.lengthy import SHORT_ITEMS
from ..suites.shrink import RUNS_MAX, shrink
from ..suites.suite import AnySuite, Long, Program
from ..systems.catalogue import suite_named
from .drafts import Draft, draft_in
from .places import focus_of, is_long, long_number, turn_of
from .rehearsal import most_telling
from .steadiness import BETWEEN, Sessions, kept_state, left_behind

__all__ = [
    "CANDIDATES_MAX", "CAPACITY_MAX", "RunSettings", "case_at", "offers", "plan", "row_of",
    "run_case", "suite_version",
]

CANDIDATES_MAX: Final = 10_000_000
CAPACITY_MAX: Final = 10_000
_SEED_BITS = 53
_COLLECT_EVERY = 10
"""Long cases after which the garbage of cycles is looked for."""

_REPEATS = 3
"""Further runs in which a breach has to come again: before its program is shrunk, and after."""

_REQUESTS = 600
"""Requests that programs of a case with a large capacity may make before their own, at least."""

_REQUESTS_MOST = 1_000
"""The same on an average of cases, at most: of a still larger capacity not every case fills it."""

_PARTS_OF_TIME = 4
"""One of so many parts of the time that is left may go to making a failure shorter: the other cases
show more."""

_OFTEN, _OFTEN_IN_REAL_TIME = 10, 3
"""Runs made to count how often a breach comes that does not always come."""


@dataclass(frozen=True)
class RunSettings:
    """Settings of a run, the same for all its cases.

    ``capacity`` None: cases take those of the suite in turn. ``programs`` is how many a case tries
    at most. ``timeout_seconds`` is what a target has for one reply, in real time; rows do
    not depend on it unless a target comes near it. ``candidates`` is how many states each
    machine that judges may be in at one time; one that could be in more has lost track.
    ``shrinks`` is how many runs a case spends at most on a shorter failure. ``rehearsal`` is the
    target on which programs are tried before one is run; empty: none, and all are run.
    ``counting``: rows say which rules could have been broken. A hunt, which asks for
    breaches alone, does without, in up to half the time; all else in its rows is the same.
    ``drafts``: a breach stays in the row as it was seen, for its case to be run with it again
    (drafts.py); without it, each is made short at once.
    """

    capacity: int | None = None
    programs: int = 20
    timeout_seconds: float = 5.0
    candidates: int = STATES_MAX
    shrinks: int = RUNS_MAX
    rehearsal: str = ""
    counting: bool = True
    drafts: bool = False

    def __post_init__(self) -> None:
        _require(0 <= self.shrinks <= RUNS_MAX, "shrinks", 0, RUNS_MAX)
        _require(self.capacity is None or 1 <= self.capacity <= CAPACITY_MAX, "capacity", 1,
                 CAPACITY_MAX)
        _require(1 <= self.programs <= 10_000, "programs", 1, 10_000)
        _require(1 <= self.candidates <= CANDIDATES_MAX, "candidates", 1, CANDIDATES_MAX)
        if not 0 < self.timeout_seconds <= 3600:
            raise InputError("a time limit must be more than 0 and at most 3600 seconds")


def _require(fits: bool, name: str, low: int, high: int) -> None:
    if not fits:
        raise InputError(f"{name} must be a whole number from {low} to {high}")


def suite_version(suite: AnySuite) -> str:
    """The version that a row's meaning depends on, besides its seed."""
    return f"{suite.version}+generator.{GENERATOR}"


def plan(suite: str, *, cases: int, seed: int) -> list[Case]:
    """The first cases of a run, in order; see ``case_at``."""
    _require(1 <= cases <= 1_000_000, "cases", 1, 1_000_000)
    return [case_at(suite, index, seed) for index in range(cases)]


def case_at(suite: str, index: int, seed: int) -> Case:
    """The case at a place of a run; its seed depends on nothing but the place and ``seed``."""
    suite_named(suite)
    _require(0 <= seed < 2**_SEED_BITS, "seed", 0, 2**_SEED_BITS - 1)
    at = f"long {long_number(index)}" if is_long(index) else str(turn_of(index))
    digest = hashlib.sha256(f"{suite}/{seed}/{at}".encode()).digest()
    return Case(index, int.from_bytes(digest[:8]) >> (64 - _SEED_BITS))


def run_case(
    suite: str, target_spec: str, case: Case, settings: RunSettings,
    deadline: Deadline | None = None,
) -> CaseRow:
    """Run one case and say what it found.

    A pure function of its arguments for a target that is deterministic, if there is no
    ``deadline``. After one no further program begins, a long one ends, and a failure is made
    shorter in a quarter of the time that is left until it at most. An error of the target becomes
    a row; ``InputError`` is
    raised for a suite or a target that is not there.
    """
    from ..systems.targets import resolve_target

    target = resolve_target(target_spec, timeout=settings.timeout_seconds)
    return row_of(suite_named(suite), target, case, settings, deadline)


def row_of(
    suite: AnySuite, target: Target, case: Case, settings: RunSettings,
    deadline: Deadline | None = None,
) -> CaseRow:
    """Run one case of a suite on a target and say what it found; see ``run_case``."""
    row = _Search(suite, target.name, target, case, settings, deadline).row()
    if is_long(case.index) and long_number(case.index) % _COLLECT_EVERY == _COLLECT_EVERY - 1:
        # What its judges remembered knows itself, and would stay until there is much more of it.
        gc.collect()
    return row


def offers(suite: str, target_spec: str, settings: RunSettings) -> Collection[str]:
    """The operations that a target says it can do; none if it does not answer or is not there,
    which its cases will report."""
    from ..systems.targets import resolve_target

    try:
        target = resolve_target(target_spec, timeout=settings.timeout_seconds)
        search = _Search(suite_named(suite), target_spec, target, Case(0, 0), settings)
        return capabilities(search.suite, target, *search.offered)
    except (CheckvalveError, ImportError):
        return ()


class _Search:
    """The search of one case.

    Case by case another rule is in *focus*: operations that it needs are never left out,
    and a program continues after a breach of another rule while the focus can still be
    judged. So a rule that is broken early and often hides no other. But what breaks later in
    a run may do so only because of what broke first: the focus is ``found`` where no other
    rule is broken before it. Where it only breaks ``behind`` others, the case reports the
    first of those (docs/decisions/suites-roots-and-consequences.md).
    """

    def __init__(
        self, suite: AnySuite, spec: str, target: Target, case: Case, settings: RunSettings,
        deadline: Deadline | None = None,
    ) -> None:
        self.deadline = deadline or Deadline()
        self.suite = suite
        self.spec = spec
        self.target = target
        self.case = case
        self.settings = settings
        self.can: Collection[str] = ()
        self.rules: Sequence[Rule] = ()
        self.steps = 0
        self.programs = 0
        self.exercised: Counter[str] = Counter()
        self.unjudged: Counter[str] = Counter()
        self.tried: list[Program] = []
        self.found: tuple[Rule, Run] | None = None
        self.behind: tuple[Rule, Run] | None = None
        self.aside: tuple[Rule, Run] | None = None
        self.follows: dict[str, str] = {}
        self.failure: TargetError | None = None
        self.measured: dict[str, int] = {}
        self.longest = 0
        self.items = 0
        self.spare = 0

    @property
    def long(self) -> Long | None:
        """The form of this case's one long program; None if its programs are short.

        In real time they all are.
        """
        return self.suite.long if is_long(self.case.index) and not self.settings.rehearsal else None

    @property
    def capacity(self) -> int:
        """The capacity of this case.

        A rule that is in focus again has the next one, and so has the next rule: some cases try all
        capacities, and enough of them try every rule with each capacity that can show a breach.
        Long programs have all sizes in turn, the largest first.
        """
        if self.settings.capacity or not self.rules:
            return self.settings.capacity or self.suite.capacities[0]
        if self.long is not None:
            sizes = (*self.long.sizes, *reversed(self.suite.capacities))
            return sizes[long_number(self.case.index) % len(sizes)]
        turn, place = divmod(turn_of(self.case.index), len(self.rules))
        takes = self.suite.telling.get(self.rules[place].id, self.suite.capacities)
        return takes[(turn + place) % len(takes)]

    @property
    def offered(self) -> tuple[int, ...]:
        """The capacities that a target may choose from, when it is asked what it can do."""
        own = self.settings.capacity
        return (own,) if own else tuple(dict.fromkeys((1, *self.suite.capacities)))

    def row(self) -> CaseRow:
        try:
            self.can = capabilities(self.suite, self.target, *self.offered)
            self.rules = self.suite.applicable(self.can)
            if self.case.draft:
                return self._taken_up(draft_in(self.case.draft))
            if self.rules:
                self._explore(self.can)
        except TargetError as error:
            self.failure = error
        return self._judge()

    def _explore(self, can: Collection[str]) -> None:
        """Attempt the long program of the case, or its drawn ones until one fails, or the draft
        that exercises most."""
        focus = focus_of(self.rules, self.case.index)
        if self.long is not None:
            acts, epilogue = self.suite.lengthy(can, self.case.seed, self.capacity)
            self._attempt(acts, focus, epilogue, self.long.most(self.capacity))
            return

        def attempt(program: Program) -> None:
            # What is drawn after a failure is not run, nor what comes late, if anything was run.
            late = self.programs and self.deadline.passed()
            if self.found is None and self.failure is None and not late:
                self._attempt(program, focus)

        if not self.settings.rehearsal:
            self.suite.explore(
                can, focus, self.case.seed, self.settings.programs, self._filled(can, attempt))
        elif drafts := self._drafts(focus):
            attempt(most_telling(self.suite, drafts, self._rehearsal, self.capacity, focus))

    def _filled(
        self, can: Collection[str], attempt: Callable[[Program], None]
    ) -> Callable[[Program], None]:
        """Try programs after what fills a large thing, in whole or in part, as long as there are
        requests for that; and then from the beginning."""
        long, random = self.suite.long, Random(f"{self.case.seed} filled")
        every = max(1, self.capacity // _REQUESTS_MOST)
        spare = max(_REQUESTS, self.capacity) if turn_of(self.case.index) % every == 0 else 0

        def filled(program: Program) -> None:
            nonlocal spare
            before = long.before(random, can, self.capacity) if long else ()
            if len(before) > spare:
                before = ()
            spare -= len(before)
            attempt(before + program)
        return filled

    def _drafts(self, focus: Rule) -> list[Program]:
        """The programs of which one is run."""
        drafts: list[Program] = []
        self.suite.explore(self.can, focus, self.case.seed, self.settings.programs, drafts.append)
        return drafts

    @property
    def _rehearsal(self) -> Target:
        from ..systems.targets import resolve_target

        return resolve_target(self.settings.rehearsal)

    def _attempt(
        self, program: Program, focus: Rule, epilogue: Program = (), most: int | None = None
    ) -> None:
        """Run a program, count what it did, and keep the breach that it showed, the focus's own
        apart from those that follow from another or are of other rules."""
        try:
            run = run_program(
                self.suite, self.target, program, self.capacity, focus=focus,
                count=self.settings.counting and most is None,
                candidates=self.settings.candidates, every=True, epilogue=epilogue, most=most,
                deadline=self.deadline, once=None if self.settings.rehearsal else [
                    each.id for each in self.rules if not self.exercised[each.id]])
        except TargetError as error:
            self.failure = self._whose(error, program)
            return
        self.items = 0 if most is None else items_for(program, most) + len(epilogue)
        self.steps += len(run.exchanges)
        self.programs += 1
        self.longest = max(self.longest, len(run.exchanges))
        self.exercised.update(run.exercised)
        self.unjudged.update(run.unjudged)
        for name, value in run.measured.items():
            self.measured[name] = max(value, self.measured.get(name, value))
        self.tried.append(tuple(run.acts))
        if run.rooted(focus) is not None:
            self.found = focus, run
        elif run.breach_of(focus) is not None:
            self.behind = self.behind or (focus, run)
        elif run.breaches:
            self.aside = self.aside or (run.kept_for.rule, run)

    def _whose(self, error: TargetError, program: Program) -> TargetError:
        """A failure with its origin: its own session, or the sessions before it."""
        if isinstance(error, SettingsRefused) or self.settings.rehearsal:
            return error
        return left_behind(self._sessions, self.tried, program, error)

    # --- the verdict ---------------------------------------------------------------------

    def _judge(self) -> CaseRow:
        """The row of the case: a breach counts more than a target that failed, and that more than a
        rule that was not judged."""
        try:
            if self.found is None and self.behind is not None:
                return self._behind(*self.behind)
            broken = self.found or self.aside
            if broken is not None:
                rule, run = broken
                if self.settings.drafts:
                    return self._drafted(rule, run)
                return self._broken(rule, tuple(run.acts), run)
        except TargetError as error:
            self.failure = self.failure or error
        if isinstance(self.failure, SettingsRefused):
            return self._row(REFUSED, message=f"not offered: {self._refused}")
        if self.failure is not None:
            return self._row(ERROR, message=str(self.failure))
        if not self.rules:
            return self._row(PASSED, message="no rule of the suite applies to this target")
        if self.unjudged:
            return self._row(UNKNOWN, message=self._lost_track())
        return self._row(PASSED)

    def _lost_track(self) -> str:
        programs = max(self.unjudged.values())
        return (f"in {programs} of {counted(self.programs, 'program')} a machine that judges "
                f"could be in more than {counted(self.settings.candidates, 'state')}, and lost "
                "track")

    @property
    def _refused(self) -> str:
        """The settings that the target does not support, in words; without a rule it supports none
        at all."""
        refused = (self.capacity,) if self.rules else self.offered
        return f"capacity {', '.join(map(str, refused))}"

    def _behind(self, rule: Rule, seen: Run) -> CaseRow:
        """The row of a breach that followed another one: of what came first in a short run,
        unless while the program is shrunk nothing comes before it any more."""
        alone: list[tuple[Program, Run]] = []
        self._need_no_more_items(rule, tuple(seen.acts))

        def fails(candidate: Program) -> Program | None:
            if alone:
                return None
            run = self._run(rule, candidate)
            breach = run.breach_of(rule)
            if breach is None:
                return None
            if run.root_of(breach) is breach:
                alone.append((run.up_to(breach), run))
            return run.up_to(breach)

        small = self._shrunk(tuple(seen.acts), fails, self.settings.shrinks)
        if alone:
            return self._broken(rule, *alone[0])
        run = self._run(rule, small)
        breach = run.breach_of(rule)
        if breach is None:
            return self._unsteady(rule, small, seen)
        root = run.root_of(breach)
        self.follows = {rule.id: root.rule.id}
        return self._broken(root.rule, run.up_to(root), run)

    def _drafted(self, rule: Rule, seen: Run) -> CaseRow:
        """The row of a breach that was seen once."""
        fixture = self._once(rule, seen)
        draft = Draft(rule.id, tuple(seen.acts), self.items, tuple(self.tried[-BETWEEN:]), fixture)
        return replace(self._row(VIOLATED, rule, fixture.headline()), fixture=draft.to_text())

    def _taken_up(self, draft: Draft) -> CaseRow:
        """The row of a breach that an earlier run of this case left as it was seen."""
        rule = self.suite.rule(draft.rule)
        assert rule is not None, "drafts come from rows of this suite"
        self.tried, self.items = list(draft.tried), draft.items
        return self._broken(rule, draft.program, draft.seen)

    def _broken(self, rule: Rule, program: Program, seen: Run | Fixture) -> CaseRow:
        """The row of a breach: seen again, shrunk, seen again, and written down; or of a target
        that does not answer alike each time."""
        self._need_no_more_items(rule, program)
        if not self._comes_again(rule, program):
            return self._unsteady(rule, program, seen)
        small = self._shrunk(
            program, lambda candidate: self._fails(rule, candidate), self.settings.shrinks)
        self._need_no_more_items(rule, small)
        if small != program and not self._comes_again(rule, small):
            return self._unsteady(rule, small, seen)
        # In a process that has served no session, and with every machine, so that what it is said
        # to
        # allow is allowed by all.
        self.target.renew()
        run = self._run(rule, small, every=True)
        breach = run.rooted(rule)
        if breach is None:
            return self._unsteady(rule, small, seen)
        runs = _REPEATS + 1
        fixture = fixture_of(self.suite, self.capacity, run, breach, self.spec, self.case,
                             (runs, runs), self.items)
        return self._row(VIOLATED, rule, fixture.headline(), fixture)

    def _shrunk(
        self, program: Program, fails: Callable[[Program], Program | None], runs: int
    ) -> Program:
        """The shortest program that was found in a part of the time that is left."""
        return shrink(program, fails, self.suite.simpler, runs,
                      self.deadline.share(_PARTS_OF_TIME))

    def _comes_again(self, rule: Rule, program: Program) -> bool:
        """True if the rule breaks in each of some more runs of a program."""
        return None not in [self._fails(rule, program) for _ in range(_REPEATS)]

    def _unsteady(self, rule: Rule, program: Program, seen: Run | Fixture) -> CaseRow:
        """The row of a target that does not answer a program alike each time: it keeps something
        from one session to the next, or else the breach comes in so many of its runs."""
        kept = kept_state(self._sessions, self.tried, program)
        if kept is not None:
            return self._row(ERROR, message=str(kept.error()))
        runs = _OFTEN_IN_REAL_TIME if self.settings.rehearsal else _OFTEN
        small = self._shrunk(
            program, lambda candidate: self._ever_fails(rule, candidate),
            self.settings.shrinks // _OFTEN)
        for each in dict.fromkeys((small, program)):
            broken = [run for _ in range(runs) if (run := self._run(rule, each, every=True)
                                                   ).rooted(rule) is not None]
            if broken:
                return self._flaky(rule, self._seldom(rule, broken[0], len(broken), runs))
        once = seen if isinstance(seen, Fixture) else self._once(rule, seen)
        return self._flaky(rule, once)

    @property
    def _sessions(self) -> Sessions:
        return Sessions(self.suite, self.target, self.capacity, self.settings.candidates,
                        self.deadline)

    def _ever_fails(self, rule: Rule, program: Program) -> Program | None:
        """As ``_fails``, for a program that does not always come out alike."""
        runs = (self._fails(rule, program) for _ in range(_REPEATS))
        return next((found for found in runs if found is not None), None)

    def _once(self, rule: Rule, seen: Run) -> Fixture:
        """A breach that does not come again, as it was seen."""
        often = _OFTEN_IN_REAL_TIME if self.settings.rehearsal else _OFTEN
        return self._seldom(rule, seen, 1, often + 1)

    def _seldom(self, rule: Rule, run: Run, broke: int, runs: int) -> Fixture:
        """A breach that came in some runs of its program, as one of them showed it."""
        breach = run.rooted(rule) or run.breach_of(rule)
        assert breach is not None, "what is reported was seen"
        return fixture_of(
            self.suite, self.capacity, run, breach, self.spec, self.case, (broke, runs),
            self.items)

    def _flaky(self, rule: Rule, fixture: Fixture) -> CaseRow:
        """The row of a breach that does not always come."""
        broke, runs = fixture.came_in
        return self._row(FLAKY, rule, (
            f"the target does not answer alike each time: {rule.id} was broken in {broke} of "
            f"{runs} runs of the same program, {fixture.last_words}"), fixture)

    def _run(self, rule: Rule, program: Program, every: bool = False) -> Run:
        """A run before the machines that are needed for a rule; what there could have been
        instead is worked out before ``every`` machine only, for then it is written down."""
        return run_program(
            self.suite, self.target, program, self.capacity, focus=rule, tells=every,
            candidates=self.settings.candidates, every=every, items=self._items_of(program))

    def _items_of(self, program: Program) -> int:
        """How many items it may name; 0: as many as go with its length."""
        is_short = items_for(program) <= SHORT_ITEMS
        return self.items or (self.spare if is_short else 0)

    def _need_no_more_items(self, rule: Rule, program: Program) -> None:
        """Allow fewer items, as for a program of its length, if what is left of a long program
        breaks the rule then, too.

        What is long still may become short by shrinking; it may name as many items then, if the
        rule is broken in no other way.
        """
        items, self.items, self.spare = self.items or self._items_of(program), 0, 0
        if items and self._run(rule, program).rooted(rule) is None:
            self.items = items
        elif items and items_for(program) > SHORT_ITEMS:
            self.spare = items_for(range(SHORT_ITEMS))

    def _fails(self, rule: Rule, program: Program) -> Program | None:
        run = self._run(rule, program)
        breach = run.rooted(rule)
        return None if breach is None else run.up_to(breach)

    def _row(
        self, verdict: str, rule: Rule | None = None, message: str = "",
        fixture: Fixture | None = None,
    ) -> CaseRow:
        counts = {each.id: self.exercised[each.id] for each in self.rules}
        return CaseRow(
            self.suite.name, suite_version(self.suite), self.spec, self.case.index,
            self.case.seed, verdict, "" if rule is None else rule.id, self.steps, message,
            json.dumps(counts), "" if fixture is None else fixture.to_json(),
            json.dumps(dict(sorted(self.unjudged.items()))), json.dumps(sorted(self.can)),
            json.dumps(self.follows if verdict == VIOLATED else {}),
            json.dumps({self.capacity: self.measured} if self.measured else {}, sort_keys=True),
            self.capacity, self.longest,
        )
