"""Plain lines of JSON are read as any reader of JSON has them, or left to one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("pyarrow")

from checkvalve.conformance.columns.lines import plain_rows

NAMES = st.sampled_from(["key", "item", "a name of more than eight letters", "", "ключ", 'q"uote'])
TEXTS = st.text(st.sampled_from('ab"\\/\n\x7fé€😀 '), max_size=20) | st.sampled_from(
    ["12345678", "1234567", "123456789", "0123456789abcdef", "0123456789abcdeg"])
NUMBERS = st.sampled_from(
    [0, -1, 7, 10 ** 18, 2 ** 53 + 1, 2 ** 63 - 1, 2 ** 63, -2 ** 63, -2 ** 63 + 1, 10 ** 19, 1e3,
     0.5, 2.0, -0.0])
VALUES = TEXTS | NUMBERS | st.none() | st.sampled_from([True, [], {"key": "nested"}])
PLAIN = st.sampled_from(["a", "b", "é", "12345678", "0123456789abcdef", "a text of some length"])
WAYS = st.sampled_from([(", ", ": "), (",", ":"), (" ,\t", " :  ")])

Line = dict[str, Any]


def written(lines: list[Line], ways: list[tuple[str, str]], end: str, as_ascii: bool) -> bytes:
    return "".join(
        json.dumps(line, separators=ways[at % len(ways)], ensure_ascii=as_ascii) + end
        for at, line in enumerate(lines)).encode()


def agrees(text: bytes) -> bool:
    """True if lines were read, and each as Python reads it: all values, and their types."""
    batch = plain_rows(text)
    if batch is None:
        return False
    rows = [{name: value for name, value in row.items() if value is not None}
            for row in batch.to_pylist()]
    meant = [{name: value for name, value in json.loads(line).items() if value is not None}
             for line in text.split(b"\n")[:-1]]
    assert repr([sorted(row.items()) for row in rows]) == repr(
        [sorted(row.items()) for row in meant])
    return True


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.lists(st.dictionaries(NAMES, VALUES, max_size=4), min_size=1, max_size=6),
       st.lists(WAYS, min_size=1, max_size=3), st.sampled_from(["\n", "\r\n", " \n"]),
       st.booleans())
def test_what_is_read_is_what_the_lines_say(
        lines: list[Line], ways: list[tuple[str, str]], end: str, as_ascii: bool) -> None:
    agrees(written(lines, ways, end, as_ascii))


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.lists(st.fixed_dictionaries({"key": PLAIN, "process": st.integers(-2 ** 62, 2 ** 62)},
                                      optional={"item": PLAIN | st.none()}).map(
    lambda line: dict(reversed(line.items()))), min_size=1, max_size=8),
       st.lists(WAYS, min_size=1, max_size=3), st.sampled_from(["\n", "\r\n"]))
def test_lines_of_texts_and_whole_numbers_are_read_in_any_order_and_spacing(
        lines: list[Line], ways: list[tuple[str, str]], end: str) -> None:
    assert agrees(written(lines, ways, end, as_ascii=False))


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.data())
def test_a_damaged_line_is_never_read_as_something_else(data: Any) -> None:
    text = b'{"key": "a", "item": 12, "x": null}\n' * 3
    at = data.draw(st.integers(0, len(text) - 2))
    some = data.draw(st.binary(max_size=3) | st.sampled_from(
        [b'"', b"\\", b",", b"0", b"-", b".5", b"e3", b'"key": 1, ', b"}", b"{", b" ", b"\r"]))
    text = text[:at] + some.replace(b"\n", b"") + text[at + data.draw(st.integers(0, 4)):]
    try:
        agrees(text if text.endswith(b"\n") else text + b"\n")
    except (ValueError, AttributeError):
        raise AssertionError(f"{text!r} is no JSON, and was read") from None


@pytest.mark.parametrize("line", [
    '{"key": "a\\u0062"}', '{"k\\u0065y": "a"}', '{"key": 1, "key": 2}', '{"key": 1.0}',
    '{"key": 1e2}', '{"key": 01}', '{"key": -}', '{"key": 9223372036854775808}', '{"key": true}',
    '{"key": [1]}', '{"key": {}}', '{"key": "a"', '{"key": "a"},', '{"key" "a"}', '["key"]', "",
    "[" * 100_000, '{"key": "a"}{"key": "b"}', '\ufeff{"key": "a"}', "{}", '{"key": nul}',
    '{"checkvalve_log": 1}', '{"key": "a\tb"}'])
def test_whatever_is_not_plain_is_left_to_another_reader(line: str) -> None:
    assert plain_rows(b'{"key": "a"}\n' + line.encode() + b'\n{"key": "b"}\n') is None


def test_a_name_with_texts_and_numbers_and_bytes_that_are_no_text_are_left_to_another_reader(
) -> None:
    assert plain_rows(b'{"key": "a"}\n{"key": 1}\n') is None
    assert plain_rows(b'{"key": "\xff"}\n') is None
    assert plain_rows(b'{"key": "\xed\xa0\x80"}\n') is None


def test_many_different_texts_have_numbers_of_their_own() -> None:
    texts = [f"{at * 7919:x}" * (1 + at % 3) for at in range(5_000)]
    text = b"".join(b'{"a": "%s", "b": "%s", "c": "%s"}\n' % (
        one.encode(), one[::-1].encode(), str(at).encode()) for at, one in enumerate(texts))
    batch = plain_rows(text)
    assert batch is not None
    assert batch.column("a").to_pylist() == texts
    assert batch.column("b").to_pylist() == [one[::-1] for one in texts]
    assert batch.column("c").to_pylist() == [*map(str, range(5_000))]
