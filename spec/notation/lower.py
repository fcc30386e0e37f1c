"""From a machine to its model: every action as a guarded functional update.

This is the second reading of a chapter's text, independent of CPython's; the two are
tested against each other on random machines and random states.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from . import expr as e
from .execute import Executor
from .layout import expression_of, slots_of
from .machine import Action, Machine, values_of
from .model import Fault, LoweredAction, LoweredRule, Model, OpenAction
from .ranges import Interval, implied_by, interval
from .rules import Rule
from .source import source_of
from .symbolic import Context, Static, SymArray, SymSet, Value, as_static, truth
from .translate import MachineRef
from .types import ArrayDecl, ConstDecl, Decl, SetDecl

__all__ = ["FREE", "Watch", "lower", "lower_open"]

FREE = e.Int(e.Lit(-(1 << 60)), e.Lit(1 << 60))
"""The type of a parameter that gets its value when its action is taken."""


Watch = Callable[[], None]
"""Is called at every statement and every round of a loop; what it raises ends the lowering."""


def lower(
    machine: type[Machine], constants: Mapping[str, Any],
    symbolic: frozenset[str] = frozenset(), watch: Watch = lambda: None,
) -> Model:
    """The model of a machine under given constants.

    ``symbolic`` names constants to leave as they are, for proofs about all their values;
    a domain's size or a queue that must be unrolled cannot depend on those. ``watch`` may
    raise what its owner wants to see when it has taken too long. Raises NotationError, with
    file and line, for what the notation does not have.
    """
    values: dict[str, Any] = {
        name: e.ConstRef(name) if name in symbolic else constants[name]
        for name in machine.constants_declared
    }
    return _Lowering(machine, values, symbolic, watch).model()


def lower_open(
    machine: type[Machine], constants: Mapping[str, Any], actions: Iterable[str]
) -> tuple[Model, Mapping[str, OpenAction]]:
    """The slots of a machine as a model without actions, and some of its actions by name, each
    with parameters that get their values when it is taken, whatever these are.

    Raises NotationError for what the notation does not have.
    """
    values = {name: constants[name] for name in machine.constants_declared}
    made = _Lowering(machine, values, frozenset(), lambda: None)
    shown = {name: value if isinstance(value, int) else 0 for name, value in values.items()}
    model = Model(machine.__name__, shown, (), made.slots, (), ())
    return model, {name: made.open_action(machine.actions_declared[name]) for name in actions}


class _Lowering:
    def __init__(
        self, machine: type[Machine], constants: dict[str, Any], symbolic: frozenset[str],
        watch: Watch,
    ) -> None:
        self.watch = watch
        self.machine = machine
        self.constants = constants
        self.symbolic = symbolic
        self.slots = tuple(
            slot for name, decl in machine.variables_declared.items()
            for slot in slots_of(name, decl, constants)
        )
        self.types = {slot.name: slot.type for slot in self.slots}
        self.before = self._state(e.Read)

    @cached_property
    def after(self) -> dict[str, Value]:
        """The state after a step, for the rules that speak of it."""
        return self._state(e.ReadAfter)

    def model(self) -> Model:
        """The machine as data: each action for each choice of its parameters, then the rules."""
        actions = [
            self._action(action, args)
            for action in self.machine.actions_declared.values()
            for args in self._choices(action.over)
        ]
        rules = [
            self._rule(rule, args)
            for rule in self.machine.rules_declared if rule.predicate is not None
            for args in self._choices(rule.over)
        ]
        shown = {
            name: value if isinstance(value, int | e.Expr) else 0
            for name, value in self.constants.items()
        }
        return Model(
            self.machine.__name__, shown, tuple(self._assumptions()), self.slots,
            tuple(actions), tuple(rules),
        )

    def _choices(self, over: tuple[tuple[str, Any], ...]) -> list[tuple[tuple[str, int], ...]]:
        from .interpreter import choices
        return choices(over, self.constants)

    # --- state ---------------------------------------------------------------------------

    def _state(self, read: type[e.Read] | type[e.ReadAfter]) -> dict[str, Value]:
        """Every variable as the value that reads its slots."""
        return {
            name: self._variable(name, decl, read)
            for name, decl in self.machine.variables_declared.items()
        }

    def _variable(self, name: str, decl: Decl, read: type[e.Read] | type[e.ReadAfter]) -> Value:
        if isinstance(decl, ArrayDecl):
            return SymArray(tuple(
                self._variable(f"{name}[{int(index)}]", decl.element, read)
                for index in values_of(decl.domain, self.constants)
            ))
        if isinstance(decl, SetDecl):
            members = tuple(values_of(decl.domain, self.constants))
            bits = tuple(read(f"{name}{{{int(m)}}}", e.BOOL) for m in members)
            return SymSet(members, bits)
        return read(name, self.types[name])

    # --- actions ---------------------------------------------------------------------------

    def _run(
        self, function: Any, args: tuple[tuple[str, int | e.Expr], ...], *, mutable: bool,
        extra: tuple[Value, ...] = (),
    ) -> tuple[Context, Value]:
        """Execute a function of the machine on symbols, with its parameters bound to ``args`` and,
        first, to ``extra``; the context afterwards, and the value returned.

        Raises InputError for parameters that are not these, and for code that nests too deeply.
        """
        run = Executor(self.machine, self.constants, self.watch)
        run.after = self.after if extra else {}
        source = source_of(function)
        names = [a.arg for a in source.node.args.args]
        expected = [*names[:1 + len(extra)], *(name for name, _ in args)]
        if len(names) <= len(extra) or sorted(names) != sorted(expected):
            raise source.error(
                source.node, f"{function.__name__} has the parameters ({', '.join(names)}), but "
                f"is called with ({', '.join(expected)})",
                "Give each parameter its domain in the decorator, and no other.",
            )
        given: dict[str, Value] = dict(zip(names, (Static(MachineRef()), *extra), strict=False))
        given.update((name, value if isinstance(value, e.Expr) else as_static(int(value)))
                     for name, value in args)
        ctx = Context(dict(self.before), {}, [], [], mutable=mutable)
        run.calls.append(function)
        inner = ctx.call(given)
        try:
            run.block(inner, source.node.body)
        except RecursionError:
            raise source.error(
                source.node, f"{function.__name__} is nested too deeply to be read",
                "Put the inner expressions or branches into methods of their own.",
            ) from None
        return ctx, Static(None) if inner.returned is None else inner.returned

    def _action(self, action: Action, args: tuple[tuple[str, int], ...]) -> LoweredAction:
        guard, changed, faults, required = self._step(action, args)
        return LoweredAction(
            action.name, args, action.fair, action.internal, guard, changed, faults, required)

    def open_action(self, action: Action) -> OpenAction:
        """An action with parameters that get their values when it is taken."""
        parameters = {name: e.Read(f"({name})", FREE) for name, _ in action.over}
        guard, changed, faults, _ = self._step(action, tuple(parameters.items()))
        return OpenAction(action.name, parameters, guard, changed, faults)

    def _step(
        self, action: Action, args: tuple[tuple[str, int | e.Expr], ...]
    ) -> tuple[e.Expr, Mapping[str, e.Expr], tuple[Fault, ...], tuple[tuple[e.Expr, str], ...]]:
        """The guard, the updates and the faults of an action, and the parts of its guard."""
        ctx, _ = self._run(action.function, args, mutable=True)
        guard = e.and_(*ctx.guards)
        changed = dict(self._changes(ctx.state))
        source = source_of(action.function)
        faults = list(ctx.faults)
        known = implied_by(guard)
        for name, value in changed.items():
            self.watch()
            for condition, what in _out_of_range(value, self.types[name], known):
                whole = e.and_(guard, condition)
                if whole is not e.FALSE:
                    faults.append(
                        Fault(whole, f"{name} {what}", source.file, source.node.lineno))
        return guard, changed, tuple(faults), tuple(zip(ctx.guards, ctx.cited, strict=True))

    def _changes(self, state: Mapping[str, Value]) -> Iterator[tuple[str, e.Expr]]:
        for name, decl in self.machine.variables_declared.items():
            yield from _changed(name, decl, self.before[name], state[name])

    # --- rules -----------------------------------------------------------------------------

    def _rule(self, rule: Rule, args: tuple[tuple[str, int], ...]) -> LoweredRule:
        extra: tuple[Value, ...] = ()
        if rule.kind == "step":
            extra = (Static(MachineRef(after=True)),)
        _, value = self._run(rule.predicate, args, mutable=False, extra=extra)
        if rule.kind == "leads to":
            if not isinstance(value, SymArray) or len(value.items) != 2:
                assert rule.predicate is not None
                source = source_of(rule.predicate)
                raise source.error(
                    source.node, "a leads-to rule returns two truth values",
                    "Return (premise, conclusion).",
                )
            return LoweredRule(rule, args, tuple(truth(item) for item in value.items))
        return LoweredRule(rule, args, (truth(value),))

    def _assumptions(self) -> Iterator[e.Expr]:
        for name, decl in self.machine.constants_declared.items():
            if name in self.symbolic and isinstance(decl, ConstDecl):
                reference = e.ConstRef(name)
                yield e.le(expression_of(decl.at_least, self.constants), reference)
                if decl.at_most is not None:
                    yield e.le(reference, expression_of(decl.at_most, self.constants))
        for assumption in self.machine.assumptions_declared:
            _, value = self._run(assumption, (), mutable=False)
            if truth(value) is not e.TRUE:
                yield truth(value)


def _changed(name: str, decl: Decl, old: Value, new: Value) -> Iterator[tuple[str, e.Expr]]:
    """The slots of a variable that have other values now, in their order."""
    if new is old:
        return
    if isinstance(decl, ArrayDecl):
        assert isinstance(old, SymArray) and isinstance(new, SymArray)
        same_base = new.base is old.base
        for index in sorted(new.changes) if same_base else range(len(old)):
            yield from _changed(f"{name}[{index}]", decl.element, old.at(index), new.at(index))
    elif isinstance(new, SymSet):
        assert isinstance(old, SymSet)
        for member, was, bit in zip(new.members, old.bits, new.bits, strict=True):
            if bit is not was:
                yield f"{name}{{{int(member)}}}", bit
    else:
        assert isinstance(new, e.Expr)
        yield name, new


def _out_of_range(
    value: e.Expr, kind: e.SlotType, known: Mapping[e.Expr, Interval]
) -> Iterator[tuple[e.Expr, str]]:
    """The conditions under which a new value leaves its type's range, in words."""
    if isinstance(kind, e.Record):
        for index, (name, field) in enumerate(kind.fields):
            for condition, what in _out_of_range(e.field(value, index), field, known):
                yield condition, f"field {name} {what}"
    elif isinstance(kind, e.Queue):
        doubtful = {element for element in _elements(value)
                    if any(True for _ in _out_of_range(element, kind.element, known))}
        for under, element in _pushed(value, e.TRUE) if doubtful else ():
            for condition, what in _out_of_range(element, kind.element, known):
                yield e.and_(under, condition), f"gets an element that {what}"
    elif isinstance(kind, e.Int) and kind.lo and kind.hi and value.type != kind:
        low, high = interval(value, known)
        below = isinstance(kind.lo, e.Lit) and kind.lo.value <= low
        above = isinstance(kind.hi, e.Lit) and high <= kind.hi.value
        outside = e.or_(
            e.FALSE if below else e.lt(value, kind.lo),
            e.FALSE if above else e.lt(kind.hi, value),
        )
        if outside is not e.FALSE:
            yield outside, f"leaves {kind.lo}..{kind.hi}"


def _elements(queue: e.Expr) -> Iterator[e.Expr]:
    """The elements that are pushed to a queue, in whatever branch, each once: where many branches
    meet again and again, there are far more ways than elements."""
    seen = {queue}
    stack = [queue]
    while stack:
        here = stack.pop()
        if isinstance(here, e.Op) and here.op in ("ite", "push", "pop"):
            if here.op == "push":
                yield here.operands[1]
            fresh = [each for each in here.operands if isinstance(each.type, e.Queue)
                     and each not in seen]
            seen.update(fresh)
            stack += fresh


def _pushed(queue: e.Expr, under: e.Expr) -> Iterator[tuple[e.Expr, e.Expr]]:
    """The elements that are pushed to a queue, each with the condition of its branch."""
    stack = [(queue, under)]
    while stack:
        here, condition = stack.pop()
        if isinstance(here, e.Op) and here.op == "ite":
            test, then, otherwise = here.operands
            stack.append((otherwise, e.and_(condition, e.not_(test))))
            stack.append((then, e.and_(condition, test)))
        elif isinstance(here, e.Op) and here.op in ("push", "pop"):
            if here.op == "push":
                yield condition, here.operands[1]
            stack.append((here.operands[0], condition))
