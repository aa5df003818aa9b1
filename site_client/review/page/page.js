// The page: what a person does, by mouse or keys, becomes requests one after the other; what is shown is what the disk has.

import * as api from "./api.js";
import { List } from "./list.js";
import { ACCEPTED, CATEGORY, END, Note, START, isDoubt, key, told } from "./note.js";
import { wordFrom, wordOfLine } from "./offsets.js";

const at = (name) => document.getElementById(name);
const MOST_LISTED = 300;
const SNIPPET = 40;
// Nobody has read a note in less.
const LEAST_SHOWN_MS = 400;

let about = null;
let row = null;
let note = null;
let list = null;
// Where a selection by keys began, and the word that it reaches to.
let anchor = null;
let head = null;
let shownAt = 0;
// How often a note has been shown, or something was not done.
let showing = 0;
let queue = Promise.resolve();

// One thing after the other: each sees what the one before has saved.
function doing(work) {
  queue = queue.then(work).catch(failed);
  return queue;
}

// What a person does is meant for what was shown then: what waits behind its end, or until the same note is shown anew, is dropped.
function acting(work) {
  const meant = showing;
  return doing(() => (meant === showing ? work() : undefined));
}

function say(text) {
  at("status").textContent = text;
}

function failed(error) {
  // Whoever pressed more keys took this for done.
  showing += 1;
  if (error.status === 409 && row) {
    say(error.message);
    return show(row.number);
  }
  const lost = error.status === 401 ? "open the address that the terminal shows now" : error.message;
  at("alarm").textContent = `Not saved: ${lost}`;
  at("alarm").hidden = false;
  return undefined;
}

function person(start, end, category) {
  return [start, end, category, "person", null, true];
}

async function change(what, body, telling) {
  const began = performance.now();
  const answer = await api.post(`/api/notes/${row.number}/${what}`, { version: row.version, ...body });
  at("alarm").hidden = true;
  note.change(answer.out, answer.in);
  row = { ...row, version: answer.version, finished: answer.finished, undo: answer.undo, redo: answer.redo };
  refresh();
  say(`${telling}, saved`);
  performance.measure("saved", { start: began });
  return answer;
}

const edit = (out, into, telling) => change("edit", { out, in: into }, telling);

function refresh() {
  const open = note.open();
  const doubts = open.filter(isDoubt).length;
  row = { ...row, open: open.length };
  list.update(row);
  at("title").textContent = row.finished ? `${row.id} (finished)` : row.id;
  at("left").textContent = row.waiting
    ? "The pipeline has not looked at this note yet; it comes next."
    : `Nobody has looked at ${open.length - doubts} found (they count as PHI) and ${doubts} unsure (they count as no PHI).`;
  at("open").replaceChildren(...open.slice(0, MOST_LISTED).map(openItem));
  at("undo").disabled = !row.undo;
  at("redo").disabled = !row.redo;
  at("finish").firstChild.textContent = row.finished ? "Reopen " : "Finish, next ";
  mark();
}

function snippet(span) {
  const whole = note.textOf(span);
  return whole.length > SNIPPET ? `${whole.slice(0, SNIPPET)}…` : whole;
}

function openItem(span) {
  const item = document.createElement("li");
  const button = document.createElement("button");
  const text = document.createElement("bdi");
  const state = document.createElement("span");
  button.type = "button";
  button.dataset.span = key(span);
  text.textContent = snippet(span);
  state.className = "state";
  state.textContent = `${span[CATEGORY]}${isDoubt(span) ? "?" : ""}, ${told(span)}`;
  button.append(text, state);
  button.addEventListener("click", () => look(note.find(key(span)), true));
  item.append(button);
  return item;
}

// Which buttons can do something, and which line of the list is that of the span.
function mark() {
  const span = chosen();
  at("accept").disabled = !span || span[ACCEPTED];
  at("remove").disabled = !span;
  at("label").disabled = !note;
  at("finish").disabled = !note;
  for (const button of at("open").querySelectorAll("button")) {
    button.setAttribute("aria-current", String(button.dataset.span === note.current));
  }
}

const chosen = () => (note && note.current ? note.find(note.current) : null);

function look(span, focus) {
  note.show(span, focus);
  if (span) {
    at("category").value = span[CATEGORY];
    getSelection().removeAllRanges();
    head = null;
  }
  mark();
}

