"""Streams of Redis with consumer groups: an append-only file, or what MONITOR shows at a replica.

Both have the commands of one server in its order, as it hands them on to whatever repeats them: an
XADD has its id, and whatever was given to a consumer is an XCLAIM, with the number of times. What a
client sent to the server itself lacks that, for MONITOR shows no replies, and is refused.

Each group of a stream is a queue. A message is published to it before the first one that is given
and was not added earlier; what was deleted or trimmed before it was given is no message of the
group. A claim gives back what another consumer has, and gives it again; if the number of times has
not grown, it was given to nobody (JUSTID), and stays where it was. An XACK is by the consumer that
has the message, for it names none. Where a group is set to another place, or read without
acknowledgements (NOACK), nobody can say what it was given: it is unknown from there on. Messages
that were added before the file begins are left out.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final

from ...spec.notation.errors import InputError
from .events import in_line
from .readers import text_of

__all__ = ["MEANINGS", "NOT_SHOWN", "rows"]

MEANINGS: Final[Mapping[str, Sequence[str]]] = {
    "add": ("publish",), "give": ("receive",), "claim": ("requeue",), "ack": ("ack",)}
"""Operations of the suite, by the event that stands for them."""

_NO_REPLIES: Final = "such a log has no acknowledgement that the server did not take"
NOT_SHOWN: Final[Mapping[str, str]] = {
    "DELIV-7": "that a message has come back is inferred from its next delivery",
    "DELIV-8": "a group has no limit of what is in flight",
    "DELIV-11": _NO_REPLIES, "DELIV-12": _NO_REPLIES, "DELIV-13": _NO_REPLIES}
"""Rules that such a log cannot show broken, with the reasons."""

Row = dict[str, Any]
Rows = Iterator[tuple[int, Row]]
Id = tuple[int, int]

_LINE: Final = re.compile(r"\d+\.\d+ \[(\d+) [^\"]*\] (\".*\")$")
"""A line of MONITOR: its database, and the arguments in quotes."""

_ARGUMENT: Final = re.compile(r'"((?:[^"\\]|\\.)*)"')
_ESCAPE: Final = re.compile(r"\\(x[0-9a-fA-F]{2}|.)")
_ESCAPED: Final = {"n": "\n", "r": "\r", "t": "\t", "a": "\a", "b": "\b"}

_LONGEST: Final = 512 << 20
"""Bytes of an argument, which is Redis's own limit."""


def rows(path: Path) -> Rows:
    """The rows of all groups of all streams, in the server's order. A line is that of MONITOR, or
    the number of the command in an append-only file. Raises ``InputError`` with file and line."""
    server = _Server(str(path))
    for line, base, command in _commands(path):
        server.base = base
        do = server.commands.get(command[0].upper())
        if do is None:
            continue
        try:
            yield from do(line, command[1:])
        except (IndexError, KeyError, ValueError):
            raise in_line(f"this {command[0].upper()} is not as Redis repeats it: "
                          f"{' '.join(command)[:80]!r}", str(path), line,
                          "Give an append-only file of Redis 5 or newer.") from None


@dataclass
class _Held:
    """A message in flight: the consumer that it was given to, the one that has it on its list, and
    the number of times."""

    given_to: str
    owner: str
    times: int


@dataclass
class _Group:
    """A group of a stream, which is given what was added after a message. ``waiting`` are messages
    that were added and not published yet, each with its line; ``held`` has what is in flight."""

    key: str
    after: Id
    waiting: deque[tuple[Id, int]]
    held: dict[Id, _Held] = field(default_factory=dict)
    is_unknown: bool = False

    def row(self, operation: str, item: Id | None, process: str = "", result: str = "ok") -> Row:
        """An event of the group."""
        return {"key": self.key, "process": process, "operation": operation, "phase": "point",
                "item": None if item is None else _written(item), "result": result}


@dataclass
class _Stream:
    """A stream: what is in it, by id the line, oldest first; the first message that the file adds
    to it, and the last one; and its groups."""

    entries: dict[Id, int] = field(default_factory=dict)
    first: Id | None = None
    last: Id = (0, 0)
    groups: dict[str, _Group] = field(default_factory=dict)


