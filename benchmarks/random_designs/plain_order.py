"""Order by the plainest algorithm: queues of marked elements, of which tasks take one at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from random import Random

from checkvalve.spec.design.net.builder import Aim

from checkvalve.spec.design.net.translate import translate
from checkvalve.spec.design.reading.language import Design, Kind

Contents = dict[str, tuple[int, ...]]
"""Contents of each queue and hand, the front first: 1 and 2 are marked, 0 is any other element."""


def plain_order(design: Design, sender: str, receiver: str, most: int = 20_000) -> int | None:
    """The fewest steps after which a receiver has read 2 before 1; None if it never does.
    Raises OverflowError where there are more than ``most`` states."""
    table = translate(design, Aim())
    stores = {p.name for p in table.places if p.role in ("queue", "hand")}
    start = ({p.name: p.start for p in table.places},
             {store: (0,) * table.places[[p.name for p in table.places].index(store)].start
              for store in stores}, 0, False)
    seen, queue = {_key(start)}, deque([(start, 0)])
    while queue:
        (marking, contents, sent, came), depth = queue.popleft()
        for row in table.rows:
            if any(marking[p] < n for p, n in row.effect.at_least.items()) or any(
                    marking[p] > n for p, n in row.effect.at_most.items()):
                continue
            after = {p: n + row.effect.change.get(p, 0) for p, n in marking.items()}
            took: tuple[int, ...] = ()
            left = dict(contents)
            puts = {}
            for place, n in row.effect.change.items():
                if place in stores and n < 0:
                    took, left[place] = took + left[place][:-n], left[place][-n:]
                elif place in stores:
                    puts[place] = n
            is_end = design.tasks[row.task].kind in (Kind.SINK, Kind.SCRIPT) and bool(took)
            if is_end and row.task == receiver and 1 in took and 2 not in took and came:
                return depth + 1
            now = came or (is_end and row.task == receiver and 2 in took and 1 not in took)
            for mark, next_sent in _marks(design, row.task == sender, took, sent):
                filled = dict(left)
                for place, n in puts.items():
                    marks = mark if took or mark else (0,)
                    filled[place] = filled[place] + marks * n
                state = after, filled, next_sent, now
                if _key(state) not in seen:
                    seen.add(_key(state))
                    if len(seen) > most:
                        raise OverflowError
                    queue.append((state, depth + 1))
    return None


def _marks(
    design: Design, sends: bool, took: tuple[int, ...], sent: int
) -> Iterator[tuple[tuple[int, ...], int]]:
    if took:
        yield took, sent
        return
    yield (0,), sent
    if sends and sent < 2:
        yield (sent + 1,), sent + 1


def _key(state: tuple[dict[str, int], Contents, int, bool]) -> object:
    marking, contents, sent, came = state
    return tuple(marking.values()), tuple(contents.values()), sent, came


def two_ways(draw: Random) -> str:
    """A small design with two ways from its source ``s`` to the task ``t`` at its end."""
    merge = draw.choice(("", ", policy: fair", ", policy: preferred, prefers: a"))
    split = draw.choice(("broadcast", f"route, hand: {draw.randint(1, 2)}", "route, by: room"))
    size = [draw.randint(1, 2) for _ in range(4)]
    text = f"""
checkvalve: 2
name: two ways
tasks:
  s: {{kind: source}}
  split: {{kind: {split}}}
  m: {{kind: merge{merge}, hand: {draw.randint(0, 1)}}}
  t: {{kind: {draw.choice(('sink', 'script, steps: [{read: out}]'))}}}
links:
  - {{name: in, from: s, to: split, capacity: {size[0]}}}
  - {{name: a, from: split, to: m, capacity: {size[1]}}}
  - {{name: b, from: split, to: {draw.choice(('m', 't'))}, capacity: {size[2]}}}
  - {{name: out, from: m, to: t, capacity: {size[3]}, flow: {draw.choice(('credit', 'blocking'))}}}
expect: {{ordered: holds}}
"""
    if "to: t, capacity" in text.split("name: b")[1].split("}")[0]:
        text = text.replace("merge" + merge, "map").replace("script, steps: [{read: out}]", "sink")
    return text
