"""The rules of Reactive Streams that can be seen from outside to be violated.

They are *guard rules*: the ``require`` lines that name them, in the observers' machines, are their
only definition. Their ids are RS and the number of the specification. Numbers that begin with 0 are
ours: what the specification leaves open, and every user of it relies on.
"""

from __future__ import annotations

from ..notation import MUST, Rule, Strength, guard_rule
from .specification import THE_43, anchor_of

__all__ = [
    "ADDS_UP", "BAD_ARGUMENT", "BOUNDED", "CALLS_ARE_SERIAL", "CANCELLED_TWICE", "CANCELS",
    "CANCEL_IS_QUICK", "CANCEL_RETURNS", "COMPLETES", "DEPTH", "ENDED_IS_CANCELLED", "FAILS",
    "IN_ORDER", "KEEPS_ONE", "LETS_GO", "NOT_IN_THE_END", "NOT_IN_THE_SIGNAL", "NO_MORE_THAN_ASKED",
    "NO_SIGNAL_AFTER", "ONCE", "PASSES_ON", "REENTRANT", "REQUESTS", "REQUEST_AFTER",
    "REQUEST_IS_QUICK", "REQUEST_RETURNS", "SERIAL", "SIGNAL_RETURNS", "STOPS", "SUBSCRIBES",
    "TAKES_COMPLETE", "TAKES_ERROR", "TAKES_LATE", "UNBOUNDED", "VISIBLE", "WITHOUT_END",
]


def _of(number: str) -> Rule:
    """The rule of the book for one of the specification."""
    stated = THE_43[number]
    return guard_rule(f"RS-{number}", Strength(stated.strength), stated.statement,
                      source="reactive#" + anchor_of(number))


# --- publishers ------------------------------------------------------------------------------

NO_MORE_THAN_ASKED = _of("1.1")
SERIAL = _of("1.3")
FAILS = _of("1.4")
COMPLETES = _of("1.5")
ENDED_IS_CANCELLED = _of("1.6")
NO_SIGNAL_AFTER = _of("1.7")
STOPS = _of("1.8")
SUBSCRIBES = _of("1.9")
ONCE = _of("2.12")

# --- subscriptions ---------------------------------------------------------------------------

REENTRANT = _of("3.2")
DEPTH = _of("3.3")
REQUEST_IS_QUICK = _of("3.4")
CANCEL_IS_QUICK = _of("3.5")
REQUEST_AFTER = _of("3.6")
CANCELLED_TWICE = _of("3.7")
ADDS_UP = _of("3.8")
BAD_ARGUMENT = _of("3.9")
LETS_GO = _of("3.13")
CANCEL_RETURNS = _of("3.15")
REQUEST_RETURNS = _of("3.16")
UNBOUNDED = _of("3.17")

# --- subscribers -----------------------------------------------------------------------------

REQUESTS = _of("2.1")
NOT_IN_THE_SIGNAL = _of("2.2")
NOT_IN_THE_END = _of("2.3")
WITHOUT_END = _of("2.4")
KEEPS_ONE = _of("2.5")
CANCELS = _of("2.6")
CALLS_ARE_SERIAL = _of("2.7")
TAKES_LATE = _of("2.8")
TAKES_COMPLETE = _of("2.9")
TAKES_ERROR = _of("2.10")
VISIBLE = _of("2.11")
SIGNAL_RETURNS = _of("2.13")

# --- processors ------------------------------------------------------------------------------

PASSES_ON = _of("4.2")

# --- ours ------------------------------------------------------------------------------------

IN_ORDER = guard_rule(
    "RS-0.1", MUST,
    "A subscriber receives only elements of the source, in order and each at most once, and "
    "onComplete only after all of them.",
    source="reactive#ours",
)
BOUNDED = guard_rule(
    "RS-0.2", MUST,
    "Whenever a subscriber that has not cancelled calls request, all elements that it has then "
    "requested and not yet processed fit its buffer.",
    source="reactive#ours; reactor #167")
