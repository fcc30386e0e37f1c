"""Repairs as patches of the file: they apply, keep what is written, and remove what is wrong."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner

from checkvalve.conformance.cli import root
from checkvalve.conformance.designs import check_design, check_file, load_designs
from checkvalve.conformance.designs.patches import Patcher
from checkvalve.conformance.designs.places import with_places
from checkvalve.conformance.designs.text import repair_lines
from checkvalve.spec.design.repairs.change import Scope
from checkvalve.spec.design.repairs.repair import with_repair
from checkvalve.spec.design.repairs.table import KINDS
from checkvalve.spec.design.why.findings import Repair, RepairStep, Way
from checkvalve.spec.verdicts.verdict import Budget, Outcome

REPOSITORY = Path(__file__).resolve().parent.parent
EXAMPLES = REPOSITORY / "examples"

WORKERS = """\
checkvalve: 2
name: workers
tasks:
  worker:
    kind: script
    copies: 3
    steps:
      # one connection for the transaction
      - acquire: pg      # held to the end

      # and one for the log
      - acquire: pg
      - release: pg
      - release: pg
pools:
  pg: {threads: 3}   # as the server allows
"""
LOCKS = """\
checkvalve: 2
name: transfer
tasks:
  one way:
    kind: script
    steps:
      # first the payer
      - acquire: alice     # payer
      # then the payee
      - acquire: bob
      - release: bob
      - release: alice
  other way:
    {kind: script, steps: [{acquire: bob}, {acquire: alice}, {release: alice}, {release: bob}]}
pools: {alice: {threads: 1}, bob: {threads: 1}}
"""
RING = """\
checkvalve: 2
name: ring
tasks: {a: {kind: map}, b: {kind: map}}
links:
  - from: a
    to: b
    capacity: 1
    initial: 1     # full
  - from: b
    to: a
    initial: 1
    capacity: 1"""
RETRY = """\
checkvalve: 2
name: broker
tasks:
  producer: {kind: source}
  consumer: {kind: merge, policy: fair}   # of the main topic, and of what is tried again
  worker: {kind: route}
  done: {kind: sink}
links:
  - {name: main, from: producer, to: consumer, capacity: 4}
  - {name: fetched, from: consumer, to: worker, capacity: 1}
  - {name: again, from: worker, to: consumer, capacity: 1}
  - {name: commits, from: worker, to: done, capacity: 1}
"""
OWN_THREAD = """\
checkvalve: 2
name: own thread
tasks:
  a:
    pool: t
    kind: script
    steps:
      - acquire: l
      - release: l   # done
  b: {kind: script, steps: [{acquire: l}, {acquire: t}, {release: t}, {release: l}]}
pools: {t: {threads: 1}, l: {threads: 1}}
"""
SHOP = """\
checkvalve: 2
name: shop
tasks: {orders: {kind: source}, check: {kind: merge}, pack: {kind: broadcast}, ship: {kind: sink}}
links:
  - {from: orders, to: check, capacity: 1}
  - {from: check, to: pack, capacity: 1}
  - {from: pack, to: ship, capacity: 1}
  - {from: pack, to: check, capacity: 1, name: second look}
"""
EMPTY = """\
checkvalve: 2
name: empty ring
tasks: {a: {kind: map}, b: {kind: map}}
links:
  - {from: a, to: b, capacity: 2}
  - {from: b, to: a, capacity: 2}
