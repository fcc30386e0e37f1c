"""Programs that misbehave: each is killed in time and reported as an error of the target."""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from checkvalve.conformance.adapters.process import ProcessTarget, close_idle
from checkvalve.conformance.ports.base import Message, Session, SettingsRefused
from checkvalve.conformance.systems.catalogue import port_named
from checkvalve.spec.notation.errors import InputError, TargetError

HELLO = {"do": "hello", "protocol": 1, "port": "queue", "settings": {"capacity": 1}}
LIMIT_SECONDS = 1.0
"""For a program that is to be late."""
PATIENCE_SECONDS = 30.0
"""For one that fails by itself, on a machine that is busy with other tests."""

PRELUDE = """
import json, os, subprocess, sys, time
from pathlib import Path
out, log = sys.stdout.buffer, sys.stderr.buffer
GREETING = {"name": "x", "version": "1", "can": ["offer", "poll"], "policy": "reject"}
def read(): return json.loads(sys.stdin.readline())
def say(text):
    out.write(text if isinstance(text, bytes) else text.encode()); out.flush()
def reply(request, **fields): say(json.dumps({"id": request["id"], **fields}) + "\\n")
def greet():
    request = read(); reply(request, ok=GREETING); return request
def hang():
    while True: time.sleep(600)
"""

# What it does, and what the error must say.
AT_HELLO = {
    "exits at once": ("sys.exit(3)", "ended with exit status 3"),
    "is killed": ("read(); os.kill(os.getpid(), 9)", "was ended by signal 9"),
    "raises": ("read(); raise KeyError('my mistake')", "KeyError: 'my mistake'"),
    "hangs": ("read(); hang()", "did not answer within 1 s"),
    "dies in the middle of a line": ("read(); say('{\"id\": 1, \"o')", r'printed: {"id": 1, "o'),
    "stops in the middle of a line":
        ("read(); say('{\"id\": 1'); hang()", "did not answer within 1 s"),
    "closes its stdout": ("read(); os.close(1); hang()", "closed its stdout"),
    "prints rubbish": ("read(); say('hello there\\n'); hang()", "not JSON"),
    "prints bytes that are not UTF-8": ("read(); say(b'\\xff\\xfe\\n'); hang()", "not JSON"),
    "prints NaN": ("read(); say('{\"id\":1,\"ok\":NaN}\\n'); hang()", "NaN is not JSON"),
    "repeats a key":
        ("read(); say('{\"id\":1,\"ok\":null,\"ok\":5}\\n'); hang()", "the key ok comes twice"),
    "nests without end": ("read(); say('[' * 100000 + '\\n'); hang()", "not JSON"),
    "prints a list": ("read(); say('[1]\\n'); hang()", "not a JSON object"),
    "prints an empty line": ("read(); say('\\n'); hang()", "not JSON"),
    "prints 100 MB without a line feed":
        ("read(); say(b'x' * 100_000_000); hang()", "more than 1048576 bytes"),
    "prints without end": ("read()\nwhile True: say('x' * 65536)", "more than 1048576 bytes"),
    "floods stderr and hangs":
        ("read()\nfor n in range(3000): log.write(b'%09d' % n * 1000 + b'\\n')\nhang()",
         "did not answer within 1 s"),
    "answers with another id": ("reply({**read(), 'id': 7}, ok=GREETING); hang()", "another id"),
    "answers with the id true": ("reply({**read(), 'id': True}, ok=GREETING)", "another id"),
    "answers without an id": ("read(); say('{\"ok\": true}\\n'); hang()", "another id"),
    "answers nothing": ("reply(read()); hang()", "exactly one of ok, waiting and error"),
    "greets without a policy":
        ("del GREETING['policy']; reply(read(), ok=GREETING)", "ok.policy must be"),
}


def program(folder: Path, body: str, limit: float = PATIENCE_SECONDS) -> ProcessTarget:
    """An adapter with the text ``body``, with ``limit`` seconds for a reply."""
    script = folder / "adapter.py"
    script.write_text(PRELUDE + body)
    return ProcessTarget("hostile", [sys.executable, "-S", str(script)], limit, port_named)


