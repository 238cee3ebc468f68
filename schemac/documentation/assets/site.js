"use strict";
// Search, filters, the choice of two versions, and what a link into a closed part opens. Every page can be read without this.

const root = document.documentElement.dataset.root || "";

function fold(text) {
  return text.normalize("NFD").replace(/[\u0300-\u036f]/g, "").toLowerCase();
}

// --- search -----------------------------------------------------------------

const MOST = 40;
const box = document.querySelector("[data-search]");
const results = document.querySelector("[data-results]");
let entries = null;
let wanted = "";

function load() {
  if (load.called) return;
  load.called = true;
  const script = document.createElement("script");
  script.src = `${root}search-data.js`;
  script.onload = () => {
    entries = window.schemacSearch.map((one) => ({ ...one, folded: fold(one.name), words: fold(`${one.name} ${one.in} ${one.text}`) }));
    find();
  };
  document.head.append(script);
}

function score(entry, words) {
  let sum = 0;
  for (const word of words) {
    if (!entry.words.includes(word)) return 0;
    if (entry.folded === word) sum += 100;
    else if (entry.folded.startsWith(word)) sum += 40;
    else if (entry.folded.includes(word)) sum += 20;
    else sum += 1;
  }
  return sum + (entry.in ? 0 : 10);
}

function find() {
  const words = fold(wanted).split(/[\s.]+/).filter(Boolean);
  results.replaceChildren();
  results.hidden = words.length === 0;
  if (!words.length || !entries) return;
  const found = entries.map((entry) => [score(entry, words), entry]).filter(([sum]) => sum > 0);
  document.querySelector("[data-told]").textContent = `${found.length} found`;
  found.sort((a, b) => b[0] - a[0] || (a[1].name < b[1].name ? -1 : 1));
  for (const [, entry] of found.slice(0, MOST)) results.append(shown(entry));
  if (found.length === 0 || found.length > MOST) {
    const told = document.createElement("li");
    const text = document.createElement("p");
    text.textContent = found.length ? `and ${found.length - MOST} more` : "nothing found";
    told.append(text);
    results.append(told);
  }
}

function shown(entry) {
  const item = document.createElement("li");
  const link = document.createElement("a");
  link.href = root + entry.url;
  link.textContent = entry.in ? `${entry.in}.${entry.name}` : entry.name;
  const small = document.createElement("small");
  small.textContent = [entry.type, entry.text].filter(Boolean).join(" · ").slice(0, 160);
  link.append(small);
  item.append(link);
  return item;
}

if (box) {
  box.closest("form").hidden = false;
  box.addEventListener("focus", load);
  box.addEventListener("input", () => { wanted = box.value; load(); find(); });
  box.closest("form").addEventListener("submit", (event) => {
    event.preventDefault();
    const first = results.querySelector("a[aria-current=true]") || results.querySelector("a");
    if (first) first.click();
  });
  box.closest("form").addEventListener("keydown", (event) => {
    const links = [...results.querySelectorAll("a")];
    const at = links.findIndex((link) => link.getAttribute("aria-current") === "true");
    if (event.key === "Escape") { box.value = wanted = ""; find(); }
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    const next = Math.min(links.length - 1, Math.max(0, at + (event.key === "ArrowDown" ? 1 : -1)));
    links.forEach((link, n) => link.setAttribute("aria-current", String(n === next)));
    if (links[next]) links[next].scrollIntoView({ block: "nearest" });
  });
  document.addEventListener("click", (event) => {
    if (!event.target.closest(".search")) results.hidden = true;
  });
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest && event.target.closest("input, select, textarea");
    if (event.key === "/" && !typing) { event.preventDefault(); box.focus(); }
  });
}

// --- the list of datasets ---------------------------------------------------

const filters = document.querySelector("[data-filters]");
if (filters) {
  filters.hidden = false;
  const cards = [...document.querySelectorAll("[data-card]")];
  const told = document.querySelector("[data-count]");
  const apply = () => {
    const chosen = [...filters.querySelectorAll("select")].map((one) => [one.name, one.value]).filter(([, value]) => value);
    let count = 0;
    for (const card of cards) {
      const has = chosen.every(([name, value]) => JSON.parse(card.dataset[name]).includes(value));
      card.hidden = !has;
      if (has) count += 1;
    }
    told.textContent = count === cards.length ? "" : `${count} of ${cards.length}`;
  };
  filters.addEventListener("change", apply);
  apply();
}

// --- two versions -----------------------------------------------------------

const pick = document.querySelector("[data-pick]");
if (pick) {
  pick.hidden = false;
  const [older, newer] = pick.querySelectorAll("select");
  const revisions = [...document.querySelectorAll("[data-revision]")];
  const none = document.querySelector("[data-none]");
  const show = () => {
    const order = [older.selectedIndex, newer.selectedIndex].sort((a, b) => a - b);
    // What is shown goes from the older one to the newer one, and says so.
    [older.selectedIndex, newer.selectedIndex] = order;
    const name = `${order[0]}-${order[1]}`;
    let isShown = false;
    for (const one of revisions) {
      one.hidden = one.dataset.revision !== name;
      isShown = isShown || !one.hidden;
    }
    none.hidden = isShown;
    none.textContent = order[0] === order[1] ? "Choose two different versions." : "Any two of the newest 30 versions are compared; for those before, see the changelog below.";
  };
  pick.addEventListener("change", show);
  show();
}

// --- links into what is closed ----------------------------------------------

const all = document.querySelector("[data-open-all]");
if (all) {
  all.hidden = false;
  all.addEventListener("click", () => {
    const is = all.getAttribute("aria-pressed") !== "true";
    document.querySelectorAll(".fields details").forEach((one) => { one.open = is; });
    all.setAttribute("aria-pressed", String(is));
    all.textContent = is ? "Close all" : "Open all";
  });
}
function open() {
  let target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let one = target; one; one = one.parentElement) if (one.tagName === "DETAILS") one.open = true;
  if (target) target.scrollIntoView();
}
addEventListener("hashchange", open);
addEventListener("beforeprint", () => document.querySelectorAll(".fields details").forEach((one) => { one.open = true; }));
if (location.hash) open();
