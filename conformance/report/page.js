"use strict";
/* Builds the page from its data. Whatever comes from the data is put there as text. */

const KEPT = 256;      // steps between two states that are kept
const AROUND = 9;      // steps that the diagram shows before and after the one in view
const LANES = 10;      // lanes of the diagram
const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value !== null && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null));
  return node;
}
function el(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}
function draw(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}
function counted(number, word) {
  return number.toLocaleString("en") + " " + word + (number === 1 ? "" : "s");
}
function firstFrom(sorted, least) {  // the index of the first that is at least so large
  let low = 0, high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < least) low = middle + 1; else high = middle;
  }
  return low;
}

/* A run: the state after any number of its steps. */
class Run {
  constructor(data) {
    this.data = data;
    this.length = data.steps.length;
    this.places = data.places || [];
    this.pools = this.places.map((place, n) => n).filter((n) => this.places[n].role === "pool");
    this.kept = [];
    this.last = new Int32Array(this.places.length);
    this.writes = (data.links || []).map((link) => Array(link.initial).fill(0));
    this.reads = (data.links || []).map(() => []);
    this.writers = (data.links || []).map((link) => Array(link.initial).fill(-1));
    this.readers = (data.links || []).map(() => []);
    const linkOf = new Map((data.links || []).map((link, n) => [link.place, n]));
    const state = this.start();
    this.kept.push(this.copy(state));
    for (let step = 1; step <= this.length; step++) {
      const acts = this.move(step).acts || [];
      for (const [task, changes] of acts) {
        for (const [place, by] of changes) {
          if (data.blocked === null || step <= data.blocked) this.last[place] = step;
          const link = linkOf.get(place);
          if (link === undefined) continue;
          const [at, task_at] = by > 0 ? [this.writes, this.writers] : [this.reads, this.readers];
          for (let n = 0; n < Math.abs(by); n++) { at[link].push(step); task_at[link].push(task); }
        }
      }
      this.apply(state, step);
      if (step % KEPT === 0) this.kept.push(this.copy(state));
    }
    this.since = (data.cycle || []).map((wait) => data.known
      ? Math.max(0, ...wait.places.map((place) => this.last[place])) : data.blocked);
    if (data.blocked > this.length) this.since = this.since.map(() => Infinity);
  }
  start() {
    return {held: this.places.map((place) => place.start), by: this.pools.map(() => new Map())};
  }
  copy(state) {
    return {held: state.held.slice(), by: state.by.map((one) => new Map(one))};
  }
  move(step) { return this.data.moves[this.data.steps[step - 1]]; }
  apply(state, step) {
    for (const [task, changes] of this.move(step).acts || []) {
      for (const [place, by] of changes) {
        state.held[place] += by;
        const pool = this.pools.indexOf(place);
        if (pool >= 0) state.by[pool].set(task, (state.by[pool].get(task) || 0) - by);
      }
    }
  }
  at(step) {
    const kept = Math.floor(step / KEPT);
    const state = this.copy(this.kept[kept]);
    for (let n = kept * KEPT + 1; n <= step; n++) this.apply(state, n);
    return state;
  }
}

