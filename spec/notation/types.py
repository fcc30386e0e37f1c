"""Declarations: the constants and the typed, bounded state of a machine.

``const``, ``integer``, ``fifo`` and the others are written in a class body. At run time
they return small descriptions of the type; to a type checker they look like the values
that the attribute will hold on an instance, as in a dataclass. ``C = const(4)`` followed
by ``P = integer(0, C, init=C)`` therefore reads, runs and checks as it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import EnumMeta, IntEnum
from typing import Any, TypeVar, cast

from .errors import InputError
from .labels import brief

__all__ = [
    "Alike", "Array", "BoolDecl", "ChoiceDecl", "ConstDecl", "Decl", "Domain", "DomainLike",
    "Fifo", "FifoDecl", "IntDecl", "Pairs", "RecordDecl", "SetDecl", "Sym", "TableDecl", "alike",
    "array", "boolean", "checked_domain", "checked_table", "choice", "const", "domain_values",
    "each", "fifo", "integer", "is_whole", "member", "one_of", "pairs", "record", "subset",
    "table", "upto",
]

MOST_VALUES = 100_000
"""The most values of a domain: for each there is an element, or an instance of an action."""

T = TypeVar("T")
E = TypeVar("E", bound=IntEnum)


# --- arithmetic over constants, in declarations ---------------------------------------

class Sym:
    """An arithmetic expression over constants, as it stands in a declaration."""

    def __init__(self, op: str, args: tuple[Any, ...]) -> None:
        self.op = op
        self.args = args

    def __add__(self, other: Any) -> Sym: return Sym("add", (self, _bound(other)))
    def __radd__(self, other: Any) -> Sym: return Sym("add", (_bound(other), self))
    def __sub__(self, other: Any) -> Sym: return Sym("sub", (self, _bound(other)))
    def __rsub__(self, other: Any) -> Sym: return Sym("sub", (_bound(other), self))
    def __mul__(self, other: Any) -> Sym: return Sym("mul", (self, _bound(other)))
    def __rmul__(self, other: Any) -> Sym: return Sym("mul", (_bound(other), self))
    def __floordiv__(self, other: Any) -> Sym: return Sym("floordiv", (self, _bound(other)))


Bound = int | Sym


class ConstDecl(Sym):
    """A constant that a user can set; it gets its name from the class body."""

    def __init__(self, default: int, at_least: Bound, at_most: Bound | None) -> None:
        super().__init__("const", ())
        self.name = ""
        self.default = default
        self.at_least = at_least
        self.at_most = at_most

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name


class TableDecl(Sym):
    """A constant table: nested tuples of integers that a user can set."""

    def __init__(self, default: tuple[Any, ...]) -> None:
        super().__init__("table", ())
        self.name = ""
        self.default = default

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __len__(self) -> int:
        raise InputError("the size of a table is known only when it has its value",
                         next_step="Use size_of(table) in declarations.")


def const(default: int, *, at_least: int = 0, at_most: int | None = None) -> int:
    """Declare a constant with its default and the range in which it makes sense."""
    if not is_whole(default):
        raise InputError(f"the default of a constant is {brief(default)}, which is no whole "
                         "number", next_step="Write for example N = const(3).")
    return cast(int, ConstDecl(
        default, _bound(at_least), None if at_most is None else _bound(at_most)))


def table(default: tuple[Any, ...] = ()) -> tuple[Any, ...]:
    """Declare a constant table of (nested tuples of) integers."""
    checked_table(default)
    return cast("tuple[Any, ...]", TableDecl(default))


# --- finite domains ---------------------------------------------------------------------

@dataclass(frozen=True)
class Domain:
    """The integers ``0 .. size - 1``, where the size may depend on constants."""

    size: Bound | Callable[[Any], int]

    def __iter__(self) -> Iterator[int]:
        """The values, in an action or a rule, where the constants have values.

        Raises TypeError where the size is known only later.
        """
        if not isinstance(self.size, int):
            raise TypeError("a domain has values only where its constants have")
        return iter(range(self.size))


@dataclass(frozen=True, eq=False)
class Alike(Domain):
    """Members that differ in nothing but their numbers; see :func:`alike`. Each call makes
    another set, also where there are as many."""


@dataclass(frozen=True)
class Pairs(Domain):
    """The pairs of two domains' values: ``a * size of second + b``."""

    first: Domain
    second: Domain


DomainLike = Domain | type[IntEnum]


def checked_domain(of: Any) -> Any:
    """``of`` if it is a domain; InputError otherwise."""
    if isinstance(of, Domain) or (isinstance(of, EnumMeta) and issubclass(of, IntEnum)):
        return of
    raise InputError(f"{brief(of)} is not a domain", next_step="Give upto(n), one_of(table) or an "
                     "IntEnum with the members 0, 1, 2, …")


