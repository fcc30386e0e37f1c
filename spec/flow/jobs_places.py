"""Workers of an observed master that have not come yet.

Theory. A log names its workers as they come. One that neither asks nor has a job is as one that has
not come.

Source: observed_jobs.
"""

from __future__ import annotations

from ..notation import action, require, upto
from ..notation.places import Reuse
from .observed_jobs import ObservedMaster

__all__ = ["WORKERS", "WorkerPlaces"]


class WorkerPlaces(ObservedMaster):
    """A master of which the workers that do nothing leave their places."""

    @action(worker=upto(ObservedMaster.W))
    def leaves_its_place(self, worker: int) -> None:
        """A worker neither asks nor has a job."""
        require(worker not in self.asking and worker not in self.busy)


WORKERS = Reuse(WorkerPlaces, "W", ("worker",), {"K": 1})