"""
TEXTS = {"workers": WORKERS, "locks": LOCKS, "ring": RING, "retry": RETRY, "own thread": OWN_THREAD,
         "shop": SHOP, "empty": EMPTY}


def repaired(path: Path) -> Repair:
    """The repair of the deadlock of a design in a file, with its patches."""
    report = with_places(with_repair(check_file(path)))
    found = report.finding("deadlock-free").repair
    assert found is not None and found.ways
    return found


def kinds(found: Repair) -> list[list[str]]:
    """The kinds of changes of each way."""
    return [[step.kind for step in way.steps] for way in found.ways]


def applied(tool: str, path: Path, patch: str) -> str:
    """The text of the file after a tool has applied a patch in its folder."""
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not installed")
    command = {"patch": ["patch", "-p0", "-i", "-"], "git": ["git", "apply", "-p0", "-"]}[tool]
    copy = path.parent / tool
    copy.mkdir(exist_ok=True)
    shutil.copy(path, copy)
    subprocess.run(command, cwd=copy, input=patch.encode(), check=True, capture_output=True)
    return (copy / path.name).read_bytes().decode()


@pytest.mark.parametrize("name", TEXTS)
def test_each_patch_applies_and_the_deadlock_is_gone(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With patch and with git, in the folder where the command ran."""
    monkeypatch.chdir(tmp_path)
    path = Path("design.yaml")
    path.write_text(TEXTS[name])
    for way in repaired(path).ways:
        assert way.patch and not way.no_patch
        texts = {applied(tool, tmp_path / path, way.patch) for tool in ("patch", "git")}
        (text,) = texts
        assert check_design(text).finding("deadlock-free").outcome is Outcome.HOLDS
        lost = [line for line in way.patch.splitlines()[2:] if line.startswith("-")]
        comments = [line.partition("#")[2] for line in TEXTS[name].splitlines() if "#" in line]
        assert lost or "+" in way.patch
        assert all(f"#{comment}" in text for comment in comments)


def test_comments_move_with_the_steps_that_they_are_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those above a step, and the one behind it."""
    monkeypatch.chdir(tmp_path)
    Path("d.yaml").write_text(LOCKS)
    (way,) = repaired(Path("d.yaml")).ways
    assert """\
     steps:
+      # then the payee
+      - acquire: bob
       # first the payer
       - acquire: alice     # payer
-      # then the payee
-      - acquire: bob
       - release: bob
""" in way.patch


@pytest.mark.parametrize(("before", "end"), [("", "\r\n"), ("\ufeff", "\n"), ("# é → ☃\n", "\n")])
def test_line_ends_marks_and_letters_are_kept(
    before: str, end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Windows' line ends, a byte order mark, text that is not ASCII; no end of the last line."""
    monkeypatch.chdir(tmp_path)
    path = Path("d.yaml")
    path.write_bytes((before + RING.replace("\n", end)).encode())
    for way in repaired(path).ways:
        text = applied("git", tmp_path / path, way.patch)
        assert text.startswith(before) and text.count(end) - RING.count("\n") in (
            before.count(end), before.count(end) + 1)


def flat_examples() -> Iterator[Path]:
    """Examples without copies and sub-designs: each entry stands for one thing."""
    for path in sorted((EXAMPLES / "designs").glob("*.yaml")):
        if not {"copies:", "designs:"} & {*path.read_text().split()}:
            yield path


@pytest.mark.parametrize("part", range(4))
def test_every_change_of_an_example_can_be_patched(part: int) -> None:
    """Of each kind, in each place, by the least and by the most: the patched file stands for the
    very design that was checked."""
    tried = 0
    for path in list(flat_examples())[part::4]:
        (design,) = load_designs(path)
        patcher = Patcher(design, path.read_text())
        for kind in KINDS:
            for change in kind.find(Scope(design, (), ())):
                for value in {*change.values[:1], *change.values[-1:]}:
                    step = RepairStep(
                        kind.name, "", "", True, change.edits(value),
                        done=lambda design, change=change, value=value: change.done(  # type: ignore[misc]
                            design, value))
                    patch, why = patcher.of(Way((step,)))
                    assert patch and not why, (path.name, change.says(value), why)
                    tried += 1
    assert tried > 100


def test_a_file_of_another_format_has_no_patch(tmp_path: Path) -> None:
    """It says so, and where the change is to be made."""
    path = tmp_path / "ring.dot"
    path.write_text('digraph { a -> b [capacity=1, initial=1]; b -> a [capacity=1, initial=1] }')
    for way in repaired(path).ways:
        assert not way.patch and "is a DOT file" in way.no_patch
    told = "\n".join(repair_lines(repaired(path)))
    assert "No patch: " in told


