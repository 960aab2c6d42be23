// The token stands behind the #, so it is in no log; it is changed for a cookie and forgotten.
const notice = document.querySelector("#join");
const token = readable(location.hash.slice(1));
// Prolific and MTurk add the participant's id to the address; any other platform may, too.
const query = new URLSearchParams(location.search);
const participant = ["participant", "PROLIFIC_PID", "workerId"].map((name) => query.get(name)).find(Boolean) ?? "";
history.replaceState(null, "", "/join");

// Browsers write spaces and the like as %20.
function readable(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

async function join() {
  if (!token) {
    notice.textContent = notice.dataset.missing;
    return;
  }
  for (;;) {
    try {
      const answer = await fetch("/join", {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ token, participant }),
      });
      if (answer.ok) {
        location.replace((await answer.json()).next);
        return;
      }
      if (answer.status < 500) {
        notice.textContent = notice.dataset.refused;
        return;
      }
    } catch {
      // No connection: try again.
    }
    await new Promise((go) => setTimeout(go, 2000));
  }
}
join();
