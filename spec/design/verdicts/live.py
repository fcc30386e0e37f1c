"""Liveness as one verdict: every source continues, and all that was accepted is read and written
on.

Under weak fairness (a step that stays possible is taken in the end), and asked one by one, each
with a bit that the steps in question flip: a source that is not done writes again; a link with as
many elements as are taken at once is read again; a task that holds elements writes one of them. A
link is first in, first out, so if it is always read again, every element in it is. An element may
still go round forever in a loop: it is read, and read again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from ...verdicts.verdict import Outcome
from ..net.places import LinkPlaces, Unbounded
from ..net.builder import Aim, own_place
from ..net.translate import translate
from ..reading.language import Design, Flow, Kind, Mortality
from ..reading.properties import LIVE
from ..search.searching import Settings, abstracting
from ..search.large import is_wide
from ..why.findings import Finding, worst_of
from .steady import PROOF, goes_on

__all__ = ["decide_live", "going_round", "is_steady"]

RULE = "DESIGN-3"


@dataclass(frozen=True)
class _Asked:
    """One thing that must continue: what is watched, and the words for the case that it does not.

    """

    aim: Aim
    told: str


def decide_live(parts: Sequence[Design], settings: Settings) -> Finding:
    """Decide whether every source and every accepted element continues."""
    proved = [part for part in parts if is_steady(part, settings)]
    watch = settings.budget.deadline.watch("listing what has to continue")
    asked = [(part, each) for part in parts if part not in proved
             for each in _asked(part, watch)]
    if not asked:
        return Finding(LIVE, Outcome.HOLDS, PROOF if proved else
                       "by construction: no source, and nothing in between")
    method = f"exhaustive, under weak fairness, of {len(asked)} sources, links and hands"
    holds = Finding(LIVE, Outcome.HOLDS, f"{method}; {PROOF}" if proved else method)
    return worst_of(holds, (_one(part, each, settings) for part, each in asked))


def is_steady(part: Design, settings: Settings) -> bool:
    """True if structure shows that a part continues, and a search would take long or is not wanted.
    """
    wanted = settings.engine == "structure" or (settings.engine == "auto" and is_wide(part))
    return wanted and goes_on(part)


def _one(part: Design, asked: _Asked, settings: Settings) -> Finding:
    """Decide one thing that has to happen again and again, with words for what happens
    meanwhile."""
    found = abstracting(part, asked.aim, RULE, settings)
    if found.outcome is Outcome.HOLDS and any(
            link.flow is Flow.UNBOUNDED for link in part.links.values()):
        # Fairness of a step that stands for several is weaker than that of each of them.
        return replace(found, outcome=Outcome.UNKNOWN, method="search, of a coarser design",
                       reason="an unbounded link makes fairness undecided here")
    if found.outcome is Outcome.VIOLATED:
        others = going_round(part, found.steps[found.loop:]) if found.loop is not None else ""
        meanwhile = (f" while these continue forever: {others}" if others
                     else ": no task takes a step any more")
        without = ("task", asked.aim.watch) if asked.aim.watch else ("counter", asked.aim.emptied)
        return replace(found, reason=f"{asked.told}{meanwhile}", without=without)
    if found.outcome is Outcome.UNKNOWN and found.reason:
        return replace(found, reason=f"not decided is whether {asked.told}: {found.reason}")
    return found


def going_round(part: Design, repeated: Sequence[str]) -> str:
    """The tasks that continue meanwhile, by the steps that are repeated; empty if none does."""
    transitions = [transition for step in repeated for transition in step.split("; ")]
    return ", ".join(name for name in part.tasks
                     if any(transition.startswith(f"{name} ") for transition in transitions))


def _asked(part: Design, watch: Callable[[], None]) -> Iterator[_Asked]:
    yield from _of_sources(part)
    for name, link in part.links.items():
        if link.capacity == 0 or not (link.readers or link.of):
            continue  # of a queue with kinds, one that no task reads is asked about
        places = LinkPlaces(link, Unbounded(1, abstract=True))
        yield _Asked(Aim(emptied=places.queue, least=min(part.taken(link), default=1)),
                     f"what is in {name} is never read")
    for place in translate(part, Aim(), watch).places:
        if place.role == "hand":
            yield _Asked(Aim(emptied=place.name, least=place.rest + 1),
                         f"what {place.of} holds is never written")


def _of_sources(part: Design) -> Iterator[_Asked]:
    """Sources, and the scripts that read nothing, until they are done or have stopped."""
    for name, task in part.tasks.items():
        script = task.kind is Kind.SCRIPT
        if not (task.kind is Kind.SOURCE or (script and not part.inputs(name)
                                             and part.outputs(name))):
            continue
        wanted = ""
        if script and task.may_end:
            wanted = own_place(task, "steps left")
        elif task.may is not Mortality.GOES_ON:
            wanted = own_place(task, "running")
        elif task.count is not None:
            wanted = own_place(task, "elements left")
        yield _Asked(Aim(watch=name, wanted=wanted, least=int(bool(wanted))),
                     f"{name} writes no more")