def test_a_change_without_a_place_of_its_own_has_no_patch() -> None:
    """One line of a sub-design stands for all its copies, of which one is to change."""
    path = EXAMPLES / "designs" / "stations-with-rework-deadlocked.yaml"
    ways = repaired(path).ways
    assert any(way.no_patch.startswith("no one place of the file") for way in ways)
    assert any(way.patch for way in ways)


def test_numbers_of_an_expression_stay_expressions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Copies with different capacities get as much more, each."""
    monkeypatch.chdir(tmp_path)
    path = Path("d.yaml")
    path.write_text("""\
checkvalve: 2
name: rings
designs:
  ring:
    parameters: {room: 1}
    tasks: {a: {kind: map}, b: {kind: map}}
    links:
      - {name: there, from: a, to: b, capacity: room, initial: room}
      - {name: back, from: b, to: a, capacity: room, initial: room}
tasks: {r: {kind: design, design: ring, copies: 2, with: {room: copy}}}
""")
    (way, *_) = repaired(path).ways
    assert "capacity: room + 1," in way.patch


def test_the_patch_is_printed_under_its_repair_and_is_in_the_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The printed patch can be copied as it is; the document fits its schema."""
    monkeypatch.chdir(tmp_path)
    Path("ring.yaml").write_text(RING)
    printed = CliRunner().invoke(root, ["check", "ring.yaml"], standalone_mode=False).output
    told = CliRunner().invoke(root, ["check", "ring.yaml", "--json"], standalone_mode=False).output
    document = json.loads(told)
    jsonschema.validate(document, json.loads(
        (REPOSITORY / "docs" / "schemas" / "check.json").read_text()))
    ways = document["results"][0]["repair"]["ways"]
    assert len(ways) == 2 and all(way["patch"] in printed and not way["no_patch"] for way in ways)
    assert "--- ring.yaml\n+++ ring.yaml\n@@ " in ways[0]["patch"]


def test_the_page_shows_what_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The way out in docs/design-language.md is that of the example, word by word."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(EXAMPLES / "designs" / "echo-2048-deadlocked.yaml", "echo.yaml")
    page = (REPOSITORY / "docs" / "design-language.md").read_text()
    shown = page[page.index("  A fix, checked:"):].partition("\n```")[0]
    printed = CliRunner().invoke(root, ["check", "echo.yaml"], standalone_mode=False).output
    assert shown in printed


def test_a_file_elsewhere_is_named_in_the_patch_by_its_name(tmp_path: Path) -> None:
    """A patch never names a path that leads out of the folder, which `patch` refuses."""
    path = tmp_path / "my ring.yaml"
    path.write_text(RING)
    (way, *_) = repaired(path).ways
    assert way.patch.startswith("--- my ring.yaml\t\n+++ my ring.yaml\t\n")


# --- what is offered ------------------------------------------------------------------------------

def test_elements_are_lost_only_where_nothing_else_helps(tmp_path: Path) -> None:
    """And then it says so, and of which link; a broker's consumer has better ways."""
    path = tmp_path / "d.yaml"
    path.write_text(RETRY)
    assert not {"dropping", "routing", "more at the start"} & {
        kind for way in kinds(repaired(path)) for kind in way}
    path.write_text(SHOP)
    found = repaired(path)
    assert kinds(found) == [["dropping"]] and found.steps[0].tier == "loses"
    told = "\n".join(repair_lines(found))
    assert "No fix was found that loses nothing; one that LOSES something, checked:" in told
    assert "it LOSES elements of second look, though the design does not say that any may" in told


