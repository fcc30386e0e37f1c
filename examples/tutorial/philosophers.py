"""Three philosophers share three forks. Each takes the left one first: they deadlock.

Try it: checkvalve verify philosophers.py --traces
"""

from checkvalve.spec.notation import (
    MUST, Machine, action, array, boolean, const, leads_to, never_stuck, require, upto,
)


class Table(Machine):
    """Philosopher i sits between fork i (left) and fork i + 1 (right)."""

    N = const(3, at_least=2)                    # philosophers, and forks

    taken = array(upto(N), boolean())           # forks
    left = array(upto(N), boolean())            # those that hold the left fork
    eating = array(upto(N), boolean())          # those that hold both

    @action(fair=True, i=upto(N))
    def take_left(self, i: int) -> None:
        """A hungry philosopher takes the left fork."""
        require(not self.left[i] and not self.taken[i])
        self.taken[i] = True
        self.left[i] = True

    @action(fair=True, i=upto(N))
    def take_right(self, i: int) -> None:
        """With the left fork in hand, the right one."""
        right = (i + 1) % self.N
        require(self.left[i] and not self.eating[i] and not self.taken[right])
        self.taken[right] = True
        self.eating[i] = True

    @action(fair=True, i=upto(N))
    def put_down(self, i: int) -> None:
        """Done eating, both forks go back."""
        require(self.eating[i])
        self.taken[i] = False
        self.taken[(i + 1) % self.N] = False
        self.left[i] = False
        self.eating[i] = False

    @never_stuck("TABLE-1", MUST, "The table never deadlocks.", source="Dijkstra 1971")
    def nobody_rests(self) -> bool:
        """Philosophers are always hungry or eating."""
        return False

    @leads_to("TABLE-2", MUST, "A fork's holder will eat.", source="Dijkstra 1971", i=upto(N))
    def holder_eats(self, i: int) -> tuple[bool, bool]:
        """No philosopher starves with a fork in hand."""
        return self.left[i], self.eating[i]


class OneLeftHander(Table):
    """The last philosopher takes the right fork first: the cycle is broken."""

    @action(fair=True, i=upto(Table.N))
    def take_left(self, i: int) -> None:
        """The first fork: the left one, but for the last philosopher."""
        first = 0 if i == self.N - 1 else i
        require(not self.left[i] and not self.taken[first])
        self.taken[first] = True
        self.left[i] = True

    @action(fair=True, i=upto(Table.N))
    def take_right(self, i: int) -> None:
        """The second fork."""
        second = i if i == self.N - 1 else (i + 1) % self.N
        require(self.left[i] and not self.eating[i] and not self.taken[second])
        self.taken[second] = True
        self.eating[i] = True
