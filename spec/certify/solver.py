"""Questions for cvc5, a solver that the engines do not use, as text (SMT-LIB)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..notation.errors import InputError
from .limits import look, seconds_left
from .system import Counter, NotCovered

__all__ = ["Question", "Term", "all_of", "any_of", "model", "never", "number"]

Term = str
"""Something that is true or false."""

Inequality = tuple[Mapping[str, int], int]
"""The weighted sum of some counters is at most so much."""

MOST_SECONDS = 300.0
"""The most time for one question."""
ASKING = "asking cvc5"


def never(said: Iterable[str], logic: str = "QF_LIA") -> bool:
    """True if cvc5 proves that not all that is said can be true."""
    return model(said, (), logic) is None


def model(
    said: Iterable[str], names: Iterable[str], logic: str = "QF_LIA"
) -> dict[str, int] | None:
    """Values of these names with which all that is said is true; None where there are none.

    Raises NotCovered where cvc5 does not know.
    """
    try:
        import cvc5
    except ImportError:
        raise InputError("the solver cvc5 is not installed", "",
                         "Install it: pip install 'checkvalve[certify]'.") from None
    terms = cvc5.TermManager()
    solver = cvc5.Solver(terms)
    solver.setOption("produce-models", "true")
    look(ASKING)
    solver.setOption("tlimit-per", str(1 + int(1_000 * seconds_left(MOST_SECONDS))))
    solver.setLogic(logic)
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, "\n".join(said), "certificate")
    known = parser.getSymbolManager()
    while not (command := parser.nextCommand()).isNull():
        command.invoke(solver, known)
    answer = solver.checkSat()
    if not (answer.isSat() or answer.isUnsat()):
        look(ASKING)
        raise NotCovered(f"cvc5 does not know: {answer.getUnknownExplanation()}")
    declared = {term.getSymbol(): term for term in known.getDeclaredTerms()}
    return None if answer.isUnsat() else {
        name: solver.getValue(declared[name]).getIntegerValue() for name in names}


def number(value: int) -> str:
    """A whole number as the solver reads it, which has no sign of its own."""
    return str(value) if value >= 0 else f"(- {-value})"


def all_of(terms: Iterable[Term]) -> Term:
    """All of these are true."""
    return f"(and true {' '.join(terms)})"


def any_of(terms: Iterable[Term]) -> Term:
    """One of these is true."""
    return f"(or false {' '.join(terms)})"


class Question:
    """The question whether there are whole numbers for these counters of which all that is said is
    true."""

    def __init__(self, counters: Iterable[str]) -> None:
        self._counter = {name: f"c{n}" for n, name in enumerate(counters)}
        self._said = [f"(declare-const {name} Int)" for name in self._counter.values()]
        self._fresh = 0
        self.logic = "QF_LIA"

    def say(self, term: Term) -> None:
        """Ask only for answers with which this is so."""
        self._said.append(f"(assert {term})")

    def range(self, name: str, counter: Counter, stride: int) -> None:
        """The counter is in its range, and differs from its start by a multiple of ``stride``."""
        here = self._counter[name]
        if stride == 0:
            self.say(f"(= {here} {counter.start})")
            return
        self.say(f"(>= {here} 0)")
        if counter.most is not None:
            self.say(f"(<= {here} {counter.most})")
        if stride > 1:
            self._said.append(f"(declare-const times{here} Int)")
            self.say(f"(= {here} (+ {counter.start} (* {stride} times{here})))")

    def equal(self, weights: Mapping[str, int], total: int) -> None:
        """The weighted sum is so much."""
        self.say(f"(= {self._sum(weights)} {number(total)})")

    def one_of(self, options: Sequence[Inequality]) -> None:
        """One of the inequalities is true; none of none is."""
        self.say(any_of(f"(<= {self._sum(weights)} {number(most)})" for weights, most in options))

    def choice(self, sort: str = "Bool") -> Term:
        """Something that may be true or false; or, of another sort, an ``Int`` or ``Real``."""
        self._fresh += 1
        self._said.append(f"(declare-const choice{self._fresh} {sort})")
        return f"choice{self._fresh}"

    def less(self, counter: str, than: int) -> Term:
        """The counter is less than that."""
        return f"(< {self._counter[counter]} {number(than)})"

    def more(self, counter: str, than: int) -> Term:
        """The counter is more than that."""
        return f"(> {self._counter[counter]} {number(than)})"

    def has_no_answer(self, *more: Term) -> bool:
        """True if cvc5 proves that there are no such numbers of which this is true, too."""
        return never([*self._said, *(f"(assert {term})" for term in more)], self.logic)

    def _sum(self, weights: Mapping[str, int]) -> Term:
        parts = (f"(* {number(weight)} {self._counter[name]})" for name, weight in weights.items())
        return f"(+ 0 {' '.join(parts)})"
