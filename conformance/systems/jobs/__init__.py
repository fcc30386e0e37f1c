"""A master that gives jobs to workers which ask for them."""

from ...suites.system import Shipped, System

__all__ = ["SYSTEM"]

SYSTEM = System(
    name="jobs",
    folder=__name__,
    subject="links and flow control",
    about="a master with a bounded queue of jobs, and workers that ask for them",
    page="jobs-port.md",
    shipped=(
        Shipped("reference.jobs", "adapter:ReferenceMaster",
                "the reference of a master that drops its oldest job when it is full"),
    ),
)
