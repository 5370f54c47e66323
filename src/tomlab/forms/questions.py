"""The form in which people judge items and answers, by keys or buttons."""

from html import escape
from pathlib import Path
from typing import Any

import anywidget
import ipywidgets as widgets
import traitlets
from IPython.display import display

from tomlab.errors import InputError
from tomlab.forms import tasks
from tomlab.forms.sheet import Sheet

MOVES = {"arrowleft": "← back", "arrowright": "skip →"}


class Keys(anywidget.AnyWidget):
    """Keys pressed in the form around it, as messages."""

    _esm = Path(__file__).with_name("form.js")
    _css = Path(__file__).with_name("form.css")
    known = traitlets.List().tag(sync=True)
    turn = traitlets.Int(0).tag(sync=True)


class Questions:
    """A sheet's questions, one after the other."""

    def __init__(self, sheet: Sheet) -> None:
        self.sheet, self.keys = sheet, Keys()
        style, layout = {"description_width": "initial"}, {"width": "60%"}
        self.bar = widgets.IntProgress(max=len(sheet.questions), style=style, layout=layout)
        self.said, self.ask, self.text = (widgets.HTML() for _ in range(3))
        self.ask.add_class("tomlab-ask"), self.text.add_class("tomlab-text")
        self.answers, moves = row(), row(*(self._button(key, MOVES[key]) for key in MOVES))
        parts = [self.keys, self.bar, self.text, self.ask, self.answers, moves, self.said]
        self.view = widgets.VBox(parts)
        self.keys.on_msg(self._pressed)
        self._show()

    def _button(self, key: str, label: str, style: str = "") -> widgets.Button:
        button = widgets.Button(description=label, button_style=style)
        button.on_click(lambda _: self._do(key))
        return button

    def _pressed(self, _: Keys, message: dict[str, Any], __: list) -> None:
        if message["turn"] == self.keys.turn:
            self._do(message["key"])

    def _do(self, key: str) -> None:
        self.said.value = ""
        try:
            if key in self.by_key:
                self.sheet.answer(self.by_key[key])
            else:
                self.sheet.move(1 if key == "arrowright" else -1)
        except InputError as error:
            self.said.value = bad(error)
        self._show()

    def _show(self) -> None:
        sheet, self.by_key, before = self.sheet, {}, self.answers.children
        self.ask.value, self.text.value, buttons = "Everything is answered.", "", []
        if sheet.at is not None:
            (place, name), choices = sheet.questions[sheet.at], sheet.choices()
            about, form = sheet.rows.loc[place], sheet.form
            lines = (f"<dt>{escape(h)}</dt><dd>{escape(text)}</dd>" for h, text in about["shown"])
            self.text.value = f"<dl tabindex=0>{''.join(lines)}</dl>"
            self.ask.value = escape(form["ask"][about[form["by"]] if "by" in form else name])
            digits = all(len(choice) == 1 and choice.isdigit() for choice in choices)
            self.by_key = {c if digits else str(n): c for n, c in enumerate(choices, 1)}
            for key, choice in self.by_key.items():
                label = choice if digits else f"{key}  {choice}"
                buttons.append(self._button(key, label, "info" if choice == about[name] else ""))
        self.answers.children = buttons
        for button in before:  # a page would keep thousands
            button.close()
        self.keys.known = [*self.by_key, *MOVES]
        self.keys.turn += 1
        self.bar.value = sheet.answered()
        self.bar.description = f"{self.bar.value} of {self.bar.max}"


def bad(error: Exception) -> str:
    """A complaint as HTML."""
    return f"<div class=tomlab-bad role=alert>{escape(str(error))}</div>"


def row(*parts: widgets.Widget) -> widgets.HBox:
    """Widgets side by side, in several lines where it is narrow."""
    box = widgets.HBox(parts)
    box.add_class("tomlab-row")
    return box


def annotate(results: Path | str = "results") -> None:
    """Show the form: choose what to judge, say who you are, and go on where you stopped.

    Every answer goes into the file that `params.yaml` names. results: what the stages wrote.
    """
    titles = [(form["title"], name) for name, form in tasks.FORMS.items()]
    what = widgets.Dropdown(options=titles, description="Judge")
    who = widgets.Text(description="Your name", placeholder="as it shall stand in the file")
    start, place = widgets.Button(description="Start"), widgets.VBox()

    def begin(_: Any) -> None:
        try:
            place.children = (Questions(tasks.sheet(what.value, who.value, results)).view,)
        except InputError as error:
            place.children = (widgets.HTML(bad(error)),)

    start.on_click(begin)
    form = widgets.VBox([row(what, who, start), place])
    form.add_class("tomlab-form")
    display(form)
