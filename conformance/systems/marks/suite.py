"""The suite ``marks``: elements come in bursts, and are taken in portions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final

from ....spec.flow.observed_marks import ObservedMarks
from ...suites.lengthy import Long
from ...suites.besides import equal, given
from ...suites.plain import PlainConversation
from ...suites.remembered import flag, tally
from ...suites.says import ANY, each, ends, on, one, says, table
from ...suites.suite import Act, Suite, Watch
from ...suites.values import BEYOND, Payloads

__all__ = ["SUITE", "MarksConversation"]

PICKS: Final = 12
_UNDER_WAY: Final = 3
"""Limit of the elements that come after stop was said."""

_SIGNALS: Final = each(
    says("stop", "says_stop", "it says stop", last=True),
    says("go", "says_go", "it says go", last=True),
    ends("rests", "it says nothing more"), nothing="it says nothing")
_GIVEN: Final = one(says(
    ANY, "gives", "{count} are given", gives="count",
    among=lambda talk, request: range(min(request["most"], talk.held) + 1)))


class MarksConversation(PlainConversation):
    """One session with a receiver; this is its sender, and its consumer."""

    held = tally({"arrives": "count", "gives": "-count"})
    stopped = flag(on="says_stop", off="says_go")
    knows = (given("count", alone=equal("count", 1)),)
    late = tally({"arrives": "count"}, clears="says_stop says_go")      # since stop was said
    carries: ClassVar[Mapping[str, tuple[str, ...]]] = {"take": ("most",)}
    says = table(
        ObservedMarks,
        on("arrive", "an element comes", _SIGNALS, tells="arrives", where="alone",
           picks={"count": "counts"}),
        on("arrive", "{count} elements come", _SIGNALS, tells="arrives"),
        on("take", "a consumer asks for {most}", {"given": _GIVEN, "says": _SIGNALS},
           joined=", and ",
           picks={"most": lambda talk, request: range(1, talk.constants["H"] + 2)}),
    )

    @property
    def counts(self) -> list[int | None]:
        """How many elements may come at once. A sender that never hears of a stop ends when the
        observer's numbers do."""
        at_once = _UNDER_WAY if self.stopped else self.constants["H"]
        late = self.late if self.stopped else 0
        most = min(self.constants["M"] - self.held, at_once - late)
        return [count if count <= most else None for count in range(1, at_once + 1)]


def _settings(capacity: int) -> Mapping[str, int]:
    return {"capacity": capacity, "high": 2 * capacity}


def _constants(capacity: int, items_max: int) -> Mapping[str, int]:
    return {"H": 2 * capacity, "L": capacity, "M": 6 * capacity + _UNDER_WAY}


SUITE: Final = Suite(
    name="marks",
    version=2,
    port="marks",
    watches=(Watch(ObservedMarks),),
    weights={"arrive": 4, "take": 3},
    epilogue=(Act("take", 0), Act("take", 1), Act("arrive", 0), Act("take", 3), Act("arrive", 2),
              Act("take", 5), Act("take", 5)),
    constants=_constants,
    payloads=Payloads({}, ends={"take": ("most", BEYOND)}),
    long=Long(fills=("arrive",), drains=("take",), sizes=(7,)),
    conversation=MarksConversation,
    settings=_settings,
    capacities=(1, 2, 3),
    picks=PICKS,
    scene="A receiver. Low mark: {capacity}; high mark: {high}.",
)
