"""Run a Python adapter as a program: ``python -m checkvalve.conformance.adapters.host SPEC``.

SPEC is what follows ``python:``, or the name of a target that comes with checkvalve. It puts a
process, which can be killed, around an adapter that may hang; and it shows that an adapter
answers the same on both sides of a pipe.
"""

from __future__ import annotations

import json
import os
import sys
from typing import IO

from ...spec.notation.errors import CheckvalveError
from ..ports.base import Adapter

__all__ = ["main", "serve"]


def serve(new_adapter: object, requests: IO[bytes], replies: IO[bytes]) -> None:
    """Answer until ``requests`` ends; ``new_adapter()`` is called at each hello."""
    assert callable(new_adapter)
    adapter: Adapter | None = None
    for line in requests:
        request = json.loads(line)
        if request["do"] == "hello" or adapter is None:
            close = getattr(adapter, "close", None)
            if callable(close):
                close()
            adapter = new_adapter()
        reply = {"id": request["id"]} | adapter.request(request)
        replies.write(json.dumps(reply).encode() + b"\n")
        replies.flush()


def main() -> int:
    """The command; 64 when SPEC names nothing."""
    from ..targets import adapter_factory

    if len(sys.argv) != 2:
        print("usage: host SPEC, as in python:SPEC", file=sys.stderr)
        return 64
    # What an adapter prints must not come between its replies.
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        serve(adapter_factory(sys.argv[1]), sys.stdin.buffer, replies)
    except CheckvalveError as error:
        print(error, file=sys.stderr)
        return 64
    return 0


if __name__ == "__main__":
    sys.exit(main())
