"""The suite ``storm.input``: a task's input in Storm, its two queues and its consumer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from ....spec.notation.errors import InputError, TargetError
from ....spec.notation.interpreter import Step
from ....spec.storm.inputs.observed_input import ObservedInput
from ...ports.base import Message, Session, excerpt
from ...suites.asking import greet, refused
from ...suites.lengthy import Long
from ...suites.suite import Act, Answer, Exchange, Fuller, Suite, Watch
from ...suites.values import Payloads, Value, in_words

__all__ = ["SUITE", "InputConversation"]

REMOTE: Final = 2
LOCAL: Final = 1
MORE: Final = 8
"""Tuples that a run may name beyond the harness's items, because a transfer names several."""

ALL: Final = 99
"""A number of tuples that is large enough to empty the two queues."""


class _Doing(NamedTuple):
    """The request of a program's act: an operation, and its sender."""

    do: str
    sender: str = ""


_ACTS: Final[Mapping[str, _Doing]] = {
    "arrive": _Doing("arrive", "r1"),
    "arrive from r2": _Doing("arrive", "r2"),
    "publish": _Doing("publish", "l1"),
    "consume": _Doing("consume"),
    "consume all": _Doing("consume"),
    "step": _Doing("step"),
    "flush": _Doing("flush"),
    "sizes": _Doing("sizes"),
    "settle": _Doing("settle"),
}


_ARRIVE: Final = ("arrive", "arrive from r2")
_FIELDS: Final = {**dict.fromkeys(_ARRIVE, "tuples"), "publish": "tuple"}
"""The field of the tuples, by act."""


