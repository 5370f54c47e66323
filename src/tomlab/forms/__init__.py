"""Forms in Jupyter in which people judge items and answers; `form.js` draws them."""

from pathlib import Path
from typing import Any

import anywidget
import traitlets

from tomlab.errors import InputError
from tomlab.forms.sheet import Sheet
from tomlab.forms.tasks import FORMS, open_sheet


class Form(anywidget.AnyWidget):
    """A widget that asks the questions of a sheet one by one. Every answer is saved in the file
    that `params.yaml` names. results: the folder that the stages wrote.

    `form.js` sends {what, who} to begin (the form and the person's name), then {turn, answer} or
    {turn, step}. A message counts only if its `turn` is the current one. So a key that is struck
    twice does not answer the next question before anybody has read it.
    """

    _esm = Path(__file__).with_name("form.js")
    _css = Path(__file__).with_name("form.css")
    titles = traitlets.Dict().tag(sync=True)
    state = traitlets.Dict({"turn": 0}).tag(sync=True)

    def __init__(self, results: Path | str) -> None:
        super().__init__(titles={name: form["title"] for name, form in FORMS.items()})
        self.results = results
        self.sheet: Sheet | None = None
        self.on_msg(lambda _, message, __: self._take(message))

    def _take(self, message: dict[str, Any]) -> None:
        """Act on a message of `form.js`, then show the next question, or what was wrong."""
        fault = ""
        try:
            if "who" in message:
                self.sheet = None
                self.sheet = open_sheet(message["what"], message["who"], self.results)
            elif self.sheet is None or message["turn"] != self.state["turn"]:
                return
            elif "answer" in message:
                self.sheet.answer(message["answer"])
            else:
                self.sheet.move(message["step"])
        except InputError as error:
            fault = str(error)
        state: dict[str, Any] = {"turn": self.state["turn"] + 1, "said": fault}
        self.state = state | (asked_of(self.sheet) if self.sheet else {})


def asked_of(sheet: Sheet) -> dict[str, Any]:
    """The current question of a sheet, as `form.js` shows it: `done` and `all` (how many questions
    are answered, and how many there are), `ask`, `shown`, `choices` (by the key to press) and
    `chosen` (the answer so far).
    """
    is_answered = sheet.rows[sheet.answer_columns].ne("")
    n_answered = int(is_answered.to_numpy().sum())
    progress = {"done": n_answered, "all": len(sheet.questions)}
    if sheet.at is None:
        return {**progress, "ask": "Everything is answered.", "shown": [], "choices": {}}
    row, column = sheet.questions[sheet.at]
    task = sheet.rows.loc[row]
    question = task[sheet.form["by"]] if "by" in sheet.form else column
    choices = sheet.choices()
    keys = choices
    if not all(len(choice) == 1 and choice.isdigit() for choice in choices):
        keys = [str(number) for number in range(1, len(choices) + 1)]
    return {
        **progress,
        "ask": sheet.form["ask"][question],
        "shown": task["shown"],
        "choices": dict(zip(keys, choices, strict=True)),
        "chosen": task[column],
    }
