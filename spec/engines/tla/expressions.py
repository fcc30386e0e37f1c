"""Expressions as TLA+ text.

A queue becomes a sequence with its head first; TLA+ counts its elements from 1. A set
becomes a TLA+ set, so that its slot for a member reads as ``member \\in set``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import cast

from ...notation.expr import (
    FALSE,
    Bool,
    ConstRef,
    EmptyQueue,
    Expr,
    Int,
    Lit,
    Op,
    Read,
    ReadAfter,
    Record,
    SlotType,
    walk,
)
from .names import Names, Place

__all__ = ["ATOM", "NOT", "Block", "Printer"]

Text = tuple[str, int]
"""A text with its binding strength; the higher, the tighter."""

OPEN, OR, AND, NOT, COMPARE, QUOTIENT, SUM, PRODUCT, ATOM = 0, 2, 3, 4, 5, 9, 10, 13, 20
"""IF and LET reach as far as they can; the others follow TLA+'s own order of operators,
except that those which TLA+ does not let mix are kept apart: ``/\\`` with ``\\/``, and
quotients with sums."""

_INFIX = {
    "add": ("+", SUM), "sub": ("-", SUM), "mul": ("*", PRODUCT),
    "eq": ("=", COMPARE), "ne": ("#", COMPARE),
    "and": ("/\\", AND), "or": ("\\/", OR),
}
_CALLS = {"min": "Min", "max": "Max", "len": "Len", "push": "Append", "pop": "Tail"}
_LONG = 50
"""A shared part with a text of more than this many characters gets a LET of its own."""


class Printer:
    """Prints the expressions of one model; ``used`` collects the helpers they need."""

    def __init__(
        self, names: Names, places: Mapping[str, Place], constants: Mapping[str, str]
    ) -> None:
        self.names = names
        self.places = places
        self.constants = constants
        self.used: set[str] = set()
        self.fields: dict[str, str] = {}
        self._lets: list[str] = []

    def block(self, *roots: Expr) -> Block:
        """Print expressions that stand together in one definition."""
        return Block(self, roots)

    def one(self, expr: Expr, needed: int = OPEN) -> str:
        """An expression that is printed by itself, as a bound or an initial value."""
        block = self.block(expr)
        return block.with_lets(block.text(expr, needed))

    def let_name(self, number: int) -> str:
        """The name of the LET with a number; blocks share the names."""
        while len(self._lets) <= number:
            self._lets.append(self.names.new(f"part_{len(self._lets) + 1}"))
        return self._lets[number]

    def field(self, name: str) -> str:
        """The name of a record's field; fields have a namespace of their own."""
        if name not in self.fields:
            self.fields[name] = Names().new(name)
        return self.fields[name]

    # --- sets of values ---------------------------------------------------------------------

    def set_of(self, type: SlotType) -> str:
        """The TLA+ set of the values of a type."""
        if isinstance(type, Bool):
            return "BOOLEAN"
        if isinstance(type, Int):
            if type.lo is None or type.hi is None:
                return "Int"
            return f"{self.one(type.lo, ATOM)}..{self.one(type.hi, ATOM)}"
        if isinstance(type, Record):
            fields = (f"{self.field(name)} : {self.set_of(of)}" for name, of in type.fields)
            return f"[{', '.join(fields)}]"
        self.used.add("BoundedSeq")
        return f"BoundedSeq({self.set_of(type.element)}, {self.one(type.capacity)})"