async function show(number) {
  const answer = await api.get(`/api/notes/${number}`);
  showing += 1;
  row = answer;
  note = new Note(at("text"), answer, about.categories);
  head = null;
  at("text").scrollTop = 0;
  shownAt = performance.now();
  refresh();
  look(note.open()[0] ?? null, false);
  if (answer.waiting) setTimeout(() => waitFor(number), 500);
}

function waitFor(number) {
  if (row && row.number === number && row.waiting && !row.version) doing(() => show(number));
}

function openNote(number) {
  return doing(async () => {
    await show(number);
    at("title").focus();
  });
}

async function progress() {
  const before = about?.found;
  about = await api.get("/api/project");
  at("project").textContent = about.name;
  const found = about.finding || about.found ? `, ${about.found} pre-labelled` : "";
  at("progress").textContent = `${about.finished} of ${about.notes} finished${found}${about.finding ? "…" : ""}`;
  if (about.problem) {
    at("alarm").textContent = `No pre-labels: ${about.problem}`;
    at("alarm").hidden = false;
  }
  // Not under somebody's hand.
  if (before !== undefined && before !== about.found && !at("list").matches(":hover, :focus-within")) await list.load();
  if (about.finding) setTimeout(() => progress().catch(() => {}), 3000);
}

// What buttons and keys do.

function step(spans, by) {
  if (!spans.length) return;
  const here = spans.findIndex((span) => key(span) === note.current);
  look(spans[here < 0 ? (by > 0 ? 0 : spans.length - 1) : (here + by + spans.length) % spans.length], true);
}

function accept() {
  return acting(async () => {
    const span = chosen();
    if (!span || span[ACCEPTED]) return;
    await edit([span], [span.with(ACCEPTED, true)], "Accepted");
    look(note.open()[0] ?? note.find(key(span)), true);
  });
}

function acceptAll() {
  return acting(async () => {
    const found = note.open().filter((span) => !isDoubt(span));
    if (found.length) await edit(found, found.map((span) => span.with(ACCEPTED, true)), `${found.length} accepted`);
  });
}

function remove() {
  return acting(async () => {
    const span = chosen();
    if (!span) return;
    const next = note.open().find((other) => key(other) !== key(span)) ?? null;
    await edit([span], [], "Removed");
    if (next) look(next, true);
    else at("text").focus();
  });
}

function label(category) {
  return acting(async () => {
    const selected = note.selected();
    const span = chosen();
    if (selected) {
      const [start, end] = selected.map((unit) => note.offsets.toPoints(unit));
      const over = note.spans.filter((other) => other[START] < end && start < other[END]);
      // A doubt counts as no PHI, so nothing is lost with the rest of it.
      const kept = over.filter((other) => !isDoubt(other)).flatMap((other) => note.beside(other, start, end));
      const stays = kept.map((other) => `${snippet(other)} stays ${other[CATEGORY]}`).join(", ");
      await replace(over, person(start, end, category), stays ? `Labelled, and ${stays}` : "Labelled", kept);
    } else if (span) {
      await replace([span], person(span[START], span[END], category), "Category set");
    }
  });
}

async function replace(out, made, telling, kept = []) {
  await edit(out, [made, ...kept], telling);
  look(note.find(key(made)), true);
}

// Moves one end of the span by a character.
function move(side, by) {
  return acting(async () => {
    const span = chosen();
    if (!span) return;
    const made = person(span[START], span[END], span[CATEGORY]);
    made[side] += by;
    const inside = made[START] >= 0 && made[START] < made[END] && made[END] <= note.offsets.toPoints(note.text.length);
    const free = note.spans.every((other) => other === span || other[END] <= made[START] || made[END] <= other[START]);
    if (inside && free) await replace([span], made, "Moved");
    else say("It can't go there");
  });
}

function back(what) {
  return acting(async () => {
    if (!row?.[what]) return;
    const { in: into } = await change(what, {}, what === "undo" ? "Taken back" : "Done again");
    if (into.length) look(note.find(key(into[0])), true);
  });
}

function finish() {
  return acting(async () => {
    if (row.finished) {
      await change("reopen", {}, "Open again");
      return;
    }
    if (performance.now() - shownAt < LEAST_SHOWN_MS) {
      say("Shown only just now: press once more to finish it");
      return;
    }
    await change("finish", {}, "Finished");
    const { number } = await api.post("/api/next", { after: row.number });
    await Promise.all([progress(), list.load()]);
    if (number === null) say("All notes are finished");
    else await show(number);
    at("title").focus();
  });
}

