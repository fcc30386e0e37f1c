"""``python:`` targets: adapters of the user's, each in a child process that may fail.

One child serves the sessions of a target one after another, a new adapter for each; it is
replaced after a failure, so that no case can harm the next. What the child runs is in
``host.py``.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from ...spec.notation.errors import CheckvalveError, InputError, TargetError
from ..ports.base import Message, excerpt
from .child import LATE, Child, last_lines
from ..foreign.guard import own_place
from .host import BOOT, FAREWELL, WHERE_SIGNAL
from ..foreign.loading import IMPORT_ADVICE
from ..foreign.place import ASYNCIO, THREAD, place_of
from .process import Key, Pipe, converse, end_idle, keep_idle, take_idle
from .session import CheckedSession, PortNamed

__all__ = ["FATAL", "STACK", "START_SECONDS", "HostedChild", "HostedTarget", "search_path"]

START_SECONDS: Final = 10.0
"""Real time that a child has to start and to import the target, if a reply has less."""

_INQUIRY_SECONDS: Final = 0.25
FATAL: Final = "Fatal Python error: "
STACK: Final = "(most recent call first):\n"
"""With these the module faulthandler begins, the second after the name of a thread; the child's own
BOOT is at the outer end."""
_THREAD: Final = re.compile(r"\n?^(?:Stack|(?:Current t|T)hread 0x[0-9a-f]+.*) $", re.MULTILINE)
_WAITS: Final = "/reference/drivers/schedules/scheduling.py"
"""The end of the file in which threads wait for their turn."""
_OUTERMOST: Final = 'File "<string>", line 1 in <module>'
_FRAME: Final = re.compile(r'  File "(.*)", line (\d+) in ')
_DEADLY: Final = "Fix it: an adapter answers, and never ends its process."
_IMPORT_LATE: Final = (
    "Look at that line: what a module does at its import has to end. If it only takes long, give "
    "it more time: --timeout.")
_LATE: Final = "Find what it waits for: an adapter answers every request at once."
_BLOCKS: Final = (
    "It keeps the thread of its event loop there: await what it waits for. A class for threads is "
    "named by thread:….")
_UNSEEN: Final = (
    "It may loop forever, or wait in C or for something outside of this process, which cannot be "
    "seen. Then write an adapter for it: docs/settling.md.")


class HostedTarget:
    """The adapters that a Python object makes, as in ``python:package.module:factory``.

    ``makers`` make one of a class that is none itself.
    """

    def __init__(self, name: str, timeout: float, port_named: PortNamed,
                 makers: Mapping[str, str]) -> None:
        self._name = name
        self._timeout = timeout
        self._port_named = port_named
        self._makers = dict(makers)
        self._module = place_of(name).module

    @property
    def name(self) -> str:
        """The spec of this target."""
        return self._name

    def prepare(self) -> None:
        """Have a child ready. Raises ``InputError`` when the target does not import."""
        key = self._key()
        keep_idle(key, take_idle(key) or self._start())

    def open(self) -> CheckedSession:
        """Start or reuse a child. Raises ``InputError`` when the target does not import."""
        pipe = _HostedPipe(self._key(), self._start)
        return CheckedSession(self._name, pipe, self._port_named)

    def renew(self) -> bool:
        end_idle(self._key())
        return True

    def _key(self) -> Key:
        # Elsewhere, or with another search path, the same name may be another module.
        return self._name, self._timeout, os.getcwd(), search_path()

    def _start(self) -> Child:
        child = HostedChild(self._name, self._timeout)
        order = {"path": search_path(), "place": self._name, "name": self._name,
                 "makers": self._makers}
        try:
            reply = converse(child, order, patience=max(self._timeout, START_SECONDS))
            _opened(reply)
        except CheckvalveError as error:
            child.kill()
            raise self._unusable(error) from None
        return child

    def _unusable(self, error: CheckvalveError) -> InputError:
        if isinstance(error, InputError):
            return error
        module = self._module
        if LATE in error.what:
            return InputError(
                f"the module {excerpt(module)} is not imported within "
                f"{error.what.rpartition(LATE)[2].strip()}", error.where, _IMPORT_LATE)
        what = error.what.removeprefix(f"{self._name} ")
        return InputError(
            f"the module {excerpt(module)} cannot be imported: it {what}", error.where,
            IMPORT_ADVICE)


class HostedChild(Child):
    """A child that runs Python of the user's, and can be asked where in its code it is.

    ``boot`` is its text, one line.
    """

    def __init__(self, name: str, timeout: float, boot: str = BOOT) -> None:
        # -P: nothing in the working folder may stand in for a module of the boot.
        super().__init__([sys.executable, "-P", "-c", boot], timeout)
        self.name = name
        self.was_late = False

    def _interrogate(self) -> None:
        self.was_late = True
        with suppress(ProcessLookupError):
            os.kill(self._process.pid, WHERE_SIGNAL)
        deadline = time.monotonic() + _INQUIRY_SECONDS
        while _OUTERMOST not in self._log() and (left := deadline - time.monotonic()) > 0:
            self._pump(left)

    def _keep_tail(self, chunk: bytes) -> None:
        # What a hosted adapter prints on stdout comes here too, and counts.
        super()._keep_tail(chunk)
        self._session_bytes += len(chunk)

    def _told(self, what: str) -> TargetError:
        own_words, *stacks = self._log().split(STACK)
        own_words, _, _ = own_words.partition(FATAL)
        own_words = _THREAD.sub("", own_words)
        threads = [frames for each in stacks if (frames := _FRAME.findall(each))]
        # The thread that has the turn; it is the one that does not come back.
        busy = [frames for frames in threads if not frames[0][0].endswith(_WAITS)] or threads
        place = own_place((file, int(line)) for frames in busy for file, line in reversed(frames))
        return TargetError(f"{self.name}{self._request} {what}{self._printed(own_words)}",
                           place, self._advice)

    @property
    def _advice(self) -> str:
        if not self.was_late:
            return _DEADLY
        return {THREAD: _UNSEEN, ASYNCIO: _BLOCKS}.get(self.name.partition(":")[0], _LATE)

    def _printed(self, log: str) -> str:
        """The part of a message about all that the child has printed."""
        return last_lines(log)


class _HostedPipe(Pipe):
    """The transport that is a host: it opens the envelopes."""

    _closes = False

    def _exchange(self, message: Message) -> object:
        assert isinstance(self._child, HostedChild)
        reply = super()._exchange(message)
        assert isinstance(reply, dict)
        self._closes = reply.get("closes") is True
        return _opened(reply)

    def _comes_again(self, greeting: object) -> bool:
        # The host makes a new adapter for each hello, whatever the one before answered.
        return True if greeting is None else super()._comes_again(greeting)

    def _part(self, child: Child) -> None:
        if self._closes:
            assert isinstance(child, HostedChild)
            child.asked = "close"
            _opened(converse(child, {"do": FAREWELL}))


def _opened(envelope: Message) -> Any:
    """The adapter's answer in an envelope; raises the error that its host reports."""
    failed = envelope.get("failed")
    if failed is None:
        return envelope.get("reply")
    kind = InputError if failed["fault"] == "input" else TargetError
    raise kind(failed["what"], failed["where"], failed["next_step"])


def search_path() -> tuple[str, ...]:
    """The folders in which this process looks for modules; the working folder is always among them.
    """
    path = [str(place) for place in sys.path]
    if "" not in path and os.getcwd() not in path:
        path.append(os.getcwd())
    return tuple(path)
