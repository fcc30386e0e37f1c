"""A receiver with two marks, which stops and resumes its sender."""

from ...suites.system import Shipped, System

__all__ = ["SYSTEM"]

SYSTEM = System(
    name="marks",
    folder=__name__,
    subject="links and flow control",
    about="a receiver with a high mark and a low one, which says stop and go",
    page="marks-port.md",
    shipped=(
        Shipped("reference.marks", "adapter:ReferenceMarks",
                "the reference of a receiver with two marks"),
        Shipped("asyncio.StreamReader", "streams:StreamReaderMarks",
                "the standard library's reader of a stream, which pauses its transport"),
    ),
)
