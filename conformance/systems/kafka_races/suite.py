"""The suite ``kafka.races``: Kafka's historical races, each in a scene, under chosen schedules.

A program is a schedule: a scene is set up, its threads are spawned, some of them run for a counted
number of steps, and then all of them run to their end. Half of all runs have one switch or two,
since most races need no more; the places of the switches are drawn from the case's seed. A long
program plays one scene after the other on the same timer and purgatory: each is a *round*.
``race_search`` tries them all instead.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ....spec.kafka.observed_races import WHEELS, Call, ObservedRaces
from ....spec.notation.errors import InputError, TargetError
from ....spec.notation.interpreter import Step
from ....spec.notation.rules import Rule
from ...ports.base import ALWAYS, Message, Session, excerpt
from ...suites.lengthy import LONG_REQUESTS, Long
from ...suites.plain import PlainConversation, Seen
from ...suites.suite import Act, Answer, Program, Suite, Watch
from .scenes import (
    SCENES, before_round, calls_in_words, horizon, in_round, round_begun, round_of,
)

__all__ = ["CONSTANTS", "SUITE", "PURGE", "RacesConversation", "Translator", "rest"]

CONSTANTS: Final = {"T": 5, "K": 5}
PURGE: Final = 0
"""The purge interval: every completed request is purged in the next round."""
_NAMES: Final[Mapping[str, int]] = {"r1": 0, "r2": 1, "t1": 2, "t2": 3, "t3": 0, "t4": 1, "t0": 4}
"""Requests and tasks, and their numbers in the machine: a scene has at most four, and the harness
one between two of them."""

_STEPS_MAX: Final = 160
_LENGTHS: Final = (4, 12, 24, 48, _STEPS_MAX)
"""Maximal lengths of a piece of a schedule: the first few steps matter as much as all later ones.
"""
_SWITCHES: Final = (1, 1, 1, 2, 2, 2, 3, 3, 4)
_TIMES: Final = 2
"""Schedules for each requested program; they are cheap."""
_SWEPT: Final = 64
"""``_sweep`` interrupts a thread within so many steps."""
_CALLS: Final[Mapping[str, Call]] = {
    "watch": Call.WATCH, "add": Call.ADD, "ready": Call.READY, "check": Call.CHECK,
    "force": Call.FORCE, "cancel": Call.CANCEL, "advance": Call.ADVANCE, "elect": Call.OTHER,
    "heartbeat": Call.OTHER,
}
_UNSEEN: Final = ("completes", "expires", "runs", "fails", "makes_wheel")
"""Actions that need not happen in some steps of a thread."""
_BY_REQUEST: Final = ("completes", "expires", "runs")


class Translator:
    """Translate a target's reports into steps of the machine, and into words."""

    def __init__(self) -> None:
        self._threads: dict[str, int] = {}
        self._levels: dict[int, int] = {}
        self.round = 0

    def begin(self, number: int) -> None:
        """A round begins: the threads of before have finished."""
        self.round = number
        self._threads.clear()

    def step(self, event: Message) -> Step:
        """The step that an event shows. Raises ``TargetError`` if it names an unknown thing."""
        try:
            return self._step(event)
        except (KeyError, ValueError, TypeError):
            raise TargetError(
                f"the target reports {excerpt(event)}, which names something unknown",
                next_step="Fix the adapter: an event has the names that the calls gave.",
            ) from None

    def _step(self, event: Message) -> Step:
        does = event["does"]
        if does == "makes wheel":
            return "makes_wheel", (("level", _number(self._levels, event["tick"], WHEELS)),)
        thread = ("thread", _number(self._threads, event["thread"], CONSTANTS["T"]))
        if does == "fails":
            return "fails", (thread,)
        name, number = round_of(event.get("request", ""))
        if does in _BY_REQUEST:
            if number < self.round and name in _NAMES:
                return f"{does}_again", (thread,)
            return does, (thread, ("request", _NAMES[name]))
        call = _CALLS[event["call"]]
        if call == Call.ADVANCE and event["to"] >= horizon(self.round):
            call = Call.DRAIN
        request = _NAMES[name] if name else 0
        return does, (thread, ("call", call), ("request", request))


