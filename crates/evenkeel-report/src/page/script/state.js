"use strict";
// Makes the page answer: values under the pointer, legends that hide curves, tables that sort, new points while runs go on.
// All listeners sit on the document, so that replaced parts need no wiring. Data is only ever set as text, never as markup.

const tip = document.getElementById("tip");
const filter = document.getElementById("filter");
const off = new Set(); // names that are switched off, in every figure
const zoomed = new Set(); // ids of figures whose panels have scales of their own
const sorted = new Map(); // table id -> [column, direction]
const parsed = new WeakMap(); // svg -> its data
let anchorNow = ""; // the anchor in the address

// ---- what is shown

function matches(name) {
  return name.toLowerCase().includes(filter.value.trim().toLowerCase());
}

function applyFigure(figure) {
  const names = JSON.parse(figure.dataset.series || "[]");
  // A figure without any of the names that are asked for is about something else.
  const some = names.some(matches);
  const hidden = names.map((name) => off.has(name) || (some && !matches(name)));
  for (const button of figure.querySelectorAll(".legend button")) {
    button.setAttribute("aria-pressed", String(!hidden[Number(button.dataset.s)]));
  }
  for (const group of figure.querySelectorAll("g.s")) {
    group.toggleAttribute("data-off", hidden[Number(group.dataset.s)] === true);
  }
  const zoom = zoomed.has(figure.id);
  figure.toggleAttribute("data-zoom", zoom);
  const button = figure.querySelector("[data-do=zoom]");
  if (button) button.setAttribute("aria-pressed", String(zoom));
}

function applyRows(table) {
  const rows = Array.from(table.tBodies[0].rows);
  const some = rows.some((row) => matches(row.dataset.name));
  for (const row of rows) row.hidden = some && !matches(row.dataset.name);
}

function applyAll() {
  for (const figure of document.querySelectorAll("figure")) applyFigure(figure);
  for (const table of document.querySelectorAll("main table")) {
    applyRows(table);
    if (sorted.has(table.id)) applySort(table);
  }
}

// ---- the address: where one is, what is hidden, what is asked for

function writeAddress() {
  const keys = [];
  if (off.size > 0) keys.push(`off=${Array.from(off, encodeURIComponent).join(",")}`);
  if (filter.value.trim()) keys.push(`show=${encodeURIComponent(filter.value.trim())}`);
  if (zoomed.size > 0) keys.push(`zoom=${Array.from(zoomed).join(",")}`);
  const hash = anchorNow + (keys.length > 0 ? `?${keys.join("&")}` : "");
  history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search);
}

function readAddress() {
  const [anchor, query = ""] = location.hash.slice(1).split("?");
  const keys = new Map(query.split("&").map((pair) => pair.split("=")));
  const list = (key) => (keys.get(key) || "").split(",").filter((text) => text !== "").map((text) => {
    try { return decodeURIComponent(text); } catch { return text; }
  });
  off.clear();
  zoomed.clear();
  for (const name of list("off")) off.add(name);
  for (const id of list("zoom")) zoomed.add(id);
  filter.value = list("show")[0] || "";
  applyAll();
  if (anchor) goTo(anchor);
}

function goTo(id) {
  const target = document.getElementById(id);
  anchorNow = target ? id : "";
  if (!target) return;
  for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  target.scrollIntoView();
  // The next press of Tab goes on from here.
  if (!target.matches("table, summary")) target.setAttribute("tabindex", "-1");
  target.focus({ preventScroll: true });
}
