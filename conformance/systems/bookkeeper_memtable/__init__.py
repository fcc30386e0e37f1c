"""The memtable of a server in the style of BookKeeper's."""

from ...suites.system import Shipped, System

__all__ = ["SYSTEM"]

SYSTEM = System(
    name="bookkeeper.memtable",
    folder=__name__,
    subject="servers",
    about="a memtable in the style of BookKeeper's: space for bytes, and flushes in the background",
    page="bookkeeper-port.md",
    no_logs="an entry that waits is judged by whether there was space, at the instant at "
            "which nothing more happens, and a log of adds and flushes does not show that "
            "instant",
    shipped=(
        Shipped("reference.bookkeeper.memtable", "adapter:ReferenceMemtable",
                "the reference of a memtable that flushes in the background"),
    ),
)
