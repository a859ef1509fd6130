// The game on the page: a list of steps and the one that is shown.  A step is a turn, or a jump to a position (the
// start, a pasted position, sides swapped), so that taking back works across jumps as well.
//
// Each step knows its position once the server has said it.  Unknown ones are asked for as the nearest known position
// before it and the turns since.

import { ask } from "./api.js";

// Most characters of turns in a link or a question; the server takes 4,000.
const MOST_MOVES = 3000;

export class Game {
  constructor(variant) {
    this.variant = variant;
    this.seenAs = 0; // counts the symmetries applied, so that an answer from before one is not kept
    this.restart();
  }

  // position: own form, or null for the start of the game; turns: played since.
  restart(position = null, turns = []) {
    this.steps = [{ turn: null, position, answer: null, isStart: position === null }];
    this.at = 0;
    this.push(turns);
  }

  get shown() {
    return this.steps[this.at];
  }

  push(turns) {
    this.steps.length = this.at + 1;
    for (const turn of turns) this.steps.push({ turn, position: null, answer: null });
    this.at = this.steps.length - 1;
  }

  jump(position, turns = []) {
    this.steps.length = this.at + 1;
    this.steps.push({ turn: null, position, answer: null });
    this.at += 1;
    this.push(turns);
  }

  // Number of the last jump up to a step.
  rootOf(number) {
    while (this.steps[number].turn !== null) number -= 1;
    return number;
  }

  // The server's answer to a step.
  async answer(number = this.at) {
    const step = this.steps[number];
    if (step.answer) return step.answer;
    let from = number;
    while (this.steps[from].position === null && this.steps[from].turn !== null) from -= 1;
    const question = { variant: this.variant.variant, details: 1 };
    if (this.steps[from].position !== null) question.position = this.steps[from].position;
    const turns = this.steps.slice(from + 1, number + 1).map((later) => later.turn);
    if (turns.length || !question.position) question.moves = turns.join(" ");
    const { seenAs } = this;
    const answer = await ask("v1/position", question);
    if (seenAs === this.seenAs) Object.assign(step, { answer, position: answer.position });
    return answer;
  }

  // The value of the turn that led to a step, for the side that made it; null while it is not known.
  valueOf(number) {
    const { turn, answer } = this.steps[number];
    if (answer?.details.capture_owed) return answer; // the same side is still to move, and the value is its own
    return this.steps[number - 1].answer?.moves.find((entry) => entry.move === turn) ?? null;
  }

  // What a link must hold to show the game up to where it stands.
  get link() {
    const parameters = { variant: this.variant.variant };
    const root = this.rootOf(this.at);
    const moves = this.steps.slice(root + 1, this.at + 1).map((step) => step.turn).join(" ");
    const tooLong = moves.length > MOST_MOVES;
    if (tooLong) parameters.position = this.shown.position;
    else if (!this.steps[root].isStart) parameters.position = this.steps[root].position;
    if (moves && !tooLong) parameters.moves = moves;
    return `#${new URLSearchParams(parameters)}`.replaceAll("%2F", "/").replaceAll("%2C", ",");
  }

  // Every step seen through a symmetry: map takes the text of a turn and of a position.
  transform(mapTurn, mapPosition) {
    this.seenAs += 1;
    for (const step of this.steps) {
      step.turn = step.turn && mapTurn(step.turn);
      step.position = step.position && mapPosition(step.position);
      step.answer = null;
    }
  }
}

// Symmetries of the drawing as maps from point to point.
export function symmetry(variant, kind) {
  const files = sorted(variant.rings.flat().map((point) => point[0]));
  const ranks = sorted(variant.rings.flat().map((point) => point[1]));
  const last = files.length - 1;
  const image = new Map();
  variant.rings.forEach((ring, number) => {
    ring.forEach((point, i) => {
      const [x, y] = [files.indexOf(point[0]), ranks.indexOf(point[1])];
      if (kind === "mirror") image.set(point, files[last - x] + ranks[y]);
      else if (kind === "rotate") image.set(point, files[y] + ranks[last - x]); // a quarter, clockwise
      else image.set(point, variant.rings[variant.rings.length - 1 - number][i]);
    });
  });
  return image;
}

function sorted(letters) {
  return [...new Set(letters)].sort();
}

// An own form with its points moved.
export function mapPosition(variant, text, image) {
  const [board, ...rest] = text.split(" ");
  const points = variant.rings.flat();
  const letters = [...board.replaceAll("/", "")];
  const moved = new Map(letters.map((letter, i) => [image.get(points[i]), letter]));
  const groups = variant.rings.map((ring) => ring.map((point) => moved.get(point)).join(""));
  return [groups.join("/"), ...rest].join(" ");
}

// An own form with the two sides exchanged.
export function swapSides(text) {
  const [board, side, hands, ...rest] = text.split(" ");
  const other = { W: "B", B: "W" };
  const swapped = board.replace(/[WB]/g, (letter) => other[letter]);
  return [swapped, side === "w" ? "b" : "w", hands.split(",").reverse().join(","), ...rest].join(" ");
}

// What an own form says: point -> "W" or "B", the side to move, the hands.
export function readPosition(variant, text) {
  const [board, side, hands] = text.split(" ");
  const letters = board.replaceAll("/", "");
  const stones = new Map(variant.rings.flat().map((point, i) => [point, letters[i]]).filter(([, letter]) => letter !== "."));
  const [white, black] = hands.split(",").map(Number);
  return { stones, whiteToMove: side === "w", hands: { W: white, B: black } };
}
