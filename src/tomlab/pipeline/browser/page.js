// The answers browser. A benchmark's own script calls `browse` with its data; `data` in __init__.py
// says what they hold. What models wrote is only ever added as text nodes, never as markup.
"use strict";

const $ = (id) => document.getElementById(id);

// Characters that are invisible or change the direction of writing; `seen` shows their codes.
const UNSEEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
const seen = (text) =>
  text.replace(UNSEEN, (c) => `⟨U+${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);

/** A new element. Attributes and children that are null are left out; strings become text nodes. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** The rows, as objects, of a table that `_by_column` in __init__.py made. */
function records(table) {
  const [{ codes }] = Object.values(table);
  const rows = codes.map(() => ({}));
  for (const [name, { codes, values }] of Object.entries(table)) {
    rows.forEach((row, n) => (row[name] = values[codes[n]] ?? null));
  }
  return rows;
}

function browse(data) {
  const { facets, answers } = data;
  const items = records(data.items);
  const rows = records(answers);
  const names = facets.map(({ name }) => name);
  rows.forEach((row, id) => {
    row.id = id;
    for (const name of names) row[name] = answers[name].codes[id];
    row.item = items[answers.item_id.codes[id]];
  });
  const facet = Object.fromEntries(facets.map((each) => [each.name, each]));
  const label = (row, name) => facet[name].labels[row[name]];
  const raw = (row, name) => answers[name].values[row[name]];
  const keyOf = (row) =>
    [row.item.item_id, raw(row, "model"), raw(row, "method"), row.sample].join("|");
  const byKey = new Map(rows.map((row) => [keyOf(row), row]));
  const said = (row) => row.response ?? `[${row.error ?? "no answer"}]`;
  const asked = (row) => row.item.question || row.item.story;

  // ---- State: the filters and the open answers. The address holds all, so views can be shared.

  const state = { q: "", chosen: {}, open: null, beside: null };

  function readAddress() {
    const told = new URLSearchParams(location.hash.slice(1));
    state.q = told.get("q") ?? "";
    for (const name of names) {
      const found = told.getAll(name).map((key) => answers[name].values.indexOf(key));
      state.chosen[name] = new Set(found.filter((value) => value >= 0));
    }
    state.open = byKey.get(told.get("open")) ?? null;
    const beside = byKey.get(told.get("beside")) ?? null;
    state.beside = beside && beside.item === state.open?.item ? beside : null;
  }

  /** The address of a view. If `open` is of another item than `beside`, `beside` is replaced by the
   *  answer to that item by the same model and method. */
  function address(open = state.open, beside = state.beside) {
    const own = beside && open && { ...beside, item: open.item };
    beside = own && byKey.get(keyOf(own));
    const told = new URLSearchParams();
    if (state.q) told.set("q", state.q);
    for (const name of names) {
      for (const value of [...state.chosen[name]].sort()) told.append(name, answers[name].values[value]);
    }
    if (open) told.set("open", keyOf(open));
    if (beside && beside !== open) told.set("beside", keyOf(beside));
    return `#${told}`;
  }

  let writing = null;
  function writeAddress() {
    // Not at every keystroke, as browsers limit how often a page may change its address.
    clearTimeout(writing);
    writing = setTimeout(() => history.replaceState(null, "", address()), 250);
  }

  // ---- Search: each distinct text is searched once, not once for every row that has it

  const columns = ["item_id", ...data.stories, "question", "choices"].map((name) => data.items[name]);
  const searched = new Map([...columns, answers.response, answers.rule].map(
    (column) => [column, column.values.map((text) => text.toLowerCase())]));

  /** For each row of the column's table, whether the word is in the row's text. */
  function hits(column, word) {
    const marks = searched.get(column).map((text) => text.includes(word));
    return column.codes.map((n) => n >= 0 && marks[n]);
  }

  function rowsWith(word) {
    const byItem = columns.map((column) => hits(column, word));
    const [inAnswer, inRule] = [answers.response, answers.rule].map((column) => hits(column, word));
    const isIn = items.map((_, n) => byItem.some((marks) => marks[n]));
    return rows.map((row, id) => isIn[answers.item_id.codes[id]] || inAnswer[id] || inRule[id]);
  }

  const known = new Map(); // the hits of each word of the last search
  function found() {
    const words = state.q.toLowerCase().split(/\s+/).filter(Boolean);
    for (const word of known.keys()) if (!words.includes(word)) known.delete(word);
    for (const word of words) if (!known.has(word)) known.set(word, rowsWith(word));
    return [...known.values()];
  }

  // ---- Filter: which rows are shown, and beside each value, how many rows it has or would add

  let passes = new Uint8Array(rows.length).fill(1);
  const counts = Object.fromEntries(names.map((name) => [name, answers[name].values.map(() => 0)]));

  function filter() {
    const hits = found();
    const inUse = names.filter((name) => state.chosen[name].size);
    const tallies = names.map((name) => counts[name].fill(0));
    let total = 0;
    for (const row of rows) {
      passes[row.id] = 0;
      if (!hits.every((hit) => hit[row.id])) continue;
      const against = inUse.filter((name) => !state.chosen[name].has(row[name]));
      if (against.length === 0) {
        passes[row.id] = 1;
        total += 1;
        for (let i = 0; i < names.length; i += 1) tallies[i][row[names[i]]] += 1;
      } else if (against.length === 1) {
        counts[against[0]][row[against[0]]] += 1;
      }
    }
    $("count").textContent = `${total.toLocaleString("en")} of ${rows.length.toLocaleString("en")} answers`;
    for (const box of $("facets").querySelectorAll("input")) {
      box.checked = state.chosen[box.name].has(Number(box.value));
      const count = counts[box.name][box.value];
      box.parentElement.lastChild.textContent = count.toLocaleString("en");
      box.parentElement.classList.toggle("none", count === 0 && !box.checked);
    }
    $("active").textContent = inUse.length ? `(${inUse.length} in use)` : "";
    $("clear").disabled = !inUse.length && !state.q;
  }

  function drawFacets() {
    for (const { name, label, labels } of facets.filter((each) => each.labels.length > 1)) {
      const choices = labels.map((text, value) =>
        make("label", {}, make("input", { type: "checkbox", name, value }), make("span", {}, text),
          make("small", {})));
      $("facets").append(make("fieldset", {}, make("legend", {}, label), ...choices));
    }
    $("facets").addEventListener("change", ({ target }) => {
      const chosen = state.chosen[target.name];
      target.checked ? chosen.add(Number(target.value)) : chosen.delete(Number(target.value));
      refresh();
    });
    $("filters").open = matchMedia("(min-width: 56rem)").matches;
  }

  // ---- The table: a click on a column's head sorts the rows; a page shows a hundred of them

  const PAGE = 100;
  const short = (text) => seen(text.length > 200 ? `${text.slice(0, 200)}…` : text);
  const verdict = (row) => {
    const colour = data.colours[raw(row, "outcome")] ?? "transparent";
    const score = row.score === null || row.score === 0 || row.score === 1 ? "" : ` ${row.score.toFixed(2)}`;
    return make("span", { class: "verdict", style: `--dot: ${colour}` }, label(row, "outcome") + score);
  };
  const ofFacet = (name) => ({ title: facet[name].label, key: (row) => row[name], cell: (row) => label(row, name) });
  const heads = [
    { title: "Question", key: asked, cell: (row) => make("a", { href: address(row) }, short(asked(row))) },
    { title: "Answer", key: said, cell: (row) => short(said(row)) },
    { ...ofFacet("outcome"), cell: verdict },
    ...["model", "method", "asked_as"].map(ofFacet),
  ];
  const collator = new Intl.Collator("en");
  const body = $("table").tBodies[0];
  let sorted = rows;
  let shown = rows;
  let page = 0;

  /** Sorts by a column: ascending at the first click, descending at the second, then unsorted. */
  function sortBy(head, cell) {
    const next = { none: "ascending", ascending: "descending", descending: "none" };
    const direction = next[cell.ariaSort];
    for (const other of cell.parentElement.cells) other.ariaSort = "none";
    cell.ariaSort = direction;
    const sign = direction === "descending" ? -1 : 1;
    const compare = (a, b) => (typeof a === "number" ? a - b : collator.compare(a, b));
    sorted = direction === "none" ? rows : rows.toSorted((a, b) => sign * compare(head.key(a), head.key(b)));
    refresh();
  }

  function drawHeads() {
    for (const head of heads) {
      const button = make("button", { type: "button" }, head.title);
      const cell = make("th", { scope: "col", "aria-sort": "none" }, button);
      button.addEventListener("click", () => sortBy(head, cell));
      $("table").tHead.rows[0].append(cell);
    }
    for (const [id, by] of [["before", -1], ["after", 1]]) {
      $(id).addEventListener("click", () => {
        page += by;
        drawRows();
        $("frame").scrollTop = 0;
      });
    }
  }

  function drawRow(row) {
    const cells = heads.map(({ cell }) => make("td", {}, cell(row)));
    const line = make("tr", { class: row === state.open ? "open" : null }, ...cells);
    line.addEventListener("click", (event) => {
      if (event.target.tagName !== "A") location.hash = address(row);
    });
    return line;
  }

  function drawRows() {
    const start = page * PAGE;
    const end = Math.min(start + PAGE, shown.length);
    body.replaceChildren(...shown.slice(start, end).map(drawRow));
    const count = (n) => n.toLocaleString("en");
    $("rows").textContent = shown.length ? `${count(start + 1)} to ${count(end)}` : "No answer fits.";
    $("before").disabled = page === 0;
    $("after").disabled = end === shown.length;
  }

  /** Turns to the page that has a row. Returns the row's line, or undefined if filters hide it. */
  function turnTo(row) {
    const place = shown.indexOf(row);
    if (place < 0) return undefined;
    page = Math.floor(place / PAGE);
    drawRows();
    const line = body.rows[place % PAGE];
    line.scrollIntoView({ block: "nearest" });
    return line;
  }

  function refresh() {
    filter();
    writeAddress();
    shown = sorted.filter((row) => passes[row.id]);
    page = 0;
    drawRows();
    $("table").setAttribute("aria-busy", "false");
  }

  // ---- One opened answer (sample), with another answer to the same item beside it if chosen

  // Long texts may scroll, so the keyboard has to reach them (tabindex).
  const isLong = (text) => text.length > 500 || text.split("\n").length > 12;
  const block = (text) => make("pre", { tabindex: isLong(text) ? "0" : null }, seen(text));
  const section = (title, ...children) => make("section", {}, make("h3", {}, title), ...children);
  const part = (title, ...children) => make("section", {}, make("h4", {}, title), ...children);
  const pairs = (told) => {
    const lines = told.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, seen(value))]);
    return lines.length ? make("dl", {}, ...lines) : null;
  };

  function grid(head, lines, caption) {
    const cells = (tag, line) => make("tr", {}, ...line.map((each) => make(tag, {}, each)));
    const own = make("table", { class: head.length > 4 ? "many" : null }, make("caption", {}, caption), make("thead", {}, cells("th", head)),
      make("tbody", {}, ...lines.map((line) => cells("td", line))));
    return make("div", { class: "wide", tabindex: "0", role: "region", "aria-label": caption }, own);
  }
  const text = (value) => seen(String(value ?? "–"));

  /** OmniToM's gold table: a line for each actor's belief, with the belief's labels. */
  function gold(lines) {
    const named = Object.keys(lines[0].labels);
    return grid(["Actor", "Belief", ...named.map((name) => name.replace("_", " "))],
      lines.map((line) => [line.actor, line.belief, ...named.map((name) => line.labels[name])].map(text)),
      "The gold table");
  }

  /** How an answer in OmniToM was scored: matches of beliefs, or labels with the right ones. */
  function detail(told, item) {
    const own = JSON.parse(told);
    if (own?.predicted) {
      const head = ["Actor", "Belief", "Order", "Matches"];
      return [
        grid(head, own.predicted.map((line) => line.map(text)),
          "Beliefs of the answer, and how many of the gold ones match"),
        grid(head, own.gold.map((line) => line.map(text)), "Gold beliefs, and how many of the answer's match"),
      ];
    }
    if (!Array.isArray(own?.[0])) return [];
    const known = JSON.parse(item.answer);
    const lines = own.map(([, labels], i) => [text(known[i].belief), ...Object.values(labels).map(
      ([right, given]) => (right === given ? `✓ ${text(given)}` : `✗ ${text(given)} (${text(right)})`))]);
    const named = Object.keys(own[0][1]).map((name) => name.replace("_", " "));
    return [grid(["Belief", ...named], lines, "Labels as given; behind a wrong one, in brackets, the right one")];
  }

  /** The messages of a prompt, with the item's texts put back for their marks (see `_marked`). */
  function messages(row) {
    const { item } = row;
    const own = (_, name) => item[name] ?? JSON.parse(item.choices)[name];
    return JSON.parse(row.messages).map(({ role, content }) =>
      ({ role, content: content.replace(/\ue000(\w+)\ue001/g, own) }));
  }

  function head(row) {
    const { item } = row;
    const choices = JSON.parse(row.options ?? item.choices);
    if (row.options === null && raw(row, "asked_as") === "reversed") choices.reverse();
    const conditions = facets.filter(({ name }) => !["model", "method", "asked_as", "outcome"].includes(name));
    const told = conditions.flatMap((each) => [make("dt", {}, each.label), make("dd", {}, label(row, each.name))]);
    for (const [name, value] of JSON.parse(item.more)) told.push(make("dt", {}, name), make("dd", {}, text(value)));
    const story = data.stories.find((name) => row.messages.includes(`\\ue000${name}\\ue001`)) ?? "story";
    return [
      section("Story", block(item[story]), make("dl", {}, ...told)),
      item.question ? section("Question", block(item.question)) : null,
      choices.length
        ? section("Options", make("ol", { style: `list-style: ${data.letters}` }, ...choices.map((each) =>
          make("li", each === item.answer ? { class: "gold" } : {}, text(each), each === item.answer ? make("small", {}, " (right)") : null))))
        : section("Right answer", data.gold === "table" ? gold(JSON.parse(item.answer)) : block(item.answer)),
    ];
  }

  function prompt(row) {
    const said = messages(row);
    const length = said.reduce((sum, { content }) => sum + content.length, 0);
    const shown = said.flatMap(({ role, content }) => [make("h5", {}, role), block(content)]);
    return part("Prompt", make("details", length < 2500 ? { open: "" } : {},
      make("summary", {}, `${said.length === 1 ? "1 message" : `${said.length} messages`}, ${length.toLocaleString("en")} characters`), ...shown));
  }

  function answered(row) {
    const { item } = row;
    const who = ["model", "method", "asked_as"].map((name) => label(row, name));
    const answer = row.response === null ? make("p", {}, `No answer: ${row.error ?? "nothing came"}`) : block(row.response || " ");
    return make("article", {},
      make("h3", {}, [...who, ...(row.sample ? [`no. ${row.sample}`] : [])].join(" · ")),
      prompt(row),
      part("Answer", answer),
      part("Verdict", make("p", {}, verdict(row), row.rule === null ? "" : `: ${seen(row.rule)}`),
        pairs(JSON.parse(row.details)), ...detail(row.table, item)),
      data.judge ? part("Judge", make("p", {}, data.judge)) : null);
  }

  function others(row) {
    const choose = make("select", { id: "beside" }, make("option", { value: "" }, "nothing"));
    for (const other of rows) {
      if (other.item !== row.item || other === row) continue;
      const told = ["model", "method", "asked_as", "outcome"].map((name) => label(other, name));
      const option = make("option", { value: keyOf(other) }, told.join(" · "));
      option.selected = other === state.beside;
      choose.append(option);
    }
    choose.addEventListener("change", () => {
      location.hash = address(state.open, byKey.get(choose.value) ?? null);
    });
    return make("label", {}, "Beside it: ", choose);
  }

  function step(by) {
    const next = shown[shown.indexOf(state.open) + by];
    if (next) location.hash = address(next);
  }

  function drawSample() {
    const place = $("sample");
    place.hidden = !state.open;
    document.body.classList.toggle("opened", Boolean(state.open));
    place.replaceChildren();
    if (!state.open) return;
    const button = (text, act) => {
      const made = make("button", { type: "button" }, text);
      made.addEventListener("click", act);
      return made;
    };
    const bar = make("div", { class: "bar" },
      make("h2", {}, make("a", { href: address(), title: "Link to this sample" }, state.open.item.item_id)),
      button("Previous", () => step(-1)), button("Next", () => step(1)), others(state.open),
      button("Close", () => (location.hash = address(null))));
    const both = [state.open, ...(state.beside ? [state.beside] : [])];
    place.append(bar, make("div", { class: "item" }, ...head(state.open).filter(Boolean)),
      make("div", { class: `answers n${both.length}` }, ...both.map(answered)));
  }

  // ---- Go

  function show() {
    readAddress();
    $("search").value = state.q;
    drawSample();
    refresh();
    if (state.open) turnTo(state.open);
  }
  drawHeads();
  drawFacets();
  $("search").addEventListener("input", ({ target }) => {
    state.q = target.value;
    refresh();
  });
  $("clear").addEventListener("click", () => {
    state.q = $("search").value = "";
    for (const { name } of facets) state.chosen[name].clear();
    refresh();
  });
  window.addEventListener("hashchange", () => {
    clearTimeout(writing);
    const last = state.open;
    show();
    if (state.open && state.open !== last) $("sample").focus({ preventScroll: innerWidth > 900 });
    if (last && !state.open) turnTo(last)?.querySelector("a").focus();
  });
  window.addEventListener("keydown", (event) => {
    if (event.target.closest("input, select")) return;
    if (event.key === "Escape" && state.open) location.hash = address(null);
  });
  show();
}

// Beside the book, the page follows the reader's choice of light or dark in the book.
try {
  const theme = localStorage.getItem("theme");
  if (theme) document.documentElement.dataset.theme = theme;
} catch { /* no storage for pages opened from disk */ }
