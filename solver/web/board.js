// The board as SVG.  Points are buttons: those that can be pressed are reached with Tab, all of them with the arrow
// keys.  Each carries the value of its best turn as a badge, whose shape and letter say the same as its colour.

import { inWords, mark } from "./api.js";
import { closesMill, parseTurn } from "./turns.js";

const SIDE = 760;
const MARGIN = 80;
const SVG = "http://www.w3.org/2000/svg";

function draw(name, attributes = {}, text = "") {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  return made;
}

// Outline of a badge: round for a win, a box for a draw, pointed for a loss, broken for unknown.
function outline(outcome, half, high) {
  if (outcome === "win") return `M${-half + high} ${-high}H${half - high}A${high} ${high} 0 0 1 ${half - high} ${high}H${-half + high}A${high} ${high} 0 0 1 ${-half + high} ${-high}Z`;
  if (outcome === "loss") return `M${-half + 9} ${-high}H${half - 9}L${half + 3} 0L${half - 9} ${high}H${-half + 9}L${-half - 3} 0Z`;
  return `M${-half} ${-high}H${half}V${high}H${-half}Z`;
}

export class BoardView {
  // press(point) is called for points that can be pressed, and with null to choose none.
  constructor(svg, press) {
    this.svg = svg;
    this.press = press;
    svg.addEventListener("keydown", (event) => this.onKey(event));
  }

  // Draws the empty board of a game.
  build(variant) {
    const points = variant.rings.flat();
    const files = [...new Set(points.map((point) => point[0]))].sort();
    const ranks = [...new Set(points.map((point) => point[1]))].sort().reverse();
    const unit = (SIDE - 2 * MARGIN) / (files.length - 1);
    this.radius = { 7: 34, 5: 40, 3: 46 }[files.length] ?? 34;
    this.place = new Map(points.map((point) => [point, [MARGIN + unit * files.indexOf(point[0]), MARGIN + unit * ranks.indexOf(point[1])]]));
    this.svg.replaceChildren(draw("rect", { class: "wood", x: 2, y: 2, width: SIDE - 4, height: SIDE - 4, rx: 26 }));
    for (const [a, b] of variant.edges) {
      const [[x1, y1], [x2, y2]] = [this.place.get(a), this.place.get(b)];
      this.svg.append(draw("line", { class: "edge", x1, y1, x2, y2 }));
    }
    files.forEach((file, i) => this.svg.append(draw("text", { class: "coordinate", x: MARGIN + unit * i, y: SIDE - 12 }, file)));
    ranks.forEach((rank, i) => this.svg.append(draw("text", { class: "coordinate", x: 19, y: MARGIN + unit * i + 7 }, rank)));
    this.points = new Map(this.readingOrder(points).map((point) => [point, this.buildPoint(point)]));
    this.preview = draw("g", { class: "preview" });
    this.svg.append(this.preview);
  }

  readingOrder(points) {
    const key = (point) => this.place.get(point)[1] * SIDE + this.place.get(point)[0];
    return [...points].sort((a, b) => key(a) - key(b));
  }

  buildPoint(point) {
    const [x, y] = this.place.get(point);
    const r = this.radius;
    const group = draw("g", { class: "point", role: "button", "data-point": point, transform: `translate(${x} ${y})` });
    const parts = {
      group,
      badge: draw("path", { class: "badge-shape" }),
      label: draw("text", { class: "badge-text", y: 9 }),
    };
    group.append(
      draw("circle", { class: "hit", r: r + 13 }),
      draw("circle", { class: "dot", r: 8 }),
      draw("path", { class: "taken-mark", d: "M-11 -11L11 11M11 -11L-11 11" }),
      draw("circle", { class: "stone", r }),
      draw("circle", { class: "ring", r: r + 7 }),
      parts.badge,
      parts.label,
    );
    group.addEventListener("click", () => this.pressed(point));
    this.svg.append(group);
    return parts;
  }

