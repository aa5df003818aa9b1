// Keeps the works of a page up to date; all else works without.
"use strict";

const EVERY_MS = 2000;
const works = new Map([...document.querySelectorAll("[data-work]")].map((element) => [element.dataset.work, element]));

function show(element, work) {
  element.querySelector("progress").value = work.share;
  for (const part of ["share", "phase", "left"]) {
    element.querySelector(`[data-part=${part}]`).textContent = work[part];
  }
}

async function ask() {
  try {
    const answer = await fetch(document.querySelector("[data-live]").dataset.live, { credentials: "same-origin", redirect: "manual" });
    // Nobody is signed in any more, here or at the proxy: a page that asks on by itself would change nothing.
    if (answer.type === "opaqueredirect" || answer.status === 401 || answer.status === 403) return;
    if (!answer.ok) throw new Error("not now");
    const running = new Map((await answer.json()).map((work) => [work.id, work]));
    for (const [id, element] of works) {
      if (running.has(id)) show(element, running.get(id));
    }
    if ([...works.keys()].some((id) => !running.has(id))) {
      // One has ended: the page says what came of it.
      location.reload();
      return;
    }
  } catch {
    // The server, or its database, may be away for a moment.
  }
  setTimeout(ask, EVERY_MS);
}

if (works.size) setTimeout(ask, EVERY_MS);
