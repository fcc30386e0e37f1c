"""Record a queue.Queue under load: python record.py [none|lose|double|reorder] FILE.jsonl

Then: checkvalve judge FILE-*.jsonl --suite queue --set capacity=8
"""

import queue
import random
import sys
import threading
from typing import Any

from checkvalve.conformance.recorder import Recorder

PRODUCERS, CONSUMERS, ITEMS, CAPACITY = 4, 4, 2_000, 8


class FaultyQueue(queue.Queue[Any]):
    """A queue that makes one kind of mistake now and then."""

    fault = "none"
    chance = random.Random(3)

    def _put(self, item: Any) -> None:
        mistaken = self.fault != "none" and self.chance.random() < 0.002
        if mistaken and self.fault == "lose":
            return
        super()._put(item)
        if mistaken and self.fault == "double":
            super()._put(item)
        if mistaken and self.fault == "reorder":
            self.queue.reverse()


def run(recorder: Recorder, fault: str, items: int = ITEMS) -> None:
    """Let producers and consumers use a queue, and record what each of them does."""
    jobs = FaultyQueue(CAPACITY)
    jobs.fault = fault

    def produce(first: int) -> None:
        for item in range(first, first + items):
            with recorder.call("jobs", "put", item):
                jobs.put(item)

    def consume() -> None:
        while True:
            with recorder.call("jobs", "take") as call:
                try:
                    call.item = jobs.get(timeout=0.3)
                except queue.Empty:
                    call.result = "empty"
                    return

    threads = [threading.Thread(target=produce, args=(number * items,))
               for number in range(PRODUCERS)]
    threads += [threading.Thread(target=consume) for _ in range(CONSUMERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    with Recorder(sys.argv[2]) as log:
        run(log, sys.argv[1])
    print(log.file)
