"""The message on an option that stands before its command says where it belongs."""

from __future__ import annotations

import pytest

from checkvalve.conformance.cli import root
from checkvalve.conformance.cli.outcome import BAD_INPUT, run


@pytest.mark.parametrize(("words", "advice"), [
    ("-q check a.yaml", "Options follow their command: write `checkvalve check -q …`."),
    ("--seed=3 conform x", "Options follow their command: write `checkvalve conform --seed …`."),
    ("-q rules", "rules has none of this name either: see `checkvalve rules --help`."),
    ("-q", "Options follow their command: `checkvalve --help` lists the commands, and "
           "`checkvalve COMMAND --help` the options of one."),
])
def test_an_option_before_its_command_belongs_behind_it(
    words: str, advice: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a command that has it, of one that has not, and without a command."""
    assert run(root, words.split()) == BAD_INPUT
    error = capsys.readouterr().err
    assert "is no option of checkvalve itself" in error
    assert advice in error
