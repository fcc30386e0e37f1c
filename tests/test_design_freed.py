"""Runs that free a task of a supposed local deadlock: their needs are exact, and what they show is
true.
"""

from __future__ import annotations

import os
import subprocess
import sys
from random import Random

from benchmarks.random_designs.designs import random_design
from benchmarks.random_designs.plain_local import PlainGraph, plain_local
from checkvalve.spec.design.check import Settings
from checkvalve.spec.design.equations.freed import Freeing, needed_for, step_of
from checkvalve.spec.design.equations.silent import ask_equations
from checkvalve.spec.design.loader import load
from checkvalve.spec.design.net.rows import Table
from checkvalve.spec.design.net.builder import Aim
from checkvalve.spec.design.net.translate import translate
from checkvalve.spec.design.reading.language import Design, Flow
from checkvalve.spec.design.search.runs import Runs
from checkvalve.spec.design.verdicts.local import Spaces, on_all_states
from checkvalve.spec.design.why.parts import Part, parts
from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.verdicts.verdict import Budget, Outcome

RETRIES = """
checkvalve: 2
name: retries before a diamond
tasks:
  source: {kind: source}
  entry: {kind: merge, policy: fair}
  decide: {kind: route}
  split: {kind: broadcast}
  left: {kind: map, hand: 1, pool: workers}
  right: {kind: map, hand: 1, pool: workers}
  join: {kind: zip}
  end: {kind: route}
  waste: {kind: sink}
  out: {kind: sink}
links:
  - {from: source, to: entry, capacity: 300}
  - {from: entry, to: decide, capacity: 300}
  - {from: decide, to: waste, capacity: 200}
  - {from: decide, to: split, capacity: 200}
  - {from: split, to: left, capacity: 200}
  - {from: split, to: right, capacity: 200}
  - {from: left, to: join, capacity: 200}
  - {from: right, to: join, capacity: 200}
  - {from: join, to: end, capacity: 200}
  - {from: end, to: out, capacity: 200}
  - {from: end, to: entry, capacity: 200}
pools:
  workers: {threads: 2}
"""


def _parts(seed: int) -> list[Design]:
    try:
        return [part for part in parts(random_design(Random(seed))) if all(
            link.flow not in (Flow.UNBOUNDED, Flow.FAIL) for link in part.links.values())]
    except InputError:
        return []


def _drawn_loop(draw: Random) -> Design:
    """Stages in a row behind a merge, to which the last one gives work back; some are a diamond, or
    give work away, and some share a pool."""
    tasks = {"in": "{kind: source}",
             "entry": f"{{kind: merge, policy: {draw.choice(['any', 'fair'])}}}"}
    links = ["in entry"]
    here, size = "entry", draw.randint(1, 2)
    for n in range(size):
        shape = draw.choice(["map", "leak", "diamond"])
        pool = draw.choice(["", ", pool: p"])
        if shape == "diamond":
            tasks |= {f"split{n}": "{kind: broadcast}", f"a{n}": f"{{kind: map, hand: 1{pool}}}",
                      f"b{n}": f"{{kind: map{pool}}}", f"here{n}": "{kind: zip}"}
            links += [f"{here} split{n}", f"split{n} a{n}", f"split{n} b{n}",
                      f"a{n} here{n}", f"b{n} here{n}"]
        else:
            tasks[f"here{n}"] = f"{{kind: map, hand: 1{pool}}}" if shape == "map" else (
                f"{{kind: route, by: {draw.choice(['content', 'room'])}}}")
            links.append(f"{here} here{n}")
            if shape == "leak":
                tasks[f"waste{n}"] = "{kind: sink}"
                links.append(f"here{n} waste{n}")
        here = f"here{n}"
    tasks |= {"end": f"{{kind: route, by: {draw.choice(['content', 'room'])}}}",
              "out": "{kind: sink}"}
    links += [f"{here} end", "end entry", *draw.choice([["end out"], ["end out", "in entry"]])]
    lines = [f"  - {{from: {a}, to: {b}, capacity: 1, name: q{n}{flow}}}" for n, (a, b, flow) in
             enumerate((*link.split(), draw.choice(["", "", ", flow: credit"])) for link in links)]
    return load("\n".join([
        "checkvalve: 2", "name: loop", "tasks:", *(f"  {n}: {t}" for n, t in tasks.items()),
        "links:", *lines, f"pools: {{p: {{threads: {draw.randint(1, 2)}}}}}"]))


