"""How fast the reference's workers are over TCP, and how long the halt-lag is.

``python -m benchmarks.storm`` runs word count on two processes, with
acknowledgements, freely and then with a receiver that rests. It ends by itself: the workers
have a deadline, and are killed soon after it.
"""

from __future__ import annotations

import argparse
from statistics import median

from checkvalve.reference.drivers.tcp import Measured, measure
from checkvalve.reference.storm.worker import Settings

__all__ = ["main", "row"]

HEADINGS = ("run", "seconds", "tuples", "tuples/s", "roots acked", "failed", "recvQ peak",
            "overflowQ peak", "episodes", "halt-lag p50", "halt-lag max")


def row(name: str, measured: Measured) -> list[str]:
    """The cells of one run; a dash where there was no backpressure."""
    lags = sorted(measured.halt_lags)
    shown = [f"{1000 * value:.2f} ms" for value in (median(lags), lags[-1])] if lags else ["-"] * 2
    return [name, f"{measured.seconds:.1f}", f"{measured.tuples:,}",
            f"{measured.tuples_per_second:,.0f}", f"{measured.acked:,}", str(measured.failed),
            str(measured.recvq_peak), str(measured.overflow_peak), str(len(lags)), *shown]


def show(cells: list[str] | tuple[str, ...]) -> None:
    """Print a line of the table."""
    print(cells[0].ljust(18) + "".join(cell.rjust(15) for cell in cells[1:]), flush=True)


def main() -> None:
    """Measure all settings, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=3.0, help="for each run")
    options = parser.parse_args()
    slow = Settings(capacity=32, transfer_capacity=1024, max_pending=0, per_round=16,
                    reminder=10_000, repeat=20)
    show(HEADINGS)
    show(row("free", measure(seconds=options.seconds)))
    show(row("slow receiver", measure(seconds=options.seconds, settings=slow, slow_seconds=0.002)))


if __name__ == "__main__":
    main()
