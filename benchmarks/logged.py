"""Logs of the suites: what a target did in the programs of a suite, as a log would have it.

The events that a log has of a request and its answer are said here once, for tests and figures; a
log is judged without knowing of either.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import process_time
from typing import Any, Final

from checkvalve.conformance.logs.events import Event
from checkvalve.conformance.logs.kinds import Logs, Terms
from checkvalve.conformance.logs.notes import Notes
from checkvalve.conformance.ports.base import Message, Session, SettingsRefused, Target
from checkvalve.conformance.suites.run import Run, TargetFailed, capabilities, run_program
from checkvalve.conformance.suites.suite import Act, AnySuite, Suite
from checkvalve.conformance.systems.catalogue import SYSTEMS
from checkvalve.conformance.systems.targets import reference_of, resolve_target

__all__ = ["SETTINGS", "WRITTEN", "Logged", "judge_events", "outcome", "programs"]

Rows = Iterator[dict[str, Any]]


@dataclass
class Logged:
    """A run of a program: its ``run``, the settings of its target, and the ``events``."""

    run: Run
    settings: Mapping[str, int]
    events: list[Event]


@dataclass
class _Tap:
    """A target that has its requests and answers kept."""

    target: Target
    said: list[tuple[Message, Any]] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.target.name

    def renew(self) -> bool:
        return self.target.renew()

    def open(self) -> Session:
        session, said = self.target.open(), self.said
        said.clear()

        class Tapped:
            def request(self, message: Message) -> Message:
                reply = session.request(message)
                if "ok" in reply:       # what a target declines did not happen
                    said.append((message, reply["ok"]))
                return reply

            def close(self) -> None:
                session.close()
        return Tapped()


def _delivery(request: Message, answer: Any) -> Rows:
    do = request["do"]
    row: dict[str, Any] = {"operation": do, "process": str(request.get("consumer", "p"))}
    if "message" in request:
        row["item"] = request["message"]
    if do == "publish":
        row["result"] = "ok" if answer else "full"
    elif do in ("receive", "dead"):
        row |= {"result": "empty"} if answer is None else {"item": answer}
    elif do in ("ack", "requeue", "reject"):
        row["result"] = "ok" if answer else "empty"
    elif do == "count":
        row |= {"result": "empty"} if answer is None else {"value": answer}
    elif do == "advance":
        row |= {"operation": "tick", "value": request["ticks"]}
    elif do in ("limit", "tries"):
        row["value"] = request["most"]
    yield row


def _acker(request: Message, answer: Any) -> Rows:
    do = request["do"]
    if do == "size":
        yield {"operation": "size", "value": answer}
        return
    yield {"operation": do, **({"item": request["root"]} if "root" in request else {}),
           **({"value": int(request["value"], 16)} if "value" in request else {}),
           "process": str(request.get("task", ""))}
    for told in answer:
        yield {"operation": f"tells_{told['tell'].removesuffix('_timeout')}", "item": told["root"],
               "process": str(told["to"])}


def _spout(rounds: Iterator[int], roots: dict[str, str]) -> Callable[[Message, Any], Rows]:
    def rows(request: Message, answer: Any) -> Rows:
        do = request["do"]
        if do == "round":
            number = next(rounds)
            again = roots.keys() & set(request["roots"])
            if answer == request["roots"]:
                roots.update(zip(request["roots"], request["messages"], strict=True))
                yield from ({"operation": "emits", "item": root, "value": number}
                            for root in answer)
            else:
                yield {"operation": "partly" if answer else "holds",
                       **({"item": request["roots"][0]} if again and not answer else {})}
            return
        root = request.get("root")
        yield {"operation": do, **({} if root is None else {"item": root})}
        for call in answer:
            of = [each for each, message in roots.items() if message == call["message"]]
            yield {"operation": f"calls_{call['call']}",
                   "item": root if root in of else of[0] if of else "no root of any message"}
    return rows


def _jobs(request: Message, answer: Any) -> Rows:
    do = request["do"]
    worker = str(request.get("worker", ""))
    yield {"operation": do, "process": worker, **({"item": request["job"]} if do == "submit" else {
        "value": request["got"]} if do == "ask" else {})}
    for kind, job, *more in answer:
        yield {"operation": f"{kind}s", "process": str(more[0]) if more else "", "item": job}
    yield {"operation": "rest"}


def _link(request: Message, answer: Any) -> Rows:
    do = request["do"]
    if do == "process":
        yield {"operation": "processes",
               "value": -1 if answer["element"] is None else answer["element"]}
    else:
        yield {"operation": do, "value": len(request["elements"]) if do == "offer"
               else request.get("count")}
    at_a = do in ("offer", "permit")
    for each in answer["permits"] if do == "process" else answer:
        yield {"operation": "sends" if at_a else "grants", "value": each}
    yield {"operation": "rest_a" if at_a else "rest_b"}


_NUMBERS: Final = {"permit": "limit", "ack": "number", "data": "element"}


def _counted(request: Message, answer: Any) -> Rows:
    do, messages = request["do"], answer
    if do == "process":
        element, messages = answer["element"], answer["messages"]
        yield {"operation": "nothing"} if element is None else {
            "operation": "processes", "value": element}
    elif do == "offer":
        yield {"operation": do, "value": len(request["elements"])}
    elif do in _NUMBERS:
        yield {"operation": do, "value": request[_NUMBERS[do]]}
    else:
        yield {"operation": "timer_a" if do == "sender_timer" else "timer_b"}
    at_a = do in ("offer", "permit", "ack", "sender_timer")
    for each in messages:
        if at_a:
            yield {"operation": "sends", "value": each}
        else:
            (name, number), = each.items()
            yield {"operation": f"{name}s", "value": number}
    yield {"operation": "rest_a" if at_a else "rest_b"}


_EXECUTOR: Final = {
    "start": "starts", "caller": "caller_runs", "refuse": "refused", "drop": "dropped",
    "return": "future_returns", "raise": "future_raises", "terminated": "terminated",
    "submit": "submits", "finish": "finishes", "fail": "fails", "die": "dies",
    "cancel": "cancels", "shutdown": "shutdown", "stop": "stop"}


def _executor(request: Message, answer: Any) -> Rows:
    do, does = request["do"], answer
    row = {"operation": _EXECUTOR[do], "item": request.get("task")}
    if do == "cancel":
        row["result"], does = "ok" if answer["undone"] else "empty", answer["does"]
    yield row
    for news in does:
        kind, *task = [news] if isinstance(news, str) else news
        yield {"operation": _EXECUTOR[kind], "item": task[0] if task else None}
    yield {"operation": "rest"}


def _summaries(request: Message, answer: Any) -> Rows:
    if request["do"] == "offer":
        yield {"operation": "takes" if answer else "waits", "value": request["value"]}
    else:
        yield {"operation": "nothing"} if answer is None else {
            "operation": "gives", "value": sum(answer)}


def _partition(request: Message, answer: Any) -> Rows:
    do = request["do"]
    if do in ("next", "split"):
        yield {"operation": "nothing"} if answer is None else {
            "operation": "emits" if do == "next" else "splits", "value": answer}
        return
    value = answer if do in ("commit", "close") else next(
        (request[name] for name in ("count", "offset", "milliseconds") if name in request), None)
    yield {"operation": do, "value": value}


def _timer(request: Message, answer: Any) -> Rows:
    do, now = request["do"], request["now"]
    row = {"item": request.get("task"), "time": now * 10 ** 6}
    if do == "add":
        yield {"operation": "adds", "value": request["delay"], **row}
    elif do == "cancel":
        yield {"operation": "cancels", **row}
    elif do not in ("elapse", "drive"):
        return
    for run in answer["runs"] if do == "drive" else answer:
        yield {"operation": "runs", "item": run["task"], "time": run["at"] * 10 ** 6}


def _election(request: Message, answer: Any) -> Rows:
    do = request["do"]
    row = {"process": str(request.get("candidate", ""))}
    if do == "ask":
        yield row | ({"operation": "leads_not"} if answer is None else {
            "operation": "leads", "value": answer})
    elif do == "write":
        yield row | {"operation": "accepted" if answer else "refused"}
    elif do in ("stop", "cut", "expire"):
        yield row | {"operation": "disturbed"}
    elif do == "quiet":
        yield {"operation": "quiet", "process": "" if answer is None else str(answer),
               "result": "empty" if answer is None else "ok"}
    elif do in ("join", "resign", "crash", "restart"):
        yield row | {"operation": do}


Writer = Callable[[Message, Any], Rows]

WRITTEN: Final[Mapping[str, Callable[[], Writer]]] = {
    "delivery": lambda: _delivery, "storm.acker": lambda: _acker,
    "storm.spout": lambda: _spout(iter(range(10_000)), {}), "jobs": lambda: _jobs,
    "storm.partition": lambda: _partition, "timer": lambda: _timer,
    "summaries": lambda: _summaries, "election": lambda: _election, "executor": lambda: _executor,
    "link": lambda: _link, "link.counted": lambda: _counted,
}
"""By suite, the events that a log has of each request and its answer."""

_POLICIES: Final = ("", "refuse", "caller-runs", "drop-newest", "drop-oldest", "unbounded")
_LAWS: Final = ("refuse", "drop-head", "drop-tail", "unbounded", "any-order")

SETTINGS: Final[Mapping[str, Callable[[Message, str], Mapping[str, int]]]] = {
    "delivery": lambda hello, policy: {
        "law": _LAWS.index(policy), "capacity": hello["capacity"], "ticks": hello["timeout"]},
    "storm.acker": lambda hello, policy: {"buckets": hello["capacity"]},
    "storm.spout": lambda hello, policy: {
        "maximum": hello["capacity"] * hello["tasks"], "buckets": hello["buckets"]},
    "jobs": lambda hello, policy: {"places": hello["capacity"]},
    "storm.partition": lambda hello, policy: {
        "first": hello["first"], "fetch": hello["capacity"], "outstanding": hello["outstanding"],
        "delay": hello["delay"], "longest": hello["longest"],
        **({} if hello["retries"] < 0 else {"retries": hello["retries"]})},
    "timer": lambda hello, policy: (
        {"tick_ns": hello["capacity"] * 10 ** 6} if policy == "tick" else {}),
    "election": lambda hello, policy: {"candidates": hello["capacity"], "steady": 1},
    "summaries": lambda hello, policy: (
        {"batch": hello["capacity"]} if policy == "batches" else {}),
    "executor": lambda hello, policy: {
        "workers": hello["workers"], "places": hello["capacity"],
        "policy": _POLICIES.index(policy)},
    **dict.fromkeys(("link", "link.counted"), lambda hello, policy: {
        "slots": hello["capacity"], "batch": hello["batch"], "first": hello["first"]}),
}
"""By suite, the settings of a log by those that a target was begun with."""


def _supported(suite: AnySuite, tap: _Tap, wanted: int) -> tuple[int, Collection[str]]:
    """The capacity that was drawn, or the first that the target supports, and what it offers."""
    for capacity in (wanted, *suite.capacities):
        try:
            return capacity, capabilities(suite, tap, capacity)
        except SettingsRefused:
            continue
    raise AssertionError(f"{tap.name} supports no capacity of {suite.name}")


def programs(suite: str, spec: str, rule: str, seed: int, number: int, length: int = 0
             ) -> Iterator[Logged]:
    """Runs of a target with their events, in the programs that are drawn for a rule, or in such as
    have any acts, ``length`` of them."""
    found = SYSTEMS[suite].suite
    assert isinstance(found, Suite)
    plain = replace(found, payloads=None)
    tap = _Tap(resolve_target(spec))
    draw = random.Random(f"{seed} {rule}")
    drawn: list[Any] = []
    if length:
        acts = [do for do, weight in plain.weights.items() for _ in range(weight)]
        drawn = [[Act(draw.choice(acts), draw.randrange(plain.picks or 8)) for _ in range(length)]
                 for _ in range(number)]
    else:
        focus = next(each for each in plain.rules() if each.id == rule)
        plain.explore(plain.weights, focus, seed, number, drawn.append)
    for program in drawn:
        capacity, can = _supported(plain, tap, draw.choice(plain.capacities))
        able = [act for act in program if act.do in can]
        try:
            run = run_program(plain, tap, able, capacity)
        except TargetFailed:
            continue        # a bug of a twin that makes it fail has no log of its own
        (hello, greeting), *said = tap.said
        write = WRITTEN[suite]()
        rows = [row for request, answer in said for row in write(request, answer)]
        yield Logged(run, SETTINGS[suite](hello["settings"], greeting["policy"]), [
            Event(**{"key": "k", "process": "", "phase": "point", "line": at, **row})
            for at, row in enumerate(rows, 1)])


def judge_events(logs: Logs, settings: Mapping[str, int], events: Sequence[Event],
                 **more: Any) -> Notes:
    """The notes of a judge of one key."""
    terms = Terms(settings, **more)
    logs.check(settings, "")
    notes = Notes()
    judge = logs.judge("k", terms, notes, logs.common(terms, notes))
    for event in events:
        judge.take(event)
    judge.end()
    return notes


def outcome(notes: Notes) -> str:
    """The one word for the notes on one key."""
    return ("violated" if notes.findings else "foreign" if notes.foreign else
            "unknown" if notes.unknown_keys else "passed")


def _figures(suite: str, keys: int) -> str:
    """A line: events a second of the judge, false alarms, and the planted bugs that it found."""
    system = SYSTEMS[suite]
    logs: Logs = system.logs
    ids = [rule.id for rule in logs.rules] + [*logs.with_rest]
    alarms = unknown = events = 0
    spent = 0.0
    for number in range(keys):
        for one in programs(suite, reference_of(suite), ids[number % len(ids)], number, 1):
            start = process_time()
            notes = judge_events(logs, one.settings, one.events, drained=True)
            spent += process_time() - start
            events += len(one.events)
            alarms += bool(notes.violations or notes.foreign)
            unknown += bool(notes.unknown)
    same = others = invented = 0
    for name, twin in system.twins.items():
        if twin.rule not in ids or twin.in_long or twin.after:
            continue
        for one in programs(suite, f"zoo:{name}", twin.rule, 3, 15):
            said = one.run.breaches[0].rule.id if one.run.breaches else ""
            seen = next(iter(judge_events(
                logs, one.settings, one.events, drained=True).violations), "")
            same += bool(said) and seen == said
            others += bool(said) and seen != said
            invented += bool(seen) and not said
    return (f"{suite:16}{keys:6}{events:8,}{alarms:8}{unknown:9}{events / spent:10,.0f}"
            f"{same:8}{others:8}{invented:10}")


def main() -> None:
    """Print a line for each suite."""
    print("suite             logs  events  alarms  unknown  events/s    same  others  invented")
    for suite in sorted(WRITTEN):
        print(_figures(suite, 300), flush=True)


if __name__ == "__main__":
    main()
