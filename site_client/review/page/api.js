// Requests to the program that serves this page. The key came in exchange for the secret in the address, which is worth nothing any more.

const KEY = "key";

export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

async function request(path, options = {}) {
  const headers = { "x-review-key": sessionStorage.getItem(KEY) ?? "" };
  if (options.body) headers["content-type"] = "application/json";
  let answer;
  try {
    answer = await fetch(path, { ...options, headers, cache: "no-store" });
  } catch {
    throw new Refused(0, "the program does not answer; start it again, and open the address that it shows");
  }
  const value = await answer.json().catch(() => ({ error: "the answer was cut" }));
  if (!answer.ok) throw new Refused(answer.status, value.error ?? "refused");
  return value;
}

export const get = (path) => request(path);

export const post = (path, value) => request(path, { method: "POST", body: JSON.stringify(value) });

// What stands behind "#" is sent to no server and in no header.
export async function open() {
  const token = location.hash.slice(1);
  history.replaceState(null, "", "/");
  if (!token && sessionStorage.getItem(KEY)) return;
  sessionStorage.removeItem(KEY);
  const { key } = await post("/api/session", { token });
  sessionStorage.setItem(KEY, key);
}
