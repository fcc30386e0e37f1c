"""Ports as data, and the checks that every message passes.

A *port* lists the operations that an implementation offers to the harness. The same plain
dicts travel in process and, as JSON lines, to a program; docs/adapter-protocol.md is written
from the tables here. Nothing in this module knows a queue, a process or a clock.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol, runtime_checkable

from ...spec.notation.errors import InputError, InternalError, TargetError

__all__ = [
    "ALWAYS", "AT_ONCE", "NO_OCCASION_FOR", "PROTOCOL_VERSION", "STEPPED", "STEPPED_WAKES",
    "UNSUPPORTED", "WAKES", "Adapter", "Argument", "Kind", "Message", "NoGreeting", "Operation",
    "Port", "Promise", "Session", "SettingsRefused", "Target", "Vocabulary", "check_reply",
    "check_request", "excerpt", "hello", "promised", "unique_keys",
]

PROTOCOL_VERSION: Final = 1
LINE_BYTES_MAX: Final = 1 << 20
"""The most bytes of one message between two processes."""
EXCERPT_CHARS_MAX: Final = 200
TEXT_CHARS_MAX: Final = 256
NUMBER_BITS_MAX: Final = 53
"""Integers beyond 2**53 do not survive JSON in every language."""

UNSUPPORTED: Final = "unsupported-"
"""With this begins the definite error by which a target refuses the settings of a hello."""

AT_ONCE: Final = "at-once"
STEPPED: Final = "stepped"
WAKES: Final = (AT_ONCE, STEPPED)
"""When a waiter runs that was woken: before the reply to what woke it, or at a later settle or
step, so that other operations can come in between. The default is at once."""

STEPPED_WAKES: Final = "an adapter with stepped wakes"
"""A capability of a target besides its operations, which it declares in its hello."""

NO_OCCASION_FOR: Final = "no occasion for "
"""With this and a rule's id begins what a target has if its hello says that nothing it does could
break the rule."""

ALWAYS: Final = frozenset({"settle"})
"""The operations that every adapter of a port that has them can do, and that none lists in `can`.
"""

Message = dict[str, Any]
"""One request or one reply: a JSON object."""


class SettingsRefused(TargetError):
    """A target does not support the settings of a hello, and says so: not its failure."""


class NoGreeting(TargetError):
    """A target did not answer a hello: a session that never began."""


# ---- adapters, sessions, targets ------------------------------------------------------------


@runtime_checkable
class Adapter(Protocol):
    """An adapter in Python: its author writes one method, from a request to its reply."""

    def request(self, message: Message, /) -> Message:
        """Answer ``message`` with one of ``ok``, ``waiting`` or ``error``, and ``events``."""
        ...


class Session(Protocol):
    """One fresh instance under test. The first request must be ``hello``."""

    def request(self, message: Message) -> Message:
        """Send one request and return its checked reply, in which ``events`` is always there.

        Raises ``InputError`` when the request is not one of the port's, and ``TargetError``
        when the reply is malformed, late, or does not come; after that only ``close`` is left.
        """
        ...

    def close(self) -> None:
        """Give back what the session holds; calling it again does nothing."""
        ...


class Target(Protocol):
    """Something under test that can be started any number of times."""

    @property
    def name(self) -> str:
        """The spec by which ``resolve_target`` finds it again, on another machine too."""
        ...

    def open(self) -> Session:
        """Start a new, independent instance."""
        ...

    def renew(self) -> bool:
        """Let the next session begin in a process that has served none. False where that cannot
        be had, for instances are objects of this process."""
        ...


# ---- what may stand in a field --------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The names that may stand in one place of a value, and what each means.

    ``where`` is a noun phrase: the fields of some object, or the values of some field.
    """

    where: str
    means: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Kind:
    """A set of JSON values: its name in tables and messages, and the test of what belongs to it.

    ``parts`` describe each name that may stand in such a value, for the pages.
    """

    words: str
    accepts: Callable[[object], bool]
    parts: tuple[Vocabulary, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Argument:
    """One field of a request."""

    name: str
    kind: Kind
    meaning: str
    required: bool = True


@dataclass(frozen=True, slots=True)
class Promise:
    """Something that has to happen when a target is asked for an operation.

    ``words`` say what, a whole sentence, and ``rules`` are the ids of the rules of progress of the
    suite that judge it.
    """

    words: str
    rules: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Operation:
    """One ``do`` of a port.

    ``answer`` is what ``ok`` holds. ``completion`` is what ``ok`` holds in the event that ends
    a wait; ``None`` means that the operation never waits. ``optional`` operations are there
    only when ``can`` names them. ``promises`` say what has to come of it, if anything has.
    """

    name: str
    answer: Kind
    meaning: str
    arguments: tuple[Argument, ...] = ()
    completion: Kind | None = None
    optional: bool = True
    promises: tuple[Promise, ...] = ()


@dataclass(frozen=True, slots=True)
class Port:
    """Operations, settings and policies under one name.

    ``lets_run`` are the operations in which a woken waiter may run where wakes are stepped.
    """

    name: str
    version: int
    meaning: str
    operations: Mapping[str, Operation]
    settings: tuple[Argument, ...]
    policies: Mapping[str, str]
    lets_run: tuple[str, ...] = ("settle", "run", "proceed", "interrupt", "cancel", "put", "take")

    def capabilities(self) -> tuple[str, ...]:
        """The names that ``can`` may have, in the order of the tables."""
        return tuple(name for name, each in self.operations.items() if each.optional)


def _is_integer(value: object) -> bool:
    # In Python a bool is an int; on the wire it is not.
    return (isinstance(value, int) and not isinstance(value, bool)
            and value.bit_length() <= NUMBER_BITS_MAX)


def _is_name(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= TEXT_CHARS_MAX


def _is_list_of(accepts: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda value: isinstance(value, list) and all(accepts(each) for each in value)


def _is_timer(value: object) -> bool:
    return isinstance(value, dict) and is_count(value.get("at"))


def is_count(value: object) -> bool:
    """True if ``value`` is an integer from 0 up."""
    return isinstance(value, int) and _is_integer(value) and value >= 0


def list_of(accepts: Callable[[object], bool]) -> Callable[[object], bool]:
    """A test for lists of which all elements are accepted."""
    return lambda value: isinstance(value, list) and all(accepts(each) for each in value)


def is_word(value: object, words: Collection[str]) -> bool:
    """True if ``value`` is one of some texts; a list or an object, which no table has, is none."""
    return isinstance(value, str) and value in words


NAME: Final = Kind(f"a text of 1 to {TEXT_CHARS_MAX} characters", _is_name)
INTEGER: Final = Kind("an integer", _is_integer)
COUNT: Final = Kind("an integer from 0 up", is_count)
POSITIVE: Final = Kind("an integer from 1 up", lambda v: is_count(v) and v != 0)
FLAG: Final = Kind("true or false", lambda v: isinstance(v, bool))
TRUE: Final = Kind("true", lambda v: v is True)
ITEM: Final = Kind("an item (text or integer)", lambda v: _is_name(v) or _is_integer(v))
ITEM_OR_NULL: Final = Kind("an item, or null", lambda v: v is None or ITEM.accepts(v))
TICKET: Final = Kind("a ticket (text or integer)", ITEM.accepts)
OBJECT: Final = Kind("an object", lambda v: isinstance(v, dict))
GREETING: Final = Kind("an object", OBJECT.accepts, (Vocabulary("the answer to `hello`", {
    "name": "a text: what the implementation is called",
    "version": "a text: its version",
    "can": "a list of texts: the operations that the adapter has, without those that every adapter "
           "has",
    "policy": "one of the policies below",
    "wakes": "may be absent: when a waiter runs that was woken",
    "no_occasion": "may be absent; a list of texts: ids of rules that nothing it does could break",
    "again": "may be absent; false: `hello` cannot come again in this process",
    "called": "may be absent; an object of texts: what a class calls its operations, for the "
              "report",
}), Vocabulary("`wakes`", {
    AT_ONCE: "before the reply to what woke it; this is the default",
    STEPPED: "at a later settle or step, so that other operations can come in between",
})))
NAMES: Final = Kind("a list of texts", _is_list_of(_is_name))
TIMERS: Final = Kind('a list of {"at": milliseconds}', _is_list_of(_is_timer), (
    Vocabulary("a timer", {"at": "an integer: when it is due, as in `now`"}),))


def hello(meaning: str) -> Operation:
    """The first operation of every port; ``meaning`` says what the adapter begins with."""
    return Operation(
        "hello", GREETING, meaning, (
            Argument("protocol", INTEGER, "the version of the protocol, 1"),
            Argument("port", NAME, "the name of the port"),
            Argument("settings", OBJECT, "the settings of the port"),
        ), optional=False)


def promised(
    operations: Iterable[Operation], promises: Mapping[str, Mapping[str, str]]
) -> dict[str, Operation]:
    """Some operations by name, with what each promises: by name, by sentence, the ids of the rules
    of progress that judge it, divided by blanks.

    Raises ``InternalError`` for promises of an operation that is not there.
    """
    named = {each.name: each for each in operations}
    if promises.keys() - named.keys():
        raise InternalError(f"promises of no operation: {sorted(promises.keys() - named.keys())}")
    return named | {name: replace(named[name], promises=tuple(
        Promise(words, tuple(rules.split())) for words, rules in each.items()))
        for name, each in promises.items()}


# ---- checks ---------------------------------------------------------------------------------


def excerpt(value: object) -> str:
    """``value`` as it may stand in a message: printable, at most 200 characters."""
    text = value if isinstance(value, str) else _as_text(value)
    # Cut before escaping too, so that 100 MB of rubbish are never escaped in full.
    shown = text[: EXCERPT_CHARS_MAX + 1].encode("unicode_escape").decode("ascii")
    if len(shown) > EXCERPT_CHARS_MAX:
        return shown[: EXCERPT_CHARS_MAX - 3] + "..."
    return shown


def _as_text(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return object.__repr__(value)


def check_request(port: Port, message: Mapping[str, Any]) -> Operation:
    """The operation that ``message`` asks for.

    Unknown fields are let through, as the protocol demands. Raises ``InputError`` when the
    operation is not the port's, or when one of its arguments is missing or of another kind.
    """
    do = message.get("do")
    operation = port.operations.get(do) if isinstance(do, str) else None
    if operation is None:
        raise InputError(
            f"the port {port.name} has no operation {excerpt(do)}",
            next_step=f"Use one of: {', '.join(port.operations)}.",
        )
    if operation.arguments:
        _check_fields(f"{do} of the port {port.name}", operation.arguments, message)
    if do == "hello":
        _check_fields(f"the settings of the port {port.name}", port.settings, message["settings"])
    return operation


def _check_fields(
    what: str, arguments: tuple[Argument, ...], fields: Mapping[str, Any]
) -> None:
    """Raise ``InputError`` for a field that is absent and required, or of another kind."""
    for argument in arguments:
        if argument.name not in fields:
            if argument.required:
                raise InputError(
                    f"{what} lacks {argument.name!r}",
                    next_step=f"Give {argument.kind.words}: {argument.meaning}.",
                )
        elif not argument.kind.accepts(fields[argument.name]):
            raise InputError(
                f"{argument.name!r} of {what} is {excerpt(fields[argument.name])}",
                next_step=f"Give {argument.kind.words}: {argument.meaning}.",
            )


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of some members, for ``object_pairs_hook`` of the module json.

    Raises ``ValueError`` for a key that comes twice, of which Python's own reader takes the last
    and others the first.
    """
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {excerpt(twice)} comes twice")
    return members


def check_reply(
    target: str, port: Port, operation: Operation, reply: object, tickets: Mapping[object, Kind]
) -> Message:
    """``reply`` reduced to the fields that the protocol knows, ``events`` always among them.

    ``tickets`` are those handed out so far in this session, each with the kind of value that
    ends its wait. Raises ``TargetError`` which says what is malformed and shows the reply.
    Only the shape is judged here: whether the values are *right* is for the rules to say.
    """
    fault = _fault_of(port, operation, reply, tickets)
    if fault is not None:
        raise TargetError(
            f"{target} answered {operation.name!r} with {excerpt(reply)}: {fault}",
            next_step=f"Fix the adapter; docs/ has the replies, in the table of {port.name}.",
        )
    assert isinstance(reply, dict)
    known: Message = {}
    for key in _OUTCOMES:
        if key in reply:
            known[key] = reply[key]
    if "error" in known:
        # An error that does not say that nothing happened may have happened.
        known["definite"] = reply.get("definite", False)
    events = reply.get("events")
    known["events"] = [
        {"done": each["done"], "ok": each["ok"]} for each in events] if events else []
    return known


def _fault_of(
    port: Port, operation: Operation, reply: object, tickets: Mapping[object, Kind]
) -> str | None:
    if not isinstance(reply, dict):
        return "a reply is an object"
    outcomes = _OUTCOMES.keys() & reply.keys()
    if len(outcomes) != 1:
        return "a reply has exactly one of ok, waiting and error"
    fault = _OUTCOMES[outcomes.pop()](port, operation, reply, tickets)
    if fault is not None or "events" not in reply:
        return fault
    return _fault_of_events(reply, operation, tickets)


def _fault_of_ok(
    port: Port, operation: Operation, reply: Message, tickets: Mapping[object, Kind]
) -> str | None:
    if not operation.answer.accepts(reply["ok"]):
        return f"ok must be {operation.answer.words}{_too_large(reply['ok'])}"
    return _fault_of_hello(port, reply["ok"]) if operation.name == "hello" else None


def _fault_of_waiting(
    port: Port, operation: Operation, reply: Message, tickets: Mapping[object, Kind]
) -> str | None:
    if operation.completion is None:
        return f"{operation.name} never waits"
    if not TICKET.accepts(reply["waiting"]):
        return f"waiting must be {TICKET.words}"
    if reply["waiting"] in tickets:
        return "this ticket has been handed out before"
    return None


def _fault_of_error(
    port: Port, operation: Operation, reply: Message, tickets: Mapping[object, Kind]
) -> str | None:
    if not _is_name(reply["error"]):
        return f"error must be {NAME.words}"
    return None if isinstance(reply.get("definite", False), bool) else "definite is a boolean"


_OUTCOMES: Final = {
    "ok": _fault_of_ok, "waiting": _fault_of_waiting, "error": _fault_of_error,
}


def _fault_of_hello(port: Port, greeting: Message) -> str | None:
    """The fault of an answer to hello, as the end of a sentence; None if it has none."""
    for name, kind in (("name", NAME), ("version", NAME), ("can", NAMES), ("policy", NAME)):
        if not kind.accepts(greeting.get(name)):
            return f"ok.{name} must be {kind.words}"
    # A misspelt name would turn off the rules that need the operation, unnoticed.
    unknown = [name for name in greeting["can"] if name not in port.operations]
    if unknown:
        return (f"ok.can names {excerpt(unknown[0])!r}, which is no operation of the port "
                f"{port.name}; they are {', '.join(port.capabilities())}")
    if greeting["policy"] not in port.policies:
        return f"ok.policy must be one of: {', '.join(port.policies)}"
    if not isinstance(greeting.get("again", True), bool):
        return "ok.again must be true or false"
    if not is_word(greeting.get("wakes", AT_ONCE), WAKES):
        return f"ok.wakes must be one of: {', '.join(WAKES)}"
    called = greeting.get("called", {})
    if not isinstance(called, dict) or not NAMES.accepts([*called, *called.values()]):
        return f"ok.called must be an object with values that are {NAME.words} each"
    if not NAMES.accepts(greeting.get("no_occasion", [])):
        return f"ok.no_occasion must be {NAMES.words}, ids of rules"
    return None


def _fault_of_events(
    reply: Message, operation: Operation, tickets: Mapping[object, Kind]
) -> str | None:
    """The fault of a reply's events: each must carry a ticket that is out, and a value of its
    kind."""
    events = reply.get("events", [])
    if not isinstance(events, list):
        return "events must be a list"
    known = dict(tickets)
    if "waiting" in reply and operation.completion is not None:
        known[reply["waiting"]] = operation.completion
    for event in events:
        if not isinstance(event, dict) or "done" not in event or "ok" not in event:
            return 'an event is {"done": ticket, "ok": value}'
        ticket = event["done"]
        if not TICKET.accepts(ticket) or ticket not in known:
            return f"the event's ticket {excerpt(ticket)} was never handed out"
        if not known[ticket].accepts(event["ok"]):
            return (f"the event of {excerpt(ticket)} must carry {known[ticket].words}"
                    f"{_too_large(event['ok'])}")
    return None


def _too_large(value: object) -> str:
    """The words to add where a value has an integer that is too large; else none."""
    found = next((each for each in _numbers(value) if each.bit_length() > NUMBER_BITS_MAX), None)
    if found is None:
        return ""
    return (f"; an integer has at most {NUMBER_BITS_MAX} bits, and {_digits(found)} is beyond: not "
            "every language reads it from JSON")


def _numbers(value: object, depth: int = 4) -> Iterator[int]:
    """The integers in a value, not very deep in it."""
    if isinstance(value, int):
        yield value
    elif depth:
        inside = (value if isinstance(value, list)
                  else value.values() if isinstance(value, dict) else ())
        for each in inside:
            yield from _numbers(each, depth - 1)


def _digits(number: int) -> str:
    """A number for a reader; one of very many digits by its size."""
    bits = number.bit_length()
    return str(number) if bits <= 4 * NUMBER_BITS_MAX else f"one of {bits} bits"
