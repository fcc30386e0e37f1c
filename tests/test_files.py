"""A file is written wholly or not at all."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest

from checkvalve.conformance.computer.files import check_writable, write_whole
from checkvalve.spec.notation.errors import InputError


def test_folders_are_made_and_nothing_else_is_left(tmp_path: Path) -> None:
    """The draft that the text is written to first is gone."""
    path = tmp_path / "new" / "report.json"
    write_whole(path, "{}\n")
    assert path.read_text() == "{}\n" and list(path.parent.iterdir()) == [path]


def _full(_descriptor: int) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_text_that_cannot_be_written_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failure in the middle changes nothing that a reader sees."""
    path = tmp_path / "report.json"
    path.write_text("old")
    monkeypatch.setattr(os, "fsync", _full)
    with pytest.raises(InputError, match="No space left"):
        write_whole(path, "new" * 100_000)
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


def test_a_device_is_written_to_and_stays_a_device(tmp_path: Path) -> None:
    """Replacing /dev/null by a file would do harm; a pipe would lose its reader."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    check_writable(pipe)
    write_whole(pipe, "whole")
    assert os.read(reader, 99) == b"whole" and pipe.is_fifo()
    assert list(tmp_path.iterdir()) == [pipe]


def test_a_link_leads_to_the_file_that_is_replaced(tmp_path: Path) -> None:
    """It is still a link then."""
    there, link = tmp_path / "there", tmp_path / "link"
    there.write_text("old")
    link.symlink_to(there)
    write_whole(link, "new")
    assert link.is_symlink() and there.read_text() == "new"


def test_a_place_that_cannot_be_written_is_bad_input(tmp_path: Path) -> None:
    """A file where a folder should be is the user's to fix."""
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write"):
        write_whole(tmp_path / "file" / "report.json", "{}")


def test_a_trial_leaves_a_file_as_it_is(tmp_path: Path) -> None:
    """Nothing is written to it, and nothing is left beside it."""
    path = tmp_path / "report.json"
    path.write_text("old")
    check_writable(path)
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


def test_half_a_character_is_written_as_json_escapes_it(tmp_path: Path) -> None:
    """A file's name may have one, and it ends in reports."""
    path = tmp_path / "report.json"
    write_whole(path, json.dumps({"file": "\udcff é"}, ensure_ascii=False))
    assert json.loads(path.read_text()) == {"file": "\udcff é"}
