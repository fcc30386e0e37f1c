"""The port ``kafka.races``: a timer and a purgatory under several threads, step by step.

The harness decides which thread runs, and for how many steps. What a step is, the implementation
says: a line, an instruction, a suspension point; only, the same requests must always do the same.
Nothing here is a time but ``now`` and ``to``, which are told.
"""

from __future__ import annotations

from typing import Final

from ...ports.base import (
    COUNT, INTEGER, NAME, POSITIVE, TRUE, Argument, Kind, Operation, Port, hello, is_word,
)
from ...ports.base import is_count as _is_count
from ..storm_acker.port import list_of

__all__ = ["CALLS", "EVENTS", "PORT"]

CALLS: Final = (
    "watch", "add", "ready", "check", "force", "cancel", "advance", "change", "append", "elect",
    "heartbeat",
)
EVENTS: Final = ("calls", "returns", "fails", "completes", "expires", "runs", "makes wheel")


def _is_call(value: object) -> bool:
    return isinstance(value, dict) and is_word(value.get("call"), CALLS)


def _is_event(value: object) -> bool:
    return (isinstance(value, dict) and is_word(value.get("does"), EVENTS)
            and NAME.accepts(value.get("thread")))


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


CALLS_KIND: Final = Kind('a list of {"call": name, …}', list_of(_is_call))
RAN: Final = Kind(
    '{"events": list, "standing": {"thread", "at", "text", "waits_for", "held_by", "done"}}',
    _is_ran)
REST: Final = Kind('{"events": list, "stuck": list of standings, "size": integer, "keys": count}',
                   _is_rest)

_CALLS: Final = Argument(
    "calls", CALLS_KIND,
    "what the thread calls, one after the other: watch (request, keys, timeout, now; of: none, "
    "group or partition; under: whether the group's lock is held; raises: whether its "
    "onComplete raises, which the caller survives; locked_by: group, if its lock is the group's), "
    "add (task, delay, now), ready "
    "(request), check (key), force (request), cancel (task), advance (to); and of who owns "
    "requests, change and append (request, key), elect, heartbeat")

_OPERATIONS: Final = (
    hello("start a fresh timer with a purgatory, a group and a partition"),
    Operation("perform", REST, "make calls while no thread is under way", (_CALLS,)),
    Operation("spawn", TRUE, "a new thread, which takes no step yet",
              (Argument("thread", NAME, "its name, used once"), _CALLS)),
    Operation("run", RAN, "let a thread take some steps; fewer if it has to wait or is through",
              (Argument("thread", NAME, "its name"), Argument("steps", POSITIVE, "how many"))),
    Operation("settle", REST, "let all threads run, in the order in which they were made, until "
              "each is through or waits for ever; size and keys count only if none is stuck"),
)

PORT: Final = Port(
    name="kafka.races",
    version=1,
    meaning="a timer and a purgatory used by threads whose steps are counted out",
    operations={each.name: each for each in _OPERATIONS},
    settings=(
        Argument("capacity", POSITIVE, "buckets of a wheel that may hold tasks: all but one"),
        Argument("buckets", POSITIVE, "buckets of each wheel; the tick of the first is 1"),
        Argument("purge", COUNT, "the purge interval of the purgatory"),
    ),
    policies={"steps": "threads run only when they are told to"},
)
