// The harmed parts of a check: where they are, and which have been looked at.
import { activate, playerAt, players, seekTo } from "./players.js";
import { refresh } from "./form.js";

export function partsOf(form) {
  const parts = Array.from(form.querySelectorAll(".part"));
  const markers = parts.map((part) =>
    playerAt(part.dataset.side).mark(Number(part.dataset.start), Number(part.dataset.end), "harm"),
  );

  function show() {
    if (!parts.length) return;
    parts.forEach((part, n) => {
      const seen = part.dataset.seen === "1";
      const state = part.querySelector(".state");
      state.textContent = seen ? `✓ ${state.dataset.seenText}` : state.dataset.unseenText;
      markers[n].classList.toggle("seen", seen);
    });
    const status = form.querySelector("#unseen");
    const left = parts.filter((part) => part.dataset.seen !== "1").length;
    status.textContent = left ? status.dataset.left.replace("#", left) : status.dataset.all;
    form.querySelector("[name=confirmed]").disabled = left > 0;
    refresh(form);
  }

  function goTo(part) {
    activate(playerAt(part.dataset.side));
    seekTo(Number(part.dataset.start) + 0.01);
    for (const player of players) player.video.play().catch(() => {});
  }
  for (const part of parts) part.addEventListener("click", () => goTo(part));

  return {
    parts,
    show,
    seen(flags) {
      flags.forEach((one, n) => (parts[n].dataset.seen = one ? "1" : "0"));
      show();
    },
    next() {
      const part = parts.find((one) => one.dataset.seen !== "1") ?? parts[0];
      if (part) goTo(part);
    },
  };
}
