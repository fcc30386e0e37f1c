"""docs/finds.md: the programs print what they say, and the fixtures are whole."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

from checkvalve.conformance.suites.fixture import read_fixture
from checkvalve.conformance.systems.catalogue import suite_named

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "finds.md").read_text(encoding="utf-8")
FINDS = [part for part in PAGE.split("\n## ")[1:] if "**Rule**" in part]
PROGRAMS = sorted(path for path in (ROOT / "examples" / "finds").glob("*_*.py"))
HERE = dict(re.findall(r"^## (\w+) ([\d.]+),", PAGE, re.MULTILINE))
"""The libraries with the releases that the page is about."""


def unfit(program: Path) -> str:
    """Why a program cannot show here what it says; "" if it can."""
    library = program.stem.partition("_")[0]
    if library == "asyncio":
        return ""
    try:
        here = version(library)
    except PackageNotFoundError:
        return f"{library} is not installed: the extra `dev` has it"
    return "" if here == HERE[library] else f"the page is about {library} {HERE[library]}"


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
def test_a_program_prints_what_it_says_without_checkvalve(program: Path) -> None:
    """Its last line has it as a comment."""
    text = program.read_text(encoding="utf-8")
    assert "import checkvalve" not in text and "from checkvalve" not in text
    if why := unfit(program):
        pytest.skip(why)
    said = text.rstrip().rpartition("\n")[2].rpartition("    # ")[2]
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == said


def test_each_find_has_its_program_and_each_program_its_find() -> None:
    """The page and the folder agree."""
    named = [name for find in FINDS for name in re.findall(r"examples/finds/(\w+\.py)", find)]
    assert sorted(named) == [path.name for path in PROGRAMS]


@pytest.mark.parametrize("find", FINDS, ids=lambda find: find.partition(",")[0])
def test_the_fixture_of_a_find_is_of_a_rule_that_it_names(find: str) -> None:
    """It is read as ``checkvalve replay`` reads it."""
    links = re.findall(r"\]\(([\w./-]+\.json)\)", find)
    for link in links:
        path = ROOT / "docs" / link
        fixture = read_fixture(path.read_text(encoding="utf-8"), str(path))
        assert fixture.rule_id in find.partition("**Fixture**")[0]
        assert fixture.rule_id in {rule.id for rule in suite_named(fixture.suite).rules()}
    assert links or "FLOW-80" in find      # of that one the matrix has the fixture
