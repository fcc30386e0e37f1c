"""Whether a certificate shows what it says of a design.

A certificate of *holds* has, for each connected part, sums that no move changes and clauses (a
choice of inequalities) that every move keeps. That they are so is checked here in whole numbers,
move by move. That no stuck state keeps them all is asked of cvc5. A certificate of *violated* has a
run: each step is matched with a move that is possible, and at its end nothing is. A bound is a sum
that no move raises; that takes neither a solver nor a search.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import gcd
from typing import Any

from ..design.language import Design
from .confluence import decided_by_one_run, is_stuck
from .moves import Move, NotCovered, System, state_of, system_of
from .run import Refuted, run_of
from .visited import drops, fails, never_stuck_in, starves, stuck_for_ever

__all__ = ["Opinion", "check_certificate"]

Weights = Mapping[str, int]


@dataclass(frozen=True)
class Opinion:
    """Whether a certificate shows its verdict; ``confirmed`` is None where that was not decided.

    ``why`` says what was checked, what is wrong, or what is not covered.
    """

    confirmed: bool | None
    why: str


def check_certificate(certificate: Mapping[str, Any], design: Design) -> Opinion:
    """What this reading of the design says of the certificate; the certificate must have the form
    of ``schema.json`` beside this."""
    try:
        if certificate["design"] != design.name:
            raise Refuted(f"it is about the design {certificate['design']!r}")
        evidence = certificate["evidence"]
        if certificate["property"] != "deadlock":
            return Opinion(True, _other(certificate["property"], evidence, design))
        if certificate["verdict"] == "violated":
            return Opinion(True, _stuck_after(evidence, design))
        return Opinion(True, _never_stuck(evidence["parts"], design))
    except Refuted as wrong:
        return Opinion(False, str(wrong))
    except NotCovered as missing:
        return Opinion(None, f"not covered: {missing}")


def _other(name: str, evidence: Mapping[str, Any], design: Design) -> str:
    """Check the evidence for a property other than deadlock."""
    if any(task.may.value for task in design.tasks.values()) and name != "bounded":
        raise NotCovered("a task that may stop, of a property other than deadlock")
    if name == "bounded":
        return _bounds(evidence["bounds"], design)
    if name == "local deadlock":
        return stuck_for_ever(evidence, design)
    if name in ("loss", "failure"):
        return (drops if name == "loss" else fails)(evidence, design)
    return starves(evidence, design, name.removeprefix("starvation: "))


# --- runs ------------------------------------------------------------------------------------

def _stuck_after(evidence: Mapping[str, Any], design: Design) -> str:
    """Follow a run to a state in which one connected part is stuck."""
    state, steps = run_of(system_of(design), evidence)
    if not any(is_stuck(system_of(part), state) for part in _parts(design)):
        raise Refuted("no part of the design is stuck after the run")
    return f"a run of {steps:,} steps, after which nothing can move"


# --- proofs ----------------------------------------------------------------------------------

def _never_stuck(proofs: Sequence[Mapping[str, Any]], design: Design) -> str:
    """Check a proof for each connected part."""
    proof_of = {proof["task"]: proof for proof in proofs}
    sums = clauses = runs = states = 0
    for part in _parts(design):
        first = next(iter(part.tasks))
        if first not in proof_of:
            raise Refuted(f"there is no proof for the part of {first}")
        proof, system = proof_of[first], system_of(part)
        if "legs" in proof:
            runs += 1
            decided_by_one_run(system, proof, first)
            continue
        if "states" in proof:
            states += never_stuck_in(system, first)
            continue
        for law in proof["sums"]:
            _check_sum(system, law["weights"], law["total"])
        for clause in proof["clauses"]:
            _check_clause(system, clause)
        if not _no_stuck_state(system, proof["sums"], proof["clauses"]):
            raise Refuted(f"the part of {first} has a stuck state that keeps all sums and clauses")
        sums, clauses = sums + len(proof["sums"]), clauses + len(proof["clauses"])
    told = [f"{sums:,} sums and {clauses:,} clauses, each kept by every move, exclude every stuck "
            "state"] if sums or clauses or not (runs or states) else []
    if states:
        told.append(f"all {states:,} states were visited, and none is stuck")
    if runs:
        told.append("no move takes what another needs, so one run decides: it comes back, or ends "
                    f"at rest ({runs:,} of {len(proofs):,} parts)")
    return "; ".join(told)


def _lasting(system: System) -> Iterator[Move]:
    return (move for move in system.moves if not move.fails)


def _value(weights: Weights, state: Weights) -> int:
    return sum(weight * state[name] for name, weight in weights.items())


def _known(system: System, weights: Weights) -> None:
    for name in weights:
        if name not in system.counters:
            raise Refuted(f"the design has no counter {name!r}")


def _check_sum(system: System, weights: Weights, total: int) -> None:
    _known(system, weights)
    told = " + ".join(weights)
    if _value(weights, state_of(system)) != total:
        raise Refuted(f"{told} is not {total} at the start")
    if any(_raise(weights, move) for move in _lasting(system)):
        raise Refuted(f"a move changes {told}")


def _raise(weights: Weights, move: Move) -> int:
    return sum(weights.get(name, 0) * by for name, by in move.change.items())


def _check_clause(system: System, clause: Sequence[Mapping[str, Any]]) -> None:
    """True at the start; and each move raises none of its sums, or leaves one below its bound."""
    for option in clause:
        _known(system, option["weights"])
    start = state_of(system)
    if not any(_value(o["weights"], start) <= o["at_most"] for o in clause):
        raise Refuted("a clause is not true at the start")
    for move in _lasting(system):
        if any(_raise(o["weights"], move) > 0 for o in clause) and not any(
                _largest_after(system, o["weights"], move) <= o["at_most"] for o in clause):
            raise Refuted("a move may end a clause")


def _largest_after(system: System, weights: Weights, move: Move) -> float:
    """The most that a sum can be after a move, by the ranges and the move's own conditions."""
    most = 0
    for name, weight in weights.items():
        counter, by = system.counters[name], move.add.get(name, 0)
        if weight < 0:
            most += weight * (max(0, move.need.get(name, 0)) + by)
            continue
        ends = [end for end in (counter.most, move.room.get(name)) if end is not None]
        if not ends:
            return float("inf")
        most += weight * (min(ends) + by)
    return most


