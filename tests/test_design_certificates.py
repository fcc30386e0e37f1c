"""Certificates of verdicts on designs are confirmed by a checker that shares no code with us."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from benchmarks.certificates import Tally, certified, sample
from benchmarks.random_designs.designs import random_design, random_file, richer
from checkvalve.conformance.cli import root
from checkvalve.conformance.cli.outcome import run
from checkvalve.conformance.designs import check_design, check_file, load_designs
from checkvalve.conformance.designs.certificates import MAX_BYTES, MAX_MARKS, problem_of
from checkvalve.spec.certify.checker import check_certificate
from checkvalve.spec.certify.transitions import system_of
from benchmarks.pages.roles import READING, ROLES, lengths
from checkvalve.spec.certify.states import states_of
from checkvalve.spec.certify.system import NotCovered, System, Transition, can_move
from checkvalve.spec.design.check import Settings
from checkvalve.spec.design.equations.structure import decide
from checkvalve.spec.design.loader import load
from checkvalve.spec.design.net.counters import AIM, Counters
from checkvalve.spec.design.net.counters import Transition as Ours
from checkvalve.spec.design.net.translate import translate
from checkvalve.spec.design.reading.language import Design
from checkvalve.spec.design.verdicts.certificates import certificate, of_structure
from checkvalve.spec.verdicts.verdict import Budget, Outcome

REPOSITORY = Path(__file__).resolve().parent.parent
EXAMPLES = sorted(path for folder in ("designs", "formats", "grids")
                  for path in (REPOSITORY / "examples" / folder).iterdir())
RING = """
checkvalve: 2
name: ring
tasks: {a: {kind: map, pool: both}, b: {kind: map, pool: both}, c: {kind: map}}
pools: {both: {threads: 9}}
links:
  - {from: a, to: b, capacity: 700, initial: 3}
  - {from: b, to: c, capacity: 500, flow: credit, batch: 20}
  - {from: c, to: a, flow: unbounded}
"""
SCRIPTED = """
checkvalve: 2
name: one lock
tasks:
  a: {kind: script, steps: [{acquire: lock}, {write: l, count: 3}, {release: lock}]}
  b: {kind: script, steps: [{read: l, count: 3}]}
  c: {kind: script, steps: [{acquire: lock}, {release: lock}]}
links: [{name: l, from: a, to: b, capacity: 2}]
pools: {lock: {threads: 1}}
"""
COPIES = """
checkvalve: 2
name: copies
tasks: {a: {kind: source}, b: {kind: COPIER}, c: {kind: merge}, d: {kind: sink}}
links:
  - {from: a, to: b, capacity: 1}
  - {from: b, to: c, capacity: 2, name: one}
  - {from: b, to: c, capacity: 2, name: other}
  - {from: c, to: d, capacity: 1}
expect: {no-duplicates: holds}
"""
LONG = """
checkvalve: 2
name: long
tasks: {a: {kind: source}, b: {kind: map, hand: 0}, c: {kind: map, hand: 0}, d: {kind: sink}}
links:
  - {from: a, to: b, capacity: 99}
  - {from: b, to: c, capacity: 200}
  - {from: c, to: d, capacity: 99}
"""
UNREADABLE = """
checkvalve: 2
name: unreadable
tasks:
  source: {kind: source}
  by room: {kind: route, by: room}
  first: {kind: sink}
  second: {kind: sink}
links:
  - {from: source, to: by room, capacity: 2}
  - {from: by room, to: first, capacity: 2}
  - {from: by room, to: second, capacity: 2, takes: 3}
"""
PREFERRING = """
checkvalve: 2
name: preferring
tasks:
  source: {kind: source}
  entry: {kind: merge, policy: preferred, prefers: feedback}
  split: {kind: broadcast}
  sink: {kind: sink}
links:
  - {from: source, to: entry, capacity: 90}
  - {from: entry, to: split, capacity: 80}
  - {from: split, to: entry, capacity: 70, name: feedback}
  - {from: split, to: sink, capacity: 60}
