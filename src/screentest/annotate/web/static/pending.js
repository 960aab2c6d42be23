// Votes that were clicked and not yet acknowledged. They outlive the page and the browser.
const PREFIX = "screentest-vote:";
const csrf = document.querySelector("meta[name=csrf]").content;

function freshId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// The click: written down before anything is sent. A second click finds the first.
export function keep(sitting, step, answer, comment) {
  const place = `${PREFIX}${sitting}:${step}`;
  const earlier = localStorage.getItem(place);
  if (earlier) return [place, JSON.parse(earlier)];
  const vote = { vote: freshId(), sitting, step, answer, comment };
  localStorage.setItem(place, JSON.stringify(vote));
  return [place, vote];
}

export async function post(path, body) {
  return fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-CSRF-Token": csrf },
    body: JSON.stringify(body),
  });
}

const pause = (ms) =>
  new Promise((go) => {
    const timer = setTimeout(go, ms);
    addEventListener("online", () => (clearTimeout(timer), go()), { once: true });
  });

// Sends until the server has said what became of it. `tell` hears "waiting" meanwhile.
export async function deliver(place, vote, tell = () => {}) {
  for (let wait = 500; ; wait = Math.min(wait * 2, 10000)) {
    try {
      const answer = await post("/api/vote", vote);
      const said = await answer.json().catch(() => ({}));
      if (answer.status === 401) return { error: "signed_out" };
      if (answer.status < 500 && answer.status !== 429) {
        localStorage.removeItem(place);
        return said;
      }
    } catch {
      // No connection, or the server went away in between: the same vote again, same id.
    }
    tell("waiting");
    await pause(wait);
  }
}

export async function deliverAll(tell) {
  let sent = false;
  for (const place of Object.keys(localStorage).filter((name) => name.startsWith(PREFIX))) {
    const said = await deliver(place, JSON.parse(localStorage.getItem(place)), tell);
    sent ||= said.error !== "signed_out";
  }
  if (sent) location.reload();
}

if (!document.querySelector("#answer")) deliverAll();
