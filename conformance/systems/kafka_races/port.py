"""The port ``kafka.races``: a timer and a purgatory under several threads, step by step.

The harness decides which thread runs, and for how many steps. The implementation defines a step: a
line, an instruction, a suspension point; but the same requests must always have the same effect.
The only times are ``now`` and ``to``, which are given.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ...ports.base import (
    COUNT, INTEGER, NAME, POSITIVE, TRUE, Argument, Kind, Operation, Port, Vocabulary, hello,
    is_word, list_of, promised,
)
from ...ports.base import is_count as _is_count

__all__ = ["CALLS", "EVENTS", "PORT"]

CALLS: Final[Mapping[str, str]] = {
    "watch": "a request is created and watched, with `request`, `keys`, `timeout` and `now`; it "
             "may have `of`, `under`, `raises` and `locked_by`",
    "add": "a task is added to the timer, with `task`, `delay` and `now`",
    "ready": "a `request` becomes ready",
    "check": "an event of a `key`: its requests are tried",
    "force": "a `request` is completed",
    "cancel": "a `task` is cancelled",
    "advance": "the timer is driven up to the time `to`, and the purgatory purges",
    "change": "the group changes: `request` becomes ready, and then `key` is checked",
    "append": "something is appended to the partition: the same, for the partition",
    "elect": "the partition gets another leader",
    "heartbeat": "the group gets a heartbeat of a member",
}
EVENTS: Final[Mapping[str, str]] = {
    "calls": "the thread begins a call",
    "returns": "the call has returned",
    "fails": "the call has ended with an error",
    "completes": "the thread is in onComplete of a request",
    "expires": "the thread is in onExpiration of a request",
    "runs": "the thread runs a task, or a request that has timed out",
    "makes wheel": "the thread makes an overflow wheel",
}


def _is_call(value: object) -> bool:
    return isinstance(value, dict) and is_word(value.get("call"), CALLS)


def _is_event(value: object) -> bool:
    return (isinstance(value, dict) and is_word(value.get("does"), EVENTS)
            and NAME.accepts(value.get("thread")) and ("call" not in value or _is_call(value)))


def _is_standing(value: object) -> bool:
    return (isinstance(value, dict) and NAME.accepts(value.get("thread"))
            and all(isinstance(value.get(field), str) for field in ("at", "text", "waits_for"))
            and list_of(lambda each: isinstance(each, str))(value.get("held_by"))
            and isinstance(value.get("done"), bool))


def _is_ran(value: object) -> bool:
    return (isinstance(value, dict) and list_of(_is_event)(value.get("events"))
            and _is_standing(value.get("standing")))


def _is_rest(value: object) -> bool:
    return (isinstance(value, dict) and list_of(_is_event)(value.get("events"))
            and list_of(_is_standing)(value.get("stuck"))
            and INTEGER.accepts(value.get("size")) and _is_count(value.get("keys")))


_EVENT: Final = Vocabulary("an event", {
    "thread": "the name of the thread in which it happens; a text of the adapter's own for a call "
              "of `perform`",
    "does": "what happens",
    "call": "of calls and returns: which call",
    "request": "the request, or the task, that it is about; absent for check and advance",
    "key": "of a check: the key",
    "to": "of an advance: the time",
    "completed": "where a check returns: the number of requests that it completed",
    "tick": "of makes wheel: its tick in milliseconds",
    "error": "of fails: a text, for people",
})
_DOES: Final = Vocabulary("`does`", EVENTS)
_STANDING: Final = Vocabulary("the position of a thread", {
    "thread": "its name", "at": "a text: the next step, as a file and a line; may be empty",
    "text": "a text: that line; may be empty",
    "waits_for": "a text: the lock that it waits for; empty: none",
    "held_by": "a list of texts: the threads that hold that lock",
    "done": "true or false: it has finished",
})
CALLS_KIND: Final = Kind('a list of {"call": name, …}', list_of(_is_call), (
    Vocabulary("a call", {
        "call": "which one",
        "request": "the name of a request", "task": "the name of a task",
        "keys": "a list of keys, each a text", "key": "a key", "timeout": "milliseconds",
        "delay": "milliseconds", "now": "the time, in milliseconds", "to": "a time",
        "of": "the owner of the request: none, group or partition; absent: none",
        "under": "`group`: the lock of the group is held meanwhile; absent: none is",
        "raises": "true: its onComplete raises, which the caller survives; absent: it does not",
        "locked_by": "`group`: its lock is the group's; absent: it has its own"}),
    Vocabulary("`call`", CALLS)))
RAN: Final = Kind(
    '{"events": list, "standing": {"thread", "at", "text", "waits_for", "held_by", "done"}}',
    _is_ran, (
        Vocabulary("the answer to `run`", {
            "events": "a list: the events since the last answer, in order",
            "standing": "an object: the position of the thread"}),
        _EVENT, _DOES, _STANDING))
REST: Final = Kind('{"events": list, "stuck": list of standings, "size": integer, "keys": count}',
                   _is_rest, (
        Vocabulary("the answer to `perform` and `settle`", {
            "events": "a list: the events since the last answer, in order",
            "stuck": "a list: the position of each thread that waits for a lock forever",
            "size": "an integer: the number of entries that the timer counts",
            "keys": "an integer from 0 up: the number of keys with a watcher list"}),
        _EVENT, _DOES, _STANDING))

_CALLS: Final = Argument(
    "calls", CALLS_KIND,
    "the calls of the thread, one after the other: watch (request, keys, timeout, now; of: none, "
    "group or partition; under: the group's lock is held; raises: its onComplete raises, which the "
    "caller survives; locked_by: group, if its lock is the group's), add (task, delay, now), ready "
    "(request), check (key), force (request), cancel (task), advance (to); and of owners of "
    "requests, change and append (request, key), elect, heartbeat")

_OPERATIONS: Final = (
    hello("start a fresh timer with a purgatory, a group and a partition"),
    Operation("perform", REST, "make calls while no thread is under way", (_CALLS,)),
    Operation("spawn", TRUE, "a new thread, which takes no step yet",
              (Argument("thread", NAME, "its name, used once"), _CALLS)),
    Operation("run", RAN, "let a thread take some steps; fewer if it has to wait or has finished",
              (Argument("thread", NAME, "its name"), Argument("steps", POSITIVE, "how many"))),
    Operation("settle", REST, "let all threads run, in the order of their creation, until each has "
              "finished or waits forever; size and keys count only if `stuck` is empty",
              optional=False),
)

_PROMISES: Final = {
    "perform": {"Every call returns.": "KAFKA-P40"},
    "spawn": {
        "A task that was added runs, unless it is cancelled.": "KAFKA-W1L",
        "A ready request is completed when requester and trigger have finished.": "KAFKA-P3",
        "A check finds every request on the list that its key has in the map.": "KAFKA-P3I",
    },
    "settle": {
        "Every call that a thread was to make has returned by then.": "KAFKA-P40",
        "All threads end: none waits for another in a cycle.": "KAFKA-P9",
        "A key with an empty list is removed.": "KAFKA-P7L",
    },
}
"""The promises of each operation, and the rules of progress that judge them."""

PORT: Final = Port(
    name="kafka.races",
    version=1,
    meaning="a timer and a purgatory used by threads with counted steps",
    operations=promised(_OPERATIONS, _PROMISES),
    settings=(
        Argument("capacity", POSITIVE, "buckets of a wheel that may hold tasks: all but one"),
        Argument("buckets", POSITIVE, "buckets of each wheel; the tick of the first is 1"),
        Argument("purge", COUNT, "the purge interval of the purgatory"),
    ),
    policies={"steps": "threads run only when the harness lets them"},
)
