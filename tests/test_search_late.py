"""When the time ends in the middle: whatever is being done then, what is said is honest."""

from __future__ import annotations

from itertools import count

import pytest

from checkvalve.spec.engines import native, search
from checkvalve.spec.engines.search import Engine, check_rules, instances
from checkvalve.spec.notation import MUST, Machine, action, always, bind, integer, leads_to, require
from checkvalve.spec.verdicts.native_refusal import NotNative
from checkvalve.spec.verdicts.verdict import Budget, Outcome, Verdict

STEPS = 40


class Walk(Machine):
    """Walks to its end, one step at a time."""

    x = integer(0, STEPS)

    @action(fair=True)
    def go(self) -> None:
        require(self.x < STEPS)
        self.x += 1

    @always("WALK-1", MUST, "It does not get to its end.", source="a test")
    def short_of_it(self) -> bool:
        return self.x < STEPS

    @always("WALK-2", MUST, "It stays on its way.", source="a test")
    def on_its_way(self) -> bool:
        return self.x <= STEPS

    @leads_to("WALK-3", MUST, "It comes back.", source="a test")
    def comes_back(self) -> tuple[bool, bool]:
        return self.x == 1, self.x == 0


WHOLE = {"WALK-1": Outcome.VIOLATED, "WALK-2": Outcome.HOLDS, "WALK-3": Outcome.VIOLATED}


def verdicts(engine: Engine, last: float) -> tuple[dict[str, Verdict], int]:
    """The verdicts by rule where the time is over from a look on, and how many looks it took."""
    looks = count()
    seen = 0

    def clock() -> float:
        nonlocal seen
        seen = next(looks)
        return 0.0 if seen < last else 1e9

    bound = bind(Walk)
    wanted = instances(bound)
    found = check_rules(bound, wanted, Budget(max_seconds=1.0, threads=1, clock=clock), engine)
    return {item.rule.id: verdict for item, verdict in zip(wanted, found, strict=True)}, seen


@pytest.mark.parametrize("part", range(4))
@pytest.mark.parametrize("engine", ["interpreter", "native"])
def test_a_verdict_that_is_cut_short_at_any_look_at_the_clock_claims_nothing(
    engine: Engine, part: int
) -> None:
    """It is the verdict that there is time enough for, or unknown, with the reason; what was not
    searched to its end is nowhere called exhaustive; and what there was time for is not lost
    where there is more."""
    whole, looks = verdicts(engine, float("inf"))
    assert {id: verdict.outcome for id, verdict in whole.items()} == WHOLE
    unknown, known = set(), set()
    places = sorted({*range(2, looks, 1 + looks // 8), *range(max(2, looks - 24), looks)})
    for last in places[part::4]:
        for id, verdict in verdicts(engine, last)[0].items():
            if verdict.outcome is Outcome.UNKNOWN:
                unknown.add(id)
                assert id not in known, f"lost at look {last}"
                assert verdict.method == "search, incomplete" and "time" in verdict.reason
            else:
                known.add(id)
                assert verdict.outcome is WHOLE[id]
    assert unknown


def test_where_the_time_ends_before_the_first_state_each_rule_says_that_nothing_was_covered(
) -> None:
    """One verdict for each, with the method that its kind of rule has."""
    found, _ = verdicts("native", 2)
    assert len(found) == len(WHOLE)
    for verdict in found.values():
        assert (verdict.outcome, verdict.states) == (Outcome.UNKNOWN, 0)
        assert verdict.reason.endswith("; nothing was covered")


@pytest.mark.parametrize(("engine", "outcome"), [
    ("native", Outcome.UNKNOWN), ("auto", Outcome.VIOLATED)])
def test_what_native_code_has_decided_stays_where_it_cannot_have_the_rest(
    engine: Engine, outcome: Outcome, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as where the graph that liveness needs would take too long to compile: the others keep
    their verdicts, and the interpreter looks for a round, if it may."""
    def refuse(*_given: object) -> None:
        raise NotNative("it would take too long to compile")

    monkeypatch.setattr(native, "graph", refuse)
    monkeypatch.setattr(search, "ATTEMPTS_BEFORE_NATIVE", 1)
    found = {item.rule.id: verdict for item, verdict in zip(
        instances(bind(Walk)), check_rules(bind(Walk), engine=engine), strict=True)}
    assert {id: verdict.outcome for id, verdict in found.items()} == WHOLE | {"WALK-3": outcome}
    if outcome is Outcome.UNKNOWN:
        assert "too long to compile" in found["WALK-3"].reason
