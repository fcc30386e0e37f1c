"""The tables of a port as Markdown, for the pages of docs."""

from __future__ import annotations

from checkvalve.conformance.ports.base import Argument, Operation, Port, Vocabulary

__all__ = [
    "fields_table", "operations_table", "policies_table", "settings_table", "vocabularies",
    "words_table",
]


def operations_table(port: Port) -> str:
    """One row an operation: its fields, what ``ok`` holds, whether it may wait, its meaning."""
    rows = ["| `do` | fields | `ok` is | may wait; its event's `ok` is | meaning |",
            "|---|---|---|---|---|"]
    return "\n".join(rows + [_operation_row(each) for each in port.operations.values()])


def settings_table(port: Port) -> str:
    """One row a setting of ``hello``."""
    rows = ["| setting | is | meaning |", "|---|---|---|"]
    return "\n".join(rows + [
        f"| {_field(each)} | {each.kind.words} | {each.meaning} |" for each in port.settings])


def fields_table(port: Port) -> str:
    """One row a field of requests, with the operations that have it in this meaning."""
    of: dict[tuple[str, str, str], list[str]] = {}
    for operation in port.operations.values():
        for each in operation.arguments:
            of.setdefault((_field(each), each.kind.words, each.meaning), []).append(operation.name)
    rows = ["| field | of | is | meaning |", "|---|---|---|---|"]
    return "\n".join(rows + [
        f"| {name} | {', '.join(f'`{each}`' for each in names)} | {kind} | {meaning} |"
        for (name, kind, meaning), names in of.items()])


def vocabularies(port: Port) -> tuple[Vocabulary, ...]:
    """The vocabularies of the names in the port's requests and replies, each once."""
    found: list[Vocabulary] = []
    for operation in port.operations.values():
        kinds = [each.kind for each in operation.arguments] + [operation.answer]
        kinds += [operation.completion] if operation.completion else []
        found += [part for kind in kinds for part in kind.parts if part not in found]
    found += [part for each in port.settings for part in each.kind.parts if part not in found]
    return tuple(found)


def words_table(port: Port) -> str:
    """One row a name that may stand in a request or a reply, beside the fields of requests."""
    rows = ["| in | there may be | which is |", "|---|---|---|"]
    return "\n".join(rows + [
        f"| {each.where} | `{name}` | {meaning} |"
        for each in vocabularies(port) for name, meaning in each.means.items()])


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
