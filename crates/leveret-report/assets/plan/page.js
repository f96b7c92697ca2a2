// Wires pointer, touch, keys and controls.

const sheet = byId("canvas");
const spot = (event) => {
  const box = sheet.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
};

const light = (group) => {
  view.light(group);
  tell.facts();
  for (const chip of byId("chains").children) chip.setAttribute("aria-pressed", Number(chip.dataset.group) === group);
  // The column beside the drawing takes room from it.
  requestAnimationFrame(() => view.arrange());
};

const putOut = () => {
  view.state.focus = -1;
  byId("name").value = "";
  hideTip();
  light(null);
};

const toggleOnly = () => {
  view.setOnly(!view.state.only);
  byId("only").setAttribute("aria-pressed", view.state.only);
};

// The group whose name is given; else the next that contains it.
const find = (given) => {
  const wanted = given.trim().toLowerCase();
  if (wanted === "") return putOut();
  const names = plan.groups.map((group) => group.name.toLowerCase());
  let found = names.indexOf(wanted);
  if (found < 0 || view.state.lit?.group === found) {
    const now = view.state.lit?.group ?? -1;
    const order = names.map((_, index) => (index + now + 1) % names.length);
    found = order.find((index) => names[index].includes(wanted)) ?? -1;
  }
  if (found < 0) {
    byId("said").textContent = `nothing is called ${given}`;
    return undefined;
  }
  return light(found);
};

const hover = (event) => {
  const bar = view.hit(...spot(event));
  if (bar < 0) hideTip();
  else showTip(event, ...tell.linesOf(bar));
};

// Where a bar is drawn is known once the view has moved, and the facts beside it have taken their room.
const tellSoon = (bar) => requestAnimationFrame(() => requestAnimationFrame(() => tell.beside(bar)));

const press = (event) => {
  // A finger is broader than a slot.
  const bar = view.hit(...spot(event), event.pointerType === "touch" ? 14 : 4);
  view.state.focus = bar;
  if (bar < 0) return putOut();
  light(plan.groupOf(bar));
  return tellSoon(bar);
};

// One pointer moves the plan, two zoom it.
const pointers = new Map();
let moved = false;
sheet.addEventListener("pointerdown", (event) => {
  sheet.setPointerCapture(event.pointerId);
  pointers.set(event.pointerId, spot(event));
  if (pointers.size === 1) moved = false;
});
sheet.addEventListener("pointermove", (event) => {
  const before = pointers.get(event.pointerId);
  if (!before) return hover(event);
  const now = spot(event);
  const others = [...pointers].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
  if (!moved && others.length === 0 && Math.hypot(now[0] - before[0], now[1] - before[1]) < 4) return undefined;
  moved = true;
  hideTip();
  sheet.classList.add("dragging");
  if (others.length === 0) {
    const by = (before[0] - now[0]) * view.perPixel();
    view.show(view.state.from + by, view.state.until + by);
    view.scroll(before[1] - now[1]);
  } else {
    const [other] = others;
    const apart = (one) => Math.max(20, Math.hypot(one[0] - other[0], one[1] - other[1]));
    view.zoom(apart(before) / apart(now), view.at((before[0] + other[0]) / 2));
    const by = ((before[0] - now[0]) / 2) * view.perPixel();
    view.show(view.state.from + by, view.state.until + by);
  }
  pointers.set(event.pointerId, now);
  return undefined;
});
const release = (event) => {
  const known = pointers.delete(event.pointerId);
  if (pointers.size === 0) sheet.classList.remove("dragging");
  if (known && !moved && event.type === "pointerup" && pointers.size === 0) press(event);
};
sheet.addEventListener("pointerup", release);
sheet.addEventListener("pointercancel", release);
sheet.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") hideTip(); });
sheet.addEventListener("dblclick", (event) => view.zoom(0.4, view.at(spot(event)[0])));
sheet.addEventListener("wheel", (event) => {
  event.preventDefault();
  const [x] = spot(event);
  const step = event.deltaMode === 1 ? 30 : 1;
  const [across, down] = [event.deltaX * step, event.deltaY * step];
  if (x < view.gutter() && across === 0) view.scroll(down);
  else if (event.shiftKey || Math.abs(across) > Math.abs(down)) view.pan((across || down) / 900);
  else view.zoom(Math.exp(Math.min(Math.max(down, -240), 240) / 480), view.at(x));
  hover(event);
}, { passive: false });

const stepTo = (by) => {
  const bar = view.step(by);
  if (bar >= 0) tellSoon(bar);
};
const keys = {
  "+": () => view.zoom(0.6), "=": () => view.zoom(0.6), "-": () => view.zoom(1 / 0.6), 0: view.whole,
  ArrowLeft: () => view.pan(-0.15), ArrowRight: () => view.pan(0.15),
  ArrowUp: () => view.scroll(-view.rowHeight()), ArrowDown: () => view.scroll(view.rowHeight()),
  PageUp: () => view.scroll(-view.rowHeight() * 10), PageDown: () => view.scroll(view.rowHeight() * 10),
  Home: () => view.show(plan.span[0], plan.span[0] + view.state.until - view.state.from),
  End: () => view.show(plan.span[1] - (view.state.until - view.state.from), plan.span[1]),
  n: () => stepTo(1), p: () => stepTo(-1), f: toggleOnly, Escape: putOut,
  Enter: () => { if (view.state.focus >= 0) light(plan.groupOf(view.state.focus)); },
};
sheet.addEventListener("keydown", (event) => {
  const act = keys[event.key];
  if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  hideTip();
  act();
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target === byId("name")) return;
  event.preventDefault();
  byId("name").focus();
});

byId("zoom-in").addEventListener("click", () => view.zoom(0.5));
byId("zoom-out").addEventListener("click", () => view.zoom(2));
byId("zoom-whole").addEventListener("click", view.whole);
byId("only").addEventListener("click", toggleOnly);
byId("facts-close").addEventListener("click", putOut);
byId("find").addEventListener("submit", (event) => {
  event.preventDefault();
  find(byId("name").value);
});
byId("name").addEventListener("input", (event) => {
  const chosen = plan.groups.some((group) => group.name === event.target.value);
  if (chosen || event.target.value === "") find(event.target.value);
});
// Chains have no slots to be clicked on; more of them are found by name.
const CHAINS_MAX = 12;
const chains = plan.groups.map((group, index) => ({ ...group, index })).filter((group) => group.kind === "chain");
byId("chains").hidden = chains.length === 0;
byId("chains").append(...chains.slice(0, CHAINS_MAX).map(({ name, index }) => {
  const chip = document.createElement("button");
  chip.type = "button";
  chip.textContent = name;
  chip.title = `Light chain ${name}`;
  chip.dataset.group = index;
  chip.setAttribute("aria-pressed", false);
  chip.addEventListener("click", () => {
    if (view.state.lit?.group === index) putOut();
    else {
      view.state.focus = -1;
      light(index);
    }
  });
  return chip;
}));
// A longer list than this is no help, and slow to open.
byId("names").append(...plan.groups.slice(0, 3000).map((group) => new Option("", group.name)));
new MutationObserver(drawing.repaint).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
new ResizeObserver(() => view.arrange()).observe(byId("stage"));
byId("legend-reserved").hidden = plan.rows.every((row) => row.reserved.length === 0);
byId("legend-lead").hidden = plan.lead.every((lead) => lead === 0);
tell.words();
view.arrange();
const wished = decodeURIComponent(location.hash.slice(1));
if (plan.groups.some((group) => group.name === wished)) find(wished);
