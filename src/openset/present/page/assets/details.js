"use strict";
// Classes at the operating point: what is lost, what is accepted by mistake and as what, and the confusion matrix.

class Details {
  constructor(data) {
    this.data = data;
    this.samples = document.getElementById("samples") && new Samples(data, part => this.choosePart(part));
    this.tables = { classes: tables.get("classes"), slips: tables.get("slips") };
    const figure = document.getElementById("chart-confusion");
    this.matrix = figure && new Matrix(figure);
    this.ready = new Map();
  }

  // Counts were made for some of the slider's thresholds; the nearest one is shown, and named.
  show(model, step, wanted) {
    const part = model.details[wanted] ? wanted : this.data.parts.find(one => model.details[one]);
    const made = this.of(model, part);
    let place = 0;
    made.steps.forEach((at, i) => { if (Math.abs(at - step) < Math.abs(made.steps[place] - step)) place = i; });
    if (this.model === model && this.place === place && this.part === part) return;
    [this.model, this.place, this.part] = [model, place, part];
    const where = `threshold ${thresholdText(model.thresholds, made.steps[place])}, ${percent(model.acceptance[made.steps[place]])} of knowns accepted (${model.name})`;
    for (const node of document.querySelectorAll("[data-at]")) node.textContent = where;
    for (const node of document.querySelectorAll("[data-part]")) node.textContent = part === "all" ? "all open-set samples" : called(part);
    this.classes(made, place);
    this.slips(made, place);
    this.confusion(made, place);
    if (this.samples) this.samples.show(model, model.thresholds[made.steps[place]], part, this.counts(made, place));
  }

  counts(made, place) {
    const sum = list => list.reduce((total, [, n]) => total + n, 0);
    const slipped = made.open_names.map((name, r) => [name, made.open_accepted[r][place]]);
    const lost = made.names.map((name, k) => [name, made.rejected[k][place]]);
    return { slipped: { all: sum(slipped), by_class: new Map(slipped) }, lost: { all: sum(lost), by_class: new Map(lost) } };
  }

  of(model, part) {
    const key = model.details[part];
    if (!this.ready.has(key)) {
      const details = key, columns = list => list.map(tenths), counts = list => list.map(whole);
      this.ready.set(key, {
        ...details, names: this.data.class_sets[model.classes], open_names: this.data.class_sets[details.open_classes], steps: whole(details.steps), accuracy: tenths(details.accuracy),
        lost: columns(details.lost), ccr: columns(details.ccr), intruders: counts(details.intruders), rejected: counts(details.rejected),
        open_accepted: counts(details.open_accepted), open_share: columns(details.open_share),
        taken_for: counts(details.taken_for), taken: counts(details.taken),
      });
    }
    return this.ready.get(key);
  }

  classes(made, place) {
    const share = value => ({ text: percent(value), value });
    this.tables.classes.show(
      ["Class", "Samples", "Accuracy, nothing rejected", "Lost", "Accepted and correct", "Open set taken for it"],
      made.names.map((name, k) => [
        name, count(made.total[k]), share(made.accuracy[k]), share(made.lost[k][place]), share(made.ccr[k][place]), count(made.intruders[k][place]),
      ]));
  }

  slips(made, place) {
    const found = made.open_names.map((name, r) => {
      const known = made.taken_for[r][place];
      return [
        name, count(made.open_total[r]), count(made.open_accepted[r][place]),
        { text: percent(made.open_share[r][place]), value: made.open_share[r][place] },
        known < 0 ? "–" : `${made.names[known]} (${made.taken[r][place]})`,
      ];
    });
    found.sort((a, b) => b[3].value - a[3].value);
    this.tables.slips.show(["Open-set class", "Samples", "Accepted", "Fraction accepted", "Mostly taken for"], found);
  }

  confusion(made, place) {
    if (!this.matrix) return;
    const section = document.getElementById("confusion");
    section.hidden = !made.matrix;
    if (!made.matrix) return;
    made.rows = made.rows || [...made.names, ...made.open_names];
    made.columns = made.columns || [...made.names, "rejected"];
    const { rows, columns } = made, cells = new Array(rows.length * columns.length).fill(0);
    for (let step = 0; step <= place; step++) {
      let at = 0;
      const changes = made.matrix[step];
      for (let i = 0; i < changes.length; i += 2) { at += changes[i]; cells[at] += changes[i + 1]; }
    }
    this.matrix.show({ rows, columns, cells, border: made.names.length, split: made.names.length, label: "Confusion matrix: true class in rows, decision in columns" });
  }
}

const count = value => ({ text: value.toLocaleString("en"), value });
