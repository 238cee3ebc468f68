"use strict";
// Search, filters, the comparison of two versions, and what a link into a closed part opens. Every page can be read without this.

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

// Steps are [since, state, text, words], paths [since, parent, name, path]; `schemac/documentation/model.py` makes them.

function at(steps, version) {
  let found = null;
  for (const step of steps) if (step[0] <= version) found = step;
  return found;
}

function changeOf(steps, older, newer) {
  const [before, after] = [at(steps, older), at(steps, newer)];
  if (before[1] === after[1]) return null;
  const between = steps.filter((step) => step[3] && step[0] > older && step[0] <= newer);
  const generic = before[2] === null ? "added" : after[2] === null ? "removed" : "changed";
  return { before: before[2], after: after[2], words: between.length === 1 ? between[0][3] : generic };
}

function attributesOf(steps, path, older, newer) {
  const rows = [];
  for (const [key, own] of Object.entries(steps)) {
    const found = changeOf(own, older, newer);
    if (found) rows.push({ kind: "changed", path, key, ...found });
  }
  return rows;
}

function compare(history, older, newer) {
  const order = (version) => { while (history.orders[version] === null) version -= 1; return history.orders[version]; };
  const [olds, news] = [order(older), order(newer)];
  const [had, has] = [new Set(olds), new Set(news)];
  const place = (id, version) => at(history.fields[id].paths, version);
  const type = (id, version) => at(history.fields[id].types, version)[2];
  const isOutermost = (id, version, others) => { const parent = place(id, version)[1]; return parent === null || others.has(parent); };
  const members = (ids, version) => {
    const found = new Map();
    for (const id of ids) {
      const parent = place(id, version)[1];
      if (!found.has(parent)) found.set(parent, []);
      found.get(parent).push(id);
    }
    return found;
  };
  const [before, after] = [members(olds, older), members(news, newer)];

  function reordered(parent) {
    const index = new Map((before.get(parent) || []).map((id, n) => [id, n]));
    const stayed = (after.get(parent) || []).filter((id) => index.has(id));
    const sorted = [...stayed].sort((a, b) => index.get(a) - index.get(b));
    if (stayed.every((id, n) => id === sorted[n])) return [];
    const names = (ids) => JSON.stringify(ids.map((id) => place(id, newer)[2]));
    const path = parent === null ? "" : place(parent, newer)[3];
    return [{ kind: "changed", path, words: "fields reordered", before: names(sorted), after: names(stayed) }];
  }

  function changed(id) {
    const [was, is, own] = [place(id, older), place(id, newer), history.fields[id]];
    const rows = [];
    if (is[2] && was[1] !== is[1]) rows.push({ kind: "changed", path: is[3], words: "field moved", before: was[3], after: is[3] });
    else if (is[2] && was[2] !== is[2]) rows.push({ kind: "changed", path: is[3], words: "field renamed", before: was[2], after: is[2] });
    const retyped = changeOf(own.types, older, newer);
    if (retyped) rows.push({ kind: "changed", path: is[3], ...retyped, words: retyped.words === "changed" ? "type changed" : retyped.words });
    return [...rows, ...attributesOf(own.attributes, is[3], older, newer), ...reordered(id)];
  }

  const rows = [...attributesOf(history.schema, "", older, newer), ...reordered(null)];
  for (const id of news) {
    if (had.has(id)) rows.push(...changed(id));
    else if (place(id, newer)[2] && isOutermost(id, newer, had)) {
      rows.push({ kind: "added", path: place(id, newer)[3], words: "field added", before: null, after: type(id, newer) });
    }
  }
  for (const id of olds) {
    if (!has.has(id) && place(id, older)[2] && isOutermost(id, older, has)) {
      rows.push({ kind: "dropped", path: place(id, older)[3], words: "field dropped", before: type(id, older), after: null });
    }
  }
  return rows;
}

function element(name, text, className) {
  const made = document.createElement(name);
  if (text) made.textContent = text;
  if (className) made.className = className;
  return made;
}

function rowOf(change) {
  const row = element("li", "", change.kind);
  const sign = element("span", { added: "+", dropped: "\u2212", changed: "~" }[change.kind], "sign");
  sign.setAttribute("aria-hidden", "true");
  const told = element("div", change.words);
  if (change.key) told.append(" ", element("code", change.key));
  if (change.before !== null) told.append(" ", element("del", change.before));
  if (change.before !== null && change.after !== null) told.append(" \u2192");
  if (change.after !== null) told.append(" ", element("ins", change.after));
  row.append(sign, element("code", change.path || "the schema"), told);
  return row;
}

const section = document.querySelector("[data-compare]");
if (section) {
  section.hidden = false;
  const [older, newer] = section.querySelectorAll("select");
  const list = section.querySelector("[data-changes]");
  const told = section.querySelector("[data-told]");
  const history = JSON.parse(section.querySelector("[data-history]").textContent);
  const show = () => {
    // What is shown goes from the older one to the newer one, and says so.
    [older.selectedIndex, newer.selectedIndex] = [older.selectedIndex, newer.selectedIndex].sort((a, b) => a - b);
    const isSame = older.selectedIndex === newer.selectedIndex;
    const rows = isSame ? [] : compare(history, older.selectedIndex, newer.selectedIndex);
    list.replaceChildren(...rows.map(rowOf));
    list.hidden = rows.length === 0;
    const count = rows.length ? `${rows.length} change${rows.length === 1 ? "" : "s"}.` : "No changes.";
    told.textContent = isSame ? "Choose two different versions." : count;
  };
  section.addEventListener("change", show);
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
