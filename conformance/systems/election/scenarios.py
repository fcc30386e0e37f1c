"""The scenarios for every real system: a few short programs, the same for all.

The first is the shortest that violates ELECT-2 without fencing: the search behind the row
``refused(Unfenced, "ELECT-2", …)`` of ``election.lock_seen`` visits all shorter runs first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ...suites.exchange import Act, Program

__all__ = ["SCENARIOS"]


def _program(text: str) -> Program:
    """The program of a text such as ``join0 wait ask1``: operations, each with its candidate."""
    words = [(word.rstrip("0123456789"), word) for word in text.split()]
    return tuple(Act(do, int(word[len(do):] or 0)) for do, word in words)


SCENARIOS: Final[Mapping[str, Program]] = {name: _program(text) for name, text in {
    "a session ends": "join0 join1 ask0 expire0 wait ask1 write1 write0",
    "a leader is halted": "join0 join1 ask0 stop0 wait ask1 write1 go0 write0 quiet ask0 ask1",
    "a leader is cut off": "join0 join1 ask0 cut0 wait ask1 write1 write0 ask0 quiet ask0 ask1",
    "a leader was replaced": "join0 join1 ask0 stop0 wait quiet ask0 ask1",
    "a leader resigns": "join0 join1 ask0 write0 write0 resign0 quiet ask1 write1",
    "a leader is killed": "join0 join1 ask0 crash0 quiet ask1 write1",
    "a candidate's session ends": "join0 join1 expire1 expire0 quiet resign1 quiet ask0 write0",
    "the service restarts": "join0 join1 ask0 resign0 wait ask1 restart quiet ask1 write1",
    "others come and go": "join0 ask0 join1 ask1 ask0 write0 resign1 join1 ask1 ask0 write0",
}.items()}
