"""The budget of time: every phase keeps it, by a clock that counts the work done."""

from __future__ import annotations

from functools import cache

import pytest

from benchmarks.lowering import Walk
from checkvalve.spec.design.check import Settings, check
from checkvalve.spec.design.loader import load
from checkvalve.spec.engines import search
from checkvalve.spec.engines.search import Engine, check_rules
from checkvalve.spec.notation import MUST, Machine, action, always, bind, fifo, integer, require
from checkvalve.spec.verdicts.deadline import Deadline, OutOfTime
from checkvalve.spec.verdicts.verdict import Budget, Outcome, Verdict
from hypothesis import given, settings
from hypothesis import strategies as st
from work_clock import Work

SLACK = 0.5
"""Allowed overrun in seconds, with a tenth on top: the promise of the command line."""


PARTS = "".join(
    f"""  s{n}: {{kind: source}}
  m{n}: {{kind: merge}}
  w{n}: {{kind: route}}
  k{n}: {{kind: sink}}
""" for n in range(3))
LINKS = "".join(
    f"  - {{from: {start}{n}, to: {end}{n}, capacity: 1000}}\n"
    for n in range(3) for start, end in ("sm", "mw", "wm", "wk"))
THREE_PARTS = f"checkvalve: 2\nname: three\ntasks:\n{PARTS}links:\n{LINKS}"


def decided(length: int, seconds: float | None, engine: Engine) -> tuple[Verdict, float]:
    """The verdict on a walk, and the virtual seconds that it took."""
    bound = bind(Walk, length=length)
    with Work().counted() as work:
        verdict, = check_rules(
            bound, budget=Budget(max_seconds=seconds, threads=1, clock=work), engine=engine)
        return verdict, work()


LENGTH = 200


@cache
def whole_time(engine: Engine) -> float:
    """The virtual seconds that a verdict takes without a limit."""
    return decided(LENGTH, None, engine)[1]


@pytest.fixture(scope="module", autouse=True)
def _warm() -> None:
    """Import the compiler and the solver once, in no test's time."""
    decided(10, None, "native")
    check(load(THREE_PARTS), Settings(budget=Budget(max_states=1_000, threads=1)))


@pytest.mark.parametrize("engine", ["auto", "native", "interpreter"])
@pytest.mark.parametrize("share", [0.02, 0.2, 0.5, 0.8])
def test_no_phase_overruns_the_budget(share: float, engine: Engine) -> None:
    """Wherever the time ends, the verdict comes by then and half a second and a tenth."""
    limit = share * whole_time(engine)
    verdict, spent = decided(LENGTH, limit, engine)
    assert verdict.outcome in (Outcome.UNKNOWN, Outcome.VIOLATED)
    assert spent <= 1.1 * limit + SLACK


def test_a_verdict_that_runs_out_names_its_phase() -> None:
    """Reading, compiling and replaying are told apart, and the report says what was covered."""
    whole = whole_time("native")
    reasons = [decided(LENGTH, share * whole, "native")[0].reason
               for share in (0.02, 0.3, 0.6, 0.8, 0.9, 0.97)]
    assert "lowering the machine" in reasons[0] and "nothing was covered" in reasons[0]
    assert len({reason.partition(";")[0] for reason in reasons if reason}) >= 2


@pytest.mark.parametrize("engine", ["auto", "native", "interpreter"])
def test_seconds_are_counted_once(engine: Engine) -> None:
    """A verdict says what the search took, and not more than the caller waited."""
    verdict, spent = decided(LENGTH, None, engine)
    assert verdict.outcome is Outcome.VIOLATED
    assert 0.9 * spent <= verdict.seconds <= spent


def test_a_violation_that_the_interpreter_saw_outlives_the_time() -> None:
    """A violation that was found before native code could be made is reported, not lost."""
    short, _ = decided(5, 0.1 * whole_time("auto"), "auto")
    assert short.outcome is Outcome.VIOLATED


@settings(max_examples=50, deadline=None)
@given(st.floats(0.1, 100), st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_the_shares_of_parts_add_up_to_no_more_than_there_is(
    seconds: float, used: list[float]
) -> None:
    """Parts that use any part of their share leave the rest to those that follow."""
    now = [0.0]
    deadline = Deadline(seconds, lambda: now[0])
    for place, fraction in enumerate(used):
        share = deadline.share(len(used) - place)
        now[0] += fraction * share.seconds
    assert now[0] <= seconds * (1 + 1e-9)


def test_the_parts_of_a_design_share_its_budget() -> None:
    """Three parts that are each too large take no longer than one, and each gets its turn."""
    design = load(THREE_PARTS)
    with Work().counted() as work:
        report = check(design, Settings(budget=Budget(
            max_seconds=2.0, max_states=3_000, threads=1, clock=work)))
        spent = work()
    deadlock = report.findings[0]
    assert deadlock.outcome is Outcome.UNKNOWN and "budget" in deadlock.reason
    assert spent <= 1.1 * 2.0 + SLACK
    assert sum(finding.seconds for finding in report.findings) <= spent


def test_a_deadline_names_what_came_too_late() -> None:
    """A late call raises an error with the phase that it named."""
    now = [0.0]
    deadline = Deadline(1.0, lambda: now[0])
    deadline.check("reading")
    now[0] = 1.0
    with pytest.raises(OutOfTime, match="while reading"):
        deadline.check("reading")


class LongQueue(Machine):
    """A queue of more bits than native code packs in one, of which few are used."""

    queue = fifo(integer(0, 255), 4_000)

    @action
    def put(self) -> None:
        """Never more than three."""
        require(len(self.queue) < 3)
        self.queue.push(len(self.queue))

    @action
    def get(self) -> None:
        """From the front."""
        self.queue.pop()

    @always("LONG-1", MUST, "It is never longer than three.", source="a test")
    def short(self) -> bool:
        """By the guard."""
        return len(self.queue) <= 3


def test_what_is_too_wide_for_native_code_is_left_to_the_interpreter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The verdict is exhaustive all the same; native code alone says why it cannot."""
    monkeypatch.setattr(search, "ATTEMPTS_BEFORE_NATIVE", 1)
    verdict, = check_rules(bind(LongQueue))
    assert (verdict.outcome, verdict.method) == (Outcome.HOLDS, "exhaustive")
    refused, = check_rules(bind(LongQueue), engine="native")
    assert refused.outcome is Outcome.UNKNOWN and "needs 32000 bits" in refused.reason
