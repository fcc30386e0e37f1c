"""The effect of a row of steps on a machine, from all states in which it may begin, at once.

Theory. Let each action's guard be a *box*, one interval for each variable that is a number, and let
each variable after it be a number, or one variable before it, added to something, perhaps with its
sign changed, and kept within bounds: min(hi, max(lo, s x + a)). Two such steps one after the other
are such a step again. So a row of steps, however long, is a box of first states from which all of
them are taken, and a few numbers for each variable; and rows that follow each other are composed,
in whatever order that is done. Variables that are true or false are *modes*: there is a map for
each.

Nothing here is said of a machine: maps are derived from its actions, lowered. An expression that is
not of this form, or not for sure, is refused (``NotJumping``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from ..notation.bound import BoundMachine
from ..notation.expr import Bool, Expr, Int, Lit, Op, Read
from ..notation.lower import lower_open
from ..notation.model import OpenAction

if TYPE_CHECKING:
    import numpy as np

    Numbers = np.ndarray[Any, np.dtype[np.int64]]

__all__ = ["Jumps", "NotJumping", "composed"]

_FAR: Final = 1 << 60
_MODES_MAX: Final = 4

_TO, _DL, _DH, _SRC, _SIGN, _ADD, _LO, _HI = range(8)
"""The rows of a map, for each first mode and variable: the mode after it (of the first variable);
the interval of the variable before; of the variable after, which one it was before, its sign, what
is added, and its bounds."""


_AT_ONCE: Final = 16
"""Steps that are composed one after the other; the rows of them all at a time."""


class NotJumping(Exception):
    """A step is not of the form that can be composed."""


@dataclass
class _Number:
    """By argument, clamp(sign * variable + add, lo, hi); a constant has no variable: lo is hi."""

    variable: int | None
    sign: Any
    add: Any
    lo: Any
    hi: Any


@dataclass
class _Box:
    """By variable and argument, the interval in which it is true."""

    lo: Numbers
    hi: Numbers


class Jumps:
    """The maps of a machine, for some of its actions: an array with the rows above, by mode, by
    variable, and by map. A state is its mode, and the values of its variables. Raises
    ``NotJumping``, and NotationError for what the notation does not have."""

    def __init__(self, bound: BoundMachine, actions: Sequence[str]) -> None:
        model, found = lower_open(bound.machine, bound.constants, dict.fromkeys(actions))
        self._bound = bound
        self.actions: Mapping[str, OpenAction] = found
        changed = {name for action in found.values() for name in action.updates}
        slots = [slot for slot in model.slots if slot.name in changed]
        if any(not isinstance(slot.type, Int | Bool) for slot in slots):
            raise NotJumping
        self._numbers = [slot.name for slot in slots if isinstance(slot.type, Int)]
        self._truths = [slot.name for slot in slots if isinstance(slot.type, Bool)]
        if not self._numbers or 1 << len(self._truths) > _MODES_MAX:
            raise NotJumping
        self.ranges = [(self._known(slot.type.lo), self._known(slot.type.hi)) for slot in slots
                       if isinstance(slot.type, Int)]
        self.modes = list(product((0, 1), repeat=len(self._truths)))
        interpreter = bound.interpreter
        self._first = dict(interpreter.slots(interpreter.layout.initial()))

    def _known(self, expr: Expr | None) -> int:
        if not isinstance(expr, Lit):
            raise NotJumping
        return expr.value

    # --- states --------------------------------------------------------------------------------

    def initial(self) -> tuple[int, ...]:
        """The state of the beginning: its mode, and its variables."""
        mode = tuple(int(cast("int", self._first[name])) for name in self._truths)
        return (self.modes.index(mode), *(int(cast("int", self._first[name]))
                                           for name in self._numbers))

    def slots(self, state: Sequence[int]) -> dict[str, Any]:
        """The values of the machine's slots in a state."""
        truths = dict(zip(self._truths, map(bool, self.modes[state[0]]), strict=True))
        return {**self._first, **truths, **dict(zip(self._numbers, state[1:], strict=True))}

    def after(self, jump: Numbers, state: Sequence[int]) -> tuple[int, ...] | None:
        """The state after a map (without the axis of maps); None where a step of it is refused."""
        here = jump[:, state[0]]
        values = state[1:]
        if any(not here[_DL, at] <= value <= here[_DH, at] for at, value in enumerate(values)):
            return None
        return (int(here[_TO, 0]), *(
            int(min(max(here[_SIGN, at] * values[here[_SRC, at]] + here[_ADD, at], here[_LO, at]),
                    here[_HI, at])) for at in range(len(values))))

    def after_each(self, jumps: Numbers, states: Numbers) -> tuple[Numbers, Any]:
        """The state after each of many maps, from a state of its own (one a row), and whether all
        steps of the map are taken from there; what is refused has no state."""
        import numpy as np

        here = jumps[:, states[:, 0], :, np.arange(len(states))]     # by state, row, variable
        values = states[:, 1:]
        are_taken = ((here[:, _DL] <= values) & (values <= here[:, _DH])).all(axis=1)
        source = np.take_along_axis(values, here[:, _SRC], axis=1)
        after = np.minimum(np.maximum(here[:, _SIGN] * source + here[:, _ADD], here[:, _LO]),
                           here[:, _HI])
        return np.column_stack([here[:, _TO, 0], after]), are_taken

    def state_of(self, slots: Mapping[str, Any]) -> tuple[int, ...]:
        """The state with some values of the machine's slots."""
        mode = tuple(int(slots[name]) for name in self._truths)
        return (self.modes.index(mode), *(int(slots[name]) for name in self._numbers))

    def end(self, jump: Numbers) -> tuple[int, ...] | None:
        """The state after a map (without the axis of maps) that is the same one from wherever all
        its steps are taken; None where that depends on the first state, or there is none."""
        taken = (jump[_DL] <= jump[_DH]).all(axis=1)
        states = {(int(here[_TO, 0]), *here[_LO].tolist())
                  for here in (jump[:, mode] for mode in taken.nonzero()[0])}
        is_one = len(states) == 1 and bool((jump[_LO, taken] == jump[_HI, taken]).all())
        return states.pop() if is_one else None

    def leading(self, jump: Numbers, state: Sequence[int]) -> Numbers:
        """The map that is taken from where another one is, and leads to a state from there."""
        found = jump.copy()
        found[_TO], found[_LO], found[_HI] = state[0], state[1:], state[1:]
        return found

    def refused(self, jump: Numbers) -> Numbers:
        """The map that is taken from nowhere."""
        found = jump.copy()
        found[_DL], found[_DH] = _FAR, -_FAR
        return found

    # --- maps ----------------------------------------------------------------------------------

    def none(self) -> Numbers:
        """The map of no steps at all, as one of many."""
        import numpy as np

        found = np.zeros((8, len(self.modes), len(self._numbers), 1), np.int64)
        for mode in range(len(self.modes)):
            for at, (lo, hi) in enumerate(self.ranges):
                found[:, mode, at, 0] = (mode, lo, hi, at, 1, 0, lo, hi)
        return found

    def of(self, action: str, args: Mapping[str, Numbers], size: int) -> Numbers:
        """The maps of an action with each of ``size`` arguments."""
        import numpy as np

        found = np.empty((8, len(self.modes), len(self._numbers), size), np.int64)
        for number, mode in enumerate(self.modes):
            reading = _Reading(self, self.actions[action], mode, args, size)
            found[:, number] = reading.jump(self.modes)
        return found

    def folded(self, jumps: Numbers, which: Numbers, starts: Numbers, sizes: Numbers) -> Numbers:
        """The composed map of each of some rows of steps, which begin at ``starts`` and have
        ``sizes`` of one or more; ``which`` of the maps each step is."""
        import numpy as np

        while sizes.max() > 1 and (jumps.shape[-1] + 1) ** 2 <= min(_PAIRS_MAX, len(which)):
            jumps, which, starts, sizes = self._in_pairs(jumps, which, starts, sizes)
        while True:
            shape = _shape(jumps, self.ranges)
            parts = -(-sizes // _AT_ONCE)
            whose = np.repeat(np.arange(len(sizes)), parts)
            inner = np.arange(len(whose)) - np.repeat(np.cumsum(parts) - parts, parts)
            start = starts[whose] + inner * _AT_ONCE
            size = np.minimum(sizes[whose] - inner * _AT_ONCE, _AT_ONCE)
            order = np.argsort(-size, kind="stable")
            start, size = start[order], size[order]
            found = jumps[..., which[start]]
            for step in range(1, int(size[0])):
                many = int(np.searchsorted(-size, -step))
                found[..., :many] = composed(
                    found[..., :many], jumps[..., which[start[:many] + step]], shape)
            jumps = np.empty_like(found)
            jumps[..., order] = found
            if len(whose) == len(sizes):
                return jumps
            which, starts, sizes = np.arange(len(whose)), np.cumsum(parts) - parts, parts


    def _in_pairs(self, jumps: Numbers, which: Numbers, starts: Numbers, sizes: Numbers
                  ) -> tuple[Numbers, Numbers, Numbers, Numbers]:
        """The same rows of steps, two of each as one: few maps have few pairs."""
        import numpy as np

        many = jumps.shape[-1] + 1
        jumps = np.concatenate([jumps, self.none()], axis=-1)
        halves = (sizes + 1) // 2
        after = np.cumsum(halves)
        inner = np.arange(int(after[-1])) - np.repeat(after - halves, halves)
        place = np.repeat(starts, halves) + 2 * inner
        is_last = 2 * inner + 1 == np.repeat(sizes, halves)
        second = np.where(is_last, many - 1, which[np.where(is_last, place, place + 1)])
        codes = which[place] * many + second
        there = np.flatnonzero(np.bincount(codes, minlength=many * many))
        number = np.zeros(many * many, np.int64)
        number[there] = np.arange(len(there))
        first, then = np.divmod(there, many)
        pairs = composed(jumps[..., first], jumps[..., then], _shape(jumps, self.ranges))
        return pairs, number[codes], after - halves, halves


_PAIRS_MAX: Final = 1 << 17
"""Pairs that there may be, for each to be composed once: beyond, most are different ones."""

class _Shape(NamedTuple):
    """The common part of some maps: by variable, which one it was before (None: not always
    the same one), and whether the map is taken for some of its values only."""

    sources: Sequence[int | None]
    bounded: Sequence[bool]


def _shape(jumps: Numbers, ranges: Sequence[tuple[int, int]]) -> _Shape:
    sources: list[int | None] = []
    for at in range(len(ranges)):
        source = int(jumps[_SRC, 0, at, 0])
        sources.append(source if bool((jumps[_SRC, :, at] == source).all()) else None)
    return _Shape(sources, [
        bool((jumps[_DL, :, at] > low).any() or (jumps[_DH, :, at] < high).any())
        for at, (low, high) in enumerate(ranges)])


def composed(first: Numbers, then: Numbers, shape: _Shape | None = None) -> Numbers:
    """The maps of two rows of steps, one after the other; ``shape`` is that of the second ones."""
    import numpy as np

    _, modes, many, _ = first.shape
    found = np.empty_like(first)
    for mode in range(modes):
        f = first[:, mode]
        g = then[:, 0] if modes == 1 else np.choose(f[_TO, 0], [then[:, k] for k in range(modes)])
        out = found[:, mode]
        out[_TO], out[_DL], out[_DH] = g[_TO], f[_DL], f[_DH]
        for at in range(many):
            if shape is None or shape.bounded[at]:
                _pulls_back(out, f[:, at], g[_DL, at], g[_DH, at])
            source = 0 if many == 1 else None if shape is None else shape.sources[at]
            inner = f[_SRC:, source] if source is not None else np.choose(
                g[_SRC, at], [f[_SRC:, k] for k in range(many)])
            _, sign, add, least, most = g[_SRC:, at]
            one, other = sign * inner[_LO - _SRC] + add, sign * inner[_HI - _SRC] + add
            low = np.minimum(np.maximum(np.minimum(one, other), least), most)
            high = np.minimum(np.maximum(np.maximum(one, other), least), most)
            out[_SRC, at] = inner[0]
            out[_SIGN, at] = sign * inner[_SIGN - _SRC]
            out[_ADD, at] = (sign * inner[_ADD - _SRC] + add) * (low < high)
            out[_LO, at], out[_HI, at] = low, high
    return found


def _pulls_back(out: Numbers, f: Numbers, low: Numbers, high: Numbers) -> None:
    """Narrow the box of a map to where a variable after it is within an interval."""
    import numpy as np

    least = np.where(f[_LO] >= low, -_FAR, low - f[_ADD])
    most = np.where(f[_HI] <= high, _FAR, high - f[_ADD])
    negative = f[_SIGN] < 0
    if negative.any():
        least, most = np.where(negative, -most, least), np.where(negative, -least, most)
    least = np.where((f[_HI] < low) | (f[_LO] > high), _FAR, least)
    for variable in range(out.shape[1]):
        mine = f[_SRC] == variable
        if mine.all():
            out[_DL, variable] = np.maximum(out[_DL, variable], least)
            out[_DH, variable] = np.minimum(out[_DH, variable], most)
            return
        out[_DL, variable] = np.maximum(out[_DL, variable], np.where(mine, least, -_FAR))
        out[_DH, variable] = np.minimum(out[_DH, variable], np.where(mine, most, _FAR))


class _Reading:
    """Reads the expressions of an action in a mode, for many arguments at a time."""

    def __init__(self, jumps: Jumps, action: OpenAction, mode: Sequence[int],
                 args: Mapping[str, Numbers], size: int) -> None:
        import numpy as np

        self._jumps, self._action, self._mode, self._size = jumps, action, mode, size
        self._args = {action.parameters[name]: value for name, value in args.items()}
        lows, highs = zip(*jumps.ranges, strict=True)
        self._low = np.repeat(np.array(lows, np.int64)[:, None], size, axis=1)
        self._high = np.repeat(np.array(highs, np.int64)[:, None], size, axis=1)

    def jump(self, modes: Sequence[Sequence[int]]) -> Numbers:
        """The maps of the action."""
        import numpy as np

        box = self._truth(self._action.guard)
        for fault in self._action.faults:
            box = self._both(box, self._not(self._truth(fault.condition)))
        numbers, truths = self._jumps._numbers, self._jumps._truths
        found = np.empty((8, len(numbers), self._size), np.int64)
        to = np.zeros(self._size, np.int64)
        for name, before in zip(truths, self._mode, strict=True):
            update = self._action.updates.get(name)
            now = np.full(self._size, before) if update is None else self._known(
                self._truth(update))
            to = 2 * to + now
        found[_TO] = to
        found[_DL], found[_DH] = box.lo, box.hi
        for at, name in enumerate(numbers):
            update = self._action.updates.get(name)
            each = (self._number(update) if update is not None
                    else _Number(at, 1, 0, self._low[at], self._high[at]))
            source = at if each.variable is None else each.variable
            ends = [np.clip(each.sign * end[source] + each.add, each.lo, each.hi)
                    for end in (box.lo, box.hi)]
            low, high = np.minimum(*ends), np.maximum(*ends)
            found[_SRC, at], found[_SIGN, at] = source, each.sign
            found[_ADD, at] = np.where(low < high, each.add, 0)
            found[_LO, at], found[_HI, at] = low, high
        return found

    def _known(self, box: _Box) -> Numbers:
        """A truth that depends on no variable. Raises ``NotJumping``."""
        import numpy as np

        full, empty = self._is_full(box), _is_empty(box)
        if not (full | empty).all():
            raise NotJumping
        found: Numbers = np.where(full, 1, 0)
        return found

    # --- numbers -------------------------------------------------------------------------------

    def _number(self, expr: Expr) -> _Number:
        import numpy as np

        if expr in self._args:
            return self._constant(self._args[expr])
        if isinstance(expr, Lit):
            return self._constant(np.full(self._size, expr.value))
        if isinstance(expr, Read):
            if expr.slot in self._jumps._numbers:
                at = self._jumps._numbers.index(expr.slot)
                return _Number(at, 1, 0, self._low[at], self._high[at])
            return self._constant(np.full(self._size, int(cast(
                "int", self._jumps._first[expr.slot]))))
        if not isinstance(expr, Op):
            raise NotJumping
        parts = [self._number(each) for each in expr.operands]
        if expr.op == "neg":
            return self._minus(parts[0])
        if expr.op not in ("add", "sub", "min", "max") or len(parts) != 2:
            raise NotJumping
        one, other = parts
        if expr.op == "sub":
            other = self._minus(other)
        if one.variable is None:
            one, other = other, one
        if other.variable is not None:
            raise NotJumping
        by = other.lo
        if expr.op in ("add", "sub"):
            return _Number(one.variable, one.sign, one.add + by * (one.variable is not None),
                           one.lo + by, one.hi + by)
        bounds = np.minimum if expr.op == "min" else np.maximum
        return _Number(one.variable, one.sign, one.add, bounds(one.lo, by), bounds(one.hi, by))

    def _constant(self, value: Numbers) -> _Number:
        return _Number(None, 1, 0, value, value)

    def _minus(self, one: _Number) -> _Number:
        return _Number(one.variable, -one.sign if one.variable is not None else 1, -one.add,
                       -one.hi, -one.lo)

    # --- truths --------------------------------------------------------------------------------

    def _truth(self, expr: Expr) -> _Box:
        import numpy as np

        if isinstance(expr, Lit):
            return self._all(np.full(self._size, bool(expr.value)))
        if isinstance(expr, Read):
            truths = self._jumps._truths
            value = (self._mode[truths.index(expr.slot)] if expr.slot in truths
                     else self._jumps._first[expr.slot])
            return self._all(np.full(self._size, bool(value)))
        if not isinstance(expr, Op):
            raise NotJumping
        if expr.op in ("lt", "le", "eq", "ne"):
            return self._compared(expr)
        parts = [self._truth(each) for each in expr.operands]
        if expr.op == "not":
            return self._not(parts[0])
        if expr.op not in ("and", "or"):
            raise NotJumping
        found = parts[0]
        for part in parts[1:]:
            found = self._both(found, part) if expr.op == "and" else self._either(found, part)
        return found

    def _compared(self, expr: Op) -> _Box:
        one, other = (self._number(each) for each in expr.operands)
        if other.variable is None:
            less = _Number(one.variable, one.sign, one.add - other.lo, one.lo - other.lo,
                           one.hi - other.lo)
        elif one.variable is None:
            minus = self._minus(other)
            less = _Number(minus.variable, minus.sign, minus.add + one.lo, minus.lo + one.lo,
                           minus.hi + one.lo)
        else:
            raise NotJumping
        if expr.op in ("lt", "le"):
            return self._at_most(less, -1 if expr.op == "lt" else 0)
        equal = self._both(self._at_most(less, 0), self._at_most(self._minus(less), 0))
        return equal if expr.op == "eq" else self._not(equal)

    def _at_most(self, one: _Number, most: int) -> _Box:
        """True where a number is at most ``most``."""
        import numpy as np

        found = self._all(one.lo <= most)
        if one.variable is None:
            return found
        some = (one.lo <= most) & (one.hi > most)
        at = one.variable
        if one.sign > 0:
            found.hi[at] = np.where(some, np.minimum(found.hi[at], most - one.add), found.hi[at])
        else:
            found.lo[at] = np.where(some, np.maximum(found.lo[at], one.add - most), found.lo[at])
        return found

    def _all(self, holds: Any) -> _Box:
        import numpy as np

        return _Box(np.where(holds, self._low, _FAR), np.where(holds, self._high, -_FAR))

    def _is_full(self, box: _Box) -> Any:
        return ((box.lo == self._low) & (box.hi == self._high)).all(axis=0)

    def _both(self, one: _Box, other: _Box) -> _Box:
        import numpy as np

        return _Box(np.maximum(one.lo, other.lo), np.minimum(one.hi, other.hi))

    def _either(self, one: _Box, other: _Box) -> _Box:
        """True where one or the other is, if one of them is within the other."""
        import numpy as np

        takes = _is_empty(other) | ((one.lo <= other.lo) & (one.hi >= other.hi)).all(axis=0)
        leaves = _is_empty(one) | ((other.lo <= one.lo) & (other.hi >= one.hi)).all(axis=0)
        if not (takes | leaves).all():
            raise NotJumping
        return _Box(np.where(takes, one.lo, other.lo), np.where(takes, one.hi, other.hi))

    def _not(self, box: _Box) -> _Box:
        """True where a truth is not, if it bounds one variable on one side at most."""
        import numpy as np

        empty = _is_empty(box)
        below, above = box.hi < self._high, box.lo > self._low
        sides = (below.sum(axis=0) + above.sum(axis=0))
        if not (empty | (sides <= 1)).all():
            raise NotJumping
        found = self._all(empty | (sides == 1))
        mine = ~empty
        found.lo = np.where(mine & below, box.hi + 1, found.lo)
        found.hi = np.where(mine & above, box.lo - 1, found.hi)
        return found


def _is_empty(box: _Box) -> Any:
    return (box.lo > box.hi).any(axis=0)
