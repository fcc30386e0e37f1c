"""Every output is written wholly, or the command says that it is not and ends in 64."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

MOST_BYTES = 8192
RULES = ["rules", "kafka", "--json"]
DESIGN = Path(__file__).parent.parent / "examples" / "designs" / "ring-live.yaml"
SMALL_GATE = f'[[designs]]\nfiles = ["{DESIGN}"]\n'
UNBUFFERED = pytest.mark.parametrize("unbuffered", ["", "1"], ids=["buffered", "unbuffered"])


def command(
    arguments: list[str], unbuffered: str = "", limit: int | None = None, **options: object
) -> subprocess.CompletedProcess[str]:
    """A run of checkvalve; its files may have ``limit`` bytes each."""
    def small_files() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    options.setdefault("env", dict(os.environ, PYTHONUNBUFFERED=unbuffered))
    return subprocess.run(  # type: ignore[call-overload, no-any-return]
        [sys.executable, "-m", "checkvalve.conformance.cli", *arguments],
        stderr=subprocess.PIPE, text=True, check=False, preexec_fn=small_files, **options)


@UNBUFFERED
@pytest.mark.parametrize("arguments", [RULES, ["rules", "kafka"]], ids=["json", "text"])
def test_a_file_that_takes_a_part_of_stdout_ends_in_64(
    arguments: list[str], unbuffered: str, tmp_path: Path
) -> None:
    """As on a disk that is nearly full: the document is cut, and the exit code says so."""
    with (tmp_path / "out").open("w") as out:
        done = command(arguments, unbuffered, MOST_BYTES, stdout=out)
    assert (done.returncode, "cannot write the output" in done.stderr) == (64, True)
    assert "internal error" not in done.stderr
    assert (tmp_path / "out").stat().st_size <= MOST_BYTES


@UNBUFFERED
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_device_that_takes_nothing_ends_in_64(unbuffered: str) -> None:
    """Whatever Python does with its buffers."""
    with open("/dev/full", "w") as full:
        done = command(RULES, unbuffered, stdout=full)
    assert (done.returncode, "cannot write the output" in done.stderr) == (64, True)


@UNBUFFERED
def test_a_stdout_that_is_for_reading_ends_in_64(unbuffered: str) -> None:
    """It is the user's to fix, too."""
    with open(os.devnull) as nothing:
        done = command(RULES, unbuffered, stdout=nothing)
    assert (done.returncode, "cannot write the output" in done.stderr) == (64, True)


@UNBUFFERED
def test_a_document_that_has_room_is_whole(unbuffered: str, tmp_path: Path) -> None:
    """It is much longer than a pipe or a buffer."""
    with (tmp_path / "out").open("w") as out:
        assert command(RULES, unbuffered, stdout=out).returncode == 0
    assert len(json.loads((tmp_path / "out").read_text())["rules"]) > 99


@UNBUFFERED
def test_a_pipe_that_is_closed_early_ends_quietly(unbuffered: str) -> None:
    """As a shell has it: 141, and not a word."""
    reader, writer = os.pipe()
    os.close(reader)
    done = command(RULES, unbuffered, stdout=writer)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, "")


WRITERS: dict[str, Callable[[Path], list[str]]] = {
    "a module": lambda out: ["export", "storm.acker.Acker", "--to", "tla", "--out", str(out)],
    "a drawing": lambda out: ["check", str(DESIGN), "--svg", str(out)],
    "a table": lambda out: ["conform", "reference", "--cases", "9", "--parquet", str(out / "t.pq")],
    "fixtures": lambda out: ["conform", "zoo:silent-drop", "--cases", "9", "--fixtures", str(out)],
    "reports": lambda out: ["gate", str(out.parent), "--json-file", str(out / "g.json"),
                            "--junit", str(out / "g.xml")],
}


@pytest.mark.parametrize("what", WRITERS)
def test_a_file_that_has_no_room_ends_in_64_and_leaves_nothing(what: str, tmp_path: Path) -> None:
    """Neither a part of it nor the draft."""
    (tmp_path / "checkvalve.toml").write_text(SMALL_GATE)
    out = tmp_path / "out"
    done = command(WRITERS[what](out), limit=100, stdout=subprocess.PIPE)
    assert (done.returncode, "cannot write" in done.stderr) == (64, True), done.stderr
    assert "internal error" not in done.stderr
    assert not [path for path in out.rglob("*") if path.is_file()]


def test_a_character_that_the_encoding_lacks_is_escaped(tmp_path: Path) -> None:
    """The document is JSON in any encoding."""
    design = tmp_path / "é.yaml"
    design.write_bytes(DESIGN.read_bytes())
    done = command(["check", str(design), "--json"], stdout=subprocess.PIPE,
                   env=dict(os.environ, PYTHONIOENCODING="ascii"))
    assert json.loads(done.stdout)["exit_code"] == done.returncode
