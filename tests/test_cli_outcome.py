"""The end of a command: one message, one exit code, and never a traceback."""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import jsonschema
import pytest

from checkvalve.conformance.cli.outcome import run
from checkvalve.spec.notation.errors import InputError, InternalError, ModelFault, TargetError
from checkvalve.spec.verdicts.deadline import OutOfMemory

ROOT = Path(__file__).resolve().parent.parent


def raising(error: BaseException) -> click.Group:
    """A group with a command `fail` that raises ``error``."""
    return ending(lambda: _raise(error))


def ending(end: Callable[[], object]) -> click.Group:
    """A group with a command `fail` that ends with what ``end`` returns or raises."""
    group = click.Group("checkvalve")

    @group.command("fail")
    @click.option("--json", is_flag=True)
    def fail(json: bool) -> object:
        return end()

    return group


def _raise(error: BaseException) -> None:
    raise error


CAUSES = [
    (InputError("there is no task `b`", "d.yaml:3", "Declare it."), 64),
    (ModelFault("P leaves 0..4", "m.py:9", "Guard it."), 64),
    (TargetError("the target hung", "", "Raise --timeout."), 69),
    (InternalError("two engines disagree"), 70),
    (ValueError("a bug"), 70),
    (FileNotFoundError(2, "No such file or directory", "x.yaml"), 64),
    (ModuleNotFoundError("No module named 'pyspark'", name="pyspark"), 64),
    (click.UsageError("no such option"), 64),
    (KeyboardInterrupt(), 130),
]


@pytest.mark.parametrize(("error", "code"), CAUSES, ids=lambda value: type(value).__name__)
def test_every_error_has_its_exit_code(error: BaseException, code: int) -> None:
    """The exit code says whose fault it was."""
    assert run(raising(error), ["fail"]) == code


@pytest.mark.parametrize("code", [0, 1, 2])
def test_a_command_returns_its_own_exit_code(code: int) -> None:
    """A verdict's exit code passes through."""
    assert run(ending(lambda: code), ["fail"]) == code


def test_a_command_looks_for_garbage_rarely() -> None:
    """Its searches make millions of objects and next to no cycles; a caller's own setting comes
    back."""
    before, seen = gc.get_threshold(), []
    try:
        gc.set_threshold(700, 10, 10)
        code = run(click.Command("it", callback=lambda: seen.append(gc.get_threshold())), [])
        after = gc.get_threshold()
    finally:
        gc.set_threshold(*before)
    assert (code, after) == (0, (700, 10, 10))
    assert seen[0][0] >= 50_000


def test_an_error_says_where_what_and_what_next(capsys: pytest.CaptureFixture[str]) -> None:
    """The message has the place, the fact and the advice, on stderr, and stdout stays empty."""
    run(raising(CAUSES[0][0]), ["fail"])
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err == "checkvalve: error: d.yaml:3: there is no task `b`.\n  Declare it.\n"


def test_an_error_with_json_is_one_document(capsys: pytest.CaptureFixture[str]) -> None:
    """With --json, stdout is one document with `error` as its only key."""
    code = run(raising(CAUSES[0][0]), ["fail", "--json"])
    assert json.loads(capsys.readouterr().out) == {"error": {
        "fault": "input", "what": "there is no task `b`", "where": "d.yaml:3",
        "next_step": "Declare it.", "exit_code": code,
    }}


def test_a_budget_that_is_spent_with_json_is_a_document_too(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Nobody made an error: it is undecided, and the document says of what there was too little."""
    code = run(raising(OutOfMemory("drawing programs")), ["fail", "--json"])
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, json.loads(
        (ROOT / "docs" / "schemas" / "error.json").read_text(encoding="utf-8")))
    assert (code, document["error"]["fault"]) == (2, "budget")


def test_an_error_of_ours_asks_for_a_report_without_a_traceback(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """An unexpected exception asks for a report and names its place, without a traceback."""
    run(raising(ValueError("a bug")), ["fail"])
    told = capsys.readouterr().err
    assert "ValueError: a bug" in told and "please report it" in told
    assert "test_cli_outcome.py:" in told and "Traceback" not in told


def test_the_traceback_is_there_for_who_asks(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """CHECKVALVE_TRACEBACK=1 shows where an error came from."""
    monkeypatch.setenv("CHECKVALVE_TRACEBACK", "1")
    run(raising(ValueError("a bug")), ["fail"])
    assert "Traceback" in capsys.readouterr().err


def test_a_missing_extra_is_named_with_the_command_that_installs_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A module of an extra that is not installed leads to that extra."""
    run(raising(ModuleNotFoundError("No module named 'janus'", name="janus")), ["fail"])
    told = capsys.readouterr().err
    assert "pip install" in told and "[targets]'" in told


def test_a_closed_pipe_ends_quietly() -> None:
    """When the reader of stdout has gone, nothing is printed about it."""
    program = (
        "import click, sys\n"
        "from checkvalve.conformance.cli.outcome import run\n"
        "group = click.Group('checkvalve')\n"
        "group.command('flood')(lambda: [click.echo('x' * 999) for _ in range(9999)] and None)\n"
        "sys.exit(run(group, ['flood']))\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def test_a_sigterm_ends_a_command_as_an_interrupt_does(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The exit code is the shell's, and the next SIGTERM is handled as before the run."""
    before = signal.getsignal(signal.SIGTERM)
    assert run(ending(lambda: os.kill(os.getpid(), signal.SIGTERM)), ["fail"]) == 143
    assert capsys.readouterr().err == "Terminated.\n"
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_sigterm_leaves_no_process_behind() -> None:
    """When stdout comes to its end, all its holders have ended: workers, and the processes that
    serve them.
    """
    program = (
        "import os, signal\n"
        "from concurrent.futures import ProcessPoolExecutor\n"
        "from checkvalve.conformance.cli import main\n"
        "begin = ProcessPoolExecutor.submit\n"
        "def begin_and_end(*arguments, **options):\n"
        "    begin(*arguments, **options)\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
        "ProcessPoolExecutor.submit = begin_and_end\n"
        "main(['conform', 'reference', '--cases', '5000', '--jobs', '2'])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=60,
                          check=False)
    assert (done.returncode, done.stderr) == (143, b"Terminated.\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("arguments", [["--help"], ["frobnicate", "--json"]])
def test_a_full_stdout_is_told_once_and_ends_with_64(arguments: list[str]) -> None:
    """One message on stderr, also where the document of an error cannot be written."""
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "checkvalve.conformance.cli", *arguments], stdout=full,
            stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 64
    assert "cannot write the output" in done.stderr
    assert "internal error" not in done.stderr and "Traceback" not in done.stderr
