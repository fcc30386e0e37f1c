"""Runs that end with an accident, and runs that are repeated forever.

A task that starves has a run that returns to a state; it is *fair* if each transition that is
possible in all of its states is taken in it. A link that grows has a run that returns to all that
was there, and more in some links that have no bound.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..design.reading.language import Design
from .finished import finished
from .halted import never_again
from .transitions import system_of
from .run import Refuted, Ways, run_of
from .states import states_of
from .system import Counter, Transition, System, can_move
from .wanted import Wanted

__all__ = ["drops", "fails", "grows", "starves", "blocked_forever"]

State = dict[str, int]


def _after(state: State, transition: Transition) -> State:
    return {**state, **{name: state[name] + by for name, by in transition.change.items()}}


def _with_idle(system: System) -> System:
    return System(system.counters, system.steps, system.idle, system.ends)


# --- runs that end with an accident -------------------------------------------------------------

def drops(evidence: Mapping[str, Any], design: Design) -> str:
    """After all steps but the last, that one drops or loses something."""
    return _last(evidence, design, "drops or loses an element")


def fails(evidence: Mapping[str, Any], design: Design) -> str:
    """After all steps but the last, the design gives up."""
    return _last(evidence, design, "makes the design fail")


def _last(evidence: Mapping[str, Any], design: Design, told: str) -> str:
    system, steps = _with_idle(system_of(design)), evidence["steps"]
    if not steps:
        raise Refuted("the run has no step")
    state, _ = run_of(system, {"steps": steps[:-1]})
    if not any(can_move(each, state) and each.change == dict(steps[-1]) and
               (each.fails if told.endswith("fail") else each.wastes)
               for each in system.transitions):
        raise Refuted(f"the last step of the run is none that {told}")
    return f"a run of {len(steps):,} steps, of which the last {told}"


# --- runs that are repeated forever ---------------------------------------------------------------

def starves(evidence: Mapping[str, Any], part: Design, wanted: Wanted) -> str:
    """A fair run in which something is asked for and done no more, though not everything is done.
    """
    system = _with_idle(system_of(part))
    states, taken = _round(system, evidence, wanted.is_done_by)
    if wanted.task and any(map(system.is_rest, states)):
        raise Refuted("everything is done in the end of the run")
    if not all(map(wanted.is_asked, states)):
        raise Refuted(f"{wanted} is not asked for in the end of the run")
    for transition in system.transitions:
        if not transition.chance and not any(transition is each for each in taken) and all(
                can_move(transition, state) for state in states):
            who = " and ".join(transition.tasks) or "a link"
            raise Refuted(f"the run is not fair: a transition of {who} stays possible")
    if evidence["loop"] == len(evidence["steps"]):
        return f"a run of {len(evidence['steps']):,} steps, after which no task has to take a step"
    return (f"a fair run, of which the last {len(states):,} steps can be repeated forever without "
            f"{wanted}")


def blocked_forever(evidence: Mapping[str, Any], design: Design) -> str:
    """Check a run to a state from which some tasks never take a step again, and others do forever.
    """
    system, tasks = _with_idle(system_of(design)), set(evidence["blocked"])
    if not tasks <= design.tasks.keys() or not tasks:
        raise Refuted("the blocked tasks are no tasks of the design")
    if not evidence["at"] <= evidence["loop"] < len(evidence["steps"]):
        raise Refuted("the run has no steps that are repeated while they are blocked")
    whole = system
    if "legs" in evidence:
        system = _from(run_of(system, {"legs": evidence["legs"]})[0], system)
    _, taken = _round(system, evidence, lambda transition: bool(tasks & {*transition.tasks}))
    if all(transition.is_idle for transition in taken):
        raise Refuted("no step is taken while they are blocked")
    start, _ = run_of(system, {"steps": evidence["steps"][:evidence["at"]]})
    for task in tasks:
        if any(all(start[name] <= most for name, most in each.items())
               for each in finished(whole, design, task)):
            raise Refuted(f"{task} is not blocked: it has finished")
    mine = [transition for transition in system.transitions if tasks & {*transition.tasks}]
    lasting = [each for each in system.transitions if not each.chance or tasks & {*each.tasks}]
    on = "a run of the others that can be repeated forever"
    dead = never_again(lasting, start)
    if all(id(transition) in dead for transition in mine):
        return (f"{len(dead):,} transitions that lack what only they give, all those of "
                f"{' and '.join(sorted(tasks))} among them; {on}")
    later = states_of(_from(start, System(system.counters, lasting, [], system.ends)))
    if later.allow_any(mine).any():
        raise Refuted(f"one of {', '.join(sorted(tasks))} may take a step again")
    return (f"{len(later):,} states after the run, in none of which {' or '.join(sorted(tasks))} "
            f"can take a step, and {on}")


def _from(state: State, system: System) -> System:
    """The same, which begins there."""
    return replace(system, counters={
        name: Counter(state[name], counter.most, counter.rest)
        for name, counter in system.counters.items()})


def grows(evidence: Mapping[str, Any], design: Design) -> str:
    """A run that comes back to all that was there, and to more in links that have no bound: each
    step asks such links for no less than they then have, so it can be made again and again."""
    system = _with_idle(system_of(design))
    steps, loop = evidence["steps"], evidence["loop"]
    if not 0 <= loop < len(steps):
        raise Refuted("the run has no steps that are repeated")
    before, _ = run_of(system, {"steps": steps[:loop]})
    states, _ = _walk(system, before, steps[loop:], _nobody, loop)
    after = states[-1]
    more = {name for name in after if after[name] > before[name]}
    if not more or any(after[name] != before[name] for name in after.keys() - more):
        raise Refuted("the repeated steps do not come back to what was there, and more")
    if any(system.counters[name].most is not None for name in more):
        raise Refuted("the repeated steps add to what has a bound")
    # Made again, each step finds as much as the first time, or more: where it wants no more than
    # so much of what grows, it is possible no longer.
    unmoved = _without_room_for(system, more)
    _walk(unmoved, before, steps[loop:], _nobody, loop)
    return (f"a run of which the last {len(steps) - loop:,} steps can be repeated forever, with "
            f"more in {len(more):,} unbounded links each time")


def _without_room_for(system: System, names: set[str]) -> System:
    """The same, without the transitions for which there may be too much in one of these counters.
    """
    return replace(system, transitions=[
        transition for transition in system.transitions if not names & transition.room.keys()])


def _nobody(transition: Transition) -> bool:
    return False


def _round(
    system: System, evidence: Mapping[str, Any], without: Callable[[Transition], bool]
) -> tuple[list[State], list[Transition]]:
    """The states of the part of a run that is repeated, and the transitions that it may be made of,
    none of which is of these."""
    steps, loop = evidence["steps"], evidence["loop"]
    if not 0 <= loop <= len(steps):
        raise Refuted("the run has no such step from which it repeats")
    state, _ = run_of(system, {"steps": steps[:loop]})
    states, taken = _walk(system, state, steps[loop:], without, loop)
    if len(states) > 1 and states.pop() != state:
        raise Refuted("the run does not come back to where it repeats from")
    return states, taken


def _walk(
    system: System, state: State, steps: Sequence[Mapping[str, int]],
    without: Callable[[Transition], bool], first: int,
) -> tuple[list[State], list[Transition]]:
    """The states from here on, and all transitions that the steps may be, none of which is of
    these."""
    states, taken, transitions = [state], list[Transition](), Ways(system)
    for number, step in enumerate(steps, start=first + 1):
        ways = [transition for transition in transitions.of(step)
                if can_move(transition, states[-1]) and not without(transition)]
        if not ways:
            raise Refuted(f"step {number} of the run is not possible")
        taken += ways
        states.append(_after(states[-1], ways[0]))
    return states, taken
