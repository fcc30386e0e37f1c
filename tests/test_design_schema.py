"""The JSON Schema of designs, as we read it and as an independent reader does."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkvalve.conformance.designs.reading import read_text
from checkvalve.spec.design.loader import load
from checkvalve.spec.design.schema import check_shape, schema
from checkvalve.spec.design.source import Node, parse
from checkvalve.spec.notation.errors import InputError

DESIGNS = sorted((Path(__file__).parent.parent / "examples" / "designs").glob("*.yaml"))
VALIDATOR = jsonschema.Draft202012Validator(schema())


def tree(value: Any) -> Node:
    """A plain value as a tree in which everything is in line 1."""
    if isinstance(value, dict):
        return Node({k: tree(v) for k, v in value.items()}, 1, dict.fromkeys(value, 1))
    return Node([tree(item) for item in value] if isinstance(value, list) else value, 1)


def accepted(value: Any) -> bool:
    """Whether our own reading of the schema accepts a document."""
    try:
        check_shape(tree(value), "d.yaml")
    except InputError:
        return False
    return True


PLAIN = [parse(read_text(path), str(path)).plain() for path in DESIGNS]


def test_the_schema_is_one() -> None:
    """It is valid itself."""
    VALIDATOR.check_schema(schema())


@pytest.mark.parametrize("plain", PLAIN, ids=[path.stem for path in DESIGNS])
def test_every_example_is_accepted_by_both_readers(plain: Any) -> None:
    """What we ship is what editors accept."""
    assert VALIDATOR.is_valid(plain)
    assert accepted(plain)


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) of a document."""
    found: list[tuple[Any, Any]] = []
    if not isinstance(value, dict | list):
        return found
    for key in value if isinstance(value, dict) else range(len(value)):
        found += [(value, key), *places(value[key])]
    return found


STRANGE = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 3), st.just(10**7), st.floats(allow_nan=False),
    st.sampled_from(["", "a", "credit", "sink", "unbounded", "holds", "a b", "1x"]),
    st.just([]), st.just({}), st.just(["a", "b"]), st.just({"kind": "map"}),
)
KEYS = st.sampled_from(["kind", "capacity", "flow", "batch", "write", "read", "hand", "x", "from"])


@given(st.sampled_from(PLAIN), st.data())
@settings(max_examples=400)
def test_both_readers_agree_on_damaged_designs(plain: Any, data: st.DataObject) -> None:
    """One change anywhere, and the two readings of the schema still say the same."""
    document = copy.deepcopy(plain)
    container, key = data.draw(st.sampled_from(places(document)))
    how = data.draw(st.sampled_from(["replace", "remove", "add"]))
    if how == "remove":
        del container[key]
    elif how == "replace" or isinstance(container, list):
        container[key] = data.draw(STRANGE)
    else:
        container[data.draw(KEYS)] = data.draw(STRANGE)
    assert accepted(document) == VALIDATOR.is_valid(document)


@pytest.mark.parametrize("name", ["two bolts", "a-b_c.d e", "b2"])
def test_a_name_that_does_what_the_hint_says_is_accepted(name: str) -> None:
    """Letters, digits and _, single -, . or blanks: for designs, tasks and pools alike."""
    design = load(f"""
checkvalve: 1
name: {name}
tasks: {{{name}: {{kind: source, pool: {name} }}, t: {{kind: sink}}}}
links: [{{from: {name}, to: t, capacity: 1}}]
pools: {{{name}: {{threads: 1}}}}
""")
    assert design.name == name
    assert {name} == set(design.pools) == set(design.tasks) - {"t"}


@pytest.mark.parametrize("name", ["' a'", "'a '", "a/b", "'../a'", "'a:b'", "2b", "a..b", "a."])
def test_a_name_that_is_no_file_name_is_refused_with_the_hint(name: str) -> None:
    """A drawing is named after its design; all names follow one rule."""
    with pytest.raises(InputError) as caught:
        load(f"checkvalve: 1\nname: {name}\ntasks: {{t: {{kind: sink}}}}\n")
    assert "blanks between them" in caught.value.next_step
