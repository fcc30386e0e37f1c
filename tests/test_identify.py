"""``checkvalve identify`` says what a queue does when it is full, and never says it wrong."""

from __future__ import annotations

import json
import re
from pathlib import Path
from random import Random
from textwrap import dedent
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkvalve.conformance.adapters.session import InProcessTarget
from checkvalve.conformance.cli import root
from checkvalve.conformance.cli.outcome import run
from checkvalve.conformance.suites.identity import Identity
from checkvalve.conformance.systems.catalogue import port_named
from checkvalve.conformance.systems.queue.dropping import DroppingDeque
from checkvalve.conformance.systems.queue.identity import NAMES, identify
from checkvalve.conformance.systems.queue.port import PORT
from checkvalve.conformance.systems.queue.twins import TWINS
from checkvalve.conformance.systems.targets import known_targets, resolve_target
from checkvalve.spec.engines.candidates import CandidateSets
from checkvalve.spec.engines.distinguish import Belief, Experiment
from checkvalve.spec.notation import bind
from checkvalve.spec.queues.dropping import Policy
from checkvalve.spec.queues.policies import BIRTH, QUESTIONS, UnknownQueue

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "identify.md").read_text(encoding="utf-8")
POLICIES = {name: name.removeprefix("policy.")
            for name in known_targets("queue") if name.startswith("policy.")}
ENDLESS = ("conflate", "merge", "unbounded")
EVICTING = ("drop-oldest", "drop-youngest-queued", "clear", "conflate")


def found(spec: str, capacity: int = 3, limit: int = 9) -> Identity:
    """The kind that is found out of a target that comes with checkvalve."""
    return identify(resolve_target(spec), capacity, limit)


def experiment(**constants: int) -> Experiment:
    """All kinds of these constants, and all questions."""
    bound = bind(UnknownQueue, **constants)
    return Experiment(CandidateSets(bound, kept=None), BIRTH, QUESTIONS)


def explaining(identity: Identity, has: tuple[str, ...]) -> set[tuple[str, int]]:
    """The kinds that explain all of the evidence, by the machine alone."""
    machine = experiment(N=identity.limit, K=identity.limit + 2, E=min(2, identity.capacity),
                         P=int("put" in has), S=int("resident" in has))
    left = set(machine.fresh())
    for shown in identity.evidence:
        belief: Belief = machine.fresh()
        for clue in shown:
            for step in clue.asked.steps:
                belief = machine.after(belief, step)
        left &= set(belief)
    return {(NAMES[Policy(kind[0])], kind[1]) for kind in left}


@pytest.mark.parametrize("target", POLICIES)
@settings(max_examples=3, deadline=None)
@given(capacity=st.integers(2, 8))
def test_every_policy_is_identified_with_its_capacity(target: str, capacity: int) -> None:
    """Whatever capacity the reference is given."""
    identity = found(target, capacity)
    assert identity.identified and identity.policies == (POLICIES[target],)
    assert identity.kinds[0][1] == (0 if POLICIES[target] in ENDLESS else capacity)
    assert identity.keeps_its_word


@pytest.mark.parametrize("target", [*POLICIES, "reference", "reference.deferred"])
def test_the_evidence_tells_the_policy_from_all_others(target: str) -> None:
    """Nothing but what was found explains what is shown; the machine says so, once more."""
    identity = found(target)
    has = ("put", "resident") if target == "policy.spill" else ("put",)
    assert explaining(identity, has) == set(identity.kinds)


@pytest.mark.parametrize("target", POLICIES)
def test_with_one_place_what_cannot_be_told_is_not_said(target: str) -> None:
    """Four policies are the same there: all four are named, and nothing is identified."""
    identity = found(target, capacity=1)
    if POLICIES[target] in EVICTING and target != "policy.merge":
        assert identity.policies == EVICTING and not identity.identified
        assert "--capacity" in identity.advice
    else:
        assert identity.policies == (POLICIES[target],)


