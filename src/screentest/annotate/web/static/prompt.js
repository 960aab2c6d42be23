// The text: follows the playhead, and can be searched however long it is.
import { current, onMove, seekTo } from "./players.js";

const list = document.querySelector("#lines");
const follow = document.querySelector("#follow");
const search = document.querySelector("#search");
const found = document.querySelector("#found");
const nextButton = document.querySelector("#found-next");
const lines = Array.from(list.children, (item) => ({
  item,
  start: Number(item.dataset.start),
  end: Number(item.dataset.end),
}));
const timed = list.classList.contains("timed");
let now = null;

function lineAt(seconds) {
  let low = 0;
  let high = lines.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (lines[middle].start <= seconds + 1e-3) low = middle;
    else high = middle - 1;
  }
  return lines[low];
}

function show(item) {
  const top = item.offsetTop - list.clientHeight / 3;
  list.scrollTo({ top: Math.max(0, top) });
}

if (timed) {
  onMove((player) => {
    if (player !== current()) return;
    const line = lineAt(player.video.currentTime);
    if (line === now) return;
    now?.item.classList.remove("now");
    now?.item.removeAttribute("aria-current");
    now = line;
    line.item.classList.add("now");
    line.item.setAttribute("aria-current", "true");
    if (follow.checked) show(line.item);
  });
  for (const line of lines) line.item.querySelector(".jump").addEventListener("click", () => seekTo(line.start));
  list.addEventListener("wheel", () => (follow.checked = false), { passive: true });
}

// ---- search: marks in the text, nothing else changes
let marks = [];
let place = -1;

function clear() {
  for (const mark of marks) {
    const text = mark.parentNode;
    mark.replaceWith(mark.textContent);
    text.normalize();
  }
  marks = [];
  place = -1;
}

function mark(paragraph, wanted) {
  const node = paragraph.firstChild;
  if (!node) return;
  const text = node.data;
  const lower = text.toLowerCase();
  // Lower case can be longer than the text (İ): then positions would not fit.
  const inside = lower.length === text.length ? lower : text;
  const pieces = [];
  let from = 0;
  for (let at = inside.indexOf(wanted); at >= 0 && marks.length < 1000; at = inside.indexOf(wanted, from)) {
    const one = document.createElement("mark");
    one.textContent = text.slice(at, at + wanted.length);
    pieces.push(text.slice(from, at), one);
    marks.push(one);
    from = at + wanted.length;
  }
  if (pieces.length) node.replaceWith(...pieces, text.slice(from));
}

function look() {
  clear();
  const wanted = search.value.trim().toLowerCase();
  if (wanted) for (const paragraph of list.querySelectorAll(".said, .translated")) mark(paragraph, wanted);
  const count = marks.length >= 1000 ? "1000+" : marks.length;
  found.textContent = wanted ? found.dataset.text.replace("#", count) : "";
  nextButton.hidden = marks.length < 2;
  if (marks.length) nextFound();
}

export function nextFound() {
  if (!marks.length) return;
  if (follow) follow.checked = false;
  marks[place]?.classList.remove("here");
  place = (place + 1) % marks.length;
  const mark = marks[place];
  mark.classList.add("here");
  const item = mark.closest("li");
  list.scrollTo({ top: Math.max(0, item.offsetTop + mark.offsetTop - item.offsetTop - list.clientHeight / 3) });
}

let later = 0;
search?.addEventListener("input", () => {
  clearTimeout(later);
  later = setTimeout(look, 150);
});
search?.addEventListener("keydown", (event) => {
  if (event.key === "Enter") {
    event.preventDefault();
    nextFound();
  }
});
nextButton?.addEventListener("click", nextFound);
