// The pages of memories: ticking many, moving through the list, and editing by key.

import { listen } from "./keys.js";

const list = document.querySelector("[data-act]");
const boxes = [...document.querySelectorAll("[name=ids][type=checkbox]")];
const links = [...document.querySelectorAll(".rows.memories .wide > a:first-child")];
const all = document.querySelector("[data-all]");
const count = document.querySelector("[data-ticked]");
const edit = document.querySelector("[data-edit]");

function tell() {
  const ticked = boxes.filter((box) => box.checked).length;
  if (count) count.textContent = ticked ? `${ticked} of ${boxes.length} ticked` : "None ticked";
  if (!all) return;
  all.checked = ticked > 0 && ticked === boxes.length;
  all.indeterminate = ticked > 0 && ticked < boxes.length;
}

if (list && count) {
  list.addEventListener("change", ({ target }) => {
    if (target === all) for (const box of boxes) box.checked = all.checked;
    tell();
  });
  addEventListener("pageshow", tell);
}

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
    u: () => document.querySelector("[data-undo-bar] button")?.click(),
    "/": () => document.getElementById("search")?.focus(),
  },
  () => {},
);
