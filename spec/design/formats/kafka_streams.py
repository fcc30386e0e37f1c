"""Kafka Streams: what ``Topology.describe()`` prints.

Within a sub-topology a record goes through all processors in one call, without a queue, so a
sub-topology is one stage. Between sub-topologies lie topics, which are logs: they take whatever is
written, however far their reader is behind. So such a topic is an unbounded link, and whether it
can grow forever is what there is to decide.
Source: org.apache.kafka.streams.TopologyDescription (Kafka 1.0 to 3).
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from ..reading.source import Spot, Watch
from .draft import Draft, Reading, refusal
from .stages import Ends, put_stage

__all__ = ["read"]

BUFFERED: Final = 1000
"""buffered.records.per.partition, unless it is configured."""

_LINES: Final = {
    "title": re.compile(r"\s*Topolog(?:y|ies):?\s*"),
    "sub": re.compile(r"\s*Sub-topology:\s*(\d{1,9})\s*(for global store.*)?"),
    "source": re.compile(r"\s*Source:\s+(\S+)\s+\(topics:\s*(.*)\)\s*"),
    "processor": re.compile(r"\s*Processor:\s+(\S+)\s+\(stores:\s*\[(.*)\]\)\s*"),
    "sink": re.compile(r"\s*Sink:\s+(\S+)\s+\((topic|extractor class):\s*(.*)\)\s*"),
    "after": re.compile(r"\s*-->\s*(.*)"),
    "before": re.compile(r"\s*<--\s*(.*)"),
    "blank": re.compile(r"\s*"),
}
_TOPICS: Final = re.compile(r"\[?([\w.\-]+(?:\s*,\s*[\w.\-]+)*)\]?")


@dataclass
class _Stage:
    """A sub-topology: the topics that it reads and writes, and its nodes."""

    name: str
    spot: Spot
    reads: dict[str, Spot] = field(default_factory=dict)
    writes: dict[str, Spot] = field(default_factory=dict)
    nodes: dict[str, Spot] = field(default_factory=dict)
    following: list[tuple[str, Spot]] = field(default_factory=list)


def read(text: str, file: str, watch: Watch = lambda: None) -> Reading:
    """The design that a description is.

    Raises InputError for a topic that a class or a pattern chooses, and for a line that no
    description has.
    """
    stages = list(_Reader(text, file, watch).stages())
    if not stages:
        raise refusal(file, Spot(1, 1), "the description has no sub-topology",
                      "Give all that Topology.describe() prints.")
    return _design(stages, file, watch)


class _Reader:
    def __init__(self, text: str, file: str, watch: Watch) -> None:
        self.text, self.file, self.watch = text, file, watch

    def stages(self) -> Iterator[_Stage]:
        """The sub-topologies, each with its nodes and the lines between them."""
        stage: _Stage | None = None
        for number, line in enumerate(self.text.removeprefix("\ufeff").splitlines(), 1):
            self.watch()
            spot = Spot(number, len(line) - len(line.lstrip()) + 1)
            kind, found = next(((kind, found) for kind, form in _LINES.items()
                                if (found := form.fullmatch(line))), ("", None))
            if found is None:
                raise refusal(self.file, spot, f"{line.strip()[:60]!r} is no line of a description",
                              "Give what Topology.describe() prints, and nothing else.")
            if kind == "sub":
                if stage is not None:
                    yield self._checked(stage)
                stage = _Stage(f"sub-topology {found[1]}", spot)
            elif kind in ("source", "processor", "sink", "after"):
                if stage is None:
                    raise refusal(self.file, spot, "this stands before the first sub-topology",
                                  "Begin with `Sub-topology: 0`.")
                self._line(stage, kind, found, spot)
        if stage is not None:
            yield self._checked(stage)

    def _line(self, stage: _Stage, kind: str, found: re.Match[str], spot: Spot) -> None:
        """Note a line of the description: a source with its topics, a processor, a sink, or what
        comes after."""
        if kind == "after":
            names = [name.strip() for name in found[1].split(",")]
            stage.following += [(name, spot) for name in names if name not in ("", "none")]
            return
        stage.nodes[found[1]] = spot
        if kind == "source":
            topics = _TOPICS.fullmatch(found[2].strip())
            if topics is None:
                raise refusal(self.file, spot, f"the source {found[1][:60]} reads the topics "
                              f"{found[2].strip()[:60]!r}, which is a pattern",
                              "Write the topics that it matches, as [a, b].")
            for topic in re.finditer(r"[^\s,]+", topics[1]):
                at = found[0].index(topics[1], found.start(2)) + topic.start() + 1
                stage.reads[topic[0]] = Spot(spot.line, at)
        elif kind == "sink":
            if found[2] != "topic":
                raise refusal(self.file, spot, f"a class chooses the topic of the sink "
                              f"{found[1][:60]} for each record", "Write the topic that it chooses,"
                              " as (topic: NAME); with several, a sink for each.")
            stage.writes[found[3].strip()] = spot

    def _checked(self, stage: _Stage) -> _Stage:
        for name, spot in stage.following:
            if name not in stage.nodes:
                near = difflib.get_close_matches(name, list(stage.nodes), n=1)
                raise refusal(self.file, spot, f"{stage.name} has no node {name[:60]!r}",
                              f"Did you mean {near[0]!r}?" if near else
                              "Give the whole description.")
        if not stage.reads:
            raise refusal(self.file, stage.spot, f"{stage.name} reads no topic",
                          "Give all that Topology.describe() prints.")
        return stage


def _design(stages: list[_Stage], file: str, watch: Watch) -> Reading:
    """A design of sub-topologies, with a link for each of the topics between them."""
    draft = Draft(file, "topology", "A Kafka Streams topology, read from its description.")
    draft.assume("what processors do is not in the description: for each record that it reads, a "
                 "sub-topology writes one to each of its topics")
    written = {topic for stage in stages for topic in stage.writes}
    readers: dict[str, list[_Stage]] = {topic: [] for topic in written}
    for stage in stages:
        for topic in stage.reads:
            readers.setdefault(topic, []).append(stage)
    ends = {stage.name: put_stage(
        draft, stage.name, stage.spot, len(stage.reads),
        sum(max(1, len(readers[topic])) for topic in stage.writes)) for stage in stages}
    for topic, reading in readers.items():
        watch()
        if topic in written:
            writing = [stage for stage in stages if topic in stage.writes]
            _topic(draft, topic, writing, reading, ends)
        else:
            _input(draft, topic, reading, ends)
    return draft.reading()


def _topic(
    draft: Draft, topic: str, writing: list[_Stage], reading: list[_Stage], ends: dict[str, Ends]
) -> None:
    """A topic that the topology writes: a log for each of its readers, or one for those outside."""
    spot = writing[0].writes[topic]
    writers = [ends[stage.name].writer for stage in writing]
    if not reading:
        outside = draft.task(f"readers of {topic}", spot, {"kind": "sink"})
        draft.link(spot, {"name": draft.called(topic, "link"), "from": writers, "to": outside,
                          "capacity": 1})
        draft.assume("those outside of the topology take what it writes, sooner or later")
        return
    draft.assume("a topic between sub-topologies is a log: it takes whatever is written, and what "
                 "its retention deletes is not looked at")
    for stage in reading:
        name = topic if len(reading) == 1 else f"{topic} for {stage.name}"
        draft.link(spot, {"name": draft.called(name, "link"), "from": writers,
                          "to": ends[stage.name].reader, "flow": "unbounded"})


def _input(draft: Draft, topic: str, reading: list[_Stage], ends: dict[str, Ends]) -> None:
    """A topic that others write: a consumer fetches no more than it buffers."""
    draft.assume(f"of a topic that others write, a reader buffers {BUFFERED} records "
                 "(buffered.records.per.partition); how far behind it is, is not looked at")
    for stage in reading:
        name = topic if len(reading) == 1 else f"{topic} for {stage.name}"
        spot = stage.reads[topic]
        source = draft.task(f"writers of {name}", spot, {"kind": "source"})
        draft.link(spot, {"name": draft.called(name, "link"), "from": source,
                          "to": ends[stage.name].reader, "capacity": BUFFERED})
