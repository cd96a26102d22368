"use strict";
// A matrix of counts as an SVG picture; the darkness of a cell is its share of the row.

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

  // `cells` in rows; `border` is where a line divides the rows, `split` where one divides the columns.
  show({ rows, columns, cells, border, split, label }) {
    this.data = { rows, columns, cells };
    const short = name => name.length > 18 ? name.slice(0, 17) + "…" : name;
    const size = this.size = Math.max(13, Math.min(34, Math.floor(720 / columns.length)));
    const left = this.left = 14 + this.widest(rows.map(short)), top = this.top = 14 + this.widest(columns.map(short));
    const width = this.width = left + size * columns.length + 8, height = top + size * rows.length + 8;
    const parts = this.svg;
    parts.replaceChildren();
    for (const [name, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}`, "aria-label": label })) {
      parts.setAttribute(name, value);
    }
    columns.forEach((name, i) => {
      svg("text", { transform: `translate(${left + size * (i + .5) + 4} ${top - 6}) rotate(-90)` }, parts, short(name));
    });
    rows.forEach((name, j) => {
      const y = top + size * j, row = cells.slice(j * columns.length, (j + 1) * columns.length);
      const total = row.reduce((sum, count) => sum + count, 0);
      svg("text", { x: left - 6, y: y + size / 2 + 4, "text-anchor": "end" }, parts, short(name));
      row.forEach((count, i) => {
        if (!count) return;
        const share = count / total;
        svg("rect", { x: left + size * i, y, width: size - 1, height: size - 1, style: `fill:rgba(var(--cell),${(0.08 + 0.92 * share).toFixed(3)})` }, parts);
        if (size >= 26 && count < 10000) {
          const ink = share > 0.5 ? "var(--paper)" : "var(--ink)";
          svg("text", { x: left + size * (i + .5) - .5, y: y + size / 2 + 4, "text-anchor": "middle", style: `fill:${ink};font-size:10px` }, parts, count);
        }
      });
    });
    svg("rect", { class: "axis", fill: "none", x: left - .5, y: top - .5, width: size * columns.length, height: size * rows.length, style: "fill:none" }, parts);
    if (border) svg("line", { class: "axis", x1: left, x2: width - 8, y1: top + size * border - .5, y2: top + size * border - .5 }, parts);
    if (split) svg("line", { class: "axis", y1: top, y2: height - 8, x1: left + size * split - .5, x2: left + size * split - .5 }, parts);
  }

  widest(names) {
    const probe = svg("text", {}, this.svg);
    const widths = names.map(name => { probe.textContent = name; return probe.getComputedTextLength(); });
    probe.remove();
    return Math.max(...widths);
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