def is_whole(value: object) -> bool:
    """True if ``value`` is a whole number, which a truth value is not."""
    return isinstance(value, int) and not isinstance(value, bool)


def checked_table(value: Any) -> None:
    """Raise InputError unless ``value`` is a tuple of whole numbers or of such tuples."""
    if not isinstance(value, tuple):
        raise InputError(f"a table is {brief(value)}, which is no tuple",
                         next_step="Write nested tuples, as in table(((0, 1), (1, 0))).")
    for entry in value:
        if not is_whole(entry):
            checked_table(entry)


def _bound(value: Any) -> Any:
    if is_whole(value) or isinstance(value, Sym):
        return value
    raise InputError(f"{brief(value)} is not a whole number, nor an expression over constants",
                     next_step="Give one, as in integer(0, C - 1).")


def _element(value: Any) -> Any:
    """``value`` if it declares what a container holds; InputError otherwise."""
    if isinstance(value, Decl):
        return value
    raise InputError(f"{brief(value)} does not declare what an element is",
                     next_step="Give integer(…), boolean(), choice(…) or record(…).")


def _listed(values: Any) -> tuple[Any, ...]:
    if isinstance(values, tuple | list | set | frozenset | range):
        return tuple(values)
    raise InputError(f"init is {brief(values)}, which is no list of values",
                     next_step="Write for example init=(0, 1).")


def each(of_table: tuple[Any, ...]) -> int:
    """In the element of an array: the entry of a constant table at the element's own index."""
    _table_declared(of_table)
    return cast(int, Sym("each", (of_table,)))


def _table_declared(of: Any) -> None:
    if not isinstance(of, TableDecl):
        raise InputError(f"{brief(of)} is not a table of this machine",
                         next_step="Declare one in the class: T = table((1, 2)).")


def upto(size: int) -> Domain:
    """The domain ``0 .. size - 1``."""
    return Domain(_bound(size))


def alike(size: int) -> Domain:
    """The domain ``0 .. size - 1`` of members that are alike: threads, brokers, replicas.

    Renaming them, in a state and in the steps from it, gives a state and steps of the
    machine again. A search proves that before it uses it, and refuses a machine for which it is
    not true. Write it once in the class, under a name: ``Replica = alike(N)``.
    """
    return Alike(_bound(size))


def pairs(first: Domain, second: Domain) -> Domain:
    """The pairs of the values of two domains: (a, b) is ``a * size of second + b``."""
    for domain in (first, second):
        if not isinstance(checked_domain(domain), Domain) or callable(domain.size):
            raise InputError(f"{brief(domain)} is not a domain that has pairs",
                             next_step="Give upto(n), alike(n) or pairs(a, b).")
    return Pairs(_bound(Sym("mul", (first.size, second.size))), first, second)


def one_of(of_table: tuple[Any, ...]) -> Domain:
    """The row numbers of a constant table."""
    _table_declared(of_table)
    return Domain(Sym("size", (of_table,)))


def domain_values(domain: DomainLike, number: Callable[[Any], int]) -> list[int]:
    """The values of a domain; ``number`` gives the value of a symbolic bound.

    Members of an enumeration are returned as such (they are integers with a name).
    """
    if isinstance(domain, Domain):
        size = number(domain.size)
        if not 0 <= size <= MOST_VALUES:
            raise InputError(f"a domain has {brief(size)} values; it may have 0 to {MOST_VALUES:,}",
                             next_step="Bound the constants that its size depends on.")
        return list(range(size))
    members = list(domain)
    if [int(member) for member in members] != list(range(len(members))):
        raise InputError(
            f"the enumeration {domain.__name__} must number its members 0, 1, 2, …",
            next_step="Give the members consecutive values from 0.",
        )
    return list(members)


# --- declarations of state --------------------------------------------------------------

class Decl:
    """Base of the declarations of state variables and of what they contain."""


@dataclass(frozen=True)
class IntDecl(Decl):
    """An integer between two bounds, both included."""

    lo: Bound
    hi: Bound
    init: Bound | None
    of: Alike | None = None  # the set of which it numbers the members, if they are alike


@dataclass(frozen=True)
class BoolDecl(Decl):
    """The declaration of a truth value."""

    init: bool


@dataclass(frozen=True)
class ChoiceDecl(Decl):
    """A member of an enumeration, or a value of a finite domain."""

    domain: DomainLike
    init: int


@dataclass(frozen=True)
class RecordDecl(Decl):
    """A named tuple of bounded fields."""

    factory: type[Any]
    fields: tuple[tuple[str, Decl], ...]


