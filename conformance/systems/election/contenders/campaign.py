"""The common part of all candidates: a thread that campaigns, leads, and campaigns again after a
loss."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["RETRY_SECONDS", "Campaign", "Lost", "Where"]

RETRY_SECONDS: Final = 0.05
"""Seconds that a candidate waits before it tries again: for a lock that another has, or a service
that does not answer."""


@dataclass(frozen=True)
class Where:
    """The settings of a candidate: ``addresses`` of the service (host:port), the ``name`` of the
    election, its own ``identity``, how long a session or lease lasts (``seconds``), and whether it
    needs a token."""

    addresses: Sequence[str]
    name: str
    identity: str
    seconds: float
    fenced: bool


class Lost(Exception):
    """The lead, or the place in the queue, is lost; or the service does not answer."""


class Campaign:
    """A candidate. A subclass says how to ``acquire``, ``hold`` and ``release`` the lock."""

    def __init__(self, where: Where) -> None:
        self.where = where
        self._wanted = threading.Event()
        self.over = threading.Event()      # the leader has to stop
        self._token: int | None = None
        self._thread: threading.Thread | None = None

    # --- for subclasses ------------------------------------------------------------------

    def acquire(self) -> int:
        """Return the token once it leads; 0 if there is none. Raises ``Lost``."""
        raise NotImplementedError

    def hold(self) -> None:
        """Return when the lead is lost, or ``over`` is set."""
        self.over.wait()

    def release(self) -> None:
        """Give the lock back, if it is still there. May raise ``Lost``."""

    def is_in_line(self) -> bool:
        """True if the service knows of this candidate."""
        return True

    def has_lead(self) -> bool:
        """True unless the client knows that the lead is over."""
        return True

    def session(self) -> Any:
        """The data that the service needs to end this candidate's session; JSON."""
        return None

    # --- for the program -----------------------------------------------------------------

    @property
    def wanted(self) -> bool:
        """True if the candidate wants to lead."""
        return self._wanted.is_set()

    def join(self) -> None:
        """Begin to campaign; return once the candidate is in the service's queue."""
        self._wanted.set()
        self._thread = threading.Thread(target=self._campaign, daemon=True)
        self._thread.start()
        while not self._has_place():
            time.sleep(RETRY_SECONDS)

    def resign(self) -> None:
        """Stop campaigning; return when the lock was given back."""
        self._wanted.clear()
        self.over.set()
        if self._thread is not None:
            self._thread.join()

    def token(self) -> int | None:
        """The token with which it leads, as far as it knows; None if it does not."""
        return self._token if self.has_lead() else None

    def _has_place(self) -> bool:
        try:
            return self._token is not None or self.is_in_line()
        except Lost:
            return False

    def _campaign(self) -> None:
        while self.wanted:
            self.over.clear()
            try:
                self._lead_once()
            except Lost:
                self.over.wait(RETRY_SECONDS)

    def _lead_once(self) -> None:
        token = self.acquire()
        try:
            if self.wanted:
                self._token = token
                self.hold()
        finally:
            self._token = None
            self.release()
