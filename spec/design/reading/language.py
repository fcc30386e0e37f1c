"""The content of a design file, once it is read: tasks, links between them, and pools of threads.

These are the user's own words. ``translate`` turns them into a net; ``loader`` makes them
from text and has checked everything that is checked here only by type.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property

from ...nets.net import Net
from .signs import OPEN
from .source import NOWHERE, Spot

__all__ = [
    "CHOICES", "MAX_EARLY",
    "Design", "Flow", "Kind", "Link", "Merging", "Mortality", "Pool", "Routing", "Step", "StepKind",
    "Taking", "Task",
]


MAX_EARLY = 100
"""The most elements of a window that may close early: each number of them is a way to."""


class Kind(Enum):
    """The work of a task on its links each time it runs."""

    SOURCE = "source"        # writes to all its links
    SINK = "sink"            # reads from any of its links
    MAP = "map"              # reads from its link, writes to its link
    FILTER = "filter"        # as a map, but may write nothing
    MERGE = "merge"          # reads from one of its links, writes to its link
    ZIP = "zip"              # reads from all its links at once, writes to all its links
    BROADCAST = "broadcast"  # reads from its link, writes to all its links
    ROUTE = "route"          # reads from its link, writes to one of its links
    WINDOW = "window"        # gathers elements, and writes one for all of them
    ALIGN = "align"          # as a merge, but waits for a barrier from each input
    SCRIPT = "script"        # a blocking program: its steps, in order
    TRANSITION = "transition"  # of a Petri net: all it reads and all it writes, in one transition
    CALL = "call"            # nested calls: each level occupies a thread and waits for the next


class Flow(Enum):
    """The flow control of a link: how it keeps its writer from overrunning its reader."""

    BLOCKING = "blocking"            # the writer waits for a free slot
    CREDIT = "credit"                # the writer spends permits, which the reader gives back
    STOP_AND_WAIT = "stop-and-wait"  # credit of one element at a time
    DROP_NEWEST = "drop-newest"      # when full, the arriving element is dropped
    DROP_OLDEST = "drop-oldest"      # when full, the oldest element frees a slot
    STOP_GO = "stop-go"              # nearly full, the reader calls stop, and later go
    FAIL = "fail"                    # when full, the whole design fails
    UNBOUNDED = "unbounded"          # there is always room


class Taking(Enum):
    """The element that a reader takes of a queue with several kinds."""

    ANY = "any"    # one of a kind that it reads, wherever it stands
    HEAD = "head"  # the one that came first: a reader that does not read its kind waits


class Merging(Enum):
    """The policy of a merge: which of several ready inputs it takes."""

    ANY = "any"              # any of them; nothing is promised to the others
    FAIR = "fair"            # in turn; an input that has nothing loses its turn
    PREFERRED = "preferred"  # one named input whenever it has something


class Routing(Enum):
    """When a route decides where an element goes."""

    CONTENT = "content"  # the element decides: a full link holds up all the others
    ROOM = "room"        # any link that has a free slot


class Mortality(Enum):
    """The endings that a task may have before its work is done."""

    GOES_ON = ""
    STOP = "stop"    # between two of its runs, forever
    CRASH = "crash"  # at any moment, with what it holds


class StepKind(Enum):
    """A step of a script."""

    WRITE = "write"
    READ = "read"
    ACQUIRE = "acquire"
    RELEASE = "release"
    EITHER = "either"  # the branch with a first step that can be done
    BRANCH = "branch"  # any of the branches, which the script decides itself
    REPEAT = "repeat"  # its one branch, so many times
    CLOSE = "close"    # a link: no more is written to it
    JOIN = "join"      # a task: wait until it has ended
    CANCEL = "cancel"  # a task: let it end at its next step


CHOICES = (StepKind.EITHER, StepKind.BRANCH, StepKind.REPEAT)
"""Steps that have no target of their own, but others in them."""


@dataclass(frozen=True)
class Step:
    """``count`` times: write to or read from a link, take or give back threads of a pool.

    A count of reads and writes is done one element at a time, an acquire all at once. ``branches``
    are those of a choice, which has no target. An ``either`` may be left at any time by way of its
    ``timeout``, and by way of ``otherwise`` (``else`` in a file) where no branch can begin. A
    script may wait forever at a ``final`` step, once all else is done. What a step reads or
    writes is ``of`` a kind, and ``named`` (``as`` in a file) is a name for the kind that it
    reads; both are written out when a file is read (see ``kinds``).

    A ``repeat`` does its one branch ``count`` times, or forever where that is 0. A read with
    ``up_to`` takes from one to so many elements at once and does its branch for each of them;
    ``at_once`` is the number of one way to do so. A
    read with ``closed`` does those steps instead where its link is closed and empty. These, and
    closing, joining and cancelling, are written out too (see ``endings``): an ``either`` continues
    by way of ``otherwise`` only where none of ``besides`` is possible, either, and where it
    ``loops`` a branch leads back to it. ``words`` say what an acquire of a sign is.
    """

    kind: StepKind
    target: str = ""
    count: int = 1
    branches: tuple[tuple[Step, ...], ...] = ()
    timeout: tuple[Step, ...] | None = None
    otherwise: tuple[Step, ...] | None = None
    final: bool = False
    of: str = ""
    named: str = ""
    up_to: int = 0
    at_once: int = 0
    closed: tuple[Step, ...] | None = None
    besides: tuple[Step, ...] = ()
    loops: bool = False
    words: str = ""
    spot: Spot = field(default=NOWHERE, compare=False, repr=False)

    @property
    def actions(self) -> Iterator[Step]:
        """The reads, writes, acquires and releases in it."""
        if self.kind not in CHOICES:
            yield self
        for steps in self.ways:
            for step in steps:
                yield from step.actions

    @property
    def ways(self) -> Iterator[tuple[Step, ...]]:
        """All steps that stand in it: branch by branch, and what it may do instead."""
        yield from (*self.branches, self.timeout or (), self.otherwise or (), self.closed or ())

    @property
    def asked(self) -> Iterator[Step]:
        """The acquires of signs that it asks about and does not do."""
        yield from self.besides
        for steps in self.ways:
            for step in steps:
                yield from step.asked

    @property
    def finals(self) -> bool:
        """True if a script may wait forever somewhere in it."""
        return self.final or any(step.finals for steps in self.ways for step in steps)


@dataclass(frozen=True)
class Task:
    """One task. Only the fields that its kind has a meaning for are set.

    ``hand`` is the number of elements it can hold between reading and writing; with 0 it
    reads and writes in one transition. ``count`` limits a source, or a script's repetitions;
    None continues forever. ``pool`` is where its threads come from (for calls: level by
    level); without one it has a thread to itself. ``takes`` and ``gives`` say, by link, how
    many elements a transition reads and writes, where that is not what the link says. A window
    closes when it has ``size`` elements, of which ``slide`` leave it, or ``early`` with fewer.
    ``barrier`` is the kind of the elements that are aligned. A script that is ``cancelled_by`` a
    pool continues with its last step, wherever it is, once that pool is empty.
    """

    name: str
    kind: Kind
    spot: Spot = NOWHERE
    hand: int = 0
    count: int | None = None
    merging: Merging = Merging.ANY
    prefers: str = ""
    routing: Routing = Routing.CONTENT
    pool: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    roots: int = 1
    depth: int = 1
    takes: Mapping[str, int] = field(default_factory=dict)
    gives: Mapping[str, int] = field(default_factory=dict)
    may: Mortality = Mortality.GOES_ON
    size: int = 1
    slide: int = 1
    early: bool = False
    barrier: str = ""
    cancelled_by: str = ""

    @property
    def may_end(self) -> bool:
        """True if it may have nothing more to do, forever."""
        return self.count is not None or self.may is not Mortality.GOES_ON or any(
            step.finals for step in self.steps)

    @property
    def actions(self) -> tuple[Step, ...]:
        """Every read, write, acquire and release of a script, also those in branches."""
        return tuple(action for step in self.steps for action in step.actions)

    @property
    def pools(self) -> Iterator[str]:
        """Every pool that it takes from, gives back to, or asks about; some more than once."""
        yield from self.pool
        yield from (step.target for step in self.actions
                    if step.kind in (StepKind.ACQUIRE, StepKind.RELEASE))
        yield from (asked.target for step in self.steps for asked in step.asked)
        if self.cancelled_by:
            yield self.cancelled_by

    @property
    def chooses(self) -> bool:
        """True if a script has a choice, so that its steps are not always the same."""
        return any(step.kind in CHOICES or step.branches for step in self.steps)


@dataclass(frozen=True)
class Link:
    """A FIFO of elements from its writers to its readers.

    ``gives`` elements are written and ``takes`` are read at once. ``batch`` is the number
    of freed slots that a credit link announces together, ``lossy`` the number of elements
    or permits that its channel may lose, ``initial`` what it holds at the start. Of the links
    with the same ``group`` that a task writes, each element goes to one, which it decides itself.
    A stop-go link calls stop when there are more than ``stop`` elements, after which ``lag`` more
    may come, and go when there are ``go`` again; ``full`` is its flow where they do not fit.
    ``kinds`` are those of its elements, until they are written out (see ``kinds``): then each link
    has elements of one ``kind``, those of one queue have its name in ``of``, and if it is bounded,
    the pool ``room`` of its free slots in common; ``taking`` says which of them is read. Of a link
    that ``closes`` the pool :attr:`open` has a permit as long as it is open.
    """

    name: str
    writers: tuple[str, ...]
    readers: tuple[str, ...]
    spot: Spot = NOWHERE
    capacity: int | None = 1
    flow: Flow = Flow.BLOCKING
    batch: int = 1
    initial: int = 0
    gives: int = 1
    takes: int = 1
    lossy: int = 0
    group: str = ""
    kinds: tuple[str, ...] = ()
    kind: str = ""
    of: str = ""
    room: str = ""
    stop: int = 0
    go: int = 0
    lag: int = 0
    full: Flow = Flow.FAIL
    taking: Taking = Taking.ANY
    closes: bool = False

    @property
    def may_fail(self) -> bool:
        """True if a write can make the design fail: where it is full, or closed."""
        return self.overflow is Flow.FAIL or self.closes

    @property
    def in_line(self) -> bool:
        """True if its elements have a place among those of other kinds in their queue."""
        return self.taking is Taking.HEAD and bool(self.room)

    @property
    def overflow(self) -> Flow:
        """The flow that says what happens to an element that does not fit."""
        return self.full if self.flow is Flow.STOP_GO else self.flow

    @property
    def queue(self) -> str:
        """The name that the queue has in the file."""
        return self.of or self.name

    @property
    def open(self) -> str:
        """The pool that is empty once the link is closed; no name in a file has brackets."""
        return self.queue + OPEN

    def carries(self, kind: str) -> bool:
        """True if an element of a kind can continue here; of no kind, it may become any."""
        return not self.kind or not kind or self.kind == kind


@dataclass(frozen=True)
class Pool:
    """A number of interchangeable threads (or permits of a semaphore)."""

    name: str
    threads: int
    spot: Spot = NOWHERE


@dataclass(frozen=True)
class Design:
    """A whole design; ``expect`` maps a property to the verdict its author wants, ``parameters``
    are the values that its numbers were computed from, ``assumed`` is what the file does not say
    and a reader of its format took for granted. What was read from a Petri net has its ``net``; one
    that is too large for tasks and links is its net alone. ``spot`` is that of its name."""

    name: str
    about: str
    tasks: Mapping[str, Task]
    links: Mapping[str, Link]
    pools: Mapping[str, Pool]
    expect: Mapping[str, str] = field(default_factory=dict)
    file: str = ""
    parameters: tuple[tuple[str, int], ...] = ()
    assumed: tuple[str, ...] = ()
    net: Net | None = None
    spot: Spot = field(default=NOWHERE, compare=False)

    @property
    def net_alone(self) -> bool:
        """True for a Petri net that is not written out as tasks and links."""
        return self.net is not None and not self.tasks

    def unit(self, pool: str) -> str:
        """The unit of a pool: threads where tasks run on it, else permits."""
        return "thread" if pool in self._run_on else "permit"

    @cached_property
    def _run_on(self) -> frozenset[str]:
        """The pools that tasks run on."""
        return frozenset(pool for task in self.tasks.values() for pool in task.pool)

    def called(self, name: str) -> list[Link]:
        """The link of this name, or those of the queue of this name, in the order of the file."""
        return list(self._called.get(name, ()))

    @cached_property
    def _called(self) -> dict[str, list[Link]]:
        found: dict[str, list[Link]] = {}
        for link in self.links.values():
            for name in dict.fromkeys((link.name, link.queue)):
                found.setdefault(name, []).append(link)
        return found

    def outputs(self, task: str) -> list[Link]:
        """The links that a task writes to, in the order of the file."""
        return list(self._ends[0].get(task, ()))

    def inputs(self, task: str) -> list[Link]:
        """The links that a task reads from, in the order of the file."""
        return list(self._ends[1].get(task, ()))

    def choices(self, task: str) -> list[tuple[Link, ...]]:
        """The links that a task writes an element to: one of each entry."""
        found: dict[str, list[Link]] = {}
        for link in self._ends[0].get(task, ()):
            # No name has a colon, so no group is taken for a link.
            found.setdefault(f"group: {link.group}" if link.group else link.queue, []).append(link)
        return [tuple(links) for links in found.values()]

    def gates(self, task: str) -> list[tuple[Link, ...]]:
        """The queues that a task reads, each as its links, one for each kind of elements."""
        return _by_queue(self._ends[1].get(task, ()))

    def exits(self, task: str) -> list[tuple[Link, ...]]:
        """The queues that a task writes, each as its links, one for each kind of elements."""
        return _by_queue(self._ends[0].get(task, ()))

    @cached_property
    def _ends(self) -> tuple[dict[str, list[Link]], dict[str, list[Link]]]:
        """The links that each task writes, and those that it reads."""
        writes: dict[str, list[Link]] = {}
        reads: dict[str, list[Link]] = {}
        for link in self.links.values():
            for ends, tasks in ((writes, link.writers), (reads, link.readers)):
                for task in dict.fromkeys(tasks):
                    ends.setdefault(task, []).append(link)
        return writes, reads

    def abandoned(self, link: Link) -> bool:
        """True if all readers of a link may cease to run, or are cancelled some time."""
        return bool(link.readers) and all(
            self.tasks[reader].may is not Mortality.GOES_ON or self.tasks[reader].cancelled_by
            for reader in link.readers)

    def taken(self, link: Link) -> list[int]:
        """Numbers of elements that the readers of a link take at once."""
        return [self.tasks[reader].takes.get(link.name, link.takes) for reader in link.readers]

    def given(self, link: Link) -> list[int]:
        """Numbers of elements that the writers of a link give at once."""
        return [self.tasks[writer].gives.get(link.name, link.gives) for writer in link.writers]


def _by_queue(links: Iterable[Link]) -> list[tuple[Link, ...]]:
    found: dict[str, list[Link]] = {}
    for link in links:
        found.setdefault(link.queue, []).append(link)
    return [tuple(each) for each in found.values()]
