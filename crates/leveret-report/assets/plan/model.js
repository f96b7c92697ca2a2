// The plan as typed columns. Bars stand row by row, by start within the round.

const plan = (() => {
  const columns = data.bars;
  const count = columns.start.length;
  const round = data.round;
  const rows = data.rows.map(([name, section, reserved]) => ({ name, section, reserved }));
  const groups = data.groups.map(([name, kind, part, facts, members]) => ({ name, kind, part, facts, members }));
  const first = new Uint32Array(rows.length + 1);
  const start = new Float64Array(count);
  const row = new Uint32Array(count);
  const length = Float64Array.from(columns.length);
  // Length of all bars before, so that how full a stretch is takes one subtraction.
  const before = new Float64Array(count + 1);
  let bar = 0;
  columns.counts.forEach((bars, index) => {
    let at = 0;
    for (const end = bar + bars; bar < end; bar += 1) {
      at += columns.start[bar];
      start[bar] = at;
      row[bar] = index;
      before[bar + 1] = before[bar] + length[bar];
    }
    first[index + 1] = bar;
  });
  const turns = new Map();
  for (let index = 0; index < columns.turned.length; index += 2) turns.set(columns.turned[index], columns.turned[index + 1]);
  const instance = Uint32Array.from(columns.instance);
  const after = Uint32Array.from(columns.after);
  const arrows = [];
  for (let index = 0; index < data.arrows.length; index += 5) {
    const [group, from, to, rounds, at] = data.arrows.slice(index, index + 5);
    arrows.push({ group, from, to, rounds, at });
  }
  // The longest ways through chains, by the number of the chain's group.
  const traces = data.traces.map(([group, name, value, span, bars, steps]) => ({ group, name, value, span, bars, steps, has: new Set(bars) }));
  const instances = data.instances;
  const groupOf = (index) => instances.group[instance[index]];
  // Where the bar really starts, which may be in a later round than that in which it is drawn.
  const startOf = (index) => start[index] + (turns.get(index) ?? 0) * round;

  // The first of [from, to) whose value is not below a limit; to, if there is none.
  const search = (from, to, below) => {
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (below(middle)) from = middle + 1;
      else to = middle;
    }
    return from;
  };
  const firstEndingAfter = (at, from, to) => search(from, to, (index) => start[index] + length[index] <= at);
  const firstStartingAt = (at, from, to) => search(from, to, (index) => start[index] < at);

  // A group and all that it consists of: its bars, row by row, and its arrows.
  const gather = (group) => {
    const wanted = new Set([group, ...groups[group].members]);
    const own = arrows.filter((arrow) => wanted.has(arrow.group));
    const ends = new Set(own.flatMap((arrow) => [arrow.from, arrow.to]));
    const bars = [];
    for (let index = 0; index < count; index += 1) if (wanted.has(groupOf(index)) || ends.has(index)) bars.push(index);
    const byRow = new Map();
    for (const index of bars) {
      if (!byRow.has(row[index])) byRow.set(row[index], []);
      byRow.get(row[index]).push(index);
    }
    return { group, wanted, bars, byRow, arrows: own };
  };

  return {
    title: data.title, round, span: data.span, rows, groups, first, start, length, before, row, instance, after, instances, count, arrows, traces,
    part: columns.part, lead: columns.lead, groupOf, startOf, search, firstEndingAfter, firstStartingAt, gather,
  };
})();

// Nanoseconds with all their digits, in the largest unit in which they are 1 or more.
const exact = (ns) => {
  const size = Math.abs(ns);
  const [unit, scale] = [["ns", 1], ["\u00b5s", 1e3], ["ms", 1e6], ["s", 1e9]].filter(([, scale]) => size >= scale).pop() ?? ["ns", 1];
  const whole = Math.floor(size / scale);
  const rest = scale === 1 ? "" : String(size - whole * scale).padStart(Math.log10(scale), "0").replace(/0+$/, "");
  return `${ns < 0 ? "\u2212" : ""}${whole}${rest ? `.${rest}` : ""} ${unit}`;
};

// As many digits as tell two neighbouring marks apart.
const axisTime = (ns, step, most) => {
  const [unit, scale] = [["ns", 1], ["\u00b5s", 1e3], ["ms", 1e6], ["s", 1e9]].filter(([, scale]) => most >= scale).pop() ?? ["ns", 1];
  const digits = Math.max(0, -Math.floor(Math.log10(step / scale) + 1e-9));
  return `${(ns / scale).toFixed(Math.min(digits, 9))} ${unit}`;
};
