"""Nets after families of the Model Checking Contest (mcc.lip6.fr), made at any size.

They follow the published descriptions and are no copies of the contest's files; which of them can
deadlock follows from the family, and SPIN confirms it at the smallest size. A size counts what
grows in a family: processes, numbers, cells, or tokens. The largest ones are files of up to 500 KB.
"""

from __future__ import annotations

from collections.abc import Iterator

from checkvalve.spec.nets.net import Net

from .families import Draft, Family, always, never

__all__ = ["CONTEST"]


def eratosthenes(n: int) -> Net:
    """Each number strikes out a multiple of its own; primes are left."""
    net = Draft({f"p{i}": 1 for i in range(2, n + 1)})
    for i in range(2, n + 1):
        for j in range(2 * i, n + 1, i):
            net.move(f"t{i}_{j}", f"p{i} p{j}", f"p{i}")
    return net.net(f"eratosthenes-{n}")


def referendum(n: int) -> Net:
    """A question is put to n, and each says yes or no."""
    net = Draft({"ready": 1})
    net.move("start", "ready", " ".join(f"voting{i}" for i in range(n)))
    for i in range(n):
        net.move(f"yes{i}", f"voting{i}", f"voted_yes{i}")
        net.move(f"no{i}", f"voting{i}", f"voted_no{i}")
    return net.net(f"referendum-{n}")


def swimming_pool(n: int) -> Net:
    """20 n people, 15 n bags and 10 n cabins."""
    net = Draft({"out": 20 * n, "bags": 15 * n, "cabins": 10 * n})
    for name, takes, gives in (
        ("enter", "out cabins", "waiting"), ("take_bag", "waiting bags", "undressing"),
        ("undressed", "undressing", "bath cabins"), ("leave_bath", "bath cabins", "dressing"),
        ("give_bag", "dressing", "dressed bags"), ("go", "dressed", "out cabins"),
    ):
        net.move(name, takes, gives)
    return net.net(f"swimming_pool-{n}")


def circadian_clock(n: int) -> Net:
    """Two genes, their messengers and proteins, at most n of each (Vilar et al.)."""
    net = Draft({"da": 1, "dr": 1} | {f"{each}_cap": n for each in ("a", "r", "c", "ma", "mr")})
    for gene in ("a", "r"):
        for state in (f"d{gene}", f"d{gene}_a"):
            net.move(f"transcribe_{state}", f"{state} m{gene}_cap", f"{state} m{gene}")
        net.move(f"translate_{gene}", f"m{gene} {gene}_cap", f"m{gene} {gene}")
        net.move(f"bind_{gene}", f"d{gene} a", f"d{gene}_a a_cap")
        net.move(f"release_{gene}", f"d{gene}_a a_cap", f"d{gene} a")
        net.move(f"decay_m{gene}", f"m{gene}", f"m{gene}_cap")
        net.move(f"decay_{gene}", gene, f"{gene}_cap")
    net.move("form", "a r c_cap", "c a_cap r_cap")
    net.move("decay_c", "c r_cap", "r c_cap")
    return net.net(f"circadian_clock-{n}")


def _reactions(net: Draft, rows: str) -> None:
    """Put down lines ``substrate enzyme = complex > products``: binding, its reverse, reaction."""
    for line in rows.split(";"):
        before, _, rest = line.partition("=")
        middle, _, after = rest.partition(">")
        name = middle.strip()
        net.move(f"bind_{name}", before, middle)
        net.move(f"unbind_{name}", middle, before)
        net.move(f"react_{name}", middle, after)


def mapk(n: int) -> Net:
    """The cascade of kinases of Levchenko et al.: 22 places and 30 transitions."""
    net = Draft({"Raf": 4 * n, "MEK": 2 * n, "ERK": 3 * n, "RasGTP": n, "F1": 3 * n, "F2": 2 * n,
                 "F3": 3 * n})
    _reactions(net, "Raf RasGTP = c1 > RafP RasGTP; RafP F1 = c2 > Raf F1; MEK RafP = c3 > MEKP "
               "RafP; MEKP RafP = c4 > MEKPP RafP; MEKPP F2 = c5 > MEKP F2; MEKP F2 = c6 > MEK F2;"
               "ERK MEKPP = c7 > ERKP MEKPP; ERKP MEKPP = c8 > ERKPP MEKPP; ERKPP F3 = c9 > ERKP "
               "F3; ERKP F3 = c10 > ERK F3")
    return net.net(f"mapk-{n}")


