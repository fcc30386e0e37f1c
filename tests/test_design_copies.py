"""Copies and sub-designs stand for the design that somebody would have written out by hand."""

from __future__ import annotations

from dataclasses import fields, replace
from random import Random

import pytest

from checkvalve.spec.design.check import Part, Settings, decide_deadlock, parts
from checkvalve.spec.design.loader import load, load_all
from checkvalve.spec.design.reading.language import Design
from checkvalve.spec.design.reading.source import NOWHERE
from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.verdicts.verdict import Outcome

PHILOSOPHERS = """
checkvalve: 2
name: philosophers
parameters: {n: 2..4}
tasks:
  eager:
    kind: script
    copies: n - 1
    steps: [{acquire: "fork[copy]"}, {acquire: "fork[copy + 1]"},
            {release: "fork[copy]"}, {release: "fork[copy + 1]"}]
  last: {kind: script, steps: [LAST, {release: "fork[1]"}, {release: "fork[n]"}]}
pools: {fork: {threads: 1, copies: n}}
expect: {deadlock-free: VERDICT}
"""
IN_ORDER = '{acquire: "fork[1]"}, {acquire: "fork[n]"}'
IN_A_RING = '{acquire: "fork[n]"}, {acquire: "fork[1]"}'


def bare(design: Design) -> object:
    """A design without the spots in its file and without parameters."""
    parts_of = {f.name: getattr(design, f.name) for f in fields(design)}
    for key in ("tasks", "links", "pools"):
        parts_of[key] = {name: replace(part, spot=NOWHERE) for name, part in parts_of[key].items()}
    return parts_of | {"parameters": ()}


def states(text: str | Design) -> list[tuple[Outcome, int]]:
    """The verdict on each connected part, and the number of its states."""
    design = load(text) if isinstance(text, str) else text
    found = [decide_deadlock(Part.of(part), Settings("explorer")) for part in parts(design)]
    return [(each.outcome, each.states) for each in found]


@pytest.mark.parametrize(("last", "verdict"), [(IN_A_RING, "violated"), (IN_ORDER, "holds")])
def test_each_copy_knows_its_number(last: str, verdict: str) -> None:
    """Philosophers take the fork of their number and the next: they deadlock, unless one begins
    with the other.
    """
    for design in load_all(PHILOSOPHERS.replace("LAST", last).replace("VERDICT", verdict)):
        (outcome, _), = states(design)
        assert outcome.value == design.expect["deadlock-free"] == verdict


def test_a_shop_with_copies_is_the_one_written_out_by_hand() -> None:
    """Ring, chain, one to one, all to all, shared, and links of a name with an index."""
    copied = load("""
checkvalve: 2
name: shop
parameters: {n: 2}
tasks:
  source: {kind: source, count: n}
  worker: {kind: zip, copies: n}
  packer: {kind: merge, copies: n, policy: preferred, prefers: "boxes[1][copy]"}
  till: {kind: sink, copies: n}
links:
  - {from: source, to: worker, capacity: 1, connect: all-to-all}
  - {from: worker, to: worker, capacity: n, name: tokens, initial: 1, connect: ring}
  - {from: worker, to: packer, capacity: n + 1, name: boxes, connect: all-to-all}
  - {from: packer, to: till, capacity: 3, name: out, connect: shared}
expect: {no-starvation: {packer: violated}}
""")
    by_hand = load("""
checkvalve: 2
name: shop
tasks:
  source: {kind: source, count: 2}
  worker1: {kind: zip}
  worker2: {kind: zip}
  packer1: {kind: merge, policy: preferred, prefers: boxes_1_1}
  packer2: {kind: merge, policy: preferred, prefers: boxes_1_2}
  till1: {kind: sink}
  till2: {kind: sink}
links:
  - {from: source, to: worker1, capacity: 1}
  - {from: source, to: worker2, capacity: 1}
  - {from: worker1, to: worker2, capacity: 2, name: tokens_1, initial: 1}
  - {from: worker2, to: worker1, capacity: 2, name: tokens_2, initial: 1}
  - {from: worker1, to: packer1, capacity: 3, name: boxes_1_1}
  - {from: worker1, to: packer2, capacity: 3, name: boxes_1_2}
  - {from: worker2, to: packer1, capacity: 3, name: boxes_2_1}
  - {from: worker2, to: packer2, capacity: 3, name: boxes_2_2}
  - {from: [packer1, packer2], to: [till1, till2], capacity: 3, name: out}
expect: {no-starvation: {packer1: violated, packer2: violated}}
""")

    def plain(design: Design) -> str:
        told = str(bare(design))
        for one, two in (("boxes_1_1", "boxes[1][1]"), ("boxes_1_2", "boxes[1][2]"),
                         ("boxes_2_1", "boxes[2][1]"), ("boxes_2_2", "boxes[2][2]"),
                         ("tokens_1", "tokens[1]"), ("tokens_2", "tokens[2]")):
            told = told.replace(one, two)
        for name in ("worker", "packer", "till"):
            told = told.replace(f"{name}1", f"{name}[1]").replace(f"{name}2", f"{name}[2]")
        return told

    assert plain(copied) == plain(by_hand)


