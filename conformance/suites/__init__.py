"""Suites: what an implementation is asked, and how its answers are judged.

A suite is *planned* into cases, each with its own seed, and ``run_case`` turns one case into
one row, as a pure function of its arguments: here, in another process, or on a cluster.
"""

from ..results import Case, CaseRow
from .case import RunSettings, plan, run_case
from .catalogue import SUITES, suite_named

__all__ = ["SUITES", "Case", "CaseRow", "RunSettings", "plan", "run_case", "suite_named"]
