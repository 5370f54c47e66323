"""Answers that were asked elsewhere, matched to the items that they answer: see docs/logs.md."""

import json
import re
from collections import Counter, defaultdict
from functools import lru_cache, partial
from pathlib import Path

import pandas as pd
from tqdm import tqdm

from tomlab.asking.likelihood import is_weighed
from tomlab.asking.protocol import Benchmark, strange_methods
from tomlab.errors import InputError, refuse
from tomlab.models.content import has_error
from tomlab.models.specs import TakenModel
from tomlab.paths import user_path
from tomlab.records import logs
from tomlab.records.tidy import AS_ASKED, REVERSED, check, read

# What tells one answer of a log from another.
ANSWER = ["item_id", "model", "method", "log_sample", "options_shown"]
_SLOW = 2.0  # seconds after which a bar tells how far a log is read
_OPTION = re.compile(r"(?m)^[^\w\n]*([A-Da-d])[).:\]]+[^\S\n]*(.+)$")  # as prompts list it
_json = partial(json.dumps, ensure_ascii=False)


class Unreadable(str):
    """A line about a row of a log without an answer, where other lines are about items."""

    __slots__ = ()


# The columns of docs/logs.md in the table of responses.
_COLUMNS = [
    "item_id",
    "model",
    "method",
    "sample",
    "response",
    "verdict",
    "finish_reason",
    "error",
    "prompt_tokens",
    "completion_tokens",
    "messages",
    "options_shown",
    "how",
    "log_model",
    "log_sample",
    "place",
    "request_key",
]


def given(model: TakenModel, benchmark: str) -> pd.DataFrame:
    """The answers that were taken for a model. Errors: `InputError` where there are none."""
    responses = read("responses", user_path(f"{model.folder}/{benchmark}.parquet"))
    return responses.assign(model=model.name)


def matched(
    benchmark: Benchmark, items: pd.DataFrame, path: Path, model: str, method: str
) -> tuple[pd.DataFrame, list[str]]:
    """The answers of a log as responses with the columns of docs/logs.md, and a line for each row
    that is left out: `Unreadable` where it has no answer, else why it fits no item.

    model: which of several, or its name where the log has none; method: where the log has none.
    Errors: `InputError` for what is no log, several models and methods that the benchmark lacks.
    """
    log = logs.read(path)
    candidates = _Candidates(benchmark, items, path)
    responses = []
    left_out: list[str] = []
    for entry in tqdm(log.entries, path.name, log.rows, unit=" answers", delay=_SLOW):
        if isinstance(entry, logs.LeftOut):
            left_out.append(Unreadable(f"{entry.place}: {entry.reason}"))
            continue
        entry_method = entry.method or method
        item, options, reason = candidates.match(entry, entry_method)
        if reason:
            left_out.append(f"{entry.place}: {entry.item_id or entry.question!r}: {reason}")
        else:
            responses += _responses(entry, item, options, model, entry_method, path)
    if left_out and not responses and all(isinstance(line, Unreadable) for line in left_out):
        refuse(left_out, str(path), 5)
    table = _of_one_model(pd.DataFrame(responses, columns=_COLUMNS), path, model)
    table = table.assign(harness=log.harness, log=path.name, asked_as=AS_ASKED, prompt_hash="")
    return table, left_out


