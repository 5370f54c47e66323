// Keys of a form, each with the number of the question that it was pressed at, so that a key held or
// struck twice does not answer a question that nobody has read.
function render({ model, el }) {
  let form, frame;
  const pressed = (event) => {
    if (event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input, textarea, select")) return;
    const key = event.key.toLowerCase();
    if (!model.get("known").includes(key)) return;
    event.preventDefault();
    model.send({ key, turn: model.get("turn") });
  };
  const focus = () => {
    if (!form || !model.get("known").length) return;
    if (document.activeElement?.closest("input, textarea, select")) return;
    form.querySelectorAll(".tomlab-text").forEach((text) => text.scrollTo(0, 0));
    form.focus({ preventScroll: true });
  };
  const begin = () => {
    form = el.closest(".tomlab-form");
    if (!form) return (frame = requestAnimationFrame(begin));
    form.tabIndex = 0;
    // Else Jupyter would take letters and digits for commands to the cell.
    form.dataset.lmSuppressShortcuts = "true";
    form.addEventListener("keydown", pressed);
    if (model.get("known").length) document.activeElement?.blur();
    focus();
  };
  begin();
  model.on("change:turn", focus);
  return () => {
    cancelAnimationFrame(frame);
    form?.removeEventListener("keydown", pressed);
    model.off("change:turn", focus);
  };
}
export default { render };