def erk(n: int) -> Net:
    """RKIP inhibits the ERK pathway (Cho et al.): 11 places and 11 transitions."""
    net = Draft(dict.fromkeys(("Raf1", "RKIP", "ERKPP", "MEKPP", "RP"), n))
    net.move("k1", "Raf1 RKIP", "RafRKIP")
    net.move("k2", "RafRKIP", "Raf1 RKIP")
    _reactions(net, "RafRKIP ERKPP = RafRKIPERK > Raf1 ERK RKIPP; ERK MEKPP = MEKERK > MEKPP "
               "ERKPP; RKIPP RP = RKIPRP > RKIP RP")
    return net.net(f"erk-{n}")


def operating_system(n: int) -> Net:
    """Tasks on disk and in n segments of memory, with two processors and two disk controllers."""
    net = Draft({"disk": 2 * n, "memory": n, "controller": 2, "cpu": 2})
    for name, takes, gives in (
        ("load", "disk memory controller", "loading"), ("loaded", "loading", "ready controller"),
        ("start", "ready cpu", "running"), ("suspend", "running", "suspended cpu"),
        ("resume", "suspended", "ready"), ("preempt", "running", "ready cpu"),
        ("unload", "suspended controller", "unloading"),
        ("unloaded", "unloading", "disk memory controller"),
    ):
        net.move(name, takes, gives)
    return net.net(f"operating_system-{n}")


def dekker(n: int) -> Net:
    """Mutual exclusion by flags: who sees another's flag withdraws its own."""
    net = Draft({f"idle{i}": 1 for i in range(n)} | {f"down{i}": 1 for i in range(n)})
    for i in range(n):
        others = [j for j in range(n) if j != i]
        net.move(f"want{i}", f"idle{i} down{i}", f"wants{i} up{i}")
        for j in others:
            net.move(f"withdraw{i}_{j}", f"wants{i} up{i} up{j}", f"idle{i} down{i} up{j}")
        free = " ".join(f"down{j}" for j in others)
        net.move(f"enter{i}", f"wants{i} {free}", f"in{i} {free}")
        net.move(f"leave{i}", f"in{i} up{i}", f"idle{i} down{i}")
    return net.net(f"dekker-{n}")


def peterson(n: int) -> Net:
    """Peterson's mutual exclusion of n processes: a filter of n - 1 levels."""
    net = Draft({f"at{p}_0": 1 for p in range(n)} | {f"level{p}_0": 1 for p in range(n)}
                | {f"turn{k}_0": 1 for k in range(n - 1)})
    for p in range(n):
        for k in range(n - 1):
            net.move(f"rise{p}_{k}", f"at{p}_{k} level{p}_{k}", f"turns{p}_{k} level{p}_{k + 1}")
            checked = [q for q in range(n) if q != p]
            for q in range(n):
                net.move(f"set{p}_{k}_{q}", f"turns{p}_{k} turn{k}_{q}",
                         f"waits{p}_{k} turn{k}_{p}")
                if q != p:
                    net.move(f"turn{p}_{k}_{q}", f"waits{p}_{k} turn{k}_{q}",
                             f"at{p}_{k + 1} turn{k}_{q}")
            net.move(f"look{p}_{k}", f"waits{p}_{k}", f"look{p}_{k}_0")
            for at, q in enumerate(checked):
                after = f"look{p}_{k}_{at + 1}" if at + 1 < len(checked) else f"at{p}_{k + 1}"
                for level in range(n):
                    net.move(f"look{p}_{k}_{q}_{level}", f"look{p}_{k}_{at} level{q}_{level}",
                             f"{after if level <= k else f'waits{p}_{k}'} level{q}_{level}")
        net.move(f"leave{p}", f"at{p}_{n - 1} level{p}_{n - 1}", f"at{p}_0 level{p}_0")
    return net.net(f"peterson-{n}")


