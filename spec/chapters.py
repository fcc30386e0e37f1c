"""The chapters of the rule book, by name."""

from __future__ import annotations

import ast
import inspect
import pkgutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import TypeVar

from .expectations import Expectation
from .lemmas import Lemma
from .notation.errors import InputError, InternalError
from .notation.labels import nearest
from .notation.machine import Machine
from .notation.rules import Rule
from .notation.source import syntax_of_file
from .refinements import Refinement

__all__ = ["CHAPTERS", "Chapter", "chapter_of", "chapters", "machine_named"]

Entry = TypeVar("Entry")

CHAPTERS = {
    "flow.credit": "one credit-controlled link",
    "flow.counted": "a link over a network that loses, doubles and reorders",
    "flow.counted_seen": "refinement: such a link, and what the network between its ends sees",
    "flow.redelivery": "a limit on what is not acknowledged, and what is sent again",
    "flow.link_seen": "refinement: a link, and what the network between its ends sees",
    "flow.observed_link": "observer of a link: the messages that the network carries",
    "flow.steady": "a link at a steady rate: how much room keeps its sender going",
    "flow.turns": "push and pull: which side sends the first message",
    "flow.composed": "a stage between two links: other frames above and below",
    "flow.echo": "a client that writes all before it reads",
    "flow.cycles": "stages in a cycle: when their elements move",
    "flow.squelch": "a receiver that calls stop when it is nearly full",
    "flow.pauses": "a receiver that calls stop, and a sender that backs off for a while",
    "flow.marks": "a receiver with two watermarks, which says stop and go",
    "flow.observed_marks": "observer of a receiver with two watermarks",
    "flow.marks_seen": "refinement: such a receiver and one that squelches, and their observer",
    "flow.bucket": "a token bucket: permits that come with time",
    "flow.observed_rate": "observer of a limit on a rate",
    "flow.rate_seen": "refinement: a token bucket, and the observer of a limit on a rate",
    "flow.throttles": "several sources, each with a bucket, in front of one receiver",
    "flow.shedding": "a sender that drops what it has neither a permit nor a place for",
    "flow.summaries": "what cannot go is rolled up, or waits in batches",
    "flow.observed_summaries": "observer of a stage that rolls up, or batches",
    "flow.summaries_seen": "refinement: such stages, and their observer",
    "flow.resending": "clients that submit again: the size of a queue, and what is dropped",
    "flow.workers": "a master with a queue, and workers that ask for jobs",
    "flow.pushing": "a master that pushes jobs, and what it has to know of its workers",
    "flow.leases": "jobs on lease: what a worker that dies had comes back",
    "flow.observed_jobs": "observer of a master that gives jobs to workers which ask",
    "flow.workers_seen": "refinement: a master and its workers, and their observer",
    "flow.fan_in": "several senders and one buffer: how many permits each may begin with",
    "flow.sums": "rings, shares and buckets by their invariants: proofs for all sizes",
    "flow.shares_seen": "refinement: several links, each and all of them, and the observer",
    "flow.frames_seen": "refinement: a stage that makes one of many, and the observer of a link",
    "flow.frames": "stages with frames of several elements, and paths that part and meet",
    "flow.observed_counted": "observer of a link whose messages get lost, doubled and reordered",
    "storm.queue": "a task's input queues in Storm, and the thread that drains them",
    "storm.queue_seen": "refinement: the input of a task, and its observer",
    "storm.observed_topology": "observer of a topology's history: delivery, order, progress",
    "storm.status": "backpressure status between workers: flags, statuses, what stalls a sender",
    "storm.status_mutants": "that protocol with one line wrong: what each line is for",
    "storm.status_seen": "refinement: statuses, and their observers",
    "storm.joining": "a new connection: the statuses it receives, and when it joins the others",
    "storm.joining_seen": "refinement: a new connection, and the observer of statuses",
    "storm.limit": "the limit of an overflowQ: which tuples are dropped, what is left of order",
    "storm.crossing": "two paths that cross two workers: why a receiving thread must not wait",
    "storm.crossing_seen": "refinement: two paths that cross, and the observer of a run",
    "storm.batching": "batches in front of a task's recvQ: where order and liveness get lost",
    "storm.batching_seen": "refinement: batches, and the observer of an input",
    "storm.ticks": "ticks: one timer in front of several bounded queues",
    "storm.topology": "a spout, a bolt and an acker with bounded queues: waits between them",
    "storm.topology_seen": "refinement: a topology, and the observers of a cluster",
    "storm.answers_seen": "refinement: what is made of answers, and the observer of a spout",
    "storm.senders": "elements that wait behind the head of an executor's pendingEmits",
    "storm.senders_seen": "refinement: senders that are held back, and the observers",
    "storm.cascade": "how backpressure reaches the spout, and which tasks it does not reach",
    "storm.cascade_seen": "refinement: the extent of backpressure, and the observers",
    "storm.waiting": "what a task does between two attempts to send",
    "storm.executions": "one execution of a basic bolt: what acks its input, and what fails it",
    "storm.executions_seen": "refinement: executions, and the observer of a root",
    "storm.acker": "how a spout learns that all that came of a tuple was processed",
    "storm.acker_mutants": "the acker with one line wrong: what each line is for",
    "storm.acker_seen": "refinement: the acker, and its observer",
    "storm.collision": "two roots with one id: one is forgotten, or acked for the other",
    "storm.xor": "the algebra of the acker: why a value of zero means that all is processed",
    "storm.rotating": "how long the spout and the acker remember a tuple",
    "storm.spout": "max.spout.pending, with its exact overshoot",
    "storm.spout_seen": "refinement: the rounds of a spout, and their observer",
    "storm.source": "a spout over a log that can be read again: commit and replay",
    "storm.guarantees": "a source with other policies: at most once, no guarantee, back-off",
    "storm.source_seen": "refinement: the source, and its observer",
    "storm.starting": "where a source begins, and how much it fetches: two settings",
    "storm.observed_input": "observer of a task's input in Storm",
    "storm.observed_status": "observer of backpressure status between two workers",
    "storm.observed_acker": "observer of an acker: messages in, answers out",
    "storm.observed_spout": "observer of a spout's pending roots, and of their maximum",
    "storm.observed_partition": "observer of a replayable source: emits and commits",
    "kafka.timer": "hierarchical timing wheels driven by a queue of buckets: the firing law",
    "kafka.timer_text": "claims of the text about the timer, and what it leaves out",
    "kafka.timer_mutants": "the timer with one line wrong: what each line is for",
    "kafka.timer_seen": "refinement: the timer, and its observer",
    "kafka.timer_alignment": "why an overflow is never refused: the clocks' alignment, by proof",
    "kafka.timer_races": "cancel against cascade, the maker of an overflow wheel, which clock",
    "kafka.observed_timer": "observer of a timer: tasks go in, and run when its law says",
    "kafka.replication": "high watermark, ISR, leader epochs: where a follower cuts its log",
    "kafka.observed_failover": "observer of partitions while brokers fail",
    "kafka.observed_delivery": "observer of what a cluster owes when its faults are over",
    "kafka.failover_seen": "refinement: replication, and its observers",
    "kafka.delivery": "what keeps a partition moving: written, committed, acknowledged, read",
    "kafka.stepping_down": "a leader that becomes a follower, and the requests that wait at it",
    "kafka.delivery_seen": "refinement: delivery, and the observers of records",
    "kafka.leaders_text": "claims of the text about a new leader, and about one that was replaced",
    "kafka.isr_changes": "changes of the ISR that are under way: which replicas a leader waits for",
    "kafka.eligible": "eligible leaders where too few are in sync, and the cost of an unclean stop",
    "kafka.checkpoints": "high watermarks on the disk: what is known when a broker starts again",
    "kafka.partition_changes": "a batch of changes of partitions: the table, elections, the store",
    "kafka.replica_changes": "changes of replicas: the table, and which replicas leave the ISR",
    "kafka.controller_epochs": "which broker is the controller, and what fences off a replaced one",
    "kafka.controller_requests": "requests on their way to brokers: which may come twice, or late",
    "kafka.controller_queue": "the queue to a broker that does not answer: what bounds it",
    "kafka.controller_channels": "a thread for each broker: what holds it up, and when it ends",
    "kafka.controller_start": "how a controller learns the state, and informs its brokers first",
    "kafka.controller_states": "in which states a controller begins: of partitions and replicas",
    "kafka.broker_changes": "brokers that come, go, or want to go: leaders and in-sync replicas",
    "kafka.reassignment": "other replicas for a partition, without fewer that are in sync",
    "kafka.topics": "topics that are made and deleted: first the replicas, then the node",
    "kafka.controller_turns": "beginning, callbacks, sessions: which thread may act at a time",
    "kafka.controllers_seen": "refinement: elections, requests and beginnings, and their observers",
    "kafka.channels_seen": "refinement: channels, first states and batches, and their observer",
    "kafka.changes_seen": "refinement: changes of brokers and replicas, and their observer",
    "kafka.controller_seen": "refinement: changes of partitions and replicas, and their observer",
    "kafka.observed_controller": "observer of a controller: batches in, requests out",
    "kafka.purgatory": "which thread completes a request, what still refers to it, when to purge",
    "kafka.purgatory_text": "claims of texts about the estimate and lists, and what they leave out",
    "kafka.purgatory_old": "the purgatory before: two scans, by length",
    "kafka.purgatory_answers": "the answers of check_and_complete",
    "kafka.purgatory_seen": "refinement: the purgatory, and its observer",
    "kafka.observed_purgatory": "observer of a purgatory: calls in, callbacks out",
    "kafka.purgatory_races": "one request and the three threads that may complete it",
    "kafka.purgatory_lists": "how a key's watcher list leaves the map without a request on it",
    "kafka.purgatory_locks": "in which order threads may take the purgatory's locks",
    "kafka.given_calls": "threads and the calls that they were given, each of which returns",
    "kafka.races_seen": "refinement: the races, and their observer",
    "kafka.observed_races": "observer of a timer and a purgatory that threads share",
    "bookkeeper.admission": "requests in progress: how many are admitted, and which wait",
    "bookkeeper.journal": "adds that wait for each other in the journal, and the limit on them",
    "bookkeeper.inline": "requests that run on the event loop: when the limit binds",
    "bookkeeper.loops": "which thread gives a permit back: not the event loop that waits for it",
    "bookkeeper.loops_seen": "refinement: loops and their permits, and the observer of a server",
    "bookkeeper.checker": "a semaphore whose permits come back on the threads that wait for it",
    "bookkeeper.checker_seen": "refinement: a checker's permits, and the observer of permits",
    "bookkeeper.memtable": "the memtable's bytes: adds that wait for room, flushes that make it",
    "bookkeeper.observed_bookie": "observer of a server: requests in, responses out",
    "bookkeeper.bookie_seen": "refinement: admission, and the observer of a server",
    "bookkeeper.observed_memtable": "observer of a memtable: entries in, flushes out",
    "bookkeeper.memtable_seen": "refinement: a memtable, and its observer",
    "bookkeeper.response": "sending a response to a client that does not read",
    "bookkeeper.response_seen": "refinement: responses to slow clients, and a server's observer",
    "bookkeeper.polls": "long polls: reads that wait until there is something to read",
    "bookkeeper.polls_seen": "refinement: permits of polls, and the observer of a server",
    "election.lock": "a lock service with sessions, and a store that compares tokens",
    "election.lock_seen": "refinement: an election by such a lock, and its observer",
    "election.lease": "a lock that ends by the clock: whose clock, and what a pause does",
    "election.lease_seen": "refinement: a fenced lease, and the observer of an election",
    "election.quorum": "a lock on several servers with clocks of their own (Redlock)",
    "election.observed_election": "observer of an election: answers to candidates, their writes",
    "reactive.stream": "a publisher and a subscriber: demand, and which signals it allows",
    "reactive.publisher_seen": "refinement: the publisher of a stream, and its observer",
    "reactive.observed_publisher": "observer of a publisher of Reactive Streams",
    "reactive.subscriber_seen": "refinement: the subscriber of a stream, and its observer",
    "reactive.observed_subscriber": "observer of a subscriber of Reactive Streams",
    "reactive.processor": "a processor between two demands, with a buffer of its own",
    "reactive.processor_seen": "refinement: a processor, and the observers of both of its sides",
    "reactive.observed_processor": "observer of a processor, which is both",
    "queues.bounded": "a bounded queue with waiting producers and consumers",
    "queues.bounded_seen": "refinement: a bounded queue, and the observers of queues",
    "queues.interruptible": "a queue whose waiting calls are cancelled, and learn it later",
    "queues.permits": "a semaphore or a lock for coroutines: permits, and a FIFO of waiters",
    "queues.permits_seen": "refinement: permits given in turn, and their observer",
    "queues.conditions": "observer of a condition variable: waiters that sleep, or continue",
    "queues.conditions_seen": "refinement: a condition variable, and its observer",
    "queues.closing": "observer of a queue that is closed, joined, or fails to put",
    "queues.closing_seen": "refinement: a queue with sleepers, and the observer of closing",
    "queues.gates": "observer of a gate: many wait until it is opened, or breaks",
    "queues.gates_seen": "refinement: a gate with sleepers, and its observer",
    "queues.dropping": "which item a bounded queue drops that says it drops",
    "queues.policies": "the policy of a queue, found out by asking: what it does when it is full",
    "queues.policies_seen": "refinement: a queue of a known policy, and the observers of queues",
    "queues.conserved": "what a queue must conserve, whatever order it keeps",
    "design.net": "the net that a design file becomes",
}
"""The name of each chapter with what it is about.

``storm.acker`` is the module ``acker`` below ``checkvalve.spec.storm``, in whichever of its
packages.
"""


