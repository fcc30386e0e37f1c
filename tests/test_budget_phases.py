"""Each phase that looks at a budget ends in *unknown*, whichever budget it is; and all of them
look, at every size."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from random import Random

import pytest
from work_clock import Work

from checkvalve.spec.certify.checker import check_certificate
from checkvalve.spec.design.check import Settings, check
from checkvalve.spec.design.loader import load
from checkvalve.spec.design.reading.language import Design
from checkvalve.spec.design.repairs.repair import with_repair
from checkvalve.spec.design.verdicts.certificates import Certificates, Uncertified
from checkvalve.spec.design.why.findings import DesignReport
from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.verdicts.deadline import Deadline, OutOfMemory, OutOfTime, Spent
from checkvalve.spec.verdicts.verdict import Budget, Outcome

SLACK = 2.0
"""Allowed overrun in seconds of that clock, of which one takes a fiftieth of a real one: a loop
that never asks takes more."""

DESIGNS = {
    "starves": """
tasks: {a: {kind: source}, m: {kind: merge, policy: preferred, prefers: back},
        r: {kind: route}, s: {kind: sink}}
links:
  - {from: a, to: m, capacity: 2}
  - {from: m, to: r, capacity: 2}
  - {name: back, from: r, to: m, capacity: 2}
  - {from: r, to: s, capacity: 2}
expect: {live: violated, no-starvation: {a: violated}, ordered: violated, no-duplicates: holds}
""",
    "large": """
tasks: {a: {kind: source}, r: {kind: route, by: room}, m: {kind: merge}, s: {kind: sink}}
links:
  - {from: a, to: r, capacity: 5000}
  - {name: x, from: r, to: m, capacity: 5000}
  - {name: y, from: r, to: m, flow: unbounded}
  - {from: m, to: s, capacity: 5000, flow: drop-newest}
expect: {live: holds, ordered: violated, no-loss: violated}
""",
    "deadlocks": """
tasks: {a: {kind: script, steps: [{write: x, count: 3}, {read: y}]},
        b: {kind: script, steps: [{write: y, count: 3}, {read: x}]},
        calls: {kind: call, pool: p, depth: 2, roots: 2}}
links: [{name: x, from: a, to: b, capacity: 2}, {name: y, from: b, to: a, capacity: 2}]
pools: {p: {threads: 2}}
""",
}


COMMON = {
    "asking which tasks may stop alone", "looking for an order of waits", "judging DESIGN-",
    "looking for what excludes a deadlocked state", "making the wait-for graph", "searching",
    "reading the design", "solving the equations of deadlocked states", "translating the design",
    "lowering the machine", "compiling the search", "checking the part of a",
    "telling two elements apart from all others",
}
"""Phases that every design has: tried with one of them."""


def all_of(name: str) -> tuple[DesignReport, list[bool | None]]:
    """A check, the repair and the certificates; what the checker says of these."""
    design = load(f"checkvalve: 2\nname: phases\n{DESIGNS[name]}")
    budget = Budget(max_states=400, threads=1).start()
    report = check(design, Settings(budget=budget))
    if name == "deadlocks":  # of the others it takes seconds
        report = with_repair(report, budget)
    made, said = Certificates(report, budget.deadline), list[bool | None]()
    for finding in report.findings:
        with suppress(Uncertified, Spent):
            opinion = check_certificate(made.of(finding), design)
            said.append(opinion.confirmed)
    return report, said


def ended_at(phase: str, error: type[Spent], seen: set[str]) -> Callable[[Deadline, str], None]:
    """A look that ends at a phase, the first of these words; and notes the phases that it sees."""
    def look(_deadline: Deadline, here: str) -> None:
        words = here.split(",")[0].split("(")[0]
        words = "".join(each for each in words if not each.isdigit())
        seen.add(words)
        if words == phase:
            raise error(here)
    return look


@pytest.mark.parametrize("name", DESIGNS)
def test_a_budget_that_ends_in_any_phase_ends_in_no_error(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither time nor memory; what is decided besides stays decided, and never the contrary."""
    phases: set[str] = set()
    monkeypatch.setattr(Deadline, "check", ended_at("", OutOfTime, phases))
    whole, _ = all_of(name)
    decided = {each.name: each.outcome for each in whole.findings}
    assert len(phases) >= 8, phases
    done = COMMON if name != "starves" else set()
    for number, phase in enumerate(sorted(phases - done)):
        error = (OutOfTime, OutOfMemory)[number % 2]
        monkeypatch.setattr(Deadline, "check", ended_at(phase, error, set()))
        report, said = all_of(name)
        for finding in report.findings:
            assert finding.outcome in (Outcome.UNKNOWN, decided[finding.name]) or (
                decided[finding.name] is Outcome.UNKNOWN), (phase, finding)
        assert False not in said, phase