"""


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_verdict_on_the_examples_is_certified(path: Path) -> None:
    """Each has a certificate that the checker confirms, and none that was tampered with is. Of a
    file with parameters, four points."""
    tally = Tally()
    for design in sample(load_designs(str(path)), 4):
        certified(check_design(design), tally)
        _same(design)
    assert not tally.wrong and tally.certified == tally.known > 0
    assert tally.forged > 2 * tally.known


def test_every_verdict_on_random_designs_is_certified() -> None:
    """Of every kind, with losses, order and starvation; what is unknown has no certificate."""
    tally = Tally()
    for seed in range(10):
        design = random_design(Random(seed))
        starving = f"no-starvation: {next(iter(design.tasks))}"
        asked = dict.fromkeys(("no-loss", "ordered", "no-duplicates", "live", starving), "holds")
        certified(check_design(replace(design, expect=asked), Budget(max_states=1_000)), tally)
    assert not tally.wrong and tally.certified == tally.known > 40


def test_a_run_that_starves_a_task_is_refuted_once_it_is_changed() -> None:
    """It must come back, be fair, and leave the task alone."""
    report = check_file(REPOSITORY / "examples" / "designs" / "akka-a2-unfair.yaml")
    document = certificate(report, report.finding("no-starvation: source"))
    assert document is not None and check_certificate(document, report.design).confirmed
    steps, loop = document["evidence"]["steps"], document["evidence"]["loop"]
    for changed in ({"steps": steps[:-1], "loop": loop}, {"steps": steps, "loop": 0},
                    {"steps": steps[:1], "loop": 1}):
        assert check_certificate(
            {**document, "evidence": changed}, report.design).confirmed is False
    other = {**document, "property": "no-starvation: sink"}
    assert check_certificate(other, report.design).confirmed is False


def test_who_is_said_to_be_stuck_and_may_move_is_refuted() -> None:
    """The checker visits all that may come after the run."""
    report = check_file(REPOSITORY / "examples" / "designs" / "akka-a2-unfair.yaml")
    document = certificate(report, report.finding("no-local-deadlock"))
    assert document is not None and check_certificate(document, report.design).confirmed
    for change in ({"blocked": ["merge"]}, {"blocked": ["nobody"]}, {"at": 0}, {"loop": 10**6}):
        evidence = {**document["evidence"], **change}
        assert check_certificate(
            {**document, "evidence": evidence}, report.design).confirmed is False


@pytest.mark.parametrize("text", [RING, SCRIPTED, PREFERRING], ids=["ring", "lock", "preferring"])
def test_what_the_equations_prove_is_confirmed_by_another_solver(text: str) -> None:
    """Sums, places in a program, and traps."""
    report = check_design(text, settings=Settings("structure"))
    found = check_certificate(by_equations(report.design), report.design)
    assert report.finding("deadlock-free").outcome is Outcome.HOLDS
    assert found.confirmed and "each kept by every transition" in found.why


def by_equations(design: Design) -> dict[str, Any]:
    """The certificate of *deadlock-free* by the equations, also where there is a smaller one.
    """
    proof = of_structure(decide(design))
    assert proof is not None
    document: dict[str, Any] = json.loads(json.dumps({
        "certificate": 1, "design": design.name, "property": "deadlock-free", "verdict": "holds",
        "evidence": {"parts": [{"task": next(iter(design.tasks)), **proof}]}}))
    assert not problem_of(document)
    return document



def _other_total(document: dict[str, Any]) -> None:
    document["evidence"]["parts"][0]["sums"][0]["total"] += 1


def _no_sums(document: dict[str, Any]) -> None:
    document["evidence"]["parts"][0]["sums"] = []


def _other_weight(document: dict[str, Any]) -> None:
    weights = document["evidence"]["parts"][0]["sums"][0]["weights"]
    weights[max(weights)] += 1


def _no_parts(document: dict[str, Any]) -> None:
    document["evidence"]["parts"] = []


def _other_counter(document: dict[str, Any]) -> None:
    document["evidence"]["parts"][0]["sums"][0]["weights"]["nobody"] = 1


def _fewer_states(document: dict[str, Any]) -> None:
    document["evidence"]["parts"] = [{"task": "a", "states": 2}]


def _strong_clause(document: dict[str, Any]) -> None:
    document["evidence"]["parts"][0]["clauses"].append(
        [{"weights": {"elements in c->a": 1}, "at_most": 0}])


@pytest.mark.parametrize("spoil", [
    _other_total, _no_sums, _other_weight, _no_parts, _other_counter, _strong_clause,
    _fewer_states])
def test_a_certificate_that_was_changed_is_refuted(spoil: Callable[[Any], None]) -> None:
    """A sum that is none, one that is missing, a clause that a move ends."""
    design = load(RING)
    document = by_equations(design)
    assert check_certificate(document, design).confirmed
    spoil(document)
    assert check_certificate(document, design).confirmed is False


def test_no_sums_show_that_a_task_goes_on_which_never_can() -> None:
    """It takes more than fits, has no possible step at all, and is blocked with the elements that
    came.
    """
    design = load(UNREADABLE)
    document = {
        "certificate": 1, "design": design.name, "property": "no-local-deadlock",
        "verdict": "holds",
        "evidence": {"parts": [{"task": "source", "sums": [], "clauses": []}]}}
    assert not any("second" in transition.tasks for transition in system_of(design).transitions)
    assert check_certificate(document, design).confirmed is False


@pytest.mark.parametrize("copier", ["broadcast", "route"])
def test_what_is_read_again_is_certified(copier: str) -> None:
    """Copies that are merged are read twice; elements that go one way or another are not."""
    report = check_design(COPIES.replace("COPIER", copier))
    assert report.finding("no-duplicates").outcome.value == (
        "violated" if copier == "broadcast" else "holds")
    tally = Tally()
    certified(report, tally)
    assert not tally.wrong and tally.certified == tally.known


def test_a_proof_of_one_thing_shows_nothing_of_another() -> None:
    """Sums say nothing of order, and one run nothing of losses."""
    report = check_file(REPOSITORY / "examples" / "designs" / "akka-a6-zipping-live.yaml")
    document = certificate(report, report.finding("deadlock-free"))
    assert document is not None and check_certificate(document, report.design).confirmed
    for name in ("ordered", "no-loss", "bounded", "no-starvation: source", "live"):
        told = check_certificate({**document, "property": name}, report.design)
        assert told.confirmed is False and "shows nothing about" in told.why


def test_a_run_that_was_changed_is_refuted() -> None:
    """One step less, one twice, and the run of another design."""
    report = check_file(REPOSITORY / "examples" / "designs" / "akka-a1-deadlocked.yaml")
    document = certificate(report, report.finding("deadlock-free"))
    assert document is not None
    steps = document["evidence"]["steps"]
    for changed in (steps[:-1], [*steps, steps[0]], [{"nobody": 1}, *steps]):
        spoilt = {**document, "evidence": {"steps": changed}}
        assert check_certificate(spoilt, report.design).confirmed is False
    assert check_certificate({**document, "design": "x"}, report.design).confirmed is False


def _same(design: Design) -> None:
    """Both readings of a design have the same counters and the same moves."""
    net, system = Counters.of(translate(design, AIM)), system_of(design)
    names = [counter.name for counter in net.counters]
    assert {c.name: (c.start, c.most) for c in net.counters} == {
        name: (c.start, c.most) for name, c in system.counters.items()}
    assert {c.name: c.rest for c in net.counters if c.rest < (1 if c.most is None else c.most)} == {
        name: c.rest for name, c in system.counters.items()
        if c.rest is not None and c.rest < (1 if c.most is None else c.most)}
    assert net.may_end == system.ends
    ours = {
        (_told({names[n]: v for n, v in transition.least.items()}),
         _told({names[n]: v for n, v in transition.most.items()}),
         _told({names[n]: v for n, v in transition.change.items()}), transition.fails)
        for transition in net.transitions
        if _may_ever(net, transition)
    }
    theirs = {_transition(system, transition) for transition in system.transitions}
    assert ours == theirs


def _may_ever(net: Counters, transition: Ours) -> bool:
    """The checker leaves out what can never move."""
    return all(
        transition.least.get(n, 0) <= min(end
                                          for end in (net.counters[n].most, transition.most.get(n))
                                    if end is not None)
        for n in {*transition.least, *transition.most}
        if net.counters[n].most is not None or n in transition.most)


def _told(values: dict[str, int]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(values.items()))


def _transition(system: System, transition: Transition) -> tuple[object, ...]:
    need = {name: v for name, v in transition.need.items() if v > 0}
    room = {name: v for name, v in transition.room.items()
            if (most := system.counters[name].most) is None or v < most}
    return _told(need), _told(room), _told(transition.change), transition.fails


def test_both_readings_of_a_design_are_the_same() -> None:
    """The engines' reading of random designs equals the checker's, transition by transition."""
    covered = 0
    for seed in range(120):
        design = random_file(Random(seed)) if seed >= 100 else random_design(Random(seed))
        if seed % 5 == 0 and seed < 100:
            design = richer(design, Random(f"richer {seed}"))
        try:
            system_of(design)
        except NotCovered:
            continue
        _same(design)
        covered += 1
    assert covered > 50


ALIGNED = """
checkvalve: 2
name: aligned
tasks: {a: {kind: source}, b: {kind: source}, j: {kind: align, barrier: bar}, k: {kind: sink}}
links:
  - {from: a, to: j, capacity: 1, kinds: [bar]}
  - {from: b, to: j, capacity: 1, kinds: [rec, bar]}
  - {from: j, to: k, capacity: 1}