@dataclass(frozen=True)
class FifoDecl(Decl):
    """A bounded first-in first-out sequence of integers, booleans, choices or records."""

    element: Decl
    capacity: Bound
    init: tuple[Any, ...] = ()


@dataclass(frozen=True)
class ArrayDecl(Decl):
    """One element for each value of a domain."""

    domain: DomainLike
    element: Decl


@dataclass(frozen=True)
class SetDecl(Decl):
    """A subset of a finite domain."""

    domain: DomainLike
    init: tuple[int, ...] = ()


def integer(lo: int, hi: int, init: int | None = None) -> int:
    """An integer in ``lo .. hi``; it starts as ``init``, or as ``lo`` where none is given."""
    return cast(int, IntDecl(
        _bound(lo), _bound(hi), None if init is None else _bound(init)))


def member(of: Domain) -> int:
    """A member of a set of alike ones, or nobody, which is the set's size; nobody at first."""
    if not isinstance(of, Alike):
        raise InputError(f"{brief(of)} is not a set of members that are alike",
                         next_step="Declare one in the class: Replica = alike(N).")
    size = _bound(of.size)
    return cast(int, IntDecl(0, size, size, of))


def boolean(init: bool = False) -> bool:
    """Declare a truth value, and how it starts."""
    if not isinstance(init, bool):
        raise InputError(f"a truth value cannot start as {brief(init)}",
                         next_step="Write boolean() or boolean(True).")
    return cast(bool, BoolDecl(init))


def choice(of: type[E], init: E | None = None) -> E:
    """A member of an enumeration; it starts as the first where none is given."""
    domain = checked_domain(of)
    if init is not None and not isinstance(init, int):
        raise InputError(f"a choice cannot start as {brief(init)}",
                         next_step="Give a member of its enumeration.")
    return cast(E, ChoiceDecl(domain, 0 if init is None else int(init)))


def record(of: Callable[..., T], **fields: Any) -> T:
    """A named tuple (``of``) with a declaration for each of its fields, in their order."""
    if not (isinstance(of, type) and getattr(of, "_fields", None) == tuple(fields)):
        raise InputError(
            f"the fields {', '.join(fields) or 'none'} are not those of {brief(of)}",
            next_step="Give a NamedTuple, and a declaration for each of its fields in their order.")
    for field in fields.values():
        _element(field)
    return cast(T, RecordDecl(cast("type[Any]", of), tuple(fields.items())))


def fifo(of: T, capacity: int, init: tuple[T, ...] = ()) -> Fifo[T]:
    """A bounded FIFO sequence of ``of``; empty at first unless ``init`` lists elements."""
    return cast("Fifo[T]", FifoDecl(_element(of), _bound(capacity), _listed(init)))


def array(over: DomainLike, of: T) -> Array[T]:
    """One ``of`` for each value of a domain."""
    return cast("Array[T]", ArrayDecl(checked_domain(over), _element(of)))


def subset(of: DomainLike, init: Sequence[int] = ()) -> set[int]:
    """A subset of a domain; empty at first unless ``init`` lists members."""
    members = _listed(init)
    if not all(isinstance(value, int) for value in members):
        raise InputError(f"init is {brief(init)}, and the members of a set are whole numbers",
                         next_step="Write for example init=(0, 1).")
    return cast("set[int]", SetDecl(checked_domain(of), tuple(map(int, members))))


# --- values that CPython works on -------------------------------------------------------

class Array(list[T]):
    """A fixed array, indexed by the values of its domain."""


class Fifo(list[T]):
    """A bounded FIFO sequence: ``push`` at the tail, ``pop`` from the head.

    A pop is also a guard: on an empty sequence the action is not enabled. A push to a full
    one is a fault of the machine.
    """

    __slots__ = ("capacity",)
    capacity: int

    def __init__(self, elements: Sequence[T], capacity: int) -> None:
        super().__init__(elements)
        self.capacity = capacity

    def push(self, element: T) -> None:
        """Append at the tail."""
        if len(self) >= self.capacity:
            raise Overflow(self.capacity)
        self.append(element)

    def pop(self) -> T:  # type: ignore[override]
        """Take the head away and return it."""
        if not self:
            raise Disabled(None, "")
        return super().pop(0)

    def __iter__(self) -> Iterator[T]:
        return super().__iter__()


class Disabled(Exception):
    """Raised inside an action with a guard that does not hold; the interpreter catches it.

    ``rule`` is the guard rule that the failing ``require`` cites, if it cites one.
    """

    def __init__(self, rule: Any, note: str) -> None:
        super().__init__(note)
        self.rule = rule


class Overflow(Exception):
    """Raised by a push to a full sequence; the interpreter turns it into a ModelFault."""

    def __init__(self, capacity: int) -> None:
        super().__init__(f"a push to a sequence that already holds its {capacity} elements")
