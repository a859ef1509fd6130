// The histogram of a table: how many positions are won (upwards) and lost (downwards) in how many plies.

import { element } from "./api.js";

const [WIDTH, HEIGHT, MIDDLE, TOP] = [640, 236, 112, 96];
const SVG = "http://www.w3.org/2000/svg";

function draw(name, attributes, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

const grouped = (number) => number.toLocaleString("en");
const share = (part, whole) => (part ? `${part / whole < 0.0005 ? "<0.1" : ((100 * part) / whole).toFixed(1)} %` : "none");

// row: one of /v1/stats with its depths; here: the value of the position on the board, marked in the picture.
export function depthsChart(row, here) {
  const { wins, losses, draws, canonical_positions: all, depths } = row;
  const deepest = Math.max(20, row.longest_win_plies ?? 0, row.longest_loss_plies ?? 0);
  const most = Math.max(1, ...depths.win.map(([, n]) => n), ...depths.loss.map(([, n]) => n));
  const x = (plies) => 6 + ((WIDTH - 12) * plies) / (deepest + 1);
  const high = (n) => Math.max(2, (TOP * Math.log1p(n)) / Math.log1p(most));
  const wide = Math.max(1.5, ((WIDTH - 12) / (deepest + 1)) * 1.5);
  const words = `Subspace ${row.subspace}: ${grouped(all)} positions. Wins ${share(wins, all)}, draws ${share(draws, all)}, losses ${share(losses, all)}. Longest win ${row.longest_win_plies ?? "none"}, longest loss ${row.longest_loss_plies ?? "none"} plies.`;
  const svg = draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": words, class: "histogram" });
  for (const [outcome, sign] of [["win", -1], ["loss", 1]]) {
    for (const [plies, n] of depths[outcome]) {
      const tall = high(n);
      const mine = here.outcome === outcome && here.dtw_plies === plies ? " here" : "";
      const bar = draw("rect", { class: outcome + mine, x: x(plies) - wide / 2, y: sign < 0 ? MIDDLE - tall - 1 : MIDDLE + 1, width: wide, height: tall });
      bar.append(draw("title", {}, `${outcome} in ${plies} plies: ${grouped(n)}`));
      svg.append(bar);
      if (mine) {
        const y = sign < 0 ? MIDDLE - tall - 8 : MIDDLE + tall + 8;
        svg.append(draw("path", { class: "pointer", d: `M${x(plies)} ${y}l6 ${sign * 9}h-12z` }));
      }
    }
  }
  svg.append(draw("line", { class: "axis", x1: 0, x2: WIDTH, y1: MIDDLE, y2: MIDDLE }));
  const step = [5, 10, 20, 50, 100, 200].find((size) => deepest / size <= 8) ?? 500;
  for (let plies = 0; plies <= deepest; plies += step) {
    svg.append(draw("text", { x: x(plies), y: HEIGHT - 6, "text-anchor": plies ? "middle" : "start" }, plies ? String(plies) : "0 plies"));
  }
  svg.append(draw("text", { class: "kind", x: WIDTH - 4, y: 16, "text-anchor": "end" }, "wins ↑"));
  svg.append(draw("text", { class: "kind", x: WIDTH - 4, y: HEIGHT - 26, "text-anchor": "end" }, "losses ↓"));
  const bar = element("div", { class: "shares", "aria-hidden": "true" });
  for (const [outcome, n] of [["win", wins], ["draw", draws], ["loss", losses]]) {
    if (!n) continue;
    const part = element("span", { class: outcome }, n / all > 0.18 ? `${outcome} ${share(n, all)}` : "");
    part.style.flexGrow = n / all;
    bar.append(part);
  }
  const facts = element("p", { class: "quiet" }, words.replace(/^Subspace [^:]*: /, ""), " Heights are logarithmic.");
  return [bar, svg, facts];
}
