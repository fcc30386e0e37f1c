"""Designs as Promela: the printed model, read back and played, has the explorer's states."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner

from benchmarks.random_designs.designs import random_design, random_file
from checkvalve.conformance.cli import root
from checkvalve.conformance.designs import load_file
from checkvalve.spec.design.check import Part, Settings, decide_deadlock, parts
from checkvalve.spec.design.drawing.promela import promela
from checkvalve.spec.design.net.builder import Aim
from checkvalve.spec.design.net.translate import translate
from checkvalve.spec.design.reading.language import Design, Flow
from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.verdicts.verdict import Budget, Outcome

DESIGNS = Path(__file__).parent.parent / "examples" / "designs"
MOST = 3_000


def played(model: str) -> tuple[int, bool] | None:
    """The number of states that the model reaches, and whether it stops in one where it may not;
    None for more than MOST. The text alone says it: SPIN's own reading, in a few lines.
    """
    names = re.findall(r"^(?:bit|byte|short|int) (p\d+) = (\d+);", model, re.MULTILINE)
    at = {name: place for place, (name, _) in enumerate(names)}
    code = re.sub(r"\bp(\d+)\b", lambda found: f"m[{at[found[0]]}]", model.replace("&&", "and")
                  .replace("(true)", "(True)"))
    rows = [(compile(guard, "guard", "eval"), [
        (int(place), int(f"{sign}{n}")) for place, sign, n in re.findall(
            r"m\[(\d+)\] = m\[\d+\] ([+-]) (\d+)", does)])
        for guard, does in re.findall(r"d_step \{ (\(.*?\)) -> (.*) \}", code)]
    ends = [compile(guard, "end", "eval") for guard in re.findall(r":: (\(.*\)) -> break", code)]
    first = tuple(int(n) for _, n in names)
    seen, todo, stuck = {first}, [first], False
    while todo and len(seen) <= MOST:
        m = todo.pop()
        ready = [does for guard, does in rows if eval(guard, {"m": m})]  # noqa: S307 - our own
        stuck = stuck or not ready and not any(eval(end, {"m": m}) for end in ends)  # noqa: S307
        for does in ready:
            after = list(m)
            for place, n in does:
                after[place] += n
            if tuple(after) not in seen:
                seen.add(tuple(after))
                todo.append(tuple(after))
    return None if len(seen) > MOST else (len(seen), stuck)


def agrees(design: Design) -> bool:
    """True if a part and its model have the same states and the same verdict; also where there are
    too many to play.
    """
    found = decide_deadlock(Part.of(design), Settings("explorer", Budget(max_states=MOST)))
    model = played(promela(translate(design, Aim()), design.name))
    if model is None or found.method != "exhaustive":
        return True
    return model == (found.states, found.outcome is Outcome.VIOLATED)


@pytest.mark.parametrize("path", sorted(DESIGNS.glob("*.yaml"))[::4], ids=lambda path: path.stem)
def test_a_model_has_the_states_and_the_verdict_of_its_design(path: Path) -> None:
    """Those of the examples that can be played, but for unbounded links."""
    design = load_file(path)
    if all(link.flow is not Flow.UNBOUNDED for link in design.links.values()):
        assert all(agrees(part) for part in parts(design))


@pytest.mark.parametrize("seed", range(25))
def test_models_of_random_designs_agree(seed: int) -> None:
    """Every kind of task and flow, in the words of Promela."""
    design = random_design(Random(f"promela {seed}"))
    if all(link.flow is not Flow.UNBOUNDED for link in design.links.values()):
        with suppress(InputError):  # more ways to move than can be listed
            assert all(agrees(part) for part in parts(design))


@pytest.mark.parametrize("seed", range(15))
def test_models_of_random_designs_with_kinds_agree(seed: int) -> None:
    """Queues read at their head or anywhere, routes by kind, windows, barriers, stop and go."""
    with suppress(InputError):  # more ways to move than can be listed
        assert all(agrees(part) for part in parts(random_file(Random(f"promela {seed}"))))


def test_the_command_prints_one_model_or_writes_one_for_each_part(tmp_path: Path) -> None:
    """Several on one page would be no model."""
    def told(*arguments: str) -> str:
        done = CliRunner().invoke(
            root, ["export", "--to", "promela", *arguments], standalone_mode=False)
        if done.exception is not None:
            raise done.exception
        return done.output

    assert "active proctype design()" in told(str(DESIGNS / "ring-live.yaml"))
    two = tmp_path / "two.dot"
    two.write_text("digraph two { edge [capacity=300]; a -> b; c -> d }")
    with pytest.raises(InputError, match="2 parts"):
        told(str(two))
    told(str(two), "--out", str(tmp_path / "models"))
    models = sorted((tmp_path / "models").iterdir())
    assert [path.name for path in models] == ["two-1.pml", "two-2.pml"]
    assert "short p1 = 0;" in models[0].read_text()
