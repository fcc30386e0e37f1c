"""The JSON Schema of designs, as we read it and as an independent reader does."""

from __future__ import annotations

import copy
from itertools import count
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkvalve.conformance.designs.reading import read_text
from checkvalve.spec.design.loader import load
from checkvalve.spec.design.reading.schema import _WORDS, check_shape, resolved_schema, schema
from checkvalve.spec.design.reading.source import Node, Spot, _Builder, parse
from checkvalve.spec.notation.errors import InputError

DESIGNS = sorted((Path(__file__).parent.parent / "examples" / "designs").glob("*.yaml"))
VALIDATOR = jsonschema.Draft202012Validator(resolved_schema())


def tree(value: Any, line: int = 1) -> Node:
    """A plain value as a tree in which each part of a node is one line below it."""
    spot = Spot(line, 1)
    if isinstance(value, dict):
        return Node({key: tree(part, line + 1) for key, part in value.items()}, spot,
                    dict.fromkeys(value, Spot(line + 1, 1)))
    if isinstance(value, list):
        return Node([tree(part, line + 1) for part in value], spot)
    return Node(value, spot)


PLAIN = [parse(read_text(path), str(path)).plain() for path in DESIGNS]


def test_the_schema_is_one() -> None:
    """It is valid itself."""
    VALIDATOR.check_schema(schema())


@pytest.mark.parametrize("plain", PLAIN, ids=[path.stem for path in DESIGNS])
def test_every_example_has_the_shape_of_a_design(plain: Any) -> None:
    """Editors accept every shipped example."""
    check_shape(tree(plain), "d.yaml")


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
def test_a_damaged_design_is_refused_with_words_a_place_and_a_hint(
    plain: Any, data: st.DataObject
) -> None:
    """One change anywhere: what the schema refuses has a message, at the part that is meant."""
    document = copy.deepcopy(plain)
    container, key = data.draw(st.sampled_from(places(document)))
    how = data.draw(st.sampled_from(["replace", "remove", "add"]))
    if how == "remove":
        del container[key]
    elif how == "replace" or isinstance(container, list):
        container[key] = data.draw(STRANGE)
    else:
        container[data.draw(KEYS)] = data.draw(STRANGE)
    problems = list(VALIDATOR.iter_errors(document))
    if not problems:
        check_shape(tree(document), "d.yaml")
        return
    with pytest.raises(InputError) as caught:
        check_shape(tree(document), "d.yaml")
    depth = len(problems[0].absolute_path)
    line = int(str(caught.value.where).split(":")[1])
    assert depth < line <= depth + 3
    assert caught.value.what and caught.value.next_step.endswith((".", "?"))


def keywords(rule: Any) -> set[str]:
    """Every keyword that a schema uses, its parts' included."""
    if isinstance(rule, list):
        return set().union(*map(keywords, rule))
    if not isinstance(rule, dict):
        return set()
    found = set(rule)
    for keyword, value in rule.items():
        if keyword in ("properties", "$defs"):
            found |= set().union(*map(keywords, value.values()))
        elif keyword not in ("enum", "required"):
            found |= keywords(value)
    return found


def test_there_are_words_for_every_keyword_that_the_schema_uses() -> None:
    """Else a problem of that kind would be ours."""
    passed_on = {"$schema", "$id", "$defs", "$ref", "title", "description", "properties", "items",
                 "propertyNames", "allOf", "anyOf", "if", "then", "else"}
    assert keywords(schema()) - passed_on <= set(_WORDS)


@pytest.mark.parametrize("name", ["two bolts", "a-b_c.d e", "b2"])
def test_a_name_that_does_what_the_hint_says_is_accepted(name: str) -> None:
    """Letters, digits and _, single -, . or blanks: for designs, tasks and pools alike."""
    design = load(f"""
checkvalve: 2
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
        load(f"checkvalve: 2\nname: {name}\ntasks: {{t: {{kind: sink}}}}\n")
    assert "blanks between them" in caught.value.next_step


def test_entries_that_look_alike_are_checked_once_and_none_is_hidden() -> None:
    """One link in a thousand that is wrong is named, whatever is wrong with it."""
    links = [{"from": "a", "to": "b", "capacity": 5, "name": f"link {n}"} for n in range(1_000)]
    design = {"checkvalve": 2, "name": "many", "links": links,
              "tasks": {"a": {"kind": "source"}, "b": {"kind": "sink"}}}
    check_shape(tree(design), "d.yaml")
    for key, value in (("capacity", -1), ("capacity", 10**9), ("name", "x" * 3_000), ("name", "1"),
                       ("flow", "fast"), ("room", 3), ("capacity", "5"), ("to", {})):
        wrong = copy.deepcopy(design)
        wrong["links"][777][key] = value  # type: ignore[index]
        with pytest.raises(InputError):
            check_shape(tree(wrong), "d.yaml")


@pytest.mark.parametrize("plain", PLAIN[:6], ids=[path.stem for path in DESIGNS[:6]])
def test_the_readers_of_yaml_in_c_and_in_python_see_the_same(plain: Any) -> None:
    """Values, lines and columns; quoted and plain."""
    import yaml
    text = yaml.safe_dump(plain) + "more: ['1', \"on\", 0x10, ~, yes, 1.5]\n"
    found = []
    for loader in (yaml.SafeLoader, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        found.append(_Builder("d.yaml").build(yaml.parse(text, Loader=loader)))
    assert found[0] == found[1]


def test_the_clock_is_looked_at_for_each_entry() -> None:
    """Of a design of many, and only where the schema says something of them."""
    design = {"checkvalve": 2, "name": "many",
              "tasks": {f"t{n}": {"kind": "source"} for n in range(300)},
              "links": [{"from": "t0", "to": "t1", "capacity": 1} for _ in range(300)]}
    looks = count()
    check_shape(tree(design), "d.yaml", "parameters", lambda: next(looks))
    assert next(looks) == 0
    check_shape(tree(design), "d.yaml", "resolved", lambda: next(looks))
    assert next(looks) == 601
