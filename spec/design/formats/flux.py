"""Storm Flux: a topology in YAML, its spouts, bolts and streams.

Each bolt has one receive queue that all its emitters share; where it is full, the emitter waits,
and
executes nothing else meanwhile (Storm 2, in one worker). The executors of a component are taken as
one: an emitter that chooses among several full queues waits as it does for one, so a cycle of full
queues is there with one executor if it is there with many.
Source: storm.apache.org/releases/current/flux.html; defaults.yaml of Storm 2.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from ..reading.source import Node, Spot, Watch, parse
from .draft import Draft, Reading, refusal
from .stages import put_stage
from .values import Values

__all__ = ["read"]

RECEIVE: Final = "topology.executor.receive.buffer.size"
PENDING: Final = "topology.max.spout.pending"
ACKERS: Final = "topology.acker.executors"
WORKERS: Final = "topology.workers"
RECEIVE_DEFAULT: Final = 32_768
_GROUPINGS: Final = ("ALL", "CUSTOM", "DIRECT", "FIELDS", "GLOBAL", "LOCAL_OR_SHUFFLE", "NONE",
                     "SHUFFLE")


@dataclass
class _Component:
    id: str
    spot: Spot
    is_spout: bool
    tasks: int
    feeds: dict[str, Spot] = field(default_factory=dict)
    fed_by: dict[str, None] = field(default_factory=dict)


def read(text: str, file: str, watch: Watch = lambda: None) -> Reading:
    """The design that a Flux topology is.

    Raises InputError for a topology that Java builds, that other files belong to, or that has a
    limit on pending tuples together with a loop of streams.
    """
    return _Reader(parse(text, file, watch), file).reading()


class _Reader:
    def __init__(self, root: Node, file: str) -> None:
        self.file, self.values = file, Values(file)
        self.top = self.values.mapping(root, "the topology")
        self._nothing_elsewhere(root)
        config = self.top.get("config")
        self.config = {} if config is None or config.value is None \
            else self.values.mapping(config, "`config`")
        self.components = self._components()
        for stream in self.values.items(self.top.get("streams"), "`streams`"):
            self._stream(stream)
        self.draft = Draft(file, self.values.text(root, "name", "the topology"),
                           "A Storm topology, read from its Flux file.", root.spot)

    def _nothing_elsewhere(self, root: Node) -> None:
        elsewhere = {"topologySource": "the topology is built by a Java class, which says nothing "
                     "here", "includes": "parts of the topology are in other files"}
        for key, why in elsewhere.items():
            node = self.top.get(key)
            if node is not None and node.value:
                spot = (root.key_spots or {}).get(key, root.spot)
                raise refusal(self.file, spot, why, "Write its spouts, bolts and streams here.")

    def _components(self) -> dict[str, _Component]:
        found: dict[str, _Component] = {}
        for key, is_spout in (("spouts", True), ("bolts", False)):
            for node in self.values.items(self.top.get(key), f"`{key}`"):
                id = self.values.text(node, "id", f"an entry of `{key}`")
                if id in found:
                    raise refusal(self.file, node.spot, f"two components have the id {id[:40]!r}",
                                  "Give one of them another.")
                get = self.values.mapping(node, "it").get
                executors = self.values.whole(get("parallelism"), "`parallelism`", 1)
                tasks = self.values.whole(get("numTasks"), "`numTasks`", executors)
                found[id] = _Component(id, node.spot, is_spout, max(1, tasks))
        return found

    def _stream(self, node: Node) -> None:
        """Note a stream between two components. Raises ``InputError``."""
        ends = [self.values.text(node, key, "the stream") for key in ("from", "to")]
        for key, id in zip(("from", "to"), ends, strict=True):
            if id not in self.components:
                near = difflib.get_close_matches(id, list(self.components), n=1)
                raise refusal(self.file, node.value[key].spot, f"there is no component {id[:40]!r}",
                              f"Did you mean {near[0]!r}?" if near else "Add it, or fix the "
                              "stream.")
        start, end = (self.components[id] for id in ends)
        if end.is_spout:
            raise refusal(self.file, node.value["to"].spot,
                          f"the spout {end.id[:40]!r} cannot read a stream", "Lead it to a bolt.")
        self._grouping(node)
        start.feeds.setdefault(end.id, node.spot)
        end.fed_by[start.id] = None

    def _grouping(self, node: Node) -> None:
        grouping = node.value.get("grouping")
        kind = None if grouping is None else self.values.mapping(grouping, "`grouping`").get("type")
        if kind is None:
            raise refusal(self.file, node.spot, "the stream has no `grouping` with a `type`",
                          "Add one, as `grouping: {type: SHUFFLE}`.")
        if self.values.one_of(kind, _GROUPINGS, "`type`") == "CUSTOM":
            raise refusal(self.file, kind.spot, "a grouping of your own class may send a tuple to "
                          "any number of executors", "Write the one that it is most like: SHUFFLE "
                          "(to one) or ALL (to each).")

    # --- the design --------------------------------------------------------------------------

    def reading(self) -> Reading:
        """The document, and what was assumed."""
        room, draft = self._room(), self.draft
        self._assume()
        limited = self._limit()
        spouts = [each for each in self.components.values() if each.is_spout and each.feeds]
        leaves = self._leaves(limited) if limited else {}
        pool = ""
        if limited:
            permits = sum(limited * each.tasks * leaves[each.id] for each in spouts)
            spot = self._config_spot(PENDING)
            pool = draft.pool("pending tuples", spot, Node(permits, spot))
        for each in self.components.values():
            if each.is_spout and not each.feeds:
                draft.assume(f"the spout {each.id[:40]!r} feeds no bolt and is left out")
            elif not each.is_spout and not each.fed_by:
                raise refusal(self.file, each.spot, f"the bolt {each.id[:40]!r} reads no stream",
                              "Add a stream to it, or remove it.")
            else:
                self._put(each, pool, leaves.get(each.id, 1))
        for each in self.components.values():
            if each.fed_by:
                draft.link(each.spot, {
                    "name": self._queue(each.id), "to": draft.called(each.id), "capacity": room,
                    "from": [draft.called(id) for id in each.fed_by]})
        return draft.reading()

    def _put(self, each: _Component, pool: str, leaves: int) -> None:
        writes = [{"write": self._queue(id)} for id in each.feeds]
        if pool and each.is_spout:
            self.draft.task(each.id, each.spot, {"kind": "script", "steps": [
                {"acquire": pool, "count": leaves}, *writes]})
        elif pool and not writes:
            self.draft.task(each.id, each.spot, {"kind": "script", "steps": [
                {"read": self._queue(each.id)}, {"release": pool}]})
        else:
            put_stage(self.draft, each.id, each.spot, int(not each.is_spout), len(writes))

    def _queue(self, id: str) -> str:
        return self.draft.called(f"receive queue of {id}", "link")

    def _room(self) -> Node:
        node = self.config.get(RECEIVE)
        given = self.values.whole(node, f"`{RECEIVE}`", RECEIVE_DEFAULT)
        if node is None or node.value is None:
            self.draft.assume(f"{RECEIVE} is not in the file: {given} is assumed, the default of "
                              "Storm 2")
        room = 1 << max(0, given - 1).bit_length()
        if room != given:
            self.draft.assume(f"{RECEIVE} is {given}, of which Storm makes {room}")
        return Node(room, self._config_spot(RECEIVE))

    def _config_spot(self, key: str) -> Spot:
        node = self.config.get(key) or self.top.get("config")
        return self.draft.spot if node is None else node.spot

    def _assume(self) -> None:
        draft = self.draft
        draft.assume("what a bolt's class does is not in the file: for each tuple that it reads it "
                     "emits one to each bolt that it feeds, waits where a queue is full, "
                     "and acknowledges it then")
        if any(each.tasks > 1 for each in self.components.values()):
            draft.assume("the executors of a component are taken as one: if queues can all be full "
                         "in a cycle, they can with one executor each")
        workers = self.values.whole(self.config.get(WORKERS), f"`{WORKERS}`", 1)
        if workers > 1:
            draft.assume(f"all is taken to run in one worker, not in {workers}: between workers, a "
                         "full queue overflows in the memory of its worker until the others are "
                         "stopped")

    # --- pending tuples ----------------------------------------------------------------------

    def _limit(self) -> int:
        """The pending tuples that a task of a spout may have; 0 for any number."""
        pending = self.values.whole(self.config.get(PENDING), f"`{PENDING}`", 0)
        if not pending:
            self.draft.assume(f"{PENDING} is not set, so spouts never stop")
            return 0
        if self.values.whole(self.config.get(ACKERS), f"`{ACKERS}`", 1) == 0:
            self.draft.assume(f"{ACKERS} is 0, so {PENDING} limits nothing")
            return 0
        self.draft.assume("pending tuples are counted, not told apart: all spouts share the sum of "
                          f"their {PENDING}, and bolts without an output give back what is done")
        return pending

    def _leaves(self, limit: int) -> Mapping[str, int]:
        """The number of tuples, at bolts that feed no other bolt, that come of one tuple of a
        component.
        """
        found: dict[str, int] = {}
        for id in _backwards(self.components, self._loop):
            feeds = self.components[id].feeds
            found[id] = sum(found[each] for each in feeds) if feeds else 1
        return found

    def _loop(self, loop: Sequence[str]) -> Exception:
        around = " -> ".join([*loop, loop[0]])
        return refusal(
            self.file, self._config_spot(PENDING), f"{PENDING} limits a topology with streams that "
            f"form a loop ({around[:200]}), and how many tuples come of one there is not in the "
            "file", "Remove it to check without the limit, or write the design by hand "
            "(docs/design-language.md).")


def _backwards(components: Mapping[str, _Component], loop: Any) -> Sequence[str]:
    """The components, each after those that it feeds; raises what ``loop`` makes of a loop."""
    import networkx

    graph = networkx.DiGraph()
    graph.add_nodes_from(components)
    graph.add_edges_from((each.id, to) for each in components.values() for to in each.feeds)
    try:
        return list(reversed(list(networkx.topological_sort(graph))))
    except networkx.NetworkXUnfeasible:
        around = [start for start, _ in networkx.find_cycle(graph)]
        raise loop(around) from None
