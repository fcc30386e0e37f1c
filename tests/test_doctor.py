"""The doctor's findings on machines that have more or less of what is needed."""

from __future__ import annotations

import ast
import json
import re
import stat
import sys
import tomllib
from pathlib import Path

import pytest

from checkvalve.conformance.computer import environment
from checkvalve.conformance.cli import doctor, root
from checkvalve.conformance.cli.outcome import run
from checkvalve.conformance.computer.environment import (
    GO_ADVICE,
    JAVA_ADVICE,
    SPARK_MODULE,
    find_go,
    find_java,
    find_node,
    install_command,
    missing_extra,
)
from checkvalve.conformance.systems.targets import resolve_target
from checkvalve.spec.notation.errors import InputError

ROOT = Path(__file__).resolve().parent.parent


def program(path: Path, script: str) -> None:
    """Write a shell script that plays the part of a program."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def java(home: Path, version: str, modules: str) -> None:
    """A Java that says it is ``version`` and has ``modules``."""
    program(home / "bin" / "java", 'if [ "$1" = --list-modules ]; then '
            f'echo "{modules}"; else echo \'openjdk version "{version}"\' >&2; fi')


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without Java and node; JAVA_HOME is the folder that is returned."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "java"))
    monkeypatch.setattr(environment, "_SYSTEM_JAVA", ())
    return tmp_path / "java"


def test_a_java_with_the_module_fits(bare: Path) -> None:
    """Java 17 with the module that Spark's launcher asks for is what Spark needs."""
    java(bare, "17.0.15", f"java.base@17.0.15 {SPARK_MODULE}@17.0.15")
    found = find_java()
    assert found is not None and found.fits and found.major == 17 and found.home == bare


@pytest.mark.parametrize(("version", "modules", "reason"), [
    ("11.0.2", SPARK_MODULE, "it is Java 11"),
    ("1.8.0_402", SPARK_MODULE, "it is Java 8"),
    ("21", "java.base@21", "lacks the module"),
])
def test_another_java_is_found_unfit_with_the_reason(
    bare: Path, version: str, modules: str, reason: str
) -> None:
    """A Java that is too old, or a cut-down one, is named with what it lacks."""
    java(bare, version, modules)
    found = find_java()
    assert found is not None and not found.fits and reason in found.unfit


def test_a_fitting_java_is_preferred_to_an_unfit_one_before_it(bare: Path) -> None:
    """An old JAVA_HOME does not hide the good Java on the PATH."""
    java(bare, "11.0.2", SPARK_MODULE)
    java(bare.parent, "17.0.15", SPARK_MODULE)
    found = find_java()
    assert found is not None and found.home == bare.parent.resolve()


@pytest.mark.parametrize("script", ["exit 1", "echo rubbish", "kill -9 $$"])
def test_a_java_that_does_not_run_is_no_java(bare: Path, script: str) -> None:
    """A program of that name that fails or says something else is passed over."""
    program(bare / "bin" / "java", script)
    assert find_java() is None


def test_an_old_node_is_unfit(bare: Path) -> None:
    """The JavaScript queue needs node 18."""
    program(bare.parent / "bin" / "node", "echo v12.22.1")
    node = find_node()
    assert node is not None and not node.fits


@pytest.mark.parametrize(("version", "fits"), [("go1.17.13", False), ("go1.19.8", True)])
def test_an_old_go_is_unfit(bare: Path, version: str, fits: bool) -> None:
    """The adapter of channels is written for Go 1.18."""
    program(bare.parent / "bin" / "go", f"echo go version {version} linux/amd64")
    go = find_go()
    assert go is not None and (go.version, go.fits) == (version, fits)


def test_a_target_without_its_compiler_says_what_to_install(bare: Path) -> None:
    """And is no target that failed."""
    with pytest.raises(InputError) as missing:
        resolve_target("go.channel")
    assert missing.value.next_step == GO_ADVICE


