"""Reading a checkvalve.toml: what is listed comes back, and what is wrong is named by line."""

from __future__ import annotations

from pathlib import Path

import pytest

from checkvalve.conformance.gate.config import Limits, Suite, load
from checkvalve.conformance.gate.tables import LARGEST_FILE
from checkvalve.spec.notation.errors import InputError

GOOD = """\
verify = ["flow"]

[[designs]]
files = ["designs/*.yaml"]
max_seconds = 5

[[suites]]
suite = "queue"
targets = ["reference", "deque", "js"]
cases = 40
seed = 7
optional = ["js"]

[suites.known]
deque = ["QUEUE-4"]

[suites.not_shown]
js = ["QUEUE-12"]
"""


def write(folder: Path, text: str | bytes) -> Path:
    """A configuration with two designs beside it; returns its folder."""
    (folder / "designs").mkdir()
    for name in ("b.yaml", "a.yaml"):
        (folder / "designs" / name).write_text("")
    content = text if isinstance(text, bytes) else text.encode()
    (folder / "checkvalve.toml").write_bytes(content)
    return folder


def complaint(folder: Path, text: str | bytes) -> InputError:
    """The complaint that loading ``text`` raises."""
    with pytest.raises(InputError) as caught:
        load(write(folder, text))
    return caught.value


def test_the_limits_of_a_suite_are_those_of_all_but_for_what_it_says(tmp_path: Path) -> None:
    """Seconds, bytes and states, as for designs."""
    suites = load(write(tmp_path, (
        '[limits]\nmax_memory = "2G"\nmax_seconds = 9\n'
        '[[suites]]\nsuite = "queue"\ntargets = ["reference"]\nmax_states = 7\n'))).suites
    assert suites[0].limits == Limits(9, 2 << 30, 7)


def test_limits_are_those_of_all_but_for_what_designs_say(tmp_path: Path) -> None:
    """Seconds, bytes and states; a chapter's search has those of the table."""
    config = load(write(tmp_path, (
        'verify = ["flow"]\n[limits]\nmax_memory = "2G"\nmax_states = 9\n'
        '[[designs]]\nfiles = ["designs/*"]\nmax_states = 7\n')))
    assert config.limits == Limits(None, 2 << 30, 9)
    assert config.designs[0].limits == Limits(20.0, 2 << 30, 7)


def test_everything_that_is_listed_comes_back(tmp_path: Path) -> None:
    """Designs in alphabetical order, a suite with all its settings, and the chapters."""
    config = load(write(tmp_path, GOOD))
    assert [file.name for file in config.designs[0].files] == ["a.yaml", "b.yaml"]
    assert config.designs[0].limits == Limits(max_seconds=5)
    assert config.verify == ("flow",)
    assert config.suites == (Suite(
        "queue", ("reference", "deque", "js"), 40, 7, 5.0, Limits(),
        {"deque": ("QUEUE-4",)}, frozenset({"js"}), {"js": ("QUEUE-12",)},
    ),)


def test_what_only_this_machine_lacks_is_no_mistake_in_the_file(tmp_path: Path) -> None:
    """A program or a module that is missing is found out when its target is run."""
    targets = ("command:./none", "python:none:make", "js")
    text = f"[[suites]]\nsuite = \"queue\"\ntargets = {list(targets)}\n"
    assert load(write(tmp_path, text)).suites[0].targets == targets


def test_a_file_is_as_good_as_its_folder(tmp_path: Path) -> None:
    """Naming the file itself loads the same."""
    folder = write(tmp_path, GOOD)
    assert load(folder / "checkvalve.toml") == load(folder)


WRONG = [
    ("verify = [\"flow\"]\nverfy = 1\n", 2, "no key `verfy`", "'verify'"),
    ("verify = \"flow\"\n", 1, "a list of texts", "verify = ["),
    ("verify = []\n", 1, "not empty", "verify = ["),
    ("\n[designs]\nfiles = [\"designs/*\"]\n", 2, "array of tables", "[[designs]]"),
    ("[[designs]]\nfiles = [\"nothing/*\"]\n", 2, "no file matches", "Paths begin in the folder"),
    ("[limits]\nmax_memory = 5\n", 2, "must be a size", 'max_memory = "2G"'),
    ("[limits]\nmax_stats = 5\n", 2, "no key `max_stats`", "max_states"),
    ("limits = 3\n", 1, "must be a table", "[limits]"),
    ("[[designs]]\nmax_seconds = 3\n", 1, "`files` is missing", "Add files"),
    ("[[designs]]\nfiles = [\"designs/*\"]\nmax_seconds = -1\n", 3, "at least", "max_seconds = 20"),
    ("[[suites]]\nsuite = \"queue\"\ntargets = [\"a\"]\n[[suites]]\nsuite = \"queue\"\n"
     "targets = [\"a\"]\ncases = 1.5\n", 7, "whole number", "cases = 40"),
    ("[[suites]]\nsuite = \"queue\"\ntargets = [\"a\"]\nquick = 1\n", 4, "true or false",
     "quick = true"),
    ("[[suites]]\nsuite = \"queue\"\ntargets = [\"a\"]\nquick = true\ncases = 3\n", 4,
     "both say how many", "Leave one"),
    ("[[suites]]\nsuite = \"queue\"\ntargets = [\"deque\"]\n[suites.known]\ndequeue = [\"Q-1\"]\n",
     4, "not among the targets", "'deque'"),
    ("[[suites]]\nsuite = \"queue\"\ntargets = [\"deque\"]\n[suites.known]\ndeque = \"Q-1\"\n",
     5, "a list of texts", "deque = ["),
    ("[[suites]]\nsuite = \"queue\"\ntargets = [\"a\"]\noptional = [\"b\"]\n", 4, "not among", "a"),
    ("[[suites]]\nsuite = 3\ntargets = [\"a\"]\n", 2, "must be a text", "suite = "),
    ("verify = [\n\"flow\"\n", 2, "not TOML", "Fix"),
    ("verify = [\"flow\"]\nx y\n", 2, "not TOML", "Fix"),
    ("# nothing\n", None, "nothing is listed", "List designs"),
    ("verify = [\n\"flow\",\n\"nope\",\n]\n", 3, "no chapter 'nope'", "checkvalve rules"),
    ("[[suites]]\nsuite = \"nope\"\ntargets = [\"deque\"]\n", 2, "no suite nope", "`checkvalve"),
    ("[[suites]]\nsuite = \"queue\"\ntargets = [\"deque\"]\n[[suites]]\nsuite = \"queue\"\n"
     "targets = [\"js\",\n\"nope\"]\n", 7, "no target nope", "checkvalve targets queue"),
    ("[[suites]]\nsuite = \"queue\"\ntargets = [\"reference.timer\"]\n", 3,
     "for the suite timer, and not for queue", "Did you mean reference, or"),
    ("[[suites]]\nsuite = \"queue\"\ntargets = [\"zoo:nope\"]\n", 3, "no twin zoo:nope",
     "--twins"),
    ("[[suites]]\nsuite = \"queue\"\ntargets = [\"deque\"]\n[suites.known]\n"
     "deque = [\"QUEUE-1\",\n\"QUEUE-99\"]\n", 6, "no rule 'QUEUE-99'", "QUEUE-1"),
    ("[[suites]]\nsuite = \"queue\"\ntargets = [\"deque\"]\nknown = {deque = [\"QUEUE-99\"]}\n",
     4, "no rule 'QUEUE-99'", "QUEUE-1"),
]


