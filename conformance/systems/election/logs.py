"""An election in a log: what its candidates report, and which writes the store accepts.

A log seldom shows that a candidate was disturbed: paused by its collector, or cut off. So each one
counts as disturbed always, and what only an undisturbed one has to keep is *not shown*. Where the
log has its disturbances (``steady``), those rules are judged, too. The holder of the lock is
hidden: all states that explain the log are followed, which are a handful; of those that differ only
in how terms are numbered one stands for all.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from functools import partial
from typing import Any, Final

from ....spec.election import observed_election as chapter
from ....spec.election.observed_election import ObservedElection
from ....spec.engines.candidates import Candidates, CandidateSets
from ....spec.engines.monitor import Failure, why_refused
from ....spec.notation.labels import counted
from ....spec.notation.rules import Rule
from ...logs.events import Event
from ...logs.kinds import Asks, Call, Logs, Terms
from ...logs.live import frozen
from ...logs.notes import Notes
from ...logs.steps import Saved, StepJudge, ids_of
from .log_steps import (
    LEAVES, TERMS, is_of_nobody, joined_in, sets_of, shows_disturbed, size_of, steps_of,
)
from .suite import compared

__all__ = ["LOGS"]

_OF_STEADY: Final[tuple[Rule, ...]] = (
    chapter.ONE_LEADER, chapter.TOKENS_GROW, chapter.LEADER_WRITES)
_RULES: Final[tuple[Rule, ...]] = (chapter.NEWER_WROTE, chapter.HANDS_OVER, *_OF_STEADY)
_WITH_REST: Final[tuple[Rule, ...]] = (
    chapter.SOMEBODY_LEADS, chapter.NONE_FORGOTTEN, chapter.DEPOSED_KNOWS)


class ElectionJudge(StepJudge):
    """Judges one election; see ``StepJudge``. ``common`` are the sets of states."""

    machine = ObservedElection
    rules = ids_of((*_RULES, *_WITH_REST))
    own = ("_here", "_greatest", "_own", "_joined")
    clocks = {"accepted": "store", "refused": "store", "crash": "operator",
              "disturbed": "operator", "restart": "operator", "quiet": "operator"}

    def __init__(self, key: str, terms: Terms, notes: Notes, common: CandidateSets) -> None:
        super().__init__(key, terms, notes, common)
        self._sets = common
        self._here: Candidates | None = None      # the first ones may be too many
        self._numbers: dict[str, int] = {}
        self._greatest = 0
        self._own: dict[int, int] = {}
        self._steady = shows_disturbed(terms)
        self._joined: set[int] = set()
        if not self._steady:
            notes.not_shown |= {rule.id: "the log does not say when candidates were disturbed "
                                         "(if it does: --set steady=1)" for rule in _OF_STEADY}

    def continues(self, here: Candidates, numbers: Mapping[str, int], greatest: int,
                  own: Mapping[int, int]) -> None:
        """Continue in the middle of a log: in some states, with the number of each candidate, the
        greatest token so far, and the last one of each."""
        self._here, self._greatest = here, greatest
        self._numbers, self._own = dict(numbers), dict(own)
        joined = joined_in(self._sets, here)
        self._joined = {number for number in self._numbers.values() if joined[number]}

    def constants(self) -> Mapping[str, int]:
        return {"N": size_of(self.terms), "K": TERMS}

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

    def saved(self) -> Saved:
        own: dict[str, Any] = {name: copy(getattr(self, name)) for name in self.own[1:]}
        own["_here"] = self._here or self._sets.initial
        return Saved(frozen(own.values()), {}, own)

    def shown(self) -> str:
        return counted(len(self._here or self._sets.initial), "state") + " of the election"

    def sees(self, event: Event) -> None:
        do, name = event.operation, event.process
        if not self.terms.from_start:
            self.unsure("which candidates there were when the log began is not known", event)
            return
        candidate, token, known = None, 0, self._numbers
        if not is_of_nobody(do, event.result):
            if name not in known and len(known) >= self.constants()["N"]:
                self.unsure(f"there are more than {len(known)} candidates (--set candidates=…)",
                            event)
                return
            candidate = known.setdefault(name, len(known))
            if do == "leads":
                token = self._token(event.value or 0, candidate)
        for action, args in steps_of(do, candidate, token, candidate in self._joined,
                                     self._steady):
            if not self.step(event, action, **dict(args)):
                return
        if candidate is not None and do == "join":
            self._joined.add(candidate)
        elif candidate is not None and do in LEAVES:
            self._joined.discard(candidate)

    def _token(self, number: int, candidate: int) -> int:
        token = compared(number, self._greatest, self._own.get(candidate))
        self._greatest = max(self._greatest, number)
        self._own[candidate] = number
        return token


def _whole(terms: Terms, notes: Notes, names: Any, common: CandidateSets) -> Any:
    from .whole import CANDIDATES_MAX, WholeElections

    if terms.tolerance or size_of(terms) > CANDIDATES_MAX:
        return None
    return WholeElections(terms, notes, names, common, lambda key, mine: ElectionJudge(
        key, terms, mine, common))


_does: Final = partial(Call, by_end=True)

LOGS: Final = Logs(
    machines=(ObservedElection,),
    operations={
        "join": _does("a candidate, the process, wants to lead"),
        "leads": _does("a candidate reports that it leads; value: its token, if there are tokens"),
        "leads_not": _does("a candidate reports that it does not lead"),
        "accepted": _does("the store takes the write of a candidate"),
        "refused": _does("the store does not take the write of a candidate"),
        "resign": _does("a candidate no longer wants to lead"),
        "crash": _does("the process of a candidate has died"),
        "disturbed": _does("a candidate was halted, or cut off, or its session ended"),
        "restart": _does("the service was killed, and started again"),
        "quiet": _does("all faults are over, and this candidate leads; \"empty\": none does"),
    },
    settings={"candidates": "candidates in all; 8 if it is not said",
              "steady": "1: whenever a candidate is disturbed, the log says so"},
    rules=_RULES,
    with_rest={rule.id: "quiet" for rule in _WITH_REST},
    judge=ElectionJudge,
    common=lambda terms, notes: sets_of(terms),
    whole=_whole,
    has_wide_values=True,
    capacity="candidates",
    asks={**{(does, "ok"): Asks((do,), process="candidate") for does, do in (
              ("join", "join"), ("leads", "ask"), ("leads_not", "ask"), ("accepted", "write"),
              ("refused", "write"), ("resign", "resign"), ("crash", "crash"))},
          ("disturbed", "ok"): Asks(("expire", "cut", "stop"), process="candidate"),
          ("restart", "ok"): Asks(("restart",)),
          **dict.fromkeys([("quiet", "ok"), ("quiet", "empty")], Asks(("quiet",)))},
)
