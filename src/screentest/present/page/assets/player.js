// One or two videos behind one bar: play, a scrubber with marks, time, speed.
// marks: { t, end?, label }. Two videos go by the time of the first.
const stage = (sources, { marks = [], onTime = null, fps = 25 } = {}) => {
  const box = make("div", { class: "stage", tabindex: "-1", role: "group", "aria-label": "Player: space plays, comma and full stop go by a frame" });
  const frames = make("div", { class: `screens screens-${sources.length}` });
  const videos = [];
  for (const source of sources) {
    const frame = make("figure", { class: "screen" });
    if (source.label) frame.append(make("figcaption", { text: source.label }));
    if (source.src) {
      const video = make("video", { src: source.src, poster: source.poster || undefined, preload: "metadata",
        playsinline: true, "aria-label": source.name || source.label });
      video.muted = sources.length > 1;
      video.addEventListener("error", () => video.replaceWith(make("p", { class: "gone", text: "The video is not beside this page, or this browser cannot play it." })));
      videos.push(video);
      frame.append(video);
    } else if (source.poster) {
      frame.append(make("img", { src: source.poster, alt: "" }));
    } else {
      frame.append(make("p", { class: "gone", text: source.missing || "This video cannot be shown here." }));
    }
    frames.append(frame);
  }
  box.append(frames);
  const first = videos[0];
  const seek = (time) => { for (const video of videos) video.currentTime = time; };
  if (!first) return { node: box, seek, step: () => {}, toggle: () => {}, stop: () => {}, video: null };
  // To the middle of a frame: at its edge, which of two is shown depends on rounding.
  const step = (by) => {
    videos.forEach((one) => one.pause());
    seek(Math.max(0, Math.min((Math.floor(first.currentTime * fps + 1e-3) + by + 0.5) / fps, first.duration || Infinity)));
  };

  const play = make("button", { type: "button", class: "play", text: "Play" });
  const seeker = make("input", { type: "range", min: 0, max: 1, step: 0.001, value: 0, "aria-label": "Moment" });
  const now = make("span", { class: "time", text: "0:00.0" });
  const track = make("div", { class: "track" }, seeker);
  const speed = make("select", { "aria-label": "Speed" }, ...["0.25", "0.5", "1", "2"].map((one) =>
    make("option", { value: one, text: `${one}×`, selected: one === "1" })));
  box.append(make("div", { class: "bar" }, play, track, now, speed));

  const toggle = () => {
    if (first.paused) { if (first.ended) seek(0); videos.forEach(start); } else videos.forEach((one) => one.pause());
  };
  const show = () => {
    const length = first.duration || 1;
    seeker.value = first.currentTime / length;
    seeker.setAttribute("aria-valuetext", clock(first.currentTime));
    now.textContent = `${clock(first.currentTime)} / ${clock(first.duration || 0)}`;
    for (const other of videos.slice(1)) {
      if (Math.abs(other.currentTime - first.currentTime) > 0.15 && first.currentTime < other.duration) other.currentTime = first.currentTime;
    }
    if (onTime) onTime(first.currentTime);
  };
  let asked = 0;
  const tick = () => { show(); asked = first.paused ? 0 : requestAnimationFrame(tick); };
  first.addEventListener("play", () => { play.textContent = "Pause"; if (!asked) tick(); });
  first.addEventListener("pause", () => { play.textContent = "Play"; videos.slice(1).forEach((one) => one.pause()); show(); });
  first.addEventListener("seeked", show);
  first.addEventListener("loadedmetadata", () => {
    const length = first.duration || 1;
    for (const mark of marks) {
      const button = make("button", { type: "button", class: "mark", title: mark.label,
        "aria-label": mark.label, onclick: () => seek(mark.t) });
      button.style.left = `${Math.min(99, 100 * mark.t / length)}%`;
      if (mark.end) button.style.width = `${Math.max(0.5, 100 * (mark.end - mark.t) / length)}%`;
      track.append(button);
    }
    show();
  });
  play.addEventListener("click", toggle);
  frames.addEventListener("click", toggle);
  seeker.addEventListener("input", () => seek(Number(seeker.value) * (first.duration || 0)));
  speed.addEventListener("change", () => videos.forEach((one) => { one.playbackRate = Number(speed.value); }));
  return { node: box, seek, step, toggle, stop: () => videos.forEach((one) => one.pause()), video: first };
};
