// A task on somebody else's platform: no server of ours, so the page keeps the rules by itself.
import { players, stop } from "./players.js";
import "./prompt.js";
import { answerOf, refresh } from "./form.js";
import { listen } from "./keys.js";
import { partsOf } from "./parts.js";
import { Watch } from "./watch.js";

const ENOUGH_PLAYED = 1;
const ENOUGH_REST = 0.5;
const task = document.querySelector("#task");
const steps = {};
const comments = [];
const began = performance.now();
const vote = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
let form = document.querySelector("#answer");
let harmed = partsOf(form);
let watches = [];
let views = [];

const shown = (view, start, end) =>
  view.played.reduce((sum, [from, to]) => sum + Math.max(0, Math.min(end, to) - Math.max(start, from)), 0);
const rested = (view, start, end) =>
  view.rests.reduce((sum, [at, rest]) => sum + (start <= at && at < end ? rest : 0), 0);

// The same stretch again shows nothing new.
function add(view, from, to) {
  const merged = [];
  for (const [begin, end] of [...view.played, [from, to]].sort((a, b) => a[0] - b[0])) {
    const last = merged.at(-1);
    if (last && begin <= last[1] + 0.05) last[1] = Math.max(last[1], end);
    else merged.push([begin, end]);
  }
  view.played = merged;
}

function look() {
  watches.forEach((watch, n) => {
    for (const one of watch.take()) {
      if ("at" in one) views[n].rests.push([one.at, one.rest]);
      else add(views[n], one.from, one.to);
    }
  });
  if (!harmed.parts.length) return;
  harmed.seen(
    harmed.parts.map((part) => {
      const view = views[players.findIndex((player) => player.side === part.dataset.side)];
      const [start, end] = [Number(part.dataset.start), Number(part.dataset.end)];
      const enough = Math.min(ENOUGH_PLAYED, (end - start) / 2) - 1e-3;
      return shown(view, start, end) >= enough || rested(view, start, end) >= ENOUGH_REST;
    }),
  );
}

function begin() {
  watches = players.map((player) => new Watch(player));
  views = players.map(() => ({ played: [], rests: [] }));
  form.addEventListener("submit", (event) => (event.preventDefault(), submit()));
  form.addEventListener("input", () => refresh(form));
  harmed.show();
  refresh(form);
  form.dataset.ready = "1";
}

function submit() {
  const given = answerOf(form);
  if (!given || form.dataset.over) return;
  look();
  stop();
  steps[form.dataset.step] = given;
  comments.push(form.elements.namedItem("comment").value);
  const second = document.querySelector("#second");
  if (second && form.dataset.step === "choice") {
    const next = second.content.querySelector("form").cloneNode(true);
    form.replaceWith(next);
    form = next;
    harmed = partsOf(form);
    begin();
    return;
  }
  form.dataset.over = "1";
  refresh(form);
  const watched = {};
  players.forEach((player, n) => {
    const share = player.duration ? shown(views[n], 0, player.duration) / player.duration : 0;
    watched[player.side] = Math.min(1, Math.round(share * 1e4) / 1e4);
  });
  const seconds = Math.round(performance.now() - began) / 1000;
  hand({ page: task.dataset.page, vote, steps, comment: comments.filter(Boolean).join("\n"), seconds, watched });
}

// To the platform: the address it gave, the page around us, or the worker's clipboard.
function hand(answer) {
  const text = JSON.stringify(answer);
  const parameters = new URLSearchParams(location.search);
  const address = parameters.get("submit") ?? "";
  if (/^https?:/.test(address)) {
    const out = document.createElement("form");
    out.method = "post";
    out.action = address;
    const fields = { ...Object.fromEntries(parameters), answer: text };
    delete fields.submit;
    for (const [name, value] of Object.entries(fields)) {
      const field = document.createElement("input");
      field.type = "hidden";
      field.name = name;
      field.value = value;
      out.append(field);
    }
    document.body.append(out);
    out.submit();
  } else if (window.parent !== window) {
    window.parent.postMessage({ screentest: answer }, "*");
    form.querySelector("#state").textContent = task.dataset.sent;
  } else {
    const box = document.createElement("textarea");
    box.readOnly = true;
    box.id = "copied";
    box.value = text;
    form.replaceWith(task.dataset.copy, box);
    box.select();
  }
}

listen(() => ({ form, next: harmed.next }));
setInterval(look, 500);
begin();
