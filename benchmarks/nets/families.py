"""Families of place/transition nets, each at any size, with what is known of its deadlocks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from checkvalve.spec.nets.net import Net, net_of

__all__ = ["FAMILIES", "Draft", "Family", "always", "never", "pnml"]

Moves = dict[str, tuple[dict[str, int], dict[str, int]]]


@dataclass
class Draft:
    """A net in the making: tokens by place, transitions by name."""

    tokens: dict[str, int] = field(default_factory=dict)
    moves: Moves = field(default_factory=dict)

    def move(self, name: str, takes: str, gives: str) -> None:
        """Put down a transition: ``"free*3 idle"`` are places with weights."""
        self.moves[name] = _arcs(takes), _arcs(gives)

    def net(self, name: str) -> Net:
        """The net; places that only arcs name are empty at first."""
        for sides in self.moves.values():
            for side in sides:
                for place in side:
                    self.tokens.setdefault(place, 0)
        return net_of(name, self.tokens, self.moves)


def _arcs(text: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for each in text.split():
        place, _, weight = each.partition("*")
        found[place] = found.get(place, 0) + int(weight or 1)
    return found


def philosophers(n: int, *, last_turns: bool) -> Net:
    """Each takes the left fork first; or all but the last do, and then no deadlock is possible."""
    net = Draft({f"fork{i}": 1 for i in range(n)} | {f"think{i}": 1 for i in range(n)})
    for i in range(n):
        one, two = (f"fork{i}", f"fork{(i + 1) % n}")
        if last_turns and i == n - 1:
            one, two = two, one
        net.move(f"first{i}", f"think{i} {one}", f"has{i}")
        net.move(f"second{i}", f"has{i} {two}", f"eat{i}")
        net.move(f"back{i}", f"eat{i}", f"half{i} {one}")
        net.move(f"done{i}", f"half{i}", f"think{i} {two}")
    return net.net(f"philosophers-{n}")


def allocation(n: int, *, ordered: bool) -> Net:
    """n processes of 4 stages over n resources of 2 units. In order of their numbers a resource is
    never waited for in a ring; taken round a ring, 2 units each can all be taken."""
    net = Draft({f"free{r}": 2 for r in range(n)} | {f"idle{p}": 2 for p in range(n)})
    for p in range(n):
        wanted = [(p + k) % n for k in range(min(3, n))]
        if ordered:
            wanted.sort()
        before = f"idle{p}"
        for k, r in enumerate(wanted):
            net.move(f"take{p}_{k}", f"{before} free{r}", f"held{p}_{k}")
            before = f"held{p}_{k}"
        net.move(f"give{p}", before, f"idle{p} " + " ".join(f"free{r}" for r in wanted))
    return net.net(f"allocation-{n}")


def manufacturing(n: int) -> Net:
    """The flexible manufacturing system of Ciardo and Trivedi, with n parts of each kind."""
    net = Draft({"P1": n, "P2": n, "P3": n, "M1": 3, "M2": 1, "M3": 2})
    for name, takes, gives in (
        ("tP1", "P1", "P1wM1"), ("tP1M1", "P1wM1 M1", "P1M1"), ("tM1", "P1M1", "P1d M1"),
        ("tP1s", "P1d", "P1s"), ("tP1j", "P1d", "P1wP2"), ("tP2", "P2", "P2wM2"),
        ("tP2M2", "P2wM2 M2", "P2M2"), ("tM2", "P2M2", "P2d M2"), ("tP2s", "P2d", "P2s"),
        ("tP2j", "P2d", "P2wP1"), ("tx", "P1wP2 P2wP1", "P12"), ("tP12", "P12", "P12wM3"),
        ("tP12M3", "P12wM3 M3", "P12M3"), ("tM3", "P12M3", "P12s M3"), ("tP12s", "P12s", "P1 P2"),
        ("tP3", "P3", "P3M2"), ("tP3M2", "P3M2", "P3s"), ("tP3s", "P3s", "P3"),
        ("back1", "P1s", "P1"), ("back2", "P2s", "P2"),
    ):
        net.move(name, takes, gives)
    return net.net(f"manufacturing-{n}")


def kanban(n: int) -> Net:
    """The Kanban system of Ciardo and Tilgner: four cells of n cards."""
    net = Draft({f"card{i}": n for i in range(1, 5)})
    for i in range(1, 5):
        net.move(f"redo{i}", f"work{i}", f"back{i}")
        net.move(f"ok{i}", f"work{i}", f"out{i}")
        net.move(f"again{i}", f"back{i}", f"work{i}")
    net.move("in1", "card1", "work1")
    net.move("split", "out1 card2 card3", "card1 work2 work3")
    net.move("join", "out2 out3 card4", "card2 card3 work4")
    net.move("out", "out4", "card4")
    return net.net(f"kanban-{n}")


def token_ring(n: int) -> Net:
    """n stations; the one that has the token works once or passes it on."""
    net = Draft({"token0": 1} | {f"idle{i}": 1 for i in range(n)})
    for i in range(n):
        net.move(f"pass{i}", f"token{i}", f"token{(i + 1) % n}")
        net.move(f"work{i}", f"token{i} idle{i}", f"busy{i}")
        net.move(f"end{i}", f"busy{i}", f"idle{i} token{(i + 1) % n}")
    return net.net(f"token_ring-{n}")


def exclusion(n: int) -> Net:
    """n processes, one lock."""
    net = Draft({"lock": 1} | {f"idle{i}": 1 for i in range(n)})
    for i in range(n):
        net.move(f"ask{i}", f"idle{i}", f"wait{i}")
        net.move(f"enter{i}", f"wait{i} lock", f"in{i}")
        net.move(f"leave{i}", f"in{i}", f"idle{i} lock")
    return net.net(f"exclusion-{n}")


def bus(n: int) -> Net:
    """n senders in a fixed sequence on one bus, each with a buffer of one and a receiver."""
    net = Draft({"turn0": 1, "bus": 1} | {f"empty{i}": 1 for i in range(n)}
                 | {f"make{i}": 1 for i in range(n)})
    for i in range(n):
        net.move(f"fill{i}", f"make{i} empty{i}", f"full{i} made{i}")
        net.move(f"again{i}", f"made{i}", f"make{i}")
        net.move(f"grab{i}", f"turn{i} full{i} bus", f"sending{i}")
        net.move(f"sent{i}", f"sending{i}", f"empty{i} bus turn{(i + 1) % n} got{i}")
        net.move(f"use{i}", f"got{i}", "")
    return net.net(f"bus-{n}")


def memory(n: int) -> Net:
    """n processors with a memory each, which use each other's over one bus (Ajmone Marsan)."""
    net = Draft({"bus": 1} | {f"active{i}": 1 for i in range(n)} | {
        f"memory{i}": 1 for i in range(n)})
    for i in range(n):
        net.move(f"own{i}", f"active{i}", f"queue{i}")
        net.move(f"mine{i}", f"queue{i} memory{i}", f"local{i}")
        net.move(f"end{i}", f"local{i}", f"active{i} memory{i}")
        for j in range(n):
            if i != j:
                net.move(f"ask{i}_{j}", f"active{i}", f"want{i}_{j}")
                net.move(f"get{i}_{j}", f"want{i}_{j} bus memory{j}", f"use{i}_{j}")
                net.move(f"free{i}_{j}", f"use{i}_{j}", f"active{i} bus memory{j}")
    return net.net(f"memory-{n}")


