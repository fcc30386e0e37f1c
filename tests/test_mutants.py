"""``make mutants``: what the operators change, which mutants are drawn, and what kills them."""

from __future__ import annotations

import ast
import contextlib
import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from benchmarks.mutants.__main__ import (
    LEAST, MOST, ONE_IN, PROGRAM, command,
)
from benchmarks.mutants.child import Patience, waited
from benchmarks.mutants.draw import drawn, share
from benchmarks.mutants.ledger import (
    EQUIVALENT, MISSED, SURVIVOR, UNSEEN, Argument, read_arguments,
)
from benchmarks.mutants.modules import (
    GROUPS, TARGETS, group_of, modules_of, files_asked,
)
from benchmarks.mutants.operators import OPERATORS, Mutant, mutants_of, names_in
from benchmarks.mutants.report import Tally, origin, tally, tally_alone
from benchmarks.mutants.stand import (
    CRASH, HANG, STILL_SECONDS, SURVIVED, TESTS, Fate, Progress, how_it_ended,
)
from benchmarks.mutants.survey import Survey, killers_of, shown_to
from benchmarks.mutants.tree import Project, here
from benchmarks.published import publish, table
from checkvalve.conformance.cli.outcome import run
from checkvalve.conformance.computer.patience import Countdown
from checkvalve.conformance.systems.catalogue import SYSTEMS
from checkvalve.conformance.systems.targets import known_targets
from checkvalve.spec.notation.errors import InputError, InternalError

ROOT = Path(__file__).resolve().parents[1]

linux_only = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="the stand measures its forks through /proc")


def body(*lines: str) -> str:
    """The text of a module with one function of these lines."""
    return "\n".join(["def f(self, a, b, lock):", *(f"    {line}" for line in lines), ""])


@pytest.mark.parametrize(("operator", "line", "becomes"), [
    ("boundary", "return a < b", {"return (a <= b)"}),
    ("boundary", "return 0 <= a < b", {"return (0 < a < b)", "return (0 <= a <= b)"}),
    ("comparison", "return a == b", {"return (a != b)"}),
    ("comparison", "return a not in b", {"return (a in b)"}),
    ("connective", "return a and b", {"return (a or b)", "return b", "return a"}),
    ("negation", "return not a", {"return a"}),
    ("negation", "return b if a else 7", {"return b if (not a) else 7"}),
    ("arithmetic", "return a + b", {"return (a - b)"}),
    ("arithmetic", "a //= b", {"a *= b"}),
    ("constant", "return a[7]", {"return a[(8)]", "return a[(6)]"}),
    ("constant", "return True", {"return (False)"}),
    ("extreme", "return min(a, b)", {"return max(a, b)"}),
    ("extreme", "return a[-1]", {"return (a[0])"}),
    ("extreme", "return a.popleft()", {"return a.pop()"}),
    ("arguments", "return f(a, b, lock)", {"return (f(b, a, lock))"}),
    ("dropped", "self.a = b", {"pass"}),
    ("dropped", "a.clear()", {"pass"}),
    ("exit", "raise ValueError(a)", {"pass"}),
    ("unguarded", "return await a", {"return a"}),
])
def test_an_operator_makes_the_changes_it_is_named_after(
    operator: str, line: str, becomes: set[str]
) -> None:
    """Each in the text of the line alone, which else stays as it is."""
    source = body(line)
    found = [each for each in mutants_of("m", source) if each.operator == operator]
    assert {each.applied(source) for each in found} == {body(text) for text in becomes}


def test_a_block_goes_on_without_its_lock() -> None:
    """The statements of the block stay, in their place."""
    source = body("for _ in a:", "    with lock:", "        b()", "        a()", "return b")
    mutant, = (each for each in mutants_of("m", source) if each.operator == "unguarded")
    assert mutant.applied(source) == source.replace("with lock:", "if True:")


