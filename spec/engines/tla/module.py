"""The whole module, definition by definition."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from ...notation.expr import FALSE, TRUE, Expr, Op
from ...notation.model import LoweredAction, LoweredRule, Model
from .expressions import ATOM, NOT, OPEN, Block, Printer
from .families import Args, generalise, quantifier
from .names import Names, Place, Variable, variables_of
from .state import changes, initial, labels_of, type_of

__all__ = ["Module"]

_HELPERS = {
    "Min": "Min(a_, b_) == IF a_ <= b_ THEN a_ ELSE b_",
    "Max": "Max(a_, b_) == IF a_ <= b_ THEN b_ ELSE a_",
    "FloorDiv": "FloorDiv(a_, b_) == IF b_ > 0 THEN a_ \\div b_ ELSE (-a_) \\div (-b_)",
    "Mod": "Mod(a_, b_) == IF b_ > 0 THEN a_ % b_ ELSE -((-a_) % (-b_))",
    "BoundedSeq": "BoundedSeq(S_, n_) == {s_ \\in Seq(S_) : Len(s_) <= n_}",
}
_TEMPORAL = ("step", "leads to", "eventually always")


@dataclass(frozen=True)
class Definition:
    """A definition for one instance or, with ``parameters``, for several."""

    name: str
    args: tuple[Args, ...]
    parametrised: bool

    def call(self, args: Args) -> str:
        """The definition applied to one instance's arguments."""
        inside = ", ".join(str(value) for value in args.values())
        return f"{self.name}({inside})" if self.parametrised else self.name

    def any_of(self, quantified: str, joined: str, wrapped: str = "{}") -> list[str]:
        """All instances, as one quantified formula if they are all combinations.

        ``quantified`` is ``\\E`` or ``\\A``, ``wrapped`` what is put around each call.
        """
        if not self.parametrised:
            return [wrapped.format(self.name)]
        ranges = quantifier(self.args)
        if ranges is not None:
            names = ", ".join(self.args[0])
            return [f"{quantified} {ranges} : {wrapped.format(f'{self.name}({names})')}"]
        return [wrapped.format(self.call(args)) for args in self.args]


