"""The explorer beside SPIN, a program in C, and minicheck: ``make bench-peers``.

All search the same states of the same models, in turn, several times. Compared are medians, of the
processor's seconds for one thread, and of the clock's seconds for two.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from statistics import median

from checkvalve.spec.engines.native import explore
from checkvalve.spec.engines.native.jit import compile_model
from checkvalve.spec.engines.search import check_rules, instances
from checkvalve.spec.notation import InternalError
from checkvalve.spec.verdicts.verdict import Budget

from .models import MODELS, SearchModel
from .programs import PAN_FLAGS, PEERS, Time

__all__ = ["compare", "main"]

REPEATS = 3


def _explorer(model: SearchModel, threads: int) -> tuple[Callable[[], Time], int]:
    """What runs the explorer on a model, and the transitions that the model has."""
    lowered = model.machine().model

    def run() -> Time:
        began = time.process_time()
        compile_model(lowered, (), threads)
        compiled = time.process_time()
        result = explore(lowered, (), Budget(threads=threads))
        if result.states != model.states:
            raise InternalError(f"the explorer found {result.states} states")
        both = time.process_time() - compiled  # compiling again, and searching
        return Time(result.seconds, both - (compiled - began))

    return run, explore(lowered, (), Budget(threads=1)).transitions


def compare(model: SearchModel, repeats: int) -> None:
    """Print a table: each program so many times, one after the other and again."""
    one, transitions = _explorer(model, 1)
    runs = {"checkvalve, 1 thread": (one, repeats),
            "checkvalve, 2 threads": (_explorer(model, 2)[0], repeats)}
    remarks = [f"{peer.name}: {absent}" for peer in PEERS if (absent := peer.missing())]
    times: dict[str, list[Time]] = {}
    with ExitStack() as stack:
        for peer in PEERS:
            if not peer.missing() and peer.knows(model):
                runs[peer.name] = stack.enter_context(peer(model)).run, peer.repeats
        for turn in range(repeats):
            for name, (run, most) in runs.items():
                if turn < most:
                    times.setdefault(name, []).append(run())
    print(f"{model.title}: {model.states:,} states, {transitions:,} transitions")
    _show(times, transitions)
    for remark in (*remarks, *_verdict(model)):
        print(remark)
    print(flush=True)


def _show(times: dict[str, list[Time]], transitions: int) -> None:
    print(f"{'':24}{'seconds':>10}{'cpu s':>10}{'M trans/s':>12}{'per cpu s':>12}"
          f"{'1 thread is':>14}{'2 threads are':>15}")
    ours, both = times["checkvalve, 1 thread"], times["checkvalve, 2 threads"]
    for name, row in times.items():
        seconds, cpu = (median(getattr(t, kind) for t in row)
                        for kind in ("seconds", "cpu_seconds"))
        print(f"{name:24}{seconds:10.2f}{cpu:10.2f}{transitions / seconds / 1e6:12.1f}"
              f"{transitions / cpu / 1e6:12.1f}"
              f"{_ratio(row, ours, 'cpu_seconds'):13.2f}x{_ratio(row, both, 'seconds'):14.2f}x")


def _ratio(theirs: Sequence[Time], ours: Sequence[Time], kind: str) -> float:
    """How many times as fast ours is: the median over the turns in which both ran."""
    ratios: list[float] = [getattr(other, kind) / getattr(own, kind)
                           for other, own in zip(theirs, ours, strict=False)]
    return median(ratios)


def _verdict(model: SearchModel) -> list[str]:
    """What the machine is asked about besides, and how long the whole verdict takes."""
    if model.asked is None:
        return []
    bound = model.asked()
    (found,) = check_rules(bound, list(instances(bound, model.rule)), Budget())
    steps = len(found.trace.steps) if found.trace else 0
    return [f"{model.rule} of {bound.machine.__name__}: {found.outcome.value} in {steps} steps, "
            f"{found.seconds:.2f} s"]


def main() -> None:
    """Read the arguments, then measure one model after the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="the smaller ring only, once")
    options = parser.parse_args()
    print(f"no time to compile is counted; SPIN by gcc {' '.join(PAN_FLAGS)}, and -DBFS for "
          "breadth first\n")
    for model in MODELS[:1] if options.quick else MODELS:
        compare(model, 1 if options.quick else REPEATS)


if __name__ == "__main__":
    main()
