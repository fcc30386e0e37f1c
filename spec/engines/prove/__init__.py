"""The prover: bounded model checking and k-induction with Z3.

It is the engine for what the explorer cannot do: a verdict for *every* value of an integer
constant. Constants that were left symbolic when the machine was lowered range over all
values that the machine's assumptions allow. Queues are unrolled to their capacity, which
must be a number. Z3 is imported when a function here is called for the first time. Each question
has a context of its own, so its answer does not depend on what was asked before.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...notation.expr import Expr
from ...notation.model import LoweredRule, Model
from ...verdicts.verdict import Budget
from .result import ProverVerdict

__all__ = ["ProverVerdict", "bounded", "prove"]

_ONE_MINUTE = Budget(max_seconds=60.0)


def bounded(
    model: Model, rule: LoweredRule, depth: int, budget: Budget = _ONE_MINUTE,
    *, assuming: Sequence[Expr] = (),
) -> ProverVerdict:
    """Look for a violation of a rule within ``depth`` steps, the shortest first.

    For rules of the kinds *always*, *step* and ``never stuck``. VIOLATED comes with a trace
    of the fewest steps that any value of the symbolic constants allows; the values that go
    with it are in ``constants`` and in ``reason``, and are the smallest (by sum) for that
    length. Otherwise UNKNOWN: *no violation within k steps*, a spent budget, or something
    the prover does not support. ``assuming`` are further conditions on the constants.
    Raises ModelFault if the machine leaves its declared ranges within as many steps.
    """
    from . import bmc
    return bmc.bounded(model, rule, depth, budget, assuming)


def prove(
    model: Model, rule: LoweredRule, *, max_k: int = 3, depth: int = 8,
    budget: Budget = _ONE_MINUTE, lemmas: Sequence[LoweredRule] | None = None,
    assuming: Sequence[Expr] = (),
) -> ProverVerdict:
    """Prove a rule by k-induction, for every value of the symbolic constants.

    For rules of the kinds *always*, *step* and ``never stuck``; k goes from 1 to ``max_k``.

    The declared ranges of the slots and the absence of faults serve as hypotheses of the
    induction, and so do the ``lemmas`` (None: all other *always* rules of the model). They
    may do so because they are proved as well, by the same induction: what is shown to hold
    of the initial states and to be kept by every step is the conjunction of all of them. A
    lemma that is false or cannot be shown is left out, and makes nothing hold.

    HOLDS: the method names k, the symbolic constants, and ``assuming``, further conditions
    on them. VIOLATED: the base case fails, or a violation was met within ``depth`` steps;
    with a shortest trace. UNKNOWN: neither, and ``reason`` has the counterexample to the
    induction, or says which budget is spent or what is not supported. Raises ModelFault if
    the machine leaves its declared ranges within the steps looked at.
    """
    from . import induction
    return induction.prove(model, rule, max_k=max_k, depth=depth, budget=budget, lemmas=lemmas,
                           assuming=assuming)
