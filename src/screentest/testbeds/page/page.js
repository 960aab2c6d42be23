"use strict";
const { sources, pairs } = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const intact = $("intact"), changed = $("changed");
const AT_ONCE = 100;

let shown = [];      // the pairs that pass the filter
let listed = 0;      // how many of them stand in the list
let pair = null;
let moment = -1;     // the changed clip that was chosen last
let linkChosen = null;

// ---- small helpers

function element(tag, text, kind) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

function timecode(seconds) {
  const tenths = Math.max(0, Math.round(seconds * 10));
  const pad = (number) => String(number).padStart(2, "0");
  const hours = Math.floor(tenths / 36000), minutes = Math.floor(tenths / 600) % 60;
  const rest = `${pad(Math.floor(tenths / 10) % 60)}.${tenths % 10}`;
  return hours ? `${hours}:${pad(minutes)}:${rest}` : `${minutes}:${rest}`;
}

const range = ([start, end]) => `${timecode(start)}–${timecode(end)}`;

// ---- the list

function fillFilter() {
  const option = (value, text) => { const made = element("option", text); made.value = value; return made; };
  const labels = new Map();
  for (const one of pairs) labels.set(kindOf(one), (labels.get(kindOf(one)) ?? 0) + 1);
  $("aspect").append(option("", `all (${pairs.length})`));
  for (const [label, count] of labels) $("aspect").append(option(label, `${label} (${count})`));
  $("source").append(option("", `all (${sources.length})`));
  sources.forEach((source, number) => $("source").append(option(String(number), source.id)));
}

const kindOf = (one) => (one.kind === "placebo" ? `Placebo: ${one.label.toLowerCase()}` : one.label);

function apply() {
  const aspect = $("aspect").value, source = $("source").value;
  const wanted = $("search").value.trim().toLowerCase();
  const says = (one) => {
    const text = [one.name, sources[one.source].id, ...(one.prompts ?? []), ...one.moments.map((at) => captionOf(one, at))];
    return text.join("\n").toLowerCase().includes(wanted);
  };
  shown = pairs.filter((one) =>
    (!aspect || kindOf(one) === aspect) && (!source || String(one.source) === source)
    && (!wanted || says(one)));
  const all = `${pairs.length} ${pairs.length === 1 ? "pair" : "pairs"}`;
  $("count").textContent = shown.length === pairs.length ? all : `${shown.length} of ${all}`;
  $("list").replaceChildren();
  listed = 0;
  more();
  $("nothing").hidden = shown.length > 0;
  $("nothing").textContent = pairs.length ? "No pair passes the filter." : "This testbed has no pairs.";
  $("viewer").hidden = !shown.length;
  if (!shown.length) { stop(); pair = null; } else if (!shown.includes(pair)) open(shown[0]); else mark();
}

const captionOf = (one, at) => sources[one.source].captions[at.clip] ?? "";

function more() {
  for (const one of shown.slice(listed, listed + AT_ONCE)) {
    const button = element("button");
    button.type = "button";
    const step = one.severity !== null && one.severity !== 1 ? ` · ${one.severity}` : "";
    button.append(element("b", kindOf(one) + step), element("span", sources[one.source].id));
    button.title = one.name;
    button.addEventListener("click", () => open(one));
    const entry = element("li");
    entry.append(button);
    $("list").append(entry);
  }
  listed = Math.min(shown.length, listed + AT_ONCE);
}

function mark() {
  const number = shown.indexOf(pair);
  while (number >= listed && listed < shown.length) more();
  for (const old of $("list").querySelectorAll("[aria-current]")) old.removeAttribute("aria-current");
  const button = $("list").children[number]?.firstChild;
  if (button) {
    button.setAttribute("aria-current", "true");
    const box = $("scroll").getBoundingClientRect(), place = button.getBoundingClientRect();
    if (place.top < box.top || place.bottom > box.bottom) {
      $("scroll").scrollTop += place.top - box.top - box.height / 3;
    }
  }
  $("before").disabled = number <= 0;
  $("after").disabled = number < 0 || number >= shown.length - 1;
}

