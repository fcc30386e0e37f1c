"""Verdicts on designs: the shipped examples, and formulas that are known to be exact."""

from __future__ import annotations

from itertools import product
from math import gcd
from pathlib import Path

import pytest

from checkvalve.conformance.designs import check_design, check_file
from checkvalve.spec.design.check import Settings
from checkvalve.spec.engines.search import check_rules, instances
from checkvalve.spec.flow import credit
from checkvalve.spec.notation import bind
from checkvalve.spec.verdicts.verdict import Budget, Outcome

EXAMPLES = sorted((Path(__file__).parent.parent / "examples" / "designs").glob("*.yaml"))


def deadlocks(text: str) -> bool:
    """The verdict on a design, of which both engines must not disagree."""
    document = "checkvalve: 2\nname: formula\n" + text
    verdict = check_design(document).finding("deadlock-free").outcome
    again = check_design(document, settings=Settings("explorer"))
    searched = again.finding("deadlock-free").outcome
    assert verdict is searched is not Outcome.UNKNOWN
    return verdict is Outcome.VIOLATED


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_each_example_has_the_verdicts_that_it_expects(path: Path) -> None:
    """And says why it is there in a comment at its head."""
    report = check_file(path, Budget(max_seconds=30))
    assert report.as_expected, report.results
    assert report.design.name == path.stem
    assert path.read_text().startswith("# ")


def test_the_echo_client_is_stuck_iff_it_writes_more_than_the_loop_holds() -> None:
    """W > S + h + O + Cr, with O + Cr the room of the replies, which may be none."""
    for w, s, h, o in product(range(1, 7), range(1, 3), range(2), range(3)):
        text = f"""
tasks:
  client: {{kind: script, steps: [{{write: out, count: {w}}}, {{read: back, count: {w}}}]}}
  server: {{kind: map, hand: {h}}}
links:
  - {{name: out, from: client, to: server, capacity: {s}}}
  - {{name: back, from: server, to: client, capacity: {o}}}
"""
        assert deadlocks(text) == (w > s + h + o), (w, s, h, o)


def test_nested_calls_are_stuck_iff_all_threads_can_wait() -> None:
    """n * (d - 1) >= P."""
    for threads, roots, depth in product(range(1, 6), range(1, 4), range(1, 4)):
        text = f"""
tasks: {{calls: {{kind: call, pool: workers, roots: {roots}, depth: {depth}}}}}
pools: {{workers: {{threads: {threads}}}}}
"""
        assert deadlocks(text) == (roots * (depth - 1) >= threads), (threads, roots, depth)


def test_nested_calls_with_a_pool_for_each_level_are_never_stuck() -> None:
    """The remedy: a level waits only for the one below it."""
    for roots, depth in product(range(1, 4), range(2, 4)):
        names = [f"p{level}" for level in range(depth)]
        pools = ", ".join(f"{name}: {{threads: 1}}" for name in names)
        assert not deadlocks(f"""
tasks: {{calls: {{kind: call, pool: [{', '.join(names)}], roots: {roots}, depth: {depth}}}}}
pools: {{{pools}}}
""")


def test_a_ring_is_live_iff_it_has_an_element_and_a_free_slot() -> None:
    """1 <= k <= K - 1."""
    for first, second in product(range(1, 4), range(1, 4)):
        for held in range(first + second + 1):
            one = min(held, first)
            text = f"""
tasks: {{a: {{kind: map}}, b: {{kind: map}}}}
links:
  - {{from: a, to: b, capacity: {first}, initial: {one}}}
  - {{from: b, to: a, capacity: {second}, initial: {held - one}}}
"""
            assert deadlocks(text) == (held in (0, first + second)), (first, second, held)


def test_a_dataflow_edge_needs_exactly_the_known_room() -> None:
    """B >= p + c - gcd + (d mod gcd), and room for what is there at the start."""
    for p, c, d in product(range(1, 5), range(1, 5), range(4)):
        g = gcd(p, c)
        for room in range(max(1, d), 9):
            enough = room >= p + c - g + d % g if d <= p + c - g else room >= d
            text = f"""
tasks: {{a: {{kind: source}}, b: {{kind: sink}}}}
links: [{{from: a, to: b, capacity: {room}, gives: {p}, takes: {c}, initial: {d}}}]
"""
            assert deadlocks(text) != enough, (p, c, d, room)


def test_a_credit_link_is_stuck_iff_too_few_permits_can_survive() -> None:
    """C - L < b."""
    for room, batch in product(range(1, 5), range(1, 5)):
        for losses in range(room + 1):
            text = f"""
tasks: {{a: {{kind: source}}, b: {{kind: sink}}}}
links:
  - {{from: a, to: b, capacity: {room}, flow: credit, batch: {batch}, lossy: {losses}}}
"""
            assert deadlocks(text) == (room - losses < batch), (room, batch, losses)


