"""Random machines, as source text that CPython runs and the compiler reads."""

from __future__ import annotations

import itertools
import linecache
import re
from functools import cache
from typing import Any

from hypothesis import strategies as st

from checkvalve.spec.notation import Machine

_serial = itertools.count()

HEADER = '''
from enum import IntEnum
from typing import NamedTuple
from checkvalve.spec.notation import *

class Colour(IntEnum):
    RED = 0
    GREEN = 1
    BLUE = 2

class Item(NamedTuple):
    owner: int
    hot: bool

def limit(value: int, top: int) -> int:
    if value > top:
        return top
    return max(value, 0)

class Random(Machine):
    K = const(3)
    a = integer(0, K, init=1)
    b = integer(-2, 2, init=0)
    up = boolean(False)
    colour = choice(Colour)
    queue = fifo(record(Item, owner=integer(0, 2), hot=boolean()), 2)
    plain = fifo(integer(0, 3), 3)
    slots = array(upto(2), integer(0, 2))
    lanes = array(Colour, fifo(integer(0, 1), 1))
    asked = subset(upto(3))

    def enough(self, n: int) -> bool:
        if self.up:
            return self.a >= n
        return self.b < n
'''


# Each strategy is made once: Hypothesis looks a new one through, which took longer than to draw.

@cache
def _numbers(depth: int) -> st.SearchStrategy[str]:
    leaves = st.sampled_from([
        "self.a", "self.b", "self.K", "0", "1", "2", "-1", "len(self.queue)", "len(self.plain)",
        "self.slots[0]", "self.slots[1]", "int(self.colour)", "len(self.asked)", "i",
        "sum(self.slots)", "sum(1 for x in self.plain if x > 1)",
        "sum(item.owner for item in self.queue if item.hot)", "max(self.slots)",
        "min((x for x in self.plain), default=2)", "limit(self.b + 1, 2)", "abs(self.b)",
        "sum(len(lane) for lane in self.lanes)", "self.slots[i % 2]",
    ])
    if depth == 0:
        return leaves
    inner, test = _numbers(depth - 1), _tests(depth - 1)
    return st.one_of(
        leaves,
        st.tuples(inner, st.sampled_from(["+", "-", "*"]), inner).map(
            lambda t: f"({t[0]} {t[1]} {t[2]})"),
        st.tuples(inner, st.sampled_from(["// 2", "% 3", "% 2"])).map(lambda t: f"({t[0]} {t[1]})"),
        st.tuples(st.sampled_from(["min", "max"]), inner, inner).map(
            lambda t: f"{t[0]}({t[1]}, {t[2]})"),
        st.tuples(inner, test, inner).map(lambda t: f"({t[0]} if {t[1]} else {t[2]})"),
    )


@cache
def _tests(depth: int) -> st.SearchStrategy[str]:
    leaves = st.sampled_from([
        "self.up", "not self.up", "self.queue", "not self.plain", "i in self.asked",
        "self.colour == Colour.GREEN", "self.colour in (Colour.RED, Colour.BLUE)",
        "1 in self.plain", "any(item.hot for item in self.queue)", "i == 1",
        "all(x < 3 for x in self.plain)", "Item(1, True) in self.queue", "self.enough(2)",
        "(self.plain and self.plain[0] == 1)", "(len(self.queue) > 1 and self.queue[-1].hot)",
        "self.slots[0] == self.slots[1]", "self.lanes[Colour.RED] == self.lanes[Colour.BLUE]",
        "all(self.plain[k] <= self.plain[k + 1] for k in range(len(self.plain) - 1))",
    ])
    if depth == 0:
        return leaves
    number, inner = _numbers(depth - 1), _tests(depth - 1)
    return st.one_of(
        leaves,
        st.tuples(number, st.sampled_from(["<", "<=", "==", "!=", ">", ">="]), number).map(
            lambda t: f"{t[0]} {t[1]} {t[2]}"),
        st.tuples(number, number, number).map(lambda t: f"{t[0]} <= {t[1]} < {t[2]}"),
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(
            lambda t: f"({t[0]} {t[1]} {t[2]})"),
        inner.map(lambda t: f"not ({t})"),
    )


def _wrapped(target: str, low: int, size: int) -> st.SearchStrategy[str]:
    """An assignment that stays in range."""
    return _numbers(1).map(lambda n: f"{target} = ({n}) % {size} + {low}")


