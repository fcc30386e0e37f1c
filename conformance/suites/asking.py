"""The beginning of every conversation, and the meaning of a refusal."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ...spec.notation.errors import TargetError
from ..ports.base import (
    NO_OCCASION_FOR, PROTOCOL_VERSION, STEPPED, STEPPED_WAKES, Message, NoGreeting, Session,
    SettingsRefused,
)
from .exchange import Answer, Exchange

__all__ = ["greet", "refused"]


def greet(session: Session, port: str, settings: Mapping[str, int], **more: Any) -> Message:
    """Say hello; the target's greeting. Raises ``TargetError`` where there is none."""
    try:
        reply = session.request({
            "do": "hello", "protocol": PROTOCOL_VERSION, "port": port, "settings": dict(settings),
            **more})
    except SettingsRefused:
        raise
    except TargetError as error:
        raise NoGreeting(error.what, error.where, error.next_step) from error
    if "ok" not in reply:
        raise TargetError(
            f"the target answered 'hello' with {json.dumps(reply, ensure_ascii=False)}",
            next_step="Fix the adapter, or use settings that it supports.")
    greeting: Message = reply["ok"]
    return {**greeting, "can": [*greeting["can"], *_declared(greeting)]}


def _declared(greeting: Message) -> list[str]:
    """The things that a target says of itself besides its operations, which stand among what it can
    do."""
    stepped = [STEPPED_WAKES] if greeting.get("wakes") == STEPPED else []
    return stepped + [f"{NO_OCCASION_FOR}{rule}" for rule in greeting.get("no_occasion", ())]


def refused(
    request: Message, reply: Message, asked: str, possible: tuple[Answer, ...] = ()
) -> Exchange | None:
    """The meaning of an error: nothing has happened, or it is not known what has. None if the reply
    is no error.

    ``asked`` is the request in words.
    """
    if "error" not in reply:
        return None
    words = f"error {reply['error']}" + ("" if reply["definite"] else ", perhaps done")
    return Exchange(
        request, reply, f"{asked}: {words}", possible=possible, judged=reply["definite"])
