"""A built wheel has everything that the packages have, and nothing of the repository else."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("spec", "reference", "conformance")


def built_wheel(copy: Path) -> Path:
    """A wheel, built from a copy of the tree in this folder so that nothing is left behind."""
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    for package in PACKAGES:
        shutil.copytree(ROOT / package, copy / package,
                        ignore=shutil.ignore_patterns("__pycache__"))
    built = subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", "out", "."],
        cwd=copy, check=False, capture_output=True, text=True,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    return next((copy / "out").glob("*.whl"))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The names of the files in a wheel."""
    with zipfile.ZipFile(built_wheel(tmp_path_factory.mktemp("copy"))) as archive:
        return set(archive.namelist())


def test_every_file_of_the_packages_is_in_the_wheel(wheel: set[str]) -> None:
    """Modules, schemas, scripts and py.typed: what is used here is there after an install."""
    there = {
        f"checkvalve/{path.relative_to(ROOT).as_posix()}"
        for package in PACKAGES for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert there - wheel == set()


def test_nothing_else_is_in_the_wheel(wheel: set[str]) -> None:
    """No tests, no setup.py and no top level of its own: only checkvalve and its metadata."""
    assert [name for name in sorted(wheel) if not name.startswith(
        (*(f"checkvalve/{package}/" for package in PACKAGES), "checkvalve-"))] == []