def _number(numbers: dict[Any, int], thing: Any, limit: int) -> int:
    found = numbers.setdefault(thing, len(numbers))
    if found >= limit:
        raise ValueError
    return found


def rest(size: int, keys: int) -> Step:
    """The step that shows the timer's number of entries, and the number of keys with a list."""
    counted = min(max(size, -1), CONSTANTS["K"] + 1) + 1
    return "rests", (("size", counted), ("keys", min(keys, 3)))


def _to_call(request: Message) -> Step:
    """The step in which a thread gets calls to make."""
    return "is_to_call", (("count", len(request["calls"])),)


class RacesConversation(PlainConversation):
    """One session. Acts name their scene, their thread, and a number of steps."""

    def __init__(self, session: Session, capacity: int, items_max: int) -> None:
        super().__init__(session, "kafka.races", _settings(capacity))
        self._translator = Translator()
        self._alive: dict[str, bool] = {}       # threads; true while under way
        self._begun = False
        self._ended = False
        self._is_stuck = False
        self._named: set[str] = set()

    def always(self) -> frozenset[str]:
        """The operations that every target has."""
        return ALWAYS

    # --- requests ------------------------------------------------------------------------

    def request_of(self, act: Act) -> Message | None:
        """The request of an act; None if it makes no sense now."""
        about, number = dict(act.about), self._translator.round
        under_way = any(self._alive.values())
        if act.do == "perform" and about["part"] == "round":
            later = int(about["round"]) > number and not (under_way or self._is_stuck)
            return _performed(before_round(int(about["round"]))) if later else None
        if act.do != "run" and about.get("round", 0) != number and act.do != "settle":
            return None
        if self._ended or (act.do == "settle" and not under_way):
            return None
        if act.do == "settle":
            return {"do": "settle"}
        if act.do == "run":
            if not self._alive.get(str(about["thread"])):
                return None
            return {"do": "run", **about}
        scene = SCENES[str(about["scene"])]
        if act.do == "spawn":
            name = _thread_in(str(about["thread"]), number)
            if name in self._alive or (scene.setup and not self._begun):
                return None
            calls = in_round(scene.threads[str(about["thread"])], number)
            return {"do": "spawn", "thread": name, "calls": _plain(calls)}
        if about["part"] == "setup":
            fits = not self._begun and not self._alive and bool(scene.setup)
            return _performed(in_round(scene.setup, number)) if fits else None
        fits = bool(self._alive) and not under_way
        return _performed(in_round(scene.finish, number)) if fits else None

    def act_for(self, request: Mapping[str, Any]) -> Act | None:
        """The act that makes this request; None if it makes no sense now."""
        act = _act_of(request, self._translator.round)
        if act is None:
            raise InputError(
                f"{excerpt(dict(request))} belongs to no scene of this suite",
                next_step="Use a fixture that this suite has written.")
        return act if self.makes_sense(act) else None

    # --- words ---------------------------------------------------------------------------

    def asked(self, request: Message) -> str:
        """The request in words."""
        if request["do"] == "perform":
            when = "then the harness" if self._alive else "first, the harness"
            return f"{when} {calls_in_words(request['calls'])}"
        if request["do"] == "spawn":
            return f"a thread, {request['thread']}, {calls_in_words(request['calls'])}"
        if request["do"] == "run":
            count = request["steps"]
            return f"{request['thread']} takes {count} step{'s' * (count != 1)}"
        return "all threads run to their end"

    # --- observations --------------------------------------------------------------------

    def possible(self, request: Message) -> Iterator[Answer]:
        """Other answers to the request, for the explanation of a violation."""
        if request["do"] == "spawn":
            return
        yield Answer("nothing is visible", ("stands", ()), instead_of=_UNSEEN)
        yield Answer("a call ends in an error", ("fails", (("thread", 0),)))
        yield Answer("an overflow wheel is made", ("makes_wheel", (("level", 0),)))
        for name in sorted(self._named):
            about = (("thread", min(1, len(self._alive))), ("request", _NAMES[round_of(name)[0]]))
            if name.startswith("r"):
                yield Answer(f"{name} is completed", ("completes", about))
                yield Answer(f"{name} expires", ("expires", about))
            else:
                yield Answer(f"{name} runs", ("runs", about))
        if request["do"] != "run":
            drain = (("thread", 0), ("call", Call.DRAIN), ("request", 0))
            yield Answer("the last advance returns", ("returns", drain))
            check = (("thread", 0), ("call", Call.CHECK), ("request", 0))
            yield Answer("the event returns", ("returns", check))
            yield Answer("a deadlock", ("stuck", ()))
            for size in range(3):
                yield Answer(_at_rest(size, 0), rest(size, 0))
            yield Answer(_at_rest(0, 1), rest(0, 1))

    def seen(self, request: Message, answer: Any) -> Seen:
        """The steps of the observer for an answer, and the answer in words."""
        for call in request.get("calls", ()):
            self._named |= {call[field] for field in ("request", "task") if field in call}
        if request["do"] == "spawn":
            self._alive[request["thread"]] = True
            return Seen((_to_call(request), ("stands", ())), "ready to run")
        steps = tuple(map(self._translator.step, answer["events"]))
        if request["do"] == "perform":
            steps = (_to_call(request), *steps)
        told = [words for event in answer["events"]
                if (words := _event_in_words(event, self._alive))]
        if request["do"] == "run":
            self._alive[request["thread"]] = not answer["standing"]["done"]
            told.append(_standing_in_words(answer["standing"]))
            return Seen(steps or (("stands", ()),), "; ".join(told))
        if request["do"] == "perform":
            self._ended = self._ended or bool(self._alive)
            self._begun = True
        self._alive = dict.fromkeys(self._alive, False)
        if answer["stuck"]:
            self._ended = self._is_stuck = True
            told.append("deadlock: " + "; ".join(map(_standing_in_words, answer["stuck"])))
            return Seen((*steps, ("stuck", ())), "; ".join(told))
        told.append(_at_rest(answer["size"], answer["keys"]))
        steps = (*steps, rest(answer["size"], answer["keys"]))
        if request["do"] == "perform" and (number := round_begun(request["calls"])):
            self._begin(number)
            steps = (*steps, ("begins_anew", ()))
        return Seen(steps, "; ".join(told))

    def _begin(self, number: int) -> None:
        """A round begins: threads, requests and tasks are other ones."""
        self._translator.begin(number)
        self._alive, self._named = {}, set()
        self._begun = self._ended = False


