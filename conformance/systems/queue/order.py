"""In which order the items of a queue came in, where many calls overlap and the queue is full: a
search, which the machine has to agree to.

An item comes in as late as it can: when its own put ends, or its take. At that instant each head
is out if its take has begun. The search chooses the items that come in before it, among those with
a put that waits. There are three kinds of them:

- an item with a take that ends before the take of this one begins: it has to come in before;
- an item that is out again at the same instant: it costs no room;
- an item that would have to come in while this one is still inside, and would be out before it:
  behind this one it would take room for longer. This is a guess, as it takes room from now on.

Where there is no free slot, or an item is behind another one with a take that begins too late, the
search goes some steps back and tries other guesses about the items that are inside there.

The order decides nothing, and neither does a search that finds none: ``BoundedQueue`` takes or
refuses the steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

__all__ = ["FAR", "Found", "Order"]

FAR: Final = 1 << 60
"""The row of what is not known, or never is."""

_EVERY: Final = 128
"""Steps after which the state is kept, to try other guesses from there."""

_TRIED: Final = 200
"""Other guesses that are tried where one was wrong."""

_DEEP: Final = 3
"""Guesses that are changed together at most, beyond one."""

_BACK: Final = 40
"""Rows that another guess may fail before the first one did, to be a beginning of a better one."""

_Guess = tuple[int, int]
"""An item that has to come in, and another one that may do so before it."""


class Found(NamedTuple):
    """The items in the order in which they came in, and the row from which on it is not known; FAR
    where all is."""

    order: list[int]
    stop: int


class _State(NamedTuple):
    step: int
    next: int
    waits: dict[int, None]
    inside: list[int]
    found: int


class _Wrong(NamedTuple):
    """An item that could not come in, and when it had to."""

    item: int
    at: int


class Order:
    """The search in one queue: ``put``, ``told``, ``take`` and ``got`` are the rows of items at
    which their puts and takes begin and end, in the order of ``put``; FAR: not known. ``inside``
    are those that are in at first. ``open_since``: the first row at which a take begins of which
    the end is not known; FAR where none will end any more.
    """

    def __init__(self, put: Sequence[int], told: Sequence[int], take: Sequence[int],
                 got: Sequence[int], inside: Sequence[int], capacity: int, open_since: int) -> None:
        self._put, self._take, self._got = put, take, got
        self._capacity, self._open_since = capacity, open_since
        self._due = [min(pair) for pair in zip(told, got, strict=True)]
        self._steps = [item for item in sorted(range(len(put)), key=self._due.__getitem__)
                       if self._due[item] < FAR]
        self._at = {item: step for step, item in enumerate(self._steps)}
        self._guesses: dict[_Guess, bool] = {}
        self._is_in = bytearray(len(put))
        for item in inside:
            self._is_in[item] = 1
        self._order: list[int] = []
        self._with: dict[int, int] = {}     # the item at whose step another one came in
        self._now = _State(0, 0, {}, list(inside), 0)
        self._kept: list[_State] = []
        self._left = 0
        self._stop = FAR

    def found(self) -> Found:
        """The order up to where it is known, or to where no guess helps: from there on the machine
        will not take it."""
        wrong = self._runs(len(self._steps), keeps=True)
        while wrong is not None:
            self._left = _TRIED
            if not self._is_mended(wrong, self._now.step, 0):
                break
            wrong = self._runs(len(self._steps), keeps=True)
        return Found(self._order, self._stop)

    def _runs(self, upto: int, keeps: bool = False) -> _Wrong | None:
        """Let items in, up to a step; None, or the one that cannot come in."""
        put, take, is_in = self._put, self._take, self._is_in
        step, coming, waits, inside, _ = self._now
        wrong = None
        since = step
        while step < upto and wrong is None:
            if keeps and (step - since) % _EVERY == 0:
                self._kept.append(_State(step, coming, dict(waits), list(inside),
                                         len(self._order)))
            item = self._steps[step]
            step += 1
            if is_in[item]:
                continue
            now = self._due[item]
            while coming < len(put) and put[coming] < now:
                if not is_in[coming]:
                    waits[coming] = None
                coming += 1
            gone = 0
            for head in inside:
                if take[head] >= now:
                    break
                gone += 1
            if gone:
                del inside[:gone]
            if take[item] == FAR and self._open_since < FAR or now > self._open_since and any(
                    take[other] == FAR for some in (inside, waits) for other in some):
                self._stop = now
                step -= 1
                break
            if not self._lets_in(item, now, step, waits, inside):
                wrong = _Wrong(item, now)
        self._now = _State(step, coming, waits, inside, 0)
        return wrong

    def _lets_in(self, item: int, now: int, step: int, waits: dict[int, None], inside: list[int]
                 ) -> bool:
        """Let an item in, and those that come before it; False if there is no free slot, or one
        behind which it is out too late."""
        take, got, due, guesses = self._take, self._got, self._due, self._guesses
        until = take[item]
        last = now      # when all that are inside can be out
        for other in inside:
            if take[other] > last:
                last = take[other]
        before = []
        for other in waits:
            begun = take[other]
            if other == item:
                continue
            if got[other] < until or guesses and guesses.get((item, other), False):
                before.append((begun, other, True))
            elif (not inside and begun <= now or last < until and begun < until
                  and due[other] < until) and not (guesses and (item, other) in guesses):
                before.append((begun, other, False))
        before.sort()
        for begun, other, has_to in (*before, (until, item, True)):
            if inside or begun > now:
                if not has_to and not self._has_room(other, step, inside):
                    continue
                if len(inside) >= self._capacity or last > got[other]:
                    return False
                inside.append(other)
                last = max(last, begun)
            self._order.append(other)
            self._is_in[other] = 1
            del waits[other]
            self._with[other] = item
        return True

    def _has_room(self, item: int, step: int, inside: list[int]) -> bool:
        """True if there is room for an item beside the one whose step it is, until it has to come
        in, as far as others have to before."""
        due, take, limit = self._due, self._take, self._due[item]
        room, gone = self._capacity - len(inside) - 1, 0
        while room > 0:
            other = self._steps[step]
            now = due[other]
            if now >= limit:
                return True
            step += 1
            room -= not self._is_in[other]
            while gone < len(inside) and take[inside[gone]] < now:
                gone += 1
                room += 1
        return False

    # --- other guesses ------------------------------------------------------------------------

    def _is_mended(self, wrong: _Wrong, upto: int, depth: int) -> bool:
        """Change a guess so that all goes well up to a step, or some of them; the search continues
        from before it."""
        better = []
        for guess, way in self._others(wrong).items():
            failed = self._tries(guess, way, upto)
            if failed is None:
                return True
            if self._left <= 0:
                return False
            if failed.at > wrong.at - _BACK:
                better.append((-failed.at, guess, way))
        if depth == _DEEP:
            return False
        for _, guess, way in sorted(better):
            again = self._tries(guess, way, upto, keeps=True)
            if again is None or self._is_mended(again, upto, depth + 1):
                return True
            del self._guesses[guess]
        return False

    def _tries(self, guess: _Guess, way: bool, upto: int, keeps: bool = False) -> _Wrong | None:
        """Go back to before a guess, and try it the other way."""
        self._left -= 1
        place = max(0, next((at for at in range(len(self._kept) - 1, -1, -1)
                             if self._kept[at].step <= self._at[guess[0]]), 0))
        self._goes_back(self._kept[place])
        self._guesses[guess] = way
        wrong = self._runs(upto)
        if wrong is None:
            del self._kept[place + 1:]
            self._goes_back(self._kept.pop())
        elif not keeps:
            del self._guesses[guess]
        return wrong

    def _goes_back(self, state: _State) -> None:
        for item in self._order[state.found:]:
            self._is_in[item] = 0
        del self._order[state.found:]
        self._stop = FAR
        self._now = state._replace(waits=dict(state.waits), inside=list(state.inside))

    def _others(self, wrong: _Wrong) -> dict[_Guess, bool]:
        """Other guesses about what is inside where one could not come in: what came in early might
        be late, and what is behind another one might be before it."""
        inside, guesses = self._now.inside, self._guesses
        found: dict[_Guess, bool] = {}
        for place in range(len(inside) - 1, -1, -1):
            one = inside[place]
            due = self._with.get(one)
            if due is None:     # it was in at first
                continue
            if one != due and self._due[one] > wrong.at and (due, one) not in guesses:
                found[due, one] = False
            for other in (*inside[place + 1:], wrong.item, *self._now.waits):
                if (other != due and (due, other) not in guesses and
                        self._put[other] < self._due[due] and self._take[other] < self._take[one]):
                    found[due, other] = True
        return found