@pytest.fixture(autouse=True)
def no_idle_process() -> Iterator[None]:
    """End each process that a test leaves in the pool."""
    yield
    close_idle()


@pytest.mark.parametrize(("body", "words"), AT_HELLO.values(), ids=AT_HELLO.keys())
def test_a_program_that_misbehaves_is_reported_in_time(
    tmp_path: Path, body: str, words: str
) -> None:
    """The error says what it did, and comes within the limit of one reply."""
    limit = LIMIT_SECONDS if "did not answer" in words else PATIENCE_SECONDS
    session = program(tmp_path, body, limit).open()
    start = time.monotonic()
    with pytest.raises(TargetError) as caught:
        session.request(HELLO)
    assert words in str(caught.value)
    assert time.monotonic() - start < PATIENCE_SECONDS
    assert len(str(caught.value)) < 2000
    session.close()


def greeted(folder: Path, body: str, limit: float = PATIENCE_SECONDS) -> Session:
    """A session with an adapter that greets as it should and then does ``body``."""
    session = program(folder, "greet()\n" + body, limit).open()
    session.request(HELLO)
    return session


@pytest.mark.parametrize("body", [
    "say('{\"id\": 2, \"ok\": true}\\n'); read(); sys.exit()",
    "first = read(); reply(first, ok=True); reply(first, ok=True); read(); sys.exit()",
], ids=["before it is asked", "twice"])
def test_a_reply_that_was_not_asked_for_is_an_error(tmp_path: Path, body: str) -> None:
    """One request, one reply; what comes besides is found at the next request at the latest."""
    session = greeted(tmp_path, body)
    requests: list[Message] = [{"do": "offer", "item": item} for item in range(3)]
    with pytest.raises(TargetError):
        list(map(session.request, requests))


def test_the_request_that_a_program_fails_at_is_named(tmp_path: Path) -> None:
    """Not the last one that it answered."""
    session = greeted(tmp_path, "reply(read(), ok=True); read(); sys.exit(3)")
    session.request({"do": "offer", "item": 1})
    with pytest.raises(TargetError, match="asked for poll, ended with exit status 3"):
        session.request({"do": "poll"})


def test_a_program_that_does_not_read_does_not_block_us(tmp_path: Path) -> None:
    """A request larger than the pipe is given up at the limit."""
    session = greeted(tmp_path, "hang()", limit=2 * LIMIT_SECONDS)
    start = time.monotonic()
    with pytest.raises(TargetError, match="did not answer"):
        session.request({"do": "poll", "note": "x" * 1_000_000})
    assert time.monotonic() - start < PATIENCE_SECONDS


def test_a_flood_on_stderr_does_not_disturb_the_replies(tmp_path: Path) -> None:
    """stderr is drained while we wait, so that the adapter never blocks on it."""
    session = greeted(
        tmp_path, "request = read()\nfor _ in range(200): log.write(b'x' * 65536)\n"
        "reply(request, ok=True)\nread()")
    assert session.request({"do": "offer", "item": 1})["ok"] is True
    session.close()


def test_the_error_ends_with_the_last_lines_of_stderr(tmp_path: Path) -> None:
    """The adapter's own words are what its author needs."""
    with pytest.raises(TargetError, match=r"line 98 \| line 99"):
        program(tmp_path, "read()\nfor n in range(100): print('line', n, file=sys.stderr)\n"
                ).open().request(HELLO)


def test_a_failed_session_stays_failed(tmp_path: Path) -> None:
    """After an error, nothing more is asked of the program."""
    session = program(tmp_path, "sys.exit(0)").open()
    for _ in range(2):
        with pytest.raises(TargetError):
            session.request(HELLO)


