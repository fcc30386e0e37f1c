"""Z3's contexts, with the memory that this process has left for them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from .deadline import ask
from .memory import meter

if TYPE_CHECKING:
    import z3

__all__ = ["SOLVING", "z3_context"]

SOLVING = "preparing equations for Z3"
_SPARE = 16 << 20
"""Bytes that Z3 may have beyond the limit, or a twentieth of that."""
_LEAST = 8 << 20
"""Bytes without which Z3 does not begin: it cannot say that it has none."""


def z3_context() -> z3.Context:
    """A context of its own: what else was asked in this process changes no answer in it.

    Z3 may take what is left for this process, and says *unknown*, or raises its own exception (see
    :func:`~checkvalve.spec.verdicts.deadline.told_of_memory`), where it would take more. Raises
    OutOfMemory where next to nothing is left.
    """
    import z3
    left = meter().left()
    if math.isinf(left):
        z3.set_param("memory_max_size", 0)
        return z3.Context()
    ask(_LEAST, SOLVING)
    used = int(z3.z3core.Z3_get_estimated_alloc_size())
    # Refused memory while it solves, Z3 says so; while terms are made, it may end the process. The
    # loops that make terms look at the meter, which is to end them before Z3's own limit does.
    spare = max(_SPARE, meter().most / 20)
    z3.set_param("memory_max_size", (used + int(left + spare)) >> 20)
    return z3.Context()
