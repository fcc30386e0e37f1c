"""The code for large machines: shapes with holes, the rows that fill them, and states of many
words; on machines that are small enough to know what has to come out."""

from __future__ import annotations

import pytest

from checkvalve.spec.engines.native import Layout, explore, graph, jit
from checkvalve.spec.engines.native.code import UNROLLED_WORDS
from checkvalve.spec.engines.native.shapes import Shapes
from checkvalve.spec.notation.expr import (
    Bool, EmptyQueue, Expr, Int, Lit, Queue, Read, Record, add, and_, eq, le, length, lt, or_, push,
)
from checkvalve.spec.notation.model import LoweredAction, Model, Slot
from checkvalve.spec.verdicts.verdict import Budget

from native_support import model_of, rule, search

WIDE = Int(Lit(-1), Lit(1 << 61))
SMALL = Queue(Int(Lit(0), Lit(2)), Lit(3))


def action(number: int, guard: Expr, **updates: Expr) -> LoweredAction:
    """An action that is never at fault."""
    return LoweredAction(f"a{number}", (), True, False, guard, updates, ())


def counters(count: int, most: int) -> Model:
    """Counters of a word each, of which the first, a middle one and the last go up."""
    slots = [Slot(f"s{place}", WIDE, Lit(0)) for place in range(count)]
    moving = [Read(f"s{place}", WIDE) for place in (0, count // 2, count - 1)]
    actions = [action(number, lt(read, Lit(most)), **{read.slot: add(read, Lit(1))})
               for number, read in enumerate(moving)]
    low = or_(*(lt(read, Lit(most - 1)) for read in moving))
    return model_of(slots, actions, [rule("always", low)])


@pytest.mark.parametrize("words", [UNROLLED_WORDS, UNROLLED_WORDS + 1, 40])
@pytest.mark.parametrize("threads", [1, 2])
def test_states_of_many_words_differ_where_any_word_does(words: int, threads: int) -> None:
    """Those that differ in nothing are one, however many ways lead there: as many as there
    are, their steps, and the shortest run to what breaks a rule."""
    most = 3
    model = counters(words, most)
    assert (Layout(model).words > UNROLLED_WORDS) is (words > UNROLLED_WORDS)
    found = explore(model, (), Budget(threads=threads))
    assert (found.states, found.transitions, found.depth) == (64, 3 * 4 * 4 * 3, 3 * most)
    broken = explore(model, model.rules, Budget(threads=threads))
    assert [len(path) for path in broken.violations.values()] == [3 * (most - 1)]


def test_the_graph_of_states_of_many_words_has_their_steps() -> None:
    """Each state once, and each step to the state that it leads to."""
    model = counters(UNROLLED_WORDS + 1, 2)
    found = graph(model, [lt(Read("s0", WIDE), Lit(1))], Budget())
    states = [found.decode(index) for index in range(found.states)]
    assert len({tuple(state.values()) for state in states}) == 27
    for index, state in enumerate(states):
        for edge in range(int(found.first[index]), int(found.first[index + 1])):
            name = next(iter(model.actions[int(found.via[edge])].updates))
            after = states[int(found.target[edge])]
            assert after == state | {name: state[name] + 1}  # type: ignore[operator]
        assert bool(found.predicate_bits[0, index]) == (state["s0"] == 0)


def test_a_queue_that_is_cleared_is_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    """In code by rows as in any other: the states are those of the evaluator."""
    queue = Read("q", SMALL)
    model = model_of(
        [Slot("q", SMALL, EmptyQueue(SMALL)), Slot("n", Int(Lit(0), Lit(2)), Lit(0))],
        [*(action(item, lt(length(queue), Lit(3)), q=push(queue, Lit(item)), n=Lit(item))
           for item in range(3)),
         action(3, and_(le(Lit(2), length(queue)), eq(Read("n", Int(Lit(0), Lit(2))), Lit(2))),
                n=Lit(0), q=EmptyQueue(SMALL))])
    expected = search(model, 300)
    for rows_from in (jit.ROWS_FROM, -1):
        monkeypatch.setattr(jit, "ROWS_FROM", rows_from)
        found = explore(model, (), Budget(threads=1))
        assert (found.states, found.transitions, found.depth) == (
            expected.states, expected.transitions, expected.depth)


def test_what_differs_in_slots_and_numbers_has_one_shape() -> None:
    """A number is a hole wherever it stands, also where it is all that is written."""
    slots = [Slot(f"s{place}", WIDE, Lit(0)) for place in range(9)]
    shapes = Shapes(Layout(model_of(slots, [])))
    rows = []
    for place, slot in enumerate(slots):
        read = Read(slot.name, WIDE)
        shape, row = shapes.of(
            [[lt(read, Lit(place)), le(read, Lit(place))], [Lit(7 * place), read, Lit(place)]],
            [slot.name])
        rows.append(row)
        assert shape.number == 0 and shape.size == len(row)
    assert len(shapes.found) == 1 and len(set(map(tuple, rows))) == len(slots)


def test_a_hole_leads_to_the_bits_of_its_slot() -> None:
    """To a place in the state, also that of an integer which can have one value only, and so has
    no bits."""
    pair = Record("Pair", (("a", Int(Lit(-5), Lit(9))), ("b", Bool())))
    kinds = [Int(Lit(7), Lit(7)), Bool(), pair, Queue(pair, Lit(30)), WIDE, WIDE, WIDE, SMALL]
    slots = [Slot(f"s{place}", kind, Lit(0)) for place, kind in enumerate(kinds)]
    layout = Layout(model_of(slots, []))
    shapes = Shapes(layout)
    for slot in slots:
        shape, row = shapes.of([[Read(slot.name, slot.type)]], [slot.name])
        at = shape.holes[0].at
        pieces = [piece for cell in layout.cells[slot.name] for piece in cell.pieces]
        for word, shift in [(piece.word, piece.shift) for piece in pieces] or [(0, 0)]:
            assert (row[at], row[at + 1]) == (word, shift)
            assert 0 <= word < layout.words and 0 <= shift < 64
            at += 2
