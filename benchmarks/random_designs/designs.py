"""Random designs of every kind that the language has: a function of a source of randomness.

Hypothesis gives one that shrinks (``designs``), a program one with a seed. Most of what is
drawn is small and tight, so that about a half can deadlock. What passes elements of several kinds
on, gathers or calls stop is drawn as a file, since what fits together is for the reader of files to
say (``random_file``).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

from hypothesis import strategies as st

from checkvalve.spec.design.loader import load
from checkvalve.spec.design.reading.endings import with_ends
from checkvalve.spec.design.reading.kinds import Misfit, Parts
from checkvalve.spec.design.reading.language import (
    Design, Flow, Kind, Link, Merging, Mortality, Pool, Routing, Step, StepKind, Task,
)
from checkvalve.spec.notation.errors import InputError

NAMES = ("a", "b", "c", "d", "e")
FLOWS = (
    Flow.BLOCKING, Flow.BLOCKING, Flow.BLOCKING, Flow.BLOCKING, Flow.CREDIT, Flow.STOP_AND_WAIT,
    Flow.DROP_OLDEST, Flow.DROP_NEWEST, Flow.FAIL, Flow.UNBOUNDED,
)


def random_design(draw: Random) -> Design:
    """A small design of any shape, every task of which has a link, a pool or calls."""
    names = NAMES[:draw.randint(2, 5)]
    pools = {
        name: Pool(name, draw.choice((1, 1, 2, 3))) for name in ("p", "q")[:draw.choice((0, 1, 2))]
    }
    links: dict[str, Link] = {}
    for number in range(draw.randint(1, 6)):
        link = _link(draw, f"l{number}", names)
        links[link.name] = link
    tasks = {}
    for name in names:
        incoming = [link.name for link in links.values() if name in link.readers]
        outgoing = [link.name for link in links.values() if name in link.writers]
        if incoming or outgoing:
            scripted = draw.randint(0, 3) == 0
            make = _script if scripted else _task
            tasks[name] = make(draw, name, incoming, outgoing, pools)
        elif pools and draw.randint(0, 1):
            tasks[name] = _script(draw, name, [], [], pools)
    for number in range(draw.choice((0, 0, 1, 2)) if pools else 0):
        tasks[f"calls{number}"] = _calls(draw, f"calls{number}", pools)
    return Design("random", "", tasks, links, pools)


def _link(draw: Random, name: str, names: tuple[str, ...]) -> Link:
    writer, reader = draw.choice(names), draw.choice(names)
    writers = tuple(dict.fromkeys((writer, *draw.choice(((), (), (draw.choice(names),))))))
    readers = tuple(dict.fromkeys((reader, *draw.choice(((), (), (), (draw.choice(names),))))))
    flow = draw.choice(FLOWS)
    if flow is Flow.BLOCKING and not set(writers) & set(readers) and draw.randint(0, 4) == 0:
        return Link(name, writers, readers, capacity=0)
    if flow in (Flow.CREDIT, Flow.STOP_AND_WAIT):
        readers = readers[:1]
    room = {Flow.STOP_AND_WAIT: 1, Flow.UNBOUNDED: None}.get(flow, draw.randint(1, 3))
    lossy = draw.choice((0, 0, 0, 1)) if flow in (Flow.CREDIT, Flow.BLOCKING) else 0
    return Link(
        name, writers, readers, capacity=room, flow=flow,
        batch=_at_once(draw, room) if flow is Flow.CREDIT else 1, initial=draw.choice((0, 0, 1)),
        gives=_at_once(draw, room), takes=_at_once(draw, room), lossy=lossy,
    )


def _at_once(draw: Random, room: int | None) -> int:
    """The number of elements that are written or read at once; seldom more than fit."""
    return draw.choice((1, 1, 1, 2)) if room != 1 or draw.randint(0, 9) == 0 else 1


def _kind(draw: Random, incoming: int, outgoing: int) -> Kind:
    """A kind that fits a task's links."""
    if not incoming:
        return Kind.SOURCE
    if not outgoing:
        return Kind.SINK
    if incoming == 1:
        return draw.choice((Kind.MAP, Kind.FILTER) if outgoing == 1
                           else (Kind.BROADCAST, Kind.ROUTE))
    return draw.choice((Kind.MERGE, Kind.MERGE, Kind.ZIP)) if outgoing == 1 else Kind.ZIP


def _task(
    draw: Random, name: str, incoming: list[str], outgoing: list[str], pools: dict[str, Pool]
) -> Task:
    kind = _kind(draw, len(incoming), len(outgoing))
    merging = draw.choice(tuple(Merging)) if kind is Kind.MERGE else Merging.ANY
    decides = kind in (Kind.FILTER, Kind.ROUTE)
    return Task(
        name, kind, hand=draw.randint(1, 2) if decides else draw.choice((0, 0, 1)),
        merging=merging, prefers=draw.choice(incoming) if merging is Merging.PREFERRED else "",
        routing=draw.choice(tuple(Routing)) if kind is Kind.ROUTE else Routing.CONTENT,
        pool=(draw.choice(tuple(pools)),) if pools and draw.randint(0, 1) else (),
        count=draw.choice((None, None, 2)) if kind is Kind.SOURCE else None,
    )


