"""``checkvalve doctor``: what this machine has and what each part needs."""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Literal

import click

from ..computer import environment
from ..services.programs import PROGRAMS
from .outcome import EXPECTED, UNKNOWN

__all__ = ["Finding", "command", "examine"]

State = Literal["there", "missing", "unfit"]

OLDEST_PYTHON = (3, 11)


@dataclass(frozen=True)
class Finding:
    """One thing that was looked for: ``detail`` says what was found, ``advice`` what to do."""

    name: str
    state: State
    required: bool
    detail: str
    purpose: str
    advice: str = ""


def examine() -> list[Finding]:
    """Everything that checkvalve can use, as it is on this machine."""
    return [_python(), *_packages(), _java(), _node(), _go(), *_servers(),
            _cores(), _memory()]


def _python() -> Finding:
    fits = sys.version_info >= OLDEST_PYTHON
    advice = "" if fits else "Install Python 3.11 or newer."
    detail = f"{platform.python_version()} at {sys.executable}"
    return Finding("python", "there" if fits else "unfit", True, detail, "everything", advice)


def _packages() -> Iterator[Finding]:
    for name, extra in environment.requirements().items():
        purpose = environment.EXTRAS[extra] if extra else environment.PURPOSES.get(name, "")
        version = environment.package_version(name)
        if version is not None:
            yield Finding(name, "there", not extra, version, purpose)
            continue
        command = (environment.install_command(extra) if extra
                   else f"python -m pip install {name}")
        yield Finding(name, "missing", not extra, "not installed", purpose,
                      f"Install it: {command}")


def _java() -> Finding:
    purpose = "suites on a cluster: conform --engine spark"
    java = environment.find_java()
    if java is None:
        return Finding("java", "missing", False, "none found", purpose, environment.JAVA_ADVICE)
    detail = f"{java.major} at {java.home}"
    if java.fits:
        return Finding("java", "there", False, detail, purpose)
    return Finding("java", "unfit", False, f"{detail}: {java.unfit}", purpose,
                   environment.JAVA_ADVICE)


def _node() -> Finding:
    return _tool("node", environment.find_node(), "the targets js and node.Writable",
                 environment.NODE_ADVICE)


def _go() -> Finding:
    return _tool("go", environment.find_go(), "the target go.channel", environment.GO_ADVICE)


def _tool(name: str, tool: environment.Tool | None, purpose: str, advice: str) -> Finding:
    if tool is None:
        return Finding(name, "missing", False, "none found", purpose, advice)
    detail = f"{tool.version} at {tool.path}"
    if tool.fits:
        return Finding(name, "there", False, detail, purpose)
    return Finding(name, "unfit", False, f"{detail}: {tool.unfit}", purpose, advice)


def _servers() -> Iterator[Finding]:
    for program in PROGRAMS:
        path, purpose = program.path(), f"{program.serves} by {program.what}"
        if path is None:
            yield Finding(program.name, "missing", False, "none found", purpose, program.advice)
        else:
            yield Finding(program.name, "there", False, path, purpose)


def _cores() -> Finding:
    cores = environment.usable_cores()
    advice = "" if cores > 1 else "Two cores or more make the explorer up to 1.8 times as fast."
    return Finding("cores", "there", False, str(cores), "the explorer uses all", advice)


def _memory() -> Finding:
    total, free = environment.total_memory(), environment.available_memory()
    parts = [f"{size / 2**30:.1f} GiB {word}" for size, word in ((total, "in all"), (free, "free"))
             if size is not None]
    return Finding("memory", "there", False, ", ".join(parts) or "the system does not say",
                   "about 24 bytes a state; limit it with --max-memory")


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(as_json: bool) -> int:
    """Show what this machine has and what each part needs.

    Exit code 0 if everything that the core needs is there (optional parts may be missing),
    else 2.
    """
    findings = examine()
    ready = all(finding.state == "there" for finding in findings if finding.required)
    if as_json:
        document = {"ready": ready, "findings": [asdict(finding) for finding in findings]}
        click.echo(json.dumps(document, indent=2))
    else:
        _show(findings, ready)
    return EXPECTED if ready else UNKNOWN


def _show(findings: list[Finding], ready: bool) -> None:
    mark = {"there": "ok     ", "missing": "missing", "unfit": "unfit  "}
    for finding in findings:
        click.echo(f"{mark[finding.state]}  {finding.name:<17} {finding.detail}  "
                   f"({finding.purpose})")
        if finding.advice:
            click.echo(f"{'':21}{finding.advice}")
    optional = [finding.name for finding in findings
                if finding.state != "there" and not finding.required]
    lacking = f" Optional parts that are not there: {', '.join(optional)}." if optional else ""
    click.echo(("Ready." if ready else "Not ready: see above.") + lacking)
