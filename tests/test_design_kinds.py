"""Queues with elements of several kinds: what the engines say of what is written out, against a
plain interpreter of the scripts as they stand in the file."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from test_design_copies import states

from checkvalve.spec.certify.transitions import system_of
from checkvalve.spec.design.check import check
from checkvalve.spec.design.loader import load
from checkvalve.spec.design.reading.lints import lints
from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.verdicts.verdict import Outcome

Queue = tuple[int, ...]
"""The number of elements of each kind."""
Place = tuple[int, str]
"""The number of steps that a script has done, and the kind that it has given a name to."""

KINDS = ("red", "blue")


def random_scripts(draw: Random) -> tuple[dict[str, list[dict[str, Any]]], dict[str, int]]:
    """Two or three scripts of a few reads and writes, each link written and read by others."""
    capacities = {f"l{n}": draw.randint(1, 2) for n in range(draw.randint(1, 2))}
    scripts: dict[str, list[dict[str, Any]]] = {}
    for name in ("a", "b", "c")[:draw.randint(2, 3)]:
        steps: list[dict[str, Any]] = []
        for _ in range(draw.randint(1, 4)):
            verb, link = draw.choice(("read", "write")), draw.choice(list(capacities))
            step: dict[str, Any] = {verb: link}
            known = [each["as"] for each in steps if "as" in each]
            how = draw.randint(0, 3)
            if how == 0 and verb == "read":
                step["as"] = "asker"
            elif how == 1 and known:
                step["of"] = "asker"
            elif how == 2:
                step["of"] = draw.choice(KINDS)
            steps.append(step)
        scripts[name] = steps
    return scripts, capacities


def as_text(scripts: dict[str, list[dict[str, Any]]], capacities: dict[str, int]) -> str:
    """The design as a file."""
    names = list(scripts)
    lines = ["checkvalve: 2", "name: random", "tasks:"]
    lines += [f"  {name}: {{kind: script, steps: {steps}}}".replace("'", "")
              for name, steps in scripts.items()]
    lines += ["links:", *(f"  - {{name: {link}, from: {names}, to: {names}, capacity: {room}, "
                          f"kinds: {list(KINDS)}}}".replace("'", "")
                          for link, room in capacities.items())]
    return "\n".join(lines)


def after(
    place: Place, queues: dict[str, Queue], steps: list[dict[str, Any]], rooms: dict[str, int]
) -> Iterator[tuple[Place, dict[str, Queue]]]:
    """Every possibility for a script to do its next step."""
    at, asker = place
    step = steps[at]
    verb = "read" if "read" in step else "write"
    queue = queues[step[verb]]
    wanted = step.get("of")
    wanted = asker if wanted == "asker" else wanted
    for number, kind in enumerate(KINDS):
        if wanted not in (None, kind) or (sum(queue) == rooms[step[verb]] if verb == "write"
                                          else not queue[number]):
            continue
        by = 1 if verb == "write" else -1
        there = tuple(n + by * (number == other) for other, n in enumerate(queue))
        name = kind if "as" in step else asker
        following = (at + 1) % len(steps)
        yield (following, name if following else ""), {**queues, step[verb]: there}


def is_stuck(scripts: dict[str, list[dict[str, Any]]], rooms: dict[str, int]) -> bool:
    """True if some order of steps ends where no script can take a step."""
    first = (tuple((0, "") for _ in scripts), tuple((link, (0, 0)) for link in rooms))
    seen, todo = {first}, [first]
    while todo:
        places, queues = todo.pop()
        moved = False
        for number, steps in enumerate(scripts.values()):
            for place, there in after(places[number], dict(queues), steps, rooms):
                moved = True
                state = ((*places[:number], place, *places[number + 1:]), tuple(there.items()))
                if state not in seen:
                    seen.add(state)
                    todo.append(state)
        if not moved:
            return True
    return False


def connected(found: dict[str, list[dict[str, Any]]]) -> bool:
    """True if every script shares a link with the first: parts are decided each by itself."""
    used = [{step.get("read", step.get("write")) for step in steps} for steps in found.values()]
    return all(each & used[0] for each in used)


def test_kinds_are_what_a_plain_interpreter_makes_of_them() -> None:
    """Random scripts that read one kind, or any, or answer with the kind of the request: six that
    can deadlock, and six that cannot.
    """
    left = {True: 6, False: 6}
    for seed in range(2_000):
        scripts, rooms = random_scripts(Random(f"kinds {seed}"))
        stuck = is_stuck(scripts, rooms)
        if connected(scripts) and left[stuck]:
            left[stuck] -= 1
            (outcome, _), = states(as_text(scripts, rooms))
            assert (outcome is Outcome.VIOLATED) == stuck, seed
    assert not any(left.values())


CLIENTS = """
checkvalve: 2
name: clients
parameters: {{n: 2}}
tasks:
  client: {{kind: script, copies: n, steps: [{{write: requests, of: copy}}, {reply}]}}
  server: {{kind: script, steps: [{{read: requests, as: client}}, {{write: replies, of: {kind}}}]}}
