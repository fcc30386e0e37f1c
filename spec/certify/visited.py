"""Properties that are shown by visiting all states of a part of a design.

Nothing has to be believed for that but this reading of the transitions. A certificate says how many
states there are at most.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..design.reading.language import Design
from .finished import finished
from .run import Refuted
from .states import States, states_of
from .system import Transition, System
from .wanted import Wanted

__all__ = [
    "largest_in", "never_in", "never_ceases_in", "never_locked_in", "never_deadlocked_in",
]


def never_deadlocked_in(system: System, most: int) -> int:
    """Visit all states, none of which is a deadlock; how many there are. Raises Refuted and
    NotCovered, as all of these do."""
    states = states_of(system, most, so_far=True)
    deadlocked = ~states.allow_any(system.transitions)
    if system.ends:
        deadlocked &= ~states.within(system.rests)
    if deadlocked.any():
        raise Refuted("a deadlock is reached")
    return len(states)


def never_in(system: System, most: int, transitions: Iterable[Transition], what: str) -> int:
    """In no state is one of these transitions possible."""
    states = states_of(system, most, so_far=True)
    if states.allow_any(transitions).any():
        raise Refuted(f"a state is reached in which a transition {what}")
    return len(states)


def largest_in(system: System, most: int) -> tuple[int, Mapping[str, int]]:
    """The number of states, and the largest number of each counter in any of them."""
    states = states_of(system, most)
    return len(states), {name: states.largest(name) for name in system.counters}


# --- forever ------------------------------------------------------------------------------------

def never_ceases_in(system: System, wanted: Sequence[Wanted], most: int) -> int:
    """Check that there is no fair run in which one of these is asked for and done no more, though
    not everything is done; return the number of states.

    A run can cycle forever in a set of states that lead to each other. It is fair if each
    transition that is always possible there is taken there; so all fair cycles are in the largest
    such sets.
    """
    if not wanted:
        return 0
    states = states_of(system, most, edges=True)
    for each in wanted:
        _goes_on(states, system, each)
    return len(states)


def _goes_on(states: States, system: System, wanted: Wanted) -> None:
    """Raise Refuted if some fair run stays among states in which a step is wanted, and never
    takes it: if a strong component without it allows a fair cycle."""
    import numpy as np
    going = np.ones(len(states), dtype=np.bool_)
    if system.ends and wanted.task:  # what is read no more is asked for at the end, too
        going &= ~states.within(system.rests)
    if wanted.asking:
        going &= states.values(wanted.asking) >= wanted.least
    if wanted.until:
        going &= states.values(wanted.until) == 0
    others = np.array([not wanted.is_done_by(each) for each in states.transitions], dtype=np.bool_)
    steps = others[states.via] if len(states.via) else np.zeros(0, dtype=np.bool_)
    group, inner = states.cycles(going, steps)
    fair = np.zeros(len(states), dtype=np.bool_)
    fair[group[going]] = True
    size = np.bincount(group, minlength=len(states))
    failing = (each for each in system.steps if each.fails)
    for number, transition in enumerate([*states.transitions, *failing]):
        if transition.chance:
            continue
        always = np.bincount(group[states.allow(transition)], minlength=len(states)) == size
        made = np.zeros(len(states), dtype=np.bool_)
        made[group[states.source[inner & (states.via == number)]]] = True
        fair &= ~always | made
    if fair.any():
        raise Refuted(f"there is a fair run without {wanted}")


def never_locked_in(system: System, design: Design, most: int) -> int:
    """Check that in no state a task is blocked forever from which a run of the others never ends.
    """
    import numpy as np
    states = states_of(system, most, edges=True)
    lasting = np.array([not transition.chance for transition in states.transitions], dtype=np.bool_)
    moving = np.array([not (each.chance or each.is_idle) for each in states.transitions],
                      dtype=np.bool_)
    none = np.zeros(0, dtype=np.bool_)
    steps = lasting[states.via] if len(states.via) else none
    runs = moving[states.via] if len(states.via) else none
    _, inner = states.cycles(np.ones(len(states), dtype=np.bool_), runs)
    round_ = np.zeros(len(states), dtype=np.bool_)
    round_[states.source[inner]] = True
    endless = states.leading_to(round_, runs)
    for task in design.tasks:
        able = states.allow_any(each for each in system.steps if task in each.tasks)
        deadlocked = endless & ~states.leading_to(able, steps)
        for ways in finished(system, design, task) if deadlocked.any() else ():
            deadlocked &= ~states.within(ways)
        if deadlocked.any():
            raise Refuted(
                f"a state is reached in which {task} is blocked forever and others continue")
    return len(states)
