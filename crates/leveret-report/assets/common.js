// Shared: the data, SVG elements, numbers as people read them, ticks, the tip.

const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);

const element = (name, attributes = {}, parent = null, text = "") => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text) made.textContent = text;
  if (parent) parent.appendChild(made);
  return made;
};

const canvas = (host, width, height) => {
  host.replaceChildren();
  return element("svg", { viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true" }, host);
};

// Three significant digits and a unit.
const time = (ns) => {
  const sign = ns < 0 ? "\u2212" : "";
  const size = Math.abs(ns);
  const step = [["ns", 1], ["\u00b5s", 1e3], ["ms", 1e6], ["s", 1e9]].filter(([, scale]) => size >= scale).pop() ?? ["ns", 1];
  const value = size / step[1];
  const digits = step[1] === 1 ? 0 : value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return `${sign}${value.toFixed(digits)} ${step[0]}`;
};

// As on an axis: no needless zeros.
const tickTime = (ns) => time(ns).replace(/(\.\d*?)0+ /, "$1 ").replace(/\. /, " ");

const ticks = (from, to, count) => {
  const raw = Math.max((to - from) / Math.max(count, 1), 1e-9);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= raw) ?? raw;
  const list = [];
  for (let at = Math.ceil(from / step) * step; at <= to + step * 1e-6; at += step) list.push(at);
  return list;
};

// Powers of ten between two values, thinned to the room there is.
const decades = (from, to, count) => {
  const low = Math.ceil(Math.log10(Math.max(from, 1e-9)) - 1e-9);
  const high = Math.floor(Math.log10(Math.max(to, 1e-9)) + 1e-9);
  const stride = Math.max(1, Math.ceil((high - low + 1) / Math.max(count, 1)));
  const list = [];
  for (let power = low; power <= high; power += stride) list.push(10 ** power);
  return list;
};

const hue = (index) => `var(--hue${((index % 6) + 6) % 6})`;

const tip = byId("tip");
const showTip = (event, title, lines) => {
  tip.replaceChildren();
  const head = document.createElement("b");
  head.textContent = title;
  tip.append(head, lines.join("\n"));
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const x = Math.min(event.clientX + 14, innerWidth - box.width - 8);
  const below = event.clientY + 18;
  tip.style.left = `${Math.max(8, x)}px`;
  tip.style.top = `${below + box.height > innerHeight ? Math.max(8, event.clientY - box.height - 12) : below}px`;
};
const hideTip = () => { tip.hidden = true; };
const withTip = (target, title, lines) => {
  target.addEventListener("pointermove", (event) => showTip(event, title, lines));
  target.addEventListener("pointerleave", hideTip);
  return target;
};

// A width that follows the host; drawing again when it changes.
const onResize = (host, draw) => {
  let last = 0;
  new ResizeObserver(() => {
    const width = Math.round(host.clientWidth);
    if (width !== last && width > 0) {
      last = width;
      requestAnimationFrame(draw);
    }
  }).observe(host);
};
