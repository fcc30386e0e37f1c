"""The suite ``kafka.purgatory``: requests, events, force, time and cancelling, in any order."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Final

from ....spec.kafka.observed_purgatory import PERIODS, TIMEOUTS, Callback, ObservedPurgatory
from ....spec.notation.interpreter import Step
from ....spec.notation.rules import Rule
from ...ports.base import Message
from ...suites.lengthy import Long, grown
from ...suites.plain import PlainConversation, Seen
from ...suites.says import Among, Fields, On, Part, Says, each, on, over, says, table
from ...suites.suite import Act, Answer, Exchange, Fuller, Program, Suite, Watch
from ...suites.values import KEYS as KEY_STYLES
from ...suites.values import Payloads, in_words
from .names import KEY_SETS, KEYS, Names, told_by
from .port import CALLBACKS

__all__ = [
    "SUITE", "PurgatoryConversation", "meeting",
]

REQUESTS_MAX: Final = 5
REQUESTS_OF_LONG: Final = 60

_TOGETHER: Final = 12
_EVERY: Final = 240
"""For every so many requests, a long program makes so many requests of the purgatory, as close
together as it likes: enough for a list that is longer than those of short programs."""

_NUMBER_OF_KEYS: Final = {(0, 1): len(KEYS), (0,): 0, (1,): 1}
_TIMEOUTS: Final = (0, 2, 1)
"""Places in ``TIMEOUTS`` of the requests' timeouts, in turn, unless the pick of a request exceeds
its keys: then the rest is the place.
"""

_COUNTS: Final = {
    "watched": "listed", "delayed": "delayed", "estimate": "estimated", "keys": "keyed",
}
"""The action of the observer for each count."""

_TRIES_MAX: Final = 4
_PICKS: Final = 64
_ODD: Final = ("again", "disordered", "stray")
"""Steps that no rule allows; without them, the call would show another answer."""
Requests = Sequence[int]


# ---- the table ----------------------------------------------------------------------------------


def _read(talk: Any, request: Fields, answer: Any) -> Iterator[Message]:
    """The steps of an answer, in the order in which the observer judges them."""
    talk.told_last = talk.shown(answer)
    yield from ({"does": name, **dict(about)} for name, about in talk.told_last.steps)


def _reported(talk: Any, request: Fields, answer: Any) -> str:
    words: str = talk.told_last.words
    return words


def _shows(*entries: Says | tuple[Says, ...]) -> Part:
    """An answer: it shows one of these entries, or one that no answer should show."""
    return each(*entries, *(says(does, does, "") for does in (
        "again", "disordered", "raises", "reaped", "become_ready")),
        reads=_read, reports=_reported)


def _counted(talk: Any, request: Fields) -> Iterator[Message]:
    yield from ({"count": count} for count in range(talk.highest(request["do"]) + 2))


def _counted_exactly(talk: Any, request: Fields) -> Iterator[Message]:
    if talk.is_exact(request["do"]):
        yield from _counted(talk, request)


def _of_one(talk: Any, request: Fields) -> Iterator[Message]:
    yield from talk.of_one()


def _of_others(talk: Any, request: Fields) -> Iterator[Message]:
    yield from talk.others()


def _of_some(talk: Any, request: Fields) -> Iterator[Message]:
    yield from talk.of_some()


def _just(*those: Message) -> Among:
    return lambda talk, request: those


_UNHEARD: Final = over(_just({"arrived": 0}), says(
    "told_of_error", "told_of_error", "the caller does not get the error"))
_STRAY: Final = over(_of_others, says("stray", "stray", "{name} is completed"))


def _count(do: str) -> On:
    """A count, and for the entries of the lists the one that follows from the calls."""
    entries = over(_counted, says(_COUNTS[do], _COUNTS[do], "{count}"))
    exactly = over(_counted_exactly, says("listed_exactly", "listed_exactly", "{count}"))
    return on(do, do, _shows(entries, exactly) if do == "watched" else _shows(entries))


_SAYS: Final = table(
    ObservedPurgatory,
    on("ready", "{request} is ready", _shows()),
    on("soon", "{request} will be ready after its first try", _shows()),
    on("fail", "{request} will raise when it is called to {call}", _shows()),
    on("watch", "{request} waits for an event of {all_keys}, or {timeout} ms", _shows(
        over(_of_one, says("made", "made", "{told}")), _STRAY, _UNHEARD)),
    on("force", "force {request}", _shows(
        over(_of_one, says("forced", "forced", "{told}")), _STRAY, _UNHEARD)),
    on("check", "an event of {key}", _shows(
        over(_of_some, says("checked", "checked", "{told}")),
        says("stray", "stray", ""), _UNHEARD)),
    on("cancel", "cancel {key}", _shows(
        over(_of_some, says("cancelled", "cancelled", "{told}")), says("stray", "stray", ""))),
    on("advance", "{by} ms go by", _shows(
        over(_of_some, says("advanced", "advanced", "{told}")), says("stray", "stray", ""))),
    on("moved", "moved", _shows(over(
        _just({"answer": 0, "told": "false"}, {"answer": 1, "told": "true"}),
        says("told_of_round", "told_of_round", "{told}")))),
    *map(_count, _COUNTS),
)


# ---- the conversation ---------------------------------------------------------------------------


class PurgatoryConversation(PlainConversation):
    """One session with a purgatory. The n-th request is called ``rn``, and keys ``k1`` and ``k2``,
    unless the program says otherwise.

    ``pick`` chooses the keys of a request, a key, a period, or one of the requests.
    """

    says = _SAYS

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._most = self.constants["K"]
        self._names = Names()
        self._said: Message | None = None
        self._asked = 0
        self._made = 0
        self._ready: set[int] = set()
        self._soon: set[int] = set()
        self._ended: set[int] = set()
        self._planned: set[tuple[int, str]] = set()     # callbacks that will raise
        self._rounds = 0
        self.told_last = Seen((), "")

    # --- requests ------------------------------------------------------------------------

    def request_of(self, act: Act) -> Message | None:
        """The request of an act; a request that is under way stays the same."""
        return self._said or self._request_of(act)

    def _request_of(self, act: Act) -> Message | None:
        do, pick, new = act.do, act.pick, self._made
        if do == "watch":
            if new >= self._room:
                return None
            return {"do": do, "request": self._names.request(new, act),
                    "keys": [self._names.key(key, act) for key in self._names.of_keys(act)],
                    "timeout": TIMEOUTS[self._timeout(pick // KEY_SETS)]}
        if do == "fail":
            return self._failure(act)
        if do == "moved" and not self._rounds:
            return None
        if do in ("ready", "soon", "force"):
            return self._on_one(act)
        if do in ("check", "cancel"):
            key, = self._names.of_keys(act)
            return {"do": do, "key": self._names.key(key, act)}
        if do == "advance":
            return {"do": do, "by": PERIODS[pick % len(PERIODS)]}
        return {"do": do}

    @property
    def _room(self) -> int:
        """The number of requests that there may be now."""
        return min(self._most, _TOGETHER * (1 + self._asked // _EVERY))

    def _timeout(self, chosen: int) -> int:
        by_turns = _TIMEOUTS[self._made % len(_TIMEOUTS)]
        return (chosen - 1) % len(TIMEOUTS) if chosen else by_turns

    def _failure(self, act: Act) -> Message | None:
        """A failure of a waiting request's try, or of a callback of that request or the next one.
        """
        waiting = [each for each in range(self._made) if each not in self._ended]
        coming = [self._made] if self._made < self._most else []
        plans = [(each, call) for call in CALLBACKS
                 for each in (waiting if call == "try" else waiting + coming)
                 if (each, call) not in self._planned]
        if not plans:
            return None
        request, call = plans[act.pick % len(plans)]
        return {"do": "fail", "request": self._names.request(request, act), "call": call}

    def _on_one(self, act: Act) -> Message | None:
        waiting = [each for each in range(self._made) if each not in self._ended]
        coming = [self._made] if self._made < self._most else []
        those = {
            "force": list(range(self._made)),
            "ready": [each for each in waiting + coming if each not in self._ready],
            "soon": [each for each in coming if each not in self._ready | self._soon],
        }[act.do]
        return {"do": act.do, "request": self._names.request(
            those[act.pick % len(those)], act)} if those else None

    def say(self, act: Act) -> Exchange:
        """Make the request of an act; its names are assigned now."""
        request = self._said = self.request_of(act)
        assert request is not None, "an act is said only where it makes sense"
        try:
            self._names.said(request, self._names.of_keys(act), self._made)
            return super().say(act)
        finally:
            self._said = None

    def act_for(self, request: Mapping[str, Any]) -> Act | None:
        """The act that makes this request; things without a name may get any name."""
        plain = super().act_for(request)
        told = (Act(request["do"], pick, about) for about in told_by(dict(request))
                for pick in range(_PICKS))
        return plain or next((act for act in told if self.request_of(act) == request), None)

    def about(self, message: Message) -> Fields:
        if "do" not in message:
            return message
        told = {str(name): in_words(message[name]) for name in ("request", "key")
                if name in message}
        return {**message, **told, "all_keys": " or ".join(map(in_words, message.get("keys", ())))}

    # --- answers -------------------------------------------------------------------------

    def possible(self, request: Message) -> Iterator[Answer]:
        """Other answers to the request.

        An answer shows steps of several kinds, one after the other; each replaces one of its own
        kind, or one that should not occur at all.
        """
        reaped: tuple[Step, ...] = (("reaped", ()),) if self._reaps(request) else ()
        for answer in super().possible(request):
            name, told = answer.step
            exact: tuple[Step, ...] = ()
            if name == "listed" and self.is_exact("watched"):
                exact = (("listed_exactly", told),)
            odd = () if name == "told_of_error" else _ODD
            yield answer._replace(then=(*exact, *reaped), instead_of=(name, *odd))

    def _reaps(self, request: Message) -> bool:
        return request["do"] == "advance" and "estimate" in self.can

    def of_one(self) -> Iterator[Message]:
        """The ways in which the call for one request can end."""
        request = self.request
        number = self._names.number(request["request"])
        for done, expired, answer in product((0, 1), repeat=3):
            calls = [("complete", number)] * done + [("expire", number)] * expired
            yield {**dict(self._about_one(request, 1, done, expired, answer)[1]),
                   "told": self._words_of(calls, bool(answer))}
        if request["do"] == "watch":
            yield {**dict(self._about_one(request, 3, 0, 0, 0)[1]),
                   "told": "it is tried three times"}

    def others(self) -> Iterator[Message]:
        """The requests that it is not about."""
        number = self._names.number(self.request["request"])
        yield from ({"request": other, "name": self._called(other)}
                    for other in range(self._made) if other != number)

    def of_some(self) -> Iterator[Message]:
        """The requests that a call for several can complete, or let expire."""
        request = self.request
        everybody, is_check = tuple(range(self._made)), request["do"] == "check"
        for those in dict.fromkeys([(), *((one,) for one in everybody), everybody]):
            for expired in dict.fromkeys(((), those)) if request["do"] == "advance" else [()]:
                calls = [(what, each) for each in those for what in ("complete", "expire")
                         if what == "complete" or expired]
                for count in (len(those), len(those) + 1) if is_check else (0,):
                    yield {**dict(self._about_some(request, those, expired, count)[1]),
                           "told": self._words_of(calls, count if is_check else True)}

    def shown(self, answer: Any) -> Seen:
        """The steps of the observer for an answer, and the answer in words."""
        request = self.request
        do = str(request["do"])
        self._asked += 1
        if do in _COUNTS:
            return self._counted(do, answer)
        if do in ("ready", "soon"):
            return self._prepared(do, self._names.number(request["request"]))
        if do == "fail":
            self._planned.add((self._names.number(request["request"]), request["call"]))
            return Seen((), "done")
        if do == "moved":
            return Seen((("told_of_round", (("answer", int(answer)),)),), _FLAGS[int(answer)])
        return self._reported(request, answer)

    def _counted(self, do: str, count: int) -> Seen:
        told = (("count", min(count, self.highest(do) + 1)),)
        exact: tuple[Step, ...] = (("listed_exactly", told),) if self.is_exact(do) else ()
        return Seen(((_COUNTS[do], told), *exact), str(count))

    def highest(self, do: str) -> int:
        """The largest value of a count; larger values are reported as one more."""
        return {"delayed": self._most, "keys": len(KEYS)}.get(do, len(KEYS) * self._most)

    def is_exact(self, do: str) -> bool:
        """True if the contents of the lists follow from the calls."""
        return do == "watched" and "estimate" in self.can

    def _prepared(self, do: str, number: int) -> Seen:
        (self._ready if do == "ready" else self._soon).add(number)
        steps = (("become_ready", (("request", number),)),) if do == "ready" else ()
        return Seen(steps, "done")

    def _reported(self, request: Message, report: Message) -> Seen:
        """The steps of the observer that a report of calls shows, in the order in which it
        judges them: errors, calls out of their order or about other requests, the answer, and
        what the reaper did."""
        calls = [(each["call"], number) for each in report["calls"]
                 if (number := self._names.number(each["request"])) >= 0]
        done = [number for call, number in calls if call == "complete"]
        expired = [number for call, number in calls if call == "expire"]
        erred, raised = list(self._errors(calls)), bool(report.get("raised"))
        words = self._words_of(calls, None if raised else report["answer"])
        about_one = request["do"] in ("watch", "force")
        own = self._names.number(request["request"]) if about_one else None
        steps = [*erred, *_odd(calls)]
        if request["do"] != "advance":
            steps += [("disordered", (("request", each),)) for each in expired if each != own]
        if about_one:
            steps += [("stray", (("request", each),)) for each in done if each != own]
            tries = sum(call == ("try", own) for call in calls)
            # An error replaces the answer, which is then taken as if there had been none.
            answer = own in done if raised else report["answer"]
            steps.append(self._about_one(request, tries, own in done, own in expired, answer))
        else:
            answer = len(set(done)) if raised else report["answer"]
            steps.append(self._about_some(request, done, expired, answer))
        if erred and request["do"] in _CALLED:
            steps.append(("told_of_error", (("arrived", int(raised)),)))
        self._rounds += request["do"] == "advance"
        if self._reaps(request):
            steps.append(("reaped", ()))
        if request["do"] == "watch":
            self._ready.update(self._soon & {self._made})
            self._made += 1
        self._ended.update(done)
        return Seen(tuple(steps), words)

    def _errors(self, calls: Sequence[tuple[str, int]]) -> Iterator[Step]:
        """The steps for exceptions: each belongs to the last call of its request."""
        last: dict[int, str] = {}
        for call, number in calls:
            if call != "raise":
                last[number] = call
            elif number in last:
                self._planned.discard((number, last[number]))
                yield "raises", (
                    ("request", number), ("callback", Callback[last[number].upper()]))

    def _about_one(
        self, request: Message, tries: int, done: int, expired: int, answer: int
    ) -> Step:
        number = self._names.number(request["request"])
        outcome = (("completed", int(done)), ("expired", int(expired)), ("answer", int(answer)))
        if request["do"] == "force":
            return "forced", (("request", number), *outcome)
        meanwhile = number in self._soon and number not in self._ready
        keys = tuple(map(self._names.number_of_key, request["keys"]))
        return "made", (
            ("request", number), ("keys", _NUMBER_OF_KEYS[keys]),
            ("timeout", TIMEOUTS.index(request["timeout"])), ("meanwhile", int(meanwhile)),
            ("tries", min(tries, _TRIES_MAX)), *outcome)


    def _about_some(
        self, request: Message, done: Requests, expired: Requests, answer: int
    ) -> Step:
        those = ("those", _set_of(done))
        if request["do"] == "advance":
            return "advanced", (("by", PERIODS.index(request["by"])), those,
                                ("expired", _set_of(expired)))
        key = ("key", self._names.number_of_key(request["key"]))
        if request["do"] == "cancel":
            return "cancelled", (key, those)
        return "checked", (key, those, ("count", min(answer, REQUESTS_OF_LONG + 1)))

    def _called(self, number: int) -> str:
        return in_words(self._names.request(number, Act("")))

    def _words_of(self, calls: Sequence[tuple[str, int]], answer: object) -> str:
        """The callbacks in their order, which some rules are about."""
        told = [f"{self._called(each)} {_WORDS[what]}" for what, each in calls if what in _WORDS]
        if answer is None:
            return ", ".join([*told, "the caller gets the error"])
        if isinstance(answer, bool):
            return ", ".join(told) or ("true" if answer else "nothing is completed")
        return ", ".join([*told, f"answer {answer}"])


def _how_many(pick: int) -> int:
    """The number of names that a request may need: its own, and those of its keys."""
    return 1 + len(KEYS)


def _odd(calls: Sequence[tuple[str, int]]) -> Iterator[Step]:
    """Steps that no call should show: a second completion, or an expiry before completion, or
    twice.
    """
    before: Counter[tuple[str, int]] = Counter()
    for call, number in calls:
        if call == "complete" and before[call, number]:
            yield "again", (("request", number),)
        if call == "expire" and (before[call, number] or not before["complete", number]):
            yield "disordered", (("request", number),)
        before[call, number] += 1


def _set_of(requests: Requests) -> int:
    return sum(1 << each for each in set(requests))


_WORDS: Final = {"complete": "is completed", "expire": "expires", "raise": "raises"}
_FLAGS: Final = ("false", "true")
_CALLED: Final = ("watch", "force", "check")
"""The operations that give the error to their caller."""


def _constants(capacity: int, items_max: int) -> Mapping[str, int]:
    most = _requests(items_max)
    return {"K": most, "J": len(KEYS), "Q": capacity, "S": 1 << most}


def _requests(items_max: int) -> int:
    return grown(REQUESTS_MAX, items_max, REQUESTS_OF_LONG)


# --- programs in which two buckets expire together ---------------------------------------

def meeting(draw: random.Random) -> Program:
    """A bucket of the third wheel expires together with one of the lowest, of 20 buckets and 1 ms:
    the first has a request for 20 ms later, the second one that is due. See ``timer.meeting``.
    """
    return (
        _watch(draw, 420), _watch(draw, 390), _advance(392), _watch(draw, 8), _advance(8),
        _advance(42),
    )


def _watch(draw: random.Random, timeout: int) -> Act:
    place = TIMEOUTS.index(timeout) + 1
    return Act("watch", place * KEY_SETS + draw.randrange(KEY_SETS))


def _advance(period: int) -> Act:
    return Act("advance", PERIODS.index(period))


@dataclass(frozen=True)
class PurgatorySuite(Suite):
    """A suite with some constructed programs, for situations that are rare by chance."""

    def explore(
        self, can: Collection[str], focus: Rule, seed: int, examples: int,
        attempt: Callable[[Program], None],
    ) -> None:
        """Explore, with some constructed programs for the rules in ``_BUILT``."""
        built = min(2, examples // 4) if focus.id in _BUILT else 0
        super().explore(can, focus, seed, examples - built, attempt)
        epilogue = tuple(act for act in self.epilogue if act.do in can)
        for number in range(built):
            attempt(meeting(random.Random(f"{seed} {number}")) + epilogue)


def _waiting(*timeouts: int) -> tuple[int, ...]:
    """Picks of requests with these timeouts, for any keys."""
    return tuple((TIMEOUTS.index(timeout) + 1) * KEY_SETS + keys
                 for timeout in timeouts for keys in range(KEY_SETS))


_WAITING_LONG: Final = _waiting(45, 390)
"""Picks of requests that wait so long that others join them on their lists."""

_ENDS: Final = _waiting(0, 2**16 + 3, 2**31 + 3)
"""Picks of requests with a timeout at the end of some numbers."""


def _one_of(do: str, picks: Iterable[int]) -> tuple[Act, ...]:
    return tuple(Act(do, pick) for pick in picks)


_SHORT: Final = (_advance(8), _advance(42))
_TIMES: Final = {
    "KAFKA-P20": ((_one_of("watch", _waiting(2**16 + 3, 2**31 + 3)), _SHORT),),
    "KAFKA-P2L": ((_one_of("watch", _waiting(0)), _SHORT),
                  (_one_of("watch", _waiting(5)), _one_of("watch", _waiting(5)), _SHORT),
                  (_one_of("watch", _ENDS), (_advance(2**31 + 7),))),
}
"""Courses of events with timeouts that are very long, none at all, or equal."""

_BUILT: Final = ("KAFKA-P2L", "KAFKA-P20")
SUITE: Final = PurgatorySuite(
    name="kafka.purgatory",
    version=7,
    port="kafka.purgatory",
    watches=(Watch(ObservedPurgatory),),
    weights={"watch": 5, "ready": 2, "soon": 1, "force": 2, "check": 2, "advance": 2,
             "cancel": 1, "watched": 1, "delayed": 1, "estimate": 1, "keys": 1, "fail": 2,
             "moved": 1},
    # P3: an event between the first try and the lists is an occasion of its own. P6E: without an
    # estimate too many states explain a purge. P21: a missing callback shows in no other step.
    needs={
        "KAFKA-P3": (("watch",), ("soon", "ready"), ("check", "soon")),
        "KAFKA-P6E": (("watch",), ("advance",), ("watched",), ("estimate",)),
        "KAFKA-P21": (("watch",), ("advance",)),
    },
    fuller={
        "KAFKA-P3": (Fuller(("soon",), "an event between a request's first try and its entry "
                            "into the lists"),),
    },
    epilogue=(
        Act("watched"), Act("delayed"), Act("check"), Act("check", pick=1), Act("watched"),
        Act("keys"), Act("advance"), Act("moved"), Act("watched"), Act("delayed"),
        Act("estimate"), Act("advance", pick=2), Act("moved"), Act("advance", pick=2),
        Act("moved"), Act("watched"), Act("delayed"), Act("keys"), Act("estimate"),
    ),
    constants=_constants,
    payloads=Payloads(
        dict.fromkeys(("watch", "ready", "soon", "fail", "check", "cancel"), "names"),
        styles=KEY_STYLES, several={"watch": _how_many}, texts=True),
    long=Long(fills=("watch",), drains=("ready", "check", "advance"), sizes=(6,),
              picks={"watch": (*range(KEY_SETS), *_WAITING_LONG, *_ENDS), "advance": (0, 1, 2)}),
    own_picks={"watch": (*range(KEY_SETS),) * 12 + _waiting(0)},
    courses=_TIMES,
    conversation=PurgatoryConversation,
    scene="A purgatory. Purge interval: {capacity}.",
    favoured={"KAFKA-P27": ("watch", "fail", "advance"),
              "KAFKA-P28": ("watch", "fail", "ready", "check"),
              "KAFKA-P29": ("watch", "fail", "ready", "check", "force"),
              "KAFKA-P30": ("watch", "force", "advance", "moved")},
)
