"use strict";
// The samples on the wrong side of the threshold, with pictures or texts, the worst first.

const CARDS_AT_FIRST = 24;

class Samples {
  constructor(data, choosePart) {
    this.contents = data.contents;
    this.lists = ["slipped", "lost"].map(name => new SampleList(name, this));
    this.part = document.getElementById("samples-part");
    if (this.part) this.part.addEventListener("change", () => choosePart(this.part.value));
  }

  // `counts` has, for both lists, the number of such samples, of all and by class.
  show(model, threshold, part, counts) {
    if (this.part) this.part.value = part;
    const inPart = (list, i) => part === "all" || part === list.kind[i] || (list.group && part === list.group[i]);
    const limit = threshold === null ? -Infinity : threshold;
    const { slipped, lost } = model.samples;
    const places = (list, wrong) => list.score.map((_, i) => i).filter(i => wrong(i));
    this.lists[0].show(model, slipped, places(slipped, i => slipped.score[i] <= limit && inPart(slipped, i)), counts.slipped);
    this.lists[1].show(model, lost, places(lost, i => lost.score[i] > limit), counts.lost);
  }
}

class SampleList {
  constructor(name, owner) {
    this.name = name;
    this.owner = owner;
    [this.choice, this.count, this.list, this.more] = ["class", "count", "list", "more"].map(part => document.getElementById(`${name}-${part}`));
    this.limit = CARDS_AT_FIRST;
    this.choice.addEventListener("change", () => { this.limit = CARDS_AT_FIRST; this.draw(); });
    this.more.addEventListener("click", () => {
      const first = this.limit;
      this.limit += 3 * CARDS_AT_FIRST;
      this.draw();
      if (this.list.children[first]) this.list.children[first].focus();
    });
  }

  show(model, samples, places, counts) {
    Object.assign(this, { model, samples, places, counts });
    this.classes();
    this.draw();
  }

  // The classes to choose from are those with such samples at this threshold; the choice stays while it is there.
  classes() {
    const chosen = this.choice.value, names = [...this.counts.by_class].filter(([, n]) => n).map(([name]) => name);
    const same = this.offered && names.length === this.offered.length && names.every((name, i) => name === this.offered[i]);
    if (same) return;
    this.offered = names;
    const option = (value, textContent) => element("option", { value, textContent });
    this.choice.replaceChildren(option("", "all"), ...names.map((name, i) => option(String(i), name)));
    const place = this.named === undefined ? -1 : names.indexOf(this.named);
    this.choice.value = chosen === "" || place < 0 ? "" : String(place);
  }

  draw() {
    this.named = this.choice.value === "" ? undefined : this.offered[+this.choice.value];
    const found = this.named === undefined ? this.places : this.places.filter(i => this.samples.class[i] === this.named);
    const total = this.named === undefined ? this.counts.all : this.counts.by_class.get(this.named) || 0;
    const shown = found.slice(0, this.limit), key = shown.map(i => i).join(" ");
    if (this.drawn !== key || this.drawnOf !== this.samples) this.list.replaceChildren(...shown.map(i => this.card(i)));
    [this.drawn, this.drawnOf] = [key, this.samples];
    this.count.textContent = total ? `${total.toLocaleString("en")} in all; ${shown.length === total ? "all" : `the worst ${shown.length}`} shown.` : "None.";
    if (total && !shown.length) this.count.textContent = `${total.toLocaleString("en")} in all, none of them among the worst that this page holds.`;
    this.more.hidden = found.length <= this.limit;
  }

  card(i) {
    const { samples } = this, id = samples.id[i], name = samples.class[i];
    const wording = this.name === "slipped" ? `accepted as ${samples.taken_for[i]}` : samples.taken_for[i] === name ? "rejected" : `rejected, and taken for ${samples.taken_for[i]}`;
    const card = element("li", { tabIndex: -1, className: "sample" });
    const found = Object.hasOwn(this.owner.contents, id) ? this.owner.contents[id] : {};
    if (found.image) element("img", { src: found.image, alt: `${name}, ${wording}` }, card);
    if (found.text) element("blockquote", { textContent: found.text }, card);
    const words = element("p", {}, card, element("b", { textContent: name }), ` ${wording}`);
    element("span", { className: "hint", textContent: `score ${plain(samples.score[i], 4)} · ${id}`, title: id }, words);
    return card;
  }
}
