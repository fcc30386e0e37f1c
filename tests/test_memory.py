"""The budget of memory: one limit for the process, which every phase keeps."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest

from checkvalve.spec.verdicts import memory
from checkvalve.spec.verdicts.deadline import (
    Deadline, OutOfMemory, OutOfTime, ask, told_of_memory,
)
from checkvalve.spec.verdicts.memory import Meter, limited_to, meter, room

DESIGNS = Path(__file__).parent / "memory_designs"
CHILD = """
import contextlib, io, json, sys
from checkvalve.conformance.cli import root
from checkvalve.conformance.cli.outcome import run
said = io.StringIO()
with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
    code = run(root, sys.argv[1:])
peak = next(int(line.split()[1]) << 10 for line in open("/proc/self/status")
            if line.startswith("VmHWM"))
print(json.dumps([code, peak, said.getvalue()]))
"""
MIB = 1 << 20


def run(*arguments: str) -> tuple[int, int, str]:
    """The exit code of a command, the most bytes that it had, and what it printed. A child that
    would take the machine's memory is refused it."""
    done = subprocess.run(
        ["/bin/sh", "-c", 'ulimit -v 6000000; exec "$0" "$@"', sys.executable, "-c", CHILD,
         *arguments], capture_output=True, text=True, timeout=300, check=True)
    code, peak, said = json.loads(done.stdout.splitlines()[-1])
    return code, peak, said


needs_proc = pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="reads /proc")


def check(name: str, budget: int) -> tuple[int, int, str]:
    """Check a design with a budget of so many MiB: what :func:`run` gives."""
    return run("check", str(DESIGNS / f"{name}.yaml"), "--no-repair",
               "--max-seconds", "8", "--max-memory", f"{budget}M")


@pytest.fixture(scope="module")
def bare() -> int:
    """The MiB of a check that needs next to nothing: Python and its libraries, of which the kernel
    maps more on one machine than on another (170 MiB on one, 220 on another)."""
    code, peak, said = check("small", 2000)
    assert code == 0, said
    return peak // MIB


@needs_proc
@pytest.mark.parametrize(("name", "beside"), [("million", 30), ("states", 130), ("lassos", 80)])
def test_no_phase_of_a_check_takes_a_tenth_more_than_it_may(
    name: str, beside: int, bare: int
) -> None:
    """Measured in a child: rows by capacity, tables of native code, graphs of a liveness rule; the
    search for local deadlocks and the solvers are in all of them. The budget is so many MiB beside
    what any check takes."""
    code, peak, said = check(name, bare + beside)
    assert code in (0, 2), said
    assert peak <= 1.1 * (bare + beside) * MIB, (bare, said)
    assert "internal" not in said, said


@needs_proc
def test_what_has_no_memory_is_unknown_and_no_error() -> None:
    """Not even what Python and its libraries are themselves."""
    code, _, said = run("check", str(DESIGNS / "states.yaml"), "--max-memory", "1M")
    assert code == 2 and "the budget of memory was spent" in said, said


def test_a_look_at_the_deadline_is_a_look_at_the_memory() -> None:
    """The phase is named; and the time goes first."""
    with limited_to(1):
        with pytest.raises(OutOfMemory, match="the budget of memory was spent while reading"):
            Deadline(None).check("reading")
        with pytest.raises(OutOfTime):
            Deadline(0).check("reading")
    Deadline(None).check("reading")


def test_a_meter_looks_seldom_and_collects_before_it_says_that_all_is_spent() -> None:
    """Garbage is no use of memory; where nothing is gained it is not tried each time."""
    now, used, collected = [0.0], [50], []
    found = Meter(100, lambda: used[0], lambda: now[0])
    found.give_back = lambda: collected.append(used[0])  # type: ignore[method-assign]
    assert not found.is_over() and found.left() == 50
    used[0] = 101
    assert not found.is_over()  # it has looked just now
    now[0] = 1.0
    assert found.is_over() and found.is_over() and collected == [101]
    used[0] = 99
    assert not found.is_over() and found.has_room(1) and not found.has_room(2)


