"""The suite ``storm.status``: backpressure status between two Storm workers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ....spec.notation.errors import InputError
from ....spec.notation.interpreter import Step
from ....spec.storm.backpressure.observed_status import ObservedStatus, Taken
from ...ports.base import Message, Session, excerpt
from ...suites.asking import greet, refused
from ...suites.suite import Act, Answer, Exchange, Fuller, Suite, Watch

__all__ = ["SUITE", "StatusConversation"]

TASKS: Final = 2
REPEAT: Final = 2
MORE: Final = 14
"""Statuses and spills that a run may see beyond the harness's items."""

ALL: Final = 2**TASKS - 1

_ACTS: Final[Mapping[str, str]] = {
    "spill": "spill", "spill halfway": "spill", "finish": "finish", "drain": "drain",
    "check": "check", "disconnect": "disconnect", "connect": "connect",
    "connect halfway": "connect", "deliver": "deliver", "deliver newest": "deliver",
    "lose": "lose", "restart": "restart", "flags": "flags", "settle": "settle",
}

_PLAIN: Final[Mapping[str, str]] = {
    "spill": "spilled", "connect": "joined", "check": "checked", "finish": "finished",
}
_BEGUN: Final[Mapping[str, str]] = {"spill": "spill_begun", "connect": "join_begun"}


class StatusConversation:
    """One session with two workers; see ``Conversation``.

    An act's ``pick`` says which task spills (the last one is none of the worker's), after how
    many steps, less one, the receiving thread is stopped, or which status is meant.
    """

    def __init__(self, session: Session, capacity: int, items_max: int) -> None:
        self._session = session
        self._told_max = items_max + MORE
        self._told = 0
        self._on_their_way = 0
        self._connected = True
        self._busy = False
        offered = {*greet(session, "storm.status", _settings(capacity))["can"], "settle"}
        self.can: frozenset[str] = frozenset(
            name for name, operation in _ACTS.items() if operation in offered)

    # --- what can be asked ---------------------------------------------------------------

    def makes_sense(self, act: Act) -> bool:
        """See ``Conversation``."""
        if act.do not in self.can:
            return False
        do = _ACTS[act.do]
        if do in ("spill", "restart", "connect") and self._busy:
            return False
        if do == "connect":
            return not self._connected
        if do == "disconnect":
            return self._connected and not self._busy
        if do == "finish":
            return self._busy
        if do in ("spill", "check"):
            return self._told + 1 < self._told_max
        return do not in ("deliver", "lose") or self._on_their_way > 0

    def act_for(self, request: Mapping[str, Any]) -> Act | None:
        """See ``Conversation``."""
        do = request["do"]
        halfway = f"{do} halfway"
        name = halfway if "steps" in request and halfway in _ACTS else do
        if name not in _ACTS:
            raise InputError(f"the suite storm.status has no operation {excerpt(do)}")
        act = Act(str(name), _pick_of(request))
        if do in ("deliver", "lose") and not self._on_their_way:
            return None
        if not self.makes_sense(act) or self._request(act) != dict(request):
            raise InputError(f"{excerpt(request)} is not what this suite would ask for here")
        return act

    def _request(self, act: Act) -> Message:
        do = _ACTS[act.do]
        if act.do == "spill":
            return {"do": do, "task": act.pick}
        if act.do == "drain":
            return {"do": do, "task": act.pick % TASKS}
        if act.do == "spill halfway":
            return {"do": do, "task": 0, "steps": act.pick + 1}
        if act.do == "connect halfway":
            return {"do": do, "steps": act.pick + 1}
        if act.do == "deliver newest":
            return {"do": do, "index": self._on_their_way - 1}
        if do in ("deliver", "lose"):
            return {"do": do, "index": act.pick % self._on_their_way}
        return {"do": do}

    # --- asking --------------------------------------------------------------------------

    def say(self, act: Act) -> Exchange:
        """See ``Conversation``."""
        request = self._request(act)
        possible = tuple(self._possible(request))
        reply = self._session.request(dict(request))
        asked = _asked(request)
        if error := refused(request, reply, asked, possible):
            return error
        outcome, words = self._shown(request, reply["ok"])
        said = f"{asked}: {words}" if words else asked
        return Exchange(request, reply, said, outcome, possible=possible)

    def _shown(self, request: Message, answer: Any) -> tuple[Step | None, str]:
        do = request["do"]
        if do in _PLAIN:
            self._after(request, answer)
            return _telling(request, 0 if answer is None else _flags(answer) + 1), (
                _told_words(answer))
        if do == "flags":
            words = f"tasks {_list(answer)}" if answer else "none"
            return ("flags_seen", (("flags", _flags(answer)),)), words
        if do in ("deliver", "lose"):
            self._on_their_way -= 1
            if do == "lose":
                return ("lost_on_its_way", (("index", request["index"]),)), ""
            taken = _TAKEN[answer]
            return _delivered(request, taken), _TAKEN_WORDS[taken]
        if do in ("disconnect", "restart"):
            self._connected, self._on_their_way = False, 0
            return (f"{do}ed", ()), ""
        if do == "drain":
            return ("drained", (("task", request["task"]),)), ""
        return None, ""

    def _after(self, request: Message, answer: Sequence[int] | None) -> None:
        if request["do"] == "connect":
            self._connected = True
        self._busy = "steps" in request or (self._busy and request["do"] == "check")
        if answer is not None:
            self._told += 1
            self._on_their_way += 1

    # --- what there could be in its place ------------------------------------------------

    def _possible(self, request: Message) -> Iterator[Answer]:
        do = request["do"]
        if do in _PLAIN:
            yield Answer("nothing is told", _telling(request, 0))
            for flags in range(ALL + 1):
                tasks = [task for task in range(TASKS) if flags >> task & 1]
                yield Answer(_told_words(tasks), _telling(request, flags + 1))
        elif do == "flags":
            for flags in range(ALL + 1):
                tasks = [task for task in range(TASKS) if flags >> task & 1]
                words = f"tasks {_list(tasks)}" if tasks else "none"
                yield Answer(words, ("flags_seen", (("flags", flags),)))
        elif do == "deliver":
            for taken in (Taken.BELIEVED, Taken.IGNORED):
                yield Answer(_TAKEN_WORDS[taken], _delivered(request, taken))


