// The form: who judges what, and below it the question in `state`, answered by keys or buttons. All texts
// are set as texts, never as markup.
const MOVES = { arrowleft: ["← back", -1], arrowright: ["skip →", 1] };

function make(kind, look = "", parts = []) {
  const made = document.createElement(kind);
  made.className = look;
  made.append(...[parts].flat());
  return made;
}

function render({ model, el }) {
  const what = make("select"), who = make("input"), start = make("button", "", "Start");
  for (const [name, title] of Object.entries(model.get("titles"))) what.append(new Option(title, name));
  who.placeholder = "as it shall stand in the file";
  start.onclick = () => model.send({ what: what.value, who: who.value });
  const begin = make("div", "tomlab-row", [make("label", "", ["Judge ", what]), make("label", "", ["Your name ", who]), start]);
  const place = make("div", "tomlab-place");
  const form = make("div", "tomlab-form", [begin, place]);
  form.tabIndex = 0;
  // Else Jupyter would take letters and digits for commands to the cell.
  form.dataset.lmSuppressShortcuts = "true";
  let keys = {};
  form.addEventListener("keydown", (event) => {
    if (event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input, select")) return;
    const send = keys[event.key.toLowerCase()];
    if (!send) return;
    event.preventDefault();
    send();
  });

  const show = () => {
    const { turn, said, ask, shown, choices, chosen, done, all } = model.get("state");
    const bad = make("div", "tomlab-bad", said || "");
    bad.role = "alert";
    keys = {};
    place.replaceChildren(bad);
    if (!ask) return;
    const button = (key, label, message) => {
      const made = make("button", "", label);
      made.onclick = keys[key] = () => model.send({ turn, ...message });
      return made;
    };
    const answers = Object.entries(choices).map(([key, choice]) => {
      const made = button(key, key === choice ? choice : `${key}  ${choice}`, { answer: choice });
      made.ariaPressed = choice === chosen;
      return made;
    });
    const moves = Object.entries(MOVES).map(([key, [label, step]]) => button(key, label, { step }));
    const text = make("dl", "tomlab-text", shown.flatMap(([head, said]) => [make("dt", "", head), make("dd", "", said)]));
    const bar = make("progress");
    [bar.max, bar.value, text.tabIndex] = [all, done, 0];
    const count = make("div", "tomlab-row", [bar, `${done} of ${all}`]);
    place.prepend(count, text, make("div", "tomlab-ask", ask), make("div", "tomlab-row", answers), make("div", "tomlab-row", moves));
    if (!document.activeElement?.closest("select")) form.focus({ preventScroll: true });
  };
  el.append(form);
  model.on("change:state", show);
  show();
  return () => model.off("change:state", show);
}
export default { render };
