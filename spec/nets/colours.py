"""Coloured nets of finite sorts: colours, terms, and the bindings under which a transition fires.

A *sort* is finite: one colour (``dot``), an enumeration, a range of whole numbers, or a product of
these. A place of a coloured net holds a bag of colours of its sort. A transition has variables; a
*binding* gives each a colour of its sort, and where its condition holds the transition takes the
bags that the terms of its arcs are under that binding. So the net *unfolds* into a
place/transition net: a place for each place and colour, a transition for each transition and
binding (symmetric nets of ISO/IEC 15909-1).

Terms are functions of a binding, made by the functions below; ``bindings`` finds those for which a
condition holds, one variable after the other, and asks each conjunct as soon as it can.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from typing import Final

__all__ = [
    "Atom", "Bag", "Binding", "Colour", "Condition", "NegativeBag", "Sort", "Term", "added",
    "all_of", "always", "any_of", "bindings", "compared", "constant", "every", "less", "most",
    "negated", "shifted", "times", "tupled", "variable",
]

Colour = tuple[int, ...]
"""A colour: the number of each of its parts within its atom. That of ``dot`` has no part."""
Bag = dict[Colour, int]
"""Numbers of at least 1, by colour."""
Binding = dict[int, Colour]
"""The colours of variables, by their number."""

COMPARISONS: Final[dict[str, Callable[[Colour, Colour], bool]]] = {
    "equality": lambda a, b: a == b, "inequality": lambda a, b: a != b,
    "lessthan": lambda a, b: a < b, "lessthanorequal": lambda a, b: a <= b,
    "greaterthan": lambda a, b: a > b, "greaterthanorequal": lambda a, b: a >= b,
}


class NegativeBag(Exception):
    """A difference of bags of which the second has more of a colour than the first."""


@dataclass(frozen=True)
class Atom:
    """An enumeration or a range: its key, which no other has, the names of its colours in their
    order, whether the first comes after the last, and the number of the first in a range."""

    key: str
    names: tuple[str, ...]
    is_cyclic: bool = False
    first: int = 0


@dataclass(frozen=True)
class Sort:
    """A finite sort: a product of atoms; of none, ``dot``."""

    atoms: tuple[Atom, ...]

    @cached_property
    def size(self) -> int:
        """The number of colours."""
        return prod(len(atom.names) for atom in self.atoms)

    def colours(self) -> Iterator[Colour]:
        """All colours, in their order."""
        return product(*(range(len(atom.names)) for atom in self.atoms))

    def label(self, colour: Colour) -> str:
        """The names of the parts of a colour, with points between them; empty for that of dot."""
        return ".".join(atom.names[at] for atom, at in zip(self.atoms, colour, strict=True))


@dataclass(frozen=True)
class Term:
    """A term: the bag that it is under a binding; and the ``colour``, if it is always a single one.

    ``variable`` is the number of the variable that it is, if it is one, else -1.
    """

    sort: Sort
    variables: frozenset[int]
    bag: Callable[[Binding], Bag]
    colour: Callable[[Binding], Colour] | None = None
    variable: int = -1


@dataclass(frozen=True)
class Condition:
    """A condition of a binding. ``conjuncts`` are conditions that hold together iff it does;
    ``equates`` has two terms if it says that they are equal."""

    variables: frozenset[int]
    holds: Callable[[Binding], bool]
    conjuncts: tuple[Condition, ...] = ()
    equates: tuple[Term, Term] | None = None


def _single(sort: Sort, variables: frozenset[int], colour: Callable[[Binding], Colour],
            number: int = -1) -> Term:
    return Term(sort, variables, lambda binding: {colour(binding): 1}, colour, number)


def variable(number: int, sort: Sort) -> Term:
    """The colour of a variable."""
    return _single(sort, frozenset({number}), lambda binding: binding[number], number)


def constant(sort: Sort, colour: Colour) -> Term:
    """One colour, under each binding."""
    return _single(sort, frozenset(), lambda _: colour)


def every(sort: Sort) -> Term:
    """Each colour of a sort once."""
    return Term(sort, frozenset(), lambda _: dict.fromkeys(sort.colours(), 1))


def shifted(term: Term, by: int) -> Term:
    """The colour so many after that of a term, in the one cyclic enumeration of its sort."""
    (atom,) = term.sort.atoms
    inner, size = term.colour, len(atom.names)
    assert inner is not None
    return _single(term.sort, term.variables, lambda binding: ((inner(binding)[0] + by) % size,))


def tupled(terms: Sequence[Term]) -> Term:
    """The tuples of one colour of each term."""
    sort = Sort(tuple(atom for term in terms for atom in term.sort.atoms))
    variables = frozenset[int]().union(*(term.variables for term in terms))
    singles = [term.colour for term in terms if term.colour is not None]
    if len(singles) == len(terms):
        return _single(sort, variables, lambda binding: tuple(
            part for each in singles for part in each(binding)))
    return Term(sort, variables, lambda binding: _products([term.bag(binding) for term in terms]))


def _products(bags: Sequence[Bag]) -> Bag:
    found: Bag = {(): 1}
    for bag in bags:
        found = {first + second: n * m for first, n in found.items() for second, m in bag.items()}
    return found


def times(number: int, term: Term) -> Term:
    """The bag of a term, so many times."""
    return Term(term.sort, term.variables, lambda binding: {
        colour: number * n for colour, n in term.bag(binding).items()} if number else {})


def added(terms: Sequence[Term], sort: Sort) -> Term:
    """The sum of the bags of terms of a sort."""
    def bag(binding: Binding) -> Bag:
        found: Bag = {}
        for term in terms:
            for colour, n in term.bag(binding).items():
                found[colour] = found.get(colour, 0) + n
        return found

    return Term(sort, frozenset[int]().union(*(term.variables for term in terms)), bag)


def less(first: Term, second: Term) -> Term:
    """The bag of the first term without that of the second.

    Under a binding for which that is none, it raises NegativeBag.
    """
    def bag(binding: Binding) -> Bag:
        found = dict(first.bag(binding))
        for colour, n in second.bag(binding).items():
            left = found.get(colour, 0) - n
            if left < 0:
                raise NegativeBag
            found[colour] = left
        return {colour: n for colour, n in found.items() if n}

    return Term(first.sort, first.variables | second.variables, bag)


def compared(how: str, first: Term, second: Term) -> Condition:
    """A comparison of two colours of one sort, or of two ranges by their numbers; ``how`` is a word
    of COMPARISONS."""
    left, right, test = first.colour, second.colour, COMPARISONS[how]
    assert left is not None and right is not None
    shift = _shift(second.sort) - _shift(first.sort)
    same = shift == 0
    return Condition(
        first.variables | second.variables,
        (lambda binding: test(left(binding), right(binding))) if same else
        (lambda binding: test(left(binding), (right(binding)[0] + shift,))),
        equates=(first, second) if how == "equality" and first.sort == second.sort else None)


def _shift(sort: Sort) -> int:
    return sort.atoms[0].first if len(sort.atoms) == 1 else 0


def always(holds: bool) -> Condition:
    """A condition that holds under each binding, or under none."""
    return Condition(frozenset(), lambda _: holds)


def all_of(parts: Sequence[Condition]) -> Condition:
    """The condition that all of these hold."""
    return Condition(_together(parts), lambda binding: all(each.holds(binding) for each in parts),
                     tuple(inner for each in parts for inner in each.conjuncts or (each,)))


def any_of(parts: Sequence[Condition]) -> Condition:
    """The condition that one of these holds."""
    return Condition(_together(parts), lambda binding: any(each.holds(binding) for each in parts))


def negated(part: Condition) -> Condition:
    """The condition that this one does not hold."""
    return Condition(part.variables, lambda binding: not part.holds(binding))


def _together(parts: Sequence[Condition]) -> frozenset[int]:
    return frozenset[int]().union(*(each.variables for each in parts))


# --- bindings -------------------------------------------------------------------------------------

@dataclass
class _Step:
    """A variable that is bound, to the value of a term if an equation says so; and the conditions
    that can be asked then."""

    number: int
    sort: Sort
    value: Callable[[Binding], Colour] | None
    asked: list[Condition]


def _plan(sorts: dict[int, Sort], conjuncts: Sequence[Condition]) -> list[_Step]:
    """The order in which variables are bound: one that an equation gives, else one of the smallest
    sort."""
    steps: list[_Step] = []
    bound: set[int] = set()
    open_ones = [each for each in conjuncts if each.variables]
    while len(steps) < len(sorts):
        number, value = _given(sorts, bound, open_ones)
        if value is None:
            number = min(sorts.keys() - bound, key=lambda each: (sorts[each].size, each))
        bound.add(number)
        asked = [each for each in open_ones if each.variables <= bound]
        open_ones = [each for each in open_ones if not each.variables <= bound]
        steps.append(_Step(number, sorts[number], value, asked))
    return steps


def _given(
    sorts: dict[int, Sort], bound: set[int], conjuncts: Sequence[Condition]
) -> tuple[int, Callable[[Binding], Colour] | None]:
    """A variable that an equation gives a colour once those that are bound have theirs."""
    for each in conjuncts:
        for one, other in (each.equates, each.equates[::-1]) if each.equates else ():
            if one.variable in sorts and one.variable not in bound and other.variables <= bound:
                return one.variable, other.colour
    return -1, None


def most(sorts: dict[int, Sort]) -> int:
    """The number of all bindings of variables of these sorts, whatever the condition."""
    return prod(sort.size for sort in sorts.values())


def bindings(
    sorts: dict[int, Sort], condition: Condition, watch: Callable[[], object]
) -> Iterator[Binding]:
    """The bindings of variables of these sorts for which the condition holds; the same dictionary
    each time, with other colours. ``watch`` is called often, and may raise."""
    conjuncts = condition.conjuncts or (condition,)
    if not all(each.variables or each.holds({}) for each in conjuncts):
        return
    steps, binding = _plan(sorts, conjuncts), Binding()
    if not steps:
        yield binding
        return
    trails = [_values(steps[0], binding)]
    count = 0
    while trails:
        step = steps[len(trails) - 1]
        for colour in trails[-1]:
            count += 1
            if count % 256 == 0:
                watch()
            binding[step.number] = colour
            if all(each.holds(binding) for each in step.asked):
                break
        else:
            trails.pop()
            continue
        if len(trails) == len(steps):
            yield binding
        else:
            trails.append(_values(steps[len(trails)], binding))


def _values(step: _Step, binding: Binding) -> Iterator[Colour]:
    return step.sort.colours() if step.value is None else iter((step.value(binding),))
