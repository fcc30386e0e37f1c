"""Reports of a verdict (drawings, steps, certificates, repairs) keep the budget too."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from work_clock import Work

from checkvalve.conformance.cli.check import _draw, _traced
from checkvalve.conformance.designs.text import violation_lines
from checkvalve.conformance.gate.places import place_in_design
from checkvalve.spec.design.check import Settings, check
from checkvalve.spec.design.loader import load
from checkvalve.spec.design.reading.language import Design
from checkvalve.spec.design.repairs import repair as repairs
from checkvalve.spec.design.repairs.repair import LATE, with_repair
from checkvalve.spec.design.verdicts.certificates import Certificates, Uncertified
from checkvalve.spec.design.why.blocked import Blocked
from checkvalve.spec.design.why.findings import DesignReport, Finding
from checkvalve.spec.verdicts.deadline import Deadline
from checkvalve.spec.verdicts.verdict import Budget, Outcome


def ring(stations: int) -> Design:
    """A ring that can fill up, with a source at each station."""
    tasks = "".join(f"  m{n}: {{kind: merge}}\n  s{n}: {{kind: source}}\n" for n in range(stations))
    links = "".join(
        f"  - {{name: q{n}, from: m{n}, to: m{(n + 1) % stations}, capacity: 2}}\n"
        f"  - {{from: s{n}, to: m{n}, capacity: 1}}\n" for n in range(stations))
    return load(f"checkvalve: 2\nname: ring\ntasks:\n{tasks}links:\n{links}", "ring.yaml")


def filled(design: Design) -> Finding:
    """The deadlock in which the ring is full."""
    stations = len(design.tasks) // 2
    waits = tuple(Blocked(f"m{n}", "room", f"q{n}", (f"m{(n + 1) % stations}",))
                  for n in range(stations))
    return Finding("deadlock-free", Outcome.VIOLATED, "found by trying", waits=waits, cycle=waits)


@pytest.fixture(scope="module")
def report() -> DesignReport:
    """The report on a small one, with its shortest counterexample."""
    found = check(ring(3), Settings(budget=Budget(max_states=2_000, threads=1)))
    assert found.findings[0].outcome is Outcome.VIOLATED and found.findings[0].steps
    return found


def test_all_that_is_reported_has_one_end() -> None:
    """A tenth and half a second after the budget, however many ask, and however late."""
    now = [0.0]
    deadline = Deadline(20.0, lambda: now[0])
    for now[0] in (0.0, 12.0, 21.0, 22.4):
        assert deadline.to_tell().left() == pytest.approx(22.5 - now[0])
    now[0] = 22.6
    assert deadline.to_tell().passed() and not Deadline(None).to_tell().passed()


def test_a_cycle_of_many_waits_is_reported_in_time_that_grows_with_it() -> None:
    """Its place in the file, and its sentence."""
    work = []
    for stations in (50, 200):
        design = ring(stations)
        finding = filled(design)
        with Work().counted() as counted:
            assert place_in_design(design, finding).line > 1
            assert any("Cycle of waits" in line for line in violation_lines(finding, design))
        work.append(counted.calls)
    assert work[1] < 6 * work[0], work


def test_a_property_without_a_cycle_has_the_place_of_the_name() -> None:
    """Which was seen when the file was read: it is not read again."""
    place = place_in_design(ring(1), Finding("ordered", Outcome.UNKNOWN, "search"))
    assert (place.line, place.column) == (2, 1)


def test_what_is_late_is_left_out_with_a_sentence(report: DesignReport, tmp_path: Path) -> None:
    """A drawing, and counterexamples for other programs; in time both are there."""
    late = Deadline(0.0)
    assert "the budget of time was spent" in _draw(report, tmp_path, late)
    told, = _traced(report, tmp_path, late)
    assert told.startswith("Counterexamples of ring are left out: the budget of time was spent")
    assert not list(tmp_path.iterdir())
    assert _traced(report, tmp_path, Deadline()) == [""] * len(list(tmp_path.iterdir())) != []


@pytest.mark.parametrize("looks", [0, 3, 12])
def test_a_repair_whose_time_is_over_is_no_longer_looked_for(
    report: DesignReport, looks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before it begins, and in a region of a design that counts as a large one."""
    monkeypatch.setattr(repairs, "MAX_TASKS", 1)
    now = [0.0]

    def clock() -> float:
        now[0] += 1
        return now[0]

    found = with_repair(report, Budget(max_seconds=looks + 1.5, clock=clock)).findings[0].repair
    assert found is not None and (found.ways, found.undecided) == ((), LATE)


def test_a_certificate_is_not_begun_after_its_time(report: DesignReport) -> None:
    """Also where all that it takes is to translate the design."""
    made = Certificates(report, Deadline(0.0))
    bounded = next(each for each in report.findings if each.name == "bounded")
    with suppress(Uncertified), Work().counted() as work:
        made.of(bounded)
    assert work.calls < 100
    with pytest.raises(Uncertified, match="budget of time"):
        made.of(bounded)
