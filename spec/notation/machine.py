"""Machines: typed, bounded state with named guarded actions and rules about it.

A chapter defines a class. CPython runs its methods as they stand (see
``checkvalve.spec.notation.interpreter``); the compiling engines read the source of the same
methods (see ``lower``). A variant is a subclass that overrides what differs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar, overload

from .errors import InputError, NotationError
from .labels import brief
from .rules import Rule
from .source import place_of_member
from .types import (
    ConstDecl, Decl, Disabled, Domain, DomainLike, Sym, TableDecl, checked_domain, checked_table,
    domain_values, is_whole,
)

__all__ = [
    "Action", "Machine", "action", "assume", "constant_value", "constants_of", "number",
    "require",
]

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Action:
    """A named step of a machine: ``function`` holds its guards and assignments.

    ``fair``: if it stays enabled it is eventually taken (weak fairness). ``internal``: an
    observer of an implementation does not see it. ``over``: its finite parameters.
    ``rests``: the step shows that the implementation is idle, or does not do what it was asked
    for; the rules that may refuse it are all that its guards cite, or those that are named here.
    """

    name: str
    function: Callable[..., None]
    fair: bool
    internal: bool
    over: tuple[tuple[str, DomainLike], ...]
    rests: bool | tuple[Rule, ...] = False


@overload
def action(function: F, /) -> F: ...
@overload
def action(
    *, fair: bool = False, internal: bool = False, rests: bool | tuple[Rule, ...] = False,
    **over: DomainLike,
) -> Callable[[F], F]: ...
def action(
    function: F | None = None, /, *, fair: bool = False, internal: bool = False,
    rests: bool | tuple[Rule, ...] = False, **over: DomainLike,
) -> F | Callable[[F], F]:
    """Mark a method as an action; ``over`` gives each parameter its finite domain. See ``Action``
    for what else is said of it."""
    for domain in over.values():
        checked_domain(domain)
    _check_rests(rests)

    def mark(method: F) -> F:
        found = Action(method.__name__, method, fair, internal, tuple(over.items()), rests)
        method.__checkvalve_action__ = found  # type: ignore[attr-defined]
        return method
    return mark if function is None else mark(function)


def _check_rests(rests: object) -> None:
    """Raise InputError where an action is given anything else than its option of that name."""
    named = isinstance(rests, tuple) and all(isinstance(rule, Rule) for rule in rests)
    if not (named or isinstance(rests, bool)):
        raise InputError(f"the option rests= of an action is {brief(rests)}",
                         next_step="Write rests=True, or rests=(RULE,) with its rules of progress; "
                                   "a parameter has another name.")


def assume(predicate: F) -> F:
    """Mark a method as something that the constants must satisfy, as in ``b <= C``."""
    predicate.__checkvalve_assume__ = True  # type: ignore[attr-defined]
    return predicate


def require(condition: object, rule: Rule | None = None) -> None:
    """A guard: the action is enabled only where ``condition`` holds.

    A ``rule`` that is cited makes the guard an obligation: an implementation that takes
    this step where the condition is false breaks that rule.
    """
    if not condition:
        raise Disabled(rule, "")


class Machine:
    """Base of all machines. An instance holds the constants and one state."""

    constants_declared: ClassVar[Mapping[str, ConstDecl | TableDecl]] = {}
    variables_declared: ClassVar[Mapping[str, Decl]] = {}
    actions_declared: ClassVar[Mapping[str, Action]] = {}
    rules_declared: ClassVar[tuple[Rule, ...]] = ()
    assumptions_declared: ClassVar[tuple[Callable[..., Any], ...]] = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        members = dict(_members(cls))
        cls.constants_declared = {
            name: value for name, value in members.items()
            if isinstance(value, ConstDecl | TableDecl)
        }
        _check_names(cls, members)
        cls.variables_declared = {
            name: value for name, value in members.items() if isinstance(value, Decl)
        }
        cls.actions_declared = {
            name: value.__checkvalve_action__ for name, value in members.items()
            if hasattr(value, "__checkvalve_action__")
        }
        cls.rules_declared = _rules(cls.__name__, members)
        cls.assumptions_declared = tuple(
            value for value in members.values() if hasattr(value, "__checkvalve_assume__")
        )


def _members(cls: type) -> Iterator[tuple[str, Any]]:
    """All class attributes, base first, each name once with the value that counts."""
    names: dict[str, None] = {}
    for base in reversed(cls.__mro__):
        for name in vars(base):
            names[name] = None
    for name in names:
        if not name.startswith("__") and hasattr(cls, name):
            yield name, getattr(cls, name)


def _check_names(machine: type[Machine], members: Mapping[str, Any]) -> None:
    """Raise InputError where a declaration uses a constant that is not one of this machine.

    It gets its name, by which a user sets it, from the class body.
    """
    for name, declared in machine.constants_declared.items():
        if declared.name != name:
            raise InputError(
                f"the constant {name} of {machine.__name__} is also called {declared.name}",
                place_of_member(machine, name), "Declare each constant by a const(…) of its own.")
    for name, member in members.items():
        for used in _constants_in(member):
            if machine.constants_declared.get(used.name) is None:
                what = (f"a constant called {used.name}" if used.name else
                        "a constant that is declared outside the class, or once more below")
                raise InputError(
                    f"{name} of {machine.__name__} uses {what}", place_of_member(machine, name),
                    "Declare each constant once, in the class: N = const(3).")


def _constants_in(member: Any) -> Iterator[ConstDecl | TableDecl]:
    """The constants that a member's declaration is written with."""
    if isinstance(member, ConstDecl | TableDecl):
        yield member
        if isinstance(member, ConstDecl):
            yield from _constants_in((member.at_least, member.at_most))
    elif isinstance(member, Sym):
        yield from _constants_in(member.args)
    elif isinstance(member, tuple):
        for part in member:
            yield from _constants_in(part)
    elif isinstance(member, Decl | Domain):
        yield from _constants_in(tuple(vars(member).values()))
    else:
        for mark in ("__checkvalve_action__", "__checkvalve_rule__"):
            if hasattr(member, mark):
                yield from _constants_in(getattr(member, mark).over)


