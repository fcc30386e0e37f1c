"""Deterministic schedules: runs of threads and of coroutines in an order that is an input.

There are two kinds of thing to order, and for each one module that runs an order and one that
looks for orders. ``scheduling`` runs real threads one at a time, which may be preempted between
any two lines, and ``interleavings`` finds all orders with few preemptions. ``virtual_loop`` runs
the callbacks of asyncio in virtual time, which give way by themselves, and ``coroutines`` finds
all schedules with few deviations: a cancellation, an event that comes early. What is varied
differs (a takeover at a line; a cancellation, an event, an overtaking at an instant), and so do
the prefixes that a search continues from; that both are few is all that the searches share.
``giving_way`` ends a coroutine that never comes back to its loop.
"""
