// Wires the controls: phase, curve, filters.

let phaseNumber = 0;
const curveNow = () => {
  const kind = byId("series-kind").value;
  const series = data.phases[phaseNumber]?.series ?? [];
  return series.find((curve) => curve.kind === kind && curve.name === byId("series-name").value) ?? null;
};

// A phase without tasks, such as one of best-effort channels, has no hyperperiod to draw.
const hasGantt = () => (data.phases[phaseNumber]?.plan.tasks.length ?? 0) > 0;

const drawCurves = () => {
  const curve = curveNow();
  const names = [...byId("series-name").options].map((option) => option.value);
  const color = hue(Math.max(0, names.indexOf(byId("series-name").value)));
  const measured = data.phases[phaseNumber]?.alone ?? null;
  const alone = byId("series-alone").checked ? measured : null;
  byId("series-alone").disabled = measured === null || curve?.kind !== "lateness";
  byId("series-alone").closest("label").hidden = measured === null;
  const numbers = byId("series-numbers");
  numbers.replaceChildren();
  for (const host of [byId("histogram"), byId("scatter")]) if (!curve) host.replaceChildren();
  byId("worst-words").textContent = curve?.worst?.words ?? "Nothing was measured.";
  byId("worst-show").hidden = !curve?.worst || !hasGantt();
  if (!curve) return;
  const rows = [["p50", curve.summary.p50], ["p99", curve.summary.p99], ["p99.9", curve.summary.p999], ["max", curve.summary.max]].map(([name, value]) => [name, time(value)]);
  rows.unshift(["count", String(curve.summary.count)]);
  if (curve.bound !== null) rows.push([curve.boundLabel, time(curve.bound)]);
  if (curve.kind === "lateness" && measured) rows.push(["the machine alone, p99", time(measured.summary.p99)]);
  for (const [name, value] of rows) {
    const row = document.createElement("div");
    const term = document.createElement("dt");
    const detail = document.createElement("dd");
    term.textContent = name;
    detail.textContent = value;
    row.append(term, detail);
    numbers.append(row);
  }
  const pick = hasGantt() ? (instance) => gantt.show(Math.floor((instance - curve.first) / curve.round)) : null;
  drawHistogram(byId("histogram"), curve, alone, color);
  drawScatter(byId("scatter"), curve, alone, color, pick);
  byId("worst-show").onclick = () => pick?.(curve.worst.instance);
};

// Offers only quantities that were measured in this phase, and leaves the panel out where there are none.
const fillKinds = () => {
  const measured = new Set((data.phases[phaseNumber]?.series ?? []).map((curve) => curve.kind));
  byId("spread-panel").hidden = measured.size === 0;
  const select = byId("series-kind");
  for (const option of select.options) option.hidden = option.disabled = !measured.has(option.value);
  if (!measured.has(select.value)) select.value = [...select.options].find((option) => !option.disabled)?.value ?? "";
  fillNames();
};

const fillNames = () => {
  const kind = byId("series-kind").value;
  const select = byId("series-name");
  const before = select.value;
  byId("series-of").textContent = kind === "lateness" || kind === "execution" ? "Task" : "Channel";
  const names = (data.phases[phaseNumber]?.series ?? []).filter((curve) => curve.kind === kind).map((curve) => curve.name);
  select.replaceChildren(...names.map((name) => new Option(name, name)));
  if (names.includes(before)) select.value = before;
  drawCurves();
};

const openPhase = (number) => {
  if (!data.phases[number]) return;
  phaseNumber = number;
  for (const button of document.querySelectorAll("[data-phase]")) button.setAttribute("aria-pressed", Number(button.dataset.phase) === number);
  for (const block of document.querySelectorAll("[data-of-phase]")) block.hidden = Number(block.dataset.ofPhase) !== number;
  byId("gantt-panel").hidden = !hasGantt();
  gantt.open(data.phases[number]);
  fillKinds();
};

const filterMisses = (party) => {
  for (const button of document.querySelectorAll("[data-party]")) button.setAttribute("aria-pressed", button.dataset.party === party);
  for (const entry of document.querySelectorAll("[data-party-of]")) entry.hidden = party !== "all" && entry.dataset.partyOf !== party;
};

document.querySelector(".phases").classList.toggle("single", data.phases.length < 2);
for (const button of document.querySelectorAll("[data-phase]")) button.addEventListener("click", () => openPhase(Number(button.dataset.phase)));
for (const button of document.querySelectorAll("[data-party]")) button.addEventListener("click", () => filterMisses(button.dataset.party));
for (const button of document.querySelectorAll("[data-show-at]")) {
  button.addEventListener("click", () => {
    const number = Number(button.dataset.showPhase);
    if (number !== phaseNumber) openPhase(number);
    gantt.show(Math.floor(Number(button.dataset.showAt) / Math.max(1, data.phases[number].hyperperiod)));
  });
}
byId("series-kind").addEventListener("change", fillNames);
byId("series-name").addEventListener("change", drawCurves);
byId("series-alone").addEventListener("change", drawCurves);
gantt.listen();
openPhase(0);
onResize(byId("histogram"), drawCurves);
