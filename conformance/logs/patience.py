"""Rest that a log shows by its times: where nothing happens at a key for long, nothing is to come.

Progress ("a waiter is woken") is judged where a log says that nothing is left to come: by an event
of its own, which few logs have, or by a stated patience. Then such an event is put in where a key
is silent for that long, also at the end of the log, as far as other keys have events. The statement
is the user's: one that is too short makes a slow system a broken one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from .events import Event, in_line
from .kinds import Logs, Terms

__all__ = ["Patience"]


@dataclass
class Patience:
    """The rests of the keys of a log, or of some of them: after ``nanoseconds`` without an event.
    ``operations`` say in the log's words that a key rests."""

    operations: Sequence[str]
    nanoseconds: int
    latest: int = 0
    """The greatest time of the log that is known, in nanoseconds."""
    _last: dict[str, Event] = field(default_factory=dict)
    _rested: set[str] = field(default_factory=set)
    """The keys of which a rest was put in after their last event."""

    @classmethod
    def of(cls, logs: Logs, terms: Terms, latest: int = 0) -> Patience | None:
        """The patience that the terms state; None where they state none."""
        if not terms.patience:
            return None
        return cls(tuple(dict.fromkeys(logs.with_rest.values())), terms.patience, latest)

    def before(self, event: Event) -> Iterator[Event]:
        """The rests to put in before an event. Raises ``InputError`` for one without a time."""
        if event.time is None:
            raise in_line("this line has no time, and patience needs one", event.file, event.line,
                          "Map \"time\" to a column, or leave out --patience.")
        last = self._last.get(event.key)
        if last is not None:
            yield from self._rests(last, event.time)
        self._last[event.key] = event
        self._rested.discard(event.key)
        self.hears(event.time)

    def hears(self, time: int) -> None:
        """An event of some key has this time."""
        self.latest = max(self.latest, time)

    def at_end(self, key: str) -> Iterator[Event]:
        """The rests to put in at the end of what is known, if other keys have events for long
        enough. They are put in once, however often this is asked."""
        yield from self._rests(self._last[key], self.latest)

    def due(self, key: str) -> int | None:
        """The time at which a key rests if it has no event before; None if it does already."""
        last = self._last.get(key)
        if last is None or last.time is None or key in self._rested:
            return None
        return last.time + self.nanoseconds

    def _rests(self, last: Event, now: int) -> Iterator[Event]:
        assert last.time is not None, "the events that are kept have one"
        if now - last.time < self.nanoseconds or last.key in self._rested:
            return
        self._rested.add(last.key)
        for operation in self.operations:
            yield Event(last.key, "", operation, "point", time=last.time + self.nanoseconds,
                        file=last.file, line=last.line)