def _thread_in(name: str, number: int) -> str:
    """The name of a thread in a round."""
    return f"{name}.{number}" if number else name


def _performed(calls: Collection[Mapping[str, Any]]) -> Message:
    return {"do": "perform", "calls": _plain(calls)}


def _plain(calls: Collection[Mapping[str, Any]]) -> list[Message]:
    return [dict(call) for call in calls]


def _act_of(request: Mapping[str, Any], number: int) -> Act | None:
    """The act that makes a request in a round, or None."""
    if request["do"] == "settle":
        return Act("settle")
    if request["do"] == "run":
        thread, steps = request.get("thread"), request.get("steps")
        if isinstance(thread, str) and isinstance(steps, int) and 1 <= steps <= _STEPS_MAX:
            return _run(thread, steps)
        return None
    if request["do"] == "perform" and (begun := round_begun(request.get("calls"))):
        return _before(begun)
    for scene in SCENES.values():
        for act in _acts_of(scene.name, number):
            about = dict(act.about)
            thread = None
            if act.do == "spawn":
                calls = scene.threads[str(about["thread"])]
                thread = _thread_in(str(about["thread"]), number)
            else:
                calls = scene.setup if about["part"] == "setup" else scene.finish
            same = act.do == request["do"] and thread == request.get("thread")
            if same and _plain(in_round(calls, number)) == request.get("calls"):
                return act
    return None


def _at_rest(size: int, keys: int) -> str:
    return f"quiescent, {size} in the timer, {keys} key{'s' * (keys != 1)} with a list"


