"""A port's page has every word that goes over the wire: an adapter can be written from it alone."""

from __future__ import annotations

import copy
import json
import re
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from benchmarks.pages.records import anchor, loop_table
from checkvalve.conformance.adapters.session import InProcessTarget
from checkvalve.conformance.campaigns.case import RunSettings
from checkvalve.conformance.engines.conduct import Order, conduct
from checkvalve.conformance.ports.base import Message, check_reply
from checkvalve.conformance.suites.results import NOT_SHOWN, PASSED
from checkvalve.conformance.suites.run import capabilities, run_program
from checkvalve.conformance.suites.suite import Program, Suite
from checkvalve.conformance.systems.catalogue import SYSTEMS, port_named
from benchmarks.pages.conversations import Noting, conversation, not_offered
from checkvalve.reference.drivers.schedules.virtual_loop import VirtualLoop
from checkvalve.spec.notation.errors import TargetError

ROOT = Path(__file__).resolve().parent.parent
ADAPTERS = ROOT / "examples" / "adapters"
AFTER_THE_INSTANT = "an event, after the instant"

each_port = pytest.mark.parametrize("name", SYSTEMS)


@lru_cache
def page(name: str) -> str:
    """The page of a system."""
    return (ROOT / "docs" / SYSTEMS[name].page).read_text(encoding="utf-8")


def block(what: str, name: str) -> str:
    """A made block of it."""
    _, head, rest = page(name).partition(f"<!-- made: {what} of {name} -->")
    assert head
    return rest.partition("<!-- made. -->")[0]


@lru_cache
def tables(name: str) -> dict[str, list[list[str]]]:
    """The rows of the port's tables, by the head of their first column."""
    found: dict[str, list[list[str]]] = {}
    for table in re.findall(r"(?:^\|.*\n)+", block("port", name), re.MULTILINE):
        head, _, *rows = [[cell.strip() for cell in line.strip("|\n").split(" | ")]
                          for line in table.splitlines()]
        found[head[0]] = rows
    return found


def words(name: str) -> dict[str, list[tuple[str, str]]]:
    """By name that may stand in a reply or request: where that is, and what it means."""
    found: dict[str, list[tuple[str, str]]] = {}
    for where, named, meaning in tables(name)["in"]:
        named = named.strip("`")
        if where.startswith(AFTER_THE_INSTANT):
            named = named.partition(" ")[0]
        found.setdefault(named, []).append((where, meaning))
    return found


