"""Whatever the input, there is a verdict or one message: 250 mutated inputs of each kind
(``make fuzz`` tries as many as it is asked to).
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.fuzz.runner import Subject, fuzz
from benchmarks.fuzz.subjects import SUBJECTS
from checkvalve.conformance.designs import check_design
from checkvalve.spec.notation.errors import InputError

INPUTS = 250
SIZED = 6
"""Inputs of all sizes: each may take the seconds that it is given."""
SEED = 20


def fuzzed(name: str, inputs: int, kept: Path) -> dict[str, Any]:
    """Run the fuzzer on some inputs, of which none may fail, and return its report."""
    program = [sys.executable, "-m", "benchmarks.fuzz", name, "--json",
               "--seed", str(SEED), "--inputs", str(inputs), "--keep", str(kept)]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    (found,) = json.loads(done.stdout)
    assert (found["failures"], done.returncode) == ([], 0)
    return dict(found)


@pytest.mark.parametrize("name", [name for name in SUBJECTS if name != "sizes"])
def test_no_input_ends_in_an_error_of_ours_a_traceback_or_not_at_all(
    name: str, tmp_path: Path
) -> None:
    """In a process of its own, for some inputs take what memory they may."""
    found = fuzzed(name, INPUTS, tmp_path)
    # Some are refused and some are not, or nothing behind the reading was reached.
    assert sum(found["codes"].values()) == INPUTS
    refused = found["codes"]["64"] + found["codes"].get("69", 0)
    assert 20 < refused < INPUTS - 20


def test_a_file_of_any_size_is_checked_within_the_seconds_that_it_is_given(tmp_path: Path) -> None:
    """Designs and nets that are small, and some that are large."""
    assert sum(fuzzed("sizes", SIZED, tmp_path)["codes"].values()) == SIZED


@pytest.mark.parametrize("name", SUBJECTS)
def test_a_seed_makes_the_same_inputs_again(name: str) -> None:
    """So that one that fails can be run alone."""
    from random import Random

    made = [[SUBJECTS[name].make(Random(f"{turn}")) for turn in range(5)] for _ in range(2)]
    assert made[0] == made[1] and len(set(made[0])) > 1


def _internal(_path: Path, _index: int) -> object:
    raise KeyError("ours")


def _ended(_path: Path, _index: int) -> object:
    raise SystemExit(0)


def _endless(_path: Path, _index: int) -> object:
    while True:
        pass


def _wordy(_path: Path, _index: int) -> object:
    raise InputError("x", f"{Path(check_design.__code__.co_filename).parents[2]}/spec/lower.py:1")


@pytest.mark.parametrize(("feed", "words"), [
    (_internal, "internal error"), (_ended, "raised SystemExit"), (_endless, "no end"),
    (_wordy, "names a file of ours"), (lambda path, index: 3, "exit code 3"),
    (lambda path, index: 64, "without a word"),
])
def test_what_must_not_be_is_found(
    feed: object, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And its input is kept for the fix."""
    monkeypatch.setattr("benchmarks.fuzz.runner.CPU_SECONDS_MAX", 0.2)
    subject = Subject("x", ".txt", lambda random: b"content", feed)  # type: ignore[arg-type]
    (failure,) = fuzz(subject, 0, range(3, 4), tmp_path).failures
    assert words in failure.what and failure.file.read_bytes() == b"content"
    assert failure.index == 3
