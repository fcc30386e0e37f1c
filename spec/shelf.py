"""Which chapters there are, read off the tree: nothing lists them.

A chapter is a module below this folder that has a table ``EXPECTATIONS`` or ``LEMMAS``, perhaps an
empty one. It is called by its book and its own name: ``storm.acker`` is the module ``acker`` below
``spec/storm``, in whichever of its packages. What it is about, its docstring says in the first
sentence. Chapters are ordered by subject (``SUBJECTS``), so that people with a queue find that
first, whichever book it is in. A chapter comes after those of its subject that it imports, and a
subject after those that its chapters import. Where that leaves a choice the names decide.

Only texts are read, and nothing is imported: a name alone should not cost the import of the book.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from .notation.errors import InternalError

__all__ = ["SUBJECTS", "chapter_names", "module_of", "subject_of"]

_ROOT: Final = Path(__file__).parent
_TABLES: Final = ("\nEXPECTATIONS", "\nLEMMAS", "\ndef __getattr__(")
"""A text that only chapters have in them: a table, or what makes one when it is asked for."""

SUBJECTS: Final[Mapping[str, tuple[str, ...]]] = {
    "queues": ("queues.",),
    "locks and semaphores": ("queues.locks.",),
    "links and flow control": ("flow.",),
    "streams": ("reactive.",),
    "timers and pending requests": (
        "kafka.given_calls", "kafka.observed_purgatory", "kafka.observed_races",
        "kafka.observed_timer", "kafka.purgatory", "kafka.races", "kafka.timer"),
    "servers": ("bookkeeper.",),
    "stream processors": ("storm.",),
    "elections and replication": ("election.", "kafka."),
    "metrics": ("flow.observed_summaries", "flow.summaries"),
    "designs": ("design.",),
}
"""The subjects of chapters and suites, in the order in which all tables and lists have them, with
how the places of their chapters begin: folders, and the name. A chapter is of the subject with the
longest beginning that fits."""

_IMPORTS: Final = re.compile(r"^from (\.+)([\w.]*) import ", re.MULTILINE)


class _Place(NamedTuple):
    """Where a chapter is: the parts of its module's name below ``spec``; and its text."""

    parts: tuple[str, ...]
    text: str

    @property
    def name(self) -> str:
        return f"{self.parts[0]}.{self.parts[-1]}"

    @property
    def subject(self) -> str:
        """The subject with the best fitting beginning; the name of the book where there is none."""
        place = ".".join(self.parts)
        fits = [(len(start), subject) for subject, starts in SUBJECTS.items() for start in starts
                if place.startswith(start)]
        return max(fits)[1] if fits else self.parts[0]

    def imported(self) -> Iterator[tuple[str, ...]]:
        """The modules that its head imports, as parts of their names."""
        for dots, rest in _IMPORTS.findall(self.text):
            above = self.parts[:len(self.parts) - len(dots)]
            yield (*above, *rest.split(".")) if rest else above


@cache
def _places() -> Mapping[str, _Place]:
    """All chapters by name, in the book's order."""
    found: dict[str, _Place] = {}
    for path in sorted(_ROOT.glob("*/**/*.py")):
        text = path.read_text(encoding="utf-8")
        if not any(table in text for table in _TABLES):
            continue
        place = _Place(path.relative_to(_ROOT).with_suffix("").parts, text)
        if place.name in found:
            raise InternalError(f"two modules are the chapter {place.name}", str(path),
                                "Give one of them another name.")
        found[place.name] = place
    return {name: found[name] for name in _in_order(found)}


def subject_of(chapter: str) -> str:
    """The subject of a chapter by its name; the name of its book, where it is in no subject."""
    place = _places().get(chapter) or _Place(tuple(chapter.split(".")), "")
    return place.subject


def _in_order(found: Mapping[str, _Place]) -> Iterator[str]:
    by_parts = {place.parts: name for name, place in found.items()}
    needs = {name: [by_parts[parts] for parts in place.imported() if parts in by_parts]
             for name, place in found.items()}
    of = {name: place.subject for name, place in found.items()}
    subjects = {of[name]: set[str]() for name in sorted(found)}
    for name, others in needs.items():
        subjects[of[name]] |= {of[other] for other in others}
    for subject in _sorted(subjects, key=_by_subject):
        yield from _sorted({
            name: [other for other in needs[name] if of[other] == subject]
            for name in found if of[name] == subject}, key=str)


def _sorted(
    needs: Mapping[str, Iterable[str]], *, key: Callable[[str], tuple[int, str] | str]
) -> Iterator[str]:
    """The keys, each as early as those that it needs allow, and else by the key."""
    done: set[str] = set()

    def with_its_needs(name: str) -> Iterator[str]:
        if name in done:
            return
        done.add(name)
        for other in sorted(needs[name], key=key):
            if other != name:
                yield from with_its_needs(other)
        yield name

    for name in sorted(needs, key=key):
        yield from with_its_needs(name)


def _by_subject(subject: str) -> tuple[int, str]:
    """The place of a subject where nothing else decides."""
    known = list(SUBJECTS)
    return (known.index(subject) if subject in known else len(known), subject)


def chapter_names() -> tuple[str, ...]:
    """The names of all chapters, in the book's order."""
    return tuple(_places())


def module_of(chapter: str) -> str:
    """The full name of the module that a chapter is."""
    return ".".join((__package__ or "", *_places()[chapter].parts))
