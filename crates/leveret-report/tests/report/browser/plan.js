// The page of a plan. What must be seen is computed here from `data` alone.

const pen = sheet.getContext("2d");
const columns = data.bars;
// Row, start and length of every bar, by a plain loop over the deltas.
const bars = [];
columns.counts.forEach((count, row) => {
  let at = 0;
  for (let turn = 0; turn < count; turn += 1) {
    at += columns.start[bars.length];
    bars.push({ row, start: at, length: columns.length[bars.length] });
  }
});
const colourAt = (x, y) => { const ratio = devicePixelRatio || 1; return [...pen.getImageData(Math.round(x * ratio), Math.round(y * ratio), 1, 1).data].slice(0, 3).join(" "); };
const middleOf = (bar) => [view.x(plan.start[bar] + plan.length[bar] / 2), view.y(view.placeOf(plan.row[bar])) + view.rowHeight() * 0.7];
const onSheet = ([x, y]) => { const box = sheet.getBoundingClientRect(); return [box.left + x, box.top + y]; };
const click = (x, y) => { const at = onSheet([x, y]); try { sheet.setPointerCapture(1); } catch { /* no such pointer in a test */ } pointer(sheet, "pointerdown", ...at); pointer(sheet, "pointerup", ...at); };
const pageGiven = sheet.setPointerCapture;
sheet.setPointerCapture = () => {};
// Brings a slot into sight, a third of the drawing wide.
const bring = async (bar) => {
  const span = plan.length[bar];
  view.show(plan.start[bar] - span, plan.start[bar] + 2 * span);
  view.scroll(view.state.tops[view.placeOf(plan.row[bar])] - 30 - view.state.top);
  await frames(2);
};
const reset = async () => { putOut(); view.whole(); await frames(4); };

test("an address that names a channel lights it", async () => {
  const wished = decodeURIComponent(location.hash.slice(1));
  const found = plan.groups.findIndex((group) => group.name === wished);
  equal(view.state.lit?.group ?? -1, found, `lit by ${location.hash}`);
  equal(byId("facts").hidden, found < 0, "its facts");
  await reset();
  equal([view.state.lit, byId("facts").hidden, byId("only").disabled], [null, true, true], "nothing is lit after that");
});

test("the columns are read back as bars", () => {
  equal([plan.count, bars.length], [columns.start.length, columns.start.length], "bars");
  bars.forEach((bar, index) => equal([plan.row[index], plan.start[index], plan.length[index]], [bar.row, bar.start, bar.length], `bar ${index}`));
  for (let row = 0; row < plan.rows.length; row += 1) {
    const own = bars.map((bar, index) => [bar, index]).filter(([bar]) => bar.row === row).map(([, index]) => index);
    equal([plan.first[row], plan.first[row + 1] - plan.first[row]], [own[0] ?? plan.first[row], own.length], `row ${row}`);
  }
});

test("searches agree with looking at every bar", () => {
  for (let row = 0; row < plan.rows.length; row += 1) {
    const [from, to] = [plan.first[row], plan.first[row + 1]];
    for (let at = -1000; at < plan.round + 2000; at += plan.round / 37) {
      let wanted = from;
      while (wanted < to && plan.start[wanted] + plan.length[wanted] <= at) wanted += 1;
      equal(plan.firstEndingAfter(at, from, to), wanted, `first ending after ${at}`);
      wanted = from;
      while (wanted < to && plan.start[wanted] < at) wanted += 1;
      equal(plan.firstStartingAt(at, from, to), wanted, `first starting at ${at}`);
    }
  }
});

test("times are written with all their digits", () => {
  const wanted = [[0, "0 ns"], [999, "999 ns"], [1000, "1 µs"], [1001, "1.001 µs"], [1500000, "1.5 ms"], [1000000001, "1.000000001 s"], [-1250, "−1.25 µs"]];
  for (const [given, text] of wanted) equal(exact(given), text, `exact(${given})`);
  equal([axisTime(1500, 100, 2000), axisTime(1500, 1000, 2000), axisTime(2e6, 1e6, 9e6)], ["1.5 µs", "2 µs", "2 ms"], "as on an axis");
});