def test_what_is_missing_comes_with_what_to_do(
    bare: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Optional parts that are missing are no failure, and each has its advice."""
    assert run(root, ["doctor"]) == 0
    told = capsys.readouterr().out
    assert JAVA_ADVICE in told and "node" in told.splitlines()[-1]


def test_a_missing_part_of_the_core_ends_with_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a package that the core needs the doctor says not ready."""
    monkeypatch.setattr(doctor.environment, "package_version", lambda name: None)
    assert run(root, ["doctor", "--json"]) == 2
    findings = json.loads(capsys.readouterr().out)["findings"]
    advice = {finding["name"]: finding["advice"] for finding in findings}
    assert "pip install z3-solver" in advice["z3-solver"]
    assert "[targets]'" in advice["trio"]


def test_extras_are_written_down_in_pyproject_alone() -> None:
    """The metadata say the same, and each distribution and each extra has a purpose."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = dict.fromkeys(map(_name, project["dependencies"]), "")
    for extra in environment.EXTRAS:
        for each in extras[extra]:
            wanted.setdefault(_name(each), extra)
    assert environment.requirements() == wanted
    assert set(environment.EXTRAS) == set(extras) - {"dev"}
    assert set(environment.PURPOSES) == {name for name, extra in wanted.items() if not extra}


def test_every_library_that_the_packages_import_is_written_down() -> None:
    """Under the name of its distribution."""
    known = {environment._plain(name) for name in environment.requirements()}
    ours = {"checkvalve", "benchmarks", *sys.stdlib_module_names}
    found = {
        (node.module or "" if isinstance(node, ast.ImportFrom) else alias.name).partition(".")[0]
        for package in ("spec", "reference", "conformance")
        for path in (ROOT / package).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import) or isinstance(node, ast.ImportFrom) and not node.level
        for alias in node.names}
    assert {module for module in found - ours
            if environment._plain(environment.MODULES.get(module, module)) not in known} == set()


def test_a_module_that_comes_with_an_extra_names_it() -> None:
    """Also one that is not named as its distribution."""
    for module, extra in (("zmq.asyncio", "targets"), ("hypothesis", "testing"),
                          ("token_bucket", "targets"), ("cvc5", "certify")):
        error = missing_extra(ModuleNotFoundError(name=module))
        assert error is not None and f"[{extra}]" in error.next_step
    assert missing_extra(ModuleNotFoundError(name="nobody")) is None


def _name(requirement: str) -> str:
    return re.split(r"[^\w.-]", requirement, maxsplit=1)[0]


def test_in_a_clone_an_extra_is_installed_from_the_clone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Any other copy would hide the clone's own code."""
    (tmp_path / "pyproject.toml").touch()
    file = tmp_path / "conformance" / "computer" / "it.py"
    monkeypatch.setattr(environment, "__file__", str(file))
    assert install_command("spark") == f"python -m pip install -e '{tmp_path}[spark]'"


ORIGINS = {
    None: "",
    '{"url": "file:///c.whl", "archive_info": {}}': " @ file:///c.whl",
    '{"url": "https://h/c.git", "vcs_info": {"vcs": "git", "commit_id": "1a"}}':
        " @ git+https://h/c.git@1a",
    "rubbish": "",
}


@pytest.mark.parametrize("record", ORIGINS)
def test_elsewhere_an_extra_comes_from_where_checkvalve_came(
    record: str | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """From the file or repository that the installer has recorded, or else from the index."""
    class Recorded:
        def read_text(self, name: str) -> str | None:
            return record if name == "direct_url.json" else None

    file = tmp_path / "conformance" / "computer" / "it.py"
    monkeypatch.setattr(environment, "__file__", str(file))
    monkeypatch.setattr(environment.metadata, "distribution", lambda name: Recorded())
    wanted = f"checkvalve[spark]{ORIGINS[record]}"
    assert install_command("spark") == f"python -m pip install '{wanted}'"
