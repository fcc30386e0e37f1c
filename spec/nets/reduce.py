"""Reductions that keep whether a net can reach a dead marking, with the run led back.

Each rule makes a smaller net of which a dead marking can be reached iff one can in the net before.
A transition of a reduced net stands for a run of the first net (``Reduced.runs``), and a run of the
reduced net into a dead marking is led back by putting those runs in its place, behind ``before``
(``lift``), and then by firing what was put off until nothing is enabled.

| rule | why a dead marking is kept |
|---|---|
| never enabled | inputs that can never be marked enable nothing |
| never short | a place that always holds what is taken from it disables nothing |
| equal changes | if the difference of two places is constant, one of them disables nothing |
| covered | of two transitions of one effect, one is enabled only where the other is |
| followed at once | what needs tokens of one place alone can fire as soon as they are there |
| put off | what gives one token to one place, from inputs that no other takes, can wait |

The last two are the post- and pre-agglomeration of Berthelot 1987 (weights of one).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from .net import Net

__all__ = ["Reduced", "Run", "reduce"]

GROWTH = 8
"""An agglomeration may not make more transitions than there were, and so many more."""

Side = dict[int, int]


@dataclass(frozen=True)
class Run:
    """A run of the first net: its own transition, or two runs one after the other (``parts``)."""

    transition: int = -1
    parts: tuple[Run, ...] = ()

    def flat(self) -> list[int]:
        """The transitions, in their order."""
        found, todo = [], [self]
        while todo:
            run = todo.pop()
            if run.transition >= 0:
                found.append(run.transition)
            todo.extend(reversed(run.parts))
        return found


@dataclass(frozen=True)
class Reduced:
    """A reduced net; ``runs`` of the first net for each of its transitions, ``before`` fired first,
    and the rules that were applied, with how often."""

    net: Net
    runs: tuple[Run, ...]
    before: tuple[Run, ...] = ()
    kept: tuple[int, ...] = ()
    """The place of the first net that each place is."""
    rules: dict[str, int] = field(default_factory=dict)

    def lift(self, run: list[int]) -> list[int]:
        """The run of the first net that a run of this one stands for, without what was put off."""
        found = [each for part in self.before for each in part.flat()]
        for step in run:
            found += self.runs[step].flat()
        return found


class _Work:
    """A net that changes: sides of transitions as dictionaries, ends of places as sets."""

    def __init__(self, net: Net, watch: Callable[[], None]) -> None:
        self.net, self.watch = net, watch
        self.tokens = list(net.initial)
        self.takes: list[Side | None] = [dict(each) for each in net.takes]
        self.gives: list[Side] = [dict(each) for each in net.gives]
        self.runs = [Run(each) for each in range(len(net.transitions))]
        self.before: list[Run] = []
        self.places = set(range(len(net.places)))
        self.consumers: list[set[int]] = [set(each) for each in net.consumers]
        self.producers: list[set[int]] = [set(each) for each in net.producers]
        self.rules: dict[str, int] = {}

    # --- changes of the net ---------------------------------------------------------------------

    def drop(self, transition: int) -> None:
        takes = self.takes[transition]
        assert takes is not None
        for place in takes:
            self.consumers[place].discard(transition)
        for place in self.gives[transition]:
            self.producers[place].discard(transition)
        self.takes[transition] = None
        self.gives[transition] = {}

    def forget(self, place: int) -> None:
        for each in self.consumers[place]:
            takes = self.takes[each]
            assert takes is not None
            del takes[place]
        for each in self.producers[place]:
            del self.gives[each][place]
        self.consumers[place], self.producers[place] = set(), set()
        self.places.discard(place)

    def add(self, takes: Side, gives: Side, run: Run) -> int:
        at = len(self.takes)
        self.takes.append(takes)
        self.gives.append(gives)
        self.runs.append(run)
        for place in takes:
            self.consumers[place].add(at)
        for place in gives:
            self.producers[place].add(at)
        return at

    def did(self, rule: str, times: int = 1) -> None:
        if times:
            self.rules[rule] = self.rules.get(rule, 0) + times

    def alive(self) -> list[int]:
        return [at for at, takes in enumerate(self.takes) if takes is not None]

    def change(self, transition: int) -> Side:
        """The change that a transition makes to each place that it changes."""
        found = dict(self.gives[transition])
        for place, weight in (self.takes[transition] or {}).items():
            found[place] = found.get(place, 0) - weight
        return {place: n for place, n in found.items() if n}

    # --- the rules: each returns how often it was applied ----------------------------------------

    def never_enabled(self) -> int:
        """Drop transitions that cannot fire however often the others do."""
        marked = {place for place in self.places if self.tokens[place]}
        lacking = {at: len(takes) for at, takes in enumerate(self.takes) if takes is not None}
        for place in marked:
            for each in self.consumers[place]:
                lacking[each] -= 1
        todo = deque(at for at, number in lacking.items() if not number)
        fired = set(todo)
        while todo:
            for place in self.gives[todo.popleft()]:
                if place in marked:
                    continue
                marked.add(place)
                for each in self.consumers[place]:
                    lacking[each] -= 1
                    if not lacking[each]:
                        fired.add(each)
                        todo.append(each)
        gone = [at for at in lacking if at not in fired]
        for each in gone:
            self.drop(each)
        for place in self.places - marked:  # nothing gives to it, and nothing takes any more
            self.forget(place)
        return len(gone)

    def never_short(self) -> int:
        """Forget places that always hold what is taken: nothing is, or no transition takes for good
        and the first tokens are enough; and drop what a constant place never allows."""
        done = 0
        for place in list(self.places):
            takers = [(each, self.takes[each][place]) for each in self.consumers[place]]  # type: ignore[index]
            if any(self.gives[each].get(place, 0) < weight for each, weight in takers):
                continue
            tokens = self.tokens[place]
            if all(weight <= tokens for _, weight in takers):
                self.forget(place)
                done += 1
            elif all(self.gives[each][place] == self.takes[each].get(place, 0)  # type: ignore[union-attr]
                     for each in self.producers[place]):
                for each, weight in takers:
                    if weight > tokens:
                        self.drop(each)
                        done += 1
        return done

    def equal_changes(self) -> int:
        """Forget one of two places that each transition changes alike."""
        rows: dict[int, list[tuple[int, int]]] = {place: [] for place in self.places}
        for at in self.alive():
            for place, n in self.change(at).items():
                rows[place].append((at, n))
        groups: dict[tuple[tuple[int, int], ...], list[int]] = {}
        for place, row in rows.items():
            groups.setdefault(tuple(row), []).append(place)
        done = 0
        for places in groups.values():
            places.sort(key=lambda place: self.tokens[place])
            for less, more in zip(places, places[1:], strict=False):
                # The one with more tokens is never short if it takes no more than the other and
                # the difference.
                done += self._implied(more, less) or self._implied(less, more)
        return done

    def _implied(self, place: int, by: int) -> bool:
        if place not in self.places or by not in self.places:
            return False
        more = self.tokens[place] - self.tokens[by]
        for each in self.consumers[place]:
            takes = self.takes[each]
            assert takes is not None
            if takes[place] > takes.get(by, 0) + more:
                return False
        self.forget(place)
        return True

    def covered(self) -> int:
        """Drop transitions that do what another does and need as much or more."""
        groups: dict[tuple[tuple[int, int], ...], list[int]] = {}
        for at in self.alive():
            groups.setdefault(tuple(sorted(self.change(at).items())), []).append(at)
        done = 0
        for alike in groups.values():
            kept: list[int] = []
            for at in sorted(alike, key=lambda at: (sum((self.takes[at] or {}).values()), at)):
                takes = self.takes[at] or {}
                if len(kept) < 20 and any(all(takes.get(place, 0) >= n for place, n in (
                        self.takes[other] or {}).items()) for other in kept):
                    self.drop(at)
                    done += 1
                else:
                    kept.append(at)
        return done

    def followed_at_once(self) -> int:
        """Fire what needs but one place as soon as it can."""
        done = 0
        for place in sorted(self.places):
            if place in self.places and self._follow(place):
                done += 1
                self.watch()
        return done

    def _follow(self, place: int) -> bool:
        """Fuse a place with the transitions after it, which take from nothing else: each transition
        ahead then does their work at once. False if the place does not allow it.

        It does not where the tokens are no whole number of what they take, or where a choice among
        them would come too early: more than one token at a time, or tokens at the start.
        """
        after, ahead = self.consumers[place], self.producers[place]
        if not after or after & ahead or len(after) * len(ahead) > len(after) + len(ahead) + GROWTH:
            return False
        weight = 0
        for each in after:
            takes = self.takes[each]
            assert takes is not None
            if len(takes) != 1 or place in self.gives[each]:
                return False
            weight = takes[place]
            if any(self.takes[other] != takes for other in after):
                return False
        times = {each: self.gives[each][place] for each in ahead}
        if any(n % weight or (n > weight and len(after) > 1) for n in times.values()):
            return False
        tokens = self.tokens[place]
        if tokens % weight or (tokens and len(after) > 1):
            return False
        if tokens // weight > 1_000 or any(n // weight > 1_000 for n in times.values()):
            return False
        follow = [(dict(self.gives[each]), self.runs[each]) for each in sorted(after)]
        if tokens:
            gives, run = follow[0]
            self.before += [run] * (tokens // weight)
            for other, n in gives.items():
                self.tokens[other] += n * (tokens // weight)
            self.tokens[place] = 0
        for each in sorted(ahead):
            takes = dict(self.takes[each] or {})
            for gives, run in follow:
                often = times[each] // weight
                both = {p: n for p, n in self.gives[each].items() if p != place}
                for other, n in gives.items():
                    both[other] = both.get(other, 0) + n * often
                self.add(dict(takes), both, Run(parts=(self.runs[each], *[run] * often)))
        for each in [*after, *ahead]:
            self.drop(each)
        self.places.discard(place)
        return True

    def put_off(self) -> int:
        """Fire what gives to but one place only when it is needed."""
        done = 0
        for place in sorted(self.places):
            if place in self.places and self._put_off(place):
                done += 1
                self.watch()
        return done

    def _put_off(self, place: int) -> bool:
        """Fuse a place with the transitions ahead, which give it one token and nothing else, and
        alone take from their places: each is put off until one after it takes the token. False
        if the place does not allow it."""
        after, ahead = self.consumers[place], self.producers[place]
        if not after or not ahead or after & ahead or self.tokens[place] \
                or len(after) * len(ahead) > len(after) + len(ahead) + GROWTH:
            return False
        for each in ahead:
            takes = self.takes[each]
            if self.gives[each] != {place: 1} or not takes or any(
                    self.consumers[other] != {each} for other in takes):
                return False
        if any((self.takes[each] or {})[place] != 1 for each in after):
            return False
        for first in sorted(ahead):
            for second in sorted(after):
                takes = dict(self.takes[first] or {})
                for other, n in (self.takes[second] or {}).items():
                    if other != place:
                        takes[other] = takes.get(other, 0) + n
                self.add(takes, dict(self.gives[second]),
                         Run(parts=(self.runs[first], self.runs[second])))
        for each in [*after, *ahead]:
            self.drop(each)
        self.places.discard(place)
        return True


def reduce(net: Net, watch: Callable[[], None] = lambda: None) -> Reduced:
    """The net after all rules, applied until none of them does anything.

    ``watch`` is called often, and may raise.
    """
    work = _Work(net, watch)
    while True:
        did = 0
        for rule in (work.never_enabled, work.never_short, work.covered, work.equal_changes,
                     work.followed_at_once, work.put_off):
            watch()
            if any(takes is not None and not takes for takes in work.takes):
                return _made(work)  # a transition that needs nothing: never dead
            times = rule()
            work.did(rule.__name__, times)
            did += times
        if not did:
            return _made(work)


def _made(work: _Work) -> Reduced:
    places = sorted(work.places)
    index = {place: at for at, place in enumerate(places)}
    alive = work.alive()

    def arcs(side: Side) -> tuple[tuple[int, int], ...]:
        return tuple(sorted((index[place], n) for place, n in side.items()))

    names = tuple(work.net.transitions[work.runs[at].flat()[0]] for at in alive)
    net = Net(work.net.name, tuple(work.net.places[place] for place in places), names,
              tuple(work.tokens[place] for place in places),
              tuple(arcs(work.takes[at] or {}) for at in alive),
              tuple(arcs(work.gives[at]) for at in alive))
    return Reduced(net, tuple(work.runs[at] for at in alive), tuple(work.before), tuple(places),
                   work.rules)
