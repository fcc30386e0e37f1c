"""Receivers with marks, and one seeded bug each."""

from __future__ import annotations

from typing import Final

from ....reference.flow.marks import Watermarks
from ....spec.flow.marks_seen import EXPECTATIONS
from ...suites.twin import Twins
from .adapter import ReferenceMarks
from .mechanism import ArrivingOnly, MarksOfTheBook, SquelchOfTheBook

__all__ = ["TWINS"]

TWINS: Final = Twins("marks", ReferenceMarks, ("reference.marks",))
TWINS.variants(EXPECTATIONS, MarksOfTheBook)
TWINS.variants(EXPECTATIONS, SquelchOfTheBook, of=ArrivingOnly, apart=("Squelch", "AtFullRate"))


@TWINS.twin(
    "marks-calls-late", "FLOW-112", "stop is said one element later",
    "> high + 1 in the place of > high: the room for elements under way is short by one")
class StoppingOneLate(Watermarks):
    """One element above the mark is accepted without a stop."""

    def arrive(self, count: int) -> bool:
        if not self._stopped and self._held + count == self.high + 1:
            self._held += count
            return False
        return super().arrive(count)


@TWINS.twin(
    "marks-looks-before", "FLOW-112", "the mark is looked at before the elements are counted",
    "a check of what was held before, not of what is held now")
class LookingBefore(Watermarks):
    """A burst is noticed only with the next one."""

    def arrive(self, count: int) -> bool:
        was_high = self._held > self.high
        self._held += count
        if self._stopped or not was_high:
            return False
        self._stopped = True
        return True


@TWINS.twin(
    "marks-loses-go", "FLOW-114", "go is not said when everything is taken at once",
    "Netty #12445: autoread is on, and nothing is read; a signal to resume that is lost")
class LosingGo(Watermarks):
    """Only a receiver that is emptied step by step says go."""

    def take(self, most: int) -> tuple[int, bool]:
        given, goes_on = super().take(most)
        if goes_on and given > 1 and self._held == 0:
            self._stopped = True
            return given, False
        return given, goes_on


@TWINS.twin(
    "marks-low-is-strict", "FLOW-114", "go is said below the low mark alone",
    "< in the place of <=")
class StrictlyLow(Watermarks):
    """At the low mark nothing is said, and the elements left may never be taken."""

    def take(self, most: int) -> tuple[int, bool]:
        given = min(most, self._held)
        self._held -= given
        if not self._stopped or self._held >= self.low:
            return given, False
        self._stopped = False
        return given, True


@TWINS.twin(
    "marks-stops-again", "FLOW-116", "stop is said with each element above the high mark",
    "no record of the last signal: pause_reading() of a transport that is paused")
class StoppingAgain(Watermarks):
    """Each arrival is judged by itself."""

    def arrive(self, count: int) -> bool:
        super().arrive(count)
        return self._held > self.high


@TWINS.twin(
    "marks-goes-again", "FLOW-116", "go is said whenever little is held",
    "no record of the last signal: resume_reading() of a transport that reads")
class GoingAgain(Watermarks):
    """Each take is judged by itself."""

    def take(self, most: int) -> tuple[int, bool]:
        given, _ = super().take(most)
        return given, self._held <= self.low


@TWINS.twin(
    "marks-gives-too-many", "FLOW-117", "a consumer gets as many elements as it asks for",
    "a count that may fall below 0")
class GivingTooMany(Watermarks):
    """Elements that are not there are given, too."""

    def take(self, most: int) -> tuple[int, bool]:
        _, goes_on = super().take(most)
        return most, goes_on


@TWINS.twin(
    "marks-keeps-while-stopped", "FLOW-118", "nothing is given while the sender is stopped",
    "one flag for both directions")
class KeepingWhileStopped(Watermarks):
    """No element can ever be taken."""

    def take(self, most: int) -> tuple[int, bool]:
        if self._stopped:
            return 0, False
        return super().take(most)


@TWINS.twin(
    "marks-overrun", "FLOW-118", "elements that come more than two above the high mark are lost",
    "FLOW-40: the places above the mark are fewer than the elements under way when stop is said")
class LosingTheExcess(Watermarks):
    """A sender that is stopped has sent more elements by then."""

    def arrive(self, count: int) -> bool:
        says_stop = super().arrive(count)
        self._held = min(self._held, self.high + 2)
        return says_stop


# ---- bugs that show late ----------------------------------------------------------------------

TWINS.late("marks-calls-late", 40, 300)


# ---- bugs that depend on amounts --------------------------------------------------------------

@TWINS.twin(
    "marks-asks-in-16-bits", "FLOW-118", "a consumer that asks for 65,536 is given nothing",
    "a length that is kept in 16 bits")
class AskingIn16Bits(Watermarks):
    """A request for 65,536 is read as one for 0."""

    def take(self, most: int) -> tuple[int, bool]:
        return super().take(most % 2**16) if most % 2**16 else (0, False)


@TWINS.twin(
    "marks-asks-in-32-bits", "FLOW-118", "a consumer that asks for 2^31 is given nothing",
    "a length that is kept in a signed number of 32 bits")
class AskingIn32Bits(Watermarks):
    """A request for 2^31 is read as one for less than nothing."""

    def take(self, most: int) -> tuple[int, bool]:
        return super().take(most) if most < 2**31 else (0, False)
