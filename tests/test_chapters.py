"""Chapters: what a module of the book defines, and what is said where it cannot be had."""

from __future__ import annotations

from types import ModuleType

import pytest

from checkvalve.spec.chapters import Chapter
from checkvalve.spec.notation.errors import InputError, InternalError


def chapter_with(**names: object) -> Chapter:
    """A chapter whose module has these names, ``module`` that of the module itself."""
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
