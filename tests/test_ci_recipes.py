"""The recipes of docs/ci.md, the action and the hooks: their scripts run a gate from a wheel."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from checkvalve.conformance.cli import root
from talk import DEAD, LIVE, git
from test_wheel import built_wheel

ROOT = Path(__file__).resolve().parent.parent
DOCS = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")


class Project(NamedTuple):
    """A repository of git; its last commit adds a deadlock, and a clone of it of depth 1."""

    clone: Path
    environment: Mapping[str, str]
    first: str

    def run(self, script: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """The outcome of a step with this script, as hosts run it: each line may end it."""
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script], cwd=self.clone,
            env={**self.environment, **variables}, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel of this tree."""
    return built_wheel(tmp_path_factory.mktemp("copy"))


@pytest.fixture
def project(tmp_path: Path, wheel: Path) -> Project:
    """Two commits of a design, the first one live. ``pip`` installs into a folder of its own."""
    origin = tmp_path / "origin"
    (origin / "designs").mkdir(parents=True)
    (origin / "checkvalve.toml").write_text('[[designs]]\nfiles = ["designs/*.yaml"]\n')
    git(origin.parent, "init", "-q", "-b", "main", str(origin))
    git(origin, "config", "uploadpack.allowAnySHA1InWant", "true")
    for text in (LIVE, DEAD):
        (origin / "designs" / "talk.yaml").write_text(text)
        git(origin, "add", "-A")
        git(origin, "commit", "-qm", "x")
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{origin}", "clone")
    site = tmp_path / "site"
    environment = {
        **os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PIP_NO_INDEX": "1", "PIP_NO_DEPS": "1", "PIP_TARGET": str(site), "PYTHONPATH": str(site),
        "PIP_NO_BUILD_ISOLATION": "1", "CHECKVALVE": str(wheel), "HOME": str(tmp_path)}
    return Project(tmp_path / "clone", environment, git(origin, "rev-parse", "HEAD~1"))


def block(name: str) -> str:
    """The recipe of docs/ci.md for a host."""
    found = re.search(rf"<!-- tested: {name} -->\n\n```\w+\n(.*?)```", DOCS, re.DOTALL)
    assert found is not None
    return found[1]


def gitlab() -> str:
    """The script of the job."""
    job: dict[str, Any] = yaml.safe_load(block("gitlab"))["checkvalve"]
    return "\n".join(job["script"])


def jenkins() -> str:
    """The script of the stage."""
    found = re.search(r"sh '''(.*?)'''", block("jenkins"), re.DOTALL)
    assert found is not None
    return found[1]


def action() -> dict[str, Any]:
    """The action."""
    loaded: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    return loaded


def test_the_action_installs_and_runs_the_gate_against_a_revision_that_it_fetches(
    project: Project, tmp_path: Path, wheel: Path
) -> None:
    """Its steps get their inputs by the environment; the clone has one revision."""
    inputs = {name: each["default"] for name, each in action()["inputs"].items()}
    inputs |= {"python": sys.executable, "against": project.first, "sarif": "gate.sarif"}
    ended = []
    for step in action()["runs"]["steps"]:
        given = {name: inputs[text.split(".")[1].rstrip(" }")]
                 for name, text in step["env"].items()}
        # The action installs its own tree; here that is a wheel of it.
        done = project.run(step["run"], GITHUB_ACTION_PATH=str(wheel), GITHUB_ACTIONS="true",
                           GITHUB_STEP_SUMMARY=str(tmp_path / "summary.md"), **given)
        ended.append(done.returncode)
    assert ended == [0, 1], done.stderr
    assert "adds a wait-for cycle through a, b in designs/talk.yaml" in done.stdout
    assert "::error file=designs/talk.yaml,line=" in done.stderr
    assert "adds a wait\\-for cycle" in (tmp_path / "summary.md").read_text()
    assert (project.clone / "gate.sarif").is_file()
    assert str(tmp_path / "site") in project.run(
        "python3 -c 'import checkvalve.conformance; print(checkvalve.conformance.__file__)'").stdout


@pytest.mark.parametrize(("script", "variable"), [
    (gitlab(), "CI_MERGE_REQUEST_DIFF_BASE_SHA"), (jenkins(), "CHANGE_TARGET")])
def test_a_recipe_installs_the_wheel_and_runs_the_gate(
    script: str, variable: str, project: Project
) -> None:
    """On a branch all of it, and for a change what that adds."""
    if variable == "CHANGE_TARGET":
        # A virtual environment takes what is installed here from the one that runs the tests.
        script = script.replace("python -m venv --system-site-packages .venv\n", "").replace(
            ".venv/bin/python", "python")
    whole = project.run(script)
    assert whole.returncode == 1 and "this change" not in whole.stdout, whole.stderr
    git(project.clone, "fetch", "-q", "--unshallow")
    git(project.clone, "update-ref", "refs/remotes/origin/target", project.first)
    value = "target" if variable == "CHANGE_TARGET" else project.first
    change = project.run(script, **{variable: value})
    assert "this change\n  adds a wait-for cycle" in change.stdout, change.stderr
    assert (project.clone / ".checkvalve" / "gate.xml").is_file()


def test_each_hook_runs_a_command_that_there_is(project: Project) -> None:
    """With the files that pre-commit would give it."""
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert {hook["id"] for hook in hooks} == {"checkvalve-gate", "checkvalve-check"}
    for hook in hooks:
        first, command = shlex.split(hook["entry"])
        assert first == "checkvalve" and command in root.list_commands(None)
        files = ["designs/talk.yaml"] if hook.get("pass_filenames", True) else []
        assert re.search(hook.get("files", ""), "designs/talk.yaml")
        done = project.run(shlex.join([sys.executable, "-m", "checkvalve.conformance.cli", command,
                                       *files]))
        assert done.returncode == 1 and "deadlock: found" in done.stdout
