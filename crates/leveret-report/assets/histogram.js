// A distribution: counts on a logarithmic axis, the plan's bound, quantiles, the machine alone as a line.

const drawHistogram = (host, curve, alone, color) => {
  const width = Math.round(host.clientWidth);
  if (!width || !curve) return;
  const height = 300;
  const edge = { left: 44, right: 14, top: 40, bottom: 30 };
  const svg = canvas(host, width, height);
  svg.style.setProperty("--series", color);
  const bins = curve.histogram;
  const other = alone && curve.kind === "lateness" ? alone.histogram : null;
  const value = (histogram, place) => {
    const at = histogram.from + histogram.width * place;
    return histogram.log ? Math.exp(at) : at;
  };
  const ends = [bins, other].filter(Boolean).flatMap((histogram) => [value(histogram, 0), value(histogram, lastBin(histogram) + 1)]);
  // The bound, or the machine alone, may lie far from what was measured.
  const span = Math.max(...ends, curve.bound ?? 0) / Math.max(Math.min(...ends), 1);
  const log = bins.log || (other !== null && other.log) || span > 20;
  const least = Math.max(Math.min(...ends), log ? 1 : -Infinity);
  const most = Math.max(...ends, curve.bound ?? 0) * (log ? 1.25 : 1) + (log ? 0 : (Math.max(...ends, curve.bound ?? 0) - least) * 0.04);
  const scale = log ? Math.log : (at) => at;
  const x = (at) => edge.left + ((scale(Math.max(at, least)) - scale(least)) / (scale(most) - scale(least) || 1)) * (width - edge.left - edge.right);
  const top = Math.max(...bins.counts, ...(other?.counts ?? [0]), 1);
  const reach = Math.log10(top * 1.5) + 0.3;
  const y = (count) => height - edge.bottom - ((count <= 0 ? 0 : Math.log10(count) + 0.3) / reach) * (height - edge.top - edge.bottom);

  for (const count of decades(1, top, 6)) {
    element("line", { x1: edge.left, x2: width - edge.right, y1: y(count), y2: y(count), class: "grid" }, svg);
    element("text", { x: edge.left - 6, y: y(count) + 4, "text-anchor": "end" }, svg, count >= 1000 ? `${count / 1000}k` : `${count}`);
  }
  const marks = log ? decades(least, most, width / 70) : ticks(least, most, width / 100);
  for (const at of marks) {
    element("line", { x1: x(at), x2: x(at), y1: edge.top, y2: height - edge.bottom + 4, class: "grid" }, svg);
    const anchor = x(at) > width - 34 ? "end" : "middle";
    element("text", { x: x(at), y: height - 8, "text-anchor": anchor }, svg, tickTime(at));
  }
  bins.counts.forEach((count, place) => {
    if (count === 0) return;
    const from = value(bins, place);
    const to = value(bins, place + 1);
    const bar = element("rect", { x: x(from) + 0.4, width: Math.max(1.5, x(to) - x(from) - 0.8), y: y(count), height: height - edge.bottom - y(count), class: "bar-count" }, svg);
    withTip(bar, `${count} of ${curve.summary.count}`, [`${time(from)} to ${time(to)}`]);
  });
  if (other) outline(svg, other, value, x, y);
  element("line", { x1: edge.left, x2: width - edge.right, y1: height - edge.bottom, y2: height - edge.bottom, class: "axis" }, svg);
  quantiles(svg, curve, x, edge, height);
  if (curve.bound !== null && curve.bound !== undefined) {
    const at = x(curve.bound);
    element("line", { x1: at, x2: at, y1: 14, y2: height - edge.bottom, class: "bound" }, svg);
    const end = at > width * 0.55;
    element("text", { x: at + (end ? -6 : 6), y: 12, "text-anchor": end ? "end" : "start", class: "bound-label halo" }, svg, `${curve.boundLabel} ${time(curve.bound)}`);
  }
  host.setAttribute("aria-label", `Distribution of ${curve.name}: p50 ${time(curve.summary.p50)}, p99 ${time(curve.summary.p99)}, p99.9 ${time(curve.summary.p999)}, greatest ${time(curve.summary.max)} of ${curve.summary.count}.`);
};

const lastBin = (histogram) => {
  for (let place = histogram.counts.length - 1; place > 0; place -= 1) if (histogram.counts[place] > 0) return place;
  return 0;
};

const outline = (svg, histogram, value, x, y) => {
  let path = `M${x(value(histogram, 0))} ${y(0)}`;
  histogram.counts.slice(0, lastBin(histogram) + 1).forEach((count, place) => {
    path += ` V${y(count)} H${x(value(histogram, place + 1))}`;
  });
  element("path", { d: `${path} V${y(0)}`, class: "alone-line" }, svg);
};

const quantiles = (svg, curve, x, edge, height) => {
  let last = -Infinity;
  for (const [label, at] of [["p50", curve.summary.p50], ["p99", curve.summary.p99], ["p99.9", curve.summary.p999], ["max", curve.summary.max]]) {
    element("line", { x1: x(at), x2: x(at), y1: edge.top - 6, y2: height - edge.bottom, class: "quantile" }, svg);
    if (x(at) - last < 38) continue;
    element("text", { x: x(at), y: edge.top - 10, "text-anchor": "middle", class: "halo" }, svg, label);
    last = x(at);
  }
};
