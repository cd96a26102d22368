"use strict";
// Static charts, and the wilderness slider of a detector.

function drawCharts(charts) {
  for (const [name, spec] of Object.entries(charts || {})) {
    const figure = document.getElementById(`chart-${name}`);
    if (!figure) continue;
    if (spec.kind === "bars") new Bars(figure, spec);
    else if (spec.kind === "dots") new Dots(figure, spec);
    else new Chart(figure, { ...spec, lines: spec.lines.map((line, i) => ({ dash: DASHES[i % DASHES.length], ...line })) });
  }
}

// What bars and dots share: one row per name under a horizontal axis.
class Rows {
  constructor(figure, spec) {
    this.figure = figure;
    this.spec = spec;
    figure.classList.add("wide");
    this.svg = svg("svg", { role: "img" }, figure);
    addDownload(figure, () => this.svg);
    this.draw();
    new ResizeObserver(() => this.width !== this.measure() && this.draw()).observe(figure);
  }

  measure() { return Math.max(260, Math.min(900, Math.floor(this.figure.clientWidth))); }

  draw() {
    const { rows, label } = this.spec;
    const width = this.width = this.measure(), narrow = width < 560;
    const left = narrow ? 18 : 210, right = width - 24, high = narrow ? 46 : 30, bottom = 8 + high * rows.length;
    const axis = { min: this.spec.min || 0, max: this.spec.max, percent: this.percent };
    this.svg.replaceChildren();
    const description = `${label}: ${rows.slice(0, 12).map(row => `${row.name} ${this.say(row)}`).join("; ")}`;
    for (const [name, value] of Object.entries({ width, height: bottom + 40, viewBox: `0 0 ${width} ${bottom + 40}`, "aria-label": description })) {
      this.svg.setAttribute(name, value);
    }
    this.x = scale(axis, left, right);
    drawTicks(this.svg, axis, this.x, 4, bottom, width);
    svg("text", { class: "soft", x: (left + right) / 2, y: bottom + 34, "text-anchor": "middle" }, this.svg, label);
    rows.forEach((row, i) => {
      const middle = 8 + high * i + (narrow ? 32 : high / 2);
      const words = narrow ? { x: 2, y: middle - 14 } : { x: left - 8, y: middle + 4, "text-anchor": "end" };
      svg("text", words, this.svg, row.name.length > 34 ? row.name.slice(0, 33) + "…" : row.name);
      this.row(row, middle, i);
    });
  }

  tip(node, words, x, y) {
    node.addEventListener("pointerenter", () => { this.open = tooltip(this.svg, x, y, words, this.width); });
    node.addEventListener("pointerleave", () => this.open && this.open.remove());
  }
}

class Bars extends Rows {
  constructor(figure, spec) {
    const longest = Math.max(...spec.rows.map(row => row.shares.reduce((sum, share) => sum + share, 0)), 0.001);
    super(figure, { ...spec, max: longest * 1.05 });
    const legend = element("ul", { className: "legend" }, figure);
    spec.kinds.forEach((kind, k) => element("li", {}, legend, swatch(`c${k}`, ""), kind));
  }

  get percent() { return true; }
  say(row) { return row.shares.map((share, k) => `${this.spec.kinds[k]} ${percent(share)}`).join(", "); }

  row(row, middle) {
    let from = 0;
    row.shares.forEach((share, k) => {
      const x = this.x(from), width = this.x(from + share) - x;
      const bar = svg("rect", { x, y: middle - 9, width, height: 18, style: `fill:var(--c${k});stroke:var(--paper)` }, this.svg);
      this.tip(bar, [row.name, `${this.spec.kinds[k]}: ${row.counts[k]} (${percent(share)})`], x + width / 2, middle);
      from += share;
    });
  }
}

class Dots extends Rows {
  get percent() { return false; }
  say(row) { return plain(row.mean); }

  row(row, middle, place) {
    const colour = `var(--c${place % 8})`;
    for (const value of row.values) {
      svg("line", { x1: this.x(value), x2: this.x(value), y1: middle + 5, y2: middle + 11, style: "stroke:var(--soft)" }, this.svg);
    }
    svg("line", { x1: this.x(row.mean - row.sd), x2: this.x(row.mean + row.sd), y1: middle, y2: middle, style: `stroke:${colour};stroke-width:2` }, this.svg);
    const dot = svg("circle", { cx: this.x(row.mean), cy: middle, r: 5, style: `fill:${colour}` }, this.svg);
    this.tip(dot, [row.name, `mean ${row.mean.toFixed(3)}, sd ${row.sd.toFixed(3)}, ${row.values.length} runs`], this.x(row.mean), middle);
  }
}

// Counts that are means over orders of images.
const few = value => ({ text: value.toLocaleString("en", { maximumFractionDigits: 1 }), value });

// The wilderness ratio moves a rule over the curves; impact and counts at each ratio are in the data.
function wildernessSlider({ ratios, rows, highest }) {
  const input = document.getElementById("ratio");
  // Without wild images there is no impact: each line begins at zero. The ninth line has the first one's colour, not its dash.
  const lines = rows.map((row, i) => ({ name: row.name, x: [0, ...ratios], y: [0, ...row.impact], colour: `c${i % 8}`, dash: DASHES[(i + Math.floor(i / 8)) % DASHES.length] }));
  const chart = new Chart(document.getElementById("chart-wilderness"), {
    title: "Wilderness Impact", x: { label: "wilderness ratio", min: 0, max: ratios[ratios.length - 1] }, y: { label: "Wilderness Impact", min: 0, max: highest }, lines,
  });
  input.max = ratios.length - 1;
  const update = () => {
    const at = +input.value, ratio = plain(ratios[at]);
    document.getElementById("ratio-value").textContent = ratio;
    chart.mark(rows.map((row, i) => ({ x: ratios[at], y: row.impact[at], colour: `c${i % 8}` })), ratios[at]);
    tables.get("at-ratio").show(["At", "Wilderness Impact", "False detections on wild images, on average", "Detections on known images"],
      rows.map(row => [row.name, { text: row.impact[at].toFixed(4), value: row.impact[at] }, few(row.open[at]), count(row.accepted)]));
    const impacts = rows.map(row => `${row.name}: ${row.impact[at].toFixed(3)}`).join(", ");
    document.getElementById("summary").textContent = `At wilderness ratio ${ratio} the impact is ${impacts}.`;
    input.setAttribute("aria-valuetext", `wilderness ratio ${ratio}`);
  };
  input.addEventListener("input", update);
  input.value = ratios.reduce((best, ratio, i) => Math.abs(ratio - 1) < Math.abs(ratios[best] - 1) ? i : best, 0);
  update();
}