@cache
def _simple() -> st.SearchStrategy[str]:
    return st.one_of(
        _wrapped("self.a", 0, 4), _wrapped("self.b", -2, 5), _wrapped("self.slots[i % 2]", 0, 3),
        _wrapped("self.slots[self.a % 2]", 0, 3), _wrapped("self.colour", 0, 3),
        _tests(1).map(lambda t: f"self.up = bool({t})"),
        _tests(1).map(lambda t: f"require({t})"),
        st.sampled_from([
            "self.asked.add(i)", "self.asked.discard(self.a % 3)", "self.plain.clear()",
            "x = self.plain.pop(); self.slots[0] = x % 3",
            "item = self.queue.pop(); self.up = item.hot",
            "require(len(self.plain) < 3); self.plain.push(self.a)",
            "require(len(self.queue) < 2); self.queue.push(Item(i, self.up))",
            "require(not self.lanes[i]); self.lanes[i].push(self.slots[0] % 2)",
            "self.lanes[self.colour].clear()",
            "self.plain.push(self.plain.pop())", "self.a += 1", "self.b -= 1",
            "self.slots = [self.slots[1], self.slots[0]]",
        ]),
    )


@cache
def _statements() -> st.SearchStrategy[list[str]]:
    def block(inner: st.SearchStrategy[list[str]]) -> st.SearchStrategy[list[str]]:
        def branch(parts: tuple[str, list[str], list[str]]) -> list[str]:
            test, then, other = parts
            return [f"if {test}:", *(f"    {line}" for line in then), "else:",
                    *(f"    {line}" for line in other)]

        def loop(body: list[str]) -> list[str]:
            return ["for k in range(2):", "    self.slots[k] = (self.slots[k] + i) % 3",
                    *(f"    {line}" for line in body)]
        return st.one_of(
            st.tuples(_tests(1), inner, inner).map(branch), inner.map(loop),
            st.tuples(inner, inner).map(lambda two: two[0] + two[1]),
        )
    return st.recursive(_simple().map(lambda line: [line]), block, max_leaves=4)


def machines() -> st.SearchStrategy[type[Machine]]:
    """A random machine with two to four actions and an invariant."""
    return _texts().map(define)


def observers() -> st.SearchStrategy[type[Machine]]:
    """The same, with one of its actions hidden, and a rule cited by each guard that can."""
    return _texts().map(_as_observer).map(define)


def _as_observer(text: str) -> str:
    rules = itertools.cycle(("GUARD_1", "GUARD_2", "None"))
    cited = re.sub(r"require\(([^;\n]*)\)$", lambda m: f"require({m[1]}, {next(rules)})", text,
                   flags=re.MULTILINE)
    declared = "".join(
        f'GUARD_{n} = guard_rule("G-{n}", MUST, "a guard", source="none")\n' for n in (1, 2))
    hidden = cited.replace("    @action(", "    @action(internal=True, ", 1)
    return hidden.replace("class Random(", f"{declared}\nclass Random(", 1)


@st.composite
def _texts(draw: Any) -> str:
    lines = [HEADER]
    for number in range(draw(st.integers(2, 4))):
        fair = draw(st.booleans())
        lines.append(f"    @action(fair={fair}, i=upto(3))")
        lines.append(f"    def act{number}(self, i):")
        lines += [f"        {line}" for line in draw(_statements())]
    lines.append('    @always("R-1", MUST, "random", source="none")')
    lines.append("    def invariant(self):\n        i = 1")
    lines.append(f"        return bool({draw(_tests(2))})")
    lines.append('    @step("R-2", MUST, "random", source="none")')
    lines.append("    def steps(self, after):")
    lines.append("        return after.a - self.a < 3 or self.up or after.enough(2)")
    lines.append('    @never_stuck("R-3", MUST, "random", source="none")')
    lines.append("    def rest(self):\n        i = 0")
    lines.append(f"        return bool({draw(_tests(1))})")
    lines.append('    @leads_to("R-4", MUST, "random", source="none", i=upto(2))')
    lines.append("    def live(self, i):")
    lines.append(f"        return bool({draw(_tests(1))}), bool({draw(_tests(1))})")
    lines.append('    @eventually_always("R-5", MUST, "random", source="none")')
    lines.append("    def settles(self):\n        i = 2")
    lines.append(f"        return bool({draw(_tests(1))})")
    return "\n".join(lines) + "\n"


def define(text: str) -> type[Machine]:
    """Run source text that defines a machine called Random, and return the class."""
    file = f"<random machine {next(_serial)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names: dict[str, Any] = {"__name__": "random_machine"}
    exec(compile(text, file, "exec"), names)  # noqa: S102 - the text is made here
    machine: type[Machine] = names["Random"]
    return machine


def source_text(machine: type[Machine]) -> str:
    """The text that a machine was defined by."""
    action = next(iter(machine.actions_declared.values()))
    return "".join(linecache.getlines(action.function.__code__.co_filename))
