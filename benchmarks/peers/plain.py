"""The models as plain Python: a state is a tuple, and a function gives the steps from it.

``python -m benchmarks.peers.plain NAME NUMBER…`` lets minicheck, from PyPI,
search all states of one, and prints their number.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Final

from checkvalve.spec.notation import InternalError

__all__ = ["PLAIN", "main"]

State = tuple[Any, ...]
Steps = Callable[[State], list[tuple[str, State]]]


def ring(links: int, capacity: int, elements: int) -> tuple[State, Steps]:
    """Permits, permits under way, elements under way, elements that wait; see ``ring``."""
    waiting = tuple(min(capacity, max(0, elements - link * capacity)) for link in range(links))
    start = (*(capacity - here for here in waiting), *(0,) * (2 * links), *waiting)

    def steps(state: State) -> list[tuple[str, State]]:
        found = []
        for i in range(links):
            j = (i + 1) % links
            if state[3 * links + i] and state[j]:
                found.append(("move", _changed(state, (3 * links + i, -1), (links + i, 1),
                                               (j, -1), (2 * links + j, 1))))
            if state[2 * links + i]:
                found.append(("deliver", _changed(state, (2 * links + i, -1), (3 * links + i, 1))))
            if state[links + i]:
                found.append(("permit", _changed(state, (links + i, -1), (i, 1))))
        return found
    return start, steps


def calls(services: int, threads: int) -> tuple[State, Steps]:
    """Who waits, who is in a nested call, who has its answer; see ``benchmarks/calls``."""
    k = services

    def steps(state: State) -> list[tuple[str, State]]:
        free = [state[i] + state[k + i] + state[2 * k + i] + state[k + (i - 1) % k] < threads
                for i in range(k)]
        found = []
        for i in range(k):
            if free[i]:
                found.append(("enter", _changed(state, (i, 1))))
            if state[i] and free[(i + 1) % k]:
                found.append(("call", _changed(state, (i, -1), (k + i, 1))))
            if state[k + i]:
                found.append(("answer", _changed(state, (k + i, -1), (2 * k + i, 1))))
            if state[2 * k + i]:
                found.append(("done", _changed(state, (2 * k + i, -1))))
        return found
    return (0,) * (3 * k), steps


def overflow(messages: int) -> tuple[State, Steps]:
    """What each has sent, links, statuses, the recvQ and the overflow; see ``benchmarks/overflow``.

    Messages of a sender are processed in their order here, so who sent them is enough.
    """
    def steps(state: State) -> list[tuple[str, State]]:
        recv, over = state[6], state[7]
        found = []
        for i in range(2):
            if state[i] < messages and not state[4 + i] and state[2 + i] < 2:
                found.append(("send", _changed(state, (i, 1), (2 + i, 1))))
            if state[2 + i]:
                left = _changed(state, (2 + i, -1))
                found.append(("arrive", (*left[:6], (*recv, i), over) if not over and len(recv) < 2
                              else (*left[:6], recv, (*over, i))))
            if state[4 + i] != bool(over):
                found.append(("hear", _changed(state, (4 + i, 1 if over else -1))))
        if recv:
            found.append(("take", (*state[:6], recv[1:], over)))
        elif over:
            found.append(("take", (*state[:6], recv, over[1:])))
        return found
    return (0, 0, 0, 0, 0, 0, (), ()), steps


def _changed(state: State, *changes: tuple[int, int]) -> State:
    after = list(state)
    for place, more in changes:
        after[place] += more
    return tuple(after)


PLAIN: Final[dict[str, Callable[..., tuple[State, Steps]]]] = {
    "ring": ring, "calls": calls, "overflow": overflow}


def main() -> None:
    """Search all states by minicheck, and print how many there are."""
    from minicheck import Protocol, check_safety

    name, *numbers = sys.argv[1:]
    start, steps = PLAIN[name](*map(int, numbers))
    found = check_safety(
        Protocol(name=name, candidate=False, fields=tuple(map(str, range(len(start)))),
                 initial=start, transitions=steps, invariants={}), max_states=1 << 40)
    if not found["exhaustive"]:
        raise InternalError("minicheck did not search all states")
    print(found["reachable_states"])


if __name__ == "__main__":
    main()
