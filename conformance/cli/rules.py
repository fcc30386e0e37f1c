"""``checkvalve rules``: the rule book, and where each of its rules is used."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

import click

from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.notation.labels import counted
from checkvalve.spec.notation.rules import natural
from checkvalve.spec.shelf import subject_of

from .judge import judged_of
from .outcome import EXPECTED

if TYPE_CHECKING:
    from checkvalve.spec.notation.machine import Machine
    from checkvalve.spec.notation.rules import Rule
    from checkvalve.spec.reach import Judging, Way

__all__ = ["RULE", "Entry", "Refused", "Uses", "command", "entries", "judging"]


RULE = re.compile(r"[A-Za-z]+(?:-[A-Za-z]+)*-[A-Za-z]*\d+(?:\.\d+)*[A-Za-z]*")
"""The form of a rule's id, which no chapter's name has."""


@dataclass(frozen=True)
class Uses:
    """Where a rule is used: each a list of names, empty where it is not.

    ``proof``: machines on which ``verify`` decides it. ``test``: suites that look for a
    breach of it in implementations. ``monitor``: machines that name it when they refuse
    what an implementation did. ``logs``: by suite that has it, whether it is judged on recorded
    logs: always, with what, or never.
    """

    proof: list[str]
    test: list[str]
    monitor: list[str]
    logs: dict[str, str]


@dataclass(frozen=True)
class Refused:
    """How many machines that break a rule are refused, of how many; ``accepted`` is one that is
    not, in words, or None. ``equivalent`` mutants more break it and show nothing else than the
    right machine shows. ``tried`` mutants were looked at in all where fewer than three machines
    are known, else it is 0."""

    refused: int
    of: int
    accepted: str | None
    equivalent: int
    tried: int = 0


@dataclass(frozen=True)
class Entry:
    """One rule of the book.

    ``through`` says through which rules of an observer it is tested, where no suite tests it
    directly: they refuse all that is known to break it, which ``refused`` counts. ``few``: these
    are fewer than three, and a search found no other; it does not count as tested. ``untested`` is
    why it is not tested, or None. ``bookkeeping`` is why no implementation can break it, where it
    is about an observer's own notes, or None.

    ``broken_by`` is a small change of a machine that breaks the rule, or a step that an
    observer refuses by it; None where none is known, so that the rule may say nothing.
    ``read_on``: where the repository says what the source cites, as ``file#anchor``.
    """

    id: str
    strength: str
    statement: str
    source: str
    read_on: list[str]
    chapter: str
    uses: Uses
    through: list[str]
    refused: Refused | None
    few: bool
    untested: str | None
    bookkeeping: str | None
    broken_by: str | None


@click.command("rules")
@click.argument("names", nargs=-1, metavar="[CHAPTER|RULE]...")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(names: tuple[str, ...], as_json: bool) -> int:
    """List the rules of chapters (all if nothing is named), or some by their ids, as FLOW-51, and
    where each is used."""
    ids = [name.upper() for name in names if RULE.fullmatch(name)]
    chapters = [name for name in names if not RULE.fullmatch(name)]
    found = list(entries(chapters)) if chapters or not ids else []
    found += _by_id(set(ids) - {entry.id for entry in found}) if ids else []
    if as_json:
        document = {"rules": [asdict(entry) for entry in found]}
        click.echo(json.dumps(document, indent=1, ensure_ascii=False))
        return EXPECTED
    chapter = subject = ""
    several = len({subject_of(entry.chapter) for entry in found}) > 1
    for entry in found:
        if several and subject_of(entry.chapter) != subject:
            subject = subject_of(entry.chapter)
            click.echo("\n" + click.style(subject.capitalize(), bold=True, underline=True))
        if entry.chapter != chapter:
            chapter = entry.chapter
            click.echo(click.style(f"\n{chapter}", bold=True))
        for line in _lines(entry):
            click.echo(line)
    if ids and not chapters:
        return EXPECTED
    for line in _totals(found):
        click.echo(line)
    click.echo(_breakers(found))
    return EXPECTED


def _by_id(ids: set[str]) -> list[Entry]:
    """Rules of whatever chapters. Raises ``InputError`` for an id that no rule has."""
    every = list(entries())
    for missing in sorted(ids - {entry.id for entry in every}):
        near = get_close_matches(missing, [entry.id for entry in every], n=3)
        raise InputError(f"there is no rule {missing[:80]!r}", next_step=(
            f"Did you mean {' or '.join(map(repr, near))}?" if near
            else "`checkvalve rules` lists them all."))
    return [entry for entry in every if entry.id in ids]


def _breakers(found: list[Entry]) -> str:
    """How many rules something is known to break, and what it is."""
    from checkvalve.spec.witnesses.book import witnesses
    kinds = Counter(
        witnesses()[entry.id].kind for entry in found if entry.id in witnesses())
    told = ", ".join(f"{kind} {number}" for kind, number in kinds.most_common())
    return f"Something is known to break {kinds.total()} of {len(found)}" + (
        f": {told}." if told else ".")


def _totals(found: list[Entry]) -> Iterator[str]:
    """The three numbers: of all rules, and of those that are a MUST; and what is none of them."""
    from checkvalve.spec.witnesses.refused import ENOUGH

    claims = sum(entry.strength == "CLAIM" for entry in found)
    books = sum(entry.bookkeeping is not None for entry in found)
    rules = [e for e in found if e.strength != "CLAIM" and e.bookkeeping is None]
    for what, some in ((counted(len(rules), "rule"), rules),
                       ("Of those that are a MUST", [e for e in rules if e.strength == "MUST"])):
        direct = sum(bool(entry.uses.test) for entry in some)
        few = sum(entry.few for entry in some)
        through = sum(bool(entry.through) for entry in some) - few
        partly = sum(entry.refused is not None and entry.refused.refused > 0
                     for entry in some if entry.untested)
        rest = len(some) - direct - through
        share = f" ({(direct + through) / len(some):.0%} are tested)" if some else ""
        lead = "\n" if some is rules else ""
        yield (f"{lead}{what}: {direct} tested on implementations directly, {through} through an "
               f"observer that refuses all that is known to break them, {ENOUGH} machines or more, "
               f"{rest} not{share}. Of these {rest}, {few} rest on one machine or two that break "
               "them, which are refused, and a search found no third; "
               f"{partly} are seen in part: an observer refuses some machines that break them, and "
               "accepts others.")
    yield (f"{counted(books, 'rule')} besides: an observer's own bookkeeping, which no "
           "implementation can break.")
    yield (f"{counted(claims, 'claim')} of the texts besides: what they say, and no right "
           "implementation keeps.")


def entries(names: Iterable[str] = ()) -> Iterator[Entry]:
    """The rules of some chapters (all if none are named), each once, where it comes first.

    Raises ``InputError`` for a name that is no chapter's.
    """
    from checkvalve.spec.chapters import Chapter
    from checkvalve.spec.chapters import chapters as book
    from checkvalve.spec.citations import citations
    from checkvalve.spec.reach import bookkeeping, unseen, ways
    from checkvalve.spec.witnesses.book import witnesses
    from checkvalve.spec.witnesses.refused import known_breakers, tried

    def uses(rule: Rule, chapter: Chapter) -> Uses:
        proof = [
            f"{each.name}.{expectation.machine.__name__}"
            for each in selected for expectation in each.expectations
            if expectation.rule == rule.id
        ]
        return Uses(list(dict.fromkeys(proof)), _suites_with(rule), list(_monitors(rule)),
                    _on_logs(rule))

    selected = list(book(names))
    whole = list(book())
    reach = _Reach(ways(whole, judging(), known_breakers(), tried()), unseen(whole),
                   bookkeeping(whole))
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
                    *reach.of(rule, used), None if witness is None else str(witness),
                )


def judging() -> Judging:
    """The machines by which suites judge, each with the ids of the rules that they name by it."""
    from ..systems.catalogue import SYSTEMS

    found: dict[type[Machine], set[str]] = {}
    for system in SYSTEMS.values():
        for rule in system.suite.rules():
            for machine in system.suite.machines(rule):
                found.setdefault(machine, set()).add(rule.id)
    return found


def _suites_with(rule: Rule) -> list[str]:
    from ..systems.catalogue import SYSTEMS

    # By id: an observer's machine cites a rule of another chapter (``seen_from_outside``).
    return [name for name, system in SYSTEMS.items() if system.suite.rule(rule.id) is not None]


def _on_logs(rule: Rule) -> dict[str, str]:
    from ..systems.catalogue import SYSTEMS

    found = {}
    for name, system in SYSTEMS.items():
        how = judged_of(system).get(rule.id)
        if how is not None:
            found[name] = f"never: {system.no_logs}" if system.logs is None else how
    return found


def _monitors(rule: Rule) -> Iterator[str]:
    from checkvalve.spec.chapters import chapter_of

    from ..systems.catalogue import SYSTEMS

    for system in SYSTEMS.values():
        cited = system.suite.rule(rule.id)
        for machine in () if cited is None else system.suite.machines(cited):
            yield f"{chapter_of(machine.__module__)}.{machine.__name__}"


@dataclass(frozen=True)
class _Reach:
    """How rules reach implementations, by id: by refinements, not at all, and not in question."""

    tied: Mapping[str, Way]
    hidden: Mapping[str, str]
    books: Mapping[str, str]

    def of(
        self, rule: Rule, used: Uses
    ) -> tuple[list[str], Refused | None, bool, str | None, str | None]:
        """Through what a rule is tested, what is refused, whether that is too little, why it is
        not tested, and why there is nothing to test."""
        if used.test or rule.id in self.books:
            return [], None, False, None, self.books.get(rule.id)
        way = self.tied.get(rule.id)
        if way is None or not way.of and not way.texts:
            return [], None, False, self.hidden.get(rule.id, _no_tie(rule)), None
        refused = (Refused(way.refused, way.of, way.accepted or None, way.equivalent, way.tried)
                   if way.of else None)
        if way.is_refused and rule.id not in self.hidden:
            return list(way.texts), refused, not way.is_tested, None, None
        return [], refused, False, self.hidden.get(rule.id, (
            f"its observers refuse {way.refused} of {way.of} machines that break it, and accept "
            f"{way.accepted}")), None


def _nth(number: int) -> str:
    return ("first", "second", "third")[number - 1]


def _no_tie(rule: Rule) -> str:
    return f"nothing that breaks it is known to be refused by an observer; it is about {rule.kind}"


def _lines(entry: Entry) -> Iterator[str]:
    """A rule as it is listed: its sentence, its sources, where it is used, and what is known to
    break it."""
    yield f"{entry.id}  {entry.strength}  {entry.statement}"
    yield f"      source: {entry.source}"
    if entry.read_on:
        yield f"      read on: {', '.join(entry.read_on)}"
    for how, where in (("proved or searched", entry.uses.proof), ("tested by", entry.uses.test),
                       ("monitored by", entry.uses.monitor)):
        if where:
            yield f"      {how}: {', '.join(where)}"
    if entry.uses.logs:
        told = "; ".join(f"{suite}: {how}" for suite, how in entry.uses.logs.items())
        yield f"      on recorded logs: {told}"
    if entry.broken_by:
        yield f"      broken by: {entry.broken_by}"
    for way in entry.through:
        yield f"      tested through {way}"
    if entry.refused:
        accepted = f"; accepted: {entry.refused.accepted}" if entry.refused.accepted else ""
        if entry.few:
            accepted = (
                f"; no {_nth(entry.refused.of + 1)} machine breaks it among "
                f"{counted(entry.refused.tried, 'mutant')}" if entry.refused.tried else
                "; no mutant is asked, for what is tied to it does not have the rule, or keep it")
        more = entry.refused.equivalent
        same = f"; besides, {counted(more, 'mutant')} by which nothing new is shown" if more else ""
        yield (f"      of what breaks it, refused {entry.refused.refused} of {entry.refused.of}"
               f"{accepted}{same}")
    if entry.bookkeeping:
        yield f"      bookkeeping: {entry.bookkeeping}"
    if entry.untested:
        yield f"      untested: {entry.untested}"
