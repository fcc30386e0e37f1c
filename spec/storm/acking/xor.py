"""The algebra of the acker: what an xor of 64-bit ids says about a tree, and what it does not.

Theory of operation
-------------------
``acker`` represents the acker's value by the set of edges that are xored into it. These
lemmas justify that, and state its limits. They are decided by Z3 on bit-vectors, for all
ids at once.

Let *live* be the edges that are emitted and not yet acked.

1. INIT makes the value the xor of the live ids. An ACK of edge x with children c1 … ck takes
   x out of live and c1 … ck in, and xors x ^ c1 ^ … ^ ck into the value. So the value stays
   the xor of the live ids: STORM-X2, the induction step, for any ids at all.
2. Hence a complete tree has value zero: STORM-X1, for every shape of up to five edges.
3. The order of the messages does not matter: STORM-X3.
4. The converse needs more than the text requires. If ids are distinct and not zero, up to two
   live edges cannot cancel (STORM-X4), but three can: 1 ^ 2 ^ 3 = 0 (STORM-X5). What is needed
   is that the live ids are linearly independent over GF(2): for instance if each has a bit
   that no other has (STORM-X6). Random ids satisfy that except with probability 2**-64 for
   each partial state, which is the whole guarantee of the acker.
5. An id of zero has no effect at all: a tree of one such edge is complete at INIT (STORM-X7).
6. Acking is not idempotent: a second ACK undoes the first (STORM-X8).

Source: storm#acker ("Algebra", "XOR facts"); org.apache.storm.daemon.Acker,
org.apache.storm.tuple.MessageId.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from itertools import product
from typing import TYPE_CHECKING, Any

from ...lemmas import BITS, Lemma, Make

if TYPE_CHECKING:
    import z3

__all__ = ["LEMMAS"]

SOURCE = "storm#acker"


# --- claims ---------------------------------------------------------------------------------

def xor(ids: list[Any]) -> Any:
    """The xor of some ids; zero if there are none."""
    import z3
    return reduce(lambda a, b: a ^ b, ids, z3.BitVecVal(0, BITS))


def edges(make: Make, count: int) -> list[Any]:
    """The ids of ``count`` edges."""
    return [make(f"e{number}") for number in range(1, count + 1)]


def shapes(count: int) -> Iterator[tuple[int, ...]]:
    """Every tree of ``count`` edges: for each edge its parent, an earlier edge or the spout
    (-1)."""
    yield from product(*(range(-1, edge) for edge in range(count)))


def complete_trees_are_zero(make: Make) -> z3.BoolRef:
    """INIT and one ACK for each edge, for every shape of up to five edges."""
    import z3
    claims = []
    for count in range(6):
        ids = edges(make, count)
        for parents in shapes(count):
            init = xor([e for e, parent in zip(ids, parents, strict=True) if parent < 0])
            acks = [
                xor([ids[edge], *(e for e, p in zip(ids, parents, strict=True) if p == edge)])
                for edge in range(count)
            ]
            claims.append(xor([init, *acks]) == 0)
    return z3.And(claims)


def acking_moves_to_children(make: Make) -> z3.BoolRef:
    """From value = others ^ x to value' = others ^ children, for up to four children;
    ``others`` is the xor of all other live ids, however many they are."""
    import z3
    others, x = make("others"), make("x")
    value = others ^ x
    return z3.And([
        value ^ xor([x, *children]) == others ^ xor(children)
        for children in (edges(make, count) for count in range(5))
    ])


def order_does_not_matter(make: Make) -> z3.BoolRef:
    """Two neighbouring messages can be swapped, hence all orders agree."""
    import z3
    value, a, b = make("value"), make("a"), make("b")
    return z3.And((value ^ a) ^ b == (value ^ b) ^ a)


def live_edges_show(count: int) -> Callable[[Make], z3.BoolRef]:
    """Claim that up to ``count`` distinct nonzero ids never cancel."""
    def claim(make: Make) -> z3.BoolRef:
        import z3
        claims = []
        for number in range(1, count + 1):
            ids = edges(make, number)
            usual = z3.And(z3.Distinct(ids), *(e != 0 for e in ids))
            claims.append(z3.Implies(usual, xor(ids) != 0))
        return z3.And(claims)
    return claim


def independent_edges_show(make: Make) -> z3.BoolRef:
    """Up to six ids, each with a bit that no other has, never cancel."""
    import z3
    claims = []
    for count in range(1, 7):
        ids = edges(make, count)
        own = [make(f"bit{number}") for number in range(1, count + 1)]
        private = [
            z3.And(mask != 0, e & mask == mask, *(o & mask == 0 for o in ids if o is not e))
            for e, mask in zip(ids, own, strict=True)
        ]
        claims.append(z3.Implies(z3.And(private), xor(ids) != 0))
    return z3.And(claims)


def one_edge_shows(make: Make) -> z3.BoolRef:
    """A tree of one live edge has a nonzero value, for every id."""
    import z3
    return z3.And(make("e1") != 0)


def acking_is_idempotent(make: Make) -> z3.BoolRef:
    """A second ACK of the same edge changes nothing."""
    import z3
    value, ack = make("value"), make("ack")
    return z3.Implies(ack != 0, (value ^ ack) ^ ack == value ^ ack)


LEMMAS = (
    Lemma("STORM-X1", "A complete tree has the value zero.", f"{SOURCE} ('the value is 0')",
          "holds", complete_trees_are_zero),
    Lemma("STORM-X2", "An ACK keeps the value the xor of the live ids.", f"{SOURCE}, 'Algebra'",
          "holds", acking_moves_to_children),
    Lemma("STORM-X3", "The order of the messages does not matter.", f"{SOURCE}, 'Out of order'",
          "holds", order_does_not_matter),
    Lemma("STORM-X4", "One or two live edges with distinct nonzero ids never cancel.",
          SOURCE, "holds", live_edges_show(2)),
    Lemma("STORM-X5", "Three live edges with distinct nonzero ids never cancel.",
          f"{SOURCE}; the converse of STORM-X1 as it is usually stated", "violated",
          live_edges_show(3)),
    Lemma("STORM-X6", "Live edges never cancel if each id has a bit that no other has.",
          SOURCE, "holds", independent_edges_show),
    Lemma("STORM-X7", "A single live edge has a nonzero value, for every id.",
          f"{SOURCE}: 'id 0 not excluded'",
          "violated", one_edge_shows),
    Lemma("STORM-X8", "Acking an edge twice has the same effect as once.",
          f"{SOURCE}: 'not idempotent'", "violated", acking_is_idempotent),
)
"""The lemmas, each with its expected verdict."""
