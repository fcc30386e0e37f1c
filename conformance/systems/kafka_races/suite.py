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
from ....spec.notation.labels import counted
from ....spec.notation.rules import Rule
from ...ports.base import ALWAYS, Message, excerpt
from ...suites.lengthy import LONG_REQUESTS, Long
from ...suites.plain import PlainConversation, Seen
from ...suites.says import ANY, Among, Fields, Says, on, over, says, table
from ...suites.says import each as listed
from ...suites.suite import Act, Program, Suite, Watch
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
    entries = min(max(size, -1), CONSTANTS["K"] + 1) + 1
    return "rests", (("size", entries), ("keys", min(keys, 3)))


# ---- the table ----------------------------------------------------------------------------------


def _event(step: Step) -> Message:
    return {"does": step[0], **dict(step[1])}


def _ran(talk: Any, request: Fields, answer: Any) -> Iterator[Message]:
    """The visible events of a thread's steps, or that there are none."""
    yield from [_event(talk.translator.step(event)) for event in answer["events"]] or [
        {"does": "stands"}]


def _came_to_rest(talk: Any, request: Fields, answer: Any) -> Iterator[Message]:
    """The events until all is quiescent, or in a deadlock."""
    for event in answer["events"]:
        yield _event(talk.translator.step(event))
    if answer["stuck"]:
        yield {"does": "stuck"}
        return
    yield _event(rest(answer["size"], answer["keys"]))
    if request["do"] == "perform" and round_begun(request["calls"]):
        yield {"does": "begins_anew"}


def _in_words(talk: Any, request: Fields, answer: Any) -> str:
    """The visible events in words, and where the threads stand then."""
    told = [words for event in answer["events"] if (words := _event_in_words(event, talk.alive))]
    if request["do"] == "run":
        told.append(_standing_in_words(answer["standing"]))
    elif answer["stuck"]:
        told.append("deadlock: " + "; ".join(map(_standing_in_words, answer["stuck"])))
    else:
        told.append(_at_rest(answer["size"], answer["keys"]))
    return "; ".join(told)


def _named(letters: str) -> Among:
    """The requests, or the tasks, that were named so far."""
    def among(talk: Any, request: Fields) -> Iterator[Message]:
        for name in sorted(talk.mentioned):
            if name[0] in letters:
                yield {"thread": min(1, len(talk.alive)), "name": name,
                       "request": _NAMES[round_of(name)[0]]}
    return among


def _just(*those: Message) -> Among:
    return lambda talk, request: those


def _returned(talk: Any, request: Fields) -> Iterator[Message]:
    yield {"thread": 0, "request": 0, "call": Call.DRAIN, "name": "the last advance"}
    yield {"thread": 0, "request": 0, "call": Call.CHECK, "name": "the event"}


def _rests(talk: Any, request: Fields) -> Iterator[Message]:
    for size, keys in ((0, 0), (1, 0), (2, 0), (0, 1)):
        yield {**dict(rest(size, keys)[1]), "words": _at_rest(size, keys)}


_ANYTIME: Final[tuple[Says | tuple[Says, ...], ...]] = (
    says("stands", "stands", "nothing is visible", instead_of=_UNSEEN),
    over(_just({"thread": 0}), says("fails", "fails", "a call ends in an error")),
    over(_just({"level": 0}), says("makes_wheel", "makes_wheel", "an overflow wheel is made")),
    over(_named("r"), says("completes", "completes", "{name} is completed"),
         says("expires", "expires", "{name} expires")),
    over(_named("t"), says("runs", "runs", "{name} runs")),
    *(says(again, again, "") for again in ("completes_again", "expires_again", "runs_again")),
    says("calls", "calls", ""))

