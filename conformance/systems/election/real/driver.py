"""Drives candidates of a real system: in real time, by their own clocks and the service's.

It starts only processes that end with this one. It waits for an event (a candidate leads) wherever
there is one; that a session ends is a matter of time, and that much time is given. Sessions last
longer on a machine that is busy when a run begins, so that candidates can keep them. If it is too
busy for that nevertheless, nothing that follows can be judged: then an operation is answered with
an error that is not definite.
"""

from __future__ import annotations

import json
import sys
import time
import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from typing import Any, ClassVar, Final

from .....reference.election import GuardedStore
from ....adapters.base import Declined
from ....adapters.port_adapter import PortAdapter
from ....computer.patience import Countdown, stretched
from ....services.proxy import Proxy
from ..contenders.campaign import Where
from ..port import PORT
from .candidate import Candidate
from .service import Service

__all__ = ["TOO_BUSY", "OpenStore", "RealElection"]

TOO_BUSY: Final = "the-machine-was-too-busy"
_LOOK_SECONDS: Final = 0.05
_LONGEST: Final = 8
"""The largest factor by which sessions are stretched."""
_CONTENDERS: Final = "checkvalve.conformance.systems.election.contenders"


class OpenStore(GuardedStore):
    """A store that knows no tokens, and takes every write."""

    def write(self, token: int) -> bool:
        return True


class RealElection(PortAdapter):
    """A kind of candidates, by the name that their program knows, on a service."""

    port: ClassVar = PORT
    kind: ClassVar[str]
    service: ClassVar[type[Service]]
    fenced: ClassVar[bool] = False

    @property
    def policy(self) -> str:  # type: ignore[override]
        """The port's policy: with or without fencing."""
        return "fenced" if self.fenced else "unfenced"

    @property
    def no_occasion(self) -> Collection[str]:  # type: ignore[override]
        """The rule about tokens, if there are none."""
        return () if self.fenced else ("ELECT-3",)

    # --- one session -----------------------------------------------------------------------

    def start(self, settings: Mapping[str, Any]) -> None:
        self._range = range(settings["capacity"])
        self._service = self.service.shared()
        self._seconds = stretched(self._service.seconds, _LONGEST)
        self._name = f"election-{uuid.uuid4().hex}"
        self._store = GuardedStore() if self.fenced else OpenStore()
        self._candidates: dict[int, Candidate] = {}

    def close(self) -> None:
        """Kill the candidates. The servers stay for the next session."""
        for candidate in getattr(self, "_candidates", {}).values():
            candidate.kill()
        self._candidates = {}

    def command(self, where: Where) -> Sequence[str]:
        """The command line of a candidate."""
        return (sys.executable, "-m", _CONTENDERS, self.kind, json.dumps(asdict(where)))

    # --- candidates ------------------------------------------------------------------------

    def join(self, candidate: int) -> bool:
        if candidate not in self._range:
            raise Declined("no-such-candidate")
        found = self._candidates.get(candidate)
        if found is None:
            found = self._candidates[candidate] = self._started(candidate)
        if found.joined:
            raise Declined("has-joined")
        self._ask(found, "join")
        found.joined = True
        return True

    def _started(self, candidate: int) -> Candidate:
        proxies = [Proxy(server.port) for server in self._service.servers]
        where = Where([proxy.address for proxy in proxies], self._name, f"candidate-{candidate}",
                      self._seconds, self.fenced)
        return Candidate(self.command(where), proxies)

    def resign(self, candidate: int) -> bool:
        found = self._running(candidate)
        self._ask(found, "resign")
        found.joined = False
        return True

    def ask(self, candidate: int) -> int | None:
        token: int | None = self._ask(self._running(candidate), "ask")
        return token

    def write(self, candidate: int) -> bool:
        """See the port. The token comes from the candidate, as its write would."""
        token = self._ask(self._running(candidate), "write")
        if token is None:
            raise Declined("holds-no-token")
        return self._store.write(token)

    # --- faults ----------------------------------------------------------------------------

    def stop(self, candidate: int) -> bool:
        self._running(candidate).halt()
        return True

    def go(self, candidate: int) -> bool:
        self._known(candidate).go_on()
        return True

    def cut(self, candidate: int) -> bool:
        self._running(candidate).cut()
        return True

    def mend(self, candidate: int) -> bool:
        self._known(candidate).mend()
        return True

    def expire(self, candidate: int) -> bool:
        found = self._known(candidate)
        self._service.expire(found.session)
        return True

    def crash(self, candidate: int) -> bool:
        self._known(candidate).kill()
        del self._candidates[candidate]
        return True

    def restart(self) -> bool:
        self._service.restart()
        return True

    # --- time ------------------------------------------------------------------------------

    def wait(self) -> bool:
        """See the port: wait as long as a session lasts, and until a reachable candidate leads."""
        self._pass()
        left = Countdown(self._seconds)
        while not left.over and not self._leading(reachable=True):
            time.sleep(_LOOK_SECONDS)
        return True

    def quiet(self) -> int | None:
        """See the port. None or two may lead for a while; finally one does, or it is late."""
        for candidate in self._candidates.values():
            candidate.go_on()
            candidate.mend()
        self._pass()
        left = Countdown(4 * self._seconds)
        leading = self._leading()
        while len(leading) != 1 and any(
                each.joined for each in self._candidates.values()) and not left.over:
            time.sleep(_LOOK_SECONDS)
            leading = self._leading()
        return leading[0] if leading else None

    def _pass(self) -> None:
        """Wait until a session that is not renewed has ended, with a margin."""
        time.sleep(1.3 * self._seconds + 0.3)

    def _leading(self, reachable: bool = False) -> list[int]:
        """The candidates that report that they lead, of those that are not halted."""
        return [number for number, each in self._candidates.items()
                if each.joined and not each.is_halted and not (reachable and each.is_cut)
                and self._ask(each, "look") is not None]

    # --- asking ----------------------------------------------------------------------------

    def _ask(self, candidate: Candidate, do: str) -> Any:
        answer = candidate.ask(do)
        if do != "join" and candidate.gap > 1000 * self._seconds / 3:
            raise Declined(TOO_BUSY, definite=False)
        if do in ("join", "ask", "look"):
            # The last session: it is asked for when the candidate can no longer answer.
            candidate.session = candidate.ask("session") or candidate.session
        return answer

    def _known(self, candidate: int) -> Candidate:
        if candidate not in self._candidates:
            raise Declined("no-candidate")
        return self._candidates[candidate]

    def _running(self, candidate: int) -> Candidate:
        found = self._known(candidate)
        if found.is_halted:
            raise Declined("is-halted")
        return found
