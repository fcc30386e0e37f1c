"""Certificates of laws: the sums, and the runs with as many rounds as forms say, that prove them.

The form is that of ``checkvalve/spec/certify/law.json``; ``checkvalve.spec.certify.law`` checks it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..reading.properties import DEADLOCK_FREE
from ..reading.symbols import Form
from .law import Law
from .law_proof import Proof, Side, ToldRun

__all__ = ["law_certificate"]

VERSION = 1


def law_certificate(
    design: str, law: Law, proof: Proof, over: Sequence[str]
) -> dict[str, Any] | None:
    """The certificate of a law as one JSON document, for each side of it that is proved; None where
    neither is. ``over`` are the numbers that were opened, as the user named them.
    """
    sides = {}
    if proof.holds.proved:
        sides["holds"] = {**_told(proof.holds), "sums": [
            _amounts(weights) for weights in proof.holds.sums if len(weights) > 1]}
    if proof.violated.proved:
        sides["violated"] = {
            **_told(proof.violated), "runs": [_run(run) for run in proof.violated.runs]}
    if not sides:
        return None
    atoms = [{"factors": [[kind, list(names), factor] for (kind, names), factor in atom.factors],
              "least": atom.least} for atom in law.atoms]
    return {"certificate": VERSION, "design": design, "property": DEADLOCK_FREE, "over": list(over),
            "law": {"joint": law.joint, "atoms": atoms}, **sides}


def _told(side: Side) -> dict[str, Any]:
    return {"fixing": side.fixing, "values": {
        name: [low, side.domain.top(name)] for name, (low, _) in side.domain.ranges.items()}}


def _run(run: ToldRun) -> list[dict[str, Any]]:
    return [{"steps": [_amounts(step) for step in steps], "times": _form(times)}
            for steps, (_, times) in zip(run.changes, run.legs, strict=True)]


def _amounts(amounts: Mapping[str, Form]) -> dict[str, Any]:
    return {name: _form(form) for name, form in amounts.items()}


def _form(form: Form) -> int | dict[str, int]:
    """A number, or the factor of each parameter, with the constant under the empty name."""
    if not form.factors:
        return form.constant
    return {**dict(form.factors), **({"": form.constant} if form.constant else {})}
