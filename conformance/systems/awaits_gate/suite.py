"""The suite ``awaits.gate``: opening lets all pass, and nobody waits at a gate that is broken."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ....spec.notation.errors import TargetError
from ....spec.notation.interpreter import Step
from ....spec.notation.labels import counted
from ....spec.queues.gates import Gate
from ...ports.base import Message, Session, excerpt
from ...suites.plain import PlainConversation, Seen
from ...suites.suite import Act, Answer, Watch
from ...suites.sweeping import STEPS_MAX, SweepingSuite, steps_of
from .port import PORT

__all__ = ["SUITE", "GateConversation"]

CALLS_MAX: Final = 12
"""Calls of wait in one program."""

_ACTIONS: Final[Mapping[str, str]] = {
    "passes": "passes", "told": "is_told", "cancelled": "is_cancelled", "fails": "fails"}
_WORDS: Final[Mapping[str, str]] = {
    "passes": "{by} passes", "told": "{by} is told that it is broken",
    "cancelled": "{by} is cancelled", "fails": "{by} fails"}
_GATE: Final[Mapping[str, str]] = {"open": "opens", "shut": "shuts", "break": "breaks"}


class GateConversation(PlainConversation):
    """One session. Calls are named c1, c2, … in the order in which they begin."""

    def __init__(self, session: Session, capacity: int, items_max: int) -> None:
        super().__init__(session, PORT.name, {"capacity": capacity})
        self._states: list[str] = []        # by number of the call: waits, stopping, over

    # --- what makes sense ----------------------------------------------------------------

    def _in(self, *states: str) -> list[int]:
        return [number for number, state in enumerate(self._states) if state in states]

    def request_of(self, act: Act) -> Message | None:
        """See ``PlainConversation``."""
        under_way = self._in("waits", "stopping")
        if act.do == "wait":
            room = len(self._states) < CALLS_MAX and len(under_way) < STEPS_MAX
            return {"do": "wait", "by": f"c{len(self._states) + 1}"} if room else None
        if act.do == "interrupt":
            which = self._in("waits")
            return {"do": act.do, "by": f"c{which[act.pick % len(which)] + 1}"} if which else None
        if act.do == "run":
            return {"do": "run", "steps": steps_of(act)} if under_way else None
        return {"do": act.do}

    # --- words ---------------------------------------------------------------------------

    def asked(self, request: Message) -> str:
        """See ``PlainConversation``."""
        if request["do"] == "run":
            return f"run up to {counted(request['steps'], 'callback')}"
        words = {"wait": "{by} comes", "open": "it is opened", "shut": "it is shut",
                 "break": "it breaks", "interrupt": "{by} is told to stop",
                 "settle": "all runs that can run"}
        return words[request["do"]].format_map(request)

    # --- what is seen --------------------------------------------------------------------

    def possible(self, request: Message) -> Iterator[Answer]:
        """See ``PlainConversation``."""
        if request["do"] == "settle":
            yield Answer("nothing else happens", ("settled", ()))
        own = [len(self._states)] if request["do"] == "wait" else []
        for number in (*self._in("waits", "stopping"), *own):
            call = (("call", number),)
            for does, action in _ACTIONS.items():
                if does != "cancelled":
                    yield Answer(_WORDS[does].format(by=f"c{number + 1}"), (action, call))

    def seen(self, request: Message, answer: Any) -> Seen:
        """See ``PlainConversation``."""
        do = request["do"]
        steps: list[Step] = []
        if do == "wait":
            self._states.append("waits")
            steps.append(("comes", ()))
        if do == "interrupt":
            number = _number(request)
            self._states[number] = "stopping"
            steps.append(("stops", (("call", number),)))
        if do in _GATE:
            steps.append((_GATE[do], ()))
        steps += [self._step(event) for event in answer]
        told = [_WORDS[event["does"]].format_map(event) for event in answer]
        if do == "settle":
            steps.append(("settled", ()))
        return Seen(tuple(steps), "; ".join(told) or "nothing is to be seen")

    def _step(self, event: Message) -> Step:
        number, does = _number(event), event["does"]
        if not 0 <= number < len(self._states) or self._states[number] == "over" or (
                does == "cancelled" and self._states[number] != "stopping"):
            raise TargetError(
                f"the target reports {excerpt(event)}, which cannot be of that call",
                next_step="Mend the adapter: a call ends once, and cancelled only if told to.")
        self._states[number] = "over"
        return _ACTIONS[does], (("call", number),)


def _number(message: Message) -> int:
    """The number of the call that a request or an event names; -1 for a name of another form."""
    name = str(message["by"])
    return int(name[1:]) - 1 if name.startswith("c") and name[1:].isdecimal() else -1


def _constants(capacity: int, items_max: int) -> Mapping[str, int]:
    return {"K": CALLS_MAX}


SUITE: Final = SweepingSuite(
    name=PORT.name,
    version=1,
    port=PORT.name,
    watches=(Watch(Gate),),
    weights={"wait": 6, "open": 2, "shut": 3, "break": 1, "interrupt": 2, "run": 4, "settle": 2},
    epilogue=(Act("settle"), Act("wait"), Act("open"), Act("settle")),
    constants=_constants,
    converse=GateConversation,
    capacities=(1,),
    scene="A gate for coroutines, shut at first. Callbacks of their event loop run one by one.",
    courses={"GATE-2": (("wait", "wait", "open", "shut", "settle"),)},
)
