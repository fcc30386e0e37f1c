"""Recordings of elections by real services, and of the reference's clusters.

Candidates are real clients of a real service; what each reports is noted as it is reported, in
real time. Clusters are those of the suites ``kafka.failover`` and ``storm.topology``, in virtual
time, with the suites' own schedules of faults; a broken one is a twin. Each run of a cluster has
keys of its own, so that one log has as many events as are asked for. See ``recordings``.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from checkvalve.conformance.campaigns.case import plan, row_of
from checkvalve.conformance.engines.conduct import Order
from checkvalve.conformance.ports.base import Message, Session, Target
from checkvalve.conformance.suites.exchange import Act
from checkvalve.conformance.systems.catalogue import system_of
from checkvalve.conformance.systems.kafka_failover.port import HISTORIES as OF_BROKERS
from checkvalve.conformance.systems.storm_topology.port import HISTORIES as OF_TASKS
from checkvalve.conformance.systems.targets import resolve_target

__all__ = ["Pages", "election", "failover", "topology"]


class Pages:
    """The rows of a log, in their order; any thread may add one."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.lock = threading.RLock()

    def add(self, operation: str, item: Any = None, process: str = "", **more: Any) -> None:
        """Note what takes no time."""
        row = {"key": "k", "process": process, "operation": operation, "phase": "point",
               "item": item, **more}
        with self.lock:
            self.rows.append({name: value for name, value in row.items() if value is not None})


Note = Callable[[Pages, str, set[str], str], None]
"""Notes an event of a run, of which there are keys so far."""


class _Noted:
    """A session with answers that are noted before anybody else gets them."""

    def __init__(self, session: Session, noted: Callable[[Message, Any], Any]) -> None:
        self._session, self._noted = session, noted
        self.close = session.close

    def request(self, message: Message) -> Message:
        reply = self._session.request(message)
        return {**reply, "ok": self._noted(message, reply["ok"])} if "ok" in reply else reply


# --- elections ---------------------------------------------------------------------------------

_ACTS: Final = (*("join",) * 4, *("ask",) * 14, *("write",) * 4, "resign", "stop", "go", "go",
                "cut", "mend", "mend", "expire")
_DISTURBS: Final = ("stop", "cut", "expire")
_QUIET_EVERY: Final = 30


def election(target: str, *, candidates: int = 2) -> Callable[..., None]:
    """A recording of candidates, with a fault: one that does not lead reports that it does
    (``everybody-leads``), or a leader reports that it does not (``forgets``)."""
    def make(pages: Pages, fault: str, draw: random.Random, length: int) -> None:
        suite = system_of("election").suite
        greatest = 0

        def noted(request: Message, answer: Any) -> Any:
            nonlocal greatest
            if request["do"] == "ask":
                greatest = max(greatest, answer or 0)
                if fault and draw.random() < 0.5:
                    answer = greatest + 1 if fault == "everybody-leads" and answer is None else (
                        None if fault == "forgets" else answer)
            _note_candidate(pages, request, answer)
            return answer

        session = resolve_target(target).open()
        try:
            talk: Any = suite.converse(_Noted(session, noted), candidates, length)
            for number in range(1, length + 1):
                # Where no candidate wants to lead, one would be waited for in vain.
                quiet = number % _QUIET_EVERY == 0 and talk.joined
                _try(talk, Act("quiet") if quiet else Act(
                    draw.choice(_ACTS), draw.randrange(candidates)))
        finally:
            session.close()
    return make


def _try(talk: Any, act: Act) -> None:
    if talk.makes_sense(act):
        talk.say(act)


def _note_candidate(pages: Pages, request: Message, answer: Any) -> None:
    do, name = request["do"], str(request.get("candidate", ""))
    if do == "ask":
        told = {} if answer is None else {"value": answer}
        pages.add("leads_not" if answer is None else "leads", process=name, **told)
    elif do == "write":
        pages.add("accepted" if answer else "refused", process=name)
    elif do == "quiet":
        pages.add("quiet", process="" if answer is None else str(answer),
                  result="empty" if answer is None else "ok")
    elif do in ("join", "resign", "crash"):
        pages.add(do, process=name)
    elif do in _DISTURBS:
        pages.add("disturbed", process=name)


# --- clusters ----------------------------------------------------------------------------------

def _histories(suite: str, note: Note) -> Callable[..., None]:
    """A recording of the cases of a suite: its reference, or the twin that the fault is."""
    def make(pages: Pages, fault: str, draw: random.Random, length: int) -> None:
        system = system_of(suite)
        target = resolve_target(f"zoo:{fault}" if fault else system.reference.name)
        order = Order(suite)
        settings = replace(order.settings, programs=8, shrinks=0, counting=False)
        runs = iter(range(1 << 40))

        def opened() -> Session:
            run, keys = f"{next(runs)}", set[str]()

            def noted(request: Message, answer: Any) -> Any:
                for text in answer if isinstance(answer, list) else ():
                    note(pages, run, keys, text)
                return answer
            return _Noted(target.open(), noted)

        watched: Any = _Watched(target, opened)
        for case in plan(suite, cases=length, seed=draw.randrange(1 << 30)):
            row_of(system.suite, watched, case, settings)
    return make


class _Watched:
    """A target with sessions that are opened by something else."""

    def __init__(self, target: Target, opened: Callable[[], Session]) -> None:
        self.name, self.renew, self.open = target.name, target.renew, opened


def _note_broker(pages: Pages, run: str, keys: set[str], text: str) -> None:
    """Note which broker leads in an epoch, and the high watermark that it reports there."""
    event = OF_BROKERS.event(text)
    if event is None:
        return
    if event.what == "took":
        broker, partition, epoch = event.about
        pages.add("leads", broker, key=f"{run}/{partition}/{epoch}")
    elif event.what == "answered":
        partition, broker, life, epoch, mark = event.about
        pages.add("leads", broker, key=f"{run}/{partition}/{epoch}")
        pages.add("mark", key=f"{run}/{partition}/{epoch}/{broker}/{life}", value=mark)


def _note_task(pages: Pages, run: str, keys: set[str], text: str) -> None:
    """Note what goes over a lane, from one life of a task to another, until all is quiescent."""
    event = OF_TASKS.event(text)
    if event is None:
        return
    _, what, about = event
    if what in _OF_LANES:
        sender, life, to, number = about if what != "processed" else (
            *about[1:3], about[0], about[3])
        key = f"{run}/{sender}.{life}/{to}"
        keys.add(key)
        pages.add(_OF_LANES[what], number, key=key)
    elif what == "rested":
        for key in sorted(keys):
            pages.add("rest", key=key)


_OF_LANES: Final = {"emitted": "emits", "lost": "loses", "processed": "processes"}

failover: Final = _histories("kafka.failover", _note_broker)
topology: Final = _histories("storm.topology", _note_task)
