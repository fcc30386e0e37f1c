"""The steps that a design must repeat, each with its transitions and when it is asked for.

A task must take steps, if its starvation is asked about. *Live* asks that each source, and each
script that only writes, takes steps until it is done; that from each link which holds as many
elements as are taken at once some are taken again; and that what is held in a hand is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..design.reading.language import Design
from .scripts import may_be_done
from .system import Transition, System

__all__ = ["Wanted", "wanted_of", "wanted_of_task"]


@dataclass(frozen=True)
class Wanted:
    """A demand that ``task`` takes a step, or that some task takes from ``counter``; as long as
    ``asking`` holds at least ``least``, or, of ``until``, nothing is there."""

    task: str = ""
    counter: str = ""
    asking: str = ""
    least: int = 0
    until: str = ""

    def __str__(self) -> str:
        return f"a step of {self.task}" if self.task else f"taking any of {self.counter}"

    def is_done_by(self, transition: Transition) -> bool:
        """True if a transition is what must happen again and again."""
        if self.task:
            return self.task in transition.tasks
        return bool(transition.tasks) and transition.change.get(self.counter, 0) < 0

    def is_asked(self, state: Mapping[str, int]) -> bool:
        """True if it is asked for in a state."""
        return (not self.asking or state[self.asking] >= self.least) and (
            not self.until or state[self.until] == 0)


def wanted_of_task(task: str) -> Wanted:
    """The demand that a task takes steps forever."""
    return Wanted(task)


def wanted_of(design: Design, system: System) -> Iterator[Wanted]:
    """All that *live* asks of a part of a design."""
    for name, task in design.tasks.items():
        script = task.kind.value == "script"
        only_writes = script and bool(design.outputs(name)) and not design.inputs(name)
        if script and only_writes and may_be_done(task):
            yield Wanted(name, until=f"{name}: steps left = 0")
        elif task.kind.value == "source" and task.may.value:
            yield Wanted(name, asking=f"{name}: running", least=1)
        elif task.kind.value == "source" and task.count is not None:
            yield Wanted(name, asking=f"{name}: elements left", least=1)
        elif only_writes or task.kind.value == "source":
            yield Wanted(name)
    for name, link in design.links.items():
        if link.capacity != 0 and (link.readers or link.of):
            queue = f"elements in {name}"
            yield Wanted(counter=queue, asking=queue, least=min(design.taken(link), default=1))
    for name, counter in system.counters.items():
        if name.endswith((" in the hand", " in the window")) and counter.rest is not None:
            yield Wanted(counter=name, asking=name, least=counter.rest + 1)