"""


def _plainly(system: System, most: int) -> set[tuple[int, ...]]:
    """The states that the moves lead to, found one after another; too many, if there are more."""
    found = {tuple(counter.start for counter in system.counters.values())}
    left = list(found)
    while left and len(found) <= most:
        state = dict(zip(system.counters, left.pop(), strict=True))
        for transition in system.steps:
            if can_move(transition, state) and not transition.fails:
                after = tuple(state[name] + transition.change.get(name, 0) for name in state)
                left += [after] * (after not in found)
                found.add(after)
    return found


def test_the_checker_takes_no_two_states_for_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The states that it visits, packed into keys of one word or of several, are those of a plain
    walk.
    """
    one = check_design(ALIGNED).design
    covered = 0
    for number, design in enumerate((one, *(random_design(Random(seed)) for seed in range(120)))):
        monkeypatch.setattr("checkvalve.spec.certify.states.WORD", 2**8 if number % 2 else 2**64)
        try:
            system = system_of(design)
        except NotCovered:
            continue
        plain = _plainly(system, 500)
        if len(plain) <= 500 and all(c.most is not None for c in system.counters.values()):
            states = states_of(system, edges=True)
            found = zip(*(states.values(name).tolist() for name in system.counters), strict=True)
            assert set(found) == plain and len(states) == len(plain)
            covered += 1
    assert covered > 30