/* What is seen of a run. */
class Player {
  constructor(data, drawing, number) {
    this.run = new Run(data);
    this.data = data;
    this.number = number;
    this.step = 0;
    this.drawing = drawing;
    this.slider = el("input", {type: "range", min: 0, max: this.run.length, value: 0, step: 1,
      "aria-label": "Step of the counterexample: " + data.about});
    this.place = el("output", {class: "place"});
    this.said = el("p", {class: "said", "aria-live": "polite"});
    this.state = el("div", {class: "state"});
    this.diagram = el("div", {class: "scroll diagram", tabindex: 0, role: "group",
      "aria-label": "Space-time diagram: " + data.about});
    this.node = this.build();
    this.slider.addEventListener("input", () => this.go(Number(this.slider.value)));
    this.node.addEventListener("focusin", () => { Player.active = this; });
    this.node.addEventListener("pointerdown", () => { Player.active = this; });
    this.go(0);
  }
  build() {
    const {data, run} = this;
    const button = (text, label, to) => {
      const made = el("button", {type: "button", "aria-label": label, title: label}, text);
      made.addEventListener("click", () => this.go(to()));
      return made;
    };
    const cut = run.length < data.length ? el("p", {class: "small"}, "The page has the "
      + (data.first ? "last " : "first ") + counted(run.length, "step") + " of it.") : null;
    return el("article", {class: "run"},
      el("h3", {}, data.about + ": " + (data.kind === "suite" ? "" :
        data.shortest ? "the shortest counterexample, " : "a counterexample, ")
        + counted(data.length, "step")),
      data.reason ? el("p", {}, data.reason + ".") : null, cut,
      data.rule ? rule(data.rule) : null,
      el("div", {class: "controls", role: "group", "aria-label": "Steps"},
        button("\u21e4", "To the start", () => 0),
        button("\u2190", "One step back", () => this.step - 1),
        button("\u2192", "One step on", () => this.step + 1),
        button("\u21e5", "To the end", () => run.length), this.slider, this.place),
      this.said,
      this.drawing ? el("div", {class: "scroll", tabindex: 0, role: "group",
        "aria-label": "The design at this step: " + data.about}, this.drawing) : null,
      data.lanes.length ? el("div", {class: "beside"}, this.state,
        el("div", {}, el("h4", {}, "Space and time"), this.diagram)) : this.state,
      this.ending(), data.again ? el("p", {}, "Again: ", el("code", {}, data.again)) : null);
  }
  ending() {
    const {data} = this;
    if (!data.waits || !data.waits.length) return null;
    const parts = [el("h4", {}, "Waits at the end"),
      el("ul", {}, ...data.waits.map((wait) => el("li", {}, wait.text)))];
    if (data.round.length) {
      parts.push(el("p", {class: "cycle"}, "Cycle of waits: "
        + [...data.round, data.round[0]].join(" \u2192 ")));
    }
    parts.push(...data.held.map((text) => el("p", {}, text)));
    return el("div", {class: "ending"}, ...parts);
  }
  go(step) {
    const {run, data} = this;
    this.step = Math.min(run.length, Math.max(0, step));
    const before = this.step ? run.at(this.step - 1) : null;
    const now = before ? run.copy(before) : run.at(0);
    if (before) run.apply(now, this.step);
    this.slider.value = this.step;
    const words = this.step ? run.move(this.step).label : "The start";
    this.slider.setAttribute("aria-valuetext", "Step " + this.step + ": " + words);
    const first = data.first || 0;
    this.place.textContent = (this.step + first).toLocaleString("en") + " of "
      + (run.length + first).toLocaleString("en");
    const again = data.loop !== null && data.loop !== undefined && this.step > data.loop;
    this.said.textContent = words + (again ? " (from step " + (data.loop + 1).toLocaleString("en")
      + " on, the steps repeat forever)" : "");
    if (this.drawing && data.known) this.paint(now);
    this.light();
    this.state.replaceChildren(...(data.kind === "design" ? this.table(before, now) : this.exchange()));
    if (data.lanes.length) this.diagram.replaceChildren(this.spaceTime());
  }
  paint(now) {
    const {data, run} = this;
    const held = (text) => text.split(" ").map((n) => data.links[Number(n)].place)
      .reduce((sum, place) => sum + (place === null ? 0 : now.held[place]), 0);
    for (const group of this.drawing.querySelectorAll("[data-link]")) {
      const number = held(group.dataset.link), room = Number(group.dataset.room);
      const slots = group.querySelectorAll(".cell");
      if (group.dataset.room && slots.length === room) {
        slots.forEach((slot, n) => slot.classList.toggle("taken", n >= room - number));
      } else if (slots.length === 2) {
        const wide = Number(slots[0].getAttribute("width"));
        const part = wide * Math.min(1, number / (room || 4));
        slots[1].setAttribute("class", "taken cell");
        slots[1].setAttribute("width", part);
        slots[1].setAttribute("x", Number(slots[0].getAttribute("x")) + wide - part);
      }
      group.querySelectorAll(".held").forEach((text) => { text.textContent = held(text.dataset.of); });
    }
    const places = (text) => text.split(" ").map((n) => run.places.findIndex((place) =>
      place.role === "pool" && place.of === data.pools[Number(n)])).filter((place) => place >= 0);
    for (const group of this.drawing.querySelectorAll("[data-pool]")) {
      const at = places(group.dataset.pool);
      const sum = (count) => at.reduce((total, place) => total + count(place), 0);
      group.querySelector(".free").textContent = sum((place) => now.held[place]) + " of "
        + sum((place) => run.places[place].most) + " free";
    }
    for (const line of this.drawing.querySelectorAll("[data-holds]")) {
      const [tasks, pools] = line.dataset.holds.split("/");
      line.classList.toggle("holds", places(pools).some((place) => tasks.split(" ").some((task) =>
        now.by[run.pools.indexOf(place)].get(Number(task)) > 0)));
    }
    const moved = new Set(this.step ? run.move(this.step).acts.map((act) => act[0]) : []);
    for (const group of this.drawing.querySelectorAll("[data-task]")) {
      group.classList.toggle("moved", group.dataset.task.split(" ").some((n) => moved.has(Number(n))));
    }
  }
  light() {
    if (!this.drawing) return;
    for (const node of this.drawing.querySelectorAll("[data-wait]")) {
      const waits = node.dataset.wait.split(" ").filter((text) => text);
      node.classList.toggle("lit", waits.some((wait) => this.step >= this.run.since[Number(wait)]));
    }
  }
  holders(place, now) {
    const {run, data} = this;
    const held = [...now.by[run.pools.indexOf(place)]].filter(([, number]) => number > 0);
    return held.map(([task, number]) => data.lanes[task] + (number > 1 ? " (" + number + ")" : ""))
      .join(", ") || "none";
  }
  table(before, now) {
    const {run, data} = this;
    if (!data.known) return [el("p", {class: "small"}, "What the links hold is not known step by step here.")];
    const groups = [["Queues", "queue"], ["Pools", "pool"], ["Free slots that are shared", "slots"], ["Credits, flags and tasks", null]];
    const listed = new Set(["queue", "pool", "slots", "beat"]);
    const parts = [];
    for (const [heading, role] of groups) {
      let shown = run.places.map((place, n) => n).filter((n) => role
        ? run.places[n].role === role : !listed.has(run.places[n].role) && (run.places[n].role !== "flag" || now.held[n]));
      if (!role && shown.length > 24) {
        shown = shown.filter((n) => now.held[n] !== (before || now).held[n] || now.held[n] !== run.places[n].start);
      }
      if (!shown.length) continue;
      const rows = shown.map((n) => {
        const place = run.places[n];
        const changed = before && before.held[n] !== now.held[n];
        const by = changed ? now.held[n] - before.held[n] : 0;
        const name = role ? place.of : place.name;
        const size = role === "pool" ? now.held[n] + " of " + place.most + " free; held by: " + this.holders(n, now)
          : now.held[n] + (place.most === null || place.role === "flag" ? "" : " of " + place.most);
        return el("tr", {class: changed ? "changed" : null}, el("th", {scope: "row"}, name),
          el("td", {}, size, changed ? el("span", {class: "by"}, " " + (by > 0 ? "+" : "\u2212") + Math.abs(by)) : null));
      });
      parts.push(el("h4", {}, heading), el("table", {}, el("tbody", {}, ...rows)));
    }
    return parts;
  }
  exchange() {
    const move = this.step ? this.run.move(this.step) : null;
    if (!move) return this.data.scene ? [el("h4", {}, "Before the first request"), el("p", {}, this.data.scene)] : [];
    if (this.data.kind === "machine") {
      return [el("h4", {}, "What changes"), el("pre", {tabindex: 0}, move.changes),
        ...move.shows.map((text) => el("p", {}, "shows " + text))];
    }
    const parts = [el("h4", {}, "Request"), el("pre", {}, move.request || ""),
      ...(move.reply ? [el("h4", {}, "Reply"),
        el("pre", {class: move.breaks ? "broken" : null}, move.reply)] : [])];
    if (move.allowed && move.allowed.length) {
      parts.push(el("h4", {}, "Allowed instead"), el("ul", {}, ...move.allowed.map((text) => el("li", {}, text))));
    }
    return parts;
  }
  spaceTime() {
    const {run, data} = this;
    const from = Math.max(1, Math.min(this.step - AROUND, run.length - 2 * AROUND));
    const to = Math.min(run.length, from + 2 * AROUND);
    const acting = (step) => data.kind === "suite" ? [0, 1] : run.move(step).acts.map((act) => act[0]);
    let lanes = data.lanes.map((name, n) => n);
    if (lanes.length > LANES) {
      const near = [];
      for (let step = from; step <= to; step++) near.push(...acting(step));
      near.sort((a, b) => a - b);
      lanes = [...new Set(near)].slice(0, LANES);
    }
    const names = lanes.map((lane) => data.lanes[lane]);
    const wide = Math.max(74, Math.min(150, Math.max(8, ...names.map((name) => name.length)) * 8.2 + 6));
    const left = 54, high = 22, top = 34;
    const x = (task) => left + wide * (lanes.indexOf(task) + 0.5);
    const y = (step) => top + high * (step - from + 0.5);
    const bottom = top + high * Math.max(1, to - from + 1) + 8;
    const root = draw("svg", {class: "time", role: "img", width: left + wide * lanes.length, height: bottom,
      viewBox: "0 0 " + (left + wide * lanes.length) + " " + bottom},
      draw("title", {}, "Steps " + from + " to " + to + ", one lane for each "
        + (data.kind === "suite" ? "side" : "task")));
    if (this.step) {
      root.append(draw("rect", {class: "now", x: 0, y: y(this.step) - high / 2,
        width: left + wide * lanes.length, height: high}));
    }
    lanes.forEach((lane, n) => {
      const short = names[n].length > 19 ? names[n].slice(0, 18) + "\u2026" : names[n];
      root.append(draw("text", {x: x(lane), y: 18, "text-anchor": "middle", class: "lane"}, short),
        draw("line", {x1: x(lane), x2: x(lane), y1: top - 6, y2: bottom, class: "line"}));
    });
    for (let step = from; step <= to; step++) {
      root.append(draw("text", {x: left - 14, y: y(step) + 4, "text-anchor": "end", class: "number"},
        (step + (data.first || 0)).toLocaleString("en")));
    }
    this.arrows(root, from, to, x, y, lanes, bottom);
    for (let step = from; step <= to; step++) {
      for (const task of acting(step)) {
        if (lanes.includes(task)) {
          root.append(draw("circle", {cx: x(task), cy: y(step), r: 4.5,
            class: step > this.step ? "dot later" : "dot"}));
        }
      }
    }
    return root;
  }
  arrows(root, from, to, x, y, lanes, bottom) {
    const {run, data} = this;
    const line = (a, b, c, d, later, broken) => {
      const angle = Math.atan2(d - b, c - a), r = 7;
      const px = c - 5 * Math.cos(angle), py = d - 5 * Math.sin(angle);
      const tip = [0.45, -0.45].map((by) => (px - r * Math.cos(angle + by)) + "," + (py - r * Math.sin(angle + by)));
      const kind = "message" + (later ? " later" : "") + (broken ? " broken" : "");
      root.append(draw("path", {class: kind, d: "M" + a + "," + b + " L" + px + "," + py
        + " M" + tip[0] + " L" + px + "," + py + " L" + tip[1]}));
    };
    if (data.kind === "suite") {
      for (let step = from; step <= to; step++) {
        const move = run.move(step);
        line(x(0), y(step) - 5, x(1), y(step) - 1, step > this.step);
        line(x(1), y(step) + 1, x(0), y(step) + 6, step > this.step, move.breaks);
      }
      return;
    }
    data.links.forEach((link, n) => {
      if (!link.matched) return;
      const writes = run.writes[n], reads = run.reads[n];
      const wanted = new Set();
      for (let k = firstFrom(writes, from); k < writes.length && writes[k] <= to; k++) wanted.add(k);
      for (let k = firstFrom(reads, from); k < reads.length && reads[k] <= to; k++) wanted.add(k);
      for (const k of wanted) {
        if (k >= writes.length || writes[k] === 0) continue;
        const writer = run.writers[n][k], reader = run.readers[n][k];
        if (!lanes.includes(writer)) continue;
        const start = Math.max(writes[k], from - 1);
        if (reader === undefined) {
          const end = Math.min(bottom, y(start) + 16);
          root.append(draw("path", {class: "message waits" + (writes[k] > this.step ? " later" : ""),
            d: "M" + x(writer) + "," + y(start) + " L" + (x(writer) + 14) + "," + end}));
        } else if (lanes.includes(reader)) {
          line(x(writer), y(start), x(reader), y(Math.min(reads[k], to + 1)), reads[k] > this.step);
        }
      }
    });
  }
}

