// The sample browser. The script beside this one hands its data to `browse`: see data.py for their
// shape. What models wrote becomes text nodes alone, never markup.
"use strict";

const $ = (id) => document.getElementById(id);

// Characters that show nothing, or turn the direction of what follows.
const UNSEEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
const seen = (text) =>
  text.replace(UNSEEN, (c) => `⟨U+${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);

/** An element with attributes (null: leave out) and children, of which texts stay texts. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

function browse(data) {
  const { facets, items, prompts, texts, details, tables } = data;
  const rows = Array.from({ length: data.n }, (_, id) => ({ id }));
  for (const [name, values] of Object.entries(data.columns)) {
    for (const row of rows) row[name] = Array.isArray(values) ? values[row.id] : values;
  }
  const facet = Object.fromEntries(facets.map((each) => [each.name, each]));
  const label = (row, name) => facet[name].labels[row[name]];
  const raw = (row, name) => facet[name].keys[row[name]];
  const keyOf = (row) =>
    [items[row.item].id, raw(row, "model"), raw(row, "method"), row.sample].join("|");
  const byKey = new Map(rows.map((row) => [keyOf(row), row]));
  const said = (row) => (row.answer !== null ? texts[row.answer] : `[${texts[row.error] ?? "no answer"}]`);
  const asked = (row) => texts[items[row.item].question] || texts[items[row.item].stories[0]];

  // ---- State: what is filtered and open. The address says it all, so that a view can be shared.

  const state = { q: "", chosen: {}, open: null, beside: null };

  function readAddress() {
    const told = new URLSearchParams(location.hash.slice(1));
    state.q = told.get("q") ?? "";
    for (const { name, keys } of facets) {
      const found = told.getAll(name).map((key) => keys.indexOf(key));
      state.chosen[name] = new Set(found.filter((value) => value >= 0));
    }
    state.open = byKey.get(told.get("open")) ?? null;
    const beside = byKey.get(told.get("beside")) ?? null;
    state.beside = beside && beside.item === state.open?.item ? beside : null;
  }

  /** Where a view stands. With another sample its answer by the same model and method is beside. */
  function address(open = state.open, beside = state.beside) {
    const own = beside && open && { ...beside, item: open.item };
    beside = own && byKey.get(keyOf(own));
    const told = new URLSearchParams();
    if (state.q) told.set("q", state.q);
    for (const { name, keys } of facets) {
      for (const value of [...state.chosen[name]].sort()) told.append(name, keys[value]);
    }
    if (open) told.set("open", keyOf(open));
    if (beside && beside !== open) told.set("beside", keyOf(beside));
    return `#${told}`;
  }

  let writing = null;
  function writeAddress() {
    // Not at every keystroke: browsers refuse to note more than some addresses a second.
    clearTimeout(writing);
    writing = setTimeout(() => history.replaceState(null, "", address()), 250);
  }

  // ---- Search: a word is looked for once in every text, not in every row

  const lower = texts.map((text) => text.toLowerCase());
  const ids = items.map((item) => item.id.toLowerCase());
  const isOfItem = new Uint8Array(texts.length);
  for (const item of items) {
    for (const n of [...item.stories, item.question, ...item.choices]) isOfItem[n] = 1;
  }
  const partsOfItem = prompts.map((messages) =>
    messages.flatMap(([, parts]) => parts).filter((n) => isOfItem[n]));

  /** For each of a list 1 where `holds` says so. */
  function marked(list, holds) {
    const marks = new Uint8Array(list.length);
    for (let i = 0; i < list.length; i += 1) if (holds(list[i])) marks[i] = 1;
    return marks;
  }

  function rowsWith(word) {
    const inText = marked(lower, (text) => text.includes(word));
    const inId = marked(ids, (id) => id.includes(word));
    // Of a prompt what is its item's: instructions are alike in all.
    const inPrompt = marked(partsOfItem, (parts) => parts.some((n) => inText[n]));
    return marked(rows, (row) =>
      inPrompt[row.prompt] || inId[row.item] || inText[row.answer] || inText[row.rule]);
  }

  const known = new Map(); // of the last words that were searched for
  function found() {
    const words = state.q.toLowerCase().split(/\s+/).filter(Boolean);
    for (const word of known.keys()) if (!words.includes(word)) known.delete(word);
    for (const word of words) if (!known.has(word)) known.set(word, rowsWith(word));
    return [...known.values()];
  }

  // ---- Filter: which rows are shown, and how many there would be with one value more

  let passes = new Uint8Array(rows.length).fill(1);
  const counts = Object.fromEntries(facets.map((each) => [each.name, each.keys.map(() => 0)]));

  function filter() {
    const hits = found();
    const inUse = facets.map(({ name }) => name).filter((name) => state.chosen[name].size);
    const names = facets.map(({ name }) => name);
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
    const active = facets.filter(({ name }) => state.chosen[name].size).length;
    $("active").textContent = active ? `(${active} in use)` : "";
    $("clear").disabled = !active && !state.q;
  }

  function drawFacets() {
    for (const { name, label, labels } of facets.filter((each) => each.keys.length > 1)) {
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

  // ---- The table: Tabulator draws the rows that are in sight

  const short = (text) => seen(text.length > 200 ? `${text.slice(0, 200)}…` : text);
  // As nodes: a text would be taken for markup.
  const cell = (text) => (c) => document.createTextNode(text(c.getData()));
  const verdict = (row) => {
    const colour = data.colours[raw(row, "outcome")] ?? "transparent";
    const score = row.score === null || row.score === 0 || row.score === 1 ? "" : ` ${row.score.toFixed(2)}`;
    return make("span", { class: "verdict", style: `--dot: ${colour}` }, label(row, "outcome") + score);
  };
  const link = (c) => make("a", { href: address(c.getData()) }, short(asked(c.getData())));
  const by = (text) => (a, b, rowA, rowB) => text(rowA.getData()).localeCompare(text(rowB.getData()));

  const table = new Tabulator("#table", {
    data: rows,
    index: "id",
    height: "100%",
    rowHeight: 31, // as one line needs: nothing has to be measured when rows are drawn
    renderVerticalBuffer: 200,
    layout: "fitColumns",
    responsiveLayout: "hide",
    placeholder: "No answer fits.",
    headerSortTristate: true,
    columns: [
      { title: "Question", field: "item", formatter: link, sorter: by(asked), widthGrow: 4, minWidth: 150, responsive: 0 },
      { title: "Answer", field: "answer", formatter: cell((row) => short(said(row))), sorter: by(said), widthGrow: 4, minWidth: 140, responsive: 2 },
      { title: "Verdict", field: "outcome", formatter: (c) => verdict(c.getData()), widthGrow: 1, minWidth: 125, responsive: 0 },
      { title: "Model", field: "model", formatter: cell((row) => label(row, "model")), minWidth: 130, responsive: 1 },
      { title: "Method", field: "method", formatter: cell((row) => label(row, "method")), minWidth: 110, responsive: 3 },
      { title: "Asked", field: "asked_as", formatter: cell((row) => label(row, "asked_as")), minWidth: 130, responsive: 4 },
    ],
    rowFormatter: (row) => row.getElement().classList.toggle("open", row.getData() === state.open),
  });
  table.on("rowClick", (event, row) => {
    // A link's own address is from when it was drawn, before later filters.
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    location.hash = address(row.getData());
  });
  const ready = new Promise((resolve) => table.on("tableBuilt", resolve)).then(() => {
    // Links in the rows take the focus; a grid may hold nothing else that does.
    $("table").querySelector(".tabulator-tableholder").removeAttribute("tabindex");
  });

  async function refresh() {
    filter();
    writeAddress();
    await ready;
    table.setFilter((row) => passes[row.id]);
    $("table").setAttribute("aria-busy", "false");
  }

  // ---- One sample: story, prompt, answer, verdict, judge; another answer to the same item beside it

  // What may need to be scrolled has to be within the keyboard's reach.
  const isLong = (text) => text.length > 500 || text.split("\n").length > 12;
  const block = (text) => make("pre", { tabindex: isLong(text) ? "0" : null }, seen(text));
  const section = (title, ...children) => make("section", {}, make("h3", {}, title), ...children);
  const part = (title, ...children) => make("section", {}, make("h4", {}, title), ...children);
  const pairs = (n) => {
    const told = details[n] ?? [];
    const lines = told.flatMap(([name, value]) => [make("dt", {}, texts[name]), make("dd", {}, seen(texts[value]))]);
    return lines.length ? make("dl", {}, ...lines) : null;
  };

  function grid(head, lines, caption) {
    const cells = (tag, line) => make("tr", {}, ...line.map((each) => make(tag, {}, each)));
    const own = make("table", { class: head.length > 4 ? "many" : null }, make("caption", {}, caption), make("thead", {}, cells("th", head)),
      make("tbody", {}, ...lines.map((line) => cells("td", line))));
    return make("div", { class: "wide", tabindex: "0", role: "region", "aria-label": caption }, own);
  }
  const text = (n) => (n === null ? "–" : seen(texts[n]));

  /** OmniToM's gold table: who believes what, with its labels. */
  function gold(item) {
    const lines = tables[item.gold_table];
    const names = Object.keys(lines[0].labels);
    return grid(["Actor", "Belief", ...names.map((name) => name.replace("_", " "))],
      lines.map((line) => [text(line.actor), text(line.belief), ...names.map((name) => text(line.labels[name]))]),
      "The gold table");
  }

  /** What was made of an answer in OmniToM: matches of beliefs, or labels beside the right ones. */
  function detail(n, item) {
    const own = tables[n];
    const known = tables[item.gold_table];
    if (own.predicted) {
      const gold = known.map((line, i) => [line.actor, line.belief, line.labels.order, own.gold[i]]);
      const head = ["Actor", "Belief", "Order", "Matches"];
      return [
        grid(head, own.predicted.map((line) => line.map(text)),
          "Beliefs of the answer, and how many of the gold ones match"),
        grid(head, gold.map((line) => line.map(text)), "Gold beliefs, and how many of the answer's match"),
      ];
    }
    if (!own.given) return [];
    const names = own.names.map((name) => texts[name]);
    const lines = own.given.map((labels, i) => [text(known[i].belief), ...labels.map((given, j) => {
      const right = known[i].labels[names[j]];
      return right === given ? `✓ ${text(given)}` : `✗ ${(given !== null && texts[given]) || "–"} (${text(right)})`;
    })]);
    return [grid(["Belief", ...names.map((name) => name.replace("_", " "))], lines,
      "Labels as given; behind a wrong one, in brackets, the right one")];
  }

  function story(row, item) {
    const parts = new Set(prompts[row.prompt].flatMap(([, numbers]) => numbers));
    return item.stories.find((n) => parts.has(n)) ?? item.stories[0];
  }

  function head(row) {
    const item = items[row.item];
    const choices = raw(row, "asked_as") === "reversed" ? [...item.choices].reverse() : item.choices;
    const conditions = facets.filter(({ name }) => !["model", "method", "asked_as", "outcome"].includes(name));
    const told = conditions.flatMap((each) => [make("dt", {}, each.label), make("dd", {}, label(row, each.name))]);
    for (const [name, value] of item.more) told.push(make("dt", {}, text(name)), make("dd", {}, text(value)));
    return [
      section("Story", block(texts[story(row, item)]), make("dl", {}, ...told)),
      texts[item.question] ? section("Question", block(texts[item.question])) : null,
      choices.length
        ? section("Options", make("ol", { style: `list-style: ${data.letters}` }, ...choices.map((n) =>
          make("li", n === item.gold ? { class: "gold" } : {}, text(n), n === item.gold ? make("small", {}, " (right)") : null))))
        : section("Right answer", item.gold_table === null ? block(texts[item.gold]) : gold(item)),
    ];
  }

  function prompt(row) {
    const messages = prompts[row.prompt];
    const length = messages.flatMap(([, parts]) => parts).reduce((sum, n) => sum + texts[n].length, 0);
    const shown = messages.flatMap(([role, parts]) => [make("h5", {}, role), block(parts.map((n) => texts[n]).join(""))]);
    return part("Prompt", make("details", length < 2500 ? { open: "" } : {},
      make("summary", {}, `${messages.length === 1 ? "1 message" : `${messages.length} messages`}, ${length.toLocaleString("en")} characters`), ...shown));
  }

  function answered(row) {
    const item = items[row.item];
    const who = ["model", "method", "asked_as"].map((name) => label(row, name));
    const answer = row.answer === null ? make("p", {}, `No answer: ${texts[row.error] ?? "nothing came"}`) : block(texts[row.answer] || " ");
    const judged = row.judged_table === null || row.judged_table === row.table ? [] : detail(row.judged_table, item);
    return make("article", {},
      make("h3", {}, [...who, ...(row.sample ? [`no. ${row.sample}`] : [])].join(" · ")),
      prompt(row),
      part("Answer", answer),
      part("Verdict", make("p", {}, verdict(row), row.rule === null ? "" : `: ${seen(texts[row.rule])}`),
        pairs(row.details), ...(row.table === null ? [] : detail(row.table, item))),
      part("Judge", make("p", {}, data.judge), pairs(row.judged),
        judged.length ? make("details", {}, make("summary", {}, "What this judge matched"), ...judged) : null));
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
    const order = table.getRows("active").map((row) => row.getData());
    const next = order[order.indexOf(state.open) + by];
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
      make("h2", {}, make("a", { href: address(), title: "Link to this sample" }, items[state.open.item].id)),
      button("Previous", () => step(-1)), button("Next", () => step(1)), others(state.open),
      button("Close", () => (location.hash = address(null))));
    const both = [state.open, ...(state.beside ? [state.beside] : [])];
    place.append(bar, make("div", { class: "item" }, ...head(state.open).filter(Boolean)),
      make("div", { class: `answers n${both.length}` }, ...both.map(answered)));
  }

  // ---- Go

  let before = null;
  async function show() {
    readAddress();
    $("search").value = state.q;
    drawSample();
    await refresh();
    const row = state.open && table.getRow(state.open.id);
    for (const each of [before, row]) if (each) each.reformat();
    if (row && row !== before && passes[state.open.id]) table.scrollToRow(row, "center", false).catch(() => {});
    before = row;
  }
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
  window.addEventListener("hashchange", async () => {
    clearTimeout(writing);
    const last = state.open;
    await show();
    if (state.open && state.open !== last) $("sample").focus({ preventScroll: innerWidth > 900 });
    if (last && !state.open) {
      await new Promise((done) => setTimeout(done, 150)); // the table grows, and is drawn anew
      const row = table.getRow(last.id);
      await table.scrollToRow(row, "center", false).catch(() => {});
      row.getElement().querySelector("a")?.focus();
    }
  });
  window.addEventListener("keydown", (event) => {
    if (event.target.closest("input, select")) return;
    if (event.key === "Escape" && state.open) location.hash = address(null);
  });
  show();
}

// Inside the book its reader chose light or dark there.
try {
  const theme = localStorage.getItem("theme");
  if (theme) document.documentElement.dataset.theme = theme;
} catch { /* no storage for pages opened from disk */ }
