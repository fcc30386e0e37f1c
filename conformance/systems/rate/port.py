"""The port ``rate``: somebody asks for permits, all or none, and time goes on in ticks."""

from __future__ import annotations

from typing import Final

from ...ports.base import FLAG, POSITIVE, TRUE, Argument, Operation, Port, hello

__all__ = ["PORT"]

_OPERATIONS: Final = (
    hello("start a fresh limit, from which nobody has taken anything"),
    Operation("take", FLAG, "somebody asks for so many permits at once, never for more than the "
              "depth; true: all are given; false: none, and the limit has forgotten it",
              (Argument("permits", POSITIVE, "how many"),)),
    Operation("tick", TRUE, "so many ticks pass",
              (Argument("ticks", POSITIVE, "how many"),)),
)

PORT: Final = Port(
    name="rate",
    version=1,
    meaning="a limit on a rate; its clock is the harness's",
    operations={each.name: each for each in _OPERATIONS},
    settings=(Argument("capacity", POSITIVE, "the depth: permits that are kept while nobody asks"),
              Argument("rate", POSITIVE, "permits that come in a tick")),
    policies={"bucket": "permits come all the time, and up to the depth are kept"},
)
