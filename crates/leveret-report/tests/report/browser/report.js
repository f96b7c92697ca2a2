// The report's page. What must be seen is computed here from `data` alone.

const panel = byId("gantt");
const number = () => Number(byId("round-number").value);
const drawn = (name) => all(`.${name}`, panel);
const attribute = (node, name) => Number(node.getAttribute(name));
const leftEdge = () => (panel.clientWidth < 560 ? 58 : 118);
const fullView = (phase) => [-phase.plan.guard * 1.2, phase.horizon];
const pixel = (at, [from, until]) => leftEdge() + ((at - from) / (until - from)) * (Math.round(panel.clientWidth) - leftEdge() - 10);
const titleOf = (node, x = 5, y = 5) => { pointer(node, "pointermove", x, y); return byId("tip").textContent; };

test("numbers are written with three digits and a unit", () => {
  const wanted = [[0, "0 ns"], [999, "999 ns"], [1000, "1.00 µs"], [9994, "9.99 µs"], [9996, "10.0 µs"], [99960, "100 µs"], [-1500, "−1.50 µs"], [2.5e6, "2.50 ms"], [3e9, "3.00 s"], [123e9, "123 s"]];
  for (const [given, text] of wanted) equal(time(given), text, `time(${given})`);
  equal(tickTime(1000), "1 µs", "an axis leaves needless zeros out");
  equal(tickTime(2500), "2.5 µs", "but no others");
});

test("ticks are steps of 1, 2 or 5 within the range", () => {
  for (const [from, to, count] of [[0, 1000, 5], [-60000, 1e6, 9], [3, 4, 7], [17, 17e9, 12]]) {
    const list = ticks(from, to, count);
    assert(list.length > 1 && list.length <= 2 * count + 2, `${list.length} ticks for ${count}`);
    assert(list.every((at) => at >= from - 1e-9 && at <= to * 1.000001 + 1e-6), `beyond ${from} to ${to}`);
    const step = list[1] - list[0];
    const lead = step / 10 ** Math.floor(Math.log10(step) + 1e-9);
    assert([1, 2, 5, 10].some((each) => Math.abs(lead - each) < 1e-6), `a step of ${step}`);
  }
  equal(decades(1, 1000, 9), [1, 10, 100, 1000], "powers of ten");
  equal(decades(1, 1e6, 3).length, 3, "thinned powers of ten");
});

test("the time table is drawn to scale", () => {
  const phase = data.phases[0];
  const wanted = phase.plan.tasks.flatMap((task) => task.instances.flatMap((instance) => instance.segments));
  const boxes = drawn("planned");
  equal(boxes.length, wanted.length, "planned boxes");
  const starts = wanted.map(([from]) => pixel(from, fullView(phase))).sort((a, b) => a - b);
  boxes.map((box) => attribute(box, "x")).sort((a, b) => a - b).forEach((x, place) => close(x, starts[place], 0.01, "left edge of a planned box"));
  const one = boxes[0];
  const scale = (Math.round(panel.clientWidth) - leftEdge() - 10) / (fullView(phase)[1] - fullView(phase)[0]);
  const [from, until] = phase.plan.tasks[0].instances[0].segments[0];
  close(attribute(one, "width"), Math.max(1.4, (until - from) * scale), 0.01, "width of a planned box");
  equal(drawn("guard").length, wanted.length, "wake-up margins");
});

test("the measured instances and messages of the round are drawn", () => {
  const phase = data.phases[0];
  const round = phase.detail.rounds[number()];
  equal(number(), phase.detail.typical, "it opens at the typical round");
  equal(all("rect.hit", panel).length, round.tasks.length, "instances");
  const bound = round.messages.filter(([channel, , inserted]) => inserted !== null && phase.plan.channels[channel].writer !== null && phase.plan.channels[channel].reader !== null);
  assert(bound.length > 0, "a round of the ring has messages");
  equal(drawn("message").length, bound.length, "messages");
  const [task, , start, , started] = round.tasks[0];
  const words = titleOf(all("rect.hit", panel)[0]);
  assert(words.includes(phase.plan.tasks[task].name) && words.includes(`started ${time(started - start)} after plan`), words);
  assert(!byId("tip").hidden, "the tip is shown");
  pointer(all("rect.hit", panel)[0], "pointerleave", 5, 5);
  assert(byId("tip").hidden, "and hidden again");
});

