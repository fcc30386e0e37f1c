"""Numbers that remember how they follow from parameters, and what was asked about them.

A design is read and translated by ordinary code that compares numbers and counts up to them. That
code is run on *symbols*: a symbol has a value, so every comparison has an answer, and a linear form
of the parameters of which it is the value. Each answer is noted. Wherever the parameters give the
same answers, the code does the same, and what it makes has the same linear forms in it: one run
speaks for all those values (concolic execution; Godefroid, Klarlund and Sen 1995 and 2005).

What no linear form can be kept of (a product of two symbols, a remainder, how often a loop is gone
round) makes a number of the symbol, and the note is that the form has just this value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

__all__ = [
    "Condition", "Form", "Notes", "Symbol", "form_of", "is_symbol", "told", "whole",
]

Relation = Literal[">=", "=", "!="]
_HOLDS: Final[Mapping[str, Callable[[int], bool]]] = {
    ">=": lambda value: value >= 0, "=": lambda value: value == 0, "!=": lambda value: value != 0,
}


@dataclass(frozen=True)
class Form:
    """A sum of parameters, each with its factor (never 0), and a constant."""

    factors: tuple[tuple[str, int], ...] = ()
    constant: int = 0

    @staticmethod
    def of(factors: Mapping[str, int], constant: int = 0) -> Form:
        """The form with these factors, in one order."""
        return Form(tuple(sorted((n, k) for n, k in factors.items() if k)), constant)

    def plus(self, other: Form, times: int = 1) -> Form:
        """This form and so many times the other."""
        found = dict(self.factors)
        for name, factor in other.factors:
            found[name] = found.get(name, 0) + times * factor
        return Form.of(found, self.constant + times * other.constant)

    def at(self, point: Mapping[str, int]) -> int:
        """Its value for these values of the parameters."""
        return sum(factor * point[name] for name, factor in self.factors) + self.constant

    def settled(self, fixed: Mapping[str, int]) -> Form:
        """The form with numbers in place of these parameters."""
        left = {name: factor for name, factor in self.factors if name not in fixed}
        known = sum(factor * fixed[name] for name, factor in self.factors if name in fixed)
        return Form.of(left, self.constant + known)

    @property
    def text(self) -> str:
        """The form in SMT-LIB; a parameter is the constant of its name."""
        parts = [f"(* {_number(factor)} |{name}|)" for name, factor in self.factors]
        return f"(+ {' '.join(parts)} {_number(self.constant)})" if parts else _number(
            self.constant)

    def __str__(self) -> str:
        parts = [f"{'-' * (factor == -1)}{name}" if abs(factor) == 1 else f"{factor}*{name}"
                 for name, factor in sorted(self.factors, key=lambda part: part[1] < 0)]
        if self.constant or not parts:
            parts.append(str(self.constant))
        return " + ".join(parts).replace("+ -", "- ")


@dataclass(frozen=True)
class Condition:
    """The condition that a form is 0 or more, is 0, or is not 0."""

    form: Form
    relation: Relation

    def holds(self, point: Mapping[str, int]) -> bool:
        """True if it is true for these values of the parameters."""
        return _HOLDS[self.relation](self.form.at(point))

    @property
    def text(self) -> str:
        """The condition in SMT-LIB."""
        if self.relation == "!=":
            return f"(not (= {self.form.text} 0))"
        return f"({self.relation} {self.form.text} 0)"


class Notes:
    """The questions that were asked about the symbols of one point, with the answers."""

    def __init__(self, point: Mapping[str, int]) -> None:
        self.point = dict(point)
        self.closed = False
        self._found: dict[Condition, None] = {}

    def symbols(self) -> dict[str, Any]:
        """A symbol for each parameter."""
        return {name: Symbol(Form.of({name: 1}), self) for name in self.point}

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """All that was noted, in its order."""
        return tuple(self._found)

    def note(self, form: Form, relation: Relation) -> bool:
        """True if a form is related to 0 so; the answer is noted."""
        answer = Condition(form, relation).holds(self.point)
        if not form.factors:
            return answer
        if self.closed:
            raise RuntimeError(f"something asked about {form} after its notes were closed")
        if relation == ">=" and not answer:
            form, relation = Form(constant=-1).plus(form, -1), ">="
        elif not answer:
            relation = "!=" if relation == "=" else "="
        self._found[Condition(form, relation)] = None
        return answer


class Symbol:
    """A number that is the value of a form; it can be used where a number can."""

    __slots__ = ("form", "notes")

    def __init__(self, form: Form, notes: Notes) -> None:
        self.form = form
        self.notes = notes

    # --- what stays a form -------------------------------------------------------------------

    def _sum(self, other: Any, times: int, own: int = 1) -> Any:
        right = form_of(other)
        if right is None:
            return NotImplemented
        return _made(Form().plus(self.form, own).plus(right, times), self.notes)

    def __add__(self, other: Any) -> Any:
        return self._sum(other, 1)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._sum(other, -1)

    def __rsub__(self, other: Any) -> Any:
        return self._sum(other, 1, -1)

    def __neg__(self) -> Any:
        return self._sum(0, 1, -1)

    def __mul__(self, other: Any) -> Any:
        if form_of(other) is None:
            return NotImplemented
        factor = int(other)
        return _made(Form().plus(self.form, factor), self.notes)

    __rmul__ = __mul__

    # --- what is asked and noted -------------------------------------------------------------

    def _asked(self, other: Any, relation: Relation, sign: int = 1, less: int = 0) -> Any:
        difference = self._sum(other, -sign, sign)
        if difference is NotImplemented:
            return NotImplemented
        form = form_of(difference)
        assert form is not None
        return self.notes.note(form.plus(Form(constant=-less)), relation)

    def __ge__(self, other: Any) -> Any:
        return self._asked(other, ">=")

    def __gt__(self, other: Any) -> Any:
        return self._asked(other, ">=", 1, 1)

    def __le__(self, other: Any) -> Any:
        return self._asked(other, ">=", -1)

    def __lt__(self, other: Any) -> Any:
        return self._asked(other, ">=", -1, 1)

    def __eq__(self, other: object) -> Any:
        return self._asked(other, "=")

    def __ne__(self, other: object) -> Any:
        found = self._asked(other, "=")
        return found if found is NotImplemented else not found

    def __bool__(self) -> bool:
        return not self.notes.note(self.form, "=")

    # --- what makes a number of it -----------------------------------------------------------

    def __int__(self) -> int:
        value = self.form.at(self.notes.point)
        self.notes.note(self.form.plus(Form(constant=-value)), "=")
        return value

    __index__ = __int__

    def __hash__(self) -> int:
        return hash(int(self))

    def __floordiv__(self, other: Any) -> int:
        return int(self) // int(other)

    def __rfloordiv__(self, other: Any) -> int:
        return int(other) // int(self)

    def __mod__(self, other: Any) -> int:
        return int(self) % int(other)

    def __rmod__(self, other: Any) -> int:
        return int(other) % int(self)

    def __str__(self) -> str:
        return str(self.form)

    __repr__ = __str__

    def __format__(self, how: str) -> str:
        return str(self.form)


def _made(form: Form, notes: Notes) -> Any:
    return Symbol(form, notes) if form.factors else form.constant


def form_of(value: Any) -> Form | None:
    """The form of a symbol or a whole number; None of anything else."""
    if isinstance(value, Symbol):
        return value.form
    return Form(constant=value) if isinstance(value, int) else None


def is_symbol(value: object) -> bool:
    """True if it is a symbol, where a type says that it is a number."""
    return isinstance(value, Symbol)


def whole(value: Any) -> Any:
    """A whole number from a file as one; a symbol stays what it is."""
    return value if isinstance(value, Symbol) else int(value)


def told(value: Any) -> str:
    """A number or a symbol in SMT-LIB."""
    return value.form.text if isinstance(value, Symbol) else _number(value)


def _number(value: int) -> str:
    return str(value) if value >= 0 else f"(- {-value})"
