// Places in a text: the program counts code points, a browser UTF-16 units.

function firstAbove(sorted, value, key) {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (key(sorted[middle], middle) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

export class Offsets {
  // Where the code points begin that take two units.
  constructor(text) {
    this.wide = Array.from(text.matchAll(/[\u{10000}-\u{10ffff}]/gu), (found) => found.index);
  }

  toPoints(unit) {
    return unit - firstAbove(this.wide, unit, (place) => place);
  }

  toUnits(point) {
    return point + firstAbove(this.wide, point, (place, before) => place - before);
  }
}

const WORD = /[\p{L}\p{M}\p{N}\u200c\u200d]+|[^\s\p{L}\p{M}\p{N}]/gu;
const NEAR = 2000;

function words(text, from, to) {
  return Array.from(text.slice(from, to).matchAll(WORD), (found) => [from + found.index, from + found.index + found[0].length]);
}

// The word behind a place, or ahead of it; null at the end of the text.
export function wordFrom(text, place, forward) {
  for (let reach = NEAR; ; reach *= 8) {
    const found = forward
      ? words(text, place, Math.min(text.length, place + reach))[0]
      : words(text, Math.max(0, place - reach), place).at(-1);
    if (found || reach > text.length) return found ?? null;
  }
}

// The first word of the next line, or of the one before.
export function wordOfLine(text, place, forward) {
  if (forward) {
    const end = text.indexOf("\n", place);
    return end < 0 ? null : wordFrom(text, end + 1, true);
  }
  const start = text.lastIndexOf("\n", Math.max(0, place - 1));
  if (start <= 0) return place > 0 ? wordFrom(text, 0, true) : null;
  return wordFrom(text, text.lastIndexOf("\n", start - 1) + 1, true);
}
