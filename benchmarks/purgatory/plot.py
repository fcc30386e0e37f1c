"""The figure: achieved against target rate, and the use of the processor, for each case.

An SVG without scripts. What stands in the grey column beyond the axis are the runs without a
target.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from io import StringIO
from typing import TYPE_CHECKING, Any

from checkvalve.spec.notation.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["COLOURS", "draw", "figure_of"]

COLOURS = {"asyncio timers": "#8a96a3", "old purgatory": "#c8501e", "new purgatory": "#1768ac"}
"""In the order in which they are drawn: the last is on top."""

_LOOKS = {
    "svg.fonttype": "none", "svg.hashsalt": "checkvalve",  # text stays text; the same each time
    "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True,
    "grid.color": "#e4e7eb", "axes.edgecolor": "#7b8794", "font.size": 9.5,
}
_BEYOND = 1.16  # where the runs without a target stand, in parts of the largest target

Row = Mapping[str, Any]


def draw(document: Mapping[str, Any]) -> str:
    """The SVG text for what ``--json`` writes (see ``report.document``).

    Raises InputError where matplotlib is not installed.
    """
    matplotlib = _matplotlib()
    text = StringIO()
    with matplotlib.rc_context(_LOOKS):
        figure_of(document).savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()


def figure_of(document: Mapping[str, Any]) -> Figure:
    """Two diagrams for each case, one above the other."""
    _matplotlib()
    from matplotlib.figure import Figure
    rows = [row for row in document["rows"] if row["mode"] == "real"]
    expired = {row["case"]: row["expected_expired"] for row in rows}
    figure = Figure(figsize=(10, 8), layout="constrained")
    axes = figure.subplots(2, max(1, len(expired)), squeeze=False)
    for column, case in enumerate(expired):
        here = [row for row in rows if row["case"] == case]
        above, below = axes[0][column], axes[1][column]
        above.set_title(f"{case} timeout rate ({expired[case]:.1%} of the requests)", loc="left")
        _panel(above, here, _achieved, "achieved rate, 1,000 requests/s")
        _panel(below, here, _cores, "processor use, cores")
        reach = max((row["target"] or 0) for row in here) / 1000
        above.plot([0, reach], [0, reach], ":", color="#9aa5b1", label="target met", zorder=1)
    figure.suptitle(f"Enqueueing into the request purgatory\n{_conditions(document)}", fontsize=10)
    figure.legend(*axes[0][0].get_legend_handles_labels(), loc="outside lower center",
                  ncols=len(COLOURS) + 1, frameon=False)
    return figure


def _panel(axes: Axes, rows: Sequence[Row], figure: Callable[[Row], float], unit: str) -> None:
    """Figures against targets, in 1,000 requests a second."""
    largest = max(((row["target"] or 0) / 1000 for row in rows), default=1.0)
    beyond = _BEYOND * largest
    axes.axvspan((largest + beyond) / 2, 2 * beyond - (largest + beyond) / 2, color="#f5f7fa")
    for name, colour in COLOURS.items():
        mine = [row for row in rows if row["contender"] == name]
        aimed = [(row["target"] / 1000, figure(row)) for row in mine if row["target"] is not None]
        free = [figure(row) for row in mine if row["target"] is None]
        axes.plot(*_columns(aimed), "o-", color=colour, label=name, zorder=3)
        axes.plot([beyond] * len(free), free, "o", color=colour, zorder=3)
    marks = [mark for mark in axes.get_xticks() if 0 <= mark <= largest]
    axes.set_xticks([*marks, beyond], [*(f"{mark:g}" for mark in marks), "no target"])
    axes.set_xlim(0, 2 * beyond - (largest + beyond) / 2)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("target rate, 1,000 requests/s")
    axes.set_ylabel(unit)


def _columns(points: Sequence[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [x for x, _ in points], [y for _, y in points]


def _conditions(document: Mapping[str, Any]) -> str:
    settings = document["settings"]
    return (f"timeout {settings['timeout']} ms, tick {settings['tick']} ms, wheels of "
            f"{settings['wheel_size']}, {settings['keys']} keys, {settings['size']} bytes; "
            f"medians of {document['plan']['repeats']}; one thread of "
            f"{document['machine']['python']}; {document['machine']['processor']}")


def _achieved(row: Row) -> float:
    return float(row["rate"]) / 1000


def _cores(row: Row) -> float:
    """Processor seconds a second; the last requests are complete a timeout after they came."""
    return float(row["cpu_seconds"] / row["all_seconds"])


def _matplotlib() -> Any:
    try:
        import matplotlib
    except ImportError:
        raise InputError("a figure is drawn by matplotlib, which is not installed",
                         next_step="Install checkvalve[dev], or leave out --svg.") from None
    return matplotlib
