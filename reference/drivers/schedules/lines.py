"""The lines of a function on which a thread reads or writes what others may see.

The others are no steps of the scheduler: it makes no difference whether another thread runs before
or after them.
"""

from __future__ import annotations

import dis
from functools import lru_cache
from types import CodeType
from typing import Final

__all__ = ["shared_lines"]

_LOCAL: Final = frozenset({
    "CACHE", "COPY", "COPY_FREE_VARS", "DELETE_FAST", "EXTENDED_ARG", "IS_OP", "JUMP_BACKWARD",
    "JUMP_FORWARD", "LOAD_CONST", "LOAD_FAST", "LOAD_FAST_CHECK", "NOP", "POP_JUMP_IF_FALSE",
    "POP_JUMP_IF_NONE", "POP_JUMP_IF_NOT_NONE", "POP_JUMP_IF_TRUE", "POP_TOP", "PRECALL",
    "PUSH_NULL", "RESUME", "RETURN_CONST", "RETURN_VALUE", "STORE_FAST", "SWAP", "UNARY_NOT",
    "POP_JUMP_BACKWARD_IF_FALSE", "POP_JUMP_BACKWARD_IF_TRUE", "POP_JUMP_BACKWARD_IF_NONE",
    "POP_JUMP_BACKWARD_IF_NOT_NONE", "POP_JUMP_FORWARD_IF_FALSE", "POP_JUMP_FORWARD_IF_TRUE",
    "POP_JUMP_FORWARD_IF_NONE", "POP_JUMP_FORWARD_IF_NOT_NONE", "MAKE_CELL", "BUILD_TUPLE",
    "NOT_TAKEN", "LOAD_FAST_BORROW", "LOAD_SMALL_INT", "LOAD_FAST_LOAD_FAST",
    "STORE_FAST_STORE_FAST", "STORE_FAST_LOAD_FAST", "LOAD_FAST_BORROW_LOAD_FAST_BORROW",
})
"""Instructions that touch only their own frame. One that is missing costs a step, no more."""


@lru_cache(maxsize=4096)
def shared_lines(code: CodeType) -> frozenset[int]:
    """The lines of a function on which it reads or writes data that other threads may see."""
    lines: set[int] = set()
    line = code.co_firstlineno
    for instruction in dis.get_instructions(code):
        if instruction.positions is not None and instruction.positions.lineno is not None:
            line = instruction.positions.lineno
        if instruction.opname not in _LOCAL:
            lines.add(line)
    return frozenset(lines)
