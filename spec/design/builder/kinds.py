"""The builder of designs: methods for tasks, links, pools and verdicts.

Written by ``make pages`` from ``schema.json``; change that, and not this file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

__all__ = [
    "Connection", "FlowName", "Kinds", "LinkName", "Number", "PoolName", "Step", "TaskName",
]

Number = int | str
"""A whole number, or an expression of the design's parameters."""

Step = Mapping[str, Any]
"""A step of a script; ``steps`` has functions that make them."""

FlowName = Literal[
    "blocking", "credit", "stop-and-wait", "stop-go", "drop-newest", "drop-oldest", "fail",
    "unbounded",
]
"""The reaction of a full link."""

Connection = Literal[
    "one-to-one", "all-to-all", "by-key", "ring", "chain", "shared",
]
"""Between copies: which of them links are between."""


class TaskName(str):
    """A task that was put into a design."""


class LinkName(str):
    """A link that was put into a design."""


class PoolName(str):
    """A pool that was put into a design."""


class Kinds:
    """The methods of a design; ``None`` leaves a key out, as a file would."""

    def _task(self, name: str, keys: dict[str, Any]) -> TaskName:
        raise NotImplementedError

    def _link(self, keys: dict[str, Any]) -> LinkName:
        raise NotImplementedError

    def _pool(self, name: str, keys: dict[str, Any]) -> PoolName:
        raise NotImplementedError

    def _expect(self, keys: dict[str, Any]) -> None:
        raise NotImplementedError

    def source(
        self, name: str, *, count: Number | None = None, pool: str | None = None,
        may: Literal["stop", "crash"] | None = None, copies: Number | None = None,
    ) -> TaskName:
        """Put down a source. It writes to all its links.

        ``count``: How often it writes; without it, forever.
        ``pool``: The pool that the task's threads come from.
        ``may``: Whether it may cease to run: `stop` between two runs, or `crash` at any moment.
        ``copies``: How many copies there are; without it, one.
        """
        return self._task(name, {
            "kind": "source", "count": count, "pool": pool, "may": may, "copies": copies,
        })

    def sink(
        self, name: str, *, pool: str | None = None, may: Literal["stop", "crash"] | None = None,
        copies: Number | None = None,
    ) -> TaskName:
        """Put down a sink. It reads from any of its links.

        ``pool``: The pool that the task's threads come from.
        ``may``: Whether it may cease to run: `stop` between two runs, or `crash` at any moment.
        ``copies``: How many copies there are; without it, one.
        """
        return self._task(name, {
            "kind": "sink", "pool": pool, "may": may, "copies": copies,
        })

    def map(
        self, name: str, *, hand: Number | None = None, pool: str | None = None,
        may: Literal["stop", "crash"] | None = None, copies: Number | None = None,
    ) -> TaskName:
        """Put down a map. It reads, and writes.

        ``hand``: How many elements the task can hold between reading and writing; 0 reads and
            writes in one move.
        ``pool``: The pool that the task's threads come from.
        ``may``: Whether it may cease to run: `stop` between two runs, or `crash` at any moment.
        ``copies``: How many copies there are; without it, one.
        """
        return self._task(name, {
            "kind": "map", "hand": hand, "pool": pool, "may": may, "copies": copies,
        })

    def filter(
        self, name: str, *, hand: Number | None = None, pool: str | None = None,
        may: Literal["stop", "crash"] | None = None, copies: Number | None = None,
    ) -> TaskName:
        """Put down a filter. It reads, and writes or discards.

        ``hand``: How many elements the task can hold between reading and writing; it decides
            while it holds them.
        ``pool``: The pool that the task's threads come from.
        ``may``: Whether it may cease to run: `stop` between two runs, or `crash` at any moment.
        ``copies``: How many copies there are; without it, one.
        """
        return self._task(name, {
            "kind": "filter", "hand": hand, "pool": pool, "may": may, "copies": copies,
        })

    def merge(
        self, name: str, *, hand: Number | None = None,
        policy: Literal["any", "fair", "preferred"] | None = None, prefers: str | None = None,
        pool: str | None = None, may: Literal["stop", "crash"] | None = None,
        copies: Number | None = None,
    ) -> TaskName:
        """Put down a merge. It reads from one of its links, and writes.

        ``hand``: How many elements the task can hold between reading and writing; 0 reads and
            writes in one move.
        ``policy``: Which ready input is taken.
        ``prefers``: The link that policy `preferred` takes first.
        ``pool``: The pool that the task's threads come from.
        ``may``: Whether it may cease to run: `stop` between two runs, or `crash` at any moment.
        ``copies``: How many copies there are; without it, one.
        """
        return self._task(name, {
            "kind": "merge", "hand": hand, "policy": policy, "prefers": prefers, "pool": pool,
            "may": may, "copies": copies,
        })

    def zip(
        self, name: str, *, hand: Number | None = None, pool: str | None = None,
        may: Literal["stop", "crash"] | None = None, copies: Number | None = None,
    ) -> TaskName:
        """Put down a zip. It reads from all its links at once, and writes to all.

        ``hand``: How many elements the task can hold between reading and writing; 0 reads and
            writes in one move.
        ``pool``: The pool that the task's threads come from.
        ``may``: Whether it may cease to run: `stop` between two runs, or `crash` at any moment.
        ``copies``: How many copies there are; without it, one.
        """
        return self._task(name, {
            "kind": "zip", "hand": hand, "pool": pool, "may": may, "copies": copies,
        })

    def broadcast(
        self, name: str, *, hand: Number | None = None, pool: str | None = None,
        may: Literal["stop", "crash"] | None = None, copies: Number | None = None,
    ) -> TaskName:
        """Put down a broadcast. It reads, and writes to all its links at once.

        ``hand``: How many elements the task can hold between reading and writing; 0 reads and
            writes in one move.
        ``pool``: The pool that the task's threads come from.
        ``may``: Whether it may cease to run: `stop` between two runs, or `crash` at any moment.
        ``copies``: How many copies there are; without it, one.
        """
        return self._task(name, {
            "kind": "broadcast", "hand": hand, "pool": pool, "may": may, "copies": copies,
        })

    def route(
        self, name: str, *, hand: Number | None = None,
        by: Literal["content", "room"] | None = None, pool: str | None = None,
        may: Literal["stop", "crash"] | None = None, copies: Number | None = None,
    ) -> TaskName:
        """Put down a route. It reads, and writes to one of its links.

        ``hand``: How many elements the task can hold between reading and writing; it decides
            while it holds them.
        ``by``: Whether the element decides where it goes, or any link with room will do.
        ``pool``: The pool that the task's threads come from.
        ``may``: Whether it may cease to run: `stop` between two runs, or `crash` at any moment.
        ``copies``: How many copies there are; without it, one.
        """
        return self._task(name, {
            "kind": "route", "hand": hand, "by": by, "pool": pool, "may": may, "copies": copies,
        })

    def window(
        self, name: str, size: Number, *, slide: Number | None = None, early: bool | None = None,
        may: Literal["stop", "crash"] | None = None, copies: Number | None = None,
    ) -> TaskName:
        """Put down a window. It gathers elements, and writes one for all of them.

        ``size``: How many elements it gathers before it writes one for all of them.
        ``slide``: How many of them leave it then, the oldest ones; without it, all.
        ``early``: Whether it may close with fewer, at any time: by a timer, or at the end.
        ``may``: Whether it may cease to run: `stop` between two runs, or `crash` at any moment.
        ``copies``: How many copies there are; without it, one.
        """
        return self._task(name, {
            "kind": "window", "size": size, "slide": slide, "early": early, "may": may,
            "copies": copies,
        })

    def align(
        self, name: str, barrier: str, *, hand: Number | None = None,
        may: Literal["stop", "crash"] | None = None, copies: Number | None = None,
    ) -> TaskName:
        """Put down a align. It passes elements on, but waits for a barrier from each link.

        ``barrier``: The kind of elements of which it waits for one from each input; it reads
            nothing more from one that has brought it.
        ``hand``: How many elements the task can hold between reading and writing; 0 reads and
            writes in one move.
        ``may``: Whether it may cease to run: `stop` between two runs, or `crash` at any moment.
        ``copies``: How many copies there are; without it, one.
        """
        return self._task(name, {
            "kind": "align", "barrier": barrier, "hand": hand, "may": may, "copies": copies,
        })

    def script(
        self, name: str, steps: Sequence[Step], *, count: Number | None = None,
        pool: str | None = None, may: Literal["stop", "crash"] | None = None,
        copies: Number | None = None,
    ) -> TaskName:
        """Put down a script. It does its steps in order, waiting at each.

        ``steps``: What it does, in order, waiting at each step.
        ``count``: How often it does all its steps; without it, forever.
        ``pool``: The pool that the task's threads come from.
        ``may``: Whether it may cease to run: `stop` between two runs, or `crash` at any moment.
        ``copies``: How many copies there are; without it, one.
        """
        return self._task(name, {
            "kind": "script", "steps": steps, "count": count, "pool": pool, "may": may,
            "copies": copies,
        })

    def call(
        self, name: str, pool: str | Sequence[str], depth: Number, *, roots: Number | None = None,
        copies: Number | None = None,
    ) -> TaskName:
        """Put down a call. Nested calls on pools of threads.

        ``pool``: The pool of all levels, or a list with one pool for each level.
        ``roots``: How many calls come from outside at the same time.
        ``depth``: How deep a call nests; 1 calls nothing further.
        ``copies``: How many copies there are; without it, one.
        """
        return self._task(name, {
            "kind": "call", "pool": pool, "roots": roots, "depth": depth, "copies": copies,
        })

    def transition(
        self, name: str, *, takes: Mapping[str, Number] | None = None,
        gives: Mapping[str, Number] | None = None, copies: Number | None = None,
    ) -> TaskName:
        """Put down a transition. It reads from all its links and writes to all, in one move.

        ``takes``: By link, how many elements it reads at once, where that is not the link's
            `takes`.
        ``gives``: By link, how many elements it writes at once, where that is not the link's
            `gives`.
        ``copies``: How many copies there are; without it, one.
        """
        return self._task(name, {
            "kind": "transition", "takes": takes, "gives": gives, "copies": copies,
        })

    def design(
        self, name: str, design: str, *, given: Mapping[str, Number] | None = None,
        copies: Number | None = None,
    ) -> TaskName:
        """Put down a design. A sub-design, or copies of it.

        ``design``: The sub-design that it is a copy of.
        ``given``: Values for the parameters of the sub-design.
        ``copies``: How many copies there are; without it, one.
        """
        return self._task(name, {
            "kind": "design", "design": design, "with": given, "copies": copies,
        })

    def link(
        self, writer: str | Sequence[str], reader: str | Sequence[str], *,
        name: str | None = None, capacity: Number | None = None, flow: FlowName | None = None,
        stop: Number | None = None, go: Number | None = None, lag: Number | None = None,
        full: Literal["fail", "drop-newest", "drop-oldest"] | None = None,
        batch: Number | None = None, initial: Number | None = None, gives: Number | None = None,
        takes: Number | None = None, lossy: Number | None = None, group: str | None = None,
        kinds: Number | Sequence[str] | None = None, take: Literal["any", "head"] | None = None,
        connect: Connection | None = None,
    ) -> LinkName:
        """Put down a link between tasks.

        ``writer``: The task that writes, or a list of them.
        ``reader``: The task that reads, or a list of them.
        ``name``: A name; without one, `from->to`.
        ``capacity``: How many elements fit; with 0, writer and reader must meet.
        ``flow``: What happens when it is full.
        ``stop``: Stop-go: the reader calls stop when there are more elements than this.
        ``go``: Stop-go: it calls go when there are as few again; without it, as `stop`.
        ``lag``: Stop-go: how many elements may still come after the one that made it call stop.
        ``full``: Stop-go: what happens to an element for which there is no room.
        ``batch``: Credit: how many freed slots are announced together.
        ``initial``: How many elements it holds at the start.
        ``gives``: How many elements are written at once.
        ``takes``: How many elements are read at once.
        ``lossy``: How many elements, permits or calls its channel may lose.
        ``group``: Of the links of a task with the same group, each element goes to one, which
            it decides itself.
        ``kinds``: The kinds of its elements: their names, or how many there are; `take` says
            which of them is read.
        ``take``: Of a queue with several kinds: whether a reader takes one of a kind that it
            reads, wherever it stands, or only what stands at its head.
        ``connect``: Between copies: which of them the links are between.
        """
        return self._link({
            "from": writer, "to": reader, "name": name, "capacity": capacity, "flow": flow,
            "stop": stop, "go": go, "lag": lag, "full": full, "batch": batch, "initial": initial,
            "gives": gives, "takes": takes, "lossy": lossy, "group": group, "kinds": kinds,
            "take": take, "connect": connect,
        })

    def pool(
        self, name: str, threads: Number, *, copies: Number | None = None,
    ) -> PoolName:
        """Put down a pool of threads, or a semaphore.

        ``threads``: How many threads (permits) it has.
        ``copies``: How many copies there are; without it, one.
        """
        return self._pool(name, {
            "threads": threads, "copies": copies,
        })

    def expect(
        self, *, deadlock_free: Literal["holds", "violated"] | Mapping[str, str] | None = None,
        no_local_deadlock: Literal["holds", "violated"] | Mapping[str, str] | None = None,
        bounded: Literal["holds", "violated"] | Mapping[str, str] | None = None,
        ordered: Literal["holds", "violated"] | Mapping[str, str] | None = None,
        no_duplicates: Literal["holds", "violated"] | Mapping[str, str] | None = None,
        no_loss: Literal["holds", "violated"] | Mapping[str, str] | None = None,
        no_failure: Literal["holds", "violated"] | Mapping[str, str] | None = None,
        live: Literal["holds", "violated"] | Mapping[str, str] | None = None,
        no_starvation: Mapping[str, Any] | None = None,
    ) -> None:
        """Say which verdicts are wanted.

        ``deadlock_free``: In every reachable state in which work is left, some task can take a
            step.
        ``no_local_deadlock``: No task can be blocked forever while others run.
        ``bounded``: No unbounded link grows without a limit.
        ``ordered``: Each reader receives the elements of a sender in the order in which it sent
            them.
        ``no_duplicates``: No task reads an element of a sender more than once.
        ``no_loss``: No element is dropped or lost.
        ``no_failure``: No link with flow `fail` ever overflows.
        ``live``: Every source writes again eventually, and every accepted element is read and
            written on eventually, in every fair run.
        ``no_starvation``: By task: it takes a step again and again, in every fair run.
        """
        self._expect({
            "deadlock-free": deadlock_free, "no-local-deadlock": no_local_deadlock,
            "bounded": bounded, "ordered": ordered, "no-duplicates": no_duplicates,
            "no-loss": no_loss, "no-failure": no_failure, "live": live,
            "no-starvation": no_starvation,
        })
