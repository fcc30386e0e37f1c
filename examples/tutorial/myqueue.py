"""A bounded queue, and an adapter that shows it to checkvalve."""

class Stack:
    def __init__(self, capacity):
        self.capacity, self.items = capacity, []

    def offer(self, item):
        if len(self.items) > self.capacity:
            return False
        self.items.append(item)
        return True

    def poll(self):
        return self.items.pop() if self.items else None


class Adapter:
    def request(self, message):
        do = message["do"]
        if do == "hello":
            self.queue = Stack(message["settings"]["capacity"])
            return {"ok": {"name": "my queue", "version": "1",
                           "can": ["offer", "poll"], "policy": "reject"}}
        if do == "offer":
            return {"ok": self.queue.offer(message["item"])}
        if do == "poll":
            return {"ok": self.queue.poll()}
        if do == "settle":
            return {"ok": True}
        return {"error": "unknown-operation", "definite": True}
