// Reports to the server what was watched. The server holds it against its own clock.
import { players } from "./players.js";
import { post } from "./pending.js";
import { Watch } from "./watch.js";

const form = document.querySelector("#answer");
const hears = [];
export const onSeen = (hear) => hears.push(hear);

const watches = players.map((player) => new Watch(player));
let sending = false;

export async function report() {
  if (sending || form.dataset.over) return;
  const taken = watches.map((watch) => watch.take());
  if (!taken.some((reports) => reports.length)) return;
  sending = true;
  const body = { sitting: form.dataset.sitting, step: form.dataset.step };
  watches.forEach((watch, n) => (body[watch.player.side] = taken[n]));
  try {
    const answer = await post("/api/view", body);
    if (answer.ok) {
      const { seen, watched } = await answer.json();
      if (form.dataset.watch) form.dataset.watched = JSON.stringify(watched);
      for (const hear of hears) hear(seen);
    } else if (answer.status >= 500 || answer.status === 429) throw new Error();
  } catch {
    watches.forEach((watch, n) => watch.reports.unshift(...taken[n]));
  } finally {
    sending = false;
  }
}
setInterval(report, 1000);
