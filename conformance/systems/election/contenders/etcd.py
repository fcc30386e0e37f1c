"""A candidate by etcd's election: a lease, a campaign for it, and the revision as token."""

from __future__ import annotations

import base64
import contextlib
import http.client
import json
import math
import socket
import threading
import time
from typing import Any, Final

from .campaign import Campaign, Lost, Where

__all__ = ["EtcdElection"]

_CAMPAIGN_SECONDS: Final = 3600.0


class EtcdElection(Campaign):
    """The service ``Election`` over the JSON gateway. Leases last whole seconds."""

    def __init__(self, where: Where) -> None:
        super().__init__(where)
        self._lease = 0
        self._until = 0.0
        self._waiting: http.client.HTTPConnection | None = None

    def acquire(self) -> int:
        """Get a lease, and campaign until this candidate leads; its token (0: writes have none)."""
        began = time.monotonic()
        seconds = math.ceil(self.where.seconds)
        granted = self._ask("lease/grant", {"TTL": seconds})
        self._lease, self._seconds = int(granted["ID"]), float(granted["TTL"])
        self._until = began + self._seconds
        threading.Thread(target=self._keep, args=(self._lease,), daemon=True).start()
        try:
            answer = self._ask("election/campaign", {
                "name": _coded(self.where.name), "lease": self._lease,
                "value": _coded(self.where.identity)}, self._line())
        except Lost:
            self._give_up_lease()
            raise
        return int(answer["leader"]["rev"]) if self.where.fenced else 0

    def _line(self) -> http.client.HTTPConnection:
        """A connection to wait on. It is opened before this candidate checks whether it still
        wants to lead: a later resignation finds it, and ends the wait. Raises ``Lost``."""
        self._waiting = self._connection(_CAMPAIGN_SECONDS)
        try:
            self._waiting.connect()
        except OSError as error:
            raise Lost from error
        if not self.wanted:
            self._waiting.close()
            raise Lost
        return self._waiting

    def release(self) -> None:
        self._give_up_lease()

    def _give_up_lease(self) -> None:
        lease, self._lease = self._lease, 0
        if lease:
            self._ask("lease/revoke", {"ID": lease})

    def resign(self) -> None:
        self._wanted.clear()
        self.over.set()
        if self._token is None:
            self._stop_waiting()
        if self._thread is not None:
            self._thread.join()

    def is_in_line(self) -> bool:
        if not self._lease:
            return False
        key = f"{self.where.name}/{self._lease:x}"
        return int(self._ask("kv/range", {"key": _coded(key)}).get("count", 0)) > 0

    def has_lead(self) -> bool:
        """See ``Campaign.has_lead``: by its own clock, from before it asked."""
        return time.monotonic() < self._until

    def session(self) -> Any:
        return self._lease

    def _keep(self, lease: int) -> None:
        """Keep a lease alive while it is this candidate's; end the lead if that fails."""
        while lease == self._lease:
            began = time.monotonic()
            try:
                kept = self._ask("lease/keepalive", {"ID": lease}, seconds=self.where.seconds / 3)
                left = float(kept["result"].get("TTL", 0))
            except Lost:
                left = -1.0
            if left > 0 and lease == self._lease:
                self._until = began + self._seconds
            elif left == 0 or time.monotonic() >= self._until:
                # The lease is gone, or has to be taken for gone.
                if lease == self._lease:
                    self._until = 0.0
                    self.over.set()
                    self._stop_waiting()
                return
            time.sleep(self.where.seconds / 4)

    def _stop_waiting(self) -> None:
        """End a waiting campaign: the server would let it wait on without a lease."""
        waiting = self._waiting
        if waiting is not None and waiting.sock is not None:
            with contextlib.suppress(OSError):
                waiting.sock.shutdown(socket.SHUT_RDWR)

    def _connection(self, seconds: float) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(self.where.addresses[0], timeout=seconds)

    def _ask(
        self, what: str, body: dict[str, Any], on: http.client.HTTPConnection | None = None,
        seconds: float = 1.0,
    ) -> dict[str, Any]:
        """The answer of etcd's gateway. Raises ``Lost`` where there is none, or an error."""
        connection = on or self._connection(seconds)
        try:
            connection.request("POST", f"/v3/{what}", json.dumps(body))
            answer = connection.getresponse()
            found: dict[str, Any] = json.loads(answer.read())
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise Lost from error
        finally:
            connection.close()
        if answer.status != http.client.OK:
            raise Lost(found.get("error", ""))
        return found


def _coded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