def _pick_of(request: Mapping[str, Any]) -> int:
    """The ``pick`` of the act that makes a request."""
    less, value = next(
        ((less, request[key]) for key, less in (("steps", 1), ("task", 0), ("index", 0))
         if key in request), (0, 0))
    return max(value - less, 0) if isinstance(value, int) else 0


def _telling(request: Message, told: int) -> Step:
    """The action of the machine in which a request told something (0: nothing)."""
    if request.get("task", 0) >= TASKS:
        return "strayed", (("told", told),)
    table = _BEGUN if "steps" in request else _PLAIN
    task = (("task", request["task"]),) if request["do"] == "spill" else ()
    return table[request["do"]], (*task, ("told", told))


_TAKEN: Final = {None: Taken.UNTOLD, True: Taken.BELIEVED, False: Taken.IGNORED}
_TAKEN_WORDS: Final = {
    Taken.UNTOLD: "", Taken.BELIEVED: "it is believed", Taken.IGNORED: "it is ignored as old"}


def _delivered(request: Message, taken: Taken) -> Step:
    return "delivered", (("index", request["index"]), ("taken", taken))


def _flags(tasks: Sequence[int]) -> int:
    """The number of a set of tasks; beyond all flags if it names one that is not there."""
    known = sum(1 << task for task in set(tasks) if 0 <= task < TASKS)
    return known if all(0 <= task < TASKS for task in tasks) else ALL + 1


