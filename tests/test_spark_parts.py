"""Parts of the Spark engine, as far as they need no Spark."""

from __future__ import annotations

import pickle
import socket
import subprocess
import sys
import zipfile
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkvalve.conformance.cli import root
from checkvalve.conformance.cli.outcome import run
from checkvalve.conformance.campaigns.case import RunSettings, plan
from checkvalve.conformance.engines.deaths import WorkerDied
from checkvalve.conformance.engines.cluster import SUPERVISE, StandaloneCluster
from checkvalve.conformance.engines.local import row_of, run_locally
from checkvalve.conformance.engines.seal import seal_of
from checkvalve.conformance.engines.session import check_master, explain, within
from checkvalve.conformance.engines.shipping import check_shippable, pack, pack_folder
from checkvalve.conformance.engines.table import (
    KEY, arrow_schema, read_rows, rows_of, sort_rows, spark_schema, table_of, write_rows,
)
from checkvalve.conformance.engines.task import MARK, Order, edition, error_in, execute, work
from checkvalve.conformance.suites.results import Case, CaseRow
from checkvalve.spec.notation.errors import InputError, InternalError, TargetError

SETTINGS = RunSettings()
TEXTS = st.text(max_size=8)
NUMBERS = st.integers(0, 2**63 - 1)
ROWS = st.builds(
    CaseRow, **{name: TEXTS if kind == "str" else NUMBERS
                for name, kind in CaseRow.__annotations__.items()}
)


@given(st.lists(ROWS))
def test_a_row_survives_the_table(rows: list[CaseRow]) -> None:
    """No column loses anything on the way through Arrow, and the order is that of the key."""
    assert rows_of(table_of(rows)) == sort_rows(rows)


def test_the_key_and_every_column_are_in_both_schemas() -> None:
    """Spark and Arrow get the same columns in the same order."""
    names = [column.split("`")[1] for column in spark_schema().split(", ")]
    assert names == arrow_schema().names == list(CaseRow.__annotations__)
    assert set(KEY) <= set(names)


def test_a_table_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    """A path that cannot be written is named, and nothing stays beside a written table."""
    row = CaseRow(**{name: "x" if kind == "str" else 1
                     for name, kind in CaseRow.__annotations__.items()})
    write_rows([row], tmp_path / "deep" / "rows.parquet")
    assert read_rows(tmp_path / "deep" / "rows.parquet") == [row]
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["rows.parquet"]
    (tmp_path / "file").write_text("no table")
    with pytest.raises(InputError, match="cannot write"):
        write_rows([row], tmp_path / "file" / "rows.parquet")
    with pytest.raises(InputError, match="not a table of results"):
        read_rows(tmp_path / "file")
    with pytest.raises(InputError, match="no table of results here"):
        read_rows(tmp_path / "nothing")


def folder_of(rows: list[CaseRow], cases: list[Case], folder: Path) -> None:
    """Write Spark's output: two part files, its mark of success, and our plan."""
    import pyarrow.parquet as pq

    folder.mkdir()
    pq.write_table(table_of(rows[::2]), folder / "part-0.parquet")
    pq.write_table(table_of(rows[1::2]), folder / "part-1.parquet")
    (folder / "_SUCCESS").touch()
    (folder / "_plan").mkdir()
    (folder / "_plan" / "part-0.json").write_text(seal_of(cases).to_json())


def test_a_folder_that_lost_a_part_is_refused(tmp_path: Path) -> None:
    """Whole it reads as what was planned; without a part, its mark or its plan it is named."""
    cases = plan("queue", cases=6, seed=3)
    rows = run_locally("queue", "reference", cases, SETTINGS)
    whole = tmp_path / "whole"
    folder_of(rows, cases, whole)
    assert read_rows(whole) == rows
    for name, told in (("part-0.parquet", "3 of the 6 rows"), ("_SUCCESS", "not finished"),
                       ("_plan/part-0.json", "not finished")):
        folder = tmp_path / name.replace("/", "-")
        folder_of(rows, cases, folder)
        (folder / name).unlink()
        with pytest.raises(InputError, match=told):
            read_rows(folder)
    folder_of([*rows, *rows], cases, tmp_path / "twice")
    with pytest.raises(InputError, match="12 of the 6 rows"):
        read_rows(tmp_path / "twice")
    folder_of(rows, plan("queue", cases=6, seed=4), tmp_path / "others")
    with pytest.raises(InputError, match="other cases"):
        read_rows(tmp_path / "others")
    with pytest.raises(InputError, match="part of a table"):
        read_rows(whole / "part-0.parquet")


