// The pages of memories: moving through the list, ticking and editing by key.

import { listen } from "./keys.js";
import { undo } from "./toasts.js";

const links = [...document.querySelectorAll(".rows.memories .wide > a:first-child")];
const edit = document.querySelector("[data-edit]");

function step(by) {
  const row = document.activeElement?.closest("tr");
  const at = links.findIndex((link) => link.closest("tr") === row);
  links[at < 0 ? 0 : Math.min(Math.max(at + by, 0), links.length - 1)]?.focus();
}

function tick() {
  const box = document.activeElement?.closest("tr")?.querySelector("[name=ids]");
  box?.click();
}

function startEdit() {
  if (!edit) return;
  edit.open = true;
  edit.querySelector("textarea").focus();
}

listen(
  {
    ...(links.length && { j: () => step(1), k: () => step(-1), x: tick }),
    ...(edit && { e: startEdit }),
    u: undo,
    "/": () => document.getElementById("search")?.focus(),
  },
  () => {},
);
