"""The kinds of input, each with real examples that are mutated."""

from __future__ import annotations

import json
import signal
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import replace
from functools import cache
from io import StringIO
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any, Final

import click

from checkvalve.conformance.adapters.process import converse
from checkvalve.conformance.adapters.session import CheckedSession
from checkvalve.conformance.chapters.file import fault_of
from checkvalve.conformance.chapters.host import load as load_chapter
from checkvalve.conformance.gate.report import Row
from checkvalve.conformance.ports.base import Adapter, Message
from checkvalve.conformance.systems.catalogue import port_named
from checkvalve.spec.notation.errors import TargetError
from checkvalve.spec.verdicts.verdict import Budget

from .designs import (
    called, feed_certificate, feed_design, feed_format, make_certificate, make_design, make_format,
)
from .examples import TWINS, chapters, designs
from .logs import feed_campaign, feed_log, make_campaign, make_log
from .mutate import broken_bytes, broken_python, broken_tree, json_text, toml_text
from .runner import Subject
from .sizes import feed_sized, make_sized

__all__ = ["SUBJECTS"]

_ROWS_MAX: Final = 3
_OWN_SECONDS: Final = 0.5
_BUDGET: Final = Budget(max_seconds=1.0, max_states=150)


# ---- configurations ------------------------------------------------------------------------

_GATE: Final = """
verify = ["flow"]
[[designs]]
files = ["line.yaml", "**/line.yaml"]
max_seconds = 5
[[designs]]
files = ["*.yaml"]
[[suites]]
suite = "queue"
targets = ["reference", "deque", "python:mine:Queue", "command:./adapter --x"]
cases = 40
seed = 7
timeout = 2.5
optional = ["deque"]
known = {deque = ["QUEUE-4"]}
[[suites]]
suite = "storm.input"
targets = ["reference.storm.input"]
"""


def _configuration(random: Random) -> bytes:
    if random.random() < 0.4:
        return broken_bytes(random, _GATE.encode())
    tree = broken_tree(random, tomllib.loads(_GATE))
    return toml_text(tree if isinstance(tree, dict) else {"suites": tree}).encode()


def _feed_configuration(path: Path, _index: int) -> object:
    """Read it, and run its designs; to run its suites is what other inputs are for."""
    from checkvalve.conformance.gate import load, run_gate

    (path.parent / "line.yaml").write_text(designs()[0])
    config = load(path)
    few = tuple(replace(each, files=each.files[:2], limits=replace(
        each.limits, max_seconds=min(1.0, each.limits.max_seconds or 1.0)))
                for each in config.designs[:2])
    return run_gate(replace(config, designs=few, suites=(), verify=()), _tell).exit_code


def _tell(rows: tuple[Row, ...]) -> None:
    for row in rows:
        click.echo(row.message, err=True)


# ---- fixtures ------------------------------------------------------------------------------

@cache
def _fixtures() -> tuple[tuple[str, str], ...]:
    """Failures as they are saved now, each with a target to replay it on."""
    from checkvalve.conformance.systems.catalogue import zoo
    from checkvalve.conformance.systems.targets import reference_of
    from checkvalve.conformance.zoo.hunt import hunt
    found = []
    for name in TWINS:
        fixture = hunt(zoo()[name], enough=1).fixture
        assert fixture is not None, name
        found.append((fixture.to_json(), reference_of(fixture.suite)))
    return tuple(found)


def _fixture(random: Random) -> bytes:
    text, _ = random.choice(_fixtures())
    if random.random() < 0.25:
        return broken_bytes(random, text.encode())
    return json_text(broken_tree(random, json.loads(text))).encode()


def _feed_fixture(path: Path, index: int) -> object:
    targets = [target for _, target in _fixtures()]
    try:
        suite = json.loads(path.read_bytes())["suite"]
        own = [target for text, target in _fixtures() if json.loads(text)["suite"] == suite]
    except (ValueError, TypeError, KeyError, RecursionError):
        own = []
    # Now and then a target of another suite, as a user may name by mistake.
    chosen = own[:1] if own and index % 10 else targets
    return called(["replay", str(path), chosen[index % len(chosen)], "--json"])


# ---- chapters ------------------------------------------------------------------------------


def _chapter(random: Random) -> bytes:
    text = random.choice(chapters())
    if random.random() < 0.15:
        return broken_bytes(random, text.encode())
    return broken_python(random, text).encode("utf-8", "surrogatepass")


