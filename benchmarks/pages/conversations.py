"""A whole conversation with each system's reference, for the page of its port.

The requests are in ``requests.json`` of the system's folder: the settings of the hello, and
then requests as a harness would send them, without their ``id``. Without that file they are those
of a program that the suite draws. The answers are the reference's.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any, Final

from checkvalve.conformance.adapters.session import InProcessTarget
from checkvalve.conformance.ports.base import ALWAYS, PROTOCOL_VERSION, Adapter, Message
from checkvalve.conformance.suites.exchange import Program
from checkvalve.conformance.suites.run import capabilities, run_program
from checkvalve.conformance.suites.system import System
from checkvalve.conformance.systems.catalogue import port_named

__all__ = ["ASKED", "Noting", "asked", "conversation", "drawn", "in_lines", "not_offered"]

ASKED: Final = "requests.json"

_PROGRAMS: Final = 200

Said = tuple[Message, Message]
"""A request and its reply, as they go over the wire."""


class Noting:
    """An adapter that records its requests and its answers."""

    def __init__(self, adapter: Adapter) -> None:
        self._adapter = adapter
        self.said: list[Said] = []
        self.close = getattr(adapter, "close", lambda: None)

    def request(self, message: Message) -> Message:
        """Answer ``message`` with one of ``ok``, ``waiting`` or ``error``, and ``events``."""
        number = len(self.said) + 1
        now = message.pop("now")
        reply = self._adapter.request({**message, "now": now})
        noted = json.loads(json.dumps(reply))
        self.said.append(({"id": number, "now": now, **message}, {"id": number, **noted}))
        return reply


def asked(system: System) -> list[Message]:
    """The requests of a system's conversation, the hello first."""
    text = files(system.folder).joinpath(ASKED).read_text(encoding="utf-8")
    hello, *others = json.loads(text)
    about: dict[str, Any] = {
        "do": "hello", "protocol": PROTOCOL_VERSION, "port": system.port.name, **hello}
    return [about, *others]


def conversation(system: System) -> list[Said]:
    """Requests and answers, each message checked against the port."""
    if not files(system.folder).joinpath(ASKED).is_file():
        return drawn(system)
    noting, target = _noted(system)
    session = target.open()
    try:
        for message in asked(system):
            session.request(message)
    finally:
        session.close()
    return noting.said


def drawn(system: System) -> list[Said]:
    """The conversation of the shortest of some programs that have the most operations."""
    suite, programs, found = system.suite, list[Program](), list[list[Said]]()
    can = capabilities(suite, _noted(system)[1], suite.capacities[-1])
    suite.explore(can, suite.rules()[0], 0, _PROGRAMS, programs.append)
    for program in programs:
        noting, target = _noted(system)
        run_program(suite, target, program, suite.capacities[-1])
        found.append(noting.said)
    return max(found, key=lambda said: (len({request["do"] for request, _ in said}), -len(said)))


def _noted(system: System) -> tuple[Noting, InProcessTarget]:
    """The reference of a system, with what is said to it."""
    noting = Noting(system.adapter(system.reference))
    return noting, InProcessTarget(system.reference.name, lambda: noting, port_named)


def not_offered(system: System, said: list[Said]) -> tuple[str, ...]:
    """The operations of the port that the reference does not offer."""
    can = {*said[0][1]["ok"]["can"], *ALWAYS, "hello"}
    return tuple(name for name in system.port.operations if name not in can)


def in_lines(said: list[Said]) -> str:
    """A conversation as JSON lines, ``>`` to the adapter and ``<`` from it."""
    return "\n".join(
        f"> {_line(request)}\n< {_line(reply)}" for request, reply in said)


def _line(message: Message) -> str:
    return json.dumps(message, ensure_ascii=False, separators=(",", ":"))
