"""A server of ours comes up, keeps its data, and is gone when its run is."""

from __future__ import annotations

import os
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from checkvalve.conformance.computer.patience import Countdown
from checkvalve.conformance.services.process import KeptProcess
from checkvalve.conformance.services.programs import Program
from checkvalve.conformance.services.proxy import Proxy
from checkvalve.conformance.services.server import HOST
from checkvalve.conformance.services.zookeeper import ZooKeeper
from checkvalve.spec.notation.errors import InputError, TargetError

SLEEPER = (sys.executable, "-c", "import time; print('here', flush=True); time.sleep(600)")


@pytest.fixture
def kept() -> Iterator[KeptProcess]:
    """A program that has begun, and would run for ten minutes."""
    process = KeptProcess(SLEEPER, stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"here\n"
    yield process
    process.close()


def is_there(process: int) -> bool:
    """True if a process of this number runs; False if it only waits to be buried."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):    # before it was opened, or after
        return False
    return state != "Z"


def wait_until_gone(process: int) -> bool:
    """True if a process is gone, once it was given the time."""
    left = Countdown(20)
    while is_there(process) and not left.over:
        os.sched_yield()
    return not is_there(process)


def test_a_stopped_program_goes_on_when_it_is_told_to(kept: KeptProcess) -> None:
    """It is running all the time, for it has not ended."""
    kept.send(signal.SIGSTOP)
    kept.send(signal.SIGCONT)
    assert kept.is_running
    kept.end()
    assert kept.code == -signal.SIGTERM


def test_a_program_that_does_not_heed_a_request_to_end_is_killed(kept: KeptProcess) -> None:
    """When that had its time."""
    kept.end(signal.SIGCONT, seconds=0.05)
    assert kept.code == -signal.SIGKILL


def test_closing_ends_a_program_that_was_stopped(kept: KeptProcess) -> None:
    """Nothing has to be resumed first."""
    kept.send(signal.SIGSTOP)
    kept.close()
    assert not is_there(kept.pid)


def test_a_program_ends_with_the_process_that_asked_for_it() -> None:
    """Also where that process was killed, and could do nothing about it."""
    owner = subprocess.Popen(
        [sys.executable, "-c",
         "import sys; from checkvalve.conformance.services.process import KeptProcess\n"
         f"kept = KeptProcess({SLEEPER!r})\nprint(kept.pid, flush=True)\nsys.stdin.read()"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with owner:
        assert owner.stdout is not None
        process = int(owner.stdout.readline())
        owner.kill()
    assert wait_until_gone(process)


def test_a_program_that_is_not_there_is_told_by_its_name() -> None:
    """The message says what to do about it."""
    with pytest.raises(InputError, match="no-such-program cannot be started") as caught:
        KeptProcess(["no-such-program"])
    assert "PATH" in caught.value.next_step
    with pytest.raises(InputError, match="no-such-program was not found") as caught:
        Program("no-such-program", "nothing-server", "Nothing").find()
    assert "apt-get install nothing-server" in caught.value.next_step


@pytest.mark.services
def test_zookeeper_keeps_its_data_and_sessions_over_a_crash() -> None:
    """It is killed and started again on the same port; clients continue."""
    from kazoo.client import KazooClient

    with ZooKeeper() as server:
        address, folder = server.address, server.folder
        client = KazooClient(server.address, timeout=20.0)
        client.start(60)
        session = client.client_id
        client.create("/kept", b"what was written", ephemeral=True)
        server.restart()
        assert server.address == address
        assert client.retry(client.get, "/kept")[0] == b"what was written"
        assert client.client_id == session
        client.stop()
        client.close()
    assert not folder.exists()


def is_told_something(port: int) -> bool:
    """True if a client that asks for a session there is answered, or turned away, in 5 s."""
    asks = struct.pack(">iqiqi", 0, 0, 20_000, 0, 16) + bytes(17)
    try:
        with socket.create_connection((HOST, port), 5) as connection:
            connection.sendall(struct.pack(">i", len(asks)) + asks)
            connection.recv(64)
    except TimeoutError:
        return False
    except OSError:
        pass
    return True


@pytest.mark.services
def test_nobody_waits_in_vain_who_comes_while_zookeeper_starts() -> None:
    """A client is turned away, or has its session: it is not taken and then forgotten."""
    with ZooKeeper() as server, ThreadPoolExecutor(1) as pool:
        for _ in range(3):
            server.kill()
            back = pool.submit(server.start)
            while not back.done():
                assert is_told_something(server.port)
            back.result()


@pytest.mark.services
def test_a_server_that_does_not_come_up_is_told_with_the_end_of_its_log() -> None:
    """Here it cannot read its configuration: a tick of no time."""
    with pytest.raises(TargetError, match="the ZooKeeper server at .* ended with code"):
        ZooKeeper(tick=0).start()


def test_a_relay_that_is_cut_holds_back_what_is_sent_until_it_is_mended() -> None:
    """Neither side learns of it: the connection stays."""
    with socket.create_server((HOST, 0)) as listener, \
            Proxy(listener.getsockname()[1]) as relay, \
            socket.create_connection((HOST, relay.port)) as client:
        server, _ = listener.accept()
        with server:
            client.sendall(b"before")
            assert server.recv(64) == b"before"
            relay.cut()
            client.sendall(b"meanwhile")
            with pytest.raises(BlockingIOError):
                server.recv(64, socket.MSG_DONTWAIT)
            relay.mend()
            assert server.recv(64) == b"meanwhile"


def test_an_end_is_passed_on_by_a_relay() -> None:
    """A connection that closes on one side closes on the other."""
    with socket.create_server((HOST, 0)) as listener, \
            Proxy(listener.getsockname()[1]) as relay:
        with socket.create_connection((HOST, relay.port)):
            server, _ = listener.accept()
        with server:
            assert server.recv(64) == b""