def shown(name: str) -> list[tuple[Message, Message]]:
    """The conversation on the page."""
    lines = block("conversation", name).split("```")[1].strip().splitlines()
    assert [line[:2] for line in lines] == ["> ", "< "] * (len(lines) // 2)
    said = [json.loads(line[2:]) for line in lines]
    return list(zip(said[::2], said[1::2], strict=True))


@each_port
def test_the_page_has_each_operation_field_setting_and_policy(name: str) -> None:
    """As cells of its tables, the fields with what they are."""
    port, found = port_named(name), tables(name)
    assert [row[0].split(" ")[0] for row in found["`do`"]] == [
        f"`{each}`" for each in port.operations]
    fields = {(row[0].split(" ")[0], do.strip("` "), row[2])
              for row in found["field"] for do in row[1].split(",")}
    assert fields == {(f"`{each.name}`", do, each.kind.words)
                      for do, operation in port.operations.items()
                      for each in operation.arguments}
    assert [(row[0].split(" ")[0], row[1]) for row in found["setting"]] == [
        (f"`{each.name}`", each.kind.words) for each in port.settings]
    assert [row[0] for row in found["`policy`"]] == [f"`{each}`" for each in port.policies]


class Page:
    """An adapter that answers as a page does, and knows nothing else."""

    def __init__(self, said: list[tuple[Message, Message]]) -> None:
        self._left = list(said)

    def request(self, message: Message) -> Message:
        """The reply to a message, as ``Adapter`` has it."""
        request, reply = self._left.pop(0)
        assert message == {key: each for key, each in request.items() if key != "id"}
        return {key: each for key, each in reply.items() if key != "id"}


@each_port
def test_the_conversation_is_one_that_the_port_accepts(name: str) -> None:
    """Each request and each reply is checked as those of any target are."""
    said = shown(name)
    session = InProcessTarget("the page", lambda: Page(said), port_named).open()
    for request, _ in said:
        session.request({key: each for key, each in request.items() if key != "id"})
    assert [request["id"] for request, _ in said] == [*range(1, len(said) + 1)]
    assert all(reply["id"] == request["id"] for request, reply in said)


@each_port
def test_the_conversation_is_what_the_reference_answers_to_every_operation(name: str) -> None:
    """Recorded anew, it is the same; it leaves out nothing that the reference offers."""
    system, said = SYSTEMS[name], shown(name)
    assert conversation(system) == said
    asked = {request["do"] for request, _ in said}
    assert asked == {*system.port.operations} - {*not_offered(system, said)}
    assert all(f"`{each}`" in block("conversation", name) for each in not_offered(system, said))


def texts(value: object, field: str = "") -> Iterator[tuple[str, str]]:
    """The names of fields in a value, with "" for their field, and the texts, with theirs."""
    if isinstance(value, str):
        yield field, value
    elif isinstance(value, list):
        for each in value:
            yield from texts(each, field)
    elif isinstance(value, dict):
        for key, each in value.items():
            yield "", key
            yield from texts(each, key)


def programs(name: str) -> list[Program]:
    """Some that its suite draws for the reference."""
    system = SYSTEMS[name]
    drawn: list[Program] = []
    target = InProcessTarget("it", lambda: system.adapter(system.reference), port_named)
    can = capabilities(system.suite, target, *system.suite.capacities)
    rules = system.suite.rules()
    for rule in rules if isinstance(system.suite, Suite) else rules[:2]:
        system.suite.explore(can, rule, 5, 1, drawn.append)
    return drawn[:12 if isinstance(system.suite, Suite) else 2]


@lru_cache
def sessions(name: str) -> list[Noting]:
    """Those of the reference in some programs."""
    system, noting = SYSTEMS[name], list[Noting]()

    def adapter() -> Noting:
        noting.append(Noting(system.adapter(system.reference)))
        return noting[-1]

    for program in programs(name):
        for capacity in system.suite.capacities[-2:]:
            run_program(system.suite, InProcessTarget("it", adapter, port_named), program, capacity)
    return noting


def asked_in_runs(name: str) -> list[Message]:
    """The requests of these."""
    return [request for each in sessions(name) for request, _ in each.said]


def told(name: str) -> Iterator[tuple[set[str], Message]]:
    """The replies, and the texts that the reference was given before each."""
    for each in sessions(name):
        given: set[str] = set()
        for request, reply in each.said:
            given |= {text for _, text in texts(request)}
            yield given, reply


@each_port
def test_every_word_that_is_asked_is_on_the_page(name: str) -> None:
    """Fields, settings, and the words of fields that have some."""
    known, found, port = words(name), tables(name), port_named(name)
    fields = {"id", "now", "do", *(row[0].split(" ")[0].strip("`") for row in found["field"])}
    settings = {row[0].split(" ")[0].strip("`") for row in found["setting"]}
    limited = {each.name for operation in port.operations.values()
               for each in operation.arguments if each.kind.parts}
    for request in asked_in_runs(name):
        assert request.keys() <= fields
        if request["do"] == "hello":
            assert request["settings"].keys() <= settings
            continue
        for field in limited & request.keys():
            if isinstance(request[field], str):
                assert request[field] in known, request
            elif any(isinstance(each, str) for each in request[field]):
                assert {*request[field]} <= known.keys(), request
            for _, inside in texts(request[field]):
                assert inside in known or _ != "", request


@each_port
def test_every_word_of_a_run_is_on_the_page(name: str) -> None:
    """In a reply, each field is in the tables; each text is a word of them, or was given, or is one
    of a field that the tables call a text."""
    known = words(name)
    free = {each for each, places in known.items() if any("text" in place[1] for place in places)}
    rows = any(where.startswith(AFTER_THE_INSTANT) for places in known.values()
               for where, _ in places)
    for given, reply in told(name):
        for field, text in texts(reply.get("ok")):
            word = text.split(" ")[1] if rows and field == "" and " " in text else text
            assert word in known or (text in given or (field and field in free) or (
                reply["id"] == 1 and field in ("policy", "can"))), (field, text)


Place = tuple[tuple[Any, ...], Any, str]
"""The way to it, its field (None: it is the name of one), and its text."""


def closed(value: Any, known: dict[str, list[tuple[str, str]]]) -> Iterator[Place]:
    """The places of a value in which nothing may stand but words of the page.

    The name of a field is one, unless the field may be absent.
    """
    for path, field, text in places(value, ()):
        word = text.split(" ")[1] if field == "row" else text
        if field is None:
            if not any(re.search(r"absent|^of |^where ", meaning) for _, meaning in known[text]):
                yield path, field, text
        elif any(closes(where, field, path) for where, _ in known.get(word, ())):
            yield path, field, text


def spoilt(value: Any, place: Place, word: str) -> Any:
    """A value with another word in a place."""
    (*way, last), field, text = place
    changed = copy.deepcopy(value)
    at: Any = changed
    for key in way:
        at = at[key]
    if field is None:
        at[word] = at.pop(last)
    else:
        at[last] = text.replace(text.split(" ")[1], word, 1) if field == "row" else word
    return changed


@lru_cache
def pool(name: str) -> list[str]:
    """Words in which a checker might believe: all in quotes in the files of a system."""
    folder = ROOT / Path(*SYSTEMS[name].folder.split(".")[1:])
    text = "".join(each.read_text(encoding="utf-8") for each in folder.glob("*.py"))
    return sorted({"zzz", *re.findall(r'"([a-z_ ]{2,20})"', text)})


def closes(where: str, field: str, path: tuple[Any, ...]) -> bool:
    """True if the words of a place are all that there may be in a field, or in a list."""
    if field == "row":
        return where.startswith(AFTER_THE_INSTANT)
    if field == "item":
        return path[-1] == 0 and where.startswith("the first of") or where == "what it says"
    return f"`{field}`" in where


def places(value: object, path: tuple[Any, ...]) -> Iterator[Place]:
    """The fields (None) and texts in a value, and where they are."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield (*path, key), None, key
            if isinstance(each, str):
                yield (*path, key), key, each
            yield from places(each, (*path, key))
    elif isinstance(value, list):
        for number, each in enumerate(value):
            if isinstance(each, str):
                yield (*path, number), "row" if " " in each else "item", each
            yield from places(each, (*path, number))


@each_port
def test_what_is_not_on_the_page_is_no_answer(name: str) -> None:
    """A reply with another word in the place of one of the tables is refused: they are whole."""
    port, known = port_named(name), words(name)
    for request, reply in shown(name)[:40]:
        if "ok" not in reply:
            continue
        operation = port.operations[request["do"]]
        check_reply("it", port, operation, {"ok": reply["ok"]}, {})
        by_field = {each[1] or each[2]: each for each in closed(reply["ok"], known)}
        for field, place in by_field.items():
            for word in {*pool(name)} - known.keys():
                with pytest.raises(TargetError):
                    check_reply("it", port, operation, {"ok": spoilt(reply["ok"], place, word)}, {})
                    pytest.fail(f"{word} may stand in {field}, and is not on the page")


@each_port
def test_the_catalogue_leads_to_the_section_of_the_port(name: str) -> None:
    """Its link has the heading that stands before the tables."""
    place = anchor(page(name), f"<!-- made: port of {name} -->")
    catalogue = (ROOT / "docs" / "suites.md").read_text(encoding="utf-8")
    assert place != "" and f"[`{name}`]({SYSTEMS[name].page}{place})" in catalogue


def verdicts(target: str, suite: str, cases: int, programs: int) -> dict[str, str]:
    """The outcome of each rule after a short run."""
    order = Order(suite, cases=cases, settings=RunSettings(programs=programs, timeout_seconds=60))
    summary, _ = conduct(target, order)
    assert not summary.error
    return {each.rule.id: each.verdict for each in summary.results}


def test_the_adapter_with_a_loop_of_its_own_passes() -> None:
    """Plain Python that speaks JSON lines, by what docs/awaits.md says. With fewer cases nothing is
    known of PERMIT-4."""
    told_of = verdicts(
        f"command:{sys.executable} {ADAPTERS / 'loop_permits.py'}", "awaits.permits", 40, 16)
    assert {*told_of.values()} == {PASSED}


def test_the_adapter_on_the_virtual_loop_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """``asyncio.Event``, which cannot be broken, by what docs/awaits.md says."""
    monkeypatch.chdir(ADAPTERS)
    told_of = verdicts("python:event_gate:Adapter", "awaits.gate", 14, 8)
    lacking = {rule for rule, verdict in told_of.items() if verdict == NOT_SHOWN}
    assert lacking == {"GATE-4", "GATE-5"}
    assert {told_of[rule] for rule in told_of.keys() - lacking} == {PASSED}


def test_the_page_shows_the_adapter_on_the_virtual_loop_as_it_is() -> None:
    """A reader who copies it from the page gets what is tested here."""
    assert (ADAPTERS / "event_gate.py").read_text(encoding="utf-8") in page("awaits.gate")


def test_each_method_of_the_loop_that_an_adapter_calls_is_on_the_page() -> None:
    """Made from the docstrings; what asyncio asks of a loop is no part of it."""
    assert loop_table() in page("awaits.gate")
    own = {name for name, each in vars(VirtualLoop).items()
           if callable(each) and not name.startswith("_")}
    for_asyncio = {"call_at", "call_exception_handler", "run_in_executor"}
    assert {row.split("`")[1].partition("(")[0]
            for row in loop_table().splitlines()[2:-2]} == own - for_asyncio
