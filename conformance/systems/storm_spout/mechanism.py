"""The chapter's map as a spout's record of its pending roots, behind its port."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from ....reference.storm.spout import Call, SpoutPending
from ....spec.notation.machine import Machine
from ....spec.storm.acking.rotating import RotatingMap
from ....spec.storm.spouts.spout_seen import RootSeen
from ...suites.mechanism import Mechanism
from .adapter import ReferenceSpout

__all__ = ["RootOfTheBook", "SpoutOfTheBook"]


class RootOfTheBook(Mechanism):
    """One pending root, in a map that rotates with each unit of time."""

    machine: ClassVar[type[Machine]] = RotatingMap
    view = RootSeen

    def __init__(self, buckets: int, message: str) -> None:
        super().__init__(N=buckets, P=1)
        self.message = message
        self.renew()

    def renew(self) -> None:
        """The root is emitted, or gets more time."""
        self.fire("put")

    def times_out(self) -> bool:
        """True if a tick, which passes now, ends it."""
        return any(name == "times_out" for name, _ in self.fire("elapse") or ())


class _Roots(dict[int, RootOfTheBook]):
    """The pending roots, as the reference's map of them."""

    def __init__(self, core: type[RootOfTheBook], buckets: int) -> None:
        super().__init__()
        self._core, self._buckets = core, buckets

    def put(self, root: int, message: str) -> None:
        """A root is emitted."""
        self[root] = self._core(self._buckets, message)

    def remove(self, root: int) -> str:
        """A root is answered; its message."""
        return self.pop(root).message

    def rotate(self) -> Mapping[int, str]:
        """A tick: the messages of the roots that time out."""
        return dict(self._gone())

    def _gone(self) -> Iterator[tuple[int, str]]:
        for number, root in [*self.items()]:
            if root.times_out():
                yield number, self.remove(number)


class _Pending(SpoutPending[str]):
    """Rounds and answers as the reference has them, over such roots."""

    def __init__(self, limit: int, tasks: int, roots: _Roots) -> None:
        super().__init__(limit, tasks)
        self._roots = roots
        self._pending = roots                       # type: ignore[assignment]

    def reset_timeout(self, root: int) -> tuple[Call[str], ...]:
        if root in self._roots:
            self._roots[root].renew()
        return ()


class SpoutOfTheBook(ReferenceSpout):
    """The time of each root is the chapter's. ``core`` is one root."""

    name = "spout of the book"
    core: type[RootOfTheBook] = RootOfTheBook       # type: ignore[assignment]

    def start(self, settings: Mapping[str, Any]) -> None:
        """Begin without a pending root."""
        self._spout = _Pending(settings["capacity"], settings.get("tasks", 1),
                               _Roots(self.core, settings["buckets"]))
