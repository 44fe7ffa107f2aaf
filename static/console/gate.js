import { listen } from "./keys.js";
import { undo } from "./toasts.js";

const NEXT = "engram-gate-next"; // which pair comes after the one just answered
const pairs = [...document.querySelectorAll("[data-pair]")];

function go(pair) {
  if (!pair) return;
  pair.focus({ preventScroll: true });
  pair.scrollIntoView({ block: "nearest" });
}

const current = () => pairs.indexOf(document.activeElement?.closest("[data-pair]"));

// Of a pair that has been left by the mouse nothing is current: the first is next.
function step(by) {
  const at = current();
  go(at < 0 ? pairs[0] : pairs[Math.min(Math.max(at + by, 0), pairs.length - 1)]);
}

listen(
  { j: () => step(1), k: () => step(-1), u: undo },
  (key) => pairs[current()]?.querySelector(`[data-key="${key}"]`)?.click(),
);

// After an answer the page stays where it was: at the pair that comes next. After an undo the
// address names the pair that is back.

for (const [at, pair] of pairs.entries()) {
  let isSent = false;
  pair.querySelector("form")?.addEventListener("submit", (event) => {
    if (isSent) event.preventDefault();
    isSent = true;
    const next = pairs[at + 1] ?? pairs[at - 1];
    if (next) sessionStorage.setItem(NEXT, next.id);
  });
  addEventListener("pageshow", () => {
    isSent = false;
  });
}

const next = document.getElementById(sessionStorage.getItem(NEXT) ?? location.hash.slice(1));
sessionStorage.removeItem(NEXT);
if (next?.matches("[data-pair]")) {
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
}
