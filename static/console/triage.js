import { listen } from "./keys.js";
import { Live, setOpenCount, showPulse } from "./live.js";

document.documentElement.dataset.js = ""; // In the admin nobody else says so.
const card = document.querySelector("[data-card]");
const pulse = document.querySelector("[data-pulse]");
const arrivedPill = document.querySelector("[data-arrived]");
const movedOn = document.querySelector("[data-moved-on]");
const form = document.querySelector("[data-decide]");
let arrived = 0;

// Keyboard

const follow = (selector) => document.querySelector(selector)?.click();

function undo() {
  const bar = document.querySelector("[data-undo-bar] button, button[data-undo-bar]");
  bar?.click();
}

function snooze() {
  const fold = document.querySelector("[data-snooze]");
  if (!fold) return;
  fold.open = true;
  fold.querySelector("button")?.focus();
}

function verdict(key) {
  const button = form?.querySelector(`[data-key="${key}"]`);
  if (button && !button.disabled) button.click();
}

listen(
  {
    j: () => follow("a[rel=next]"),
    k: () => follow("a[rel=prev]"),
    u: undo,
    s: snooze,
    a: () => arrivedPill && !arrivedPill.hidden && arrivedPill.click(),
    "/": () => document.getElementById("search")?.focus(),
  },
  verdict,
);

// A verdict that needs ticks asks for them before it is sent, and none is sent twice.

let isSent = false;
form?.addEventListener("submit", (event) => {
  const button = event.submitter;
  const ticked = document.querySelectorAll('input[name="keep"]:checked').length;
  const missing = form.querySelector("[data-keep-missing]");
  missing.hidden = !(button?.dataset.wantsKeep && ticked === 0);
  if (!missing.hidden || isSent) {
    event.preventDefault();
    document.querySelector('input[name="keep"]')?.focus();
    return;
  }
  isSent = true;
});
addEventListener("pageshow", () => {
  isSent = false;
});

// Live: arrivals are counted, never pushed under one's eyes.

const pageSeq = Number(document.querySelector("[data-seq]")?.dataset.seq ?? 0);

function take({ type, seq, data }) {
  if (seq <= pageSeq) return; // The page was made with it.
  if (type === "conflict.opened" && data.object !== card?.dataset.card && arrivedPill) {
    arrived += 1;
    arrivedPill.hidden = false;
    arrivedPill.textContent = `${arrived} new`;
  }
  const isMine = data.object === card?.dataset.card;
  if (isMine && data.version && data.version > Number(card.dataset.version)) movedOn.hidden = false;
  if (["conflict.opened", "conflict.resolved", "conflict.reopened", "conflict.snoozed"].includes(type)) count();
}

let timer;
function count() {
  timer ??= setTimeout(async () => {
    timer = undefined;
    try {
      const answer = await fetch("/console/numbers/", { headers: { Accept: "application/json" } });
      if (answer.ok) setOpenCount((await answer.json()).open_conflicts);
    } catch {
      // The pulse says that we are not connected.
    }
  }, 500);
}

arrivedPill?.addEventListener("click", () => {
  const url = new URL(location.href);
  url.searchParams.delete("done");
  // The card on screen stays on screen; the new ones stand in the queue around it.
  if (card) url.searchParams.set("card", card.dataset.card);
  location.assign(url);
});

new Live({ seq: pageSeq, onEvent: take, onState: (state) => showPulse(pulse, state) });
document.getElementById("refusal")?.scrollIntoView({ block: "nearest" });