STATION = """
checkvalve: 2
name: stations
parameters: {n: 2, room: 9}
designs:
  station:
    parameters: {room: 1, twice: 2*room}
    ports: {in: entry, out: check, staff: check}
    tasks:
      entry: {kind: merge, policy: preferred, prefers: in}
      check: {kind: script, pool: hall, steps: [{read: inside}, {acquire: bench}, {write: again},
              {release: bench}, {write: out}]}
    links:
      - {from: entry, to: check, capacity: twice, name: inside}
      - {from: check, to: entry, capacity: 1, name: again}
    pools: {bench: {threads: copy}}
tasks:
  source: {kind: source}
  line: {kind: design, design: station, copies: n, with: {room: copy + 1}}
  sink: {kind: sink}
links:
  - {from: source, to: "line[1].in", capacity: 1, name: start}
  - {from: line.out, to: line.in, capacity: 2, connect: chain, name: belt}
  - {from: "line[n].out", to: sink, capacity: room}
pools: {hall: {threads: 1}}
"""
STATIONS = """
checkvalve: 2
name: stations
tasks:
  source: {kind: source}
  line[1].entry: {kind: merge, policy: preferred, prefers: start}
  line[1].check: {kind: script, pool: hall, steps: [{read: "line[1].inside"},
    {acquire: "line[1].bench"}, {write: "line[1].again"}, {release: "line[1].bench"},
    {write: "belt[1]"}]}
  line[2].entry: {kind: merge, policy: preferred, prefers: "belt[1]"}
  line[2].check: {kind: script, pool: hall, steps: [{read: "line[2].inside"},
    {acquire: "line[2].bench"}, {write: "line[2].again"}, {release: "line[2].bench"},
    {write: "line[2].out->sink"}]}
  sink: {kind: sink}
links:
  - {from: "line[1].entry", to: "line[1].check", capacity: 4, name: "line[1].inside"}
  - {from: "line[1].check", to: "line[1].entry", capacity: 1, name: "line[1].again"}
  - {from: "line[2].entry", to: "line[2].check", capacity: 6, name: "line[2].inside"}
  - {from: "line[2].check", to: "line[2].entry", capacity: 1, name: "line[2].again"}
  - {from: source, to: "line[1].entry", capacity: 1, name: start}
  - {from: "line[1].check", to: "line[2].entry", capacity: 2, name: "belt[1]"}
  - {from: "line[2].check", to: sink, capacity: 9, name: "line[2].out->sink"}
pools:
  hall: {threads: 1}
  line[1].bench: {threads: 1}
  line[2].bench: {threads: 2}
"""


def test_copies_of_a_sub_design_are_what_stands_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own parameters, pools of its own and of the design around it, and links at its ports."""
    monkeypatch.setattr("checkvalve.spec.design.loader.check_shape", lambda *_: None)
    assert bare(load(STATION)) == bare(load(STATIONS))


KEYED = """
checkvalve: 2
name: keyed
tasks:
  source: {{kind: source}}
  worker: {{kind: map, copies: 2, hand: 1}}
  join: {{kind: zip}}
  sink: {{kind: sink}}
{chooser}links:
{first}  - {{from: worker, to: join, capacity: 1, connect: all-to-all}}
  - {{from: join, to: sink, capacity: 1}}
