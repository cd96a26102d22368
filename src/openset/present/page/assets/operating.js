"use strict";
// The threshold slider: it steps over values that are in the data and moves every chart, tile and table together.

const unpack = (list, size) => { let sum = 0; return list.map(step => (sum += step) / size); };
const shares = list => unpack(list, 1e6);
const tenths = list => unpack(list, 1e3);
const whole = list => unpack(list, 1);

class Operating {
  constructor(data, details) {
    this.data = data;
    this.details = details;
    this.models = data.models.map(model => ({
      ...model,
      colour: model.colour === null ? "muted" : `c${model.colour}`,
      dash: model.colour === null ? "" : DASHES[model.colour % DASHES.length],
      acceptance: shares(model.acceptance), ccr: shares(model.ccr), accuracy: shares(model.accuracy),
      details: each(model.details, details => details), fpr: each(model.fpr, shares), precision: each(model.precision, rows => rows.map(shares)),
      oscr: each(model.oscr, pair => pair.map(shares)), oscr_log: each(model.oscr_log, pair => pair.map(shares)),
      roc: each(model.roc, pair => pair.map(shares)),
    }));
    this.input = document.getElementById("threshold");
    this.choices = Object.fromEntries(["model", "part", "share", "match", "log"].map(id => [id, document.getElementById(id)]));
    const live = document.querySelector('[data-table="live"]');
    this.live = live && tables.get("live");
    this.selected = data.selected;
    this.details.choosePart = part => { this.choices.part.value = part; this.redraw(); };
    this.step = this.model.marks.frozen ?? this.model.marks["at_acceptance=0.95"];
    this.charts = {};
    this.input.addEventListener("input", () => { this.step = +this.input.value; this.update(); });
    this.choices.model.addEventListener("change", () => this.select(+this.choices.model.value));
    for (const id of ["part", "log"]) this.choices[id].addEventListener("change", () => this.redraw());
    for (const id of ["share", "match"]) this.choices[id].addEventListener("change", () => this.update());
    for (const button of document.querySelectorAll("[data-mark]")) {
      button.addEventListener("click", () => { this.step = this.model.marks[button.dataset.mark] ?? this.step; this.update(); });
    }
    this.redraw();
  }

  get model() { return this.models[this.selected]; }
  get part() { return this.choices.part.value; }

  // Another model, at the operating point that matches the last one.
  select(place) {
    const step = this.stepOf(this.models[place]);
    this.selected = place;
    this.step = step;
    this.redraw();
  }

  // The step of another model with the same share (or threshold) as the selected one: looked up, not computed.
  stepOf(other) {
    if (other === this.model) return this.step;
    const how = this.choices.match.value, part = this.part;
    const along = model => how === "threshold" ? model.thresholds : how === "fpr" ? model.fpr[part] || model.fpr[this.data.parts[0]] : model.acceptance;
    const wanted = along(this.model)[this.step], values = along(other);
    if (how === "acceptance") return Math.max(0, firstFrom(values, wanted));
    return Math.max(0, firstAbove(values, wanted) - 1);
  }

  redraw() {
    const model = this.model;
    this.input.max = model.thresholds.length - 1;
    for (const button of document.querySelectorAll("[data-mark]")) {
      button.disabled = model.marks[button.dataset.mark] === undefined;
      if (button.dataset.mark === "frozen") button.title = model.frozen ? `${plain(model.frozen.value)}, chosen by ${model.frozen.rule}` : "this model has none";
    }
    this.choices.model.value = this.selected;
    const open = { label: "open set accepted", min: 0, max: 1, percent: true };
    const fpr = this.choices.log.checked ? { ...open, min: this.data.log_min, log: true } : open;
    const known = { min: 0, max: 1, percent: true };
    const oscr = this.choices.log.checked ? "oscr_log" : "oscr";
    this.chart("oscr", { title: "OSCR", x: fpr, y: { ...known, label: "accepted and correct" }, lines: this.lines(oscr, this.part) });
    this.chart("roc", { title: "ROC", x: open, y: { ...known, label: "knowns accepted" }, lines: this.lines("roc", this.part) });
    for (const part of ["negative", "unknown"]) {
      this.chart(`oscr-${part}`, { title: `OSCR, ${part}`, x: fpr, y: { ...known, label: "accepted and correct" }, lines: this.lines(oscr, part) });
    }
    this.histogram(model);
    this.update();
  }