def test_the_folded_credit_link_is_stuck_where_the_chapter_on_credit_is() -> None:
    """Folding the two hops of the channel changes no verdict (FLOW-3 against DESIGN-1)."""
    for room, batch in product(range(1, 4), range(1, 4)):
        for losses in range(room + 1):
            chapter = bind(credit.Link, C=room, b=batch, L=losses)
            (verdict,) = check_rules(chapter, instances(chapter, "FLOW-3"))
            text = f"""
tasks: {{a: {{kind: source}}, b: {{kind: sink}}}}
links:
  - {{from: a, to: b, capacity: {room}, flow: credit, batch: {batch}, lossy: {losses}}}
"""
            assert deadlocks(text) == (verdict.outcome is Outcome.VIOLATED), (room, batch, losses)


def test_two_who_take_two_locks_are_stuck_iff_they_disagree_on_the_order() -> None:
    """Scripts that acquire and release: the smallest table of philosophers."""
    for second in ("a b", "b a"):
        steps = [
            ", ".join([f"{{acquire: {lock}}}" for lock in order.split()]
                      + [f"{{release: {lock}}}" for lock in order.split()])
            for order in ("a b", second)
        ]
        text = f"""
tasks:
  one: {{kind: script, steps: [{steps[0]}]}}
  two: {{kind: script, steps: [{steps[1]}]}}
pools: {{a: {{threads: 1}}, b: {{threads: 1}}}}
"""
        assert deadlocks(text) == (second == "b a")


def test_a_script_that_ends_leaves_who_waits_for_more_stuck() -> None:
    """It writes rounds * count elements; a reader that wants more waits forever."""
    for rounds, count, wanted in product(range(1, 4), range(1, 4), range(1, 8)):
        text = f"""
tasks:
  a: {{kind: script, count: {rounds}, steps: [{{write: l, count: {count}}}]}}
  b: {{kind: script, count: 1, steps: [{{read: l, count: {wanted}}}]}}
links: [{{name: l, from: a, to: b, capacity: 2}}]
"""
        written = rounds * count
        stuck = wanted > written or wanted < written
        assert deadlocks(text) == stuck, (rounds, count, wanted)


def test_names_cannot_be_mistaken_for_each_other() -> None:
    """A link may be called as one likes."""
    assert not deadlocks("""
tasks: {t: {kind: source}, m: {kind: map, hand: 1}, s: {kind: sink}}
links:
  - {name: the hand of m, from: t, to: m, capacity: 1}
  - {name: the hand, from: m, to: s, capacity: 1}
""")


def loop(m: int, f: int, merge: str, flow: str = "blocking") -> str:
    """The loop of Akka's documentation, with m slots forward and f slots back."""
    return f"""
tasks:
  source: {{kind: source}}
  merge: {{kind: merge{merge}}}
  broadcast: {{kind: broadcast}}
  sink: {{kind: sink}}
links:
  - {{from: source, to: merge, capacity: 1}}
  - {{from: merge, to: broadcast, capacity: {m}}}
  - {{from: broadcast, to: merge, capacity: {f}, flow: {flow}, name: back}}
  - {{from: broadcast, to: sink, capacity: 1}}
"""


def test_the_loop_of_a_merge_is_stuck_for_every_size() -> None:
    """Exactly when all its slots are full."""
    for m, f in product(range(1, 4), range(1, 4)):
        report = check_design("checkvalve: 2\nname: loop\n" + loop(m, f, ""))
        contents = dict(report.finding("deadlock-free").contents)
        assert contents["merge->broadcast"] == m
        assert contents["back"] == f


def test_the_loop_of_a_preferring_merge_starves_its_source_and_needs_a_slot() -> None:
    """No deadlock with a slot for the feedback, a deadlock without one."""
    prefers = ", policy: preferred, prefers: back"
    for m, f in product(range(1, 4), range(3)):
        text = loop(m, f, prefers)
        assert deadlocks(text) == (f == 0), (m, f)
        if f:
            expect = "expect: {no-starvation: {source: violated, sink: holds}}"
            assert check_design("checkvalve: 2\nname: loop\n" + text + expect).as_expected


def test_a_dropping_loop_is_live_and_its_source_goes_on_if_the_merge_is_fair() -> None:
    """For both drop policies; with a merge that promises nothing, the source may starve."""
    for flow, policy in product(("drop-oldest", "drop-newest"), ("fair", "any")):
        verdict = "holds" if policy == "fair" else "violated"
        text = loop(2, 2, f", policy: {policy}", flow) + f"""
expect: {{no-loss: violated, no-starvation: {{source: {verdict}}}}}
"""
        assert check_design("checkvalve: 2\nname: loop\n" + text).as_expected, (flow, policy)


def test_a_finished_design_may_rest_but_not_with_work_left_in_a_queue() -> None:
    """A finite source ends; one whose reader takes two at a time leaves at most one."""
    for count, takes in product(range(1, 5), range(1, 3)):
        assert not deadlocks(f"""
tasks: {{a: {{kind: source, count: {count}}}, b: {{kind: sink}}}}
links: [{{from: a, to: b, capacity: 2, takes: {takes}}}]
""")
    assert deadlocks("""
tasks: {a: {kind: source, count: 3}, b: {kind: source, count: 1}, z: {kind: zip}, s: {kind: sink}}
links:
  - {from: a, to: z, capacity: 4}
  - {from: b, to: z, capacity: 4}
  - {from: z, to: s, capacity: 1}
""")


