"""Local deadlock by the plainest algorithm: from each state forwards, with CPython's own sets."""

from __future__ import annotations

from typing import Any

from checkvalve.spec.design.net.net import Net
from checkvalve.spec.design.net.rows import FAILED, Row, Table
from checkvalve.spec.design.net.builder import Aim
from checkvalve.spec.design.net.translate import translate
from checkvalve.spec.design.reading.language import Design, Kind
from checkvalve.spec.notation import bind

State = tuple[Any, ...]


class PlainGraph:
    """All states of a design, and where the steps of its rows lead; ``whole`` is false where there
    are more than ``most``."""

    def __init__(self, design: Design, most: int = 1_500) -> None:
        self.design = design
        self.table: Table = translate(design, Aim())
        self.names = [place.name for place in self.table.places]
        net = bind(Net, **self.table.constants()).interpreter
        self.layout = net.layout
        start = net.initial()
        self.next: dict[State, list[tuple[Row, State]]] = {}
        self.depth = {start: 0}
        queue = [start]
        for state in queue:
            self.next[state] = []
            for number, (name, args) in enumerate(net.steps()):
                after = net.step(state, name, args)
                if after is None:
                    continue
                self.next[state].append((self.table.rows[number], after))
                if after not in self.depth:
                    self.depth[after] = self.depth[state] + 1
                    queue.append(after)
            if len(queue) > most:
                break
        self.whole = len(queue) <= most

    def value(self, state: State, place: str) -> int:
        """The tokens in a place."""
        return int(self.layout.flatten(state)[f"marking[{self.names.index(place)}]"])

    def futures(self, state: State) -> set[State]:
        """All states that steps lead to, accidents left out."""
        seen, queue = {state}, [state]
        for here in queue:
            for row, there in self.next[here]:
                if row.effect.fair and there not in seen:
                    seen.add(there)
                    queue.append(there)
        return seen

    def endless(self, state: State) -> bool:
        """True if some run from here never ends: a state comes again on it."""
        done: set[State] = set()
        stack = [(state, iter(self.next[state]))]
        on = [state]
        while stack:
            here, rest = stack[-1]
            row, there = next(rest, (None, None))
            if row is None or there is None:
                stack.pop()
                done.add(on.pop())
            elif row.effect.fair and there in on:
                return True
            elif row.effect.fair and there not in done:
                stack.append((there, iter(self.next[there])))
                on.append(there)
        return False


def plain_local(graph: PlainGraph) -> tuple[int, list[str]] | None:
    """The depth of the first local deadlock and its blocked tasks; None where there is none."""
    for state in sorted(graph.depth, key=lambda each: graph.depth[each]):
        if graph.value(state, FAILED) or not graph.endless(state):
            continue
        futures = graph.futures(state)
        stuck = [task for task in graph.design.tasks
                 if not any(_moves(graph, there, task) for there in futures)
                 and not _finished(graph, state, task)]
        if stuck:
            return graph.depth[state], stuck
    return None


def _moves(graph: PlainGraph, state: State, task: str) -> bool:
    if any(row.own and task in row.tasks for row, _ in graph.next[state]):
        return True
    return any(
        row.own and task in row.tasks and row.effect.loses and not row.effect.change
        and all(graph.value(state, p) >= n for p, n in row.effect.at_least.items())
        and all(graph.value(state, p) <= n for p, n in row.effect.at_most.items())
        for row in graph.table.joined)


def _finished(graph: PlainGraph, state: State, task: str) -> bool:
    """True if it has ceased to run, or has nothing left, nor any task from which elements come, and
    some task counts its runs.
    """
    running = f"{task}: running"
    if running in graph.names and not graph.value(state, running):
        return True
    names, queue = {task}, [task]
    for here in queue:
        if graph.design.tasks[here].kind in (Kind.SOURCE, Kind.SCRIPT):
            continue
        for link in graph.design.links.values():
            if here in link.readers:
                queue += [name for name in link.writers if name not in names]
                names |= set(link.writers)
    counting = any(graph.design.tasks[name].kind in (Kind.SOURCE, Kind.SCRIPT) for name in names)
    return (counting or graph.table.may_end) and all(_rests(graph, state, name) for name in names)


def _rests(graph: PlainGraph, state: State, name: str) -> bool:
    task = graph.design.tasks[name]
    if task.kind in (Kind.SOURCE, Kind.SCRIPT, Kind.CALL) and task.count is None \
            and not task.may_end:  # final, stopped or crashed: its places are as at an end
        return False
    for place in graph.table.places:
        its = place.of == name and place.role in (
            "hand", "position", "left", "queued", "running", "blocked", "finished")
        read = place.role == "queue" and task.kind is not Kind.SCRIPT and any(
            link.name == place.of and name in link.readers
            for link in graph.design.links.values())
        if (its or read) and graph.value(state, place.name) > place.rest:
            return False
    return True
