// The page: reads the link, asks the server, and fills the board and the panels.

import { ask, badge, element, inWords, mark, sentence } from "./api.js";
import { BoardView } from "./board.js";
import { depthsChart } from "./depths.js";
import { Game, mapPosition, readPosition, swapSides, symmetry } from "./game.js";
import { pressable, turnOf } from "./turns.js";

const find = (id) => document.getElementById(id);
// Most plies of a game whose values are asked for behind its back, as when a link opens it.
const MOST_FILLED = 400;

let variants = [];
let game;
let chosen = null; // the stone that is to move
let asked = 0; // counts what was asked, so that a late answer is not shown over a later one
const board = new BoardView(find("board"), press);

// ---------------------------------------------------------------- what is shown

// Shows the step where the game stands; where the server refuses, undo is called and the reason is shown.
async function show(undo) {
  const mine = (asked += 1);
  chosen = null;
  try {
    const answer = await game.answer();
    if (mine !== asked) return;
    say("");
    render(answer);
    fill(mine);
    if (find("line-panel").open) showLine(mine);
  } catch (error) {
    if (mine !== asked) return;
    undo?.();
    say(error.message);
    if (game.shown.answer) render(game.shown.answer);
  }
}

function render(answer) {
  const { details } = answer;
  const position = readPosition(game.variant, answer.position);
  const own = answer.to_move === "white" ? "White" : "Black";
  renderBoard();
  renderSides(position, answer);
  find("verdict-badge").className = `badge ${answer.outcome}`;
  find("verdict-badge").textContent = mark(answer);
  const task = details.capture_owed ? `${own} has closed a mill: which stone goes?` : answer.moves.length ? `${own} to move.` : "";
  find("verdict-words").textContent = answer.outcome === "unknown" ? task : `${task} ${details.words}`.trim();
  const missing = details.missing;
  const tables = missing.length === 1 ? "Table" : "Tables";
  const named = missing.slice(0, 6).join(", ") + (missing.length > 6 ? ` and ${missing.length - 6} more` : "") + (missing.length === 1 ? " is" : " are");
  const all = answer.outcome === "unknown" ? "This value is unknown, which is not a draw" : "Turns marked ? are unknown, which is not a draw";
  const build = `morris build -V ${game.variant.variant} --subspace ${missing[0]}`;
  if (missing.length) note(element("strong", {}, `${tables} ${named} missing.`), ` ${all}. A build makes what is missing: `, element("code", {}, build));
  else if (details.note) note(`Cannot arise in play: ${sentence(details.note)}`);
  else note();
  renderTurns(answer);
  renderGame();
  renderCopies(details.notations);
  renderDepths(answer);
  find("back").disabled = game.at === 0;
  find("forward").disabled = game.at === game.steps.length - 1;
  find("best").disabled = !answer.moves.length || answer.moves[0].outcome === "unknown";
  if (location.hash !== game.link) history.replaceState(null, "", game.link);
}

function renderBoard() {
  const answer = game.shown.answer;
  const options = pressable(answer.moves, chosen);
  const { stones } = readPosition(game.variant, answer.position);
  board.show({ stones, options, chosen, last: game.shown.turn, ownName: answer.to_move === "white" ? "White" : "Black" });
}

function renderSides(position, answer) {
  for (const [id, letter, name] of [["white-side", "W", "White"], ["black-side", "B", "Black"]]) {
    const hand = position.hands[letter];
    const onBoard = [...position.stones.values()].filter((stone) => stone === letter).length;
    const stones = element("span", { class: `hand ${name.toLowerCase()}`, "aria-hidden": "true" });
    for (let i = 0; i < hand; i += 1) stones.append(element("i"));
    find(id).replaceChildren(element("b", {}, name), stones, counts(onBoard, hand));
    find(id).classList.toggle("moves", answer.to_move === name.toLowerCase() && answer.moves.length > 0);
  }
}

function counts(onBoard, hand) {
  if (!hand) return element("span", { class: "quiet" }, `${onBoard} on board`);
  return element("span", { class: "quiet" }, element("span", { class: "wide" }, `${onBoard} on board, `), `${hand} in hand`);
}

