"""Campaigns: a suite's cases run on a target, and what they come to.

A suite is *planned* into cases, each with its own seed, and ``run_case`` turns one case into
one row, as a pure function of its arguments: here, in another process, or on a cluster.
"""

from ..suites.results import Case, CaseRow
from .case import RunSettings, plan, run_case

__all__ = ["Case", "CaseRow", "RunSettings", "plan", "run_case"]