@pytest.mark.parametrize(("text", "line", "what", "step"), WRONG)
def test_each_mistake_is_named_with_its_line_and_the_next_step(
    tmp_path: Path, text: str, line: int | None, what: str, step: str
) -> None:
    """The message has the file, the line, the fact and what to write instead."""
    error = complaint(tmp_path, text)
    place = tmp_path / "checkvalve.toml"
    assert error.where == (f"{place}:{line}" if line else str(place))
    assert what in error.what and step in error.next_step


@pytest.mark.parametrize("text", [
    b"verify = [\"\xff\"]", b"x" * (LARGEST_FILE + 1), b"a=" + b"[" * 50_000,
], ids=["not UTF-8", "too large", "too deep"])
def test_a_hostile_file_is_refused(tmp_path: Path, text: bytes) -> None:
    """Bytes that are no text, far too many of them, or nested without end: bad input."""
    assert complaint(tmp_path, text).where


def test_a_folder_without_a_configuration_is_bad_input(tmp_path: Path) -> None:
    """The message names the file that is looked for."""
    with pytest.raises(InputError, match=r"checkvalve\.toml"):
        load(tmp_path)


DOTS = ".".join(["a"] * 50_000)
SUITE = '[[suites]]\nsuite = "queue"\ntargets = ["deque"]\n'


@pytest.mark.parametrize(("text", "line", "words"), [
    (f"{DOTS} = 1\n", 1, "30 dots"),
    (f"{SUITE}known.{DOTS} = 1\n", 4, "30 dots"),
    (f"[{DOTS}]\n", 1, "30 dots"),
    (f"{SUITE}cases = {'9' * 5000}\n", 4, "more digits"),
    (f"{SUITE}cases = 0x{'9' * 5000}\n", 4, "20,000 bits"),
    ('[[designs]]\nfiles = ["/**/**/*.yaml"]\n', 2, "cannot be looked for"),
    ('[[designs]]\nfiles = ["a**b"]\n', 2, "cannot be looked for"),
], ids=["dots", "dots in a table", "dots in a header", "digits", "hexadecimal digits",
        "everything twice", "no folders"])
def test_what_would_take_for_ever_is_refused_with_its_line(
    text: str, line: int, words: str, tmp_path: Path
) -> None:
    """Before it is read: the time would be the square of its length, or a whole disk."""
    error = complaint(tmp_path, text)
    assert error.where.endswith(f"checkvalve.toml:{line}") and words in error.what
    assert len(error.what) < 200


def test_dots_in_texts_and_comments_are_no_keys(tmp_path: Path) -> None:
    """A path may have any number of them."""
    dotted = "designs/../" * 20
    files = f'["{dotted}designs/a.yaml", \'{dotted}designs/b.yaml\']'
    text = f'[[designs]] # {"." * 99}\nfiles = {files}\n'
    assert len(load(write(tmp_path, text)).designs[0].files) == 2


def test_two_stars_cross_folders_but_no_hidden_ones(tmp_path: Path) -> None:
    """From none of them to many."""
    for folder in (".", "a", "a/b/c", ".hidden"):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / folder / "d.yaml").write_text("")
    files = load(write(tmp_path, '[[designs]]\nfiles = ["**/d.yaml"]\n')).designs[0].files
    assert [file.relative_to(tmp_path).as_posix() for file in files] == [
        "a/b/c/d.yaml", "a/d.yaml", "d.yaml"]


def test_two_stars_do_not_look_through_a_whole_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message asks for a pattern that begins somewhere."""
    monkeypatch.setattr("checkvalve.conformance.gate.patterns.FOLDERS_MAX", 3)
    (tmp_path / "a" / "b" / "c" / "d").mkdir(parents=True)
    error = complaint(tmp_path, '[[designs]]\nfiles = ["**/*.yaml"]\n')
    assert "more than 3 folders" in error.what and error.where.endswith("toml:2")
