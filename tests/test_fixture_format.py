"""Fixtures: one JSON file that replays anywhere, and that nobody has to trust."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkvalve.conformance.campaigns.case import RunSettings, plan, run_case
from checkvalve.conformance.campaigns.replay import replay
from checkvalve.conformance.cli import root
from checkvalve.conformance.cli.outcome import run
from checkvalve.conformance.suites.fixture import FIXTURE_BYTES_MAX, read_fixture
from checkvalve.conformance.systems.catalogue import zoo
from checkvalve.conformance.systems.targets import reference_of, resolve_target
from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.queues.queue import PRODUCER_WAKES

ROOT = Path(__file__).resolve().parent.parent
SCHEMA = json.loads((ROOT / "conformance/suites/fixture.schema.json").read_text())


def found(target: str, position: int) -> str:
    """The fixture of the first case of a target that looks for a rule, by its position."""
    case = plan("queue", cases=12, seed=0)[position]
    return run_case("queue", target, case, RunSettings()).fixture


@pytest.fixture(scope="module")
def text() -> str:
    """The fixture of a producer that is not woken: four steps, with a ticket."""
    return found("zoo:deaf-producer", 6)


@pytest.fixture(scope="module")
def cancelling() -> str:
    """A fixture in which a ticket is cancelled."""
    return found("zoo:lossy-cancel", 8)


def test_what_is_written_fits_the_schema_and_is_read(text: str, cancelling: str) -> None:
    """The schema, the writer and the reader agree."""
    for each in (text, cancelling):
        jsonschema.validate(json.loads(each), SCHEMA)
        assert read_fixture(each, "f").to_json() == each


def test_a_fixture_tells_its_story(text: str) -> None:
    """It says what happened, which rule that breaks, and what would have been right."""
    assert read_fixture(text, "f").story() == [
        "A queue of capacity 1.",
        "1. offer a1: accepted",
        "2. put a2 by producer 2: waits",
        "3. poll: a1",
        "4. settle: all has run that can run",
        f"This breaks QUEUE-7 (MUST): {PRODUCER_WAKES.statement}",
        "Allowed in step 4: the put of a2 completes.",
    ]


def test_tickets_are_named_by_the_step_that_gave_them(cancelling: str) -> None:
    """No ticket of one implementation stands in a request to another."""
    steps = json.loads(cancelling)["steps"]
    cancels = [step["request"] for step in steps if step["request"]["do"] == "cancel"]
    assert cancels
    for request in cancels:
        assert "ticket" not in request
        assert "waiting" in steps[request["ticket_of"]]["reply"]


def test_a_fixture_fails_on_another_queue_with_the_same_bug(text: str) -> None:
    """It says what is wrong with a behaviour, not with an implementation."""
    silent = replay(read_fixture(text, "f"), resolve_target("zoo:deaf-producer"))
    assert silent.same and silent.breach is not None and silent.breach.step == 3
    sound = replay(read_fixture(text, "f"), resolve_target("reference.deferred"))
    assert sound.breach is None and not sound.same


def test_a_replay_that_takes_another_way_shows_nothing(
    cancelling: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2: the rule was not tested, and nobody may take that for a repair."""
    (tmp_path / "f.json").write_text(cancelling)
    assert run(root, ["replay", str(tmp_path / "f.json"), "reference"]) == 2
    assert "Not shown: no occasion. The target takes another way" in capsys.readouterr().out
    assert run(root, ["replay", str(tmp_path / "f.json"), "reference", "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["not_shown"] == "no occasion"


def test_a_ticket_that_is_not_out_ends_the_replay(cancelling: str) -> None:
    """Where another path was taken, the rule is not seen to break, and the report says so."""
    fixture = read_fixture(cancelling, "f")
    # The reference runs its waiters at once: there is nothing left to cancel.
    outcome = replay(fixture, resolve_target("reference"))
    assert outcome.left_at is not None and outcome.breach is None
    assert fixture.requests[outcome.left_at]["do"] == "cancel"


# --- whatever else a file may hold -----------------------------------------------------------

Change = Callable[[dict[str, Any]], object]

HOSTILE: dict[str, Change] = {
    "another format": lambda d: d.update(format="junit"),
    "a later version": lambda d: d.update(version=2),
    "a version of true": lambda d: d.update(version=True),
    "no steps": lambda d: d.update(steps=[]),
    "too many steps": lambda d: d.update(steps=d["steps"] * 20_000),
    "steps that are no list": lambda d: d.update(steps={"0": 1}),
    "a step that is no object": lambda d: d["steps"].insert(0, 7),
    "a request that is no object": lambda d: d["steps"][0].update(request="poll"),
    "a request for nothing": lambda d: d["steps"][0].update(request={"do": ""}),
    "a capacity of -1": lambda d: d["settings"].update(capacity=-1),
    "a capacity of true": lambda d: d["settings"].update(capacity=True),
    "a huge capacity": lambda d: d["settings"].update(capacity=10**30),
    "no settings": lambda d: d.pop("settings"),
    "no rule": lambda d: d.pop("rule"),
    "a rule without an id": lambda d: d["rule"].pop("id"),
    "a later ticket": lambda d: d["steps"][0]["request"].update(ticket_of=3),
    "a story of numbers": lambda d: d.update(story=[1]),
}

SENSELESS: dict[str, Change] = {
    "an unknown suite": lambda d: d.update(suite="stack"),
    "an unknown rule": lambda d: d["rule"].update(id="QUEUE-99"),
    "an unknown operation": lambda d: d["steps"][0]["request"].update(do="explode"),
    "another port": lambda d: d.update(port="stack"),
    "a cancel of nothing": lambda d: d["steps"][0].update(request={"do": "cancel"}),
}


def changed(text: str, change: Change) -> str:
    """A fixture with something wrong."""
    document = copy.deepcopy(json.loads(text))
    change(document)
    return json.dumps(document)


@pytest.mark.parametrize("what", HOSTILE)
def test_a_malformed_fixture_is_refused_by_the_reader_and_by_the_schema(
    text: str, what: str
) -> None:
    """One clear message, and the schema of the format says the same."""
    bad = changed(text, HOSTILE[what])
    with pytest.raises(InputError, match="not a fixture"):
        read_fixture(bad, "f.json")
    if what != "a later ticket":  # how steps refer to each other is beyond a schema
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(json.loads(bad), SCHEMA)


@pytest.mark.parametrize("what", SENSELESS)
def test_a_fixture_that_no_suite_wrote_is_refused(text: str, what: str) -> None:
    """It fits the format, and is still nothing that can be replayed."""
    told = "uses the port" if what == "another port" else "."
    with pytest.raises(InputError, match=told):
        replay(read_fixture(changed(text, SENSELESS[what]), "f"), resolve_target("reference"))


def failure_of(twin: str) -> dict[str, Any]:
    """The fixture of a twin's first failure, as a document."""
    suite = zoo()[twin].suite
    rows = (run_case(suite, f"zoo:{twin}", case, RunSettings())
            for case in plan(suite, cases=12, seed=0))
    return json.loads(next(row.fixture for row in rows if row.fixture))


@pytest.mark.parametrize(("twin", "name", "value", "told"), [
    ("controller-dead-leader", "partitions", [0, "x"], "is [0, \"x\"]"),
    ("controller-dead-leader", "partitions", [2**40], "is not a request that this suite"),
    ("controller-dead-leader", "partitions", [], "is not a request that this suite"),
    ("controller-dead-leader", "selector", ["first"], "'selector' of change"),
])
def test_an_argument_that_no_port_has_is_the_files_fault(
    twin: str, name: str, value: object, told: str
) -> None:
    """Arguments with which a suite computes are checked before: by the port, by the suite, or by
    its table.
    """
    document = failure_of(twin)
    for fields in (document["settings"], *(step["request"] for step in document["steps"])):
        if name in fields:
            fields[name] = value
    target = resolve_target(reference_of(document["suite"]))
    with pytest.raises(InputError) as caught:
        replay(read_fixture(json.dumps(document), "f"), target, "f")
    assert told in str(caught.value) and caught.value.next_step


@pytest.mark.parametrize("bad", [
    "", "[]", "null", "{", "[" * 100_000, '{"format": NaN}', "1" * 10_000, '"\\ud800"',
    " " * (FIXTURE_BYTES_MAX + 1),
])
def test_what_is_not_json_is_refused(bad: str) -> None:
    """Whatever the file holds, there is one message and no traceback."""
    with pytest.raises(InputError, match="not a fixture"):
        read_fixture(bad, "f.json")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner,
                                                                max_size=3),
    max_leaves=8,
)


