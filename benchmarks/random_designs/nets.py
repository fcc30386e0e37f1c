"""Place/transition nets: random ones, and families with markings that are counted in closed
form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import comb
from random import Random

import networkx

from checkvalve.spec.design.check import Settings, check
from checkvalve.spec.design.formats.files import load_any
from checkvalve.spec.design.why.findings import DesignReport

__all__ = [
    "Arcs", "Net", "family_net", "lucas", "philosophers", "random_net", "ring", "round_the_table",
    "shared", "switches",
]

Arcs = Mapping[str, int]


@dataclass
class Net:
    """A place/transition net: tokens by place, arcs in and out by transition."""

    tokens: dict[str, int] = field(default_factory=dict)
    transitions: list[tuple[Arcs, Arcs]] = field(default_factory=list)

    def pnml(self) -> str:
        """The net as a document."""
        lines = ['<pnml><net id="n" type="http://www.pnml.org/version-2009/grammar/ptnet">']
        lines += [f'<place id="{place}"><initialMarking><text>{n}</text></initialMarking></place>'
                  for place, n in self.tokens.items()]
        for number, (takes, gives) in enumerate(self.transitions):
            lines.append(f'<transition id="t{number}"/>')
            ends = [(place, f"t{number}", n) for place, n in takes.items()]
            ends += [(f"t{number}", place, n) for place, n in gives.items()]
            lines += [f'<arc id="{start}-{end}" source="{start}" target="{end}">'
                      f"<inscription><text>{n}</text></inscription></arc>"
                      for start, end, n in ends]
        return "\n".join([*lines, "</net></pnml>"])

    def checked(self) -> DesignReport:
        """What a check by search says of it."""
        (design,) = load_any(self.pnml(), "net.pnml")
        return check(design, Settings(engine="explorer"))

    def markings(self, most: int) -> tuple[int, bool] | None:
        """How many markings are reachable, and whether one is dead; None for more than ``most``."""
        first = tuple(self.tokens.items())
        seen, todo, dead = {first}, [first], False
        while todo:
            marking = dict(todo.pop())
            ready = [arcs for arcs in self.transitions
                     if all(marking[place] >= n for place, n in arcs[0].items())]
            dead = dead or not ready
            for takes, gives in ready:
                after = tuple((place, n - takes.get(place, 0) + gives.get(place, 0))
                              for place, n in marking.items())
                if after not in seen:
                    seen.add(after)
                    todo.append(after)
            if len(seen) > most:
                return None
        return len(seen), dead


def ring(places: int, tokens: int) -> Net:
    """Tokens that go round: as many markings as ways to lay them into the places."""
    return Net({f"p{i}": tokens if i == 0 else 0 for i in range(places)},
               [({f"p{i}": 1}, {f"p{(i + 1) % places}": 1}) for i in range(places)])


def switches(number: int) -> Net:
    """Each goes on and off while it reads a token that all share: 2 ** number markings."""
    tokens = {"key": 1} | {f"{s}{i}": int(s == "off") for i in range(number) for s in ("off", "on")}
    turns: list[tuple[Arcs, Arcs]] = [({"key": 1, f"{a}{i}": 1}, {"key": 1, f"{b}{i}": 1})
             for i in range(number) for a, b in (("off", "on"), ("on", "off"))]
    return Net(tokens, turns)


def shared(users: int, permits: int) -> Net:
    """Readers take a permit, writers all of them: 1 + permits markings, one where any writes."""
    return Net({"idle": users, "reading": 0, "writing": 0, "permits": permits}, [
        ({"idle": 1, "permits": 1}, {"reading": 1}), ({"reading": 1}, {"idle": 1, "permits": 1}),
        ({"idle": 1, "permits": permits}, {"writing": 1}),
        ({"writing": 1}, {"idle": 1, "permits": permits})])


def philosophers(number: int, *, one_by_one: bool) -> Net:
    """Both forks at once (never stuck), or the left one first (stuck when each has one)."""
    net = Net({f"{what}{i}": int(what in ("think", "fork")) for i in range(number)
               for what in ("think", "fork", "left", "eat")})
    for i in range(number):
        left, right = f"fork{i}", f"fork{(i + 1) % number}"
        net.transitions.append(({f"eat{i}": 1}, {f"think{i}": 1, left: 1, right: 1}))
        if one_by_one:
            net.transitions += [({f"think{i}": 1, left: 1}, {f"left{i}": 1}),
                                ({f"left{i}": 1, right: 1}, {f"eat{i}": 1})]
        else:
            net.transitions.append(({f"think{i}": 1, left: 1, right: 1}, {f"eat{i}": 1}))
    return net


def lucas(n: int) -> int:
    """Sets of diners, no two of them neighbours, round a table."""
    before, here = 2, 1
    for _ in range(n):
        before, here = here, before + here
    return before


def round_the_table(n: int) -> int:
    """Walks round the table over thinking, holding the left fork, and eating; who eats has a
    neighbour that thinks. The trace of the nth power of the matrix of which may follow which."""
    follows = [[1, 1, 1], [1, 1, 1], [1, 0, 0]]
    power = [[int(i == j) for j in range(3)] for i in range(3)]
    for _ in range(n):
        power = [[sum(row[k] * follows[k][j] for k in range(3)) for j in range(3)]
                 for row in power]
    return sum(power[i][i] for i in range(3))


def family_net(random: Random) -> tuple[Net, int]:
    """A net of a family, of a random size, and how many markings it has."""
    n = random.randint(3, 9)
    match random.randint(0, 4):
        case 0:
            tokens = random.randint(1, 7)
            return ring(n, tokens), comb(n + tokens - 1, tokens)
        case 1:
            return switches(n), 2**n
        case 2:
            permits = random.randint(2, 9)
            return shared(n, permits), min(n, permits) + 2
        case 3:
            return philosophers(n, one_by_one=False), lucas(n)
    return philosophers(n, one_by_one=True), round_the_table(n)


def random_net(random: Random, most: int = 5) -> Net:
    """A connected net, of weights up to 3, of at most so many places and transitions."""
    while True:
        places = [f"p{i}" for i in range(random.randint(1, most))]
        net = Net({place: random.randint(0, 3) for place in places})
        for _ in range(random.randint(1, most)):
            takes, gives = ({place: random.choice((1, 1, 1, 2, 3)) for place in
                             random.sample(places, random.randint(0, min(2, len(places))))}
                            for _ in range(2))
            if takes or gives:
                net.transitions.append((takes, gives))
        graph = networkx.Graph([(place, f"t{number}") for number, arcs in
                                enumerate(net.transitions) for place in {**arcs[0], **arcs[1]}])
        if len(graph) == len(places) + len(net.transitions) and networkx.is_connected(graph):
            return net
