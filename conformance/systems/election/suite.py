"""The suite ``election``: candidates that are halted, cut off and killed, and their writes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ....spec.election.observed_election import ObservedElection, Token
from ....spec.notation.errors import TargetError
from ...ports.base import Message
from ...suites.plain import PlainConversation
from ...suites.remembered import highest, kept, latest, those
from ...suites.says import ANY, Fields, On, Says, done, on, says, table
from ...suites.suite import Act, Suite, Watch

__all__ = ["SUITE", "ElectionConversation", "compared"]


def _of_one(do: str, asked: str, *answers: Says, inside: str = "joined", outside: str = "") -> On:
    """An operation of a candidate that is ``inside`` some variables and ``outside`` others."""
    return on(do, asked, *answers, picks={"candidate": those("N", inside, outside)})


_TOKENS: Final = {
    Token.NONE: "", Token.NEWER: ", with a newer token", Token.SAME: ", with its token as before",
    Token.OLD: ", with an older token",
}


class ElectionConversation(PlainConversation):
    """One session with a service and its candidates. ``pick`` is a candidate.

    It knows the state of each candidate, and of a token only how it compares to those before. A
    halted process answers nothing, and one that is cut off cannot resign.
    """

    joined = kept("candidate", adds="join()", drops="resign() crash()")
    stopped = kept("candidate", adds="stop()", drops="go() resign() crash()", clears="quiet()")
    cut = kept("candidate", adds="cut()", drops="mend() resign() crash()", clears="quiet()")
    holding = kept("candidate", adds="leads", drops="leads_not resign() crash()", once=True)
    greatest = highest("number", "leads")
    tokens = latest("number", "leads", of="candidate")
    says = table(
        ObservedElection,
        _of_one("join", "candidate {candidate} joins", says(True, "join", "done"),
                inside="", outside="joined"),
        _of_one("resign", "candidate {candidate} resigns", says(True, "resign", "done"),
                outside="stopped cut"),
        _of_one("ask", "candidate {candidate} checks whether it leads",
           says(None, "leads_not", "it does not"),
           says(ANY, "leads", "it does{compared}", "it does{named}", gives="number",
                among=lambda talk, request: [{"token": token} for token in Token]),
           outside="stopped"),
        _of_one("write", "candidate {candidate} writes", says(True, "accepted", "accepted"),
           says(False, "refused", "refused"), inside="joined holding", outside="stopped"),
        _of_one("stop", "candidate {candidate} is halted", says(True, "shake", "done"),
                outside="stopped"),
        _of_one("go", "candidate {candidate} continues", done(), inside="stopped"),
        _of_one("cut", "candidate {candidate} is cut off", says(True, "shake", "done"),
                outside="stopped cut"),
        _of_one("mend", "candidate {candidate} can reach the service again", done(), inside="cut"),
        _of_one("expire", "the session of candidate {candidate} is ended",
           says(True, "shake", "done")),
        _of_one("crash", "candidate {candidate} is killed", says(True, "crash", "done")),
        on("restart", "the service is killed and started again", says(True, "restart", "done")),
        on("wait", "time passes until sessions have ended", done()),
        on("quiet", "the system is quiescent again", says(None, "quiet_without", "nobody leads"),
           says(ANY, "quiet", "candidate {candidate} leads", gives="candidate")),
    )

    def about(self, message: Message) -> Fields:
        """See ``PlainConversation``: of a token, how it compares to those before."""
        if "token" in message:
            return {**message, "compared": _TOKENS[message["token"]]}
        if "number" not in message:
            return message
        number = message["number"]
        if number == 0 and self.policy == "fenced":
            raise TargetError(
                f"it says that writes are fenced, and that candidate {self.request['candidate']} "
                "leads with the token 0, which is none",
                next_step="Answer with the token of the term, or say that the policy is unfenced.")
        token = compared(number, self.greatest, self.tokens.get(self.request["candidate"]))
        return {**message, "token": token, "named": f", with token {number}" if number else ""}


def compared(number: int, greatest: int, own: int | None) -> Token:
    """How a token compares to the greatest that was ever given out, and to the candidate's own."""
    if number == 0:
        return Token.NONE
    return Token.NEWER if number > greatest else Token.SAME if own == number else Token.OLD


def _settings(capacity: int) -> Mapping[str, int]:
    return {"capacity": capacity}


def _constants(capacity: int, items_max: int) -> Mapping[str, int]:
    return {"N": capacity, "K": items_max}


def _first(do: str) -> tuple[Act, ...]:
    return (Act(do, 0),)


def _second(do: str) -> tuple[Act, ...]:
    return (Act(do, 1),)


_JOINED: Final = (_first("join"), _second("join"))

SUITE: Final = Suite(
    name="election",
    version=2,
    port="election",
    watches=(Watch(ObservedElection),),
    weights={"join": 3, "resign": 1, "ask": 4, "write": 4, "stop": 1, "go": 1, "cut": 1,
             "mend": 1, "expire": 1, "crash": 1, "restart": 1, "wait": 1, "quiet": 1},
    epilogue=(Act("quiet"), Act("ask"), Act("ask", pick=1), Act("write"), Act("write", pick=1)),
    constants=_constants,
    conversation=ElectionConversation,
    settings=_settings,
    capacities=(2, 3),
    takes_more={"ELECT-3": "a system that gives tokens"},
    courses={
        # A leader checks, is halted, another is elected and writes, and then the first one does.
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