_SAYS: Final = table(
    ObservedRaces,
    on("spawn", "a thread, {thread}, {in_words}", says(ANY, "stands", "", "ready to run"),
       tells="is_to_call"),
    on("run", "{thread} takes {counted}",
       listed(*_ANYTIME, says("returns", "returns", ""), reads=_ran, reports=_in_words)),
    *(on(do, words, listed(
        *_ANYTIME, over(_returned, says("returns", "returns", "{name} returns")),
        says("stuck", "stuck", "a deadlock"), over(_rests, says("rests", "rests", "{words}")),
        says("begins_anew", "begins_anew", ""), reads=_came_to_rest, reports=_in_words),
        tells=tells)
      for do, words, tells in (("perform", "{when} {in_words}", "is_to_call"),
                               ("settle", "all threads run to their end", ""))),
)


class RacesConversation(PlainConversation):
    """One session. Acts name their scene, their thread, and a number of steps."""

    says = _SAYS

    def __init__(self, *arguments: Any) -> None:
        # Its alternatives are those of the observers' own constants.
        super().__init__(*arguments[:3])
        self.translator = Translator()
        self.alive: dict[str, bool] = {}       # threads; true while under way
        self._begun = False
        self._ended = False
        self._is_stuck = False
        self.mentioned: set[str] = set()

    # --- requests ------------------------------------------------------------------------

    def request_of(self, act: Act) -> Message | None:
        """The request of an act; None if it makes no sense now."""
        about, number = dict(act.about), self.translator.round
        under_way = any(self.alive.values())
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
            if not self.alive.get(str(about["thread"])):
                return None
            return {"do": "run", **about}
        scene = SCENES[str(about["scene"])]
        if act.do == "spawn":
            name = _thread_in(str(about["thread"]), number)
            if name in self.alive or (scene.setup and not self._begun):
                return None
            calls = in_round(scene.threads[str(about["thread"])], number)
            return {"do": "spawn", "thread": name, "calls": _plain(calls)}
        if about["part"] == "setup":
            fits = not self._begun and not self.alive and bool(scene.setup)
            return _performed(in_round(scene.setup, number)) if fits else None
        fits = bool(self.alive) and not under_way
        return _performed(in_round(scene.finish, number)) if fits else None

    def act_for(self, request: Mapping[str, Any]) -> Act | None:
        """The act that makes this request; None if it makes no sense now."""
        act = _act_of(request, self.translator.round)
        if act is None:
            raise InputError(
                f"{excerpt(dict(request))} belongs to no scene of this suite",
                next_step="Use a fixture that this suite has written.")
        return act if self.makes_sense(act) else None

    # --- for the table -------------------------------------------------------------------

    def about(self, message: Message) -> Fields:
        if "do" not in message:
            return message
        calls, steps = message.get("calls", ()), message.get("steps", 0)
        return {**message, "count": len(calls), "counted": counted(steps, "step"),
                "in_words": calls_in_words(calls) if calls else "",
                "when": "then the harness" if self.alive else "first, the harness"}

    def seen(self, request: Message, answer: Any) -> Seen:
        """See ``PlainConversation``; which threads are under way then is remembered."""
        for call in request.get("calls", ()):
            self.mentioned |= {call[field] for field in ("request", "task") if field in call}
        shown = super().seen(request, answer)
        if request["do"] == "spawn":
            self.alive[request["thread"]] = True
        elif request["do"] == "run":
            self.alive[request["thread"]] = not answer["standing"]["done"]
        else:
            self._ran_to_the_end(request, answer)
        return shown

    def _ran_to_the_end(self, request: Message, answer: Any) -> None:
        if request["do"] == "perform":
            self._ended = self._ended or bool(self.alive)
            self._begun = True
        self.alive = dict.fromkeys(self.alive, False)
        if answer["stuck"]:
            self._ended = self._is_stuck = True
        elif request["do"] == "perform" and (number := round_begun(request["calls"])):
            self._begin(number)

    def _begin(self, number: int) -> None:
        """A round begins: threads, requests and tasks are other ones."""
        self.translator.begin(number)
        self.alive, self.mentioned = {}, set()
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
    """A suite with schedules as programs."""

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
"""Rules with violations in a narrow window, and its minimal width in steps: two threads that
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
    conversation=RacesConversation,
    capacities=(1,),
    settings=_settings,
    scene="A timer with wheels of {buckets} buckets, the tick 1 ms, and a purgatory. "
          "Threads run one at a time.",
)
