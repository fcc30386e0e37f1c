"""Rows of a verification as JSON: a child that verifies a chapter sends them to its parent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from checkvalve.spec.engines.report import show_slot
from checkvalve.spec.notation.labels import show_value
from checkvalve.spec.notation.model import Slot
from checkvalve.spec.verdicts.verdict import Outcome, Trace, TraceStep, Verdict
from checkvalve.spec.verify import Row

__all__ = ["row_from", "row_to"]

_TEXTS = ("chapter", "machine", "rule", "about", "expected")
_PLAIN = ("method", "reason", "states", "transitions", "depth", "seconds")


def row_to(row: Row) -> dict[str, Any]:
    """A row with its trace, as JSON values."""
    found = row.verdict
    return {
        **{name: getattr(row, name) for name in _TEXTS}, "constants": row.constants,
        "verdict": {
            "outcome": found.outcome.value, "trace": _trace_to(found.trace, row.slots),
            "shown": found.shown,
            **{name: getattr(found, name) for name in _PLAIN},
        },
    }


def row_from(document: dict[str, Any]) -> Row:
    """The row that ``row_to`` has written."""
    constants = {name: _value(value) for name, value in document["constants"].items()}
    found = document["verdict"]
    verdict = Verdict(outcome=Outcome(found["outcome"]), trace=_trace_from(found["trace"]),
                      shown=_value(found["shown"]), **{name: found[name] for name in _PLAIN})
    return Row(constants=constants, verdict=verdict, **{name: document[name] for name in _TEXTS})


def _trace_to(trace: Trace | None, slots: Mapping[str, Slot]) -> dict[str, Any] | None:
    if trace is None:
        return None
    return {
        "initial": _shown(trace.initial, slots), "loop": trace.loop,
        "steps": [[step.action, [[name, show_value(value)] for name, value in step.args],
                   _shown(step.state, slots), step.shows] for step in trace.steps],
    }


def _shown(state: Mapping[str, Any], slots: Mapping[str, Slot]) -> dict[str, Any]:
    """A state in the words of its machine, which the parent does not have."""
    return {
        slots[name].title or name if name in slots else name:
            show_slot(value, slots[name].type if name in slots else None)
        for name, value in state.items()}


def _trace_from(document: dict[str, Any] | None) -> Trace | None:
    if document is None:
        return None
    steps = tuple(
        TraceStep(action, _value(arguments), _state(state), _value(shows))
        for action, arguments, state, shows in document["steps"])
    return Trace(_state(document["initial"]), steps, document["loop"])


def _state(document: dict[str, Any]) -> dict[str, Any]:
    return {name: _value(value) for name, value in document.items()}


def _value(document: Any) -> Any:
    """A value with tuples for its lists."""
    return tuple(map(_value, document)) if isinstance(document, list) else document
