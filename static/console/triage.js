import { keepDrafts } from "./drafts.js";
import { listen } from "./keys.js";
import { Live, refreshCounts, showPulse } from "./live.js";
import { undo } from "./toasts.js";

document.documentElement.dataset.js = ""; // In the admin nobody else says so.
const card = document.querySelector("[data-card]");
const pulse = document.querySelector("[data-pulse]");
const arrivedPill = document.querySelector("[data-arrived]");
const movedOn = document.querySelector("[data-moved-on]");
const form = document.querySelector("[data-decide]");
const head = document.querySelector("[data-seq]");
const question = document.getElementById("question");
const listed = (names) => new Set((names ?? "").split(" ").filter(Boolean));
const opens = listed(head?.dataset.opens);
const settles = listed(head?.dataset.settles);
let arrived = 0;

keepDrafts(card?.dataset.card);

// Keyboard

const follow = (selector) => document.querySelector(selector)?.click();

function snooze() {
  const fold = document.querySelector("[data-snooze]");
  if (!fold) return;
  fold.open = true;
  fold.querySelector("button")?.focus();
}

addEventListener("keydown", ({ key }) => {
  const fold = key === "Escape" && document.querySelector("[data-snooze][open]");
  if (!fold) return;
  fold.open = false;
  fold.querySelector("summary").focus();
});

function comment() {
  const field = document.querySelector("[data-comment]");
  field?.focus();
  field?.scrollIntoView({ block: "center" });
}

// A comment and a text that is edited in place are sent by Ctrl+Enter.
addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.isComposing) return;
  const button = event.target.closest("[data-sent]")?.querySelector("button");
  if (!button) return;
  event.preventDefault();
  button.click();
});

// While the choices of a snooze are open, digits are theirs: nothing is decided by mistake.
function verdict(key) {
  const fold = document.querySelector("[data-snooze][open]");
  if (fold) {
    fold.querySelector(`[data-choice="${key}"]`)?.click();
    return;
  }
  const button = form?.querySelector(`[data-key="${key}"]`);
  if (button && !button.disabled) button.click();
}

listen(
  {
    j: () => follow("a[rel=next]"),
    k: () => follow("a[rel=prev]"),
    u: undo,
    s: snooze,
    a: () => follow("[data-assign]"),
    c: comment,
    n: () => arrivedPill && !arrivedPill.hidden && arrivedPill.click(),
    "/": () => document.getElementById("search")?.focus(),
  },
  verdict,
);

// A text that is edited in place has the cursor at once; on narrow screens a link of the bar opens it.

document.querySelector("[data-to-edit]")?.addEventListener("click", (event) => {
  event.preventDefault();
  const fold = document.querySelector("[data-edit]");
  fold.open = true;
  fold.querySelector("textarea").focus();
});
document.querySelector("[data-edit]")?.addEventListener("toggle", ({ target }) => {
  if (target.open) target.querySelector("textarea").focus();
});

// None of them valid: the field for the right answer comes first, empty or not Enter sends it.

const known = document.querySelector("[data-answer]");
known?.querySelector("textarea").addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  known.querySelector("button").click();
});

function askForAnswer(button) {
  if (button?.dataset.wantsAnswer === undefined || !known || known.open) return false;
  known.open = true;
  known.querySelector("textarea").focus();
  known.scrollIntoView({ block: "nearest" }); // with the button that says how to save
  return true;
}

// A verdict that needs ticks asks for them before it is sent, and none is sent twice.

let isSent = false;
form?.addEventListener("submit", (event) => {
  const button = event.submitter;
  const ticked = document.querySelectorAll('input[name="keep"]:checked').length;
  const missing = form.querySelector("[data-keep-missing]");
  const isMissing = Boolean(button?.dataset.wantsKeep) && ticked === 0;
  if (missing) missing.hidden = !isMissing;
  if (askForAnswer(button)) {
    event.preventDefault();
    return;
  }
  if (isMissing || isSent) {
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

const pageSeq = Number(head?.dataset.seq ?? 0);

// Whether an event is about what is on screen: a card by its id, others by what they name.
function isMine(data) {
  const shown = card?.dataset.card;
  return shown && [data.object, data.suggestion, data.review].includes(shown);
}

function take({ type, seq, data }) {
  if (seq <= pageSeq) return; // The page was made with it.
  if (opens.has(type) && !isMine(data) && arrivedPill) {
    arrived += 1;
    arrivedPill.hidden = false;
    arrivedPill.textContent = `${arrived} new · show`;
  }
  if (isMine(data)) {
    const known = Number(card.dataset.version ?? 0);
    movedOn.hidden = known ? !(data.version > known) && movedOn.hidden : opens.has(type) && movedOn.hidden;
  }
  if (settles.has(type)) countSoon();
}

let timer;
function countSoon() {
  timer ??= setTimeout(() => {
    timer = undefined;
    refreshCounts();
  }, 500);
}

arrivedPill?.addEventListener("click", () => {
  const url = new URL(location.href);
  url.searchParams.delete("done");
  // The card on screen stays on screen; the new ones stand in the queue around it.
  const name = card?.dataset.card;
  if (name) url.searchParams.set(head.dataset.param, card.dataset.key ?? name);
  location.assign(url);
});

new Live({ seq: pageSeq, onEvent: take, onState: (state) => showPulse(pulse, state) });

// After an answer or a step the question has the focus: it is read out, with what was just done.

const refusal = document.getElementById("refusal");
refusal?.scrollIntoView({ block: "nearest" });
const isQueue = Boolean(head?.dataset.param);
if (!refusal && isQueue && location.search) question?.focus({ preventScroll: true });
