"""An election in a log: what its candidates report, and which writes the store accepts.

A log seldom shows that a candidate was disturbed: paused by its collector, or cut off. So each one
counts as disturbed always, and what only an undisturbed one has to keep is *not shown*. Where the
log has its disturbances (``steady``), those rules are judged, too. The holder of the lock is
hidden: all states that explain the log are followed, which are a handful; of those that differ only
in how terms are numbered one stands for all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ....spec.election import observed_election as chapter
from ....spec.election.observed_election import ObservedElection
from ....spec.engines.candidates import Candidates, CandidateSets
from ....spec.election.numbered_terms import renumbered
from ....spec.engines.monitor import Failure, why_refused
from ....spec.notation.interpreter import State, Step
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
_RESTART: Final = _SAYS.answer("restart", True)
_NOBODY: Final = _SAYS.answer("quiet", None)
_OF_ONE: Final = {
    "join": _JOIN, "leads": _SAYS.answer("ask", ANY), "leads_not": _SAYS.answer("ask", None),
    "accepted": _SAYS.answer("write", True), "refused": _SAYS.answer("write", False),
    "resign": _SAYS.answer("resign", True), "crash": _SAYS.answer("crash", True),
    "disturbed": _SHAKE, "quiet": _SAYS.answer("quiet", ANY)}
_LEAVES: Final = ("resign", "crash")


def shows_disturbed(terms: Terms) -> bool:
    """True if a log says when candidates were disturbed."""
    return bool(terms.settings.get("steady", 0))


def size_of(terms: Terms) -> int:
    """The number of candidates that an election may have."""
    return max(2, terms.settings.get("candidates", 8))


def sets_of(terms: Terms) -> CandidateSets:
    """The sets of states in which an election may be, and the steps between them."""
    machine = bound(ObservedElection, N=size_of(terms), K=_TERMS)
    places = machine.interpreter.layout.places
    of_terms = [places[name] for name in ("term", "terms", "written")]

    def same(state: State) -> State:
        found = list(state)
        for place, value in zip(of_terms, renumbered(*(state[at] for at in of_terms)), strict=True):
            found[place] = value
        return tuple(found)

    return CandidateSets(machine, terms.states, same=same)


def is_of_nobody(do: str, result: str) -> bool:
    """True for an event of no candidate."""
    return do == "restart" or (do == "quiet" and result == "empty")


def joined_in(sets: CandidateSets, here: Candidates) -> Sequence[bool]:
    """Which candidates have joined, which is the same in all states of a set."""
    state = next(iter(here.states))
    found: Sequence[bool] = state[sets.bound.interpreter.layout.places["joined"]]
    return found


def steps_of(do: str, candidate: int | None, token: int, has_joined: bool, steady: bool
             ) -> tuple[Step, ...]:
    """The steps of an event of a candidate that ``has_joined``, or of no candidate."""
    if candidate is None:
        return ((_RESTART if do == "restart" else _NOBODY, ()),)
    here = ("candidate", candidate)
    if do == "join":
        return () if has_joined else ((_JOIN, (here,)),)
    shaken = () if steady else ((_SHAKE, (here,)),)
    if do == "resign" and not has_joined:
        return shaken
    return (*shaken, (_OF_ONE[do], (here, ("token", token)) if do == "leads" else (here,)))


class ElectionJudge(StepJudge):
    """Judges one election; see ``StepJudge``. ``common`` are the sets of states."""

    machine = ObservedElection
    rules = ids_of((*_RULES, *_WITH_REST))

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
        return {"N": size_of(self.terms), "K": _TERMS}

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
        elif candidate is not None and do in _LEAVES:
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
    common=lambda terms, notes: sets_of(terms),
    whole=_whole,
    has_wide_values=True,
)
