// The text of one note with its spans. It is laid down in blocks, which the browser draws when they come into view, so that a
// note of a megabyte opens at once; a change draws its own blocks anew. Text goes in as text only, never as markup.

import { Offsets } from "./offsets.js";

const BLOCK = 4000;
const HUES = 12;

export const START = 0, END = 1, CATEGORY = 2, SOURCE = 3, CERTAINTY = 4, ACCEPTED = 5;

export const isDoubt = (span) => span[SOURCE] === "doubt" && !span[ACCEPTED];
// In what it counts as: PHI where it was found, no PHI where it is a doubt.
export const confidence = (span) => (span[CERTAINTY] === null ? 0 : isDoubt(span) ? 1 - span[CERTAINTY] : span[CERTAINTY]);
export const key = (span) => `${span[START]}-${span[END]}`;

export function told(span) {
  if (span[ACCEPTED]) return "accepted";
  return span[CERTAINTY] === null ? "certainty unknown" : `${Math.round(span[CERTAINTY] * 100)}% likely PHI`;
}

export class Note {
  constructor(region, answer, categories) {
    this.region = region;
    this.categories = categories;
    this.text = answer.text;
    this.offsets = new Offsets(this.text);
    this.spans = answer.spans;
    this.edges = [0];
    while (this.edges.at(-1) < this.text.length) this.edges.push(this.blockEnd(this.edges.at(-1)));
    this.current = null;
    this.draw();
  }

  blockEnd(start) {
    const most = start + BLOCK;
    if (most >= this.text.length) return this.text.length;
    const line = this.text.lastIndexOf("\n", most) + 1;
    if (line > start) return line;
    const space = this.text.lastIndexOf(" ", most) + 1;
    if (space > start) return space;
    // Not between the halves of one character.
    return this.text.codePointAt(most - 1) > 0xffff ? most + 1 : most;
  }

  units(span) {
    return [this.offsets.toUnits(span[START]), this.offsets.toUnits(span[END])];
  }

  textOf(span) {
    return this.text.slice(...this.units(span));
  }

  draw() {
    const blocks = this.edges.slice(1).map(() => {
      const block = document.createElement("div");
      block.className = "block";
      block.dir = "auto";
      return block;
    });
    this.region.replaceChildren(...blocks);
    const inside = blocks.map(() => []);
    for (const span of this.spans) for (const at of this.blocksOf(span)) inside[at].push(span);
    blocks.forEach((block, at) => this.fill(block, at, inside[at]));
  }

  blockAt(unit) {
    let low = 0;
    let high = this.edges.length - 2;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.edges[middle] <= unit) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  blocksOf(span) {
    const [start, end] = this.units(span);
    const first = this.blockAt(start);
    return Array.from({ length: this.blockAt(end - 1) - first + 1 }, (_, index) => first + index);
  }

  fill(block, at, spans) {
    const from = this.edges[at];
    const to = this.edges[at + 1];
    const parts = [];
    let place = from;
    for (const span of spans) {
      const [start, end] = this.units(span);
      const cut = [Math.max(start, from), Math.min(end, to)];
      parts.push(this.text.slice(place, cut[0]), this.element(span, this.text.slice(...cut), end <= to));
      place = cut[1];
    }
    parts.push(this.text.slice(place, to));
    block.replaceChildren(...parts.filter((part) => part !== ""));
  }

  element(span, text, last) {
    const made = document.createElement("span");
    const shade = isDoubt(span) ? "doubt" : `c${this.categories.indexOf(span[CATEGORY]) % HUES} q${span[ACCEPTED] ? 4 : Math.floor(confidence(span) * 4.999)}`;
    made.className = `span ${shade}${span[ACCEPTED] ? " accepted" : ""}${key(span) === this.current ? " current" : ""}`;
    made.dataset.key = key(span);
    if (last) made.dataset.label = isDoubt(span) ? `${span[CATEGORY]}?` : span[CATEGORY];
    made.setAttribute("role", "button");
    made.setAttribute("aria-label", `${text}, ${span[CATEGORY]}, ${isDoubt(span) ? "unsure, " : ""}${told(span)}`);
    made.tabIndex = key(span) === this.current ? 0 : -1;
    made.append(text);
    return made;
  }

