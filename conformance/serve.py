"""An adapter as a plain program, for any harness: ``python -m checkvalve.conformance.serve SPEC``.

SPEC is ``thread:…``, ``asyncio:…``, ``python:…`` (or what follows it), or the name of a target
that comes with checkvalve.
"""

from __future__ import annotations

import os
import sys

from ..spec.notation.errors import CheckvalveError
from .adapters.host import private_pipes, serve
from .foreign.factories import factory_of
from .foreign.place import is_named
from .systems.catalogue import makers
from .systems.targets import adapter_factory, is_shipped

__all__ = ["main"]


def main() -> int:
    """The command; 64 when SPEC names nothing, or what it names fails."""
    if len(sys.argv) != 2:
        print("usage: serve SPEC, as in python:SPEC", file=sys.stderr)
        return 64
    if "" not in sys.path and os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())
    requests, replies = private_pipes()
    try:
        spec = sys.argv[1]
        own = spec if is_named(spec) else f"python:{spec}"
        factory = adapter_factory(spec) if is_shipped(spec) else factory_of(own, makers())
        serve(spec, factory, requests, replies)
    except CheckvalveError as error:
        print(error, file=sys.stderr)
        return 64
    return 0


if __name__ == "__main__":
    sys.exit(main())