  chart(name, spec) {
    const figure = document.getElementById(`chart-${name}`);
    if (!figure) return;
    if (this.charts[name]) this.charts[name].show(spec);
    else this.charts[name] = new Chart(figure, spec);
  }

  lines(kind, part) {
    return this.models.filter(model => model[kind][part]).map(model => ({
      name: model.name, x: model[kind][part][0], y: model[kind][part][1], dash: model.dash,
      colour: model === this.model && model.colour === "muted" ? "ink" : model.colour,
      width: model === this.model ? 3 : model.colour === "muted" ? 1 : 1.8,
    }));
  }

  // Knowns, and the open-set samples that were chosen; of all of them every group, or every kind where there are none.
  kinds({ shares: kinds, groups }) {
    const part = this.part, parted = Object.keys(groups).length > 1;
    const of = part === "all" ? (parted ? groups : kinds) : Object.hasOwn(groups, part) ? { [part]: groups[part] } : Object.hasOwn(kinds, part) ? { [part]: kinds[part] } : kinds;
    return [["known", kinds.known], ...Object.entries(of).filter(([kind]) => of !== kinds || kind !== "known")];
  }

  histogram(model) {
    const { low, high, beyond } = model.histogram, kinds = this.kinds(model.histogram);
    const colours = new Set(["known", "negative", "unknown"]);
    const highest = Math.max(...kinds.flatMap(([, values]) => values));
    const lines = kinds.map(([kind, values], k) => {
      const width = (high - low) / values.length, x = [low], y = [0];
      values.forEach((share, i) => { x.push(low + i * width, low + (i + 1) * width); y.push(share, share); });
      x.push(high); y.push(0);
      const label = i => {
        const bin = Math.min(values.length - 1, Math.max(0, Math.floor((i - 1) / 2)));
        const [from, to] = [bin, bin + 1].map(edge => plain(low + edge * width, digitsFor(Math.max(Math.abs(low), Math.abs(high)), width)));
        return [`score ${from} to ${to}`,
          ...kinds.map(([other, own]) => `${other}: ${percent(own[bin])}`)];
      };
      return { name: kind, x, y, colour: colours.has(kind) ? kind : `c${k % 8}`, dash: DASHES[k % DASHES.length], area: kinds.length < 5, label };
    });
    this.chart("histogram", {
      title: "Unknown scores", x: { label: "unknown score", min: low, max: high },
      y: { label: "fraction of the kind", min: 0, max: highest * 1.05, percent: true }, lines,
      remark: beyond ? `The outer bins also hold the ${percent(beyond)} of samples beyond them.` : "",
    });
  }

  update() {
    const model = this.model, step = this.step, part = this.part;
    const steps = this.models.map(other => this.stepOf(other));
    this.input.value = step;
    const threshold = thresholdText(model.thresholds, step);
    document.getElementById("threshold-value").textContent = threshold;
    for (const [name, y] of [["oscr", "ccr"], ["roc", "acceptance"]]) this.mark(name, part, y, steps);
    for (const kind of ["negative", "unknown"]) this.mark(`oscr-${kind}`, kind, "ccr", steps);
    const frozen = model.frozen && { at: model.frozen.value, words: "frozen" };
    this.charts.histogram.mark([], model.thresholds[step] === null ? model.histogram.low : model.thresholds[step], frozen);
    this.say(model, step, threshold);
    if (this.live) this.sideBySide(steps);
    this.details.show(model, step, part);
  }

  mark(chart, part, y, steps) {
    if (!this.charts[chart]) return;
    const points = [];
    this.models.forEach((model, i) => {
      if (!model.fpr[part] || (model.colour === "muted" && model !== this.model)) return;
      points.push({ x: model.fpr[part][steps[i]], y: model[y][steps[i]], strong: model === this.model,
        colour: model.colour === "muted" ? "ink" : model.colour });
      if (model === this.model && model.frozen) points.push({ x: model.fpr[part][model.marks.frozen], y: model[y][model.marks.frozen], ring: true });
    });
    points.sort((a, b) => (a.strong || 0) - (b.strong || 0));
    this.charts[chart].mark(points);
  }

