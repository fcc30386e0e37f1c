"""The environment of a clone: a tree of links that never vanishes, and says when it is lost."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

SETUP = Path(__file__).resolve().parent.parent / ".ci" / "setup.py"


@pytest.fixture
def setup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script, for a clone with one module in it."""
    if not SETUP.is_file():
        pytest.skip("these are the tests of a clone, and this is none")
    specification = importlib.util.spec_from_file_location("setup_of_a_clone", SETUP)
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    (tmp_path / "spec").mkdir()
    (tmp_path / "spec" / "__init__.py").write_text("")
    venv = tmp_path / ".venv"
    venv.mkdir()
    for name, value in {"ROOT": tmp_path, "LINKS": venv / "packages", "TREES": venv / "trees"
                        }.items():
        monkeypatch.setattr(module, name, value)
    return module


def test_a_file_that_has_come_is_linked_and_one_that_has_gone_is_not(setup: ModuleType) -> None:
    """A new tree is made beside the old one, and the switch is one step."""
    setup.link_tree()
    package = setup.LINKS / "checkvalve" / "spec"
    before = setup.LINKS.resolve()
    (setup.ROOT / "spec" / "new.py").write_text("x = 1\n")
    setup.link_tree()
    assert (package / "new.py").read_text() == "x = 1\n"
    # A process in the midst of reading the old tree finds it whole.
    assert (before / "checkvalve" / "spec" / "__init__.py").is_file()
    (setup.ROOT / "spec" / "new.py").unlink()
    setup.link_tree()
    assert [each.name for each in package.iterdir()] == ["__init__.py"]
    assert not before.exists()


def test_no_process_compiles_what_was_there_at_the_setup(setup: ModuleType) -> None:
    """Modules that were there at the setup are not compiled again, also where Python writes no
    bytecode of its own.
    """
    setup.link_tree()
    setup.compile_tree()
    module = setup.LINKS / "checkvalve" / "spec" / "__init__.py"
    assert Path(importlib.util.cache_from_source(str(module))).is_file()
    assert not list((setup.ROOT / "spec").glob("__pycache__"))


def test_nothing_outside_of_the_environment_is_needed(setup: ModuleType) -> None:
    """But the files themselves: `build/` may be lost."""
    setup.link_tree()
    assert setup.LINKS.resolve().is_relative_to(setup.ROOT / ".venv")
    assert not (setup.ROOT / "build").exists()


def test_a_lost_tree_is_told_with_what_to_do_when_python_starts(setup: ModuleType) -> None:
    """One line on stderr, before the module is found to be missing."""
    def started() -> str:
        line = setup.WARNING.replace(str(setup.PRESENT), str(present))
        done = subprocess.run([sys.executable, "-S", "-c", line], capture_output=True, text=True,
                              check=True)
        return done.stderr

    setup.link_tree()
    present = setup.LINKS / "checkvalve" / "spec" / "__init__.py"
    assert started() == ""
    shutil.rmtree(setup.TREES)
    assert "make core" in started() and started().count("\n") == 1


@pytest.mark.xdist_group("a group of one")
def test_the_id_of_a_test_says_its_group_where_several_workers_run(
    request: pytest.FixtureRequest
) -> None:
    """Else each worker makes what the tests of a group share, and nothing reports it."""
    workers = request.config.getoption("loadgroup", False)
    assert request.node.nodeid.endswith("@a group of one") == workers


def test_ci_refuses_arguments_before_it_runs_anything() -> None:
    """A caller that asks for less would otherwise wait for all of it."""
    done = subprocess.run([SETUP.with_name("run"), "--quick"], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 64 and "unknown argument --quick" in done.stderr
    assert done.stdout == ""


def test_help_and_lab_list_every_target_once() -> None:
    """``make help`` has what one needs most, ``make lab`` the rest; what others call is in none."""
    text = SETUP.parent.with_name("Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"^([a-z-]+):(?!=)(.*)$", text, re.MULTILINE)
    inner = {name for name, rest in targets if "#" not in rest}
    most = {name for name, rest in targets if "## " in rest}
    declared = text.partition(".PHONY:")[2].replace("\\\n", " ").partition("\n")[0].split()
    assert inner == {"core", "dev", "programs"}
    assert len(most) <= 12
    assert sorted(declared) == sorted(name for name, _ in targets)
