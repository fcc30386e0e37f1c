"""Designs built in Python: the document is the file's, and so are mistakes and verdicts."""

from __future__ import annotations

import inspect
import re
import runpy
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchmarks.pages.builder import FILE, source
from checkvalve.conformance.designs.laws import law_of
from checkvalve.spec.design.builder import (
    Design, acquire, branch, either, read, release, write,
)
from checkvalve.spec.design.loader import load_all
from checkvalve.spec.design.reading.schema import schema
from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.verdicts.verdict import Budget

ROOT = Path(__file__).parent.parent
DESIGNS = sorted((ROOT / "examples").glob("*/*.yaml"))
OWN = [path for path in DESIGNS if "checkvalve:" in path.read_text()]


def built(document: dict[str, Any]) -> Design:
    """A document, put down by the methods of the builder."""
    design = Design(document["name"], document.get("about", ""))
    for name, part in document.get("designs", {}).items():
        design.sub_design(name, built({"name": name, **part}), part.get("ports"))
    for name, value in document.get("parameters", {}).items():
        design.parameter(name, value)
    for name, keys in document["tasks"].items():
        own = {key: value for key, value in keys.items() if key != "kind"}
        if "with" in own:
            own["given"] = own.pop("with")
        getattr(design, keys["kind"])(name, **own)
    for keys in document.get("links", []):
        ends = {"from": "writer", "to": "reader"}
        design.link(**{ends.get(key, key): value for key, value in keys.items()})
    for name, keys in document.get("pools", {}).items():
        design.pool(name, **keys)
    design.expect(**{key.replace("-", "_"): value
                     for key, value in document.get("expect", {}).items()})
    return design


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.stem)
def test_what_is_built_is_the_document_of_the_file(path: Path) -> None:
    """Every example, key by key; what comes out as YAML is read back as the same."""
    document = yaml.safe_load(path.read_text())
    design = built(document)
    again = yaml.safe_load(design.yaml())
    assert {key: value for key, value in again.items() if value} == document
    if "parameters" not in document:  # those that have some stand for hundreds
        names = {re.sub(r"\[.*", "", name) for name in design.load().tasks}
        assert names == document["tasks"].keys()


def test_the_methods_are_those_that_the_schema_gives() -> None:
    """A key that is added to the language is an argument after `make pages`."""
    assert FILE.read_text() == source()


def test_every_key_of_every_kind_is_an_argument() -> None:
    """So that an editor completes it."""
    kinds = schema()["$defs"]["task"]["properties"]["kind"]["enum"]
    parts = {"map": "plain", "zip": "plain", "broadcast": "plain", "design": "instance"}
    for kind in kinds:
        keys = schema()["$defs"][parts.get(kind, kind)]["properties"]
        named = inspect.signature(getattr(Design, kind)).parameters
        arguments = {"given": "with"}
        assert set(keys) - {"kind"} == {arguments.get(key, key) for key in named} - {"self", "name"}


def test_a_mistake_is_the_one_of_a_file_at_the_line_of_the_program() -> None:
    """The file names its line, the program that which put it down."""
    design = Design("small")
    design.source("a")
    design.sink("b")
    line = inspect.currentframe().f_lineno + 1  # type: ignore[union-attr]
    design.link("a", "c", capacity=1)
    with pytest.raises(InputError) as here:
        design.load()
    with pytest.raises(InputError) as there:
        load_all(design.yaml(), "small.yaml")
    assert here.value.where == f"{__file__}:{line}:1"
    assert (here.value.what, here.value.next_step) == (there.value.what, there.value.next_step)


def test_a_name_that_is_given_twice_is_refused() -> None:
    """In a file it would be a key that is there twice."""
    design = Design("small")
    design.source("a")
    with pytest.raises(InputError, match="given twice"):
        design.sink("a")


def test_steps_are_those_of_a_script() -> None:
    """One that is done once says no count."""
    assert [write("l"), read("l", 2), acquire("p", "n"), release("p", 3)] == [
        {"write": "l"}, {"read": "l", "count": 2}, {"acquire": "p", "count": "n"},
        {"release": "p", "count": 3}]
    assert either([read("l")], [acquire("p")], timeout=[], otherwise=[write("m")]) == {
        "either": [[{"read": "l"}], [{"acquire": "p"}]], "timeout": [], "else": [{"write": "m"}]}
    assert branch([read("l")], []) == {"branch": [[{"read": "l"}], []]}


def test_the_example_says_how_many_threads_are_enough(capsys: pytest.CaptureFixture[str]) -> None:
    """One is not: it holds what it priced, and nobody packs."""
    runpy.run_path(str(ROOT / "examples" / "builder" / "shop.py"), run_name="__main__")
    told = re.findall(r"(\d) of staff, room for (\d+): deadlock (\w+)", capsys.readouterr().out)
    assert [(int(n), verdict) for n, _, verdict in told] == [
        (1, "violated"), (1, "violated"), *[(n, "holds") for n in (2, 2, 3, 3)]]


def test_the_programs_of_the_page_run(capsys: pytest.CaptureFixture[str]) -> None:
    """A reader who copies them, one after the other, gets a cycle and a law."""
    text = (ROOT / "docs" / "design-builder.md").read_text()
    program = "".join(re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL))
    exec(compile(program, "page.py", "exec"), {})  # noqa: S102 - it is a page of ours
    circle, law = capsys.readouterr().out.splitlines()
    assert "client" in circle and law == "requests + 2 >= n"


def test_a_design_with_ranges_has_a_law_and_a_report_for_each_value() -> None:
    """As its file would have; a sweep that is too wide is refused with the line of the program."""
    echo = Design("echo")
    n = echo.parameter("n", "1..8")
    client = echo.script("client", steps=[write("requests", n), read("replies", n)])
    server = echo.map("server", hand=1)
    echo.link(client, server, name="requests", capacity=3)
    echo.link(server, client, name="replies", capacity=1)
    echo.expect(deadlock_free={"violated": f"{n} > 3 + 1 + 1"})
    assert [each.expect["deadlock-free"] for each in echo.load_all()] == [
        *["holds"] * 5, *["violated"] * 3]
    assert echo.check(given={"n": "6"}).as_expected
    found = law_of(echo.reading(), "deadlock-free", {}, Budget(max_seconds=5),
                   over=["n", "requests=1..4"])
    assert str(found.law) == "requests + 2 >= n"
    assert found.proof is not None and found.proof.is_whole
    with pytest.raises(InputError, match=r"test_design_builder\.py:\d+:1: .* 1000000000 choices"):
        echo.load_all({"n": "1..1000000000"})
