import { Live, refreshCounts, showPulse } from "./live.js";

const FEED_MAX = 100;
const feed = document.querySelector("[data-feed]");
const pulse = document.querySelector("[data-pulse]");
const pauseButton = document.querySelector("[data-pause]");
const heldLabel = document.querySelector("[data-held]");
const figures = document.querySelector("[data-figures]");
const HEALTH_MS = 60_000;
const JOINED_MS = 60_000;
const seqsOf = (row) => row.dataset.seqs.split(" ").map(Number);
const shown = new Set([...feed.querySelectorAll("[data-seq]")].flatMap(seqsOf));
let held = [];
let isPaused = false;
let state = "connecting";

// The zone of the workspace, as on all pages; the browser's where that one is unknown to it.
function zoneOfPage() {
  const zone = { timeZone: document.body.dataset.zone };
  try {
    new Date().toLocaleDateString([], zone);
    return zone;
  } catch {
    return {};
  }
}

const zone = zoneOfPage();
// The form of dates and hours on all pages, whatever the browser's language is.
const FORM = "en-GB";

// The hour of what happened today, else the day.
function clock(at) {
  const moment = new Date(at);
  return moment.toLocaleDateString(FORM, zone) === new Date().toLocaleDateString(FORM, zone)
    ? moment.toLocaleTimeString(FORM, { ...zone, hour: "2-digit", minute: "2-digit" })
    : moment.toLocaleDateString(FORM, { ...zone, day: "numeric", month: "short" });
}

function element(tag, css, text) {
  const made = document.createElement(tag);
  if (css) made.className = css;
  if (text) made.textContent = text;
  return made;
}

function drawIcon(name) {
  const known = document.querySelector(`#icons [data-icon="${CSS.escape(name)}"]`);
  return known ? known.firstElementChild.cloneNode(true) : document.createTextNode("·");
}

function row({ type, seq, at, data }) {
  const made = element("li", "fresh");
  made.dataset.seq = made.dataset.seqs = seq;
  if (data.joins) {
    made.dataset.joins = data.joins;
    made.dataset.joinedFrom = data.joined_from;
    made.dataset.many = data.many;
    made.dataset.about = data.object.slice(-8);
  }
  made.dataset.actor = data.actor ?? "";
  const glyph = element("span", `glyph ${data.glyph?.[1] ?? ""}`);
  glyph.append(drawIcon(data.glyph?.[0] ?? "events"));
  const told = element("div", "told");
  const words = element("strong", "", data.url && !data.text ? undefined : data.words);
  if (data.url && !data.text) {
    const link = element("a", "", data.words);
    link.href = data.url;
    words.append(link);
  }
  told.append(words);
  if (data.scope) told.append(" ", element("span", "chip scope", data.scope));
  // `agent` is who wrote the memory, which is who did it only where it was committed.
  const by = (type === "memory.committed" && data.agent) || data.actor;
  if (by) told.append(" ", element("span", "small muted by", by));
  if (data.text) {
    const about = element(data.url ? "a" : "span", "about", data.text);
    if (data.url) about.href = data.url;
    told.append(about);
  }
  const time = element("time", "", clock(at));
  time.dateTime = at;
  time.title = new Date(at).toLocaleString(FORM, zone);
  made.append(glyph, told, time);
  return made;
}

function insert(event) {
  if (!event.data.words || shown.has(event.seq)) return;
  shown.add(event.seq);
  feed.querySelector("[data-empty]")?.remove();
  const rows = [...feed.querySelectorAll("li[data-seq]")];
  const older = rows.find((other) => Number(other.dataset.seq) < event.seq);
  const made = row(event);
  feed.insertBefore(made, older ?? null);
  join(made);
  if (rows.length >= FEED_MAX) feed.lastElementChild.remove();
}

const aboutOf = (rows) => [...new Set(rows.flatMap((row) => row.dataset.about.split(" ")))];

// Says beside the newest of a line how many others it stands for.
const othersOf = (row, count, many) =>
  row.querySelector(".about")
    ? element("span", "others muted", ` and ${count - 1} other ${many}`)
    : element("span", "about", `${count} ${many}`);