def lamport(n: int) -> Net:
    """Lamport's fast mutual exclusion of n processes; 0 is nobody."""
    every = range(1, n + 1)
    net = Draft({"x0": 1, "y0": 1} | {f"{what}{i}": 1 for i in every for what in ("start", "low")})
    for i in every:
        net.move(f"raise{i}", f"start{i} low{i}", f"setx{i} high{i}")
        for v in range(n + 1):
            net.move(f"x{i}_{v}", f"setx{i} x{v}", f"testy{i} x{i}")
            net.move(f"y{i}_{v}", f"sety{i} y{v}", f"testx{i} y{i}")
            if v:
                net.move(f"busy{i}_{v}", f"testy{i} y{v}", f"lower{i} y{v}")
            if v != i:
                net.move(f"lost{i}_{v}", f"testx{i} x{v}", f"slow{i} x{v}")
                net.move(f"late{i}_{v}", f"testagain{i} y{v}", f"awaits{i} y{v}")
        net.move(f"lower{i}", f"lower{i} high{i}", f"awaits{i} low{i}")
        net.move(f"again{i}", f"awaits{i} y0", f"start{i} y0")
        net.move(f"free{i}", f"testy{i} y0", f"sety{i} y0")
        net.move(f"won{i}", f"testx{i} x{i}", f"in{i} x{i}")
        net.move(f"slow{i}", f"slow{i} high{i}", f"check{i}_1 low{i}")
        for j in every:
            net.move(f"check{i}_{j}", f"check{i}_{j} low{j}",
                     f"low{j} " + (f"check{i}_{j + 1}" if j < n else f"testagain{i}"))
        net.move(f"mine{i}", f"testagain{i} y{i}", f"inslow{i} y{i}")
        for v in range(n + 1):
            net.move(f"leave{i}_{v}", f"in{i} y{v} high{i}", f"start{i} y0 low{i}")
            net.move(f"leaveslow{i}_{v}", f"inslow{i} y{v}", f"start{i} y0")
    return net.net(f"lamport-{n}")


def readers_and_writers(n: int) -> Net:
    """n readers and n writers; a writer takes the lock of each reader."""
    net = Draft({f"{what}{i}": 1 for i in range(n) for what in ("idle", "lock", "writer")})
    for i in range(n):
        net.move(f"read{i}", f"idle{i} lock{i}", f"reading{i}")
        net.move(f"end{i}", f"reading{i}", f"idle{i} lock{i}")
        locks = " ".join(f"lock{j}" for j in range(n))
        net.move(f"write{i}", f"writer{i} {locks}", f"writing{i}")
        net.move(f"written{i}", f"writing{i}", f"writer{i} {locks}")
    return net.net(f"readers_and_writers-{n}")


def diffusion(n: int) -> Net:
    """Hundred molecules on an n by n grid, each of which goes to one of eight neighbours."""
    net = Draft({f"c{n // 2}_{n // 2}": 100})
    for x, y, a, b in _neighbours(n, [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j]):
        net.move(f"go{x}_{y}_{a}_{b}", f"c{x}_{y}", f"c{a}_{b}")
    return net.net(f"diffusion-{n}")


def _neighbours(n: int, ways: list[tuple[int, int]]) -> Iterator[tuple[int, int, int, int]]:
    """Cells of an n by n grid, each with a cell in one of these ways."""
    for x in range(n):
        for y in range(n):
            for i, j in ways:
                if 0 <= x + i < n and 0 <= y + j < n:
                    yield x, y, x + i, y + j


def solitaire(n: int) -> Net:
    """Pegs on an n by n board, one hole in it, that jump over each other."""
    net = Draft({f"{'hole' if (x, y) == (n // 2, n // 2) else 'peg'}{x}_{y}": 1
                  for x in range(n) for y in range(n)})
    for x, y, a, b in _neighbours(n, [(0, 2), (2, 0), (0, -2), (-2, 0)]):
        over = f"{(x + a) // 2}_{(y + b) // 2}"
        net.move(f"jump{x}_{y}_{a}_{b}", f"peg{x}_{y} peg{over} hole{a}_{b}",
                 f"hole{x}_{y} hole{over} peg{a}_{b}")
    return net.net(f"solitaire-{n}")


