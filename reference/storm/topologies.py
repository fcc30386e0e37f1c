"""Topologies: components, the streams between them, and two topologies to run.

A topology is data and user code; it knows neither workers nor threads. Its tasks are numbered
from 0: the spout, the bolts in the order of the text, the ackers. Every tuple of the source is
``(message, text)``, where ``message`` is its offset; every tuple that reaches the sink is
``(message, part, ...)``, and a message has ``parts`` of them.

A cycle of bolts is refused: with bounded queues they can all wait for each other (STORM-3637).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, NamedTuple

from .basic_bolt import Basic, BasicOutput
from .messages import Bolt, Kind, Message, Output, Value
from .rotating import RotatingMap

__all__ = [
    "DIAMOND", "PING_PONG", "TOPOLOGIES", "WORD_COUNT", "Bolt", "Component", "Kind", "Message",
    "Output", "Stream", "Topology", "TopologyMisuse", "deploy", "ping_pong",
]


class TopologyMisuse(ValueError):
    """The topology or its deployment makes no sense.

    Usual causes: bolts that form a cycle, a stream between unknown components,
    fewer workers than one.
    """


class Stream(NamedTuple):
    """Tuples of ``source`` go to ``target``: by turns, or by ``key`` of their value."""

    source: str
    target: str
    key: Callable[[Value], int] | None = None


class Component(NamedTuple):
    """A bolt with its number of tasks; ``fan_out`` is how many tuples one execution emits."""

    name: str
    make: Callable[[], Bolt]
    tasks: int = 1
    fan_out: int = 1
    inputs: int = 1     # tuples that one execution acks at most


@dataclass(frozen=True)
class Topology:
    """A spout called ``source`` and its bolts. ``text`` gives the record at an offset.

    Without ``ackers`` (0) acknowledgement is off: nothing is tracked, nothing is replayed. With
    None there is one for each worker, as with Storm's ``topology.acker.executors``: ``on``
    then sets the number.

    Raises ``TopologyMisuse`` for streams that lead nowhere or, unless ``cycles`` are
    allowed, bolts that feed each other.
    """

    name: str
    text: Callable[[int], str]
    parts: int
    bolts: tuple[Component, ...]
    streams: tuple[Stream, ...]
    ackers: int | None = 1
    cycles: bool = False
    sinks: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        if self.ackers is not None and (type(self.ackers) is not int or self.ackers < 0):
            raise TopologyMisuse(f"there are 0 ackers or more, not {self.ackers!r}")
        names = {"source", *(bolt.name for bolt in self.bolts)}
        for stream in self.streams:
            if not {stream.source, stream.target} <= names or stream.target == "source":
                raise TopologyMisuse(f"no stream leads from {stream.source} to {stream.target}")
        cycle = self.cycle()
        if cycle and not self.cycles:
            raise TopologyMisuse(
                f"the bolts {', '.join(cycle)} form a cycle, and can all wait for each other")
        sources = {stream.source for stream in self.streams}
        object.__setattr__(self, "sinks", frozenset(names - sources))

    def cycle(self) -> tuple[str, ...]:
        """Components that are part of a cycle of streams, or feed one; empty without a cycle."""
        left = {"source", *(bolt.name for bolt in self.bolts)}
        while True:
            ends = {name for name in left if not any(
                stream.source == name and stream.target in left for stream in self.streams)}
            if not ends:
                return tuple(sorted(left - {"source"}))
            left -= ends

    def on(self, workers: int) -> Topology:
        """This topology on ``workers`` workers: with as many ackers, unless their number is set."""
        return self if self.ackers is not None else replace(self, ackers=workers)

    def tasks_of(self) -> Mapping[str, range]:
        """The task numbers of ``source``, of each bolt, and of ``acker``.

        Raises ``TopologyMisuse`` if the number of ackers depends on the workers; see ``on``.
        """
        return self._tasks_of

    # Executors ask for these at every emit.

    @cached_property
    def _tasks_of(self) -> Mapping[str, range]:
        if self.ackers is None:
            raise TopologyMisuse("one acker for each worker: Topology.on sets the number of "
                                 "workers")
        first, found = 1, {"source": range(1)}
        for bolt in self.bolts:
            found[bolt.name] = range(first, first + bolt.tasks)
            first += bolt.tasks
        found["acker"] = range(first, first + self.ackers)
        return found

    def component_of(self, task: int) -> str:
        """The name of the component that a task belongs to. ``KeyError`` without one."""
        return self._component_of[task]

    @cached_property
    def _component_of(self) -> Mapping[int, str]:
        return {task: name for name, tasks in self.tasks_of().items() for task in tasks}

    def bolt(self, name: str) -> Component:
        """The bolt of a name. ``KeyError`` without one."""
        for bolt in self.bolts:
            if bolt.name == name:
                return bolt
        raise KeyError(name)

    def emits_at_most(self, task: int) -> int:
        """Messages that one execution of a bolt's task emits at most, with acknowledgements."""
        name = self.component_of(task)
        if name in ("source", "acker"):
            return 1
        streams = sum(stream.source == name for stream in self.streams)
        return self.bolt(name).fan_out * streams + self.bolt(name).inputs


