"""Matches answers from other harnesses' logs to the items that they answer: see docs/logs.md."""

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

# The columns that together identify one answer of a log.
ANSWER = ["item_id", "model", "method", "log_sample", "options_shown"]
_SLOW = 2.0  # seconds of reading after which a progress bar appears
_OPTION = re.compile(r"(?m)^[^\w\n]*([A-Da-d])[).:\]]+[^\S\n]*(.+)$")  # as prompts list options
_json = partial(json.dumps, ensure_ascii=False)


class Unreadable(str):
    """A message about a log row without an answer; other messages concern rows that fit no item."""

    __slots__ = ()


# The columns that docs/logs.md describes for the responses table.
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
    """The responses taken from a log for a model. Errors: `InputError` if there are none."""
    responses = read("responses", user_path(f"{model.folder}/{benchmark}.parquet"))
    return responses.assign(model=model.name)


def matched(
    benchmark: Benchmark, items: pd.DataFrame, path: Path, model: str, method: str
) -> tuple[pd.DataFrame, list[str]]:
    """A log's answers as responses (columns: docs/logs.md), and a message for each row left out.

    A message is `Unreadable` if the row has no answer; else it says why the row fits no item.
    model: which of the log's models, or a name if the log has none; method: used for rows that name
    none. Errors: `InputError` for a file that is no log, for several models, for unknown methods.
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
    """A benchmark's items, to be found by id, by story and question, or by prompt."""

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
        self.counts: Counter[tuple] = Counter()  # answers so far to each question

    def match(self, entry: logs.Entry, method: str) -> tuple[dict, list[str], str]:
        """The item of an answer, its options in the order shown, and "" or why none fits."""
        matches = self.of(entry, method)
        if not matches:
            return {}, [], "no item has its id, its story and question, or its prompt"
        if not _have_one_answer(matches):
            return {}, [], "several items match, and their right answers differ"
        # BigToM's backward controls ask one question twice, so two items match: they take turns.
        question = (matches[0]["item_id"], entry.model, method, entry.sample)
        item = matches[self.counts[question] % len(matches)]
        self.counts[question] += 1
        options = _order(_last(entry), tuple(entry.options), tuple(item["choices"]))
        if len(item["choices"]) and entry.answer and not options:
            reason = "other options" if entry.options else "no options, and letters mean nothing"
            return item, [], f"the log has {reason}"
        return item, options, ""

    def of(self, entry: logs.Entry, method: str) -> list[dict]:
        """The items with the answer's id, else with its story and question, else with its prompt.

        Items whose story the log does not contain are dropped: an id may be of another version.
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
        """The items by the prompt that the method sends; empty for two calls and likelihood.

        Errors: `InputError` if the method is missing or unknown to the benchmark.
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
        # Prompts of likelihood methods show no options, so they cannot identify an item.
        if not has_two_calls and not is_weighed(method):
            for item in self.benchmark.asked(self.items, method).to_dict("records"):
                prompt = self.benchmark.messages(item, method)[-1]["content"]
                items_by_prompt[_without_options(prompt)].append(item)
        return items_by_prompt


def _have_one_answer(items: list[dict]) -> bool:
    return len({(*sorted(item["choices"]), str(item["answer"])) for item in items}) == 1


def _tells_story(text: str, item: dict) -> bool:
    """Whether a text of a log contains the item's `story` or its `full_story`."""
    plain = _plain(text)
    return any(name in item and _plain(item[name]) in plain for name in ("story", "full_story"))


def _responses(
    entry: logs.Entry, item: dict, options: list[str], model: str, method: str, path: Path
) -> list[dict]:
    """A response row for each repeat of an answer; one without text if there is no answer."""
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
            "verdict": None if entry.answer else entry.verdict,  # we score answers ourselves
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
    """The responses that name `model` or no model in the log; all responses if there are none.

    Errors: `InputError` if what remains has several models or one without a name.
    """
    if model:
        is_named = responses["log_model"].isin(["", model])
        if is_named.any():
            responses = responses[is_named]
    names = sorted(responses["model"].unique())
    if len(names) > 1 or "" in names:
        raise InputError(f"{path}: found the models {names}, expected --model to name one")
    return responses.reset_index(drop=True)


def without_superseded(responses: pd.DataFrame) -> pd.DataFrame:
    """Drops failed requests that were repeated later in the table, or answered anywhere in it."""
    has_failed = responses["error"].map(has_error)
    if not has_failed.any():
        return responses
    answers = responses.set_index(ANSWER).index
    is_answered = answers.isin(answers[~has_failed])
    is_asked_again = responses.duplicated(ANSWER, keep="last")
    return responses[~has_failed | ~(is_answered | is_asked_again)]


def numbered(table: pd.DataFrame) -> pd.DataFrame:
    """Numbers the answers to each question (item, model and method) in the column `sample`.

    If a question was asked with its two options in both orders, answers in the order that is not
    ours get `asked_as` = `REVERSED` and the last numbers.
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
    """The scores table of verdicts that logs give; `harness` says which kind of log gave each."""
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
    """The text with single spaces in place of all white space."""
    return " ".join(text.split())


@lru_cache(maxsize=50_000)
def _without_options(prompt: str) -> tuple[str, ...]:
    """A prompt without its options, followed by the options in sorted order."""
    options = sorted(_plain(option) for _, option in _OPTION.findall(prompt))
    return _plain(_OPTION.sub("", prompt)), *options


def _last(entry: logs.Entry) -> str:
    """The last message that a model was sent; "" where the log has none."""
    return entry.prompt[-1]["content"] if entry.prompt else ""


@lru_cache(maxsize=50_000)
def _order(prompt: str, listed: tuple[str, ...], choices: tuple[str, ...]) -> list[str]:
    """An item's options in the order shown: that of the prompt, else that of the log's list.

    Empty if neither lists exactly these options.
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