test("each slot is drawn where the plan has it", async () => {
  await reset();
  let looked = 0;
  for (let bar = 0; bar < plan.count; bar += 1) {
    await bring(bar);
    const [x, y] = middleOf(bar);
    equal(view.hit(x, y), bar, `bar ${bar} lies under its own middle`);
    const top = view.y(view.placeOf(plan.row[bar])) + (view.narrow() ? 18 : 5);
    const inside = colourAt(view.x(plan.start[bar]) + 2, top);
    const before = view.x(plan.start[bar]) - 3;
    const free = bars.every((other) => other.row !== plan.row[bar] || view.x(other.start + other.length) < before - 1 || view.x(other.start) > before);
    const reserve = plan.rows[plan.row[bar]].reserved.length > 0;
    if (free && !reserve && before > view.gutter() + 2) {
      assert(inside !== colourAt(before, top), `bar ${bar} has a colour of its own: ${inside}`);
      looked += 1;
    }
  }
  assert(looked > plan.count / 3, `${looked} of ${plan.count} could be compared`);
  await reset();
});

test("the tip and the words say what the data say", () => {
  for (let bar = 0; bar < plan.count; bar += 1) {
    const [title, lines] = tell.linesOf(bar);
    const group = data.groups[data.bars.instance[bar] !== undefined ? data.instances.group[data.bars.instance[bar]] : 0];
    assert(title.startsWith(group[0]), `${title} is of ${group[0]}`);
    assert(lines[0].startsWith(data.rows[bars[bar].row][0]), lines[0]);
    assert(lines.includes(`end ${exact(plan.startOf(bar) + bars[bar].length)} (${exact(bars[bar].length)})`), lines.join("; "));
  }
  assert(byId("words").textContent.includes(`${bars.length} slots`) && byId("words").textContent.includes(exact(data.round)), byId("words").textContent);
});

test("a press lights the channel under it, and a press beside puts it out", async () => {
  await reset();
  const bar = plan.count - 1;
  await bring(bar);
  click(...middleOf(bar));
  await frames(6);
  const group = plan.groupOf(bar);
  equal(view.state.lit?.group, group, "lit");
  equal(byId("facts-name").textContent, plan.groups[group].name, "named");
  const own = bars.map((_, index) => index).filter((index) => plan.groupOf(index) === group);
  equal(view.state.lit.bars.filter((index) => plan.groupOf(index) === group), own, "all its slots");
  const facts = all("dt", byId("facts-list")).map((term) => [term.textContent, term.nextSibling.textContent]);
  assert(facts.some(([name, value]) => name === "slots" && value === String(view.state.lit.bars.length)), JSON.stringify(facts));
  const slack = Math.min(...own.map((index) => data.instances.slack[columns.instance[index]]));
  assert(facts.some(([name, value]) => name === "least slack" && value === exact(slack)), `least slack ${exact(slack)}: ${JSON.stringify(facts)}`);
  byId("facts-close").click();
  equal(view.state.lit, null, "put out");
});

test("only its rows leaves just these", async () => {
  light(plan.groups.findIndex((group) => group.name === "back"));
  byId("only").click();
  await frames(3);
  const wanted = new Set(bars.map((bar, index) => [bar.row, plan.groupOf(index)]).filter(([, group]) => group === view.state.lit.group).map(([row]) => row));
  equal([...view.state.shown].sort((a, b) => a - b), [...wanted].sort((a, b) => a - b), "rows");
  equal(byId("only").getAttribute("aria-pressed"), "true", "pressed");
  press(sheet, "f");
  equal(view.state.shown.length, plan.rows.length, "all rows again");
  press(sheet, "Escape");
  equal(view.state.lit, null, "escape puts it out");
});

