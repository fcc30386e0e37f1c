"""``checkvalve certify``: a certificate of a verdict on a design, checked without the engines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..computer.progress import watched
from .options import budget_options, parameters_given
from .outcome import EXPECTED, UNKNOWN, VIOLATED

if TYPE_CHECKING:
    from checkvalve.spec.verdicts.verdict import Budget

__all__ = ["command"]


@click.command("certify")
@click.argument("certificate", type=click.Path(path_type=Path), metavar="CERTIFICATE")
@click.argument("design", metavar="DESIGN")
@click.option("--set", "given", multiple=True, metavar="NAME=VALUE",
              help="A parameter's value, in place of the file's: n=4.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@budget_options
def command(
    certificate: Path, design: str, given: tuple[str, ...], as_json: bool, budget: Budget
) -> int:
    """Check that CERTIFICATE shows its verdict on DESIGN.

    Certificates are written by `checkvalve check --certificates DIR`, and those of laws by
    `checkvalve law --certificates DIR`. The checker has its own
    reading of what the tasks of a design do and its own interpreter of runs, and asks another
    solver (cvc5); it shares no code with the engines.

    Exit code 0 if the certificate shows its verdict, 1 if it does not, 2 if the design has
    something that the checker does not cover or a budget was spent before, 64 for files that are no
    certificate or no design.
    """
    from checkvalve.spec.certify.checker import check_certificate
    from checkvalve.spec.design.reading.properties import fact

    from ..designs.certificates import design_of, read_certificate
    from ..designs.wording import said
    budget = budget.start()  # the time for reading the design counts too
    document, values = read_certificate(certificate), parameters_given(given)
    if "law" in document:
        from checkvalve.spec.certify.checker import check_law_certificate

        from ..designs.laws import made_of
        with watched(f"checking {certificate.name}"):
            opinion = check_law_certificate(
                document, made_of(document, design, values, budget.deadline), budget)
    else:
        with watched(f"checking {certificate.name}"):
            opinion = check_certificate(
                document, design_of(document, design, values, budget.deadline), budget)
    told = {"certificate": str(certificate), "design": document["design"],
            "property": document["property"], "verdict": document.get("verdict", "law"),
            "confirmed": opinion.confirmed, "why": opinion.why}
    if as_json:
        click.echo(json.dumps(told, indent=1, ensure_ascii=False))
    else:
        words = {True: "confirmed", False: "NOT CONFIRMED", None: "not decided"}
        claim = (f"law of {fact(told['property'])}" if "law" in document
                 else said(told["property"], told["verdict"]))
        click.echo(f"{words[opinion.confirmed]}: {told['design']}: {claim}; {opinion.why}")
    return {True: EXPECTED, False: VIOLATED, None: UNKNOWN}[opinion.confirmed]
