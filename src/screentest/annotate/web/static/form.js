// The form of a step: what has been answered so far, and what may be touched.
const allChecked = (form, name) => form.querySelector(`[name="${name}"]:checked`);

// null (or something empty) while an answer is missing
export function answerOf(form) {
  const data = new FormData(form);
  switch (form.dataset.step) {
    case "choice":
      return data.get("choice") && { choice: data.get("choice") };
    case "rate":
      return data.get("score") && { score: Number(data.get("score")) };
    case "check":
      return (
        allChecked(form, "rating") &&
        allChecked(form, "confirmed") && { rating: allChecked(form, "rating").value, confirmed: true }
      );
    case "answers": {
      const boxes = Array.from(form.querySelectorAll("[data-question]"));
      const given = {};
      for (const box of boxes) if (box.checked) given[box.dataset.question] = Number(box.value);
      const asked = new Set(boxes.map((box) => box.dataset.question));
      return Object.keys(given).length === asked.size && { answers: given };
    }
    default: {
      const verdict = data.get("verdict");
      if (verdict === "correct") return data.get("text").trim() && { verdict, text: data.get("text") };
      return verdict && { verdict };
    }
  }
}

// The server takes no answer before so much of each video was played; it says how much that is.
export function watchedEnough(form) {
  const needed = Number(form.dataset.watch || 0);
  if (!needed) return true;
  const shares = Object.values(JSON.parse(form.dataset.watched || "{}"));
  const enough = shares.every((share) => share >= needed - 0.01);
  const line = form.querySelector("#watched");
  const percent = shares.map((share) => `${Math.round(100 * share)}%`).join(", ");
  const text = enough ? line.dataset.enough : line.dataset.text.replace("#", percent);
  if (line.textContent !== text) line.textContent = text;
  return enough;
}

export function refresh(form) {
  const correction = form.querySelector("#correction");
  if (correction) correction.hidden = new FormData(form).get("verdict") !== "correct";
  const ratings = form.querySelector("#ratings");
  if (ratings) {
    const unseen = form.querySelector('.part[data-seen="0"]');
    ratings.disabled = Boolean(unseen) || !allChecked(form, "confirmed");
  }
  form.querySelector("#send").disabled = !answerOf(form) || Boolean(form.dataset.over) || !watchedEnough(form);
}

export function choose(form, name, value) {
  const boxes = Array.from(form.querySelectorAll(`input[name="${name}"]`));
  const box = boxes.find((one) => one.value === value);
  if (!box || box.matches(":disabled")) return;
  box.click();
  box.focus();
}
