"""The effects of steps, learnt once: the chapter's own Python runs only where its answer is news.

Theory of operation. A step reads a few of the machine's variables and changes a few, and what
it reads decides what it does. So its method is run on an instance that has its variables fetched
when they are first looked at. The order of these looks, with the values seen, is a path; at
its end stands what the step does: the values that it writes, or the rule with the guard that
refuses it. The paths of one step make a tree, and a state that agrees with a path on the few
variables along it needs no run of the method, whatever it holds in all others.

Values are numbered, and a state is *packed* as the numbers of its variables' values: so states
are small tuples, and going down a tree compares no containers. A run that is anything but
taken or refused is not remembered: the interpreter, which is the oracle of all this, is asked
for it each time, and says what is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..notation.interpreter import Interpreter, State, Step
from ..notation.machine import Machine
from ..notation.rules import Rule
from ..notation.types import Disabled

__all__ = ["Asked", "Effects", "Fetched", "OutOfRange", "Packed", "Refusal", "Writes"]

Packed = tuple[int, ...]
"""A state: for each variable the number of its value."""


class Refusal(NamedTuple):
    """A step is not enabled; ``rule`` is the one that the failing guard cites, if any."""

    rule: Rule | None


Writes = tuple[tuple[int, int], ...]
"""The variables that a step changes, by their places, each with the number of its new value."""


class _Fork:
    """An inner node of a tree: the variable that is read next, and what follows, by its value. It
    is ``at`` that place of a packed state, or at those of a whole array."""

    __slots__ = ("at", "place", "ways")

    def __init__(self, place: int, at: int | slice) -> None:
        self.place, self.at = place, at
        self.ways: dict[Any, _Node] = {}


_Node = _Fork | Writes | Refusal


class Asked:
    """Steps of one action of which it is asked again and again whether they are refused, in one
    object each time: that is what is remembered of them. ``alternatives`` are the steps, or those
    that each may have been."""

    __slots__ = ("alternatives", "steps")

    def __init__(self, steps: Sequence[Step], alternatives: Sequence[Sequence[Step]]) -> None:
        self.steps, self.alternatives = tuple(steps), tuple(alternatives)


class OutOfRange(Exception):
    """A run leaves the declared ranges."""


class Effects:
    """The effects of the steps of one machine, as far as they were asked for.

    ``size`` counts what is remembered: nodes of trees, and values.
    """

    def __init__(self, interpreter: Interpreter) -> None:
        self._interpreter = interpreter
        self._layout = interpreter.layout
        places = self._places()
        self._numbers: list[dict[Any, int]] = [{} for _ in range(places)]
        self._values: list[list[Any]] = [[] for _ in range(places)]
        self._instance = _instance_of(interpreter, self._fetched())
        self._functions = {name: action.function for name, action
                           in interpreter.machine.actions_declared.items()}
        self._trees: dict[Step, _Node] = {}
        self._asked: dict[Asked, Any] = {}
        self._roots: dict[int, tuple[tuple[Step, ...], list[_Node | None]]] = {}    # by identity
        self._refusals: dict[int, Refusal] = {}     # by the identity of their rules: one each
        self.size = 0

    def _places(self) -> int:
        """The number of places of a packed state."""
        return len(self._layout.names)

    def _fetched(self) -> dict[str, Any]:
        """The descriptors that stand in the class for each variable."""
        thawing = self._layout.thawing
        return {name: Fetched(place, name, thawing[place], self._values[place])
                for name, place in self._layout.places.items()}

    def _at(self, place: int) -> int | slice:
        """Where in a packed state a place is that was read."""
        return place

    # --- states --------------------------------------------------------------------------

    def pack(self, state: State) -> Packed:
        """A state as numbers."""
        return tuple(map(self._number, range(len(state)), state))

    def unpack(self, packed: Packed) -> State:
        """The state that some numbers stand for."""
        return tuple([values[number]
                      for values, number in zip(self._values, packed, strict=True)])

    def _number(self, place: int, value: Any) -> int:
        numbers = self._numbers[place]
        number = numbers.setdefault(value, len(numbers))
        if number == len(self._values[place]):
            self._values[place].append(value)
            self.size += 1 + _bulk(value)
        return number

    # --- steps ---------------------------------------------------------------------------

    def after(self, packed: Packed, step: Step) -> Packed | None:
        """The state after a step; None where it is not enabled. Raises ModelFault, as ``step``."""
        found = self._effect(packed, step)
        if found is None:
            after = self.step(packed, step)
            return None if isinstance(after, Refusal) else after
        return None if isinstance(found, Refusal) else _written(packed, found)

    def known(self, packed: Packed, step: Step) -> Packed | Refusal | None:
        """The same as ``step`` says, where it is known already; None where it is not."""
        node: Any = self._trees.get(step)
        while node.__class__ is _Fork:
            node = node.ways.get(packed[node.at])
        if node is None or node.__class__ is Refusal:
            return node
        return _written(packed, node)

    def step(self, packed: Packed, step: Step) -> Packed | Refusal:
        """The state after a step, or why it is not enabled.

        Raises ModelFault where the action would leave the declared ranges.
        """
        found = self._effect(packed, step)
        if found is None:
            after = self._interpreter.step(self.unpack(packed), *step)
            return Refusal(None) if after is None else self.pack(after)
        if isinstance(found, Refusal):
            return found
        return _written(packed, found)

    def after_each(self, packed: Packed, steps: tuple[Step, ...]) -> list[Packed]:
        """The states after those of some steps that are enabled, each of them taken alone. Raises
        ModelFault, as ``step``."""
        roots = self._roots_of(steps)
        reached: list[Packed] = []
        for place, root in enumerate(roots):
            node: Any = root
            while node.__class__ is _Fork:
                node = node.ways.get(packed[node.at])
            if node is None:
                after = self.step(packed, steps[place])
                if root is None:
                    roots[place] = self._trees.get(steps[place])
                if after.__class__ is not Refusal:
                    reached.append(after)  # type: ignore[arg-type]
            elif node.__class__ is not Refusal:
                reached.append(_written(packed, node))
        return reached

    def refusal(self, packed: Packed, step: Step) -> Refusal | None:
        """Why a step is not enabled; None if it is, though it may leave the declared ranges."""
        found = self._effect(packed, step)
        if found is None:
            reason = self._interpreter.attempt(self.unpack(packed), *step)
            return None if reason is None else Refusal(reason.with_traceback(None).rule)
        return found if isinstance(found, Refusal) else None

    def refusals_of(self, packed: Packed, steps: tuple[Step, ...]) -> set[Rule | None] | None:
        """The rules for which some of several steps are refused, each looked at alone; None where
        only the interpreter can decide it."""
        roots, rules = self._roots_of(steps), set[Rule | None]()
        for place, root in enumerate(roots):
            node: Any = root
            while node.__class__ is _Fork:
                node = node.ways.get(packed[node.at])
            if node is None:
                node = self._learn(packed, steps[place])
                if root is None:
                    roots[place] = self._trees.get(steps[place])
                if node is None:
                    return None
            if node.__class__ is Refusal:
                rules.add(node.rule)
        return rules

    def _roots_of(self, steps: tuple[Step, ...]) -> list[_Node | None]:
        """The trees of several steps, which are held in one object each time that they are asked
        of: so they are not hashed one by one."""
        held = self._roots.get(id(steps))
        if held is None:        # what is held is not let go of, so that no other has its identity
            held = self._roots[id(steps)] = steps, [self._trees.get(step) for step in steps]
            self.size += 1 + len(steps) // 8
        return held[1]

    def refusals(self, packed: Packed, several: Sequence[Asked]) -> set[Rule | None] | None:
        """The rules for which some of several steps are refused; None where only the interpreter
        can decide it. What decides it is remembered for all that are asked of together."""
        found, trees = set[Rule | None](), self._asked
        for asked in several:
            node: Any = trees.get(asked)
            while node.__class__ is _Fork:
                node = node.ways.get(packed[node.at])
            if node is None:
                node = self._learn_refusals(packed, asked)
                if node is None:
                    return None
            found |= node
        return found

    def _learn_refusals(self, packed: Packed, asked: Asked) -> frozenset[Rule | None] | None:
        rules: set[Rule | None] = set()
        reads: dict[int, None] = {}
        for alternatives in asked.alternatives:
            refused: set[Rule | None] = set()
            for step in alternatives:
                found = self._effect(packed, step)
                if found is None:
                    return None
                reads |= dict.fromkeys(self._path(packed, step))
                if not isinstance(found, Refusal):
                    break
                refused.add(found.rule)
            else:
                rules |= refused
        result = frozenset(rules)
        self._hang(self._asked, asked, packed, tuple(reads), result)
        return result

    def _path(self, packed: Packed, step: Step) -> Iterator[int]:
        """The places that decide what a step does, where that is known."""
        node: Any = self._trees[step]
        while node.__class__ is _Fork:
            yield node.place
            node = node.ways[packed[node.at]]

    def _effect(self, packed: Packed, step: Step) -> Writes | Refusal | None:
        """The effect of a step; None where only the interpreter can decide it."""
        node = self._trees.get(step)
        while node.__class__ is _Fork:
            node = node.ways.get(packed[node.at])
        return self._learn(packed, step) if node is None else node  # type: ignore[return-value]

    def _learn(self, packed: Packed, step: Step) -> Writes | Refusal | None:
        name, args = step
        instance = self._instance
        # Begins in the state, with nothing fetched.
        instance._packed_before, instance._places_read = packed, []
        instance.__dict__.clear()
        found: Writes | Refusal
        try:
            try:
                self._functions[name](instance, **dict(args))
                found = self._writes(packed)
            except Disabled as reason:
                found = self._refused(reason.rule)
        except Exception as error:  # noqa: BLE001 - whatever it is, the interpreter reports it
            return self._failed(packed, step, error)
        self._hang(self._trees, step, packed, instance._places_read, found)
        return found

    def _refused(self, rule: Rule | None) -> Refusal:
        refusal = self._refusals.get(id(rule))
        if refusal is None:
            refusal = self._refusals[id(rule)] = Refusal(rule)
        return refusal

    def _failed(self, packed: Packed, step: Step, error: Exception) -> Writes | Refusal | None:
        """The effect of a step after its run failed; None where only the interpreter can decide
        it."""
        return None

    def _writes(self, packed: Packed) -> Writes:
        """The new values of the variables that a run has touched. Raises OutOfRange, or TypeError
        or ValueError for a value of another kind."""
        places, reads = self._layout.places, self._instance._places_read
        found: Writes = ()
        for name, live in self._instance.__dict__.items():
            found += self._written(packed, places[name], live, reads)
        return found

    def _written(
        self, packed: Packed, variable: int, live: Any, reads: Sequence[int]
    ) -> Writes:
        """The writes to a variable, of the places that it has."""
        return self._written_at(variable, packed, variable, live, reads)

    def _written_at(
        self, place: int, packed: Packed, variable: int, live: Any, reads: Sequence[int]
    ) -> Writes:
        """The write to a variable with one place, if there is any."""
        layout, before = self._layout, self._values[place][packed[place]]
        freeze = layout.freezing[variable]
        if freeze is None and place in reads and live is before:
            return ()
        value = live if freeze is None else freeze(live)
        if value != before:
            if layout.wrong(variable, value, before):
                raise OutOfRange
        elif place in reads:
            return ()
        # What was written unread is a write even where it changes nothing here.
        return ((place, self._number(place, value)),)

    def _hang(
        self, ways: dict[Any, Any], seen: Any, packed: Packed, reads: Sequence[int], found: Any
    ) -> None:
        """Hang what was found at the end of the path along which it was found: of what was
        ``seen`` first, and then of these places."""
        self.size += 1 + len(reads)
        for place in reads:
            fork = ways.get(seen)
            if fork is None:
                fork = ways[seen] = _Fork(place, self._at(place))
            assert isinstance(fork, _Fork) and fork.place == place
            ways, seen = fork.ways, packed[fork.at]
        ways[seen] = found


def _written(packed: Packed, writes: Writes) -> Packed:
    """The state after these changes."""
    if not writes:
        return packed
    if len(writes) == 1:
        (place, number), = writes
        return (*packed[:place], number, *packed[place + 1:])
    numbers = list(packed)
    for place, number in writes:
        numbers[place] = number
    return tuple(numbers)


# --- instances that fetch their variables when they are first looked at -----------------------

class Fetched:
    """Stands in the class for a variable: the first look at it fetches its value.

    It has no ``__set__``, so the instance's own dictionary comes first from then on.
    """

    def __init__(self, place: int, name: str, thaw: Any, values: Sequence[Any]) -> None:
        self._place, self._name, self._thaw, self._values = place, name, thaw, values

    def __get__(self, instance: _Instance, owner: type) -> Any:
        place = self._place
        value = self._values[instance._packed_before[place]]
        if self._thaw is not None:
            value = self._thaw(value)
        instance._places_read.append(place)
        instance.__dict__[self._name] = value
        return value


class _Instance:
    """The fields of an instance beside its variables: the state before the run, and the places of
    the variables that were read, in order. A variable of a machine may have any other name."""

    __slots__ = ("_is_wholly", "_packed_before", "_places_read")

    _is_wholly: bool
    _packed_before: Packed
    _places_read: list[int]

    def __init_subclass__(cls) -> None:
        """Say nothing to ``Machine``: this declares no machine."""


def _instance_of(interpreter: Interpreter, fetched: Mapping[str, Any]) -> Any:
    machine = interpreter.machine
    made: type[Machine] = type(
        machine.__name__, (_Instance, machine), {**interpreter.constants, **fetched})
    return object.__new__(made)


def _bulk(value: Any) -> int:
    """The number of entries more that a large value counts for: a queue of thousands, a wide set.
    """
    if isinstance(value, tuple):
        return len(value) // 16
    return value.bit_length() // 1024 if isinstance(value, int) else 0
