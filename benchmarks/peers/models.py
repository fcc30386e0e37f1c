"""What is searched side by side: three models, two sizes of each, and what every program finds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from checkvalve.spec.notation import BoundMachine

from . import promela
from ..calls import calls
from ..overflow import overflow
from ..ring import ring, states_of_ring

__all__ = ["MODELS", "SearchModel"]


@dataclass(frozen=True)
class SearchModel:
    """A model for all programs.

    ``plain`` names what makes it in ``plain``, and ``numbers`` are the arguments, there and of
    ``machine``. ``macros`` are those of the program in C, where it knows the model. ``rule`` is
    what ``asked`` is asked about besides, or a variant of it.
    """

    title: str
    plain: str
    numbers: tuple[int, ...]
    states: int
    machine: Callable[[], BoundMachine]
    text: str
    macros: tuple[str, ...] = ()
    rule: str = ""
    asked: Callable[[], BoundMachine] | None = None


def _ring(links: int, capacity: int, elements: int) -> SearchModel:
    states = states_of_ring(links, capacity, elements)
    return SearchModel(
        f"ring of {links} links, capacity {capacity}, {elements} elements", "ring",
        (links, capacity, elements), states, lambda: ring(links, capacity, elements),
        promela.ring(links, capacity, elements),
        (f"-DN={links}", f"-DC={capacity}", f"-DT={elements}", f"-DSTATES={states}"))


def _calls(services: int, threads: int, states: int) -> SearchModel:
    def machine() -> BoundMachine:
        return calls(services, threads)
    return SearchModel(
        f"calls round a ring of {services} services, {threads} threads each", "calls",
        (services, threads), states, machine, promela.calls(services, threads), rule="BENCH-4",
        asked=machine)


def _overflow(messages: int, states: int) -> SearchModel:
    return SearchModel(
        f"overflow of two senders with {messages} messages each", "overflow", (messages,), states,
        lambda: overflow(messages), promela.overflow(messages), rule="BENCH-5",
        asked=lambda: overflow(messages, alternating=True))


MODELS: Final = (
    _ring(7, 2, 5), _calls(7, 2, 1_353_120), _overflow(7, 1_301_252),
    _ring(6, 3, 9), _calls(8, 2, 10_168_148), _overflow(8, 4_993_662),
)
"""The smaller size of each, then the larger. The numbers of states were counted first by other
programs than these."""
