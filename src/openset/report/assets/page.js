"use strict";
// Start: tables, contents, theme, then whatever the data holds.

const tables = new Map();
const pageData = JSON.parse(document.getElementById("data").textContent);

for (const frame of document.querySelectorAll("[data-table]")) tables.set(frame.dataset.table, new DataTable(frame));

for (const heading of document.querySelectorAll("section > h2")) {
  element("a", { href: `#${heading.parentElement.id}`, textContent: heading.textContent }, document.getElementById("contents"));
}

const root = document.documentElement;
const dark = matchMedia("(prefers-color-scheme: dark)");
root.dataset.theme = dark.matches ? "dark" : "light";
dark.addEventListener("change", () => { root.dataset.theme = dark.matches ? "dark" : "light"; });
document.getElementById("theme").addEventListener("click", () => { root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark"; });

// Paper is white whatever the screen is, and shows what is folded away.
let onScreen = root.dataset.theme;
addEventListener("beforeprint", () => {
  onScreen = root.dataset.theme;
  root.dataset.theme = "light";
  for (const fold of document.querySelectorAll("details")) fold.open = true;
});
addEventListener("afterprint", () => { root.dataset.theme = onScreen; });

if (pageData.models) window.operating = new Operating(pageData, new Details(pageData));
drawCharts(pageData.charts);
if (pageData.wilderness) wildernessSlider(pageData.wilderness);
if (pageData.confusion && document.getElementById("chart-detections")) {
  new Matrix(document.getElementById("chart-detections")).show({ ...pageData.confusion, label: "Detections by class and object" });
}