def fork(n: int) -> Net:
    """One transition starts n workers, another joins them: 2 ** n + 1 markings and no deadlock."""
    net = Draft({"start": 1})
    net.move("split", "start", " ".join(f"in{i}" for i in range(n)))
    for i in range(n):
        net.move(f"work{i}", f"in{i}", f"out{i}")
    net.move("join", " ".join(f"out{i}" for i in range(n)), "start")
    return net.net(f"fork-{n}")


def batches(n: int) -> Net:
    """n are produced at once, taken by tens, and a batch of n tens is needed: ten must divide n."""
    net = Draft({"idle": 1})
    net.move("produce", "idle", f"store*{n}")
    net.move("ten", "store*10", "back*10")
    net.move("consume", f"back*{n}", "idle")
    return net.net(f"batches-{n}")


def relay(n: int) -> Net:
    """n cells in a ring of request and acknowledgement, one token of work."""
    net = Draft({"work0": 1} | {f"free{i}": 1 for i in range(1, n)} | {"free0": 0})
    for i in range(n):
        j = (i + 1) % n
        net.move(f"send{i}", f"work{i}", f"ask{j} wait{i}")
        net.move(f"take{i}", f"ask{i} free{i}", f"got{i} ack{(i - 1) % n}")
        net.move(f"rest{i}", f"wait{i} ack{i}", f"free{i}")
        net.move(f"go{i}", f"got{i}", f"work{i}")
    return net.net(f"relay-{n}")


