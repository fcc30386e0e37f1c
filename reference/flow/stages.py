"""A stage between two links: what comes by one is made into what goes by the other.

A stage is the receiver of its upstream link and the sender of its downstream link. The two loops
of permits share nothing, so capacities and batches may differ. In between is a *transform*, which
says whether it wants an element, and whether it has one to give. It may make one of one, several
of one, one of several, or other frames altogether.

What keeps a stage bounded and live is when it takes an element out of its buffer: only when the
transform wants one, which is when it has nothing to give, or can hold what comes. The element's
slot is free then, for it is in the transform's hand, and not only once an output was made of it:
a stage that waits for that gets stuck where an output needs more elements than it has slots.

Nothing here has a clock or a connection. A driver delivers what is returned, in order. What a
transform raises comes through, and the stage is over then.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Generic, NamedTuple, Protocol, TypeVar

from .link import LinkMisuse, LinkReceiver, LinkSender, check_number

__all__ = [
    "Each", "Groups", "Lines", "Pumped", "RolledUp", "Spread", "Stage", "Transform",
]

A = TypeVar("A")
B = TypeVar("B")
A_contra = TypeVar("A_contra", contravariant=True)
B_co = TypeVar("B_co", covariant=True)


class Transform(Protocol[A_contra, B_co]):
    """What a stage makes of elements. It holds a bounded number of them."""

    @property
    def wants(self) -> bool:
        """Whether another element may come now."""
        ...

    @property
    def ready(self) -> bool:
        """Whether there is an output now."""
        ...

    def take(self, element: A_contra) -> None:
        """An element comes; only where one is wanted."""
        ...

    def make(self) -> B_co:
        """The next output goes; only where there is one."""
        ...


class Spread(Generic[A, B]):
    """Several of one: ``function`` gives the outputs of an element, which are made one by one,
    when they can go. It wants the next element once there are no more. There may be none."""

    def __init__(self, function: Callable[[A], Iterable[B]]) -> None:
        self._function = function
        self._rest: Iterator[B] = iter(())
        self._next: deque[B] = deque()

    @property
    def wants(self) -> bool:
        return not self.ready

    @property
    def ready(self) -> bool:
        if not self._next:
            self._next.extend(_first(self._rest))
        return bool(self._next)

    def take(self, element: A) -> None:
        self._rest = iter(self._function(element))

    def make(self) -> B:
        return self._next.popleft()


class Each(Spread[A, B]):
    """One output of one element, by a function."""

    def __init__(self, function: Callable[[A], B]) -> None:
        super().__init__(lambda element: (function(element),))


class Groups(Generic[A]):
    """One of several: lists of ``size`` elements, or of what is there when an output can go.

    ``whole``: only full lists. Otherwise this is a batch that grows while its output has to wait.
    """

    def __init__(self, size: int, whole: bool = True) -> None:
        check_number("the size of a group", size, 1)
        self._size, self._whole = size, whole
        self._held: list[A] = []

    @property
    def wants(self) -> bool:
        return len(self._held) < self._size

    @property
    def ready(self) -> bool:
        return len(self._held) >= (self._size if self._whole else 1)

    def take(self, element: A) -> None:
        self._held.append(element)

    def make(self) -> list[A]:
        made, self._held = self._held, []
        return made


class Lines:
    """Other frames altogether: the lines of chunks, as in the "Hello World!" of the text.

    A chunk may complete none, one or several. More than ``longest`` bytes without an end are a
    ``LinkMisuse``, for else a sender could make the stage hold anything.
    """

    def __init__(self, longest: int = 1 << 16) -> None:
        check_number("the length of a line", longest, 1)
        self._longest = longest
        self._held = bytearray()

    def __len__(self) -> int:
        return len(self._held)

    @property
    def wants(self) -> bool:
        return not self.ready

    @property
    def ready(self) -> bool:
        return b"\n" in self._held

    def take(self, element: bytes) -> None:
        """See ``Transform``. Raises ``LinkMisuse`` where the line gets too long."""
        if b"\n" not in element and len(self._held) + len(element) > self._longest:
            raise LinkMisuse(f"{self._longest} bytes have come, and their line has no end")
        self._held += element

    def make(self) -> bytes:
        line, _, rest = self._held.partition(b"\n")
        self._held = rest
        return bytes(line)


class RolledUp(Generic[A, B]):
    """One of all that came while no output could go: it always wants the next, and never grows.

    ``first`` makes a summary of an element, ``add`` puts an element into it.
    """

    def __init__(self, first: Callable[[A], B], add: Callable[[B, A], B]) -> None:
        self._first, self._add = first, add
        self._summary: deque[B] = deque(maxlen=1)

    @property
    def wants(self) -> bool:
        """See ``Transform``: always."""
        return True

    @property
    def ready(self) -> bool:
        return bool(self._summary)

    def take(self, element: A) -> None:
        self._summary.append(
            self._add(self._summary[0], element) if self._summary else self._first(element))

    def make(self) -> B:
        return self._summary.popleft()


class Pumped(NamedTuple, Generic[B]):
    """What to send: messages with permits upstream, and elements downstream, each in order."""

    permits: list[int]
    elements: list[B]


class Stage(Generic[A, B]):
    """``capacity`` slots for what comes, announced ``batch`` at a time, and ``permits`` for what
    goes, which are the slots of whoever comes next."""

    def __init__(self, transform: Transform[A, B], capacity: int, batch: int, permits: int) -> None:
        self.inlet: LinkReceiver[A] = LinkReceiver(capacity, batch)
        self.outlet: LinkSender[B] = LinkSender(permits)
        self.transform = transform

    def arrive(self, element: A) -> Pumped[B]:
        """An element has come from upstream. Raises ``LinkMisuse`` where there is no slot."""
        permits = self.inlet.arrive(element)
        assert permits == 0, "nothing is announced before it is taken"
        return self._pump()

    def permit(self, count: int) -> Pumped[B]:
        """A message with permits has come from downstream."""
        self.outlet.permit(count)
        return self._pump()

    def _pump(self) -> Pumped[B]:
        """Do all that can be done: outputs first, so that as little as possible is held."""
        pumped: Pumped[B] = Pumped([], [])
        while True:
            if self.outlet.permits and self.transform.ready:
                pumped.elements.extend(self.outlet.offer([self.transform.make()]))
            elif len(self.inlet) and self.transform.wants:
                element, permits = self.inlet.process()
                self.transform.take(element)
                if permits:
                    pumped.permits.append(permits)
            else:
                return pumped


def _first(rest: Iterator[B]) -> Iterator[B]:
    for one in rest:
        yield one
        return