  // Shows a position.  stones: point -> "W" | "B"; options: what can be pressed, see turns.js; last: the turn before.
  show({ stones, options, chosen, last, ownName }) {
    this.options = options;
    const lastTurn = last ? parseTurn(last) : {};
    for (const [point, parts] of this.points) {
      const stone = stones.get(point);
      const option = options.get(point);
      const best = option?.entries[0];
      const classes = ["point", stone === "W" ? "white" : stone === "B" ? "black" : "free"];
      if (option) classes.push("legal", option.kind);
      if (point === chosen) classes.push("chosen");
      if (point === lastTurn.target) classes.push("last");
      if (point === lastTurn.origin) classes.push("left");
      if (point === lastTurn.captured) classes.push("taken");
      parts.group.setAttribute("class", classes.join(" "));
      parts.group.setAttribute("aria-disabled", String(!option));
      parts.group.setAttribute("tabindex", option ? "0" : "-1");
      parts.group.setAttribute("aria-label", this.describe(point, stone, option, ownName));
      if (option?.kind === "choose" || option?.kind === "drop") parts.group.setAttribute("aria-pressed", String(point === chosen));
      else parts.group.removeAttribute("aria-pressed");
      // While a stone is chosen only its own turns are marked.
      this.setBadge(parts, best && !(chosen && option.kind === "choose") ? best : null, option && option.kind !== "remove" && option.kind !== "choose" && closesMill(option));
    }
    if (!this.svg.querySelector('[tabindex="0"]')) this.points.values().next().value?.group.setAttribute("tabindex", "0");
    this.point(null);
  }

  setBadge(parts, value, withRemoval) {
    parts.badge.setAttribute("class", `badge-shape ${value ? value.outcome : "none"}`);
    parts.label.setAttribute("class", `badge-text ${value ? value.outcome : "none"}`);
    const text = value ? mark(value) + (withRemoval ? "x" : "") : "";
    parts.label.textContent = text;
    parts.badge.setAttribute("d", value ? outline(value.outcome, 12 + 8 * Math.max(text.length, 1.5), 18) : "");
  }

  describe(point, stone, option, ownName) {
    const holds = stone === "W" ? "white stone" : stone === "B" ? "black stone" : "free";
    if (!option) return `${point}, ${holds}`;
    const value = option.entries[0] ? `: ${inWords(option.entries[0])}` : "";
    const act = {
      place: `${ownName} places here`, slide: "the chosen stone goes here", remove: "remove this stone",
      choose: "move this stone", drop: "chosen; press to choose none",
    }[option.kind];
    const mill = option.entries[0] && option.kind !== "remove" && option.kind !== "choose" && closesMill(option) ? ", closes a mill" : "";
    return `${point}, ${holds}, ${act}${mill}${value}`;
  }

  // Draws a turn over the board while it is pointed at in a list; null takes it away.
  point(turn) {
    this.preview.replaceChildren();
    if (!turn) return;
    const { origin, target, captured } = parseTurn(turn);
    const at = (point, name, more) => {
      const [cx, cy] = this.place.get(point);
      this.preview.append(draw(name, more(cx, cy)));
    };
    if (origin) {
      const [[x1, y1], [x2, y2]] = [this.place.get(origin), this.place.get(target)];
      this.preview.append(draw("line", { class: "way", x1, y1, x2, y2 }));
    }
    if (target) at(target, "circle", (cx, cy) => ({ class: "goal", cx, cy, r: this.radius + 3 }));
    if (captured) at(captured, "path", (x, y) => ({ class: "cross", d: `M${x - 24} ${y - 24}l48 48M${x + 24} ${y - 24}l-48 48` }));
  }

  pressed(point) {
    if (this.options?.has(point)) this.press(point);
  }

  onKey(event) {
    const point = event.target.dataset?.point;
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (event.key === "Escape") this.press(null);
    else if (point && step) this.points.get(this.neighbour(point, step)).group.focus();
    else if (point && (event.key === "Enter" || event.key === " ")) this.pressed(point);
    else return;
    event.preventDefault();
  }

  // The nearest point in a direction: straight on if there is one, else the one least to the side.
  neighbour(point, [dx, dy]) {
    const [x, y] = this.place.get(point);
    let best = point;
    let least = Infinity;
    for (const [other, [ox, oy]] of this.place) {
      const ahead = (ox - x) * dx + (oy - y) * dy;
      const aside = Math.abs((ox - x) * dy) + Math.abs((oy - y) * dx);
      if (ahead > 0 && ahead + 3 * aside < least) [best, least] = [other, ahead + 3 * aside];
    }
    return best;
  }
}
