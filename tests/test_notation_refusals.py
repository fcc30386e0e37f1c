"""A construct that the notation does not have is refused with file, line and the next step."""

from __future__ import annotations

import pytest
from random_machines import define

from checkvalve.spec.notation import InputError, NotationError, bind

HEAD = (
    "from checkvalve.spec.notation import *\n"
    "class Random(Machine):\n"
    "    C = const(2, at_least=1)\n"
)
STATE = "    a = integer(0, C)\n    q = fifo(integer(0, 1), C)\n    @action\n    def act(self):\n"

REFUSED = {
    "while self.a > 0: self.a -= 1": "While",
    "self.a = self.missing": "no attribute missing",
    "self.a = sorted([1])[0]": "sorted",
    "x = [y for y in range(self.a)][0:1]": "ListComp",
    "self.a = self.q[0:1]": "slices",
    "try:\n            pass\n        except ValueError: pass": "Try",
    "for i in range(3):\n            break": "left early",
    "self.a = 1 / 2": "Div",
    "lambda: 1": "Lambda",
    "if self.a: x = 1\n        self.a = x": "name x is not known",
    "self.a = 1 if self.q.pop() else 0": "1 if",
    "import os": "Import",
    "self.act()": "calls itself",
    "self.q = 3": "another kind",
    "unknown(3)": "unknown",
    "self.a = abs(self.a, 1)": "takes other arguments",
    "self.a = abs()": "takes other arguments",
    "self.a = int(self.a, 2)": "takes other arguments",
    "self.a = sum([1, 1], 0)": "takes other arguments",
    "self.a = int(any(self.a > 1, self.a < 1))": "takes other arguments",
    "self.a = min(*self.q)": "takes other arguments",
    "self.a = min(1, 2, default=0)": "takes no default",
    "self.a = max(self.q, default=0, key=abs)": "takes no key",
    "self.a = int(x=1)": "takes other arguments",
    "require()": "takes other arguments",
}


@pytest.mark.parametrize("statement", [s for s in REFUSED if "pop" not in s])
def test_a_construct_outside_the_subset_is_refused_at_its_line(statement: str) -> None:
    """The error is the author's, names what is not allowed, and where it stands."""
    machine = define(HEAD + STATE + f"        {statement}\n")
    with pytest.raises(NotationError, match=REFUSED[statement]) as found:
        bind(machine).model  # noqa: B018 - lowering happens on access
    file, _, line = found.value.where.rpartition(":")
    assert file.startswith("<random machine") and int(line) >= 7
    assert found.value.fault == "input"


def test_an_effect_in_an_operand_that_may_not_be_evaluated_is_refused() -> None:
    """``x or q.pop()`` would pop only sometimes, which the functional form cannot show."""
    machine = define(HEAD + STATE + "        require(self.a > 0 or self.q.pop() > 0)\n")
    with pytest.raises(NotationError, match="cannot have effects"):
        bind(machine).model  # noqa: B018


@pytest.mark.parametrize(("constants", "message"), [
    ({"C": 0}, "at least 1"), ({"D": 1}, "no constant D"), ({"C": "two"}, "whole number"),
])
def test_constants_out_of_range_are_the_inputs_fault(
    constants: dict[str, object], message: str
) -> None:
    """A wrong constant gives one message that names the machine and what it allows."""
    machine = define(HEAD + STATE + "        self.a = 0\n")
    with pytest.raises(InputError, match=message):
        bind(machine, **constants)


def test_assumptions_between_constants_are_enforced() -> None:
    """A combination that the machine excludes is refused by name."""
    from checkvalve.spec.flow.credit import Link
    with pytest.raises(InputError, match="no more is lost than there is"):
        bind(Link, C=2, L=3)