class InputConversation:
    """One session with a task's input; see ``Conversation``.

    Tuples are the texts m1, m2, … in the order in which they are first named, or what the program
    says. An act's
    ``pick`` says how many tuples arrive together, less one. A task that is interrupted after
    every tuple shows most, so that it consumes one or all.
    """

    def __init__(self, session: Session, capacity: int, items_max: int) -> None:
        self.tells = True
        self._session = session
        self._settings = _settings(capacity)
        self._tuples_max = items_max + MORE
        self._numbers: dict[object, int] = {}
        self._values: list[Value] = []
        self._fates: list[str] = []
        offered = {*greet(session, "storm.input", self._settings)["can"], "settle"}
        self.can: frozenset[str] = frozenset(
            name for name, doing in _ACTS.items() if doing.do in offered)

    # --- possible requests ---------------------------------------------------------------

    def makes_sense(self, act: Act) -> bool:
        if act.do not in self.can:
            return False
        room = self._tuples_max - 1 - len(self._fates)
        doing = _ACTS[act.do].do
        return doing not in ("arrive", "publish") or room >= (
            act.pick + 1 if doing == "arrive" else 1)

    def act_for(self, request: Mapping[str, Any]) -> Act | None:
        act = self._act_like(request)
        if not self.makes_sense(act):
            raise InputError(f"the target cannot do {act.do!r}, or not so often")
        act = self._named(act, request)
        if dict(request) != self._request(act):
            raise InputError(f"{excerpt(request)} is not what this suite would ask for here")
        return act

    def _named(self, act: Act, request: Mapping[str, Any]) -> Act:
        """The act that names the tuples of a request, if they are not the next plain ones."""
        tuples = request.get("tuples", [request["tuple"]] if "tuple" in request else [])
        if not isinstance(tuples, list) or tuples == [
                f"m{len(self._fates) + 1 + more}" for more in range(len(tuples))]:
            return act
        return act._replace(about=tuple((_FIELDS[act.do], each) for each in tuples))

    def _act_like(self, request: Mapping[str, Any]) -> Act:
        do, count = request["do"], 1
        name = next((name for name, doing in _ACTS.items()
                     if doing == (do, request.get("sender", ""))), None)
        if name is None:
            raise InputError(f"the suite storm.input has no operation {excerpt(do)}")
        if do == "arrive" and isinstance(request.get("tuples"), list):
            count = len(request["tuples"])
        if do == "consume" and request.get("max") == ALL:
            name = "consume all"
        return Act(name, max(count, 1) - 1)

    # --- asking --------------------------------------------------------------------------

    def say(self, act: Act) -> Exchange:
        request = self._request(act)
        asked = self._asked(request)
        possible, completions = self._answers(request) if self.tells else ((), ())
        reply = self._session.request(dict(request))
        if error := refused(request, reply, asked):
            return error
        _check_length(request, reply["ok"])
        outcome, events, words = self._shown(request, reply["ok"])
        return Exchange(
            request, reply, f"{asked}: {words}", outcome, tuple(events),
            request["do"] == "consume", possible, completions,
        )

    def _request(self, act: Act) -> Message:
        do, sender = _ACTS[act.do]
        first = len(self._fates) + 1
        if do == "arrive":
            plain = [f"m{first + more}" for more in range(act.pick + 1)]
            told = [value for _, value in act.about][:len(plain)]
            return {"do": do, "sender": sender, "tuples": [*told, *plain[len(told):]]}
        if do == "publish":
            told = [value for _, value in act.about] or [f"m{first}"]
            return {"do": do, "sender": sender, "tuple": told[0]}
        if do == "consume":
            return {"do": do, "max": ALL if act.do == "consume all" else 1}
        return {"do": do}

    def _asked(self, request: Message) -> str:
        if request["do"] == "arrive":
            return f"{request['sender']} sends {', '.join(map(in_words, request['tuples']))}"
        if request["do"] == "publish":
            return f"{request['sender']} publishes {in_words(request['tuple'])}"
        if request["do"] == "consume":
            count = request["max"]
            return "process all" if count == ALL else f"process {count}, then pause"
        return {"step": "the task takes one step", "flush": "the local senders flush",
                "sizes": "ask for the sizes"}.get(request["do"], str(request["do"]))

    # --- replies -------------------------------------------------------------------------

    def _shown(self, request: Message, answer: Any) -> tuple[Step | None, list[Step], str]:
        do = request["do"]
        if do == "arrive":
            return self._arrived(request, answer)
        if do == "publish":
            self._name(request["tuple"], "inside" if answer else "away")
            return _of(request, "published" if answer else "refused"), [], (
                "taken" if answer else "refused")
        if do in ("consume", "step"):
            return self._processed(request, answer)
        if do == "flush":
            return ("flushed", ()), [], "done"
        if do == "sizes":
            return _sized("recvq", answer), [
                _sized("overflowq", answer), ("drops_counted", (("count", answer["dropped"]),)),
            ], (f"{answer['recvq']} in recvQ, {answer['overflowq']} in the overflowQ, "
                f"{answer['dropped']} dropped")
        return None, [], "everything has run that can run"

    def _arrived(
        self, request: Message, answer: Sequence[bool]
    ) -> tuple[Step | None, list[Step], str]:
        tuples = request["tuples"]
        told = list(zip(tuples, answer, strict=False))
        for item, kept in told:
            self._name(item, "inside" if kept else "away")
        steps = [_of(request, "kept" if kept else "dropped_on_arrival") for _, kept in told]
        words = [", ".join(in_words(item) for item, kept in told if kept is which)
                 for which in (True, False)]
        said = [f"{items} {what}" for items, what in zip(words, ("kept", "dropped"), strict=True)
                if items]
        if len(told) < len(tuples):
            for item in tuples[len(told):]:
                self._name(item, "away")
            steps.append(_of(request, "held_up"))
            said.append(f"the receiving thread waits with {in_words(tuples[len(told)])}")
        return None, steps, "; ".join(said)

    def _processed(
        self, request: Message, answer: Sequence[object]
    ) -> tuple[Step | None, list[Step], str]:
        steps = [self._came_out(item) for item in answer]
        words = ", ".join(map(in_words, answer))
        if request["do"] == "step":
            return None, steps, f"it processes {words}" if words else "no tuple"
        if len(answer) >= request["max"]:
            return None, steps, words
        return ("ran_out", ()), steps, f"{words}, and no more" if words else "there is none"

    def _came_out(self, item: object) -> Step:
        # A number that no sender has used yet stands for any tuple that was not sent.
        number = self._numbers.get((type(item), item), len(self._fates))
        if number < len(self._fates):
            self._fates[number] = "processed"
        return "processed", (("tuple", number),)

    def _name(self, item: Value, fate: str) -> None:
        # The number 1 is not the text 1.
        self._numbers[type(item), item] = len(self._fates)
        self._values.append(item)
        self._fates.append(fate)

    # --- alternatives --------------------------------------------------------------------

    def _answers(self, request: Message) -> tuple[tuple[Answer, ...], tuple[Answer, ...]]:
        """The possible outcomes, and the possible values of each event."""
        do = request["do"]
        if do == "arrive":
            words = {"kept": "kept", "dropped_on_arrival": "dropped",
                     "held_up": "the receiving thread waits"}
            answers = tuple(Answer(word, _of(request, name)) for name, word in words.items())
            return answers, answers
        if do == "publish":
            return (Answer("taken", _of(request, "published")),
                    Answer("refused", _of(request, "refused"))), ()
        if do in ("consume", "step"):
            ran_out = (Answer("no more tuples", ("ran_out", ())),) if do == "consume" else ()
            answers = (*self._items(), *ran_out)
            return answers, answers
        if do == "flush":
            return (Answer("done", ("flushed", ())),), ()
        if do == "sizes":
            return tuple(self._recvq_sizes()), tuple(self._other_sizes())
        return (), ()

    def _items(self) -> Iterator[Answer]:
        """Every tuple that may be inside, and one for each way of not being inside."""
        last = {fate: number for number, fate in enumerate(self._fates)}
        for number, fate in enumerate(self._fates):
            if fate == "inside" or last[fate] == number:
                yield Answer(in_words(self._values[number]), ("processed", (("tuple", number),)))
        yield Answer("a tuple that was not sent", ("processed", (("tuple", len(self._fates)),)))

    def _recvq_sizes(self) -> Iterator[Answer]:
        for count in range(self._settings["capacity"] + 2):
            yield Answer(f"{count} in recvQ", ("recvq_sized", (("count", count),)))

    def _other_sizes(self) -> Iterator[Answer]:
        inside = self._fates.count("inside")
        for count in range(min(inside, self._settings["overflow_limit"] + 1 or inside) + 1):
            step: Step = "overflowq_sized", (("count", count),)
            yield Answer(f"{count} in the overflowQ", step, instead_of=step[:1])
        for count in range(self._fates.count("away") + 2):
            step = "drops_counted", (("count", count),)
            yield Answer(f"{count} dropped", step, instead_of=step[:1])