class Block:
    """The texts of expressions that share parts, and the LETs for long shared parts."""

    def __init__(self, printer: Printer, roots: tuple[Expr, ...]) -> None:
        self.printer = printer
        self.lets: list[str] = []
        self._texts: dict[Expr, Text] = {}
        nodes = list(walk(*roots))
        uses = Counter(child for node in nodes for child in node.operands)
        uses.update(roots)
        for node in nodes:
            self._texts[node] = self._shared(node, uses[node])

    def text(self, expr: Expr, needed: int = OPEN) -> str:
        """The text of an expression, in parentheses if it binds less than ``needed``."""
        return _wrap(self._texts[expr], needed)

    def with_lets(self, text: str) -> str:
        """A text of this block together with the LETs that it needs, on one line."""
        return f"(LET {' '.join(self.lets)} IN {text})" if self.lets else text

    def _shared(self, node: Expr, uses: int) -> Text:
        found = self._node(node)
        if uses < 2 or len(found[0]) <= _LONG:
            return found
        name = self.printer.let_name(len(self.lets))
        self.lets.append(f"{name} == {found[0]}")
        return name, ATOM

    def _node(self, node: Expr) -> Text:
        if isinstance(node, Lit):
            return _literal(node)
        if isinstance(node, ConstRef):
            return self.printer.constants[node.name], ATOM
        if isinstance(node, EmptyQueue):
            return "<<>>", ATOM
        if isinstance(node, Op):
            return self._op(node)
        assert isinstance(node, Read | ReadAfter)
        place = self.printer.places[node.slot]
        prime = "" if isinstance(node, Read) else "'"
        value = f"{place.variable.name}{prime}" + "".join(f"[{index}]" for index in place.path)
        return (value, ATOM) if place.member is None else (f"{place.member} \\in {value}", COMPARE)

    def _op(self, node: Op) -> Text:
        """An operation in TLA+, with how strongly it binds."""
        if node.op in ("lt", "le"):
            return self._order(node.op, *node.operands)
        if node.op == "add" and isinstance(node.operands[1], Lit):
            return self._sum(node, 0), SUM
        parts = [self._texts[child] for child in node.operands]
        if node.op in _INFIX:
            return _infix(node, parts)
        if node.op in _CALLS:
            self.printer.used.add(_CALLS[node.op])
            return f"{_CALLS[node.op]}({', '.join(text for text, _ in parts)})", ATOM
        if node.op in ("floordiv", "mod"):
            return self._division(node, parts)
        if node.op == "not":
            inner = node.operands[0]
            if isinstance(inner, Op) and inner.op in ("lt", "le"):
                return self._order("le" if inner.op == "lt" else "lt", *reversed(inner.operands))
            return f"~{_wrap(parts[0], ATOM)}", NOT
        if node.op == "neg":
            return f"(-{_wrap(parts[0], ATOM)})", ATOM
        if node.op == "ite":
            return _choice(node, parts)
        if node.op == "at":
            return self._element(node, parts)
        return self._record_op(node, parts)

    def _order(self, op: str, low: Expr, high: Expr) -> Text:
        """``low < high`` or ``low <= high``; a number stands on the right."""
        symbol = {"lt": "<", "le": "<="}[op]
        if op == "lt" and low is Lit(0) and isinstance(high, Op) and high.op == "len":
            return f"{self.text(high.operands[0], COMPARE + 1)} # <<>>", COMPARE
        if op == "le" and high is Lit(0) and isinstance(low, Op) and low.op == "len":
            return f"{self.text(low.operands[0], COMPARE + 1)} = <<>>", COMPARE
        if isinstance(low, Lit) and not isinstance(high, Lit):
            low, high, symbol = high, low, {"<": ">", "<=": ">="}[symbol]
        return f"{self.text(low, COMPARE + 1)} {symbol} {self.text(high, COMPARE + 1)}", COMPARE

    def _division(self, node: Op, parts: list[Text]) -> Text:
        # TLA+ defines its operators only for positive divisors; there they agree with Python
        divisor = node.operands[1]
        if isinstance(divisor, Lit) and divisor.value > 0:
            symbol = "\\div" if node.op == "floordiv" else "%"
            return f"{_wrap(parts[0], ATOM)} {symbol} {divisor.value}", QUOTIENT
        name = "FloorDiv" if node.op == "floordiv" else "Mod"
        self.printer.used.add(name)
        return f"{name}({parts[0][0]}, {parts[1][0]})", ATOM

    def _element(self, node: Op, parts: list[Text]) -> Text:
        queue, index = node.operands
        if index is Lit(0):
            return f"Head({parts[0][0]})", ATOM
        return f"{self.text(queue, ATOM)}[{self._sum(index, 1)}]", ATOM

    def _sum(self, expr: Expr, number: int) -> str:
        """An expression plus a number."""
        if isinstance(expr, Lit):
            return str(expr.value + number)
        while isinstance(expr, Op) and expr.op == "add":
            first, second = expr.operands
            if not isinstance(second, Lit):
                break
            expr, number = first, number + second.value
        text = self.text(expr, SUM)
        return text if number == 0 else f"{text} {'+' if number > 0 else '-'} {abs(number)}"

    def _record_op(self, node: Op, parts: list[Text]) -> Text:
        if node.op == "field":
            of = cast(Record, node.operands[0].type)
            name = self.printer.field(of.fields[node.extra][0])
            return f"{_wrap(parts[0], ATOM)}.{name}", ATOM
        assert node.op == "record", node.op
        fields = zip(cast(Record, node.type).fields, parts, strict=True)
        inside = (f"{self.printer.field(name)} |-> {text}" for (name, _), (text, _) in fields)
        return f"[{', '.join(inside)}]", ATOM


def _literal(node: Lit) -> Text:
    if isinstance(node.type, Bool):
        return ("TRUE" if node.value else "FALSE"), ATOM
    return (str(node.value) if node.value >= 0 else f"({node.value})"), ATOM


def _choice(node: Op, parts: list[Text]) -> Text:
    condition, then = (_wrap(part, OR) for part in parts[:2])
    if node.operands[1] is FALSE:
        return f"~{_wrap(parts[0], ATOM)} /\\ {_wrap(parts[2], NOT)}", AND
    if node.operands[2] is FALSE:
        return f"{_wrap(parts[0], NOT)} /\\ {_wrap(parts[1], NOT)}", AND
    return f"IF {condition} THEN {then} ELSE {parts[2][0]}", OPEN


def _infix(node: Op, parts: list[Text]) -> Text:
    symbol, strength = _INFIX[node.op]
    leftmost = strength if node.op in ("add", "sub") else strength + 1
    if node.op in ("and", "or"):
        leftmost = NOT  # so that neither stands inside the other without parentheses
    rest = max(leftmost, strength + 1)
    pieces = [_wrap(part, rest if index else leftmost) for index, part in enumerate(parts)]
    return f" {symbol} ".join(pieces), strength


def _wrap(part: Text, needed: int) -> str:
    text, strength = part
    return text if strength >= needed else f"({text})"