test("names are found whole, then in part, one after another", () => {
  const search = (text) => { byId("name").value = text; byId("find").dispatchEvent(new Event("submit", { cancelable: true })); return view.state.lit ? plan.groups[view.state.lit.group].name : null; };
  equal(search("BACK"), "back", "whatever the case");
  const first = search("s1");
  equal(first, "s1", "the whole name first");
  const next = search("s1");
  assert(next !== "s1" && next.includes("s1"), `then another that contains it: ${next}`);
  search("nothing has this name");
  assert(byId("said").textContent.includes("nothing is called"), byId("said").textContent);
  equal(search(""), null, "nothing is asked for");
  press(document.body, "/");
  equal(document.activeElement, byId("name"), "the slash goes to the field");
});

test("zoom keeps its middle, pan its width, and both stay within the plan", async () => {
  await reset();
  const [least, most] = plan.span;
  const span = () => view.state.until - view.state.from;
  press(sheet, "+");
  close(span(), (most - least) * 0.6, 1, "in");
  close((view.state.from + view.state.until) / 2, (least + most) / 2, 1, "its middle");
  press(sheet, "ArrowRight");
  close(span(), (most - least) * 0.6, 1, "pan keeps the width");
  press(sheet, "End");
  close(view.state.until, most, 1e-6, "the end");
  press(sheet, "ArrowRight");
  close(view.state.until, most, 1e-6, "nothing behind it");
  press(sheet, "Home");
  close(view.state.from, least, 1e-6, "the beginning");
  const box = sheet.getBoundingClientRect();
  const x = view.gutter() + 150;
  const under = view.at(x);
  sheet.dispatchEvent(new WheelEvent("wheel", { deltaY: -120, clientX: box.left + x, clientY: box.top + 60, bubbles: true, cancelable: true }));
  close(view.at(x), under, view.perPixel() * 1.5, "the wheel keeps what is under the pointer");
  for (let turn = 0; turn < 60; turn += 1) byId("zoom-in").click();
  assert(span() >= 20 - 1e-6 && span() < 25, `as near as 20 ns: ${span()}`);
  for (let turn = 0; turn < 60; turn += 1) byId("zoom-out").click();
  equal([view.state.from, view.state.until], [least, most], "the whole at most");
});

test("N and P walk through all slots and come back", async () => {
  await reset();
  press(sheet, "n");
  equal(view.state.focus, 0, "the first");
  press(sheet, "p");
  equal(view.state.focus, plan.count - 1, "before it the last");
  press(sheet, "n");
  await frames(4);
  assert(byId("said").textContent.startsWith(plan.groups[plan.groupOf(0)].name), byId("said").textContent);
  press(sheet, "Enter");
  equal(view.state.lit?.group, plan.groupOf(0), "Enter lights its channel");
  const own = view.state.lit.bars.length;
  const met = new Set();
  for (let turn = 0; turn < own; turn += 1) { press(sheet, "n"); met.add(view.state.focus); }
  equal(met.size, own, "each of its slots once");
  await reset();
});

test("other colours are drawn at once", async () => {
  await reset();
  const seen = new Set();
  for (const choice of ["dark", "light"]) {
    document.querySelector(`[data-theme-choice=${choice}]`).click();
    await frames(4);
    seen.add(colourAt(view.gutter() + 3, view.head + 2));
  }
  equal(seen.size, 2, "backgrounds of the drawing");
});

test("the legend says what there is, and no name became an element", () => {
  equal(byId("legend-reserved").hidden, data.rows.every(([, , reserved]) => reserved.length === 0), "reserved stretches");
  equal(all("img").length, 0, "images");
  assert(document.querySelector(".job").textContent.includes("<\/script>"), `the title is shown as it is: ${document.querySelector(".job").textContent}`);
  assert(document.documentElement.scrollWidth <= innerWidth, `${document.documentElement.scrollWidth} in ${innerWidth}`);
  sheet.setPointerCapture = pageGiven;
});
