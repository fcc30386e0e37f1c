#!/usr/bin/env node
// Node's own stream.Writable behind the port "queue": JSON lines on stdin and stdout, as
// docs/adapter-protocol.md describes them. With the argument "heeded" its producers stop when
// write() says false, and go on at "drain"; without it they write on, as nothing stops them.
"use strict";

const { Writable } = require("node:stream");
const heeded = process.argv.includes("heeded");

class Adapter {
  constructor(capacity) {
    this.taken = []; // what the sink was handed and nobody has polled: { item, done }
    this.stream = new Writable({
      objectMode: true,
      highWaterMark: capacity,
      write: (item, _encoding, done) => this.taken.push({ item, done }),
    });
    this.waits = []; // puts that wait for "drain": { item, ticket }
    this.events = [];
    this.tickets = 0;
    this.stream.on("drain", () => this.drained());
  }

  offer({ item }) {
    if (heeded && this.stream.writableNeedDrain) return { ok: false };
    this.stream.write(item);
    return { ok: true };
  }

  put({ item }) {
    if (this.offer({ item }).ok) return { ok: true };
    this.tickets += 1;
    const ticket = `t${this.tickets}`;
    this.waits.push({ item, ticket });
    return { waiting: ticket };
  }

  drained() {
    while (this.waits.length > 0 && !this.stream.writableNeedDrain) {
      const { item, ticket } = this.waits.shift();
      this.stream.write(item);
      this.events.push({ done: ticket, ok: true });
    }
  }

  poll() {
    const next = this.taken.shift();
    if (next === undefined) return { ok: null };
    next.done();
    return { ok: next.item };
  }

  size() {
    return { ok: this.stream.writableLength };
  }

  settle() {
    return { ok: true }; // serve() lets everything run that can run before it sends any reply
  }
}

const CAN = heeded ? ["offer", "poll", "put", "size"] : ["offer", "poll", "size"];
let adapter = null;

function answer(request) {
  if (request.do === "hello") {
    if (request.port !== "queue") return { error: "unknown-port", definite: true };
    adapter = new Adapter(request.settings.capacity); // and forget the one before
    const policy = heeded ? "wait" : "unbounded";
    return { ok: { name: "stream.Writable", version: process.version, can: CAN, policy } };
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
    await new Promise(setImmediate); // ticks and promises that can run have run after this
    if (adapter !== null && adapter.events.length > 0) {
      reply.events = adapter.events.splice(0);
    }
    process.stdout.write(JSON.stringify(reply) + "\n");
  }
}

serve();
