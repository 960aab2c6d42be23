// The players: linked or alone, markers, repeat, speed. One clock in seconds for all.
const stage = document.querySelector("#stage");
const linkedBox = document.querySelector("#linked");
const speedBox = document.querySelector("#speed");
const loopButton = document.querySelector("#loop");
const bigPlay = document.querySelector("#play");
// A video that flashes is neither shown nor played before the warning was answered.
const held = () => stage.dataset.held === "1";

export const clock = (seconds) => {
  const whole = Math.max(0, Math.floor(seconds));
  const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  if (!parts[0]) parts.shift();
  return parts.map((part, n) => (n ? String(part).padStart(2, "0") : part)).join(":");
};

class Player {
  constructor(root) {
    this.root = root;
    this.side = root.dataset.side;
    this.video = root.querySelector("video");
    this.bar = root.querySelector(".seek");
    this.track = root.querySelector(".track");
    this.time = root.querySelector(".time");
    const video = this.video;
    root.querySelector(".play").addEventListener("click", () => (activate(this), toggle()));
    root.querySelector(".full").addEventListener("click", () => (activate(this), fullScreen()));
    this.bar.addEventListener("input", () => (activate(this), seekTo(Number(this.bar.value))));
    video.addEventListener("click", () => (activate(this), toggle()));
    video.addEventListener("play", () => held() && video.pause());
    video.addEventListener("loadedmetadata", () => this.measured());
    video.addEventListener("error", () => (root.querySelector(".problem").hidden = false));
    for (const name of ["play", "pause", "ended"]) video.addEventListener(name, () => this.changed());
    for (const name of ["timeupdate", "seeked", "seeking"]) video.addEventListener(name, () => this.moved());
    if (video.readyState >= 1) this.measured();
    if (video.error) root.querySelector(".problem").hidden = false;
  }
  get duration() {
    return Number.isFinite(this.video.duration) ? this.video.duration : 0;
  }
  get playing() {
    return !this.video.paused && !this.video.ended;
  }
  measured() {
    this.bar.max = this.duration;
    for (const mark of this.track.querySelectorAll("i")) this.place(mark);
    this.moved();
  }
  moved() {
    const now = this.video.currentTime;
    this.bar.value = now;
    const text = `${clock(now)} / ${clock(this.duration)}`;
    if (this.time.value !== text) this.time.value = text;
    this.bar.setAttribute("aria-valuetext", text);
    const [start, end] = repeat;
    if (end !== null && this.playing && now >= end) this.video.currentTime = start;
    for (const hear of listeners) hear(this);
  }
  changed() {
    this.root.classList.toggle("playing", this.playing);
    bigPlay.textContent = players.some((one) => one.playing) ? stage.dataset.pause : stage.dataset.play;
    this.moved();
  }
  mark(start, end, name) {
    const mark = document.createElement("i");
    mark.className = name;
    mark.dataset.start = start;
    mark.dataset.end = end;
    this.track.append(mark);
    this.place(mark);
    return mark;
  }
  place(mark) {
    if (!this.duration) return;
    const part = (seconds) => `${Math.min(100, (100 * seconds) / this.duration)}%`;
    mark.style.left = part(Number(mark.dataset.start));
    mark.style.width = part(Math.max(0, Number(mark.dataset.end) - Number(mark.dataset.start)));
  }
}

const listeners = [];
let repeat = [null, null];
export const players = [];
for (const root of document.querySelectorAll(".player")) players.push(new Player(root));
let active = players[0];

const linked = () => linkedBox !== null && linkedBox.checked;
const meant = () => (linked() ? players : [active]);
export const onMove = (hear) => listeners.push(hear);
export const activate = (player) => (active = player);
export const playerAt = (side) => players.find((one) => one.side === side);
export const current = () => active;

export function seekTo(seconds) {
  for (const one of meant()) {
    one.video.currentTime = Math.max(0, Math.min(seconds, one.duration || seconds));
    one.moved();
  }
}
export const seekBy = (seconds) => seekTo(active.video.currentTime + seconds);
export function toggle() {
  if (held()) return;
  const pausing = meant().some((one) => one.playing);
  for (const one of meant()) {
    if (pausing) one.video.pause();
    else one.video.play().catch(() => {});
  }
}
export function stop() {
  for (const one of players) one.video.pause();
}
export function fullScreen() {
  if (document.fullscreenElement) document.exitFullscreen();
  else active.root.requestFullscreen?.();
}
export function changeSpeed(step) {
  const place = Math.max(0, Math.min(speedBox.options.length - 1, speedBox.selectedIndex + step));
  speedBox.selectedIndex = place;
  setSpeed();
}
function setSpeed() {
  for (const one of players) one.video.playbackRate = Number(speedBox.value);
}
export function flipLink() {
  if (linkedBox) linkedBox.checked = !linkedBox.checked;
}

// Repeat: the first press sets the start, the second the end, the third lets go.
export function setLoop() {
  const now = active.video.currentTime;
  const [start, end] = repeat;
  if (start === null) repeat = [now, null];
  else if (end === null && now > start + 0.1) repeat = [start, now];
  else repeat = [null, null];
  for (const old of document.querySelectorAll(".track .repeat")) old.remove();
  if (repeat[0] !== null) for (const one of meant()) one.mark(repeat[0], repeat[1] ?? repeat[0], "repeat");
  loopButton.setAttribute("aria-pressed", String(repeat[0] !== null));
  const range = repeat[0] === null ? "" : `${clock(repeat[0])}–${repeat[1] === null ? "…" : clock(repeat[1])}`;
  document.querySelector("#loop-at").textContent = range;
  if (repeat[1] !== null) {
    seekTo(repeat[0]);
    for (const one of meant()) one.video.play().catch(() => {});
  }
}

// Linked videos that drift apart are brought together; who has ended waits for the other.
setInterval(() => {
  if (!linked() || players.length < 2) return;
  const [one, two] = players;
  if (!one.playing || !two.playing || one.video.seeking || two.video.seeking) return;
  if (Math.abs(one.video.currentTime - two.video.currentTime) > 0.25) {
    two.video.currentTime = Math.min(one.video.currentTime, two.duration);
  }
}, 500);

function smooth() {
  for (const one of players) if (one.playing) one.moved();
  requestAnimationFrame(smooth);
}
requestAnimationFrame(smooth);

speedBox.addEventListener("change", setSpeed);
loopButton.addEventListener("click", setLoop);
bigPlay.addEventListener("click", toggle);
document.querySelector("#flash-show")?.addEventListener("click", () => {
  delete stage.dataset.held;
  document.querySelector("#flash").remove();
  bigPlay.focus();
});
document.querySelector("#back").addEventListener("click", () => seekBy(-1));
document.querySelector("#forward").addEventListener("click", () => seekBy(1));
