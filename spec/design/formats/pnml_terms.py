"""The sorts, variables and terms of a symmetric net in PNML, as functions of a binding.

Elements are those of the grammars ``dots``, ``finiteenumerations``, ``cyclicenumerations``,
``finiteintranges``, ``partitions``, ``booleans``, ``multisets`` and ``terms`` (ISO/IEC 15909-2,
annex A). An element of another name is refused by that name, with its line.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ...nets.colours import (
    Atom,
    Condition,
    Sort,
    Term,
    added,
    all_of,
    always,
    any_of,
    compared,
    constant,
    every,
    less,
    negated,
    shifted,
    times,
    tupled,
    variable,
)
from .draft import refusal
from .pnml_nodes import attribute, inside
from .xml import Element

__all__ = ["Terms", "structure"]

COLOURS_MAX: Final = 200_000
"""Colours of a range or an enumeration."""
DOT: Final = Sort(())
_ORDERS: Final = {"ltp": "lessthan", "gtp": "greaterthan"} | {
    name: name for name in ("equality", "inequality", "lessthan", "lessthanorequal", "greaterthan",
                            "greaterthanorequal")}
"""The comparison that each element means."""


def structure(label: Element) -> Element | None:
    """The term in a label, which is in its <structure>; None if that is empty or missing."""
    inner = label.first("structure")
    return None if inner is None or not inner.children else inner.children[0]


class Terms:
    """The declarations of a net, by which its terms are read.

    All methods raise InputError for what is not declared or not read.
    """

    def __init__(self, top: Element, file: str) -> None:
        self.file = file
        self.declared: dict[str, Element] = {}
        """Sorts and partitions, by id."""
        self.sorts: dict[str, Sort] = {}
        self.constants: dict[str, tuple[str, int]] = {}
        """Constants of an enumeration: the id of its sort, and the number."""
        self.blocks: dict[str, tuple[str, int, Element]] = {}
        """Elements of partitions: the id of the partition, and the number."""
        self.numbers: dict[str, int] = {}
        self.variables: list[Element] = []
        for declaration in inside(top, "declaration"):
            content = structure(declaration)
            for each in content.children if content is not None else ():
                self._declare(each)

    def _declare(self, each: Element) -> None:
        id = attribute(each, "id", self.file)
        if each.tag == "variabledecl":
            self.numbers[id] = len(self.variables)
            self.variables.append(each)
        elif each.tag == "namedsort":
            self.declared[id] = each
            for kind in each.children:
                for at, part in enumerate(kind.all("feconstant")):
                    self.constants[attribute(part, "id", self.file)] = id, at
        elif each.tag == "partition":
            self.declared[id] = each
            for at, part in enumerate(each.all("partitionelement")):
                self.blocks[attribute(part, "id", self.file)] = id, at, part
        else:
            raise self._unread(each, "declaration")

    def _unread(self, element: Element, what: str) -> Exception:
        return refusal(self.file, element.spot, f"<{element.tag[:40]}> is a {what} that is not "
                       "read", "Unfold the net into a place/transition net with your tool.")

    def _mixed(self, element: Element) -> Exception:
        return refusal(self.file, element.spot, f"the parts of <{element.tag[:40]}> are of "
                       "different sorts, or of one that it has no meaning for",
                       "Give it terms of one sort.")

    # --- sorts ------------------------------------------------------------------------------------

    def sort(self, number: int) -> Sort:
        """The sort of a variable."""
        declared = self.variables[number]
        if not declared.children:
            raise self._unread(declared, "variable without a sort")
        return self._sort(declared.children[0])

    def sort_of_place(self, place: Element) -> Sort:
        """The sort of the colours that a place may hold."""
        label = place.first("type")
        term = None if label is None else structure(label)
        return DOT if term is None else self._sort(term)

    def _sort(self, element: Element, depth: int = 0) -> Sort:
        if element.tag == "dot":
            return DOT
        if element.tag == "bool":
            return Sort((Atom("bool", ("false", "true")),))
        if element.tag == "finiteintrange":
            return self._range(element)
        if element.tag == "productsort":
            return Sort(tuple(atom for each in element.children
                              for atom in self._sort(each, depth + 1).atoms))
        if element.tag == "multisetsort" and element.children:
            return self._sort(element.children[0], depth + 1)
        if element.tag != "usersort":
            raise self._unread(element, "sort")
        id = attribute(element, "declaration", self.file)
        if id not in self.sorts:
            if id not in self.declared or depth > 30:
                raise refusal(self.file, element.spot, f"there is no sort {id[:40]!r}",
                              "Declare it, not by itself.")
            self.sorts[id] = self._named(id, self.declared[id], depth)
        return self.sorts[id]

    def _named(self, id: str, declared: Element, depth: int) -> Sort:
        if declared.tag == "partition":
            names = [each.attributes.get("name", each.attributes["id"])
                     for each in declared.all("partitionelement")]
            return Sort((Atom(id, tuple(names)),))
        (kind,) = declared.children[:1] or (declared,)
        if kind.tag not in ("cyclicenumeration", "finiteenumeration"):
            return self._sort(kind, depth + 1)
        parts = list(kind.all("feconstant"))
        names = [each.attributes.get("name", "") for each in parts]
        if "" in names or len(set(names)) < len(names):
            names = [each.attributes["id"] for each in parts]
        if not 0 < len(names) <= COLOURS_MAX:
            raise refusal(self.file, kind.spot, f"the enumeration has {len(names):,} constants",
                          f"Give it 1 to {COLOURS_MAX:,}.")
        return Sort((Atom(id, tuple(names), kind.tag == "cyclicenumeration"),))

    def _range(self, element: Element) -> Sort:
        first, last = (self._number(element, key) for key in ("start", "end"))
        if not 0 <= last - first < COLOURS_MAX:
            raise refusal(self.file, element.spot, f"the range from {first} to {last} has "
                          f"{last - first + 1:,} numbers", f"Give it 1 to {COLOURS_MAX:,}.")
        return Sort((Atom("int", tuple(map(str, range(first, last + 1))), first=first),))

    def _number(self, element: Element, key: str) -> int:
        text = attribute(element, key, self.file).strip()
        if not text.lstrip("-").isdecimal() or len(text) > 18:
            raise refusal(self.file, element.spot, f"{key} is {text[:40]!r}", "Write a number.")
        return int(text)

    # --- terms ------------------------------------------------------------------------------------

    def inscription(self, arc: Element, sort: Sort) -> Term:
        """The term of an arc to or from a place of that sort."""
        return self._label(arc, "hlinscription", sort) or every(sort)

    def marking(self, place: Element, sort: Sort) -> Term | None:
        """The term of the first marking of a place, None if it is empty."""
        return self._label(place, "hlinitialMarking", sort)

    def _label(self, part: Element, name: str, sort: Sort) -> Term | None:
        label = part.first(name)
        term = None if label is None else structure(label)
        if term is None:
            plain = part.first("inscription" if name == "hlinscription" else "initialMarking")
            if name == "hlinscription" and sort != DOT or label is not None or plain is not None:
                raise refusal(self.file, (label or plain or part).spot, f"<{part.tag}> has no "
                              f"<structure> in its <{name}>", "Write its term there.")
            return None
        found = self._fitted(self._term(term, sort), sort)
        if found is None:
            raise refusal(self.file, term.spot, f"the term of this <{name}> is not of the sort of "
                          "the place", "Use colours of that sort.")
        return found

    def _fitted(self, term: Term, sort: Sort) -> Term | None:
        """The term as one of that sort; None if it is of another. The empty bag is of any."""
        if term.sort == sort:
            return term
        inner = term.colour
        if inner is None or term.variables or len(sort.atoms) != len(term.sort.atoms):
            return None
        colour = []  # constants of ranges are of the sort that is wanted
        for at, here, there in zip(inner({}), term.sort.atoms, sort.atoms, strict=True):
            number = at + here.first - there.first
            if here.key != there.key or not 0 <= number < len(there.names):
                return None
            colour.append(number)
        return constant(sort, tuple(colour))

    def _parts(self, element: Element) -> list[Element]:
        """The terms in the <subterm>s of an element."""
        return [each.children[0] for each in element.all("subterm") if each.children]

    def _term(self, element: Element, wanted: Sort) -> Term:
        """The term that an element is, where one of that sort is wanted."""
        make: Callable[[Element, Sort], Term] | None = getattr(self, f"_term_{element.tag}", None)
        if make is None:
            raise self._unread(element, "term")
        return make(element, wanted)

    def _term_variable(self, element: Element, _: Sort) -> Term:
        id = attribute(element, "refvariable", self.file)
        if id not in self.numbers:
            raise refusal(self.file, element.spot, f"there is no variable {id[:40]!r}",
                          "Declare it.")
        return variable(self.numbers[id], self.sort(self.numbers[id]))

    def _term_useroperator(self, element: Element, _: Sort) -> Term:
        id = attribute(element, "declaration", self.file)
        if id in self.constants:
            of, number = self.constants[id]
            return constant(self._by_id(of, element), (number,))
        if id in self.blocks:
            terms = [self._term(each, DOT) for each in self.blocks[id][2].children]
            return added(terms, terms[0].sort) if terms else added([], DOT)
        if id == "dot":  # the constant of dot, as one tool writes it
            return constant(DOT, ())
        raise refusal(self.file, element.spot, f"there is no constant {id[:40]!r}", "Declare it.")

    def _by_id(self, id: str, element: Element) -> Sort:
        return self._sort(Element("usersort", element.spot, {"declaration": id}))

    def _term_dotconstant(self, _element: Element, _: Sort) -> Term:
        return constant(DOT, ())

    def _term_finiteintrangeconstant(self, element: Element, _: Sort) -> Term:
        inner = element.first("finiteintrange")
        number = self._number(element, "value")
        sort = (Sort((Atom("int", (str(number),), first=number),)) if inner is None
                else self._range(inner))
        at = number - sort.atoms[0].first
        if not 0 <= at < sort.size:
            raise refusal(self.file, element.spot, f"{number} is not in its range",
                          "Write a number of the range.")
        return constant(sort, (at,))

    def _term_tuple(self, element: Element, wanted: Sort) -> Term:
        terms, left = [], wanted.atoms
        for each in self._parts(element):
            term = self._term(each, Sort(left[:1]))
            ours = Sort(left[:len(term.sort.atoms)])
            terms.append(self._fitted(term, ours) or term)
            left = left[len(term.sort.atoms):]
        return tupled(terms)

    def _term_successor(self, element: Element, wanted: Sort) -> Term:
        return self._step(element, wanted, 1)

    def _term_predecessor(self, element: Element, wanted: Sort) -> Term:
        return self._step(element, wanted, -1)

    def _step(self, element: Element, wanted: Sort, by: int) -> Term:
        (part,) = self._parts(element)[:1] or (element,)
        term = self._term(part, wanted)
        if term.colour is None or len(term.sort.atoms) != 1 or not term.sort.atoms[0].is_cyclic:
            raise refusal(self.file, element.spot, f"<{element.tag}> of what is no colour of a "
                          "cyclic enumeration", "Declare the sort as a <cyclicenumeration>.")
        return shifted(term, by)

    def _term_all(self, element: Element, wanted: Sort) -> Term:
        return every(self._sort(element.children[0]) if element.children else wanted)

    def _term_empty(self, _element: Element, wanted: Sort) -> Term:
        return added([], wanted)

    def _term_numberof(self, element: Element, wanted: Sort) -> Term:
        parts = self._parts(element)
        number = 1
        if len(parts) > 1:
            if parts[0].tag != "numberconstant":
                raise self._unread(parts[0], "number")
            number = self._number(parts.pop(0), "value")
        if len(parts) != 1 or number < 0:
            raise refusal(self.file, element.spot, f"<{element.tag}> has no number and one term",
                          "Write a <numberconstant> and a term.")
        term = self._term(parts[0], wanted)
        return times(number, self._fitted(term, wanted) or term)

    _term_scalarproduct = _term_numberof

    def _term_add(self, element: Element, wanted: Sort) -> Term:
        terms = self._alike(element, wanted)
        return added(terms, terms[0].sort)

    def _term_subtract(self, element: Element, wanted: Sort) -> Term:
        first, *others = self._alike(element, wanted)
        for each in others:
            first = less(first, each)
        return first

    def _alike(self, element: Element, wanted: Sort) -> list[Term]:
        terms = [self._term(each, wanted) for each in self._parts(element)]
        terms = [self._fitted(term, wanted) or term for term in terms]
        if not terms or any(term.sort != terms[0].sort for term in terms):
            raise self._mixed(element)
        return terms

    # --- conditions -------------------------------------------------------------------------------

    def condition(self, element: Element) -> Condition:
        """The condition that an element is."""
        tag = element.tag
        if tag in _ORDERS:
            return self._comparison(element)
        if tag == "booleanconstant":
            return always(attribute(element, "value", self.file).strip().lower() in ("true", "1"))
        if tag not in ("and", "or", "not", "imply"):
            raise self._unread(element, "condition")
        parts = [self.condition(each) for each in self._parts(element)]
        if not parts or (tag == "not" and len(parts) != 1) or (tag == "imply" and len(parts) != 2):
            raise refusal(self.file, element.spot, f"<{tag}> has {len(parts)} parts",
                          "Write its parts as <subterm>.")
        if tag == "imply":
            return any_of([negated(parts[0]), parts[1]])
        return (all_of(parts) if tag == "and" else any_of(parts) if tag == "or"
                else negated(parts[0]))

    def _comparison(self, element: Element) -> Condition:
        parts = self._parts(element)
        if len(parts) != 2:
            raise refusal(self.file, element.spot, f"<{element.tag}> has {len(parts)} parts",
                          "Write two terms as <subterm>.")
        first, second = (self._compared(each) for each in parts)
        first = self._fitted(first, second.sort) or first
        second = self._fitted(second, first.sort) or second
        how = _ORDERS[element.tag]
        kinds = [[atom.key for atom in term.sort.atoms] for term in (first, second)]
        ordered = how not in ("equality", "inequality")
        same = first.sort == second.sort or (len(kinds[0]) == 1 and kinds[0] == kinds[1] == ["int"])
        if first.colour is None or second.colour is None or not same or (
                ordered and len(kinds[0]) != 1):
            raise self._mixed(element)
        return compared(how, first, second)

    def _compared(self, element: Element) -> Term:
        """A term that is compared: the element of a partition is a colour here."""
        id = element.attributes.get("declaration", "")
        if element.tag == "useroperator" and id in self.blocks:
            of, number, _ = self.blocks[id]
            return constant(self._by_id(of, element), (number,))
        if element.tag != "partitionelementof":
            return self._term(element, DOT)
        of = attribute(element, "refpartition", self.file)
        numbers: dict[tuple[int, ...], int] = {}
        for id, (partition, number, _) in self.blocks.items():
            if partition == of:
                block = self._term_useroperator(Element("", element.spot, {"declaration": id}), DOT)
                numbers |= dict.fromkeys(block.bag({}), number)
        (part,) = self._parts(element)[:1] or (element,)
        inner = self._term(part, DOT)
        colour = inner.colour
        if colour is None or of not in self.declared or set(inner.sort.colours()) - set(numbers):
            raise self._mixed(element)
        return Term(self._by_id(of, element), inner.variables,
                    lambda binding: {(numbers[colour(binding)],): 1},
                    lambda binding: (numbers[colour(binding)],))