def _script(
    draw: Random, name: str, incoming: list[str], outgoing: list[str], pools: dict[str, Pool]
) -> Task:
    """A few steps on these links and pools, in any order: it may give back what it never took,
    keep what it took, stop, or do nothing at all with a link."""
    possible = [(StepKind.READ, link) for link in incoming]
    possible += [(StepKind.WRITE, link) for link in outgoing]
    possible += [(kind, p) for p in pools for kind in (StepKind.ACQUIRE, StepKind.RELEASE)]
    steps = tuple(
        Step(kind, target, _at_once(draw, pools[target].threads) if target in pools
             else draw.choice((1, 1, 2, 3)))
        for kind, target in (draw.choice(possible) for _ in range(draw.randint(1, 4)))
    )
    own = draw.choice(tuple(pools)) if pools and draw.randint(0, 2) == 0 else ""
    return Task(name, Kind.SCRIPT, steps=steps, count=draw.choice((None, None, 1, 2)),
                pool=(own,) if own else ())


def _calls(draw: Random, name: str, pools: dict[str, Pool]) -> Task:
    """Nested calls, each level on any of the pools."""
    depth = draw.randint(1, 3)
    return Task(name, Kind.CALL, pool=tuple(draw.choice(tuple(pools)) for _ in range(depth)),
                depth=depth, roots=draw.randint(1, 2))


designs = st.randoms(use_true_random=False).map(random_design)
"""As a strategy; its examples shrink."""


def richer(design: Design, draw: Random) -> Design:
    """The design with choices that it did not have: links of which an element goes to one, and
    scripts that take one branch or another."""
    links = {
        name: replace(link, group=draw.choice(("g", "g", "h"))) if draw.randint(0, 1) else link
        for name, link in design.links.items()
    }
    tasks = {
        name: replace(task, steps=_choosing(draw, design, task.steps, 2)) if task.steps else task
        for name, task in design.tasks.items()
    }
    for name, task in tasks.items():
        if task.kind not in (Kind.CALL, Kind.TRANSITION) and draw.randint(0, 3) == 0:
            tasks[name] = replace(task, may=draw.choice((Mortality.STOP, Mortality.CRASH)))
    return replace(design, tasks=tasks, links=links)


def _choosing(
    draw: Random, design: Design, steps: tuple[Step, ...], levels: int
) -> tuple[Step, ...]:
    """The same steps, some of them in a choice between them."""
    found: list[Step] = []
    for step in steps:
        if not levels or draw.randint(0, 2):
            found.append(replace(step, final=draw.randint(0, 5) == 0))
            continue
        inner = _choosing(draw, design, steps[:draw.randint(0, 2)], levels - 1)
        if draw.randint(0, 1):
            found.append(Step(StepKind.BRANCH, branches=((step, *inner), inner)))
            continue
        ways = ((step, *inner), (draw.choice(steps),))[:draw.randint(1, 2)]
        surely = any(_never_refused(design, way[0]) for way in ways)
        found.append(Step(
            StepKind.EITHER, branches=ways, timeout=draw.choice((None, None, (), inner)),
            otherwise=None if surely else draw.choice((None, (), inner)),
            final=draw.randint(0, 3) == 0))
    return tuple(found)


def _never_refused(design: Design, step: Step) -> bool:
    """True if a step may have no ``else``."""
    link = design.links.get(step.target)
    return step.kind is StepKind.WRITE and link is not None and (
        link.flow not in (Flow.BLOCKING, Flow.CREDIT, Flow.STOP_AND_WAIT) or link.capacity == 0)


# --- what ends --------------------------------------------------------------------------------

def ending(design: Design, draw: Random) -> Design:
    """The design with loops, reads of several at once, queues that are closed, and tasks that are
    joined or cancelled; the same where that cannot be."""
    scripts = [name for name, task in design.tasks.items() if task.steps]
    tasks = {name: replace(task, steps=_ending(draw, design, task, scripts))
             if task.steps else task for name, task in design.tasks.items()}
    for _ in range(TRIES):
        try:
            parts = with_ends(Parts(tasks, design.links, design.pools))
            return replace(design, tasks=parts.tasks, links=parts.links, pools=parts.pools)
        except Misfit:
            name = draw.choice(scripts)
            tasks = {**tasks, name: design.tasks[name]}
    return design


