"""What programs of each suite draw, for docs/suites.md and docs/drawn.md: sizes and values."""

from __future__ import annotations

from random import Random

from checkvalve.conformance.suites.suite import AnySuite, Suite
from checkvalve.conformance.suites.values import KEYS, STYLES, in_words
from checkvalve.conformance.systems.catalogue import SYSTEMS

__all__ = ["drawn_table", "styles_table"]


def drawn_table() -> str:
    """One row a suite: its capacities, the requests of its longest program, the fields that have
    values of any style, and the amounts at their ends."""
    rows = ["| suite | capacities | longest program | values of any style "
            "| amounts at their ends |", "|---|---|--:|---|---|"]
    rows += [f"| `{name}` | {_sizes(system.suite)} | {_longest(system.suite)} "
             f"| {_fields(system.suite)} | {_ends(system.suite)} |"
             for name, system in SYSTEMS.items()]
    return "\n".join(rows)


def styles_table() -> str:
    """One row a style: the first values of one program, and whether names and keys have it."""
    rows = ["| style | such as | names and keys |", "|---|---|---|"]
    for name, style in {**STYLES, **KEYS}.items():
        random = Random(name)
        values = ", ".join(f"`{in_words(style(random, number))}`" for number in range(3))
        rows.append(f"| {name} | {values.replace('|', ' ')} | {'yes' if name in KEYS else 'no'} |")
    return "\n".join(rows)


def _sizes(suite: AnySuite) -> str:
    long = suite.long.sizes if suite.long else ()
    return ", ".join(map(str, suite.capacities)) + (
        f"; in long programs {', '.join(f'{size:,}' for size in long)}" if long else "")


def _longest(suite: AnySuite) -> str:
    if suite.long is None:
        return "-"
    return f"{max(map(suite.long.most, (*suite.capacities, *suite.long.sizes))):,}"


def _fields(suite: AnySuite) -> str:
    payloads = suite.payloads if isinstance(suite, Suite) else None
    if payloads is None or not payloads.fields:
        return "-"
    by_field: dict[str, list[str]] = {}
    for operation, field in payloads.fields.items():
        by_field.setdefault(field, []).append(f"`{operation}`")
    told = "; ".join(f"`{field}` of {', '.join(operations)}"
                     for field, operations in by_field.items())
    return told + ("; equal ones, too" if payloads.equal else "")


def _ends(suite: AnySuite) -> str:
    payloads = suite.payloads if isinstance(suite, Suite) else None
    if payloads is None or not payloads.ends:
        return "-"
    return "; ".join(f"`{field}` of `{operation}`: {', '.join(f'{each:,}' for each in amounts)}"
                     for operation, (field, amounts) in payloads.ends.items())
