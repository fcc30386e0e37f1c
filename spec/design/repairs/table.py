"""The kinds of changes that may help, ordered by what they give up.

What is only a number of the configuration comes first (memory, threads, permits), then what may
make some tasks slower or rarer (policies, windows), then what changes a program (the order of its
steps), then what changes what arrives: other amounts, other ways. Last come what a program would
have to be primed with, elements that no task wrote, and what loses elements or work. Each of these
three is offered only where nothing before it helps. Nothing is decided here: the engines are asked.
"""

from __future__ import annotations

from typing import Final

from . import numbers, policies, steps
from .change import KindOfChange, Tier

__all__ = ["KINDS"]

BUSY: Final = "less is done at the same time"
ORDER: Final = "it costs nothing, if the program allows that order"
MEMORY: Final = "it costs nothing but memory"
WAIT: Final = "writers wait where they never did"

KINDS: Final = (
    KindOfChange("capacity", MEMORY, Tier.RESOURCES, numbers.capacity),
    KindOfChange("hand", MEMORY, Tier.RESOURCES, numbers.hand),
    KindOfChange("batch", "it costs more announcements", Tier.RESOURCES, numbers.batch),
    KindOfChange("threads", "it costs more of the pool", Tier.RESOURCES, numbers.threads),
    KindOfChange("fairness", "an input that has much to give waits for its turn", Tier.SLOWER,
                 policies.fairness),
    KindOfChange("preference", "the other inputs may starve meanwhile", Tier.SLOWER,
                 policies.preference),
    KindOfChange("window", BUSY, Tier.SLOWER, numbers.window),
    KindOfChange("order of locks", ORDER, Tier.SLOWER, steps.lock_order),
    KindOfChange("calls at a time", BUSY, Tier.SLOWER, numbers.calls),
    KindOfChange("copies at once", BUSY, Tier.SLOWER, policies.seats),
    KindOfChange("limit on what is under way", BUSY, Tier.SLOWER, policies.under_way),
    KindOfChange("an earlier stop", "writers are stopped earlier", Tier.SLOWER, numbers.mark),
    KindOfChange("a bound", WAIT, Tier.SLOWER, numbers.bound),
    KindOfChange("waiting", WAIT, Tier.SLOWER, policies.waiting),
    KindOfChange("order of steps", ORDER, Tier.PROGRAM, steps.step_order),
    KindOfChange("fewer at the start", "those elements are not there", Tier.ARRIVING,
                 numbers.held_at_the_start),
    KindOfChange("losses", "it needs a channel that loses less", Tier.ARRIVING, numbers.reliable),
    KindOfChange("elements at once", "other amounts than now are written or read", Tier.ARRIVING,
                 numbers.at_once),
    KindOfChange("smaller windows", "what is written stands for fewer elements", Tier.ARRIVING,
                 numbers.windows),
    KindOfChange("early windows", "what is written may stand for fewer elements", Tier.ARRIVING,
                 policies.early),
    KindOfChange("kinds overtake", "elements of different kinds lose their order", Tier.ARRIVING,
                 policies.overtaking),
    KindOfChange("routing", "elements go where a slot is free, whatever they are: right only where "
                 "it makes no difference which link one takes", Tier.ARRIVING, policies.routing),
    KindOfChange("more at the start", "elements are there that no task wrote", Tier.PRIMES,
                 numbers.more_at_the_start),
    KindOfChange("fewer runs", "it LOSES the work of the other runs", Tier.LOSES, numbers.count),
    KindOfChange("dropping", "it LOSES elements", Tier.LOSES, policies.dropping),
)
"""The kinds, what gives up least first."""
