"""When a task of a design has nothing to do any more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..design.reading.language import Design
from .scripts import may_be_done
from .system import System

__all__ = ["finished"]


def finished(system: System, design: Design, task: str) -> Iterator[Mapping[str, int]]:
    """The conditions under which a task has finished, each as the most that is left in some
    counters: it has ceased, or holds nothing and has nothing to take, and the same is true of all
    tasks upstream."""
    if f"{task}: running" in system.counters:
        yield {f"{task}: running": 0}
    above = _upstream(design, task)
    if system.ends or any(design.tasks[each].kind.value in ("source", "script") for each in above):
        resting = [_resting(system, design, each) for each in above]
        if None not in resting:
            names = {name for some in resting for name in some or ()}
            yield {name: most for name, most in system.rests.items() if name in names}


def _upstream(design: Design, task: str) -> set[str]:
    """The task, and all tasks from which elements come to it, directly or by way of others."""
    above, waiting = {task}, [task]
    while waiting:
        here = waiting.pop()
        if design.tasks[here].kind.value not in ("source", "script"):
            more = {w for link in design.inputs(here) for w in link.writers} - above
            above |= more
            waiting += more
    return above


def _resting(system: System, design: Design, task: str) -> list[str] | None:
    """The counters of a task that are empty when it is done; None for a task that never is."""
    here = design.tasks[task]
    if here.kind.value in ("source", "script", "call") and not may_be_done(here):
        return None
    reads = set() if here.kind.value == "script" else {
        f"elements in {link.name}" for link in design.inputs(task)}
    return [name for name in system.counters if name in reads or name.startswith(f"{task}: ")]
