"""``python -m benchmarks.matrix.hello SUITE TARGET``: what a target answers to hello, as JSON.

In a process of its own, since a target may start a server, or hang.
"""

from __future__ import annotations

import json
import sys

from checkvalve.conformance.ports.base import PROTOCOL_VERSION, Message
from checkvalve.conformance.systems.catalogue import suite_named
from checkvalve.conformance.systems.targets import resolve_target

__all__ = ["hello", "main"]


def hello(suite: str, target: str) -> Message:
    """The reply of ``target`` to the first request that ``suite`` sends; seconds for a server."""
    own = suite_named(suite)
    session = resolve_target(target, timeout=60).open()
    try:
        return session.request({
            "do": "hello", "protocol": PROTOCOL_VERSION, "port": own.port,
            "settings": dict(own.settings(own.capacities[0]))})
    finally:
        session.close()


def main() -> int:
    """Print the reply to hello."""
    suite, target = sys.argv[1:]
    print(json.dumps(hello(suite, target)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