  // What a stretch leaves of a span, without what is neither letter nor digit at its ends; each piece stays what the span was.
  beside(span, start, end) {
    const pieces = [[span[START], start], [end, span[END]]].filter(([from, to]) => from < to);
    return pieces.flatMap(([from, to]) => {
      const words = this.textOf([from, to]).match(/[\p{L}\p{M}\p{N}](.*[\p{L}\p{M}\p{N}])?/su);
      if (!words) return [];
      const unit = this.offsets.toUnits(from) + words.index;
      return [[this.offsets.toPoints(unit), this.offsets.toPoints(unit + words[0].length), ...span.slice(CATEGORY)]];
    });
  }

  // What the program says has changed.
  change(out, into) {
    const gone = new Set(out.map(key));
    this.spans = this.spans.filter((span) => !gone.has(key(span))).concat(into).sort((one, other) => one[START] - other[START]);
    if (gone.has(this.current) && !into.some((span) => key(span) === this.current)) this.current = null;
    for (const at of new Set([...out, ...into].flatMap((span) => this.blocksOf(span)))) this.redraw(at);
  }

  redraw(at) {
    const [from, to] = [this.edges[at], this.edges[at + 1]];
    const spans = this.spans.filter((span) => {
      const [start, end] = this.units(span);
      return start < to && end > from;
    });
    this.fill(this.region.children[at], at, spans);
  }

  find(name) {
    return this.spans.find((span) => key(span) === name) ?? null;
  }

  // Spans nobody has looked at, least certain first.
  open() {
    return this.spans.filter((span) => !span[ACCEPTED]).sort((one, other) => confidence(one) - confidence(other) || one[START] - other[START]);
  }

  show(span, focus) {
    for (const shown of this.region.querySelectorAll(".current")) {
      shown.classList.remove("current");
      shown.tabIndex = -1;
    }
    this.current = span ? key(span) : null;
    if (!span) return;
    const parts = this.region.querySelectorAll(`[data-key="${this.current}"]`);
    for (const part of parts) part.classList.add("current");
    if (!parts.length) return;
    parts[0].tabIndex = 0;
    parts[0].scrollIntoView({ block: "nearest" });
    if (focus) parts[0].focus({ preventScroll: true });
  }

  // Selected text, from and to in UTF-16 units without white space at its ends; null where nothing is.
  selected() {
    const chosen = getSelection();
    if (!chosen.rangeCount || chosen.isCollapsed) return null;
    const range = chosen.getRangeAt(0);
    let [start, end] = [this.unitOf(range.startContainer, range.startOffset), this.unitOf(range.endContainer, range.endOffset)];
    if (start === null || end === null) return null;
    while (start < end && /\s/.test(this.text[start])) start += 1;
    while (end > start && /\s/.test(this.text[end - 1])) end -= 1;
    return start < end ? [start, end] : null;
  }

  unitOf(node, offset) {
    if (node === this.region) return this.edges[offset] ?? null;
    const block = (node.nodeType === Node.TEXT_NODE ? node.parentElement : node).closest(".block");
    if (!block || block.parentElement !== this.region) return null;
    const ahead = document.createRange();
    ahead.setStart(block, 0);
    ahead.setEnd(node, offset);
    return this.edges[Array.prototype.indexOf.call(this.region.children, block)] + ahead.toString().length;
  }

  select(start, end) {
    const [from, to] = [this.nodeAt(start, false), this.nodeAt(end, true)];
    if (!from || !to) return;
    getSelection().setBaseAndExtent(...from, ...to);
    to[0].parentElement.scrollIntoView({ block: "nearest" });
  }

  nodeAt(unit, ends) {
    const at = this.blockAt(ends ? Math.max(0, unit - 1) : unit);
    let left = unit - this.edges[at];
    const walker = document.createTreeWalker(this.region.children[at], NodeFilter.SHOW_TEXT);
    let node = null;
    while (walker.nextNode()) {
      node = walker.currentNode;
      if (left < node.length || (ends && left === node.length)) return [node, left];
      left -= node.length;
    }
    return node && [node, node.length];
  }
}