def _drawn_marking(table: Table, draw: Random) -> dict[str, int]:
    return {place.name: draw.randint(0, min(place.most, 3)) for place in table.places}


def _is_run(runs: Runs, marking: list[int], rows: list[int]) -> bool:
    here = list(marking)
    for row in rows:
        if not runs.can_move(here, row):
            return False
        runs.change(here, row)
    return True


def test_what_a_run_needs_is_what_makes_it_possible() -> None:
    """In drawn markings, rows can move one after the other exactly where the guards hold."""
    seen = {True: 0, False: 0}
    for seed in range(40):
        draw = Random(seed)
        for part in _parts(seed):
            table = translate(part, Aim())
            runs = Runs(table)
            for _ in range(20 if table.rows else 0):
                rows = [draw.randrange(len(table.rows)) for _ in range(draw.randint(1, 3))]
                marking = _drawn_marking(table, draw)
                told = all(marking[place] >= n if up else marking[place] <= n
                           for place, n, up in needed_for(step_of(table.rows[row]) for row in rows))
                assert told == _is_run(runs, list(marking.values()), rows), (seed, rows)
                seen[told] += 1
    assert min(seen.values()) > 20


def test_a_run_that_is_found_is_one_and_ends_with_its_goal() -> None:
    """From drawn markings to one drawn row."""
    found = 0
    for seed in range(30):
        draw = Random(seed)
        for part in _parts(seed):
            table = translate(part, Aim())
            fair = [n for n, row in enumerate(table.rows) if row.effect.fair]
            for _ in range(5 if fair else 0):
                goal, marking = draw.choice(fair), _drawn_marking(table, draw)
                run = Freeing([step_of(row) for row in table.rows]).run(marking, [goal])
                if run is not None:
                    assert run[-1] == goal and _is_run(Runs(table), list(marking.values()), run)
                    found += len(run) > 1
    assert found > 10


def test_no_task_is_freed_that_is_stuck() -> None:
    """On random designs, nothing is excluded that the plainest walk over all states finds."""
    violated = 0
    for seed in range(40):
        for part in _parts(seed):
            try:
                graph = PlainGraph(part, 200)
            except InputError:
                continue
            if graph.whole and plain_local(graph) is not None:
                assert not ask_equations(part, may_stop=True, freeing=True).total, seed
                violated += 1
    assert violated > 1


def test_what_is_excluded_in_a_loop_is_so_in_all_its_states() -> None:
    """Most small loops are decided by it, and none of them wrongly."""
    excluded = 0
    for seed in (102, 104, 108, 109):
        part, = parts(_drawn_loop(Random(seed)))
        if ask_equations(part, may_stop=True, freeing=True).total:
            settings = Settings("explorer", Budget(max_states=5_000))
            found = on_all_states(Spaces([Part.of(part, cycles=False)], settings, True), 0)
            assert found.outcome is not Outcome.VIOLATED, seed
            excluded += found.outcome is Outcome.HOLDS
    assert excluded > 2


def test_a_loop_of_any_capacity_is_shown_to_have_no_local_deadlock() -> None:
    """It can deadlock as a whole, has far too many states, and no local deadlock: the equations
    leave some tasks open, and runs exclude them.
    """
    design = load(RETRIES)
    assert not ask_equations(design, may_stop=True).total
    assert ask_equations(design, may_stop=True, freeing=True).total


def test_the_equations_are_the_same_in_every_process() -> None:
    """Names are kept in sets, whose order Python changes from one process to the next."""
    told = f"""if True:
        import z3
        from checkvalve.spec.design.equations import silent
        from checkvalve.spec.design.loader import load
        check = z3.Solver.check
        def shown(self, *given):
            print(self.sexpr())
            return check(self, *given)
        z3.Solver.check = shown
        silent.ask_equations(load({RETRIES!r}), may_stop=True)
    """
    first, second = (subprocess.run(
        [sys.executable, "-c", told], env={**os.environ, "PYTHONHASHSEED": seed}, check=True,
        stdout=subprocess.PIPE).stdout for seed in ("0", "1"))
    assert first and first == second
