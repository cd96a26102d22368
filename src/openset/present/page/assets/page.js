"use strict";
// Start: theme and contents at once, then tables and charts as soon as the data is unpacked.

const root = document.documentElement;
const dark = matchMedia("(prefers-color-scheme: dark)");
root.dataset.theme = dark.matches ? "dark" : "light";
dark.addEventListener("change", () => { root.dataset.theme = dark.matches ? "dark" : "light"; });
document.getElementById("theme").addEventListener("click", () => { root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark"; });

for (const heading of document.querySelectorAll("section > h2")) {
  element("a", { href: `#${heading.parentElement.id}`, textContent: heading.textContent }, document.getElementById("contents"));
}

// Paper is white whatever the screen is, and shows what is folded away.
let onScreen = root.dataset.theme;
addEventListener("beforeprint", () => {
  onScreen = root.dataset.theme;
  root.dataset.theme = "light";
  for (const fold of document.querySelectorAll("details")) fold.open = true;
});
addEventListener("afterprint", () => { root.dataset.theme = onScreen; });

async function readData() {
  const packed = Uint8Array.from(atob(document.getElementById("data").textContent), letter => letter.charCodeAt(0));
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

const tables = new Map();

async function start() {
  for (const frame of document.querySelectorAll("[data-table]")) tables.set(frame.dataset.table, new DataTable(frame));
  const data = await readData();
  if (data.models) new Operating(data, new Details(data));
  drawCharts(data.charts);
  if (data.wilderness) wildernessSlider(data.wilderness);
  const detections = document.getElementById("chart-detections");
  if (data.confusion && detections) new Matrix(detections).show({ ...data.confusion, label: "Detections by class and object" });
  root.dataset.ready = "yes";
}

start().catch(error => {
  const trouble = document.getElementById("trouble");
  trouble.hidden = false;
  trouble.textContent = `The charts could not be drawn (${error.message}). A browser from 2023 or later is needed; tables that follow no slider are complete.`;
  throw error;
});