def _rules(machine: str, members: Mapping[str, Any]) -> tuple[Rule, ...]:
    """The rules of a machine's members; NotationError where two of them have one id.

    An override has its base's name, so only the one that counts is among the members.
    """
    found: dict[str, Rule] = {}
    for value in members.values():
        rule = getattr(value, "__checkvalve_rule__", None)
        if isinstance(rule, Rule):
            first = found.setdefault(rule.id, rule)
            if first is not rule:
                raise _same_id(machine, first, rule)
    for value in members.values():
        if hasattr(value, "__checkvalve_action__") or _is_helper(value):
            for rule in _cited(value):
                first = found.setdefault(rule.id, rule)
                if first.statement != rule.statement:  # the same one may be cited and decided
                    raise _same_id(machine, first, rule, value)
    return tuple(found.values())


def _same_id(
    machine: str, first: Rule, second: Rule, citing: Callable[..., Any] | None = None
) -> NotationError:
    def place(function: Callable[..., Any] | None) -> str:
        code = getattr(function, "__code__", None)
        return "a guard" if code is None else f"{code.co_filename}:{code.co_firstlineno}"

    def told(rule: Rule) -> str:
        return rule.name if rule.predicate is not None else f"{rule.statement!r}"
    return NotationError(
        f"two rules of {machine} have the id {first.id}: {told(first)} "
        f"({place(first.predicate)}) and {told(second)}", place(citing or second.predicate),
        "Give each rule an id of its own; a variant overrides a rule by a method of its name.",
    )


def _is_helper(value: Any) -> bool:
    return callable(value) and hasattr(value, "__code__") and hasattr(value, "__globals__")