@dataclass(frozen=True)
class Chapter:
    """A chapter: its name, its module, and what the module defines."""

    name: str
    module: ModuleType

    @property
    def machines(self) -> tuple[type[Machine], ...]:
        """The machines that the chapter defines, in the order of the text."""
        found = [
            value for value in vars(self.module).values()
            if inspect.isclass(value) and issubclass(value, Machine)
            and value.__module__ == self.module.__name__
        ]
        return tuple(found)

    @property
    def expectations(self) -> tuple[Expectation, ...]:
        """The promises of the chapter's author; InputError if that is no table of such."""
        promised = self._table("EXPECTATIONS", Expectation, Refinement)
        return tuple(each for each in promised if isinstance(each, Expectation))

    @property
    def refinements(self) -> tuple[Refinement, ...]:
        """The rows of the same table that tie a machine to an observer's."""
        promised = self._table("EXPECTATIONS", Expectation, Refinement)
        return tuple(each for each in promised if isinstance(each, Refinement))

    @property
    def unseen(self) -> dict[str, str]:
        """For rules that nothing outside a mechanism can show, a sentence that says why."""
        return dict(getattr(self.module, "UNSEEN", {}))

    @property
    def bookkeeping(self) -> dict[str, str]:
        """For rules about an observer's own bookkeeping, why no implementation can break them."""
        return dict(getattr(self.module, "BOOKKEEPING", {}))

    @property
    def lemmas(self) -> tuple[Lemma, ...]:
        """The claims of a chapter about an algebra; InputError if that is no table of such."""
        return self._table("LEMMAS", Lemma)

    def _table(self, name: str, *of: type[Entry]) -> tuple[Entry, ...]:
        found = self._made(name)
        if not isinstance(found, list | tuple):
            found = (found,)
        wrong = [item for item in found if not isinstance(item, of)]
        if not wrong:
            return tuple(found)
        raise InputError(
            f"{name} has {wrong[0]!r}, which is no {of[0].__name__}", self._where(name),
            f"Write {name} = (…,) with the calls whose results it lists; docs/notation.md has "
            "an example.",
        )

    def _made(self, name: str) -> object:
        """A table, empty if the module has none. One that cannot be made is not an empty one:
        ``getattr`` with a default takes any AttributeError on the way for a missing name."""
        made = vars(self.module)
        if name in made or "__getattr__" not in made:
            return made.get(name, ())
        try:
            return made["__getattr__"](name)
        except AttributeError as error:
            if error.args == (name,):
                return ()
            ours = self.module.__name__.startswith(f"{__package__}.")
            raise (InternalError if ours else InputError)(
                f"the table {name} of {self.name} cannot be made: AttributeError: {error}",
                self.module.__file__ or "",
                f"See what __getattr__ of the module does for {name}.") from error

    def _where(self, name: str) -> str:
        """``file:line`` of the assignment to a name."""
        file = self.module.__file__ or ""
        lines = [
            node.lineno for node in syntax_of_file(file).body
            if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign)
            and name in {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
        ]
        return f"{file}:{lines[-1]}" if lines else file

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The chapter's rules, each once, in the order of the text."""
        found: dict[str, Rule] = {}
        for machine in self.machines:
            for rule in machine.rules_declared:
                found.setdefault(rule.id, rule)
        return tuple(found.values())


