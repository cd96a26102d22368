"use strict";
// Tables that can be sorted, searched and saved. A row is a list of cells: text, or {text, value, swatch, best}.

const SHOWN_AT_FIRST = 100;

class DataTable {
  constructor(frame) {
    this.name = frame.dataset.table;
    this.table = frame.querySelector("table");
    this.columns = [...this.table.querySelectorAll("thead th")].map(cell => cell.textContent);
    this.rows = [...this.table.querySelectorAll("tbody tr")].map(row => [...row.children].map(readCell));
    this.sorted = null;
    this.limit = SHOWN_AT_FIRST;
    this.tools = element("div", { className: "tools" });
    frame.prepend(this.tools);
    if ("search" in frame.dataset) {
      this.search = element("input", { type: "search", placeholder: "Search" }, this.tools);
      this.search.setAttribute("aria-label", `Search ${this.name}`);
      this.search.addEventListener("input", () => this.draw());
    }
    const button = element("button", { type: "button", textContent: "CSV" }, this.tools);
    button.setAttribute("aria-label", `Download ${this.name} as CSV`);
    button.addEventListener("click", () => this.download());
    this.count = element("span", { className: "hint" }, this.tools);
    this.more = element("button", { type: "button" }, this.tools);
    this.more.addEventListener("click", () => { this.limit = Infinity; this.draw(); });
    this.head();
    this.draw();
  }

  head() {
    const row = this.table.tHead.rows[0];
    row.replaceChildren(...this.columns.map((name, i) => {
      const cell = element("th", { scope: "col", className: this.rows.length && !this.hasNumbers(i) ? "words" : "" });
      if (this.sorted && this.sorted.column === i) cell.setAttribute("aria-sort", this.sorted.down ? "descending" : "ascending");
      element("button", { type: "button", textContent: name }, cell).addEventListener("click", () => this.sort(i));
      return cell;
    }));
  }

  hasNumbers(column) { return this.rows.some(row => valueOf(row[column]) !== null); }

  // New content for a table whose values follow the slider; order and search stay.
  show(columns, rows) {
    const changed = columns.join("\n") !== this.columns.join("\n") || !this.rows.length;
    this.columns = columns;
    this.rows = rows;
    if (changed) this.head();
    this.draw();
  }

  sort(column) {
    const same = this.sorted && this.sorted.column === column;
    this.sorted = { column, down: same ? !this.sorted.down : this.hasNumbers(column) };
    this.head();
    this.table.tHead.rows[0].cells[column].querySelector("button").focus();
    this.draw();
  }

  arranged() {
    const wanted = this.search ? this.search.value.trim().toLowerCase() : "";
    const found = this.rows.filter(row => !wanted || row.some(cell => textOf(cell).toLowerCase().includes(wanted)));
    if (!this.sorted) return found;
    const { column, down } = this.sorted;
    // What has no number stays behind the numbers, whichever way they are sorted.
    const last = row => this.hasNumbers(column) && valueOf(row[column]) === null ? 1 : 0;
    return [...found].sort((a, b) => last(a) - last(b) || (down ? -1 : 1) * order(a[column], b[column]));
  }

  draw() {
    const found = this.arranged();
    const words = this.columns.map((_, i) => !this.hasNumbers(i));
    this.table.tBodies[0].replaceChildren(...found.slice(0, this.limit).map(row => {
      const line = document.createElement("tr");
      if (row.selected) line.className = "selected";
      row.forEach((cell, i) => {
        const made = element(i ? "td" : "th", i ? {} : { scope: "row", title: textOf(cell) }, line);
        if (i && words[i]) made.className = "words";
        if (cell.swatch) made.append(cell.swatch());
        made.append(cell.best ? element("strong", { textContent: textOf(cell) }) : textOf(cell));
      });
      return line;
    }));
    this.more.hidden = found.length <= this.limit;
    this.more.textContent = `Show all ${found.length.toLocaleString("en")}`;
    this.count.textContent = found.length < this.rows.length ? `${found.length} of ${this.rows.length} rows` : "";
  }

  download() {
    const lines = [this.columns, ...this.arranged().map(row => row.map(csvText))];
    save(`${this.name}.csv`, "text/csv", "\ufeff" + lines.map(line => line.map(quote).join(",")).join("\r\n") + "\r\n");
  }
}

const textOf = cell => typeof cell === "string" ? cell : cell.text;
const valueOf = cell => typeof cell === "string" || cell.value === undefined ? null : cell.value;
const quote = word => /[",\r\n]/.test(word) ? `"${word.replaceAll('"', '""')}"` : word;
// A name that begins like a formula must not become one in a spreadsheet.
const csvText = cell => valueOf(cell) === null && /^[=+@\-\t\r]/.test(textOf(cell)) ? "'" + textOf(cell) : textOf(cell);

function readCell(cell) {
  const best = cell.querySelector("strong") !== null;
  return cell.dataset.value === undefined ? cell.textContent : { text: cell.textContent, value: +cell.dataset.value, best };
}

function order(a, b) {
  if (valueOf(a) !== null && valueOf(b) !== null) return valueOf(a) - valueOf(b);
  return textOf(a).localeCompare(textOf(b), undefined, { numeric: true });
}
