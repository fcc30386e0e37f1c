"""Fixtures: a failure as one language-neutral JSON document.

docs/fixtures.md describes the format and says, step by step, how any program in any language
can run one; fixture.schema.json is its JSON Schema. Reading one trusts nothing in it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ...spec.notation.errors import InputError
from ...spec.notation.labels import counted
from ...spec.notation.rules import Rule
from ..ports.base import Message, unique_keys
from ..results import Case
from .judge import Breach
from .run import Run
from .suite import AnySuite

__all__ = ["FIXTURE_BYTES_MAX", "Fixture", "fixture_of", "read_fixture"]

FORMAT: Final = "checkvalve-fixture"
VERSION: Final = 1
FIXTURE_BYTES_MAX: Final = 1 << 20
_STEPS_MAX: Final = 500
_CAPACITY_MAX: Final = 1 << 16


@dataclass(frozen=True)
class Fixture:
    """A failure: the program, what the target answered, and the rule that it broke.

    ``document`` is the JSON document, which has passed the checks of ``read_fixture``.
    """

    document: Mapping[str, Any]

    @property
    def suite(self) -> str:
        """The name of the suite whose rule is broken."""
        return str(self.document["suite"])

    @property
    def rule_id(self) -> str:
        """The id of the rule that the last step breaks."""
        return str(self.document["rule"]["id"])

    @property
    def capacity(self) -> int:
        """The capacity of the queue."""
        return int(self.document["settings"]["capacity"])

    @property
    def length(self) -> int:
        """The number of steps; the last one breaks the rule."""
        return len(self.document["steps"])

    @property
    def requests(self) -> list[Message]:
        """The requests; one on a ticket has ``ticket_of``, the step that got the ticket."""
        return [step["request"] for step in self.document["steps"]]

    def headline(self) -> str:
        """What was found, in one line."""
        count = counted(self.length, "step")
        last = self.document["steps"][-1]["words"]
        return f"{self.rule_id} is broken after {count}: {last}"

    def story(self) -> list[str]:
        """The failure as lines for a reader."""
        return list(self.document["story"])

    def to_json(self) -> str:
        """The document as text, the same on every machine."""
        return json.dumps(self.document, indent=2, ensure_ascii=False) + "\n"


# --- writing -----------------------------------------------------------------------------

def fixture_of(
    suite: AnySuite, capacity: int, run: Run, breach: Breach, target: str, case: Case
) -> Fixture:
    """The fixture of a run that ends with the step that broke a rule."""
    steps = [
        {"request": dict(each.request), "reply": _plain(each.reply), "words": each.words}
        for each in run.exchanges[: breach.step + 1]
    ]
    steps[-1]["words"] = breach.in_words(str(steps[-1]["words"]))
    steps[-1]["allowed"] = list(breach.allowed)
    if breach.refused:
        steps[-1]["instead_of"] = breach.refused
    rule = breach.rule
    scene = suite.scene.format_map(suite.settings(capacity))
    return Fixture({
        "format": FORMAT,
        "version": VERSION,
        "suite": suite.name,
        "port": suite.port,
        "rule": {
            "id": rule.id, "strength": rule.strength.value, "statement": rule.statement,
            "source": rule.source,
        },
        "settings": dict(suite.settings(capacity)),
        "steps": steps,
        "because": {
            "observation": breach.observation, "false": breach.conjunct, "where": breach.where,
        },
        "story": _story(scene, rule, breach, [str(step["words"]) for step in steps]),
        "found_on": {"target": target, "case": case.index, "seed": case.seed},
    })


def _plain(reply: Message) -> Message:
    return {key: value for key, value in reply.items() if key != "events" or value}


def _story(scene: str, rule: Rule, breach: Breach, words: list[str]) -> list[str]:
    lines = [scene]
    lines += [f"{number}. {line}" for number, line in enumerate(words, start=1)]
    lines.append(f"This breaks {rule.id} ({rule.strength.value}): {rule.statement}")
    allowed = breach.allowed_in_words()
    return [*lines, allowed] if allowed else lines


# --- reading -----------------------------------------------------------------------------

def read_fixture(text: str, where: str) -> Fixture:
    """The fixture in a JSON text. ``where`` names the file in messages.

    Raises ``InputError``, with one clear message, for whatever is not a fixture.
    """
    if len(text.encode("utf-8", "surrogatepass")) > FIXTURE_BYTES_MAX:
        raise _bad("it is larger than 1 MiB", where)
    try:
        document = json.loads(
            text, parse_constant=_no_constant, object_pairs_hook=unique_keys)
    except json.JSONDecodeError as error:
        raise _bad(f"it is not JSON: {error.msg}", f"{where}:{error.lineno}") from None
    except (RecursionError, ValueError) as error:
        raise _bad(f"it is not JSON that we read: {str(error)[:80]}", where) from None
    for problem in _problems(document):
        raise _bad(problem, where)
    return Fixture(document)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON value")


def _bad(what: str, where: str) -> InputError:
    return InputError(
        f"this is not a fixture: {what}", where,
        "Give a file that `checkvalve conform --fixtures` wrote; docs/fixtures.md describes it.",
    )


def _problems(document: object) -> Iterator[str]:
    if not isinstance(document, dict):
        yield "it is not an object"
        return
    if document.get("format") != FORMAT:
        yield f'its "format" is not "{FORMAT}"'
    if not _is_number(document.get("version"), VERSION, VERSION):
        yield f'its "version" is not {VERSION}, the one that this checkvalve reads'
    for name, fits, wanted in _FIELDS:
        if name not in document:
            yield f'"{name}" is missing'
        elif not fits(document[name]):
            yield f'"{name}" is not {wanted}'
    for number, step in enumerate(document["steps"], start=1):
        yield from (f"step {number}: {problem}" for problem in _step_problems(step, number))


def _step_problems(step: object, number: int) -> Iterator[str]:
    request = step.get("request") if isinstance(step, dict) else None
    if not isinstance(request, dict) or not _is_text(request.get("do")):
        yield 'its "request" is not an object with a text "do"'
        return
    assert isinstance(step, dict)
    if not isinstance(step.get("reply"), dict):
        yield 'its "reply" is not an object'
    if not _is_text(step.get("words")):
        yield 'its "words" are not a text'
    if "ticket_of" in request and not _is_number(request["ticket_of"], 0, number - 2):
        yield '"ticket_of" is not the number (from 0) of an earlier step'


def _is_text(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= 1000


def _is_number(value: object, low: int, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def _is_rule(value: object) -> bool:
    return isinstance(value, dict) and all(
        _is_text(value.get(name)) for name in ("id", "strength", "statement", "source"))


def _is_settings(value: object) -> bool:
    return isinstance(value, dict) and _is_number(value.get("capacity"), 1, _CAPACITY_MAX)


def _is_steps(value: object) -> bool:
    return isinstance(value, list) and 0 < len(value) <= _STEPS_MAX


def _is_story(value: object) -> bool:
    return isinstance(value, list) and all(_is_text(line) for line in value)


_FIELDS: Final[tuple[tuple[str, Callable[[object], bool], str], ...]] = (
    ("suite", _is_text, "a text"),
    ("port", _is_text, "a text"),
    ("rule", _is_rule, "an object with the texts id, strength, statement and source"),
    ("settings", _is_settings, f"an object with a capacity from 1 to {_CAPACITY_MAX}"),
    ("steps", _is_steps, f"a list of 1 to {_STEPS_MAX} steps"),
    ("because", lambda value: isinstance(value, dict), "an object"),
    ("story", _is_story, "a list of texts"),
)
