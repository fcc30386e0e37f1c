"""Rules: what must be true of a machine, each with an id, a strength and a source."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Literal

from .errors import InputError
from .labels import brief
from .types import DomainLike, checked_domain

__all__ = [
    "CLAIM", "LIVENESS", "MUST", "SHOULD", "Kind", "Rule", "Strength", "always",
    "eventually_always", "guard_rule", "leads_to", "natural", "never_stuck", "seen_from_outside",
    "step",
]


class Strength(Enum):
    """The strength of a rule: binding in the sense of RFC 2119, or not at all.

    A claim is a sentence of a text that a right implementation does not keep: it stands in the book
    with its counterexample, and no implementation is asked to keep it.
    """

    MUST = "MUST"
    SHOULD = "SHOULD"
    CLAIM = "CLAIM"


MUST, SHOULD, CLAIM = Strength.MUST, Strength.SHOULD, Strength.CLAIM
Kind = Literal["always", "never stuck", "step", "leads to", "eventually always", "guard"]
LIVENESS: tuple[Kind, ...] = ("never stuck", "leads to", "eventually always")
"""The kinds of rules that ask for something to happen, and not for something to stay away."""


@dataclass(frozen=True)
class Rule:
    """One rule of the book.

    ``kind`` says how ``predicate`` (the method of the machine) is read:

    - *always*: true in every reachable state;
    - ``never stuck``: in a reachable state where no action is enabled, it must be true
      (it describes the states in which the machine may end);
    - *step*: called with the machine after the step as second argument, true of each step;
    - *leads to*: returns (premise, conclusion); whenever the premise holds, the conclusion
      holds then or later, in every weakly fair run;
    - *eventually always*: in every weakly fair run, from some point on always true;
    - *guard*: has no predicate of its own; the ``require`` lines that name it are it.

    ``progress``: it is, or is an observer's form of, one of the kinds that ask for something to
    happen (``LIVENESS``). Of other guards, ``progress.rules_of_progress`` says which do.
    """

    id: str
    strength: Strength
    statement: str
    source: str
    kind: Kind
    predicate: Callable[..., Any] | None = None
    over: tuple[tuple[str, DomainLike], ...] = ()
    progress: bool = False

    def __hash__(self) -> int:
        """By the id: sets of rules are made all the time, and two rules rarely share it."""
        return hash(self.id)

    @property
    def name(self) -> str:
        """The Python name of the predicate, or the id of a guard rule."""
        return self.predicate.__name__ if self.predicate is not None else self.id


type_of_decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def _decorator(kind: Kind) -> Callable[..., type_of_decorator]:
    def with_details(
        id: str, strength: Strength, statement: str, *, source: str, **over: DomainLike
    ) -> type_of_decorator:
        _checked(id, strength, statement, source)
        for domain in over.values():
            checked_domain(domain)

        def mark(predicate: Callable[..., Any]) -> Callable[..., Any]:
            rule = Rule(id, strength, statement, source, kind, predicate, tuple(over.items()),
                        kind in LIVENESS)
            predicate.__checkvalve_rule__ = rule  # type: ignore[attr-defined]
            return predicate
        return mark
    return with_details


def _checked(id: object, strength: object, statement: object, source: object) -> None:
    """Raise InputError unless a rule is declared with what it needs."""
    for name, value in (("id", id), ("statement", statement), ("source", source)):
        if not isinstance(value, str) or not value:
            raise InputError(f"the {name} of a rule is {brief(value)}, and must be a text",
                             next_step=_RULE_ADVICE)
    if not isinstance(strength, Strength):
        raise InputError(f"the strength of a rule is {brief(strength)}", next_step=_RULE_ADVICE)


_RULE_ADVICE = 'Write for example @always("A-1", MUST, "It stays small.", source="the manual").'

always = _decorator("always")
never_stuck = _decorator("never stuck")
step = _decorator("step")
leads_to = _decorator("leads to")
eventually_always = _decorator("eventually always")


def guard_rule(id: str, strength: Strength, statement: str, *, source: str) -> Rule:
    """A rule that ``require(condition, RULE)`` cites inside actions."""
    _checked(id, strength, statement, source)
    return Rule(id, strength, statement, source, "guard")


def natural(rule_id: str) -> list[tuple[int, str]]:
    """A key that sorts ids as people do: QUEUE-2 comes before QUEUE-10, STORM-I2 before I10."""
    parts = re.findall(r"\d+|\D+", rule_id)
    return [(int(part), "") if part.isdecimal() else (0, part) for part in parts]


def seen_from_outside(rules: Iterable[Rule], id: str) -> Rule:
    """The rule of that id as an observer's machine cites it in ``require``.

    It stays the same rule, written once; only how it is decided differs. Raises ``KeyError``
    if it is not among ``rules``.
    """
    found = {rule.id: rule for rule in rules}
    return replace(found[id], kind="guard", predicate=None, over=())
