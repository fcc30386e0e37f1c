"""``checkvalve rules``: the rule book, and where each of its rules is used."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import click

from checkvalve.spec.notation.labels import counted
from checkvalve.spec.notation.rules import natural

from .outcome import EXPECTED

if TYPE_CHECKING:
    from checkvalve.spec.notation.rules import Rule

__all__ = ["Entry", "Uses", "command", "entries"]


@dataclass(frozen=True)
class Uses:
    """Where a rule is used: each a list of names, empty where it is not.

    ``proof``: machines on which ``verify`` decides it. ``test``: suites that look for a
    breach of it in implementations. ``monitor``: machines that name it when they refuse
    what an implementation did.
    """

    proof: list[str]
    test: list[str]
    monitor: list[str]


@dataclass(frozen=True)
class Entry:
    """One rule of the book. ``untested`` says why no suite tests it, or is None.

    ``broken_by`` is a small change of a machine that breaks the rule, a step that an observer
    refuses by it, or a broken twin; None where none is known, so that the rule may say nothing.
    ``read_on``: where the repository tells what the source cites, as ``file#anchor``.
    """

    id: str
    strength: str
    statement: str
    source: str
    read_on: list[str]
    chapter: str
    uses: Uses
    untested: str | None
    broken_by: str | None


@click.command("rules")
@click.argument("chapters", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(chapters: tuple[str, ...], as_json: bool) -> int:
    """List the rules of CHAPTERS (all if none are named), and where each is used."""
    found = list(entries(chapters))
    if as_json:
        document = {"rules": [asdict(entry) for entry in found]}
        click.echo(json.dumps(document, indent=1, ensure_ascii=False))
        return EXPECTED
    chapter = ""
    for entry in found:
        if entry.chapter != chapter:
            chapter = entry.chapter
            click.echo(click.style(f"\n{chapter}", bold=True))
        for line in _lines(entry):
            click.echo(line)
    tested = sum(entry.untested is None for entry in found)
    breakable = sum(entry.broken_by is not None for entry in found)
    click.echo(f"\n{counted(len(found), 'rule')}; {tested} of them tested on implementations; "
               f"a small change of its machine breaks {breakable}.")
    return EXPECTED


def entries(names: Iterable[str] = ()) -> Iterator[Entry]:
    """The rules of some chapters (all if none are named), each once, where it comes first.

    Raises ``InputError`` for a name that is no chapter's.
    """
    from checkvalve.spec.chapters import Chapter
    from checkvalve.spec.chapters import chapters as book
    from checkvalve.spec.citations import citations
    from checkvalve.spec.witnesses.book import witnesses

    def uses(rule: Rule, chapter: Chapter) -> Uses:
        proof = [
            f"{each.name}.{expectation.machine.__name__}"
            for each in selected for expectation in each.expectations
            if expectation.rule == rule.id
        ]
        return Uses(list(dict.fromkeys(proof)), _suites_with(rule), list(_monitors(rule)))

    selected = list(book(names))
    seen: set[str] = set()
    for chapter in selected:
        for rule in sorted(chapter.rules, key=lambda rule: natural(rule.id)):
            if rule.id not in seen:
                seen.add(rule.id)
                used = uses(rule, chapter)
                witness = witnesses().get(rule.id)
                yield Entry(
                    rule.id, rule.strength.value, rule.statement, rule.source,
                    [cited.where for cited in citations(rule.source)], chapter.name, used,
                    None if used.test else _untested(rule),
                    _twin_with(rule) if witness is None else str(witness),
                )


def _suites_with(rule: Rule) -> list[str]:
    from ..systems.catalogue import SYSTEMS

    # By id: an observer's machine cites a rule of another chapter (``seen_from_outside``).
    return [name for name, system in SYSTEMS.items() if system.suite.rule(rule.id) is not None]


def _twin_with(rule: Rule) -> str | None:
    """A broken twin that dies by the rule, in words."""
    from ..systems.catalogue import zoo

    for name, twin in zoo().items():
        if twin.rule == rule.id and not twin.equivalent:
            return f"the twin zoo:{name} of the suite {twin.suite}: {twin.bug}"
    return None


def _monitors(rule: Rule) -> Iterator[str]:
    from checkvalve.spec.chapters import chapter_of

    from ..systems.catalogue import SYSTEMS

    for system in SYSTEMS.values():
        cited = system.suite.rule(rule.id)
        for machine in () if cited is None else system.suite.machines(cited):
            yield f"{chapter_of(machine.__module__)}.{machine.__name__}"


def _untested(rule: object) -> str:
    kind = getattr(rule, "kind", "")
    if kind == "guard":
        return "no suite watches a machine that cites it"
    return (f"it speaks of states of the machine ({kind}), which an implementation does not "
            "show; verify decides it")


def _lines(entry: Entry) -> Iterator[str]:
    yield f"{entry.id}  {entry.strength}  {entry.statement}"
    yield f"      source: {entry.source}"
    if entry.read_on:
        yield f"      read on: {', '.join(entry.read_on)}"
    for how, where in (("proved or searched", entry.uses.proof), ("tested by", entry.uses.test),
                       ("monitored by", entry.uses.monitor)):
        if where:
            yield f"      {how}: {', '.join(where)}"
    if entry.broken_by:
        yield f"      broken by: {entry.broken_by}"
    if entry.untested:
        yield f"      untested: {entry.untested}"
