"""The suite ``storm.partition``: a replayable source, its log, and its commits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ....spec.storm.spouts.observed_partition import ObservedPartition
from ...suites.besides import at_most, equal, given, minus, outside, plus, same, value
from ...suites.lengthy import Long, grown
from ...suites.plain import PlainConversation
from ...suites.remembered import kept, tally, within
from ...suites.says import ANY, Fields, Says, on, says, table
from ...suites.suite import Act, Fuller, Suite, Watch
from ...suites.values import BEYOND, Payloads

__all__ = ["OFFSETS_MAX", "SUITE", "PartitionConversation"]

OFFSETS_MAX: Final = 12
"""Messages that a short program may append."""

_RECENT: Final = 16
"""The number of recent offsets that are listed as possible in the place of another."""

_STEP: Final = 3
"""Milliseconds of a step of the observer, at most."""

ALWAYS: Final = 32
"""More retries than a short program has failures."""

_POLICIES: Final = ((2, 2, 2, 8), (-1, 0, 0, 0), (0, 3, 0, 0))
"""Retries, outstanding messages, and the first and the longest delay before a retry, which go
with a fetch size of 1, 2, 3, and again."""


_FIRST: Final = {2: 2**31 - 4, 3: 2**53 - 8_192, 6: 2**32 - 40}
"""The first offset of the log that goes with a fetch size, if it is not 0: offsets exceed 31 and 32
bits, and are the largest that every language reads."""


def _offsets(talk: PartitionConversation, request: Fields) -> range:
    """Offsets that the log has had, and the next one."""
    return range(talk.first + max(0, talk.end + 1 - _RECENT),
                 talk.first + min(talk.end + 1, talk.constants["L"]))


def _emits(action: str) -> tuple[Says, Says]:
    return (says(None, "nothing", "nothing"),
            says(ANY, action, "{wire}", "{wire} is emitted", gives="offset", among=_offsets,
                 beyond="stray"))


def _records(action: str) -> Says:
    return says(ANY, action, "{wire}", "position {wire}", gives="position",
                among=lambda talk, request: range(
                    talk.first, talk.first + len(_offsets(talk, request)) + 1))


_UNDER_WAY: Final[Mapping[str, Any]] = {
    "offset": lambda talk, request: [talk.first + each for each in sorted(talk.under_way)]}
_KEPT: Final[Mapping[str, Any]] = {"offset": "in_the_log"}
"""The offsets from which a request picks."""


def _removed(talk: PartitionConversation, fields: Fields) -> list[int] | int:
    """The offsets that are gone with one: all before it as well, if retention removes it."""
    offset: int = fields["offset"]
    return [*range(offset + 1)] if fields.get("do") == "truncate" else offset


class PartitionConversation(PlainConversation):
    """One session with the source of a partition, and its log.

    ``pick`` chooses, from the lowest offset up, among the messages that are under way (ack,
    fail) or in the log (truncate, compact), and how many to append.
    """

    end = tally({"appended": "count"})      # the log has had the offsets below
    under_way = kept("offset", adds="emitted split", drops="fail ack:whole",
                     clears="restarted closed_at", once=True)
    halves = kept("offset", adds="split", drops="ack fail emitted", clears="restarted closed_at",
                  once=True)        # of these, those of which two tuples are left
    gone = kept("removed", adds="truncated compacted")
    knows = (
        given("count", alone=equal("count", 1), end=value("next_offset"),
              last=plus("count", "next_offset", -1)),
        given("offset", wire=same("offset"), offset=minus("offset", "first"),
              whole=outside("offset", "halves"), removed=_removed),
        # After the longest delay every retry is due.
        given("milliseconds", brief=at_most("milliseconds", _STEP),
              steps=lambda talk, _: -(-talk.constants["longest"] // _STEP)),
        given("position", wire=same("position"), position=minus("position", "first")),
    )
    carries = {"wait": ("milliseconds",)}
    says = table(
        ObservedPartition,
        on("append", "append {end}", says(True, "appended", "done"), where="alone",
           picks={"count": within((1, 2, 3), "end", "L")}),
        on("append", "append {end} to {last}", says(True, "appended", "done")),
        on("next", "next", *_emits("emitted")),
        on("split", "next, as two tuples", *_emits("split")),
        on("ack", "ack {wire}", says(True, "ack", "taken"), picks=_UNDER_WAY),
        on("fail", "fail {wire}", says(True, "fail", "taken"), picks=_UNDER_WAY),
        on("commit", "commit", _records("committed_at")),
        on("close", "close and start again", _records("closed_at")),
        on("restart", "crash and restart", says(True, "restarted", "started again")),
        on("reassign", "the leader changes", says(True, "reassigned", "done")),
        on("truncate", "retention removes everything up to {wire}",
           says(True, "truncated", "gone"), picks=_KEPT),
        on("compact", "compaction removes {wire}", says(True, "compacted", "gone"), picks=_KEPT),
        on("wait", "{milliseconds} ms pass", says(True, "waits", "done"), where="brief",
           makes_sense=lambda talk: talk.settings["delay"] > 0,
           picks={"milliseconds": (1, 2, 3)}),
        on("wait", "{milliseconds} ms pass", says(True, "waits", "done"), repeated="steps"),
    )

    @property
    def first(self) -> int:
        """The first offset on the wire."""
        return self.settings["first"]

    @property
    def next_offset(self) -> int:
        """The offset of the next message on the wire."""
        return self.first + self.end

    @property
    def in_the_log(self) -> list[int]:
        """The offsets that are in the log and not removed."""
        gone = set(self.gone)
        return [self.first + each for each in range(self.end) if each not in gone]


def _settings(capacity: int) -> Mapping[str, int]:
    retries, outstanding, delay, longest = _POLICIES[(capacity - 1) % len(_POLICIES)]
    return {"capacity": capacity, "first": _FIRST.get(capacity, 0), "retries": retries,
            "outstanding": outstanding, "delay": delay, "longest": longest}


def _constants(capacity: int, items_max: int) -> Mapping[str, int]:
    settings = _settings(capacity)
    return {"L": grown(OFFSETS_MAX, items_max, each=3), "F": capacity, "M": settings["outstanding"],
            "retries": grown(ALWAYS, items_max) if settings["retries"] < 0 else settings["retries"],
            "first": settings["delay"], "longest": settings["longest"]}


_LONG_WAITS: Final = tuple(Act("wait", about=(("milliseconds", each),)) for each in (2**31, 2**32))

SUITE: Final = Suite(
    name="storm.partition",
    version=4,
    port="storm.partition",
    watches=(Watch(ObservedPartition),),
    weights={"append": 2, "next": 3, "ack": 2, "fail": 2, "commit": 1, "restart": 1, "close": 1,
             "reassign": 1, "truncate": 1, "compact": 1, "split": 1, "wait": 2},
    # These need a long run: messages that are read again and committed meanwhile.
    needs={"STORM-K25": (("append",), ("next", "split"), ("ack",), ("commit",))},
    # The end shows which messages have failed or are done by then: now, and after a crash.
    epilogue=(Act("next"), Act("wait", pick=1), Act("ack", pick=1), Act("commit"), Act("next"),
              Act("ack"), Act("commit"), Act("restart"), Act("next"), Act("next"),
              Act("commit")),
    constants=_constants,
    payloads=Payloads({}, ends={"wait": ("milliseconds", BEYOND)}),
    long=Long(fills=("append",), drains=("next", "ack"), sizes=(6,), ending=("truncate",)),
    conversation=PartitionConversation,
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
        # A long time passes, after which a clock of 31 or 32 bits is where it was.
        "STORM-K29": (((Act("append", 2),), (Act("next"),), (Act("next"),), (Act("fail"),),
                       _LONG_WAITS, (Act("next"),)),),
        "STORM-K35": (("append", "next", "fail", "wait", "next", "fail", "wait", "next"),),
    },
    favoured={
        "STORM-K25": ("append", "next", "ack", "fail", "commit"),
        "STORM-K35": ("append", "next", "fail", "wait"),
    },
    scene="A partition of a log with the first offset {first}. Messages in a fetch: {capacity}; "
          "retries: {retries} (-1: no limit); outstanding at the same time: {outstanding} (0: no "
          "limit); delay before a retry: {delay} ms, at most {longest} ms.",
)
