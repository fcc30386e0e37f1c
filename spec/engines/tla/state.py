"""The state: its type, its initial value, and how an action changes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...notation.expr import FALSE, TRUE, Expr, Int
from .expressions import ATOM, NOT, Block, Printer
from .families import generalise
from .names import Place, Variable

__all__ = ["changes", "initial", "labels_of", "type_of"]


def type_of(variable: Variable, printer: Printer) -> str:
    """The set of a variable's values."""
    text = printer.set_of(variable.slots[0].type)
    if variable.members is not None:
        text = f"SUBSET (0..{variable.members - 1})"
    for size in reversed(variable.shape):
        text = f"[0..{size - 1} -> {text}]"
    return text


def labels_of(variable: Variable) -> str:
    """The meanings of the numbers of an enumeration, as a comment; empty for other variables."""
    kind = variable.slots[0].type
    names = kind.names if isinstance(kind, Int) else ()
    return ", ".join(f"{number} = {name}" for number, name in enumerate(names))


# --- the initial value -------------------------------------------------------------------------

def initial(variable: Variable, printer: Printer, indices: Sequence[str]) -> str:
    """The initial value; ``indices`` are names for the indices of its dimensions."""
    width = variable.members or 1
    cells = [variable.slots[at:at + width] for at in range(0, len(variable.slots), width)]
    texts = []
    for cell in cells:
        if variable.members is None:
            texts.append(printer.one(cell[0].init, ATOM))
        else:
            members = [(number, slot.init) for number, slot in enumerate(cell)]
            texts.append(_set_with("{}", members, printer.block(*(e for _, e in members))))
    for size, index in reversed(list(zip(variable.shape, indices, strict=False))):
        texts = [
            _function(texts[at:at + size], index) for at in range(0, len(texts), size)]
    return texts[0]


def _function(values: Sequence[str], index: str) -> str:
    """The function from ``0 .. len(values) - 1`` to these values."""
    args = [{index: number} for number in range(len(values))]
    body = generalise(values, args)
    if body is None:
        cases = (f"{index} = {number} -> {value}" for number, value in enumerate(values))
        body = f"CASE {' [] '.join(cases)}"
    return f"[{index} \\in 0..{len(values) - 1} |-> {body}]"


# --- what an action changes --------------------------------------------------------------------

def changes(
    updates: Mapping[str, Expr], places: Mapping[str, Place], block: Block
) -> dict[str, str]:
    """The new value of each variable that an action changes, by the variable's name."""
    cells: dict[str, dict[tuple[int, ...], list[tuple[int | None, Expr]]]] = {}
    for slot, expr in updates.items():
        place = places[slot]
        of_variable = cells.setdefault(place.variable.name, {})
        of_variable.setdefault(place.path, []).append((place.member, expr))
    return {name: _new_value(name, of_variable, block) for name, of_variable in cells.items()}


def _new_value(
    name: str, cells: Mapping[tuple[int, ...], list[tuple[int | None, Expr]]], block: Block
) -> str:
    values = {path: _new_cell(name, path, parts, block) for path, parts in cells.items()}
    if () in values:
        return values[()]
    parts = (
        f"!{''.join(f'[{index}]' for index in path)} = {value}" for path, value in values.items())
    return f"[{name} EXCEPT {', '.join(parts)}]"


def _new_cell(
    name: str, path: tuple[int, ...], parts: list[tuple[int | None, Expr]], block: Block
) -> str:
    members = [(member, expr) for member, expr in parts if member is not None]
    if not members:
        return block.text(parts[0][1], NOT + 2)
    return _set_with(name + "".join(f"[{index}]" for index in path), members, block)


def _set_with(current: str, members: Sequence[tuple[int, Expr]], block: Block) -> str:
    """A set in which each of some members is present exactly where its expression holds."""
    gone = [str(member) for member, expr in members if expr is not TRUE]
    added = [str(member) for member, expr in members if expr is TRUE]
    depending = [
        f"(IF {block.text(expr)} THEN {{{member}}} ELSE {{}})"
        for member, expr in members if expr is not TRUE and expr is not FALSE
    ]
    pieces = [current] if current != "{}" else []
    if gone and pieces:
        pieces = [f"({current} \\ {{{', '.join(gone)}}})"]
    if added:
        pieces.append(f"{{{', '.join(added)}}}")
    return " \\union ".join([*pieces, *depending]) or "{}"