class _Server:
    """The streams of a server, as the commands so far have made them."""

    def __init__(self, file: str) -> None:
        self.base = "0"
        self._file = file
        self._streams: dict[tuple[str, str], _Stream] = {}
        self._times: dict[str, int] = {}
        self.commands: Mapping[str, Callable[[int, Sequence[str]], Rows]] = {
            "XADD": self._add, "XCLAIM": self._claim, "XACK": self._ack, "XDEL": self._delete,
            "XTRIM": self._trim, "XGROUP": self._group, "XSETID": self._set_id,
            "XREADGROUP": self._refuse, "XAUTOCLAIM": self._refuse, "DEL": self._end,
            "UNLINK": self._end, "RENAME": self._end, "FLUSHDB": self._flush,
            "FLUSHALL": self._flush, "SWAPDB": self._flush}

    def _stream(self, name: str) -> _Stream:
        return self._streams.setdefault((self.base, name), _Stream())

    def _refuse(self, line: int, given: Sequence[str]) -> Rows:
        raise in_line(
            "this is what a client sent, and nothing says what it was answered", self._file, line,
            "Give an append-only file (appendonly yes), or run MONITOR at a replica, which is sent "
            "each id and each message that is given.")

    # --- streams ----------------------------------------------------------------------------

    def _add(self, line: int, given: Sequence[str]) -> Rows:
        name, at = given[0], 1
        while given[at].upper() in ("NOMKSTREAM", "MAXLEN", "MINID", "LIMIT"):
            at += 1 if given[at].upper() == "NOMKSTREAM" else 3 if given[at + 1] in "=~" else 2
        if "*" in given[at]:
            yield from self._refuse(line, given)
        added, stream = _id(given[at]), self._stream(name)
        stream.entries[added] = line
        stream.first, stream.last = stream.first or added, added
        for group in stream.groups.values():
            group.waiting.append((added, line))
        _trim(stream, given[1:at])
        yield from ()

    def _trim(self, line: int, given: Sequence[str]) -> Rows:
        _trim(self._stream(given[0]), given[1:])
        yield from ()

    def _delete(self, line: int, given: Sequence[str]) -> Rows:
        stream = self._stream(given[0])
        for each in given[1:]:
            stream.entries.pop(_id(each), None)
        yield from ()

    def _set_id(self, line: int, given: Sequence[str]) -> Rows:
        self._stream(given[0]).last = _id(given[1])
        yield from ()

    def _end(self, line: int, given: Sequence[str]) -> Rows:
        for name in given:
            self._streams.pop((self.base, name), None)
        yield from ()

    def _flush(self, line: int, given: Sequence[str]) -> Rows:
        self._streams.clear()
        yield from ()

    # --- groups -----------------------------------------------------------------------------

    def _group(self, line: int, given: Sequence[str]) -> Rows:
        do, stream, name = given[0].upper(), self._stream(given[1]), given[2]
        if do == "CREATE":
            stream.groups[name] = self._created(given[1], stream, name, given[3])
        elif do == "DESTROY":
            stream.groups.pop(name, None)
        elif do == "SETID" and name in stream.groups:
            group = stream.groups[name]
            if not group.is_unknown:
                yield line, group.row("give", None, result="unknown")
            group.is_unknown = True
        elif do == "DELCONSUMER" and name in stream.groups:
            group = stream.groups[name]
            for item in [item for item, held in group.held.items() if held.owner == given[3]]:
                yield from self._over(line, group, item)

    def _created(self, stream_name: str, stream: _Stream, name: str, start: str) -> _Group:
        """A group that is given what follows ``start``; the second of a name has a number."""
        after = stream.last if start == "$" else _id(start)
        key = f"{'' if self.base == '0' else self.base + ':'}{stream_name}/{name}"
        times = self._times[key] = self._times.get(key, 0) + 1
        return _Group(key if times == 1 else f"{key}#{times}", after,
                      deque(each for each in stream.entries.items() if each[0] > after))

    def _claim(self, line: int, given: Sequence[str]) -> Rows:
        name, group_name, consumer, _, item_given, *options = given
        by_name = [each.upper() for each in options]
        if "RETRYCOUNT" not in by_name or "FORCE" not in by_name:
            yield from self._refuse(line, given)
        times = int(options[by_name.index("RETRYCOUNT") + 1])
        item, stream = _id(item_given), self._stream(name)
        group = stream.groups.get(group_name)
        if group is None:       # it was created before the file begins
            group = stream.groups[group_name] = self._created(name, stream, group_name, "0")
        if group.is_unknown:
            return
        held = group.held.get(item)
        is_of_file = stream.first is not None and item >= stream.first and item > group.after
        if not is_of_file:
            return
        if held is not None and times <= held.times:
            held.owner = consumer
            return
        yield from self._published(group, stream, item)
        if held is not None:
            yield line, group.row("claim", item, held.given_to)
        group.held[item] = _Held(consumer, consumer, times)
        yield line, group.row("give", item, consumer)

    def _published(self, group: _Group, stream: _Stream, item: Id) -> Rows:
        """The messages up to one that were added, and not published before."""
        while group.waiting and group.waiting[0][0] <= item:
            added, line = group.waiting.popleft()
            if added in stream.entries or added == item:
                yield line, group.row("add", added)

    def _ack(self, line: int, given: Sequence[str]) -> Rows:
        group = self._stream(given[0]).groups.get(given[1])
        for each in given[2:]:
            if group is not None and not group.is_unknown:
                yield from self._over(line, group, _id(each))

    def _over(self, line: int, group: _Group, item: Id) -> Rows:
        held = group.held.pop(item, None)
        if held is not None:
            yield line, group.row("ack", item, held.given_to)


