"""Designs of any size, made from a seed, of which is known whether they can get stuck.

Three shapes. *Loops*: stages in a row, each of which gives work that failed a second try, under a
window that is smaller than what its loop can hold. *Mesh*: tasks on a torus, each of which reads
from two neighbours and writes to two; one element goes round each row and column. *Calls*: nested
calls over many pools of threads, which are all taken in one order. In each a deadlock can be
planted: a window that is too large, a row without an element, two calls that take two pools of
their own in different orders.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from json import dumps
from random import Random

from checkvalve.spec.design.reading.language import Design, Kind, Link, Pool, Task

__all__ = ["SHAPES", "calls", "loops", "mesh", "written"]


def loops(queues: int, capacity: int, seed: int = 0, planted: bool = False) -> Design:
    """Stages with retries, each under its window; eight queues a stage."""
    draw, stages = Random(seed), max(1, queues // 8)
    wrong = draw.randrange(stages) if planted else -1
    tasks, links, before = [Task("source", Kind.SOURCE)], list[Link](), "source"
    for n in range(stages):
        admit, entry, work, decide, leave = (
            f"{what} {n}" for what in ("admit", "entry", "work", "decide", "leave"))
        new, todo, worked, retry, onward, done = (draw.randint(1, capacity) for _ in range(6))
        filled = todo + worked + retry + 2
        window = filled if n == wrong else draw.randint(1, filled - 1)
        tasks += [Task(admit, Kind.ZIP), Task(entry, Kind.MERGE), Task(work, Kind.MAP, hand=1),
                  Task(decide, Kind.ROUTE, hand=1), Task(leave, Kind.BROADCAST)]
        links += [
            Link(f"in {n}", (before,), (admit,), capacity=onward),
            Link(f"window {n}", (leave,), (admit,), capacity=window, initial=window),
            Link(f"new {n}", (admit,), (entry,), capacity=new),
            Link(f"todo {n}", (entry,), (work,), capacity=todo),
            Link(f"worked {n}", (work,), (decide,), capacity=worked),
            Link(f"retry {n}", (decide,), (entry,), capacity=retry),
            Link(f"done {n}", (decide,), (leave,), capacity=done),
        ]
        before = leave
    tasks.append(Task("sink", Kind.SINK))
    links.append(Link("out", (before,), ("sink",), capacity=capacity))
    return _design("loops", tasks, links)


def mesh(queues: int, capacity: int, seed: int = 0, planted: bool = False) -> Design:
    """A torus of tasks; two queues a task."""
    draw, side = Random(seed), max(2, int((queues / 2) ** 0.5))
    wrong = draw.randrange(side) if planted else -1
    tasks, links = [], []
    for row in range(side):
        for column in range(side):
            here = f"at {row} {column}"
            tasks.append(Task(here, Kind.ZIP))
            for way, down, right in (("right", 0, 1), ("down", 1, 0)):
                there = f"at {(row + down) % side} {(column + right) % side}"
                wraps = (column if right else row) == side - 1
                held = int(wraps and not (right and row == wrong))
                links.append(Link(f"{way} of {row} {column}", (here,), (there,),
                                  capacity=draw.randint(1, capacity), initial=held))
    return _design("mesh", tasks, links)


def calls(queues: int, capacity: int, seed: int = 0, planted: bool = False) -> Design:
    """Nested calls; a pool of threads, at which calls queue, for each of the queues."""
    draw, names = Random(seed), [f"pool {n}" for n in range(queues)]
    tasks = []
    for n in range(queues - 1):
        near = range(n, min(queues, n + 8))
        levels = sorted(draw.sample(near, min(len(near), draw.randint(2, 4))))
        tasks.append(Task(f"calls {n}", Kind.CALL, pool=tuple(names[level] for level in levels),
                          depth=len(levels), roots=draw.randint(1, capacity)))
    found = {name: Pool(name, draw.randint(1, capacity)) for name in names}
    if planted:
        found |= {name: Pool(name, 1) for name in ("left", "right")}
        tasks += [Task(f"{a} to {b}", Kind.CALL, pool=(a, b), depth=2)
                  for a, b in (("left", "right"), ("right", "left"))]
    return _design("calls", tasks, [], found)


def _design(
    name: str, tasks: list[Task], links: list[Link], pools: Mapping[str, Pool] | None = None
) -> Design:
    return Design(name, "", {t.name: t for t in tasks}, {k.name: k for k in links}, pools or {})


SHAPES: Mapping[str, Callable[[int, int, int, bool], Design]] = {
    "loops": loops, "mesh": mesh, "calls": calls,
}



def written(design: Design) -> Iterator[str]:
    """The lines of a file with one of these designs."""
    yield f"checkvalve: 2\nname: {design.name}\ntasks:"
    for task in design.tasks.values():
        more = f", hand: {task.hand}" if task.hand else ""
        if task.pool:
            more = f", pool: {dumps(task.pool)}, depth: {task.depth}, roots: {task.roots}"
        yield f"  {task.name}: {{kind: {task.kind.value}{more}}}"
    if design.pools:
        yield "pools:"
    for pool in design.pools.values():
        yield f"  {pool.name}: {{threads: {pool.threads}}}"
    if design.links:
        yield "links:"
    for link in design.links.values():
        more = f", initial: {link.initial}" if link.initial else ""
        yield (f"  - {{name: {link.name}, from: {link.writers[0]}, to: {link.readers[0]}, "
               f"capacity: {link.capacity}{more}}}")
