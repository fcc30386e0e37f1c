#!/usr/bin/env node
// A bounded asynchronous queue in plain JavaScript, and its adapter: JSON lines on stdin and
// stdout, as docs/adapter-protocol.md describes them. No packages.
"use strict";

// ---- the queue under test: nothing in it knows the protocol --------------------------------

class AsyncQueue {
  constructor(capacity) {
    this.capacity = capacity;
    this.items = [];
    this.putters = []; // { item, resolve, reject }, first come first served
    this.takers = []; // { resolve, reject }
  }

  offer(item) {
    if (this.takers.length > 0) {
      this.takers.shift().resolve(item);
      return true;
    }
    if (this.items.length >= this.capacity) return false;
    this.items.push(item);
    return true;
  }

  poll() {
    if (this.items.length === 0) return undefined;
    const item = this.items.shift();
    const putter = this.putters.shift();
    if (putter) {
      this.items.push(putter.item);
      putter.resolve(true);
    }
    return item;
  }

  // put and take return either a value or a wait: { promise, cancel }.
  put(item) {
    return this.offer(item) ? { value: true } : wait(this.putters, { item });
  }

  take() {
    const item = this.poll();
    return item !== undefined ? { value: item } : wait(this.takers, {});
  }
}

function wait(line, waiter) {
  const promise = new Promise((resolve) => {
    waiter.resolve = resolve;
  });
  line.push(waiter);
  // An item moves at the instant of the call that makes room, so a waiter that is still in
  // line has had no effect, and one that has left the line is too late to cancel.
  const cancel = () => {
    const place = line.indexOf(waiter);
    if (place >= 0) line.splice(place, 1);
    return place >= 0;
  };
  return { promise, cancel };
}

// ---- the adapter ---------------------------------------------------------------------------

class Adapter {
  constructor(capacity) {
    this.queue = new AsyncQueue(capacity);
    this.waits = new Map(); // ticket -> cancel
    this.events = [];
  }

  offer({ item }) {
    return { ok: this.queue.offer(item) };
  }

  poll() {
    const item = this.queue.poll();
    return { ok: item === undefined ? null : item };
  }

  put({ item }) {
    return this.begin(this.queue.put(item));
  }

  take() {
    return this.begin(this.queue.take());
  }

  cancel({ ticket }) {
    if (!this.waits.has(ticket)) return { error: "unknown-ticket", definite: true };
    const cancelled = this.waits.get(ticket)();
    if (cancelled) this.waits.delete(ticket);
    return { ok: cancelled };
  }

  size() {
    return { ok: this.queue.items.length };
  }

  settle() {
    return { ok: true }; // serve() lets all promises run before it sends any reply
  }

  begin(outcome) {
    if (!("promise" in outcome)) return { ok: outcome.value };
    const ticket = `t${(this.tickets = (this.tickets || 0) + 1)}`;
    this.waits.set(ticket, outcome.cancel);
    outcome.promise.then((ok) => {
      this.waits.delete(ticket);
      this.events.push({ done: ticket, ok });
    });
    return { waiting: ticket };
  }
}

const CAN = ["offer", "poll", "put", "take", "cancel", "size"];
let adapter = null;

function answer(request) {
  if (request.do === "hello") {
    if (request.port !== "queue") return { error: "unknown-port", definite: true };
    adapter = new Adapter(request.settings.capacity); // and forget the one before
    return { ok: { name: "queue.js", version: "1", can: CAN, policy: "wait" } };
  }
  if (adapter === null || !(CAN.includes(request.do) || request.do === "settle")) {
    return { error: "unknown-operation", definite: true };
  }
  return adapter[request.do](request);
}

async function serve() {
  const lines = require("node:readline").createInterface({ input: process.stdin });
  for await (const line of lines) {
    const request = JSON.parse(line);
    const reply = { id: request.id, ...answer(request) };
    await new Promise(setImmediate); // all promises that can run have run after this
    if (adapter !== null && adapter.events.length > 0) {
      reply.events = adapter.events.splice(0);
    }
    process.stdout.write(JSON.stringify(reply) + "\n");
  }
}

serve();