def _trim(stream: _Stream, given: Sequence[str]) -> None:
    """Leave so many messages, or those from an id on, as the options of an XADD or XTRIM say."""
    names = [each.upper() for each in given]
    for name in ("MAXLEN", "MINID"):
        if name not in names:
            continue
        at = names.index(name) + 1
        bound = given[at + 1 if given[at] in "=~" else at]
        if name == "MAXLEN":
            many = len(stream.entries) - int(bound)
            gone = [each for each, _ in zip(stream.entries, range(many), strict=False)]
        else:
            gone = [each for each in stream.entries if each < _id(bound)]
        for each in gone:
            del stream.entries[each]


def _id(text: str) -> Id:
    """An id of a message: milliseconds, and a number within them."""
    first, _, second = text.partition("-")
    return int(first), int(second or 0)


def _written(item: Id) -> str:
    return f"{item[0]}-{item[1]}"


# --- files ----------------------------------------------------------------------------------

Commands = Iterator[tuple[int, str, list[str]]]
"""A line, a database, and a command with its arguments."""


def _commands(path: Path) -> Commands:
    """The commands of a file. Raises ``InputError`` with file and line."""
    with text_of(path) as lines:
        first = lines.readline(_LONGEST)
        if first.startswith((b"*", b"#")):
            yield from _appended(lines, first, str(path))
        elif first.startswith(b"REDIS"):
            raise InputError(
                "this is a snapshot of Redis, which has no commands", str(path),
                "Give the file that ends in .incr.aof beside it; of Redis before 7, set "
                "aof-use-rdb-preamble to no and rewrite the file.")
        else:
            yield from _monitored(lines, first, str(path))


def _monitored(lines: IO[bytes], first: bytes, file: str) -> Commands:
    number, line = 1, first
    while line:
        text = line.decode("utf-8", "replace").rstrip("\r\n")
        found = _LINE.match(text)
        if found:
            yield number, found[1], [_plain(each) for each in _ARGUMENT.findall(found[2])]
        elif text not in ("", "OK"):
            raise in_line(f"this is no line of MONITOR: {text[:60]!r}", file, number,
                          "Give what `redis-cli MONITOR` prints, or an append-only file.")
        number, line = number + 1, lines.readline(_LONGEST)


def _plain(argument: str) -> str:
    return _ESCAPE.sub(lambda found: chr(int(found[1][1:], 16)) if len(found[1]) == 3 else
                       _ESCAPED.get(found[1], found[1]), argument)


def _appended(lines: IO[bytes], first: bytes, file: str) -> Commands:
    base, number, line = "0", 0, first
    while line:
        if not line.startswith(b"#"):
            number += 1
            command = _command(lines, line, file, number)
            if command and command[0].upper() == "SELECT":
                base = command[-1]
            elif command:
                yield number, base, command
        line = lines.readline(_LONGEST)


def _command(lines: IO[bytes], head: bytes, file: str, number: int) -> list[str]:
    """One command of an append-only file, after the number of its parts."""
    try:
        if not head.startswith(b"*"):
            raise ValueError("no number of arguments")
        found = []
        for _ in range(int(head[1:])):
            size = lines.readline(32)
            if not size.startswith(b"$") or not 0 <= int(size[1:]) <= _LONGEST:
                raise ValueError("no length of an argument")
            text = lines.read(int(size[1:]) + 2)
            if not text.endswith(b"\r\n"):
                raise ValueError("an argument without its end")
            found.append(text[:-2].decode("utf-8", "replace"))
    except ValueError:
        raise in_line(
            "the append-only file is cut off, or damaged, in this command", file, number,
            "Copy the whole file, or let `redis-check-aof --fix` remove its end.") from None
    return found