def _ending(draw: Random, design: Design, task: Task, scripts: list[str]) -> tuple[Step, ...]:
    found: list[Step] = []
    for step in task.steps:
        reads = step.kind is StepKind.READ and step.count == 1
        way = draw.randint(0, 7)
        inner = (draw.choice(task.steps),) * draw.randint(0, 1)
        if way == 0:
            found.append(Step(StepKind.REPEAT, count=draw.randint(1, 3), branches=((step,),)))
        elif reads and way < 4:
            found.append((replace(step, up_to=draw.randint(1, 3), branches=(inner,)),
                          replace(step, closed=inner),
                          replace(step, loops=True, branches=(inner,)))[way - 1])
        else:
            found.append(step)
    links = [link.name for link in design.links.values()
             if task.name in (*link.writers, *link.readers)]
    others = [name for name in scripts if name != task.name]
    for kind, names in ((StepKind.CLOSE, links), (StepKind.JOIN, others),
                        (StepKind.CANCEL, others)):
        if names and draw.randint(0, 3) == 0:
            found.insert(draw.randint(0, len(found)), Step(kind, draw.choice(names)))
    return tuple(found)


# --- elements of several kinds, windows, barriers, stop and go, as files --------------------------

KINDS = ("x", "y")
TRIES = 200


def random_file(draw: Random) -> Design:
    """A small design with links that have kinds, or call stop, between tasks of the kinds that
    fit."""
    for _ in range(TRIES):
        names = NAMES[:draw.randint(2, 4)]
        links = [_link_of_file(draw, f"l{n}", names) for n in range(draw.randint(2, 4))]
        used = [name for name in names if any(name in (each["from"], each["to"]) for each in links)]
        tasks = {name: _task_of_file(draw, name, links) for name in used}
        text = json.dumps({"checkvalve": 2, "name": "random", "tasks": tasks, "links": links})
        try:
            return load(text)
        except InputError:  # a kind that cannot continue, an align without barriers, …
            continue
    raise AssertionError("no design that fits together was drawn")


def _link_of_file(draw: Random, name: str, names: tuple[str, ...]) -> dict[str, Any]:
    writer, reader = draw.choice(names), draw.choice(names)
    if draw.randint(0, 7):  # mostly onward: of loops nearly all deadlock
        writer, reader = sorted(draw.sample(names, 2))
    link: dict[str, Any] = {"name": name, "from": writer, "to": reader,
                            "capacity": draw.randint(1, 3)}
    kinds: Sequence[str] = draw.choice(([], [], KINDS[:1], KINDS[1:], KINDS, KINDS, KINDS))
    if kinds:
        link["kinds"] = list(kinds)
    if len(kinds) > 1:
        return {**link, "take": draw.choice(("any", "head"))}
    if not kinds and draw.randint(0, 1):
        mark, lag = draw.randint(1, 2), draw.randint(0, 2)
        link |= {"flow": "stop-go", "stop": mark, "go": draw.randint(0, mark), "lag": lag,
                 "capacity": mark + draw.randint(1, lag + 1),
                 "full": draw.choice(("fail", "drop-newest", "drop-oldest")),
                 "lossy": draw.choice((0, 0, 0, 1))}
    return link


def _task_of_file(draw: Random, name: str, links: list[dict[str, Any]]) -> dict[str, Any]:
    incoming = [link for link in links if link["to"] == name]
    outgoing = [link for link in links if link["from"] == name]
    task: dict[str, Any] = {"kind": draw.choice(_kinds_that_fit(len(incoming), len(outgoing)))}
    if task["kind"] == "script":
        task["steps"] = [_step_of_file(draw, incoming, outgoing)
                         for _ in range(draw.randint(1, 4))]
    if task["kind"] in ("source", "script") and draw.randint(0, 3) == 0:
        task["count"] = draw.randint(1, 3)
    if task["kind"] == "window":
        task["size"] = draw.randint(1, 3)
        task |= {"slide": draw.randint(1, task["size"]), "early": draw.randint(0, 3) == 0}
    if task["kind"] == "align":
        task["barrier"] = draw.choice(KINDS)
    if task["kind"] in ("map", "merge", "align", "broadcast", "zip"):
        task["hand"] = draw.choice((0, 0, 1, 2))
    if task["kind"] == "merge":
        task["policy"] = draw.choice(("any", "fair"))
    if draw.randint(0, 4) == 0:
        task["may"] = draw.choice(("stop", "crash"))
    return task


def _kinds_that_fit(incoming: int, outgoing: int) -> tuple[str, ...]:
    if not incoming:
        return "source", "script"
    if not outgoing:
        return "sink", "script"
    if incoming == 1:
        return ("map", "filter", "window", "script") if outgoing == 1 else (
            "broadcast", "route", "route", "window", "script")
    return ("merge", "zip", "align", "align", "script") if outgoing == 1 else (
        "zip", "align", "script")


def _step_of_file(
    draw: Random, incoming: list[dict[str, Any]], outgoing: list[dict[str, Any]]
) -> dict[str, Any]:
    link = draw.choice([*incoming, *outgoing])
    verb = draw.choice([verb for verb, ends in (("read", incoming), ("write", outgoing))
                        if link in ends])
    step: dict[str, Any] = {verb: link["name"]}
    if link.get("kinds") and draw.randint(0, 2):
        step["of"] = draw.choice(link["kinds"])
    if verb == "read" and draw.randint(0, 5) == 0:
        return {"either": [[step]], "else": []} if draw.randint(0, 1) else {
            "either": [[step]], "timeout": [{verb: link["name"]}]}
    return step
