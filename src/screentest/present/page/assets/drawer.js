// The drawer: one video with all that is known of it, or the pairs behind a cell of a certificate.
const drawer = (() => {
  const dialog = $("drawer"), head = $("drawer-head"), body = $("drawer-body");
  let current = null;  // the number of the video that is open
  let player = null;

  const show = (title, about, content, address) => {
    head.replaceChildren(make("h2", { id: "drawer-title", text: title }), ...(about ? [about] : []));
    body.replaceChildren(...content);
    history.replaceState(null, "", address);
    if (!dialog.open) dialog.showModal();
    body.scrollTop = 0;
    // Not on a button, which the space bar would press; and not lost with what stood here before.
    (body.querySelector(".stage") ?? dialog).focus({ preventScroll: true });
  };
  const close = () => { if (dialog.open) dialog.close(); };
  dialog.addEventListener("close", () => {
    player?.stop();
    body.replaceChildren();
    player = null;
    current = null;
    history.replaceState(null, "", location.pathname + location.search);
  });
  dialog.addEventListener("click", (event) => { if (event.target === dialog) close(); });
  $("drawer-close").addEventListener("click", close);

  const asked = (item, seek) => item.asked.map(([place, scenes]) => {
    const questions = scenes.flatMap((scene) => scene.questions);
    const count = (answer) => questions.filter((one) => one.answer === answer).length;
    const counts = [[count("yes"), "yes"], [count("no"), "no"], [count(null), "without an answer"]].filter(([n]) => n).map(([n, what]) => `${n} ${what}`);
    const details = make("details", { class: "asked" }, make("summary", { text: `Questions behind ${data.measures[place].title}: ${counts.join(", ") || "none"}` }));
    const row = (one) => make("li", {},
      make("span", { class: one.answer === "yes" ? "answer" : "answer bad", text: one.answer || "no answer" }),
      make("span", { class: "question", text: one.question }), make("span", { class: "quiet", text: one.category }),
      one.why ? make("span", { class: "said", text: one.why }) : null);
    details.addEventListener("toggle", () => {
      if (!details.open || details.children.length > 1) return;
      for (const scene of scenes) {
        const go = make("button", { type: "button", class: "small", text: clock(scene.start), "aria-label": `Go to ${clock(scene.start)}`, onclick: () => seek(scene.start) });
        details.append(make("p", { class: "scene" }, go, ` ${scene.text}`), make("ul", {}, ...scene.questions.map(row)));
        if (scene.failed) details.append(make("p", { class: "bad", text: scene.failed }));
      }
    });
    return details;
  });

  const reason = ([place, value, note]) => `${data.measures[place].title} ${number(value)}${note ? `: ${note}` : ""}`;

  const moments = (item, seek) => {
    if (!item.moments.length) return null;
    const list = make("ol", { class: "moments" }, ...item.moments.map((one) => make("li", {},
      make("button", { type: "button", class: "moment", onclick: () => seek(one.t) },
        one.src ? make("img", { src: one.src, alt: "", loading: "lazy" }) : null,
        make("span", {}, make("b", { text: clock(one.t) }), ...one.why.map((why) => make("span", { class: "why", text: reason(why) })))))));
    return make("section", {}, make("h3", { text: "Worst moments" }), list);
  };

  const rivals = (item, number_) => {
    const row = data.rows[item.row];
    const others = data.rivals && row ? row.items.flat() : [];
    if (others.length < 2) return null;
    return make("nav", { class: "rivals", "aria-label": "The same prompt" }, ...others.map((other) => {
      const one = data.items[other];
      return make("button", { type: "button", "aria-current": other === number_ ? "true" : undefined, onclick: () => video(other) },
        make("i", { class: `dot series-${one.model % 7 + 1}` }), nameOf(one));
    }));
  };

  // What has no value, by its reason; folded, since it is not about how good the video is.
  const unscored = (item) => {
    if (!item.failed.length) return null;
    const reasons = new Map();
    for (const [m, ...why] of item.failed) {
      const words = [why[0].replaceAll("_", " "), ...why.slice(1)].filter(Boolean).join(": ");
      reasons.set(words, [...(reasons.get(words) || []), data.measures[m].title]);
    }
    return make("details", { class: "unscored" }, make("summary", { text: `Not scored: ${counted(item.failed.length, "metric")}` }),
      make("ul", { class: "plain" }, ...[...reasons].map(([words, titles]) => make("li", {}, make("b", { text: titles.join(", ") }), ` ${words}`))));
  };

  const video = (number_, at) => {
    const item = data.items[number_];
    if (!item) return;
    player?.stop();
    const note = make("p", { class: "note quiet", "aria-live": "polite" });
    const followers = [];
    player = stage([{ src: item.video, poster: item.poster, name: item.id, missing: item.gone }], {
      fps: item.fps,
      marks: item.moments.map((one) => ({ t: one.t, label: `${clock(one.t)}: ${one.why.map(reason).join("; ")}` })),
      onTime: (t) => { for (const follow of followers) follow(t); },
    });
    const seek = (t) => { player.seek(t); player.node.scrollIntoView({ block: "nearest" }); };
    const drawn = item.curves.map((curve) => chart(item, data.measures[curve.m], curve, seek, note));
    followers.push(...drawn.map((one) => one.follow));
    const directed = ({ m }) => data.measures[m].up !== 0;
    const curves = (wanted) => {
      const chosen = drawn.filter((_, place) => directed(item.curves[place]) === wanted);
      const flat = chosen.filter((one) => one.flat).map((one) => one.title);
      return chosen.length ? make("div", {}, make("div", { class: "curves" }, ...chosen.filter((one) => !one.flat).map((one) => one.node)),
        flat.length ? make("p", { class: "quiet", text: `The same throughout: ${flat.join(", ")}.` }) : null) : null;
    };
    const over = curves(true);
    const plain = item.values.filter(([m]) => data.measures[m].up === 0);
    const describing = plain.length ? make("details", {}, make("summary", { text: `${counted(plain.length, "metric")}: described` }),
      make("dl", { class: "facts" }, ...plain.flatMap(([m, value]) => [make("dt", { text: data.measures[m].title, title: data.measures[m].summary }), make("dd", { text: number(value) })])),
      curves(false)) : null;
    const about = make("div", {}, make("p", { class: "quiet groups", text: cut(item.groups) }), rivals(item, number_));
    const content = [
      player.node,
      item.prompt ? make("details", { class: "text", open: item.prompt.length < 400 }, make("summary", { text: "Prompt" }), make("p", { class: "prompt", tabindex: "0", role: "group", "aria-label": "Prompt", text: item.prompt })) : null,
      item.id.length > LONG ? make("p", { class: "prompt", tabindex: "0", role: "group", "aria-label": "Id", text: item.id }) : null,
      item.waiting ? make("p", { class: "bad", text: `Still to come: ${item.waiting}. Start the same command again.` }) : null,
      moments(item, seek),
      against(item, number_),
      over ? make("section", {}, make("h3", { text: "Over time" }),
        make("p", { class: "quiet", text: "Grey: where eight of ten values of the run lie. Red: the worst of this video. A click goes there." }), note, over) : null,
      describing,
      ...asked(item, seek),
      unscored(item),
    ].filter(Boolean);
    current = number_;
    show(cut(item.id), about, content, `#video=${encodeURIComponent(item.id)}${at === undefined ? "" : `&t=${at}`}`);
    if (at !== undefined) player.seek(at);
  };

  const step = (by) => {
    const next = data.rows.flatMap((row) => row.items.flat());
    const place = next.indexOf(current);
    if (place >= 0 && next[place + by] !== undefined) video(next[place + by]);
  };
  // On the document: a click beside all controls leaves the focus on the page.
  document.addEventListener("keydown", (event) => {
    if (!dialog.open || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select, textarea, [role=slider]")) return;
    if (event.key === " " && event.target.matches("button, summary")) return;
    const keys = { " ": () => player?.toggle(), j: () => step(1), k: () => step(-1),
      ",": () => player?.step(-1), ".": () => player?.step(1) };
    if (!Object.hasOwn(keys, event.key) || (current === null && "jk".includes(event.key))) return;
    keys[event.key]();
    event.preventDefault();
  });

  const named = () => {
    const found = new URLSearchParams(location.hash.slice(1));
    const id = found.get("video");
    if (id === null) return;
    const number_ = data.items.findIndex((item) => item.id === id);
    const at = found.get("t");
    if (number_ >= 0) video(number_, at === null ? undefined : Number(at) || 0);
  };
  window.addEventListener("hashchange", named);

  // Links and dots in the page say which video they mean by its number.
  document.addEventListener("click", (event) => {
    const link = event.target.closest("[data-video]");
    if (!link) return;
    event.preventDefault();
    video(Number(link.dataset.video), link.dataset.t === undefined ? undefined : Number(link.dataset.t));
  });
  return { video, show, close, named, use: (given) => { player?.stop(); player = given; current = null; } };
})();
