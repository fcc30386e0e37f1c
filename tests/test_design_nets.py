"""Nets in PNML: reachable markings counted in closed form, and by a plain token game."""

from __future__ import annotations

from math import comb
from random import Random

import pytest

from benchmarks.random_designs.nets import (
    Net, lucas, philosophers, random_net, ring, round_the_table, shared, switches,
)
from checkvalve.spec.design.formats.bounds import place_bounds

KNOWN = [
    *((f"ring of {n} with {k}", ring(n, k), comb(n + k - 1, k), "holds")
      for n, k in ((2, 1), (3, 5), (5, 7), (8, 6))),
    *((f"{n} switches", switches(n), 2**n, "holds") for n in (1, 4, 10)),
    *((f"{n} users, {k} permits", shared(n, k), min(n, k) + 2, "holds")
      for n, k in ((2, 1), (4, 3), (20, 30))),
    *((f"{n} philosophers at once", philosophers(n, one_by_one=False), lucas(n), "holds")
      for n in (3, 6, 12)),
    *((f"{n} philosophers", philosophers(n, one_by_one=True), round_the_table(n), "violated")
      for n in (3, 5, 8)),
]


@pytest.mark.parametrize(("net", "count", "verdict"), [row[1:] for row in KNOWN],
                         ids=[row[0] for row in KNOWN])
def test_a_net_has_as_many_states_as_its_formula_says(
    net: Net, count: int, verdict: str
) -> None:
    """The states that the search counts are the reachable markings."""
    found = net.checked().finding("deadlock-free")
    assert (found.states, found.outcome.value) == (count, verdict)
    assert found.method == "exhaustive"


@pytest.mark.parametrize("seed", range(60))
def test_random_nets_agree_with_a_plain_token_game(seed: int) -> None:
    """The same number of markings and the same verdict, for nets with bounded places only; for
    others, no verdict that the game contradicts."""
    net = random_net(Random(f"nets {seed}"))
    changes = [{place: gives.get(place, 0) - takes.get(place, 0) for place in {**takes, **gives}}
               for takes, gives in net.transitions]
    bounded = len(place_bounds(net.tokens, changes)) == len(net.tokens)
    played = net.markings(50_000 if bounded else 1_000)
    report = net.checked()
    found = report.finding("deadlock-free")
    if bounded:
        assert played is not None and found.method == "exhaustive"
        assert (found.states, found.outcome.value == "violated") == played
    elif played is not None:  # bounded after all, but no sum says so
        assert found.outcome.value in ("unknown", "violated" if played[1] else "holds")
        assert report.finding("bounded").outcome.value != "violated"


@pytest.mark.parametrize("seed", range(30))
def test_no_reachable_marking_passes_a_bound(seed: int) -> None:
    """A bound that is too small would be room that the net does not lack."""
    net = random_net(Random(f"bounds {seed}"))
    changes = [{place: gives.get(place, 0) - takes.get(place, 0) for place in {**takes, **gives}}
               for takes, gives in net.transitions]
    bounds = place_bounds(net.tokens, changes)
    marking, random = dict(net.tokens), Random(seed)
    for _ in range(300):
        assert all(marking[place] <= bound for place, bound in bounds.items())
        ready = [arcs for arcs in net.transitions
                 if all(marking[place] >= n for place, n in arcs[0].items())]
        if not ready:
            break
        takes, gives = random.choice(ready)
        marking = {place: n - takes.get(place, 0) + gives.get(place, 0)
                   for place, n in marking.items()}