  say(model, step, threshold) {
    const lost = percent(1 - model.acceptance[step]), accuracy = percent(model.accuracy[step]);
    const kinds = this.data.parts.filter(part => model.fpr[part]);
    const caught = kinds.map(part => [`caught-${part}`, `${called(part)} caught`, percent(1 - model.fpr[part][step])]);
    const part = model.fpr[this.part] ? this.part : kinds[0];
    const share = this.choices.share.selectedOptions[0].textContent;
    const precision = percent(model.precision[part][+this.choices.share.value][step]);
    const found = [
      ...caught, ["lost", "knowns lost (rejected)", lost], ["accuracy", "accuracy on accepted knowns", accuracy],
      ["ccr", "knowns accepted and correct", percent(model.ccr[step])],
      ["precision", `of what is accepted is known, if ${share} of what arrives is not`, precision],
    ];
    const tiles = document.getElementById("tiles");
    if (tiles.children.length !== found.length) tiles.replaceChildren(...found.map(() => element("div", { className: "tile" }, null, element("b"), element("span"))));
    found.forEach(([name, words, value], i) => {
      const [number, meaning] = tiles.children[i].children;
      number.dataset.number = name;
      number.textContent = value;
      meaning.textContent = words;
    });
    document.getElementById("summary").textContent =
      `${model.name} at threshold ${threshold}: ${caught.map(([, words, value]) => `${value} of ${words}`).join(", ")}; ` +
      `${lost} of knowns lost; ${accuracy} of accepted knowns correct; ${precision} of what is accepted is known if ${share} of what arrives is not.`;
    this.input.setAttribute("aria-valuetext", `threshold ${threshold}, ${lost} of knowns lost, ${caught[0][2]} of ${caught[0][1]}`);
  }

  sideBySide(steps) {
    const parts = this.data.parts, share = +this.choices.share.value;
    const columns = ["Model", "Threshold", "Knowns lost", ...parts.map(part => `${called(part)} caught`), "Accuracy on accepted", "Accepted and correct", "Known among accepted"];
    const rows = this.models.map((model, i) => {
      const at = steps[i], number = value => ({ text: percent(value), value });
      const limit = model.thresholds[at];
      const row = [
        { text: model.name, swatch: () => swatch(model.colour, model.dash) },
        limit === null ? { text: "–", value: -Infinity } : { text: thresholdText(model.thresholds, at), value: limit },
        number(1 - model.acceptance[at]),
        ...parts.map(part => model.fpr[part] ? number(1 - model.fpr[part][at]) : "–"),
        number(model.accuracy[at]), number(model.ccr[at]),
        model.precision[this.part] ? number(model.precision[this.part][share][at]) : "–",
      ];
      row.selected = model === this.model;
      return row;
    });
    this.live.show(columns, rows);
  }
}

// Without a prototype, because a group may have any name, `constructor` too.
const each = (object, turn) => Object.assign(Object.create(null), Object.fromEntries(Object.entries(object).map(([key, value]) => [key, turn(value)])));
const CALLED = new Map([["all", "open set"], ["negative", "negatives"], ["unknown", "unknowns"]]);
const called = part => CALLED.get(part) ?? part;

// A threshold in few digits, rounded up so little that it accepts what the exact one does, as far as the steps can tell.
function thresholdText(thresholds, step) {
  const value = thresholds[step];
  if (value === null) return "below every score";
  const room = step + 1 < thresholds.length ? (thresholds[step + 1] - value) / 10 : Infinity;
  for (let digits = 5; digits < 17; digits++) {
    const rounded = roundedUp(value, digits);
    if (rounded - value < room) return plain(rounded, digits);
  }
  return plain(value, 17);
}

function roundedUp(value, digits) {
  const near = +value.toPrecision(digits), unit = 10 ** (Math.floor(Math.log10(Math.abs(value))) + 1 - digits);
  return near >= value ? near : +(near + unit).toPrecision(digits);
}

// Places in ascending values (null means minus infinity).
function firstAbove(values, wanted) {
  const at = values.findIndex(value => value !== null && (wanted === null || value > wanted));
  return at < 0 ? values.length : at;
}
function firstFrom(values, wanted) {
  const at = values.findIndex(value => value >= wanted);
  return at < 0 ? values.length - 1 : at;
}
