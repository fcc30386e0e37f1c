"""Readable, Python-like text of an expression, for messages, traces and rule pages.

The text is meant for people: a queue's ``push`` and ``pop`` are written as functions
that return the new queue, and a slot after the step as ``after.slot``. Parentheses appear
only where Python would need them.
"""

from __future__ import annotations

from .expr import Bool, ConstRef, EmptyQueue, Expr, Int, Lit, Op, Read, ReadAfter, Record, walk

__all__ = ["show"]

_Text = tuple[str, int]
"""A text with its binding strength; the higher, the tighter."""

_ITE, _OR, _AND, _NOT, _COMPARE, _SUM, _PRODUCT, _SIGN, _ATOM = range(1, 10)

_INFIX = {
    "add": ("+", _SUM), "sub": ("-", _SUM), "mul": ("*", _PRODUCT),
    "floordiv": ("//", _PRODUCT), "mod": ("%", _PRODUCT),
    "eq": ("==", _COMPARE), "ne": ("!=", _COMPARE), "and": ("and", _AND), "or": ("or", _OR),
}

_LEFT_ASSOCIATIVE = {"add", "sub", "mul", "floordiv", "mod"}

_CALLS = {"min": "min", "max": "max", "len": "len", "push": "push", "pop": "pop"}


def show(expr: Expr, limit: int = 4000) -> str:
    """The expression as one line of text.

    A part with a text of more than ``limit`` characters is abbreviated to ``…``: nodes
    are shared, so that the text of a small tree can be exponentially long.
    """
    texts: dict[Expr, _Text] = {}
    for node in walk(expr):
        text, strength = _show_op(node, texts) if isinstance(node, Op) else _show_leaf(node)
        texts[node] = (text, strength) if len(text) <= limit else ("…", _ATOM)
    return texts[expr][0]


def _show_leaf(node: Expr) -> _Text:
    if isinstance(node, Lit):
        if isinstance(node.type, Bool):
            return ("True" if node.value else "False"), _ATOM
        return str(node.value), _ATOM if node.value >= 0 else _SIGN
    if isinstance(node, ConstRef):
        return node.name, _ATOM
    if isinstance(node, Read):
        return node.slot, _ATOM
    if isinstance(node, ReadAfter):
        return f"after.{node.slot}", _ATOM
    assert isinstance(node, EmptyQueue)
    return "[]", _ATOM


def _show_op(node: Op, texts: dict[Expr, _Text]) -> _Text:
    """An operation as Python writes it, with how strongly it binds."""
    if node.op in ("lt", "le"):
        low, high = node.operands
        return _show_order(node.op, low, high, texts)
    parts = [texts[child] for child in node.operands]
    if node.op in _INFIX:
        return _show_infix(node, parts)
    if node.op in _CALLS:
        inside = ", ".join(text for text, _ in parts)
        return f"{_CALLS[node.op]}({inside})", _ATOM
    if node.op == "not":
        inner = node.operands[0]
        if isinstance(inner, Op) and inner.op in ("lt", "le"):
            low, high = inner.operands
            return _show_order("le" if inner.op == "lt" else "lt", high, low, texts)
        return f"not {_wrap(parts[0], _NOT)}", _NOT
    if node.op == "neg":
        return f"-{_wrap(parts[0], _SIGN)}", _SIGN
    if node.op == "ite":
        condition, then, otherwise = parts
        text = f"{_wrap(then, _OR)} if {_wrap(condition, _OR)} else {_wrap(otherwise, _ITE)}"
        return text, _ITE
    if node.op == "at":
        return f"{_wrap(parts[0], _ATOM)}[{parts[1][0]}]", _ATOM
    return _show_record_op(node, parts)


def _show_record_op(node: Op, parts: list[_Text]) -> _Text:
    if node.op == "field":
        of = node.operands[0].type
        assert isinstance(of, Record)
        return f"{_wrap(parts[0], _ATOM)}.{of.fields[node.extra][0]}", _ATOM
    assert node.op == "record" and isinstance(node.type, Record), node.op
    named = zip(node.type.fields, parts, strict=True)
    inside = ", ".join(f"{name}={text}" for (name, _), (text, _) in named)
    return f"{node.type.name}({inside})", _ATOM


def _show_order(op: str, low: Expr, high: Expr, texts: dict[Expr, _Text]) -> _Text:
    """``low < high`` or ``low <= high``; a number stands on the right, as people write it."""
    symbol = {"lt": "<", "le": "<="}[op]
    if isinstance(low, Lit) and not isinstance(high, Lit):
        low, high, symbol = high, low, symbol.replace("<", ">")
    elif isinstance(low, Op) and low.op == "len" and high is Lit(0) and op == "le":
        symbol = "=="
    # a comparison inside a comparison would read as a chain, so both sides bind tighter
    left, right = (_wrap(texts[side], _COMPARE + 1) for side in (low, high))
    return f"{left} {symbol} {right}", _COMPARE


def _show_infix(node: Op, parts: list[_Text]) -> _Text:
    symbol, strength = _INFIX[node.op]
    if node.op in ("eq", "ne"):
        parts = [_labelled(node, index, part) for index, part in enumerate(parts)]
    addend = node.operands[-1]
    if node.op == "add" and isinstance(addend, Lit) and addend.value < 0:
        symbol, parts = "-", [parts[0], (str(-addend.value), _ATOM)]
    first = strength if node.op in _LEFT_ASSOCIATIVE else strength + 1
    pieces = [_wrap(part, strength + 1 if index else first) for index, part in enumerate(parts)]
    return f" {symbol} ".join(pieces), strength


def _labelled(node: Op, index: int, part: _Text) -> _Text:
    """A literal compared with an enumeration is shown by its name."""
    operand, other = node.operands[index], node.operands[1 - index].type
    names = other.names if isinstance(other, Int) else ()
    if isinstance(operand, Lit) and 0 <= operand.value < len(names):
        return names[operand.value], _ATOM
    return part


def _wrap(part: _Text, needed: int) -> str:
    text, strength = part
    return text if strength >= needed else f"({text})"


Expr._shown = show
