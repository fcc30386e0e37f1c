"""A proof that places may be used again.

Theory. A log names things without end, and a machine has so many places for them. Let F be a run of
a machine in which each thing has a place of its own, and R the run of a judge that gives a place to
another thing once the first one has left. They are the same, step by step and rule by rule, if:

- *leaving* makes a place as it was at first, and changes nothing else; what it takes away is what
  the judge remembers of the thing;
- *a place that may be left makes no difference* (``drops``): the machine without it, in which the
  others have moved together, refuses the same steps for the same rules, and what it accepts leads
  to the same states; and it still may be left then, and has what it had;
- *a place as it was at first may be left*: so more of them can be added, too;
- *apart*: where a judge has a machine of its own for each thing, a place makes no difference to
  the steps of others at any time;
- *places differ in nothing but their numbers* (``swaps``), where a thing gets any free one. Where
  all things stay in their order, they may.

Then by induction on the steps each state of R is that of F without the places that were left, with
the others renamed. Z3 decides each for all states in their declared ranges at once; the constants
have values, so it is proved for machines of so many places.

Source: docs/decisions/places-that-are-used-again.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

import z3

from ...notation.bound import bind
from ...notation.errors import InputError
from ...notation.expr import or_
from ...notation.labels import brief
from ...notation.machine import Machine
from ...notation.model import LoweredAction, Model
from ...notation.places import LEAVES, Reuse, of_places
from ...notation.source import place_of_member
from ...notation.types import ArrayDecl
from ...verdicts.deadline import Deadline
from ...verdicts.solver import z3_context
from .alike import Undecided
from .terms import QueueTerm, Remainders, Translation, Unsupported, equal, fresh, within_range

__all__ = ["prove_reuse"]

PROVING: Final = "proving that places may be used again"
_ACCEPTED: Final = -1

State = dict[str, Any]


def prove_reuse(reuse: Reuse, size: int = 3, deadline: Deadline | None = None) -> int:
    """Prove that a machine of ``size`` places may use them again; return how many questions that
    took.

    Raises InputError where it makes a difference, with the step that shows it; Undecided,
    OutOfTime or Unsupported where that is not known.
    """
    proof = _Proof(reuse, size, deadline or Deadline(None))
    places = range(size - 2) if reuse.front else range(size - 1, size) if reuse.back else range(
        size)
    for gone in places:
        proof.dropping(gone)
        if not reuse.front:
            proof.leaving(gone)
            proof.coming_again(gone)
        for other in range(size if reuse.kept and not reuse.front else 0):
            if other != gone:
                proof.standing_in(gone, other)
    for gone in range(size if reuse.apart else 0):
        proof.being_apart(gone)
    if not reuse.ordered:
        for one, other in pairwise(range(size)):
            proof.swapping(one, other)
    return proof.questions


class _Slots:
    """The slots of a machine of some size: by place, and those that hold or count places."""

    def __init__(self, reuse: Reuse, size: int) -> None:
        self.size = size
        bound = bind(reuse.machine, **{**reuse.constants, reuse.size: size})
        self.model: Model = bound.model
        self.by_place: dict[str, tuple[str, int]] = {}
        for name, stride in of_places(reuse, bound.constants).items():
            is_array = isinstance(reuse.machine.variables_declared[name], ArrayDecl)
            for at in range(stride * size):
                slot = f"{name}[{at}]" if is_array else f"{name}{{{at}}}"
                for part in self._parts(slot):
                    what = f"{name}+{at % stride}{part[len(slot):]}"
                    self.by_place[part] = what, at // stride
        self.of_place = {where: slot for slot, where in self.by_place.items()}
        self.holds = {slot for slot in self._all() if _root(slot) in reuse.holds}
        self.counts = {slot for slot in self._all() if _root(slot) in reuse.counts}

    def _all(self) -> Iterator[str]:
        return (slot.name for slot in self.model.slots)

    def _parts(self, slot: str) -> list[str]:
        return [each for each in self._all()
                if each == slot or each.startswith((f"{slot}[", f"{slot}{{"))]

    def at(self, place: int) -> list[str]:
        """The slots of a place."""
        return [slot for slot, (_, where) in self.by_place.items() if where == place]


def _root(slot: str) -> str:
    return slot.partition("[")[0].partition("{")[0]


class _Proof:
    """The questions about one machine."""

    def __init__(self, reuse: Reuse, size: int, deadline: Deadline) -> None:
        self.reuse, self.size, self.deadline = reuse, size, deadline
        self.large = _Slots(reuse, size)
        self.context = z3_context()
        self.remainders = Remainders(self.context)
        slots = self.large.model.slots
        self.before: State = {each.name: fresh(each.name, each.type, self.context)
                              for each in slots}
        self.plain = self._read(self.before)
        self.solver = z3.Solver(ctx=self.context)
        for slot in slots:
            self.solver.add(*within_range(slot.type, self.before[slot.name], self.plain))
        self._smaller: dict[int, _Slots] = {}
        self.rules = {"": 0}
        self.questions = 0

    def _without(self, gone: int) -> _Slots:
        """The machine without a place, or, at the front, without all up to this one."""
        size = self.size - (gone + 1 if self.reuse.front else 1)
        if size not in self._smaller:
            self._smaller[size] = _Slots(self.reuse, size)
        return self._smaller[size]

    def _shift(self, gone: int) -> int:
        """By how much the places after one move."""
        return gone + 1 if self.reuse.front else 1

    # --- what there is to prove --------------------------------------------------------------

    def leaving(self, place: int) -> None:
        """Leaving makes a place as it was at first; and a place that is so may be left."""
        first, leaves = self._first(place), self._leaves(place)
        may, after = self._accepts(leaves, self.plain), self._after(leaves, self.plain)
        same = [equal(after[slot], first[slot]) for slot in first]
        self._ask(z3.Implies(may, z3.And(*same, self.context)),
                  f"{leaves.label} does not make the place as it was at first", LEAVES)
        blank = [equal(self.before[slot], first[slot]) for slot in first]
        blank += [self.before[slot] <= place for slot in self.large.counts if self.reuse.back]
        self._ask(z3.Implies(z3.And(self._is_nowhere(place), *blank), may),
                  f"a place that nothing was in has no {leaves.label}", LEAVES)

    def dropping(self, gone: int) -> None:
        """A place that may be left makes no difference to steps that do not name it; those that
        do may name another one in its stead, if they have to."""
        may = self._accepts(self._leaves(gone), self.plain)
        self._ask(z3.Implies(may, self._is_nowhere(gone)),
                  f"a place that may be left is held by another variable ({LEAVES}({gone}))",
                  LEAVES)
        image = self._image(self.before, gone)
        small = self._without(gone).model
        others = {(each.name, each.args): each for each in small.actions}
        for action in self._steps():
            if not self.reuse.front and self._names(action, gone) or (
                    self.reuse.back and self._counts(action, gone)):
                continue
            other = others.get((action.name, self._moved(action, gone)))
            if other is not None:
                self._same_step(action, other, image, z3.And(may, self._is_fresh(gone)), gone)
            elif not self._is_beyond(action, small):
                raise Unsupported(f"{action.label} has no like in a machine with a place less")

    def _same_step(self, action: LoweredAction, other: LoweredAction, before: State,
                   may: Any, gone: int) -> None:
        reads, after = self._read(before), self._after(action, self.plain)
        told = self._read({**before, **self._remembered(action, gone)})
        there = self._after(other, reads)
        still = self._accepts(self._leaves(gone), self._read(after))
        image = self._image(after, gone)
        same = [equal(image[slot], there[slot]) for slot in there if not self._is_given(slot)]
        kept = [equal(after[slot], self.before[slot]) for slot in self.large.at(gone)
                if not self.reuse.front]
        if self.reuse.back:
            may = z3.And(may, z3.Or(z3.Not(self._accepts(action, self.plain)), still))
        self._ask(
            z3.Implies(may, z3.And(
                self._refusal(action, self.plain) == self._refusal(other, told),
                z3.Implies(self._accepts(action, self.plain), z3.And(
                    self._is_sound(other, reads), still, *same, *kept)))),
            f"{action.label} depends on a place that may be left, or changes it", action.name,
            self._is_sound(action, self.plain))

    def _remembered(self, action: LoweredAction, gone: int) -> State:
        """The remembered variables of a thing that is named, at the place that stands for it."""
        if not self.reuse.front:
            return {}
        small = self._without(gone).of_place
        return {small[part, 0]: self.before[self.large.of_place[part, place]]
                for place in range(gone + 2) if self._names(action, place)
                for part, at in small if at == 0 and part.partition("+")[0] in self.reuse.kept}

    def standing_in(self, gone: int, other: int) -> None:
        """For a thing that has left, another may be named that has left in the same way: it is
        refused for the same rule, and nothing changes."""
        first = self._first(gone)
        alike = [equal(self.before[slot], self.before[self._of(slot, other)]) for slot in first
                 if _root(slot) in self.reuse.kept]
        known = [z3.Not(equal(self.before[slot], first[slot])) for slot in first
                 if _root(slot) in self.reuse.kept]
        may = [self._accepts(self._leaves(each), self.plain) for each in (gone, other)]
        by_args = {(each.name, each.args): each for each in self.large.model.actions}
        for action in self._steps():
            if action.name in self.reuse.comes or not self._names(action, gone):
                continue
            stand_in = by_args[action.name, tuple(
                (name, other if name in self.reuse.places and value == gone else value)
                for name, value in action.args)]
            after = self._after(action, self.plain)
            same = [equal(after[slot], self.before[slot]) for slot in after]
            self._ask(
                z3.Implies(z3.And(*may, *alike, z3.Or(*known, self.context)), z3.And(
                    action.name in self.reuse.skipped or self._refusal(action, self.plain)
                    == self._refusal(stand_in, self.plain),
                    z3.Implies(self._accepts(action, self.plain), z3.And(*same, self.context)))),
                f"{action.label} of a thing that has left asks for what is not kept of it, or "
                "changes something", action.name, self._is_sound(action, self.plain))

    def coming_again(self, gone: int) -> None:
        """A thing that comes again is as one that was never there."""
        first = self._first(gone)
        may = self._accepts(self._leaves(gone), self.plain)
        blank = self._read({**self.before, **first})
        for action in self._steps():
            if action.name in self.reuse.comes and self._names(action, gone):
                after, there = self._after(action, self.plain), self._after(action, blank)
                same = [equal(after[slot], there[slot]) for slot in there]
                self._ask(
                    z3.Implies(may, z3.And(
                        self._refusal(action, self.plain) == self._refusal(action, blank),
                        z3.Implies(self._accepts(action, self.plain),
                                   z3.And(*same, self.context)))),
                    f"{action.label} depends on what the thing was before", action.name,
                    self._is_sound(action, self.plain))

    def being_apart(self, gone: int) -> None:
        """Whatever is in a place, steps that do not name it do not depend on it."""
        reads = self._read(self._moved_together(self.before, gone))
        others = {(each.name, each.args): each for each in self._without(gone).model.actions}
        for action in self._steps():
            if action.name not in self.reuse.apart or self._names(action, gone):
                continue
            other = others[action.name, self._moved(action, gone)]
            image = self._moved_together(self._after(action, self.plain), gone)
            there = self._after(other, reads)
            same = [equal(image[slot], there[slot]) for slot in there if not self._is_given(slot)]
            self._ask(
                z3.Implies(self._is_fresh(gone), z3.And(
                    self._refusal(action, self.plain) == self._refusal(other, reads),
                    z3.Implies(self._accepts(action, self.plain),
                               z3.And(self._is_sound(other, reads), *same)))),
                f"{action.label} depends on another thing", action.name,
                self._is_sound(action, self.plain))

    def swapping(self, one: int, other: int) -> None:
        """Two places differ in nothing but their numbers."""
        names = {one: other, other: one}
        reads = self._read(self._swapped(self.before, one, other))
        by_args = {(each.name, each.args): each for each in self.large.model.actions}
        for action in (*self._steps(), self._leaves(one), self._leaves(other)):
            moved = tuple((name, names.get(value, value) if name in self.reuse.places
                           or action.name == LEAVES else value) for name, value in action.args)
            mirror = by_args[action.name, moved]
            after, there = self._after(action, self.plain), self._after(mirror, reads)
            swapped = self._swapped(after, one, other)
            same = [equal(swapped[slot], there[slot]) for slot in there
                    if not self._is_given(slot)]
            self._ask(
                z3.And(self._refusal(action, self.plain) == self._refusal(mirror, reads),
                       z3.Implies(self._accepts(action, self.plain),
                                  z3.And(self._is_sound(mirror, reads), *same))),
                f"{action.label} and {mirror.label} do different things", action.name,
                self._is_sound(action, self.plain))

    # --- states ------------------------------------------------------------------------------

    def _first(self, place: int) -> State:
        slots = self.large.model.slot_by_name
        return {name: self.plain(slots[name].init) for name in self.large.at(place)}

    def _of(self, slot: str, place: int) -> str:
        """The slot of another place that has the same of it."""
        return self.large.of_place[self.large.by_place[slot][0], place]

    def _is_given(self, slot: str) -> bool:
        return _root(slot) in self.reuse.given

    def _is_fresh(self, gone: int) -> Any:
        """The next thing that comes gets another place than the one that was left."""
        return z3.And(*[self.before[name] != gone
                        for name in (*self.reuse.given, *self.reuse.next)], self.context)

    def _is_nowhere(self, place: int) -> Any:
        """No variable holds a place, but those that are given."""
        holding = [_holds(self.before[slot], place, self.context) for slot in self.large.holds
                   if not self._is_given(slot)]
        return z3.Not(z3.Or(*holding, self.context))

    def _image(self, state: State, gone: int) -> State:
        """The state of the machine without a place, once it was left."""
        return self._moved_together(self._after(self._leaves(gone), self._read(state)), gone)

    def _moved_together(self, left: State, gone: int) -> State:
        """A state without a place; the others have moved together."""
        small, shift = self._without(gone), self._shift(gone)
        found: State = {}
        for slot in (each.name for each in small.model.slots):
            old = slot
            if slot in small.by_place:
                part, place = small.by_place[slot]
                moves = self.reuse.front or place >= gone
                old = self.large.of_place[part, place + shift * moves]
            value = left[old]
            if slot in small.holds or slot in small.counts:
                value = _each(value, lambda one: z3.If(
                    one > gone, one - shift, 0 if self.reuse.front else one))
            found[slot] = value
        return found

    def _swapped(self, state: State, one: int, other: int) -> State:
        names = {one: other, other: one}
        found: State = {}
        for slot, value in state.items():
            new = slot
            if slot in self.large.by_place:
                place = self.large.by_place[slot][1]
                new = self._of(slot, names.get(place, place))
            if slot in self.large.holds:
                value = _each(value, lambda it: z3.If(
                    it == one, other, z3.If(it == other, one, it)))
            found[new] = value
        return found

    # --- steps -------------------------------------------------------------------------------

    def _steps(self) -> list[LoweredAction]:
        return [each for each in self.large.model.actions
                if each.name != LEAVES and each.name not in self.reuse.unused]

    def _names(self, action: LoweredAction, place: int) -> bool:
        return any(name in self.reuse.places and value == place for name, value in action.args)

    def _counts(self, action: LoweredAction, place: int) -> bool:
        return any(name in self.reuse.counts and value > place for name, value in action.args)

    def _moved(self, action: LoweredAction, gone: int) -> tuple[tuple[str, int], ...]:
        """The arguments of a step in the machine without a place; at the front, the next one stands
        for those that have left."""
        def moved(name: str, value: int) -> int:
            if name not in self.reuse.places and name not in self.reuse.counts:
                return value
            if self.reuse.front:
                return max(0, value - self._shift(gone))
            return value - (value > gone)
        return tuple((name, moved(name, value)) for name, value in action.args)

    def _is_beyond(self, action: LoweredAction, small: Model) -> bool:
        """True of a number that the smaller machine has not, and that is neither a place nor a
        count of them: what holds of the others holds of it."""
        most: dict[str, int] = {}
        for each in small.actions:
            if each.name == action.name:
                for name, value in each.args:
                    most[name] = max(value, most.get(name, 0))
        return any(value > most.get(name, value) for name, value in action.args
                   if name not in self.reuse.places and name not in self.reuse.counts)

    def _leaves(self, place: int) -> LoweredAction:
        return next(each for each in self.large.model.actions
                    if each.name == LEAVES and each.args[0][1] == place)

    def _read(self, state: State) -> Translation:
        return Translation(state, {}, self.remainders)

    def _after(self, action: LoweredAction, reads: Translation) -> State:
        return {**reads.before, **{slot: reads(value) for slot, value in action.updates.items()}}

    def _accepts(self, action: LoweredAction, reads: Translation) -> Any:
        return reads(action.guard)

    def _is_sound(self, action: LoweredAction, reads: Translation) -> Any:
        return z3.Not(reads(or_(*(each.condition for each in action.faults))))

    def _refusal(self, action: LoweredAction, reads: Translation) -> Any:
        """The number of the rule that refuses a step, which is that of the first part of the guard
        that fails."""
        found = z3.IntVal(_ACCEPTED, self.context)
        for condition, rule in reversed(action.required):
            number = self.rules.setdefault(rule, len(self.rules))
            found = z3.If(reads(condition), found, number)
        return found

    # --- asking ------------------------------------------------------------------------------

    def _ask(self, claim: Any, what: str, member: str, *where: Any) -> None:
        self.deadline.check(PROVING)
        left = self.deadline.left()
        if left < float("inf"):
            self.solver.set("timeout", max(1, int(1000 * left)))
        self.questions += 1
        self.solver.push()
        self.solver.add(*self.remainders.definitions, *where)
        self.solver.add(z3.Not(claim))
        found = self.solver.check()
        shown = self._shown() if found == z3.sat else ""
        self.solver.pop()
        if found == z3.unknown:
            self.deadline.check(PROVING)
            raise Undecided(self.solver.reason_unknown())
        if found == z3.sat:
            raise _differs(self.reuse.machine, f"{what}, for example with {shown}", member)

    def _shown(self) -> str:
        model = self.solver.model()
        words = [f"{name} = {model.eval(value, model_completion=True)}"
                 for name, value in self.before.items() if isinstance(value, z3.ExprRef)]
        return ", ".join(words)


def _holds(value: Any, place: int, context: z3.Context) -> Any:
    if isinstance(value, QueueTerm):
        return z3.Or(*[z3.And(value.length > at, item == place)
                       for at, item in enumerate(value.items)], context)
    return value == place


def _each(value: Any, new: Any) -> Any:
    """A value with another number in place of each."""
    if isinstance(value, QueueTerm):
        return QueueTerm(value.length, tuple(new(item) for item in value.items))
    return new(value)


def _differs(machine: type[Machine], what: str, member: str) -> InputError:
    return InputError(
        f"places of {machine.__name__} cannot be used again: {brief(what, 600)}",
        place_of_member(machine, member),
        f"Let {LEAVES} require more, or remember more of what has left.")
