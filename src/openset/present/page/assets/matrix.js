"use strict";
// A matrix of counts as an SVG picture; the darkness of a cell is its share of the row.

const SHADES = 32;
const brief = count => count < 10000 ? count : count < 999500 ? `${Math.round(count / 1000)}k` : `${Math.round(count / 1e6)}M`;
const short = name => name.length > 18 ? name.slice(0, 17) + "…" : name;

class Matrix {
  constructor(figure) {
    this.figure = figure;
    figure.classList.add("wide");
    const frame = element("div", { className: "scroll", tabIndex: 0 }, figure);
    frame.setAttribute("role", "region");
    frame.setAttribute("aria-label", "Confusion matrix");
    this.svg = svg("svg", { role: "img" }, frame);
    this.svg.style.maxWidth = "none";
    addDownload(figure, () => this.svg);
    this.svg.addEventListener("pointermove", event => this.hover(event));
    this.svg.addEventListener("pointerleave", () => this.tip && this.tip.remove());
  }

  // `cells` row by row; lines are drawn after `border` rows and `split` columns. Names are drawn when they change.
  show(data) {
    const same = this.data && this.data.rows === data.rows && this.data.columns === data.columns;
    this.data = data;
    if (!same) this.names(data);
    this.cells(data);
  }

  names({ rows, columns, border, split, label }) {
    this.svg.replaceChildren();
    const size = this.size = Math.max(26, Math.min(40, Math.floor(900 / columns.length)));
    const left = this.left = 14 + this.widest(rows), top = this.top = 14 + this.widest(columns);
    const width = this.width = left + size * columns.length + 8, height = top + size * rows.length + 8;
    for (const [name, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}`, "aria-label": label })) {
      this.svg.setAttribute(name, value);
    }
    columns.forEach((name, i) => {
      svg("text", { transform: `translate(${left + size * (i + .5) + 4} ${top - 6}) rotate(-90)` }, this.svg, short(name));
    });
    rows.forEach((name, j) => {
      svg("text", { x: left - 6, y: top + size * (j + .5) + 4, "text-anchor": "end" }, this.svg, short(name));
    });
    this.layer = svg("g", {}, this.svg);
    svg("path", { class: "axis", fill: "none", d: `M${left - .5} ${top - .5}h${size * columns.length}v${size * rows.length}h${-size * columns.length}z` }, this.svg);
    if (border) svg("line", { class: "axis", x1: left, x2: width - 8, y1: top + size * border - .5, y2: top + size * border - .5 }, this.svg);
    if (split) svg("line", { class: "axis", y1: top, y2: height - 8, x1: left + size * split - .5, x2: left + size * split - .5 }, this.svg);
  }

  widest(names) {
    const probe = svg("text", {}, this.svg);
    const widths = names.map(name => { probe.textContent = short(name); return probe.getComputedTextLength(); });
    probe.remove();
    return Math.max(...widths);
  }

  // Cells of one shade are one shape, so that thousands of cells are quick to draw.
  cells({ rows, columns, cells }) {
    const { size, left, top } = this, shades = new Array(SHADES + 1).fill("");
    this.layer.replaceChildren();
    const numbers = svg("g", {});
    rows.forEach((_, j) => {
      const y = top + size * j, row = cells.slice(j * columns.length, (j + 1) * columns.length);
      const total = row.reduce((sum, count) => sum + count, 0);
      row.forEach((count, i) => {
        if (!count) return;
        const shade = Math.ceil(SHADES * count / total), x = left + size * i;
        shades[shade] += `M${x.toFixed(1)} ${y.toFixed(1)}h${size - 1}v${size - 1}h${1 - size}z`;
        svg("text", { class: "count", x: x + size / 2 - .5, y: y + size / 2 + 4, "text-anchor": "middle", style: `--shade:${shade}` }, numbers, brief(count));
      });
    });
    shades.forEach((path, shade) => {
      if (path) svg("path", { d: path, style: `fill:rgba(var(--cell),${(0.08 + 0.92 * shade / SHADES).toFixed(3)})` }, this.layer);
    });
    this.layer.append(numbers);
  }

  hover(event) {
    const frame = this.svg.getBoundingClientRect();
    const i = Math.floor((event.clientX - frame.left - this.left) / this.size);
    const j = Math.floor((event.clientY - frame.top - this.top) / this.size);
    const { rows, columns, cells } = this.data;
    if (this.tip) this.tip.remove();
    if (i < 0 || j < 0 || i >= columns.length || j >= rows.length) return;
    const row = cells.slice(j * columns.length, (j + 1) * columns.length);
    const words = [`${rows[j]} → ${columns[i]}`, `${row[i]} of ${row.reduce((sum, count) => sum + count, 0)}`];
    this.tip = tooltip(this.svg, this.left + this.size * (i + .5), this.top + this.size * (j + .5), words, this.width);
  }
}
