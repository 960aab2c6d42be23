// Prompts by models, side by side. Hover or focus plays a whole row; a click opens the video.
const nameOf = (item) => `${cut(data.models[item.model], 40)}${item.label ? `, ${cut(item.label, 40)}` : ""}`;

const tile = (item, number_) => {
  const bare = $("grid").classList.contains("bare");  // no video of the page can be shown: no boxes
  const picture = bare ? make("span", { text: "all values" }) : item.poster ? make("img", { src: item.poster, alt: "", loading: "lazy" }) : make("span", { class: "blank", text: item.video ? "" : "cannot be shown" });
  const worst = item.worst ? data.measures[item.worst.m] : null;
  const others = item.worst ? ` · ${data.models.length === 2 ? "the other" : "others"} ${[...new Set(item.worst.others.map(number))].join(" to ")}` : "";
  const lost = item.failed.filter((one) => one[1] !== "not_applicable" && data.measures[one[0]].had).length;  // what no video has is said above
  const label = `${cut(item.id)}${item.model === null ? "" : `, ${nameOf(item)}`}${bare || item.poster || item.video ? "" : ", cannot be shown"}`;
  const open = make("button", { type: "button", class: "frame", "aria-label": `${bare ? "All values of" : "Open"} ${label}`, onclick: () => drawer.video(number_) }, picture);
  const box = make("div", { class: "tile" }, open);
  if (item.label) box.append(make("p", { class: "weak quiet", text: cut(item.label) }));
  if (worst) box.append(make("p", { class: "weak" }, make("span", { class: "quiet", text: "furthest behind in " }), make("b", { text: worst.title }), ` ${number(item.worst.value)}`, make("span", { class: "quiet", text: others })));
  else if (!lost) box.append(make("p", { class: "weak quiet", text: data.rivals ? "last in no metric" : "" }));
  if (lost) box.append(make("p", { class: "weak bad", text: `${lost} not scored` }));
  if (item.pending) box.append(make("p", { class: "weak bad", text: `${item.pending} still to come` }));
  box.item = item;
  return box;
};

// Videos are only there while they play: a page of hundreds stays light.
const playTiles = (tiles) => {
  for (const box of tiles) {
    if (!box.item.video || box.querySelector("video")) continue;
    const video = make("video", { src: box.item.video, loop: true, playsinline: true, tabindex: "-1", "aria-hidden": "true" });
    video.muted = true;
    video.addEventListener("error", () => video.remove());
    video.addEventListener("playing", () => video.classList.add("on"));
    box.firstChild.append(video);
    start(video);
  }
};
const stopTiles = (tiles) => {
  for (const box of tiles) box.querySelector("video")?.remove();
};

const hoverPlays = (area, tiles) => {
  let waiting = 0;
  const on = () => { clearTimeout(waiting); waiting = setTimeout(() => playTiles(tiles()), 120); };
  const off = () => { clearTimeout(waiting); stopTiles(tiles()); };
  area.addEventListener("pointerenter", (event) => { if (event.pointerType !== "touch" && !still.matches) on(); });
  area.addEventListener("pointerleave", (event) => { if (event.pointerType !== "touch" && !area.contains(document.activeElement)) off(); });
  area.addEventListener("focusin", (event) => { if (!still.matches && event.target.matches(".frame:focus-visible")) on(); });
  area.addEventListener("focusout", (event) => { if (!area.contains(event.relatedTarget) && !area.matches(":hover")) off(); });
};

const grid = $("grid");
if (grid) {
  const measure = $("measure"), search = $("search"), count = $("count");
  const rowOf = (row) => {
    const cells = row.items.map((items) => make("div", { class: "cell" }, ...items.map((one) => tile(data.items[one], one))));
    const tiles = cells.flatMap((cell) => [...cell.children]);
    cells.forEach((cell, place) => {
      cell.prepend(make("p", { class: "model" }, make("i", { class: `dot series-${place % 7 + 1}` }), data.models[place]));
      if (!tiles.some((one) => cell.contains(one))) cell.append(make("p", { class: "quiet", text: "no video" }));
    });
    const play = make("button", { type: "button", class: "small", text: "Play all", "aria-label": `Play all videos of prompt ${row.n}` });
    const text = cut(row.prompt, 220);
    const node = make("li", { class: "row" }, make("div", { class: "prompt-cell" }, make("b", { text: String(row.n) }), make("p", { text, title: row.prompt.slice(0, 600) }), ...(grid.classList.contains("bare") ? [] : [play])), ...cells);
    play.addEventListener("click", () => (node.querySelector("video") ? stopTiles(tiles) : playTiles(tiles)));
    hoverPlays(node, () => tiles);
    return node;
  };
  const single = (row) => {
    const item = data.items[row.items[0][0]];
    const box = tile(item, row.items[0][0]);
    const node = make("li", {}, box, make("p", { class: "caption" }, make("b", { text: cut(item.id, 60) }), make("span", { class: "quiet", text: cut(item.prompt, 90) })));
    hoverPlays(node, () => [box]);
    return node;
  };
  const show = growing(grid, $("more"), data.rivals ? rowOf : single, data.rivals ? 12 : 48);
  let most = false;
  const weight = (row) => (measure.value ? row.gaps[measure.value] ?? -Infinity : row.gap);
  const refresh = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let found = data.rows.filter((row) => words.every((word) => row.text.includes(word)));
    const sorted = data.rivals ? most : measure.value !== "";
    measure.parentElement.hidden = data.rivals && !most;
    if (sorted) found = [...found].sort((a, b) => weight(b) - weight(a));
    // The half in which they differ more; what is left out is where they hardly do.
    if (most) found = found.filter((row, place) => weight(row) > 0 && place < Math.max(2, Math.ceil(found.length / 2)));
    count.textContent = `${found.length.toLocaleString("en")} of ${counted(data.rows.length, data.rivals ? "prompt" : "video")}`;
    show(found);
    if (!found.length) grid.append(make("li", { class: "none quiet", text: words.length ? `Nothing found for “${cut(search.value.trim(), 60)}”: words of a prompt, a name or a group are looked for.` : "They differ on no prompt." }));
  };
  let waiting = 0;
  search.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(refresh, 120); });
  const modes = [...document.querySelectorAll("#order button")];
  for (const one of modes) {
    one.addEventListener("click", () => {
      most = one.value === "most";
      for (const other of modes) other.setAttribute("aria-pressed", String(other === one));
      refresh();
    });
  }
  measure.addEventListener("change", refresh);
  refresh();
}
