"""The suite ``link``: elements are offered, messages delivered in order, elements processed."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any, Final

from ....spec.flow.observed_link import ObservedLink
from ....spec.notation.interpreter import Step
from ...ports.base import Message, Session
from ...suites.plain import PlainConversation, Seen
from ...suites.suite import Act, Answer, Suite, Watch

__all__ = ["SUITE", "LinkConversation"]

ELEMENTS_MAX: Final = 24
"""Elements that a program may offer."""

BATCHES: Final = {1: 1, 2: 2, 3: 2, 4: 1}
"""By capacity: a batch of all slots (stop-and-wait among them), of a part of them, and of one."""

_A: Final = ("sends", "sends_another", "sender_rests")
_B: Final = ("grants", "receiver_rests")
_CONSUMER: Final = ("processes", "processes_another")


class LinkConversation(PlainConversation):
    """One session with both ends of a link; this is the network between them."""

    acts = ("offer", "permit", "data")

    def __init__(self, session: Session, capacity: int, items_max: int) -> None:
        super().__init__(session, "link", _settings(capacity))
        self._capacity = capacity
        self._offered = 0                       # elements that A's application had so far
        self._sent = 0                          # of these, what A has sent
        self._processed = 0                     # of these, what B has processed
        self._data: deque[int] = deque()        # messages under way to B
        self._permits: deque[int] = deque()     # messages under way to A
        self._arrived = 0                       # elements delivered to B

    def request_of(self, act: Act) -> Message | None:
        """See ``PlainConversation``."""
        if act.do == "offer":
            elements = range(self._offered, self._offered + act.pick % 3 + 1)
            return {"do": "offer", "elements": [*elements]} if (
                elements.stop <= ELEMENTS_MAX) else None
        if act.do == "permit":
            return {"do": "permit", "count": self._permits[0]} if self._permits else None
        if act.do == "data":
            return {"do": "data", "element": self._data[0]} if self._data else None
        return {"do": "process"} if self._arrived > self._processed else None

    def asked(self, request: Message) -> str:
        """See ``PlainConversation``."""
        if request["do"] == "offer":
            return f"A's application offers {_numbers(request['elements'])}"
        if request["do"] == "permit":
            return f"a message with {_permits(request['count'])} reaches A"
        if request["do"] == "data":
            return f"element {request['element']} reaches B"
        return "B's consumer processes an element"

    def possible(self, request: Message) -> Iterator[Answer]:
        """See ``PlainConversation``."""
        if request["do"] in ("offer", "permit"):
            yield Answer("A sends nothing more", ("sender_rests", ()), instead_of=_A)
            yield Answer("A sends the next element", ("sends", ()), instead_of=_A)
            yield Answer("A sends an element out of turn", ("sends_another", ()), instead_of=_A)
            return
        if request["do"] == "process":
            yield Answer("the oldest element is processed", ("processes", ()),
                         instead_of=_CONSUMER)
            yield Answer("another element is processed, or none", ("processes_another", ()),
                         instead_of=_CONSUMER)
        yield Answer("B sends nothing more", ("receiver_rests", ()), instead_of=_B)
        for count in range(1, 2 * self._capacity + 1):
            yield Answer(f"B grants {_permits(count)}", _grants(count),
                         (("receiver_rests", ()),), _B)

    def seen(self, request: Message, answer: Any) -> Seen:
        """See ``PlainConversation``."""
        do = request["do"]
        if do == "offer":
            self._offered += len(request["elements"])
            return self._a(("offer", (("count", len(request["elements"])),)), answer)
        if do == "permit":
            self._permits.popleft()
            return self._a(("permit", (("count", request["count"]),)), answer)
        if do == "data":
            self._data.popleft()
            self._arrived += 1
            return self._b(("data", ()), answer, "")
        is_next = answer["element"] == self._processed
        self._processed += 1
        return self._b(("processes" if is_next else "processes_another", ()),
                       answer["permits"], f"{_element(answer['element'])} is processed, ")

    def _a(self, told: Step, elements: list[int]) -> Seen:
        """What A is told, and what it sends then."""
        steps = [told]
        for element in elements:
            is_next = element == self._sent < self._offered
            steps.append(("sends" if is_next else "sends_another", ()))
            self._sent += 1
        self._data.extend(elements)
        words = f"A sends {_numbers(elements)}" if elements else "A sends nothing"
        return Seen((*steps, ("sender_rests", ())), words)

    def _b(self, told: Step, permits: list[int], before: str) -> Seen:
        """What B is told, and what it sends then."""
        self._permits.extend(permits)
        granted = " and ".join(map(_permits, permits))
        # More than twice the capacity is as wrong as that.
        steps = [_grants(min(count, 2 * self._capacity)) for count in permits]
        return Seen((told, *steps, ("receiver_rests", ())),
                    f"{before}B {f'grants {granted}' if permits else 'sends nothing'}")


def _grants(count: int) -> Step:
    return "grants", (("count", count),)


def _permits(count: int) -> str:
    return f"{count} permit{'s' if count > 1 else ''}"


def _element(number: int | None) -> str:
    return "nothing" if number is None else f"element {number}"


def _numbers(elements: list[int]) -> str:
    return f"element{'s' if len(elements) > 1 else ''} {', '.join(map(str, elements))}"


def _settings(capacity: int) -> Mapping[str, int]:
    return {"capacity": capacity, "batch": BATCHES[capacity]}


def _constants(capacity: int, items_max: int) -> Mapping[str, int]:
    return {"C": capacity, "b": BATCHES[capacity], "K": ELEMENTS_MAX}


SUITE: Final = Suite(
    name="link",
    version=1,
    port="link",
    watches=(Watch(ObservedLink),),
    weights={"offer": 3, "permit": 4, "data": 5, "process": 5},
    epilogue=(Act("offer", 2), *(Act("data"), Act("process"), Act("permit")) * 3),
    constants=_constants,
    converse=LinkConversation,
    settings=_settings,
    capacities=tuple(BATCHES),
    telling={"FLOW-3": (1, 2), "FLOW-5": (2, 3), "FLOW-9": (3, 4)},
    scene="A link. Slots of B: {capacity}; freed slots that are announced together: {batch}.",
)
