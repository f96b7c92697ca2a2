// What is seen: which stretch of time, which rows, and what is lit.

const view = (() => {
  const stage = byId("stage");
  const [least, most] = plan.span;
  const state = { from: least, until: Math.max(most, least + 1), top: 0, lit: null, trace: null, only: false, focus: -1, shown: [], tops: [], height: 0 };
  const head = 26;
  let draw = () => {};
  let asked = false;

  const narrow = () => stage.clientWidth < 560;
  const gutter = () => (narrow() ? 0 : Math.min(220, Math.max(90, stage.clientWidth * 0.16)));
  // On a narrow screen a row's name stands above its bars.
  const rowHeight = () => (narrow() ? 40 : 28);
  const width = () => Math.max(1, stage.clientWidth - gutter() - 6);
  const perPixel = () => (state.until - state.from) / width();
  const x = (at) => gutter() + (at - state.from) / perPixel();
  const at = (pixel) => state.from + (pixel - gutter()) * perPixel();

  const redraw = () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      draw();
    });
  };

  // The rows of what is lit, in the order in which it comes to them.
  const alongTheWay = () => {
    const way = state.trace?.bars ?? [];
    const met = ([row]) => way.findIndex((bar) => plan.row[bar] === row) + 1 || way.length + 1;
    const first = (entry) => met(entry) * 1000 + Math.min(...entry[1].slice(0, 50).map((bar) => plan.part[bar]));
    return [...state.lit.byRow].sort((a, b) => first(a) - first(b) || a[0] - b[0]).map(([row]) => row);
  };

  // Rows that are shown, and where each begins; a heading stands above the first of each section.
  const arrange = () => {
    state.shown = state.only && state.lit ? alongTheWay() : plan.rows.map((_, index) => index);
    let y = 4;
    let section = "";
    state.tops = state.shown.map((row) => {
      if (plan.rows[row].section !== section) {
        section = plan.rows[row].section;
        y += 22;
      }
      const top = y;
      y += rowHeight();
      return top;
    });
    state.height = y + 8;
    scroll(0);
  };

  const scroll = (by) => {
    const room = Math.max(0, state.height - (stage.clientHeight - head));
    state.top = Math.min(Math.max(0, state.top + by), room);
    redraw();
  };

  const show = (from, until) => {
    const span = Math.min(Math.max(until - from, Math.min(20, most - least)), most - least);
    state.from = Math.min(Math.max(from, least), most - span);
    state.until = state.from + span;
    redraw();
  };
  const whole = () => show(least, most);
  const zoom = (factor, around = (state.from + state.until) / 2) =>
    show(around - (around - state.from) * factor, around + (state.until - around) * factor);
  const pan = (share) => show(state.from + share * (state.until - state.from), state.until + share * (state.until - state.from));

  // The place of a row among those shown; -1 where it is not.
  const placeOf = (row) => state.shown.indexOf(row);
  const y = (place) => head + state.tops[place] - state.top;

  // Moves just so far that a bar is seen.
  const reveal = (bar) => {
    const [from, until] = [plan.start[bar], plan.start[bar] + plan.length[bar]];
    const span = state.until - state.from;
    if (from < state.from || until > state.until) show((from + until) / 2 - span / 2, (from + until) / 2 + span / 2);
    if (plan.length[bar] < 3 * perPixel()) {
      const wide = Math.max(plan.length[bar] * 60, 20);
      show((from + until) / 2 - wide / 2, (from + until) / 2 + wide / 2);
    }
    const place = placeOf(plan.row[bar]);
    if (place < 0) return;
    const room = stage.clientHeight - head;
    if (state.tops[place] < state.top) scroll(state.tops[place] - 24 - state.top);
    if (state.tops[place] + rowHeight() > state.top + room) scroll(state.tops[place] + rowHeight() - state.top - room);
  };

  // The bar under a point, or the nearest on its row within a few pixels.
  const hit = (pixel, line, reach = 4) => {
    if (pixel < gutter()) return -1;
    const place = state.tops.findIndex((_, index) => line >= y(index) && line < y(index) + rowHeight());
    if (place < 0 || line < head) return -1;
    const row = state.shown[place];
    const [first, end] = [plan.first[row], plan.first[row + 1]];
    if (first === end) return -1;
    const when = at(pixel);
    const next = plan.firstEndingAfter(when, first, end);
    const wrapped = plan.start[end - 1] + plan.length[end - 1] - plan.round > when;
    const distance = (bar) => Math.max(plan.start[bar] - when, when - plan.start[bar] - plan.length[bar], 0);
    const near = wrapped ? [end - 1] : [next - 1, next].filter((bar) => bar >= first && bar < end);
    // What is lit lies above what is not.
    const lit = (state.lit?.byRow.get(row) ?? []).filter((bar) => distance(bar) <= reach * perPixel());
    const best = (list) => list.reduce((found, bar) => (found < 0 || distance(bar) < distance(found) ? bar : found), -1);
    const found = lit.length > 0 ? best(lit) : best(near);
    return found >= 0 && (wrapped || distance(found) <= reach * perPixel()) ? found : -1;
  };

  const light = (group) => {
    state.lit = group === null ? null : plan.gather(group);
    state.trace = plan.traces.find((trace) => trace.group === group) ?? null;
    if (!state.lit) state.only = false;
    arrange();
  };
  // Of a chain, which of its longest ways stands out.
  const follow = (trace) => {
    state.trace = trace;
    arrange();
  };
  const setOnly = (only) => {
    state.only = only && state.lit !== null;
    arrange();
  };

  // The bar that the keys stand on moves along the way that stands out, among those that are lit, or all.
  const step = (by) => {
    const bars = state.trace ? state.trace.bars : state.lit ? [...state.lit.bars].sort((a, b) => plan.startOf(a) - plan.startOf(b)) : null;
    const count = bars ? bars.length : plan.count;
    if (count === 0) return -1;
    const now = bars ? bars.indexOf(state.focus) : state.focus;
    const next = now < 0 ? (by > 0 ? 0 : count - 1) : (now + by + count) % count;
    state.focus = bars ? bars[next] : next;
    reveal(state.focus);
    redraw();
    return state.focus;
  };

  return {
    state, head, gutter, narrow, rowHeight, perPixel, x, at, y, placeOf, alongTheWay, arrange, scroll, show, whole, zoom, pan, hit, light, follow, setOnly, step, redraw,
    drawWith: (drawing) => { draw = drawing; },
  };
})();
