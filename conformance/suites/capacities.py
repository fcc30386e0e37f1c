"""The capacities of a suite as Markdown, for the ports' pages."""

from __future__ import annotations

from .suite import AnySuite

__all__ = ["capacities_table"]


def capacities_table(suite: AnySuite) -> str:
    """One row a capacity that cases take in turn: its settings of ``hello``, and the rules that
    are looked for with some capacities only, this one among them."""
    settings = [dict(suite.settings(capacity)) for capacity in suite.capacities]
    names = list(settings[0])
    rows = [f"| {' | '.join(f'`{name}`' for name in names)} | rules of some capacities only |",
            "|---|" + "---|" * len(names)]
    for capacity, chosen in zip(suite.capacities, settings, strict=True):
        only = [rule for rule, telling in suite.telling.items() if capacity in telling]
        rows.append(f"| {' | '.join(str(chosen[name]) for name in names)} "
                    f"| {', '.join(only) or 'none'} |")
    return "\n".join(rows)