def is_running(pid: int) -> bool:
    """True if the process is there and not a zombie."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")
@pytest.mark.parametrize("ending", ["hang()", "os._exit(0)"], ids=["hangs", "has ended"])
def test_the_whole_process_group_is_killed(tmp_path: Path, ending: str) -> None:
    """A child of the adapter that ignores SIGTERM and holds its stdout open is killed too."""
    note = tmp_path / "pids"
    child = "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(600)"
    body = (f"read(); child = subprocess.Popen([sys.executable, '-S', '-c', {child!r}])\n"
            f"Path({str(note)!r}).write_text(f'{{os.getpid()}} {{child.pid}}')\n{ending}")
    with pytest.raises(TargetError):
        program(tmp_path, body, 2 * LIMIT_SECONDS).open().request(HELLO)
    deadline = time.monotonic() + PATIENCE_SECONDS
    pids = [int(each) for each in note.read_text().split()]
    while any(map(is_running, pids)) and time.monotonic() < deadline:
        os.sched_yield()
    assert not any(map(is_running, pids))


SERVER = """
while True:
    line = sys.stdin.readline()
    if not line: break
    request = json.loads(line)
    GREETING["version"] = str(os.getpid())
    if request["do"] == "hello": reply(request, ok={**GREETING, **MORE})
    elif request["do"] == "offer" and request["item"] == "die": sys.exit(1)
    else: reply(request, ok=True)
"""


def process_of(target: ProcessTarget, *items: str) -> str:
    """The process that served a session in which ``items`` were offered."""
    session = target.open()
    try:
        version: str = session.request(HELLO)["ok"]["version"]
        for item in items:
            session.request({"do": "offer", "item": item})
    finally:
        session.close()
    return version


def test_one_process_serves_many_sessions(tmp_path: Path) -> None:
    """A second hello goes to the process that the first session gave back."""
    target = program(tmp_path, "MORE = {}" + SERVER)
    assert process_of(target) == process_of(target, "a") == process_of(target)


def test_a_program_that_cannot_start_afresh_gets_a_process_each_time(tmp_path: Path) -> None:
    """`"again": false` in the hello says so."""
    target = program(tmp_path, "MORE = {'again': False}" + SERVER)
    assert process_of(target) != process_of(target)


@pytest.mark.parametrize(("more", "kept"), [("{}", True), ("{'again': False}", False)])
def test_a_refused_hello_does_not_end_a_program_that_can_start_afresh(
    tmp_path: Path, more: str, kept: bool
) -> None:
    """Its last greeting counts, for a refusal says nothing about it."""
    target = program(tmp_path, f"MORE = {more}" + SERVER.replace(
        'if request["do"] == "hello":',
        'if request.get("settings") == {"capacity": 2}:\n'
        '        reply(request, error="unsupported-capacity", definite=True)\n'
        '    elif request["do"] == "hello":'))
    first = process_of(target)
    with target.open() as session, pytest.raises(SettingsRefused):
        session.request(HELLO | {"settings": {"capacity": 2}})
    assert (process_of(target) == first) is kept


def test_sessions_at_the_same_time_have_processes_of_their_own(tmp_path: Path) -> None:
    """A process serves one session at a time."""
    target = program(tmp_path, "MORE = {}" + SERVER)
    with target.open() as one, target.open() as other:
        assert one.request(HELLO)["ok"]["version"] != other.request(HELLO)["ok"]["version"]


def test_a_failed_session_is_not_held_against_the_next(tmp_path: Path) -> None:
    """The process that died is replaced."""
    target = program(tmp_path, "MORE = {}" + SERVER)
    first = process_of(target)
    with pytest.raises(TargetError, match="exit status 1"):
        process_of(target, "die")
    assert process_of(target) != first


def test_a_program_that_died_while_idle_is_replaced(tmp_path: Path) -> None:
    """Its death belongs to no session."""
    target = program(tmp_path, "MORE = {}" + SERVER)
    first = process_of(target)
    os.kill(int(first), 9)
    assert process_of(target) != first


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")
def test_a_session_that_nobody_closed_leaves_no_process(tmp_path: Path) -> None:
    """It ends with the last reference to it."""
    session = program(tmp_path, "MORE = {}" + SERVER).open()
    pid = int(session.request(HELLO)["ok"]["version"])
    assert is_running(pid)
    del session
    gc.collect()
    assert not is_running(pid)


def test_a_program_that_cannot_be_started_is_bad_input(tmp_path: Path) -> None:
    """A text without a `#!` line is nobody's program."""
    script = tmp_path / "adapter"
    script.write_text("\x00")
    script.chmod(0o755)
    with pytest.raises(InputError, match="cannot be started"):
        ProcessTarget("x", [str(script)], 1.0, port_named).open()
