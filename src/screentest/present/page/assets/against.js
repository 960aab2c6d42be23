// One video against others: those of other models on its prompt, or all of the run where there is one group.
// The measure in which it is behind most of them comes first, then by distance, a share of the run's spread.
// As between models: a difference counts where it is more than the metric's margin, and than rounding makes.
const MOST_DOTS = 120;

const valueOf = (() => {
  const known = data.items.map(() => null);
  return (place, m) => (known[place] ??= new Map(data.items[place].values)).get(m);
})();
const spreads = new Map();
const spreadOf = (m) => {
  if (!spreads.has(m)) {
    const all = data.items.map((_, place) => valueOf(place, m)).filter((one) => one !== undefined);
    spreads.set(m, [Math.min(...all), Math.max(...all)]);
  }
  return spreads.get(m);
};

const differ = (one, two, margin) => Math.abs(one - two) > Math.max(margin, 1e-9 * Math.max(Math.abs(one), Math.abs(two)));
const ordinal = (n) => `${n}${["th", "st", "nd", "rd"][n % 100 > 10 && n % 100 < 14 ? 0 : n % 10] || "th"}`;

const against = (item, number_) => {
  const row = data.rows[item.row];
  const beside = (data.rivals && row ? row.items.flat() : data.items.map((_, place) => place)).filter((one) => one !== number_);
  const others = data.rivals ? beside.filter((one) => data.items[one].model !== item.model) : beside;
  const rows = [], same = [];
  for (const [m, value] of item.values) {
    const measure = data.measures[m];
    if (!measure.up) continue;
    const found = others.map((one) => valueOf(one, m)).filter((one) => one !== undefined);
    if (measure.apart) {
      rows.push({ m, value, found, net: -2, far: 0 });
      continue;
    }
    const [low, high] = spreadOf(m);
    if (!found.length || !found.some((one) => differ(one, value, 0))) {
      if (found.length) same.push(measure.title);
      else rows.push({ m, value, found, net: -2, far: 0 });
      continue;
    }
    const mean = found.reduce((sum, one) => sum + one, 0) / found.length;
    const count = (sign) => found.filter((one) => sign * measure.up * (one - value) > 0 && differ(one, value, measure.margin)).length;
    const behind = count(1), ahead = count(-1);
    rows.push({ m, value, found, behind, ahead, net: (behind - ahead) / found.length, far: (measure.up * (mean - value)) / (high - low) });
  }
  if (!rows.length && !same.length) return null;
  rows.sort((a, b) => b.net - a.net || b.far - a.far);

  // The text, and whether it is bad news.
  const words = ({ m, value, found, behind, ahead }) => {
    if (!found.length) return ["no other has a value", false];
    if (data.measures[m].apart) return [`not compared: ${data.measures[m].apart}`, false];
    if (!data.rivals) {
      const better = found.filter((one) => data.measures[m].up * (one - value) > 0).length;
      const worse = found.filter((one) => data.measures[m].up * (one - value) < 0).length;
      return [`${worse ? better ? ordinal(better + 1) : "best" : "worst"} of ${found.length + 1}`, !worse];
    }
    const low = Math.min(...found), high = Math.max(...found);
    const level = found.length - behind - ahead;
    const parts = [[behind, "behind"], [ahead, "ahead of"], [level, "level with"]].filter(([n]) => n);
    const only = { behind: "behind", "ahead of": "ahead", "level with": `no difference above ${number(data.measures[m].margin)}` };
    const where = parts.length === 1 ? only[parts[0][1]] : parts.map(([n, what]) => `${what} ${n}`).join(", ");
    const fault = behind && data.measures[m].owed[item.model];
    return [`${where}${fault ? ` (due to ${fault})` : ""} · ${found.length === 1 ? "the other" : "others"} ${[...new Set([low, high].map(number))].join(" to ")}`, behind > 0 && !fault];
  };
  const strip = ({ m, value }) => {
    const [low, high] = spreadOf(m), up = data.measures[m].up;
    const x = (one) => `${4 + 92 * (high > low ? (up > 0 ? one - low : high - one) / (high - low) : 0.5)}%`;
    const step = Math.ceil(beside.length / MOST_DOTS);
    const dots = beside.filter((_, place) => place % step === 0).map((one) => [one, valueOf(one, m)]).filter(([, one]) => one !== undefined)
      .map(([one, its]) => draw("circle", { class: `series-${(data.items[one].model ?? 0) % 7 + 1}`, cx: x(its), cy: "50%", r: 4 }));
    return draw("svg", { class: "dots against-dots", "aria-hidden": "true" }, draw("line", { class: "lane", x1: "2%", x2: "98%", y1: "50%", y2: "50%" }),
      ...dots, draw("circle", { class: `own series-${(item.model ?? 0) % 7 + 1}`, cx: x(value), cy: "50%", r: 6 }));
  };
  const list = make("ul", { class: "against" }, ...rows.map((one) => {
    const measure = data.measures[one.m], [text, bad] = words(one);
    return make("li", {}, make("span", { class: "what" }, make("b", { text: measure.title }), arrow(measure), make("span", { class: "sub", text: measure.summary, title: measure.name })),
      make("span", { class: "val", text: number(one.value) }), strip(one), make("span", { class: `words ${bad ? "bad" : "quiet"}`, text }));
  }));
  return make("section", {}, make("h3", { text: data.rivals ? "Against the others on this prompt" : "Against the other videos" }),
    make("p", { class: "quiet", text: "The ring is this video; better is to the right." }),
    list, same.length ? make("p", { class: "quiet", text: `Same: ${same.join(", ")}.` }) : null);
};