def sized(draw: Random) -> str:
    """A design of a size between a few and hundreds, of numbers between 1 and a million."""
    number = draw.choice((1, 4, 20, 120))
    room = draw.choice((1, 30, 1_000, 1_000_000))
    shape = draw.choice(("line", "ways", "scripts", "calls", "kinds"))
    if shape == "calls":
        return (f"tasks: {{c: {{kind: call, pool: p, depth: {draw.choice((1, 2, 5))}, "
                f"roots: {room}}}}}\npools: {{p: {{threads: {number}}}}}\n")
    if shape == "scripts":
        steps = f"[{{write: x, count: {room}}}, {{read: y, count: {number}}}]"
        back = f"[{{read: x, count: {room}}}, {{write: y, count: {number}}}]"
        return (f"tasks: {{a: {{kind: script, steps: {steps}}}, b: {{kind: script, steps: {back}}}"
                f"}}\nlinks: [{{name: x, from: a, to: b, capacity: {room}}}, "
                f"{{name: y, from: b, to: a, capacity: {number}}}]\n")
    if shape == "kinds":
        return ("tasks: {a: {kind: source}, m: {kind: map}, s: {kind: sink}}\nlinks:\n"
                f"  - {{from: a, to: m, capacity: {room}, name: x, kinds: {min(number, 9)}, "
                "take: head}\n  - {from: m, to: s, capacity: 2}\n")
    tasks = [f"  t{n}: {{kind: map}}" for n in range(number)]
    links = [f"  - {{from: {f't{n - 1}' if n else 'r'}, to: t{n}, capacity: {room}}}"
             for n in range(number)]
    other = f"  - {{from: r, to: m, capacity: {room}, name: beside}}\n"
    end = f"  - {{from: t{number - 1}, to: m, capacity: {room}}}\n"
    extra = ", hand: 3" if draw.random() < 0.3 else ""
    return ("tasks:\n  a: {kind: source}\n  r: {kind: route}\n  m: {kind: merge" + extra
            + "}\n  s: {kind: sink}\n" + "\n".join(tasks) + "\nlinks:\n"
            f"  - {{from: a, to: r, capacity: {room}}}\n" + other + end
            + "\n".join(links) + f"\n  - {{from: m, to: s, capacity: {room}, "
            f"flow: {draw.choice(('blocking', 'credit', 'drop-newest'))}}}\n")


@pytest.fixture(scope="module")
def _warm() -> None:
    """Import the compiler and the solvers once, in no test's time."""
    all_of("starves")


@pytest.mark.usefixtures("_warm")
@pytest.mark.parametrize("seed", range(10))
def test_designs_of_all_sizes_end_in_their_time(seed: int) -> None:
    """By a clock that counts what is done: so a loop that never asks is found on any machine."""
    draw = Random(f"sizes {seed}")
    expect = ("expect: {live: holds, ordered: violated, no-duplicates: holds, no-loss: holds}\n")
    text = f"checkvalve: 2\nname: sized\n{sized(draw)}{expect}"
    try:
        design: Design = load(text)
    except InputError as refused:
        pytest.skip(str(refused))
    seconds = draw.choice((0.5, 2.0, 5.0))
    with Work().counted() as work:
        report = check(design, Settings(budget=Budget(
            max_seconds=seconds, max_states=20_000, threads=1, clock=work)))
        spent = work()
    assert spent <= 1.1 * seconds + SLACK, (text, [
        (each.name, each.seconds, each.reason) for each in report.findings])
