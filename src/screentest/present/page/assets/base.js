"use strict";
// What all parts of the page share. Texts are untrusted: they only ever become text nodes.
const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const LONG = 120;

const make = (tag, options = {}, ...children) => {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "text") node.textContent = value;
    else if (name === "class") node.className = value;
    else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((one) => one !== null && one !== undefined));
  return node;
};

const draw = (tag, options = {}, ...children) => {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(options)) node.setAttribute(name, value);
  node.append(...children);
  return node;
};

// Three figures that say something, as the tables have them.
const number = (value) => {
  if (value === 0) return "0";
  const digits = 2 - Math.floor(Math.log10(Math.abs(value)));
  const shown = Math.min(Math.max(digits, 0), 5);
  const text = value.toLocaleString("en", { minimumFractionDigits: shown, maximumFractionDigits: shown });
  return digits > 5 ? text.replace(/\.?0+$/, "") : text;
};

const clock = (seconds) => {
  const tenths = Math.max(0, Math.round(seconds * 10));
  const pad = (one) => String(one).padStart(2, "0");
  const hours = Math.floor(tenths / 36000), minutes = Math.floor(tenths / 600) % 60;
  const rest = `${pad(Math.floor(tenths / 10) % 60)}.${tenths % 10}`;
  return hours ? `${hours}:${pad(minutes)}:${rest}` : `${minutes}:${rest}`;
};

const cut = (text, most = LONG) => (text.length > most ? `${[...text.slice(0, most)].slice(0, -1).join("")}…` : text);
const counted = (count, what) => `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`;
const still = matchMedia("(prefers-reduced-motion: reduce)");

// A list that grows when asked: five thousand rows are never in the page at once.
const growing = (list, more, row, step) => {
  let rows = [], shown = 0;
  const add = () => {
    const part = rows.slice(shown, shown + step);
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

const start = (video) => video.play().catch(() => {});  // stopped before it began, or not there

// Pictures are in the data once, and shown in several places.
for (const image of document.querySelectorAll("img[data-poster]")) {
  const item = data.items[Number(image.dataset.poster)];
  if (item && item.poster) image.src = item.poster;
  else image.closest("a").remove();
}

const theme = $("theme");
if (theme) {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light")) === "dark";
  const name = () => { theme.textContent = isDark() ? "Light" : "Dark"; };
  theme.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    name();
  });
  dark.addEventListener("change", name);
  name();
}
