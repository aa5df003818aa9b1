// The list of notes, a part of it at a time: ten thousand of them are no more to the browser than a hundred.

import { get } from "./api.js";

const PART = 100;
const at = (name) => document.getElementById(name);

export class List {
  constructor(open) {
    this.open = open;
    this.from = 0;
    this.total = 0;
    this.current = -1;
    at("before").addEventListener("click", () => this.turn(-PART));
    at("behind").addEventListener("click", () => this.turn(PART));
    for (const name of ["show", "order"]) {
      at(name).addEventListener("change", () => {
        this.from = 0;
        this.load();
      });
    }
  }

  turn(by) {
    this.from = Math.max(0, this.from + by);
    return this.load();
  }

  async load() {
    const asked = new URLSearchParams({ from: this.from, count: PART, show: at("show").value, order: at("order").value });
    const found = await get(`/api/notes?${asked}`);
    this.total = found.total;
    at("list").replaceChildren(...found.notes.map((row) => this.row(row)));
    at("shown").textContent = found.total ? `${found.from + 1} to ${found.from + found.notes.length} of ${found.total}` : "none";
    at("before").disabled = !found.from;
    at("behind").disabled = found.from + PART >= found.total;
    return found.notes;
  }

  row(row) {
    const item = document.createElement("li");
    const button = document.createElement("button");
    const name = document.createElement("bdi");
    const state = document.createElement("span");
    button.type = "button";
    button.dataset.number = row.number;
    name.textContent = row.id;
    state.className = "state";
    button.append(name, state);
    button.addEventListener("click", () => this.open(row.number));
    item.append(button);
    this.fill(button, row);
    return item;
  }

  fill(button, row) {
    button.setAttribute("aria-current", String(row.number === this.current));
    const open = row.open ? `${row.open} to look at` : row.found ? "nothing open" : "waits";
    button.lastChild.textContent = row.finished ? "finished" : open;
  }

  // Say of a note what is known now; it keeps its place until the list is loaded anew.
  update(row) {
    const before = this.current;
    this.current = row.number;
    for (const button of at("list").querySelectorAll("button")) {
      const number = Number(button.dataset.number);
      if (number === row.number) this.fill(button, row);
      else if (number === before) button.setAttribute("aria-current", "false");
    }
  }
}