def _feed_chapter(path: Path, _index: int) -> object:
    """What the child that verifies a chapter does, without the child."""
    try:
        with redirect_stdout(StringIO()):
            with _own_time():
                deciding = load_chapter(path, _BUDGET)
            rows = [deciding.row(number) for number in range(len(deciding.promised))[:_ROWS_MAX]]
    except Exception as error:
        raise fault_of(path, error) from error
    return 0 if all(row.as_expected for row in rows) else 1


@contextmanager
def _own_time() -> Iterator[None]:
    """End what a chapter does by itself, as the parent of its child would, but sooner."""
    def ring(_number: int, _frame: FrameType | None) -> None:
        raise TimeoutError("it does not come to an end")

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, _OWN_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


# ---- replies of adapters -------------------------------------------------------------------


class _Scripted:
    """A target that answers as a real one does, but for one reply: it is ``broken`` there."""

    name = "the scripted adapter"

    def __init__(self, make: Callable[[], Adapter], broken: int, reply: bytes) -> None:
        self._make = make
        self._broken = broken
        self._reply = reply

    def open(self) -> CheckedSession:
        """A new instance of the child, with its mutations."""
        line = _Line(_Child(self._make(), self._broken, self._reply))
        return CheckedSession(self.name, line, port_named)

    def renew(self) -> bool:
        """See ``Target.renew``: it is of this process."""
        return False


class _Child:
    """Stands for the process: it is asked for one line after another."""

    number = 0

    def __init__(self, adapter: Adapter, broken: int, reply: bytes) -> None:
        self._adapter = adapter
        self._broken = broken
        self._reply = reply

    def ask(self, request: bytes, _patience: float | None = None) -> bytes:
        """The line that answers ``request``."""
        message = json.loads(request)
        number = message.pop("id")
        reply = {"id": number, **self._adapter.request(message)}
        if number == self._broken:
            return mutated(self._reply, json.dumps(reply))
        return json.dumps(reply).encode()

    def failed(self, what: str, shown: bytes = b"") -> TargetError:
        """The error that a process ends with."""
        return TargetError(f"{what}; it printed {shown[:40]!r}", next_step="Mend it.")


class _Line:
    def __init__(self, child: _Child) -> None:
        self._child = child

    def exchange(self, message: Message) -> object:
        # It is as much of a child as is used.
        return converse(self._child, message)  # type: ignore[arg-type]

    def close(self, *, failed: bool) -> None:
        """There is no process to end."""


def mutated(how: bytes, reply: str) -> bytes:
    """A reply with the mutation that the seed ``how`` says."""
    random = Random(how)
    if random.random() < 0.25:
        line = broken_bytes(random, reply.encode())
    else:
        line = json_text(broken_tree(random, json.loads(reply))).replace("\n", "").encode()
    return line.partition(b"\n")[0]


def _replies(random: Random) -> bytes:
    text, target = random.choice(_fixtures())
    steps = len(json.loads(text)["steps"])
    return json.dumps({"fixture": text, "target": target, "broken": random.randint(1, steps + 1),
                       "reply": random.randrange(2**40)}).encode()


def _feed_replies(path: Path, _index: int) -> object:
    from checkvalve.conformance.campaigns.replay import replay
    from checkvalve.conformance.suites.fixture import read_fixture
    from checkvalve.conformance.systems.targets import adapter_factory

    plan: dict[str, Any] = json.loads(path.read_bytes())
    target = _Scripted(adapter_factory(plan["target"]), plan["broken"], str(plan["reply"]).encode())
    return int(replay(read_fixture(plan["fixture"], str(path)), target).breach is not None)


SUBJECTS: Final = {subject.name: subject for subject in (
    Subject("design", ".yaml", make_design, feed_design),
    Subject("format", ".txt", make_format, feed_format),
    Subject("certificate", ".txt", make_certificate, feed_certificate),
    Subject("toml", ".toml", _configuration, _feed_configuration),
    Subject("fixture", ".json", _fixture, _feed_fixture),
    Subject("chapter", ".py", _chapter, _feed_chapter),
    Subject("adapter", ".json", _replies, _feed_replies),
    Subject("log", ".json", make_log, feed_log),
    Subject("campaign", ".toml", make_campaign, feed_campaign),
    Subject("sizes", ".txt", make_sized, feed_sized),
)}
