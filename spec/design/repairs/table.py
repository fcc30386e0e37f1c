"""The kinds of changes that may help, ordered by what they give up.

What is only a number of the configuration comes first (memory, threads), then what may make some
tasks slower or rarer (policies, windows), then what changes a program (the order of its steps),
and last what changes what arrives: other amounts, other ways, elements that nobody sent, and
elements that are dropped. Nothing is decided here: the engines are asked.
"""

from __future__ import annotations

from typing import Final

from . import numbers, policies, steps
from .change import KindOfChange

__all__ = ["KINDS"]

BUSY: Final = "less is done at the same time"
ORDER: Final = "it costs nothing, if the program allows that order"
FREE, SLOWER, PROGRAM, ARRIVING, LOST = range(5)

KINDS: Final = (
    KindOfChange("capacity", "it costs nothing but memory", FREE, numbers.capacity),
    KindOfChange("hand", "it costs nothing but memory", FREE, numbers.hand),
    KindOfChange("batch", "it costs more announcements", FREE, numbers.batch),
    KindOfChange("threads", "it costs nothing but threads", FREE, numbers.threads),
    KindOfChange("fairness", "an input that has much to give waits for its turn", SLOWER,
                 policies.fairness),
    KindOfChange("preference", "the other inputs may wait for ever meanwhile", SLOWER,
                 policies.preference),
    KindOfChange("window", BUSY, SLOWER, numbers.window),
    KindOfChange("order of locks", ORDER, SLOWER, steps.lock_order),
    KindOfChange("calls at a time", BUSY, SLOWER, numbers.calls),
    KindOfChange("copies at once", BUSY, SLOWER, policies.seats),
    KindOfChange("limit on what is under way", BUSY, SLOWER, policies.under_way),
    KindOfChange("an earlier stop", "writers are stopped earlier", SLOWER, numbers.mark),
    KindOfChange("a bound", "writers wait where they never did", SLOWER, numbers.bound),
    KindOfChange("waiting", "writers wait where they never did", SLOWER, policies.waiting),
    KindOfChange("order of steps", ORDER, PROGRAM, steps.step_order),
    KindOfChange("fewer at the start", "those elements are not there", ARRIVING,
                 numbers.held_at_the_start),
    KindOfChange("losses", "it needs a channel that loses less", ARRIVING, numbers.reliable),
    KindOfChange("elements at once", "other amounts than now are written or read", ARRIVING,
                 numbers.at_once),
    KindOfChange("smaller windows", "what is written stands for fewer elements", ARRIVING,
                 numbers.windows),
    KindOfChange("early windows", "what is written may stand for fewer elements", ARRIVING,
                 policies.early),
    KindOfChange("fewer runs", "the work of the other runs is not done", ARRIVING, numbers.count),
    KindOfChange("routing", "elements no longer decide where they go", ARRIVING,
                 policies.routing),
    KindOfChange("kinds overtake", "elements of different kinds lose their order", ARRIVING,
                 policies.overtaking),
    KindOfChange("more at the start", "elements are there that nobody wrote", ARRIVING,
                 numbers.more_at_the_start),
    KindOfChange("dropping", "elements may be lost", LOST, policies.dropping),
)
"""The kinds, what gives up least first."""