// Joins what one act did to many into one line, that of the newest; of what is about few things
// only the lines about the same one.
function join(made) {
  if (!made.dataset.joins) return;
  const { many } = made.dataset;
  const at = (row) => Date.parse(row.querySelector("time").dateTime);
  let same = [...feed.querySelectorAll("li[data-joins]")].filter(
    (row) => row.dataset.joins === made.dataset.joins && Math.abs(at(row) - at(made)) <= JOINED_MS,
  );
  const isOfMany = (many ? aboutOf(same).length : same.flatMap(seqsOf).length) >= Number(made.dataset.joinedFrom);
  if (!isOfMany && many) same = same.filter((row) => row.dataset.about === made.dataset.about);
  if (same.length < 2) return;
  const seqs = same.flatMap(seqsOf);
  const about = aboutOf(same);
  const [newest, ...others] = same;
  for (const row of others) row.remove();
  newest.dataset.seqs = seqs.join(" ");
  let times = newest.querySelector(".times");
  if (!times) {
    times = element("span", "chip num times");
    newest.querySelector(".told strong").after(" ", times);
  }
  times.textContent = `${seqs.length} times`;
  // Scope, author and what was kept are those of one of them: what joins them is common to all.
  const common = newest.dataset.joins.slice(0, -`, ${newest.dataset.actor}`.length);
  newest.querySelector(".told strong").textContent = common;
  newest.querySelector(".scope")?.remove();
  newest.dataset.about = about.join(" ");
  newest.querySelector(".others")?.remove();
  if (!many) newest.querySelector(".about")?.remove();
  else if (about.length > 1) newest.querySelector(".told").append(othersOf(newest, about.length, many));
  const by = newest.querySelector(".by");
  if (by) by.textContent = newest.dataset.actor;
}

function take(event) {
  if (!isPaused) {
    insert(event);
    refreshSoon();
    return;
  }
  held.push(event);
  if (held.length > FEED_MAX) held.shift();
  heldLabel.hidden = false;
  heldLabel.textContent = `${held.length === FEED_MAX ? "at least " : ""}${held.length} waiting`;
}

// More was missed than is sent: the newest follow, and what stands here would leave a gap.
function startAnew() {
  for (const row of feed.querySelectorAll("li[data-seq]")) row.remove();
  shown.clear();
  held = [];
  refreshSoon();
}

let timer;
function refreshSoon() {
  timer ??= setTimeout(refresh, 1500);
}

let isHealthDue = false;

async function refresh() {
  clearTimeout(timer);
  timer = undefined;
  if (isPaused || document.hidden) return;
  // What is not healthy is looked at with the other figures, until it is.
  const wantsHealth = isHealthDue || !document.querySelector("#health .chip.good");
  let html;
  try {
    const answer = await fetch(`${figures.dataset.figures}${wantsHealth ? "?health=1" : ""}`);
    if (!answer.ok || answer.redirected) return;
    html = await answer.text();
  } catch {
    return; // The pulse says that we are not connected.
  }
  if (wantsHealth) isHealthDue = false;
  exchange(new DOMParser().parseFromString(html, "text/html"));
  refreshCounts();
}

// Exchanges the parts that have changed; whoever has the focus within one keeps it.
function exchange(read) {
  for (const part of read.querySelectorAll("[id]")) {
    const old = figures.querySelector(`#${CSS.escape(part.id)}`);
    if (!old || old.isEqualNode(part)) continue;
    const focused = old.contains(document.activeElement) ? document.activeElement : null;
    old.replaceWith(document.adoptNode(part));
    const again = part.matches("a") ? part : part.querySelector(`a[href="${CSS.escape(focused?.getAttribute("href") ?? "")}"]`);
    if (focused) again?.focus({ preventScroll: true });
  }
}

function show() {
  showPulse(pulse, isPaused && state === "live" ? "paused" : state);
}

pauseButton.addEventListener("click", () => {
  isPaused = !isPaused;
  pauseButton.setAttribute("aria-pressed", String(isPaused));
  pauseButton.querySelector("span").textContent = isPaused ? "Resume" : "Pause";
  if (!isPaused) {
    for (const event of held) insert(event);
    held = [];
    heldLabel.hidden = true;
    refresh();
  }
  show();
});

for (const time of feed.querySelectorAll("time")) {
  time.textContent = clock(time.dateTime);
  time.title = new Date(time.dateTime).toLocaleString(FORM, zone);
}
new Live({
  seq: Number(feed.dataset.seq),
  onEvent: take,
  onState(next) {
    if (next === "live" && state !== "live") refreshSoon();
    state = next;
    show();
  },
  onTruncated: startAnew,
});
setInterval(refresh, 15_000);
setInterval(() => (isHealthDue = true), HEALTH_MS);
