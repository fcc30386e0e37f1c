"""An election in a log: what its candidates report, and which writes the store accepts.

A log seldom shows that a candidate was disturbed: paused by its collector, or cut off. So each one
counts as disturbed always, and what only an undisturbed one has to keep is *not shown*. Where the
log has its disturbances (``steady``), those rules are judged, too. The holder of the lock is
hidden: all states that explain the log are followed, which are a handful.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ....spec.election import observed_election as chapter
from ....spec.election.observed_election import ObservedElection
from ....spec.engines.candidates import Candidates, CandidateSets
from ....spec.engines.monitor import Failure, why_refused
from ....spec.notation.rules import Rule
from ...logs.events import Event
from ...logs.kinds import Call, Logs, Terms
from ...logs.live import bound
from ...logs.notes import Notes
from ...logs.steps import StepJudge, ids_of
from ...suites.meanings import Meanings
from ...suites.says import ANY
from .suite import ElectionConversation, compared

__all__ = ["LOGS"]

_SAYS: Final = Meanings(ElectionConversation.says)
_OF_STEADY: Final[tuple[Rule, ...]] = (
    chapter.ONE_LEADER, chapter.TOKENS_GROW, chapter.LEADER_WRITES)
_RULES: Final[tuple[Rule, ...]] = (chapter.NEWER_WROTE, chapter.HANDS_OVER, *_OF_STEADY)
_WITH_REST: Final[tuple[Rule, ...]] = (
    chapter.SOMEBODY_LEADS, chapter.NONE_FORGOTTEN, chapter.DEPOSED_KNOWS)

_TERMS: Final = 1 << 40

_JOIN: Final = _SAYS.answer("join", True)
_SHAKE: Final = _SAYS.answer("stop", True)
_LEADS: Final = _SAYS.answer("ask", ANY)
_RESTART: Final = _SAYS.answer("restart", True)
_QUIET: Final = {"ok": _SAYS.answer("quiet", ANY), "empty": _SAYS.answer("quiet", None)}
_OF_ONE: Final = {
    "leads_not": _SAYS.answer("ask", None), "accepted": _SAYS.answer("write", True),
    "refused": _SAYS.answer("write", False), "resign": _SAYS.answer("resign", True),
    "crash": _SAYS.answer("crash", True), "disturbed": _SHAKE}


class ElectionJudge(StepJudge):
    """Judges one election; see ``StepJudge``."""

    machine = ObservedElection
    rules = ids_of((*_RULES, *_WITH_REST))

    def __init__(self, key: str, terms: Terms, notes: Notes, common: Any) -> None:
        super().__init__(key, terms, notes, common)
        self._sets = CandidateSets(bound(self.machine, **self.constants()), terms.states)
        self._here: Candidates | None = None      # the first ones may be too many
        self._numbers: dict[str, int] = {}
        self._joined: set[int] = set()
        self._greatest = 0
        self._own: dict[int, int] = {}
        self._steady = bool(terms.settings.get("steady", 0))
        if not self._steady:
            notes.not_shown |= {rule.id: "the log does not say when candidates were disturbed "
                                         "(if it does: --set steady=1)" for rule in _OF_STEADY}

    def constants(self) -> Mapping[str, int]:
        return {"N": max(2, self.terms.settings.get("candidates", 8)), "K": _TERMS}

    def tries(self, action: str, **args: int) -> Failure | None:
        step = action, tuple(args.items())
        here = self._here or self._sets.initial
        after = self._sets.after(here, step)
        if after is None:
            return why_refused(self._sets.bound.interpreter, here.states, [step],
                               self.live.taken)
        self._here = after
        self.notes.steps[self.machine, action] += 1
        return None

    def shown(self) -> str:
        return f"{len(self._here or self._sets.initial)} states of the election"

    def sees(self, event: Event) -> None:
        do, name = event.operation, event.process
        if not self.terms.from_start:
            self.unsure("which candidates there were when the log began is not known", event)
            return
        if do == "restart":
            self.step(event, _RESTART)
            return
        if do == "quiet" and event.result == "empty":
            self.step(event, _QUIET["empty"])
            return
        known = self._numbers
        if name not in known and len(known) >= self.constants()["N"]:
            self.unsure(f"there are more than {len(known)} candidates (--set candidates=…)", event)
            return
        candidate = known.setdefault(name, len(known))
        if do == "join":
            if candidate not in self._joined:
                self._joined.add(candidate)
                self.step(event, _JOIN, candidate=candidate)
            return
        if not self._steady and not self.step(event, _SHAKE, candidate=candidate):
            return
        if do == "leads":
            self._leads(event, candidate)
        elif do == "quiet":
            self.step(event, _QUIET["ok"], candidate=candidate)
        else:
            if do in ("resign", "crash"):
                if do == "resign" and candidate not in self._joined:
                    return
                self._joined.discard(candidate)
            self.step(event, _OF_ONE[do], candidate=candidate)

    def _leads(self, event: Event, candidate: int) -> None:
        number = event.value or 0
        token = compared(number, self._greatest, self._own.get(candidate))
        self._greatest = max(self._greatest, number)
        self._own[candidate] = number
        self.step(event, _LEADS, candidate=candidate, token=token)


_AT_ONCE: Final = ("end", "point")

LOGS: Final = Logs(
    machines=(ObservedElection,),
    operations={
        "join": Call("a candidate, the process, wants to lead", _AT_ONCE),
        "leads": Call("a candidate reports that it leads; value: its token, if there are tokens",
                      _AT_ONCE),
        "leads_not": Call("a candidate reports that it does not lead", _AT_ONCE),
        "accepted": Call("the store takes the write of a candidate", _AT_ONCE),
        "refused": Call("the store does not take the write of a candidate", _AT_ONCE),
        "resign": Call("a candidate no longer wants to lead", _AT_ONCE),
        "crash": Call("the process of a candidate has died", _AT_ONCE),
        "disturbed": Call("a candidate was halted, or cut off, or its session ended", _AT_ONCE),
        "restart": Call("the service was killed, and started again", _AT_ONCE),
        "quiet": Call("all faults are over, and this candidate leads; \"empty\": none does",
                      _AT_ONCE),
    },
    settings={"candidates": "candidates in all; 8 if it is not said",
              "steady": "1: whenever a candidate is disturbed, the log says so"},
    rules=_RULES,
    with_rest={rule.id: "quiet" for rule in _WITH_REST},
    judge=ElectionJudge,
)