_EVENTS: Final = {
    "completes": "{thread} completes {request}", "expires": "{thread} lets {request} expire",
    "runs": "{thread} runs {request}", "fails": "a call of {thread} ends in {error}",
    "makes wheel": "{thread} makes an overflow wheel of {tick} ms",
}


def _event_in_words(event: Message, threads: Collection[str]) -> str:
    """An event in words; empty for calls and returns."""
    words = _EVENTS.get(event["does"])
    if words is None:
        return ""
    told = {"error": "an error", **event}
    if told["thread"] not in threads:
        told["thread"] = "the harness"
    return words.format_map(told)


def _standing_in_words(standing: Message) -> str:
    if standing["done"]:
        return f"{standing['thread']} is through"
    place = f"{standing['at']}, {standing['text']}" if standing["at"] else "its beginning"
    if not standing["waits_for"]:
        return f"it is at {place}"
    holders = " and ".join(map(str, standing["held_by"])) or "no thread"
    return (f"{standing['thread']} waits at {place}, for {standing['waits_for']}, "
            f"which {holders} has")


# --- schedules -----------------------------------------------------------------------------------

def _run(thread: str, steps: int) -> Act:
    return Act("run", about=(("thread", thread), ("steps", steps)))


def _before(number: int) -> Act:
    return Act("perform", about=(("part", "round"), ("round", number)))


def _acts_of(name: str, number: int = 0) -> Iterator[Act]:
    """The setup of a scene, its threads, and its end; in a round."""
    at = (("round", number),) if number else ()
    yield Act("perform", about=(("scene", name), ("part", "setup"), *at))
    for thread in SCENES[name].threads:
        yield Act("spawn", about=(("scene", name), ("thread", thread), *at))
    yield Act("perform", about=(("scene", name), ("part", "finish"), *at))


_ABOUT: Final[Mapping[str, tuple[str, ...]]] = {
    "KAFKA-P1R": ("completion against expiry",),
    "KAFKA-P1ER": ("completion against expiry",),
    "KAFKA-P3": ("trigger between try and watch", "a heartbeat"),
    "KAFKA-P3I": ("an empty list",),
    "KAFKA-P4R": ("trigger between try and watch", "completion against cascade"),
    "KAFKA-P40": ("two overflows", "two keys"),
    "KAFKA-P7L": ("two keys", "trigger between try and watch", "watching against purge"),
    "KAFKA-P9": ("a group changes", "a member joins", "a partition", "cancel against cascade",
                 "completion against cascade", "added anew against cascade",
                 "watching against purge", "a callback that raises", "two keys"),
    "KAFKA-W1L": ("two in a bucket", "an addition against the last advance"),
    "KAFKA-W1CR": ("cancel against cascade", "added anew against cascade"),
    "KAFKA-W2L": ("cancel against cascade", "added anew against cascade", "four adders"),
    "KAFKA-W10": ("two overflows",),
    "KAFKA-W11": ("two overflows",),
}
"""The scenes in which a violation of a rule is likely; the others show whether it holds everywhere.
"""

_ELSEWHERE: Final = 0.4
"""The fraction of programs from any scene, since a race may violate other rules too."""



