"""The rule book as pages: of each chapter its theory, state, actions, rules and transitions."""

from __future__ import annotations

import ast
import inspect
import json
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from checkvalve.spec.chapters import Chapter, chapters
from checkvalve.spec.notation.machine import Machine
from checkvalve.spec.shelf import subject_of

from .reference import plain
from .transitions import drawing, why_none

__all__ = ["chapter_page", "pages"]

Rules = Mapping[str, list[dict[str, Any]]]


def pages(root: Path, source: Path) -> dict[str, str]:
    """A page for each chapter and the list of all, by name."""
    rules = _rules()
    found = {f"rules/{each.name}.md": "\n".join(chapter_page(each, rules, source / "rules"))
             for each in chapters()}
    return {"rules.md": "\n".join(_list(rules)), **found}


def _rules() -> Rules:
    """All rules by chapter, as ``checkvalve rules --json`` has them."""
    done = subprocess.run([sys.executable, "-m", "checkvalve.conformance.cli", "rules", "--json"],
                          capture_output=True, text=True, check=True)
    found: dict[str, list[dict[str, Any]]] = {}
    for each in json.loads(done.stdout)["rules"]:
        found.setdefault(each["chapter"], []).append(each)
    return found


def _list(rules: Rules) -> Iterator[str]:
    yield "# The rule book\n"
    yield ("Each chapter begins with its theory and its source; then come its state, its actions "
           "with their guards, and its rules. `checkvalve verify CHAPTER` decides all again. "
           "[Notation](notation.md) explains how a chapter is written.\n")
    subject = ""
    for chapter in chapters():
        if subject_of(chapter.name) != subject:
            subject = subject_of(chapter.name)
            yield f"\n## {subject[:1].upper()}{subject[1:]}\n"
            yield "| chapter | what it is about | rules |\n|---|---|--:|"
        number = len(rules.get(chapter.name, ()))
        yield (f"| [`{chapter.name}`](rules/{chapter.name}.md) | {plain(chapter.about)} | "
               f"{number or ''} |")


def chapter_page(chapter: Chapter, rules: Rules, folder: Path) -> Iterator[str]:
    """The page of a chapter; its picture is written below ``folder``."""
    yield f"# {chapter.name}\n"
    yield from _prose(chapter.module.__doc__ or "")
    own = rules.get(chapter.name, [])
    if own:
        yield "\n## Rules\n"
        yield from _rule_table(own)
    drawn = drawing(chapter)
    for machine in chapter.machines:
        yield f"\n## {machine.__name__}\n"
        yield from _prose(inspect.getdoc(machine) or "")
        yield from _machine(machine)
        if drawn is not None and drawn.machine is machine:
            folder.mkdir(parents=True, exist_ok=True)
            name = f"{chapter.name}.{machine.__name__}.svg"
            (folder / name).write_text(drawn.svg, encoding="utf-8")
            yield f"\n{drawn.words}\n\n![States and the actions between them]({name})\n"
    yield from _tied(chapter)
    if drawn is None:
        yield f"\n{why_none(chapter)}\n"
    yield f"\n```\ncheckvalve verify {chapter.name}\n```\n"


def _rule_table(rules: list[dict[str, Any]]) -> Iterator[str]:
    yield "| rule | | sentence | source | tested by |\n|---|---|---|---|---|"
    for rule in rules:
        tests = ", ".join(f"`{name}`" for name in rule["uses"]["test"])
        yield (f"| {rule['id']} | {rule['strength']} | {plain(rule['statement'])} | "
               f"{_source(rule)} | {tests} |")


def _tied(chapter: Chapter) -> Iterator[str]:
    """A table of the machines that an observer looks on, and of what it says of their runs."""
    if not chapter.refinements:
        return
    yield "\n## Seen from outside\n"
    yield "| machine | observer | | |\n|---|---|---|---|"
    for each in chapter.refinements:
        said = f"some run is refused by {each.rule}" if each.rule else "every run is accepted"
        yield (f"| `{each.machine.__name__}` | `{each.observer.__name__}` | {said} | "
               f"{plain(each.about)} |")


def _source(rule: Mapping[str, Any]) -> str:
    """The source's words, linked to the page where it is read."""
    links = [place.removeprefix("docs/") for place in rule["read_on"]]
    words = plain(rule["source"])
    return " ".join([words, *(f"([{Path(link.partition('#')[0]).stem}](../{link}))"
                              for link in dict.fromkeys(link.partition("#")[0] for link in links))])


def _machine(machine: type[Machine]) -> Iterator[str]:
    """Its declarations as they stand in the text, and a table of its own actions."""
    source = textwrap.dedent(inspect.getsource(machine))
    body = ast.parse(source).body[0]
    assert isinstance(body, ast.ClassDef)
    lines = source.splitlines()
    state = [node for node in body.body if isinstance(node, ast.Assign | ast.AnnAssign)]
    if state:
        text = "\n".join(line for node in state
                         for line in lines[node.lineno - 1:(node.end_lineno or node.lineno)])
        yield f"\n```python\n{textwrap.dedent(text)}\n```\n"
    own = {node.name: node for node in body.body if isinstance(node, ast.FunctionDef)}
    acts = [own[name] for name in machine.actions_declared if name in own]
    if acts:
        yield "\n| action | guards | what it is |\n|---|---|---|"
        for node in acts:
            fair = " (fair)" if machine.actions_declared[node.name].fair else ""
            about = plain((ast.get_docstring(node) or "").partition("\n\n")[0])
            yield f"| `{node.name}`{fair} | {_guards(node)} | {about} |"


def _guards(node: ast.FunctionDef) -> str:
    """The conditions of an action, in the order of the text."""
    found = [ast.unparse(call.args[0]) for call in ast.walk(node)
             if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
             and call.func.id == "require" and call.args]
    return "<br>".join(f"`{text.replace('self.', '').replace('|', '∣')}`" for text in found)


def _prose(text: str) -> Iterator[str]:
    """A docstring as Markdown: headings, blocks that are indented, and paragraphs."""
    for block in re.split(r"\n\s*\n", inspect.cleandoc(text)):
        lines = block.splitlines()
        if len(lines) == 2 and set(lines[1]) <= set("-=~") and lines[1]:
            yield f"## {plain(lines[0])}\n"
        elif all(line.startswith("  ") for line in lines):
            yield f"```text\n{textwrap.dedent(block).replace('``', '')}\n```\n"
        elif len(lines) > 1 and any("  " in line.strip() for line in lines[1:]):
            yield f"```text\n{block}\n```\n"
        else:
            yield _inline(block) + "\n"


def _inline(text: str) -> str:
    """A paragraph: names in double backquotes as code, words in stars stressed, all other marks as
    they are."""
    stressed = r"(?<![\w*])\*{1,2}\w[^*\n]{0,60}\w\*{1,2}(?![\w*])"
    parts = re.split(rf"(``.+?``|{stressed})", text, flags=re.DOTALL)
    return "".join(part[1:-1] if part.startswith("``") else part if number % 2 else
                   re.sub(r"([\\*_<\[$`])", r"\\\1", re.sub(r"^#", r"\#", part, flags=re.M))
                   for number, part in enumerate(parts))