def test_only_a_return_that_comes_early_is_left_out() -> None:
    """Without its last one a function gives nothing, which every test would see."""
    source = body("if a:", "    return b", "return a")
    mutant, = (each for each in mutants_of("m", source) if each.operator == "exit")
    assert mutant.applied(source) == body("if a:", "    pass", "return a")


@pytest.mark.parametrize("line", [
    '"""At most 3 of them, and not more."""',
    'raise ValueError(f"{a + 1} is not below {b - 1}")',
    "raise ValueError(min(a, b))",
    "print(a + b, 3)",
    "assert a < b",
    "a: Literal[1]",
])
def test_what_is_only_said_is_not_changed(line: str) -> None:
    """A docstring, a message, an annotation: of a `raise` only the whole can go."""
    assert {each.operator for each in mutants_of("m", body(line))} <= {"exit"}


def test_nothing_outside_of_functions_is_changed() -> None:
    """Constants, defaults, decorators and representations stay."""
    source = ("A = 1 + 2\nclass C:\n    B: int = 3\n"
              "    @mark(4)\n    def f(self, a=5) -> int: ...\n"
              "    def __repr__(self) -> str:\n        return str(1 + self.B)\n")
    assert mutants_of("m", source) == []


@cache
def every_mutant(module: str) -> list[Mutant]:
    """All mutants of a module of ours."""
    return mutants_of(module, here().source(module))


MODULES = [module for group in GROUPS.values() for module in modules_of(here(), group)]


@pytest.mark.parametrize("module", MODULES[::3])
def test_every_mutant_of_ours_is_a_program_with_an_id_of_its_own(module: str) -> None:
    """Of those that are drawn: the text parses and differs, and no id names two. ``make mutants``
    reads all modules, the tests every third."""
    source = here().source(module)
    every = every_mutant(module)
    assert len({mutant.id for mutant in every}) == len(every)
    for mutant in drawn(every, 6, seed=0):
        assert ast.dump(ast.parse(mutant.applied(source))) != ast.dump(ast.parse(source))


def test_the_same_seed_draws_the_same_mutants_and_an_edit_elsewhere_changes_few() -> None:
    """A comment changes none; a new line changes those of its function, and the last."""
    module = "reference.queue"
    source = here().source(module)
    first = [one.id for one in drawn(mutants_of(module, source), 12, seed=3)]
    moved = [one.id for one in drawn(mutants_of(module, "# a line\n" + source), 12, seed=3)]
    other = [one.id for one in drawn(mutants_of(module, source), 12, seed=4)]
    more = source + "\n\ndef again(a: int) -> int:\n    return a + 1\n"
    edited = [one.id for one in drawn(mutants_of(module, more), 12, seed=3)]
    assert first == moved != other and len(set(first) - set(edited)) <= 1


def test_the_first_mutants_drawn_are_of_different_functions() -> None:
    """No function has a second one before each has its first."""
    first = drawn(mutants_of("reference.queue", here().source("reference.queue")), 12, seed=0)
    assert len({mutant.function for mutant in first}) == 12


def test_by_default_there_are_at_least_three_hundred_mutants_and_some_of_each_kind() -> None:
    """The reference and every engine are among them, and each operator."""
    taken = [one for module in MODULES for every in [every_mutant(module)]
             for one in drawn(every, share(len(every), ONE_IN, LEAST, MOST), seed=0)]
    assert len(taken) >= 300
    assert {group_of(one.module) for one in taken} == set(GROUPS)
    assert {one.operator for one in taken} == set(OPERATORS)


def test_every_group_has_tests_and_every_reference_is_a_target() -> None:
    """A reference that is added is asked for too."""
    assert all(files_asked(here(), group) for group in GROUPS.values())
    shipped = {name for name in known_targets() if name.partition(".")[0] == "reference"}
    assert shipped == set(TARGETS)


# ---- a small project of its own ----------------------------------------------------------------