def _no_stuck_state(
    system: System, sums: Sequence[Mapping[str, Any]],
    clauses: Sequence[Sequence[Mapping[str, Any]]],
) -> bool:
    """Whether cvc5 finds no state within the ranges that keeps all this and is stuck."""
    from .solver import Question
    ask = Question(system.counters)
    for name, counter in system.counters.items():
        ask.range(name, counter, gcd(*(m.change.get(name, 0) for m in _lasting(system))))
    for law in sums:
        ask.equal(law["weights"], law["total"])
    for clause in clauses:
        ask.one_of([(option["weights"], option["at_most"]) for option in clause])
    for move in system.moves:
        closed = [({name: 1}, least - 1) for name, least in move.need.items()]
        closed += [({name: -1}, -most - 1) for name, most in move.room.items()]
        ask.one_of(closed)
    if system.ends:
        ask.one_of([({name: -1}, -counter.rest - 1)
                    for name, counter in system.counters.items() if counter.rest is not None])
    return ask.has_no_answer()


# --- bounds ----------------------------------------------------------------------------------

def _bounds(bounds: Sequence[Mapping[str, Any]], design: Design) -> str:
    """Check that each of these sums is never raised, and bounds its link."""
    system = system_of(design)
    for bound in bounds:
        weights, queue = bound["weights"], f"elements in {bound['link']}"
        _known(system, weights)
        if weights.get(queue, 0) <= 0:
            raise Refuted(f"a sum for {bound['link']} does not count its elements")
        if any(_raise(weights, move) > 0 for move in system.moves):
            raise Refuted(f"a move raises the sum for {bound['link']}")
        most = _value(weights, state_of(system))
        if any(weight < 0 and system.counters[name].most is None
               for name, weight in weights.items()):
            raise Refuted(f"a sum for {bound['link']} counts something without end against it")
        for name, weight in weights.items():
            most -= min(0, weight) * (system.counters[name].most or 0)
        if most // weights[queue] > bound["most"]:
            raise Refuted(f"the sum allows more than {bound['most']} elements in {bound['link']}")
    return f"{len(bounds):,} sums that no move raises"


# --- parts -----------------------------------------------------------------------------------

def _parts(design: Design) -> list[Design]:
    """The connected parts, by links and pools; each with its tasks in the order of the design."""
    from dataclasses import replace

    import networkx
    graph: networkx.Graph[Any] = networkx.Graph()
    graph.add_nodes_from(design.tasks)
    for link in design.links.values():
        graph.add_edges_from((each, ("link", link.name)) for each in (*link.writers, *link.readers))
    for task in design.tasks.values():
        for pool in {*task.pool, *(s.target for s in task.actions if s.target in design.pools)}:
            graph.add_edge(task.name, ("pool", pool))
    found = []
    for nodes in networkx.connected_components(graph):
        found.append(replace(
            design, tasks={n: t for n, t in design.tasks.items() if n in nodes},
            links={n: k for n, k in design.links.items() if ("link", n) in nodes}))
    return found
