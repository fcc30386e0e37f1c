"""The memtable of a server in the style of BookKeeper's."""

from ...suites.system import Shipped, System

__all__ = ["SYSTEM"]

SYSTEM = System(
    name="bookkeeper.memtable",
    folder=__name__,
    subject="servers",
    about="a memtable in the style of BookKeeper's: room for bytes, and flushes in the background",
    page="bookkeeper-port.md",
    no_logs="its rules are about the room that a flush frees while writers wait, and no log "
            "shows the bytes that are held at each instant",
    shipped=(
        Shipped("reference.bookkeeper.memtable", "adapter:ReferenceMemtable",
                "the reference of a memtable that flushes in the background"),
    ),
)