def deploy(topology: Topology, workers: int) -> dict[int, int]:
    """The worker (from 0) of each task, by turns. Raises ``TopologyMisuse`` below 1 worker."""
    if type(workers) is not int or workers < 1:
        raise TopologyMisuse(f"a cluster has 1 worker or more, not {workers!r}")
    tasks = [task for each in topology.on(workers).tasks_of().values() for task in each]
    return {task: task % workers for task in tasks}


# ---- word count -----------------------------------------------------------------------------


class _Split:
    """Emits the words of a text."""

    def process(self, value: Value, out: BasicOutput) -> None:
        offset, text = value
        for part, word in enumerate(text.split()):
            out.emit((offset, part, word))


class _Count:
    """A basic bolt that counts words."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}

    def process(self, value: Value, out: BasicOutput) -> None:
        word = value[2]
        self.counts[word] = self.counts.get(word, 0) + 1


WORDS: Final = ("the", "cow", "jumped", "over", "moon", "and", "an", "apple")
WORDS_PER_TEXT: Final = 3


def _sentence(offset: int) -> str:
    return " ".join(WORDS[(offset * 5 + at * 3) % len(WORDS)] for at in range(WORDS_PER_TEXT))


def _by_word(value: Value) -> int:
    return sum(str(value[2]).encode())


WORD_COUNT: Final = Topology(
    "word-count", _sentence, WORDS_PER_TEXT,
    (Component("split", lambda: Basic(_Split()), tasks=2, fan_out=WORDS_PER_TEXT),
     Component("count", lambda: Basic(_Count()), 2)),
    (Stream("source", "split"), Stream("split", "count", _by_word)))


# ---- diamond --------------------------------------------------------------------------------


class _Side:
    """Passes a tuple on, marked with its side."""

    def __init__(self, side: str) -> None:
        self.side = side

    def process(self, value: Value, out: BasicOutput) -> None:
        offset, text = value
        out.emit((offset, self.side, text))


class _Join:
    """Waits for both sides of a root, and emits them as one tuple, in the trees of both.

    A side is dropped after two ticks if the other side does not come: its root has then
    timed out.
    """

    def __init__(self) -> None:
        self._halves: RotatingMap[int, Message] = RotatingMap(3)

    def execute(self, message: Message, out: Output) -> None:
        # Without ackers there are no roots, and no message comes twice.
        of = message.anchors[0][0] if message.anchors else _by_message(message.value)
        other = self._halves.get(of)
        if other is None:
            self._halves.put(of, message)
            return
        self._halves.remove(of)
        out.emit((message.value[0], 0, message.value[2]), (other, message))
        out.ack(other)
        out.ack(message)

    def tick(self) -> None:
        """Drop the oldest halves."""
        self._halves.rotate()


def _by_message(value: Value) -> int:
    return int(value[0])


DIAMOND: Final = Topology(
    "diamond", _sentence, 1,
    (Component("left", lambda: Basic(_Side("left"))),
     Component("right", lambda: Basic(_Side("right"))),
     Component("join", _Join, inputs=2), Component("sink", lambda: Basic(_Count()))),
    (Stream("source", "left"), Stream("source", "right"), Stream("left", "join", _by_message),
     Stream("right", "join", _by_message), Stream("join", "sink")))


# ---- a cycle of bolts -----------------------------------------------------------------------


class _Forward:
    """Passes copies of a tuple on, a few times; a sink only for the record."""

    def execute(self, message: Message, out: Output) -> None:
        offset, part, *hops = message.value
        if len(hops) < _HOPS:
            for copy in range(_COPIES):
                out.emit((offset, part, *hops, copy), (message,))
        out.ack(message)

    def tick(self) -> None:
        """Do nothing: no tuple is kept that could grow old."""


_HOPS: Final = 3
_COPIES: Final = 2
PING_PONG: Final = "ping-pong"


def ping_pong(*, cycles: bool = False) -> Topology:
    """Two bolts that feed each other: refused with ``TopologyMisuse``, unless ``cycles``."""
    return Topology(
        PING_PONG, lambda _offset: "0", 1,
        (Component("ping", _Forward, fan_out=_COPIES),
         Component("pong", _Forward, fan_out=_COPIES),
         Component("sink", _Forward)),
        (Stream("source", "ping"), Stream("source", "sink"), Stream("ping", "pong"),
         Stream("pong", "ping")), cycles=cycles)


TOPOLOGIES: Final[Mapping[str, Topology]] = {
    topology.name: topology for topology in (WORD_COUNT, DIAMOND)}
