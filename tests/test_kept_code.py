"""Machine code is kept from one run to the next, and only used where it is as it was made."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from checkvalve.spec.engines.native import jit, kept
from checkvalve.spec.engines.native.kept import VARIABLE, folder, key_of, read, written

TEXT = "define i64 @answer() {\n  ret i64 42\n}\n"


@pytest.fixture(name="place")
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    place = tmp_path / "caches" / "code"
    monkeypatch.setenv(VARIABLE, str(place))
    yield place
    if place.exists():
        place.chmod(0o700)


def answer(text: str = TEXT) -> int:
    engine = jit.compiled_once(text)
    return int(ctypes.CFUNCTYPE(ctypes.c_int64)(engine.get_function_address("answer"))())


def refuses_to_compile(*_: object, **__: object) -> None:
    raise AssertionError("it is compiled again")


def test_what_was_compiled_once_is_not_compiled_again(
        place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert answer() == 42
    monkeypatch.setattr(jit, "_optimised", refuses_to_compile)
    assert answer() == 42


def test_another_text_and_another_processor_have_code_of_their_own(
        place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (answer(), answer(TEXT.replace("42", "43"))) == (42, 43)
    monkeypatch.setattr(jit, "_processor", lambda: "generic ")
    assert answer() == 42
    assert len(list(place.iterdir())) == 3


@pytest.mark.parametrize("at", [0, 20, 60, -1])
def test_damaged_code_is_made_anew(place: Path, at: int) -> None:
    answer()
    file, = place.iterdir()
    whole = file.read_bytes()
    damaged = bytearray(whole)
    damaged[at] ^= 1
    for some in (bytes(damaged), whole[:50], b""):
        file.write_bytes(some)
        assert answer() == 42
        assert file.read_bytes() == whole


def test_code_of_one_key_is_not_taken_for_that_of_another(place: Path) -> None:
    assert written("one", b"code")
    (place / "one.code").rename(place / "other.code")
    assert read("other") is None


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions")
def test_code_that_others_can_change_is_not_used(place: Path) -> None:
    assert written("one", b"code")
    assert read("one") == b"code"
    (place / "one.code").chmod(0o666)
    assert read("one") is None
    (place / "one.code").chmod(0o600)
    place.chmod(0o777)
    assert read("one") is None
    assert not written("two", b"code")


def test_without_a_folder_all_is_compiled(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    for place in ("", str(tmp_path / "file"), str(tmp_path / "file" / "below")):
        monkeypatch.setenv(VARIABLE, place)
        assert answer() == 42
    assert os.listdir(tmp_path) == ["file"]


def test_without_a_home_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home() -> Path:
        raise RuntimeError
    for name in (VARIABLE, "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", no_home)
    assert folder() is None
    assert not written("one", b"code") and read("one") is None


def test_what_was_not_used_for_longest_goes(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "BYTES_MAX", 3_500)
    for at in range(3):
        assert written(f"{at}", b"x" * 1_000)
        os.utime(place / f"{at}.code", (at + 1, at + 1))
    assert read("0") is not None        # it is used now
    assert written("3", b"x" * 1_000)
    assert sorted(each.name for each in place.iterdir()) == ["0.code", "2.code", "3.code"]


def test_a_key_is_of_its_parts_and_their_order() -> None:
    parts = (["ab", "c"], ["a", "bc"], ["c", "ab"], ["abc"])
    assert len({*map(key_of, parts)}) == len(parts)
