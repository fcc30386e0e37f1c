"""The words through which Python and the emitted search talk to each other.

Both control blocks are arrays of 64-bit words. What several threads write at once stands
in cache lines of its own.
"""

from __future__ import annotations

from enum import IntEnum

__all__ = [
    "BLOCK", "CHUNK", "ENABLED", "FLAGGED", "INSERT_LAG", "LOOK_LAG", "MADE_MASK",
    "SHARED_WORDS", "THREAD_WORDS", "Shared", "Status", "Thread", "block_states",
    "pending_states", "recent_states",
]

BLOCK = 8  # states that a thread expands before it probes for their successors, at most
LOOK_LAG = 24  # successors between asking for a line and looking at it …
INSERT_LAG = 24  # … and again up to the one that is inserted
SUCCESSOR_WORDS = 1 << 22  # room for the successors of a block, if they have few words each
CHUNK = 256  # places of the order array that a thread claims at once
RECENT_WORDS = 1 << 15  # size of a thread's cache of states met lately: it fits in L2
SHARED_WORDS = 64
# What `successors` returns, and sums of it: states written, enabled actions, and flags, which
# say that a rule may be broken. Each stays below 2^24 for a block.
ENABLED, FLAGGED = 24, 48
MADE_MASK = (1 << ENABLED) - 1
THREAD_WORDS = 64


class Status(IntEnum):
    """Why the search returned to Python."""

    LEVEL_DONE = 0  # every state of the level is expanded
    FULL = 1  # the table, the order array, or a budget has reached its limit
    QUOTA = 2  # time to look at the clock
    EXHAUSTED = 3  # the level after this one is empty


class Shared(IntEnum):
    """One block for the whole search."""

    TABLE = 0  # address of the table
    LINES = 1  # its size in lines of eight entries
    ORDER = 2  # address of the states in the order of their discovery
    LEVEL_END = 3  # where the level being expanded ends in ORDER
    LIMIT = 4  # COUNT may reach this before the table must grow
    ORDER_LIMIT = 5  # OUT_END may reach this
    LEVELS = 6  # address of the array of the levels' ends
    LEVEL_COUNT = 7  # entries in LEVELS
    LEVEL_ROOM = 8  # entries that fit in LEVELS
    LEVEL_WIDE = 9  # levels with at least so many states are left to several threads
    VIA = 10  # address of the actions by which the states of ORDER were first reached
    SKIPS = 11  # address of the actions that may be left out after each action
    CURSOR = 16  # the next state to expand
    OUT_END = 24  # where ORDER ends
    COUNT = 32  # distinct states found


class Thread(IntEnum):
    """One block for each thread."""

    SUCCESSORS = 0  # address of the buffer of successors
    ACTIONS = 1  # address of the buffer of action indices
    PENDING = 2  # address of the ring of states that wait to be inserted, …
    HASHES = 12  # … of that of their hashes …
    VIAS = 13  # … and of that of the actions that lead to them
    RECENT = 3  # address of the cache of states met lately
    POSITION = 4  # where this thread writes its next new state in ORDER …
    CHUNK_END = 5  # … and where its part ends
    TRANSITIONS = 6  # enabled actions seen
    FLAGGED = 7  # states of this level that break some rule or are at fault
    QUOTA = 8  # states to expand before returning


def block_states(actions: int, words: int) -> int:
    """The number of states that a thread expands before it probes for all their successors."""
    return max(1, min(BLOCK, SUCCESSOR_WORDS // (max(actions, 1) * words)))


def pending_states(actions: int, words: int) -> int:
    """The number of states that may wait to be inserted: a power of two."""
    most = LOOK_LAG + INSERT_LAG + block_states(actions, words) * actions + 1
    return 1 << (most - 1).bit_length()


def recent_states(words: int) -> int:
    """The number of states of so many words that the cache holds: a power of two."""
    return 1 << max(RECENT_WORDS // words, 1).bit_length() - 1
