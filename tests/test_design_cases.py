"""Designs as people draw them, with the capacities that they run: each is decided, and rightly.

Nothing here looks at a clock. What decides them is bounded in states and steps, and takes a few
seconds at most.
"""

from __future__ import annotations

import pytest

from checkvalve.spec.design.check import check
from checkvalve.spec.design.loader import load
from checkvalve.spec.verdicts.verdict import Outcome

CASES = {
    "two services with one thread each, which call each other": ("violated", """
tasks:
  from north: {kind: call, pool: [north, south], roots: 1, depth: 2}
  from south: {kind: call, pool: [south, north], roots: 1, depth: 2}
pools: {north: {threads: 1}, south: {threads: 1}}
"""),
    "a script that gives back before it has taken": ("violated", """
tasks:
  a: {kind: script, steps: [{release: p}, {write: l}, {acquire: p}]}
  b: {kind: sink}
links: [{name: l, from: a, to: b, flow: credit, capacity: 2, initial: 1, gives: 2}]
pools: {p: {threads: 3}}
"""),
    "a diamond whose slow branch makes one of twenty": ("violated", """
tasks:
  readings: {kind: source}
  fan out: {kind: broadcast}
  average: {kind: map, hand: 1}
  raw: {kind: map, hand: 1}
  pair: {kind: zip}
  store: {kind: sink}
links:
  - {from: readings, to: fan out, flow: credit, capacity: 10}
  - {from: fan out, to: average, flow: credit, capacity: 30, takes: 20}
  - {from: fan out, to: raw, flow: credit, capacity: 10, batch: 2}
  - {from: average, to: pair, capacity: 2}
  - {from: raw, to: pair, capacity: 19, takes: 19}
  - {from: pair, to: store, capacity: 4}
"""),
    "a consumer that reads its own retries": ("violated", """
tasks:
  topic: {kind: source}
  poll: {kind: merge, policy: fair, hand: 1}
  work: {kind: route, pool: workers}
  send: {kind: map, hand: 1}
  broker: {kind: sink}
links:
  - {from: topic, to: poll, capacity: 5}
  - {from: poll, to: work, capacity: 500}
  - {from: work, to: send, capacity: 1000}
  - {from: work, to: poll, capacity: 100, name: retry}
  - {from: send, to: broker, flow: credit, capacity: 5}
pools: {workers: {threads: 3}}
"""),
    "two sources, joined and enriched": ("holds", """
tasks:
  left: {kind: source}
  right: {kind: source}
  parse left: {kind: map, hand: 1}
  parse right: {kind: map, hand: 1}
  join: {kind: zip}
  enrich: {kind: map, hand: 1}
  out: {kind: sink}
links:
  - {from: left, to: parse left, capacity: 10}
  - {from: right, to: parse right, capacity: 10}
  - {from: parse left, to: join, flow: credit, capacity: 10, batch: 2}
  - {from: parse right, to: join, flow: credit, capacity: 10, batch: 2}
  - {from: join, to: enrich, capacity: 10}
  - {from: enrich, to: out, flow: credit, capacity: 4}
"""),
    "a reader that stops, beside one that continues": ("violated", """
tasks:
  a: {kind: source}
  b: {kind: sink}
  c: {kind: script, count: 1, steps: [{read: l}]}
links: [{name: l, from: a, to: c, capacity: 2}, {from: a, to: b, capacity: 2}]
"""),
    "two streams under one window, one of which stops": ("violated", """
tasks:
  send one: {kind: map}
  send two: {kind: map}
  app one: {kind: map}
  app two: {kind: script, count: 1, steps: [{read: two}, {write: window}]}
links:
  - {name: window, from: [app one, app two], to: [send one, send two], capacity: 4, initial: 4}
  - {name: one, from: send one, to: app one, capacity: 3}
  - {name: two, from: send two, to: app two, capacity: 4}
"""),
    "a fair merge of two sources and its own retries": ("violated", """
tasks:
  s1: {kind: source}
  s2: {kind: source}
  m: {kind: merge, policy: fair}
  w: {kind: route}
  out: {kind: sink}
links:
  - {from: s1, to: m, capacity: 1}
  - {from: s2, to: m, capacity: 1}
  - {from: m, to: w, capacity: 1}
  - {from: w, to: m, capacity: 1}
  - {from: w, to: out, capacity: 1}
"""),
    "an order service of twelve tasks": ("violated", """
tasks:
  web: {kind: source}
  changes: {kind: source}
  intake: {kind: merge, policy: fair}
  validate: {kind: route}
  enrich: {kind: broadcast}
  customer: {kind: map, hand: 1, pool: io}
  price: {kind: map, hand: 1, pool: io}
  join: {kind: zip}
  commit: {kind: route, pool: database}
  again later: {kind: map, hand: 1}
  rejected: {kind: sink}
  published: {kind: sink}
links:
  - {from: web, to: intake, capacity: 3}
  - {from: changes, to: intake, capacity: 3}
  - {from: intake, to: validate, capacity: 3}
  - {from: validate, to: rejected, capacity: 2}
  - {from: validate, to: enrich, capacity: 2}
  - {from: enrich, to: customer, flow: credit, capacity: 2}
  - {from: enrich, to: price, flow: credit, capacity: 2}
  - {from: customer, to: join, capacity: 2}
  - {from: price, to: join, capacity: 2}
  - {from: join, to: commit, capacity: 2}
  - {from: commit, to: published, capacity: 2}
  - {from: commit, to: again later, capacity: 2}
  - {from: again later, to: intake, capacity: 2}
pools: {io: {threads: 1}, database: {threads: 2}}
"""),
    "the same window that is one too small for the loop": ("holds", """
tasks:
  orders: {kind: source}
  admit: {kind: zip}
  intake: {kind: merge, policy: preferred, prefers: again}
  commit: {kind: route, pool: database}
  leave: {kind: broadcast}
  published: {kind: sink}
links:
  - {from: orders, to: admit, capacity: 800}
  - {from: leave, to: admit, capacity: 701, initial: 701, name: window}
  - {from: admit, to: intake, capacity: 3}
  - {from: intake, to: commit, capacity: 400}
  - {from: commit, to: intake, capacity: 300, name: again}
  - {from: commit, to: leave, capacity: 1}
  - {from: leave, to: published, capacity: 900}
pools: {database: {threads: 2}}
"""),
}


@pytest.mark.parametrize("name", CASES)
def test_it_is_decided_by_default(name: str) -> None:
    """With the budget that nobody has set, and the right verdict."""
    verdict, text = CASES[name]
    report = check(load(f"checkvalve: 2\nname: case\n{text}"))
    assert report.finding("deadlock-free").outcome is Outcome(verdict)
    assert report.finding("bounded").outcome is Outcome.HOLDS


def test_a_file_of_a_thousand_queues_is_read_and_decided() -> None:
    """No number of tasks or links is too large, only a text that is too long."""
    names = [f"stage {number}" for number in range(1_000)]
    tasks = "".join(f"  {name}: {{kind: map}}\n" for name in names)
    links = "".join(
        f"  - {{from: {a}, to: {b}, capacity: 10000, initial: {int(b == names[0])}}}\n"
        for a, b in zip(names, [*names[1:], names[0]], strict=True))
    report = check(load(f"checkvalve: 2\nname: ring\ntasks:\n{tasks}links:\n{links}"))
    found = report.finding("deadlock-free")
    assert found.outcome is Outcome.HOLDS and "one full round of 1,000 steps" in found.method
