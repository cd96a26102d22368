"use strict";
// Line charts as plain SVG. Every value comes from the page's data; nothing here computes a value.

const SVG = "http://www.w3.org/2000/svg";
const DASHES = ["", "7 3", "2 2", "9 3 2 3", "4 2", "1 3", "12 4", "6 2 1 2 1 2"];

function svg(tag, attributes, parent, text) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes || {})) node.setAttribute(name, value);
  if (text !== undefined) node.textContent = text;
  if (parent) parent.append(node);
  return node;
}

function element(tag, properties, parent, ...children) {
  const node = Object.assign(document.createElement(tag), properties || {});
  node.append(...children);
  if (parent) parent.append(node);
  return node;
}

const percent = value => value < 0 ? "–" : (100 * value).toFixed(1) + " %";
const plain = (value, digits = 5) => {
  const rounded = +value.toPrecision(digits), size = Math.abs(rounded);
  return size >= 10 ** digits || (size && size < 1e-4) ? rounded.toExponential() : String(rounded);
};

// How many digits tell numbers up to `largest` apart that lie `step` from each other: 17 tell all numbers apart.
function digitsFor(largest, step) {
  const needed = Math.floor(Math.log10(largest)) - Math.floor(Math.log10(step)) + 1;
  return step > 0 ? Math.min(17, Math.max(5, needed)) : 5;
}

// Where a value lies between two ends of an axis, in pixels.
function scale(axis, from, to) {
  const turn = axis.log ? Math.log10 : value => value;
  const low = turn(axis.min), span = turn(axis.max) - low;
  return value => from + (to - from) * ((turn(axis.log ? Math.max(value, axis.min) : value) - low) / span);
}

function ticks(axis) {
  const found = [];
  if (axis.log) {
    for (let power = Math.round(Math.log10(axis.min)); power <= Math.log10(axis.max) + 1e-9; power++) found.push(10 ** power);
    return found;
  }
  const step = tickStep(axis);
  // A step that sums cannot resolve would never lead from one end to the other.
  if (!(step > farthest(axis) * 1e-15)) return [axis.min, axis.max];
  for (let i = Math.ceil(axis.min / step - 1e-9); i * step <= axis.max + step * 1e-9; i++) found.push(i * step);
  return found;
}

function tickStep(axis) {
  const rough = (axis.max - axis.min) / 5, size = 10 ** Math.floor(Math.log10(rough));
  return size * [1, 2, 5, 10].find(times => times * size >= rough);
}

const farthest = axis => Math.max(Math.abs(axis.min), Math.abs(axis.max));

function tickText(axis, value) {
  if (axis.log && !axis.percent) return plain(value, 7);
  if (!axis.percent) return plain(value, digitsFor(farthest(axis), tickStep(axis)));
  return +(100 * value).toPrecision(4) + " %";
}

// Ticks of the horizontal axis; a text that would run into the one before it is left out, and none leaves the picture.
function drawTicks(parent, axis, place, top, bottom, width) {
  let free = 0;
  for (const value of ticks(axis)) {
    const x = place(value), words = tickText(axis, value), half = 3.5 * words.length;
    const middle = Math.max(half, Math.min(x, width - half));
    svg("line", { class: "grid", x1: x, x2: x, y1: top, y2: bottom }, parent);
    if (middle - half < free) continue;
    svg("text", { x: middle, y: bottom + 16, "text-anchor": "middle" }, parent, words);
    free = middle + half + 4;
  }
}

class Chart {
  // `figure` is a <figure>; `spec` gives axes `x`, `y` and `lines` of {name, x, y, colour, dash, width, area, label}.
  constructor(figure, spec) {
    this.figure = figure;
    this.svg = svg("svg", { role: "img" }, figure);
    this.legend = element("ul", { className: "legend" }, figure);
    addDownload(figure, () => this.svg);
    this.show(spec);
    new ResizeObserver(() => this.width !== this.measure() && this.draw()).observe(figure);
    this.svg.addEventListener("pointermove", event => this.hover(event));
    this.svg.addEventListener("pointerleave", () => this.tip && this.tip.remove());
  }

