// Certificates: a cell of the heat map opens its pairs as players; below, every verdict in words.
const word = (one) => (one.failed !== undefined ? "not judged" : one.points > 0.5 ? "right" : one.points < 0.5 ? "wrong" : "tie");
const told = (one) => [one.failed, one.why].filter(Boolean).join(": ") || "No reason was given: the higher rating wins.";

const pairPlayers = (pair) => stage(
  [{ src: pair.intact, label: "Original", missing: "The testbed is not beside this page." }, { src: pair.changed, label: pair.kind === "placebo" ? "Placebo" : "Degraded", missing: "The testbed is not beside this page." }],
  { marks: pair.harmed.map(([from, to]) => ({ t: from, end: to, label: `Changed from ${clock(from)} to ${clock(to)}` })) });

const openCell = (cell) => {
  const judge = Number(cell.dataset.judge), row = cell.dataset.row;
  const said = data.verdicts.filter((one) => one.judge === judge && one.row.includes(row));
  const byPair = new Map();
  for (const one of said) byPair.set(one.pair, [...(byPair.get(one.pair) ?? []), one]);
  const rank = (list) => Math.min(...list.map((one) => one.points ?? 0.25));
  const pairs = [...byPair].sort((a, b) => rank(a[1]) - rank(b[1]));
  const list = make("ul", { class: "pairs" });
  let open = null;
  const item = ([place, verdicts]) => {
    const pair = data.pairs[place];
    const words = [...new Set(verdicts.map(word))].join(", ");
    const entry = make("li");
    const show = make("button", { type: "button", class: "pair", "aria-expanded": "false" },
      make("b", { text: cut(pair.source) }), make("span", { class: "quiet", text: pair.strength }),
      make("span", { class: `chip ${words === "right" ? "good" : words === "tie" ? "" : "bad"}`, text: words }));
    show.addEventListener("click", () => {
      const mine = show.getAttribute("aria-expanded") === "true";
      open?.();
      open = null;
      if (mine) return;
      const players = pairPlayers(pair);
      const reasons = [...new Set(verdicts.map((one) => `${one.order}: ${word(one)}. ${told(one)}`))];
      const box = make("div", { class: "pair-body" }, players.node, ...reasons.map((text) => make("p", { class: "prompt", tabindex: "0", role: "group", "aria-label": "Reason", text })));
      entry.append(box);
      show.setAttribute("aria-expanded", "true");
      drawer.use(players);
      open = () => { players.stop(); box.remove(); show.setAttribute("aria-expanded", "false"); };
      players.seek(pair.harmed.length ? pair.harmed[0][0] : pair.middle);  // films tend to begin black
    });
    entry.append(show);
    return entry;
  };
  const more = make("button", { type: "button", hidden: true });
  const grow = growing(list, more, item, 30);
  grow(pairs);
  drawer.show(`${data.judges[judge]} on ${cell.dataset.name}`, make("p", { text: cell.dataset.words }),
    [make("p", { class: "quiet", text: pairs.length ? `${counted(pairs.length, "pair")}, those it got wrong first.` : "No verdict on a pair is in this run." }), list, more], location.hash || "#certificates");
  list.querySelector("button")?.click();
};
for (const cell of document.querySelectorAll("button.heat")) cell.addEventListener("click", () => openCell(cell));

const verdicts = $("verdict-list");
if (verdicts) {
  const pick = (id, names) => {
    const select = $(id);
    select.append(make("option", { value: "", text: "all" }), ...names.map(([value, text]) => make("option", { value, text: cut(text) })));
    return select;
  };
  const judge = pick("judge", data.judges.map((name, place) => [place, name]));
  const aspect = pick("aspect", [...new Set(data.verdicts.map((one) => one.aspect))].sort().map((one) => [one, one.replaceAll("_", " ")]));
  const which = $("which");
  const show = growing(verdicts, $("verdict-more"), (one) => {
    const head = make("summary", {}, make("b", { class: "id", text: cut(one.id) }), make("span", { class: "quiet", text: cut(`${data.judges[one.judge]}, ${one.aspect.replaceAll("_", " ")}, ${one.order}`) }),
      make("span", { class: one.points === 0 || one.failed !== undefined ? "num bad" : "num", text: word(one) }));
    const details = make("details", {}, head);
    details.addEventListener("toggle", () => {
      if (details.open && details.children.length === 1) details.append(make("p", { class: "prompt", tabindex: "0", role: "group", "aria-label": "Reason", text: told(one) }));
    });
    return make("li", {}, details);
  }, 50);
  const refresh = () => {
    const found = data.verdicts.filter((one) =>
      (!judge.value || one.judge === Number(judge.value)) && (!aspect.value || one.aspect === aspect.value) && (!which.value || word(one) === which.value));
    $("verdict-count").textContent = `${found.length.toLocaleString("en")} of ${data.verdicts.length.toLocaleString("en")}`;
    show(found);
  };
  for (const select of [judge, aspect, which]) select.addEventListener("change", refresh);
  refresh();
}

drawer.named();
