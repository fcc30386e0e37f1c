"""One parametrised text for the instances of an action or a rule.

Lowering expands parameters, so that ``arrive(sender)`` comes as ``arrive(0)`` and
``arrive(1)``. The printer gives them one definition again where their texts differ in
nothing but numbers that are the values of a parameter, and separate ones otherwise. By
construction the definition gives back each instance's text word for word.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import product

__all__ = ["generalise", "quantifier"]

_TOKEN = re.compile(r"[A-Za-z_]\w*|\d+|[^\w]+")
Args = Mapping[str, int]


def generalise(texts: Sequence[str], args: Sequence[Args]) -> str | None:
    """A text over the parameters that gives each of ``texts`` for its ``args``, or None."""
    rows = [_TOKEN.findall(text) for text in texts]
    if len({len(row) for row in rows}) != 1:
        return None
    columns = [_column(column, args) for column in zip(*rows, strict=True)]
    return None if None in columns else "".join(one for one in columns if one is not None)


def _column(tokens: Sequence[str], args: Sequence[Args]) -> str | None:
    if len(set(tokens)) == 1:
        return tokens[0]
    if not all(token.isdigit() for token in tokens):
        return None
    for name in args[0]:
        offsets = {int(token) - one[name] for token, one in zip(tokens, args, strict=True)}
        if len(offsets) == 1:
            (offset,) = offsets
            return name if offset == 0 else f"({name} {'+' if offset > 0 else '-'} {abs(offset)})"
    return None


def quantifier(args: Sequence[Args]) -> str | None:
    """``a \\in 0..1, b \\in 0..2`` if the instances are all combinations, or None."""
    values = {name: sorted({one[name] for one in args}) for name in args[0]}
    combinations = {tuple(one.values()) for one in args}
    if combinations != set(product(*values.values())) or len(combinations) != len(args):
        return None
    return ", ".join(f"{name} \\in {_set(numbers)}" for name, numbers in values.items())


def _set(numbers: Sequence[int]) -> str:
    if list(numbers) == list(range(numbers[0], numbers[-1] + 1)):
        return f"{numbers[0]}..{numbers[-1]}"
    return "{" + ", ".join(map(str, numbers)) + "}"
