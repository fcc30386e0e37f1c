"""A campaign: every case of a grid has its row, whatever ends the processes in between."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.fs as fs
import pytest
from click.testing import CliRunner

from checkvalve.conformance.cli.campaign import command
from checkvalve.conformance.engines.deaths import WorkerDied
from checkvalve.conformance.engines.local import run_locally
from checkvalve.conformance.campaigns.case import plan
from checkvalve.conformance.computer.storage import Place, place_at
from checkvalve.conformance.lots.config import Campaign, Unit, load
from checkvalve.conformance.lots.lock import LOCK, alone
from checkvalve.conformance.lots.run import Lot, run_campaign
from checkvalve.conformance.lots.store import Store
from checkvalve.conformance.suites.results import CaseRow
from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.verdicts.deadline import Deadline

GRID = """
[[runs]]
suites = ["queue"]
targets = ["reference", "zoo:silent-drop"]
seeds = 2
cases = 6
programs = 2
capacities = [2]
"""


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    """A grid of four units."""
    (tmp_path / "grid.toml").write_text(GRID)
    return load(tmp_path / "grid.toml")


def rows_of(unit: Unit, store: Store) -> list[CaseRow]:
    """All rows of a unit, in the order of their cases."""
    rows = [CaseRow(**line) for batch in store.read(unit) for line in batch.to_pylist()]
    return sorted(rows, key=lambda row: row.case)


def table_of(campaign: Campaign, store: Store) -> dict[str, list[CaseRow]]:
    """All rows of a campaign."""
    return {unit.id: rows_of(unit, store) for unit in campaign.units}


class Inline:
    """An engine in this process, which counts what it is given and dies at some cases."""

    def __init__(self, *deadly: int, stop_after: int = 10**9) -> None:
        self.deadly, self.stop_after = deadly, stop_after
        self.ran: list[int] = []

    def run(self, lot: Lot, store: Store) -> None:
        """Run a lot, or die, or be interrupted."""
        if any(task.place in self.deadly for task in lot):
            raise WorkerDied("it was ended")
        for task in lot:
            if len(self.ran) >= self.stop_after:
                raise KeyboardInterrupt
            self.ran.append(task.place)
            unit = task.unit
            case = plan(unit.suite, cases=task.place + 1, seed=unit.seed)[-1:]
            store.write(unit, run_locally(unit.suite, unit.target, case, unit.settings))


def run(campaign: Campaign, store: Store, engine: Inline) -> bool:
    """Run it to its end."""
    store.begin(campaign)
    return run_campaign(campaign, store, engine, Deadline())


def test_each_case_has_the_row_of_a_run_of_its_suite(campaign: Campaign, tmp_path: Path) -> None:
    """Of each unit: suite, target, seed and settings."""
    store = Store(tmp_path / "out")
    assert run(campaign, store, Inline())
    for unit in campaign.units:
        cases = plan(unit.suite, cases=unit.cases, seed=unit.seed)
        assert rows_of(unit, store) == run_locally(unit.suite, unit.target, cases, unit.settings)


def test_what_was_cut_off_anywhere_ends_with_the_same_table(
    campaign: Campaign, tmp_path: Path
) -> None:
    """No case is run twice."""
    whole, cut = Store(tmp_path / "whole"), Store(tmp_path / "cut")
    assert run(campaign, whole, Inline())
    engines = [Inline(stop_after=5), Inline(stop_after=9), Inline()]
    for engine in engines[:2]:
        with pytest.raises(KeyboardInterrupt):
            run(campaign, cut, engine)
    assert run(campaign, cut, engines[2])
    assert table_of(campaign, cut) == table_of(campaign, whole)
    assert sum(len(engine.ran) for engine in engines) == campaign.cases


def test_a_case_that_ends_its_process_three_times_is_set_apart_and_all_others_have_rows(
    campaign: Campaign, tmp_path: Path
) -> None:
    """It is not tried when the campaign is run again."""
    store = Store(tmp_path / "out")
    assert run(campaign, store, Inline(4))
    assert all(list(places) == ["4"] and places["4"].endswith("it was ended")
               for places in store.apart().values())
    assert [row.case for row in rows_of(campaign.units[0], store)] == [0, 1, 2, 3, 5]
    again = Inline()
    assert run(campaign, store, again) and again.ran == []


@pytest.mark.parametrize("kind", ["mock", "subtree"])
def test_a_folder_at_a_url_is_one_as_on_this_machine(
    kind: str, campaign: Campaign, tmp_path: Path
) -> None:
    """A campaign that was cut off continues there, its cases apart stay so, another plan is
    refused; also where a file is there before it is whole, and is moved when it is."""
    here = fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem())
    files = {"mock": fs.FileSystem.from_uri("mock:///x")[0], "subtree": here}[kind]
    whole, there = Store(tmp_path / "whole"), Store(Place(files, "bucket/out", "s3a://bucket/out"))
    assert run(campaign, whole, Inline(4))
    with pytest.raises(KeyboardInterrupt):
        run(campaign, there, Inline(4, stop_after=5))
    again = Inline(4)
    assert run(campaign, there, again) and len(again.ran) == campaign.cases - 4 - 5
    assert table_of(campaign, there) == table_of(campaign, whole)
    assert (there.apart(), there.rows.url) == (whole.apart(), "s3a://bucket/out/rows")
    assert (there.folder / "rows").names() == (whole.folder / "rows").names()
    campaign.path.write_text(GRID.replace("cases = 6", "cases = 7"))
    with pytest.raises(InputError, match="another campaign") as told:
        there.begin(load(campaign.path))
    assert told.value.where == "s3a://bucket/out/plan.json"


@pytest.mark.parametrize(("named", "what"), [
    ("dbfs:/x", "cannot be opened"), ("s3a://", "names no folder"), ("", "is empty"),
    ("file://host/x", "no folder of this machine"), ("\udcff", "not UTF-8"),
])
def test_a_place_that_nothing_can_be_put_into_is_refused(named: str, what: str) -> None:
    """Before anything is run."""
    with pytest.raises(InputError, match=what) as told:
        place_at(named)
    assert told.value.next_step


def test_a_key_in_a_url_is_not_shown() -> None:
    """Neither one of its query nor a password."""
    place = place_at("s3a://me:key@b/x?region=eu-west-1&endpoint_override=127.0.0.1:9") / "rows"
    assert str(place) == place.url == "s3a://me:…@b/x/rows"
    assert (place.files.type_name, place.path) == ("s3", "b/x/rows")


def test_a_url_of_this_machine_is_its_path(tmp_path: Path, campaign: Campaign) -> None:
    """A space in it is encoded, as in all URLs."""
    out = tmp_path / "a b"
    store = Store(out.as_uri())
    store.begin(campaign)
    assert (out / "plan.json").is_file() and store.folder.path == str(out)


def test_a_target_that_fails_alike_in_the_first_cases_is_asked_no_more(tmp_path: Path) -> None:
    """The report says so, and the exit code is that of a target that failed."""
    config = tmp_path / "dead.toml"
    config.write_text('[[runs]]\nsuites = ["queue"]\ntargets = ["command:false"]\ncases = 9\n')
    found = CliRunner().invoke(command, [str(config), "--out", str(tmp_path / "o"), "--json"],
                               standalone_mode=False)
    (unit,) = json.loads(found.output)["units"]
    assert (found.return_value, unit["verdict"], unit["given_up"]) == (69, "error", True)
    assert (unit["by_verdict"], unit["missing"]) == ({"error": 3}, 6)


def until_first_rows(folder: Path, ran: subprocess.Popen[Any]) -> Iterator[None]:
    """Wait until some rows are there, or the campaign has ended."""
    while ran.poll() is None and not [*folder.glob("rows/*/lot-*.parquet")]:
        yield


def test_a_campaign_whose_process_is_killed_goes_on_where_it_stopped(
    campaign: Campaign, tmp_path: Path
) -> None:
    """By the same command; its code is that of what was found."""
    out = tmp_path / "out"
    words = [sys.executable, "-m", "checkvalve.conformance.cli", "campaign", str(campaign.path),
             "--out", str(out)]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, start_new_session=True) as ran:
        for _ in until_first_rows(out, ran):
            time.sleep(0.02)
        os.killpg(ran.pid, signal.SIGKILL)
    store, whole = Store(out), Store(tmp_path / "whole")
    found = CliRunner().invoke(command, [*words[4:]], standalone_mode=False)
    assert found.return_value == 1 and "24 of 24 cases in 4 units" in found.output
    run(campaign, whole, Inline())
    assert table_of(campaign, store) == table_of(campaign, whole)


EVIL = """
import os, queue, signal

