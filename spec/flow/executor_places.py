"""Tasks of an observed executor that are forgotten.

Theory. A task with a future that has ended, and one that was refused or cancelled, is in no other
set. If it is named again, that is another matter; for all others it makes no difference.

Source: observed_executor.
"""

from __future__ import annotations

from ..notation import action, require, upto
from ..notation.places import Reuse
from .observed_executor import ObservedExecutor

__all__ = ["TASKS", "TaskPlaces"]


class TaskPlaces(ObservedExecutor):
    """An executor of which the tasks that have ended are forgotten."""

    @action(task=upto(ObservedExecutor.K))
    def leaves_its_place(self, task: int) -> None:
        """A task has ended, and so has its future."""
        require(self.coming != task and not any(other == task for other in self.line))
        require(task not in self.running and task not in self.here)
        require(task not in self.good and task not in self.bad)
        self.over.discard(task)
        self.refused.discard(task)
        self.cancelled.discard(task)


TASKS = Reuse(TaskPlaces, "K", ("task",), {"W": 1, "Q": 1, "L": 2}, holds=("coming", "line"),
              counts=("named",), next=("named",), ordered=True)
