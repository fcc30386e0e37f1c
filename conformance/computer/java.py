"""The Java that Spark needs, or one clear word on what to install."""

from __future__ import annotations

import os
from pathlib import Path

from checkvalve.spec.notation.errors import InputError

from . import environment

__all__ = ["require_java"]


def require_java() -> Path:
    """The home of a Java that Spark can use.

    Raises InputError, with what to install, if there is none: no Java at all, one that is
    too old, or one without the module that Spark's launcher asks for.
    """
    java = environment.find_java()
    named = os.environ.get("JAVA_HOME")
    if java is None and named:
        raise InputError("Spark needs Java, and there is none that starts, also not in JAVA_HOME",
                         named, environment.JAVA_ADVICE)
    if java is None:
        raise InputError("Spark needs Java, and none was found", "", environment.JAVA_ADVICE)
    if not java.fits:
        what = f"Spark cannot use this Java: {java.unfit}"
        raise InputError(what, str(java.home), environment.JAVA_ADVICE)
    return java.home