def test_the_number_of_processes_does_not_change_the_rows() -> None:
    """Two processes give what one gives, in the same order."""
    cases = plan("queue", cases=6, seed=3)
    alone = run_locally("queue", "reference", cases, SETTINGS)
    assert run_locally("queue", "reference", cases, SETTINGS, jobs=2) == alone
    with pytest.raises(InputError, match="0 processes"):
        run_locally("queue", "reference", cases, SETTINGS, jobs=0)


def test_a_bug_of_ours_names_its_case(monkeypatch: pytest.MonkeyPatch) -> None:
    """An exception that is nobody's fault but ours says in which case, file and line."""
    def broken(*_: object) -> CaseRow:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr("checkvalve.conformance.engines.local.run_case", broken)
    with pytest.raises(InternalError, match=r"case 4 \(seed 9\): ZeroDivisionError") as caught:
        row_of("queue", "reference", SETTINGS, Case(4, 9))
    assert caught.value.where.startswith("test_spark_parts.py:")


def test_a_task_gives_the_local_rows_batch_by_batch() -> None:
    """An executor runs the local engine's function of a case."""
    cases = plan("queue", cases=3, seed=5)
    table = pa.table({"case": [case.index for case in cases],
                      "seed": [case.seed for case in cases]})
    task = work(Order.here("queue", "reference", SETTINGS))
    rows = rows_of(pa.Table.from_batches(task(iter(table.to_batches()))))
    assert rows == run_locally("queue", "reference", cases, SETTINGS)


def test_a_folder_is_packed_as_a_package_or_as_what_is_in_it(tmp_path: Path) -> None:
    """Twice the same bytes under the same name; what was compiled for this Python stays here."""
    package = tmp_path / "shop"
    (package / "__pycache__").mkdir(parents=True)
    for name in ("__init__.py", "queue.py", "__pycache__/queue.pyc", ".hidden"):
        (package / name).write_text("")
    (packed,) = {pack_folder(package, tmp_path) for _ in range(2)}
    assert zipfile.ZipFile(packed).namelist() == ["shop/__init__.py", "shop/queue.py"]
    (package / "__init__.py").unlink()
    assert zipfile.ZipFile(pack_folder(package, tmp_path)).namelist() == ["queue.py"]


def test_what_no_archive_can_hold_is_refused_before_a_cluster_starts(tmp_path: Path) -> None:
    """A path that is not there, a broken wheel, and compiled code: each is named."""
    (tmp_path / "fast.so").touch()
    (tmp_path / "broken.whl").write_text("no zip")
    for path, told in ((tmp_path / "no", "no such file"), (tmp_path, "is compiled"),
                       (tmp_path / "broken.whl", "not a zip")):
        with pytest.raises(InputError, match=told):
            check_shippable([path])
        assert run(root, ["conform", "reference", "--engine", "spark", "--master", "local[2]",
                          "--ship-also", str(path)]) == 64
    assert run(root, ["conform", "reference", "--ship-also", str(tmp_path)]) == 64


def test_another_edition_on_an_executor_is_refused() -> None:
    """Rows of two editions would not be comparable, so none are made."""
    with pytest.raises(RuntimeError) as caught:
        list(execute(pickle.dumps(None), "elsewhere:/", "0" * 16, iter([])))
    told = error_in(f"Spark's own words\nRuntimeError: {caught.value}\n\tat some.java.Class")
    assert isinstance(told, InputError) and "another edition" in told.what
    assert list(execute(pickle.dumps(None), "elsewhere:/", edition(), iter([]))) == []


@pytest.mark.parametrize("message", ["", "nothing of ours", MARK, f"{MARK}{{rubbish"])
def test_what_an_executor_did_not_tell_is_not_made_up(message: str) -> None:
    """A message without our line of JSON is of other origin."""
    assert error_in(message) is None