  measure() { return Math.max(260, Math.min(640, Math.floor(this.figure.clientWidth))); }

  show(spec) { this.spec = spec; this.draw(); }

  draw() {
    const { x, y, lines } = this.spec;
    const width = this.width = this.measure(), height = this.height = Math.round(Math.min(480, width * 0.75));
    const left = 56, right = width - 22, top = 8, bottom = height - 44;
    this.svg.replaceChildren();
    for (const [name, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}`, "aria-label": this.label() })) {
      this.svg.setAttribute(name, value);
    }
    this.x = scale(x, left, right);
    this.y = scale(y, bottom, top);
    drawTicks(this.svg, x, this.x, top, bottom, width);
    for (const value of ticks(y)) {
      svg("line", { class: "grid", x1: left, x2: right, y1: this.y(value), y2: this.y(value) }, this.svg);
      svg("text", { x: left - 6, y: this.y(value) + 4, "text-anchor": "end" }, this.svg, tickText(y, value));
    }
    svg("path", { class: "axis", fill: "none", d: `M${left} ${top}V${bottom}H${right}` }, this.svg);
    svg("text", { class: "soft", x: (left + right) / 2, y: height - 8, "text-anchor": "middle" }, this.svg, x.label);
    svg("text", { class: "soft", transform: `translate(12 ${(top + bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, this.svg, y.label);
    // Muted lines first, so that those with a colour lie on top.
    for (const line of [...lines].sort((a, b) => (a.width || 2) - (b.width || 2))) this.line(line, bottom);
    this.overlay = svg("g", {}, this.svg);
    this.mark(this.points || [], this.rule, this.frozen);
    this.keys();
  }

  line(line, bottom) {
    const path = line.x.map((value, i) => `${i ? "L" : "M"}${this.x(value).toFixed(2)} ${this.y(line.y[i]).toFixed(2)}`).join("");
    if (line.area) {
      svg("path", { d: `${path}V${bottom}H${this.x(line.x[0])}Z`, style: `fill:var(--${line.colour});fill-opacity:.16` }, this.svg);
    }
    svg("path", { d: path, fill: "none", "stroke-linejoin": "round", "stroke-dasharray": line.dash || "none",
      style: `stroke:var(--${line.colour});stroke-width:${line.width || 2}` }, this.svg);
  }

  keys() {
    this.legend.replaceChildren();
    for (const line of this.spec.lines) {
      if (line.colour === "muted") continue;
      const item = element("li", {}, this.legend);
      item.append(swatch(line.colour, line.dash), line.name);
    }
    const others = this.spec.lines.filter(line => line.colour === "muted").length;
    if (others) element("li", {}, this.legend, swatch("muted", ""), `${others} more`);
  }

  label() {
    const names = this.spec.lines.slice(0, 10).map(line => line.name).join(", ");
    return `${this.spec.title}: ${this.spec.y.label} over ${this.spec.x.label} for ${names}. ${this.spec.remark || ""}`;
  }

  // Operating points, a vertical rule at a threshold, and a dashed one with words at a frozen threshold.
  mark(points, rule, frozen) {
    Object.assign(this, { points, rule, frozen });
    this.overlay.replaceChildren();
    if (frozen) {
      const at = this.x(Math.min(Math.max(frozen.at, this.spec.x.min), this.spec.x.max)), late = at > this.width - 70;
      svg("line", { class: "frozen", x1: at, x2: at, y1: 8, y2: this.height - 44 }, this.overlay);
      svg("text", { class: "soft", x: late ? at - 5 : at + 5, y: 18, "text-anchor": late ? "end" : "start" }, this.overlay, frozen.words);
    }
    if (rule !== undefined && rule !== null) {
      const at = this.x(Math.min(Math.max(rule, this.spec.x.min), this.spec.x.max));
      svg("line", { x1: at, x2: at, y1: 8, y2: this.height - 44, style: "stroke:var(--ink);stroke-width:2" }, this.overlay);
    }
    for (const point of points) {
      if (point.ring) {
        svg("circle", { class: "frozen", cx: this.x(point.x), cy: this.y(point.y), r: 9 }, this.overlay);
        continue;
      }
      svg("circle", { cx: this.x(point.x), cy: this.y(point.y), r: point.strong ? 6.5 : 4,
        style: `fill:var(--${point.colour});stroke:var(--paper);stroke-width:1.5` }, this.overlay);
    }
  }

  hover(event) {
    const frame = this.svg.getBoundingClientRect(), zoom = this.width / frame.width;
    const px = (event.clientX - frame.left) * zoom, py = (event.clientY - frame.top) * zoom;
    let best = null, nearest = 60 ** 2;
    for (const line of this.spec.lines) {
      for (let i = 0; i < line.x.length; i++) {
        const far = (this.x(line.x[i]) - px) ** 2 + (this.y(line.y[i]) - py) ** 2;
        if (far < nearest) [nearest, best] = [far, { line, i }];
      }
    }
    if (this.tip) this.tip.remove();
    if (best) this.showTip(best.line, best.i);
  }

  showTip(line, i) {
    const { x, y } = this.spec;
    const words = line.label ? line.label(i) : [line.name, `${x.label}: ${tickText(x, line.x[i])}`, `${y.label}: ${tickText(y, line.y[i])}`];
    this.tip = tooltip(this.svg, this.x(line.x[i]), this.y(line.y[i]), words, this.width);
  }
}

function tooltip(parent, x, y, words, width) {
  const tip = svg("g", { class: "tip", "pointer-events": "none" }, parent);
  svg("circle", { cx: x, cy: y, r: 4, style: "fill:none;stroke:var(--ink);stroke-width:1.5" }, tip);
  const box = svg("rect", { rx: 4 }, tip);
  const text = svg("text", {}, tip);
  words.forEach((word, i) => svg("tspan", { x: 0, dy: i ? 15 : 0 }, text, word));
  const wide = text.getBBox().width + 12, high = 15 * words.length + 8;
  const left = Math.max(2, Math.min(x + 10, width - wide - 2)), top = y > high + 16 ? y - high - 8 : y + 12;
  text.setAttribute("transform", `translate(${left + 6} ${top + 16})`);
  for (const span of text.children) span.setAttribute("x", 0);
  for (const [name, value] of Object.entries({ x: left, y: top, width: wide, height: high })) box.setAttribute(name, value);
  return tip;
}

function swatch(colour, dash) {
  const mark = svg("svg", { width: 26, height: 10, class: "swatch", "aria-hidden": "true" });
  svg("line", { x1: 0, x2: 26, y1: 5, y2: 5, "stroke-dasharray": dash || "none", style: `stroke:var(--${colour});stroke-width:2.5` }, mark);
  return mark;
}

// The picture as a file that looks the same without this page's style.
function addDownload(figure, find) {
  const button = element("button", { type: "button", textContent: "SVG" }, figure.querySelector("figcaption"));
  button.setAttribute("aria-label", `Download ${figure.dataset.name} as SVG`);
  button.addEventListener("click", () => {
    const source = find(), copy = source.cloneNode(true);
    const from = [source, ...source.querySelectorAll("*")], to = [copy, ...copy.querySelectorAll("*")];
    from.forEach((node, i) => {
      const style = getComputedStyle(node);
      for (const name of ["fill", "fill-opacity", "stroke", "stroke-width", "font-family", "font-size"]) {
        to[i].style.setProperty(name, style.getPropertyValue(name));
      }
      to[i].removeAttribute("class");
    });
    copy.style.background = getComputedStyle(document.body).backgroundColor;
    save(`${figure.dataset.name}.svg`, "image/svg+xml", new XMLSerializer().serializeToString(copy));
  });
}

function save(name, type, content) {
  const link = element("a", { href: URL.createObjectURL(new Blob([content], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
