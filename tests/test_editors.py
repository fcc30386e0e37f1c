"""The schemas that ``checkvalve new`` names, in the programs by which editors use them."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import pytest

from checkvalve.conformance.cli import root
from checkvalve.conformance.cli.outcome import run

PROGRAMS = Path(__file__).resolve().parent.parent / ".venv" / "editors" / "node_modules" / ".bin"
TAPLO, YAML = PROGRAMS / "taplo", PROGRAMS / "yaml-language-server"

needs_programs = pytest.mark.skipif(
    not (TAPLO.exists() and YAML.exists()),
    reason=".ci/programs.py fetches taplo and yaml-language-server from npm")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty folder."""
    monkeypatch.chdir(tmp_path)


@needs_programs
@pytest.mark.javascript
def test_a_gate_that_new_writes_fits_in_taplo_and_a_wrong_one_does_not() -> None:
    """The schema is found by the first line of the file; the fault has its line."""
    assert run(root, ["new", "gate"]) == 0
    written = Path("checkvalve.toml").read_text()
    Path("wrong.toml").write_text(written.replace("quick = true", 'quick = "yes"'))
    line = written.splitlines().index("quick = true") + 1
    told = subprocess.run([TAPLO, "lint", "--colors", "never", "checkvalve.toml", "wrong.toml"],
                          capture_output=True, text=True, check=False).stderr
    assert '"yes" is not of type "boolean"' in told and f"wrong.toml:{line}:9" in told
    assert "checkvalve.toml:" not in told


@needs_programs
@pytest.mark.javascript
def test_a_design_that_new_writes_fits_in_the_language_server_and_a_wrong_one_does_not() -> None:
    """A kind of task that there is not, and a key that there is not, each with its line."""
    assert run(root, ["new", "design"]) == 0
    right = Path("my_design.yaml")
    wrong = Path("wrong.yaml")
    wrong.write_text(
        right.read_text().replace("kind: map", "kind: mop").replace("links:", "linkss:"))
    found = diagnosed([right.resolve(), wrong.resolve()])
    assert found[right.name] == []
    (first, kinds), (second, key) = found[wrong.name]
    lines = wrong.read_text().splitlines()
    assert "mop" in lines[first] and '"map"' in kinds
    assert lines[second] == "linkss:" and "linkss is not allowed" in key


def diagnosed(files: Sequence[Path]) -> dict[str, list[tuple[int, str]]]:
    """The lines (from 0) and messages that the language server has for each file."""
    child = subprocess.Popen([YAML, "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdin is not None and child.stdout is not None
    found: dict[str, list[tuple[int, str]]] = {}
    try:
        send(child.stdin, id=1, method="initialize", params={
            "processId": None, "rootUri": None, "capabilities": {}})
        for said in received(child.stdout):
            if said.get("method") == "textDocument/publishDiagnostics":
                found[said["params"]["uri"].rpartition("/")[2]] = sorted(
                    (each["range"]["start"]["line"], each["message"])
                    for each in said["params"]["diagnostics"])
                if len(found) == len(files):
                    break
            elif "method" in said and "id" in said:
                send(child.stdin, id=said["id"], result=None)
            elif said.get("id") == 1:
                begin(child.stdin, files)
    finally:
        child.kill()
        child.communicate()
    return found


def begin(stream: IO[bytes], files: Sequence[Path]) -> None:
    """Have the server look at the files, without any catalogue of the network."""
    send(stream, method="initialized", params={})
    send(stream, method="workspace/didChangeConfiguration", params={"settings": {
        "yaml": {"validate": True, "schemaStore": {"enable": False}}}})
    for file in files:
        send(stream, method="textDocument/didOpen", params={"textDocument": {
            "uri": file.as_uri(), "languageId": "yaml", "version": 1, "text": file.read_text()}})


def send(stream: IO[bytes], **message: Any) -> None:
    """Say one message of the Language Server Protocol."""
    text = json.dumps({"jsonrpc": "2.0", **message}).encode()
    stream.write(b"Content-Length: %d\r\n\r\n%s" % (len(text), text))
    stream.flush()


def received(stream: IO[bytes]) -> Iterator[dict[str, Any]]:
    """The messages that the server says, one after the other."""
    while line := stream.readline():
        if line.lower().startswith(b"content-length:"):
            stream.readline()
            yield json.loads(stream.read(int(line.split(b":")[1])))