def grid(n: int) -> Net:
    """An n by n grid of one-slot cells; each part moves right or down and leaves at the edges."""
    net = Draft({f"free{x}_{y}": 1 for x in range(n) for y in range(n)})
    for x in range(n):
        for y in range(n):
            here, empty = f"full{x}_{y}", f"free{x}_{y}"
            if x == 0:
                net.move(f"in{x}_{y}", empty, here)
            for a, b, way in ((x + 1, y, "r"), (x, y + 1, "d")):
                if a < n and b < n:
                    net.move(f"{way}{x}_{y}", f"{here} free{a}_{b}", f"{empty} full{a}_{b}")
                elif a == n:
                    net.move(f"out{x}_{y}", here, empty)
    return net.net(f"grid-{n}")


def crossing(n: int) -> Net:
    """n one-slot cells in a row that parts of both directions share: head on, they block."""
    net = Draft({f"free{x}": 1 for x in range(n)})
    for way, cells in (("e", list(range(n))), ("w", list(range(n - 1, -1, -1)))):
        net.move(f"in_{way}", f"free{cells[0]}", f"{way}{cells[0]}")
        for a, b in zip(cells, cells[1:], strict=False):
            net.move(f"{way}_{a}", f"{way}{a} free{b}", f"{way}{b} free{a}")
        net.move(f"out_{way}", f"{way}{cells[-1]}", f"free{cells[-1]}")
    return net.net(f"crossing-{n}")


@dataclass(frozen=True)
class Family:
    """A family: how a net of it is made, whether it deadlocks at a size, its markings, if a
    formula counts them, and the sizes that are made."""

    make: Callable[[int], Net]
    deadlocks: Callable[[int], bool]
    markings: Callable[[int], int] | None = None
    bounded: bool = True
    sizes: tuple[int, ...] = (3, 100, 1_000)


def never(_: int) -> bool:
    """True at no size."""
    return False


def always(_: int) -> bool:
    """True at each size."""
    return True


FAMILIES: dict[str, Family] = {
    "philosophers": Family(lambda n: philosophers(n, last_turns=False), always),
    "one turned": Family(lambda n: philosophers(n, last_turns=True), never),
    "ring allocation": Family(lambda n: allocation(n, ordered=False), lambda n: n > 1),
    "ordered allocation": Family(lambda n: allocation(n, ordered=True), never),
    "manufacturing": Family(manufacturing, never),
    "kanban": Family(kanban, never),
    "token ring": Family(token_ring, never, lambda n: 2 * n),
    "exclusion": Family(exclusion, never, lambda n: 2**n + n * 2**(n - 1)),
    "bus": Family(bus, never, None, bounded=False),
    "memory": Family(memory, never, sizes=(3, 70)),
    "fork": Family(fork, never, lambda n: 2**n + 1),
    "batches": Family(batches, lambda n: n % 10 != 0),
    "relay": Family(relay, never),
    "grid": Family(grid, never, lambda n: 2**(n * n), sizes=(3, 50)),
    "crossing": Family(crossing, lambda n: n > 1),
}


def pnml(net: Net) -> str:
    """The net as a PNML document."""
    lines = [f'<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml"><net id="{net.name}" '
             'type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="page">']
    lines += [f'<place id="p{at}"><name><text>{place}</text></name><initialMarking>'
              f"<text>{net.initial[at]}</text></initialMarking></place>"
              for at, place in enumerate(net.places)]
    for at, label in enumerate(net.transitions):
        lines.append(f'<transition id="t{at}"><name><text>{label}</text></name></transition>')
        ends = [(f"p{p}", f"t{at}", n) for p, n in net.takes[at]]
        ends += [(f"t{at}", f"p{p}", n) for p, n in net.gives[at]]
        lines += [f'<arc id="{a}-{b}" source="{a}" target="{b}"><inscription><text>{n}</text>'
                  "</inscription></arc>" for a, b, n in ends]
    return "\n".join([*lines, "</page></net></pnml>"])