// Selects the next word in the direction of an arrow; with Shift, on to it.
function moveWord(arrow, extend) {
  const selected = note.selected();
  if (!selected) head = anchor = null;
  const span = chosen();
  const from = head ?? selected ?? (span ? note.units(span) : [0, 0]);
  const block = note.region.children[note.blockAt(from[0])];
  const rightToLeft = block && getComputedStyle(block).direction === "rtl";
  const forward = arrow === "ArrowDown" || arrow === (rightToLeft ? "ArrowLeft" : "ArrowRight");
  const seek = arrow === "ArrowDown" || arrow === "ArrowUp" ? wordOfLine : wordFrom;
  const word = seek(note.text, forward ? from[1] : from[0], forward);
  if (!word) return;
  anchor = extend ? (anchor ?? selected ?? word) : word;
  head = word;
  note.show(null);
  at("text").focus({ preventScroll: true });
  note.select(Math.min(anchor[0], word[0]), Math.max(anchor[1], word[1]));
  mark();
}

const KEYS = {
  n: () => step(note.open(), 1),
  p: () => step(note.open(), -1),
  j: () => step(note.spans, 1),
  k: () => step(note.spans, -1),
  a: accept,
  A: acceptAll,
  d: remove,
  Delete: remove,
  Backspace: remove,
  c: () => at("category").focus(),
  m: () => label(at("category").value),
  u: () => back("undo"),
  r: () => back("redo"),
  f: finish,
  ".": () => move(END, 1),
  ",": () => move(END, -1),
  ">": () => move(START, 1),
  "<": () => move(START, -1),
};

// Held down, these go on; any other changes one thing.
const HELD = "npjk.,<>";

function pressed(event) {
  if (at("help").open || !note) return;
  const { target } = event;
  const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
  if ((event.ctrlKey || event.metaKey) && !event.altKey && ["z", "y"].includes(event.key)) {
    event.preventDefault();
    back(event.key === "z" ? "undo" : "redo");
    return;
  }
  if (target === at("category") && ["Enter", "Escape"].includes(event.key)) {
    event.preventDefault();
    if (event.key === "Enter") label(at("category").value);
    else at("text").focus();
    return;
  }
  if (!plain || target.closest?.("select, input")) return;
  const inText = Boolean(target.closest?.("#text"));
  let work = null;
  if (event.key === "Escape") work = () => at("text").focus();
  else if (event.key === "?") work = help;
  else if (inText && event.key.startsWith("Arrow")) work = () => moveWord(event.key, event.shiftKey);
  else if (inText && (event.key === "Enter" || event.key === " ")) work = note.selected() ? KEYS.m : accept;
  else if (at("keys").checked || inText) {
    const digit = "123456789".indexOf(event.key);
    if (digit >= 0 && digit < about.categories.length) work = () => label(about.categories[digit]);
    else if (Object.hasOwn(KEYS, event.key)) work = KEYS[event.key];
  }
  if (work) {
    event.preventDefault();
    if (!event.repeat || HELD.includes(event.key) || event.key.startsWith("Arrow")) work();
  }
}

function help() {
  at("help").showModal();
}

function clicked(event) {
  const found = event.target.closest("[data-key]");
  if (note && found && getSelection().isCollapsed) look(note.find(found.dataset.key), true);
}

async function begin() {
  await api.open();
  list = new List(openNote);
  const [rows] = await Promise.all([list.load(), progress()]);
  performance.mark("listed");
  at("category").replaceChildren(
    ...about.categories.map((category, index) => new Option(index < 9 ? `${category} (${index + 1})` : category, category)),
  );
  if (rows.length) await show(rows[0].number);
  performance.mark("shown");
}

at("accept").addEventListener("click", accept);
at("remove").addEventListener("click", remove);
at("label").addEventListener("click", () => label(at("category").value));
at("undo").addEventListener("click", () => back("undo"));
at("redo").addEventListener("click", () => back("redo"));
at("finish").addEventListener("click", finish);
at("help-button").addEventListener("click", help);
at("help-close").addEventListener("click", () => at("help").close());
at("text").addEventListener("click", clicked);
// Without it, a click on a button would take the selection away before the button is asked.
for (const name of ["label", "accept", "remove"]) at(name).addEventListener("mousedown", (event) => event.preventDefault());
document.addEventListener("keydown", pressed);
doing(begin);
