// A value over time: axes with numbers, behind it the band in which the run's values mostly lie.
const pointsOf = (item, curve) => {
  const times = item.times[curve.x];
  const at = Array.isArray(times) ? (place) => times[place] : (place) => times.start + place * times.step;
  return curve.v.map((value, place) => [at(place), at(place + 1), value, (curve.n || {})[place] || ""]);
};

const chart = (item, measure, curve, seek, note) => {
  const points = pointsOf(item, curve);
  const values = points.map((point) => point[2]);
  const [from, to] = [points[0][0], points[points.length - 1][1]];
  const band = measure.band;
  let low = Math.min(...values, ...(band || [])), high = Math.max(...values, ...(band || []));
  if (high - low < 1e-9) { low -= 0.5; high += 0.5; }
  const x = (t) => (100 * (t - from)) / (to - from || 1);
  const y = (v) => 38 - (36 * (v - low)) / (high - low);

  const svg = draw("svg", { viewBox: "0 0 100 40", preserveAspectRatio: "none", "aria-hidden": "true" });
  if (band) svg.append(draw("rect", { class: "band", x: 0, width: 100, y: y(band[1]), height: Math.max(0.6, y(band[0]) - y(band[1])) }));
  svg.append(draw("line", { class: "axis", x1: 0, x2: 100, y1: 39.5, y2: 39.5 }));
  svg.append(draw("polyline", { class: "curve-line", points: points.map((p) => `${x(p[0])},${y(p[2])} ${x(p[1])},${y(p[2])}`).join(" ") }));
  const here = draw("line", { class: "here", y1: 0, y2: 40, x1: 0, x2: 0 });
  const playhead = draw("line", { class: "playhead", y1: 0, y2: 40, x1: 0, x2: 0 });
  svg.append(here, playhead);

  // A curve that is flat, or that no direction of is better, has no worst moment.
  const flat = Math.max(...values) - Math.min(...values) < 1e-9;
  let worst = -1;
  if (measure.up !== 0 && !flat) values.forEach((v, place) => { if (worst < 0 || measure.up * v < measure.up * values[worst]) worst = place; });
  if (worst >= 0) {
    const point = points[worst];
    svg.append(draw("rect", { class: "low", x: x(point[0]), width: Math.max(0.5, x(point[1]) - x(point[0])), y: 38.6, height: 1.4 }));
  }

  // Walked along with the mouse or with the arrow keys; a click or Enter goes there.
  const plot = make("div", { class: "plot", tabindex: "0", role: "slider", "aria-label": `${measure.title} over time`,
    "aria-valuemin": from, "aria-valuemax": to }, svg);
  let place = Math.max(0, worst);
  const go = (wanted, quiet) => {
    place = Math.min(points.length - 1, Math.max(0, wanted));
    const point = points[place];
    const words = `${number(point[2])} at ${clock(point[0])}–${clock(point[1])}${place === worst ? ", the worst" : ""}${point[3] ? `: ${point[3]}` : ""}`;
    const middle = (x(point[0]) + x(point[1])) / 2;
    here.setAttribute("x1", middle);
    here.setAttribute("x2", middle);
    plot.setAttribute("aria-valuenow", point[0]);
    plot.setAttribute("aria-valuetext", words);
    if (!quiet) note.textContent = `${measure.title}: ${words}`;
  };
  go(place, true);
  const under = (event) => {
    const box = plot.getBoundingClientRect();
    const t = from + ((event.clientX - box.left) / box.width) * (to - from);
    const found = points.findIndex((point) => t >= point[0] && t < point[1]);
    return found < 0 ? place : found;
  };
  plot.addEventListener("mousemove", (event) => go(under(event)));
  plot.addEventListener("focus", () => go(place));
  plot.addEventListener("click", (event) => { go(under(event)); seek(points[place][0]); });
  plot.addEventListener("keydown", (event) => {
    const steps = { ArrowLeft: place - 1, ArrowDown: place - 1, ArrowRight: place + 1, ArrowUp: place + 1, Home: 0, End: points.length - 1 };
    if (event.key in steps) go(steps[event.key]);
    else if (event.key === "Enter" || event.key === " ") seek(points[place][0]);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  const node = make("div", { class: "curve" },
    make("div", { class: "curve-head" }, make("b", { text: measure.title }), make("span", { class: "val", text: `${number(curve.value)}${arrow(measure)}` }),
      make("span", { class: "quiet", text: measure.unit })),
    make("div", { class: "plot-box" },
      make("span", { class: "tick top", text: number(high) }), make("span", { class: "tick bottom", text: number(low) }), plot,
      make("span", { class: "tick left", text: clock(from) }), make("span", { class: "tick right", text: clock(to) })));
  const follow = (t) => { playhead.setAttribute("x1", x(t)); playhead.setAttribute("x2", x(t)); };
  return { node, follow, flat, title: `${measure.title} ${number(curve.value)}` };
};

const arrow = (measure) => (measure.up > 0 ? " ↑" : measure.up < 0 ? " ↓" : "");
