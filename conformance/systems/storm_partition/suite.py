"""The suite ``storm.partition``: a replayable source, its log, and its commits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ....spec.notation.interpreter import Step
from ....spec.storm.spouts.observed_partition import ObservedPartition
from ...ports.base import Message, Session
from ...suites.plain import PlainConversation, Seen
from ...suites.suite import Act, Answer, Fuller, Suite, Watch

__all__ = ["OFFSETS_MAX", "SUITE", "PartitionConversation"]

OFFSETS_MAX: Final = 12
"""Messages that a program may append."""

ALWAYS: Final = 32
"""More retries than any program has failures."""

_POLICIES: Final = ((2, 2, 2, 8), (-1, 0, 0, 0), (0, 3, 0, 0))
"""Retries, outstanding messages, and the first and the longest delay before a retry, which go
with a fetch size of 1, 2, 3, and again."""

_STEP_OF: Final = {"restart": "restarted", "reassign": "reassigned", "truncate": "truncated",
                   "compact": "compacted", "wait": "waits", "commit": "committed_at",
                   "close": "closed_at"}
_DONE: Final = {
    "append": "done", "ack": "taken", "fail": "taken", "restart": "started again",
    "reassign": "done", "truncate": "gone", "compact": "gone", "wait": "done",
}


class PartitionConversation(PlainConversation):
    """One session with the source of a partition, and its log.

    ``pick`` chooses, from the lowest offset up, among the messages that are under way (ack,
    fail) or in the log (truncate, compact), and how many to append.
    """

    def __init__(self, session: Session, capacity: int, items_max: int) -> None:
        super().__init__(session, "storm.partition", _settings(capacity))
        self._is_waiting_of_use = _settings(capacity)["delay"] > 0
        self._end = 0
        self._gone: set[int] = set()
        self._under_way: dict[int, int] = {}    # with the tuples that are left

    def request_of(self, act: Act) -> Message | None:
        """See ``PlainConversation``."""
        if act.do == "append":
            count = act.pick % 3 + 1
            return {"do": "append", "count": count} if self._end + count <= OFFSETS_MAX else None
        if act.do in ("ack", "fail"):
            return _on_one(act, sorted(self._under_way))
        if act.do == "wait":
            milliseconds = act.pick % 3 + 1
            return {"do": "wait", "milliseconds": milliseconds} if (
                self._is_waiting_of_use) else None
        if act.do in ("truncate", "compact"):
            return _on_one(act, [each for each in range(self._end) if each not in self._gone])
        return {"do": act.do}

    def asked(self, request: Message) -> str:
        """See ``PlainConversation``."""
        do = str(request["do"])
        if do == "append":
            last = self._end + request["count"] - 1
            return f"append {self._end}" + (f" to {last}" if last > self._end else "")
        words = {
            "truncate": "retention removes all up to {}", "compact": "compaction removes {}",
            "restart": "crash and restart", "close": "close and start again",
            "reassign": "the leader changes", "split": "next, as two tuples",
            "wait": "{} ms pass",
        }.get(do, do + (" {}" if "offset" in request else ""))
        return words.format(request.get("offset", request.get("milliseconds")))

    def possible(self, request: Message) -> Iterator[Answer]:
        """See ``PlainConversation``."""
        if request["do"] in ("next", "split"):
            yield Answer("nothing", ("nothing", ()))
            for offset in range(min(self._end + 1, OFFSETS_MAX)):
                yield Answer(str(offset), _emitted(request, offset))
        elif request["do"] in ("commit", "close"):
            for position in range(min(self._end + 1, OFFSETS_MAX) + 1):
                yield Answer(str(position), _position(request["do"], position))

    def seen(self, request: Message, answer: Any) -> Seen:
        """See ``PlainConversation``."""
        do = str(request["do"])
        if do in ("next", "split"):
            return self._next(request, answer)
        if do in ("commit", "close"):
            if do == "close":
                self._under_way.clear()
            return Seen((_position(do, answer),), f"position {answer}")
        self._note(request)
        name = _STEP_OF.get(do, do)
        arguments = tuple((key, request[key]) for key in ("offset", "count", "milliseconds")
                          if key in request)
        return Seen((("appended" if do == "append" else name, arguments),), _DONE[do])

    def _next(self, request: Message, offset: int | None) -> Seen:
        if offset is None:
            return Seen((("nothing", ()),), "nothing")
        self._under_way[offset] = 2 if request["do"] == "split" else 1
        return Seen((_emitted(request, offset),), f"{offset} is emitted")

    def _note(self, request: Message) -> None:
        do, offset = request["do"], request.get("offset", 0)
        if do == "append":
            self._end += request["count"]
        elif do in ("ack", "fail"):
            left = self._under_way.pop(offset) - 1
            if do == "ack" and left:
                self._under_way[offset] = left
        elif do == "restart":
            self._under_way.clear()
        elif do in ("truncate", "compact"):
            self._gone.update(range(0 if do == "truncate" else offset, offset + 1))


def _on_one(act: Act, offsets: list[int]) -> Message | None:
    return {"do": act.do, "offset": offsets[act.pick % len(offsets)]} if offsets else None


def _emitted(request: Message, offset: int) -> Step:
    name = "split" if request["do"] == "split" else "emitted"
    return (name, (("offset", offset),)) if offset < OFFSETS_MAX else ("stray", ())


def _position(do: str, position: int) -> Step:
    # A position beyond all that the log can have stands for itself as the highest one.
    return _STEP_OF[do], (("position", min(position, OFFSETS_MAX)),)


def _settings(capacity: int) -> Mapping[str, int]:
    retries, outstanding, delay, longest = _POLICIES[(capacity - 1) % len(_POLICIES)]
    return {"capacity": capacity, "retries": retries, "outstanding": outstanding,
            "delay": delay, "longest": longest}


def _constants(capacity: int, items_max: int) -> Mapping[str, int]:
    settings = _settings(capacity)
    return {"L": OFFSETS_MAX, "F": capacity, "M": settings["outstanding"],
            "retries": ALWAYS if settings["retries"] < 0 else settings["retries"],
            "first": settings["delay"], "longest": settings["longest"]}


_FLOW: Final = (("append",), ("next", "split"))
_ACK, _FAIL, _COMMIT = ("ack",), ("fail",), ("commit",)

SUITE: Final = Suite(
    name="storm.partition",
    version=1,
    port="storm.partition",
    watches=(Watch(ObservedPartition),),
    weights={"append": 2, "next": 3, "ack": 2, "fail": 2, "commit": 1, "restart": 1, "close": 1,
             "reassign": 1, "truncate": 1, "compact": 1, "split": 1, "wait": 2},
    needs={
        "STORM-K20": (*_FLOW, ("commit", "close")),
        "STORM-K21": (*_FLOW, _ACK, ("commit", "close")),
        "STORM-K22": (*_FLOW, _ACK, _COMMIT),
        "STORM-K23": (*_FLOW, _ACK, _COMMIT, ("restart",)),
        "STORM-K24": (*_FLOW, _FAIL),
        "STORM-K25": (*_FLOW, _ACK, _COMMIT),
        "STORM-K26": _FLOW,
        "STORM-K27": (*_FLOW, _FAIL),
        "STORM-K28": (*_FLOW, _FAIL),
        "STORM-K29": (*_FLOW, _FAIL),
        "STORM-K30": (*_FLOW, _FAIL, _COMMIT, ("truncate", "compact")),
        "STORM-K31": _FLOW,
        "STORM-K32": _FLOW,
        "STORM-K35": (*_FLOW, _FAIL),
    },
    # What is failed or done by then, the end brings to light: now, and after a crash.
    epilogue=(Act("next"), Act("wait", pick=1), Act("ack", pick=1), Act("commit"), Act("next"),
              Act("ack"), Act("commit"), Act("restart"), Act("next"), Act("next"),
              Act("commit")),
    constants=_constants,
    converse=PartitionConversation,
    settings=_settings,
    telling={"STORM-K27": (1,), "STORM-K28": (3,), "STORM-K29": (1, 2), "STORM-K31": (1, 3),
             "STORM-K35": (1,)},
    fuller={
        "STORM-K20": (
            Fuller(("split",), "tuples that share an id, of which the first ack counts"),),
    },
    courses={
        "STORM-K27": (("append", "next", "fail", "next", "wait", "next"),
                      ("append", "next", "next", "fail", "fail", "wait", "next")),
        "STORM-K35": (("append", "next", "fail", "wait", "next", "fail", "wait", "next"),),
    },
    favoured={
        "STORM-K25": ("append", "next", "ack", "fail", "commit"),
        "STORM-K35": ("append", "next", "fail", "wait"),
    },
    scene="A partition of a log. Messages in a fetch: {capacity}; retries: {retries} (-1: no "
          "limit); outstanding at the same time: {outstanding} (0: no limit); delay before a "
          "retry: {delay} ms, at most {longest} ms.",
)
