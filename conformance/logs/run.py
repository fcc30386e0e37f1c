"""A whole run: files in, notes out; each key by a judge of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ...spec.notation.errors import InputError
from ...spec.verdicts.deadline import Spent
from .events import Event, in_line
from .formats import Format
from .histories import Histories
from .kinds import STATES, KeyJudge, Logs, Terms
from .mapping import Mapped, plain, read_mapping
from .notes import Notes
from .order import in_order
from .patience import Patience
from .readers import Log

__all__ = ["Judged", "check_files", "fitting", "judge_files", "mapped_for", "opened", "terms_of"]


_LOOK = 0x3FF
"""One less than the number of events after which ``watch`` is called."""


@dataclass
class Judged:
    """The end of a run: its notes, the numbers of its events and keys, of records that the recorder
    dropped, and of lines that the mapping ignores. ``by_time``: the order is that of times.
    ``spent`` is the budget that was spent before the end of the log."""

    notes: Notes
    events: int = 0
    keys: int = 0
    gaps: int = 0
    ignored: int = 0
    terms: Terms = field(default_factory=Terms)
    by_time: bool = False
    spent: str = ""


def opened(paths: Sequence[Path], mapping: Path | None, logs: Logs,
           settings: Mapping[str, int], kind: Format | None = None,
           whole: bool = True) -> tuple[list[Log], Mapped]:
    """The files with their mapping; settings of the command line replace those of the mapping.
    ``kind`` is their format, if it is not by their names. Settings may be missing if not ``whole``.
    Raises ``InputError``."""
    check_files(paths)
    mapped = mapped_for(mapping, logs, settings, kind, whole)
    rows = None if kind is None else kind.rows
    return [Log(path, mapped, list(logs.operations), rows) for path in paths], mapped


def check_files(paths: Sequence[Path]) -> None:
    """Raise ``InputError`` for a path that is no file."""
    for path in paths:
        if not path.is_file():
            raise InputError("there is no such file" if not path.exists() else
                             "this is not a regular file", str(path), "Give a file of a log.")


def mapped_for(mapping: Path | None, logs: Logs, settings: Mapping[str, int],
               kind: Format | None = None, whole: bool = True) -> Mapped:
    """The mapping in a file, or else that of the format, or the plain one, checked with settings
    of the command line, of which some may be missing if not ``whole``. Raises ``InputError``."""
    operations = list(logs.operations)
    if mapping is not None:
        mapped = read_mapping(mapping, operations)
    else:
        mapped = plain() if kind is None else kind.mapped_to(operations)
    if kind is not None:
        called_for = {name: value for name, value in kind.mapped.settings.items()
                      if name in logs.settings}
        mapped = replace(mapped, settings=called_for | {
            name: value for name, value in mapped.settings.items() if mapping is not None})
    logs.check(mapped.settings, str(mapping or ""), whole=False)
    logs.check({**mapped.settings, **settings}, "", whole)
    return mapped


def terms_of(
    mapped: Mapped, settings: Mapping[str, int], drained: bool, remember: int, states: int = STATES,
    patience: int = 0,
) -> Terms:
    """The terms that a mapping and the command line give."""
    return Terms({**mapped.settings, **settings}, mapped.begins == "start", drained, remember,
                 mapped.tolerance, states, patience)


def judge_files(
    files: Sequence[Log], logs: Logs, terms: Terms, watch: Callable[[int], None] = lambda at: None,
    keeps: bool = False, is_mine: Callable[[str], bool] | None = None,
) -> Judged:
    """Judge the events of some files, or those of the keys that are ``is_mine``. ``watch`` gets the
    number of those that were taken, now and then; it may raise, and ends the judging where that is
    ``Spent``: what was found so far stays. ``keeps`` all doubts, and not only the first of each
    rule."""
    notes = Notes(doubts=[] if keeps else None, checked=Histories(logs, terms))
    found = Judged(notes, terms=terms, by_time=any(file.mapped.order == "time" for file in files))
    common = logs.common(terms, notes)
    judges: dict[str, KeyJudge] = {}
    patience = Patience.of(logs, terms)
    try:
        for event in checked(files, logs):
            if is_mine is not None and not is_mine(event.key):
                if patience is not None and event.time is not None:
                    patience.hears(event.time)
                continue
            judge = judges.get(event.key)
            if judge is None:
                judge = judges[event.key] = logs.judge(event.key, terms, notes, common)
            for rest in patience.before(event) if patience is not None else ():
                judge.take(rest)
            judge.take(event)
            found.events += 1
            if found.events & _LOOK == 1:
                watch(found.events)
        for key, judge in judges.items():
            for rest in patience.at_end(key) if patience is not None else ():
                judge.take(rest)
            judge.end()
    except Spent as late:
        found.spent = str(late)
    found.keys = len(judges)
    found.gaps = sum(file.gaps for file in files)
    found.ignored = sum(file.ignored for file in files)
    return found


def checked(files: Sequence[Log], logs: Logs) -> Iterator[Event]:
    """The events in their order, each with what its operation needs. Raises ``InputError``."""
    for event in in_order(files, logs.named("sends"), logs.named("receives")):
        found = fitting(event, logs)
        if found is not None:
            yield found


def fitting(event: Event, logs: Logs) -> Event | None:
    """An event as its operation has it; None for a beginning that says nothing. Raises
    ``InputError`` where it lacks what that needs."""
    call = logs.operations[event.operation]
    if event.phase not in call.phases:
        if event.phase == "begin":
            return None     # what it did is known at its end
        if event.phase != "end" or "point" not in call.phases:
            raise in_line(
                f"a {event.operation} has the phase {event.phase!r}", event.file, event.line,
                f"It has {' or '.join(call.phases)}: map \"phase\".")
        event = event._replace(phase="point")
    for name in () if event.phase == "begin" and call.by_end else call.needs:
        if getattr(event, name) is None:
            raise in_line(f"a {event.operation} has no {name}", event.file, event.line,
                          f"Map {name!r} to a column: {call.meaning}.")
    return event
