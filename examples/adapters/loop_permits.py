#!/usr/bin/env python3
"""A whole adapter for the port "awaits.permits", in plain Python, no packages, no asyncio.

docs/awaits.md explains it. The semaphore under test has an event loop of its own, the simplest that
there is: a queue of callbacks, of which the first runs next. Nothing runs but what a request says.
"""
import json
import sys
from collections import deque


class Semaphore:
    """The semaphore under test: a permit that is given back goes to the call that waits longest."""

    def __init__(self, permits, call_soon):
        self.free, self.line, self.call_soon = permits, deque(), call_soon

    def acquire(self, call):
        """Take a permit: True if one is free; else the call joins the wait queue."""
        if self.free:
            self.free -= 1
            return True
        self.line.append(call)
        return False

    def release(self):
        if self.line:
            call = self.line.popleft()
            call.granted = True              # from now on, whether or not it has run
            self.call_soon(call.wakes)
        else:
            self.free += 1

    def stop(self, call):
        """Cancel the call; it learns that when it runs."""
        self.call_soon(call.is_stopped)

    def forget(self, call):
        self.line.remove(call)


class Call:
    """One call of acquire, as a coroutine would make it."""

    def __init__(self, name, adapter):
        self.name, self.adapter = name, adapter
        self.granted = self.has = self.over = False

    def begins(self):
        if self.adapter.semaphore.acquire(self):
            self.granted = True
            self.wakes()
        else:
            self.tell("waits")

    def wakes(self):
        if not (self.has or self.over):      # the other one of wakes and is_stopped came first
            self.has = True
            self.tell("has")

    def is_stopped(self):
        if self.granted:                     # too late: it keeps its permit
            self.wakes()
        elif not self.over:
            self.adapter.semaphore.forget(self)
            self.over = True
            self.tell("cancelled")

    def leaves(self):
        self.has, self.over = False, True
        self.adapter.semaphore.release()
        self.tell("released")

    def tell(self, does):
        self.adapter.events.append({"by": self.name, "does": does})


class Adapter:
    """One semaphore, its calls by name, and the callbacks that are ready."""

    def __init__(self, permits):
        self.ready, self.events, self.calls = deque(), [], {}
        self.semaphore = Semaphore(permits, self.ready.append)

    def run(self, steps):
        while steps and self.ready:
            self.ready.popleft()()
            steps -= 1

    def answer(self, request):
        do, call = request["do"], self.calls.get(request.get("by"))
        if do == "acquire":
            self.calls[request["by"]] = Call(request["by"], self)
            self.calls[request["by"]].begins()
        elif do == "release":
            call.leaves()
        elif do == "interrupt":
            self.semaphore.stop(call)        # nothing runs yet
        elif do == "run":
            self.run(request["steps"])
        elif do == "settle":
            self.run(-1)                     # until none is ready
        elif do == "locked":
            return {"ok": self.semaphore.free == 0}
        else:
            return {"error": "unknown-operation", "definite": True}
        told, self.events = self.events, []
        return {"ok": told}


adapter = None
for line in sys.stdin:
    request = json.loads(line)
    if request["do"] == "hello":
        adapter = Adapter(request["settings"]["capacity"])
        reply = {"ok": {"name": "loop_permits.py", "version": "1", "policy": "line",
                        "wakes": "stepped",
                        "can": ["acquire", "release", "interrupt", "locked", "run"]}}
    else:
        reply = adapter.answer(request)
    print(json.dumps({"id": request["id"], **reply}), flush=True)