def chapters(names: Iterable[str] = ()) -> Iterator[Chapter]:
    """The chapters that some names select, in the book's order (all if none are given).

    A name selects a chapter (``storm.queue``), what continues it (``kafka.timer_races``) and
    all below it (``storm``). Raises
    InputError for a name that selects nothing.
    """
    wanted = list(names)
    for name in wanted:
        if not any(_selects(name, chapter) for chapter in CHAPTERS):
            raise InputError(
                f"there is no chapter {name[:80]!r}",
                next_step=nearest(name, CHAPTERS, "`checkvalve rules`"),
            )
    for chapter in CHAPTERS:
        if not wanted or any(_selects(name, chapter) for name in wanted):
            yield Chapter(chapter, import_module(_module_of(chapter)))


def chapter_of(module: str) -> str:
    """The name of the chapter that a module of the book is; others keep their own name."""
    parts = module.removeprefix("checkvalve.spec.").split(".")
    name = f"{parts[0]}.{parts[-1]}"
    return name if name in CHAPTERS else module


def _module_of(chapter: str) -> str:
    book, _, name = chapter.rpartition(".")
    return f"checkvalve.spec.{_rooms(book).get(name, book)}.{name}"


@cache
def _rooms(book: str) -> dict[str, str]:
    """The room of each chapter that stands in one: a package below that of its book."""
    shelf = import_module(f"checkvalve.spec.{book}")
    rooms = [each.name for each in pkgutil.iter_modules(shelf.__path__) if each.ispkg]
    return {
        each.name: f"{book}.{room}" for room in rooms
        for each in pkgutil.iter_modules(
            import_module(f"checkvalve.spec.{book}.{room}").__path__)}


def _selects(name: str, chapter: str) -> bool:
    return chapter == name or chapter.startswith((f"{name}.", f"{name}_"))


def machine_named(name: str) -> type[Machine]:
    """The machine of a full name such as ``flow.credit.Link``; InputError if there is none."""
    chapter_name, _, machine_name = name.rpartition(".")
    for chapter in chapters([chapter_name] if chapter_name in CHAPTERS else []):
        for machine in chapter.machines:
            if f"{chapter.name}.{machine.__name__}" == name:
                return machine
    known = [f"{c.name}.{m.__name__}" for c in chapters() for m in c.machines]
    raise InputError(
        f"there is no machine {name[:80]!r}",
        next_step=nearest(name, known, "`checkvalve verify --rows`"))