@given(st.data())
def test_no_change_of_a_fixture_does_more_than_be_refused(
    text: str, data: st.DataObject
) -> None:
    """Any value in any field: the reader accepts it or says that it does not."""
    document = json.loads(text)
    place = document
    for _ in range(data.draw(st.integers(0, 3))):
        inside = [value for value in (place.values() if isinstance(place, dict) else place)
                  if isinstance(value, dict | list) and value]
        if not inside:
            break
        place = data.draw(st.sampled_from(inside))
    keys = list(place) if isinstance(place, dict) else range(len(place))
    place[data.draw(st.sampled_from(list(keys)))] = data.draw(JSON)
    with suppress(InputError):  # which is what we want; any other exception is the failure
        replay(read_fixture(json.dumps(document), "f"), resolve_target("reference"))


def test_a_fixture_in_which_a_key_comes_twice_is_refused(text: str) -> None:
    """Readers differ on which of the two counts."""
    twice = text.replace('"version": 1', '"version": 1, "version": 1')
    with pytest.raises(InputError, match="not a fixture: .*'?version'? comes twice"):
        read_fixture(twice, "f.json")


# --- the command ---------------------------------------------------------------------------

def test_replay_exits_with_what_it_found(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """0 where nothing breaks, 1 where a rule breaks."""
    file = tmp_path / "f.json"
    file.write_text(text)
    assert run(root, ["replay", str(file), "zoo:deaf-producer"]) == 1
    assert "the same rule, at the same step" in capsys.readouterr().out
    assert run(root, ["replay", str(file), "reference"]) == 0
    assert "Not broken" in capsys.readouterr().out


def test_replay_refuses_what_the_target_cannot_do(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A deque has no put: the fixture does not apply to it."""
    file = tmp_path / "f.json"
    file.write_text(text)
    assert run(root, ["replay", str(file), "deque"]) == 64
    assert "cannot do 'put'" in capsys.readouterr().err


@pytest.mark.parametrize("what", ["an unknown operation"])
def test_replay_blames_the_file_for_what_no_target_could_do(
    text: str, what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message names the file and the place in it, and sends nobody to another target."""
    file = tmp_path / "f.json"
    file.write_text(changed(text, SENSELESS[what]))
    assert run(root, ["replay", str(file), "reference"]) == 64
    told = capsys.readouterr().err
    assert str(file) in told and "steps[0].request" in told and "another target" not in told
    assert "on a target" not in told


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b"{}", b"x" * (FIXTURE_BYTES_MAX + 2)])
def test_replay_of_rubbish_is_one_message(
    content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Bad input ends with 64 and says what is wrong with the file."""
    file = tmp_path / "f.json"
    file.write_bytes(content)
    assert run(root, ["replay", str(file), "reference"]) == 64
    told = capsys.readouterr().err
    assert "not a fixture" in told and "Traceback" not in told


def test_replay_of_what_is_no_file_is_one_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A folder, or nothing at all."""
    assert run(root, ["replay", str(tmp_path), "reference"]) == 64
    assert run(root, ["replay", str(tmp_path / "gone.json"), "reference"]) == 64
    assert "Traceback" not in capsys.readouterr().err


def test_replay_prints_one_document(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With --json, and it fits its schema."""
    file = tmp_path / "f.json"
    file.write_text(text)
    schema = json.loads((ROOT / "docs/schemas/replay.json").read_text())
    for target, broken in (("zoo:deaf-producer", True), ("reference", False)):
        run(root, ["replay", str(file), target, "--json"])
        document = json.loads(capsys.readouterr().out)
        jsonschema.validate(document, schema)
        assert (document["breach"] is not None) == document["same"] == broken
