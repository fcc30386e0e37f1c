"""The check of a certificate: does it show what it says of a design?

*Holds* is shown part by part: by an order in which the part empties itself (``emptying``); by
invariants (sums that no transition changes, and clauses that every transition keeps) that exclude
the contrary (``proofs``); by one run, where no transition takes what another needs
(``confluence``); or by visiting all states (``visited``). *Violated* is shown by a run, each step
of which is matched with a transition that is possible (``run``, ``repeated``, ``order``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..design.reading.language import Design, Flow
from ..verdicts.deadline import Spent, told_of_memory
from ..verdicts.verdict import Budget
from .confluence import decided_by_one_run, goes_round
from .emptying import always_moves_again, never_waits
from .kept import check_bounds
from .law import Made, check_law
from .limits import TooManyStates, look, within
from .transitions import system_of
from .order import keeps_order, loses_order
from .parts import part_of, parts_of
from .proofs import Laws
from .repeated import drops, fails, grows, starves, blocked_forever
from .run import Refuted, run_of
from .system import NotCovered, System
from .visited import (
    largest_in, never_ceases_in, never_in, never_locked_in, never_deadlocked_in,
)
from .wanted import Wanted, wanted_of, wanted_of_task

__all__ = ["Opinion", "check_certificate", "check_law_certificate"]

Proof = Mapping[str, Any]
PROOFS: Mapping[str, set[str]] = {
    "deadlock-free": {"order", "clauses", "legs", "states"},
    "no-local-deadlock": {"run", "clauses", "legs", "states"},
    "bounded": {"states"}, "ordered": {"marked"}, "no-duplicates": {"marked"},
    "no-loss": {"clauses", "states"}, "no-failure": {"clauses", "states"},
    "live": {"clauses", "states"}, "no-starvation": {"states"},
}
"""The kinds of proof that show each property; any other one shows nothing of it."""


@dataclass(frozen=True)
class Opinion:
    """The opinion on a certificate: ``confirmed`` if it shows its verdict, None if that is
    undecided.

    ``why`` says what was checked, what is wrong, or what is not covered.
    """

    confirmed: bool | None
    why: str


def check_certificate(
    certificate: Mapping[str, Any], design: Design, budget: Budget | None = None
) -> Opinion:
    """The opinion of this reading of the design on the certificate, which must have the form of
    ``schema.json`` beside this; undecided where the ``budget`` is spent before."""
    return _opinion(lambda: _checked(certificate, design), budget)


def check_law_certificate(
    certificate: Mapping[str, Any], made: Made, budget: Budget | None = None
) -> Opinion:
    """The same of a certificate of a law, in the form of ``law.json``, on the designs that ``made``
    makes for values of its parameters, which may be symbols."""
    return _opinion(lambda: check_law(certificate, made), budget)


def _opinion(check: Callable[[], str], budget: Budget | None) -> Opinion:
    try:
        with within(budget or Budget()), told_of_memory("checking the certificate"):
            return Opinion(True, check())
    except Refuted as wrong:
        return Opinion(False, str(wrong))
    except NotCovered as missing:
        return Opinion(None, f"not covered: {missing}")
    except (Spent, TooManyStates) as spent:
        return Opinion(None, str(spent))


def _checked(certificate: Mapping[str, Any], design: Design) -> str:
    if certificate["design"] != design.name:
        raise Refuted(f"it is about the design {certificate['design']!r}")
    if certificate.get("parameters", {}) != dict(design.parameters):
        raise Refuted("it is about other values of the parameters")
    check = _violated if certificate["verdict"] == "violated" else _holds
    return check(certificate["property"], certificate["evidence"], design)


# --- violated --------------------------------------------------------------------------------

def _violated(name: str, evidence: Mapping[str, Any], design: Design) -> str:
    if name == "deadlock-free":
        return _deadlocked_after(evidence, design)
    if name == "no-local-deadlock":
        return blocked_forever(evidence, part_of(design, evidence["blocked"][0]))
    if name == "bounded":
        return grows(evidence, design)
    if name in ("ordered", "no-duplicates"):
        return loses_order(name, evidence, part_of(design, evidence["sender"]))
    if name in ("no-loss", "no-failure"):
        return (drops if name == "no-loss" else fails)(evidence, design)
    if name == "live":
        return starves(evidence, *_wanted_in(design, evidence["without"]))
    task = name.removeprefix("no-starvation: ")
    return starves(evidence, part_of(design, task), wanted_of_task(task))


def _wanted_in(design: Design, without: Mapping[str, str]) -> tuple[Design, Wanted]:
    """The part and the step that a run never takes again, if a live design must repeat that step.
    """
    for part in parts_of(design):
        for wanted in wanted_of(part, system_of(part)):
            if without in ({"task": wanted.task}, {"counter": wanted.counter}):
                return part, wanted
    raise Refuted(f"a live design does not have to repeat {next(iter(without.values()))}")


def _deadlocked_after(evidence: Mapping[str, Any], design: Design) -> str:
    """Follow a run to a state in which one connected part is deadlocked."""
    state, steps = run_of(system_of(design), evidence)
    if not any(system_of(part).is_deadlocked(state) for part in parts_of(design)):
        raise Refuted("no part of the design is deadlocked after the run")
    return f"a run of {steps:,} steps, after which no step is possible"


# --- holds -----------------------------------------------------------------------------------

@dataclass
class _Shown:
    """The means by which it was shown, part by part."""

    laws: list[Laws] = field(default_factory=list)
    rescues: int = 0
    runs: int = 0
    orders: int = 0
    states: int = 0
    visited: int = 0

    def __str__(self) -> str:
        sums, clauses = (sum(map(len, each)) for each in (
            [laws.sums for laws in self.laws], [laws.clauses for laws in self.laws]))
        told = []
        if self.laws:
            who = (f"{sums:,} sums and {clauses:,} clauses, each kept by every transition,"
                   if sums or clauses else "the transitions alone")
            freed = f", with {self.rescues:,} runs that free a task" if self.rescues else ""
            told.append(f"{who} exclude the contrary{freed}")
        if self.orders:
            told.append("it empties itself in an order in which each wait is for something earlier")
        if self.visited:
            told.append(f"all {self.states:,} states were visited, and it is so in each")
        if self.runs:
            told.append("no step takes what another needs, so one run decides: it returns to its "
                        "start, or ends with all work done")
        return "; ".join(told)


def _holds(name: str, evidence: Mapping[str, Any], design: Design) -> str:
    if "bounds" in evidence:
        return _bounds(evidence["bounds"], design)
    only = name.removeprefix("no-starvation: ") if name.startswith("no-starvation: ") else ""
    proof_of = {proof["task"]: proof for proof in evidence["parts"]}
    if len(proof_of) < len(evidence["parts"]):
        raise Refuted("there are two proofs for one part")
    shown, wanted = _Shown(), [part_of(design, only)] if only else parts_of(design)
    for part in wanted:
        first = next(iter(part.tasks))
        if first not in proof_of:
            raise Refuted(f"there is no proof for the part of {first}")
        look(f"checking the part of {first}")
        try:
            _of_part(name, proof_of.pop(first), part, shown)
        except Refuted as wrong:
            raise Refuted(f"of the part of {first}: {wrong}") from None
    if proof_of:
        raise Refuted(f"{next(iter(proof_of))} is the first task of no part that this is about")
    return str(shown)


def _of_part(name: str, proof: Proof, part: Design, shown: _Shown) -> None:
    """Check the proof of one part by its kind, and count what it shows. Raises ``Refuted``."""
    if not PROOFS[name.split(": ")[0]] & proof.keys():
        raise Refuted(f"such a proof shows nothing about {name}")
    if "marked" in proof:
        shown.states += keeps_order(name, part, proof["marked"])
        shown.visited += 1
        return
    system = system_of(part)
    if "order" in proof:
        shown.orders += 1
        if name == "deadlock-free":
            never_waits(system, proof)
        else:
            always_moves_again(system, proof, part.tasks)
    elif "states" in proof:
        shown.states += _by_states(name, system, part, proof["states"])
        shown.visited += 1
    elif "legs" in proof:
        shown.runs += 1
        check = decided_by_one_run if name == "deadlock-free" else goes_round
        check(system, proof)
    else:
        shown.laws.append(_by_laws(name, system, part, proof))
        shown.rescues += len(proof.get("rescues", {"runs": ()})["runs"])


def _by_states(name: str, system: System, part: Design, most: int) -> int:
    if name == "deadlock-free":
        return never_deadlocked_in(system, most)
    if name == "no-local-deadlock":
        return never_locked_in(system, part, most)
    if name == "bounded":
        return largest_in(system, most)[0]
    if name in ("no-loss", "no-failure"):
        told = "drops or loses an element" if name == "no-loss" else "makes the design fail"
        return never_in(system, most, _accidents(name, system), told)
    if name == "live":
        return never_ceases_in(system, list(wanted_of(part, system)), most)
    return never_ceases_in(system, [wanted_of_task(name.removeprefix("no-starvation: "))], most)


def _by_laws(name: str, system: System, part: Design, proof: Proof) -> Laws:
    laws = Laws(system, proof)
    if name == "deadlock-free":
        shown = laws.exclude_deadlocks()
    elif name == "no-local-deadlock" and "rescues" in proof:
        shown = laws.exclude_going_on(part.tasks, proof["rescues"])
    elif name == "no-local-deadlock":
        if any(task.may.value for task in part.tasks.values()):
            raise NotCovered("sums, of tasks that are blocked where a task may stop")
        shown = laws.exclude_silence(part.tasks)
    elif name == "live":
        shown = not any(wanted_of(part, system))
    else:
        shown = laws.exclude_transitions(_accidents(name, system))
    if not shown:
        raise Refuted("the contrary keeps all sums and clauses")
    return laws


def _accidents(name: str, system: System) -> Iterator[Any]:
    return (each for each in system.steps
            if (each.wastes if name == "no-loss" else each.fails))


def _bounds(bounds: Sequence[Mapping[str, Any]], design: Design) -> str:
    """Check that each link without a bound has a sum that bounds it."""
    grows_ = {link.name for link in design.links.values() if link.flow is Flow.UNBOUNDED}
    missing = grows_ - {bound["link"] for bound in bounds}
    if missing:
        raise Refuted(f"there is no sum that bounds {min(missing)}")
    if not bounds:
        return "each link has a bound of its own"
    check_bounds(bounds, system_of(design))
    return f"{len(bounds):,} sums that no transition raises"
