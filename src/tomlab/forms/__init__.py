"""Forms in Jupyter in which people judge items and answers; `form.js` draws them."""

from pathlib import Path
from typing import Any

import anywidget
import traitlets

from tomlab.errors import InputError
from tomlab.forms.sheet import Sheet
from tomlab.forms.tasks import FORMS, open_sheet


class Form(anywidget.AnyWidget):
    """A sheet's questions, one after the other; every answer goes into the file that `params.yaml`
    names. results: the folder that the stages wrote.

    Messages of the view: {what, who} to begin, {turn, answer} or {turn, step} to the question that
    has the number `turn`, so that a key struck twice answers no question that nobody has read.
    """

    _esm = Path(__file__).with_name("form.js")
    _css = Path(__file__).with_name("form.css")
    titles = traitlets.Dict().tag(sync=True)
    state = traitlets.Dict({"turn": 0}).tag(sync=True)

    def __init__(self, results: Path | str) -> None:
        super().__init__(titles={name: form["title"] for name, form in FORMS.items()})
        self.results, self.sheet = results, None
        self.on_msg(lambda _, message, __: self._take(message))

    def _take(self, message: dict[str, Any]) -> None:
        said = ""
        try:
            if "who" in message:
                self.sheet = None
                self.sheet = open_sheet(message["what"], message["who"], self.results)
            elif message["turn"] != self.state["turn"]:
                return
            elif "answer" in message:
                self.sheet.answer(message["answer"])
            else:
                self.sheet.move(message["step"])
        except InputError as error:
            said = str(error)
        asked = asked_of(self.sheet) if self.sheet else {}
        self.state = {"turn": self.state["turn"] + 1, "said": said, **asked}


def asked_of(sheet: Sheet) -> dict[str, Any]:
    """The open question of a sheet for the view; `choices` by the key that each is given with."""
    told = {"done": int(sheet.rows[sheet.asked].ne("").values.sum()), "all": len(sheet.questions)}
    if sheet.at is None:
        return told | {"ask": "Everything is answered.", "shown": [], "choices": {}}
    (place, name), choices, form = sheet.questions[sheet.at], sheet.choices(), sheet.form
    about = sheet.rows.loc[place]
    are_digits = all(len(choice) == 1 and choice.isdigit() for choice in choices)
    return told | {
        "ask": form["ask"][about[form["by"]] if "by" in form else name],
        "shown": about["shown"],
        "choices": {c if are_digits else str(n): c for n, c in enumerate(choices, 1)},
        "chosen": about[name],
    }