class _Candidates:
    """The items that an answer may belong to, by what a log can know them by."""

    def __init__(self, benchmark: Benchmark, items: pd.DataFrame, path: Path):
        self.benchmark = benchmark
        self.items = items
        self.path = path
        self.by_id = defaultdict(list)
        self.by_question = defaultdict(list)
        for item in items.to_dict("records"):
            self.by_id[item["item_id"]].append(item)
            self.by_question[_plain(item["story"]), _plain(item["question"])].append(item)
        self.by_prompt: dict[str, dict] = {}
        self.counts: Counter[tuple] = Counter()  # how often the items of one question were answered

    def match(self, entry: logs.Entry, method: str) -> tuple[dict, list[str], str]:
        """The item of an answer with its options as they were shown, or why there is none."""
        matches = self.of(entry, method)
        if not matches:
            return {}, [], "no item has its id, its story and question, or its prompt"
        if not _have_one_answer(matches):
            return {}, [], "several items match, and their right answers differ"
        # BigToM's backward controls are one question twice: its answers are theirs in turn.
        question = (matches[0]["item_id"], entry.model, method, entry.sample)
        item = matches[self.counts[question] % len(matches)]
        self.counts[question] += 1
        options = _order(_last(entry), tuple(entry.options), tuple(item["choices"]))
        if len(item["choices"]) and entry.answer and not options:
            reason = "other options" if entry.options else "no options, and letters mean nothing"
            return item, [], f"the log has {reason}"
        return item, options, ""

    def of(self, entry: logs.Entry, method: str) -> list[dict]:
        """The items with the id, else the story and question, else the prompt of an answer. An id
        may be that of another version of an item: none counts where the log has another story.
        """
        by_prompt = self._items_by_prompt(method)
        matches = self.by_id.get(entry.item_id, [])
        if not matches and entry.question:
            matches = self.by_question.get((_plain(entry.story), _plain(entry.question)), [])
        if not matches and entry.prompt:
            matches = by_prompt.get(_without_options(_last(entry)), [])
        text = entry.story or " ".join(message["content"] for message in entry.prompt)
        if not text:
            return matches
        return [item for item in matches if _tells_story(text, item)]

    def _items_by_prompt(self, method: str) -> dict:
        """The items by what a method that makes one call sends. Errors: `InputError` for a method
        that the benchmark does not have.
        """
        if method in self.by_prompt:
            return self.by_prompt[method]
        if not method:
            expected = f"expected --method with one of {', '.join(self.benchmark.METHODS)}"
            raise InputError(f"{self.path}: found no word on the method, {expected}")
        refuse(strange_methods(self.benchmark, {"--method": [method]}), str(self.path))
        items_by_prompt = self.by_prompt[method] = defaultdict(list)
        how = self.benchmark.METHODS[method]
        has_two_calls = getattr(how, "first", None) or getattr(how, "reminder", False)
        # A prompt by which options are weighed shows none of them to know an item by.
        if not has_two_calls and not is_weighed(method):
            for item in self.benchmark.asked(self.items, method).to_dict("records"):
                prompt = self.benchmark.messages(item, method)[-1]["content"]
                items_by_prompt[_without_options(prompt)].append(item)
        return items_by_prompt


def _have_one_answer(items: list[dict]) -> bool:
    return len({(*sorted(item["choices"]), str(item["answer"])) for item in items}) == 1


def _tells_story(text: str, item: dict) -> bool:
    """Whether a text of a log has an item's story; a prompt has one of the two."""
    plain = _plain(text)
    return any(name in item and _plain(item[name]) in plain for name in ("story", "full_story"))


def _responses(
    entry: logs.Entry, item: dict, options: list[str], model: str, method: str, path: Path
) -> list[dict]:
    """An answer and its repeats; a failed request and a verdict alone have no text."""
    options_shown = ""
    if options and options != [*item["choices"]]:
        options_shown = _json(options)
    texts: list[str | None] = [*entry.answer] or [None]
    rows = []
    for sample, text in enumerate(texts, start=entry.sample):
        row = {
            "item_id": item["item_id"],
            "model": entry.model or model,
            "method": method,
            "sample": sample,
            "response": text,
            "verdict": None if entry.answer else entry.verdict,  # on an answer, ours counts
            "finish_reason": entry.finish_reason,
            "error": entry.error,
            "prompt_tokens": entry.prompt_tokens,
            "completion_tokens": entry.completion_tokens,
            "messages": _json(entry.prompt),
            "options_shown": options_shown,
            "how": _json(entry.how),
            "log_model": entry.model,
            "log_sample": sample,
            "place": entry.place,
            "request_key": f"{path.name}/{entry.place}",
        }
        rows.append(row)
    return rows