test("worst and typical go to their rounds, and missed instances are marked", async () => {
  const { detail } = data.phases[0];
  byId("round-worst").click();
  equal(number(), detail.worst, "worst");
  assert(byId("gantt-which").textContent.includes("worst"), byId("gantt-which").textContent);
  for (const wanted of detail.missed) {
    choose(byId("round-number"), String(wanted));
    const rows = detail.rounds[wanted].tasks;
    const late = rows.filter((row) => row[9] < 2 && row[5] > row[6]).length;
    const skipped = rows.filter((row) => row[9] >= 2).length;
    equal([all("rect.missed", panel).length, all("rect.skipped", panel).length], [late, skipped], `round ${wanted}: missed, skipped`);
    const kept = `all ${rows.length} instances kept their windows`;
    equal(byId("gantt-words").textContent.includes(kept), late + skipped === 0, byId("gantt-words").textContent);
  }
  byId("round-typical").click();
  equal([number(), byId("round-typical").getAttribute("aria-pressed")], [detail.typical, "true"], "typical");
});

test("rounds go on by one, stop at the ends, and any number finds the nearest", () => {
  const known = Object.keys(data.phases[0].detail.rounds).map(Number).sort((a, b) => a - b);
  choose(byId("round-number"), "0");
  equal(number(), known[0], "the first");
  byId("round-back").click();
  equal(number(), known[0], "nothing lies before it");
  byId("round-next").click();
  equal(number(), known[1], "the second");
  press(panel, "PageDown");
  equal(number(), known[2], "page down");
  press(panel, "PageUp");
  equal(number(), known[1], "page up");
  choose(byId("round-number"), "999999");
  equal(number(), known.at(-1), "the last");
  byId("round-next").click();
  equal(number(), known.at(-1), "nothing lies behind it");
  byId("round-typical").click();
});

test("zoom and keys change what is seen, and zero shows the whole again", () => {
  const whole = panel.innerHTML;
  const width = () => Math.max(...drawn("planned").map((box) => attribute(box, "width")));
  const before = width();
  byId("zoom-in").click();
  close(width(), before / 0.6, 0.5, "zoomed in by 0.6");
  byId("zoom-out").click();
  close(width(), before / 0.96, 0.5, "zoomed out by 1.6");
  for (const key of ["+", "="]) press(panel, key);
  const left = drawn("planned").length ? attribute(drawn("planned")[0], "x") : 0;
  press(panel, "ArrowLeft");
  const moved = drawn("planned").length ? attribute(drawn("planned")[0], "x") : 0;
  assert(moved !== left || drawn("planned").length === 0, "the arrow moves it");
  press(panel, "ArrowRight");
  press(panel, "-");
  press(panel, "0");
  equal(panel.innerHTML, whole, "zero shows the whole");
  for (let turn = 0; turn < 40; turn += 1) byId("zoom-out").click();
  equal(panel.innerHTML, whole, "it cannot be smaller than the whole");
  for (let turn = 0; turn < 60; turn += 1) byId("zoom-in").click();
  assert(panel.querySelector("svg") !== null && !panel.innerHTML.includes("NaN"), "nor too large to draw");
  byId("zoom-reset").click();
  equal(panel.innerHTML, whole, "Whole shows the whole");
});

