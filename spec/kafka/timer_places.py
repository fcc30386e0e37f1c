"""Tasks of an observed timer that come one after the other, in the same places.

Theory. A task that is not pending leaves nothing in the timer but how it ended: it has run, or was
cancelled. Another one that has ended in the same way stands for it, until it is added again: then
it is as one that was never there.

Source: observed_timer.
"""

from __future__ import annotations

from ..notation import action, require, upto
from ..notation.places import Reuse
from .observed_timer import ObservedTimer
from .timer import Phase

__all__ = ["TASKS", "TimerPlaces"]


class TimerPlaces(ObservedTimer):
    """A timer of which the tasks that are not pending leave their places."""

    @action(task=upto(ObservedTimer.K))
    def leaves_its_place(self, task: int) -> None:
        """A task is not pending; whether it has run or was cancelled is remembered elsewhere."""
        require(self.phase[task] != Phase.PENDING and self.due[task] == 0)
        require(self.brief[task] == 0 and self.turn[task] == 0 and task not in self.faulty)
        self.phase[task] = Phase.NEW


TASKS = Reuse(TimerPlaces, "K", ("task",), {"D": 1, "H": 3, "T": 3, "M": 1}, kept=("phase",),
              comes=("add",), unused=("fail",))