function rule(told) {
  return el("div", {class: "rule"}, el("p", {}, el("strong", {}, told.id), " (" + told.strength + "): " + told.statement),
    told.source ? el("p", {class: "small"}, "Source: " + told.source) : null,
    told.because ? el("p", {}, told.because) : null);
}

const SIGNS = {ok: "as expected", fail: "not as expected", unknown: "unknown", accepted: "accepted", plain: "not decided"};
function verdicts(lines) {
  return el("ul", {class: "verdicts"}, ...lines.map((line) => el("li", {},
    el("span", {class: "mark " + line.mark}, SIGNS[line.mark]), " ",
    el("span", {class: "verdict"}, el("strong", {}, line.about), ": " + line.words,
      line.note ? el("span", {class: "small"}, " " + line.note) : null))));
}

function drawingOf(number) {
  const template = document.getElementById("drawing-" + number);
  return document.importNode(template.content, true).querySelector("svg");
}

function build(data) {
  const main = document.getElementById("main");
  main.replaceChildren();
  const all = data.sections.flatMap((section) => section.lines);
  const count = (mark) => all.filter((line) => line.mark === mark).length;
  document.getElementById("summary").textContent = Object.keys(SIGNS).filter(count)
    .map((mark) => counted(count(mark), "verdict") + " " + SIGNS[mark]).join(", ");
  const ids = data.sections.map((section, n) => "section-" + n);
  main.append(el("section", {"aria-labelledby": "verdicts"}, el("h2", {id: "verdicts"}, "Verdicts"),
    ...data.sections.flatMap((section, n) => [
      el("h3", {}, el("a", {href: "#" + ids[n]}, section.title)), verdicts(section.lines)])));
  data.sections.forEach((section, n) => {
    const used = new Set(section.runs.map((run) => run.drawing));
    const players = section.runs.map((run, k) => new Player(run,
      run.drawing === null || run.drawing === undefined ? null : drawingOf(section.drawings[run.drawing]), k));
    if (!Player.active && players.length) Player.active = players[0];
    const alone = section.drawings.filter((number, k) => !used.has(k));
    main.append(el("section", {id: ids[n], "aria-labelledby": ids[n] + "-title"},
      el("h2", {id: ids[n] + "-title"}, section.title),
      section.where ? el("p", {class: "small"}, section.where) : null,
      section.about ? el("p", {}, section.about) : null,
      ...section.notes.map((note) => el("p", {class: "small"}, note)),
      ...alone.map((number) => el("div", {class: "scroll", tabindex: 0, role: "group",
        "aria-label": "The design " + section.title}, drawingOf(number))),
      ...players.map((player) => player.node),
      ...section.more.map(([heading, text]) => el("details", {open: true}, el("summary", {}, heading),
        el("pre", {tabindex: 0}, text))),
      section.repeat ? el("p", {}, "Again: ", el("code", {}, section.repeat)) : null));
  });
}

document.addEventListener("keydown", (event) => {
  const by = {ArrowLeft: -1, ArrowRight: 1}[event.key];
  const player = Player.active;
  if (!by || !player || event.altKey || event.ctrlKey || event.metaKey) return;
  const region = event.target.closest ? event.target.closest(".scroll, pre") : null;
  if (region && region.scrollWidth > region.clientWidth) return;  // there they scroll
  event.preventDefault();
  player.go(player.step + by * (event.shiftKey ? 100 : 1));
});

build(JSON.parse(document.getElementById("data").textContent));