@pytest.mark.parametrize("master", [
    "", "local[", "local[-1]", "sprak://host:7077", "spark://host", "spark://host:0",
    "spark://host:99999", "spark://:7077", "http://host:7077", "local-cluster[2,1]",
    "local-cluster[0,1,1024]", "local-cluster[1,0,1024]", "local[0]",
])
def test_what_is_no_address_of_spark_is_refused_at_once(master: str) -> None:
    """A misspelt master is reported before any Java starts."""
    with pytest.raises(InputError, match=r"is not the address|has no port"):
        check_master(master)


def test_a_port_where_nobody_listens_is_refused_at_once() -> None:
    """Of several masters one has to answer; a dead one alone does not cost a minute."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        check_master(f"spark://127.0.0.1:1,127.0.0.1:{port}")
    with pytest.raises(InputError, match="no Spark master answers"):
        check_master(f"spark://127.0.0.1:{port}")


def test_the_archive_of_checkvalve_is_importable_without_an_installed_one(tmp_path: Path) -> None:
    """A Python that sees only the archive finds all packages in it, and the same edition."""
    archive = tmp_path / "checkvalve.zip"
    pack(archive)
    assert "checkvalve/spec/__init__.py" in zipfile.ZipFile(archive).namelist()
    script = (f"import sys; sys.path.insert(0, {str(archive)!r})\n"
              "from checkvalve.conformance.engines import task\n"
              "print(task.__file__, task.edition())")
    done = subprocess.run([sys.executable, "-S", "-c", script], capture_output=True, text=True,
                          check=True)
    assert done.stdout.split() == [f"{archive}/checkvalve/conformance/engines/task.py", edition()]


def test_the_same_code_is_packed_into_the_same_bytes(tmp_path: Path) -> None:
    """Spark refuses a second file of a name with other content."""
    pack(tmp_path / "a.zip")
    pack(tmp_path / "b.zip")
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


def test_a_call_that_takes_too_long_is_given_up() -> None:
    """The caller continues after the time given, with a message and a next step."""
    silent, peer = socket.socketpair()
    with silent, peer, pytest.raises(InputError, match="nobody spoke"):
        within(0.01, lambda: silent.recv(1), "nobody spoke")
    with pytest.raises(TargetError):
        within(5, _raise_target_error, "")
    assert within(5, lambda: 7, "") == 7


def _raise_target_error() -> None:
    raise TargetError("it spoke rubbish")


@pytest.mark.parametrize(("said", "told"), [
    ("java.io.IOException: Cannot run program \"/x/python\": error=2, No such file",
     "no Python where PYSPARK_PYTHON says"),
    ("org.apache.spark.SparkException: Could not parse Master URL: 'x'",
     "not an address that Spark understands"),
    ("IllegalStateException: Cannot call methods on a stopped SparkContext", "no Spark master"),
    ("ModuleNotFoundError: No module named 'pyarrow'", "lacks pyarrow"),
    ("SparkException: Python worker exited unexpectedly (crashed)", "the target ended"),
    ("ExecutorLostFailure (executor 0 exited): Command exited with code 52", "out of memory"),
    ("java.lang.OutOfMemoryError: Java heap space", "out of memory"),
    ("IllegalArgumentException: Executor memory 67108864 must be at least 471859200",
     "too little for Spark"),
    ("java.lang.ClassNotFoundException: Class org.apache.hadoop.fs.s3a.S3AFileSystem not found",
     "no file system for URLs that begin so"),
    ("calling o1.x\n: java.io.IOException: Mkdirs failed\n\tat java.lang.Thread",
     "java.io.IOException: Mkdirs failed"),
])
def test_what_spark_says_is_told_in_one_line(said: str, told: str) -> None:
    """Known causes are named; of others the innermost error's line is given."""
    error = explain(RuntimeError(said), "looking")
    assert isinstance(error, WorkerDied if told == "the target ended" else InputError)
    assert told in str(error) and "\n" not in str(error)


@pytest.mark.parametrize("workers", [0, -1])
def test_a_cluster_of_nobody_is_refused(workers: int) -> None:
    """Bad sizes are reported before anything starts."""
    with pytest.raises(InputError, match="at least one worker"):
        StandaloneCluster(workers=workers)


def test_a_process_of_the_cluster_ends_when_its_maker_is_gone() -> None:
    """The pipe on its stdin closes even if the maker was killed, and the command ends."""
    with subprocess.Popen(
        ["/bin/sh", "-c", SUPERVISE, "sh", "sleep", "600"], stdin=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        assert process.poll() is None
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(10) != 600
