"""Spark's Java is found, or its lack is reported with what to install."""

from __future__ import annotations

from pathlib import Path

import pytest

from checkvalve.conformance.computer import environment
from checkvalve.conformance.computer.environment import Java
from checkvalve.conformance.computer.java import require_java
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
    with pytest.raises(InputError, match=said) as caught:
        require_java()
    assert "openjdk-17-jre-headless" in caught.value.next_step