// isHere: the turn belongs to the position on the board, and is drawn on it while it is pointed at.
function turnButton(entry, act, isHere = true) {
  const button = element("button", { type: "button", "data-turn": entry.move }, badge(entry), element("span", {}, entry.move));
  button.setAttribute("aria-label", `${entry.move}: ${inWords(entry)}`);
  button.addEventListener("click", act);
  for (const kind of isHere ? ["mouseenter", "focus"] : []) button.addEventListener(kind, () => board.point(entry.move));
  for (const kind of isHere ? ["mouseleave", "blur"] : []) button.addEventListener(kind, () => board.point(null));
  return element("li", {}, button);
}

function renderTurns(answer) {
  const list = answer.moves.map((entry) => turnButton(entry, () => play([entry.move])));
  find("turns").replaceChildren(...list);
  find("turns-title").textContent = list.length ? `Turns of ${answer.to_move === "white" ? "White" : "Black"}, best first (${list.length})` : "No turns: the game is over";
  find("key").hidden = !list.length;
}

function renderGame() {
  const list = [];
  game.steps.forEach((step, number) => {
    const value = number && step.turn ? game.valueOf(number) : null;
    const text = step.turn ?? (number ? "position" : "start");
    const button = element("button", { type: "button" }, element("span", {}, text));
    if (value) {
      button.prepend(badge(value));
      button.setAttribute("aria-label", `${text}: ${inWords(value)}`);
    }
    if (number === game.at) button.setAttribute("aria-current", "step");
    button.addEventListener("click", () => go(number));
    list.push(element("li", {}, button));
  });
  find("game").replaceChildren(...list);
  const here = list[game.at];
  find("game").scrollTop = here.offsetTop - find("game").offsetTop - find("game").clientHeight + here.offsetHeight + 4;
}

function renderCopies(notations) {
  const fields = [["Link", location.href.split("#")[0] + game.link], ["Position", notations.position], ["MFEN 1.0", notations.mfen], ["Sanmill FEN", notations.sanmill]];
  const turns = game.steps.slice(game.rootOf(game.at) + 1, game.at + 1).map((step) => step.turn);
  fields.push(["Turns", turns.join(" ")]);
  const rows = fields.filter(([, text]) => text).map(([name, text]) => {
    const field = element("input", { readonly: "", value: text, "data-kind": name });
    field.addEventListener("focus", () => field.select());
    return element("label", {}, element("span", {}, name), field);
  });
  find("copies").replaceChildren(...rows);
}

let depthsOf = null; // what the picture shows: {key, row} or {key, reason}
async function renderDepths(answer) {
  const { subspace, missing } = answer.details;
  const key = `${game.variant.variant} ${subspace}`;
  find("depths-title").textContent = subspace ? `Depths in ${subspace}` : "Depths";
  if (!subspace) depthsOf = { key, reason: "No table holds such positions: the game ends here." };
  else if (missing.includes(subspace)) depthsOf = { key, reason: `Table ${subspace} is missing.` };
  else if (depthsOf?.key !== key || depthsOf.reason) {
    const wanted = (depthsOf = { key });
    try {
      const { subspaces } = await ask("v1/stats", { variant: game.variant.variant, subspace });
      wanted.row = subspaces[0];
    } catch (error) {
      wanted.reason = error.message;
    }
    if (game.shown.answer !== answer) return;
  }
  if (depthsOf.row) find("depths").replaceChildren(...depthsChart(depthsOf.row, answer.details.capture_owed ? {} : answer));
  else if (depthsOf.reason) find("depths").replaceChildren(element("p", { class: "quiet" }, depthsOf.reason));
}

async function showLine(mine) {
  const { position } = game.shown.answer;
  let answer;
  try {
    answer = await ask("v1/line", { variant: game.variant.variant, position });
  } catch (error) {
    if (mine === asked) find("line-end").textContent = error.message;
    return;
  }
  if (mine !== asked) return;
  const steps = answer.line ?? [];
  const upTo = (i) => steps.slice(0, i + 1).map((step) => step.move);
  find("line").replaceChildren(...steps.map((entry, i) => turnButton(entry, () => play(upTo(i)), i === 0)));
  const ends = answer.outcome === "draw" ? "Then a position comes again: a draw." : steps.length ? "Then the game is over." : "The game is over.";
  find("line-end").textContent = answer.line ? ends : "A table on the way is missing.";
}

function say(text) {
  find("notice").textContent = text;
  find("notice").hidden = !text;
}

function note(...parts) {
  find("note").replaceChildren(...parts);
  find("note").hidden = !parts.length;
}

