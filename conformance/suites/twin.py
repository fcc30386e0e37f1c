"""What a twin of a part of Storm is: a class in the place of the reference's core."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..ports.base import Adapter

__all__ = ["CoreTwin"]


@dataclass(frozen=True, slots=True)
class CoreTwin:
    """See ``catalogue.Specimen``. ``core`` takes the place of the adapter's core."""

    name: str
    suite: str
    rule: str
    bug: str
    history: str
    core: type[Any]
    of: Callable[[], Any]
    equivalent: str = ""

    def adapter(self) -> Adapter:
        """A new adapter of this twin."""
        adapter = self.of()
        # On the instance: the bug is a value here, not one more class.
        adapter.core = self.core
        adapter.name = f"zoo:{self.name}"
        made: Adapter = adapter
        return made
