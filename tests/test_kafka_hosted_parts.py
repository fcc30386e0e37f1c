"""Guests of a process of the reference's cluster: a controller's effects, an operator's wishes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

import pytest
from checkvalve.reference.coordination.terms import (
    ConnectionLost, Create, Created, Delete, Multi, NoNode, NodeExists, Read, Request, Result,
)
from checkvalve.reference.kafka.cluster.controlling import Controlling, stands
from checkvalve.reference.kafka.cluster.operator import Operator
from checkvalve.reference.kafka.cluster.process import Process
from checkvalve.reference.kafka.controller import znodes
from checkvalve.reference.kafka.controller.channels import Channels
from checkvalve.reference.kafka.controller.controller import Controller
from checkvalve.reference.kafka.controller.terms import Effect, Event, Opened, Over

CANDIDATE = Create(znodes.CONTROLLER, b"1", ephemeral=True)
OTHER = Create("/elsewhere")


@dataclass
class Asked:
    """A process that keeps what is asked of it, and lets a test answer."""

    session: int = 1
    service_session: int = 1
    hosted: Any = None
    asks: list[tuple[Request, Callable[[Result], None]]] = field(default_factory=list)
    later_ones: list[Callable[[], None]] = field(default_factory=list)

    def open(self) -> None:
        """Nothing to open."""

    def ask(self, request: Request, then: Callable[[Result], None]) -> None:
        """Keep it."""
        self.asks.append((request, then))

    def later(self, ms: int, what: Callable[[], None]) -> None:
        """Keep it."""
        self.later_ones.append(what)

    def answered(self, result: Result) -> Request:
        """Answer what was asked last, let time pass, and say what is asked then."""
        self.asks.pop()[1](result)
        while self.later_ones:
            self.later_ones.pop()()
        return self.asks[-1][0]


class Listens:
    """A controller that keeps its events, and does nothing."""

    def __init__(self) -> None:
        self.told: list[Event] = []
        self.channels = Channels(lambda effect: None, lambda: 1)

    def receive(self, event: Event) -> list[Effect]:
        """Keep it."""
        self.told.append(event)
        return []


def operator_with_a_wish() -> tuple[Asked, Create]:
    """It is connected, and has asked for the znode of one wish."""
    process, wish = Asked(), Create("/admin/wish", b"now")
    operator = Operator(cast(Process, process))
    operator.connected()
    operator.wish(wish.path, wish.data)
    assert process.asks[-1][0] == wish
    return process, wish


@pytest.mark.parametrize(("request_", "is_one"), [
    (CANDIDATE, True), (OTHER, False), (Delete(znodes.CONTROLLER), False),
    (Multi((OTHER, CANDIDATE)), True), (Multi((CANDIDATE, OTHER)), True),
    (Multi((OTHER, Delete(znodes.CONTROLLER))), False),
])
def test_who_asks_for_the_controllers_znode_stands_also_among_other_operations(
        request_: Request, is_one: bool) -> None:
    """One part of a transaction is enough, wherever it is."""
    assert stands(request_) is is_one


def test_a_controller_is_told_that_its_session_is_over() -> None:
    """And of the next one."""
    controller = Listens()
    controlling = Controlling(cast(Process, Asked()), cast(Controller, controller))
    controlling.begin()
    controlling.expired()
    assert controller.told == [Opened(1), Over()]


def test_a_wish_that_was_made_is_looked_at_and_not_made_twice() -> None:
    """Until its znode is gone: then it was carried out."""
    process, wish = operator_with_a_wish()
    assert process.answered(Created(wish.path, None)) == Read(wish.path)
    assert process.answered(ConnectionLost()) == Read(wish.path)
    process.asks.append((OTHER, lambda _: None))    # a mark: nothing is asked after it
    process.asks[-2][1](NoNode(wish.path))
    assert process.asks[-1][0] == OTHER and not process.later_ones
    assert process.hosted.waiting == 0


@pytest.mark.parametrize("result", [ConnectionLost(), NodeExists("/admin/wish")])
def test_a_wish_that_nobody_confirmed_is_made_again(result: Result) -> None:
    """It may have been lost; or the znode is an older one's."""
    process, wish = operator_with_a_wish()
    assert process.answered(result) == wish
