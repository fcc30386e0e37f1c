"""The reference election in virtual time, behind the port ``election``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from ....reference.election import Contender, GuardedStore, LockService
from ...adapters.base import Declined
from ...adapters.port_adapter import PortAdapter
from .port import PORT

__all__ = ["ReferenceElection"]

TIMEOUT: Final = 40
BEAT: Final = 10
"""Virtual milliseconds: a session's timeout, and the period of a contender's contact with the
service."""


class ReferenceElection(PortAdapter):
    """Drives a service and its contenders; a twin replaces one of the three classes."""

    port: ClassVar = PORT
    policy: ClassVar[str] = "fenced"
    name = "reference election"
    service: type[LockService] = LockService
    contender: type[Contender] = Contender
    store: type[GuardedStore] = GuardedStore

    def start(self, settings: Mapping[str, Any]) -> None:
        self._candidates = range(settings["capacity"])
        self._now = 0
        self._service = self.service(TIMEOUT)
        self._store = self.store()
        self._contenders: dict[int, Contender] = {}
        self._holds: dict[int, int] = {}
        self._stopped: set[int] = set()
        self._cut: set[int] = set()

    # --- candidates ------------------------------------------------------------------------

    def join(self, candidate: int) -> bool:
        if candidate in self._contenders or candidate not in self._candidates:
            raise Declined("no-such-candidate")
        self._contenders[candidate] = self.contender(self._service, self._now)
        self._tell_head()
        return True

    def resign(self, candidate: int) -> bool:
        self._running(candidate).resign(self._now)
        del self._contenders[candidate]
        self._holds.pop(candidate, None)
        self._tell_head()
        return True

    def ask(self, candidate: int) -> int | None:
        token = self._running(candidate).token(self._now)
        if token is None:
            self._holds.pop(candidate, None)
        else:
            self._holds[candidate] = token
        return token

    def write(self, candidate: int) -> bool:
        self._running(candidate)
        if candidate not in self._holds:
            raise Declined("holds-no-token")
        return self._store.write(self._holds[candidate])

    # --- faults ----------------------------------------------------------------------------

    def stop(self, candidate: int) -> bool:
        self._running(candidate)
        self._stopped.add(candidate)
        return True

    def go(self, candidate: int) -> bool:
        self._stopped.discard(candidate)
        return True

    def cut(self, candidate: int) -> bool:
        self._running(candidate)
        self._cut.add(candidate)
        return True

    def mend(self, candidate: int) -> bool:
        self._cut.discard(candidate)
        return True

    def expire(self, candidate: int) -> bool:
        self._service.end(self._known(candidate).session)
        self._tell_head(besides=candidate)
        return True

    def crash(self, candidate: int) -> bool:
        self._known(candidate)
        del self._contenders[candidate]
        self._holds.pop(candidate, None)
        self._stopped.discard(candidate)
        self._cut.discard(candidate)
        return True

    def restart(self) -> bool:
        self._service.restart(self._now)
        return True

    # --- time ------------------------------------------------------------------------------

    def wait(self) -> bool:
        for _ in range(2 * TIMEOUT // BEAT):
            self._now += BEAT
            for candidate in self._reachable():
                self._contenders[candidate].contact(self._now)
            self._service.tell_time(self._now)
            self._tell_head()
        return True

    def quiet(self) -> int | None:
        self._stopped.clear()
        self._cut.clear()
        self.wait()
        return next((each for each, contender in self._contenders.items()
                     if contender.token(self._now) is not None), None)

    def _tell_head(self, besides: int | None = None) -> None:
        """Fire the watches of reachable contenders; one learns of its own session's end at its next
        contact."""
        for candidate in self._reachable():
            if candidate != besides:
                self._contenders[candidate].told_head(self._service.head, self._now)

    def _reachable(self) -> list[int]:
        return [each for each in self._contenders if each not in self._stopped | self._cut]

    def _known(self, candidate: int) -> Contender:
        if candidate not in self._contenders:
            raise Declined("no-candidate")
        return self._contenders[candidate]

    def _running(self, candidate: int) -> Contender:
        if candidate in self._stopped:
            raise Declined("is-halted")
        return self._known(candidate)
