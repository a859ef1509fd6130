// The server's turns, grouped by the points one presses for them.  No rule of the game is known here: what is not in
// the server's list cannot be pressed.

// Origin, target and captured stone of a turn's text: d6, d6-d5, a4-a7xd2, xb4.
export function parseTurn(text) {
  const [, first, second, captured] = /^(?:([a-z]\d)(?:-([a-z]\d))?)?(?:x([a-z]\d))?$/.exec(text);
  return second ? { origin: first, target: second, captured } : { target: first, captured };
}

// The turn without the stone it removes.
export function withoutRemoval(text) {
  return text.replace(/x[a-z]\d$/, "");
}

// What can be pressed: point -> {kind, entries}, entries best first as the server gave them.
//   place, slide   the turn is made, or, where it closes a mill, the stone to remove is asked for next
//   remove         the stone that is removed
//   choose         the stone to move next
//   drop           the chosen stone, to choose none
export function pressable(moves, chosen) {
  const found = new Map();
  const add = (point, kind, entry) => {
    if (!found.has(point)) found.set(point, { kind, entries: [] });
    found.get(point).entries.push(entry);
  };
  for (const entry of moves) {
    const { origin, target, captured } = parseTurn(entry.move);
    if (!target) add(captured, "remove", entry);
    else if (!origin) chosen || add(target, "place", entry);
    else if (origin === chosen) add(target, "slide", entry);
    else add(origin, "choose", entry);
  }
  if (chosen) found.set(chosen, { kind: "drop", entries: [] });
  return found;
}

// The text of the turn that pressing plays; where a stone is still to be removed, without the removal.
export function turnOf(option) {
  const texts = option.entries.map((entry) => entry.move);
  return option.kind !== "remove" && closesMill(option) ? withoutRemoval(texts[0]) : texts[0];
}

export function closesMill(option) {
  return option.entries.every((entry) => parseTurn(entry.move).captured);
}
