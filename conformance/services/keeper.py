"""Runs one program, and ends it when the process that asked for it ends: no server outlives its
run.

``python keeper.py DESCRIPTOR PROGRAM ARGUMENT…``: the descriptor is one end of a socket. What is
written to the other end are names of signals, one a line, which go to the program and all that it
started; when the other end is closed, by a program that crashed or was killed too, they are
killed. This end says ``started PID``, and ``exited CODE`` when the program is over.

It runs as a script of its own, so that it costs a few milliseconds; it imports nothing of ours.
"""

import contextlib
import ctypes
import os
import signal
import socket
import subprocess
import sys
import threading

_PR_SET_PDEATHSIG = 1


def main(descriptor: int, argv: list[str]) -> None:
    """Run ``argv`` until it ends, or the socket does."""
    control = socket.socket(fileno=descriptor)
    try:
        child = subprocess.Popen(argv, start_new_session=True, preexec_fn=_die_with_the_keeper)
    except OSError as error:
        control.sendall(f"failed {error.strerror}\n".encode())
        return
    # The reader of what the child prints waits for the child's end, and not for ours.
    for standard in (0, 1, 2):
        os.close(standard)
    control.sendall(f"started {child.pid}\n".encode())
    threading.Thread(target=_obey, args=(control, child), daemon=True).start()
    code = child.wait()
    with contextlib.suppress(OSError):
        control.sendall(f"exited {code}\n".encode())


def _die_with_the_keeper() -> None:
    """Ask the kernel to kill the child with this process, where it can: Linux."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _obey(control: socket.socket, child: "subprocess.Popen[bytes]") -> None:
    unread = b""
    while received := _receive(control):
        *lines, unread = (unread + received).split(b"\n")
        for name in lines:
            _signal(child, signal.Signals[name.decode()])
    _signal(child, signal.SIGKILL)


def _receive(control: socket.socket) -> bytes:
    try:
        return control.recv(4096)
    except OSError:
        return b""


def _signal(child: "subprocess.Popen[bytes]", number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, number)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