test("the wheel keeps what is under the pointer, and dragging moves by as much", () => {
  const box = panel.getBoundingClientRect();
  const chosen = drawn("planned")[0];
  const at = attribute(chosen, "x");
  panel.dispatchEvent(new WheelEvent("wheel", { deltaY: -100, clientX: box.left + at, clientY: box.top + 60, bubbles: true, cancelable: true }));
  const nearest = () => Math.min(...drawn("planned").map((one) => Math.abs(attribute(one, "x") - at)));
  close(nearest(), 0, 1.5, "the box under the pointer stays");
  const before = drawn("planned").map((one) => attribute(one, "x"));
  pointer(panel, "pointerdown", 400, 100);
  pointer(window, "pointermove", 390, 100);
  pointer(window, "pointerup", 390, 100);
  const after = drawn("planned").map((one) => attribute(one, "x"));
  assert(after.some((x) => before.some((was) => Math.abs(was - 10 - x) < 4)), `moved by some 10 pixels: ${before} to ${after}`);
  const still = panel.innerHTML;
  pointer(window, "pointermove", 100, 100);
  equal(panel.innerHTML, still, "a pointer that is up moves nothing");
  byId("zoom-reset").click();
});

test("every curve's histogram has all counts, its bound and its quantiles", () => {
  for (const kind of [...byId("series-kind").options].filter((option) => !option.disabled)) {
    choose(byId("series-kind"), kind.value);
    for (const option of [...byId("series-name").options]) {
      choose(byId("series-name"), option.value);
      const curve = data.phases[0].series.find((one) => one.kind === kind.value && one.name === option.value);
      const bars = all(".bar-count", byId("histogram"));
      equal(bars.length, curve.histogram.counts.filter((count) => count > 0).length, `${kind.value} of ${option.value}: bars`);
      const counts = bars.map((bar) => Number(titleOf(bar).split(" of ")[0]));
      equal(counts.reduce((a, b) => a + b, 0), curve.summary.count, `${kind.value} of ${option.value}: all counts`);
      const tall = bars.map((bar) => attribute(bar, "height"));
      counts.forEach((count, place) => assert(counts.every((other, at) => other <= count || tall[at] > tall[place]), "a greater count is taller"));
      equal(all(".bound", byId("histogram")).length, curve.bound === null ? 0 : 1, "a line for the bound");
      equal(all(".quantile", byId("histogram")).length, 4, "four quantiles");
      const dots = byId("scatter").querySelector("path.dot").getAttribute("d").split("M").length - 1;
      equal(dots, curve.points[0].length, "a dot for each point");
      equal(all(".ring", byId("scatter")).length, curve.worst ? 1 : 0, "the worst is ringed");
      for (const host of [byId("histogram"), byId("scatter")]) assert(!host.innerHTML.includes("NaN"), `${kind.value} of ${option.value} has numbers`);
      const shown = all("dd", byId("series-numbers")).map((entry) => entry.textContent);
      equal(shown.slice(0, 5), [String(curve.summary.count), ...[curve.summary.p50, curve.summary.p99, curve.summary.p999, curve.summary.max].map(time)], "the numbers beside it");
      assert(/task|channel/i.test(byId("series-of").textContent), "the subject is named");
    }
  }
});

test("the machine alone is drawn beside lateness only, and can be left out", () => {
  choose(byId("series-kind"), "lateness");
  assert(data.phases[0].alone !== null, "the record has the machine alone");
  equal(all(".alone-line", byId("histogram")).length, 1, "its outline");
  byId("series-alone").click();
  equal([all(".alone-line", byId("histogram")).length, all(".alone-dot", byId("scatter")).length], [0, 0], "left out");
  byId("series-alone").click();
  choose(byId("series-kind"), "execution");
  assert(byId("series-alone").disabled && all(".alone-line", byId("histogram")).length === 0, "not beside execution times");
  choose(byId("series-kind"), "lateness");
});

test("a click on a point, and the button beside the worst, show its round", () => {
  choose(byId("series-name"), byId("series-name").options[0].value);
  const curve = data.phases[0].series.find((one) => one.kind === "lateness" && one.name === byId("series-name").value);
  const nearest = (instance) => {
    const wanted = Math.floor((instance - curve.first) / curve.round);
    const known = Object.keys(data.phases[0].detail.rounds).map(Number);
    return known.reduce((best, each) => (Math.abs(each - wanted) < Math.abs(best - wanted) ? each : best));
  };
  byId("worst-show").click();
  equal(number(), nearest(curve.worst.instance), "the worst's round");
  byId("round-typical").click();
  const ring = byId("scatter").querySelector(".ring");
  const box = byId("scatter").querySelector("svg").getBoundingClientRect();
  const [x, y] = [box.left + attribute(ring, "cx"), box.top + attribute(ring, "cy")];
  const cover = byId("scatter").querySelector("rect.hit");
  pointer(cover, "pointermove", x, y);
  assert(byId("tip").textContent.startsWith(`instance ${curve.worst.instance}`), byId("tip").textContent);
  cover.dispatchEvent(new MouseEvent("click", { clientX: x, clientY: y, bubbles: true }));
  equal(number(), nearest(curve.worst.instance), "the round of the point");
});

