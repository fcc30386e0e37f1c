"""``checkvalve identify``: which policy a queue has, found out by asking it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.notation.labels import counted

from .options import Seconds, memory_option, names_option, states_option
from .outcome import EXPECTED, TARGET_FAILED, UNKNOWN, VIOLATED

if TYPE_CHECKING:
    from ..suites.identity import Clue, Identify, Identity, Kind

__all__ = ["command"]

_CODES = {"identified": EXPECTED, "violated": VIOLATED, "unknown": UNKNOWN, "error": TARGET_FAILED}
_GRAVEST_FIRST = (VIOLATED, TARGET_FAILED, UNKNOWN)


@click.command("identify")
@click.argument("targets", nargs=-1, required=True, metavar="TARGET...")
@click.option("--capacity", type=click.IntRange(1, 64), default=3, show_default=True,
              help="The places that the queue is asked for. With 1, some policies are the same.")
@click.option("--limit", type=click.IntRange(1, 64), default=32, show_default=True,
              help="The greatest capacity that is looked for.")
@click.option("--timeout", type=Seconds(most=3600), default=5.0, show_default=True,
              help="Seconds that a target has for one reply.")
@click.option("--max-seconds", type=Seconds(), default=60.0, show_default=True,
              help="Seconds for one target; then what is left is unknown.")
@states_option
@memory_option
@names_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(
    targets: tuple[str, ...], names: tuple[str, ...], capacity: int, limit: int, timeout: float,
    max_seconds: float, max_states: int, as_json: bool,
) -> int:
    """Find out what each TARGET, a queue, does when it is full: its overflow policy.

    A target is one that comes with checkvalve for the suite queue (deque, asyncio.Queue, ...),
    python:package.module:factory, or command:PROGRAM ARGUMENTS.

    Exit code 0 if the policy was identified, 1 if it is another one than the target says it has, 2
    if what was seen fits several or none, 69 if a target failed to answer.
    """
    from ..foreign.place import with_names
    from ..systems.targets import check_name, resolve_target

    if limit < capacity:
        raise InputError(f"a capacity of {capacity} is beyond the limit {limit}", "",
                         "Give --limit at least the --capacity that is asked for.")
    chosen = dict.fromkeys(with_names(target, names) for target in targets)
    suite, identify = _of(chosen)
    for name in chosen:  # all, before anything is run
        check_name(name, suite)
        resolve_target(name, timeout=timeout)
    found = []
    for name in chosen:
        identity = identify(
            resolve_target(name, timeout=timeout), capacity, limit, max_seconds, max_states)
        found.append(identity)
        if not as_json:
            for line in _lines(identity):
                click.echo(line)
            click.echo()
    codes = {_CODES[_verdict(each)] for each in found}
    code = next((each for each in _GRAVEST_FIRST if each in codes), EXPECTED)
    if as_json:
        document = {"exit_code": code, "capacity": capacity, "limit": limit,
                    "targets": [_document(each) for each in found]}
        click.echo(json.dumps(document, indent=1, ensure_ascii=False))
    return code


def _of(targets: Iterable[str]) -> tuple[str, Identify]:
    """The suite that some targets are for, and what finds out of which kind they are."""
    from ..systems.catalogue import SYSTEMS
    from ..systems.targets import is_shipped, suite_for

    able = [name for name, system in SYSTEMS.items() if system.identity]
    ours = [name for name in targets if is_shipped(name)]
    suite = suite_for(ours) if ours or len(able) != 1 else able[0]
    identify = SYSTEMS[suite].identify
    if identify is None:
        raise InputError(
            f"there is no policy to identify in a target of the suite {suite}", "",
            f"Give one of the suite {', '.join(able)}: `checkvalve conform --help` says what "
            "targets are.")
    return suite, identify


def _verdict(identity: Identity) -> str:
    if identity.failed:
        return "error"
    if not identity.identified:
        return "unknown"
    return "identified" if identity.keeps_its_word else "violated"


# --- JSON --------------------------------------------------------------------------------

def _document(identity: Identity) -> dict[str, Any]:
    return {
        "target": identity.target, "verdict": _verdict(identity),
        "policy": identity.policies[0] if identity.identified else None,
        "capacity": identity.kinds[0][1] or None if identity.identified else None,
        "fits": _kinds(identity.kinds), "says": identity.says,
        "evidence": [[_step(clue) for clue in run] for run in identity.evidence],
        "not_looked_for": identity.unseen,
        "questions": identity.asked, "runs": identity.runs,
        "why": identity.why, "next_step": identity.advice,
    }


def _step(clue: Clue) -> dict[str, Any]:
    asked = clue.asked
    return {"question": asked.question, "item": asked.item or None, "answer": asked.answer,
            "rules_out": _kinds(clue.excluded)}


def _kinds(kinds: Iterable[Kind]) -> list[dict[str, Any]]:
    """Some kinds by policy, with the least and the greatest capacity of each."""
    return [{"policy": name, "least": least or None, "most": most or None}
            for name, least, most in _by_policy(kinds)]


def _by_policy(kinds: Iterable[Kind]) -> list[tuple[str, int, int]]:
    capacities: dict[str, list[int]] = {}
    for name, capacity in kinds:
        capacities.setdefault(name, []).append(capacity)
    return [(name, min(all_), max(all_)) for name, all_ in capacities.items()]


# --- text --------------------------------------------------------------------------------

def _lines(identity: Identity) -> Iterator[str]:
    """The report on one target: the verdict, then each run with what its answers rule out."""
    verdict = _verdict(identity)
    yield f"{identity.target}, asked for {counted(identity.capacity, 'place')}: {_found(identity)}"
    if verdict == "error":
        yield f"  The target failed: {identity.why}"
    elif verdict == "unknown":
        yield f"  Unknown: {identity.why}."
    else:
        yield f"  {identity.meaning[0].upper()}{identity.meaning[1:]}."
    if identity.advice:
        yield f"  {identity.advice}"
    clues = [clue for run in identity.evidence for clue in run]
    for number, run in enumerate(identity.evidence):
        yield f"  {_heading(verdict, number)}"
        yield from _trace(run, _Left(identity, clues))
    if identity.says and verdict != "error":
        yield from _closing(identity, verdict)


def _found(identity: Identity) -> str:
    if identity.failed:
        return "error"
    if not identity.identified:
        return "unknown"
    if not identity.kinds[0][1]:
        bound = f" up to {identity.limit} items" if identity.policies[0] == "unbounded" else ""
        return f"{identity.policies[0]}{bound}"
    return f"{identity.policies[0]}, capacity {identity.kinds[0][1]}"


def _heading(verdict: str, number: int) -> str:
    if verdict == "unknown":
        return "What was seen:" if number == 0 else "And of another fresh queue:"
    if number == 0:
        return "What tells it from the others, asked of a fresh queue:"
    return "And of another, for what is left:"


def _trace(run: Sequence[Clue], left: _Left) -> Iterator[str]:
    """The steps of a run; questions that are alike share a line."""
    first = 1
    for alike in _alike(run):
        last = first + len(alike) - 1
        number = f"{first}." if first == last else f"{first} to {last}."
        yield f"    {number} {_words(alike)}"
        if out := [kind for clue in alike for kind in clue.excluded]:
            yield f"       rules out {', '.join(left.after(out))}"
        first = last + 1


class _Left:
    """Says of what is ruled out whether all of a policy went, or some of its capacities."""

    def __init__(self, identity: Identity, clues: Iterable[Clue]) -> None:
        self._fits = {name for name, _, _ in _by_policy(identity.kinds)}
        self._kinds = [*identity.kinds, *(kind for clue in clues for kind in clue.excluded)]

    def after(self, out: list[Kind]) -> Iterator[str]:
        """The kinds that went, in words, each policy once."""
        for kind in out:
            self._kinds.remove(kind)
        alive = {name for name, _, _ in _by_policy(self._kinds)}
        for name, least, most in _by_policy(out):
            if name not in alive:
                yield name
            elif name in self._fits and least < most:
                yield f"{name} of other capacities"
            else:
                yield _with_capacity(name, least, most)


def _alike(run: Sequence[Clue]) -> Iterator[list[Clue]]:
    group: list[Clue] = []
    for clue in run:
        if group and not _continues(group[-1], clue):
            yield group
            group = []
        group.append(clue)
    if group:
        yield group


def _continues(before: Clue, clue: Clue) -> bool:
    """True if a question is the one before once more, with the same answer or the next item."""
    one, other = before.asked, clue.asked
    if one.question != other.question:
        return False
    return one.answer == other.answer or _number(one.answer) + 1 == _number(other.answer) > 1


def _number(answer: str) -> int:
    """The 3 of ``a3``; 0 for what is no item."""
    return int(answer[1:]) if answer[:1] == "a" and answer[1:].isdigit() else 0


def _words(alike: Sequence[Clue]) -> str:
    first, last = alike[0].asked, alike[-1].asked
    items = first.item if first.item == last.item else f"{first.item} to {last.item}"
    answers = first.answer if first.answer == last.answer else f"{first.answer} to {last.answer}"
    return f"{first.question} {items}".rstrip() + f": {answers}"


def _with_capacity(name: str, least: int, most: int) -> str:
    if not most:
        return name
    return f"{name} of {least}" if least == most else f"{name} of {least} to {most}"


def _closing(identity: Identity, verdict: str) -> Iterator[str]:
    if verdict == "unknown" and identity.kinds:
        yield f"  It may be {' or '.join(_with_capacity(*e) for e in _by_policy(identity.kinds))}."
    contradicts = " That is not what it does." if verdict == "violated" else ""
    yield f"  It says of itself: {identity.says}.{contradicts}"
    if identity.unseen:
        missing = "; ".join(
            f"{policy}, which takes `{takes}`" for policy, takes in identity.unseen.items())
        yield f"  Not looked for: {missing}."
    yield (f"  {counted(identity.asked, 'question')} to {counted(identity.runs, 'fresh queue')}; "
           f"capacities up to {identity.limit} were looked for.")
