"""Searching up to the names of alike members: the same verdicts, and as many states as orbits."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkvalve.spec.engines.alike import alike_members
from checkvalve.spec.engines.graph import explore_with_interpreter
from checkvalve.spec.engines.prove.alike import Alikeness, Undecided
from checkvalve.spec.engines.search import check_rules, instances
from checkvalve.spec.kafka.replication import (
    CutAtLastMatch, CutByEpoch, CutToHighWatermark, CuttingUnfenced, FirstTry, LastOneOut,
    Replication,
)
from checkvalve.spec.notation import (
    MUST, BoundMachine, InputError, Machine, ModelFault, action, alike, always, array, bind,
    boolean, const, each, eventually_always, fifo, integer, member, never_stuck, pairs, record,
    require, step, subset, table, upto,
)
from checkvalve.spec.notation.renaming import renamings
from checkvalve.spec.verdicts.verdict import Budget, Outcome, Verdict


class Locks(Machine):
    """Threads take two locks, wait in a set, and hand each other a mark."""

    N = const(3, at_least=1)
    M = const(2, at_least=1)
    Thread = alike(N)

    holder = array(upto(2), member(Thread))
    waits = array(Thread, integer(0, 2, init=2))
    told = subset(pairs(Thread, Thread))
    turns = array(pairs(upto(2), Thread), integer(0, M))
    quiet = boolean(True)

    @action(thread=Thread, lock=upto(2))
    def take(self, thread: int, lock: int) -> None:
        require(self.holder[lock] == self.N and self.waits[thread] != 1 - lock)
        require(self.turns[lock * self.N + thread] < self.M)
        self.holder[lock] = thread
        self.turns[lock * self.N + thread] += 1
        self.waits[thread] = 2

    @action(thread=Thread, lock=upto(2))
    def wait(self, thread: int, lock: int) -> None:
        require(self.waits[thread] == 2 and self.holder[1 - lock] == thread)
        require(self.holder[lock] not in (self.N, thread))
        self.waits[thread] = lock
        self.quiet = False

    @action(thread=Thread, other=Thread)
    def tell(self, thread: int, other: int) -> None:
        require(self.waits[thread] < 2 and thread != other and self.holder[0] == other)
        require(thread * self.N + other not in self.told)
        self.told.add(thread * self.N + other)

    @action(thread=Thread)
    def release(self, thread: int) -> None:
        require(self.waits[thread] == 2 and self.holder[0] == thread)
        self.holder[0] = self.N
        for other in range(self.N):
            self.told.discard(other * self.N + thread)

    @always("T-1", MUST, "Nobody waits for itself.", source="here", thread=Thread)
    def nobody_waits_for_itself(self, thread: int) -> bool:
        return self.waits[thread] == 2 or self.holder[self.waits[thread]] != thread

    @always("T-2", MUST, "Two do not wait at once.", source="here", one=Thread, other=Thread)
    def two_do_not_wait(self, one: int, other: int) -> bool:
        return one == other or self.waits[one] == 2 or self.waits[other] == 2

    @step("T-3", MUST, "A mark of a thread on another stays.", source="here", thread=Thread)
    def telling_stays(self, after: Locks, thread: int) -> bool:
        return all(thread * self.N + other not in self.told
                   or thread * self.N + other in after.told for other in range(self.N))

    @never_stuck("T-4", MUST, "It does not stop while somebody waits.", source="here")
    def stops_at_rest(self) -> bool:
        return all(self.waits[thread] == 2 for thread in range(self.N))

    @always("T-5", MUST, "The first thread never waits.", source="here")
    def the_first_never_waits(self) -> bool:
        return self.waits[0] == 2

    @eventually_always("T-6", MUST, "Eventually no thread has marked another.", source="here")
    def quiet_in_the_end(self) -> bool:
        return self.quiet


def verdicts(bound: BoundMachine, rule: str | None, *, renaming: bool) -> list[Verdict]:
    budget = Budget(threads=1, renaming=renaming)
    return check_rules(bound, instances(bound, rule), budget, engine="native")


def orbits(bound: BoundMachine) -> int:
    """The number of states up to renaming, counted by the interpreter."""
    graph = explore_with_interpreter(bound.interpreter, Budget(), None)
    group = renamings(bound.machine, bound.constants)
    return len({
        frozenset(tuple(sorted(each.state(bound.interpreter.slots(state)).items()))
                  for each in group)
        for state in graph.states})


@settings(max_examples=6, deadline=None)
@given(n=st.integers(1, 3), m=st.integers(1, 2))
@pytest.mark.parametrize("rule", ["T-1", "T-2", "T-3", "T-4"])
def test_a_search_up_to_names_finds_the_same(rule: str, n: int, m: int) -> None:
    """The same verdict for each choice of arguments, and counterexamples of the same length."""
    bound = bind(Locks, N=n, M=m)
    for one, other in zip(verdicts(bound, rule, renaming=True),
                          verdicts(bound, rule, renaming=False), strict=True):
        assert one.outcome is other.outcome
        assert one.depth == other.depth
        assert (one.trace is None) == (other.trace is None)
        if one.trace is not None and other.trace is not None:
            assert len(one.trace.steps) == len(other.trace.steps)
        assert ("up to the names in Thread" in one.method) == (n > 1)
        assert "names" not in other.method


@pytest.mark.parametrize(("n", "m"), [(2, 2), (3, 1)])
def test_there_are_as_many_states_as_orbits(n: int, m: int) -> None:
    """As the interpreter counts them: one of all states that differ only by names."""
    bound = bind(Locks, N=n, M=m)
    (found,) = verdicts(bound, "T-4", renaming=True)
    if found.outcome is Outcome.HOLDS:
        assert found.states == orbits(bound)
    (whole, *_) = verdicts(bound, "T-1", renaming=True)
    assert whole.outcome is Outcome.HOLDS
    assert whole.states == orbits(bound)


def test_a_rule_that_names_a_member_is_decided_on_all_states() -> None:
    """A rule that names a member does not survive a renaming, so no state is left out for it."""
    bound = bind(Locks, N=3, M=1)
    (found,) = verdicts(bound, "T-5", renaming=True)
    (plain,) = verdicts(bound, "T-5", renaming=False)
    assert found.outcome is plain.outcome is Outcome.VIOLATED
    assert "names" not in found.method


def test_what_happens_in_the_end_is_decided_on_all_states() -> None:
    """Fairness is about each action, and renaming would mix them up."""
    (found,) = verdicts(bind(Locks, N=2, M=1), "T-6", renaming=True)
    assert "names" not in found.method


class Preferring(Locks):
    """Thread 0 may take a lock from anybody."""

    @action
    def grab(self) -> None:
        require(self.holder[1] not in (0, self.N))
        self.holder[1] = 0


class StartingFirst(Machine):
    """One of its members starts elsewhere."""

    Part = alike(2)
    at = array(Part, integer(0, 2))
    first = subset(Part, init=(0,))

    @action(part=Part)
    def go(self, part: int) -> None:
        require(self.at[part] < 2)
        self.at[part] += 1

    @always("T-7", MUST, "Nobody arrives.", source="here")
    def nobody_arrives(self) -> bool:
        return sum(self.at) < 4


class Bounded(Machine):
    """The range of the second member is declared larger."""

    ROOM = table((1, 2))
    Part = alike(2)
    has = array(Part, integer(0, each(ROOM)))

    @action(part=Part)
    def go(self, part: int) -> None:
        require(self.has[part] < 1)
        self.has[part] += 1

    @always("T-11", MUST, "Nobody has two.", source="here", part=Part)
    def nobody_has_two(self, part: int) -> bool:
        return self.has[part] < 2


@pytest.mark.parametrize(("machine", "told"), [
    (Preferring, "grab"), (StartingFirst, "do not start alike"),
    (Bounded, "are not declared alike")])
def test_members_that_are_not_alike_are_refused(machine: type[Machine], told: str) -> None:
    """The message says what differs, and where."""
    with pytest.raises(InputError, match=told) as refusal:
        verdicts(bind(machine), None, renaming=True)
    assert __file__ in refusal.value.where


class Overrunning(Machine):
    """The second one to come leaves the range."""

    N = const(3, at_least=1)
    Guest = alike(N)
    came = subset(Guest)
    count = integer(0, 1)

    @action(guest=Guest)
    def come(self, guest: int) -> None:
        require(guest not in self.came)
        self.came.add(guest)
        self.count += 1

    @always("T-8", MUST, "It is counted.", source="here")
    def is_counted(self) -> bool:
        return self.count <= 1


def test_a_fault_is_told_with_a_run_of_the_machine() -> None:
    """The way there is one that the machine can take, not one of renamed states."""
    with pytest.raises(ModelFault) as fault:
        verdicts(bind(Overrunning), "T-8", renaming=True)
    first, second = fault.value.steps
    assert first != second


class Crowd(Machine):
    """So many members that not all of their renamings are tried."""

    N = const(7, at_least=1)
    Guest = alike(N)
    came = subset(Guest)

    @action(guest=Guest)
    def come(self, guest: int) -> None:
        require(guest not in self.came)
        self.came.add(guest)

    @always("T-9", MUST, "Not all come.", source="here")
    def not_all_come(self) -> bool:
        return sum(each in self.came for each in range(self.N)) < self.N


def test_of_a_large_set_some_members_are_renamed() -> None:
    """Five of seven: six sizes of the one part times four ways of the other."""
    (found,) = verdicts(bind(Crowd), "T-9", renaming=True)
    assert found.outcome is Outcome.VIOLATED
    assert found.trace is not None and len(found.trace.steps) == 7
    assert found.states == 6 * 4


class Chair(Machine):
    """One chair for so many members that their names do not fit in one word."""

    N = const(17, at_least=1)
    Guest = alike(N)
    chair = member(Guest)

    @action(guest=Guest)
    def sit(self, guest: int) -> None:
        require(self.chair == self.N)
        self.chair = guest

    @action
    def rise(self) -> None:
        require(self.chair < self.N)
        self.chair = self.N

    @always("T-12", MUST, "Every seated member is a guest.", source="here")
    def is_a_guest(self) -> bool:
        return self.chair <= self.N


def test_a_member_of_a_large_set_has_the_name_of_its_image() -> None:
    """The empty chair, one state for the five that are renamed, and one for each other."""
    (found,) = verdicts(bind(Chair), "T-12", renaming=True)
    assert (found.outcome, found.states) == (Outcome.HOLDS, 1 + 1 + 12)


class Booking(NamedTuple):
    """A member that has booked, and how often."""

    who: int
    times: int


class Booked(Machine):
    """Members book two places; a booking is a record with a member in it."""

    N = const(3, at_least=1)
    Guest = alike(N)
    rooms = array(upto(2), record(Booking, who=member(Guest), times=integer(0, 2)))

    @action(guest=Guest, room=upto(2))
    def book(self, guest: int, room: int) -> None:
        require(self.rooms[room].times < 2)
        require(self.rooms[1 - room].who != guest)
        self.rooms[room] = Booking(guest, self.rooms[room].times + 1)

    @always("T-13", MUST, "No member has both places.", source="here")
    def nobody_has_both(self) -> bool:
        return self.rooms[0].who != self.rooms[1].who or self.rooms[0].who == self.N


def test_a_member_in_a_record_is_renamed_with_it() -> None:
    """As many states as orbits, as the interpreter counts them."""
    bound = bind(Booked)
    (found,) = verdicts(bound, "T-13", renaming=True)
    assert (found.outcome, found.states) == (Outcome.HOLDS, orbits(bound))


class Queueing(Machine):
    """Members stand in a queue."""

    Guest = alike(2)
    line = fifo(member(Guest), 2)

    @action(guest=Guest)
    def come(self, guest: int) -> None:
        require(len(self.line) < 2)
        self.line.push(guest)

    @always("T-10", MUST, "There is room.", source="here")
    def there_is_room(self) -> bool:
        return len(self.line) < 3


def test_a_queue_of_members_is_refused() -> None:
    """It is not supported, and the message says what to do instead."""
    with pytest.raises(InputError, match="the queue line"):
        verdicts(bind(Queueing), None, renaming=True)


@pytest.mark.parametrize(("machine", "epochs", "states"), [
    (CutToHighWatermark, 2, 11_453), (CutByEpoch, 2, 10_111), (CutAtLastMatch, 2, 10_164),
    (FirstTry, 2, 9_983), (Replication, 2, 6_713), (CuttingUnfenced, 2, 7_406),
    (LastOneOut, 3, 123_311),
])
def test_published_modules_have_as_many_states_as_tlc_found_with_symmetry(
    machine: type[Machine], epochs: int, states: int
) -> None:
    """TLC is configured with symmetric replicas, and believes it; here the symmetry is proved."""
    bound = bind(machine, L=2, M=2, E=epochs)
    (found,) = verdicts(bound, "KAFKA-R3", renaming=True)
    assert (found.outcome, found.states) == (Outcome.HOLDS, states)


def test_what_cannot_be_proved_alike_is_searched_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proof that does not come to an end keeps no rule."""
    bound = bind(Locks)
    rules = dict(enumerate(bound.model.rules))
    assert alike_members(bound, rules, Budget().start())

    def gives_up(self: Alikeness) -> None:
        raise Undecided

    monkeypatch.setattr(Alikeness, "check_model", gives_up)
    assert alike_members(bound, rules, Budget().start()) == {}
