"""The scenes of the suite ``kafka.races``: their setup, their threads, and the calls of these.

Each is the smallest in which one of Kafka's races can happen. Calls are those of the port. Times
are such that, with two buckets of 1 ms in each wheel, a task of 3 ms begins in the second wheel and
is cascaded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

__all__ = [
    "HORIZON", "SCENES", "RaceScene", "before_round", "calls_in_words", "horizon", "in_round",
    "round_begun", "round_of"]

HORIZON: Final = 1000
"""An advance to this time passes all deadlines."""

_ROUND: Final = 16
"""Milliseconds of a round of a long program, more than any delay of a scene. It is a multiple of
the ticks of all wheels that a scene makes, so that a scene may begin there as at 0."""

Calls = tuple[Mapping[str, Any], ...]


@dataclass(frozen=True)
class RaceScene:
    """``setup`` is performed first, ``threads`` run concurrently, ``finish`` comes last.

    With ``many`` threads there are too many schedules for a full search with two preemptions.
    """

    name: str
    threads: Mapping[str, Calls]
    setup: Calls = ()
    finish: Calls = ()
    many: bool = False


def watch(request: str, *keys: str, **more: Any) -> Mapping[str, Any]:
    """A request is watched at time 0; its timeout is 2 ms."""
    return {"call": "watch", "request": request, "keys": list(keys), "timeout": 2, "now": 0, **more}


def ready(request: str) -> Mapping[str, Any]:
    """The request becomes ready."""
    return {"call": "ready", "request": request}


def check(key: str) -> Mapping[str, Any]:
    """An event of the key."""
    return {"call": "check", "key": key}


def advance(to: int) -> Mapping[str, Any]:
    """The timer is driven."""
    return {"call": "advance", "to": to}


def add(task: str, delay: int) -> Mapping[str, Any]:
    """A task is added at time 0."""
    return {"call": "add", "task": task, "delay": delay, "now": 0}


def own(call: str, request: str) -> Mapping[str, Any]:
    """A group changes, or a partition is appended to: an event of the key a."""
    return {"call": call, "request": request, "key": "a"}


DRAIN: Final = advance(HORIZON)
SWEEP: Final = (DRAIN, check("a"))

_SCENES: Final = (
    RaceScene(
        "completion against expiry",
        {"completer": ({"call": "force", "request": "r1"},), "driver": (advance(2),)},
        setup=(watch("r1", "a"),), finish=SWEEP),
    RaceScene(
        "trigger between try and watch",
        {"requester": (watch("r1", "a"),), "trigger": (ready("r1"), check("a"))},
        finish=SWEEP),
    RaceScene(
        "two keys",
        {"requester": (watch("r1", "a", "b"),), "trigger": (ready("r1"), check("b"))},
        finish=(*SWEEP, check("b"))),
    RaceScene(
        "cancel against cascade",
        {"driver": (advance(2), advance(3)), "canceller": ({"call": "cancel", "task": "t1"},)},
        setup=(add("t1", 3),), finish=(DRAIN,)),
    RaceScene(
        "completion against cascade",
        {"driver": (advance(2), advance(3)),
         "completer": ({"call": "force", "request": "r1"},),
         "event": (check("a"),)},
        setup=(watch("r1", "a", timeout=3), watch("r2", "a", timeout=3), ready("r2")),
        finish=SWEEP),
    RaceScene(
        "added anew against cascade",
        {"driver": (advance(2), advance(3)), "adder": (add("t2", 3),),
         "canceller": ({"call": "cancel", "task": "t1"},)},
        setup=(add("t1", 3),), finish=(DRAIN,)),
    RaceScene(
        "watching against purge",
        {"driver": (advance(2),), "requester": (watch("r2", "a", "b"),),
         "event": (ready("r2"), check("b"))},
        setup=(watch("r1", "a", "b"),), finish=(*SWEEP, check("b"))),
    RaceScene(
        "a callback that raises",
        {"event": (ready("r1"), ready("r2"), check("a")), "heart": ({"call": "heartbeat"},)},
        setup=(watch("r1", "a", locked_by="group", raises=True),
               watch("r2", "a", locked_by="group")),
        finish=SWEEP),
    RaceScene(
        "two overflows",
        {"adder": (add("t1", 3),), "other adder": (add("t2", 3),)},
        finish=(DRAIN,)),
    RaceScene(
        "two in a bucket",
        {"adder": (add("t1", 1),), "other adder": (add("t2", 1),)},
        finish=(DRAIN,)),
    RaceScene(
        "an addition against the last advance",
        {"driver": (DRAIN,), "adder": (add("t2", 3),)},
        setup=(add("t1", 3),), finish=(check("a"),)),
    RaceScene(
        "four adders",
        {name: (add(f"t{number}", 2 ** number - 1),)
         for number, name in enumerate(("adder", "second", "third", "fourth"), 1)},
        finish=(DRAIN,), many=True),
    RaceScene(
        "an empty list",
        {"sweeper": (check("a"),), "other sweeper": (check("a"),),
         "requester": (watch("r2", "a"),)},
        setup=(watch("r1", "a"), ready("r1")), finish=(ready("r2"), check("a"))),
    RaceScene(
        "a group changes",
        {"event": (check("a"),), "member": (own("change", "r1"),)},
        setup=(watch("r1", "a", of="group"),), finish=SWEEP),
    RaceScene(
        "a member joins",
        {"event": (check("a"),), "member": (watch("r2", "a", of="group", under=True),)},
        setup=(watch("r1", "a", of="group"),), finish=SWEEP),
    RaceScene(
        "a heartbeat",
        {"heart": ({"call": "heartbeat"},), "trigger": (ready("r1"), check("a"))},
        setup=(watch("r1", "a", locked_by="group"),), finish=SWEEP),
    RaceScene(
        "a partition",
        {"append": (own("append", "r1"),), "fetch": (check("a"),),
         "controller": ({"call": "elect"},)},
        setup=(watch("r1", "a", of="partition"),), finish=SWEEP),
)

SCENES: Final[Mapping[str, RaceScene]] = {scene.name: scene for scene in _SCENES}


def in_round(calls: Calls, number: int) -> Calls:
    """The calls of a scene that is played as round ``number`` of a long program, from 0 on: with
    names of its own, and later; as it is for 0."""
    return tuple(_in_round(call, number) for call in calls) if number else calls


def _in_round(call: Mapping[str, Any], number: int) -> Mapping[str, Any]:
    found = dict(call)
    for name in ("request", "task"):
        if name in call:
            found[name] = f"{call[name]}.{number}"
    for name in ("now", "to"):
        if name in call:
            found[name] = min(call[name], _ROUND) + number * _ROUND
    return found


def before_round(number: int) -> Calls:
    """The calls of the harness before a round: no request and no task of earlier ones is left. A
    task of its own runs when the round begins, as the clocks of wheels move only with tasks."""
    filler = {"call": "add", "task": f"t0.{number}", "delay": _ROUND,
              "now": (number - 1) * _ROUND}
    return filler, advance(number * _ROUND), check("b"), check("a")


def round_begun(calls: object) -> int:
    """The round before which the harness makes these calls; 0 if it is none."""
    try:
        number = calls[1]["to"] // _ROUND       # type: ignore[index]
    except (TypeError, KeyError, IndexError):
        return 0
    return number if number > 0 and calls == [*map(dict, before_round(number))] else 0


def horizon(number: int) -> int:
    """The time to which an advance passes all deadlines of a round."""
    return (number + 1) * _ROUND if number else HORIZON


def round_of(name: object) -> tuple[str, int]:
    """The name that a scene gives to a request or a task, and the round. Raises ``ValueError``."""
    plain, _, number = str(name).partition(".")
    return plain, int(number or 0)


_WORDS: Final = {
    "watch": "watches {request} for {keys}", "add": "adds {task} for {delay} ms",
    "ready": "makes {request} ready", "check": "reports an event of {key}",
    "force": "completes {request} by force", "cancel": "cancels {task}",
    "advance": "drives the timer to {to} ms", "change": "changes the group: {request} is ready",
    "append": "appends to the partition: {request} is ready", "elect": "elects another leader",
    "heartbeat": "sends a heartbeat to the group",
}


def calls_in_words(calls: Calls | list[Mapping[str, Any]]) -> str:
    """The calls in words, for people."""
    return ", then ".join(_call_in_words(call) for call in calls)


def _call_in_words(call: Mapping[str, Any]) -> str:
    fields = {name: " and ".join(map(str, value)) if isinstance(value, list) else value
              for name, value in call.items()}
    words = _WORDS[call["call"]].format_map(fields)
    if call.get("of"):
        words += f" as the {call['of']}'s"
    if call.get("locked_by") or call.get("under"):
        words += ", under the group's lock" if call.get("under") else ", with the group's lock"
    if call.get("raises"):
        words += ", and raises when it is completed"
    return words
