"""The suite ``link.counted``: messages are delivered late, again, out of turn, or never."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ....spec.flow.observed_counted import ObservedCountedLink
from ....spec.notation.interpreter import Step
from ...ports.base import Message, Session
from ...suites.plain import PlainConversation, Seen
from ...suites.suite import Act, Answer, Suite, Watch

__all__ = ["SUITE", "CountedConversation"]

ELEMENTS_MAX: Final = 12
"""Elements that a program may offer."""

BATCHES: Final = {1: 1, 2: 2, 3: 1}
"""By capacity."""

_A: Final = ("sends", "sends_again", "sends_another", "sender_rests")
_B: Final = ("acks", "limits", "receiver_rests")
_A_RESTS: Final[tuple[Step, ...]] = (("sender_rests", ()),)
_B_RESTS: Final[tuple[Step, ...]] = (("receiver_rests", ()),)
"""After one message there is nothing more to say: no request calls for two."""
_CONSUMER: Final = ("processes", "processes_another", "processes_nothing")


class CountedConversation(PlainConversation):
    """One session with both ends of a link; this is the network between them.

    It keeps all that was ever sent. A ``pick`` of 0 is what the other end waits for most: the
    oldest element that B has not had, the newest number; others are older.
    """

    acts = ("offer", "permit", "data", "ack", "sender_timer", "receiver_timer")

    def __init__(self, session: Session, capacity: int, items_max: int) -> None:
        super().__init__(session, "link.counted", _settings(capacity))
        self._capacity = capacity
        self._offered = 0                       # elements that A's application had so far
        self._sent = 0                          # of these, what A has sent at least once
        self._accepted = 0                      # elements that B was brought in their turn
        self._freed = 0                         # of these, those that B has processed
        self._acks: list[int] = []              # all that B sent
        self._limits: list[int] = []

    def request_of(self, act: Act) -> Message | None:
        """See ``PlainConversation``."""
        if act.do == "offer":
            elements = range(self._offered, self._offered + act.pick % 3 + 1)
            return {"do": "offer", "elements": [*elements]} if (
                elements.stop <= ELEMENTS_MAX) else None
        if act.do == "data":
            wanted = min(self._accepted, self._sent - 1)
            return _about("data", "element", [
                *range(wanted + 1), *range(wanted + 1, self._sent)], act.pick, wanted)
        if act.do == "ack":
            return _about("ack", "number", self._acks, act.pick)
        if act.do == "permit":
            return _about("permit", "limit", self._limits, act.pick)
        return {"do": act.do}

    def asked(self, request: Message) -> str:
        """See ``PlainConversation``."""
        return _WORDS[request["do"]].format(**{
            name: ", ".join(map(str, value)) if isinstance(value, list) else value
            for name, value in request.items()})

    def possible(self, request: Message) -> Iterator[Answer]:
        """See ``PlainConversation``."""
        if request["do"] in _OF_A:
            yield Answer("A sends nothing more", ("sender_rests", ()), instead_of=_A)
            yield Answer("A sends the next element", ("sends", ()), instead_of=_A)
            for number in range(self._sent):
                yield Answer(f"A sends element {number} again", _again(number), _A_RESTS, _A)
            yield Answer("A sends an element out of turn", ("sends_another", ()), instead_of=_A)
            return
        if request["do"] == "process":
            yield Answer("the oldest element is processed", ("processes", ()),
                         instead_of=_CONSUMER)
            yield Answer("another element is processed", ("processes_another", ()),
                         instead_of=_CONSUMER)
            yield Answer("there is nothing to process", ("processes_nothing", ()),
                         instead_of=_CONSUMER)
        yield Answer("B sends nothing more", ("receiver_rests", ()), instead_of=_B)
        for number in range(self._accepted, self._accepted + 2):
            yield Answer(f"B acknowledges {number}", _acks(number), _B_RESTS, _B)
        for limit in range(self._freed, self._freed + 2):
            yield Answer(f"B grants the limit {limit + self._capacity}", _limits(limit),
                         _B_RESTS, _B)

    def seen(self, request: Message, answer: Any) -> Seen:
        """See ``PlainConversation``."""
        do = request["do"]
        if do in _OF_A:
            return self._a(self._told_a(request), answer)
        if do == "process":
            return self._b(self._processed(answer["element"]), answer["messages"],
                           f"{_element(answer['element'])} is processed, ")
        if do == "receiver_timer":
            return self._b((do, ()), answer, "")
        if request["element"] == self._accepted:
            self._accepted += 1
        return self._b(("data", (("id", request["element"]),)), answer, "")

    def _told_a(self, request: Message) -> Step:
        """What A is told, as the observer sees it."""
        if request["do"] == "offer":
            self._offered += len(request["elements"])
            return "offer", (("count", len(request["elements"])),)
        if request["do"] == "permit":
            return "permit", (("beyond", max(0, request["limit"] - self._capacity)),)
        if request["do"] == "ack":
            return "ack", (("number", request["number"]),)
        return "sender_timer", ()

    def _a(self, told: Step, elements: list[int]) -> Seen:
        """What A is told, and what it sends then."""
        steps = [told]
        for element in elements:
            if element < self._sent:
                steps.append(_again(element))
            elif element == self._sent < self._offered:
                steps.append(("sends", ()))
                self._sent += 1
            else:
                steps.append(("sends_another", ()))
        words = f"A sends {', '.join(map(str, elements))}" if elements else "A sends nothing"
        return Seen((*steps, ("sender_rests", ())), words)

    def _processed(self, element: int | None) -> Step:
        if element is None:
            return "processes_nothing", ()
        is_next = element == self._freed
        self._freed += is_next
        return ("processes" if is_next else "processes_another"), ()

    def _b(self, told: Step, messages: list[Message], before: str) -> Seen:
        """What B is told, and what it sends then."""
        steps, words = [told], []
        for message in messages:
            if "ack" in message:
                number = message["ack"]
                steps.append(_acks(min(number, ELEMENTS_MAX + 1)))
                _keep(self._acks, number)
                words.append(f"acknowledges {number}")
            else:
                limit = message["limit"]
                beyond = min(max(0, limit - self._capacity), ELEMENTS_MAX + 1)
                steps.append(_limits(beyond))
                _keep(self._limits, limit)
                words.append(f"grants the limit {limit}")
        return Seen((*steps, ("receiver_rests", ())),
                    f"{before}B {' and '.join(words) or 'sends nothing'}")


def _keep(messages: list[int], number: int) -> None:
    """The network keeps a message; the same one once, for it may deliver it any number of times."""
    if number not in messages and number <= 2 * ELEMENTS_MAX:
        messages.append(number)


def _about(
    do: str, name: str, messages: Sequence[int], pick: int, newest: int | None = None
) -> Message | None:
    """A request with a message: counted backwards from one of them, the last one as a rule."""
    if not messages:
        return None
    start = len(messages) - 1 if newest is None else newest
    return {"do": do, name: messages[(start - pick) % len(messages)]}


def _again(number: int) -> Step:
    return "sends_again", (("id", number),)


def _acks(number: int) -> Step:
    return "acks", (("number", number),)


def _limits(beyond: int) -> Step:
    return "limits", (("beyond", beyond),)


def _element(number: int | None) -> str:
    return "nothing" if number is None else f"element {number}"


def _settings(capacity: int) -> Mapping[str, int]:
    return {"capacity": capacity, "batch": BATCHES[capacity]}


def _constants(capacity: int, items_max: int) -> Mapping[str, int]:
    return {"C": capacity, "b": BATCHES[capacity], "K": ELEMENTS_MAX}


_OF_A: Final = ("offer", "permit", "ack", "sender_timer")
_WORDS: Final = {
    "offer": "A's application offers {elements}",
    "permit": "the limit {limit} reaches A",
    "ack": "the acknowledgement of {number} reaches A",
    "sender_timer": "A's timer runs out",
    "data": "element {element} reaches B",
    "receiver_timer": "B's timer runs out",
    "process": "B's consumer processes an element",
}


SUITE: Final = Suite(
    name="link.counted",
    version=1,
    port="link.counted",
    watches=(Watch(ObservedCountedLink),),
    weights={"offer": 3, "permit": 4, "ack": 2, "sender_timer": 2, "data": 6, "receiver_timer": 1,
             "process": 4},
    epilogue=(Act("offer", 2), Act("sender_timer"),
              *(Act("data"), Act("process"), Act("permit")) * 2,
              Act("data", 1), Act("process"), Act("process"), Act("receiver_timer"),
              Act("sender_timer")),
    constants=_constants,
    converse=CountedConversation,
    settings=_settings,
    capacities=tuple(BATCHES),
    # A holds credit when a limit comes that is older than the one it has.
    courses={"FLOW-8": (((Act("receiver_timer"),), (Act("offer"),), (Act("data"),), "process",
                         (Act("permit"),), (Act("permit", 1),), (Act("offer", 2),)),)},
    scene="A link whose network loses, doubles and reorders. Slots of B: {capacity}; batch: "
          "{batch}.",
)
