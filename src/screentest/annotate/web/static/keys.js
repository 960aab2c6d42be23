// All of it from the keyboard.
import { changeSpeed, flipLink, fullScreen, seekBy, setLoop, stop, toggle } from "./players.js";
import { choose } from "./form.js";

const typing = (target) => target.matches("textarea, input[type=search], input:not([type]), select");
const keys = document.querySelector("#keys");

// `current` gives the form and what leads to the next part; both change from step to step.
export function listen(current) {
  const pick = (name, value) => () => choose(current().form, name, value);
  const actions = {
    " ": toggle,
    ArrowLeft: (event) => seekBy(event.shiftKey ? -5 : -1),
    ArrowRight: (event) => seekBy(event.shiftKey ? 5 : 1),
    ",": () => (stop(), seekBy(-1 / 24)),
    ".": () => (stop(), seekBy(1 / 24)),
    r: setLoop,
    f: fullScreen,
    l: flipLink,
    n: () => current().next(),
    "+": () => changeSpeed(1),
    "=": () => changeSpeed(1),
    "-": () => changeSpeed(-1),
    "/": () => document.querySelector("#search")?.focus(),
    "?": () => (keys.open = !keys.open),
    1: pick("choice", "left"),
    2: pick("choice", "right"),
    3: pick("choice", "same"),
    a: pick("rating", "A"),
    b: pick("rating", "B"),
    c: pick("rating", "C"),
  };
  addEventListener("keydown", (event) => {
    const { form } = current();
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      if (!form.querySelector("#send").disabled) form.requestSubmit();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.target;
    if (event.key === "Escape" && typing(target)) return target.blur();
    if (typing(target)) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (form.dataset.step === "rate" && /^[0-5]$/.test(key)) return choose(form, "score", key);
    // Buttons, boxes and bars keep the keys that work them.
    if (key === " " && target.matches("button, summary, input[type=checkbox], input[type=radio]")) return;
    if (key.startsWith("Arrow") && target.matches("input[type=radio]")) return;
    const act = actions[key];
    if (!act) return;
    event.preventDefault();
    act(event);
  });
}
