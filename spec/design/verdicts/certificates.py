"""Certificates: what a verdict on a design rests on, for a checker that shares no code with us.

*Violated* has a run: the changes of each step, and which steps can be repeated forever. *Holds*
has a proof for each connected part: sums and clauses (``structure``), the run of a part without
choice, or that all states are to be visited. Names of counters are those of ``counters``; the form
is that of ``checkvalve/spec/certify/schema.json``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...notation.labels import counted
from ...verdicts.deadline import Deadline, Spent
from ...verdicts.verdict import Outcome
from ..equations.bounds import bounds
from ..equations.confluence import has_choice
from ..equations.emptying import Emptying, emptied, returning
from ..equations.lemmas import Clause, Inequality
from ..equations.rescues import rescues
from ..equations.silent import ask_equations
from ..equations.closure import closure
from ..equations.structure import Answer, decide
from ..net.counters import AIM, Counters
from ..net.invariants import Equation
from ..net.rows import Table
from ..net.translate import translate
from ..reading.language import Design, Flow, Mortality
from ..reading.properties import (
    BOUNDED, DEADLOCK_FREE, LIVE, NO_DUPLICATES, NO_FAILURE, NO_LOCAL_DEADLOCK, NO_LOSS,
    ORDERED, starved_task,
)
from ..search.ways import told_legs
from ..why.findings import DesignReport, Finding, ToldLeg
from ..why.parts import parts
from .local import FREED
from .order import doubtful_pairs
from .steady import FOR_ALL

__all__ = ["Certificates", "Uncertified", "certificate", "of_rescues", "of_structure"]

VERSION = 1
MAX_STATES = 50_000_000
"""States that the checker visits at most."""
MAX_LINKED = 2_000_000
"""States that it visits at most where it needs the steps between them, too."""


class Uncertified(Exception):
    """Why there is no certificate of a verdict."""


def certificate(
    report: DesignReport, finding: Finding, deadline: Deadline | None = None
) -> dict[str, Any] | None:
    """The certificate of a finding, as one JSON document; None where there is none."""
    try:
        return Certificates(report, deadline).of(finding)
    except Uncertified:
        return None


class Certificates:
    """The certificates of a report; what several of them rest on is worked out once."""

    def __init__(self, report: DesignReport, deadline: Deadline | None = None) -> None:
        self.report, self.deadline = report, deadline or Deadline()
        self.parts = parts(report.design)
        self._answers: dict[int, Answer] = {}

    def of(self, finding: Finding) -> dict[str, Any]:
        """The certificate of a finding, as one JSON document. Raises Uncertified."""
        if finding.outcome is Outcome.UNKNOWN:
            raise Uncertified("nothing is known")
        if self.report.design.net_alone:
            raise Uncertified("a net without tasks and links has no certificate yet")
        if self.report.design.net is not None and finding.steps and not finding.changes:
            raise Uncertified("its run is one of the net, and not of tasks and links")
        try:
            evidence = (_run(finding) if finding.outcome is Outcome.VIOLATED
                        else self._shown(finding))
        except Spent as late:
            raise Uncertified(str(late)) from None
        design = self.report.design
        point = {"parameters": dict(design.parameters)} if design.parameters else {}
        return {"certificate": VERSION, "design": design.name, **point,
                "property": finding.name, "verdict": finding.outcome.value, "evidence": evidence}

    # --- holds ----------------------------------------------------------------------------------

    def _shown(self, finding: Finding) -> dict[str, Any]:
        self.deadline.check("making a certificate")
        if finding.name == BOUNDED:
            known = _sums_of_bounds(
                self.report.design, self.deadline.watch("writing down why links are bounded"))
            if known is not None:
                return known
        proofs = []
        for number, part in enumerate(self.parts):
            first = next(iter(part.tasks))
            if starved_task(finding.name) not in (None, *part.tasks):
                continue
            proofs.append({"task": first, **self._proof(finding, number, part)})
        return {"parts": proofs}

    def _proof(self, finding: Finding, number: int, part: Design) -> dict[str, Any]:
        """The proof of a property that holds for a part, in the form that the checker knows. Raises
        ``Uncertified``."""
        if FOR_ALL in finding.method:
            raise Uncertified("it rests on an argument for all capacities, which has no "
                              "certificate yet")
        if finding.name == DEADLOCK_FREE:
            return (self._emptied(number) or of_structure(self._answer(number))
                    or _visited(finding, part))
        if finding.name == NO_LOCAL_DEADLOCK:
            return (self._alone(finding, number, part) or self._rescued(finding, number)
                    or _visited(finding, part))
        if finding.name in (ORDERED, NO_DUPLICATES):
            return {"marked": [list(pair) for pair in doubtful_pairs(part)]}
        if finding.name in (NO_LOSS, NO_FAILURE, LIVE) and not finding.states:
            return {"sums": [], "clauses": []}  # no link of its is able to
        return _visited(finding, part)

    def _emptied(self, number: int, returns: bool = False) -> dict[str, Any] | None:
        """The order in which a part empties itself, if it has a choice (else one run shows more);
        with ``returns``, that every task may move again.
        """
        watch = self.deadline.watch("looking for an order of waits")
        table = translate(self.parts[number], AIM, watch)
        net = Counters.of(table, watch)
        if not has_choice(net):
            return None
        found = returning(net, table, watch) if returns else emptied(net, watch)
        return None if found is None else _of_order(found, net, table)

    def _answer(self, number: int) -> Answer:
        if number not in self._answers:
            self._answers[number] = decide(self.parts[number], self.deadline)
        return self._answers[number]

    def _alone(self, finding: Finding, number: int, part: Design) -> dict[str, Any] | None:
        """Why no task of a part is blocked forever alone, if its structure says that."""
        if any(task.may is not Mortality.GOES_ON for task in part.tasks.values()):
            return None
        found = self._emptied(number, returns=True)
        if found is not None:
            return found
        answer = self._answer(number)
        if _makes_every_transition(answer):
            return of_structure(answer)
        if not answer.deadlock_free or answer.net.may_end or any(
                transition.fails for transition in answer.net.transitions):
            return None
        watch = self.deadline.watch("asking which tasks may stop alone")
        if (finding.states or FREED in finding.method) and not (
                closure(part, watch).total or ask_equations(part, watch).total):
            return None
        if answer.only is not None:
            return {"sums": [], "clauses": []}
        return of_structure(answer)


    def _rescued(self, finding: Finding, number: int) -> dict[str, Any] | None:
        """Runs that unblock every task that could be blocked alone, where the states are too many
        to visit.
        """
        if 0 < finding.states <= MAX_LINKED:
            return None
        answer = self._answers.get(number)
        return of_rescues(self.parts[number], () if answer is None else answer.clauses,
                          self.deadline.watch("looking for runs that unblock tasks"))


def _makes_every_transition(answer: Answer) -> bool:
    """True if the run of a part without choice comes back, and makes every transition."""
    return answer.only is not None and answer.only.returns and {
        number for leg in answer.only.legs for number in leg.then
    } == set(range(len(answer.net.transitions)))


def _of_order(found: Emptying, net: Counters, table: Table) -> dict[str, Any]:
    """The order in which a part empties itself, and the run that is possible then."""
    told: dict[str, Any] = {
        "sums": _laws(net, found.sums, ())["sums"],
        "order": [[net.counters[n].name, most] for n, most in found.order]}
    if found.run:
        told["run"] = [_named(net, net.transitions[number].change) for number in found.run]
    return told


def of_structure(answer: Answer) -> dict[str, Any] | None:
    """The run of a part without choice, or the sums and clauses that exclude every deadlocked
    state.
    """
    if not answer.deadlock_free:
        return None
    if answer.only is not None:
        return {"legs": _in_json(told_legs(answer.table, answer.net, answer.only.legs))}
    return _laws(answer.net, answer.sums, answer.clauses)


def of_rescues(
    part: Design, clauses: Sequence[Clause] = (), watch: Callable[[], object] = lambda: None
) -> dict[str, Any] | None:
    """Runs which show that no task of a part is blocked forever while a run of others never ends;
    ``clauses`` are always true. None where none are found.
    """
    table = translate(part, AIM, watch)
    net = Counters.of(table, watch)
    found = rescues(net, table, part.tasks, clauses, watch)
    return None if found is None else {
        **_laws(net, found.sums, clauses), "rescues": {
            "steps": [_named(net, transition.change) for transition in net.transitions],
            "moment": list(found.moment), "runs": [list(run) for run in found.runs]}}


def _laws(
    net: Counters, sums: Sequence[tuple[Equation, int]], clauses: Sequence[Clause]
) -> dict[str, Any]:
    """Sums and clauses as a certificate has them."""
    return {"sums": [{"weights": _named(net, weights), "total": total} for weights, total in sums],
            "clauses": [[_option(net, option) for option in clause.options] for clause in clauses]}


def _visited(finding: Finding, part: Design) -> dict[str, Any]:
    """The claim that all states are to be visited, of which there are no more than the search has
    found. (It counts an unbounded link only so far, and has no number for what that stands for.)"""
    if not finding.states:
        raise Uncertified("it rests on an argument that has no certificate yet")
    linked = finding.name in (NO_LOCAL_DEADLOCK, LIVE) or starved_task(finding.name) is not None
    most = MAX_LINKED if linked else MAX_STATES
    if finding.states > most and finding.name != LIVE:
        raise Uncertified(f"it rests on {counted(finding.states, 'state')}, and the checker visits "
                          f"{most:,} at most{' with the steps between them' * linked}")
    grows = any(link.flow is Flow.UNBOUNDED for link in part.links.values())
    return {"states": most if grows else min(finding.states, most)}


def _sums_of_bounds(design: Design, watch: Callable[[], object]) -> dict[str, Any] | None:
    grows = [link for link in design.links.values() if link.flow is Flow.UNBOUNDED]
    if not grows:
        return {"bounds": []}
    net, found = bounds(design, grows, watch)
    if len(found) < len(grows):
        return None
    return {"bounds": [{"link": name, "most": each.most, "weights": _named(net, each.sum.weights)}
                       for name, each in found.items()]}


# --- violated -----------------------------------------------------------------------------------

def _run(finding: Finding) -> dict[str, Any]:
    """A run into a violation, and what can be repeated forever at its end."""
    steps = [dict(step) for step in finding.changes]
    if finding.name == DEADLOCK_FREE:
        return {"legs": _in_json(finding.legs)} if finding.legs else {"steps": steps}
    if finding.name in (NO_LOSS, NO_FAILURE):
        return {"steps": steps}
    if finding.name == BOUNDED:
        return {"steps": steps[:len(finding.steps)], "loop": finding.loop}
    if finding.name in (ORDERED, NO_DUPLICATES):
        assert finding.between is not None
        sender, receiver = finding.between
        return {"sender": sender, "receiver": receiver, "steps": steps}
    if finding.name == NO_LOCAL_DEADLOCK:
        assert finding.meanwhile is not None
        at = len(finding.steps)
        first = {"legs": _in_json(finding.legs)} if finding.legs else {}
        return {**first, "steps": steps, "at": at, "loop": at + finding.meanwhile.loop,
                "blocked": list(finding.meanwhile.tasks)}
    loop = len(steps) if finding.loop is None else finding.loop
    if finding.name == LIVE:
        return {"steps": steps, "loop": loop, "without": dict([finding.without])}
    return {"steps": steps, "loop": loop}


def _in_json(legs: Sequence[ToldLeg]) -> list[dict[str, Any]]:
    return [{"keep": leg.keep, "then": [dict(step) for step in leg.changes], "times": leg.times}
            for leg in legs]


def _option(net: Counters, option: Inequality) -> dict[str, Any]:
    return {"weights": _named(net, option.weights), "at_most": option.total}


def _named(net: Counters, weights: Mapping[int, int]) -> dict[str, int]:
    return {net.counters[n].name: weight for n, weight in weights.items()}