def _check_length(request: Message, answer: Any) -> None:
    """Raise ``TargetError`` for an answer about more tuples than were asked for."""
    most = {"arrive": len(request.get("tuples", ())), "consume": request.get("max", 0), "step": 1}
    do = request["do"]
    if do in most and len(answer) > most[do]:
        raise TargetError(
            f"the target answered {do!r} about {len(answer)} tuples, and was asked about "
            f"{most[do]}", next_step="Fix the adapter; docs/storm-ports.md has the operations.")


def _of(request: Message, action: str) -> Step:
    """An action of the machine about the request's sender."""
    return action, (("sender", int(request["sender"][1:]) - 1),)


def _sized(queue: str, answer: Mapping[str, int]) -> Step:
    return f"{queue}_sized", (("count", answer[queue]),)


def _settings(capacity: int) -> Mapping[str, int]:
    """The settings of ``hello`` for a capacity: every third has no overflow limit, and if a batch
    of two fits into half of the buffer, there are batches."""
    return {
        "capacity": capacity, "overflow_limit": (0, 2, 1)[capacity % 3] if capacity < 4 else 0,
        "batch": 2 if capacity >= 4 else 1, "remote": REMOTE, "local": LOCAL,
    }


def _constants(capacity: int, items_max: int) -> Mapping[str, int]:
    chosen = _settings(capacity)
    return {
        "C": capacity, "X": chosen["overflow_limit"], "B": chosen["batch"], "R": REMOTE,
        "S": LOCAL, "K": items_max + MORE,
    }


SUITE: Final = Suite(
    name="storm.input",
    version=3,
    port="storm.input",
    watches=(Watch(ObservedInput),),
    weights={"arrive": 3, "arrive from r2": 1, "publish": 3, "consume": 3, "consume all": 1,
             "step": 2, "flush": 1, "sizes": 1},
    # This race needs tuples that arrive while the task reads the size of a queue.
    needs={"STORM-Q1": (("arrive",), ("consume", "step"))},
    epilogue=(Act("flush"), Act("sizes"), Act("consume all"), Act("sizes")),
    constants=_constants,
    payloads=Payloads(_FIELDS, several=dict.fromkeys(_ARRIVE, lambda pick: pick + 1)),
    long=Long(fills=("arrive", "publish"), drains=("consume", "consume all", "step"), sizes=(7,)),
    converse=InputConversation,
    settings=_settings,
    capacities=(1, 2, 3, 4),
    telling={"STORM-I4": (1, 2), "STORM-I10": (1,), "STORM-I12": (4,)},
    favoured={
        # Sizes would show a violation of another rule first, and end the judging.
        "STORM-Q1": ("arrive", "arrive from r2", "publish", "consume", "step", "flush"),
        "STORM-I10": ("arrive", "publish", "consume"),
    },
    courses={
        "STORM-Q1": (("arrive", "consume", "arrive", "consume", "consume"),
                     ("arrive from r2", "arrive", "arrive", "consume all")),
        # A round has begun when the overflowQ gets its first tuple; recvQ never runs dry.
        "STORM-I10": (("publish", "step", "arrive", *("consume", "publish") * 3, "consume"),
                      ("arrive", "consume", *("publish", "consume") * 4)),
    },
    takes_more={
        "STORM-I10": "a task that can be stopped between its reads of the two sizes (step), or "
                     "one that starves the overflowQ",
    },
    fuller={
        "STORM-Q1": (Fuller(("step",),
                            "the race of an arrival with a task that has read the size of "
                            "one of its two queues (D2)"),
                     Fuller(("publish",), "the order of a local sender's tuples (STORM-342)")),
    },
    scene=("A task's input: recvQ of {capacity}, overflow limit {overflow_limit} (0: none), "
           "batches of {batch}."),
)