links:
  - {{from: client, to: server, capacity: n, connect: shared, name: requests, kinds: n}}
  - {{from: server, to: client, capacity: 1, connect: shared, name: replies, kinds: n}}
"""


@pytest.mark.parametrize(("reply", "kind", "stuck"), [
    ("{read: replies, of: copy}", "client", False),
    ("{read: replies}", "client", False),
    ("{read: replies, of: n + 1 - copy}", "client", False),
    ("{read: replies, of: 1}", "client", True),
    ("{read: replies, of: 1}", "1", False),
])
def test_a_reply_belongs_to_its_request(reply: str, kind: str, stuck: bool) -> None:
    """Each client takes its own reply, wherever it is in the queue; a reply to no waiting client
    fills it.
    """
    assert (states(CLIENTS.format(reply=reply, kind=kind))[0][0] is Outcome.VIOLATED) is stuck


def test_a_source_and_a_sink_take_every_kind() -> None:
    """As scripts of one step; the checker of certificates reads what was written out."""
    design = load("""
checkvalve: 2
name: retries
tasks:
  source: {kind: source}
  worker:
    kind: script
    steps: [{read: inbox, of: order}, {branch: [[], [{write: inbox, of: retry}]]}]
  again: {kind: script, steps: [{read: inbox, of: retry}, {write: log, of: late}]}
  sink: {kind: sink}
links:
  - {from: [source, worker], to: [worker, again], capacity: 2, name: inbox, kinds: [order, retry]}
  - {from: again, to: sink, capacity: 1, name: log, kinds: [late]}
""")
    finding = check(design).finding("deadlock-free")
    assert finding.outcome is Outcome.VIOLATED
    assert lints(design) == ()
    assert len(system_of(design).transitions) == 9


@pytest.mark.parametrize(("change", "told"), [
    (("of: copy}, ", "of: red}, "),
     "d.yaml:6:45: 'requests' has no elements of kind 'red'. Its kinds are: 1, 2"),
    (("name: replies, kinds: n", "name: replies"), "'replies' has no kinds"),
    (("capacity: 1, ", "capacity: 1, initial: 1, "),
     "d.yaml:10:5: link 'replies' has several kinds, so"),
    (("capacity: 1, ", "capacity: 1, flow: credit, "), "link 'replies' has several kinds, so"),
    (("kinds: n}\n  - ", "kinds: 51}\n  - "), "51, but must be 1 to 50"),
    (("as: client", "as: client, of: 1"), "`of`"),
    (("write: requests, of", "write: requests, as: me, of"), "no `read`"),
    (("kind: script, steps: [{read: requests, as: client}, {write: replies, of: client}]",
      "kind: transition"),
     "the transition 'server' is tied to 'requests', which has kinds.*script"),
    (("steps: [{read: requests, as: client}", "steps: [" + "{read: requests, as: client}, " * 12
      + "{read: requests}"), "more than 1000 steps"),
])
def test_what_has_no_kinds_is_refused(change: tuple[str, str], told: str) -> None:
    """With its place, and what to do."""
    text = CLIENTS.format(reply="{read: replies, of: copy}", kind="client")
    assert change[0] in text
    with pytest.raises(InputError, match=told):
        load(text.replace(*change), "d.yaml")


def test_several_kinds_overtake_each_other_unless_the_queue_is_read_at_its_head() -> None:
    """Elements of one kind that take one path keep their order anyway."""
    text = """
checkvalve: 2
name: in order
tasks:
  sender: {kind: script, steps: [{write: inbox, of: a}, {write: inbox, of: b}]}
  reader: {kind: script, steps: [{read: inbox}]}
links: [{from: sender, to: reader, capacity: 2, name: inbox, kinds: [a, b]}]
expect: {ordered: holds}
"""
    found = check(load(text)).finding("ordered")
    assert found.outcome is Outcome.VIOLATED
    assert "any kind is taken from inbox, of which `take: head` would keep" in found.reason
    head = check(load(text.replace("kinds:", "take: head, kinds:"))).finding("ordered")
    assert head.outcome is Outcome.HOLDS
    one = check(load(text.replace("of: b", "of: a"))).finding("ordered")
    assert one.outcome is Outcome.HOLDS
