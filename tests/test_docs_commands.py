"""Every command in README.md and docs/ runs: in the order of its page, beside the examples.

A command in a block after ``<!-- not run: REASON -->`` is parsed and no more: its options and
its command are there. A run of a suite gets two cases, or eight if it is to save failures.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import click
import pytest

from checkvalve.conformance.cli import root as command_line
from checkvalve.conformance.cli.outcome import run

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "docs" / "site" / "index.myst",
         *sorted((ROOT / "docs").glob("*.md"))]

NOT_RUN = re.compile(r"<!-- not run: .{10,} -->")
STARTS = re.compile(r"(?:\$ )?((?:cd \S+ && )?(?:checkvalve|make|python|pip|cd)\b.*)")
NAMED = re.compile(r"^```(?:toml|yaml|python)\n# ([\w-]+\.\w+)\n(.*?)^```", re.M | re.DOTALL)
"""A file that a page shows: its name is the comment in the first line."""

SHELLS = ("", "console", "sh")
GOOD = (0, 1, 2)
"""All as expected, something violated, something unknown: what a page shows may be any of these."""


@dataclass(frozen=True)
class Command:
    """A line of a page, split into words; ``runs`` is false where the page says so."""

    words: tuple[str, ...]
    folder: str
    runs: bool


def commands(page: Path) -> Iterator[Command]:
    """The commands in a page's blocks, in their order."""
    language, runs = None, True
    text = re.sub(r" \\\n *", " ", page.read_text(encoding="utf-8"))     # lines that go on
    for line in text.splitlines():
        fence = re.match(r" *```(\S*)", line)
        if fence and language is None:
            language = fence[1]
        elif fence:
            language, runs = None, True
        elif language is None and NOT_RUN.match(line):
            runs = False
        elif ((language in SHELLS or line.startswith("    checkvalve "))
              and (found := STARTS.match(line.strip()))):
            yield _command(found[1], runs)


def _command(line: str, runs: bool) -> Command:
    folder, _, rest = line.rpartition(" && ")
    words = shlex.split(rest.replace("&&", " "), comments=True)
    return Command(tuple(words), folder.removeprefix("cd "), runs)


def pages_with(first: str) -> list[Path]:
    """The pages that have a command of this name."""
    return [page for page in PAGES if any(each.words[0] == first for each in commands(page))]


def names(page: Path) -> str:
    """The name of a test of a page."""
    return page.name


@pytest.mark.parametrize("page", pages_with("checkvalve"), ids=names)
def test_each_command_has_the_options_that_its_page_gives_it(page: Path) -> None:
    """Also those that are not run: they are parsed as the command line parses them."""
    for each in commands(page):
        if each.words[0] == "checkvalve":
            parse(list(each.words[1:]))


def parse(words: list[str]) -> None:
    """Parse what follows ``checkvalve``; a usage error fails."""
    if words == ["--help"] or words[1:] == ["--help"]:
        return
    top = click.Context(command_line, info_name="checkvalve")
    command = command_line.get_command(top, words[0])
    assert command is not None, f"there is no command {words[0]}"
    command.make_context(words[0], words[1:], parent=top)


@pytest.mark.parametrize("page", PAGES, ids=names)
def test_a_command_in_a_sentence_is_one_of_the_command_line(page: Path) -> None:
    """With its options; files and targets may be left out there. So are targets of ``make``."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.DOTALL)
    rules = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
    for program, said in re.findall(r"(?<!`)`(checkvalve|make) ([^`]+)`(?!`)", text):
        words = shlex.split(" ".join(said.split()))
        if program == "make":
            assert words[0] in rules, said
            continue
        with suppress(click.MissingParameter):
            parse(words)


@pytest.mark.parametrize("page", pages_with("checkvalve"), ids=names)
def test_each_command_runs(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str],
) -> None:
    """In a folder that has the examples and the fixtures; none is refused, and none fails."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    for name in ("awaits", "finds", "matrix"):
        shutil.copytree(ROOT / "docs" / name, tmp_path / "docs" / name)
    here = tmp_path
    named = dict(NAMED.findall(page.read_text(encoding="utf-8")))
    for each in commands(page):
        if each.words[0] == "cd":
            here = here / each.words[1]
        for name, text in named.items():
            (here / name).write_text(text, encoding="utf-8")
        if each.words[0] != "checkvalve" or not each.runs:
            continue
        monkeypatch.chdir(here / each.folder)
        code = run(command_line, shortened([*expanded(each.words[1:])]))
        assert code in GOOD, f"{shlex.join(each.words)}\n{capfd.readouterr().err}"


def expanded(words: tuple[str, ...]) -> Iterator[str]:
    """The words, with patterns replaced by the files here, as a shell does."""
    for word in words:
        found = sorted(map(str, Path().glob(word))) if "*" in word else []
        yield from found or [word]


def shortened(words: list[str]) -> list[str]:
    """The same with fewer cases."""
    if words[0] != "conform" or "--cases" in words:
        return words
    cases = "8" if "--fixtures" in words else "2"
    return [*(word for word in words if word != "--quick"), "--cases", cases]


@pytest.mark.parametrize("page", pages_with("make"), ids=names)
def test_each_target_of_make_is_there(page: Path) -> None:
    """They are not run: most take minutes."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = {each.words[1] for each in commands(page)
               if each.words[0] == "make" and len(each.words) > 1}
    assert [name for name in targets if not re.search(rf"^{name}:", makefile, re.M)] == []


@pytest.mark.parametrize("page", pages_with("python"), ids=names)
def test_each_program_runs(page: Path, tmp_path: Path) -> None:
    """Those of the examples; pip installs nothing here."""
    for each in commands(page):
        if each.words[0] == "python" and each.words[1].startswith("examples/"):
            done = subprocess.run([sys.executable, ROOT / each.words[1], *each.words[2:]],
                                  cwd=tmp_path, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
