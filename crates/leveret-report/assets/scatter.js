// A quantity over the run: the greatest and the middle value of each stretch, the machine alone behind, the worst ringed.

const drawScatter = (host, curve, alone, color, pick) => {
  const width = Math.round(host.clientWidth);
  if (!width || !curve) return;
  const height = 300;
  const edge = { left: 54, right: 14, top: 20, bottom: 30 };
  const svg = canvas(host, width, height);
  svg.style.setProperty("--series", color);
  const [at, of] = curve.points;
  const other = alone && curve.kind === "lateness" ? alone : null;
  const values = [...of, ...(other ? other.points[1] : [])].map((each) => Math.max(each, 1));
  const bound = curve.bound ?? null;
  const low = values.reduce((a, b) => Math.min(a, b), Infinity);
  const high = values.reduce((a, b) => Math.max(a, b), bound ?? 1);
  const log = high / Math.max(low, 1) > 20;
  const least = log ? Math.max(low * 0.7, 1) : low - (high - low) * 0.08;
  const most = log ? high * 2 : high + (high - low) * 0.12 + 1;
  const scale = log ? Math.log : (value) => value;
  const first = at[0] ?? 0;
  const last = Math.max(at[at.length - 1] ?? 1, first + 1);
  const x = (instance) => edge.left + ((instance - first) / (last - first)) * (width - edge.left - edge.right);
  const y = (value) => height - edge.bottom - ((scale(Math.max(value, least)) - scale(least)) / (scale(most) - scale(least))) * (height - edge.top - edge.bottom);

  for (const value of log ? decades(least, most, 7) : ticks(least, most, 5)) {
    element("line", { x1: edge.left, x2: width - edge.right, y1: y(value), y2: y(value), class: "grid" }, svg);
    element("text", { x: edge.left - 6, y: y(value) + 4, "text-anchor": "end" }, svg, tickTime(value));
  }
  for (const instance of ticks(first, last, width / 120)) {
    const anchor = x(instance) > width - 40 ? "end" : "middle";
    element("text", { x: x(instance), y: height - 8, "text-anchor": anchor }, svg, `${Math.round(instance)}`);
  }
  if (other) {
    const [numbers, late] = other.points;
    const scaled = (number) => first + (number / Math.max(other.count - 1, 1)) * (last - first);
    element("path", { d: late.map((value, place) => `M${x(scaled(numbers[place])).toFixed(1)} ${y(value).toFixed(1)}h0`).join(""), class: "alone-dot" }, svg);
  }
  element("path", { d: of.map((value, place) => `M${x(at[place]).toFixed(1)} ${y(value).toFixed(1)}h0`).join(""), class: "dot" }, svg);
  element("line", { x1: edge.left, x2: width - edge.right, y1: height - edge.bottom, y2: height - edge.bottom, class: "axis" }, svg);
  if (bound !== null) {
    element("line", { x1: edge.left, x2: width - edge.right, y1: y(bound), y2: y(bound), class: "bound" }, svg);
    // At the end that is farther from the label of the worst.
    const far = curve.worst && x(curve.worst.instance) < width * 0.6;
    element("text", { x: far ? width - edge.right - 4 : edge.left + 4, y: y(bound) - 6, "text-anchor": far ? "end" : "start", class: "bound-label halo" }, svg, `${curve.boundLabel} ${time(bound)}`);
  }
  const worst = curve.worst;
  if (worst) {
    const place = [x(worst.instance), y(worst.value)];
    element("circle", { cx: place[0], cy: place[1], r: 7, class: "ring" }, svg);
    const end = place[0] > width * 0.6;
    const close = bound !== null && Math.abs(place[1] - y(bound)) < 30;
    const lift = close ? (place[1] < y(bound) ? -14 : 20) : -6;
    element("text", { x: place[0] + (end ? -12 : 12), y: place[1] + lift, "text-anchor": end ? "end" : "start", class: "ring-label halo" }, svg, `worst: ${time(worst.value)}`);
  }
  const cover = element("rect", { x: edge.left, y: edge.top, width: width - edge.left - edge.right, height: height - edge.top - edge.bottom, class: "hit", "pointer-events": "all" }, svg);
  const nearest = (event) => {
    const box = svg.getBoundingClientRect();
    const wanted = [event.clientX - box.left, event.clientY - box.top];
    let best = null;
    at.forEach((instance, place) => {
      const distance = (x(instance) - wanted[0]) ** 2 + (y(of[place]) - wanted[1]) ** 2;
      if (best === null || distance < best.distance) best = { distance, instance, value: of[place] };
    });
    return best;
  };
  cover.addEventListener("pointermove", (event) => {
    const found = nearest(event);
    if (found && found.distance < 900) showTip(event, `instance ${found.instance}`, [time(found.value), ...(pick ? ["click shows the round"] : [])]);
    else hideTip();
  });
  cover.addEventListener("pointerleave", hideTip);
  cover.addEventListener("click", (event) => { const found = nearest(event); if (found) pick?.(found.instance); });
  host.setAttribute("aria-label", `${curve.name} over the run; the greatest value, ${worst ? time(worst.value) : "none"}, is marked.`);
};
