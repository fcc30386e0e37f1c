"""Names of requests and keys in a program: r1, r2, … and k1 and k2, unless it says otherwise.

A name is assigned at its first use: that of a request often before the request is created.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ...ports.base import Message
from ...suites.suite import Act

__all__ = ["KEYS", "KEY_SETS", "Names", "told_by"]

KEYS: Final = ("k1", "k2")

_KEYS_OF: Final = ((0, 1), (0,), (1,))
"""The keys of a request, by its pick."""
KEY_SETS: Final = len(_KEYS_OF)


class Names:
    """The names that were used. An act's own names are for things without a name yet."""

    def __init__(self) -> None:
        self._requests: list[str] = []
        self._keys: dict[int, str] = {}

    def request(self, number: int, act: Act) -> str:
        """The name of an existing request, or of the next one."""
        if number < len(self._requests):
            return self._requests[number]
        return _unlike(_told(act)[:1], f"r{number + 1}", self._requests)

    def key(self, number: int, act: Act) -> str:
        """The name of a key."""
        if number in self._keys:
            return self._keys[number]
        told = _told(act)
        place = 1 + number if act.do == "watch" else 0
        return _unlike(told[place:place + 1], KEYS[number], [*self._keys.values()])

    def of_keys(self, act: Act) -> tuple[int, ...]:
        """The numbers of the keys that an act is about; the first key that is used is number 0."""
        numbers: tuple[int, ...] = ()
        if act.do == "watch":
            numbers = _KEYS_OF[act.pick % len(_KEYS_OF)]
        elif act.do in ("check", "cancel"):
            numbers = (act.pick % len(KEYS),)
        return (0,) if numbers == (1,) and not self._keys else numbers

    def number(self, request: str) -> int:
        """The number of a request; -1 if no request has the name."""
        return self._requests.index(request) if request in self._requests else -1

    def number_of_key(self, key: str) -> int:
        """The number of a key that was used."""
        return next(number for number, name in self._keys.items() if name == key)

    def said(self, request: Message, keys: Sequence[int], made: int) -> None:
        """Record the names in a request about these keys; ``made`` requests exist."""
        name = request.get("request")
        if name is not None and name not in self._requests and len(self._requests) == made:
            self._requests.append(name)
        told = request.get("keys", [request["key"]] if "key" in request else [])
        self._keys |= dict(zip(keys, told, strict=True))


def told_by(request: Message) -> tuple[tuple[tuple[str, str], ...], ...]:
    """The names that an act may carry so that it makes this request."""
    name, keys = request.get("request"), request.get("keys")
    if isinstance(keys, list) and isinstance(name, str) and keys:
        return (tuple(("names", each) for each in (name, keys[0], keys[-1])),)
    one = name or request.get("key")
    return ((("names", one),),) if isinstance(one, str) else ()


def _told(act: Act) -> list[str]:
    return [str(name) for _, name in act.about]


def _unlike(told: Sequence[str], plain: str, taken: Sequence[str]) -> str:
    """A name that is not taken: a given one, the plain one, or a variant of it."""
    return next(name for name in (*told, plain, f"{plain}'", f"{plain}\"") if name not in taken)