def test_the_checker_visits_more_states_than_anybody_lists() -> None:
    """More than two million, each by its key; and it refuses a claim of one less."""
    states = 100 * 100 * 201
    design = load(LONG)
    document = {
        "certificate": 1, "design": design.name, "property": "deadlock-free", "verdict": "holds",
        "evidence": {"parts": [{"task": "a", "states": states}]}}
    assert check_certificate(document, design).confirmed
    document["evidence"] = {"parts": [{"task": "a", "states": 5_000}]}
    assert check_certificate(document, design).confirmed is False


def test_the_checker_imports_no_engine() -> None:
    """Of the design language it knows the data types, and nothing that translates or decides; of
    verdicts, the budgets."""
    folder = REPOSITORY / "spec" / "certify"
    allowed = {"design.reading.language", "design.reading.symbols", "notation.errors",
               "verdicts.deadline", "verdicts.verdict",
               *(path.stem for path in folder.glob("*.py"))}
    for path in folder.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level:
                assert node.module in allowed, f"{path.name} imports {node.module}"


def test_the_docs_count_every_module_of_the_checker_once() -> None:
    """The table of the page, which is made of it, leaves none out."""
    told = [*READING, *(module for modules in ROLES.values() for module in modules)]
    assert sorted(told) == sorted(lengths())