"""


@pytest.mark.parametrize("kind", ["source", "map", "filter", "merge"])
def test_by_key_is_a_route_that_the_writer_meets(kind: str) -> None:
    """The same verdict with as many states as with a route behind a link of capacity 0, for each
    kind that can write so."""
    inputs = {"source": 0, "merge": 2}.get(kind, 1)
    before = "".join(f"  - {{from: source, to: writer, capacity: 1, name: in{n}}}\n"
                     for n in range(inputs))
    task = f"  writer: {{kind: {kind}}}\n"
    to_worker = "to: worker, capacity: 1, connect: by-key"
    by_key = KEYED.format(chooser=task, first=f"{before}  - {{from: writer, {to_worker}}}\n")
    routed = KEYED.format(
        chooser=task + "  route: {kind: route}\n", first=before
        + "  - {from: writer, to: route, capacity: 0}\n"
        + f"  - {{from: route, {to_worker.replace('by-key', 'all-to-all')}}}\n")
    if kind == "source":
        by_key, routed = (text.replace("  source: {kind: source}\n", "")
                          for text in (by_key, routed))
    (one, counted), (two, also) = states(by_key)[0], states(routed)[0]
    assert one == two == Outcome.VIOLATED
    if kind != "filter":  # it holds an element of its own before it decides
        assert counted == also


def test_a_writer_with_a_thread_keeps_it_until_the_chosen_link_has_room() -> None:
    """So a task that waits for a full link has the one thread, and no other can continue."""
    text = KEYED.format(chooser="pools: {threads: {threads: 1}}\n",
                        first="  - {from: source, to: worker, capacity: 2, connect: by-key}\n")
    pooled = text.replace("{kind: source}", "{kind: source, pool: threads}").replace(
        "{kind: map, copies: 2, hand: 1}", "{kind: map, copies: 2, pool: threads}")
    found = decide_deadlock(Part.of(load(pooled)), Settings("explorer"))
    assert found.outcome is Outcome.VIOLATED
    assert {wait.what for wait in found.waits} >= {"room", "a thread"}


HEAD = "checkvalve: 2\nname: x\n"
TWO = "tasks:\n  a: {kind: source, copies: 2}\n  b: {kind: sink, copies: 3}\nlinks:\n"
LOOP = """designs:
  one:
    tasks: {a: {kind: design, design: two}}
  two:
    tasks: {b: {kind: design, design: one, copies: 2}}