@pytest.mark.parametrize("name", TWINS)
def test_a_broken_queue_is_never_taken_for_one_of_another_policy(name: str) -> None:
    """It lets producers wait, or is not explained; a twin that drops breaks its word."""
    identity = found(f"zoo:{name}")
    if name.startswith("says-"):
        assert identity.identified and not identity.keeps_its_word
    elif identity.identified and name not in ("silent-drop", "drops-before-waiters"):
        assert identity.policies == ("block",) and identity.keeps_its_word
    assert identity.identified or identity.why


@pytest.mark.parametrize(("target", "policy"), [
    ("queue.Queue", "block"), ("asyncio.Queue", "block"), ("janus", "block"), ("anyio", "block"),
    ("trio", "block"), ("deque", "drop-oldest"),
])
def test_queues_of_python_are_identified(target: str, policy: str) -> None:
    """Those of the standard library, and of others, with the capacity that they were asked for."""
    identity = found(target)
    assert identity.policies == (policy,) and identity.kinds[0][1] == 3
    assert identity.identified and identity.keeps_its_word


def test_all_kinds_can_be_told_apart() -> None:
    """Unless a queue was asked for one place; then just those that replace what is there."""
    wide = experiment(N=3, K=5, E=2, P=1, S=1)
    for kind in wide.fresh():
        assert told(wide, kind) == {kind}
    narrow = experiment(N=3, K=5, E=1, P=1, S=1)
    alike = {(Policy.DROP_OLDEST, 1), (Policy.DROP_YOUNGEST, 1), (Policy.CLEAR, 1),
             (Policy.CONFLATE, 0)}
    for kind in narrow.fresh():
        assert told(narrow, kind) == (alike if kind in alike else {kind})


def told(machine: Experiment, kind: tuple[int, ...]) -> set[tuple[int, ...]]:
    """The kinds that fit a queue of a kind after all questions that rule some out; the queue
    answers each with the first answer that its kind allows.
    """
    left = tuple(machine.fresh())
    for _ in range(2 * len(left)):
        belief, own = machine.fresh(left), machine.fresh([kind])
        while questions := machine.next_questions(belief):
            step = next(iter(machine.possible(own, questions[0])))
            belief, own = machine.after(belief, step), machine.after(own, step)
        left = tuple(belief)
    return set(left)


def tells_within(machine: Experiment, belief: Belief, questions: int) -> bool:
    """True if so many questions, each whatever the answer before it, rule out some kind."""
    if questions == 0:
        return False
    for question in machine.steps:
        answers = machine.possible(belief, question).values()
        whole = [left for left in answers if len(left) == len(belief)]
        if answers and not whole or any(
                tells_within(machine, left, questions - 1) for left in whole):
            return True
    return False


def test_no_fewer_questions_tell_what_is_asked_to_tell() -> None:
    """Compared with all shorter sequences, of some kinds that may be left, drawn at random."""
    machine = experiment(N=6, K=5, E=3, P=0, S=0)
    kinds, random = list(machine.fresh()), Random(1)
    for _ in range(40):
        belief = machine.fresh(random.sample(kinds, random.randint(2, 6)))
        if found := machine.next_questions(belief):
            assert not tells_within(machine, belief, len(found) - 1)


def test_what_the_port_calls_its_policies_is_what_they_are_called() -> None:
    """But that the port says wait where the policy is to block."""
    called = {"wait" if name == "block" else name for name in NAMES.values()}
    assert called == set(PORT.policies)


class Moody(DroppingDeque):
    """A deque that drops the other end in every other session."""

    sessions = 0

    def start(self, capacity: int) -> None:
        """Start with an empty queue, and count the session."""
        super().start(capacity)
        type(self).sessions += 1

    def offer(self, item: str | int) -> bool:
        """See the port."""
        full = len(self._items) == self._items.maxlen
        if not (full and self.sessions % 2):
            super().offer(item)
        return True


def test_a_queue_that_answers_otherwise_the_second_time_is_not_identified() -> None:
    """Whatever it answers, no policy is said."""
    identity = identify(InProcessTarget("moody", Moody, port_named), 3, 10)
    assert not identity.identified and identity.why


def test_a_spent_budget_is_told() -> None:
    """The report says what to do about it; nothing is identified."""
    identity = identify(resolve_target("deque"), 3, 32, seconds=1e-9)
    assert not identity.identified and "--max-seconds" in identity.advice


