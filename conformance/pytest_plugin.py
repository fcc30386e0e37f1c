"""The plugin of pytest that comes with checkvalve: designs as fixtures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

__all__ = ["check_design"]


@pytest.fixture
def check_design(
    request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str],
) -> Callable[..., str]:
    """``check_design("x.yaml", "--set", "n=4")``: what ``checkvalve check`` prints.

    The path is relative to the file of the test. The test fails, with all that was printed, unless
    every property that the design asks for holds.
    """
    def check(path: str | Path, *options: str) -> str:
        from .cli import root
        from .cli.outcome import run

        code = run(root, ["check", str(request.path.parent / path), *options])
        captured = capsys.readouterr()
        if code != 0:
            pytest.fail(f"checkvalve check {path} ended with {code}\n{captured.out}"
                        f"{captured.err}", pytrace=False)
        return captured.out

    return check
