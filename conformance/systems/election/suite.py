"""The suite ``election``: candidates that are halted, cut off and killed, and their writes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ....spec.election.observed_election import ObservedElection, Token
from ....spec.notation.interpreter import Step
from ...ports.base import Message, Session
from ...suites.plain import PlainConversation, Seen
from ...suites.suite import Act, Answer, Suite, Watch

__all__ = ["SUITE", "ElectionConversation"]

_OF_ONE: Final = ("join", "resign", "ask", "write", "stop", "go", "cut", "mend", "expire", "crash")

_WORDS: Final = {
    "join": "{} joins", "resign": "{} resigns", "ask": "{} looks whether it leads",
    "write": "{} writes", "stop": "{} is halted", "go": "{} goes on",
    "cut": "{} is cut off", "mend": "{} can reach the service again",
    "expire": "the session of {} is ended", "crash": "{} is killed",
    "restart": "the service is killed and started again",
    "wait": "time passes until sessions have ended", "quiet": "all is quiet again",
}


class ElectionConversation(PlainConversation):
    """One session with a service and its candidates. ``pick`` is a candidate.

    It knows who is in which state, and of a token only how it compares to those before.
    """

    def __init__(self, session: Session, capacity: int, items_max: int) -> None:
        super().__init__(session, "election", _settings(capacity))
        self._candidates = capacity
        self._joined: set[int] = set()
        self._stopped: set[int] = set()
        self._cut: set[int] = set()
        self._holding: set[int] = set()     # a token, or at least the word that they lead
        self._greatest = 0
        self._told: dict[int, int] = {}

    def request_of(self, act: Act) -> Message | None:
        """See ``PlainConversation``."""
        if act.do not in _OF_ONE:
            return {"do": act.do}
        candidate = act.pick % self._candidates
        return {"do": act.do, "candidate": candidate} if self._can(act.do, candidate) else None

    def _can(self, do: str, candidate: int) -> bool:
        if do == "join":
            return candidate not in self._joined
        if do == "go":
            return candidate in self._stopped
        if do == "mend":
            return candidate in self._cut
        if candidate not in self._joined:
            return False
        if do in ("expire", "crash"):
            return True
        # A process that is halted answers nothing, and one that is cut off cannot say farewell.
        if candidate in self._stopped or (do == "resign" and candidate in self._cut):
            return False
        return candidate in self._holding if do == "write" else (
            do != "cut" or candidate not in self._cut)

    def asked(self, request: Message) -> str:
        """See ``PlainConversation``."""
        return _WORDS[request["do"]].format(f"candidate {request.get('candidate')}")

    def possible(self, request: Message) -> Iterator[Answer]:
        """See ``PlainConversation``."""
        candidate = request.get("candidate", 0)
        if request["do"] == "ask":
            yield Answer("it does not", _step("leads_not", candidate))
            for token, words in _TOKENS.items():
                yield Answer(f"it does{words}", _leads(candidate, token))
        elif request["do"] == "write":
            yield Answer("accepted", _step("accepted", candidate))
            yield Answer("refused", _step("refused", candidate))
        elif request["do"] == "quiet":
            yield Answer("nobody leads", ("quiet_without", ()))
            for each in range(self._candidates):
                yield Answer(f"candidate {each} leads", _step("quiet", each))

    def seen(self, request: Message, answer: Any) -> Seen:
        """See ``PlainConversation``."""
        do, candidate = str(request["do"]), request.get("candidate", 0)
        if do == "ask":
            return self._asked(candidate, answer)
        if do == "write":
            taken = "accepted" if answer else "refused"
            return Seen((_step(taken, candidate),), taken)
        if do == "quiet":
            self._stopped.clear()
            self._cut.clear()
            if answer is None:
                return Seen((("quiet_without", ()),), "nobody leads")
            # A candidate that there is not stands for itself as one that has not joined.
            return Seen((_step("quiet", min(answer, self._candidates - 1)),),
                        f"candidate {answer} leads")
        self._note(do, candidate)
        return Seen(_shown(do, candidate), "done")

    def _asked(self, candidate: int, token: int | None) -> Seen:
        if token is None:
            self._holding.discard(candidate)
            return Seen((_step("leads_not", candidate),), "it does not")
        self._holding.add(candidate)
        kind = (Token.NONE if token == 0 else Token.NEWER if token > self._greatest
                else Token.SAME if self._told.get(candidate) == token else Token.OLD)
        self._greatest = max(self._greatest, token)
        self._told[candidate] = token
        words = f"it does, with token {token}" if token else "it does"
        return Seen((_leads(candidate, kind),), words)

    def _note(self, do: str, candidate: int) -> None:
        if do == "join":
            self._joined.add(candidate)
        elif do in ("resign", "crash"):
            for group in (self._joined, self._stopped, self._cut, self._holding):
                group.discard(candidate)
        elif do in ("stop", "go"):
            self._stopped ^= {candidate}
        elif do in ("cut", "mend"):
            self._cut ^= {candidate}


_TOKENS: Final = {
    Token.NONE: "", Token.NEWER: ", with a newer token", Token.SAME: ", with its token as before",
    Token.OLD: ", with an older token",
}


def _shown(do: str, candidate: int) -> tuple[Step, ...]:
    if do in ("stop", "cut", "expire"):
        return (_step("shake", candidate),)
    if do in ("join", "resign", "crash"):
        return (_step(do, candidate),)
    return (("restart", ()),) if do == "restart" else ()


def _step(name: str, candidate: int) -> Step:
    return name, (("candidate", candidate),)


def _leads(candidate: int, token: Token) -> Step:
    return "leads", (("candidate", candidate), ("token", token))


def _settings(capacity: int) -> Mapping[str, int]:
    return {"capacity": capacity}


def _constants(capacity: int, items_max: int) -> Mapping[str, int]:
    return {"N": capacity, "K": items_max}


def _first(do: str) -> tuple[Act, ...]:
    return (Act(do, 0),)


def _second(do: str) -> tuple[Act, ...]:
    return (Act(do, 1),)


_JOINED: Final = (_first("join"), _second("join"))
_BASE: Final = (("join",), ("ask",))
_FAULTS: Final = (("stop", "cut", "expire", "crash", "restart"),)
_QUIET: Final = (("quiet",),)

SUITE: Final = Suite(
    name="election",
    version=1,
    port="election",
    watches=(Watch(ObservedElection),),
    weights={"join": 3, "resign": 1, "ask": 4, "write": 4, "stop": 1, "go": 1, "cut": 1,
             "mend": 1, "expire": 1, "crash": 1, "restart": 1, "wait": 1, "quiet": 1},
    needs={
        "ELECT-1": _BASE,
        "ELECT-2": (*_BASE, ("write",), *_FAULTS),
        "ELECT-3": _BASE,
        "ELECT-4": (*_BASE, ("write",)),
        "ELECT-5": (("join",), *_QUIET),
        "ELECT-6": (("join",), ("resign",), *_QUIET),
        "ELECT-7": (("join",), *_FAULTS, *_QUIET),
        "ELECT-8": (*_BASE, *_FAULTS, *_QUIET),
    },
    epilogue=(Act("quiet"), Act("ask"), Act("ask", pick=1), Act("write"), Act("write", pick=1)),
    constants=_constants,
    converse=ElectionConversation,
    settings=_settings,
    capacities=(2, 3),
    takes_more={"ELECT-3": "a system that gives tokens"},
    courses={
        # A leader looks, is held up, another is elected and writes, and then the first one does.
        "ELECT-2": tuple(
            (*_JOINED, _first("ask"), _first(fault), "wait", _second("ask"), _second("write"),
             _first(after), _first("write"))
            for fault, after in (("stop", "go"), ("cut", "mend"), ("expire", "cut"))),
        "ELECT-1": ((*_JOINED, _first("ask"), _second("resign"), _second("join"),
                     _second("ask")),),
        "ELECT-3": ((_first("join"), _first("ask"), "restart", "quiet", _first("crash"), "wait",
                     _second("join"), _second("ask")),
                    (_first("join"), _first("ask"), _first("resign"), _second("join"),
                     _second("ask"))),
        "ELECT-5": ((*_JOINED, _first("crash"), "quiet"),),
        "ELECT-6": ((*_JOINED, _first("ask"), _first("resign"), "quiet"),),
        "ELECT-7": ((*_JOINED, _second("expire"), "quiet", _first("resign"), "quiet"),
                    (_first("join"), _first("expire"), "quiet")),
        "ELECT-8": ((*_JOINED, _first("ask"), _first("stop"), "wait", "quiet", _first("ask")),),
    },
    scene="{capacity} candidates, a lock service, and a store.",
)