def test_what_is_asked_for_at_once_is_refused_before_it_is_taken() -> None:
    """Also where it would fit the machine."""
    with limited_to(meter_now() + 64 * MIB):
        ask(1 * MIB, "making a table")
        with pytest.raises(OutOfMemory, match="while making a table"):
            ask(1 << 40, "making a table")
        assert 0 < room() and room(5) == 5
    assert math.isinf(meter().most)


def meter_now() -> int:
    """Bytes in use."""
    return memory.in_use()


def test_errors_of_others_for_want_of_memory_become_ours() -> None:
    """Python's and Z3's, and no other error."""
    class Z3Exception(Exception):
        """As Z3's own is called."""

    for error in (MemoryError(), Z3Exception(b"out of memory")):
        with pytest.raises(OutOfMemory, match="while solving"), told_of_memory("solving"):
            raise error
    with pytest.raises(Z3Exception), told_of_memory("solving"):
        raise Z3Exception(b"another")


def test_z3_is_not_begun_where_next_to_nothing_is_left() -> None:
    """It is when there is some again."""
    from checkvalve.spec.verdicts.solver import z3_context

    with limited_to(1), pytest.raises(OutOfMemory, match="preparing equations"):
        z3_context()
    with limited_to(meter_now() + 64 * MIB):
        assert z3_context() is not None
    assert z3_context() is not None


def test_the_default_is_most_of_what_is_free_for_the_process(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the machine, in the container and below the limits of the process; a fixed part where
    nothing is known."""
    monkeypatch.setattr(memory, "in_use", lambda: 1_000)
    for known in ((100, 40, None), (40, 100, 90), (None, 60, 70), (80, None, 40), (None,) * 3):
        for name, free in zip(("machine", "groups", "below_limits"), known, strict=True):
            monkeypatch.setattr(memory, f"_free_{'in_' if name != 'below_limits' else ''}{name}",
                                lambda free=free: free)
        least = min((free for free in known if free is not None), default=2 << 30)
        assert memory.fitting() == 1_000 + int(least * 0.7)
        with limited_to(None) as found:
            assert found.most == memory.fitting()


def test_the_memory_that_the_system_has_available_is_read_in_kibibytes(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a system that does not say it nothing is known."""
    for text, free in (("MemTotal:  9 kB\nMemAvailable:    3000 kB\n", 3000 * 1024),
                       ("MemTotal:  9 kB\n", None), ("MemAvailable: some\n", None)):
        monkeypatch.setattr(memory, "open", lambda *_, text=text, **__: StringIO(text),
                            raising=False)
        assert memory._free_in_machine() == free


def group(folder: Path, limit: str, used: int, version: int) -> None:
    """Write the files of a control group."""
    folder.mkdir(parents=True, exist_ok=True)
    names = ("memory.max", "memory.current") if version == 2 else (
        "memory.limit_in_bytes", "memory.usage_in_bytes")
    (folder / names[0]).write_text(f"{limit}\n")
    (folder / names[1]).write_text(f"{used}\n")
    (folder / "memory.stat").write_text("anon 5\ninactive_file 7\n")


@pytest.mark.parametrize("version", [1, 2])
def test_the_closest_limit_of_the_groups_around_a_process_counts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, version: int
) -> None:
    """Of both versions of control groups; cached files are given up."""
    monkeypatch.setattr(memory, "_GROUPS", tmp_path)
    assert memory._free_in_groups() is None
    root = tmp_path if version == 2 else tmp_path / "memory"
    own = Path("/proc/self/cgroup").read_text().splitlines()
    kinds = "" if version == 2 else "memory"
    path = next((line.split(":", 2)[2] for line in own if kinds in line.split(":")[1].split(",")),
                "/")
    group(root, "1000", 400, version)
    assert memory._free_in_groups() == 607
    below = root / path.lstrip("/")
    if below != root:
        group(below, "max", 400, version)
        assert memory._free_in_groups() == 607
        group(below, "500", 400, version)
        assert memory._free_in_groups() == 107
