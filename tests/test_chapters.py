"""Chapters: what a module of the book defines, and what is said where it cannot be had."""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Iterator
from importlib import import_module
from itertools import groupby
from types import ModuleType

import pytest

from checkvalve.spec import shelf
from checkvalve.spec.chapters import Chapter, chapter_names, chapters
from checkvalve.spec.notation.errors import InputError, InternalError
from checkvalve.spec.notation.machine import Machine
from checkvalve.spec.notation.places import Reuse


def chapter_with(**names: object) -> Chapter:
    """A chapter of a module with these names, ``module`` that of the module itself."""
    module = ModuleType(str(names.pop("module", "a_chapter")))
    vars(module).update(names)
    return Chapter("a.chapter", module)


def test_a_table_that_raises_an_attribute_error_is_no_empty_one() -> None:
    """It is reported, and does not read as a chapter that promises nothing."""
    def made(name: str) -> object:
        return ().expected if name == "EXPECTATIONS" else None  # type: ignore[attr-defined]

    cannot = "EXPECTATIONS of a.chapter cannot be made.*expected"
    with pytest.raises(InputError, match=cannot):
        assert chapter_with(__getattr__=made).expectations
    with pytest.raises(InternalError, match=cannot):
        assert chapter_with(__getattr__=made, module="checkvalve.spec.chapter").expectations


def test_a_module_that_says_that_it_has_no_table_has_an_empty_one() -> None:
    """As one that has no such name does."""
    def made(name: str) -> object:
        raise AttributeError(name)

    assert chapter_with(__getattr__=made).expectations == ()
    assert chapter_with().refinements == ()


def test_every_module_of_a_book_that_has_machines_is_a_chapter() -> None:
    """So none is forgotten: a module with machines has a table, if only an empty one. Those that
    only say which places are used again are proved elsewhere (test_places)."""
    found = {chapter.module.__name__ for chapter in chapters()}
    books = {name.split(".")[2] for name in found} - {"design"}
    machines = {
        module for book in books
        for module in _modules_below(f"checkvalve.spec.{book}")
        if any(inspect.isclass(value) and issubclass(value, Machine)
               and value.__module__ == module for value in vars(import_module(module)).values())
        and not any(isinstance(value, Reuse) for value in vars(import_module(module)).values())}
    assert machines - found == set()


def test_a_chapter_comes_after_those_of_its_book_that_it_imports() -> None:
    """A rule that a variant inherits is listed where it was written."""
    places = {name: at for at, name in enumerate(chapter_names())}
    names = {place.parts: name for name, place in shelf._places().items()}
    late = [(name, other) for name, place in shelf._places().items()
            for other in map(names.get, place.imported())
            if other is not None and other.split(".")[0] == name.split(".")[0]
            and places[other] > places[name]]
    assert late == []


def test_chapters_stand_together_by_subject() -> None:
    """Each has one, and people with a queue find theirs first, with a design last."""
    subjects = [subject for subject, _ in groupby(map(shelf.subject_of, chapter_names()))]
    assert subjects == list(shelf.SUBJECTS)


def test_every_chapter_says_what_it_is_about() -> None:
    """In a first sentence that fits into a line of a table."""
    assert [chapter.name for chapter in chapters() if not 10 < len(chapter.about) < 110] == []


def _modules_below(package: str) -> Iterator[str]:
    for found in pkgutil.walk_packages(import_module(package).__path__, f"{package}."):
        if not found.ispkg:
            yield found.name
