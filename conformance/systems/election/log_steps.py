"""The steps of an observed election that an event of a log stands for, and its sets of states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ....spec.election.numbered_terms import renumbered
from ....spec.election.observed_election import ObservedElection
from ....spec.engines.candidates import Candidates, CandidateSets
from ....spec.notation.interpreter import State, Step
from ...logs.kinds import Terms
from ...logs.live import bound
from ...suites.meanings import Meanings
from ...suites.says import ANY
from .suite import ElectionConversation

__all__ = ["LEAVES", "TERMS", "is_of_nobody", "joined_in", "sets_of", "shows_disturbed", "size_of",
           "steps_of"]

_SAYS: Final = Meanings(ElectionConversation.says)

TERMS: Final = 1 << 40
"""Terms of an election, at most."""

_JOIN: Final = _SAYS.answer("join", True)
_SHAKE: Final = _SAYS.answer("stop", True)
_RESTART: Final = _SAYS.answer("restart", True)
_NOBODY: Final = _SAYS.answer("quiet", None)
_OF_ONE: Final = {
    "join": _JOIN, "leads": _SAYS.answer("ask", ANY), "leads_not": _SAYS.answer("ask", None),
    "accepted": _SAYS.answer("write", True), "refused": _SAYS.answer("write", False),
    "resign": _SAYS.answer("resign", True), "crash": _SAYS.answer("crash", True),
    "disturbed": _SHAKE, "quiet": _SAYS.answer("quiet", ANY)}
LEAVES: Final = ("resign", "crash")
"""The events after which a candidate is none any more."""


def shows_disturbed(terms: Terms) -> bool:
    """True if a log says when candidates were disturbed."""
    return bool(terms.settings.get("steady", 0))


def size_of(terms: Terms) -> int:
    """The number of candidates that an election may have."""
    return max(2, terms.settings.get("candidates", 8))


def sets_of(terms: Terms) -> CandidateSets:
    """The sets of states in which an election may be, and the steps between them."""
    machine = bound(ObservedElection, N=size_of(terms), K=TERMS)
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
