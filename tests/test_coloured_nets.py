"""Coloured nets, and arcs that test or empty a place: each verdict against a token game that plays
the net as it is written, without unfolding it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import product
from random import Random

import pytest

from checkvalve.spec.design.formats.files import load_any
from checkvalve.spec.nets.answer import Limits
from checkvalve.spec.nets.deadlock import decide_deadlock
from checkvalve.spec.nets.net import Net
from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.verdicts.deadline import Deadline, OutOfTime
from checkvalve.spec.verdicts.verdict import Outcome

MOST = 300
"""States that are played."""
Bag = frozenset[tuple[object, int]]
COLOURS = ("r", "g", "b")
"""A cyclic enumeration E; the other sorts are a range N of 1 to 2, and their product."""
SORTS: dict[str, list[tuple[object, ...]]] = {
    "E": [(each,) for each in COLOURS], "N": [(1,), (2,)], "dot": [()],
    "EN": list(product(COLOURS, (1, 2)))}
VARIABLES = {"x": "E", "y": "E", "n": "N"}


def net_of(text: str) -> Net:
    """The net that a PNML text is read as."""
    (design,) = load_any(text, "n.pnml")
    assert design.net is not None
    return design.net


def deadlocks(start: object, after: Callable[[object], Iterator[object]]) -> bool | None:
    """True if a state without a next one is reachable; None where there are too many states."""
    seen, todo, found = {start}, [start], False
    while todo:
        state = todo.pop()
        more = list(after(state))
        found = found or not more
        for each in more:
            if each not in seen:
                seen.add(each)
                todo.append(each)
        if len(seen) > MOST:
            return True if found else None
    return found


def document(kind: str, body: str) -> str:
    return (f'<pnml><net id="n" type="http://www.pnml.org/version-2009/grammar/{kind}">'
            f'{body}</net></pnml>')


# --- coloured nets: terms are trees of words, written as XML and played by two functions ----------

DECLARED = (
    '<declaration><structure><declarations>'
    '<namedsort id="E" name="E"><cyclicenumeration>'
    + "".join(f'<feconstant id="{each}" name="{each}"/>' for each in COLOURS)
    + '</cyclicenumeration></namedsort>'
    '<namedsort id="N" name="N"><finiteintrange start="1" end="2"/></namedsort>'
    '<namedsort id="dot" name="dot"><dot/></namedsort>'
    '<namedsort id="EN" name="EN"><productsort><usersort declaration="E"/>'
    '<usersort declaration="N"/></productsort></namedsort>'
    '<partition id="warm" name="warm"><usersort declaration="E"/>'
    '<partitionelement id="yes" name="yes"><useroperator declaration="r"/></partitionelement>'
    '<partitionelement id="no" name="no"><useroperator declaration="g"/>'
    '<useroperator declaration="b"/></partitionelement></partition>'
    + "".join(f'<variabledecl id="{name}" name="{name}"><usersort declaration="{sort}"/>'
              '</variabledecl>' for name, sort in VARIABLES.items())
    + '</declarations></structure></declaration>')

Term = tuple[object, ...]


def xml(term: Term) -> str:
    """The term as PNML writes it."""
    word, *rest = term
    if word == "constant":
        return ('<dotconstant/>' if rest[0] == () else
                f'<finiteintrangeconstant value="{rest[0]}"><finiteintrange start="1" end="2"/>'
                '</finiteintrangeconstant>' if isinstance(rest[0], int)
                else f'<useroperator declaration="{rest[0]}"/>')
    if word == "variable":
        return f'<variable refvariable="{rest[0]}"/>'
    if word == "all":
        return f'<all><usersort declaration="{rest[0]}"/></all>'
    if word == "numberof":
        return (f'<numberof><subterm><numberconstant value="{rest[0]}"><positive/>'
                f'</numberconstant></subterm><subterm>{xml(rest[1])}</subterm></numberof>')  # type: ignore[arg-type]
    attributes = ' refpartition="warm"' if word == "partitionelementof" else ""
    return f"<{word}{attributes}>" + "".join(
        f"<subterm>{xml(each)}</subterm>" for each in rest) + f"</{word}>"  # type: ignore[arg-type]


def bag(term: Term, binding: dict[str, object]) -> Counter[tuple[object, ...]]:
    """The bag that a term is."""
    word, *rest = term
    if word == "constant":
        return Counter({() if rest[0] == () else (rest[0],): 1})
    if word == "variable":
        return Counter({(binding[str(rest[0])],): 1})
    if word == "all":
        return Counter(SORTS[str(rest[0])])
    if word == "numberof":
        return Counter({each: int(str(rest[0])) * n
                        for each, n in bag(rest[1], binding).items()})  # type: ignore[arg-type]
    bags = [bag(each, binding) for each in rest]  # type: ignore[arg-type]
    if word == "add":
        return sum(bags, Counter())
    if word == "subtract":
        return bags[0] - bags[1]
    if word == "tuple":
        return Counter({tuple(part for each in parts for part in each): 1
                        for parts in product(*bags)})
    (((colour,), _),) = bags[0].items()
    step = 1 if word == "successor" else -1
    return Counter({(COLOURS[(COLOURS.index(str(colour)) + step) % 3],): 1})


def holds(term: Term, binding: dict[str, object]) -> bool:
    """True if a condition does."""
    word, *rest = term
    if word in ("and", "or", "not"):
        parts = [holds(each, binding) for each in rest]  # type: ignore[arg-type]
        return all(parts) if word == "and" else any(parts) if word == "or" else not parts[0]
    if isinstance(rest[0], tuple) and rest[0][0] == "partitionelementof":
        (((colour,), _),) = bag(rest[0][1], binding).items()
        return (colour == "r") == (rest[1] == ("constant", "yes"))
    ((((one,), _),), (((other,), _),)) = (bag(each, binding).items() for each in rest)  # type: ignore[arg-type]
    if isinstance(one, str):
        one, other = COLOURS.index(one), COLOURS.index(str(other))
    assert isinstance(one, int) and isinstance(other, int)
    return {"equality": one == other, "inequality": one != other, "lessthan": one < other,
            "lessthanorequal": one <= other, "greaterthan": one > other,
            "greaterthanorequal": one >= other}[str(word)]


class Drawn:
    """A random coloured net: places with sorts, transitions with conditions and arcs."""

    def __init__(self, seed: int) -> None:
        self.draw = Random(f"coloured {seed}")
        self.places = {f"p{at}": self.draw.choice(list(SORTS)) for at in range(4)}
        self.start = {place: self.some(sort, ground=True) if self.draw.random() < 0.7 else None
                      for place, sort in self.places.items()}
        self.transitions = [self._transition() for _ in range(self.draw.randint(1, 3))]

    def _transition(self) -> tuple[Term | None, list[tuple[str, Term]], list[tuple[str, Term]]]:
        draw, places = self.draw, list(self.places)

        def side() -> list[tuple[str, Term]]:
            chosen = draw.sample(places, draw.randint(1, 2))
            return [(place, self.some(self.places[place])) for place in chosen]

        return self.condition() if draw.random() < 0.6 else None, side(), side()

    def one(self, sort: str, *, ground: bool = False) -> Term:
        """A term that is a single colour."""
        draw = self.draw
        if sort == "EN":
            return "tuple", self.one("E", ground=ground), self.one("N", ground=ground)
        if ground or sort == "dot" or draw.random() < 0.3:
            return "constant", draw.choice(SORTS[sort])[0] if sort != "dot" else ()
        inner: Term = "variable", draw.choice([
            name for name, of in VARIABLES.items() if of == sort])
        if sort == "E" and draw.random() < 0.4:
            return draw.choice(("successor", "predecessor")), inner
        return inner

    def some(self, sort: str, *, ground: bool = False) -> Term:
        """A term that is a bag."""
        kind = self.draw.randrange(6)
        if kind == 0:
            return "add", self.one(sort, ground=ground), self.one(sort, ground=ground)
        if kind == 1:
            return "numberof", self.draw.randint(1, 2), self.one(sort, ground=ground)
        if kind == 2:
            return "subtract", ("all", sort), self.one(sort, ground=ground)
        if kind == 3 and sort == "EN":
            return "tuple", ("all", "E"), self.one("N", ground=ground)
        return self.one(sort, ground=ground)

    def condition(self, depth: int = 0) -> Term:
        """A condition of colours and numbers."""
        draw = self.draw
        word = draw.choice(("and", "or", "not", "of", "=", "=", "=", "=")[3 * (depth > 1):])
        if word in ("and", "or"):
            return word, self.condition(depth + 1), self.condition(depth + 1)
        if word == "not":
            return word, self.condition(depth + 1)
        if word == "of":
            return ("equality", ("partitionelementof", self.one("E")),
                    ("constant", draw.choice(("yes", "no"))))
        sort = draw.choice(("E", "N"))
        how = draw.choice(("equality", "inequality", "lessthan", "lessthanorequal", "greaterthan",
                           "greaterthanorequal"))
        return how, self.one(sort), self.one(sort)

    def pnml(self) -> str:
        """The net as a document."""
        lines = [DECLARED, '<page id="page">']
        for place, sort in self.places.items():
            marking = self.start[place]
            lines.append(f'<place id="{place}"><type><structure><usersort declaration="{sort}"/>'
                         '</structure></type>' + ("" if marking is None else
                         f'<hlinitialMarking><structure>{xml(marking)}</structure>'
                         '</hlinitialMarking>') + '</place>')
        arcs = 0
        for at, (condition, takes, gives) in enumerate(self.transitions):
            lines.append(f'<transition id="t{at}">' + ("" if condition is None else
                         f'<condition><structure>{xml(condition)}</structure></condition>')
                         + '</transition>')
            for source, target, term in [(place, f"t{at}", term) for place, term in takes] + [
                    (f"t{at}", place, term) for place, term in gives]:
                arcs += 1
                lines.append(f'<arc id="a{arcs}" source="{source}" target="{target}">'
                             f'<hlinscription><structure>{xml(term)}</structure></hlinscription>'
                             '</arc>')
        return document("symmetricnet", "".join([*lines, "</page>"]))

    def first(self) -> tuple[Bag, ...]:
        """The first marking."""
        return tuple(frozenset() if term is None else frozenset(bag(term, {}).items())
                     for term in self.start.values())

    def after(self, marking: object) -> Iterator[tuple[Bag, ...]]:
        """The markings one step later."""
        assert isinstance(marking, tuple)
        held = {place: Counter(dict(content))
                for place, content in zip(self.places, marking, strict=True)}
        for condition, takes, gives in self.transitions:
            for values in product(*(SORTS[sort] for sort in VARIABLES.values())):
                binding = {name: value for name, (value,) in zip(VARIABLES, values, strict=True)}
                if condition is not None and not holds(condition, binding):
                    continue
                left = {place: Counter(content) for place, content in held.items()}
                for place, term in takes:
                    left[place].subtract(bag(term, binding))
                if any(n < 0 for content in left.values() for n in content.values()):
                    continue
                for place, term in gives:
                    left[place].update(bag(term, binding))
                yield tuple(frozenset((+content).items()) for content in left.values())


@pytest.mark.parametrize("block", range(3))
def test_a_coloured_net_deadlocks_iff_its_unfolding_does(block: int) -> None:
    """None is decided otherwise, and most are decided."""
    decided = 0
    for seed in range(block * 5, block * 5 + 5):
        drawn = Drawn(seed)
        expected = deadlocks(drawn.first(), drawn.after)
        answer = decide_deadlock(net_of(drawn.pnml()), Limits(Deadline(0.1), 600))
        if expected is not None and answer.outcome is not Outcome.UNKNOWN:
            decided += 1
            assert (answer.outcome is Outcome.VIOLATED) == expected, seed
    assert decided >= 2


def changed(old: str, new: str) -> str:
    """A coloured net with one place and one transition, of which a part is another."""
    text = document("symmetricnet", DECLARED + (
        '<place id="p"><type><structure><usersort declaration="E"/></structure></type>'
        '<hlinitialMarking><structure><all><usersort declaration="E"/></all></structure>'
        '</hlinitialMarking></place><transition id="t"/><arc id="a" source="p" target="t">'
        '<hlinscription><structure><variable refvariable="x"/></structure></hlinscription></arc>'))
    assert old in text
    return text.replace(old, new)


@pytest.mark.parametrize(("what", "old", "new", "said"), [
    ("a sort without end", '<usersort declaration="E"/></structure></type>',
     "<integer/></structure></type>", "<integer>"),
    ("a sort that is not declared", 'usersort declaration="E"/></structure></type>',
     'usersort declaration="Q"/></structure></type>', "'Q'"),
    ("a term that is not read", '<variable refvariable="x"/>', "<stringconstant/>",
     "<stringconstant>"),
    ("a variable that is not declared", 'refvariable="x"', 'refvariable="z"', "'z'"),
    ("a colour of another sort", 'refvariable="x"', 'refvariable="n"', "sort of the place"),
    ("a successor in a range", '<variable refvariable="x"/>',
     '<successor><subterm><variable refvariable="n"/></subterm></successor>', "cyclic"),
    ("a difference that is none", '<variable refvariable="x"/>',
     '<subtract><subterm><variable refvariable="x"/></subterm><subterm><variable refvariable="y"/>'
     '</subterm></subtract>', "subtracts"),
    ("an inhibitor among colours", 'target="t"', 'target="t" type="inhibitor"', "coloured net"),
    ("arcs without a term", '<hlinscription><structure><variable refvariable="x"/></structure>'
     '</hlinscription>', "<hlinscription><text>x</text></hlinscription>", "no <structure>"),
    ("too many places", 'start="1" end="2"/></namedsort>', 'start="1" end="150000"/></namedsort>'
     '<namedsort id="big" name="big"><productsort><usersort declaration="N"/>'
     '<usersort declaration="N"/></productsort></namedsort>', ""),
])
def test_what_is_not_unfolded_is_refused_by_name(what: str, old: str, new: str, said: str) -> None:
    """With the file, the place in it, and what to do next."""
    text = changed(old, new)
    if not said:
        text, said = text.replace('<usersort declaration="E"/></structure></type>',
                                  '<usersort declaration="big"/></structure></type>').replace(
            '<all><usersort declaration="E"/></all>', "<empty/>").replace(
            '<variable refvariable="x"/>', '<empty/>'), "22,500,000,000 places"
    with pytest.raises(InputError) as refused:
        net_of(text)
    assert said in refused.value.what, what
    assert refused.value.where.startswith("n.pnml:1:") and refused.value.next_step


def test_a_net_is_not_unfolded_beyond_its_time() -> None:
    """The reader looks at the clock while it counts and makes transitions."""
    text = changed('start="1" end="2"/></namedsort>', 'start="1" end="90000"/></namedsort>')
    text = text.replace('<transition id="t"/>', '<transition id="t"><condition><structure>'
                        '<lessthan><subterm><variable refvariable="n"/></subterm><subterm>'
                        '<variable refvariable="n"/></subterm></lessthan></structure></condition>'
                        '</transition>')
    ticks = iter(range(10**9))
    with pytest.raises(OutOfTime, match="reading n.pnml"):
        load_any(text, "n.pnml", deadline=Deadline(50.0, lambda: float(next(ticks))))


# --- arcs that test or empty ----------------------------------------------------------------------

KINDS = ("normal", "normal", "inhibitor", "reset", "read")


class WithTests:
    """A random net with transitions that take and give equally many, with other kinds of arcs."""

    def __init__(self, seed: int) -> None:
        draw = Random(f"tested {seed}")
        self.start = tuple(draw.choice((0, 0, 1, 2)) for _ in range(4))
        self.arcs: list[tuple[list[tuple[int, int]], list[int], dict[int, tuple[str, int]]]] = []
        for _ in range(draw.randint(1, 4)):
            takes = [(place, 1) for place in draw.sample(range(4), draw.randint(1, 2))]
            other = {place: (draw.choice(KINDS[2:]), draw.randint(1, 2))
                     for place in draw.sample(range(4), draw.randint(0, 2))}
            self.arcs.append((takes, draw.choices(range(4), k=len(takes)), other))

    def pnml(self) -> str:
        """The net as a document; the kinds are written as two tools do."""
        lines = [f'<place id="p{at}"><initialMarking><text>{n}</text></initialMarking></place>'
                 for at, n in enumerate(self.start)]
        number = 0
        for at, (takes, gives, other) in enumerate(self.arcs):
            lines.append(f'<transition id="t{at}"/>')
            arcs = [(f"p{place}", f"t{at}", "", f"<inscription><text>{n}</text></inscription>")
                    for place, n in takes]
            arcs += [(f"t{at}", f"p{place}", "", "") for place in gives]
            for place, (kind, n) in other.items():
                weight = f"<inscription><text>{n}</text></inscription>"
                arcs.append((f"p{place}", f"t{at}", f' type="{kind}"', weight) if at % 2 else (
                    f"p{place}", f"t{at}", "", f'<type value="{kind}"/>{weight}'))
            for source, target, attribute, inside in arcs:
                number += 1
                lines.append(f'<arc id="a{number}" source="{source}" target="{target}"{attribute}>'
                             f'{inside}</arc>')
        return document("ptnet", "".join(lines))

    def after(self, marking: object) -> Iterator[tuple[int, ...]]:
        """The markings one step later."""
        assert isinstance(marking, tuple)
        for takes, gives, other in self.arcs:
            now = list(marking)
            if any(kind == "inhibitor" and now[place] >= n or kind == "read" and now[place] < n
                   for place, (kind, n) in other.items()):
                continue
            for place, n in takes:
                now[place] -= n
            if min(now) < 0:
                continue
            for place, (kind, _) in other.items():
                if kind == "reset":
                    now[place] = 0
            for place in gives:
                now[place] += 1
            yield tuple(now)


@pytest.mark.parametrize("block", range(2))
def test_tests_and_resets_of_bounded_places_mean_what_they_say(block: int) -> None:
    """Inhibitor, read and reset arcs, at random."""
    for seed in range(block * 8, block * 8 + 8):
        drawn = WithTests(seed)
        answer = decide_deadlock(net_of(drawn.pnml()), Limits(Deadline(2)))
        assert answer.outcome is not Outcome.UNKNOWN
        assert (answer.outcome is Outcome.VIOLATED) == deadlocks(drawn.start, drawn.after), seed


@pytest.mark.parametrize("kind", ["inhibitor", "reset"])
def test_a_test_of_an_unbounded_place_is_refused_by_name(kind: str) -> None:
    """With the line of the arc; and read where a tool wrote a capacity."""
    text = document("ptnet", '<place id="p"/><transition id="t"/><transition id="u"/>'
                    '<arc id="a" source="u" target="p"/>'
                    f'\n<arc id="b" source="p" target="t" type="{kind}"/>')
    with pytest.raises(InputError, match=kind) as refused:
        net_of(text)
    assert refused.value.where == "n.pnml:2:1"
    bounded = text.replace('<place id="p"/>',
                           '<place id="p"><capacity><text>2</text></capacity></place>')
    assert decide_deadlock(net_of(bounded), Limits()).outcome is (
        Outcome.HOLDS if kind == "reset" else Outcome.VIOLATED)
