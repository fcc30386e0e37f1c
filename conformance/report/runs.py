"""A counterexample of a design as plain data that a page can step through.

Most steps of a long run are alike. So the data has each *move* once, with what it changes, and
the run as the numbers of its moves; the page adds the changes up, and keeps every so many states.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from checkvalve.spec.design.net.counters import AIM
from checkvalve.spec.design.net.rows import Place, Row, Table
from checkvalve.spec.design.net.translate import translate
from checkvalve.spec.design.reading.language import Design, Flow
from checkvalve.spec.design.reading.properties import fact
from checkvalve.spec.design.reading.source import Watch
from checkvalve.spec.design.why.cycles import held, led, round_of
from checkvalve.spec.design.why.findings import Finding

__all__ = ["MOST_STEPS", "run_of"]

MOST_STEPS = 100_000
"""Steps of a run that the page has; of a longer one it has so many from the beginning."""

Change = Mapping[str, int]


def run_of(
    design: Design, finding: Finding, drawing: int | None, watch: Watch = lambda: None
) -> dict[str, Any]:
    """The run of a finding that is violated. ``drawing`` is the number of its drawing in the
    section. ``watch`` is called often, and may raise."""
    table = translate(design, AIM, watch)
    places = {place.name: place for place in table.places}
    moves = _Moves(design, table)
    steps = [moves.number(label, change) for label, change in _steps(finding, watch)]
    known = moves.known and _ends_right(finding, table, moves, steps)
    tasks = {name: number for number, name in enumerate(design.tasks)}
    where = _by_name(table)
    loop = finding.loop
    if finding.meanwhile is not None:
        loop = finding.length + finding.meanwhile.loop
    return {
        "kind": "design", "about": fact(finding.name), "drawing": drawing,
        "length": finding.length, "shortest": finding.is_shortest, "loop": loop,
        "blocked": finding.length if finding.waits else None,
        "lanes": list(tasks), "moves": moves.moves, "steps": steps, "known": known,
        "places": _places(design, table, watch),
        "cycle": [{"task": tasks[wait.task], "text": wait.sentence(), "places": sorted({
            *where.get(wait.where, ()), *where.get(wait.task, ())})} for wait in finding.cycle],
        "waits": [{"text": wait.sentence()} for wait in finding.waits],
        "round": [wait.task for wait in round_of(finding.cycle)] if finding.cycle else [],
        "edges": [" \u2192 ".join((wait.task, other)) for wait, other in led(finding.cycle)],
        "held": list(held(design, finding.cycle, dict(finding.free))) if finding.cycle else [],
        "reason": finding.reason, "links": _links(design, list(places)),
        "pools": list(design.pools),
    }


def _steps(finding: Finding, watch: Watch) -> Iterator[tuple[str, Change]]:
    """The steps with their changes, as many as the page has."""
    number = 0
    path: list[tuple[str, Change]] = []
    for leg in finding.legs:
        watch()
        path[leg.keep:] = zip(leg.steps, leg.changes, strict=True)
        for _ in range(leg.times):
            for step in path:
                if number == MOST_STEPS:
                    return
                number += 1
                yield step
    meanwhile = finding.meanwhile.steps if finding.meanwhile else ()
    changes: Sequence[Change] = finding.changes
    labels = (*finding.steps, *meanwhile)
    if len(changes) != len(labels):
        changes = [{}] * len(labels)
    yield from list(zip(labels, changes, strict=True))[:MOST_STEPS - number]


class _Moves:
    """The moves that were met so far. They are ``known`` as long as each is about places that the
    design has."""

    def __init__(self, design: Design, table: Table) -> None:
        self.moves: list[dict[str, Any]] = []
        self.known = True
        self._tasks = {name: number for number, name in enumerate(design.tasks)}
        self._places = {place.name: number for number, place in enumerate(table.places)}
        self._numbers: dict[tuple[str, tuple[tuple[str, int], ...]], int] = {}
        self._rows: dict[str, list[Row]] = {}
        for row in table.rows:
            self._rows.setdefault(row.label, []).append(row)

    def number(self, label: str, change: Change) -> int:
        """The number of the move, which is added if it is new."""
        key = label, tuple(sorted(change.items()))
        if key not in self._numbers:
            self._numbers[key] = len(self.moves)
            self.moves.append({"label": label, "acts": self._acts(label, change)})
        return self._numbers[key]

    def _acts(self, label: str, change: Change) -> list[list[Any]]:
        """The changes of each task in a transition: its number, and the places that change."""
        plain = _without_values(change)
        rows = self._rows.get(label, [])
        row = next((row for row in rows if all(
            row.effect.change.get(place, 0) == by for place, by in plain.items())), None)
        if row is None and rows:
            row = rows[0]
        first = row.task if row else label.split(" ")[0]
        task = self._tasks.get(first, 0)
        left = dict(plain)
        acts = []
        for part in row.parts if row else ():
            own = {place: by for place, by in part.effect.change.items() if place in left}
            for place, by in own.items():
                left[place] -= by
            acts.append(self._act(self._tasks[part.task], own))
        rest = {place: by for place, by in left.items() if by}
        if rest or not acts:
            acts.insert(0, self._act(task, rest))
        return acts

    def _act(self, task: int, change: Change) -> list[Any]:
        self.known &= all(place in self._places for place in change)
        return [task, [[self._places[place], by] for place, by in change.items()
                       if place in self._places]]


def _without_values(change: Change) -> dict[str, int]:
    """The change of places: that of a position is given as the value that it leaves, and the one
    that it comes to."""
    found: dict[str, int] = {}
    for name, by in change.items():
        place, is_value, value = name.rpartition(" = ")
        if is_value and value.isdigit():
            found[place] = found.get(place, 0) + by * int(value)
        else:
            found[name] = found.get(name, 0) + by
    return {place: by for place, by in found.items() if by}


def _ends_right(finding: Finding, table: Table, moves: _Moves, steps: Sequence[int]) -> bool:
    """True if the changes, added up, come to the contents that the finding has. What could not be
    added up is not shown."""
    state = [place.start for place in table.places]
    for number in steps[:finding.length]:
        for _, change in moves.moves[number]["acts"]:
            for place, by in change:
                state[place] += by
                if state[place] < 0:
                    return False
    if len(steps) < finding.length or not finding.contents:
        return True
    end = {place.name: held for place, held in zip(table.places, state, strict=True)}
    return dict(table.contents(end)) == dict(finding.contents)


def _places(design: Design, table: Table, watch: Watch) -> list[dict[str, Any]]:
    found = []
    for place in table.places:
        watch()
        found.append(_place(design, place))
    return found


def _place(design: Design, place: Place) -> dict[str, Any]:
    """A place; ``most`` is None where nothing bounds it."""
    link = design.links.get(place.of)
    endless = link is not None and link.flow is Flow.UNBOUNDED and place.role == "queue"
    unit = design.unit(place.of) if place.of in design.pools else ""
    return {"name": place.name, "role": place.role, "of": place.of, "start": place.start,
            "most": None if endless else place.most, "unit": unit}


def _links(design: Design, places: Sequence[str]) -> list[dict[str, Any]]:
    """The links, in the order of the design: the place of the elements, and whether the page can
    match each read with its write."""
    numbers = {name: number for number, name in enumerate(places)}
    return [
        {"name": link.name, "place": numbers.get(f"elements in {link.name}"),
         "capacity": link.capacity, "initial": link.initial,
         "matched": link.overflow is not Flow.DROP_OLDEST and not link.lossy}
        for link in design.links.values()]


def _by_name(table: Table) -> dict[str, list[int]]:
    """The places of each task, link and pool: a wait depends on those of what is waited for, and on
    those of the task."""
    found: dict[str, list[int]] = {}
    for number, place in enumerate(table.places):
        found.setdefault(place.of, []).append(number)
    return found
