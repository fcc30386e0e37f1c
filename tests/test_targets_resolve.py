"""From the name of a target to the target; what names nothing gets one clear message."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from checkvalve.conformance.adapters.process import close_idle
from checkvalve.conformance.cli import root
from checkvalve.conformance.cli.outcome import run
from checkvalve.conformance.computer.environment import GO_ADVICE, find_go
from checkvalve.conformance.ports.base import Message, Session
from checkvalve.conformance.systems.targets import check_name, known_targets, resolve_target
from checkvalve.spec.notation.errors import CheckvalveError, InputError, TargetError

HELLO = {"do": "hello", "protocol": 1, "port": "queue", "settings": {"capacity": 2}}

MODULE = '''
from checkvalve.conformance.systems.queue.reference import ReferenceQueue

NUMBER = 7

class Unborn:
    def __init__(self):
        raise OSError("no queue today")

def make():
    return ReferenceQueue

def make_nothing():
    return None
'''

Opener = Callable[[str], Session]


@pytest.fixture(autouse=True)
def no_idle_process() -> Iterator[None]:
    """End each process that a test leaves in the pool."""
    yield
    close_idle()


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Opener:
    """Opens and greets a factory of ``MODULE``."""
    name = f"adapters_of_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)

    def open_(factory: str) -> Session:
        session = resolve_target(f"python:{name}:{factory}", timeout=60).open()
        session.request(HELLO)
        return session

    return open_


@pytest.mark.parametrize("spec", [
    pytest.param(spec, marks=pytest.mark.skipif(
        spec.startswith("go.") and find_go() is None,
        reason=f"needs a compiler of Go: {GO_ADVICE}")) for spec in known_targets()])
def test_every_known_target_resolves_to_its_own_name(spec: str) -> None:
    """A spec is all that an executor elsewhere needs."""
    assert resolve_target(spec).name == spec


@pytest.mark.parametrize(("spec", "words"), [
    ("", "there is no target"),
    ("referrence", "Did you mean reference"),
    ("zoo:unicorn", "no twin unicorn"),
    ("zoo:", "no twin"),
    ("json:dumps", "no kind of target json"),
    ("mine.py:Queue", "Write python:mine:Queue"),
    ("no.such.module:make", "Write python:no.such.module:make"),
    ("python:", "names no factory"),
    ("python:json", "names no factory"),
    ("python::dumps", "names no factory"),
    ("python:no.such.module:make", "No module named"),
    ("python:json:nothing", "the module json has no nothing"),
    ("python:json:__name__", "__name__ of the module json cannot be called"),
    ("python:..json:dumps", "cannot be imported"),
    ("command:", "names no program"),
    ("command:'unclosed", "cannot be read"),
    ("command:./no-such-adapter --fast", "not there, or is not executable"),
])
def test_a_spec_that_names_nothing_is_bad_input(spec: str, words: str) -> None:
    """The message says what was not found and what to write."""
    with pytest.raises(InputError) as caught:
        resolve_target(spec)
    assert words in str(caught.value)
    assert caught.value.next_step


@pytest.mark.parametrize("command", ["conform", "gate"])
def test_a_factory_without_python_before_it_is_refused_and_never_imported(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Nothing of a user's runs in the process that gives the verdict."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "ends_it.py").write_text("import os\nos._exit(0)\n")
    (tmp_path / "checkvalve.toml").write_text(
        '[[suites]]\nsuite = "queue"\ntargets = ["ends_it:make"]\n')
    argument = "ends_it:make" if command == "conform" else "."
    assert run(root, [command, argument, "--json"]) == 64
    shown = json.loads(capsys.readouterr().out)["error"]
    assert "Write python:ends_it:make" in shown["next_step"]


@pytest.mark.parametrize("timeout", [0.0, -1.0, float("nan"), float("inf")])
def test_a_time_limit_is_a_positive_number(timeout: float) -> None:
    """Without a limit, a target could make us hang."""
    with pytest.raises(InputError, match="time limit"):
        resolve_target("reference", timeout=timeout)


def test_a_module_that_fails_to_import_is_bad_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message has the exception, and the file and line that raised it."""
    (tmp_path / "failing_adapter.py").write_text("\n\nraise ValueError('half written')\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InputError, match="half written") as caught:
        resolve_target("python:failing_adapter:make")
    assert caught.value.where.endswith("failing_adapter.py:3")


def test_a_factory_may_return_a_class(opened: Opener) -> None:
    """`make` returns a class, of which each session gets an instance."""
    assert opened("make").request({"do": "offer", "item": 1})["ok"] is True


def test_a_factory_that_makes_no_adapter_is_bad_input(opened: Opener) -> None:
    """The made object has no method `request`."""
    with pytest.raises(InputError, match="made a NoneType, which has no method request") as caught:
        opened("make_nothing")
    line = MODULE[: MODULE.index("def make_nothing")].count("\n") + 1
    assert caught.value.where.endswith(f".py:{line}")


def test_an_adapter_that_cannot_be_made_is_an_error_of_the_target(opened: Opener) -> None:
    """Its constructor is the target's code too."""
    with pytest.raises(TargetError, match="no queue today") as caught:
        opened("Unborn")
    assert ".py:" in caught.value.where


@pytest.mark.parametrize(("target", "module", "library"), [
    ("janus", "janus", "janus"), ("anyio", "anyio", "anyio"), ("trio", "trio", "trio"),
    ("zmq.push", "zmq", "pyzmq"),
])
def test_a_library_that_is_missing_is_named_with_what_to_install(
    target: str, module: str, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The optional targets need their library, and say so."""
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(InputError, match=f"pip install {library}"):
        resolve_target(target).open().request(HELLO)


REQUESTS: list[Message] = [
    HELLO, {"do": "put", "item": "a"}, {"do": "put", "item": 2}, {"do": "put", "item": "c"},
    {"do": "poll"}, {"do": "settle"}, {"do": "take"}, {"do": "take"}, {"do": "take"},
    {"do": "cancel", "ticket": "t2"}, {"do": "cancel", "ticket": "t9"}, {"do": "size"},
]


@pytest.mark.parametrize("name", ["reference.deferred", "asyncio.Queue", "zoo:lossy-cancel"])
def test_an_adapter_answers_the_same_on_both_sides_of_a_pipe(name: str) -> None:
    """In process and as a program, one set of messages."""
    host = f"command:{sys.executable} -m checkvalve.conformance.serve {name}"
    heard = []
    for spec in (name, host):
        with closing(resolve_target(spec, timeout=60).open()) as session:
            heard.append([session.request(message) for message in REQUESTS])
    assert heard[0] == heard[1]


@pytest.mark.parametrize(("name", "advice"), [
    ("plans.yaml", "A design is checked by `checkvalve check plans.yaml`"),
    ("belt.py", "Name a class in it: thread:belt:CLASS, or asyncio:belt:CLASS"),
])
def test_a_file_in_the_place_of_a_target_is_told_where_it_belongs(
    name: str, advice: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A design to ``check``, a module by a class in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).touch()
    with pytest.raises(InputError, match="is a file, and no target") as caught:
        resolve_target(name).open()
    assert advice in caught.value.next_step


def test_the_host_says_why_it_cannot_start() -> None:
    """The reason is in the last lines of its stderr, which the error shows."""
    spec = f"command:{sys.executable} -m checkvalve.conformance.serve no-such-thing"
    with pytest.raises(CheckvalveError, match="there is no target no-such-thing"):
        resolve_target(spec, timeout=60).open().request(HELLO)


@pytest.mark.parametrize(("target", "suite", "meant"), [
    ("reference", "timer", "reference.timer"), ("reference.timer", "queue", "reference"),
    ("js", "timer", "js.timer"), ("zoo:silent-drop", "storm.input", "storm.input"),
    ("sched", "kafka.purgatory", "reference.purgatory"),
])
def test_a_target_of_another_suite_is_told_with_the_one_that_was_meant(
    target: str, suite: str, meant: str
) -> None:
    """Before anything runs: a target that answers unknown-port explains nothing."""
    with pytest.raises(InputError, match="and not for " + re.escape(suite)) as caught:
        check_name(target, suite)
    assert meant in caught.value.next_step


@pytest.mark.parametrize(("target", "suite", "meant"), [
    ("datadog", "summaries", "datadog.count"),
    ("referense.timer", "queue", "reference.timer of --suite timer"),
    ("zoo:batch-merge", "summaries", "zoo:batch-merges"),
])
def test_an_unknown_target_is_answered_with_the_nearest_and_what_lists_the_others(
    target: str, suite: str, meant: str
) -> None:
    """The message does not list them all."""
    with pytest.raises(InputError, match="there is no t") as caught:
        check_name(target, suite)
    advice = caught.value.next_step
    assert advice.startswith(f"Did you mean {meant}? `checkvalve targets {suite}` lists")
    assert len(advice) < 400


@pytest.mark.parametrize("name", ["", "  "])
def test_a_target_without_a_name_is_refused_in_a_whole_sentence(name: str) -> None:
    """A variable of a shell that is not set."""
    with pytest.raises(InputError, match="there is no target without a name"):
        check_name(name, "queue")
