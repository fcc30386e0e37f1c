#!/usr/bin/env python3
"""A whole adapter: a ring buffer behind the port "queue", in plain Python, no packages."""
import json
import sys


class Ring:
    """The queue under test. It never waits, so it has no put, take or cancel."""

    def __init__(self, capacity):
        self.slots, self.head, self.count = [None] * capacity, 0, 0

    def offer(self, item):
        if self.count == len(self.slots):
            return False
        self.slots[(self.head + self.count) % len(self.slots)] = item
        self.count += 1
        return True

    def poll(self):
        if self.count == 0:
            return None
        item = self.slots[self.head]
        self.head, self.count = (self.head + 1) % len(self.slots), self.count - 1
        return item


ring = None
for line in sys.stdin:                      # ends when the harness closes our stdin
    request = json.loads(line)
    do = request["do"]
    if do == "hello":                       # start afresh, whatever was before
        ring = Ring(request["settings"]["capacity"])
        reply = {"ok": {"name": "ring_queue.py", "version": "1",
                        "can": ["offer", "poll", "size"], "policy": "reject"}}
    elif do == "offer":
        reply = {"ok": ring.offer(request["item"])}
    elif do == "poll":
        reply = {"ok": ring.poll()}
    elif do == "size":
        reply = {"ok": ring.count}
    elif do == "settle":
        reply = {"ok": True}
    else:
        reply = {"error": "unknown-operation", "definite": True}
    print(json.dumps({"id": request["id"], **reply}), flush=True)
