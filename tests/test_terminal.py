"""The output on a terminal: progress, colours, few lines and completion; and in a pipe."""

from __future__ import annotations

import io
import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from checkvalve.conformance.cli import root
from checkvalve.conformance.cli.outcome import run
from checkvalve.conformance.computer import progress
from checkvalve.conformance.designs import load_file
from checkvalve.spec.design import check as deciding
from checkvalve.spec.design.why.findings import Finding

ROOT = Path(__file__).resolve().parent.parent
DESIGNS = ROOT / "examples" / "designs"
CHECKVALVE = [sys.executable, "-m", "checkvalve.conformance.cli"]
NEVER = 60.0
TURN = (
    '<pnml><net id="turn" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="page">'
    + '<place id="p"><initialMarking><text>1</text></initialMarking></place>'
    + "".join(f'<place id="q{number}"/>' for number in range(300))
    + '<transition id="t"/><arc id="a" source="p" target="t"/><arc id="b" source="t" target="p"/>'
    '</page></net></pnml>')
"""A net that is too large to be written out as tasks and links."""


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        """True."""
        return True


def on_a_terminal(arguments: list[str], **environment: str) -> str:
    """The output of a command on a terminal, stdout and stderr together."""
    ours, theirs = pty.openpty()
    given = {**os.environ, "TERM": "xterm", **environment}
    if not environment.get("NO_COLOR"):
        given.pop("NO_COLOR", None)
    child = subprocess.Popen([*CHECKVALVE, *arguments], stdin=subprocess.DEVNULL,
                             stdout=theirs, stderr=theirs, env=given, cwd=ROOT)
    os.close(theirs)
    parts: list[bytes] = []
    end = time.monotonic() + NEVER
    while time.monotonic() < end and select.select([ours], [], [], NEVER)[0]:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        parts.append(part)
    os.close(ours)
    child.wait(NEVER)
    return b"".join(parts).decode()


def test_colours_are_for_terminals_and_for_those_who_want_them() -> None:
    """A terminal has them; not with NO_COLOR, and not in a pipe."""
    check = ["check", str(DESIGNS / "ring-live.yaml")]
    assert "\x1b[32m" in on_a_terminal(check)
    assert "\x1b[" not in on_a_terminal(check, NO_COLOR="1")
    assert "\x1b[" not in CliRunner().invoke(root, check).output


def test_a_short_run_shows_no_progress() -> None:
    """A line that comes and goes within a second is noise."""
    assert "\r\x1b[2K" not in on_a_terminal(["check", str(DESIGNS / "ring-live.yaml")])