def queens(n: int) -> Net:
    """Queens are put on an n by n board where none attacks another."""
    net = Draft({f"{line}{i}": 1 for line in ("row", "column") for i in range(n)}
                | {f"{line}{i}": 1 for line in ("up", "down") for i in range(2 * n - 1)})
    for x in range(n):
        for y in range(n):
            net.move(f"put{x}_{y}", f"row{x} column{y} up{x + y} down{x - y + n - 1}",
                     f"queen{x}_{y}")
    return net.net(f"queens-{n}")


def sudoku(n: int) -> Net:
    """Numbers are put into an n² by n² board, each once in a row, a column and a square."""
    side = n * n
    net = Draft({f"cell{x}_{y}": 1 for x in range(side) for y in range(side)}
                | {f"{line}{i}_{v}": 1 for line in ("row", "column", "square")
                   for i in range(side) for v in range(side)})
    for x in range(side):
        for y in range(side):
            for v in range(side):
                net.move(f"put{x}_{y}_{v}", f"cell{x}_{y} row{x}_{v} column{y}_{v} "
                         f"square{x // n * n + y // n}_{v}", f"has{x}_{y}_{v}")
    return net.net(f"sudoku-{n}")


def load_balancing(n: int) -> Net:
    """n clients and two servers; a balancer hands requests to the one with fewer."""
    net = Draft({f"idle{c}": 1 for c in range(n)} | {"balancer": 1, "load0_0": 1, "load1_0": 1})
    for c in range(n):
        net.move(f"ask{c}", f"idle{c}", f"asked{c}")
        net.move(f"hand{c}", f"asked{c} balancer", f"routing{c}")
        for s in (0, 1):
            net.move(f"serve{c}_{s}", f"queued{c}_{s}", f"served{c}_{s}")
            for k in range(n):
                for other in range(k, n + 1 - k):
                    net.move(f"to{c}_{s}_{k}_{other}",
                             f"routing{c} load{s}_{k} load{1 - s}_{other}",
                             f"queued{c}_{s} load{s}_{k + 1} load{1 - s}_{other} balancer")
            for k in range(1, n + 1):
                net.move(f"done{c}_{s}_{k}", f"served{c}_{s} load{s}_{k}",
                         f"idle{c} load{s}_{k - 1}")
    return net.net(f"load_balancing-{n}")


