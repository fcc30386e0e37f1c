"""The chapter's stages that roll up and that batch, as cores of the reference's adapters."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from ....spec.flow.summaries import Batching, Summaries
from ....spec.flow.summaries_seen import BatchesSeen, SummariesSeen
from ....spec.notation.machine import Machine
from ....spec.notation.views import View
from ...suites.mechanism import Mechanism

__all__ = ["BatchesOfTheBook", "StageOfTheBook"]

_VALUES: Final = 2**20
"""More values than any program has."""


class StageOfTheBook(Mechanism):
    """In the chapter a value has weight 1 and no name: an output of some weight stands for as many
    of the last values."""

    machine: ClassVar[type[Machine]] = Summaries
    view: ClassVar[type[View[Any]]] = SummariesSeen

    def __init__(self, *core: Any, **constants: int) -> None:
        super().__init__(K=_VALUES, **constants)
        self._values: list[int] = []

    @property
    def wants(self) -> bool:
        """True if another value would be taken."""
        return self.can("take")

    @property
    def ready(self) -> bool:
        """True if there is an output for a credit."""
        return self.can("emit")

    def take(self, value: int) -> None:
        """One more value comes."""
        self.fire("take")
        self._values.append(value)

    def make(self) -> Any:
        """The output: a sum, or a list where the stage has kept all values."""
        ((name, arguments),) = self.fire("emit") or ()
        values, self._values = self._values, []
        if not arguments:
            return values
        ((_, weight),) = arguments
        return self.made(values[len(values) - weight:])

    def made(self, values: list[int]) -> Any:
        """The output that stands for some values."""
        return sum(values)


class BatchesOfTheBook(StageOfTheBook):
    """The same for batches, which are lists."""

    machine: ClassVar[type[Machine]] = Batching
    view = BatchesSeen

    def __init__(self, size: int, *, whole: bool) -> None:
        super().__init__(m=size)

    def made(self, values: list[int]) -> Any:
        return values
