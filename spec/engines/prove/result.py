"""The answers of the prover."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ...verdicts.verdict import Verdict

__all__ = ["ProverVerdict"]


@dataclass(frozen=True)
class ProverVerdict(Verdict):
    """A verdict; ``constants`` has the values that the prover chose for the symbolic
    constants of a violation's trace, and is empty otherwise."""

    constants: Mapping[str, int] = field(default_factory=dict)
