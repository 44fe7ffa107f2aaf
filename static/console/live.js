// One connection to what happens: reconnects, catches up by seq, says when it is stale.

const SILENCE_MS = 50_000; // Two heartbeats and a bit.
const SEEN_MAX = 5_000;

export class Live {
  constructor({ seq = 0, onEvent, onState, onTruncated = () => {} }) {
    this.seq = seq;
    this.onEvent = onEvent;
    this.onState = onState;
    this.onTruncated = onTruncated;
    this.seen = new Set();
    this.attempt = 0;
    this.hasMissed = false;
    this.connect();
    this.watch = setInterval(() => this.checkSilence(), 5_000);
    addEventListener("online", () => this.retryNow());
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden) this.retryNow();
    });
  }

  connect() {
    this.onState(this.attempt ? "gone" : "connecting");
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    this.socket = new WebSocket(`${scheme}://${location.host}/ws/live/`);
    this.socket.addEventListener("message", ({ data }) => this.take(JSON.parse(data)));
    this.socket.addEventListener("close", ({ code }) => this.lost(code));
  }

  take(message) {
    this.heardAt = Date.now();
    if (message.type === "live.ready") {
      this.attempt = 0;
      this.onState("live");
      // Also the first time: something may have happened since the page was made.
      this.socket.send(JSON.stringify({ seq: this.seq || message.seq }));
    } else if (message.type === "catch_up.truncated") {
      this.onTruncated();
    } else if (message.type === "error" && message.data.retry_after_seconds) {
      const { socket } = this;
      setTimeout(() => {
        if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ seq: this.seq }));
      }, message.data.retry_after_seconds * 1000);
    } else if (message.seq && message.type !== "catch_up.done" && message.type !== "error") {
      if (this.seen.has(message.seq)) return;
      this.remember(message.seq);
      this.seq = Math.max(this.seq, message.seq);
      this.onEvent(message);
    } else if (message.type === "heartbeat") {
      this.onState("live");
    }
  }

  remember(seq) {
    this.seen.add(seq);
    if (this.seen.size > SEEN_MAX) this.seen.delete(this.seen.values().next().value);
  }

  lost(code) {
    if (code === 4401) {
      this.onState("refused");
      clearInterval(this.watch);
      this.isOver = true;
      return;
    }
    this.attempt += 1;
    this.onState("gone");
    const wait = Math.min(500 * 2 ** this.attempt, 15_000) * (0.7 + 0.6 * Math.random());
    this.timer = setTimeout(() => this.connect(), wait);
  }

  retryNow() {
    if (this.isOver || this.socket.readyState !== WebSocket.CLOSED) return;
    clearTimeout(this.timer);
    this.connect();
  }

  checkSilence() {
    const silent = Date.now() - (this.heardAt ?? Date.now());
    if (silent > SILENCE_MS && this.socket.readyState === WebSocket.OPEN) {
      this.onState("late");
      this.socket.close();
    }
  }
}

const STATES = {
  connecting: ["", "connecting"],
  live: ["live", "live"],
  late: ["late", "no news, reconnecting"],
  gone: ["gone", "not connected, trying again"],
  refused: ["gone", "signed out, reload the page"],
  paused: ["late", "paused"],
};

export function showPulse(element, state) {
  if (!element) return;
  const [css, words] = STATES[state];
  element.className = `pulse only-js ${css}`;
  element.textContent = words;
  element.title = state === "live" ? "Changes arrive by themselves" : "What you see may be out of date";
}

// How much waits, by the name of its source (`inbox`: all of it), wherever the page shows it; in the title all of it.
export async function refreshCounts() {
  try {
    const answer = await fetch("/console/inbox/counts/", { headers: { Accept: "application/json" } });
    if (!answer.ok) return;
    const counts = await answer.json();
    for (const place of document.querySelectorAll("[data-count]")) {
      place.textContent = counts[place.dataset.count] ?? place.textContent;
      place.parentElement.classList.toggle("at-zero", place.textContent === "0");
    }
    const title = document.title.replace(/^\(\d+\) /, "");
    document.title = counts.inbox ? `(${counts.inbox}) ${title}` : title;
  } catch {
    // The pulse says that we are not connected.
  }
}
