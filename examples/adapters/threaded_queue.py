#!/usr/bin/env python3
"""A whole adapter for a queue with real threads as callers, in plain Python, no packages.

docs/settling.md explains it. The queue under test gets its condition variables from a factory;
these count the threads that can still do something, and so it is known, not guessed by waiting
a while, when nothing can run any more.
"""
import json
import sys
import threading
from collections import deque


class Gauge:
    """Counts the threads that can still do something."""

    def __init__(self):
        self.busy, self.changed = 0, threading.Condition()

    def add(self, count):
        with self.changed:
            self.busy += count
            self.changed.notify_all()

    def settle(self):
        """Wait until no thread can do anything any more."""
        with self.changed:
            self.changed.wait_for(lambda: self.busy == 0)


class CountedCondition(threading.Condition):
    """A condition variable; threads that wait for it do not count as busy."""

    def __init__(self, lock, gauge):
        super().__init__(lock)
        self.gauge, self.parked = gauge, 0

    def wait(self):
        self.parked += 1
        self.gauge.add(-1)                 # we hold the lock still, and only park from here on
        super().wait()

    def notify(self, n=1):
        woken = min(n, self.parked)
        self.parked -= woken
        self.gauge.add(woken)              # the waker counts: the woken may run much later
        super().notify(woken)


class BlockingQueue:
    """The queue under test. It knows nothing of the adapter but where its conditions are from."""

    def __init__(self, capacity, condition=threading.Condition):
        self.lock = threading.Lock()
        self.room, self.filled = condition(self.lock), condition(self.lock)
        self.items, self.capacity = deque(), capacity

    def put(self, item, wait=True):
        with self.lock:
            while len(self.items) >= self.capacity:
                if not wait:
                    return False
                self.room.wait()
            self.items.append(item)
            self.filled.notify()
            return True

    def take(self, wait=True):
        with self.lock:
            while not self.items:
                if not wait:
                    return None
                self.filled.wait()
            self.room.notify()
            return self.items.popleft()


class Adapter:
    """One instance of the queue, and the threads that call it."""

    def __init__(self, capacity):
        self.gauge = Gauge()
        self.queue = BlockingQueue(capacity, lambda lock: CountedCondition(lock, self.gauge))
        self.tickets, self.ended = {}, deque()

    def call(self, *call):
        """Call the queue in a thread of its own; ok if that ended at once, or else a ticket."""
        ticket = f"t{len(self.tickets) + 1}"

        def body():
            value = call[0](*call[1:])
            self.ended.append((ticket, value))
            self.gauge.add(-1)             # after the result is reported

        self.tickets[ticket] = threading.Thread(target=body, daemon=True)
        self.gauge.add(1)                  # before it starts: it may not run for a while
        self.tickets[ticket].start()
        self.gauge.settle()
        own = [each for each in self.ended if each[0] == ticket]
        if own:                            # it did not wait: that is no event
            self.ended.remove(own[0])
            return {"ok": own[0][1]}
        return {"waiting": ticket}

    def events(self):
        """The waits that have ended since the last reply, in their order."""
        self.gauge.settle()
        told, self.ended = self.ended, deque()
        return [{"done": ticket, "ok": value} for ticket, value in told]

    def answer(self, request):
        do, queue = request["do"], self.queue
        if do == "put":
            return self.call(queue.put, request["item"])
        if do == "take":
            return self.call(queue.take)
        if do == "offer":
            return {"ok": queue.put(request["item"], wait=False)}
        if do == "poll":
            return {"ok": queue.take(wait=False)}
        if do == "size":
            return {"ok": len(queue.items)}
        if do == "settle":
            return {"ok": True}            # events() has waited for it, as after each request
        return {"error": "unknown-operation", "definite": True}


adapter = None
for line in sys.stdin:
    request = json.loads(line)
    if request["do"] == "hello":           # the threads of the instance before stay parked
        adapter = Adapter(request["settings"]["capacity"])
        reply = {"ok": {"name": "threaded_queue.py", "version": "1", "policy": "wait",
                        "wakes": "at-once",      # all has settled after each request
                        "can": ["offer", "poll", "put", "take", "size"]}}
    else:
        reply = adapter.answer(request)
        reply["events"] = adapter.events()
    print(json.dumps({"id": request["id"], **reply}), flush=True)
