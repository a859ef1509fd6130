// Questions to the server, and the words and shapes in which values are shown everywhere on the page.

export class Refused extends Error {
  constructor(code, message, table) {
    super(message);
    this.code = code;
    this.table = table;
  }
}

// Asks one of the paths of openapi.json; addresses are relative, so the page may live below any path.
export async function ask(path, parameters = {}) {
  let response;
  try {
    response = await fetch(`${path}?${new URLSearchParams(parameters)}`);
  } catch {
    throw new Refused("offline", "The server does not answer.");
  }
  const text = await response.text();
  let data;
  try {
    data = JSON.parse(text);
  } catch {
    throw new Refused("internal", `The server answered ${response.status} without a reason.`);
  }
  if (!response.ok) throw new Refused(data.code, sentence(data.error), data.table);
  return data;
}

export function sentence(text) {
  const first = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(first) ? first : `${first}.`;
}

const LETTERS = { win: "W", draw: "D", loss: "L", unknown: "?" };

// W9, D, L22 or ?, as the drawings of the command line have it.
export function mark(value) {
  return LETTERS[value.outcome] + (value.dtw_plies ?? "");
}

export function inWords(value) {
  if (value.outcome === "unknown") return "unknown, a table is missing";
  if (value.outcome === "draw") return "draw";
  if (value.dtw_plies === null) return value.outcome;
  return `${value.outcome} in ${value.dtw_plies} ${value.dtw_plies === 1 ? "ply" : "plies"}`;
}

export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// A value in its colour and its shape.
export function badge(value) {
  return element("span", { class: `badge ${value.outcome}`, title: inWords(value) }, mark(value));
}
