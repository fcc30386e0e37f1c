"""Laws have certificates, both sides of them, which the checker confirms for all values."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from checkvalve.conformance.cli import root
from checkvalve.conformance.cli.outcome import run
from checkvalve.conformance.designs.certificates import problem_of
from checkvalve.conformance.designs.laws import law_of, made_of
from checkvalve.spec.certify.checker import check_law_certificate
from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.verdicts.verdict import Budget

GRIDS = Path(__file__).resolve().parent.parent / "examples" / "grids"
ONE = {"m": "1..4", "B": "1..4"}
DESIGN = """
checkvalve: 2
name: buffered
tasks:
  left: {kind: script, steps: [{write: there, count: 3}, {read: back, count: 3}]}
  right: {kind: script, steps: [{write: back, count: 3}, {read: there, count: 3}]}
links:
  - {name: there, from: left, to: right, capacity: 2}
  - {name: back, from: right, to: left, capacity: 2}
"""


@pytest.fixture(scope="module")
def certificate() -> dict[str, Any]:
    """The certificate of many to one with late credit: it deadlocks where m > B."""
    found = law_of(GRIDS / "late-credit.yaml", "deadlock-free", ONE, Budget(max_seconds=5), 30,
                   certify=True).certificate
    assert found is not None and not problem_of(found)
    told: dict[str, Any] = json.loads(json.dumps(found))
    return told


def _confirmed(document: dict[str, Any]) -> bool | None:
    path = str(GRIDS / "late-credit.yaml")
    return check_law_certificate(document, made_of(document, path, ONE)).confirmed


def test_both_sides_of_a_law_are_certified(certificate: dict[str, Any]) -> None:
    """For all values up to a million, not only those of the grid."""
    assert {"holds", "violated"} <= certificate.keys()
    assert all(high == 1_000_000 for _, high in certificate["holds"]["values"].values())
    assert _confirmed(certificate)


def _more(document: dict[str, Any]) -> None:
    document["law"]["atoms"][0]["least"] += 1


def _less(document: dict[str, Any]) -> None:
    document["law"]["atoms"][0]["least"] -= 1


def _other_joint(document: dict[str, Any]) -> None:
    document["law"] = {"joint": "or", "atoms": []}


def _no_sums(document: dict[str, Any]) -> None:
    document["holds"]["sums"].clear()


def _no_runs(document: dict[str, Any]) -> None:
    document["violated"]["runs"].clear()


def _once(document: dict[str, Any]) -> None:
    for legs in document["violated"]["runs"]:
        for leg in legs:
            leg["times"] = 1


def _a_step_less(document: dict[str, Any]) -> None:
    for legs in document["violated"]["runs"]:
        legs[-1]["steps"].pop()


def _no_values(document: dict[str, Any]) -> None:
    document["holds"]["values"]["B"] = [2, 1]


def _nobody(document: dict[str, Any]) -> None:
    document["holds"]["sums"][0] = {next(iter(document["holds"]["sums"][0])): {"nobody": 1}}


@pytest.mark.parametrize("spoil", [
    _more, _less, _other_joint, _no_sums, _no_runs, _once, _a_step_less, _no_values,
    _nobody])
def test_a_law_that_was_changed_is_refuted(
    spoil: Callable[[Any], None], certificate: dict[str, Any]
) -> None:
    """Another formula, fewer sums, runs that lead nowhere."""
    document = copy.deepcopy(certificate)
    spoil(document)
    assert problem_of(document) or _confirmed(document) is False


def test_a_law_that_leaves_out_a_parameter_is_refused(certificate: dict[str, Any]) -> None:
    """It would be about one value of it."""
    document = copy.deepcopy(certificate)
    del document["holds"]["values"]["m"]
    with pytest.raises(InputError, match="other parameters than the file"):
        _confirmed(document)


def test_a_side_that_is_about_no_value_of_its_own_is_refuted(certificate: dict[str, Any]) -> None:
    """Narrowed to values at which the formula is true, it claims nothing about its own."""
    document = copy.deepcopy(certificate)
    document["violated"]["values"] = {"m": [1, 1], "B": [1, 9]}
    found = check_law_certificate(
        document, made_of(document, str(GRIDS / "late-credit.yaml"), ONE))
    assert found.confirmed is False and "false at none of the values" in found.why


def test_what_was_confirmed_of_a_law_names_its_formula(certificate: dict[str, Any]) -> None:
    """A reader cannot know from the name of a file which formula it has."""
    found = check_law_certificate(
        certificate, made_of(certificate, str(GRIDS / "late-credit.yaml"), ONE))
    assert found.why.startswith("- m + B >= 0; where it is true, there is no deadlock")


def test_a_key_that_is_given_twice_is_refused(
    certificate: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two readers of JSON could read two laws."""
    path = tmp_path / "law.json"
    text = json.dumps(certificate)
    path.write_text(text.replace('"least":', '"least": 7, "least":', 1), encoding="utf-8")
    assert run(root, ["certify", str(path), str(GRIDS / "late-credit.yaml")]) == 64
    assert "the key 'least' is given twice" in capsys.readouterr().err


def test_a_law_over_numbers_of_a_design_is_certified_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Written by one command, confirmed by the other, and refused for another design."""
    design, path = tmp_path / "buffered.yaml", tmp_path / "buffered-law.json"
    design.write_text(DESIGN, encoding="utf-8")
    assert run(root, ["law", str(design), "--over", "there=1..4,back=1..4",
                      "--certificates", str(tmp_path)]) == 0
    assert run(root, ["certify", str(path), str(design)]) == 0
    document = json.loads(path.read_text(encoding="utf-8"))
    del document["violated"]["values"]["back"]
    path.write_text(json.dumps(document), encoding="utf-8")
    assert run(root, ["certify", str(path), str(design)]) == 64
    assert run(root, ["certify", str(path), str(GRIDS / "late-credit.yaml")]) == 64
    told = capsys.readouterr()
    assert f"Certificate of violated: {path}" in told.out
    assert "confirmed: buffered: law of deadlock; back >= 3 or there >= 3; where" in told.out