def test_a_ring_that_its_filter_can_empty_is_stuck_but_may_rest_behind_a_source_that_ends() -> None:
    """A part without a source is meant to run forever."""
    ring = """
links:
  - {name: on, from: a, to: b, capacity: 2, initial: 1}
  - {name: back, from: b, to: a, capacity: 2}
"""
    assert deadlocks("tasks: {a: {kind: map}, b: {kind: filter}}" + ring)
    for count, stuck in ((", count: 1", False), ("", True)):
        tasks = f"tasks: {{s: {{kind: source{count}}}, a: {{kind: merge}}, b: {{kind: filter}}}}"
        assert deadlocks(tasks + ring + "  - {from: s, to: a, capacity: 1}") == stuck


def test_a_part_that_is_stuck_is_found_while_another_part_goes_on() -> None:
    """Each connected part is checked on its own."""
    assert deadlocks("""
tasks: {a: {kind: source}, b: {kind: sink}, c: {kind: map}, d: {kind: map}}
links:
  - {from: a, to: b, capacity: 1}
  - {from: c, to: d, capacity: 1}
  - {from: d, to: c, capacity: 1}
""")


def test_a_source_that_only_drops_does_not_hide_what_is_stuck_behind_it() -> None:
    """A step that changes nothing but drops an element is no progress."""
    text = loop(1, 1, "").replace("to: merge, capacity: 1}", "to: merge, capacity: 1, "
                                  "flow: drop-newest}", 1)
    assert deadlocks(text)


def test_an_unbounded_link_is_bounded_if_nothing_can_grow_in_it() -> None:
    """One element in a ring of unbounded links stays one element."""
    report = check_design("""
checkvalve: 2
name: ring
tasks: {a: {kind: map}, b: {kind: map}}
links: [{from: a, to: b, flow: unbounded, initial: 1}, {from: b, to: a, flow: unbounded}]
""")
    assert report.as_expected
    assert report.finding("bounded").bounds == (("a->b", 1), ("b->a", 1))


def test_two_links_that_overflow_at_once_fail_once() -> None:
    """A failure is a flag, not a count."""
    report = check_design("""
checkvalve: 2
name: twice
tasks: {a: {kind: source}, b: {kind: sink}}
links:
  - {name: l, from: a, to: b, capacity: 1, flow: fail}
  - {name: m, from: a, to: b, capacity: 1, flow: fail}
expect: {no-failure: violated}
""")
    assert report.as_expected


def test_a_spent_budget_is_unknown() -> None:
    """And its exit code is 2."""
    few = Settings("explorer", Budget(max_states=5))
    report = check_design("checkvalve: 2\nname: loop\n" + loop(3, 3, ""), settings=few)
    assert report.finding("deadlock-free").outcome is Outcome.UNKNOWN
    assert report.finding("deadlock-free").reason
    assert report.exit_code == 2


@pytest.mark.parametrize(("flow", "prop", "verdict"), [
    ("drop-newest", "deadlock-free", "holds"), ("drop-oldest", "deadlock-free", "holds"),
    ("drop-newest", "no-loss", "violated"), ("fail", "no-failure", "violated"),
    ("fail", "deadlock-free", "holds"),
])
def test_two_who_meet_may_overflow_one_link(flow: str, prop: str, verdict: str) -> None:
    """Both write to it in one move, and there is room for one of them: the other overflows."""
    report = check_design(f"""
checkvalve: 2
name: meeting
tasks: {{b: {{kind: source}}, d: {{kind: map}}, t: {{kind: sink}}}}
links:
  - {{name: r, from: b, to: d, capacity: 0}}
  - {{name: l, from: [b, d], to: t, capacity: 1, flow: {flow}}}
expect: {{{prop}: {verdict}}}
""")
    assert report.finding(prop).outcome.value == verdict


def test_two_who_meet_fail_once_where_both_overflow() -> None:
    """Also where each of them overflows a link of its own that fails."""
    report = check_design("""
checkvalve: 2
name: meeting
tasks: {b: {kind: source}, d: {kind: broadcast}, t: {kind: sink}}
links:
  - {name: r, from: b, to: d, capacity: 0}
  - {name: l, from: b, to: t, capacity: 1, flow: fail}
  - {name: k, from: d, to: t, capacity: 1, flow: fail}
""")
    assert report.finding("no-failure").outcome.value == "violated"
    assert report.finding("deadlock-free").outcome.value == "holds"


def test_starvation_is_told_with_those_who_go_round_meanwhile() -> None:
    """The report names the cycle that starves the source: a merge's preferred input is never empty.
    """
    report = check_file(Path(__file__).parent.parent / "examples/designs/akka-a2-unfair.yaml")
    assert report.finding("no-starvation: source").reason == (
        "source takes no step while these continue forever: merge, broadcast, sink")