test("another phase brings its own drawing, curves and tables", () => {
  const buttons = all("[data-phase]");
  equal(buttons.length, data.phases.length, "a button for each phase");
  buttons[1].click();
  equal(buttons.map((button) => button.getAttribute("aria-pressed")), ["false", "true"], "pressed");
  for (const block of all("[data-of-phase]")) equal(block.hidden, block.dataset.ofPhase !== "1", "only its own tables");
  equal(number(), data.phases[1].detail.typical, "its typical round");
  const curve = data.phases[1].series.find((one) => one.kind === byId("series-kind").value && one.name === byId("series-name").value);
  equal(all("dd", byId("series-numbers"))[4].textContent, time(curve.summary.max), "its numbers");
  buttons[0].click();
  assert(all("[data-of-phase]").some((block) => !block.hidden), "and back");
});

test("misses are filtered by party, and each shows its round", () => {
  const filters = all("button[data-party]");
  const entries = all("[data-party-of]");
  assert(filters.length >= 3 && entries.length > 0, `${filters.length} filters, ${entries.length} misses`);
  for (const filter of filters) {
    filter.click();
    const wanted = filter.dataset.party;
    for (const entry of entries) equal(entry.hidden, wanted !== "all" && entry.dataset.partyOf !== wanted, `${wanted}: a miss of ${entry.dataset.partyOf}`);
    equal(filters.filter((one) => one.getAttribute("aria-pressed") === "true").length, 1, "one filter is pressed");
  }
  filters.find((filter) => filter.dataset.party === "all").click();
  const known = (phase) => Object.keys(data.phases[phase].detail.rounds).map(Number);
  for (const button of all("[data-show-at]")) {
    button.click();
    const phase = Number(button.dataset.showPhase);
    const wanted = Math.floor(Number(button.dataset.showAt) / data.phases[phase].hyperperiod);
    equal(number(), known(phase).reduce((best, each) => (Math.abs(each - wanted) < Math.abs(best - wanted) ? each : best)), "the round of the miss");
  }
  all("[data-phase]")[0].click();
});

test("colours follow the address and the buttons", () => {
  const wish = { "#dark": "dark", "#light": "light" }[location.hash];
  if (wish) equal(document.documentElement.dataset.theme, wish, "as the address says");
  const seen = new Set();
  for (const choice of ["dark", "light"]) {
    document.querySelector(`[data-theme-choice=${choice}]`).click();
    equal(document.documentElement.dataset.theme, choice, "as chosen");
    equal(all("[data-theme-choice]").filter((button) => button.getAttribute("aria-pressed") === "true").map((button) => button.dataset.themeChoice), [choice], "pressed");
    seen.add(getComputedStyle(document.body).backgroundColor);
  }
  equal(seen.size, 2, "backgrounds");
  document.querySelector("[data-theme-choice=auto]").click();
  equal(document.documentElement.dataset.theme, matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light", "as the system does");
});

test("nothing reaches beyond the window, and no name became an element", () => {
  assert(document.documentElement.scrollWidth <= innerWidth, `${document.documentElement.scrollWidth} in ${innerWidth}`);
  equal(all("img").length, 0, "images");
  assert(document.querySelector(".job").textContent.startsWith("<\/script>"), "the name is shown as it is");
  const wide = all("svg", document.querySelector("main")).filter((svg) => svg.getBoundingClientRect().right > innerWidth + 1);
  equal(wide.length, 0, "drawings beyond the window");
});
