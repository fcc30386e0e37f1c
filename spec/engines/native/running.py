"""A machine that is run over rows of steps: its actions as machine code, with parameters that come
from the rows.

A search asks for all steps of a state; a log asks for one step after the other, of many machines
of one kind, one for each key. So here an action is compiled once, whatever its parameters are, and
a loop takes the rows of each key, until the machine refuses one. What may be taken, and what it
does, is the chapter's text, lowered (``lower_open``).

Machines have a bounded number of names for items, calls and the like, and a log has any number of
*things*. So a thing gets a name that is free when it begins, and gives it back when it ends
(``Step``); a machine with all its names in use refuses.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import llvmlite.ir as ir

from ...notation.bound import BoundMachine, bind_to_watch
from ...notation.expr import (
    Expr, Lit, Queue, Read, and_, at, eq, ite, length, lt, not_, substitute,
)
from ...notation.lower import FREE, lower_open
from ...notation.model import OpenAction
from ...notation.model import Value as SlotValue
from .code import I64, POINTER, i64, local, loop, word_load, word_store
from .jit import compiled_once
from .layout import Layout, number
from .successors import packed_successor
from .values import Values

if TYPE_CHECKING:
    import numpy as np

    Numbers = np.ndarray[Any, Any]

__all__ = ["NAMES_MAX", "Runner", "Step", "runner_of"]

NAMES_MAX: Final = 64
"""Names of one kind that a machine may have at a time: the free ones are the bits of a word."""

_STOPPED: Final = (1 << 64) - 1


@dataclass(frozen=True, eq=False)
class Step:
    """The meaning of the rows of one kind: an ``action``, and the source of each parameter.

    A source is ``first`` or ``second``, the numbers of a row; or ``QUEUE of first``, the place at
    which that number stands in a queue of the machine; or a number that is always the same.
    ``sets`` gives a variable a number before the action, ``drops`` takes it out of a set.
    ``begins`` is the kind of name that the first thing of the row gets, ``ends`` of those that its
    things give back: then both numbers are things (``things``), and the machine sees their names. A
    step without an action is always taken, and changes nothing.
    """

    action: str = ""
    args: Mapping[str, str | int] = field(default_factory=dict)
    sets: Mapping[str, str] = field(default_factory=dict)
    drops: Mapping[str, str] = field(default_factory=dict)
    begins: str = ""
    ends: Mapping[str, str] = field(default_factory=dict)
    things: bool = False


@cache
def runner_of(machine: Any, constants: tuple[tuple[str, int], ...], steps: tuple[Step, ...],
              names: tuple[tuple[str, int], ...] = (), shows: tuple[tuple[str, int], ...] = ()
              ) -> Runner:
    """The runner of a machine with some constants, which is compiled once."""
    return Runner(bind_to_watch(machine, **dict(constants)), steps, dict(names), dict(shows))


class Runner:
    """The machines of some keys, one for each, and the code that takes rows of some ``steps``.

    ``names`` has, by kind, how many names there are. ``words`` is the size of a state, in words of
    64 bits, the free names of each kind included. ``shows`` has, by slot, at which bit of a word
    its value is shown after each row. Raises NotNative where it cannot be compiled, and
    NotationError for what the notation does not have.
    """

    def __init__(self, bound: BoundMachine, steps: Sequence[Step],
                 names: Mapping[str, int] | None = None, shows: Mapping[str, int] | None = None
                 ) -> None:
        self._bound, self._shows = bound, bool(shows)
        self._names = dict(names or {})
        model, actions = lower_open(
            bound.machine, bound.constants,
            dict.fromkeys(step.action for step in steps if step.action))
        self._layout = Layout(model)
        self.words = self._layout.words + len(self._names)
        module = ir.Module(name="running")
        _Emission(module, self._layout, list(self._names), shows or {}).run(
            [(step, actions.get(step.action)) for step in steps])
        self._engine = compiled_once(str(module))
        kind = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 8, ctypes.c_uint64,
                                *[ctypes.c_void_p] * 2)
        self._run: Callable[..., None] = kind(self._engine.get_function_address("run"))

    def initial(self, keys: int, **but: int) -> Numbers:
        """The states of so many machines at their beginning, ``but`` for some slots."""
        return self.states({"": but}, keys)

    def states(self, but: Mapping[str, Mapping[str, int]], keys: int = 1) -> Numbers:
        """For each of some names ``keys`` states of the beginning, but for the values of some
        slots."""
        import numpy as np

        free = [(1 << size) - 1 for size in self._names.values()]
        first = self._layout.unpack(self._layout.initial())
        return np.repeat(np.array([[*self._layout.pack({**first, **given}), *free]
                                   for given in but.values()], np.uint64), keys, axis=0)

    def run(self, states: Numbers, keys: Numbers, starts: Numbers, ends: Numbers, steps: Numbers,
            first: Numbers, second: Numbers, names: Numbers, shown: Numbers | None = None
            ) -> Numbers:
        """Take the rows ``starts`` to ``ends`` of each of some keys, and return the row at which
        its machine refused; -1 where it took all. A refused step changes nothing.

        ``states`` has a row for each key; ``steps`` says which step a row is; ``names`` are those
        of the things; ``shown`` gets what the machine ``shows`` after each row that was taken. All
        are arrays of 64-bit numbers, without gaps.
        """
        import numpy as np

        stopped = np.empty(len(keys), np.int64)
        arrays = (states, keys, starts, ends, steps, first, second, names)
        assert all(each.flags.c_contiguous and each.itemsize == 8 for each in arrays)
        assert self._shows == (shown is not None)
        self._run(*(each.ctypes.data for each in arrays), len(keys), stopped.ctypes.data,
                  None if shown is None else shown.ctypes.data)
        return stopped

    def slots(self, state: Numbers) -> dict[str, SlotValue]:
        """The values of the slots in a state."""
        return self._layout.unpack([int(word) for word in state[:self._layout.words]])

    def load(self, state: Numbers, machine: Any) -> None:
        """Let an instance of the machine be in a state; only where each slot is a variable."""
        interpreter = self._bound.interpreter
        interpreter.layout.load(machine, interpreter.from_slots(self.slots(state)))


class _Emission:
    """Emits ``run(states, keys, starts, ends, steps, first, second, names, count, stopped,
    shown)``."""

    def __init__(self, module: ir.Module, layout: Layout, kinds: Sequence[str],
                 shows: Mapping[str, int]) -> None:
        self.layout, self.kinds, self.shows = layout, kinds, shows
        self.words = layout.words + len(kinds)
        f = ir.Function(module, ir.FunctionType(
            ir.VoidType(), [*[POINTER] * 8, I64, POINTER, POINTER]), "run")
        self.b = ir.IRBuilder(f.append_basic_block("entry"))
        (self.states, self.keys, self.starts, self.ends, self.steps, self.first, self.second,
         self.names, self.count, self.stopped, self.shown) = f.args

    def run(self, steps: Sequence[tuple[Step, OpenAction | None]]) -> None:
        b = self.b
        self.state = [local(b, i64(0)) for _ in range(self.words)]
        row = local(b, i64(0))
        with loop(b, i64(0), self.count) as at_key:
            base = b.gep(self.states, [b.mul(word_load(b, self.keys, at_key), i64(self.words))],
                         source_etype=I64)
            for index, place in enumerate(self.state):
                b.store(word_load(b, base, index), place)
            b.store(word_load(b, self.starts, at_key), row)
            end = word_load(b, self.ends, at_key)
            word_store(b, i64(_STOPPED), self.stopped, at_key)
            head, body, refused, following, done = (
                b.append_basic_block(name)
                for name in ("rows", "row", "refused", "following", "done"))
            b.branch(head)
            b.position_at_end(head)
            here = b.load(row, typ=I64)
            b.cbranch(b.icmp_unsigned("<", here, end), body, done)
            b.position_at_end(body)
            cases = b.switch(word_load(b, self.steps, here), refused)
            for number_, (step, action) in enumerate(steps):
                block = b.append_basic_block(f"step{number_}")
                cases.add_case(i64(number_), block)
                b.position_at_end(block)
                self._step(step, action, here, refused)
                b.branch(following)
            b.position_at_end(following)
            self._shows(here)
            b.store(b.add(here, i64(1)), row)
            b.branch(head)
            b.position_at_end(refused)
            word_store(b, here, self.stopped, at_key)
            b.branch(done)
            b.position_at_end(done)
            for index, place in enumerate(self.state):
                word_store(b, b.load(place, typ=I64), base, index)
        b.ret_void()

    def _shows(self, here: Any) -> None:
        """Show some slots after a row."""
        if not self.shows:
            return
        b = self.b
        values = Values(b, self.layout,
                        [b.load(place, typ=I64) for place in self.state[:self.layout.words]])
        word = i64(0)
        for name, bit in self.shows.items():
            slot = self.layout.model.slot_by_name[name]
            value = values.of(Read(name, slot.type))
            if value.type != I64:
                value = b.zext(value, I64)
            word = b.or_(word, b.shl(value, i64(bit)))
        word_store(b, word, self.shown, here)

    def _step(self, step: Step, action: OpenAction | None, here: Any, refused: Any) -> None:
        """The code of one row; it jumps to ``refused`` before anything is changed."""
        b = self.b
        if action is None:
            return
        words = [b.load(place, typ=I64) for place in self.state]
        state, free = words[:self.layout.words], words[self.layout.words:]
        numbers = {"first": word_load(b, self.first, here),
                   "second": word_load(b, self.second, here)}
        things = dict(numbers)
        if step.things:
            for name in numbers:
                if name == "first" and step.begins:
                    numbers[name] = b.cttz(free[self.kinds.index(step.begins)],
                                           ir.Constant(ir.IntType(1), 0))
                elif _uses(step, name):
                    numbers[name] = word_load(b, self.names, things[name])
        values, taken = self._values(step, action, state, numbers)
        ok = values.of(taken.guard)
        for fault in taken.faults:
            ok = b.and_(ok, b.not_(values.of(fault.condition)))
        if step.begins:
            kind = self.kinds.index(step.begins)
            ok = b.and_(ok, b.icmp_unsigned("!=", free[kind], i64(0)))
            free[kind] = b.and_(free[kind], b.sub(free[kind], i64(1)))
        after = packed_successor(values, self.layout, taken)
        for name, kind_ in step.ends.items():
            kind = self.kinds.index(kind_)
            free[kind] = b.or_(free[kind], b.shl(i64(1), numbers[name]))
        taken_block = b.append_basic_block("taken")
        b.cbranch(ok, taken_block, refused)
        b.position_at_end(taken_block)
        if step.begins:
            word_store(b, numbers["first"], self.names, things["first"])
        for value, place in zip([*after, *free], self.state, strict=True):
            b.store(value, place)

    def _values(self, step: Step, action: OpenAction, state: Sequence[Any],
                numbers: Mapping[str, Any]) -> tuple[Values, OpenAction]:
        """The values of a row, and its action over the state before what the step sets."""
        values = Values(self.b, self.layout, state)
        reads: dict[str, Expr] = {}
        for name, value in numbers.items():
            read = Read(f"<{name}>", FREE)
            values.done[read] = value
            values.ranges[read] = (-(1 << 60), 1 << 60)
            reads[name] = read
        before = self._before(step, reads)
        given = {action.parameters[name]: self._source(source, reads, before)
                 for name, source in step.args.items()}

        def of(leaf: Expr) -> Expr | None:
            if isinstance(leaf, Read) and leaf in given:
                return given[leaf]
            return before.get(leaf.slot) if isinstance(leaf, Read) else None

        def whole(expr: Expr) -> Expr:
            return substitute(expr, of)

        updates = {**before, **{name: whole(value) for name, value in action.updates.items()}}
        faults = tuple(
            type(fault)(whole(fault.condition), fault.message, fault.file, fault.line)
            for fault in action.faults)
        return values, OpenAction(action.name, {}, whole(action.guard), updates, faults)

    def _before(self, step: Step, reads: Mapping[str, Expr]) -> dict[str, Expr]:
        """The changes of variables before the action of a step, by slot."""
        found: dict[str, Expr] = {name: reads[source] for name, source in step.sets.items()}
        for name, source in step.drops.items():
            for slot in self.layout.model.slots:
                if slot.name.startswith(f"{name}{{"):
                    member = int(slot.name[len(name) + 1:-1])
                    found[slot.name] = and_(Read(slot.name, slot.type),
                                            not_(eq(reads[source], Lit(member))))
        return found

    def _source(self, source: str | int, reads: Mapping[str, Expr], before: Mapping[str, Expr]
                ) -> Expr:
        if isinstance(source, int):
            return Lit(source)
        queue, _, name = source.rpartition(" of ")
        if not queue:
            return reads[name]
        kind = self.layout.model.slot_by_name[queue].type
        assert isinstance(kind, Queue)
        whole = Read(queue, kind)
        capacity = number(kind.capacity, self.layout.constants)
        place: Expr = Lit(capacity)     # it is not there: no guard holds at such a place
        for index in reversed(range(capacity)):
            here = and_(lt(Lit(index), length(whole)), eq(at(whole, Lit(index)), reads[name]))
            place = ite(here, Lit(index), place)
        return place


def _uses(step: Step, name: str) -> bool:
    sources = (*step.args.values(), *step.sets.values(), *step.drops.values())
    return name in step.ends or any(
        isinstance(source, str) and source.rpartition(" of ")[2] == name for source in sources)