class Evil(queue.Queue):
    def __init__(self, capacity):
        super().__init__(capacity)
        os.kill(os.getppid(), signal.SIGKILL)
"""


def test_a_target_that_kills_the_process_of_its_case_has_it_set_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other targets of the campaign have their rows."""
    monkeypatch.chdir(tmp_path)
    Path("evil.py").write_text(EVIL)
    Path("grid.toml").write_text(GRID.replace("zoo:silent-drop", "thread:evil:Evil").replace(
        "cases = 6", "cases = 1").replace("seeds = 2", "seeds = 1"))
    found = CliRunner().invoke(command, ["grid.toml", "--out", "o", "--json"],
                               standalone_mode=False)
    sound, evil = json.loads(found.output)["units"]
    assert (found.return_value, evil["verdict"], [*evil["apart"]]) == (69, "error", ["0"])
    assert sound["by_verdict"] == {"passed": 1}


@pytest.mark.spark
def test_a_cluster_writes_the_rows_that_are_written_here(
    campaign: Campaign, tmp_path: Path
) -> None:
    """Its executors do, and it continues with what is missing."""
    here, there = Store(tmp_path / "here"), Store(tmp_path / "there")
    run(campaign, here, Inline())
    with pytest.raises(KeyboardInterrupt):
        run(campaign, there, Inline(stop_after=7))
    words = [str(campaign.path), "--out", str(there.folder), "--engine", "spark", "--master",
             "local[2]"]
    found = CliRunner().invoke(command, words, standalone_mode=False)
    assert found.return_value == 1, found.output
    assert table_of(campaign, there) == table_of(campaign, here)