def _cited(function: Any) -> Iterator[Rule]:
    """Guard rules that a function names."""
    for name in function.__code__.co_names:
        value = function.__globals__.get(name)
        if isinstance(value, Rule):
            yield value
    for cell in function.__closure__ or ():
        if isinstance(cell.cell_contents, Rule):
            yield cell.cell_contents


# --- constants ---------------------------------------------------------------------------

_ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "floordiv": lambda a, b: a // b,
}


def constant_value(decl: ConstDecl | TableDecl, constants: Mapping[str, Any]) -> Any:
    """The value of a constant; InputError for one that no machine declares."""
    if decl.name not in constants:
        raise InputError(
            f"a declaration uses the constant {decl.name or 'const(…)'}, which is not one of its "
            "machine's", next_step="Declare the constant in the class, above its first use.")
    return constants[decl.name]


def number(value: Any, constants: Mapping[str, Any]) -> Any:
    """The value of a declaration's expression under given constants (an int or a table)."""
    if isinstance(value, ConstDecl | TableDecl):
        return constant_value(value, constants)
    if not isinstance(value, Sym):
        return value
    operands = [number(argument, constants) for argument in value.args]
    if value.op == "each":
        raise InputError("each(…) stands where there is no element of an array",
                         next_step="Use it in the element: array(one_of(T), integer(0, each(T))).")
    if value.op == "size":
        return len(operands[0])
    if value.op == "floordiv" and operands[1] == 0:
        raise InputError("a declaration divides by zero",
                         next_step="Bound the constant that it divides by: const(1, at_least=1).")
    return _ARITHMETIC[value.op](*operands)


def constants_of(machine: type[Machine], given: Mapping[str, Any]) -> dict[str, Any]:
    """The machine's constants: what is given, checked, over the defaults.

    Raises InputError for an unknown name or a value outside the declared range.
    """
    declared = machine.constants_declared
    unknown = sorted(set(given) - set(declared))
    if unknown:
        raise InputError(
            f"the machine {machine.__name__} has no constant {', '.join(unknown)}",
            next_step=f"Its constants are {', '.join(declared) or 'none'}.",
        )
    values = {name: given.get(name, decl.default) for name, decl in declared.items()}
    for name, decl in declared.items():
        if isinstance(decl, ConstDecl) and not is_whole(values[name]):
            raise InputError(
                f"the constant {name} of {machine.__name__} is {brief(values[name])}, which is no "
                "whole number", next_step=f"Give {name} a whole number.")
        if isinstance(decl, TableDecl):
            checked_table(values[name])
    for name, decl in declared.items():
        if isinstance(decl, ConstDecl):
            _check_range(machine, name, decl, values)
    return values


def _check_range(
    machine: type[Machine], name: str, decl: ConstDecl, values: Mapping[str, Any]
) -> None:
    value = values[name]
    low = number(decl.at_least, values)
    high = None if decl.at_most is None else number(decl.at_most, values)
    fits = value >= low and (high is None or value <= high)
    if not fits:
        allowed = f"at least {brief(low)}" + ("" if high is None else f" and at most {brief(high)}")
        raise InputError(
            f"the constant {name} of {machine.__name__} is {brief(value)}, but must be {allowed}",
            place_of_member(machine, name) if value == decl.default else "",
            next_step=f"Give {name} a whole number in that range.",
        )


def values_of(domain: DomainLike, constants: Mapping[str, Any]) -> list[int]:
    """The values of a domain under given constants. Raises InputError where a proof has left one
    of them without a value."""
    def size(bound: Any) -> int:
        for used in _constants_in(bound):
            if not isinstance(constants.get(used.name), int | tuple):
                raise InputError(
                    f"a domain's size depends on {used.name}, to which a proof gives no value",
                    next_step=f"Take {used.name} out of for_all, and give it values in the grid.")
        return int(number(bound, constants))
    return domain_values(domain, size)


def domain_names(domain: DomainLike) -> tuple[str, ...]:
    """The names of an enumeration's members in lower case, or nothing for plain numbers."""
    return () if isinstance(domain, Domain) else tuple(m.name.lower() for m in domain)