def test_a_long_run_says_how_far_it_is_and_takes_the_line_away(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    """How many of how many, the rate, and the time that is left."""
    monkeypatch.setattr(progress, "QUIET_SECONDS", 0.0)
    stream = Terminal()
    with progress.switched_on(stream), progress.watched("queue on deque"):
        for number in progress.counted_off(range(3), 30):
            while number == 2 and " left" not in stream.getvalue():
                progress.time.sleep(0.01)
    shown = stream.getvalue()
    assert "queue on deque: 2 of 30, " in shown and "/s, about " in shown
    assert shown.endswith("\r\x1b[2K")


def test_a_search_says_how_long_it_runs_and_may_run() -> None:
    """Nobody knows how many states there are."""
    assert progress.line_of("checking loop", 0, 0, 12.2, 60.0) == (
        "checking loop: 12 s of at most 60 s")
    assert progress.line_of("checking loop", 0, 0, 150.0) == "checking loop: 2 min 30 s"


def test_the_rest_is_reckoned_at_the_rate_so_far() -> None:
    """Nothing is said of it before the first is done."""
    assert progress.line_of("zoo", 100, 400, 5.0) == "zoo: 100 of 400, 20/s, about 15 s left"
    assert progress.line_of("zoo", 3, 9, 6.0) == "zoo: 3 of 9, 0.5/s, about 12 s left"
    assert progress.line_of("zoo", 0, 400, 5.0) == "zoo: 0 of 400"


def test_a_pipe_gets_no_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor does a program that uses checkvalve as a library."""
    monkeypatch.setattr(progress, "QUIET_SECONDS", 0.0)
    stream = io.StringIO()
    with progress.switched_on(stream), progress.watched("x"):
        assert list(progress.counted_off([1, 2], 2)) == [1, 2]
    assert stream.getvalue() == ""


class TestVerdictsOfOneDesign:
    """Each verdict of a design is shown when it is known."""

    def test_a_verdict_is_printed_before_the_next_property_is_decided(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A search that never ends hides none of those before it."""
        decide = deciding.decide_property

        def endless(*about: Any) -> Finding:
            if about[3] == "bounded":
                raise KeyboardInterrupt
            return decide(*about)

        monkeypatch.setattr(deciding, "decide_property", endless)
        told = CliRunner().invoke(root, ["check", str(DESIGNS / "ring-live.yaml")]).output
        assert "ok    deadlock        none" in told and "ok    local deadlock  none" in told
        assert "growth" not in told

    def test_growth_is_told_before_it_is_known_how_full_each_link_gets(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The numbers take a search of their own, and follow."""
        def endless(*_: object) -> Finding:
            raise KeyboardInterrupt

        monkeypatch.setattr(deciding, "largest", endless)
        told = CliRunner().invoke(root, ["check", str(DESIGNS / "ring-live.yaml")]).output
        assert "ok    growth          none" in told and "largest number" not in told

    def test_of_a_net_growth_is_told_before_local_deadlock(self, tmp_path: Path) -> None:
        """It is known before; the report keeps its order."""
        net = tmp_path / "net.pnml"
        net.write_text(TURN)
        known: list[str] = []
        report = deciding.check(load_file(net), tell=lambda finding: known.append(finding.name))
        assert known == ["deadlock-free", "bounded", "no-local-deadlock"]
        assert [each.name for each in report.findings] == [
            "deadlock-free", "no-local-deadlock", "bounded"]

    def test_the_line_of_progress_is_away_while_a_verdict_is_printed(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Else both stand in one line of the terminal."""
        monkeypatch.setattr(progress, "QUIET_SECONDS", 0.0)
        stream = Terminal()
        with progress.switched_on(stream), progress.watched("checking loop"):
            while "checking loop" not in stream.getvalue():
                progress.time.sleep(0.01)
            with progress.line_away():
                assert stream.getvalue().endswith("\r\x1b[2K")


class TestQuiet:
    """``-q`` prints what is not as expected, and the last line."""

    def test_designs_that_are_as_expected_are_one_line(self) -> None:
        """Of any number."""
        files = [str(path) for path in sorted(DESIGNS.glob("ring-*.yaml"))]
        told = CliRunner().invoke(root, ["check", "-q", *files]).output
        assert told == f"{len(files)} of {len(files)} designs as expected\n"

    def test_a_design_that_is_not_is_shown_whole(self, tmp_path: Path) -> None:
        """And those beside it are not."""
        text = (DESIGNS / "ring-full-deadlocked.yaml").read_text().partition("expect:")[0]
        path = tmp_path / "wrong.yaml"
        path.write_text(text)
        told = CliRunner().invoke(
            root, ["check", "-q", str(DESIGNS / "ring-live.yaml"), str(path)]).output
        assert "wrong.yaml" in told and "ring-live" not in told
        assert "FAIL  deadlock" in told and told.endswith("1 of 2 designs as expected\n")

    def test_a_target_that_passes_is_one_line(self) -> None:
        """Its verdict; one that breaks a rule is shown whole."""
        told = CliRunner().invoke(root, [
            "conform", "-q", "--cases", "6", "--suite", "queue", "zoo:silent-drop"]).output
        assert "rule" in told and "VIOLATED" in told

    def test_a_gate_and_chapters_are_few_lines(self, tmp_path: Path) -> None:
        """The verdict is the last one."""
        (tmp_path / "checkvalve.toml").write_text("verify = ['flow.credit']\n")
        told = CliRunner().invoke(root, [
            "gate", "-q", str(tmp_path), "--json-file", str(tmp_path / "g.json"),
            "--junit", str(tmp_path / "g.xml")]).output
        assert len(told.splitlines()) == 2
        assert len(CliRunner().invoke(root, ["verify", "-q", "flow.credit"]).output
                   .splitlines()) <= 2


class TestCompletion:
    """Shells complete commands, options and values."""

    @pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
    def test_each_shell_gets_a_script(self, shell: str) -> None:
        """It asks by the variable that the program looks at."""
        told = CliRunner().invoke(root, ["completion", shell]).output
        assert "_CHECKVALVE_COMPLETE" in told and "checkvalve" in told

    @pytest.mark.parametrize(("words", "wanted"), [
        ("checkvalve ch", "check"), ("checkvalve check --expl", "--explain"),
        ("checkvalve new ", "design"), ("checkvalve export --to pro", "promela")])
    def test_words_are_completed(self, words: str, wanted: str) -> None:
        """Commands, options of a command, choices."""
        found = subprocess.run(
            CHECKVALVE, capture_output=True, text=True, timeout=NEVER, check=False, env={
                **os.environ, "_CHECKVALVE_COMPLETE": "bash_complete", "COMP_WORDS": words,
                "COMP_CWORD": str(len(words.split(" ")) - 1)})
        assert f"plain,{wanted}" in found.stdout.splitlines()


def test_an_unknown_shell_is_an_error_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """It names those there are."""
    assert run(root, ["completion", "tcsh"]) == 64
    assert "'bash', 'zsh', 'fish'" in capsys.readouterr().err