// ---- one pair

function open(one, at = 0) {
  stop();
  pair = one;
  moment = -1;
  const source = sources[one.source];
  $("label").textContent = kindOf(one);
  const same = "The same video, under the false prompt";
  const harm = one.prompts ? same : one.kind === "placebo" ? "Placebo" : "Degraded";
  $("changed-label").textContent = harm;
  const groups = Object.entries(source.groups).map(([name, value]) => `${name}: ${value}`);
  const severity = one.severity === null ? [] : [`severity ${one.severity}`];
  $("about").textContent = [one.done, source.id, ...severity, ...groups].filter(Boolean).join(" · ");
  $("link").value = linkChosen ?? (moves(one) ? "time" : "clip");
  load(intact, one.intact, $("over-intact"));
  load(changed, one.changed, $("over-changed"));
  for (const player of [intact, changed]) { player.width = one.width; player.height = one.height; }
  $("seek").max = one.duration;
  drawMarks();
  drawMoments();
  drawFacts();
  $("prompt").textContent = one.prompts
    ? `True: ${one.prompts[0]}\n\nFalse: ${one.prompts[1]}`
    : source.captions.filter(Boolean).join(" ");
  mark();
  history.replaceState(null, "", `#${encodeURIComponent(one.name)}`);
  if (one.moments.length) goTo(Math.min(at, one.moments.length - 1)); else seek(one.duration / 2);  // films tend to begin black
}

// Whether clips are elsewhere in the changed video: then the same time is what shows it.
const moves = (one) => one.moments.some((at) => at.changed && Math.abs(at.changed[0] - at.intact[0]) > 1e-3);

function load(player, address, over) {
  over.hidden = Boolean(address);
  over.textContent = address ? "" : "Its path leads out of the testbed.";
  delete player.dataset.broken;
  if (address) player.src = address; else player.removeAttribute("src");
}

function drawMarks() {
  $("marks").replaceChildren(...pair.moments.map((at) => {
    const made = element("i");
    made.style.left = `${100 * at.intact[0] / pair.duration}%`;
    made.style.width = `${100 * (at.intact[1] - at.intact[0]) / pair.duration}%`;
    return made;
  }));
}

function drawMoments() {
  $("moments-title").textContent = pair.moments.length ? "Changed clips" : "No clip in particular was changed";
  $("moments").replaceChildren(...pair.moments.map((at, number) => {
    const button = element("button");
    button.type = "button";
    button.append(element("span", `Clip ${at.clip + 1} · ${range(at.intact)}`, "when"));
    const words = [];
    if (!at.changed) words.push("deleted");
    else if (Math.abs(at.changed[0] - at.intact[0]) > 1e-3) words.push(`now at ${range(at.changed)}`);
    for (const [name, value] of Object.entries(at.details)) words.push(`${name.replaceAll("_", " ")}: ${value}`);
    if (words.length) button.append(element("span", words.join(" · "), "what"));
    button.append(element("span", captionOf(pair, at), "caption"));
    button.addEventListener("click", () => goTo(number));
    const entry = element("li");
    entry.append(button);
    return entry;
  }));
  $("last-moment").disabled = $("next-moment").disabled = $("loop").disabled = !pair.moments.length;
}

function drawFacts() {
  const facts = [
    ["pair", pair.name], ["recipe", pair.recipe],
    ...Object.entries(pair.models).map(([role, used]) => [role.replaceAll("_", " "), used]),
    ...(pair.checked ? [["checked", pair.checked]] : []),
    ["size", `${pair.width}×${pair.height}`],
    ["duration", `${timecode(pair.duration)} intact, ${timecode(pair.changedDuration)} changed`],
    ["files", `${pair.intact.slice(2)}, ${pair.changed.slice(2)}`],
  ];
  $("facts").replaceChildren(...facts.flatMap(([name, value]) => [element("dt", name), element("dd", value)]));
}

