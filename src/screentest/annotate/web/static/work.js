// The task: choose, look at what is marked, send.
import { stop } from "./players.js";
import "./prompt.js";
import { answerOf, refresh } from "./form.js";
import { listen } from "./keys.js";
import { partsOf } from "./parts.js";
import { deliver, deliverAll, keep } from "./pending.js";
import { onSeen, report } from "./watching.js";

const form = document.querySelector("#answer");
const state = document.querySelector("#state");
const texts = JSON.parse(document.querySelector("#texts").dataset.texts);
const harmed = partsOf(form);
const OVER = ["answered", "order", "expired", "closed", "unknown"];
const say = (name, reason = "") => texts[`send.${name}`].replace("{reason}", reason);

// After an example: what we would have answered, and why.
function teach({ right, why, expected }) {
  const lesson = document.querySelector("#lesson");
  const answer = lesson.querySelector(".expected");
  const words = { left: lesson.dataset.left, right: answer.dataset.other, same: lesson.dataset.same };
  lesson.querySelector("h2").textContent = right ? lesson.dataset.right : lesson.dataset.wrong;
  answer.textContent = expected ? lesson.dataset.expected.replace("#", words[expected]) : "";
  lesson.querySelector(".why").textContent = why;
  lesson.querySelector("#go-on").addEventListener("click", () => location.replace("/work"));
  form.hidden = document.querySelector(".skip-one").hidden = true;
  lesson.hidden = false;
  lesson.focus();
}

async function submit() {
  const given = answerOf(form);
  if (!given || form.dataset.over) return;
  form.dataset.over = "1";
  refresh(form);
  stop();
  state.className = "";
  state.textContent = say("sending");
  const comment = form.elements.namedItem("comment").value;
  const [place, vote] = keep(form.dataset.sitting, form.dataset.step, given, comment);
  const said = await deliver(place, vote, (what) => (state.textContent = say(what)));
  if (!said.error || OVER.includes(said.error)) {
    if (texts[`send.${said.error}`]) state.textContent = say(said.error);
    if (said.error) await new Promise((go) => setTimeout(go, 2500));
    if (said.lesson) return teach(said.lesson);
    location.replace("/work");
    return;
  }
  state.className = "wrong";
  const known = ["signed_out", "unwatched"].includes(said.error);
  state.textContent = known ? say(said.error) : say("failed", said.message);
  delete form.dataset.over;
  refresh(form);
}
form.addEventListener("submit", async (event) => {
  event.preventDefault();
  await report(); // what was watched until now goes first
  submit();
});
form.addEventListener("input", () => refresh(form));
onSeen((flags) => {
  harmed.seen(flags);
  refresh(form);
});
listen(() => ({ form, next: harmed.next }));

// Clicks that were not acknowledged before a page went away are sent now.
deliverAll((what) => (state.textContent = say(what)));
harmed.show();
refresh(form);
form.dataset.ready = "1"; // keys work from now on
