// Draws what is seen. Only bars that are seen are touched, and those narrower than a pixel by the pixel: the time of a frame depends
// on the size of the screen, and not on that of the plan.

const drawing = (() => {
  const stage = byId("stage");
  const sheet = byId("canvas");
  const pen = sheet.getContext("2d");
  const state = view.state;
  let colours = {};
  let hatch = null;
  const font = (weight, size) => `${weight} ${size}px system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif`;

  const readColours = () => {
    const style = getComputedStyle(document.documentElement);
    const names = ["panel", "ink", "soft", "faint", "rule", "hair", "plan", "accent", "machine", "machine-soft", "focus"];
    colours = Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
    colours.dark = document.documentElement.dataset.theme === "dark";
    const tile = document.createElement("canvas");
    tile.width = tile.height = 8;
    const brush = tile.getContext("2d");
    brush.fillStyle = colours["machine-soft"];
    brush.fillRect(0, 0, 8, 8);
    brush.strokeStyle = colours.machine;
    brush.lineWidth = 1;
    for (const shift of [-8, 0, 8]) {
      brush.beginPath();
      brush.moveTo(shift, 8);
      brush.lineTo(shift + 8, 0);
      brush.stroke();
    }
    hatch = pen.createPattern(tile, "repeat");
  };

  // Neighbouring numbers get colours that lie far apart.
  const colourOf = (group) => `hsl(${(group * 137.508 + 172) % 360} ${colours.dark ? "48% 62%" : "52% 43%"})`;

  const clippedText = (text, x, y, room) => {
    if (room < 14) return;
    let shown = text;
    if (pen.measureText(shown).width > room) {
      const keep = pen.measureText("x".repeat(20)).width / 20;
      shown = `${text.slice(0, Math.max(1, Math.floor(room / keep) - 1))}\u2026`;
    }
    pen.fillText(shown, x, y);
  };

  const barBox = (place) => {
    const top = view.y(place) + (view.narrow() ? 17 : 4);
    return [top, view.rowHeight() - (view.narrow() ? 20 : 8)];
  };

  const reserved = (row, place) => {
    const [top, height] = [view.y(place) + (view.narrow() ? 16 : 2), view.rowHeight() - (view.narrow() ? 17 : 4)];
    pen.fillStyle = hatch;
    for (const [period, start, length] of plan.rows[row].reserved) {
      // Stretches too narrow to see apart are one.
      const stride = Math.max(1, Math.floor(view.perPixel() / period));
      let turn = Math.floor((state.from - start - length) / period);
      for (; turn * period + start < state.until; turn += stride) {
        const from = view.x(turn * period + start);
        const until = view.x(turn * period + start + length);
        if (until > view.gutter()) pen.fillRect(Math.max(from, view.gutter()), top, Math.max(1, until - Math.max(from, view.gutter())), height);
      }
    }
  };

  const leadOf = (bar, shift, top, height) => {
    if (plan.lead[bar] === 0) return;
    const from = view.x(plan.start[bar] + shift - plan.lead[bar]);
    const until = view.x(plan.start[bar] + shift);
    if (until - from < 2) return;
    pen.strokeStyle = colours.plan;
    pen.setLineDash([3, 2]);
    pen.strokeRect(from + 0.5, top + 2.5, until - from - 1, height - 5);
    pen.setLineDash([]);
  };

  const oneBar = (bar, shift, top, height, colour) => {
    const from = Math.max(view.x(plan.start[bar] + shift), view.gutter() - 2);
    const until = Math.min(view.x(plan.start[bar] + plan.length[bar] + shift), stage.clientWidth + 2);
    pen.fillStyle = colour;
    pen.fillRect(from, top, Math.max(1, until - from - (until - from > 5 ? 0.6 : 0)), height);
    if (until - from < 26) return;
    const { name, part } = plan.groups[plan.groupOf(bar)];
    const room = until - from - 8;
    const number = `#${plan.instances.number[plan.instance[bar]]}`;
    pen.fillStyle = colours.dark ? "#11181a" : "#fff";
    pen.font = font(600, 11.5);
    const full = `${name} ${number}`;
    clippedText(pen.measureText(full).width <= room && part ? full : name, from + 4, top + height / 2 + 4, room);
  };

  // Bars [first, end) of one row, which begin in sight and are not lit.
  const barsOf = (row, place, shift) => {
    const [top, height] = barBox(place);
    const end = plan.firstStartingAt(state.until - shift, plan.first[row], plan.first[row + 1]);
    let bar = plan.firstEndingAfter(state.from - shift, plan.first[row], end);
    const dimmed = state.lit !== null;
    const pixel = view.perPixel();
    const lead = (index) => index < plan.first[row + 1] && leadOf(index, shift, top, height);
    if (bar === end) lead(end);
    while (bar < end) {
      const from = view.x(plan.start[bar] + shift);
      if (plan.length[bar] / pixel >= 1.5) {
        pen.globalAlpha = dimmed ? 0.16 : 1;
        leadOf(bar, shift, top, height);
        oneBar(bar, shift, top, height, dimmed ? colours.plan : colourOf(plan.groupOf(bar)));
        bar += 1;
        continue;
      }
      const column = Math.max(Math.floor(from), Math.floor(view.gutter()));
      const limit = view.at(column + 1) - shift;
      const next = Math.max(bar + 1, plan.firstStartingAt(limit, bar, end));
      const full = Math.min(1, (plan.before[next] - plan.before[bar]) / pixel);
      pen.globalAlpha = (dimmed ? 0.2 : 1) * (next === bar + 1 ? 1 : 0.25 + 0.75 * full);
      pen.fillStyle = next === bar + 1 && !dimmed ? colourOf(plan.groupOf(bar)) : colours.plan;
      pen.fillRect(column, top, 1, height);
      bar = next;
    }
    pen.globalAlpha = 1;
  };

  const litBars = (row, place) => {
    const bars = state.lit?.byRow.get(row);
    if (!bars) return;
    const [top, height] = barBox(place);
    for (const shift of [0, -plan.round]) {
      let last = -1;
      const from = plan.search(0, bars.length, (index) => plan.start[bars[index]] + plan.length[bars[index]] + shift <= state.from);
      for (let index = from; index < bars.length && plan.start[bars[index]] + shift < state.until; index += 1) {
        const until = view.x(plan.start[bars[index]] + plan.length[bars[index]] + shift);
        // What would be painted into the same pixel has been.
        if (until - last < 1) continue;
        last = until;
        pen.globalAlpha = isAside(bars[index]) ? 0.4 : 1;
        leadOf(bars[index], shift, top, height);
        oneBar(bars[index], shift, top, height, colourOf(plan.groupOf(bars[index])));
      }
    }
    // What stands out lies above what does not, also where both are narrower than a pixel.
    pen.globalAlpha = 1;
    if (!state.trace) return;
    for (const bar of bars.filter((bar) => state.trace.has.has(bar))) {
      for (const shift of [0, -plan.round]) {
        if (plan.start[bar] + shift < state.until && plan.start[bar] + plan.length[bar] + shift > state.from) oneBar(bar, shift, top, height, colourOf(plan.groupOf(bar)));
      }
    }
  };

  // Whether a bar is lit, and another way than its stands out.
  const isAside = (bar) => state.trace !== null && !state.trace.has.has(bar);

  // When those that are lit may be sent or run: their windows, below their bars.
  const WINDOWS_MAX = 400;
  const windows = () => {
    if (!state.lit) return;
    const chosen = state.focus >= 0 ? [state.focus] : (state.trace?.bars ?? state.lit.bars.filter((bar) => plan.groupOf(bar) === state.lit.group));
    const wanted = new Set(chosen.map((bar) => plan.instance[bar]));
    if (wanted.size > WINDOWS_MAX) return;
    const drawn = new Set();
    for (const bar of state.lit.bars.filter((bar) => wanted.has(plan.instance[bar]))) {
      const [instance, place] = [plan.instance[bar], view.placeOf(plan.row[bar])];
      if (place < 0 || drawn.has(`${instance} ${place}`)) continue;
      drawn.add(`${instance} ${place}`);
      const [top, height] = barBox(place);
      const [earliest, length] = [plan.instances.earliest[instance], plan.instances.window[instance]];
      pen.strokeStyle = colourOf(plan.groupOf(bar));
      for (let shift = 0; earliest + length - shift > 0; shift += plan.round) {
        bracket(earliest - shift, earliest + length - shift, top + height + 2.5);
      }
    }
  };
  const bracket = (begin, end, y) => {
    if (end < state.from || begin > state.until) return;
    const [from, until] = [Math.max(view.x(begin), view.gutter() - 2), Math.min(view.x(end), stage.clientWidth + 2)];
    pen.beginPath();
    pen.moveTo(from, y - 3);
    pen.lineTo(from, y);
    pen.lineTo(until, y);
    pen.lineTo(until, y - 3);
    pen.stroke();
  };

  // How long what stands out takes, below the axis; in each round that it reaches into.
  const measure = () => {
    if (!state.trace) return;
    const [begin, end] = state.trace.span;
    pen.font = font(600, 11.5);
    for (let shift = 0; end - shift > 0; shift += plan.round) {
      const [from, until] = [Math.max(view.x(begin - shift), view.gutter()), Math.min(view.x(end - shift), stage.clientWidth)];
      if (until <= from) continue;
      pen.fillStyle = colours.accent;
      pen.fillRect(from, view.head - 4, Math.max(1, until - from), 4);
      const text = `${state.trace.name} ${state.trace.value}`;
      const wide = pen.measureText(text).width;
      const at = Math.min(Math.max((from + until - wide) / 2, view.gutter() + 2), stage.clientWidth - wide - 4);
      pen.fillStyle = colours.panel;
      pen.fillRect(at - 5, 2, wide + 10, view.head - 7);
      pen.fillStyle = colours.accent;
      pen.fillText(text, at, 17);
    }
  };

  // From the end of one bar to the start of another, wherever in the round the two are drawn.
  const line = (from, to, distance, colour) => {
    const [one, two] = [view.placeOf(plan.row[from]), view.placeOf(plan.row[to])];
    if (one < 0 || two < 0) return;
    // What is sent on before all of it has come leaves where it is sent on.
    const early = Math.min(distance, 0);
    const ends = [plan.start[from] + plan.length[from] + early, plan.start[to]];
    distance -= early;
    for (const [begin, end] of [[ends[0], ends[0] + distance], [ends[1] - distance, ends[1]]]) {
      if (Math.max(begin, end) < state.from || Math.min(begin, end) > state.until) continue;
      const [top, height] = barBox(one);
      const [below, tall] = barBox(two);
      const [a, b] = [view.x(begin), view.x(end)];
      const [ya, yb] = [top + (two > one ? height : two < one ? 0 : height / 2), below + (two > one ? 0 : two < one ? tall : tall / 2)];
      pen.strokeStyle = colour;
      pen.beginPath();
      pen.moveTo(a, ya);
      const bend = Math.max(10, Math.abs(yb - ya) * 0.4) * Math.sign(yb - ya || 1);
      pen.bezierCurveTo(a, ya + bend, b, yb - bend, b, yb);
      pen.stroke();
      if (begin === ends[0] && ends[0] + distance === ends[1]) return;
    }
  };

  // More ways than these hide each other: then only that of the slot under the keys is drawn.
  const WAYS_MAX = 1500;
  const ways = () => {
    if (!state.lit) return;
    pen.save();
    pen.beginPath();
    pen.rect(view.gutter(), view.head, stage.clientWidth, stage.clientHeight);
    pen.clip();
    pen.lineWidth = 1.4;
    const near = (bar) => plan.start[bar] < state.until + plan.round && plan.start[bar] + plan.length[bar] > state.from - (state.until - state.from);
    let bars = state.lit.bars.filter((bar) => plan.after[bar] > 0 && near(bar));
    if (bars.length > WAYS_MAX) bars = bars.filter((bar) => state.focus >= 0 && plan.instance[bar] === plan.instance[state.focus]);
    for (const bar of bars) {
      const from = plan.after[bar] - 1;
      pen.globalAlpha = isAside(bar) ? 0.25 : 1;
      line(from, bar, plan.startOf(bar) - plan.startOf(from) - plan.length[from], colourOf(plan.groupOf(bar)));
    }
    for (const { group, from, to, rounds, at } of state.lit.arrows.slice(0, WAYS_MAX)) {
      const distance = plan.startOf(to) + rounds * plan.round - plan.startOf(from) - plan.length[from];
      pen.globalAlpha = isAside(from) || isAside(to) ? 0.25 : 1;
      line(from, to, distance, colourOf(group));
      diamond(view.x(((at % plan.round) + plan.round) % plan.round), view.placeOf(plan.row[to]), colourOf(group));
    }
    pen.globalAlpha = 1;
    pen.restore();
  };

  // The instant at which a message is visible by the clock.
  const diamond = (at, place, colour) => {
    if (place < 0) return;
    const [top] = barBox(place);
    pen.fillStyle = colour;
    pen.beginPath();
    pen.moveTo(at, top - 5);
    pen.lineTo(at + 4, top - 1);
    pen.lineTo(at, top + 3);
    pen.lineTo(at - 4, top - 1);
    pen.fill();
  };

  const axis = () => {
    const room = stage.clientWidth - view.gutter();
    const list = ticks(state.from, state.until, Math.max(2, room / 110));
    const step = list.length > 1 ? list[1] - list[0] : state.until - state.from;
    pen.fillStyle = colours.panel;
    pen.fillRect(0, 0, stage.clientWidth, view.head);
    pen.font = font(400, 12);
    for (const at of list) {
      const x = Math.round(view.x(at)) + 0.5;
      pen.strokeStyle = colours.hair;
      pen.beginPath();
      pen.moveTo(x, view.head);
      pen.lineTo(x, stage.clientHeight);
      pen.stroke();
      const text = axisTime(at, step, Math.max(Math.abs(state.from), Math.abs(state.until)));
      const wide = pen.measureText(text).width;
      pen.fillStyle = colours.soft;
      pen.fillText(text, Math.min(Math.max(x - wide / 2, view.gutter() + 2), stage.clientWidth - wide - 4), 17);
    }
    pen.strokeStyle = colours.rule;
    pen.beginPath();
    pen.moveTo(0, view.head - 0.5);
    pen.lineTo(stage.clientWidth, view.head - 0.5);
    pen.stroke();
  };

  const labels = (seen) => {
    if (!view.narrow()) {
      pen.fillStyle = colours.panel;
      pen.fillRect(0, view.head, view.gutter() - 1, stage.clientHeight);
    }
    for (const place of seen) {
      const { name, section } = plan.rows[state.shown[place]];
      const before = place > 0 ? plan.rows[state.shown[place - 1]].section : "";
      if (section !== before) {
        pen.font = font(600, 12);
        pen.fillStyle = colours.faint;
        pen.fillText(section, 8, view.y(place) - 6);
      }
      pen.font = font(500, view.narrow() ? 12 : 12.5);
      pen.fillStyle = colours.ink;
      if (view.narrow()) clippedText(name, 6, view.y(place) + 13, stage.clientWidth - 12);
      else clippedText(name, 8, view.y(place) + view.rowHeight() / 2 + 4, view.gutter() - 14);
    }
  };

  const outline = (bar) => {
    const place = bar < 0 ? -1 : view.placeOf(plan.row[bar]);
    if (place < 0) return;
    const [top, height] = barBox(place);
    pen.strokeStyle = colours.ink;
    pen.lineWidth = 2;
    for (const shift of [0, -plan.round]) {
      const [from, until] = [view.x(plan.start[bar] + shift), view.x(plan.start[bar] + plan.length[bar] + shift)];
      if (until > view.gutter() && from < stage.clientWidth) pen.strokeRect(from - 1, top - 1, Math.max(3, until - from + 2), height + 2);
    }
    pen.lineWidth = 1;
  };

  // Where the rows do not all fit, how far down they are.
  const slider = () => {
    const room = stage.clientHeight - view.head;
    if (state.height <= room) return;
    const tall = Math.max(24, (room * room) / state.height);
    pen.fillStyle = colours.rule;
    pen.fillRect(stage.clientWidth - 5, view.head + (state.top / (state.height - room)) * (room - tall), 4, tall);
  };

  const draw = () => {
    const ratio = devicePixelRatio || 1;
    const [wide, high] = [stage.clientWidth, stage.clientHeight];
    if (sheet.width !== Math.round(wide * ratio) || sheet.height !== Math.round(high * ratio)) {
      sheet.width = Math.round(wide * ratio);
      sheet.height = Math.round(high * ratio);
    }
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.lineWidth = 1;
    pen.fillStyle = colours.panel;
    pen.fillRect(0, 0, wide, high);
    axis();
    pen.save();
    pen.beginPath();
    pen.rect(0, view.head, wide, high - view.head);
    pen.clip();
    const seen = state.shown.map((_, place) => place).filter((place) => view.y(place) > view.head - 60 && view.y(place) < high + 24);
    for (const place of seen) {
      const row = state.shown[place];
      pen.strokeStyle = colours.hair;
      pen.beginPath();
      pen.moveTo(0, view.y(place) + view.rowHeight() - 0.5);
      pen.lineTo(wide, view.y(place) + view.rowHeight() - 0.5);
      pen.stroke();
      reserved(row, place);
      barsOf(row, place, 0);
      const last = plan.first[row + 1] - 1;
      if (last >= plan.first[row]) {
        if (plan.start[last] + plan.length[last] > plan.round) barsOf(row, place, -plan.round);
        leadOf(plan.first[row], plan.round, ...barBox(place));
      }
    }
    for (const place of seen) litBars(state.shown[place], place);
    windows();
    ways();
    outline(state.focus);
    labels(seen);
    slider();
    pen.restore();
    measure();
  };

  const repaint = () => {
    readColours();
    view.redraw();
  };
  readColours();
  view.drawWith(draw);
  return { repaint, draw };
})();
