"""Steps that need not be taken, since another way leads to the same state as soon.

Theory. Where actions a and b are both enabled in a state p and *commute*, p·b·a and p·a·b are
one state. A search that came to p·b by b may therefore leave out a, if it takes b in p·a. So
that it does not leave out both, actions have a *rank*, and only the one of lower rank is left
out: a after b, if rank(a) < rank(b).

Breadth first, that loses no state and no level. Let t be at depth d + 1, and s·a = t a step
that was left out because s was first reached by b from p, at depth d - 1. Then p·a is at depth
d (no less, for t is one step from it), and (p·a)·b = t is a step by an action of a higher
rank. If that one was left out too, the next has a still higher rank, and so on; as there are
finitely many actions, some step to t is taken. These are sleep sets (Godefroid, 1990), of
which one predecessor is remembered.

Guards are still asked of every action, so what is counted and what rules say of steps does not
depend on it. States and depths do not either, and traces are found by going back from a state
through all of its predecessors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import or_

from ...notation.expr import Expr, Lit, Op, Read, walk
from ...notation.model import LoweredAction, Model

__all__ = ["NOTHING", "Commuting", "constant_change"]


def constant_change(name: str, expr: Expr) -> int | None:
    """c where the update of a slot is ``slot + c`` with a literal c."""
    if not (isinstance(expr, Op) and expr.op in ("add", "sub")):
        return None
    a, b = expr.operands
    if isinstance(a, Lit) and expr.op == "add":
        a, b = b, a
    if isinstance(a, Read) and a.slot == name and isinstance(b, Lit):
        return b.value if expr.op == "add" else -b.value
    return None


@dataclass(frozen=True)
class _Effects:
    """The needs of an action, and its effects: ``adds`` by constant changes only."""

    reads: frozenset[str]
    sets: frozenset[str]
    adds: frozenset[str]

    @staticmethod
    def of(action: LoweredAction) -> _Effects:
        adds = {name for name, expr in action.updates.items()
                if constant_change(name, expr) is not None}
        rest = [expr for name, expr in action.updates.items() if name not in adds]
        reads = {node.slot for node in walk(action.guard, *rest) if isinstance(node, Read)}
        return _Effects(frozenset(reads), frozenset(action.updates.keys() - adds),
                        frozenset(adds))


@dataclass(frozen=True)
class Commuting:
    """The actions that may be left out: ``after[b]`` has the bit a set if a may be, in states first
    reached by b. ``start`` is an action after which nothing may be."""

    after: tuple[int, ...]
    start: int

    @property
    def skippable(self) -> int:
        """The actions that may be left out anywhere, as bits."""
        return reduce(or_, self.after, 0)

    @property
    def words(self) -> int:
        """The number of words that the bits of all actions take; 0 where nothing is ever left out.
        """
        return -(-len(self.after) // 64) if self.skippable else 0

    def table(self) -> list[int]:
        """The bits of ``after``, lowest first, in 64-bit words: so many for each action."""
        mask = (1 << 64) - 1
        return [after >> 64 * word & mask for after in self.after for word in range(self.words)]

    @staticmethod
    def of(model: Model, watch: Callable[[], None] = lambda: None) -> Commuting:
        """Look at what the actions of a model read and write."""
        effects = []
        for action in model.actions:
            watch()
            effects.append(_Effects.of(action))
        readers, setters, adders = (
            _by_slot([getattr(effect, kind) for effect in effects])
            for kind in ("reads", "sets", "adds"))
        order = sorted(range(len(effects)), key=_scattered)
        after = [0] * len(effects)
        lower = 0
        for place in order:
            effect, against = effects[place], 0
            for slot in effect.reads:
                against |= setters.get(slot, 0) | adders.get(slot, 0)
            for slot in effect.sets:
                against |= readers.get(slot, 0) | setters.get(slot, 0) | adders.get(slot, 0)
            for slot in effect.adds:
                against |= readers.get(slot, 0) | setters.get(slot, 0)
            after[place] = lower & ~against
            lower |= 1 << place
        return Commuting(tuple(after), order[0] if order else 0)


NOTHING = Commuting((), 0)


def _scattered(action: int) -> int:
    """The rank of an action: neighbours in the model, which are much alike, lie far apart."""
    return action * 0x9E37_79B1 % (1 << 32)


def _by_slot(kinds: list[frozenset[str]]) -> Mapping[str, int]:
    """For each slot, the actions that have it in their set, as bits."""
    found: dict[str, int] = {}
    for action, slots in enumerate(kinds):
        for slot in slots:
            found[slot] = found.get(slot, 0) | 1 << action
    return found
