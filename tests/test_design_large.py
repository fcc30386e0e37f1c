"""Large capacities: what is decided without searching them is what a search of them says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random

import pytest

from benchmarks.random_designs.designs import random_design
from checkvalve.spec.design.check import decide_one
from checkvalve.spec.design.loader import load
from checkvalve.spec.design.net.builder import Aim
from checkvalve.spec.design.net.translate import translate
from checkvalve.spec.design.reading.language import Design, Flow, Kind
from checkvalve.spec.design.reading.properties import LIVE, ORDERED, no_starvation
from checkvalve.spec.design.search import large
from checkvalve.spec.design.search.searching import Settings
from checkvalve.spec.design.search.space import TooLarge, space_of
from checkvalve.spec.design.verdicts.live import decide_live
from checkvalve.spec.design.verdicts.order import decide_order
from checkvalve.spec.design.verdicts.steady import goes_on, is_fed
from checkvalve.spec.design.why.parts import parts
from checkvalve.spec.engines import search
from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.verdicts.verdict import Budget, Outcome

BUDGET = Budget(max_states=3_000, threads=1)
AUTO, PLAIN = Settings("auto", BUDGET), Settings("explorer", BUDGET)


@pytest.fixture(autouse=True)
def _interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """So few states are searched sooner than native code is made."""
    monkeypatch.setattr(search, "ATTEMPTS_BEFORE_NATIVE", 10**9)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Links of two elements count as large, and are cut to one."""
    monkeypatch.setattr(large, "LARGE", 1)
    monkeypatch.setattr(large, "CUT", 1)


def drawn(name: str, number: int) -> Iterator[Design]:
    """Parts of random designs, with bounded links of one to four elements."""
    for seed in range(number):
        draw = Random(f"{name} {seed}")
        for part in parts(random_design(draw)):
            links = {link.name: replace(link, capacity=max(link.initial, draw.randint(1, 4)))
                     if link.flow is Flow.BLOCKING and link.capacity and not link.room else link
                     for link in part.links.values()}
            yield replace(part, links=links)


def joined(name: str, number: int) -> Iterator[Design]:
    """Random designs in which what goes different ways comes together again."""
    for seed in range(number):
        draw = Random(f"{name} {seed}")
        ways = draw.randint(1, 2)
        room = iter(draw.choices((1, 2, 3), k=20))
        merge = draw.choice(("", ", policy: fair", ", policy: preferred, prefers: in0"))
        tasks = {"a": draw.choice(("source, count: 2", "source", "source, count: 1")), "z": "sink",
                 "r": draw.choice(("route", "route, by: room", "map", "map, hand: 2")),
                 "m": draw.choice((f"merge{merge}", f"merge{merge}, hand: 2"))}
        links = [("a", "r", ""), ("m", "z", "")]
        if ways == 1 or tasks["r"].startswith("map"):
            ways, tasks["r"] = 1, tasks["r"].replace("route", "map").replace(", by: room", "")
        for way in range(ways):
            middle = draw.randint(0, 1)
            if middle:
                tasks[f"w{way}"] = draw.choice(("map", "filter", "map, hand: 1"))
                links.append(("r", f"w{way}", ""))
            links.append((f"w{way}" if middle else "r", "m", f"name: in{way}, "))
        if draw.random() < 0.3 or ways == 1:  # another sender, or a loop
            tasks["b"] = "source, count: 2"
            links.append(("b", "m", "name: in1, " if ways == 1 else "name: in2, "))
        body = "\n".join(f"  {task}: {{kind: {kind}}}" for task, kind in tasks.items())
        body += "\nlinks:\n" + "\n".join(
            f"  - {{{named}from: {start}, to: {end}, capacity: {next(room)}}}"
            for start, end, named in links)
        yield load(f"checkvalve: 2\nname: joined\ntasks:\n{body}\n")


def piped(draw: Random) -> Design:
    """A random design without cycles, in most of which everything continues."""
    kinds = ("map", "filter", "route", "broadcast", "merge", "sink")
    lines, links, open_ends = ["  t0: {kind: source}"], list[str](), ["t0"]
    ends = {"t0": 0}
    for number in range(1, draw.randint(3, 7)):
        kind = draw.choice(kinds)
        name, more = f"t{number}", ""
        inputs = [draw.choice(open_ends)] if open_ends else []
        if kind == "merge" and len(open_ends) > 1:
            inputs = draw.sample(open_ends, 2)
            more = draw.choice((", policy: fair", ", policy: fair", ""))
        elif kind == "merge":
            kind = "map"
        if not inputs:
            break
        if draw.random() < 0.3 and kind in ("map", "route", "merge"):
            more += ", hand: 2"
        lines.append(f"  {name}: {{kind: {kind}{more}}}")
        for start in inputs:
            flow = draw.choice(("", "", ", flow: credit", ", flow: unbounded"))
            room = "" if "unbounded" in flow else f", capacity: {draw.randint(1, 3)}"
            links.append(f"  - {{from: {start}, to: {name}{room}{flow}}}")
            ends[start] += 1
            many = lines[int(start[1:])].split("kind: ")[1].startswith(("route", "broad", "source"))
            if not many or ends[start] > 1:
                open_ends.remove(start)
        if kind != "sink":
            open_ends.append(name)
            ends[name] = 0
    for place, start in enumerate(dict.fromkeys(open_ends)):
        if not ends[start]:
            lines.append(f"  end{place}: {{kind: sink}}")
            links.append(f"  - {{from: {start}, to: end{place}, capacity: 1}}")
    return load("checkvalve: 2\nname: piped\ntasks:\n" + "\n".join(lines) + "\nlinks:\n"
                + "\n".join(links) + "\n")


