"""Parameters for the judgment of a topology's history, and the events each machine observes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from ....reference.storm.topologies import Topology, deploy
from ....spec.notation.interpreter import Step
from ....spec.notation.machine import Machine
from ....spec.storm.topologies.observed_topology import (
    ObservedFlag, ObservedLane, ObservedOverflow, ObservedRoot, ObservedRun, ObservedSource,
    ObservedTask,
)

__all__ = ["ALONE", "TELLING", "About", "Observation", "Terms", "overflows", "terms_of"]

WAIT_MAX: Final = 20
"""Instants that a message may wait in a transfer queue. A connection that is not writable
becomes so when it has delivered what it holds; no wait for that is longer than a few delays."""

DEATH_MAX: Final = 20
"""Instants in which a worker dies when user code has raised what nobody catches."""

WORD_MAX: Final = 100
"""Instants that word of a root may take from a bolt to its spout in a calm run, and that a tick
may wait for a free slot: D. Three or four hops of a few instants each, with short queues."""

STATUS_MAX: Final = 5
"""Instants until a status is heard that nothing holds up: sent, under way, and read."""

@dataclass(frozen=True)
class Terms:
    """The parameters by which a history is judged; 0 means unlimited where that makes sense.

    ``worker_of`` has the worker of each task, ``fan_out``, for each task that is no spout, the
    messages that one execution emits at most. ``lane_max`` is more than the messages on any one
    lane. ``timeout`` is the period of the message timeout. In a ``calm`` run nothing goes wrong
    but what bolts do; in a ``prompt`` one every status is heard. Without ``acking`` there are no
    roots to judge.
    """

    capacity: int
    overflow_limit: int
    max_pending: int
    per_round: int
    parts: int
    messages: int
    fan_out: Mapping[int, int]
    worker_of: Mapping[int, int]
    lane_max: int = 1024
    wait_max: int = WAIT_MAX
    word_max: int = WORD_MAX
    death_max: int = DEATH_MAX
    link_capacity: int = 8
    timeout: int = 300
    calm: bool = False
    acking: bool = True
    transfer_capacity: int = 1
    batch: int = 1
    prompt: bool = False

    @property
    def peers(self) -> int:
        """Workers that send to a worker."""
        return len(set(self.worker_of.values())) - 1

    @property
    def bounds_overflow(self) -> bool:
        """True if it is known how much of what was sent an overflowQ may come to hold."""
        return self.prompt and self.peers > 0 and self.batch == 1 and self.overflow_limit == 0

    @property
    def in_flight(self) -> tuple[int, int]:
        """Tuples between all senders and a task, in transfer queues and on links, which one turn of
        a thread may overfill; and those that they send until ON is heard: a queue an instant."""
        way = 2 * self.transfer_capacity + self.link_capacity - 1
        return self.peers * way, self.peers * self.transfer_capacity * STATUS_MAX


def terms_of(
    topology: Topology, *, messages: int, capacity: int, overflow_limit: int, max_pending: int,
    per_round: int, workers: int, link_capacity: int = 8, timeout: int = 300,
    transfer_capacity: int = 1, batch: int = 1, **_others: int,
) -> Terms:
    """The terms of a run of a topology with these settings; others set no terms."""
    topology = topology.on(workers)
    bolts = [task for name, tasks in topology.tasks_of().items() if name != "source"
             for task in tasks]
    return Terms(capacity, overflow_limit, max_pending, per_round, topology.parts, messages,
                 {task: topology.emits_at_most(task) for task in bolts},
                 deploy(topology, workers),
                 link_capacity=link_capacity, timeout=timeout, acking=topology.ackers != 0,
                 transfer_capacity=transfer_capacity, batch=batch)


Observation = tuple[type[Machine], Hashable, Step]
About = Sequence[int | str]
Told = tuple[Observation, ...]


@lru_cache(maxsize=1 << 12)
def _step(action: str, *given: tuple[str, int]) -> Step:
    """A step: one object each time, as the same ones come again and again."""
    return action, given


def _emitted(_terms: Terms, about: About) -> Told:
    sender, life, to, number = about
    return (ObservedLane, (sender, life, to), _step("emits", ("number", int(number)))),


def _processed(_terms: Terms, about: About) -> Told:
    task, sender, life, number = about
    return ((ObservedLane, (sender, life, task), _step("processes", ("number", int(number)))),
            (ObservedTask, task, _step("consumes")))


def _lost(_terms: Terms, about: About) -> Told:
    sender, life, to, number = about
    return (ObservedLane, (sender, life, to), _step("loses", ("number", int(number)))),


def _holds(terms: Terms, about: About) -> Told:
    task, recvq, overflowq = about
    return (ObservedTask, task, _step(
        "holds", ("recvq", min(int(recvq), terms.capacity + 1)),
        ("overflowq", min(int(overflowq), terms.overflow_limit + 1)))),


def overflows(terms: Terms, about: About) -> Observation:
    """How many elements an overflowQ holds, as far as that matters."""
    seen = min(int(about[2]), sum(terms.in_flight) + 2)
    return ObservedOverflow, about[0], _step("holds", ("overflowq", seen))


def _stands(terms: Terms, about: About) -> Told:
    task, count = about
    fan_out = terms.fan_out.get(int(task))
    return (ObservedTask, task, _step(
        "stands", ("spout", int(fan_out is None)),
        ("count", min(int(count), (fan_out or 1) + 1)))),


def _pends(terms: Terms, about: About) -> Told:
    task, count = about
    most = terms.max_pending + terms.per_round
    return (ObservedTask, task, _step("pends", ("roots", min(int(count), most)))),


def _attempt(name: str) -> Callable[[Terms, About], Told]:
    def tell(_terms: Terms, about: About) -> Told:
        message, root = about
        return (ObservedRoot, root, _step(name)), (ObservedSource, message, _step(name))
    return tell


def _reached(_terms: Terms, about: About) -> Told:
    message, root, part = about
    step = _step("reaches", ("part", int(part)))
    return (ObservedRoot, root, step), (ObservedSource, message, step)


def _of_root(name: str) -> Callable[[Terms, About], Told]:
    def tell(_terms: Terms, about: About) -> Told:
        return (ObservedRoot, about[1], _step(name)),
    return tell


def _asking(_terms: Terms, _about: About) -> Told:
    """It shows only when the root fails."""
    return ()


def _wrote(terms: Terms, about: About) -> Told:
    standing = min(int(about[2]), terms.link_capacity)
    return (ObservedRun, "", _step("writes", ("standing", standing))),


def _heard(_terms: Terms, about: About) -> Told:
    worker, task, blocked = about
    return (ObservedFlag, (worker, task), _step("hears", ("blocked", min(int(blocked), 1)))),


def _held(_terms: Terms, about: About) -> Told:
    worker, task = about
    return (ObservedFlag, (worker, task), _step("holds_back")),


def _left(terms: Terms, about: About) -> Told:
    waited = min(int(about[1]), terms.wait_max + 1)
    return (ObservedRun, "", _step("passes_on", ("waited", waited))),


def _of_run(name: str) -> Callable[[Terms, About], Told]:
    def tell(_terms: Terms, _about: About) -> Told:
        return (ObservedRun, "", _step(name)),
    return tell


TELLING: Final[Mapping[str, Callable[[Terms, About], Told]]] = {
    "emitted": _emitted, "processed": _processed, "lost": _lost, "holds": _holds,
    "stands": _stands, "pends": _pends, "root": _attempt("emits"), "reached": _reached,
    "acked": _attempt("acks"), "failing": _of_root("is_faulted"), "asking": _asking,
    "left": _left, "wrote": _wrote, "heard": _heard, "held": _held,
    "killed": _of_run("changes"), "began": _of_run("changes"), "stalled": _of_run("stalls"),
}

ALONE: Final = {word: TELLING[word] for word in (
    "emitted", "processed", "holds", "stands", "pends", "left", "wrote", "heard", "held")}
"""Words that say nothing else, in a run that is not prompt and in which no user code has raised;
most events are of these."""
