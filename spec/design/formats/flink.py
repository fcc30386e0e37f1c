"""Flink: the JSON of ``getExecutionPlan()``, and of the job manager's ``/jobs/:id/plan``.

Between two operators lies a link with credit: the reader has so many buffers for each channel, and
reports the free ones to the writer. An element is a buffer. The subtasks of an operator are
taken as one, as a record that finds its channel full holds up its writer whatever the others have
room for.
Source: flink.apache.org, "Network memory tuning" and "Monitoring REST API" (1.13 to 1.19).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import unescape
from typing import Final

from ..reading.source import Node, Spot, Watch, parse
from .draft import BEGIN, Draft, Reading, refusal
from .stages import put_stage
from .values import Values

__all__ = ["read"]

BUFFERS: Final = 2
"""taskmanager.network.memory.buffers-per-channel, unless it is configured."""


@dataclass
class _Operator:
    label: str
    spot: Spot
    parallelism: int
    inputs: dict[str, Spot] = field(default_factory=dict)


def read(text: str, file: str, watch: Watch = lambda: None) -> Reading:
    """The design that a plan is.

    Raises InputError for an iteration, of which the plan does not say what is fed back, and for an
    exchange that stores all before anybody reads.
    """
    # JSON is YAML but for tabs, which stand between its values only.
    root = parse(text.replace("\t", " "), file, watch)
    return _Reader(root, file).reading()


class _Reader:
    def __init__(self, root: Node, file: str) -> None:
        self.file, self.values = file, Values(file)
        top = self.values.mapping(root, "the plan")
        plan = top.get("plan")
        if plan is not None:
            top = self.values.mapping(plan, "`plan`")
        self.name = str(top["name"].value) if "name" in top else "plan"
        self.operators: dict[str, _Operator] = {}
        nodes = self.values.items(top.get("nodes"), "`nodes`")
        if not nodes:
            raise refusal(file, root.spot, "the plan has no nodes",
                          "Give all that getExecutionPlan() returns.")
        for node in nodes:
            self._operator(node)
        for operator in self.operators.values():
            for id, spot in operator.inputs.items():
                if id not in self.operators:
                    raise refusal(file, spot, f"there is no node with the id {id[:40]!r}",
                                  "Give the whole plan.")

    def _operator(self, node: Node) -> None:
        """Note a node of the plan, with the streams that it reads. Raises ``InputError``."""
        parts = self.values.mapping(node, "an entry of `nodes`")
        id = self.values.text(node, "id", "the node")
        label = _label(parts) or f"operator {id}"
        self._no_iteration(parts, node, label)
        if id in self.operators:
            raise refusal(self.file, node.spot, f"two nodes have the id {id[:40]!r}",
                          "Give the whole plan, once.")
        found = _Operator(label, node.spot,
                          self.values.whole(parts.get("parallelism"), "`parallelism`", 1))
        for key in ("predecessors", "inputs"):
            for edge in self.values.items(parts.get(key), f"`{key}`"):
                self._streams(edge)
                found.inputs.setdefault(self.values.text(edge, "id", "the edge"), edge.spot)
        self.operators[id] = found

    def _no_iteration(self, parts: Mapping[str, Node], node: Node, label: str) -> None:
        pact = parts.get("pact")
        if "step_function" in parts or label.startswith(("IterationSource", "IterationSink")) \
                or pact is not None and "Iterat" in str(pact.value):
            raise refusal(
                self.file, node.spot, "the job has an iteration, and the plan does not say which "
                "operator feeds back into it", "Write the design by hand (docs/design-language.md) "
                "with a link back; such a loop can deadlock.")

    def _streams(self, edge: Node) -> None:
        exchange = self.values.mapping(edge, "an edge").get("exchange")
        if exchange is not None and not str(exchange.value).lower().startswith("pipelined"):
            raise refusal(
                self.file, exchange.spot, f"the exchange is {str(exchange.value)[:40]!r}: all of a "
                "result is stored before it is read, which is no queue",
                "Check the parts before and after it by themselves.")

    def reading(self) -> Reading:
        """The document, and what was assumed."""
        draft = Draft(self.file, self.name, "A Flink job, read from its plan.", BEGIN)
        draft.assume("buffers-per-channel is not in the plan: 2 is assumed, its default; the "
                     "floating buffers, which no channel is sure of, are left out")
        draft.assume("what an operator does is not in the plan: for each buffer that it reads from "
                     "any of its inputs, it writes one to each of its outputs; no operators are "
                     "chained")
        if any(each.parallelism > 1 for each in self.operators.values()):
            draft.assume("the subtasks of an operator are taken as one: if channels can all be "
                         "full in a cycle, they can with one subtask each")
        often = Counter(each.label for each in self.operators.values())
        names = {id: each.label if often[each.label] == 1 else f"{each.label[:28]} {id[-8:]}"
                 for id, each in self.operators.items()}
        outputs = Counter(id for each in self.operators.values() for id in each.inputs)
        ends = {}
        for id, each in self.operators.items():
            if not each.inputs and not outputs[id]:
                draft.assume(f"the operator {each.label[:40]!r} has no edge and is left out")
                continue
            ends[id] = put_stage(draft, names[id], each.spot, len(each.inputs), outputs[id])
        for id, each in self.operators.items():
            for start, spot in each.inputs.items():
                draft.link(spot, {"from": ends[start].writer, "to": ends[id].reader,
                                  "flow": "credit", "capacity": BUFFERS})
        return draft.reading()


def _label(parts: Mapping[str, Node]) -> str:
    """The name of a node: the first of the texts that say it."""
    for key in ("contents", "description", "operator", "type"):
        if key in parts and isinstance(parts[key].value, str) and parts[key].value.strip():
            return re.sub(r"<br/?>|[<>\s]+", " ", unescape(parts[key].value)).strip()
    return ""
