"""A whole adapter for the port "awaits.gate", for anything that runs on asyncio; here, its Event.

docs/awaits.md explains it. The loop is checkvalve's: no callback runs but as a request says.
Run it as `checkvalve conform python:event_gate:Adapter --suite awaits.gate`.
"""
import asyncio

from checkvalve.reference.drivers.schedules.virtual_loop import VirtualLoop


class Adapter:
    """One gate at a time. A new hello begins with a new loop."""

    loop = None

    def request(self, message):
        do = message["do"]
        if do == "hello":
            return self.hello(message["settings"])
        if do not in ("wait", "open", "shut", "interrupt", "run", "settle"):
            return {"error": "unknown-operation", "definite": True}
        arguments = {key: message[key] for key in ("by", "steps") if key in message}
        with self.loop.running():            # all that touches the loop is done within this
            getattr(self, do)(**arguments)
        told, self.events = self.events, []
        return {"ok": told}

    def hello(self, settings):
        if settings["capacity"] != 1:
            return {"error": "unsupported-capacity", "definite": True}
        self.close()
        self.loop, self.tasks, self.events = VirtualLoop(), {}, []
        with self.loop.running():
            self.gate = asyncio.Event()
        return {"ok": {"name": "asyncio.Event", "version": "1", "policy": "sleep",
                       "wakes": "stepped",
                       "can": ["wait", "open", "shut", "interrupt", "run"]}}

    async def waits(self, by):
        """One call: wait at the gate, then report how the wait ended."""
        does = "fails"
        try:
            await self.gate.wait()
            does = "passes"
        except asyncio.CancelledError:
            does = "cancelled"
        finally:
            self.events.append({"by": by, "does": does})

    def wait(self, by):
        self.tasks[by] = self.loop.begin(self.waits(by))     # its first step, at once

    def open(self):
        self.gate.set()

    def shut(self):
        self.gate.clear()

    def interrupt(self, by):
        self.tasks[by].cancel()              # it learns that when it runs

    def run(self, steps):
        for _ in range(steps):
            if not self.loop.step():
                return

    def settle(self):
        self.loop.settle()

    def close(self):
        """Called when a session ends: no task is thrown away while it waits."""
        if self.loop is not None:
            with self.loop.running():
                for task in self.tasks.values():
                    task.cancel()
                self.loop.settle()
            self.loop.close()
