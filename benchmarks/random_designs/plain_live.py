"""What a fair run can keep waiting, worked out on a graph of all states under weak fairness, with
the transitions that the checker of certificates reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import networkx

from checkvalve.spec.certify.transitions import system_of
from checkvalve.spec.certify.system import Transition, System, can_move
from checkvalve.spec.design.reading.language import Design, Flow, Kind

__all__ = ["MOST_STATES", "Wish", "graph_of", "is_kept_waiting", "is_told_of", "wishes"]

MOST_STATES = 150

State = tuple[int, ...]
Wish = tuple[str, int, Callable[[Transition], bool]]
"""A counter that holds at least so many calls for one of these transitions; "" does so always."""


def graph_of(system: System) -> networkx.MultiDiGraph | None:
    """All states, with the transitions between them; None if there are too many."""
    names = list(system.counters)
    first = tuple(counter.start for counter in system.counters.values())
    graph = networkx.MultiDiGraph()
    graph.add_node(first)
    todo = [first]
    while todo:
        here = todo.pop()
        state = dict(zip(names, here, strict=True))
        for number, transition in enumerate((*system.transitions, *system.idle)):
            if not can_move(transition, state):
                continue
            if transition.fails:
                graph.add_edge(here, "failed", number)
                continue
            there = tuple(state[name] + transition.change.get(name, 0) for name in names)
            if there not in graph:
                todo.append(there)
            graph.add_edge(here, there, number)
        if len(graph) > MOST_STATES:
            return None
    return graph


def wishes(part: Design) -> Iterator[Wish]:
    """Sources and scripts that only write; what is in links, and in hands."""
    for name, task in part.tasks.items():
        only_writes = part.outputs(name) and not part.inputs(name)
        if task.kind is Kind.SOURCE or (task.kind is Kind.SCRIPT and only_writes):
            left = f"{name}: elements left" if task.kind is Kind.SOURCE and task.count else ""
            yield left, 1, partial(_is_of, name)
    for link in (link for link in part.links.values() if link.capacity != 0):
        queue = f"elements in {link.name}"
        least = min(part.taken(link), default=1)
        yield queue, least, partial(_takes, queue)
    for name in system_of(part).counters:
        if name.endswith("in the hand"):
            yield name, 1, partial(_takes, name)


def _is_of(task: str, transition: Transition) -> bool:
    return task in transition.tasks


def _takes(counter: str, transition: Transition) -> bool:
    return transition.change.get(counter, 0) < 0


def is_kept_waiting(system: System, graph: networkx.MultiDiGraph, wish: Wish) -> bool:
    """Whether a fair run keeps a wish forever: it ends, or goes round in a set of states in which
    each transition that is always possible is made."""
    counter, least, fulfils = wish
    names, transitions = list(system.counters), [*system.transitions, *system.idle]
    rests = [counter.most if counter.rest is None else counter.rest
             for counter in system.counters.values()]

    def waits(state: State | str) -> bool:
        if isinstance(state, str):  # it failed
            return False
        done = system.ends and all(
            most is None or held <= most for held, most in zip(state, rests, strict=True))
        return not done and (not counter or state[names.index(counter)] >= least)

    fair = {n for n, transition in enumerate(transitions) if not transition.chance}
    able = {state: {n for _, _, n in graph.out_edges(state, keys=True)} for state in graph}
    here = graph.subgraph([state for state in graph if waits(state)]).copy()
    here.remove_edges_from([
        edge for edge in here.edges(keys=True) if fulfils(transitions[edge[2]])])
    for states in networkx.strongly_connected_components(here):
        made = {n for *_, n in here.subgraph(states).edges(keys=True)}
        always = set.intersection(*(able[state] for state in states)) & fair
        if always <= made:
            return True
    return False


def is_told_of(part: Design) -> bool:
    """True if the wishes and transitions here are those of a part: no task in it reads what it
    writes, has no bound, or stops."""
    tied = [set(link.writers) & set(link.readers) for link in part.links.values()]
    return not (any(tied) or any(
        link.flow is Flow.UNBOUNDED for link in part.links.values()) or any(
            task.may.value or task.may_end and task.kind is Kind.SCRIPT
            for task in part.tasks.values()))
