#!/usr/bin/env node
// setTimeout and clearTimeout in virtual time, as JSON lines on stdin and stdout: the mock timers
// of node:test, which this file only drives. See docs/adapter-protocol.md.
"use strict";

const { mock } = require("node:test");

class Adapter {
  constructor(now) {
    this.start = now;
    this.handles = new Map(); // task -> the handle of setTimeout
    this.due = new Map(); // task -> the instant at which setTimeout should run it
    this.runs = [];
    mock.timers.reset();
    mock.timers.enable({ apis: ["setTimeout", "Date"], now: 0 });
  }

  add({ now, task, delay }) {
    this.clear(task);
    const run = () => {
      this.forget(task);
      this.runs.push({ task, at: this.time() });
    };
    this.handles.set(task, setTimeout(run, delay));
    this.due.set(task, now + Math.max(1, delay));
    return this.elapse({ now });
  }

  cancel({ now, task }) {
    this.clear(task);
    return this.elapse({ now });
  }

  elapse({ now }) {
    // tick() advances the clock first, and then runs the due tasks. So it advances by one unit at
    // a time, except while nothing is due: a task that runs in such a time runs too early.
    mock.timers.tick(0);
    while (this.time() < now) {
      const idle = Math.min(now, ...this.due.values()) - this.time() - 1;
      mock.timers.tick(Math.max(1, idle));
    }
    return { ok: this.runs.splice(0) };
  }

  clear(task) {
    clearTimeout(this.handles.get(task));
    this.forget(task);
  }

  forget(task) {
    this.handles.delete(task);
    this.due.delete(task);
  }

  time() {
    return this.start + Date.now();
  }
}

const CAN = ["add", "cancel", "elapse"];
let adapter = null;

function answer(request) {
  if (request.do === "hello") {
    if (request.port !== "timer") return { error: "unknown-port", definite: true };
    adapter = new Adapter(request.now); // and drop the old one
    const version = process.versions.node;
    return { ok: { name: "node:test mock timers", version, can: CAN, policy: "timeout" } };
  }
  if (adapter !== null && request.do === "settle") return { ok: true };
  if (adapter === null || !CAN.includes(request.do)) {
    return { error: "unknown-operation", definite: true };
  }
  return adapter[request.do](request);
}

async function serve() {
  const lines = require("node:readline").createInterface({ input: process.stdin });
  for await (const line of lines) {
    const request = JSON.parse(line);
    process.stdout.write(JSON.stringify({ id: request.id, ...answer(request) }) + "\n");
  }
}

serve();