TILL = '''"""A till."""

import os


def total(prices: list[int], limit: int) -> int:
    """The sum of the prices up to a limit."""
    found = 0
    for price in prices:
        if found + price > limit:
            break
        found += price
    return min(found, limit)


def first(word: str) -> str:
    """The letters before the first x."""
    place = 0
    while place < len(word) and word[place] != "x":
        place += 1
    return word[:place]


def leave(now: bool) -> None:
    """End the process, if it has to be now."""
    if now:
        os._exit(3)
'''
TESTS_OF_IT = '''from shop.wares.till import first, leave, total


def test_totals():
    assert total([1, 2, 3], 4) == 3 and total([1, 2], 3) == 3


def test_words():
    assert first("abxx") == "ab" and first("ab") == "ab"


def test_nobody_leaves():
    leave(False)
'''
PROGRAM_OF_IT = """
import json, pathlib, sys
from benchmarks.mutants.campaign import Campaign
from benchmarks.mutants.modules import Group
from benchmarks.mutants.operators import mutants_of
from benchmarks.mutants.tree import Project
project = Project(pathlib.Path.cwd(), "shop", ("wares",))
campaign = Campaign(project, pathlib.Path("kept"), jobs=2, patience=1.0, targets={},
                    groups={"toy": Group(("wares",), ("test_till",))})
mutants = [one for one in mutants_of("wares.till", project.source("wares.till"))
           if one.change in json.loads(sys.argv[1])]
said = []
fates = campaign.fates(mutants, said.append)
print(json.dumps([{one.change: fate.how for one, fate in fates.items()}, len(said)]))
"""


