"""The benchmark of designs measures row by row, and continues where it was broken off."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import designs
from benchmarks.designs import Case, Limits, Measuring, main


@pytest.mark.parametrize("planted", [False, True])
def test_a_row_has_each_verdict_and_what_it_took(planted: bool) -> None:
    """A row of a small design has each verdict, its time and its memory."""
    case = Case("mesh", 8, 2, planted)
    assert Case.named(case.name) == case
    row: dict[str, str] = {}
    for cells in Measuring(case, Limits(certified=0, local=8)).cells():
        row |= cells
    assert row["deadlock"] == ("violated" if planted else "holds")
    assert {"read", "engine", "seconds", "local", "local_seconds", "memory"} <= row.keys()
    assert "certificate" not in row


def test_rows_that_were_kept_are_not_measured_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run that is broken off continues with the next row."""
    asked: list[str] = []

    def measured(case: Case, limits: Limits) -> dict[str, str]:
        if len(asked) == 3:
            raise KeyboardInterrupt
        asked.append(case.name)
        return {"deadlock": "holds", "seconds": "1.0"}

    monkeypatch.setattr(designs, "measured", measured)
    wanted = ["--queues", "100", "--shape", "mesh", "--kept", str(tmp_path / "rows.jsonl")]
    with pytest.raises(KeyboardInterrupt):
        main(wanted)
    asked.clear()
    main(wanted)
    assert asked == ["mesh,100,10000,yes"]
    capsys.readouterr()
    main(wanted)
    assert capsys.readouterr().out.count("holds") == 4 and len(asked) == 1


def test_files_are_measured_by_the_whole_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its verdicts, how many repairs it offers, and the time of the process that it is."""
    text = ("checkvalve: 2\nname: ring\ntasks:\n  a: {kind: map}\n  b: {kind: map}\nlinks:\n"
            "  - {from: a, to: b, capacity: 1}\n  - {from: b, to: a, capacity: 1}\n")
    (tmp_path / "ring.yaml").write_text(text, encoding="utf-8")
    main(["--files", str(tmp_path), "--times", "1"])
    cells = [cell.strip() for cell in capsys.readouterr().out.splitlines()[2].split("|")[1:-1]]
    assert cells[:4] == ["ring", "violated", "holds", "holds"]
    assert float(cells[5]) > 0.1
