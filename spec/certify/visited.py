"""What is shown by visiting all states of a part of a design.

Nothing has to be believed for that but this reading of the moves. A certificate says how many
states there are at most.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from ..design.reading.language import Design
from .run import Refuted
from .scripts import may_be_done
from .states import States, states_of
from .system import Move, System
from .wanted import Wanted

if TYPE_CHECKING:
    from .states import Marks

__all__ = [
    "largest_in", "never_in", "never_ceases_in", "never_locked_in", "never_stuck_in", "upstream",
]


def never_stuck_in(system: System, most: int) -> int:
    """Visit all states, in none of which nothing can move and work is left; how many there are.
    Raises Refuted and NotCovered, as all of these do."""
    states = states_of(system, most, so_far=True)
    stuck = ~states.allow_any(system.moves)
    if system.ends:
        stuck &= ~states.within(system.counters)
    if stuck.any():
        raise Refuted("a stuck state is reached")
    return len(states)


def never_in(system: System, most: int, moves: Iterable[Move], what: str) -> int:
    """In no state is one of these moves possible."""
    states = states_of(system, most, so_far=True)
    if states.allow_any(moves).any():
        raise Refuted(f"a state is reached in which a move {what}")
    return len(states)


def largest_in(system: System, most: int) -> tuple[int, Mapping[str, int]]:
    """How many states there are, and the largest number of each counter in any of them."""
    states = states_of(system, most)
    return len(states), {name: int(states.table[:, place].max())
                         for name, place in states.column.items()}


# --- for ever -----------------------------------------------------------------------------------

def never_ceases_in(system: System, wanted: Sequence[Wanted], most: int) -> int:
    """There is no fair run in which one of these is asked for and done no more, though not
    everything is done; how many states there are.

    A set of states that lead to each other can be gone round for ever. That is fair if each move
    which must be made in the end, for it is always possible there, is made there; so all that can
    be is in the largest such sets.
    """
    if not wanted:
        return 0
    states = states_of(system, most, edges=True)
    for each in wanted:
        _goes_on(states, system, each)
    return len(states)


def _goes_on(states: States, system: System, wanted: Wanted) -> None:
    import numpy as np
    going = np.ones(len(states), dtype=np.bool_)
    if system.ends and wanted.task:  # what nobody reads any more is asked for in the end, too
        going &= ~states.within(system.counters)
    if wanted.asking:
        going &= states.table[:, states.column[wanted.asking]] >= wanted.least
    if wanted.until:
        going &= states.table[:, states.column[wanted.until]] == 0
    others = np.array([not wanted.is_done_by(move) for move in states.moves], dtype=np.bool_)
    steps = others[states.via] if len(states.via) else np.zeros(0, dtype=np.bool_)
    group, inner = states.circles(going, steps)
    fair = np.zeros(len(states), dtype=np.bool_)
    fair[group[going]] = True
    size = np.bincount(group, minlength=len(states))
    for number, move in enumerate([*states.moves, *(m for m in system.steps if m.fails)]):
        if move.chance:
            continue
        always = np.bincount(group[states.allow(move)], minlength=len(states)) == size
        made = np.zeros(len(states), dtype=np.bool_)
        made[group[states.source[inner & (states.via == number)]]] = True
        fair &= ~always | made
    if fair.any():
        raise Refuted(f"there is a fair run without {wanted}")


def never_locked_in(system: System, design: Design, most: int) -> int:
    """In no state is a task stuck for ever from which a run of the others never ends."""
    import numpy as np
    states = states_of(system, most, edges=True)
    lasting = np.array([not move.chance for move in states.moves], dtype=np.bool_)
    moving = np.array([not (move.chance or move.is_idle) for move in states.moves], dtype=np.bool_)
    none = np.zeros(0, dtype=np.bool_)
    steps = lasting[states.via] if len(states.via) else none
    runs = moving[states.via] if len(states.via) else none
    _, inner = states.circles(np.ones(len(states), dtype=np.bool_), runs)
    round_ = np.zeros(len(states), dtype=np.bool_)
    round_[states.source[inner]] = True
    endless = states.leading_to(round_, runs)
    for task in design.tasks:
        able = states.allow_any(move for move in system.steps if task in move.tasks)
        stuck = endless & ~states.leading_to(able, steps)
        if stuck.any() and (stuck & ~_finished(states, system, design, task)).any():
            raise Refuted(f"a state is reached in which {task} is stuck for ever and others go on")
    return len(states)


def _finished(states: States, system: System, design: Design, task: str) -> Marks:
    """The states in which a task has ceased, or holds nothing and has nothing to take, and nor have
    all from whom that comes."""
    import numpy as np
    found = np.zeros(len(states), dtype=np.bool_)
    running = f"{task}: running"
    if running in states.column:
        found |= states.table[:, states.column[running]] == 0
    above = upstream(design, task)
    if system.ends or any(design.tasks[each].kind.value in ("source", "script") for each in above):
        rests = [states.within(resting) for each in above
                 if (resting := resting_of(system, design, each)) is not None]
        if len(rests) == len(above):
            found |= np.logical_and.reduce(rests)
    return found


def upstream(design: Design, task: str) -> set[str]:
    """The task, and all from whom elements come to it by way of others."""
    above, waiting = {task}, [task]
    while waiting:
        here = waiting.pop()
        if design.tasks[here].kind.value not in ("source", "script"):
            more = {w for link in design.inputs(here) for w in link.writers} - above
            above |= more
            waiting += more
    return above


def resting_of(system: System, design: Design, task: str) -> list[str] | None:
    """The counters that are at rest when a task is; None for one that goes on for ever."""
    here = design.tasks[task]
    if here.kind.value in ("source", "script", "call") and not may_be_done(here):
        return None
    reads = set() if here.kind.value == "script" else {
        f"elements in {link.name}" for link in design.inputs(task)}
    return [name for name in system.counters if name in reads or name.startswith(f"{task}: ")]
