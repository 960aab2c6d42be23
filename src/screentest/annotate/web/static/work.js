// The task: choose, look at what is marked, send. And all of it from the keyboard.
import {
  activate, changeSpeed, flipLink, fullScreen, playerAt, players, seekBy, seekTo, setLoop, stop, toggle,
} from "./players.js";
import "./prompt.js";
import { onSeen, report } from "./watching.js";
import { deliver, deliverAll, keep } from "./pending.js";

const form = document.querySelector("#answer");
const send = document.querySelector("#send");
const state = document.querySelector("#state");
const texts = JSON.parse(document.querySelector("#texts").dataset.texts);
const step = form.dataset.step;
const parts = Array.from(document.querySelectorAll(".part"));
const say = (name, values = {}) =>
  Object.entries(values).reduce((text, [key, value]) => text.replace(`{${key}}`, value), texts[`send.${name}`]);

// ---- what has been answered so far; null while something is missing
function answer() {
  const data = new FormData(form);
  if (step === "choice") return data.get("choice") && { choice: data.get("choice") };
  if (step === "rate") return data.get("score") && { score: Number(data.get("score")) };
  if (step === "check") {
    const rating = form.elements.namedItem("rating");
    const confirmed = form.elements.namedItem("confirmed").checked;
    return rating.value && confirmed && { rating: rating.value, confirmed };
  }
  if (step === "answers") {
    const names = new Set(Array.from(form.querySelectorAll("[data-question]"), (box) => box.dataset.question));
    const given = {};
    for (const box of form.querySelectorAll("[data-question]:checked")) given[box.dataset.question] = Number(box.value);
    return Object.keys(given).length === names.size && { answers: given };
  }
  const verdict = data.get("verdict");
  if (verdict === "correct") return data.get("text").trim() && { verdict, text: data.get("text") };
  return verdict && { verdict };
}

function refresh() {
  const correction = document.querySelector("#correction");
  if (correction) correction.hidden = new FormData(form).get("verdict") !== "correct";
  if (step === "check") document.querySelector("#ratings").disabled = !allSeen() || !confirmBox.checked;
  send.disabled = !answer() || Boolean(form.dataset.over);
}

// ---- the check: parts to look at
const confirmBox = form.elements.namedItem("confirmed");
const allSeen = () => parts.every((part) => part.dataset.seen === "1");
const markers = parts.map((part) =>
  playerAt(part.dataset.side).mark(Number(part.dataset.start), Number(part.dataset.end), "harm"));

function showSeen() {
  if (step !== "check") return;
  parts.forEach((part, n) => {
    const seen = part.dataset.seen === "1";
    const told = part.querySelector(".state");
    told.textContent = seen ? `✓ ${told.dataset.seenText}` : told.dataset.unseenText;
    markers[n].classList.toggle("seen", seen);
  });
  const status = document.querySelector("#unseen");
  const left = parts.filter((part) => part.dataset.seen !== "1").length;
  status.textContent = left ? status.dataset.left.replace("#", left) : status.dataset.all;
  confirmBox.disabled = left > 0;
  refresh();
}
onSeen((seen) => {
  seen.forEach((one, n) => (parts[n].dataset.seen = one ? "1" : "0"));
  showSeen();
});
function goTo(part) {
  activate(playerAt(part.dataset.side));
  seekTo(Number(part.dataset.start) + 0.01);
  for (const player of players) player.video.play().catch(() => {});
}
for (const part of parts) part.addEventListener("click", () => goTo(part));
function nextPart() {
  const part = parts.find((one) => one.dataset.seen !== "1") ?? parts[0];
  if (part) goTo(part);
}

// ---- sending
async function submit() {
  const given = answer();
  if (!given || form.dataset.over) return;
  form.dataset.over = "1";
  send.disabled = true;
  stop();
  state.className = "";
  state.textContent = say("sending");
  const comment = form.elements.namedItem("comment").value;
  const [place, vote] = keep(form.dataset.sitting, step, given, comment);
  const said = await deliver(place, vote, (what) => (state.textContent = say(what)));
  if (!said.error || ["answered", "order", "expired", "closed", "unknown"].includes(said.error)) {
    if (said.error === "answered") state.textContent = say("answered");
    if (said.error === "expired") state.textContent = say("expired");
    if (said.error) await new Promise((go) => setTimeout(go, 2500));
    location.replace("/work");
    return;
  }
  state.className = "wrong";
  state.textContent = said.error === "signed_out" ? say("signed_out") : say("failed", { reason: said.message ?? "" });
  delete form.dataset.over;
  refresh();
}
form.addEventListener("submit", async (event) => {
  event.preventDefault();
  await report(); // what was watched until now goes first
  submit();
});
form.addEventListener("input", refresh);

// ---- keyboard
const typing = (target) => target.matches("textarea, input[type=search], select");
function choose(name, value) {
  const box = Array.from(form.querySelectorAll(`input[name="${name}"]`)).find((one) => one.value === value);
  if (!box || box.matches(":disabled")) return;
  box.click();
  box.focus();
}
const actions = {
  " ": toggle,
  ArrowLeft: (event) => seekBy(event.shiftKey ? -5 : -1),
  ArrowRight: (event) => seekBy(event.shiftKey ? 5 : 1),
  ",": () => (stop(), seekBy(-1 / 24)),
  ".": () => (stop(), seekBy(1 / 24)),
  r: setLoop,
  f: fullScreen,
  l: flipLink,
  n: nextPart,
  "+": () => changeSpeed(1),
  "=": () => changeSpeed(1),
  "-": () => changeSpeed(-1),
  "/": () => document.querySelector("#search").focus(),
  "?": () => (document.querySelector("#keys").open = !document.querySelector("#keys").open),
  1: () => choose(step === "choice" ? "choice" : "", "left"),
  2: () => choose(step === "choice" ? "choice" : "", "right"),
  3: () => choose(step === "choice" ? "choice" : "", "same"),
  a: () => choose("rating", "A"),
  b: () => choose("rating", "B"),
  c: () => choose("rating", "C"),
};
addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    if (!send.disabled) form.requestSubmit();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const target = event.target;
  if (event.key === "Escape" && typing(target)) return target.blur();
  if (typing(target)) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (step === "rate" && /^[0-5]$/.test(key)) return choose("score", key);
  // Buttons, boxes and bars keep the keys that work them.
  if (key === " " && target.matches("button, summary, input[type=checkbox], input[type=radio]")) return;
  if (key.startsWith("Arrow") && target.matches("input[type=radio]")) return;
  const act = actions[key];
  if (!act) return;
  event.preventDefault();
  act(event);
});

// Clicks that were not acknowledged before a page went away are sent now.
deliverAll((what) => (state.textContent = say(what)));
showSeen();
refresh();
form.dataset.ready = "1"; // keys work from now on
