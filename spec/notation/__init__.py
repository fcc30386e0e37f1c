"""The notation: what a chapter imports.

A chapter is plain Python. See docs/notation.md for the language, and
``checkvalve.spec.flow.credit`` for a chapter explained line by line.
"""

from . import show as _show  # noqa: F401  with it, expressions print themselves
from .bound import BoundMachine, bind
from .errors import (
    CheckvalveError, InputError, InternalError, ModelFault, NotationError, TargetError,
)
from .machine import Machine, action, assume, require
from .rules import (
    CLAIM, MUST, SHOULD, Rule, Strength, always, eventually_always, guard_rule, leads_to,
    never_stuck, step,
)
from .types import (
    Array, Domain, Fifo, alike, array, boolean, choice, const, each, fifo, integer, member,
    one_of, pairs, record, subset, table, upto,
)

__all__ = [
    "CLAIM", "MUST", "SHOULD", "Array", "BoundMachine", "CheckvalveError", "Domain", "Fifo",
    "InputError", "InternalError", "Machine", "ModelFault", "NotationError", "Rule",
    "Strength", "TargetError", "action", "alike", "always", "array", "assume", "bind", "boolean",
    "choice", "const", "each", "eventually_always", "fifo", "guard_rule", "integer", "leads_to",
    "member", "never_stuck", "one_of", "pairs", "record", "require", "step", "subset", "table",
    "upto",
]