// ---- both players as one

// Where a moment of the intact video is in the changed one; null where that clip is gone.
function counterpart(time) {
  if ($("link").value === "time") return Math.min(time, pair.changedDuration);
  for (const [start, end, at] of pair.stretches) {
    if (time < end - 1e-6) return at === null ? null : at + Math.max(0, time - start);
  }
  return pair.changedDuration;
}

function seek(time) {
  if (!pair) return;
  const bounded = Math.min(Math.max(0, time), Math.max(0, pair.duration - pair.frame / 2));
  place(intact, bounded);
  follow(true, bounded);
  draw(bounded);
}

// Half a frame further in: browsers round, and the frame before a cut is not the one meant.
function place(player, time) {
  if (Math.abs(player.currentTime - time) > 1e-3) player.currentTime = time;
}

function follow(exactly, time = intact.currentTime) {
  const wanted = counterpart(time);
  const gone = wanted === null;
  if (!changed.dataset.broken) {
    $("over-changed").hidden = !gone;
    if (gone) $("over-changed").textContent = "This clip was deleted.";
  }
  if (gone) { changed.pause(); return; }
  const drift = Math.abs(changed.currentTime - wanted);
  if (exactly || drift > 0.15) place(changed, wanted);
  if (!intact.paused && changed.paused && wanted < pair.changedDuration - pair.frame) start(changed);
}

function start(player) {
  player.play().catch(() => {});  // paused again before it began, or no file: reported elsewhere
}

function play() { start(intact); start(changed); }
function stop() { intact.pause(); changed.pause(); }
function toggle() { if (intact.paused) { if (intact.ended) seek(0); play(); } else stop(); }

function goTo(number) {
  if (!pair.moments.length) return;
  moment = (number + pair.moments.length) % pair.moments.length;
  seek(pair.moments[moment].intact[0] + pair.frame / 2);
}

function nextMoment(step) {
  const now = intact.currentTime, starts = pair.moments.map((at) => at.intact[0] + pair.frame / 2);
  const found = step > 0
    ? starts.findIndex((start) => start > now + 1e-2)
    : starts.findLastIndex((start) => start < now - 1e-2);
  goTo(found >= 0 ? found : step > 0 ? 0 : starts.length - 1);
}

function draw(time = intact.currentTime) {
  const inside = (at) => at && time >= at[0] && time < at[1];
  const other = changed.currentTime;
  pair.moments.forEach((at, number) => {
    const here = Boolean(inside(at.intact));
    $("moments").children[number].firstChild.classList.toggle("here", here);
    $("marks").children[number].classList.toggle("here", here);
  });
  const theirs = pair.moments.some((at) => at.changed && other >= at.changed[0] && other < at.changed[1]);
  const ours = pair.moments.some((at) => inside(at.intact));
  intact.parentElement.classList.toggle("touched", ours);
  changed.parentElement.classList.toggle("touched", theirs);
  if (document.activeElement !== $("seek") || !intact.paused) $("seek").value = time;
  $("seek").setAttribute("aria-valuetext", timecode(time));
  $("now-intact").textContent = `${timecode(time)} / ${timecode(pair.duration)}`;
  $("now-changed").textContent = `${timecode(other)} / ${timecode(pair.changedDuration)}`;
}

function tick() {
  if (pair && !intact.paused) {
    const at = pair.moments[moment];
    if ($("loop").checked && at && intact.currentTime >= at.intact[1] - pair.frame) {
      seek(at.intact[0] + pair.frame / 2);
    }
    follow(false);
    draw();
  }
  requestAnimationFrame(tick);
}

// ---- mouse and keys

function nextPair(step) {
  const found = shown[shown.indexOf(pair) + step];
  if (found) open(found);
}

