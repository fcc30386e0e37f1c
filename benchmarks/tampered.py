"""Certificates that were tampered with: each says something that its design does not bear out.

What is changed makes a certificate wrong whatever the design is: a run that ends a step too soon,
a sum with another total, a part without a proof, or the contrary verdict with as much as anybody
could claim for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from checkvalve.spec.design.reading.language import Design
from checkvalve.spec.design.reading.properties import (
    BOUNDED, DEADLOCK_FREE, LIVE, NO_FAILURE, NO_LOCAL_DEADLOCK, NO_LOSS, ORDERED, starved_task,
)
from checkvalve.spec.design.why.parts import parts

__all__ = ["tampered"]

Document = dict[str, Any]
NOBODY = {"nobody": 1}
CLAIMS: tuple[Document, ...] = (
    {"states": 20_000}, {"marked": []}, {"sums": [], "clauses": []},
    {"sums": [], "clauses": [], "rescues": {"steps": [], "moment": [], "runs": []}},
    {"sums": [], "order": [], "run": []},
    {"legs": [{"keep": 0, "then": [], "times": 1}]})
"""What may be claimed of any part."""


def tampered(document: Document, design: Design) -> Iterator[tuple[str, Document]]:
    """What was done to the certificate, and what came of that; none may be confirmed."""
    yield "another design", {**document, "design": f"{document['design']} 2"}
    yield "another value of a parameter", {**document, "parameters": {
        **document.get("parameters", {}), "nobody": 1}}
    for claim in _claims(document, design):
        yield "the contrary", {**document, **claim}
    evidence = document["evidence"]
    alone = len(parts(design)) == 1  # else another part may be stuck a step before
    for told, changed in [*_runs(evidence, alone), *_bounds(evidence), *_proofs(evidence)]:
        yield told, {**document, "evidence": changed}


# --- the contrary ---------------------------------------------------------------------------------

def _claims(document: Document, design: Design) -> Iterator[Document]:
    """The other verdict, with all evidence that has the right form."""
    name = document["property"]
    if document["verdict"] == "holds":
        yield {"verdict": "violated", "evidence": _empty_run(name, design)}
        return
    about = [next(iter(part.tasks)) for part in parts(design)
             if starved_task(name) in (None, *part.tasks)]
    for told in CLAIMS:
        yield {"verdict": "holds", "evidence": {"parts": [{"task": t, **told} for t in about]}}
    if name == BOUNDED:
        yield {"verdict": "holds", "evidence": {"bounds": []}}


def _empty_run(name: str, design: Design) -> Document:
    first = next(iter(design.tasks))
    if name == ORDERED:
        return {"sender": first, "receiver": [*design.tasks][-1], "steps": []}
    more: Mapping[str, Document] = {
        DEADLOCK_FREE: {}, NO_LOSS: {}, NO_FAILURE: {},
        NO_LOCAL_DEADLOCK: {"at": 0, "loop": 0, "stuck": [first]},
        LIVE: {"loop": 0, "without": {"task": first}},
    }
    return {"steps": [], **more.get(name, {"loop": 0})}


# --- runs -----------------------------------------------------------------------------------------

def _runs(evidence: Document, alone: bool) -> Iterator[tuple[str, Document]]:
    if "steps" in evidence:
        steps = evidence["steps"]
        yield "a step that is none", {**evidence, "steps": [NOBODY, *steps]}
        if steps and alone:
            yield "a step too few", {**evidence, "steps": steps[:-1]}
    if "loop" in evidence:
        yield "repeated from nowhere", {**evidence, "loop": 10**9}
    if "stuck" in evidence:
        yield "somebody else", {**evidence, "stuck": ["nobody"]}
    if "without" in evidence:
        yield "without somebody else", {**evidence, "without": {"task": "nobody"}}
    if "receiver" in evidence:
        yield "another receiver", {**evidence, "receiver": "nobody"}
    if "legs" in evidence:
        yield from _legs(evidence)


def _legs(evidence: Document) -> Iterator[tuple[str, Document]]:
    legs = evidence["legs"]
    if legs:
        last = legs[-1]
        yield "a step that is none", {
            **evidence, "legs": [*legs[:-1], {**last, "then": [*last["then"], NOBODY]}]}
        yield "too often", {**evidence, "legs": [*legs[:-1], {**last, "times": 10**30}]}


# --- proofs ---------------------------------------------------------------------------------------

def _bounds(evidence: Document) -> Iterator[tuple[str, Document]]:
    for bound in evidence.get("bounds", ())[:1]:
        more = evidence["bounds"][1:]
        yield "a bound too few", {"bounds": more}
        if bound["most"]:
            yield "too small a bound", {"bounds": [{**bound, "most": 0}, *more]}
        yield "another sum", {"bounds": [{**bound, "weights": {"nobody": 1}}, *more]}


def _proofs(evidence: Document) -> Iterator[tuple[str, Document]]:
    proofs = evidence.get("parts", ())
    if not proofs:
        return
    first, *more = proofs
    yield "a part too few", {"parts": more}
    yield "a part that is none", {"parts": [*proofs, {**first, "task": "nobody"}]}
    for told, changed in _of_one(first):
        yield told, {"parts": [changed, *more]}


def _of_one(proof: Document) -> Iterator[tuple[str, Document]]:
    if "legs" in proof:
        for told, changed in _legs(proof):
            if told != "too often":  # what comes back may come back often
                yield told, changed
    if "order" in proof:
        yield from _orders(proof)
    if "clauses" in proof:
        yield "a clause that is false", {**proof, "clauses": [[], *proof["clauses"]]}
        yield "a sum of nobody", {**proof, "sums": [{"weights": NOBODY, "total": 0}]}
    if "rescues" in proof:
        told = proof["rescues"]
        for what, changed in (("a run that is none", {"steps": [NOBODY], "runs": [[0]]}),
                              ("a step that is not reported", {"runs": [[len(told["steps"])]]})):
            yield what, {**proof, "rescues": {**told, **changed}}
    for law in proof.get("sums", ())[:1]:
        yield "another total", {
            **proof, "sums": [{**law, "total": law["total"] + 1}, *proof["sums"][1:]]}


def _orders(proof: Document) -> Iterator[tuple[str, Document]]:
    order = proof["order"]
    yield "a counter that is none", {**proof, "order": [["nobody", 0], *order]}
    yield "a sum of nobody", {**proof, "sums": [{"weights": NOBODY, "total": 0}]}
    if "run" in proof:
        yield "a step that is none", {**proof, "run": [NOBODY, *proof["run"]]}
        yield "no step of anybody", {**proof, "run": []}
