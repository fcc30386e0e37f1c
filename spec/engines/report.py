"""Traces in a reader's words: every step with what it changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..notation.expr import Bool, Int, Queue, Record, SlotType
from ..notation.interpreter import show_step
from ..notation.model import Slot
from ..notation.model import Value
from ..verdicts.verdict import Trace

__all__ = ["changes", "show_slot", "trace_lines"]


def show_slot(value: Value, kind: SlotType | None) -> str:
    """A slot's value as text: names of enumerations, records by field, queues in <…>."""
    if isinstance(kind, Queue) and isinstance(value, tuple):
        return "<" + ", ".join(show_slot(item, kind.element) for item in value) + ">"
    if isinstance(kind, Record) and isinstance(value, tuple):
        parts = zip(kind.fields, value, strict=True)
        return "(" + ", ".join(f"{n} {show_slot(v, t)}" for (n, t), v in parts) + ")"
    if isinstance(kind, Bool):
        return "true" if value else "false"
    if isinstance(kind, Int) and kind.names and isinstance(value, int):
        return kind.names[value]
    return str(value)


def changes(
    before: Mapping[str, Value], after: Mapping[str, Value], slots: Mapping[str, Slot]
) -> str:
    """The values that a step changed, as ``name: old -> new``."""
    parts = []
    for name, value in after.items():
        if value != before[name]:
            slot = slots.get(name)
            kind, title = (slot.type, slot.title) if slot else (None, "")
            was, now = show_slot(before[name], kind), show_slot(value, kind)
            parts.append(f"{title or name}: {was} -> {now}")
    return "; ".join(parts) or "nothing changes"


def trace_lines(trace: Trace, slots: Mapping[str, Slot]) -> Iterator[str]:
    """A line a step, numbered from 1, and what it shows; a lasso says where it repeats."""
    before = trace.initial
    for number, step in enumerate(trace.steps, 1):
        if trace.loop == number - 1:
            yield "    -- from here on, forever --"
        name = show_step(step.action, step.args)
        yield f"{number:4}. {name:32} {changes(before, step.state, slots)}"
        for shown in step.shows:
            yield f"      shows {shown}"
        before = step.state
    if trace.loop == len(trace.steps):
        yield "    -- and stays there forever --"
