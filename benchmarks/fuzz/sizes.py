"""Designs and nets of all sizes, each checked within seconds of a processor that it is given.

What takes more than a tenth beyond them (and what any command takes to begin and to end) is a
failure, whichever phase it is: reading, deciding, repairing, drawing, certifying, writing.
"""

from __future__ import annotations

import math
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Final

from checkvalve.spec.notation.errors import InternalError

from ..nets.families import FAMILIES, pnml
from .designs import called

__all__ = ["SHAPES", "feed_sized", "make_sized"]

SECONDS: Final = 2.0
"""Seconds of a processor that an input is given."""
MOST_SECONDS: Final = 1.1 * SECONDS + 2.5
"""Seconds that it may take: one for what is imported, the rest for the last phase to end, which
of the largest takes a second on a core of 2 GHz."""
OPTIONS: Final = ("--svg", "--html", "--certificates", "--json", "--itf", "--explain", "--quiet")
_LARGEST: Final = 5_000


def _each(words: str, number: int) -> str:
    """So many lines, each with its number for N and the next for M."""
    return "".join(words.replace("N", str(n)).replace("M", str((n + 1) % number)) + "\n"
                   for n in range(number))


def _ring(n: int, draw: Random) -> str:
    return (f"tasks:\n{_each('  tN: {kind: map}', n)}links:\n"
            + _each(f"  - {{from: tN, to: tM, capacity: {draw.choice((1, 30, 10**6))}, "
                    f"initial: {draw.randint(0, 1)}}}", n))


def _rework(n: int, _: Random) -> str:
    """Stations that may send back what they have done."""
    return ("tasks:\n  a: {kind: source}\n  s: {kind: sink}\n"
            + _each("  mN: {kind: merge}\n  rN: {kind: route}", n)
            + "links:\n  - {from: a, to: m0, capacity: 2}\n"
            + _each("  - {from: mN, to: rN, capacity: 2}\n  - {from: rN, to: mN, capacity: 2}", n)
            + _each("  - {from: rN, to: mM, name: nN, capacity: 2}", n)
            + f"  - {{from: r{n - 1}, to: s, capacity: 2}}\n")


def _scripts(n: int, _: Random) -> str:
    """Philosophers with a queue for each fork."""
    n = max(n, 2)
    return ("tasks:\n" + _each("  pN: {kind: script, steps: [{read: fN}, {read: fM}, {write: fN}, "
                               "{write: fM}]}", n)
            + "links:\n" + "".join(
                f"  - {{name: f{i}, from: [p{i}, p{(i - 1) % n}], to: [p{i}, p{(i - 1) % n}], "
                "capacity: 1, initial: 1}\n" for i in range(n)))


def _calls(n: int, draw: Random) -> str:
    return ("pools:\n" + _each("  pN: {threads: 2}", n) + "tasks:\n"
            + _each(f"  cN: {{kind: call, pool: pN, depth: {draw.choice((1, 2))}, roots: 3}}", n))


def _pool(n: int, _: Random) -> str:
    return ("pools:\n  p: {threads: 3}\n" + _each("  qN: {threads: 1}", n) + "tasks:\n"
            + _each("  sN: {kind: script, steps: [{acquire: p}, {acquire: qN}, {release: p}, "
                    "{release: qN}]}", n))


def _kinds(n: int, _: Random) -> str:
    return ("tasks:\n" + _each(
        "  sN: {kind: script, steps: [{write: wN, of: a}, {write: wN, of: b}]}\n"
        "  rN: {kind: script, steps: [{read: wN, of: b}, {read: wN, of: a}]}", n)
        + "links:\n" + _each("  - {from: sN, to: rN, capacity: 3, name: wN, kinds: [a, b], "
                             "take: head}", n))


def _all_to_all(n: int, _: Random) -> str:
    n = math.isqrt(n) + 1
    return ("tasks:\n" + _each("  aN: {kind: source}\n  rN: {kind: route}\n  mN: {kind: merge}\n"
                               "  sN: {kind: sink}", n)
            + "links:\n" + _each("  - {from: aN, to: rN, capacity: 2}\n"
                                 "  - {from: mN, to: sN, capacity: 2}", n)
            + "".join(f"  - {{from: r{i}, to: m{j}, capacity: 2}}\n"
                      for i in range(n) for j in range(n)))


def _unbounded(n: int, draw: Random) -> str:
    return ("tasks:\n" + _each("  tN: {kind: transition}", n) + "links:\n"
            + _each(f"  - {{from: tN, to: tM, flow: unbounded, initial: {draw.randint(0, 1)}}}", n))


def _expecting(n: int, draw: Random) -> str:
    """A line with a way beside it, of which all properties are asked."""
    return (_rework(n, draw) + "expect:\n  live: holds\n  ordered: violated\n"
            "  no-duplicates: holds\n  no-loss: holds\n  no-starvation: {s: holds, a: holds}\n")


def _copies(n: int, draw: Random) -> str:
    return (f"parameters: {{n: {n}}}\ntasks: {{a: {{kind: map, copies: n}}}}\nlinks:\n"
            f"  - {{from: a, to: a, capacity: {draw.choice((1, 9))}, connect: ring}}\n")


SHAPES: Final[dict[str, Callable[[int, Random], str]]] = {
    shape.__name__.removeprefix("_"): shape for shape in (
        _ring, _rework, _scripts, _calls, _pool, _kinds, _all_to_all, _unbounded, _expecting,
        _copies)}


def make_sized(draw: Random) -> bytes:
    """A design of our language, or a net, of a size between one and thousands."""
    size = int(_LARGEST ** draw.random())
    if draw.random() < 0.3:
        family = FAMILIES[draw.choice(list(FAMILIES))]
        return pnml(family.make(max(3, min(size, 10 * family.sizes[-1]) // 5))).encode()
    name = draw.choice(list(SHAPES))
    return f"checkvalve: 2\nname: {name}\n{SHAPES[name](size, draw)}".encode()


def feed_sized(path: Path, index: int) -> object:
    """Check it with two options; InternalError where it is late."""
    own = path.with_suffix(".pnml" if path.read_bytes().startswith(b"<") else ".yaml")
    shutil.copyfile(path, own)
    draw = Random(f"options {index}")
    arguments = ["check", str(own), "--max-seconds", str(SECONDS)]
    for option in draw.sample(OPTIONS, 2):
        arguments += [option, *({"--svg": "drawings", "--certificates": "certificates",
                                 "--itf": "traces", "--html": "page.html"}.get(option, "").split())]
    arguments = [str(path.parent / each) if each in (
        "drawings", "certificates", "traces", "page.html") else each for each in arguments]
    began = time.process_time()
    code = called(arguments)
    spent = time.process_time() - began
    if spent > MOST_SECONDS:
        raise InternalError(f"{' '.join(arguments)}: {spent:.1f} s for {SECONDS:g}", "sizes")
    return code
