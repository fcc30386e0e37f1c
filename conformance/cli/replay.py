"""``checkvalve replay``: a saved failure, run again on any target."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.notation.labels import counted

from ..computer.files import check_writable
from ..computer.storage import is_url, place_at
from .options import (
    Seconds, html_option, itf_option, memory_option, names_option, states_option,
)
from ..suites.results import NO_OCCASION
from .outcome import EXPECTED, UNKNOWN, VIOLATED

if TYPE_CHECKING:
    from ..campaigns.replay import Replay
    from ..suites.fixture import Fixture

__all__ = ["command"]


@click.command("replay")
@click.argument("fixture", metavar="FIXTURE")
@click.argument("target", metavar="TARGET")
@click.option("--timeout", type=Seconds(most=3600), default=5.0,
              show_default=True, help="Seconds that the target has for one reply.")
@states_option
@click.option("--max-seconds", type=Seconds(),
              help="Make no request after this many seconds: what is not shown by then is unknown.")
@memory_option
@names_option
@html_option
@itf_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(
    fixture: str, target: str, timeout: float, max_states: int, max_seconds: float | None,
    names: tuple[str, ...],
    html: Path | None, itf: Path | None, as_json: bool,
) -> int:
    """Run the failure in FIXTURE again on TARGET: does it break the same rule?

    Exit code 0 if no rule breaks, 1 if one does, 2 if the target takes another way, on which the
    rule is not shown, if a budget was spent before, or if what it did could not be judged,
    64 for a file that is not a fixture, or one that asks for what the target cannot do.
    """
    from checkvalve.spec.verdicts.deadline import Deadline

    from ..campaigns.replay import replay
    from ..foreign.place import with_names
    from ..systems.targets import resolve_target

    target = with_names(target, names)
    loaded = _load(fixture)
    if html is not None:
        check_writable(html)
    found = replay(
        loaded, resolve_target(target, timeout=timeout), fixture, max_states,
        Deadline(max_seconds))
    undecided = found.unjudged or found.left_at is not None or found.spent
    code = VIOLATED if found.breach is not None else UNKNOWN if undecided else EXPECTED
    if as_json:
        click.echo(json.dumps(_document(loaded, found, code), indent=1, ensure_ascii=False))
    else:
        for line in _lines(loaded, found):
            click.echo(line)
    if html is not None:
        from ..report import write_sections
        from ..report.suites import replay_section
        write_sections(html, "checkvalve replay", [
            replay_section(loaded, found, fixture, list(_outcome(loaded, found)))])
        if not as_json:
            click.echo(f"Report: {html}")
    if itf is not None:
        from ..report.itf import write_replay
        traces = write_replay(itf, loaded, found, fixture)
        if not as_json:
            click.echo(f"{counted(len(traces), 'counterexample')} in the Informal Trace Format "
                       f"in {itf}")
    return code


def _load(named: str) -> Fixture:
    """The fixture in a file, which a URL may name; no more is read of it than a fixture may have.
    Raises ``InputError``."""
    from ..suites.fixture import FIXTURE_BYTES_MAX, read_fixture

    head = _head(named, FIXTURE_BYTES_MAX + 1)
    try:
        text = head.decode("utf-8")
    except UnicodeDecodeError:
        # Cut at the limit, a text may end inside a character; that it is too large counts.
        text = head.decode("utf-8", "replace") if len(head) > FIXTURE_BYTES_MAX else ""
        if not text:
            raise InputError("this is not a fixture: it is not UTF-8 text", named,
                             "Give a file that `checkvalve conform --fixtures` wrote.") from None
    return read_fixture(text, named)


def _head(named: str, most: int) -> bytes:
    if is_url(named):
        place = place_at(named)
        head = place.read(most)
        if head is None:
            raise InputError("there is no such file", str(place), "Give the URL of a fixture.")
        return head
    path = Path(named)
    if path.exists() and not path.is_file():
        raise InputError("this is not a file", named, "Give a fixture, which is one file.")
    with path.open("rb") as file:
        return file.read(most)


def _document(fixture: Fixture, found: Replay, code: int) -> dict[str, Any]:
    breach = found.breach
    return {
        "exit_code": code, "target": found.target, "suite": fixture.suite,
        "rule": fixture.rule_id, "steps": list(found.words), "same": found.same,
        "breach": None if breach is None else {
            "rule": breach.rule.id, "step": breach.step + 1, "statement": breach.rule.statement,
            "allowed": list(breach.allowed), "instead_of": breach.refused,
            "follows_from": None if found.root is None else found.root.rule.id,
        },
        "unjudged": sorted(found.unjudged), "spent": found.spent,
        "not_shown": "" if found.breach is not None or found.left_at is None else NO_OCCASION,
    }


def _lines(fixture: Fixture, found: Replay) -> Iterator[str]:
    from checkvalve.spec.notation.labels import filled

    from ..systems.catalogue import suite_named

    scene = filled(suite_named(fixture.suite).scene, fixture.document["settings"])
    yield f"{fixture.rule_id} on {found.target}. {scene}"
    for number, words in enumerate(found.words, start=1):
        yield f"  {number}. {words}"
    yield from _outcome(fixture, found)


def _outcome(fixture: Fixture, found: Replay) -> Iterator[str]:
    """The lines after the steps; the last one is the verdict."""
    breach = found.breach
    if breach is None:
        if found.left_at is not None:
            yield f"  {found.left_at + 1}. not possible here: what it is about is not there"
        yield _unbroken(fixture, found)
        return
    yield f"This breaks {breach.rule.id} ({breach.rule.strength.value}): {breach.rule.statement}"
    if breach.alternatives:
        yield breach.allowed_in_words()
    if found.root is not None:
        yield (f"It may follow from {found.root.rule.id}, which is broken in step "
               f"{found.root.step + 1} already.")
    if found.same:
        yield "Violated: the same rule, at the same step."
    elif breach.rule.id == fixture.rule_id:
        yield f"Violated: the same rule, at another step ({breach.step + 1})."
    else:
        yield f"Violated: another rule, at step {breach.step + 1}."


def _unbroken(fixture: Fixture, found: Replay) -> str:
    if found.spent:
        return (f"Unknown: {found.spent}, after {counted(len(found.words), 'step')} of "
                f"{fixture.length}. Give it more: --max-seconds, --max-memory.")
    if found.left_at is not None and not found.unjudged:
        return (f"Not shown: {NO_OCCASION}. The target takes another way here, and nothing is "
                f"said of {fixture.rule_id} beyond step {found.left_at}; run the suite on it.")
    if not found.unjudged:
        broke, runs = fixture.came_in
        again = "" if fixture.always_comes else (
            f" Where it was found, it came in {broke} of {runs} runs: run it again.")
        return f"Not broken: {fixture.rule_id} holds in this run.{again}"
    return (f"Unknown: the machine of {', '.join(sorted(found.unjudged))} could be in too many "
            "states, and lost track. Let it hold more: --max-states.")
