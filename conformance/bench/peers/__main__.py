"""The explorer beside SPIN and a program in C: ``make bench-peers``.

All search the ring of ``bench/ring``, in turn, several times. Compared are medians, of the
processor's seconds for one thread, and of the clock's seconds for two.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from statistics import median

from checkvalve.spec.engines.native import explore
from checkvalve.spec.engines.native.jit import compile_model
from checkvalve.spec.verdicts.verdict import Budget
from checkvalve.spec.notation import InternalError

from ..ring import ring, states_of_ring
from .programs import PAN_FLAGS, ByHand, Peer, Size, Spin, Time, missing

__all__ = ["compare", "main"]

SIZES: tuple[Size, ...] = ((7, 2, 5), (6, 3, 9))
REPEATS = 3
PEERS: tuple[type[Peer], ...] = (Spin, ByHand)


def _explorer(size: Size, threads: int) -> tuple[Callable[[], Time], int]:
    """What runs the explorer on a ring, and the transitions that the ring has."""
    model = ring(*size).model

    def run() -> Time:
        began = time.process_time()
        compile_model(model, (), threads)
        compiled = time.process_time()
        result = explore(model, (), Budget(threads=threads))
        if result.states != states_of_ring(*size):
            raise InternalError(f"the explorer found {result.states} states")
        both = time.process_time() - compiled  # compiling again, and searching
        return Time(result.seconds, both - (compiled - began))

    return run, explore(model, (), Budget(threads=1)).transitions


def compare(size: Size, repeats: int) -> None:
    """Print a table: each program so many times, one after the other and again."""
    one, transitions = _explorer(size, 1)
    runs = {"checkvalve, 1 thread": one, "checkvalve, 2 threads": _explorer(size, 2)[0]}
    remarks = []
    for peer in PEERS:
        if absent := missing(*peer.needs):
            remarks.append(f"{peer.name}: {absent}")
        else:
            runs[peer.name] = peer(size).run
    times: dict[str, list[Time]] = {name: [] for name in runs}
    for _ in range(repeats):
        for name, run in runs.items():
            times[name].append(run())
    links, capacity, elements = size
    print(f"ring of {links} links, capacity {capacity}, {elements} elements: "
          f"{states_of_ring(*size):,} states, {transitions:,} transitions")
    _show(times, transitions)
    for remark in remarks:
        print(remark)
    print(flush=True)


def _show(times: dict[str, list[Time]], transitions: int) -> None:
    peers = {name: times[name] for name in times if not name.startswith("checkvalve")}
    print(f"{'':24}{'seconds':>10}{'cpu s':>10}{'M trans/s':>12}{'per cpu s':>12}", end="")
    print("".join(f"{'x ' + name.split(',')[0]:>16}" for name in peers))
    for name, row in times.items():
        seconds, cpu = (median(getattr(t, kind) for t in row)
                        for kind in ("seconds", "cpu_seconds"))
        kind = "seconds" if "2 threads" in name else "cpu_seconds"
        ratios = [median(getattr(theirs, kind) / getattr(ours, kind)
                         for ours, theirs in zip(row, other, strict=True))
                  for other in peers.values()]
        print(f"{name:24}{seconds:10.2f}{cpu:10.2f}{transitions / seconds / 1e6:12.1f}"
              f"{transitions / cpu / 1e6:12.1f}" + "".join(f"{ratio:15.2f}x" for ratio in ratios))


def main() -> None:
    """Read the arguments, then measure one ring after the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="the small ring only, once")
    options = parser.parse_args()
    print(f"no time to compile is counted; SPIN by gcc {' '.join(PAN_FLAGS)}\n")
    for size in SIZES[:1] if options.quick else SIZES:
        compare(size, 1 if options.quick else REPEATS)


if __name__ == "__main__":
    main()
