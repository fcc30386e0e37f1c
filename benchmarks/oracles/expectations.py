"""Every promise about liveness in the rule book, held against the two oracles."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from checkvalve.spec.chapters import Chapter
from checkvalve.spec.engines.search import instances
from checkvalve.spec.engines.tla import export
from checkvalve.spec.expectations import Expectation
from checkvalve.spec.notation.bound import bind

from .plain import PlainGraph, is_violated
from .tlc import PATIENCE, run_tlc, violates_liveness

__all__ = ["Opinion", "Promise", "explored", "opinion", "promises"]

LIVENESS = ("leads to", "eventually always")


@dataclass(frozen=True)
class Promise:
    """A rule about what happens in the end, of a machine with its constants, and its verdict."""

    expectation: Expectation
    constants: dict[str, Any]

    @property
    def expected(self) -> str:
        """``holds`` or ``violated``; ``checkvalve verify`` decides whether the engines agree."""
        return self.expectation.expected(self.constants)

    @property
    def words(self) -> str:
        """What it is about, on one line."""
        values = ", ".join(f"{name}={value}" for name, value in self.constants.items())
        return f"{self.expectation.machine.__name__}({values}) {self.expectation.rule}"


@dataclass(frozen=True)
class Opinion:
    """What each oracle found, or an empty text where it did not decide."""

    states: int
    plain: str = ""
    tlc: str = ""


def promises(chapter: Chapter) -> Iterator[Promise]:
    """What a chapter promises about liveness, and a search decides."""
    for expectation in chapter.expectations:
        kind = next(rule.kind for rule in expectation.machine.rules_declared
                    if rule.id == expectation.rule)
        if kind in LIVENESS and not expectation.for_all:
            for constants in expectation.points():
                yield Promise(expectation, constants)


def explored(promise: Promise, most: int, before: PlainGraph | None = None) -> PlainGraph:
    """The states of a promise's machine, at most so many.

    ``before`` is taken again if it is of the same machine and constants, as those of most
    promises are that follow each other.
    """
    bound = bind(promise.expectation.machine, **promise.constants)
    if before is not None and before.bound.machine is bound.machine and (
        before.bound.constants == bound.constants
    ):
        return before
    graph = PlainGraph(bound)
    graph.explore(most)
    return graph


def opinion(
    promise: Promise, graph: PlainGraph, tlc: bool, seconds: float = PATIENCE
) -> Opinion:
    """What the oracles say, if all states are in the graph; TLC only if asked, and if it answers
    within so many seconds of the clock."""
    if not graph.complete:
        return Opinion(len(graph.states))
    rule, bound = promise.expectation.rule, graph.bound
    broken = any(is_violated(graph, item) for item in instances(bound, rule))
    confirmed = ""
    if tlc:
        with tempfile.TemporaryDirectory() as folder:
            try:
                output = run_tlc(export(bound, rules=[rule]), Path(folder), seconds)
                confirmed = _word(violates_liveness(output))
            except subprocess.TimeoutExpired:
                pass  # it stays undecided, and the table says so
    return Opinion(len(graph.states), _word(broken), confirmed)


def _word(violated: bool) -> str:
    return "violated" if violated else "holds"
