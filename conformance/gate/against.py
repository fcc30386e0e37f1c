"""A gate against a revision: what is there now and was not there then.

The revision's own checkvalve.toml is run in a worktree of it. Rows are compared by their names; a
design in a renamed file is found again by its text, tasks that were renamed by what they are
linked to, a class that moved by its own name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from checkvalve.spec.notation.errors import CheckvalveError, InputError

from .baseline import accepted
from .config import GateConfig, load
from .cycles import cycles_of, is_new, more_possible, said
from .moves import Moves, moves
from .report import GRAVITY, Key, Report, Row
from .revision import Repository, only_in_tree
from .runner import run_gate

__all__ = ["Before", "Change", "report_at"]

_FAILED = ("error", "unavailable")


@dataclass(frozen=True)
class Change:
    """Something that this change adds, removes or no longer looks at, in ``words``. ``counts``: it
    is why the gate is not as expected."""

    section: str
    subject: str
    property: str
    words: str
    counts: bool = False


@dataclass(frozen=True)
class Before:
    """The report as of a revision, with the names that its rows have now.

    ``why`` says why there is none, and is empty if there is; ``notes`` are for the reader.
    ``chapters`` are those that its configuration lists, ``listed`` those of now. They come with
    checkvalve, so whatever is found of them is the same then and now, and only those that are
    listed newly are verified.
    """

    revision: str
    commit: str
    report: Report
    why: str = ""
    notes: tuple[str, ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)
    chapters: tuple[str, ...] = ()
    listed: tuple[str, ...] = ()

    @cached_property
    def _then(self) -> dict[Key, Row]:
        return {row.key: row for row in self.report.rows}

    @cached_property
    def _unusable(self) -> dict[tuple[str, str], Row]:
        """The rows that could not be run as of the revision."""
        return {row.key[:2]: row for row in self.report.rows if row.judgement in _FAILED}

    def accept(self, row: Row) -> Row:
        """The row, accepted if it is no graver than it was then and has no cycle that is new; else
        with what this change adds in its message."""
        if row.judgement not in GRAVITY:
            return row
        then = self._then.get(row.key)
        if row.judgement == "error" or then is None or (
                GRAVITY[row.judgement] > GRAVITY.get(then.judgement, 0)):
            return self._with_words(row)
        if is_new(row.details, then.details):
            if not then.details.get("all_cycles", True):
                return replace(row, judgement="unknown", message=(
                    f"As of {self.revision} there were too many cycles to list: whether that of "
                    "the counterexample is new cannot be said."))
            return self._with_words(row)
        more = more_possible(row.details, then.details) if row.details.get("around") else []
        if more and then.details.get("all_cycles", True):
            return replace(row, judgement="unknown", message=(
                f"This change makes {said(more[0])} possible. The counterexample ends in another "
                "cycle, so it is not decided whether a run reaches this one."))
        return accepted(row, f"as of {self.revision} already")

    def _with_words(self, row: Row) -> Row:
        words = f"This change {self._adds(row)}."
        return replace(row, message=f"{words} {row.message}".rstrip())

    def changes(self, now: Report) -> dict[str, list[Change]]:
        """All that this change adds and removes, and that is no longer checked."""
        return {"added": list(self._added(now)), "removed": list(self._removed(now)),
                "dropped": list(self._dropped(now))}

    def not_again(self, config: GateConfig) -> tuple[GateConfig, str]:
        """The configuration without the chapters that the revision lists too; and a note on them,
        which is empty where there are none."""
        same = [name for name in config.verify if name in self.chapters]
        if not same:
            return config, ""
        new = tuple(name for name in config.verify if name not in self.chapters)
        return replace(config, verify=new), (
            f"Not verified again: {', '.join(same)}, listed as of {self.revision} already. A "
            "chapter comes with checkvalve, and no change of this repository touches it; the gate "
            "without --against verifies it.")

    def _added(self, now: Report) -> Iterator[Change]:
        for row in now.rows:
            then = self._then.get(row.key)
            if row.judgement in GRAVITY:
                yield Change(*row.key, self._adds(row), counts=True)
            elif row.section != "chapters" and row.judgement == "as expected" and (
                    _is_broken(row)) and (
                    then is None or not _is_broken(then) or is_new(row.details, then.details)):
                yield Change(*row.key, f"{_words(row, 'adds', 'breaks')}, as is expected of it")

    def _removed(self, now: Report) -> Iterator[Change]:
        rows = {row.key: row for row in now.rows}
        for then in self.report.rows:
            after = rows.get(then.key)
            if after is None or not _is_broken(then):
                continue
            gone = after.found not in ("violated", "follows", "unknown", "not shown", "flaky")
            if gone and after.judgement not in _FAILED or (
                    _is_broken(after) and is_new(then.details, after.details)):
                yield Change(*then.key, _words(then, "removes", "no longer breaks"))

    def _dropped(self, now: Report) -> Iterator[Change]:
        listed = {row.key[:2] for row in now.rows}
        for section, subject in dict.fromkeys(row.key[:2] for row in self.report.rows):
            if (section, subject) not in listed:
                yield Change(section, subject, "", f"no longer checks {subject}")
        for name in self.chapters:
            if name not in self.listed:
                yield Change("chapters", name, "", f"no longer verifies chapter {name}")

    def _adds(self, row: Row) -> str:
        """The sentence on a row that is worse than in the other revision, and on what was not known
        there."""
        failed = self._unusable.get(row.key[:2])
        if row.judgement == "error":
            told = f"has {row.subject}, which {row.found}"
            return told if failed is None else f"{told}, as {self.revision} has"
        then = self._then.get(row.key)
        if row.judgement == "unknown":
            return (f"leaves {row.title()} in {row.subject} undecided" if row.section != "suites"
                    else f"leaves {row.property} undecided in {_of_suite(row.subject)}")
        if row.found != "violated":
            told = f"has \"{row.claim()}\" in {row.subject}, where {row.wanted()} is expected"
        else:
            told = _words(row, "adds", "breaks")
        if then is None and failed is not None:
            return f"{told} (or had it before: it could not be run as of {self.revision})"
        return told

    def to_json(self, now: Report) -> dict[str, Any]:
        """The entry ``against`` of the document."""
        return {"revision": self.revision, "commit": self.commit, "why": self.why,
                "notes": list(self.notes), "renamed": dict(self.renamed),
                **{kind: [asdict(change) for change in changes]
                   for kind, changes in self.changes(now).items()}}


def _is_broken(row: Row) -> bool:
    return row.found in ("violated", "follows")


def _of_suite(subject: str) -> str:
    suite, _, target = subject.partition(" on ")
    return f"suite {suite} for target {target}"


def _words(row: Row, adds: str, breaks: str) -> str:
    """A finding in words, after the verb that fits it."""
    if row.section == "chapters":
        return f"{breaks} {row.property} in chapter {row.subject}"
    if row.section == "designs":
        cycles = cycles_of(row.details) if row.details.get("around") else []
        return f"{adds} {said(cycles[0]) if cycles else row.title()} in {row.subject}"
    return f"{breaks} rule {row.property} in {_of_suite(row.subject)}"


def report_at(
    revision: str, config: GateConfig, strict: bool = False,
    show: Callable[[str], None] = lambda line: None,
) -> Before:
    """Run the designs and suites of the configuration as it was at a revision.

    Raises InputError where there is no such revision, or no repository. A configuration that was
    not there, or could not be used then, is a ``why``.
    """
    path = config.path.resolve()
    repository = Repository(path.parent, revision)
    nothing = Report(str(config.path), (), 0.0)
    notes = []
    if dirty := repository.uncommitted():
        notes.append(f"{dirty} file{'s' if dirty > 1 else ''} here {'are' if dirty > 1 else 'is'} "
                     "not committed: what is compared is this folder as it stands. Commit or stash "
                     "them to compare commits.")
    with repository.worktree() as tree:
        then = tree / path.relative_to(repository.top)
        if not then.is_file():
            return Before(revision, repository.commit, nothing,
                          f"{revision} has no {path.relative_to(repository.top)}", tuple(notes))
        try:
            old = load(then)
        except InputError as error:
            return Before(revision, repository.commit, nothing,
                          f"{path.name} of {revision} cannot be used: {error.what}", tuple(notes))
        chapters, old = old.verify, replace(old, verify=())
        show(f"Running what {path.name} lists as of {revision} ({repository.commit[:12]}) …")
        with repository.modules_from(tree, _modules(old)):
            old, gone = _there(old, repository, tree)
            report = run_gate(old, lambda rows: None, strict)
        found = moves(old, config)
    notes += [f"{target} is not there as of {revision}." for target in gone]
    notes += list(_unusable(report, revision))
    return Before(revision, repository.commit, _moved(report, found), "", tuple(notes),
                  found.subjects, chapters, config.verify)


def _modules(config: GateConfig) -> list[str]:
    from ..foreign.place import is_named, place_of

    targets = [target for suite in config.suites for target in suite.targets if is_named(target)]
    found = []
    for target in targets:
        try:
            found.append(place_of(target).module)
        except CheckvalveError:     # it is a row of its own
            continue
    return found


def _there(config: GateConfig, repository: Repository, tree: Path) -> tuple[GateConfig, list[str]]:
    """The configuration without targets in modules that the revision has not."""
    from ..foreign.place import is_named

    gone: list[str] = []

    def is_there(target: str) -> bool:
        if not is_named(target):
            return True
        module = target.split(":")[1]
        found = only_in_tree(module, repository, tree, config.path.parent)
        if not found:
            gone.append(target)
        return found

    suites = [replace(suite, targets=tuple(filter(is_there, suite.targets)))
              for suite in config.suites]
    return replace(config, suites=tuple(suites)), gone


def _unusable(report: Report, revision: str) -> Iterator[str]:
    for row in report.rows:
        if row.judgement in _FAILED:
            yield (f"As of {revision}, {row.subject} {row.found}, so all that is wrong with it now "
                   f"counts as added: {row.message}")


def _moved(report: Report, found: Moves) -> Report:
    """The report with the names that everything has now."""
    return replace(report, rows=tuple(_renamed(row, found) for row in report.rows))


def _renamed(row: Row, found: Moves) -> Row:
    tasks = found.tasks.get(row.subject, {})
    name, colon, task = row.property.partition(": ")
    details = dict(row.details)
    for key in ("around", "possible"):
        if key in details:
            details[key] = _by(tasks, details[key])
    return replace(row, subject=found.subjects.get(row.subject, row.subject),
                   property=f"{name}{colon}{tasks.get(task, task)}", details=details)


def _by(tasks: Mapping[str, str], cycle: Sequence[Any]) -> list[Any]:
    return [tasks.get(each, each) if isinstance(each, str) else _by(tasks, each) for each in cycle]