def _asked(request: Message) -> str:
    """A request in words."""
    do = request["do"]
    halfway = f", halted after step {request['steps']}" if "steps" in request else ""
    words = {
        "spill": f"a tuple of task {request.get('task')} spills{halfway}",
        "finish": "the receiving thread goes on",
        "drain": f"task {request.get('task')} drains its overflowQ",
        "check": "the timer checks",
        "disconnect": "the connection breaks",
        "connect": f"the sender connects{halfway}",
        "deliver": f"the {_nth(request)} status on its way arrives",
        "lose": f"the {_nth(request)} status on its way is lost",
        "restart": "the receiving worker restarts",
        "flags": "the sender holds back",
    }
    return words.get(do, str(do))


def _nth(request: Message) -> str:
    index = int(request.get("index", 0))
    return ("oldest", "second", "third")[index] if index < 3 else f"{index + 1}th"


def _told_words(tasks: Sequence[int] | None) -> str:
    if tasks is None:
        return "nothing is told"
    return f"ON is told of {_list(tasks)}" if tasks else "OFF is told of all"


def _list(tasks: Sequence[int]) -> str:
    return " and ".join(map(str, tasks))


def _settings(capacity: int) -> Mapping[str, int]:
    """The settings of ``hello``."""
    return {"capacity": capacity, "tasks": TASKS, "repeat": REPEAT}


def _constants(capacity: int, items_max: int) -> Mapping[str, int]:
    most = items_max + MORE
    return {"n": TASKS, "A": ALL, "R": capacity, "P": REPEAT, "K": most, "S": most}


_HEAR: Final = (Act("deliver newest"), *(Act("deliver"),) * 3, Act("flags"))
_SPILL, _CHECK = ("spill", "spill halfway"), ("check",)

SUITE: Final = Suite(
    name="storm.status",
    version=2,
    port="storm.status",
    watches=(Watch(ObservedStatus),),
    weights={"spill": 2, "spill halfway": 1, "drain": 1, "check": 2, "disconnect": 1,
             "connect": 1, "connect halfway": 1, "finish": 1, "deliver": 1,
             "deliver newest": 1, "lose": 1, "flags": 1, "restart": 1},
    needs={
        "STORM-O1": (("spill",),),
        "STORM-O3": (("spill",), ("drain",), _CHECK),
        "STORM-O5": (("spill",),),
        "STORM-O7": (("connect",), ("disconnect", "restart")),
        "STORM-O8": (("spill",), ("lose",), _CHECK),
        "STORM-O9": (_SPILL, ("deliver",), ("flags",)),
        "STORM-O10": (_SPILL, ("deliver",), ("flags",)),
    },
    epilogue=(Act("finish"), *_HEAR, Act("connect"), Act("check"), Act("check"), *_HEAR),
    constants=_constants,
    converse=StatusConversation,
    settings=_settings,
    favoured={
        "STORM-O1": ("spill", "spill halfway", "drain", "check"),
        "STORM-O6": ("spill", "spill halfway", "drain", "check", "finish"),
        "STORM-O8": ("spill", "drain", "check", "deliver", "lose"),
        "STORM-O10": ("spill", "drain", "check", "disconnect", "connect halfway"),
    },
    fuller={
        "STORM-O10": (
            Fuller(("connect",), "a status that changes while a connection is made (D5)"),),
    },
    courses={
        # One overflowQ grows, by more than the reminder of any capacity.
        "STORM-O2": (((Act("spill"),),) * 6,),
        # The flag is looked up; the next check clears it; then it is set.
        "STORM-O1": (((Act("spill"),), (Act("drain"),), "spill halfway", "check", "finish"),),
        # The status changes while a connection is being made, or has just changed.
        "STORM-O10": (
            ((Act("spill"),), "disconnect", "connect halfway", (Act("drain"),), "check"),
            ((Act("spill"),), (Act("drain"),), "disconnect", "connect halfway", "check")),
    },
    # One task, and a receiving thread that is stopped before it has told.
    favoured_picks={"STORM-O10": {"spill": (0,), "drain": (0,), "connect halfway": (0, 1)}},
    scene=("Two workers, {tasks} tasks; a reminder when an overflowQ has grown by more than "
           "{capacity}, a lost status made good within {repeat} checks."),
)
