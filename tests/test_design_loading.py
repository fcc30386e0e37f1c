"""Design files: whatever is in one, it is a design or one message with file and line."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkvalve.conformance.designs import load_file
from checkvalve.spec.design.loader import load
from checkvalve.spec.design.reading.source import MAX_CHARACTERS, MAX_DEPTH
from checkvalve.spec.notation.errors import InputError

GOOD = """\
checkvalve: 2
name: good
tasks:
  source: {kind: source}
  sink: {kind: sink}
links:
  - {from: source, to: sink, capacity: 4}
"""


def refused(text: str) -> InputError:
    """The error that a text gives; its place must be in the file."""
    with pytest.raises(InputError) as caught:
        load(text, "d.yaml")
    assert re.match(r"d\.yaml(:\d+:\d+)?$", caught.value.where)
    assert caught.value.next_step
    return caught.value


def changed(old: str, new: str) -> str:
    """The good design with one change."""
    assert old in GOOD
    return GOOD.replace(old, new)


WRONG = [
    ("a misspelt key", changed("capacity", "capcity"), 7, "capacity"),
    ("an unknown task", changed("to: sink", "to: sinc"), 7, "sink"),
    ("a capacity of -1", changed("capacity: 4", "capacity: -1"), 7, "0 to 1000000"),
    ("a capacity that is not a number", changed("capacity: 4", "capacity: .nan"), 7, "whole"),
    ("an infinite capacity", changed("capacity: 4", "capacity: .inf"), 7, "whole"),
    ("a fractional capacity", changed("capacity: 4", "capacity: 1.5"), 7, "whole"),
    ("a truth value for a capacity", changed("capacity: 4", "capacity: true"), 7, "whole"),
    ("a text for a capacity", changed("capacity: 4", "capacity: four"), 7, "whole"),
    ("an enormous capacity", changed("capacity: 4", "capacity: 1" + 30 * "0"), 7, "digits"),
    ("no capacity", changed(", capacity: 4", ""), 7, "capacity"),
    ("an unknown kind", changed("kind: sink", "kind: snik"), 5, "sink"),
    ("a loop until a link is closed", changed(
        "{kind: sink}", "{kind: script, steps: [{repeat: until closed, steps: [{read: in}]}]}"), 5,
     "{read: LINK, until: closed, each: [...]}"),
    ("a poll of at most so many", changed(
        "{kind: sink}", "{kind: script, steps: [{read: in, max: 5}]}"), 5, "Did you mean 'up-to'?"),
    ("a kind by another word", changed("kind: sink", "kind: split"), 5,
     "Did you mean 'broadcast' or 'route'?"),
    ("a route with two links to it", changed("kind: sink", "kind: route") + (
        "  - {from: source, to: sink, capacity: 4, name: more}\n"), 5,
     "or put a merge before it"),
    ("an unknown flow", changed("capacity: 4", "capacity: 4, flow: blokking"), 7, "blocking"),
    ("a batch without credit", changed("capacity: 4", "capacity: 4, batch: 2"), 7, "flow"),
    ("a batch of a link that calls stop", changed(
        "capacity: 4", "capacity: 4, flow: stop-go, stop: 2, batch: 2"), 7, "Remove `batch`"),
    ("a misspelt size", changed("kind: sink", "kind: window, sise: 2"), 5, "Did you mean 'size'"),
    ("a misspelt barrier", changed(
        "kind: sink", "kind: align, barier: b"), 5, "Did you mean 'barrier'"),
    ("a kind that is named twice", changed(
        "capacity: 4", "capacity: 4, kinds: [a, a]"), 7, "names the kind 'a' twice"),
    ("too much at the start", changed("capacity: 4", "capacity: 4, initial: 5"), 7, "initial"),
    ("a link to nowhere", changed("to: sink, ", ""), 7, "to"),
    ("a source that is read by a source", changed("to: sink", "to: source"), 4, "link"),
    ("a map with two links to it", changed("kind: sink", "kind: map") + (
        "  - {from: source, to: sink, capacity: 4, name: more}\n"), 5,
     "or give it a kind that may have these: sink, script, transition."),
    ("steps without a kind", changed("{kind: sink}", "{steps: [{read: in}]}"), 5,
     "Add `kind: script`"),
    ("another version", changed("checkvalve: 2", "checkvalve: 3"), 1, "2"),
    ("no tasks", "checkvalve: 2\nname: x\n", 1, "tasks"),
    ("a duplicate key", GOOD + "name: again\n", 8, "name"),
    ("a tab", changed("  source", "\tsource"), 4, "spaces"),
    ("an alias", changed("{kind: sink}", "&a {kind: sink}"), 5, "out"),
    ("a tag", changed("name: good", "name: !!python/object:os.system good"), 2, "Remove"),
    ("two documents", GOOD + "---\n" + GOOD, 8, "one file"),
    ("a list", "- a\n- b\n", 1, "mapping"),
    ("a bare word", "hello\n", 1, "mapping"),
    ("nothing", "", 1, "checkvalve: 2"),
    ("a key that is a list", changed("name: good", "? [a, b]\n: c"), 2, "brackets"),
    ("a control character", changed("name: good", "name: go\x07od"), 2, "UTF-8"),
    ("an unclosed bracket", changed("{kind: sink}", "{kind: sink"), 6, "brackets"),
    ("two equal links", GOOD + "  - {from: source, to: sink, capacity: 4}\n", 8, "name"),
    ("an expectation for no task", GOOD + "expect: {no-starvation: {sorce: holds}}\n", 8, "source"),
    ("an unknown property", GOOD + "expect: {dedlock: holds}\n", 8, "deadlock-free"),
    ("a strange name", changed("name: good", "name: ../../etc/passwd"), 2, "letter"),
]


@pytest.mark.parametrize(("text", "line", "advice"), [row[1:] for row in WRONG],
                         ids=[row[0] for row in WRONG])
def test_each_mistake_has_a_message_with_its_line_and_the_next_step(
    text: str, line: int, advice: str
) -> None:
    """File and line of the mistake, and what to do about it."""
    error = refused(text)
    assert re.fullmatch(rf"d\.yaml:{line}:\d+", error.where)
    assert advice in f"{error.what} {error.next_step}"


def test_aliases_that_multiply_are_refused_before_they_do() -> None:
    """The billion laughs cost nothing."""
    text = "a: &a [x]\n" + "".join(
        f"b{i}: &b{i} [{', '.join([f'*b{i - 1}' if i else '*a'] * 9)}]\n" for i in range(40)
    )
    assert "aliases" in refused(text).what


@pytest.mark.parametrize("opening", ["[", "{a: ", "- "], ids=["lists", "mappings", "blocks"])
def test_deep_nesting_is_refused(opening: str) -> None:
    """A hundred thousand brackets are refused at the first one too many."""
    assert str(MAX_DEPTH) in refused(opening * 50_000).what


def test_a_huge_file_is_refused() -> None:
    """A text above the limit is not even parsed."""
    assert "characters" in refused("#" * (MAX_CHARACTERS + 1)).what


@pytest.mark.parametrize("character", ["#", "é", "\U0001f600"])
def test_a_huge_file_is_refused_by_the_one_limit(character: str, tmp_path: Path) -> None:
    """In characters, however many bytes each of them takes."""
    path = tmp_path / "d.yaml"
    for length in (MAX_CHARACTERS + 1, 5 * MAX_CHARACTERS):
        path.write_text(character * length, encoding="utf-8")
        with pytest.raises(InputError, match=f"{MAX_CHARACTERS} allowed|{MAX_CHARACTERS} char"):
            load_file(path)


@pytest.mark.parametrize(("written", "value"), [("0o17", 15), ("0x1F", 31), ("017", 17)])
def test_numbers_are_those_of_yaml_1_2(written: str, value: int) -> None:
    """Its core schema has octal and hexadecimal numbers, and no other base."""
    assert load(changed("capacity: 4", f"capacity: {written}")).links["source->sink"].capacity \
        == value


@pytest.mark.parametrize("kind", ["broadcast", "merge, policy: fair"])
def test_a_task_with_too_many_ways_to_move_is_refused(kind: str) -> None:
    """Sixty links that may each be full or not have 2 ** 60 ways to be written."""
    ends = [f"t{number}" for number in range(60)]
    outer, inner = ("sink", "source") if kind == "broadcast" else ("source", "sink")
    tasks = "".join(f"  {end}: {{kind: {outer}}}\n" for end in ends)
    way = "from: hub, to: {}" if kind == "broadcast" else "from: {}, to: hub"
    links = "".join(
        f"  - {{{way.format(end)}, capacity: 1, flow: drop-newest}}\n" for end in ends
    )
    last = "from: other, to: hub" if kind == "broadcast" else "from: hub, to: other"
    error = refused(f"checkvalve: 2\nname: fan\ntasks:\n  hub: {{kind: {kind}}}\n"
                    f"  other: {{kind: {inner}}}\n{tasks}links:\n"
                    f"  - {{{last}, capacity: 1}}\n{links}")
    assert error.where == "d.yaml:4:3"
    assert error.what == "the task 'hub' can move in too many ways at once"


@given(st.text(max_size=200))
@settings(max_examples=200)
def test_any_text_is_a_design_or_an_input_error(text: str) -> None:
    """Nothing else comes out of the loader."""
    with suppress(InputError):
        load(text)


@given(st.data())
@settings(max_examples=200)
def test_a_damaged_design_is_a_design_or_an_input_error(data: st.DataObject) -> None:
    """Replacing a piece of a good design by anything gives no other error."""
    start = data.draw(st.integers(0, len(GOOD)))
    end = data.draw(st.integers(start, min(len(GOOD), start + 12)))
    piece = data.draw(st.text(alphabet="{}[]:,-&*!|>'\"#%@` \n\t?a1~.", max_size=8))
    with suppress(InputError):
        load(GOOD[:start] + piece + GOOD[end:])


@pytest.mark.parametrize("content", [b"name: \xff\xfe", b"\x80abc"])
def test_a_file_that_is_not_utf8_is_refused_with_its_line(tmp_path: Path, content: bytes) -> None:
    """The line of the first bad byte is named."""
    path = tmp_path / "d.yaml"
    path.write_bytes(b"checkvalve: 2\n" + content)
    with pytest.raises(InputError, match=r"d\.yaml:2.*UTF-8"):
        load_file(path)


def test_what_is_not_a_regular_file_is_refused(tmp_path: Path) -> None:
    """A directory, nothing at all, and a pipe that nobody writes to."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path, what in ((tmp_path, "directory"), (tmp_path / "none", "no such"), (pipe, "regular")):
        with pytest.raises(InputError, match=what):
            load_file(path)


def test_a_byte_order_mark_is_no_mistake(tmp_path: Path) -> None:
    """As some editors write it."""
    path = tmp_path / "d.yaml"
    path.write_text(GOOD, encoding="utf-8-sig")
    assert load_file(path).name == "good"