@pytest.mark.parametrize(("changed", "line", "what"), [
    (GRID.replace("suites", "suite"), 3, "there is no key `suite` here"),
    (GRID.replace('"queue"', '"quue"'), 3, "quue"),
    (GRID.replace("zoo:silent-drop", "zoo:loud-drop"), 4, "loud-drop"),
    (GRID.replace("cases = 6", "cases = 0"), 6, "`cases` must be a whole number"),
    (GRID.replace("capacities = [2]", "capacities = []"), 8, "`capacities` must be a list"),
    (GRID.replace("seeds = 2", 'seeds = "two"'), 5, "`seeds` must be a list"),
    (GRID.replace("programs = 2", "programs = 999999"), 7, "programs must be a whole number"),
    (GRID + "max_states = 99999999\n", 9, "`max_states` must be a whole number"),
    (GRID + "[runs.known]\ndeque = [\"QUEUE-1\"]\n", 9, "not among the targets"),
    (GRID + "[runs.known]\nreference = [\"QUEUE-99\"]\n", 10, "QUEUE-99"),
    (GRID + GRID, 0, "is listed twice"),
    ("", 0, "nothing is listed here"),
    ("[[runs]\n", 1, "this is not TOML"),
])
def test_a_mistake_in_the_file_is_told_with_its_line(
    changed: str, line: int, what: str, tmp_path: Path
) -> None:
    """And nothing is run."""
    path = tmp_path / "grid.toml"
    path.write_text(changed)
    with pytest.raises(InputError) as told:
        load(path)
    assert what in str(told.value)
    assert told.value.where == (f"{path}:{line}" if line else str(path))


def test_a_folder_of_something_else_is_left_alone(campaign: Campaign, tmp_path: Path) -> None:
    """Also one of a campaign with other settings."""
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").write_text("precious")
    with pytest.raises(InputError, match="no campaign"):
        Store(tmp_path / "other").begin(campaign)
    Store(tmp_path / "out").begin(campaign)
    campaign.path.write_text(GRID.replace("cases = 6", "cases = 7"))
    with pytest.raises(InputError, match="another campaign"):
        Store(tmp_path / "out").begin(load(campaign.path))


def test_a_file_that_is_not_whole_is_named(campaign: Campaign, tmp_path: Path) -> None:
    """The message says what to do about it."""
    store = Store(tmp_path / "out")
    run(campaign, store, Inline())
    path = Path(store.files(campaign.units[0])[0].path)
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(InputError) as told:
        run(campaign, store, Inline())
    assert told.value.where == str(path) and "Remove the file" in str(told.value)


def begun(tmp_path: Path) -> Path:
    """The file of a campaign of one case, which has a folder."""
    path = tmp_path / "one.toml"
    path.write_text('[[runs]]\nsuites = ["queue"]\ntargets = ["reference"]\nseeds = 1\ncases = 1\n'
                    'programs = 1\ncapacities = [1]\n')
    Store(tmp_path / "rows").begin(load(path))
    return path


def test_two_runs_in_one_folder_do_not_meet(tmp_path: Path) -> None:
    """The second one says whose run there is, and what to do."""
    path = begun(tmp_path)
    with alone(place_at(str(tmp_path / "rows"))), pytest.raises(
            InputError, match=f"process {os.getpid()} on ") as told:
        CliRunner().invoke(command, [str(path), "--out", str(tmp_path / "rows")],
                           standalone_mode=False, catch_exceptions=False)
    assert "Wait until it ends" in str(told.value)


@pytest.mark.parametrize(("left", "is_met"), [
    ({"pid": 1 << 22, "host": socket.gethostname()}, True), ({}, True),
    ({"pid": 7, "host": "elsewhere"}, False)])
def test_what_a_killed_run_left_is_met(tmp_path: Path, left: dict[str, Any], is_met: bool) -> None:
    """The lock went with its process; of another machine's process that is not certain."""
    folder = place_at(str(tmp_path))
    (tmp_path / LOCK).write_text(json.dumps(left))
    if is_met:
        with alone(folder):
            assert json.loads((tmp_path / LOCK).read_text())["pid"] == os.getpid()
        assert (tmp_path / LOCK).read_text() == ""
    else:
        with pytest.raises(InputError, match="process 7 on elsewhere"), alone(folder):
            pass
