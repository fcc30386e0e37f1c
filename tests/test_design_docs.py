"""The designs in docs/design-language.md are real: each has the verdicts that it expects."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from checkvalve.conformance.designs import check_design
from checkvalve.spec.design.loader import load_all
from checkvalve.spec.design.reading.language import Flow, Kind
from checkvalve.spec.design.reading.schema import schema

TEXT = (Path(__file__).parent.parent / "docs" / "design-language.md").read_text()
BLOCKS = re.findall(r"```yaml\n(.*?)```", TEXT, flags=re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS, ids=[re.findall(r"name: (\S+)", b)[0] for b in BLOCKS])
def test_each_design_in_the_text_is_as_it_says(block: str) -> None:
    """A reader who copies one gets what the text promises."""
    assert all(check_design(design).as_expected for design in load_all(block))


def test_the_text_names_every_kind_flow_and_key() -> None:
    """Nothing of the language is left out."""
    definitions = schema()["$defs"]
    keys = {key for rule in definitions.values() for key in rule.get("properties", {})}
    words = keys | {kind.value for kind in Kind} | {flow.value for flow in Flow}
    missing = [word for word in words if f"`{word}" not in TEXT and f"{word}:" not in TEXT]
    assert not missing
