"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const PAGE = 50;
  const LONG = 120;
  const SVG = "http://www.w3.org/2000/svg";

  // Texts are untrusted: they only ever become text nodes.
  const make = (tag, options = {}, ...children) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(options)) {
      if (name === "text") node.textContent = value;
      else if (name === "class") node.className = value;
      else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else node.setAttribute(name, value);
    }
    node.append(...children);
    return node;
  };
  const number = (value) => (Math.abs(value) < 1000 ? value.toFixed(3) : value.toLocaleString("en"));
  const clock = (seconds) => {
    const whole = Math.floor(seconds);
    const parts = [Math.floor(whole / 60) % 60, whole % 60].map((n) => String(n).padStart(2, "0"));
    return `${Math.floor(whole / 3600)}:${parts.join(":")}.${Math.floor((seconds % 1) * 10)}`;
  };

  const cut = (text) => (text.length > LONG ? `${[...text.slice(0, LONG)].slice(0, -1).join("")}…` : text);

  // A list that grows when asked: five thousand rows are never in the page at once.
  const growing = (list, more, row) => {
    let rows = [];
    let shown = 0;
    const add = () => {
      const part = rows.slice(shown, shown + PAGE);
      list.append(...part.map(row));
      shown += part.length;
      more.hidden = shown >= rows.length;
      more.textContent = `Show more (${(rows.length - shown).toLocaleString("en")} left)`;
    };
    more.addEventListener("click", add);
    return (found) => {
      rows = found;
      shown = 0;
      list.replaceChildren();
      add();
    };
  };

  const curve = (value, seek, note) => {
    const line = make("div", { class: "curve" });
    line.append(make("span", { class: "name", text: value.name }));
    if (value.failed !== undefined) {
      line.append(make("span", { class: "val", text: "–" }));
      line.append(make("span", { class: "why", text: [value.failed, value.why, value.advice].filter(Boolean).join(": ") }));
      return line;
    }
    line.append(make("span", { class: "val", text: `${number(value.value)} ${value.up ? "↑" : "↓"}` }));
    if (value.curve.length < 2) return line;
    const start = value.curve[0][0];
    const end = value.curve[value.curve.length - 1][1];
    const values = value.curve.map((point) => point[2]);
    const low = Math.min(...values);
    const spread = Math.max(...values) - low || 1;
    const x = (t) => (100 * (t - start)) / (end - start || 1);
    const y = (v) => 30 - (28 * (v - low)) / spread;
    const svg = document.createElementNS(SVG, "svg");
    const worst = value.curve.reduce((a, b) => ((value.up ? b[2] < a[2] : b[2] > a[2]) ? b : a));
    const drawn = document.createElementNS(SVG, "polyline");
    drawn.setAttribute("points", value.curve.map((p) => `${x(p[0])},${y(p[2])} ${x(p[1])},${y(p[2])}`).join(" "));
    const bar = (name, point) => {
      const mark = document.createElementNS(SVG, "rect");
      mark.setAttribute("class", name);
      mark.setAttribute("y", 30.6);
      mark.setAttribute("height", 1.4);
      mark.setAttribute("x", x(point[0]));
      mark.setAttribute("width", Math.max(0.4, x(point[1]) - x(point[0])));
      return mark;
    };
    const here = bar("here", worst);
    svg.append(drawn, bar("low", worst), here);
    for (const [name, text] of Object.entries({ viewBox: "0 0 100 32", preserveAspectRatio: "none", tabindex: "0", role: "slider",
      "aria-label": `${value.name} over time`, "aria-valuemin": start, "aria-valuemax": end })) svg.setAttribute(name, text);
    // A curve is walked along with the mouse or with the arrow keys; a click or Enter plays it.
    let place = value.curve.indexOf(worst);
    const go = (wanted, quiet) => {
      place = Math.min(value.curve.length - 1, Math.max(0, wanted));
      const point = value.curve[place];
      const words = `${number(point[2])} at ${clock(point[0])}–${clock(point[1])}${point === worst ? ", the worst" : ""}${point[3] ? `: ${point[3]}` : ""}`;
      here.setAttribute("x", x(point[0]));
      here.setAttribute("width", Math.max(0.4, x(point[1]) - x(point[0])));
      svg.setAttribute("aria-valuenow", point[0]);
      svg.setAttribute("aria-valuetext", words);
      if (!quiet) note.textContent = `${value.name} ${words}`;
    };
    go(place, true);
    const at = (event) => {
      const box = svg.getBoundingClientRect();
      const t = start + ((event.clientX - box.left) / box.width) * (end - start);
      const found = value.curve.findIndex((point) => t >= point[0] && t < point[1]);
      return found < 0 ? place : found;
    };
    svg.addEventListener("mousemove", (event) => go(at(event)));
    svg.addEventListener("focus", () => go(place));
    svg.addEventListener("click", (event) => { go(at(event)); seek(value.curve[place][0]); });
    svg.addEventListener("keydown", (event) => {
      const steps = { ArrowLeft: place - 1, ArrowDown: place - 1, ArrowRight: place + 1, ArrowUp: place + 1, Home: 0, End: value.curve.length - 1 };
      if (event.key in steps) go(steps[event.key]);
      else if (event.key === "Enter" || event.key === " ") seek(value.curve[place][0]);
      else return;
      event.preventDefault();
    });
    line.append(svg);
    return line;
  };

  // What was asked of a video, scene by scene, with the answers.
  const asked = (value, seek) => {
    const all = value.asked.flatMap((scene) => scene.questions);
    const count = (answer) => all.filter((one) => one.answer === answer).length;
    const counts = [[count("yes"), "yes"], [count("no"), "no"], [count(null), "without an answer"]].filter(([n]) => n).map(([n, what]) => `${n} ${what}`);
    const details = make("details", { class: "asked" }, make("summary", { text: `Questions behind ${value.name}: ${counts.join(", ") || "none"}` }));
    const row = (one) => make("li", {},
      make("span", { class: one.answer === "yes" ? "answer" : "answer gap", text: one.answer || "no answer" }),
      make("span", { class: "question", text: one.question }), make("span", { class: "sub", text: one.category }),
      ...(one.why ? [make("span", { class: "said", text: one.why })] : []));
    details.addEventListener("toggle", () => {
      if (!details.open || details.children.length > 1) return;
      for (const scene of value.asked) {
        const go = make("button", { type: "button", text: clock(scene.start), "aria-label": `Go to ${clock(scene.start)}`, onclick: () => seek(scene.start) });
        details.append(make("p", { class: "scene" }, go, ` ${scene.text}`), make("ul", {}, ...scene.questions.map(row)));
        if (scene.failed) details.append(make("p", { class: "gap", text: scene.failed }));
      }
    });
    return details;
  };

  const body = (item) => {
    const box = make("div", { class: "body" });
    let player = null;
    const note = make("p", { class: "note", "aria-live": "polite", text: "" });
    const seek = (t) => {
      if (!player) return;
      player.currentTime = t;
      player.scrollIntoView({ block: "nearest" });
    };
    if (item.id.length > LONG) box.append(make("p", { class: "prompt", tabindex: "0", role: "group", "aria-label": "Id", text: item.id }));
    if (item.prompt) box.append(make("p", { class: "prompt", tabindex: "0", role: "group", "aria-label": "Prompt", text: item.prompt }));
    if (item.video) {
      player = make("video", { controls: "", preload: "metadata", src: item.video, "aria-label": item.id });
      if (item.worst.length) player.setAttribute("poster", item.worst[0].src);
      player.addEventListener("error", () => player.replaceWith(make("p", { class: "note", text: "The video is not beside the report." })));
      box.append(player);
    }
    if (item.worst.length) {
      const shots = item.worst.map((one) => make("button", { type: "button", onclick: () => seek(one.t), "aria-label": `Go to ${clock(one.t)}` },
        make("img", { src: one.src, alt: "", loading: "lazy" }), make("span", { text: clock(one.t) })));
      box.append(make("div", {}, make("p", { class: "note", text: "Worst moments" }), make("div", { class: "shots" }, ...shots)));
    }
    if (item.pending.length) box.append(make("p", { class: "note", text: `Still to come: ${item.pending.join(", ")}. Start the same command again.` }));
    // Curves first, then single numbers, then what is missing.
    const place = (value) => (value.failed !== undefined ? 2 : value.curve.length > 1 ? 0 : 1);
    const values = [...item.values].sort((a, b) => place(a) - place(b));
    box.append(make("div", {}, ...values.map((value) => curve(value, seek, note)), note));
    box.append(...item.values.filter((value) => value.asked && value.asked.length).map((value) => asked(value, seek)));
    return box;
  };

  const value = (item, name) => item.values.find((one) => one.name === name);

  const list = document.getElementById("list");
  if (list) {
    const sort = document.getElementById("sort");
    const search = document.getElementById("search");
    sort.append(make("option", { value: "", text: "id" }), ...data.names.map((name) => make("option", { value: name, text: `${cut(name)}, worst first` })));
    const show = growing(list, document.getElementById("more"), (item) => {
      const chosen = sort.value && value(item, sort.value);
      const groups = Object.values(item.groups).join(" · ");
      const lost = item.values.filter((one) => one.failed !== undefined && one.failed !== "not_applicable").length;
      const beside = item.values.filter((one) => one.failed === "not_applicable").length;
      const waiting = item.pending.length;
      const head = make("summary", {}, make("span", { class: "id", text: cut(item.id) }), make("span", { class: "sub", text: cut(groups) }),
        make("span", { class: "num", text: chosen ? (chosen.failed !== undefined ? chosen.failed : number(chosen.value)) : "" }));
      if (beside) head.append(make("span", { class: "sub", text: `${beside} not applicable` }));
      if (lost) head.append(make("span", { class: "gap", text: `${lost} not scored` }));
      if (waiting) head.append(make("span", { class: "gap", text: `${waiting} pending` }));
      const details = make("details", {}, head);
      details.addEventListener("toggle", () => {
        if (details.open && details.children.length === 1) details.append(body(item));
      });
      return make("li", {}, details);
    });
    const refresh = () => {
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      const found = data.items.filter((item) => {
        const text = `${item.id} ${item.prompt} ${Object.values(item.groups).join(" ")}`.toLowerCase();
        return words.every((word) => text.includes(word));
      });
      if (sort.value) {
        const rank = (item) => {
          const one = value(item, sort.value);
          if (!one || one.failed !== undefined) return Infinity;
          return one.up ? one.value : -one.value;
        };
        found.sort((a, b) => rank(a) - rank(b));
      }
      document.getElementById("count").textContent = `${found.length.toLocaleString("en")} of ${data.items.length.toLocaleString("en")}`;
      show(found);
      if (found.length === 1) list.querySelector("details").open = true;
    };
    let waiting = 0;
    search.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(refresh, 120);
    });
    sort.addEventListener("change", refresh);
    refresh();
  }

  const verdicts = document.getElementById("verdict-list");
  if (verdicts) {
    const pick = (id, name) => {
      const select = document.getElementById(id);
      const names = [...new Set(data.verdicts.map((one) => one[name]))].sort();
      select.append(make("option", { value: "", text: "all" }), ...names.map((text) => make("option", { value: text, text: cut(text.replaceAll("_", " ")) })));
      return select;
    };
    const judge = pick("judge", "judge");
    const aspect = pick("aspect", "aspect");
    const which = document.getElementById("which");
    const word = (one) => (one.failed !== undefined ? "not judged" : { 0: "wrong", 0.5: "tie", 1: "right" }[one.points]);
    const show = growing(verdicts, document.getElementById("verdict-more"), (one) => {
      const head = make("summary", {}, make("span", { class: "id", text: cut(one.item) }), make("span", { class: "sub", text: cut(`${one.judge}, ${one.aspect.replaceAll("_", " ")}, ${one.order}`) }),
        make("span", { class: one.points === 0 || one.failed !== undefined ? "num gap" : "num", text: word(one) }));
      const details = make("details", {}, head);
      details.addEventListener("toggle", () => {
        const why = [one.failed, one.why].filter(Boolean).join(": ") || "No reason was given: the higher rating wins.";
        if (details.open && details.children.length === 1) details.append(make("p", { class: "prompt", tabindex: "0", role: "group", "aria-label": "Reason", text: why }));
      });
      return make("li", {}, details);
    });
    const refresh = () => {
      const found = data.verdicts.filter((one) =>
        (!judge.value || one.judge === judge.value) && (!aspect.value || one.aspect === aspect.value) &&
        (!which.value || (which.value === "failed" ? one.failed !== undefined : one.points === Number(which.value))));
      document.getElementById("verdict-count").textContent = `${found.length.toLocaleString("en")} of ${data.verdicts.length.toLocaleString("en")}`;
      show(found);
    };
    [judge, aspect, which].forEach((select) => select.addEventListener("change", refresh));
    refresh();
  }
})();
