"""The models for SPIN: a byte for each counter, and one indivisible step for each action.

Each begins with a step that makes the first state, so SPIN stores one state more. Every state is a
valid end: what is compared is the search of all.
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["calls", "overflow", "ring"]


def _process(declared: str, start: Iterable[str], steps: Iterable[str]) -> str:
    return "\n".join([
        declared, "active proctype model() {", "  d_step {", *(f"    {each}" for each in start),
        "  }", "end:", "  do", *(f"  :: d_step {{ {step} }}" for step in steps), "  od", "}", ""])


def ring(links: int, capacity: int, elements: int) -> str:
    """See ``benchmarks/ring``."""
    waiting = [min(capacity, max(0, elements - link * capacity)) for link in range(links)]
    steps = []
    for i in range(links):
        j = (i + 1) % links
        steps += [
            f"(Q[{i}] > 0 && P[{j}] > 0) -> Q[{i}]--; F[{i}]++; P[{j}]--; D[{j}]++",
            f"(D[{i}] > 0) -> D[{i}]--; Q[{i}]++",
            f"(F[{i}] > 0) -> F[{i}]--; P[{i}]++",
        ]
    return _process(
        f"byte P[{links}], F[{links}], D[{links}], Q[{links}];",
        (f"P[{i}] = {capacity - here}; Q[{i}] = {here};" for i, here in enumerate(waiting)), steps)


def calls(services: int, threads: int) -> str:
    """See ``benchmarks/calls``."""
    free = [f"(W[{i}] + N[{i}] + R[{i}] + N[{(i - 1) % services}] < {threads})"
            for i in range(services)]
    steps = []
    for i in range(services):
        steps += [
            f"{free[i]} -> W[{i}]++",
            f"(W[{i}] > 0 && {free[(i + 1) % services]}) -> W[{i}]--; N[{i}]++",
            f"(N[{i}] > 0) -> N[{i}]--; R[{i}]++",
            f"(R[{i}] > 0) -> R[{i}]--",
        ]
    return _process(f"byte W[{services}], N[{services}], R[{services}], begun;", ("begun = 1;",),
                    steps)


def overflow(messages: int) -> str:
    """See ``benchmarks/overflow``."""
    process = (f"if :: (x % {messages} < newest[x / {messages}]) -> late = 1 "
               f":: else -> newest[x / {messages}] = x % {messages} + 1 fi; x = 0")
    steps = []
    for i in range(2):
        steps += [
            f"(sent[{i}] < {messages} && !stop[{i}] && len(link[{i}]) < 2) -> "
            f"link[{i}]!sent[{i}]; sent[{i}]++",
            f"(len(link[{i}]) > 0) -> link[{i}]?x; x = {i * messages} + x; "
            "if :: (len(over) == 0 && len(recv) < 2) -> recv!x :: else -> over!x fi; x = 0",
            f"(stop[{i}] != (len(over) > 0)) -> stop[{i}] = (len(over) > 0)",
        ]
    steps += [f"(len(recv) > 0) -> recv?x; {process}",
              f"(len(recv) == 0 && len(over) > 0) -> over?x; {process}"]
    return _process(
        "byte sent[2], newest[2], begun, x; bool stop[2], late;\n"
        "chan link[2] = [2] of { byte };\n"
        f"chan recv = [2] of {{ byte }};\nchan over = [{2 * messages}] of {{ byte }};",
        ("begun = 1;",), steps)
