"""Rest that a log shows by its times: where nothing happens at a key for long, nothing is to come.

Progress ("a waiter is woken") is judged where a log says that nothing is left to come: by an event
of its own, which few logs have, or by a stated patience. Then such an event is put in where a key
is silent for that long, also at the end of the log, as far as other keys have events. The statement
is the user's: one that is too short makes a slow system a broken one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ...spec.notation.errors import InputError
from .events import Event, in_line
from .kinds import Logs

__all__ = ["Patience"]


@dataclass
class Patience:
    """The rests of the keys of a log: after ``nanoseconds`` without an event."""

    logs: Logs
    nanoseconds: int
    _last: dict[str, Event] = field(default_factory=dict)
    _latest: int = 0

    def check(self, suite: str) -> None:
        """Raise ``InputError`` where no rule is about rest."""
        if not self.logs.with_rest:
            raise InputError(f"no rule of {suite} that is judged on logs is about rest",
                             "--patience", "Leave it out.")

    def before(self, event: Event) -> Iterator[Event]:
        """The rests to put in before an event. Raises ``InputError`` for one without a time."""
        if event.time is None:
            raise in_line("this line has no time, and patience needs one", event.file, event.line,
                          "Map \"time\" to a column, or leave out --patience.")
        last = self._last.get(event.key)
        if last is not None:
            yield from self._rests(last, event.time)
        self._last[event.key] = event
        self._latest = max(self._latest, event.time)

    def at_end(self, key: str) -> Iterator[Event]:
        """The rests to put in at the end of the log, if other keys have events for long enough."""
        yield from self._rests(self._last[key], self._latest)

    def _rests(self, last: Event, now: int) -> Iterator[Event]:
        assert last.time is not None, "the events that are kept have one"
        if now - last.time < self.nanoseconds:
            return
        for operation in dict.fromkeys(self.logs.with_rest.values()):
            yield Event(last.key, "", operation, "point", time=last.time + self.nanoseconds,
                        file=last.file, line=last.line)