def test_certify_says_whether_a_file_confirms_its_verdict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """On the command line: confirmed, and refuted once somebody edits it."""
    design = str(REPOSITORY / "examples" / "designs" / "ring-live.yaml")
    assert run(root, ["check", design, "--certificates", str(tmp_path)]) == 0
    path = next(tmp_path.glob("*.deadlock-free.json"))
    assert run(root, ["certify", str(path), design]) == 0
    document = json.loads(path.read_text(encoding="utf-8"))
    _no_parts(document)
    path.write_text(json.dumps(document), encoding="utf-8")
    assert run(root, ["certify", str(path), design]) == 1
    told = capsys.readouterr().out
    assert "\nconfirmed: " in told and "NOT CONFIRMED: " in told


def test_a_certificate_names_its_point_of_a_grid(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is found among all, or by the same --set; others have no such design."""
    design = str(REPOSITORY / "examples" / "grids" / "nested-calls.yaml")
    point = ["--set", "P=9", "--set", "d=2..3", "--set", "n=4"]
    assert run(root, ["check", design, *point, "--certificates", str(tmp_path)]) == 0
    path = str(tmp_path / "nested calls d=3.deadlock-free.json")
    assert run(root, ["certify", path, design, *point]) == 0
    assert run(root, ["certify", path, design, *point[:3], "d=3", *point[4:]]) == 0
    assert run(root, ["certify", path, design]) == 64
    told = capsys.readouterr()
    assert "confirmed: nested calls d=3: deadlock: none; " in told.out
    assert "--set P=9 --set n=4 --set d=3" in told.err


@pytest.mark.parametrize(("text", "told"), [
    ("", "not JSON"), ("[" * 100_000, "not JSON"), ("{}", "not a certificate"),
    ('{"certificate": 1, "design": "x", "property": "deadlock-free", "verdict": "holds", '
     '"evidence": {"parts": []}}', "no design called"),
    ('{"certificate": 1, "design": "ring live", "property": "deadlo', "not JSON"),
    ('{"certificate": 1.0}', "no whole number"), ('{"certificate": NaN}', "no whole number"),
    ('{"certificate": ' + "1" * 1001 + "}", "more than 1000 digits"),
    (" " * (MAX_BYTES + 1), "more than 67,108,864 bytes"),
    ("[" + "[]," * (MAX_MARKS // 2), "more than 4,194,304 commas and brackets"),
], ids=["empty", "deep", "no certificate", "other design", "cut off", "fraction", "nan", "digits",
        "large", "dense"])
def test_what_is_no_certificate_is_refused(
    text: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With one message, and no traceback."""
    path = tmp_path / "c.json"
    path.write_text(text, encoding="utf-8")
    design = str(REPOSITORY / "examples" / "designs" / "ring-live.yaml")
    assert run(root, ["certify", str(path), design]) == 64
    assert told in capsys.readouterr().err


def test_explain_tells_who_was_asked(capsys: pytest.CaptureFixture[str]) -> None:
    """Each engine with its time and its reason, in their order."""
    design = str(REPOSITORY / "examples" / "designs" / "akka-a1-deadlocked.yaml")
    run(root, ["check", design, "--explain", "--no-repair"])
    told = capsys.readouterr().out
    assert "Engines that were asked about deadlock:" in told
    assert told.index("    graph ") < told.index("    explorer ")


def test_of_a_form_that_is_wrong_the_end_is_told_which_says_what_is_wrong() -> None:
    """And not the whole of what is there, nor its beginning alone."""
    document = {"certificate": 1, "design": "d", "parameters": {"n": [0] * 500},
                "property": "deadlock-free", "verdict": "holds", "evidence": {}}
    problem = problem_of(document)
    assert len(problem) < 200 and "is not of type 'integer'" in problem
    assert problem.endswith("(at parameters/n)")