def _of_one_model(responses: pd.DataFrame, path: Path, model: str) -> pd.DataFrame:
    """The responses of the model that was named, where a log has several."""
    if model:
        is_named = responses["log_model"].isin(["", model])
        if is_named.any():
            responses = responses[is_named]
    names = sorted(responses["model"].unique())
    if len(names) > 1 or "" in names:
        raise InputError(f"{path}: found the models {names}, expected --model to name one")
    return responses.reset_index(drop=True)


def without_superseded(responses: pd.DataFrame) -> pd.DataFrame:
    """Responses without the failed requests that were asked again later, or answered anywhere."""
    has_failed = responses["error"].map(has_error)
    if not has_failed.any():
        return responses
    answers = responses.set_index(ANSWER).index
    is_answered = answers.isin(answers[~has_failed])
    is_asked_again = responses.duplicated(ANSWER, keep="last")
    return responses[~has_failed | ~(is_answered | is_asked_again)]


def numbered(table: pd.DataFrame) -> pd.DataFrame:
    """Answers with a number each, by item and model. Of an item that was shown with its two options
    in both orders, those in the other order than ours are `REVERSED`, with numbers behind the rest.
    """
    question = ["item_id", "model", "method"]
    is_other_order = table["options_shown"].map(_count_of_options) == 2
    orders = is_other_order.groupby([table[name] for name in question])
    has_both = orders.transform("nunique").eq(2)
    asked_as = (is_other_order & has_both).map({True: REVERSED, False: AS_ASKED})
    table = table.assign(asked_as=asked_as)
    table = table.sort_values(["asked_as", "log_sample"], kind="stable", ignore_index=True)
    return table.assign(sample=table.groupby(question).cumcount())


@lru_cache(maxsize=20_000)
def _count_of_options(shown: str) -> int:
    return len(json.loads(shown)) if shown else 0


def scores(items: pd.DataFrame, taken: pd.DataFrame) -> pd.DataFrame:
    """The scores table of verdicts by others: the column `harness` says in what kind of file."""
    table = taken.assign(
        outcome=taken["verdict"].map({True: "correct", False: "wrong"}),
        score=taken["verdict"].astype(float),
        words="",
        chosen=None,
        by_released_rule=None,
    )
    conditions = ["item_id", *items.columns.difference(taken.columns)]
    return check(table.merge(items[conditions], on="item_id"), "scores", "verdicts")


@lru_cache(maxsize=50_000)
def _plain(text: str) -> str:
    """A text in which white space does not matter."""
    return " ".join(text.split())


@lru_cache(maxsize=50_000)
def _without_options(prompt: str) -> tuple[str, ...]:
    """A prompt without its options, and these in no order."""
    options = sorted(_plain(option) for _, option in _OPTION.findall(prompt))
    return _plain(_OPTION.sub("", prompt)), *options


def _last(entry: logs.Entry) -> str:
    """The last message that a model was sent; "" where the log has none."""
    return entry.prompt[-1]["content"] if entry.prompt else ""


@lru_cache(maxsize=50_000)
def _order(prompt: str, listed: tuple[str, ...], choices: tuple[str, ...]) -> list[str]:
    """An item's options in the order shown: as the prompt lists them, else as the log does; none
    where neither does.
    """
    text_of = {_plain(option): option for option in choices}
    in_prompt = []
    for letter, option in _OPTION.findall(prompt):
        if _plain(option) in text_of:
            in_prompt.append((letter.upper(), _plain(option)))
    by_letter = [option for _, option in sorted(in_prompt[-len(choices) :])]
    for options in (by_letter, [*map(_plain, listed)]):
        if sorted(options) == sorted(text_of):
            return [text_of[option] for option in options]
    return []