def run_toy(folder: Path, changes: list[str]) -> tuple[dict[str, str], int]:
    """The fates of some mutants of the till by their change, and how many were tried."""
    done = subprocess.run([sys.executable, "-c", PROGRAM_OF_IT, json.dumps(changes)], cwd=folder,
                          capture_output=True, text=True, check=False,
                          env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert done.returncode == 0, done.stderr
    fates, said = json.loads(done.stdout)
    return fates, said


@linux_only
def test_what_is_wrong_is_killed_what_nobody_asks_for_survives_and_a_second_run_remembers(
    tmp_path: Path
) -> None:
    """By a test, by hanging, by ending the process; and no mutant is tried twice."""
    (tmp_path / "wares").mkdir()
    (tmp_path / "tests").mkdir()
    (tmp_path / "pyproject.toml").write_text("[tool.pytest.ini_options]\n")
    (tmp_path / "wares/__init__.py").write_text("")
    (tmp_path / "wares/till.py").write_text(TILL)
    (tmp_path / "tests/test_till.py").write_text(TESTS_OF_IT)
    expected = {
        "found + price > limit -> found + price >= limit": "tests",
        "3 -> 4": "survived",                                   # nobody asks for it
        "place += 1 -> place -= 1": "tests",                    # an index out of range
        "1 -> 0": "hang",
        "now -> not now": "crash",
    }
    fates, said = run_toy(tmp_path, list(expected))
    assert fates == expected and said == len(expected) + 1
    assert run_toy(tmp_path, list(expected)) == (expected, 0)
    assert (tmp_path / "wares/till.py").read_text() == TILL


# ---- the report --------------------------------------------------------------------------------


def mutant(function: str) -> Mutant:
    """Some mutant of a function of the queue."""
    return Mutant("reference.queue", function, "exit", "return", "return -> pass", 1, 0, 0, "")


@pytest.mark.parametrize(("slowness", "said"), [(1.0, "it had not ended"), (1e9, "")])
def test_a_survey_waits_longer_on_a_busy_machine(slowness: float, said: str) -> None:
    """The default run of kafka.failover, watched, was ended by the clock after ten minutes."""
    begun, ends = os.pipe()
    child = os.fork()
    if not child:
        os.close(ends)
        os.read(begun, 1)       # until the other end is closed
        os._exit(0)
    looks = [0.0]

    def clock() -> float:
        looks[0] += 1_000.0
        if looks[0] > 5_000 and slowness > 1:
            with contextlib.suppress(OSError):
                os.close(ends)
        return looks[0]

    why = waited(child, Countdown(600, clock=clock, slow=lambda: slowness))
    assert why.startswith(said) and bool(why) == bool(said)
    os.close(begun)
    with contextlib.suppress(OSError):
        os.close(ends)


def test_a_survey_says_why_a_killer_is_of_no_use() -> None:
    """One that used up its processor time is told from one that does not pass."""
    child = os.fork()
    if not child:
        signal.signal(signal.SIGXCPU, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGXCPU)
        os._exit(0)
    assert waited(child, Countdown(600)) == "it used up its processor time"


def test_equivalent_mutants_do_not_count_and_an_unargued_survivor_fails_the_run() -> None:
    """Of three that are left two are killed; what nobody argues is named."""
    fates = {mutant("a"): Fate(TESTS), mutant("b"): Fate(TESTS), mutant("c"): Fate(SURVIVED),
             mutant("d"): Fate(SURVIVED)}
    arguments = {mutant("d").id: Argument("It is the same.", EQUIVALENT)}
    whole = Tally(fates, arguments)
    assert whole.share == pytest.approx(2 / 3) and not whole.good
    assert whole.unargued == [mutant("c")] and whole.stale == []
    assert list(tally(whole))[-1] == ("all", "4", "0", "2", "0", "0", "1", "1", "66.7 %",
                                       "", "", "", "")


def test_default_runs_are_asked_for_what_they_run_and_what_a_port_can_show() -> None:
    """Of four in lines that they run one is equivalent, one unseen, one found: half of the others.
    What they miss has to be argued; a mutant in a line that they do not run is none of theirs."""
    fates = {mutant("same"): Fate(SURVIVED, runs=True), mutant("words"): Fate(TESTS, runs=True),
             mutant("missed"): Fate(TESTS, "tests/t.py::t", runs=True), mutant("off"): Fate(TESTS),
             mutant("found"): Fate(HANG, "suite:reference@queue", runs=True)}
    arguments = {mutant("same").id: Argument("It is.", EQUIVALENT),
                 mutant("words").id: Argument("A message.", UNSEEN)}
    whole = Tally(fates, arguments, alone=True)
    assert whole.share_by_default == pytest.approx(1 / 2) and not whole.good
    assert whole.unargued == [mutant("missed")] and whole.stale == []
    assert list(tally_alone(whole))[-1] == ("all", "5", "3", "1", "1", "50.0 %")
    assert list(tally(whole))[-1][-4:] == ("3", "1", "1", "50.0 %")
    argued = Tally(fates, {**arguments, mutant("missed").id: Argument("So rare.", MISSED),
                           mutant("found").id: Argument("Gone.", MISSED)})
    assert argued.unargued == [] and argued.stale == [mutant("found").id]


def test_a_mutant_is_run_where_one_of_its_lines_is() -> None:
    """Its lines are those of the change, however long that is."""
    source = "def f(a):\n    return (a\n            and a > 3)\n"
    found, = (one for one in mutants_of("m", source) if one.operator == "boundary")
    whole = next(one for one in mutants_of("m", source) if one.operator == "connective")
    assert (found.lines(source), whole.lines(source)) == (range(3, 4), range(2, 4))
    known = Survey(ran={"suite:a@b": {"m": [2], "other": [3]}})
    assert known.runs(whole, source) and not known.runs(found, source)


def test_what_a_default_run_let_pass_is_tried_again_when_the_suite_has_other_cases(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is said which programs it was shown."""
    known = Survey(seconds={"suite:reference.marks@marks": 1.0},
                   reached={"suite:reference.marks@marks": ["reference.queue:a"]})
    before = shown_to(mutant("a"), known, {"a"})
    assert before == ["suite:reference.marks@marks " + before[0].partition(" ")[2]]
    assert shown_to(mutant("b"), known, {"a", "b"}) == []
    monkeypatch.setitem(SYSTEMS, "marks", replace(SYSTEMS["marks"], cases=7))
    assert shown_to(mutant("a"), known, {"a"}) != before


def test_an_argument_about_a_mutant_that_is_killed_or_gone_is_stale() -> None:
    """One about a mutant that was not asked for in this run is not."""
    fates = {mutant("a"): Fate(TESTS)}
    arguments = {mutant("a").id: Argument("Why.", EQUIVALENT), "gone": Argument("Why.", SURVIVOR)}
    assert Tally(fates, arguments).stale == [mutant("a").id, "gone"]
    assert Tally(fates, arguments, asked_for_all=False).stale == [mutant("a").id]


def test_the_table_is_put_between_its_marks(tmp_path: Path) -> None:
    """The page around it stays, and doing it twice changes nothing."""
    page = tmp_path / "page.md"
    page.write_text(
        "Before.\n<!-- figures of make mutants -->\nold\n<!-- end of figures -->\nEnd.\n")
    lines = list(table([("", "n"), ("all", "1")]))
    for _ in range(2):
        publish(page, "make mutants", lines)
    assert page.read_text().splitlines() == [
        "Before.", "<!-- figures of make mutants -->", "|     | n |", "|:----|--:|",
        "| all | 1 |", "<!-- end of figures -->", "End."]

def test_a_killer_that_was_surveyed_before_a_function_was_renamed_may_reach_any() -> None:
    """Else a new name would hide from the tests that are there for it. It comes after those that
    surely reach the function, which may be slower."""
    known = Survey(
        seconds={"tests/t.py::old": 1.0, "tests/t.py::near": 2.0, "tests/t.py::other": 0.1},
        reached={"tests/t.py::old": ["reference.queue:<module>", "reference.queue:gone"],
                 "tests/t.py::other": ["reference.queue:b", "reference.x:gone"],
                 "tests/t.py::near": ["reference.queue:a", "reference.queue:b"]})

    def asked(function: str) -> list[str]:
        return killers_of(mutant(function), known, names_in(source), ["tests/t.py"],
                          suites=False, seconds=9)

    source = "def a(): ...\nif True:\n    class C:\n        def b(self): ...\ndef b(): ...\n"
    assert names_in(source) == {"a", "b", "C", "C.b"}
    assert asked("a") == ["tests/t.py::near", "tests/t.py::old"]
    assert asked("b") == ["tests/t.py::other", "tests/t.py::near", "tests/t.py::old"]


def test_a_comment_or_a_docstring_changes_no_digest(tmp_path: Path) -> None:
    """Code does; so what is known of a mutant outlives what is only said about it."""
    def digest(text: str) -> str:
        (tmp_path / "m.py").write_text(text)
        return Project(tmp_path).digest(tmp_path / "m.py")

    first = digest('"""One."""\n\ndef f(a):\n    """Two."""\n    return a + 1\n')
    assert first == digest('# A word.\ndef f(a):\n    """Three."""\n\n    return a + 1  # one\n')
    assert first != digest('def f(a):\n    return a + 2\n')


def test_what_has_changed_since_a_commit_is_what_has_other_code(tmp_path: Path) -> None:
    """A file with a new comment has not; one that was not there has; an unknown commit is reported.
    """
    folder = tmp_path / "wares"
    folder.mkdir()
    for name in ("same", "told", "changed"):
        (folder / f"{name}.py").write_text("X = 1\n")
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b"]
    for command_ in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"]):
        subprocess.run([*git, *command_], check=True)
    (folder / "told.py").write_text("# One.\nX = 1\n")
    (folder / "changed.py").write_text("X = 2\n")
    (folder / "new.py").write_text("X = 1\n")
    subprocess.run([*git, "add", "."], check=True)
    project = Project(tmp_path, "shop", ("wares",))
    assert {file.stem for file in project.changed_since("HEAD")} == {"changed", "new"}
    with pytest.raises(InputError, match="no commit"):
        project.changed_since("nothing")


def test_a_group_may_take_fewer_mutants_of_a_module(
    capsys: pytest.CaptureFixture[str]
) -> None:
    """An unknown commit is refused before anything is run."""
    assert GROUPS["certifier"].most == 1
    chosen = ["--list", "--only", "shrinker", "--only", "certifier"]
    assert run(command, chosen, PROGRAM) == 0
    all_of_it = capsys.readouterr().out.splitlines()
    modules = [line.partition(":")[0] for line in all_of_it if "spec.certify" in line]
    assert len(set(modules)) == len(modules) > 10 and len(all_of_it) >= len(modules) + LEAST
    assert run(command, [*chosen, "--since", "nothing"], PROGRAM) == 64


def test_the_figures_say_which_commits_which_command_and_which_machine_they_are_from() -> None:
    """Of several commits how many mutants each; on one line where there is one."""
    one, other = Fate(TESTS, commit="a1"), Fate(TESTS, commit="b2")
    told = origin([one, one, other], 61.4, "make mutants").replace("\n", " ")
    assert "at the commits a1 (2), b2 (1); by `make mutants`" in told
    assert "61 minutes of processor time" in told and f"{os.cpu_count()} processors" in told
    assert "at the commit a1;" in origin([one], 1.0, "make mutants").replace("\n", " ")


@pytest.mark.parametrize("text", ["[other]\n", "[survivor]\na = 1\n", "[survivor]\na = ''\n", "["])
def test_arguments_that_cannot_be_read_are_the_users_to_mend(text: str, tmp_path: Path) -> None:
    """The file is named."""
    path = tmp_path / "arguments.toml"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_arguments(path)
    assert caught.value.where == str(path)


def test_the_arguments_that_are_there_are_about_mutants_that_are_there() -> None:
    """A line that was edited takes its argument with it."""
    argued = set(read_arguments())
    there = {mutant.id for module in {one.partition(":")[0] for one in argued}
             for mutant in every_mutant(module)}
    assert sorted(argued - there) == []


def test_a_name_of_nothing_is_refused_with_the_names_there_are(
    capsys: pytest.CaptureFixture[str]
) -> None:
    """Also one among others."""
    assert run(command, ["--list", "--only", "judge", "--only", "jugde"], PROGRAM) == 64
    assert "jugde" in (said := capsys.readouterr().err) and "shrinker" in said


def test_a_process_that_ends_before_anything_was_tried_kills_nothing() -> None:
    """It was the machine that ended it, and no killer: the run ends, and continues another time."""
    assert how_it_ended("suite:reference@queue", 9).how == CRASH
    with pytest.raises(InternalError, match="before anything was tried"):
        how_it_ended("", 9)


@pytest.mark.parametrize("slow", [1, 8])
def test_a_killer_that_trickles_processor_time_for_ever_hangs(slow: int) -> None:
    """After ten times what it may compute, and a minute, of a machine that is not busy; the next
    killer has its time anew."""
    now = [0.0]
    progress = Progress(Patience({"long": 30.0}), lambda: now[0], lambda: float(slow))

    def lasts(killer: str) -> float:
        began = now[0]
        progress.begins(killer)
        while not progress.hangs(int(now[0] * 10)):     # a tick at each look
            now[0] += 1
        return now[0] - began

    assert [lasts("short"), lasts("long")] == [100 * slow, 700 * slow]
    progress.begins("still")
    began, ticks = now[0], int(now[0] * 10)
    while not (why := progress.hangs(ticks)):
        now[0] += 1
    assert "stood still" in why and now[0] - began == STILL_SECONDS + 1
