"""Spark's Java is found, or its lack is reported with what to install."""

from __future__ import annotations

from pathlib import Path

import pytest

from checkvalve.conformance.computer import environment
from checkvalve.conformance.computer.environment import Java
from checkvalve.conformance.computer.java import require_java
from checkvalve.conformance.engines.session import explain, spark_session
from checkvalve.spec.notation.errors import InputError


def test_a_java_that_fits_is_given_by_its_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """The home is what JAVA_HOME wants."""
    monkeypatch.setattr(environment, "find_java", lambda: Java(Path("/some/java"), 21, ""))
    assert require_java() == Path("/some/java")


@pytest.mark.parametrize(("java", "said"), [
    (None, "none was found"),
    (Java(Path("/old"), 11, "it is Java 11; Spark needs 17 or newer"), "it is Java 11"),
    (Java(Path("/jre"), 17, "it lacks the module jdk.incubator.vector"), "lacks the module"),
])
def test_a_java_that_does_not_fit_is_told_with_what_to_install(
    monkeypatch: pytest.MonkeyPatch, java: Java | None, said: str
) -> None:
    """The message says what is wrong, and the next step names a package to install."""
    monkeypatch.setattr(environment, "find_java", lambda: java)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(InputError, match=said) as caught:
        require_java()
    assert "openjdk-17-jre-headless" in caught.value.next_step


def test_a_java_home_without_a_java_that_starts_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no other one is found."""
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho java.lang.UnsupportedClassVersionError >&2\nexit 1\n")
    java.chmod(0o700)
    monkeypatch.setattr(environment, "_SYSTEM_JAVA", ())
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", "")
    with pytest.raises(InputError, match="also not in JAVA_HOME") as caught:
        require_java()
    assert caught.value.where == str(tmp_path)


def test_a_pyspark_that_is_too_old_is_refused_before_it_starts(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next step says what to install."""
    pyspark = pytest.importorskip("pyspark")
    monkeypatch.setattr(pyspark, "__version__", "3.5.3")
    with pytest.raises(InputError, match="pyspark 3.5.3 is too old") as caught, spark_session(
            "local[1]"):
        pass
    assert "install" in caught.value.next_step


def test_a_java_that_is_too_old_for_spark_is_said_so() -> None:
    """Whatever version it claims to be."""
    said = "java.lang.UnsupportedClassVersionError: org/apache/spark/launcher/Main has been ..."
    error = explain(RuntimeError("[JAVA_GATEWAY_EXITED] Java gateway exited"), "trying", said)
    assert "too old" in error.what
    assert "JAVA_HOME" in error.next_step
