"""Steps that native code leaves out, and guards that it decides side by side, change nothing."""

from __future__ import annotations

from random import Random

import pytest

from benchmarks.ring import ring, states_of_ring
from checkvalve.spec.design.net.net import Net
from checkvalve.spec.engines.native import engine, explore
from checkvalve.spec.engines.native.commuting import Commuting
from checkvalve.spec.engines.search import check_rules, instances
from checkvalve.spec.notation import (
    Machine, ModelFault, action, array, bind, boolean, const, require, upto,
)
from checkvalve.spec.notation.bound import BoundMachine
from checkvalve.spec.verdicts.verdict import Budget, Verdict


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("size", [(4, 2, 3), (5, 1, 2), (3, 4, 6)])
def test_a_ring_has_the_states_that_combinatorics_gives(
    size: tuple[int, int, int], threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where several threads reach a state by different actions."""
    monkeypatch.setattr(engine, "LEVEL_WIDE", 64)
    result = explore(ring(*size).model, (), Budget(threads=threads))
    assert (result.states, result.complete) == (states_of_ring(*size), True)


def test_of_two_steps_that_commute_one_is_left_out_after_the_other() -> None:
    """Never both, and never one that shares a counter with the other in a guard."""
    model = ring(5, 2, 3).model
    after = Commuting.of(model).after
    place = {action.label: number for number, action in enumerate(model.actions)}
    for a in range(len(after)):
        assert not any(after[b] >> a & 1 and after[a] >> b & 1 for b in range(len(after)))
    one, other = place["deliver(link=0)"], place["permit(link=3)"]
    assert (after[one] >> other & 1) + (after[other] >> one & 1) == 1
    one, other = place["move(link=0)"], place["deliver(link=0)"]
    assert not after[one] >> other & 1 and not after[other] >> one & 1


def random_net(random: Random) -> BoundMachine:
    """A net of few places, with rows of any kind; some deadlock, some leave their range."""
    places, rows = random.randint(3, 7), random.randint(6, 20)
    most = tuple(random.choice((1, 2, 3, 5)) for _ in range(places))

    def some(low: int, high: int, count: int) -> tuple[tuple[int, int], ...]:
        chosen = random.sample(range(places), min(places, count))
        return tuple((place, random.randint(low, high)) for place in sorted(chosen))

    at_least, at_most, change = [], [], []
    for _ in range(rows):
        moved = some(-1, 1, random.randint(1, 3))
        at_least.append(tuple((place, -by) for place, by in moved if by < 0)
                        + some(0, 2, random.randint(0, 1)))
        room = tuple((place, most[place] - by) for place, by in moved if by > 0)
        at_most.append(room if random.random() < 0.98 else ())
        change.append(moved)
    fair = random.randint(1, rows)
    return bind(
        Net, at_least=tuple(at_least), at_most=tuple(at_most), change=tuple(change),
        fair_rows=fair, chance_rows=rows - fair, most=most, limit=most,
        start=tuple(random.randint(0, top) for top in most), rest=(0,) * places,
        stopped=random.randrange(places))


def found_by(bound: BoundMachine, engine: str) -> list[Verdict] | tuple[str, ...]:
    """The verdicts on deadlock and on limits, or the run into a fault."""
    rules = [*instances(bound, "DESIGN-1"), *instances(bound, "DESIGN-2")]
    try:
        return check_rules(bound, rules, Budget(threads=1), engine)  # type: ignore[arg-type]
    except ModelFault as fault:
        return (str(len(fault.steps)),)


def length(verdict: Verdict) -> int | None:
    """The steps of a verdict's trace."""
    return None if verdict.trace is None else len(verdict.trace.steps)


@pytest.mark.parametrize("seed", range(24))
def test_both_engines_agree_on_random_nets(seed: int) -> None:
    """States, steps and depth are the same, traces as short, and a fault is as near."""
    bound = random_net(Random(seed))
    one, other = found_by(bound, "native"), found_by(bound, "interpreter")
    assert isinstance(one, list) == isinstance(other, list)
    if isinstance(one, tuple) or isinstance(other, tuple):
        assert one == other
        return
    for mine, its in zip(one, other, strict=True):
        assert (mine.outcome, length(mine)) == (its.outcome, length(its))
        if mine.method == its.method == "exhaustive":
            assert (mine.states, mine.transitions, mine.depth) == (
                its.states, its.transitions, its.depth)


def test_actions_beyond_the_first_64_are_left_out_as_well() -> None:
    """Two tokens go round 70 places, which are 70 actions and states of two words."""
    places, tokens = 70, 2
    following = [(place + 1) % places for place in range(places)]
    bound = bind(
        Net, at_least=tuple(((place, 1),) for place in range(places)),
        at_most=tuple(((target, 0),) for target in following),
        change=tuple(((place, -1), (target, 1)) for place, target in enumerate(following)),
        fair_rows=places, chance_rows=0, start=(1,) * tokens + (0,) * (places + 1 - tokens),
        most=(1,) * (places + 1), limit=(1,) * (places + 1), rest=(0,) * (places + 1),
        stopped=places)
    assert Commuting.of(bound.model).words == 2
    result = explore(bound.model, (), Budget(threads=1))
    assert (result.states, result.transitions) == (
        places * (places - 1) // 2, places * (places - 3) + places)


class Lamps(Machine):
    """Lamps that are lit one by one, in any order."""

    lamps = const(300)
    lit = array(upto(lamps), boolean())

    @action(lamp=upto(lamps))
    def light(self, lamp: int) -> None:
        require(not self.lit[lamp])
        self.lit[lamp] = True


def test_a_few_states_with_very_many_successors_do_not_fill_the_table() -> None:
    """The first two levels have 45,151 states, and the table begins with room for fewer."""
    result = explore(bind(Lamps).model, (), Budget(max_states=40_000, threads=1))
    assert result.stopped_by == "states" and result.states >= 40_000
