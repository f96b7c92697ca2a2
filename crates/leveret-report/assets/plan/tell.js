// Words: what the slot under the pointer is, and what is lit.

const tell = (() => {
  const linesOf = (bar) => {
    const { groups, instances } = plan;
    const instance = plan.instance[bar];
    const group = groups[plan.groupOf(bar)];
    const [start, length] = [plan.startOf(bar), plan.length[bar]];
    const earliest = instances.earliest[instance];
    const latest = earliest + instances.window[instance];
    const copies = group.facts.some(([name]) => name === "copies");
    const place = `${group.part} ${plan.part[bar] + 1}${copies ? `, copy ${instances.copy[instance]}` : ""}`;
    const title = `${group.name} #${instances.number[instance]}`;
    const lines = [
      `${plan.rows[plan.row[bar]].name}, ${place}`,
      `start ${exact(start)}`,
      `end ${exact(start + length)} (${exact(length)})`,
      `released ${exact(earliest)}`,
      `due ${exact(latest)}`,
      `slack ${exact(instances.slack[instance])}`,
    ];
    return [title, lines];
  };

  const say = (bar) => {
    const [title, lines] = linesOf(bar);
    byId("said").textContent = `${title}: ${lines.join("; ")}`;
  };

  // Beside the bar that the keys stand on.
  const beside = (bar) => {
    const place = view.placeOf(plan.row[bar]);
    if (place < 0) return;
    const box = byId("stage").getBoundingClientRect();
    const [title, lines] = linesOf(bar);
    showTip({ clientX: box.left + Math.max(view.gutter(), view.x(plan.start[bar])), clientY: box.top + view.y(place) + view.rowHeight() }, title, lines);
    say(bar);
  };

  const facts = () => {
    const { lit } = view.state;
    byId("facts").hidden = !lit;
    byId("only").disabled = !lit;
    byId("only").setAttribute("aria-pressed", view.state.only);
    if (!lit) return;
    const group = plan.groups[lit.group];
    const instances = new Set(lit.bars.filter((bar) => plan.groupOf(bar) === lit.group).map((bar) => plan.instance[bar]));
    const slack = Math.min(...[...instances].map((instance) => plan.instances.slack[instance]));
    byId("facts-name").textContent = group.name;
    byId("facts-kind").textContent = group.kind;
    const all = [...group.facts];
    if (group.members.length > 0 && group.facts.every(([name]) => name !== "path")) all.push(["consists of", group.members.map((member) => plan.groups[member].name).join(", ")]);
    if (instances.size > 0) all.push(["instances", String(instances.size)], ["slots", String(lit.bars.length)], ["least slack", exact(slack)]);
    all.push(["rows", view.alongTheWay().map((row) => plan.rows[row].name).join(", ")]);
    byId("facts-list").replaceChildren(...all.flatMap(([name, value]) => {
      const [term, detail] = [document.createElement("dt"), document.createElement("dd")];
      term.textContent = name;
      detail.textContent = value;
      return [term, detail];
    }));
    byId("said").textContent = `${group.kind} ${group.name}: ${lit.bars.length} slots on ${lit.byRow.size} rows`;
    ways(lit.group);
  };

  // Of a chain its longest ways to choose from, and what happens on the chosen one.
  const ways = (group) => {
    const { trace } = view.state;
    byId("ways").hidden = !trace;
    if (!trace) return;
    byId("ways-choice").replaceChildren(...plan.traces.filter((one) => one.group === group).map((one) => {
      const choice = document.createElement("button");
      choice.type = "button";
      choice.textContent = one.name;
      choice.setAttribute("aria-pressed", one === trace);
      choice.addEventListener("click", () => {
        view.follow(one);
        facts();
      });
      return choice;
    }));
    byId("ways-value").textContent = `Longest ${trace.name}: ${trace.value}`;
    byId("ways-steps").replaceChildren(...trace.steps.map(([name, value]) => {
      const [item, detail] = [document.createElement("li"), document.createElement("span")];
      detail.textContent = value;
      item.append(name, detail);
      return item;
    }));
    byId("said").textContent = `${trace.name} ${trace.value}: ${trace.steps.map((step) => step.join(" ")).join("; ")}`;
  };

  const words = () => {
    const [from, until] = plan.span;
    const kinds = new Map();
    for (const { kind } of plan.groups) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    const counted = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;
    const parts = [counted(plan.rows.length, "row"), ...[...kinds].map(([kind, count]) => counted(count, kind)), counted(plan.count, "slot")];
    const part = from > 0 || until < plan.round ? `; drawn is ${exact(from)} to ${exact(until)}` : "";
    byId("words").textContent = `${parts.join(", ")}; repeats every ${exact(plan.round)}${part}`;
  };

  return { linesOf, beside, say, facts, words };
})();