function switchLink() {
  $("link").value = $("link").value === "clip" ? "time" : "clip";
  linkChosen = $("link").value;
  seek(intact.currentTime);
}

const KEYS = {
  " ": toggle, ",": () => nextMoment(-1), ".": () => nextMoment(1),
  j: () => nextPair(1), k: () => nextPair(-1), t: switchLink,
  l: () => { $("loop").checked = !$("loop").checked && !$("loop").disabled; },
  "/": () => $("search").focus(), "?": () => $("help").showModal(),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || $("help").open) return;
  const at = event.target;
  if (event.key === "Escape" && at === $("search")) { $("search").blur(); return; }
  if (at.matches("input[type=search], select") || (event.key === " " && at.matches("button, summary, input[type=checkbox]"))) return;
  if (!pair && event.key !== "/" && event.key !== "?") return;
  if (/^[1-9]$/.test(event.key)) { if (event.key <= pair.moments.length) goTo(event.key - 1); return; }
  if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
    const sign = event.key === "ArrowLeft" ? -1 : 1;
    stop();
    seek(intact.currentTime + sign * (event.shiftKey ? 1 : pair.frame));
  } else if (Object.hasOwn(KEYS, event.key)) KEYS[event.key]();
  else return;
  event.preventDefault();
});

for (const player of [intact, changed]) {
  const over = player === intact ? $("over-intact") : $("over-changed");
  player.addEventListener("error", () => {
    if (!player.getAttribute("src")) return;
    player.dataset.broken = "yes";
    over.textContent = "The file is not there, or this browser cannot play it.";
    over.hidden = false;
  });
  player.addEventListener("seeked", () => pair && draw());
  player.addEventListener("loadedmetadata", () => pair && player === changed && follow(true));
}
for (const event of ["play", "pause", "ended"]) {
  intact.addEventListener(event, () => { $("play").textContent = intact.paused ? "Play" : "Pause"; });
}
intact.addEventListener("pause", () => { changed.pause(); if (pair) follow(true); });
$("play").addEventListener("click", toggle);
$("back").addEventListener("click", () => { stop(); seek(intact.currentTime - pair.frame); });
$("forth").addEventListener("click", () => { stop(); seek(intact.currentTime + pair.frame); });
$("last-moment").addEventListener("click", () => nextMoment(-1));
$("next-moment").addEventListener("click", () => nextMoment(1));
$("seek").addEventListener("input", () => seek(Number($("seek").value)));
$("speed").addEventListener("change", () => {
  for (const player of [intact, changed]) player.defaultPlaybackRate = player.playbackRate = Number($("speed").value);
});
$("link").addEventListener("change", () => { linkChosen = $("link").value; seek(intact.currentTime); });
$("before").addEventListener("click", () => nextPair(-1));
$("after").addEventListener("click", () => nextPair(1));
$("keys").addEventListener("click", () => $("help").showModal());
$("filter").addEventListener("submit", (event) => event.preventDefault());
$("aspect").addEventListener("change", apply);
$("source").addEventListener("change", apply);
$("search").addEventListener("input", apply);
new IntersectionObserver((seen) => { if (seen.some((one) => one.isIntersecting)) more(); }, { root: $("scroll"), rootMargin: "600px" }).observe($("more"));

const dark = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light")) === "dark";
const nameTheme = () => { $("theme").textContent = isDark() ? "Light" : "Dark"; };
$("theme").addEventListener("click", () => {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  nameTheme();
});
dark.addEventListener("change", nameTheme);

// ---- begin

function named() {
  try { return pairs.find((one) => one.name === decodeURIComponent(location.hash.slice(1))); }
  catch { return undefined; }  // not an address of ours
}
window.addEventListener("hashchange", () => { const one = named(); if (one && one !== pair) open(one); });
nameTheme();
fillFilter();
pair = named() ?? null;
const first = pair;
apply();
if (first) open(first);
tick();
