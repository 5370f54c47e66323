"""A language model writes items in the steps of a paper: the requests, and reading the answers.

A draft is a record that grows from step to step: a scenario, then a set of entities, then a story.
Models are asked for lines of the form "Label: text", which `labelled_values` reads strictly.
"""

import re
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from tomlab.asking import attempts
from tomlab.models import specs
from tomlab.models.ask import ask
from tomlab.models.specs import Reply, Request, Response
from tomlab.records.files import yaml_beside
from tomlab.scoring.answers import unanswered
from tomlab.scoring.visible import visible

Draft = dict[str, Any]
_SENTENCE_END = re.compile(r"""[.!?…]["'”’)*_]*$""")
# A line with some other label: "Here is the story:", or "Zoe: Hello." where "Zoe" is no label.
_OTHER_LABEL = re.compile(r".*:|\W*\w+\W*:.*")


class Unparsed(str):
    """The reason why an answer can't be used. There are few distinct reasons, to count them by."""


@dataclass(frozen=True)
class Step:
    """One step of a paper's pipeline.

    parse: takes the visible answer and its draft (with `prompt`, and `is_cut`: whether the answer
    was cut off). It returns the value of the field `goes_to`, or a dict of fields if `goes_to` is
    empty; or `Unparsed`; or a list of these, one for each draft in the answer. fills: the draft's
    field for each placeholder of another name; shared, options: arguments of `attempts.request`;
    count: how many drafts an answer should give; good: the status of drafts that could be read.
    """

    name: str
    parse: Callable[[str, Draft], Any]
    prompt: str = ""
    fills: dict[str, str] = field(default_factory=dict)
    shared: Collection[str] | None = None
    options: dict[str, float] = field(default_factory=dict)
    goes_to: str = ""
    count: int = 1
    good: str = "parsed"

    def request(self, draft: Draft, **options: Any) -> Request:
        values = dict(draft)
        for placeholder, name in self.fills.items():
            values[placeholder] = draft[name]
        prompt = self.prompt.format_map(draft)
        options = self.options | options
        return attempts.request(prompt, values, shared=self.shared, **options)


def steps(file: str, parsers: Mapping[str, Callable]) -> dict[str, Step]:
    """The steps in the YAML file beside the module `file`, each with the parser of its name."""
    entries = yaml_beside(file)
    return {name: Step(name, parsers[name], **entry) for name, entry in entries.items()}


@dataclass
class Writer:
    """A language model that writes. options: options of all its requests, such as `seed`.

    rows: one for each draft that an answer gave or should have given: the draft's fields, `step`
    (the step's name), a field of that name with the draft's number within the answer (from 0),
    `source`, and the fields `attempts.OUTCOME`.
    """

    ask: Callable[[Sequence[Request]], Awaitable[Sequence[Response]]]
    source: str  # llm:<model>
    options: dict[str, Any]
    rows: list[Draft] = field(default_factory=list)
    replies: list[Reply] = field(default_factory=list)

    async def take(self, step: Step, drafts: Sequence[Draft], **options: Any) -> list[Draft]:
        """Ask for a step of each draft and return the new drafts, without the unreadable ones."""
        options = self.options | options
        requests = [step.request(draft, **options) for draft in drafts]
        responses = await self.ask(requests)
        rows = []
        for request, response, draft in zip(requests, responses, drafts, strict=True):
            if response.reply:
                self.replies.append(response.reply)
            prompt = request.messages[-1]["content"]
            asked = draft | {"prompt": prompt, "source": self.source}
            for number, result in enumerate(_results(step, response, asked)):
                rows.append(asked | {"step": step.name, step.name: number} | result)
        self.rows += rows
        return [row for row in rows if row["status"] == step.good]


def writer_of(model: str, **options: Any) -> Writer:
    """A writer that asks the configured model of this name. options: see `Writer`."""
    asking = partial(ask, model=specs.model(model), limits=specs.limits())
    return Writer(asking, f"llm:{model}", options)


def _results(step: Step, response: Response, draft: Draft) -> list[Draft]:
    """The fields that an answer adds to its draft, one dict a draft, with the outcome's fields."""
    reply = response.reply
    if reply is None:
        status = "refused" if response.filtered else "error"
        return [{"status": status, "reason": response.error or "", "text": ""}] * step.count
    text, open_thought = visible(reply.text)
    is_cut = open_thought or reply.finish_reason == "length"
    # Conversations often have lines that begin with "Sorry", but refusals have no label.
    refusal = "" if ":" in text else text
    failure = unanswered(refusal, reply.finish_reason, open_thought)
    if is_cut:
        text = _whole_lines(text)
    if reply.finish_reason == "refusal" or not re.search(r"\w", text):
        parsed = Unparsed("no answer")
    else:
        parsed = step.parse(text, draft | {"is_cut": is_cut})
    if isinstance(parsed, Unparsed):
        values = [parsed] * step.count
    else:
        values = parsed if isinstance(parsed, list) else [parsed]
    results = []
    for value in values:
        if isinstance(value, Unparsed):
            results.append({"status": failure, "reason": str(value), "text": reply.text})
            continue
        outcome = {"status": step.good, "reason": "", "text": reply.text}
        if step.goes_to:
            results.append({**outcome, step.goes_to: value})
        else:
            results.append({**outcome, **value})
    return results


def _whole_lines(text: str) -> str:
    """The text of a cut-off answer, without its last line if that ends within a sentence."""
    before, _, last = text.rstrip().rpartition("\n")
    return text if _SENTENCE_END.search(last) else before


def labelled_lines(text: str, labels: Collection[str], prompt: str = "") -> list[tuple[str, str]]:
    """The lines of a text as pairs (label, text after it). Labels are spelled as in `labels`; a
    line without a label has "". Lines without text are left out, and so are lines that only
    introduce others ("Here it is:").

    Case, numbers, bullets, bold type and a remark in brackets behind a label do not matter. If
    `prompt` ends with a label, a first line without a label gets that one.
    """
    longest_first = sorted(labels, key=len, reverse=True)
    names = "|".join(re.escape(label) for label in longest_first)
    labelled = re.compile(rf"(?i)[\W\d_]*({names})\s*(?:\([^()]*\))?[ \t*]*:[ \t*]*(.*)")
    spelling = {label.casefold(): label for label in labels}
    last_line = prompt.rstrip().rpartition("\n")[2]
    opening = spelling.get(last_line.rstrip(".:").casefold(), "")
    pairs: list[tuple[str, str]] = []
    for line in text.split("\n"):
        value = line.strip(" \t\r*")
        label = ""
        match = labelled.fullmatch(value)
        if match:
            label = spelling.get(match[1].casefold(), "")
            value = match[2]
        elif not pairs and not _OTHER_LABEL.fullmatch(value):
            label = opening
        if re.search(r"\w", value) and (label or not value.endswith(":")):
            pairs.append((label, value))
    return pairs


def labelled_values(
    text: str, fields: Mapping[str, str], prompt: str = ""
) -> dict[str, str] | Unparsed:
    """The text behind each label, by field. fields: the field of each label.

    `Unparsed` unless each label stands exactly once with a text, and no unlabelled line stands
    between labelled ones.
    """
    pairs = labelled_lines(text, fields, prompt)
    labels = [label for label, _ in pairs]
    for label in fields:
        count = labels.count(label)
        if count != 1:
            return Unparsed(f"{label}: stands {count} times, expected once")
    places = [labels.index(label) for label in fields]
    if "" in labels[min(places) : max(places)]:
        return Unparsed("text without a label between the lines")
    values = dict(pairs)
    return {name: values[label] for label, name in fields.items()}
