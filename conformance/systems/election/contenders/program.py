"""One candidate as a program: a request a line on stdin, a reply a line on stdout, in JSON.

``{"do": "join"}`` and so on; a reply is ``{"ok": …, "gap": milliseconds}``. The gap is the longest
time since the last reply in which this process did not get to run: a candidate on a machine that
was too busy to send its heartbeats has not been tested.
"""

from __future__ import annotations

import json
import logging
import sys
import threading
import time
from importlib import import_module
from typing import Any, Final

from .campaign import Campaign, Where

__all__ = ["main"]

KINDS: Final = {
    "kazoo.election": "kazoo:KazooElection", "kazoo.lock": "kazoo:KazooLock",
    "etcd": "etcd:EtcdElection", "redis": "redis:RedisLock", "redlock": "redis:Redlock",
    "postgresql": "postgresql:AdvisoryLock",
}
_BEAT_SECONDS: Final = 0.02


class _Pulse:
    """A thread that only reads the clock."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._longest = 0.0
        self._last = time.monotonic()
        threading.Thread(target=self._run, daemon=True).start()

    def take(self) -> int:
        """The longest gap since the last call, in milliseconds, including one that ends now."""
        self._look()
        with self._turn:
            longest, self._longest = self._longest, 0.0
        return int(longest * 1000)

    def _run(self) -> None:
        while True:
            time.sleep(_BEAT_SECONDS)
            self._look()

    def _look(self) -> None:
        with self._turn:
            now = time.monotonic()
            self._longest = max(self._longest, now - self._last - _BEAT_SECONDS)
            self._last = now


class _Program:
    """Answers requests; ``write`` sends the token of the last ``ask``."""

    def __init__(self, campaign: Campaign) -> None:
        self._campaign = campaign
        self._holds: int | None = None

    def answer(self, do: str) -> Any:
        """Carry out one request of the harness."""
        if do == "join":
            self._campaign.join()
        elif do == "resign":
            self._campaign.resign()
        elif do == "ask":
            self._holds = self._campaign.token()
            return self._holds
        elif do == "look":
            return self._campaign.token()
        elif do == "write":
            return self._holds
        elif do == "session":
            return self._campaign.session()
        return True


def main(kind: str, where: str) -> None:
    """Run one candidate of a kind until stdin ends; ``where`` is a ``Where`` in JSON."""
    logging.disable(logging.CRITICAL)    # client libraries log the faults that we inject
    module, _, name = KINDS[kind].partition(":")
    campaign = getattr(import_module(f".{module}", __package__), name)(Where(**json.loads(where)))
    program, pulse = _Program(campaign), _Pulse()
    for line in sys.stdin:
        answer = program.answer(json.loads(line)["do"])
        print(json.dumps({"ok": answer, "gap": pulse.take()}), flush=True)
