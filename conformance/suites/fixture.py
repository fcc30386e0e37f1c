"""Fixtures: a failure as one language-neutral JSON document.

docs/fixtures.md describes the format and says, step by step, how any program in any language
can run one. fixture.schema.json is its JSON Schema, by which it is read: nothing in it is trusted.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from ...spec.notation.errors import InputError
from ...spec.notation.labels import counted, filled
from ...spec.notation.rules import Rule
from ..ports.base import Message, unique_keys
from .results import Case
from .cause import Culprit, culprits_of
from .breach import Breach
from .run import Run
from .suite import AnySuite

__all__ = ["FIXTURE_BYTES_MAX", "Fixture", "fixture_of", "read_fixture"]

FORMAT: Final = "checkvalve-fixture"
VERSION: Final = 1
FIXTURE_BYTES_MAX: Final = 16 << 20
_FIRST_LINES, _LAST_LINES, _LINES_LEFT_OUT = 9, 22, 10
"""The lines of a story that are shown first and last, and the fewest that are left out."""


@dataclass(frozen=True)
class Fixture:
    """A failure: the program, what the target answered, and the rule that it broke.

    ``document`` is the JSON document, which has passed the checks of ``read_fixture``.
    """

    document: Mapping[str, Any]

    @property
    def suite(self) -> str:
        """The name of the suite of the broken rule."""
        return str(self.document["suite"])

    @property
    def rule_id(self) -> str:
        """The id of the rule that the last step breaks."""
        return str(self.document["rule"]["id"])

    @property
    def capacity(self) -> int:
        """The capacity in the settings."""
        return int(self.document["settings"]["capacity"])

    @property
    def items(self) -> int:
        """The number of items that its steps may name; 0: as many as so few steps may."""
        return int(self.document.get("items", 0))

    @property
    def length(self) -> int:
        """The number of steps; the last one breaks the rule."""
        return len(self.document["steps"])

    @property
    def requests(self) -> list[Message]:
        """The requests; one on a ticket has ``ticket_of``, the step that got the ticket."""
        return [step["request"] for step in self.document["steps"]]

    @property
    def culprits(self) -> list[tuple[str, str]]:
        """The kinds of replies before the breach that explain it, each with the words of what would
        have done in its place."""
        return [(str(each["action"]), str(each["instead"]))
                for each in self.document["because"].get("culprits", ())]

    @property
    def refused(self) -> list[tuple[str, str]]:
        """The kind of reply that broke the rule, with the words of each that would have done."""
        action, _, _ = str(self.document["because"].get("observation", "")).partition("(")
        return [(action, words) for words in self.document["steps"][-1].get("allowed", ())]

    @property
    def came_in(self) -> tuple[int, int]:
        """The number of runs of its steps in which the rule broke, and of all; zeros if not
        recorded."""
        counts = self.document.get("found_on", {})
        return int(counts.get("broke", 0)), int(counts.get("runs", 0))

    @property
    def always_comes(self) -> bool:
        """True if no run of its steps is known in which the rule did not break."""
        broke, runs = self.came_in
        return broke == runs

    @property
    def last_words(self) -> str:
        """The number of steps after which the rule is broken, and the words of the last one."""
        return f"after {counted(self.length, 'step')}: {self.document['steps'][-1]['words']}"

    def headline(self) -> str:
        """The failure in one line."""
        return f"{self.rule_id} is broken {self.last_words}"

    def story(self) -> list[str]:
        """The failure as lines for a reader; of a long one, its beginning and its end."""
        lines = list(self.document["story"])
        left_out = len(lines) - _FIRST_LINES - _LAST_LINES
        if left_out < _LINES_LEFT_OUT:
            return lines
        return [*lines[:_FIRST_LINES], f"… {left_out:,} steps more, which the fixture has …",
                *lines[-_LAST_LINES:]]

    def to_json(self) -> str:
        """The document as text, the same on every machine."""
        return json.dumps(self.document, indent=2, ensure_ascii=False) + "\n"


# --- writing -----------------------------------------------------------------------------

def fixture_of(
    suite: AnySuite, capacity: int, run: Run, breach: Breach, target: str, case: Case,
    came_in: tuple[int, int] = (0, 0), items: int = 0,
) -> Fixture:
    """The fixture of a run that ends with the step that broke a rule.

    ``came_in``: in how many runs of the same steps it did, and of how many, if they were counted.
    ``items``: its steps may name so many, for they are what is left of a longer program.
    """
    steps = [
        {"request": dict(each.request), "reply": _plain(each.reply), "words": each.words}
        for each in run.exchanges[: breach.step + 1]
    ]
    steps[-1]["words"] = breach.in_words(str(steps[-1]["words"]))
    steps[-1]["allowed"] = list(breach.allowed)
    if breach.refused:
        steps[-1]["instead_of"] = breach.refused
    rule = breach.rule
    scene = filled(suite.scene, suite.settings(capacity))
    broke, runs = came_in
    counts = {"broke": broke, "runs": runs} if runs else {}
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
        **({"items": items} if items else {}),
        "steps": steps,
        "because": {
            "observation": breach.observation, "false": breach.conjunct, "where": breach.where,
            **_culprits(culprits_of(suite, capacity, run, breach, items)),
        },
        "story": [*_story(scene, rule, breach, [str(step["words"]) for step in steps]),
                  *_seldom(broke, runs)],
        "found_on": {"target": target, "case": case.index, "seed": case.seed, **counts},
    })


def _culprits(found: Iterable[Culprit]) -> Message:
    told = [each._asdict() for each in found]
    return {"culprits": told} if told else {}


def _plain(reply: Message) -> Message:
    return {key: value for key, value in reply.items() if key != "events" or value}


def _story(scene: str, rule: Rule, breach: Breach, words: list[str]) -> list[str]:
    lines = [scene]
    lines += [f"{number}. {line}" for number, line in enumerate(words, start=1)]
    lines.append(f"This breaks {rule.id} ({rule.strength.value}): {rule.statement}")
    allowed = breach.allowed_in_words()
    return [*lines, allowed] if allowed else lines


def _seldom(broke: int, runs: int) -> list[str]:
    if broke == runs:
        return []
    return [f"It came in {broke} of {runs} runs of these steps: the target does not answer alike "
            "each time."]


# --- reading -----------------------------------------------------------------------------

def read_fixture(text: str, where: str) -> Fixture:
    """The fixture in a JSON text. ``where`` names the file in messages.

    Raises ``InputError``, with one clear message, for whatever is not a fixture.
    """
    if len(text.encode("utf-8", "surrogatepass")) > FIXTURE_BYTES_MAX:
        raise _bad("it is larger than 16 MiB", where)
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


def _problems(document: Any) -> Iterator[str]:
    for error in _validator().iter_errors(document):
        yield f"{_place(error.absolute_path)} {_words(error)}"
        return
    for number, step in enumerate(document["steps"]):
        earlier = step["request"].get("ticket_of", 0)
        if not (isinstance(earlier, int) and earlier < max(number, 1)):
            yield f'steps[{number}].request.ticket_of is not the number of an earlier step'


@cache
def _validator() -> Any:
    from jsonschema import Draft202012Validator

    text = (Path(__file__).parent / "fixture.schema.json").read_text(encoding="utf-8")
    return Draft202012Validator(json.loads(text))


def _place(path: Iterable[Any]) -> str:
    """``steps[2].request.do``: where in the document, steps counted from 0 as tickets are."""
    place = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path)
    return place.removeprefix(".") or "it"


def _words(error: Any) -> str:
    wanted, given = error.validator_value, error.instance
    match error.validator:
        case "required":
            return f'has no "{next(key for key in wanted if key not in given)}"'
        case "type":
            return f"is not {_TYPES[wanted]}"
        case "minLength" | "minItems":
            return "is empty"
        case "maxLength" | "maxItems":
            return f"is longer than {wanted}"
        case "const":
            return f"is not {json.dumps(wanted)}, which this checkvalve reads"
    return f"is not at {'least' if error.validator == 'minimum' else 'most'} {wanted}"


_TYPES: Final = {"object": "an object", "array": "a list", "string": "a text",
                 "integer": "a whole number"}
