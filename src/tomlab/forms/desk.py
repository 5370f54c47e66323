"""Shared generation (BigToM, App. A, Fig. 7): a model drafts templates, a person edits them."""

import asyncio
from html import escape
from typing import Any

import ipywidgets as widgets
import pandas as pd
from IPython.display import display

from tomlab import params, paths
from tomlab.benchmarks.bigtom.items import templates, writing
from tomlab.errors import InputError
from tomlab.forms import sheet
from tomlab.forms.questions import Keys, bad, row
from tomlab.models import specs
from tomlab.models.ask import ask

EXAMPLES = paths.DATA / "bigtom" / "templates.csv"


class Desk:
    """Drafts by models and what the file has, of which one is in the fields to be edited.

    A draft has its variables, `source`, who wrote it, and `template_id`, "" until it is saved.
    """

    def __init__(self) -> None:
        content = params.load()
        run, self.seeds = content["run"], content["run"]["seeds"]
        self.path = paths.user_file(content["bigtom"]["generation"]["own"])
        self.prompts, self.drawn = run["prompts"], 0
        models = [n for n, one in content["models"].items() if one["provider"] != "baseline"]
        writer = run["benchmarks"]["bigtom"]["writer"]
        self.writer = widgets.Dropdown(options=models, value=writer, description="Writer")
        self.about = widgets.Text(
            description="Instruction", placeholder="Write a story about a farm."
        )
        self.warmth = widgets.BoundedFloatText(writing.TEMPERATURE, min=0, max=2, step=0.1)
        self.warmth.description = "Temperature"
        self.count = widgets.BoundedIntText(1, min=1, max=20, description="How many")
        self.limit = widgets.BoundedIntText(writing.MAX_TOKENS, min=1, max=9999)
        self.limit.description = "Tokens at most"
        self.draft = widgets.Dropdown(description="Draft")
        self.author = widgets.Text(description="Your name")
        self.fields = {
            name: widgets.Textarea(
                description=templates.label(name), rows=2, continuous_update=False
            )
            for name in templates.FIELDS
        }
        self.faults, self.said = widgets.HTML(), widgets.HTML()
        generate, save = (widgets.Button(description=text) for text in ("Generate", "Save"))
        generate.on_click(self._begin)
        save.on_click(self._save)
        self.drafts = [self._blank(), *self._saved()]
        self._list(0)
        self.draft.observe(lambda _: self._fill(), "value")
        for field in self.fields.values():
            field.observe(lambda _: self._check(), "value")
        grid = widgets.VBox([*self.fields.values()])
        grid.add_class("tomlab-fields")
        settings = row(self.writer, self.about, self.warmth, self.limit, self.count, generate)
        below = row(self.author, save)
        parts = [settings, self.draft, grid, self.faults, below, self.said, Keys()]
        self.view = widgets.VBox(parts)
        self.view.add_class("tomlab-form")

    def _blank(self) -> dict[str, str]:
        return dict.fromkeys(templates.FIELDS, "") | {"template_id": "", "source": "authored"}

    def _saved(self) -> list[dict[str, str]]:
        return sheet.read(self.path, templates.OWN_FORM).to_dict("records")

    def _list(self, place: int) -> None:
        """Offer all drafts and put one into the fields."""
        told = []
        for draft in self.drafts:
            filled = sum(bool(draft[name]) for name in templates.FIELDS)
            name = draft["template_id"] or "new"
            told.append(f"{name}: {draft['source']}, {filled} of {len(self.fields)} filled")
        self.draft.options = [(f"{n}. {text}", n - 1) for n, text in enumerate(told, start=1)]
        self.draft.value = place
        self._fill()

    def _fill(self) -> None:
        draft = self.drafts[self.draft.value or 0]
        for name, field in self.fields.items():
            field.value = draft[name]
        self._check()

    def edited(self) -> dict[str, str]:
        """What stands in the fields, a template with its agent and who wrote it."""
        draft = self.drafts[self.draft.value]
        told = {name: " ".join(field.value.split()) for name, field in self.fields.items()}
        same = all(told[name] == draft[name] for name in told)
        source = draft["source"] if same else draft["source"].replace("llm:", "edited:")
        return {**draft, **told, "source": source, "agent": templates.agent_name(told)}

    def _check(self) -> None:
        found = templates.structure_problems(self.edited())
        told = "".join(f"<li>{escape(fault)}</li>" for fault in found)
        head = f"Filtering would drop it, for {len(found)} faults."
        head = head if found else "Filtering finds no fault in its structure."
        self.faults.value = f"<details><summary>{head}</summary><ul>{told}</ul></details>"

    def _begin(self, _: Any) -> None:
        self.task = asyncio.ensure_future(self._generate())

    async def _generate(self) -> None:
        first, self.drawn = self.drawn, self.drawn + self.count.value
        self.said.value = f"{self.writer.value} is writing …"
        try:
            # Later ones of the same settings: those before are in the list.
            requests = writing.generation_requests(
                templates.read_templates(EXAMPLES),
                self.drawn,
                examples_seed=self.seeds["writing_seed"],
                seed=self.seeds["sampling_seed"],
                replaced=self.prompts,
                instruction=self.about.value.strip(),
                temperature=self.warmth.value,
                max_tokens=self.limit.value,
            )[first:]
            model = specs.model(self.writer.value)
            answers = await ask(requests, model, limits=specs.limits(), progress=False)
        except InputError as error:
            self.said.value = bad(error)
            return
        names = {templates.label(name): name for name in templates.FIELDS}
        for answer in answers:
            text, who = answer.reply.text if answer.reply else "", f"llm:{self.writer.value}"
            # What a label stands before, though it be no whole template: a person mends it.
            found = {names[label]: said for label, said in reversed(templates.labelled(text))}
            self.drafts.append(self._blank() | found | {"source": who})
        self._list(len(self.drafts) - len(answers))
        self.said.value = f"{len(answers)} written."

    def _save(self, _: Any) -> None:
        try:
            self.said.value = f"Saved as {self.save()} in {self.path.name}."
        except InputError as error:
            self.said.value = bad(error)

    def save(self) -> str:
        """Put what stands in the fields into the file and return its id. Errors: `InputError`."""
        row = {**self.edited(), "author": " ".join(self.author.value.split())}
        if empty := [name for name in (*templates.FIELDS, "agent", "author") if not row[name]]:
            told = ", ".join(map(templates.label, empty))
            raise InputError(f"not saved: found nothing in {told}")
        with sheet.changing():
            there = sheet.read(self.path, templates.OWN_FORM)
            ids = set(there["template_id"])
            free = (f"own-{n:03d}" for n in range(1, len(ids) + 2))
            row["template_id"] = row["template_id"] or next(one for one in free if one not in ids)
            others = there[there["template_id"] != row["template_id"]]
            new = pd.DataFrame([row]).reindex(columns=there.columns, fill_value="")
            sheet.replace(self.path, pd.concat([others, new], ignore_index=True))
        place = self.draft.value
        self.drafts[place] = row
        self._list(place)
        return row["template_id"]


def write() -> None:
    """Show the form: let a model draft templates, or begin with an empty one, edit and save."""
    display(Desk().view)
