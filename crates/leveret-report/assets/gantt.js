// One hyperperiod: per core a planned and a measured row; zoom, move, choose the round.

const gantt = (() => {
  const host = byId("gantt");
  let phase = null;
  let round = 0;
  let view = [0, 1];
  const row = { planned: 30, measured: 34, gap: 16, head: 32, between: 50 };

  const cores = () => [...new Set(phase.plan.tasks.map((task) => task.core))].sort((a, b) => a - b);
  const known = () => Object.keys(phase.detail.rounds).map(Number).sort((a, b) => a - b);
  const measured = () => phase.detail.rounds[round] ?? { tasks: [], messages: [] };
  const rowOf = (core, kind) => {
    const at = cores().indexOf(core);
    const top = row.head + at * (row.planned + row.gap + row.measured + row.between);
    return kind === "planned" ? top + 12 : top + 12 + row.planned + row.gap;
  };

  const draw = () => {
    if (!phase || host.clientWidth === 0) return;
    const width = Math.round(host.clientWidth);
    const left = width < 560 ? 58 : 118;
    const height = row.head + cores().length * (row.planned + row.gap + row.measured + row.between) + 4;
    const svg = canvas(host, width, height);
    const x = (at) => left + ((at - view[0]) / (view[1] - view[0])) * (width - left - 10);
    const definitions = element("defs", {}, svg);
    const hatch = element("pattern", { id: "hatch", width: 5, height: 5, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, definitions);
    element("line", { x1: 0, y1: 0, x2: 0, y2: 5, class: "hatchline" }, hatch);
    const head = element("marker", { id: "head", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" }, definitions);
    element("path", { d: "M0 0 L8 4 L0 8 Z", class: "arrowhead" }, head);
    const clip = element("clipPath", { id: "plot" }, definitions);
    element("rect", { x: left, y: 0, width: width - left, height }, clip);
    axis(svg, x, width, height, left);
    labels(svg, left, width);
    const plot = element("g", { "clip-path": "url(#plot)" }, svg);
    planned(plot, x);
    actual(plot, x);
    messages(plot, x);
    words();
  };

  const axis = (svg, x, width, height, left) => {
    for (const at of ticks(view[0], view[1], Math.max(2, (width - left) / 110))) {
      element("line", { x1: x(at), x2: x(at), y1: 22, y2: height - 22, class: "grid" }, svg);
      const anchor = x(at) > width - 40 ? "end" : x(at) < left + 20 ? "start" : "middle";
      element("text", { x: x(at), y: height - 6, "text-anchor": anchor }, svg, tickTime(at));
    }
  };

  const labels = (svg, left, width) => {
    for (const core of cores()) {
      const planned = rowOf(core, "planned");
      const below = rowOf(core, "measured");
      element("text", { x: 0, y: planned - 10, class: "strong" }, svg, `core ${core}`);
      element("line", { x1: left, x2: width, y1: below + row.measured + 0.5, y2: below + row.measured + 0.5, class: "axis" }, svg);
      element("text", { x: 0, y: planned + 20 }, svg, width < 560 ? "plan" : "planned");
      element("text", { x: 0, y: below + 22 }, svg, width < 560 ? "actual" : "measured");
    }
  };

  const slice = (parent, x, from, to, y, height, attributes) => {
    const start = x(from);
    return element("rect", { x: start, y, width: Math.max(1.4, x(to) - start), height, rx: 2, ...attributes }, parent);
  };

  const fits = (parent, x, from, to, y, text, name) => {
    const begin = Math.max(x(from), x(view[0]));
    const room = Math.min(x(to), x(view[1])) - begin;
    if (room <= text.length * 7.2 + 8) return false;
    element("text", { x: begin + room / 2, y, "text-anchor": "middle", class: name }, parent, text);
    return true;
  };

  const hidden = (from, to) => to < view[0] || from > view[1];

  const planned = (plot, x) => {
    phase.plan.tasks.forEach((task, index) => {
      const y = rowOf(task.core, "planned");
      task.instances.forEach((instance) => {
        const first = instance.segments[0];
        if (!first || hidden(Math.min(instance.earliest, first[0] - phase.plan.guard), instance.latest)) return;
        const lines = [
          `start ${time(first[0])}, end ${time(instance.segments.at(-1)[1])}`,
          `window ${time(instance.earliest)} to ${time(instance.latest)}`,
          `budget ${time(task.budget)}, guard ${time(phase.plan.guard)}`,
        ];
        const bracket = `M${x(instance.earliest)} ${y - 1} v-5 H${x(instance.latest)} v5`;
        element("path", { d: bracket, class: "window" }, plot);
        slice(plot, x, first[0] - phase.plan.guard, first[0], y + 5, row.planned - 10, { class: "guard" });
        let named = false;
        for (const segment of instance.segments) {
          const box = slice(plot, x, segment[0], segment[1], y, row.planned, { class: "planned", style: `stroke:${hue(index)}` });
          withTip(box, `${task.name}, planned`, lines);
          named = fits(plot, x, segment[0], segment[1], y + 19, task.name, "inplan") || named;
        }
        if (!named) fits(plot, x, instance.earliest, instance.latest, y - 11, task.name, "above");
      });
    });
  };

  const actual = (plot, x) => {
    for (const [task, instance, start, woken, started, ended, deadline, gapAt, gap, outcome] of measured().tasks) {
      const model = phase.plan.tasks[task];
      if (!model || hidden(Math.min(woken, start), Math.max(ended, start + model.budget))) continue;
      const y = rowOf(model.core, "measured");
      const skipped = outcome >= 2;
      const missed = skipped || ended > deadline;
      const lines = [
        woken <= start ? `woken ${time(start - woken)} before the planned start` : `woken ${time(woken - start)} after the planned start`,
        skipped ? "skipped: too little of its window was left" : `started ${time(started - start)} after plan`,
        `executed ${time(ended - started)}, budget ${time(model.budget)}`,
        missed && !skipped ? `ended ${time(ended - deadline)} after its window` : `slack ${time(deadline - ended)}`,
        `longest gap while spinning ${time(gap)}`,
      ];
      const title = `${model.name}, instance ${instance}${missed ? ": missed" : ""}`;
      slice(plot, x, woken, started, y + 8, row.measured - 16, { class: "spin", style: `fill:${hue(task)}` });
      if (gap > 5000) slice(plot, x, gapAt, gapAt + gap, y + 13, row.measured - 26, { class: "gap" });
      const style = skipped ? "" : `fill:${hue(task)}`;
      const name = skipped ? "skipped" : missed ? "missed" : "";
      const end = skipped ? Math.max(woken + 1, start + model.budget) : ended;
      slice(plot, x, skipped ? start : started, end, y, row.measured, { class: name, style });
      if (!skipped) fits(plot, x, started, ended, y + 21, model.name, "on");
      withTip(slice(plot, x, Math.min(woken, start), end, y, row.measured, { class: "hit" }), title, lines);
    }
  };

  const messages = (plot, x) => {
    phase.plan.channels.forEach((channel) => {
      for (const [, visible] of channel.transfers) {
        const writer = phase.plan.tasks[channel.writer];
        const reader = phase.plan.tasks[channel.reader];
        if (!writer || !reader || hidden(visible, visible)) continue;
        const ys = [rowOf(writer.core, "measured"), rowOf(reader.core, "measured")];
        const top = Math.min(...ys) - row.gap;
        const bottom = Math.max(...ys) + row.measured;
        element("line", { x1: x(visible), x2: x(visible), y1: top, y2: bottom, class: "due" }, plot);
        const at = `M${x(visible)} ${top - 5} l5 5 l-5 5 l-5 -5 Z`;
        withTip(element("path", { d: at, class: "diamond" }, plot), channel.name, [`visible by the clock at ${time(visible)}`]);
      }
    });
    for (const [number, instance, inserted, due, taken, fate] of measured().messages) {
      const channel = phase.plan.channels[number];
      const writer = channel && phase.plan.tasks[channel.writer];
      const reader = channel && phase.plan.tasks[channel.reader];
      if (!writer || !reader || inserted === null || hidden(inserted, taken ?? due)) continue;
      const to = taken ?? due;
      const from = [x(inserted), rowOf(writer.core, "measured") + row.measured / 2];
      const target = [x(to), rowOf(reader.core, "measured") + row.measured / 2];
      const bend = Math.max(18, (target[0] - from[0]) * 0.4);
      const lift = from[1] === target[1] ? row.measured * 0.95 : 0;
      const path = `M${from[0]} ${from[1]} C${from[0] + bend} ${from[1] + lift} ${target[0] - bend} ${target[1] + lift} ${target[0]} ${target[1]}`;
      const bad = fate !== "taken" && fate !== "untaken";
      const lines = [
        `inserted ${time(due - inserted)} before it was due`,
        taken === null ? "not taken" : `taken ${time(taken - inserted)} after insertion`,
        `fate: ${fate}`,
      ];
      element("path", { d: path, class: `message${bad ? " bad" : taken === null ? " untaken" : ""}`, "marker-end": "url(#head)" }, plot);
      withTip(element("path", { d: path, class: "hit", style: "fill:none", "pointer-events": "stroke" }, plot), `${channel.name}, message ${instance}`, lines);
    }
  };

  const words = () => {
    const detail = phase.detail;
    const rows = measured().tasks;
    const late = rows.reduce((worst, entry) => Math.max(worst, entry[4] - entry[2]), 0);
    const missed = rows.filter((entry) => entry[9] >= 2 || entry[5] > entry[6]).length;
    const kind = round === detail.worst ? ", the worst of the run" : round === detail.typical ? ", the typical one" : "";
    byId("gantt-which").textContent = `Round ${round}${kind}.`;
    const cut = phase.horizon < phase.hyperperiod ? ` Drawn are the first ${time(phase.horizon)} of ${time(phase.hyperperiod)}.` : "";
    const outcome = missed ? `${missed} of ${rows.length} instances missed` : `all ${rows.length} instances kept their windows`;
    byId("gantt-words").textContent = `Round ${round}${kind}: latest start ${time(late)} after plan, ${outcome}. The page holds ${known().length} of ${phase.rounds} rounds; \u201cleveret why\u201d explains any other.${cut}`;
    byId("round-number").value = round;
    byId("round-typical").setAttribute("aria-pressed", round === detail.typical);
    byId("round-worst").setAttribute("aria-pressed", round === detail.worst);
  };

  const bounds = () => [-phase.plan.guard * 1.2, Math.max(phase.horizon, 1)];

  const setView = (from, to) => {
    if (!phase) return;
    const [least, most] = bounds();
    const span = Math.min(Math.max(to - from, 500), most - least);
    const start = Math.min(Math.max(from, least), most - span);
    view = [start, start + span];
    draw();
  };

  const zoom = (factor, at = (view[0] + view[1]) / 2) => setView(at - (at - view[0]) * factor, at + (view[1] - at) * factor);
  const whole = () => { if (phase) setView(...bounds()); };

  const select = (wanted) => {
    if (!phase) return;
    const rounds = known();
    if (rounds.length === 0) return;
    round = rounds.reduce((best, each) => (Math.abs(each - wanted) < Math.abs(best - wanted) ? each : best), rounds[0]);
    draw();
  };

  const step = (by) => {
    if (!phase) return;
    const rounds = known();
    const at = rounds.indexOf(round);
    select(rounds[Math.min(Math.max(at + by, 0), rounds.length - 1)]);
  };

  const instantAt = (event) => {
    const box = host.getBoundingClientRect();
    const left = box.width < 560 ? 58 : 118;
    return view[0] + ((event.clientX - box.left - left) / (box.width - left - 10)) * (view[1] - view[0]);
  };

  const listen = () => {
    host.addEventListener("wheel", (event) => {
      if (!phase) return;
      const [least, most] = bounds();
      const full = view[1] - view[0] >= most - least - 1;
      if (event.deltaY > 0 && full) return;
      event.preventDefault();
      if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) setView(view[0] + (event.deltaX / 800) * (view[1] - view[0]), view[1] + (event.deltaX / 800) * (view[1] - view[0]));
      else zoom(event.deltaY < 0 ? 0.8 : 1.25, instantAt(event));
    }, { passive: false });
    let drag = null;
    host.addEventListener("pointerdown", (event) => { drag = { x: event.clientX, view: [...view] }; host.classList.add("dragging"); });
    addEventListener("pointermove", (event) => {
      if (!drag) return;
      const by = ((drag.x - event.clientX) / Math.max(1, host.clientWidth - 128)) * (drag.view[1] - drag.view[0]);
      if (Math.abs(drag.x - event.clientX) > 2) setView(drag.view[0] + by, drag.view[1] + by);
    });
    addEventListener("pointerup", () => { drag = null; host.classList.remove("dragging"); });
    host.addEventListener("dblclick", (event) => zoom(0.5, instantAt(event)));
    host.addEventListener("keydown", (event) => {
      const span = view[1] - view[0];
      const act = {
        "+": () => zoom(0.7), "=": () => zoom(0.7), "-": () => zoom(1.4), "0": whole,
        ArrowLeft: () => setView(view[0] - span * 0.15, view[1] - span * 0.15),
        ArrowRight: () => setView(view[0] + span * 0.15, view[1] + span * 0.15),
        PageUp: () => step(-1), PageDown: () => step(1),
      }[event.key];
      if (act && !event.ctrlKey && !event.metaKey) {
        event.preventDefault();
        act();
      }
    });
    byId("zoom-in").addEventListener("click", () => zoom(0.6));
    byId("zoom-out").addEventListener("click", () => zoom(1.6));
    byId("zoom-reset").addEventListener("click", whole);
    byId("round-typical").addEventListener("click", () => select(phase?.detail.typical ?? 0));
    byId("round-worst").addEventListener("click", () => select(phase?.detail.worst ?? 0));
    byId("round-back").addEventListener("click", () => step(-1));
    byId("round-next").addEventListener("click", () => step(1));
    byId("round-number").addEventListener("change", (event) => select(Number(event.target.value)));
    onResize(host, draw);
  };

  const legend = () => {
    const list = byId("gantt-tasks");
    list.replaceChildren();
    list.hidden = phase.plan.tasks.length > 12;
    phase.plan.tasks.slice(0, 12).forEach((task, index) => {
      const entry = document.createElement("li");
      const swatch = document.createElement("i");
      swatch.className = "swatch";
      swatch.style.background = hue(index);
      entry.append(swatch, task.name);
      list.append(entry);
    });
  };

  const open = (next) => {
    phase = next;
    legend();
    byId("round-number").max = Math.max(0, phase.rounds - 1);
    view = bounds();
    select(phase.detail.typical ?? 0);
  };

  const show = (wanted) => {
    select(wanted);
    byId("gantt-title").scrollIntoView({ block: "start" });
    host.focus({ preventScroll: true });
  };

  return { listen, open, show };
})();