tasks: {c: {kind: design, design: one}}
"""


@pytest.mark.parametrize(("text", "told"), [
    ("tasks: {a: {kind: source, copies: 1000000000}}\n", "3:35: `copies` of .a. is 1000000000"),
    ("tasks: {a: {kind: source, copies: 0}}\n", "3:35: `copies` of .a. is 0, but must be 1"),
    ("parameters: {n: 10**9}\ntasks: {a: {kind: source, copies: n}}\n", "3:17: "),
    ("parameters: {n: 1000*1000*1000}\ntasks: {a: {kind: source, copies: n}}\n",
     "4:35: with 1000000000 copies of a the design has more than 400000 values.*fewer copies"),
    ("parameters: {n: -1}\ntasks: {a: {kind: source, copies: n}}\n", "4:35: `copies` of a is -1"),
    (TWO.replace("2", "20000").replace("3", "30000") + "  - {from: a, to: b, capacity: 1, "
     "connect: all-to-all}\n", "7:5: with 600000000 links"),
    (TWO + "  - {from: a, to: b, capacity: 1}\n", "7:12: 'a' stands for 2 tasks.*one-to-one"),
    (TWO + "  - {from: a, to: b, capacity: 1, connect: ring}\n", "7:44: 2 write and 3 read"),
    (TWO + "  - {from: a, to: \"b[4]\", capacity: 1, connect: by-key}\n",
     "7:19: there is no 'b.4.': 'b' has 3 copies.*from 1"),
    (TWO + "  - {from: a, to: c, capacity: 1, connect: by-key}\n", "7:19: there is no task called"),
    (TWO + "  - {from: [a, a], to: b, capacity: 1, connect: by-key}\n", "is between two names"),
    (TWO + "  - {from: a.x, to: b, capacity: 1, connect: by-key}\n", "'a' has no port called 'x'"),
    (TWO + "  - {from: \"a[copy]\", to: b, capacity: 1, connect: by-key}\n",
     "7:12: 'copy' cannot be computed: there is no parameter 'copy'"),
    (LOOP, "7:39: the sub-design 'one' contains itself: one - two - one"),
    (LOOP.replace("design: two", "design: tow"),
     "5:39: there is no sub-design called 'tow'.*'two'"),
    ("designs: {d: {ports: {in: s}, tasks: {s: {kind: sink}}}}\ntasks: {a: {kind: source}, "
     "b: {kind: design, design: d, with: {n: 1}}}\n", "no parameter of this sub-design"),
    ("designs: {d: {ports: {in: s}, tasks: {s: {kind: sink}}}}\ntasks: {a: {kind: source}, "
     "b: {kind: design, design: d}}\nlinks: [{from: a, to: b, capacity: 1}]\n",
     "'b' is a sub-design.*b.in"),
    ("parameters: {copy: 1}\ntasks: {a: {kind: source, copies: 2}}\n",
     "3:14: the parameter 'copy'"),
    ("tasks: {a: {kind: script, copies: 2, steps: [{acquire: p}]}}\n"
     "pools: {p: {threads: 1, copies: 2}}\n", "the pool 'p' has 2 copies.*p.copy."),
    ("tasks:\n  a: {kind: script, steps: [{write: l}]}\n  b: {kind: sink, copies: 2}\n"
     "links: [{from: a, to: b, capacity: 1, name: l, connect: all-to-all}]\n",
     "4:37: a writes 2 links called 'l'"),
    ("tasks: {a: {kind: source}, b: {kind: sink}}\nlinks: [{from: a, to: b[1], capacity: 1}]\n",
     "quotes"),
])
def test_what_cannot_be_written_out_is_refused_at_its_line(text: str, told: str) -> None:
    """Before anything is copied, with what to do about it."""
    with pytest.raises(InputError, match=told):
        load(HEAD + text, "d.yaml")


def test_a_mistake_in_a_copy_names_the_copy_and_the_line() -> None:
    """The message is about the line that was copied."""
    text = HEAD + TWO + "  - {from: a, to: b, capacity: 1, connect: shared}\n" + (
        "  - {from: \"a[1]\", to: \"b[1]\", capacity: 1, initial: 3}\n")
    with pytest.raises(InputError, match=r"d.yaml:8:45: link 'a\[1\]->b\[1\]' starts with 3"):
        load(text, "d.yaml")


@pytest.mark.parametrize("seed", range(12))
def test_connected_copies_are_the_links_one_would_count(seed: int) -> None:
    """Each way of connecting, for any numbers of copies."""
    draw = Random(f"copies {seed}")
    connect = draw.choice(["one-to-one", "all-to-all", "by-key", "ring", "chain"])
    a = draw.randint(1, 5)
    b = draw.randint(1, 5) if connect in ("all-to-all", "by-key") else a
    design = load(HEAD + f"""
tasks:
  a: {{kind: script, copies: {a}, steps: [{{acquire: p}}]}}
  b: {{kind: script, copies: {b}, steps: [{{acquire: p}}]}}
links: [{{from: a, to: b, capacity: 1, connect: {connect}}}]
pools: {{p: {{threads: 1}}}}
""")
    found = {(link.writers[0], link.readers[0]) for link in design.links.values()}
    assert found == {
        (f"a[{n}]", f"b[{m}]") for n in range(1, a + 1) for m in range(1, b + 1)
        if {"one-to-one": n == m, "ring": m == n % a + 1, "chain": m == n + 1}.get(connect, True)}