def test_what_structure_says_continues_does_in_a_search_of_all_states() -> None:
    """And no task that it says is fed starves."""
    seen = 0
    for seed in range(14):
        try:
            design = piped(Random(f"steady {seed}"))
        except InputError:  # a route with one way, say
            continue
        if not goes_on(design):
            continue
        # A link without an end is searched as one that is large enough to be full as well.
        links = {link.name: replace(link, flow=Flow.BLOCKING, capacity=2)
                 if link.flow is Flow.UNBOUNDED else link for link in design.links.values()}
        bounded = replace(design, links=links, expect={
            no_starvation(task): "holds" for task in design.tasks if is_fed(design, task)})
        found = decide_live([bounded], PLAIN)
        assert found.outcome is not Outcome.VIOLATED, design
        for name in bounded.expect:
            assert decide_one(bounded, name, PLAIN).outcome is not Outcome.VIOLATED, (name, design)
        seen += found.outcome is Outcome.HOLDS
    assert seen >= 4


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("name", [LIVE, ORDERED])
def test_what_smaller_capacities_decide_is_what_a_search_of_the_design_says(name: str) -> None:
    """On random designs, both ways; a run that is called shortest is as short as the search's."""
    decide = decide_live if name == LIVE else decide_order
    seen = {Outcome.HOLDS: 0, Outcome.VIOLATED: 0}
    for part in drawn("large", 30) if name == LIVE else joined("large", 16):
        if not large.large(part) or any(
                link.flow is Flow.UNBOUNDED for link in part.links.values()):
            continue
        found, plain = decide([part], AUTO), decide([part], PLAIN)
        if Outcome.UNKNOWN not in (found.outcome, plain.outcome):
            assert found.outcome is plain.outcome, part
            if found.method.startswith("by construction"):
                continue
            seen[found.outcome] += 1
            if found.steps and found.is_shortest and name == ORDERED:
                assert len(found.steps) == len(plain.steps), part
    assert min(seen.values()) >= 1, seen


@pytest.mark.usefixtures("small")
def test_a_design_with_fitted_capacities_has_the_same_states() -> None:
    """As many, with as many steps between them."""
    seen = 0
    for part in drawn("fitted", 60):
        wide = large.large(part)
        bigger = replace(part, links={**part.links, **{
            link.name: replace(link, capacity=9) for link in wide if link.capacity is not None}})
        other = large.fitted(bigger)
        if not wide or other == bigger or any(
                link.flow is Flow.UNBOUNDED for link in part.links.values()):
            continue
        assert all(link.capacity is None or link.capacity <= bigger.links[link.name].capacity
                   for link in other.links.values()), part
        try:
            one, two = (space_of(translate(each, Aim()), BUDGET) for each in (bigger, other))
        except TooLarge:
            continue
        assert one.states == two.states and len(one.target) == len(two.target), part
        seen += 1
    assert seen >= 2, seen


MILLION = """
checkvalve: 2
name: large
tasks:
  a: {kind: source}
  r: {kind: route, by: room}
  m: {kind: merge, policy: fair}
  s: {kind: sink}
links:
  - {from: a, to: r, capacity: 1000000}
  - {name: x, from: r, to: m, capacity: 1000000}
  - {name: y, from: r, to: m, capacity: 1000000}
  - {from: m, to: s, capacity: 1000000}
expect:
  live: holds
  no-starvation: {m: holds}
  ordered: violated
"""


def test_a_million_elements_are_no_reason_not_to_know() -> None:
    """They continue, and do not stay in order."""
    design = load(MILLION)
    for name, outcome in ((LIVE, Outcome.HOLDS), (ORDERED, Outcome.VIOLATED)):
        assert decide_one(design, name, AUTO).outcome is outcome
    assert design.tasks["m"].kind is Kind.MERGE
    one_way = load(MILLION.replace("by: room", "by: content").replace(
        "m, capacity: 1000000}\n  - {name: y", "m, capacity: 1}\n  - {name: y"))
    assert decide_one(one_way, ORDERED, AUTO).outcome is Outcome.VIOLATED
