"""What is shown by going through the states of a design, and by runs that are repeated for ever.

A small design needs no sums: all its states are visited here, with this reading of its moves. A
task that starves has a run that comes back to a state; it is *fair* if each move that could be made
in all of its states is made in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..design.language import Design
from .confluence import is_stuck
from .moves import Move, NotCovered, System, can_move, state_of, system_of
from .run import Refuted, run_of

__all__ = ["MAX_STATES", "drops", "fails", "never_stuck_in", "starves", "stuck_for_ever"]

MAX_STATES = 60_000
"""States that are visited at most."""

State = dict[str, int]
Key = tuple[int, ...]


def never_stuck_in(system: System, first: str) -> int:
    """Visit all states of the part of the task ``first``, none of which is stuck; how many there
    are. Raises Refuted."""
    number = 0
    for state in _states(system, state_of(system), system.moves):
        number += 1
        if is_stuck(system, state):
            raise Refuted(f"the part of {first} has a stuck state that is reached")
    return number


def _states(system: System, start: State, moves: Sequence[Move]) -> Iterator[State]:
    """All states that moves lead to; a design that has given up goes nowhere."""
    names = list(system.counters)
    seen, waiting = {_key(names, start)}, [start]
    while waiting:
        state = waiting.pop()
        yield state
        for move in moves:
            if move.fails or not can_move(move, state):
                continue
            after = _after(state, move)
            key = _key(names, after)
            if key not in seen:
                if len(seen) == MAX_STATES:
                    raise NotCovered(f"more than {MAX_STATES:,} states")
                seen.add(key)
                waiting.append(after)


def _key(names: Sequence[str], state: Mapping[str, int]) -> Key:
    return tuple(state[name] for name in names)


def _after(state: State, move: Move) -> State:
    return {**state, **{name: state[name] + by for name, by in move.change.items()}}


# --- runs that end with an accident -------------------------------------------------------------

def drops(evidence: Mapping[str, Any], design: Design) -> str:
    """After all steps but the last, that one drops or loses something."""
    return _last(evidence, design, "drops or loses an element")


def fails(evidence: Mapping[str, Any], design: Design) -> str:
    """After all steps but the last, the design gives up."""
    return _last(evidence, design, "makes the design fail")


def _last(evidence: Mapping[str, Any], design: Design, told: str) -> str:
    system, steps = _with_idle(design), evidence["steps"]
    if not steps:
        raise Refuted("the run has no step")
    state, _ = run_of(system, {"steps": steps[:-1]})
    if not any(can_move(move, state) and move.change == dict(steps[-1]) and
               (move.fails if told.endswith("fail") else move.wastes) for move in system.moves):
        raise Refuted(f"the last step of the run is none that {told}")
    return f"a run of {len(steps):,} steps, of which the last {told}"


def _with_idle(design: Design) -> System:
    system = system_of(design)
    return System(system.counters, [*system.moves, *system.idle], system.idle, system.ends)


# --- runs that are repeated for ever -------------------------------------------------------------

def starves(evidence: Mapping[str, Any], design: Design, task: str) -> str:
    """A fair run in which the task moves no more, though not everything is done."""
    system = _with_idle(design)
    states, taken = _round(system, evidence, {task})
    if system.ends and not any(
            counter.rest is not None and states[0][name] > counter.rest
            for name, counter in system.counters.items()):
        raise Refuted("everything is done in the end of the run")
    for move in system.moves:
        if not move.chance and move not in taken and all(can_move(move, s) for s in states):
            raise Refuted(f"the run is not fair: a move of {move.task or 'a link'} stays possible")
    return (f"a fair run, of which the last {len(states):,} steps can be repeated for ever without "
            f"a step of {task}")


def stuck_for_ever(evidence: Mapping[str, Any], design: Design) -> str:
    """A run to a state from which some tasks never move again, and others for ever."""
    system, tasks = _with_idle(design), set(evidence["stuck"])
    if not tasks <= design.tasks.keys() or not tasks:
        raise Refuted("those who are stuck are no tasks of the design")
    _round(system, evidence, tasks)
    start, _ = run_of(system, {"steps": evidence["steps"][:evidence["at"]]})
    mine = [move for move in system.moves if move.task in tasks]
    lasting = [move for move in system.moves if not move.chance]
    seen = 0
    for state in _states(system, start, lasting):
        seen += 1
        if any(can_move(move, state) for move in mine):
            raise Refuted(f"one of {', '.join(sorted(tasks))} may move again")
    for task in tasks:
        if _has_finished(system, design, start, task):
            raise Refuted(f"{task} is not stuck: it has finished")
    return (f"{seen:,} states after the run, in none of which {' or '.join(sorted(tasks))} can "
            "move, and a run of the others that can be repeated for ever")


def _has_finished(system: System, design: Design, state: State, task: str) -> bool:
    """Whether a task holds nothing and has nothing to take, and whoever it reads from neither."""
    above, waiting = {task}, [task]
    while waiting:
        here = waiting.pop()
        if design.tasks[here].kind.value not in ("source", "script"):
            more = {w for link in design.inputs(here) for w in link.writers} - above
            above |= more
            waiting += more
    ends = system.ends or any(design.tasks[each].kind.value in ("source", "script")
                              for each in above)
    return ends and all(_rests(system, design, state, each) for each in above)


def _rests(system: System, design: Design, state: State, task: str) -> bool:
    here = design.tasks[task]
    if here.kind.value in ("source", "script", "call") and here.count is None:
        return False
    reads = set() if here.kind.value == "script" else {
        f"elements in {link.name}" for link in design.inputs(task)}
    return all(counter.rest is None or state[name] <= counter.rest
               for name, counter in system.counters.items()
               if name in reads or name.startswith(f"{task}: "))


def _round(
    system: System, evidence: Mapping[str, Any], without: set[str]
) -> tuple[list[State], list[Move]]:
    """The states of the part of a run that is repeated, and the moves that it may be made of, none
    of which is of these tasks."""
    steps, loop = evidence["steps"], evidence["loop"]
    if not 0 <= loop <= len(steps):
        raise Refuted("the run has no such step from which it repeats")
    state, _ = run_of(system, {"steps": steps[:loop]})
    states, taken = [state], list[Move]()
    for number, step in enumerate(steps[loop:], start=loop + 1):
        ways = [move for move in system.moves if not move.fails and move.task not in without
                and move.change == dict(step) and can_move(move, states[-1])]
        if not ways:
            raise Refuted(f"step {number} of the run is not possible")
        taken += ways
        states.append(_after(states[-1], ways[0]))
    if len(states) > 1 and states.pop() != state:
        raise Refuted("the run does not come back to where it repeats from")
    return states, taken
