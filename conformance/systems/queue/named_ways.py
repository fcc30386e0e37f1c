"""The usual names of a queue's methods, and the calls of them that answer at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from ....spec.notation.errors import InputError
from ...foreign.surface import GIVES_WAY, Surface, Wanted, is_awaited

__all__ = ["ALSO", "CAPACITY", "WANTED", "Ways", "capacity_of", "tells"]

Item = str | int

WANTED: Final = (
    Wanted("put", ("put", "push", "send", "enqueue", "add", "append"), needed=True, given=1,
           instead="put_nowait"),
    Wanted("get", ("get", "pop", "take", "receive", "recv", "dequeue"), needed=True, given=0,
           instead="get_nowait"),
    Wanted("put_nowait", ("put_nowait", "try_put", "offer", "push_nowait", "send_nowait",
                          "try_send")),
    Wanted("get_nowait", ("get_nowait", "try_get", "poll", "pop_nowait", "receive_nowait",
                          "try_receive")),
    Wanted("size", ("qsize", "size", "__len__"), at_first=0),
)
"""The usual names of a queue's methods."""

CAPACITY: Final = ("maxsize", "capacity", "max_size", "size", "limit", "bound", "maxlen", "n")
"""The usual names of the argument that says how many items the queue may hold."""

ALSO: Final = ("capacity", "policy", "full", "empty")
"""Other things that may have a name: the argument that says how many items it may hold, its policy
when there is no free slot (one of the port's policies), and exceptions.
"""

_FULL: Final = ("full", "wouldblock", "would_block")
_EMPTY: Final = ("empty", "wouldblock", "would_block")


class Ways:
    """The calls of one queue, whether threads or tasks make them."""

    def __init__(self, surface: Surface) -> None:
        self.surface = surface
        names = surface.place.names
        self.full = (*_FULL, *([names["full"].lower()] if "full" in names else ()))
        self.empty = (*_EMPTY, *([names["empty"].lower()] if "empty" in names else ()))
        self.offers = self._at_once("put_nowait", "put")
        self.polls = self._at_once("get_nowait", "get")

    def _at_once(self, name: str, waiting: str) -> Callable[..., Any] | None:
        """The method that answers at once, or the one that waits with an argument that says so."""
        if name in self.surface:
            return self.surface[name]
        says = [each for each in GIVES_WAY
                if waiting in self.surface and self.surface.takes(waiting, each)
                and not is_awaited(self.surface[waiting])]
        return partial(self.surface[waiting], **{says[0]: False}) if says else None

    @property
    def lacks(self) -> Sequence[str]:
        """The operations of the port that it does not have."""
        return [operation for operation, has in (
            ("offer", self.offers), ("poll", self.polls), ("size", "size" in self.surface),
            ("put", "put" in self.surface), ("take", "get" in self.surface),
        ) if not has]

    @property
    def waiting(self) -> Sequence[str]:
        """Its methods that wait, by our names."""
        return [name for name in ("put", "get") if name in self.surface]

    def never_waits(self, ours: str, how: str) -> InputError:
        """The error for a method that answers at once that there is no free slot, or no item."""
        theirs = self.surface.called[ours]
        lacks = "room" if ours == "put" else "an item"
        return InputError(
            f"{theirs} of {self.surface.place.words} does not wait where it lacks {lacks}, but "
            f"answers at once, {how}; what is called {ours} here waits",
            next_step=f"Write --names {ours}_nowait={theirs}, and --names {ours}=… if another "
            "method waits.")

    def offer(self, item: Item) -> bool:
        """Put an item at once, or answer that there is no free slot."""
        assert self.offers is not None
        try:
            return self.offers(item) is not False
        except Exception as error:
            if tells(error, self.full):
                return False
            raise

    def poll(self) -> Item | None:
        """Take an item at once, or answer None."""
        assert self.polls is not None
        try:
            item: Item | None = self.polls()
        except Exception as error:
            if tells(error, self.empty):
                return None
            raise
        return item

    def size(self) -> int:
        """The number of items."""
        size: int = self.surface["size"]()
        return size


def tells(error: Exception, words: Sequence[str]) -> bool:
    """True if the name of an error, or of one of its bases, has one of these words."""
    names = [kind.__name__.lower() for kind in type(error).__mro__]
    return any(word in name for word in words for name in names)


def capacity_of(capacity: int) -> Mapping[str, tuple[Any, Sequence[str]]]:
    """The argument of the constructor, as ``made_with`` takes it."""
    return {"capacity": (capacity, CAPACITY)}
