"""Alike members of a large design as one box each: tasks that are copies of each other, the queues
between them and their pools."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from ...verdicts.deadline import Deadline
from ..reading.kinds import is_slots
from ..reading.language import Design, Link, Pool, Task
from ..reading.signs import is_sign
from ..reading.source import NOWHERE

__all__ = ["MOST_APART", "Groups", "boxes_of", "folded", "named_alike"]

T = TypeVar("T")

MOST_APART = 60
"""Tasks of a design that has its copies drawn one by one."""

Groups = Mapping[str, tuple[str, ...]]
"""The members of each group, by the name of its first member."""


def named_alike(names: Sequence[str]) -> str:
    """The name of one, or the name that copies have in common: without their numbers."""
    return names[0] if len(names) == 1 else _bare(names[0])


def boxes_of(design: Design, deadline: Deadline | None = None) -> int:
    """The number of boxes in the drawing of a design. Raises Spent where the ``deadline``
    passes."""
    return sum(map(len, folded(design, deadline or Deadline())))


def folded(design: Design, deadline: Deadline) -> tuple[Groups, Groups, Groups]:
    """The groups of tasks, of queues and of pools. In a small design each is alone. Members of a
    group have one name but for their numbers, and all that the file says of them is the same; for
    queues, they are between the same groups of tasks. Raises Spent where the ``deadline`` passes.
    """
    watch = deadline.watch("looking for what is alike in the drawing")
    fold = len(design.tasks) > MOST_APART
    tasks = _groups(design.tasks, _of_task, fold, watch)
    group_of = {member: name for name, members in tasks.items() for member in members}
    queues: dict[str, list[Link]] = {}
    for link in design.links.values():
        queues.setdefault(link.queue, []).append(link)
    pools = {name: pool for name, pool in design.pools.items()
             if not is_slots(name) and not is_sign(name)}
    return tasks, _groups(queues, lambda links: tuple(
        _of_link(link, group_of) for link in links), fold, watch), _groups(
            pools, _of_pool, fold, watch)


def _groups(
    those: Mapping[str, T], key_of: Callable[[T], Hashable], fold: bool, watch: Callable[[], None]
) -> Groups:
    found: dict[Hashable, list[str]] = {}
    for name, each in those.items():
        watch()
        found.setdefault(key_of(each) if fold else name, []).append(name)
    return {members[0]: tuple(members) for members in found.values()}


def _bare(name: str) -> str:
    return re.sub(r"\[[^\]]*\]", "", name)


def _of_task(task: Task) -> Hashable:
    return _bare(repr(replace(
        task, spot=NOWHERE, takes=dict(task.takes), gives=dict(task.gives))))


def _of_link(link: Link, group_of: Mapping[str, str]) -> Hashable:
    ends = tuple(frozenset(group_of[task] for task in side)
                 for side in (link.writers, link.readers))
    name = _bare(link.name) if "->" not in link.name else ""
    alike = replace(link, name="", writers=(), readers=(), spot=NOWHERE, of=_bare(link.of),
                    room=_bare(link.room), group=_bare(link.group))
    return name, *ends, alike


def _of_pool(pool: Pool) -> Hashable:
    return _bare(pool.name), pool.threads
