"""The findings of suites on targets, as sections of a page."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..suites.results import FLAKY, PASSED, UNKNOWN, VIOLATED
from ..suites.fixture import Fixture
from .page import Line, Section

if TYPE_CHECKING:
    from ..campaigns.replay import Replay
    from ..campaigns.summary import RuleResult, Summary
    from ..suites.breach import Breach

__all__ = ["fixture_run", "replay_section", "suite_section"]

MOST_BYTES = 2_500_000
"""Bytes of the steps of all failures in a section; of longer ones it has the last steps."""


def suite_section(
    summary: Summary, saved: Mapping[str, str], seed: int, last_words: Iterable[str]
) -> Section:
    """The section on a target. ``saved`` has the paths of the fixtures by their rules, and
    ``last_words`` are the lines that conclude the report."""
    fixtures = summary.fixtures
    again = (f"checkvalve conform {shlex.quote(summary.target)} --suite {summary.suite} "
             f"--seed {seed}")
    return Section(
        f"{summary.suite} on {summary.target}", f"{summary.cases:,} cases",
        lines=tuple(_line(result, result.rule.id in summary.known) for result in summary.results),
        runs=tuple(
            fixture_run(fixture, summary.target, MOST_BYTES // len(fixtures),
                        saved.get(fixture.rule_id, ""), again) for fixture in fixtures),
        more=(("Conclusion", "\n".join(last_words)),), repeat=again)


def _line(result: RuleResult, known: bool) -> Line:
    mark = {PASSED: "ok", VIOLATED: "ok" if known else "fail", UNKNOWN: "unknown",
            FLAKY: "unknown"}.get(result.verdict, "plain")
    words = f"{result.verdict}{' (known)' if known else ''}. {result.rule.statement}"
    why = f"{result.reason}: {result.message}" if result.reason else result.message
    return Line(mark, f"{result.rule.id} ({result.rule.strength.value})", words, why)


def fixture_run(fixture: Fixture, target: str, most_bytes: int = MOST_BYTES, saved: str = "",
                otherwise: str = "") -> dict[str, Any]:
    """The run of a fixture, and how to replay it: where it was ``saved``, or with what it is found
    ``otherwise``."""
    moves = [_move(step) for step in fixture.document["steps"]]
    moves[-1]["breaks"] = True
    told = f"{otherwise} --fixtures DIR" if otherwise else ""
    again = _replay(saved, target) if saved else told
    return _run(fixture, target, moves, most_bytes) | {
        "again": again, "rule": {**fixture.document["rule"],
                                 "because": _because(fixture.document["because"])}}


def _replay(fixture: str, target: str) -> str:
    return f"checkvalve replay {shlex.quote(fixture)} {shlex.quote(target)}"


def _run(fixture: Fixture, target: str, moves: list[dict[str, Any]],
         most_bytes: int) -> dict[str, Any]:
    """The data of a run; of a long one the last steps, which break the rule."""
    size, kept = 0, 0
    for move in reversed(moves):
        size += len(json.dumps(move))
        if size > most_bytes and kept:
            break
        kept += 1
    return {
        "kind": "suite", "about": fixture.rule_id, "drawing": None, "length": len(moves),
        "first": len(moves) - kept, "lanes": ["suite", target], "moves": moves[len(moves) - kept:],
        "steps": list(range(kept)), "known": True, "loop": None, "blocked": None,
        "scene": str(fixture.document["story"][0]) if fixture.document["story"] else "",
    }


def _move(step: Mapping[str, Any]) -> dict[str, Any]:
    return {"label": step["words"], "request": _plain(step["request"]),
            "reply": _plain(step["reply"]), "allowed": list(step.get("allowed", ()))}


def _plain(message: object) -> str:
    return json.dumps(message, indent=1, ensure_ascii=False)


def _because(because: Mapping[str, Any]) -> str:
    parts = [f"{name}: {because[name]}" for name in ("observation", "false", "where")
             if because.get(name)]
    return "; ".join(parts)


def replay_section(
    fixture: Fixture, found: Replay, path: str, verdict: Sequence[str]
) -> Section:
    """The section on a replay. ``verdict`` are the lines that report it after the steps."""
    steps = fixture.document["steps"]
    moves: list[dict[str, Any]] = [
        {"label": words, "request": _plain(step["request"]), "reply": _plain(reply), "allowed": []}
        for words, reply, step in zip(found.words, found.replies, steps, strict=False)]
    breach = found.breach
    if breach is not None and breach.step < len(moves):
        moves[breach.step] |= {"allowed": list(breach.allowed), "breaks": True}
    mark = "fail" if breach else "unknown" if found.unjudged or found.left_at is not None else "ok"
    again = _replay(path, found.target)
    runs = [_run(fixture, found.target, moves, MOST_BYTES) | {
        "again": again, "rule": _rule(fixture, breach)}] if moves else []
    return Section(
        f"{fixture.rule_id} on {found.target}", path,
        lines=(Line(mark, breach.rule.id if breach else fixture.rule_id,
                    verdict[-1] if verdict else ""),),
        runs=tuple(runs), more=(("Report", "\n".join(verdict)),) if verdict else (), repeat=again)


def _rule(fixture: Fixture, breach: Breach | None) -> dict[str, str]:
    if breach is None:
        return {**fixture.document["rule"], "because": ""}
    rule = breach.rule
    return {"id": rule.id, "strength": rule.strength.value, "statement": rule.statement,
            "source": rule.source,
            "because": "; ".join(_told(breach))}


def _told(breach: Breach) -> Iterator[str]:
    yield f"observation: {breach.observation}"
    yield f"false: {breach.conjunct}"
    yield f"where: {breach.where}"
