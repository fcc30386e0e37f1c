"""The tables of a port as Markdown, for the pages of docs."""

from __future__ import annotations

from .base import Argument, Operation, Port

__all__ = ["operations_table", "policies_table", "settings_table"]


def operations_table(port: Port) -> str:
    """One row an operation: its fields, what ``ok`` holds, whether it may wait, its meaning."""
    rows = ["| `do` | fields | `ok` is | may wait; its event's `ok` is | meaning |",
            "|---|---|---|---|---|"]
    return "\n".join(rows + [_operation_row(each) for each in port.operations.values()])


def settings_table(port: Port) -> str:
    """One row a setting of ``hello``."""
    rows = ["| setting | is | meaning |", "|---|---|---|"]
    return "\n".join(rows + [
        f"| `{each.name}` | {each.kind.words} | {each.meaning} |" for each in port.settings])


def policies_table(port: Port) -> str:
    """One row a policy that ``hello`` may answer."""
    rows = ["| `policy` | meaning |", "|---|---|"]
    return "\n".join(rows + [f"| `{name}` | {words} |" for name, words in port.policies.items()])


def _operation_row(operation: Operation) -> str:
    fields = ", ".join(map(_field, operation.arguments)) or "none"
    waits = operation.completion.words if operation.completion else "never"
    always = "" if operation.optional else " (every adapter)"
    return (f"| `{operation.name}`{always} | {fields} | {operation.answer.words} | {waits} "
            f"| {operation.meaning} |")


def _field(argument: Argument) -> str:
    return f"`{argument.name}`" if argument.required else f"`{argument.name}` (may be absent)"