@dataclass(frozen=True)
class RacesSuite(Suite):
    """A suite whose programs are schedules."""

    one_by_one = False

    def explore(
        self, can: Collection[str], focus: Rule, seed: int, examples: int,
        attempt: Callable[[Program], None],
    ) -> None:
        """Explore with more schedules than examples: each is cheap, and few of them show a race."""
        draw = random.Random(seed)
        if focus.id in _SWEEPS:
            for name in _ABOUT[focus.id]:
                for program in _sweep(draw, name, _SWEEPS[focus.id]):
                    attempt(program)
        if focus.id in _PESTERED:
            for program in _pestered(_PESTERED[focus.id]):
                attempt(program)
        for number in range(examples * _TIMES):
            about = tuple(SCENES) if draw.random() < _ELSEWHERE else _ABOUT[focus.id]
            attempt(_schedule(draw, about[number % len(about)]))

    def lengthy(self, can: Collection[str], seed: int, size: int) -> tuple[Program, Program]:
        """One scene after the other, each under a schedule of its own."""
        draw, acts = random.Random(f"{self.name} long {seed}"), list[Act]()
        for number in range(1, LONG_REQUESTS):
            acts.append(_before(number))
            acts += _schedule(draw, draw.choice(tuple(SCENES)), number)
            if len(acts) >= LONG_REQUESTS:
                break
        return tuple(acts), ()

    def simpler(self, act: Act) -> Iterator[Act]:
        """Acts for the same thread with fewer steps."""
        about = dict(act.about)
        steps = about.get("steps")
        if isinstance(steps, int) and steps > 1:
            for fewer in dict.fromkeys((1, steps // 2, steps - 1)):
                yield _run(str(about["thread"]), fewer)


_PESTERED: Final[Mapping[str, str]] = {"KAFKA-W2L": "four adders"}
"""Rules, and the scene in which one thread is interrupted by each of the others in turn."""

_ROUND: Final = 6
"""The maximal number of its steps between two interruptions: it may be trying again."""

_SWEEPS: Final = {"KAFKA-P9": 4, "KAFKA-P3I": 2}
"""Rules whose violations have a narrow window, and its minimal width in steps: two threads that
take two locks in different orders are between them for some time.
"""


def _sweep(draw: random.Random, name: str, stride: int) -> Iterator[Program]:
    """Each thread is interrupted once, at places that are `stride` steps apart."""
    setup, *spawns, finish = _acts_of(name)
    for thread in SCENES[name].threads:
        for steps in range(draw.randint(1, stride), _SWEPT, stride):
            # The interrupted thread continues last: so the others run first, as far as they can.
            others = [act for act in spawns if dict(act.about)["thread"] != thread]
            own = [act for act in spawns if dict(act.about)["thread"] == thread]
            draw.shuffle(others)
            yield (setup, *others, *own, _run(thread, steps), Act("settle"), finish)


def _pestered(name: str) -> Iterator[Program]:
    """The first thread is interrupted by the second, soon again by the third, and so on: a thread
    that tries again when others were faster needs as many preemptions as it has tries.
    """
    setup, *spawns, finish = _acts_of(name)
    one, *others = SCENES[name].threads
    for between in range(1, _ROUND + 1):
        for steps in range(1, _SWEPT):
            runs = [_run(one, steps)]
            for other in others:
                runs += [_run(other, _STEPS_MAX), _run(one, between)]
            yield (setup, *spawns, *runs[:-1], Act("settle"), finish)


def _schedule(draw: random.Random, name: str, number: int = 0) -> Program:
    setup, *spawns, finish = _acts_of(name, number)
    threads = [_thread_in(thread, number) for thread in SCENES[name].threads]
    runs = [_run(draw.choice(threads), draw.randint(1, draw.choice(_LENGTHS)))
            for _ in range(draw.choice(_SWITCHES))]
    # They continue in the order in which they were spawned: the thread that was stopped last
    # continues last, otherwise there would have been no switch.
    stopped = dict(runs[-1].about)["thread"]
    draw.shuffle(spawns)
    spawns.sort(key=lambda spawn: _thread_in(
        str(dict(spawn.about)["thread"]), number) == stopped)
    return (setup, *spawns, *runs, Act("settle"), finish)


def _settings(capacity: int) -> Mapping[str, int]:
    return {"capacity": capacity, "buckets": capacity + 1, "purge": PURGE}


def _constants(capacity: int, items_max: int) -> Mapping[str, int]:
    return CONSTANTS


_OPERATIONS: Final = ("perform", "spawn", "run", "settle")

SUITE: Final = RacesSuite(
    name="kafka.races",
    version=5,
    port="kafka.races",
    watches=(Watch(ObservedRaces),),
    weights=dict.fromkeys(_OPERATIONS, 1),
    needs={rule: tuple((name,) for name in _OPERATIONS if name not in ALWAYS)
           for rule in _ABOUT},
    epilogue=(),
    constants=_constants,
    long=Long(),
    converse=RacesConversation,
    capacities=(1,),
    settings=_settings,
    scene="A timer with wheels of {buckets} buckets, the tick 1 ms, and a purgatory. "
          "Threads run one at a time.",
)
