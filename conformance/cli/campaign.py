"""``checkvalve campaign``: suites on targets with many seeds and settings, kept and resumed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.notation.labels import counted

from ..computer.progress import watched
from .options import Seconds, memory_option, quiet_option
from .outcome import EXPECTED, TARGET_FAILED, UNKNOWN, VIOLATED
from .place import engine_of, place_options

if TYPE_CHECKING:
    from ..engines.conduct import Engine
    from ..lots.answer import Answer
    from ..lots.config import Campaign
    from ..lots.run import Ran
    from ..lots.store import Store
    from ..computer.storage import Place

__all__ = ["command"]

_APART_SHOWN = 6
_CODES = {"violated": VIOLATED, "error": TARGET_FAILED, "unknown": UNKNOWN, "not shown": UNKNOWN,
          "passed": EXPECTED}


@click.command("campaign")
@click.argument("config", type=click.Path(path_type=Path))
@click.option("--out", required=True, metavar="DIR",
              help="The folder of the rows, a path or a URL (s3a://…, gs://…, abfs://…, hdfs://…). "
                   "A campaign that was cut off continues there; on a cluster, all its nodes and "
                   "this machine reach it by that name.")
@click.option("--max-seconds", type=Seconds(),
              help="Begin no lot after this many seconds; run it again to continue.")
@memory_option
@place_options
@quiet_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(
    config: Path, out: str, max_seconds: float | None, quiet: bool, as_json: bool, **where: Any
) -> int:
    """Run all that CONFIG lists: suites, targets, seeds and capacities, each with each.

    \b
    [[runs]]
    suites = ["queue"]
    targets = ["reference", "thread:my.module:MyQueue"]
    seeds = 10              # 0 to 9; or a list
    cases = 1000            # of each: a case tries some twenty programs
    capacities = [1, 100]   # left out: those of the suite in turn

    Rows are written lot by lot. A campaign that was cut off, by whatever, continues where it
    stopped, and ends with the same table as one that was not. A case that ends its process three
    times is set apart.

    Exit code as of conform, the gravest of all; 2 if cases are missing.
    """
    from checkvalve.spec.verdicts.deadline import Deadline

    from ..lots.config import load
    from ..lots.lock import alone
    from ..lots.run import run_campaign
    from ..lots.store import Store

    campaign, engine = load(config), engine_of(**where)
    import_module("pyarrow.parquet")    # before a folder is made that nothing can be put into
    store = Store(out)
    store.begin(campaign)
    with alone(store.folder):
        store.begin(campaign)       # another one may have begun meanwhile
        with watched(f"campaign {config.name}"), _opened(engine) as ran:
            run_campaign(campaign, store, ran, Deadline(max_seconds))
        return _tell(campaign, store, quiet, as_json)


@contextmanager
def _opened(engine: Engine) -> Iterator[Ran]:
    """Open the processes here, or the cluster once its executors have shown that they work."""
    if engine.master is None:
        from ..lots.here import Here

        with Here(engine.jobs) as here:
            yield here
        return
    from ..engines.spark import check_executors
    from ..lots.cluster import Cluster

    with engine.opened() as opened:
        if opened.session is None:
            raise InputError("there is no session on the cluster")
        check_executors(opened.session)
        yield Cluster(opened.session, opened.partitions)


def _tell(campaign: Campaign, store: Store, quiet: bool, as_json: bool) -> int:
    """Print what the rows come to, and write the shortest failure of each rule; the exit code."""
    from ..lots.answer import answers

    codes, told, total = set[int](), list[dict[str, Any]](), 0
    for answer in answers(campaign, store):
        saved = _save(answer, store.folder / "fixtures")
        codes.add(_CODES[answer.verdict])
        total += sum(answer.by_verdict.values())
        if as_json:
            told.append(answer.to_json(saved))
        elif not quiet or answer.verdict != "passed":
            for line in _lines(answer, saved):
                click.echo(line)
    code = next((code for code in (VIOLATED, TARGET_FAILED, UNKNOWN) if code in codes), EXPECTED)
    if as_json:
        click.echo(json.dumps({"exit_code": code, "cases": total, "units": told}, indent=1,
                              ensure_ascii=False))
    else:
        click.echo(f"{total:,} of {counted(campaign.cases, 'case')} in "
                   f"{counted(len(campaign.units), 'unit')}; rows: {store.rows}")
    return code


def _save(answer: Answer, folder: Place) -> dict[str, str]:
    """Write the fixtures of a unit into a folder of its own; the path of each by its rule."""
    from ..campaigns.saving import fixture_name

    saved = {}
    for result in answer.summary.results:
        if result.fixture is not None:
            place = folder / answer.unit.id / fixture_name(result.fixture, answer.unit.target)
            place.write(result.fixture.to_json().encode())
            saved[result.rule.id] = str(place)
    return saved


def _lines(answer: Answer, saved: Mapping[str, str]) -> Iterator[str]:
    """A unit in words: its verdict, what is broken and how to replay it, what was set apart."""
    from ..campaigns.saving import replay_command

    summary = answer.summary
    verdicts = ", ".join(f"{count:,} {verdict}" for verdict, count in answer.by_verdict.items())
    yield f"{answer.unit.name}: {answer.verdict} ({verdicts or 'no rows'})"
    for result in summary.results:
        if result.rule.id in saved:
            yield f"  {result.rule.id} {result.verdict}: {result.message}"
            yield f"    {replay_command(saved[result.rule.id], answer.unit.target)}"
    for reason, ids in summary.not_shown.items():
        yield f"  not shown ({reason}): {', '.join(ids)}"
    if summary.error:
        yield f"  the target failed: {summary.error}"
    for place, why in [*answer.apart.items()][:_APART_SHOWN]:
        yield f"  case {place} is set apart, {why}"
    if len(answer.apart) > _APART_SHOWN:
        yield f"  and {len(answer.apart) - _APART_SHOWN} more; apart.json has them"
    if answer.missing:
        why = "the first failed alike" if answer.given_up else "run it again to continue"
        yield f"  {counted(answer.missing, 'case')} not run: {why}"