// Asks for the steps of a game that came as a whole, so that the list shows the value of each turn.
async function fill(mine) {
  for (let number = game.rootOf(game.at); number < Math.min(game.steps.length, MOST_FILLED); number += 1) {
    if (game.steps[number].answer) continue;
    try {
      await game.answer(number);
    } catch {
      return;
    }
    if (mine !== asked) return;
    renderGame();
  }
}

// ---------------------------------------------------------------- what is done

function press(point) {
  if (!game?.shown.answer) return;
  const option = point === null ? { kind: "drop" } : pressable(game.shown.answer.moves, chosen).get(point);
  if (!option) return;
  if (option.kind === "choose" || option.kind === "drop") {
    chosen = option.kind === "choose" ? point : null;
    renderBoard();
  } else play([turnOf(option)]);
}

function play(turns) {
  const { steps, at } = game;
  const before = [...steps];
  game.push(turns);
  return show(() => Object.assign(game, { steps: before, at }));
}

function go(number) {
  const { at } = game;
  game.at = number;
  return show(() => Object.assign(game, { at }));
}

function jump(position, turns = []) {
  const { steps, at } = game;
  const before = [...steps];
  game.jump(position, turns);
  return show(() => Object.assign(game, { steps: before, at }));
}

async function transform(kind) {
  await game.answer(0); // a link may hold its position in another notation than the own form
  const image = symmetry(game.variant, kind);
  game.transform(
    (turn) => turn.replace(/[a-wyz]\d/g, (point) => image.get(point)),
    (position) => mapPosition(game.variant, position, image),
  );
  return show();
}

function setVariant(name) {
  const variant = variants.find((each) => each.variant === name);
  if (!variant) return false;
  find("variant").value = name;
  find("summary").textContent = variant.summary;
  document.title = `${name} – morris`;
  find("turn-out").hidden = variant.rings.length < 2 || variant.rings[0].length !== variant.rings.at(-1).length;
  if (game?.variant !== variant) {
    game = new Game(variant);
    board.build(variant);
  }
  return true;
}

async function open(link) {
  const parameters = new URLSearchParams(link.replace(/^#/, ""));
  const first = variants.find((each) => each.has_tables) ?? variants[0];
  const name = parameters.get("variant") ?? first.variant;
  const known = setVariant(name);
  if (!known) setVariant(first.variant);
  game.restart(parameters.get("position"), (parameters.get("moves") ?? "").split(/\s+/).filter(Boolean));
  let reason = known ? "" : `There is no game called ${name}.`;
  await show(() => {
    reason = "The link leads to no position: ";
    game.restart();
  });
  if (!game.shown.answer) {
    reason += find("notice").textContent;
    await show();
  }
  if (reason) say(reason);
}

// Connects a button of the page with what it does.
const buttons = {
  back: () => go(game.at - 1),
  forward: () => go(game.at + 1),
  best: () => play([game.shown.answer.moves[0].move]),
  new: () => {
    game.restart();
    return show();
  },
  swap: () => jump(swapSides(game.shown.answer.position)),
  mirror: () => transform("mirror"),
  rotate: () => transform("rotate"),
  "turn-out": () => transform("inside out"),
};

async function begin() {
  find("key").replaceChildren(
    ...[["win", 9], ["draw", null], ["loss", 22], ["unknown", null]].flatMap(([outcome, dtw_plies]) => {
      const value = { outcome, dtw_plies };
      return [element("span", {}, badge(value), ` ${outcome === "unknown" ? "table missing" : inWords(value)}`)];
    }),
  );
  try {
    variants = await ask("v1/variants");
  } catch (error) {
    say(error.message);
    return;
  }
  for (const { variant, has_tables } of variants) {
    find("variant").append(element("option", { value: variant }, has_tables ? variant : `${variant} (no tables)`));
  }
  for (const [id, act] of Object.entries(buttons)) find(id).addEventListener("click", () => game?.shown.answer && act());
  find("variant").addEventListener("change", () => setVariant(find("variant").value) && show());
  find("paste").addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      const read = await ask("v1/convert", { variant: game.variant.variant, text: find("pasted").value });
      await jump(read.start, read.moves);
      find("pasted").value = "";
    } catch (error) {
      say(error.message);
    }
  });
  find("line-panel").addEventListener("toggle", () => find("line-panel").open && showLine(asked));
  addEventListener("hashchange", () => location.hash !== game.link && open(location.hash));
  await open(location.hash);
  performance.mark("first board");
  document.documentElement.dataset.ready = "yes";
}

begin();
