"""Sessions: each request and each reply is checked, whatever carries it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Protocol

from ...spec.notation.errors import InputError, TargetError
from ..ports.base import (
    STEPPED, UNSUPPORTED, Adapter, Kind, Message, Operation, Port, SettingsRefused, check_reply,
    check_request, excerpt,
)
from ..foreign.guard import guarded

__all__ = ["CheckedSession", "InProcessTarget", "PortNamed", "Transport"]

PortNamed = Callable[[object], Port]
"""Finds the port that a hello names; raises ``InputError`` where there is none."""


class Transport(Protocol):
    """Carries one request to an instance and brings its reply back, both unchecked."""

    def exchange(self, message: Message) -> object:
        """The reply to ``message``; raises ``TargetError`` when there is none."""
        ...

    def close(self, *, failed: bool) -> None:
        """Give back what the transport holds; calling it again does nothing.

        ``failed``: the instance cannot be trusted with another session.
        """
        ...


class CheckedSession:
    """A ``Session`` over any transport.

    It fills in ``now`` where the caller left it out, refuses requests that the port does not
    have, remembers which tickets are out, and turns malformed replies into ``TargetError``.
    """

    def __init__(self, name: str, transport: Transport, port_named: PortNamed) -> None:
        self._name = name
        self._transport = transport
        self._port_named = port_named
        self._port: Port | None = None
        self._can: frozenset[str] = frozenset()
        self._stepped = False
        self._tickets: dict[object, Kind] = {}
        self._now_ms = 0
        self._broken = False

    def request(self, message: Message) -> Message:
        """Send a request, and check it and its reply by the port.

        Raises TargetError for a reply that breaks the protocol or the promises of ``hello``; after
        that the session is closed, and every further request raises.
        """
        if self._broken:
            raise TargetError(
                f"{self._name} has failed in this session", next_step="Open another session.")
        port = self._port_of(message)
        operation = check_request(port, message)
        self._advance(message)
        try:
            reply = self._transport.exchange(message | {"now": self._now_ms})
            checked = check_reply(self._name, port, operation, reply, self._tickets)
            if "error" in checked or operation.name == "hello":
                self._keep_to_its_word(operation, checked)
                self._accepts(message, checked)
            elif self._stepped and operation.name not in port.lets_run:
                self._check_steps(message, checked)
        except SettingsRefused:
            # It answered as the protocol says, and is as sound as it was before.
            self._broken = True
            with suppress(TargetError):    # of an instance that was never made
                self._transport.close(failed=False)
            raise
        except TargetError:
            self._broken = True
            self._transport.close(failed=True)
            raise
        if "waiting" in checked and operation.completion is not None:
            self._tickets[checked["waiting"]] = operation.completion
        return checked

    def _keep_to_its_word(self, operation: Operation, reply: Message) -> None:
        """Refuse that an operation is unknown to a target that says it can do it."""
        if operation.name == "hello":
            self._can = frozenset(reply.get("ok", {}).get("can", ()))
            self._stepped = reply.get("ok", {}).get("wakes") == STEPPED
        elif reply.get("error") == "unknown-operation":
            if operation.name in self._can:
                claim, advice = "which its `can` names", ", or leave it out of `can`"
            elif not operation.optional:
                claim, advice = "which every adapter has", ""
            else:
                return
            raise TargetError(
                f"{self._name} answered 'unknown-operation' to {operation.name!r}, {claim}",
                next_step=f"Give the adapter the operation{advice}.")

    def _check_steps(self, message: Message, reply: Message) -> None:
        """Raise ``TargetError`` where one that waited has run, and was to run at a later step."""
        told = reply.get("ok")
        others = [each for each in told if isinstance(each, dict) and each.get(
            "by", message.get("by")) != message.get("by")] if isinstance(told, list) else []
        ran = next(iter([*reply["events"], *others]), None)
        if ran is not None:
            raise TargetError(
                f"{self._name} says in its hello that its wakes are stepped, and its reply to "
                f"{message['do']!r} reports that a waiter has run already: {excerpt(ran)}",
                next_step='Let the adapter say "wakes": "at-once", or let no waiter run before the '
                "next settle (docs/settling.md).")

    def _accepts(self, message: Message, reply: Message) -> None:
        """Raise ``SettingsRefused`` where the target supports no instance with these settings."""
        error = reply.get("error", "")
        if message["do"] == "hello" and error.startswith(UNSUPPORTED) and reply["definite"]:
            raise SettingsRefused(
                f"{self._name} does not support the settings {excerpt(message['settings'])}: "
                f"{error}", next_step="Use settings that it supports, as by --capacity.")

    def close(self) -> None:
        # A failed session has closed its transport already.
        if not self._broken:
            self._broken = True
            self._transport.close(failed=False)

    def __enter__(self) -> CheckedSession:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _port_of(self, message: Message) -> Port:
        if (message.get("do") == "hello") != (self._port is None):
            raise InputError(
                "hello is the first request of a session, and only the first",
                next_step="Open a session for each instance.")
        if self._port is None:
            self._port = self._port_named(message.get("port"))
        return self._port

    def _advance(self, message: Message) -> None:
        now = message.get("now", self._now_ms)
        if not isinstance(now, int) or isinstance(now, bool) or now < self._now_ms:
            raise InputError(
                f"now is {excerpt(now)} after {self._now_ms}",
                next_step="Give whole milliseconds that never decrease.")
        self._now_ms = now


class InProcessTarget:
    """A target; its adapters are Python objects of this process, a new one per session.

    For adapters that come with checkvalve: nothing here can end one that hangs.
    """

    def __init__(
        self, name: str, factory: Callable[[], Adapter], port_named: PortNamed
    ) -> None:
        self._name = name
        self._factory = factory
        self._port_named = port_named

    @property
    def name(self) -> str:
        """The spec of this target."""
        return self._name

    def open(self) -> CheckedSession:
        """Make a new adapter. Raises ``TargetError`` when its constructor fails."""
        adapter = guarded(self._name, self._factory)
        return CheckedSession(self._name, _Call(self._name, adapter), self._port_named)

    def renew(self) -> bool:
        """False: there is only this process."""
        return False


class _Call:
    """The transport that is a method call."""

    def __init__(self, name: str, adapter: Adapter) -> None:
        self._name = name
        self._adapter = adapter

    def exchange(self, message: Message) -> object:
        return guarded(self._name, partial(self._adapter.request, message))

    def close(self, *, failed: bool) -> None:
        close = getattr(self._adapter, "close", None)
        if not callable(close):
            return
        try:
            guarded(self._name, close)
        except TargetError:
            # The first failure is the one to report.
            if not failed:
                raise
