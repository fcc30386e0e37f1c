"""The reachable states as a graph, for rules about what must happen in the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ...notation.expr import Expr
from ...notation.labels import counted
from ...notation.model import Fault, Model
from ...notation.model import Value
from ...verdicts.deadline import Deadline
from ...verdicts.memory import meter
from ...verdicts.verdict import Budget
from .control import Thread
from .engine import Search, Stop
from .jit import compile_model
from .layout import Layout

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["NativeGraph", "graph"]

_EDGE_BYTES = 8  # target and action
_ROW_BYTES = 8


@dataclass(frozen=True)
class NativeGraph:
    """States in breadth-first order with the steps between them, as numpy arrays.

    The edges of state ``i`` are ``first[i]`` up to ``first[i + 1]`` in ``target`` (the
    index of a state) and ``via`` (the index of an action of the model), by action.
    ``predicate_bits[p, i]`` says whether predicate ``p`` holds in state ``i``. ``words``
    are the packed states, a view of those of the ``search``. Where it was cut short (``complete``
    is false, and ``stopped_by`` says by which budget) there are no edges and no bits. ``fault`` is
    the first fault with the run to it, as in :class:`NativeResult`.
    """

    layout: Layout
    states: int
    first: npt.NDArray[np.int64]
    target: npt.NDArray[np.int32]
    via: npt.NDArray[np.int32]
    predicate_bits: npt.NDArray[np.bool_]
    depth: int
    complete: bool
    stopped_by: Stop
    seconds: float
    peak_bytes: int
    fault: tuple[Fault, list[int]] | None = field(default=None)
    search: Search | None = field(default=None, repr=False)

    @property
    def words(self) -> npt.NDArray[np.uint64]:
        """The states as they are packed: a view of what the search found."""
        import numpy as np
        assert self.search is not None
        size = self.layout.words
        return np.ctypeslib.as_array(
            self.search.order.words(0, size * self.states)).reshape(self.states, size)

    def decode(self, index: int) -> dict[str, Value]:
        """The values of all slots in a state."""
        return self.layout.unpack([int(word) for word in self.words[index]])


def graph(model: Model, predicates: Sequence[Expr], budget: Budget) -> NativeGraph:
    """Find all reachable states of a model and the steps between them.

    Deterministic, on one thread. Raises TooWide where a state does not fit in the words
    that the explorer packs.
    """
    import numpy as np
    budget = budget.start()
    began = budget.deadline.spent()
    native = compile_model(model, (), 1, predicates, budget.deadline)
    search = Search(native, 0, budget, 1)
    complete, stopped_by = search.run()
    states, depth = search.found_until(stopped_by)
    edges = int(search.workers[0].control[Thread.TRANSITIONS])
    size = edges * _EDGE_BYTES + states * (_ROW_BYTES + len(predicates))
    over = budget.max_memory is not None and search.peak + size > budget.max_memory
    if complete and (over or not meter().has_room(size)):
        complete, stopped_by = False, "memory"
    empty = np.zeros(0, dtype=np.int32)
    result = NativeGraph(
        native.layout, states, np.zeros(states + 1 if complete else 1, dtype=np.int64), empty,
        empty, np.zeros((len(predicates), states if complete else 0), dtype=np.bool_), depth,
        complete, stopped_by, budget.deadline.spent() - began, search.peak + size, search.fault,
        search,
    )
    if complete:
        result = _with_edges(search, result, edges, budget.deadline)
    search.table.close()  # only the states are looked at from here on
    return result


def _with_edges(
    search: Search, found: NativeGraph, edges: int, deadline: Deadline
) -> NativeGraph:
    """Fill in the edges and the predicates of a finished search.

    Raises OutOfTime where the time ends meanwhile.
    """
    import numpy as np
    began = deadline.spent()
    spare = 8  # native code writes a little beyond the last edge before it knows
    target, via = (np.empty(edges + spare, dtype=np.int32) for _ in range(2))
    buffer = search.workers[0].control[Thread.SUCCESSORS]
    states = found.states
    for first in range(0, states, search.quota):
        deadline.check(f"collecting the steps between {counted(states, 'state')}")
        count = min(search.quota, states - first)
        part = search.order.address + 8 * search.words * first
        search.native.edges(
            search.table.address, search.lines, search.order.address, part, count, buffer,
            _address(found.first) + 8 * first, _address(target), _address(via))
        search.native.predicates(part, count, _address(found.predicate_bits) + first, states)
    return replace(found, target=target[:edges], via=via[:edges],
                   seconds=found.seconds + deadline.spent() - began)


def _address(array: Any) -> int:
    return int(array.ctypes.data)