class Module:
    """Prints one model as a TLA+ module; ``theory`` is text for the comment at its head."""

    def __init__(self, model: Model, theory: str = "") -> None:
        self.model = model
        self.theory = theory
        self.names = Names()
        self.name = self.names.new(model.name)
        self.constants = {
            name: self.names.new(name)
            for name, value in model.constants.items() if isinstance(value, Expr)
        }
        self.places: dict[str, Place] = variables_of(model, self.names)
        self.variables: list[Variable] = list(
            dict.fromkeys(place.variable for place in self.places.values()))
        self.printer = Printer(self.names, self.places, self.constants)
        self.defined: list[tuple[Definition, bool]] = []
        self.rule_names: dict[str, str] = {}
        self._parameters: dict[str, str] = {}

    def text(self) -> str:
        """The module's text, with its helpers first."""
        # the helpers stand first but are known only when the rest has been printed
        body = [self._state(), *self._actions(), self._behaviour(), *self._rules()]
        helpers = [text for name, text in _HELPERS.items() if name in self.printer.used]
        parts = [*self._head(), *(["\n".join(helpers)] if helpers else []), *body]
        title = f" MODULE {self.name} "
        return "\n\n".join([title.center(78, "-"), *parts, "=" * 78]) + "\n"

    # --- declarations ----------------------------------------------------------------------

    def _head(self) -> Iterator[str]:
        fixed = {name: value for name, value in self.model.constants.items()
                 if isinstance(value, int)}
        lines = textwrap.dedent(self.theory).strip().splitlines()
        if fixed:
            values = ", ".join(f"{name} = {value}" for name, value in fixed.items())
            lines += ["", f"The constants here: {values}"] if lines else [
                f"The constants here: {values}"]
        if lines:
            yield _comment(lines)
        yield "EXTENDS Integers, Sequences"
        if self.constants:
            names = ", ".join(self.constants.values())
            yield "\n".join([f"CONSTANTS {names}", "", *self._assumptions()])

    def _assumptions(self) -> Iterator[str]:
        for name in self.constants.values():
            yield f"ASSUME {name} \\in Int"
        for text in sorted(self.printer.one(expr) for expr in self.model.assumptions):
            yield f"ASSUME {text}"

    def _state(self) -> str:
        labels = [f"\\* {variable.name}: {text}" for variable in self.variables
                  if (text := labels_of(variable))]
        names = ", ".join(variable.name for variable in self.variables)
        declared = [*labels, f"VARIABLES {names}", ""] if self.variables else []
        indices = [self.names.new(name) for name in ("i", "j", "k", "l")]
        types = [f"{one.name} \\in {type_of(one, self.printer)}" for one in self.variables]
        values = [
            f"{one.name} = {initial(one, self.printer, indices)}" for one in self.variables]
        return "\n".join([
            *declared, f"vars == <<{names}>>", "",
            "TypeOK ==", _bullets(types), "", "Init ==", _bullets(values),
        ])

    # --- actions -----------------------------------------------------------------------------

    def _actions(self) -> Iterator[str]:
        for _, group in groupby(self.model.actions, key=lambda action: action.name):
            instances = list(group)
            bodies = [self._action_body(action) for action in instances]
            args = [self._args(action.args) for action in instances]
            for definition, text in self._definitions(instances[0].name, args, bodies):
                self.defined.append((definition, instances[0].fair))
                yield text

    def _args(self, args: Sequence[tuple[str, int]]) -> dict[str, int]:
        """The arguments of an instance under the parameters' TLA+ names."""
        for name, _ in args:
            if name not in self._parameters:
                self._parameters[name] = self.names.new(name)
        return {self._parameters[name]: int(value) for name, value in args}

    def _definitions(
        self, name: str, args: list[dict[str, int]], bodies: list[str]
    ) -> Iterator[tuple[Definition, str]]:
        body = generalise(bodies, args) if len(bodies) > 1 else None
        if body is not None:
            called = self.names.new(name)
            head = f"{called}({', '.join(args[0])}) ==\n"
            yield Definition(called, tuple(args), True), head + body
            return
        for one, text in zip(args, bodies, strict=True):
            called = self.names.new("_".join([name, *map(str, one.values())]))
            yield Definition(called, (one,), False), f"{called} ==\n{text}"

    def _action_body(self, action: LoweredAction) -> str:
        block = self.printer.block(action.guard, *action.updates.values())
        changed = changes(action.updates, self.places, block)
        kept = [one.name for one in self.variables if one.name not in changed]
        lines = [_guard(part, block) for part in _conjuncts(action.guard)]
        lines += [f"{name}' = {value}" for name, value in changed.items()]
        if kept:
            lines.append(f"UNCHANGED <<{', '.join(kept)}>>")
        return _with_lets(block, _bullets(lines or ["TRUE"]))

    # --- behaviour --------------------------------------------------------------------------

    def _behaviour(self) -> str:
        steps = [text for one, _ in self.defined for text in one.any_of("\\E", "\\/")]
        fair = [
            f"/\\ {text}" for one, is_fair in self.defined if is_fair
            for text in one.any_of("\\A", "/\\", "WF_vars({})")]
        parts = ["/\\ Init", "/\\ [][Next]_vars", *fair]
        return "\n".join([
            "Next ==", _bullets(steps or ["FALSE"], "\\/"), "",
            "Spec ==", *(f"    {part}" for part in parts),
        ])

    # --- rules -----------------------------------------------------------------------------

    def _rules(self) -> Iterator[str]:
        for _, group in groupby(self.model.rules, key=lambda lowered: lowered.rule.id):
            instances = list(group)
            rule = instances[0].rule
            called = self.names.new(rule.name)
            self.rule_names[rule.id] = called
            bodies = [self._rule_body(lowered) for lowered in instances]
            whole = self._for_all([self._args(lowered.args) for lowered in instances], bodies)
            if rule.kind == "step":
                # TLC takes a quantifier inside the box, and none around it
                whole = f"    [][\n{textwrap.indent(whole, '    ')}\n    ]_vars"
            heading = _comment([f"{rule.id} {rule.strength.value}: {rule.statement}",
                                f"Source: {rule.source}"])
            yield f"{heading}\n{called} ==\n{whole}"

    def _for_all(self, args: list[dict[str, int]], bodies: list[str]) -> str:
        if len(bodies) == 1:
            return bodies[0]
        body, ranges = generalise(bodies, args), quantifier(args)
        if body is not None and ranges is not None:
            return f"    \\A {ranges} :\n{textwrap.indent(body, '    ')}"
        return "\n".join(f"    /\\ {textwrap.indent(text, ' ' * 7).strip()}" for text in bodies)

    def _rule_body(self, lowered: LoweredRule) -> str:
        block = self.printer.block(*lowered.exprs)
        first = lowered.exprs[0]
        kind = lowered.rule.kind
        if kind in ("always", "step"):
            parts = _conjuncts(first) or (first,)
            needed = NOT if len(parts) > 1 else OPEN
            return _with_lets(block, _bullets([block.text(part, needed) for part in parts]))
        if kind == "never stuck":
            rest = "" if first is FALSE else f" \\/ {block.text(first, NOT)}"
            return _with_lets(block, f"    ENABLED Next{rest}")
        whole = block.with_lets(block.text(first, NOT if not block.lets else OPEN))
        if kind == "eventually always":
            return f"    <>[]({whole})"
        conclusion = block.with_lets(block.text(lowered.exprs[1]))
        return f"    ({whole}) ~> ({conclusion})"

    # --- configuration ----------------------------------------------------------------------

    def configuration(self, values: Mapping[str, int], rules: Sequence[str] | None) -> str:
        """The text of the ``.cfg`` file for TLC; to be asked for after ``text``."""
        lines = ["\\* Run TLC with -deadlock: the machine has its own rule about deadlock.",
                 "SPECIFICATION Spec"]
        lines += [f"CONSTANT {called} = {values[name]}" for name, called in self.constants.items()]
        lines.append("INVARIANT TypeOK")
        kinds = {lowered.rule.id: lowered.rule.kind for lowered in self.model.rules}
        for rule_id, called in self.rule_names.items():
            if rules is None or rule_id in rules:
                kind = "PROPERTY" if kinds[rule_id] in _TEMPORAL else "INVARIANT"
                lines.append(f"{kind} {called}")
        return "\n".join(lines) + "\n"


# --- text -----------------------------------------------------------------------------------

def _conjuncts(expr: Expr) -> tuple[Expr, ...]:
    if expr is TRUE:
        return ()
    return expr.operands if isinstance(expr, Op) and expr.op == "and" else (expr,)


def _guard(expr: Expr, block: Block) -> str:
    """A conjunct of a guard.

    In an action TLC follows each side of a disjunction by itself: it would look at the head
    of a queue that the other side has found to be empty, and count a step twice where both
    sides hold. ``= TRUE`` makes it a value.
    """
    chooses = isinstance(expr, Op) and expr.op in ("or", "ite")
    return f"{block.text(expr, ATOM)} = TRUE" if chooses else block.text(expr, NOT)


def _bullets(lines: Sequence[str], bullet: str = "/\\") -> str:
    if len(lines) == 1:
        return f"    {lines[0]}"
    return "\n".join(f"    {bullet} {line}" for line in lines)


def _with_lets(block: Block, body: str) -> str:
    if not block.lets:
        return body
    lets = "\n        ".join(block.lets)
    return f"    LET {lets}\n    IN\n{body}"


def _comment(lines: Sequence[str]) -> str:
    return "\n".join(f"\\* {line}".rstrip() for line in lines)