def two_phase_locking(n: int) -> Net:
    """n clients that take two of three kinds of resources in any order, n / 3 of each."""
    net = Draft({f"free{r}": max(1, n // 3) for r in range(3)} | {"idle": n})
    for a in range(3):
        net.move(f"first{a}", f"idle free{a}", f"has{a}")
        for b in range(3):
            if a != b:
                net.move(f"second{a}_{b}", f"has{a} free{b}", f"both{a}_{b}")
                net.move(f"free{a}_{b}", f"both{a}_{b}", f"idle free{a} free{b}")
    return net.net(f"two_phase_locking-{n}")


def barrier(n: int) -> Net:
    """n processes that wait for each other at a barrier, and each works with a file or without."""
    net = Draft({f"work{i}": 1 for i in range(n)} | {"file": 1})
    for i in range(n):
        net.move(f"open{i}", f"work{i} file", f"open{i}")
        net.move(f"close{i}", f"open{i}", f"here{i} file")
        net.move(f"skip{i}", f"work{i}", f"here{i}")
    net.move("meet", " ".join(f"here{i}" for i in range(n)),
             " ".join(f"work{i}" for i in range(n)))
    return net.net(f"barrier-{n}")


def square_grid(n: int) -> Net:
    """n by n switches with room for 4 packets and 2 in each, which pass them on by ports of
    one."""
    net = Draft({f"room{x}_{y}": 2 for x in range(n) for y in range(n)}
                | {f"held{x}_{y}": 2 for x in range(n) for y in range(n)})
    for x, y, a, b in _neighbours(n, [(0, 1), (1, 0), (0, -1), (-1, 0)]):
        port = f"{x}_{y}_{a}_{b}"
        net.tokens[f"free{port}"] = 1
        net.move(f"send{port}", f"held{x}_{y} free{port}", f"port{port} room{x}_{y}")
        net.move(f"take{port}", f"port{port} room{a}_{b}", f"held{a}_{b} free{port}")
    return net.net(f"square_grid-{n}")


def house(n: int) -> Net:
    """n houses are built, step by step, some of them side by side."""
    net = Draft({"site": n})
    for name, takes, gives in (
        ("dig", "site", "dug"), ("found", "dug", "base1 base2"),
        ("frame", "base1", "frame1 frame2"), ("drains", "base2", "drains"),
        ("roof", "frame1", "roof1 roof2"), ("walls", "frame2 drains", "walls1 walls2 walls3"),
        ("wires", "walls1 roof1", "wires"), ("pipes", "walls2", "pipes"),
        ("heat", "walls3 roof2", "heat"), ("floors", "pipes heat", "floors1 floors2"),
        ("paint", "wires floors1", "paint"), ("finish", "paint floors2", "house"),
    ):
        net.move(name, takes, gives)
    return net.net(f"house-{n}")


def railroad(n: int) -> Net:
    """n trains, a gate, and a controller that counts the trains near it."""
    net = Draft({f"far{i}": 1 for i in range(n)} | {"count0": 1, "up": 1})
    for i in range(n):
        net.move(f"call{i}", f"far{i}", f"called{i}")
        for k in range(n):
            if k == 0:
                net.move(f"close{i}", f"called{i} count0 up", f"near{i} count1 down")
            else:
                net.move(f"count{i}_{k}", f"called{i} count{k}", f"near{i} count{k + 1}")
            net.move(f"leave{i}_{k}", f"gone{i} count{k + 1}" + (" down" if k == 0 else ""),
                     f"far{i} count{k}" + (" up" if k == 0 else ""))
        net.move(f"pass{i}", f"near{i} down", f"on{i} down")
        net.move(f"out{i}", f"on{i}", f"gone{i}")
    return net.net(f"railroad-{n}")


TOKENS = (1_000, 1_000_000)
"""Larger sizes of the families in which only numbers of tokens grow."""

CONTEST: dict[str, Family] = {
    "eratosthenes": Family(eratosthenes, always, sizes=(8, 100, 300)),
    "referendum": Family(referendum, always, sizes=(3, 100, 400)),
    "swimming pool": Family(swimming_pool, never, sizes=(1, *TOKENS)),
    "circadian clock": Family(circadian_clock, never, sizes=(2, *TOKENS)),
    "MAPK": Family(mapk, never, sizes=(1, *TOKENS)),
    "ERK": Family(erk, never, sizes=(2, *TOKENS)),
    "operating system": Family(operating_system, never, sizes=(2, *TOKENS)),
    "Dekker": Family(dekker, never, sizes=(3, 10, 20)),
    "Peterson": Family(peterson, never, sizes=(3, 4, 5)),
    "Lamport": Family(lamport, never, sizes=(2, 6, 12)),
    "readers and writers": Family(readers_and_writers, never, sizes=(3, 20, 40)),
    "diffusion": Family(diffusion, never, sizes=(2, 8, 15)),
    "solitaire": Family(solitaire, always, sizes=(4, 8, 12)),
    "queens": Family(queens, always, sizes=(4, 12, 25)),
    "sudoku": Family(sudoku, always, sizes=(2, 3)),
    "load balancing": Family(load_balancing, never, sizes=(2, 5, 8)),
    "two-phase locking": Family(two_phase_locking, always, sizes=(3, *TOKENS)),
    "barrier": Family(barrier, never, sizes=(3, 100, 300)),
    "square grid": Family(square_grid, never, sizes=(2, 5, 10)),
    "house": Family(house, always, sizes=(2, *TOKENS)),
    "railroad": Family(railroad, never, sizes=(3, 10, 20)),
}