def test_a_link_that_leads_back_is_lossy_before_one_that_all_has_to_pass(tmp_path: Path) -> None:
    """The orders of the tutorial's shop: the second look, not the way to the packing."""
    path = tmp_path / "shop.yaml"
    path.write_text(SHOP)
    (way,) = repaired(path).ways
    assert [edit.of for edit in way.steps[0].edits] == ["link second look"]


def test_more_permits_of_a_pool_are_not_free(tmp_path: Path) -> None:
    """A connection is no thread; a thread costs a thread."""
    path = tmp_path / "d.yaml"
    path.write_text(WORKERS)
    step = repaired(path).steps[0]
    assert (step.kind, step.change) == ("threads", "give the pool pg 4 permits (it has 3)")
    assert step.gives_up.startswith("it costs 1 more permit of pg, and what each stands for")
    found = with_repair(check_file(EXAMPLES / "designs" / "nested-pool-deadlocked.yaml"))
    repair = found.finding("deadlock-free").repair
    assert repair and repair.steps[0].gives_up == "it costs 1 more thread of workers"
    found = with_repair(check_file(EXAMPLES / "designs" / "storm-blocking-spout-deadlocked.yaml"))
    repair = found.finding("deadlock-free").repair
    assert repair and repair.steps[0].gives_up.endswith(
        "and what took turns on its one runs at the same time")


def test_elements_at_the_start_are_the_programs_to_put_there(tmp_path: Path) -> None:
    """No task of the design writes them, and the heading does not call that a way out."""
    path = tmp_path / "d.yaml"
    path.write_text(EMPTY)
    found = repaired(path)
    assert kinds(found) == [["more at the start"]] and found.steps[0].tier == "primes"
    assert "the program must put 1 element into " in found.steps[0].gives_up
    assert repair_lines(found).__next__().startswith("  No task of the design can help; a fix for")


def test_ways_are_told_by_what_they_give_up() -> None:
    """No way has a change of a later tier than the next way's."""
    tiers = ["resources", "slower", "program", "arriving", "primes", "loses"]
    for path in sorted((EXAMPLES / "designs").glob("[e-r]*-deadlocked.yaml"))[::3]:
        report = with_repair(check_file(path, Budget(max_states=20_000)))
        found = report.finding("deadlock-free").repair
        worst = [max(tiers.index(step.tier) for step in way.steps) for way in
                 (found.ways if found else ())]
        assert worst == sorted(worst)
        assert len(worst) < 2 or max(worst) <= tiers.index("arriving")


def test_copies_that_take_one_pool_twice_may_be_kept_apart(tmp_path: Path) -> None:
    """Fewer at once is a way beside more permits."""
    path = tmp_path / "d.yaml"
    path.write_text(WORKERS)
    assert kinds(repaired(path)) == [["threads"], ["copies at once"]]


def test_a_limit_keeps_what_a_task_may_do() -> None:
    """A sink that may stop still may when it gives back permits."""
    (design,) = load_designs(EXAMPLES / "designs" / "consumer-stops-deadlocked.yaml")
    kind = next(kind for kind in KINDS if kind.name == "limit on what is under way")
    (change,) = kind.find(Scope(design, (), ()))
    after = change.done(design, 1)
    assert {name: task.may for name, task in after.tasks.items()} == {
        name: task.may for name, task in design.tasks.items()}


def test_what_is_written_before_it_is_read_must_not_depend_on_it() -> None:
    """Steps in another order cost more than nothing where one needs the other."""
    kind = next(kind for kind in KINDS if kind.name == "order of steps")
    report = check_design("""
checkvalve: 2
name: server
tasks:
  server: {kind: script, steps: [{read: asks}, {write: says}]}
  client: {kind: script, steps: [{read: says}, {write: asks}]}
links:
  - {name: asks, from: client, to: server, capacity: 1}
  - {name: says, from: server, to: client, capacity: 1}
""")
    costs = {kind.price(change, 0) for change in kind.find(Scope(report.design, (), ()))}
    assert "right only where what it writes to says does not depend on what it reads from asks" \
        in costs
