"""Certificates of designs as files: written by ``checkvalve check``, read by ``certify``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from checkvalve.spec.notation.errors import InputError

if TYPE_CHECKING:
    from checkvalve.spec.design.reading.language import Design
    from checkvalve.spec.design.why.findings import DesignReport
    from checkvalve.spec.verdicts.deadline import Deadline

__all__ = [
    "MAX_BYTES", "Written", "design_of", "problem_of", "read_certificate", "write_certificates",
]

MAX_BYTES = 64 * 1024 * 1024
"""The largest certificate that is read. One that is as dense as can be takes thirty times as much
memory as objects, so that ``MAX_MARKS`` holds what a stranger's can take."""
MAX_MARKS = 4_194_304
"""Commas and opening brackets of a certificate: it has no more values than these, and one. That of
calls over 10,000 pools has one in twenty characters."""

DIGITS_MAX = 1000
"""Digits of a number in a certificate.

Python prints up to 4,300, and the checker multiplies two.
"""


@dataclass(frozen=True)
class Written:
    """The certificate of one verdict: where it is, or else ``why`` there is none."""

    property: str
    path: Path | None
    why: str = ""


def _in_a_path(name: str) -> str:
    """A property's name as a file's name has it, without a colon."""
    return name.replace(": ", "-")


def write_certificates(report: DesignReport, folder: Path, deadline: Deadline) -> list[Written]:
    """Write a certificate of each verdict that is known, as ``NAME.PROPERTY.json``."""
    from checkvalve.spec.design.verdicts.certificates import Certificates, Uncertified
    from checkvalve.spec.verdicts.verdict import Outcome

    from ..computer.files import write_whole
    makes, written = Certificates(report, deadline), []
    for finding in report.findings:
        if finding.outcome is Outcome.UNKNOWN:
            continue
        try:
            document = makes.of(finding)
        except Uncertified as why:
            written.append(Written(finding.name, None, str(why)))
            continue
        path = folder / f"{report.design.name}.{_in_a_path(finding.name)}.json"
        text = json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n"
        large = _too_large(text, len(text.encode()))
        if large:
            written.append(Written(finding.name, None, f"it would have {large}, and no larger one "
                                   "is read"))
            continue
        write_whole(path, text)
        written.append(Written(finding.name, path))
    return written


def read_certificate(path: Path) -> dict[str, Any]:
    """Read a certificate. Raises InputError for what is not one."""
    text = _text(path)
    try:
        document = json.loads(text, parse_int=_number, parse_float=_no_number,
                              parse_constant=_no_number, object_pairs_hook=_object)
    except (ValueError, RecursionError) as error:
        raise InputError(f"this is not JSON: {error}", str(path), _NEXT) from None
    problem = problem_of(document)
    if problem:
        raise InputError(f"this is not a certificate: {problem}", str(path), _NEXT)
    assert isinstance(document, dict)
    return document


_TOLD = 160
"""Characters of what is wrong with the form of a certificate."""

_NEXT = ("Name a file that `checkvalve check --certificates DIR` or `checkvalve law --certificates "
         "DIR` has written.")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object with different keys: readers would differ on one that has a key twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the key {next(n for n in names if names.count(n) > 1)[:40]!r} is given "
                         "twice in one object")
    return found


def _number(text: str) -> int:
    if len(text) > DIGITS_MAX:
        raise ValueError(f"{text[:10]}… has more than {DIGITS_MAX} digits")
    return int(text)


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text[:40]} is no whole number, and a certificate has no others")


def _text(path: Path) -> str:
    """The text of a file, of which no more is read than a certificate may have. Raises
    ``InputError``."""
    try:
        if not path.is_file():
            raise InputError("there is no such file", str(path), _NEXT)
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise InputError(f"cannot read this file: {error.strerror}", str(path),
                         "Give a file that you may read.") from None
    try:
        text = data.decode("utf-8") if len(data) <= MAX_BYTES else ""
    except UnicodeDecodeError as error:
        raise InputError(f"this is not UTF-8: {error}", str(path), _NEXT) from None
    large = _too_large(text, len(data))
    if large:
        raise InputError(f"the file has {large}", str(path), _NEXT)
    return text


def _too_large(text: str, size: int) -> str:
    """The limit that a certificate of so many bytes is above, in words; empty if it is above none.

    """
    if size > MAX_BYTES:
        return f"more than {MAX_BYTES:,} bytes"
    marks = sum(map(text.count, ",[{"))
    return f"more than {MAX_MARKS:,} commas and brackets" if marks > MAX_MARKS else ""


def design_of(
    document: Mapping[str, Any], path: str, given: Mapping[str, str],
    deadline: Deadline | None = None,
) -> Design:
    """The design of a file that a certificate is about: of several, the one with its values of the
    parameters, of which ``given`` has some in place of the file's. Raises InputError, and Spent
    where the file is not read by the deadline."""
    from checkvalve.spec.design.formats.files import read_any
    from checkvalve.spec.design.loader import load_point
    from checkvalve.spec.design.reading.parameters import points

    from .reading import read_text
    root = read_any(read_text(Path(path)), path, deadline).root
    about = document.get("parameters", {})
    point = next((each for each in points(root, path, given) if dict(each) == about), None)
    if point is None:
        told = " ".join(f"--set {name}={value}" for name, value in about.items())
        raise InputError(
            f"the file has no design with the parameters of the certificate: {told or 'none'}",
            path, "Give those that the certificate was written with, as in `checkvalve check`.")
    found = load_point(root, point, path)
    if document["design"] not in (found.name, _in_sweep(found, document["design"])):
        raise InputError(f"the file has no design called {document['design']!r}", path,
                         "Name the file that the certificate was written for.")
    return replace(found, name=document["design"])


def _in_sweep(design: Design, name: str) -> str:
    """The name of a design among others, with those of its parameters that the name has."""
    told = {*name.removeprefix(design.name).split()}
    return " ".join([design.name, *(each for each in (
        f"{name}={value}" for name, value in design.parameters) if each in told)])


def problem_of(document: object) -> str:
    """The error in the form of a certificate; empty if there is none."""
    from importlib.resources import files

    import jsonschema
    about = "law.json" if isinstance(document, dict) and "law" in document else "schema.json"
    schema = json.loads(
        files("checkvalve.spec.certify").joinpath(about).read_text(encoding="utf-8"))
    error = next(jsonschema.Draft202012Validator(schema).iter_errors(document), None)
    if error is None:
        return ""
    where = "/".join(map(str, error.absolute_path))
    told = str(error.message)  # it begins with what is there, and ends with what is wrong
    if len(told) > _TOLD:
        told = f"{told[:_TOLD // 3]} … {told[-_TOLD // 2:]}"
    return told + (f" (at {where})" if where else "")
