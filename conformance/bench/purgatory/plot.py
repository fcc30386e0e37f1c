"""The figure: achieved against target rate, and the use of the processor, for each case.

An SVG without scripts or fonts of its own. What stands in the column beyond the axis are the runs
without a target.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from math import floor, log10
from typing import Any

__all__ = ["draw", "ticks"]

WIDTH, HEIGHT = 960, 800
LEFTS, TOPS = (80, 552), (136, 478)
PANEL_WIDTH, PANEL_HEIGHT = 384, 250
AXIS = 300  # from a panel's left edge to the last tick
UNBOUNDED = 347  # and to the middle of the column for runs without a target

COLOURS = {"asyncio timers": "#8a96a3", "old purgatory": "#c8501e", "new purgatory": "#1768ac"}
"""In the order in which they are drawn: the last is on top."""

_STYLE = """
text { font: 12.5px system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif; fill: #1f2933; }
.title { font-size: 18px; font-weight: 600; }
.panel { font-size: 14px; font-weight: 600; }
.small { font-size: 11.5px; fill: #52606d; }
.middle { text-anchor: middle; }
.end { text-anchor: end; }
.grid { stroke: #e4e7eb; }
.axis { stroke: #7b8794; }
.aside { fill: #f5f7fa; }
.ideal { stroke: #9aa5b1; stroke-dasharray: 2 4; stroke-width: 1.3; }
.line { fill: none; stroke-width: 2.2; stroke-linejoin: round; }
.dot { stroke: #ffffff; stroke-width: 1.2; }
"""

Point = tuple[float | None, float]
Lines = Mapping[str, Sequence[Point]]


def ticks(largest: float, about: int = 6) -> list[float]:
    """Round numbers from 0 to the first that is not below ``largest``, some ``about`` of them."""
    if largest <= 0:
        return [0.0, 1.0]
    rough = largest / about
    power = 10.0 ** floor(log10(rough))
    step = next(power * digit for digit in (1, 2, 2.5, 5, 10) if power * digit >= rough)
    count = 1
    while count * step < largest * (1 - 1e-9):
        count += 1
    return [step * number for number in range(count + 1)]


def draw(document: Mapping[str, Any]) -> str:
    """The SVG text for what ``--json`` writes (see ``report.document``)."""
    rows = [row for row in document["rows"] if row["mode"] == "real"]
    cases = list(dict.fromkeys(row["case"] for row in rows))
    expired = {row["case"]: row["expected_expired"] for row in rows}
    body = [
        _text(LEFTS[0] - 48, 34, "Enqueueing into the request purgatory", "title"),
        _text(LEFTS[0] - 48, 56, _conditions(document), "small"),
        *_legend(),
    ]
    for left, case in zip(LEFTS, cases, strict=False):
        title = f"{case} timeout rate ({expired[case]:.1%} of the requests)"
        body += _Panel(title, "achieved rate, 1,000 requests/s",
                       _lines(rows, case, _achieved), True, (left, TOPS[0])).elements()
        body += _Panel("", "processor use, cores",
                       _lines(rows, case, _cores), False, (left, TOPS[1])).elements()
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
        "<title>Achieved against target rate of the new and the old request purgatory</title>",
        f"<style>{_STYLE}</style>", '<rect width="100%" height="100%" fill="#ffffff"/>',
        *body, "</svg>", "",
    ])


def _conditions(document: Mapping[str, Any]) -> str:
    settings = document["settings"]
    return (f"Timeout {settings['timeout']} ms, tick {settings['tick']} ms, wheels of "
            f"{settings['wheel_size']}, {settings['keys']} keys, {settings['size']} bytes; "
            f"medians of {document['plan']['repeats']}; one thread of "
            f"{document['machine']['python']}; {document['machine']['processor']}")


def _legend() -> Iterator[str]:
    left = LEFTS[0]
    for name, colour in reversed(COLOURS.items()):
        yield _line("line", left, 84, left + 26, 84, f' stroke="{colour}"')
        yield _dot(left + 13, 84, colour)
        yield _text(left + 34, 88, name)
        left += 160
    yield _line("ideal", left, 84, left + 26, 84)
    yield _text(left + 34, 88, "target met")


def _achieved(row: Mapping[str, Any]) -> float:
    return float(row["rate"]) / 1000


def _cores(row: Mapping[str, Any]) -> float:
    """Processor seconds a second; the last requests are complete a timeout after they came."""
    return float(row["cpu_seconds"] / row["all_seconds"])


def _lines(rows: Sequence[Mapping[str, Any]], case: str, figure: Any) -> Lines:
    return {
        name: [(None if row["target"] is None else row["target"] / 1000, figure(row))
               for row in rows if row["case"] == case and row["contender"] == name]
        for name in COLOURS
    }


class _Panel:
    """One diagram of figures against targets, in 1,000 requests a second."""

    def __init__(
        self, title: str, unit: str, lines: Lines, ideal: bool, place: tuple[float, float],
    ) -> None:
        targets = [x for points in lines.values() for x, _ in points if x is not None]
        figures = [y for points in lines.values() for _, y in points]
        self._across = ticks(max(targets, default=1.0))
        self._up = ticks(1.04 * max(figures, default=1.0))
        self._title, self._unit, self._lines, self._ideal = title, unit, lines, ideal
        self._left, self._top = place

    def elements(self) -> Iterator[str]:
        """From the back to the front."""
        yield from self._grid()
        yield from self._words()
        if self._ideal:
            reach = min(self._across[-1], self._up[-1])
            yield _line("ideal", self._x(0), self._y(0), self._x(reach), self._y(reach))
        for name, points in self._lines.items():
            yield from self._series(COLOURS[name], points)

    def _x(self, target: float | None) -> float:
        if target is None:
            return self._left + UNBOUNDED
        return self._left + AXIS * target / self._across[-1]

    def _y(self, figure: float) -> float:
        return self._top + PANEL_HEIGHT * (1 - figure / self._up[-1])

    def _grid(self) -> Iterator[str]:
        bottom, right = self._top + PANEL_HEIGHT, self._left + PANEL_WIDTH
        aside = self._left + AXIS + 10
        yield (f'<rect class="aside" x="{aside:.1f}" y="{self._top:.1f}" '
               f'width="{right - aside:.1f}" height="{PANEL_HEIGHT}"/>')
        for tick in self._up:
            yield _line("grid" if tick else "axis", self._left, self._y(tick), right, self._y(tick))
            yield _text(self._left - 8, self._y(tick) + 4, _number(tick), "end")
        for tick in self._across:
            yield _line("grid" if tick else "axis", self._x(tick), self._top, self._x(tick), bottom)
            yield _text(self._x(tick), bottom + 18, _number(tick), "middle")
        yield _text(self._x(None), bottom + 18, "no target", "small middle")

    def _words(self) -> Iterator[str]:
        bottom = self._top + PANEL_HEIGHT
        yield _text(self._left, self._top - 14, self._title, "panel")
        yield _text(self._left + AXIS / 2, bottom + 38, "target rate, 1,000 requests/s",
                    "small middle")
        x, y = self._left - 48, self._top + PANEL_HEIGHT / 2
        yield (f'<text class="small middle" transform="translate({x:.1f} {y:.1f}) rotate(-90)">'
               f"{escape(self._unit)}</text>")

    def _series(self, colour: str, points: Sequence[Point]) -> Iterator[str]:
        along = " ".join(f"{self._x(x):.1f},{self._y(y):.1f}" for x, y in points if x is not None)
        if along:
            yield f'<polyline class="line" stroke="{colour}" points="{along}"/>'
        for x, y in points:
            yield _dot(self._x(x), self._y(y), colour)


def _number(value: float) -> str:
    return f"{value:g}"


def _text(x: float, y: float, words: str, kind: str = "") -> str:
    mark = f' class="{kind}"' if kind else ""
    return f'<text{mark} x="{x:.1f}" y="{y:.1f}">{escape(words)}</text>'


def _line(kind: str, x1: float, y1: float, x2: float, y2: float, more: str = "") -> str:
    return (f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
            f"{more}/>")


def _dot(x: float, y: float, colour: str) -> str:
    return f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="4.2" fill="{colour}"/>'
