"""The words in the boxes of a drawing, and how wide they are."""

from __future__ import annotations

from textwrap import wrap

from ..reading.language import Flow, Kind, Link, Merging, Routing, Step, StepKind, Task
from ..reading.signs import OPEN

__all__ = ["BOLD", "MANY_SLOTS", "SMALL", "described", "flow_of", "is_named", "lines_of", "width"]

MANY_SLOTS = 8
"""So many slots of a queue, or places of a hand, are drawn one by one."""

SMALL, BOLD = 6.6, 8.1
"""The width of a usual character of the small text and of the bold one, in pixels, rather more."""

_LINE = 26  # characters of a line of small text
_LINES = 3  # of what a task does


def width(text: str, character: float) -> float:
    """The width of a text: capitals and the like are wider than other characters, and those beyond
    the alphabets may be twice as wide."""
    return sum(character * (2 if ord(each) >= 0x2E80 else 1.25 if each.isupper() or each in "_@%mw"
                            else 1) for each in text)


def lines_of(text: str, most: int = _LINES) -> list[str]:
    """A text in lines of a box; what would be more than ``most`` of them is left out."""
    return wrap(text, _LINE, max_lines=most, placeholder=" …", break_on_hyphens=False) or [""]


def is_named(link: Link) -> bool:
    """True if a file names the link, so that its name says more than its ends do."""
    return bool(link.of) or "->" not in link.name


def flow_of(link: Link, initial: bool) -> list[str]:
    """The words for a link beside its name and its room; ``initial``: also how many
    elements it starts with."""
    extra = [] if link.flow in (Flow.BLOCKING, Flow.UNBOUNDED) else [link.flow.value]
    if link.flow is Flow.CREDIT and link.batch > 1:
        extra.append(f"batch {link.batch}")
    if link.flow is Flow.STOP_GO:
        extra.append(f"stops above {link.stop}, resumes at {link.go}")
    if link.in_line:
        extra.append("read at its head")
    if (link.gives, link.takes) != (1, 1):
        extra.append(f"{link.gives} in, {link.takes} out")
    if link.initial and initial:
        extra.append(f"starts with {link.initial}")
    if link.lossy:
        extra.append(f"may lose {link.lossy}")
    return extra


def _of_step(step: Step) -> str:
    """The word for a step, as the file has it where that was written out (see ``endings``)."""
    first = step.branches[0][0] if step.branches and step.branches[0] else None
    if step.kind is StepKind.EITHER and step.besides:
        return "read until closed" if step.loops else "read" if first else "join"
    if step.kind is StepKind.EITHER and first is not None and first.words:
        return "close" if first.target.endswith(OPEN) else "cancel"
    if first is not None and first.up_to:
        return f"read up to {first.up_to}"
    return f"{step.kind.value} {step.count if step.count > 1 else ''}".strip()


def described(task: Task) -> str:
    """The work of a task, as the small text of its box."""
    parts = [task.kind.value]
    if task.kind is Kind.MERGE and task.merging is not Merging.ANY:
        parts.append(f"prefers {task.prefers}" if task.prefers else task.merging.value)
    if task.kind is Kind.ROUTE:
        parts += ["by room"] if task.routing is Routing.ROOM else []
    if task.kind is Kind.WINDOW:
        parts.append(f"of {task.size}")
        parts += [f"slides by {task.slide}"] if task.slide < task.size else []
    if task.kind is Kind.ALIGN:
        parts.append(f"waits for each {task.barrier}")
    if task.kind is Kind.SCRIPT:
        told = [_of_step(step) for step in task.steps if not step.words]
        parts.append("; ".join(told[:4]) + ("; …" if len(told) > 4 else ""))
    if task.kind is Kind.CALL:
        parts.append(f"{task.roots} at once, {task.depth} deep")
    if task.may.value:
        parts.append(f"may {task.may.value}")
    if task.count is not None:
        parts.append("once" if task.count == 1 else f"{task.count} times")
    if task.hand > MANY_SLOTS:
        parts.append(f"holds {task.hand}")
    return ", ".join(parts)