@pytest.mark.parametrize(("command", "told"), re.findall(
    r"^\$ checkvalve identify (.+)\n((?:.+\n)+)```$", PAGE, re.MULTILINE))
def test_the_page_shows_what_is_printed(
    command: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """To the letter."""
    run(root, ["identify", *command.split()])
    assert capsys.readouterr().out.strip() == told.strip()


# ---- the command ------------------------------------------------------------------------------


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, Any]:
    """The exit code and the document of ``identify``, which fits its schema."""
    code = run(root, ["identify", *arguments, "--json"])
    document = json.loads(capsys.readouterr().out)
    schema = json.loads((ROOT / "docs/schemas/identify.json").read_text(encoding="utf-8"))
    jsonschema.validate(document, schema)
    assert document["exit_code"] == code
    return code, document


def test_the_command_tells_policy_capacity_and_evidence(
    capsys: pytest.CaptureFixture[str]
) -> None:
    """In one document, and in lines."""
    code, document = printed(capsys, "deque")
    target = document["targets"][0]
    assert (code, target["policy"], target["capacity"]) == (0, "drop-oldest", 3)
    assert target["evidence"][0][-1]["answer"] == "a2"
    assert run(root, ["identify", "deque"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "deque, asked for 3 places: drop-oldest, capacity 3"
    assert any("poll: a2" in line for line in lines)


def test_a_queue_that_breaks_its_word_is_violated(capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 1; and 2 where nothing can be decided, of which the graver counts."""
    code, document = printed(capsys, "zoo:says-oldest-drops-newest")
    assert (code, document["targets"][0]["verdict"]) == (1, "violated")
    code, document = printed(capsys, "deque", "--capacity", "1")
    assert (code, document["targets"][0]["policy"]) == (2, None)
    assert {each["policy"] for each in document["targets"][0]["fits"]} == set(EVICTING)


def test_a_program_is_identified_behind_the_protocol(capsys: pytest.CaptureFixture[str]) -> None:
    """The example that never waits turns its producers away."""
    code, document = printed(capsys, f"command:{ROOT / 'examples/adapters/ring_queue.py'}")
    assert (code, document["targets"][0]["policy"]) == (0, "reject")


BAD = {
    "raises": "raise RuntimeError('no')",
    "hangs": "while True: pass",
    "exits": "import os; os._exit(3)",
}


@pytest.mark.parametrize("how", BAD)
def test_a_target_that_fails_is_told_and_the_others_go_on(
    how: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its code runs elsewhere, and the message has the line."""
    (tmp_path / f"bad_{how}.py").write_text(dedent(f"""\
        class Bad:
            def request(self, message):
                if message["do"] == "hello":
                    return {{"ok": {{"name": "bad", "version": "1", "policy": "wait",
                                   "can": ["offer", "poll"]}}}}
                {BAD[how]}
        """), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    code, document = printed(
        capsys, f"python:bad_{how}:Bad", "deque", "--timeout", "1", "--limit", "5")
    bad, good = document["targets"]
    assert code == 69 and bad["verdict"] == "error" and good["policy"] == "drop-oldest"
    assert f"bad_{how}.py:6" in bad["why"]


def test_a_queue_without_the_capacity_asked_for_is_unknown(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The advice is to ask for another."""
    (tmp_path / "small.py").write_text(dedent("""\
        from checkvalve.conformance.systems.queue.dropping import DroppingDeque

        class Small(DroppingDeque):
            capacity_max = 2
        """), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    code, document = printed(capsys, "python:small:Small")
    assert code == 2 and "--capacity" in document["targets"][0]["next_step"]
    assert printed(capsys, "python:small:Small", "--capacity", "2")[0] == 0


def test_a_target_of_another_suite_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """Before anything is run; and so is a limit below the capacity."""
    assert run(root, ["identify", "kafka.timer.reference"]) == 64
    assert run(root, ["identify", "deque", "--capacity", "9", "--limit", "8"]) == 64
    assert "--limit" in capsys.readouterr().err
