"""BigToM: social reasoning from causal templates.

Gandhi, Fränken, Gerstenberg and Goodman (2023), "Understanding Social Reasoning in Language Models
with Language Models", NeurIPS Datasets and Benchmarks. Composition: Sec. 3.3, Fig. 6; prompts:
App. E, Fig. 9-12; metrics: Sec. 4.1, Tables 7-9; regression: App. F.
"""

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import pandas as pd

from tomlab import prompts
from tomlab.answers import unanswered, visible
from tomlab.benchmarks.bigtom_templates import parse_generation, read_templates
from tomlab.errors import InputError
from tomlab.scoring import baselines, failed, pairs
from tomlab.stats import cluster_interval
from tomlab.tables import OUTCOMES, check

__all__ = ["parse_generation"]  # this benchmark's, kept with the templates it parses

NAME = "bigtom"
VARIABLES = ("forward_belief", "forward_action", "backward_belief")
CONDITIONS = ("true_belief", "false_belief", "true_control", "false_control")
KEYS = ("a", "b")


@dataclass(frozen=True)
class Method:
    """How a question is put. main_only: asked of the 12 true- and false-belief cells only, as in
    Table 7; the controls and percept-to-belief are asked 0-shot (Tables 8, 9).
    """

    instruction: str
    example: str | None
    cot: bool
    max_tokens: int
    main_only: bool

    @property
    def prompts(self) -> tuple[str, ...]:
        """The names of the prompt files that go into a request."""
        shown = ("bigtom/example-question", self.example) if self.example else ()
        return (self.instruction, *shown)


# The release gives chat models the chain-of-thought instruction for chat models (Fig. 10) with
# and without the example; Fig. 12 prints the one for text models. Limits: 100 tokens are the
# release's default; it gives text models 200 for the thought and 30 for the answer.
METHODS = {
    "0-shot": Method("bigtom/instruction", None, False, 100, main_only=False),
    "0-shot-cot": Method("bigtom/instruction-cot", None, True, 230, main_only=True),
    "1-shot": Method("bigtom/instruction", "bigtom/example-answer", False, 100, main_only=True),
    "1-shot-cot": Method(
        "bigtom/instruction-cot", "bigtom/example-answer-cot", True, 230, main_only=True
    ),
}


def read_released(path: Path | str, seed: int = 0) -> pd.DataFrame:
    """The items of a released `bigtom.csv` (or of a template file of ours): 25 a template.

    Returns an items table with the columns of `compose`. Errors: `InputError` by row and field.
    """
    return compose(read_templates(path), seed)


def compose(templates: pd.DataFrame, seed: int = 0) -> pd.DataFrame:
    """The 25 conditions of each template (Sec. 3.3, Fig. 6), as an items table.

    Beyond the columns of every items table: `variable`, `condition`, `initial_belief` (1: the
    sentence that states it is in the story), `background` (the part of the story that sibling
    items share), `reality` (the option that fits the world as it is, whatever the agent knows) and
    `duplicate_of` (the two backward-belief controls are one and the same item, a known quirk).
    `choices` are shuffled by `seed` and the item's id.
    """
    if templates.empty:
        raise InputError("bigtom items: there are no templates to compose them from")
    items = [item for t in templates.to_dict("records") for item in _conditions(t, seed)]
    return check(pd.DataFrame(items), "items", "bigtom items")


def _conditions(template: Mapping[str, str], seed: int) -> list[dict]:
    cells = list(product((0, 1), VARIABLES, CONDITIONS))
    cells.append((0, "percept_to_belief", "true_belief"))
    return [_item(template, *cell, seed) for cell in cells]


def _item(t: Mapping[str, str], initial: int, variable: str, condition: str, seed: int) -> dict:
    """One item. The initial-state answer is right where the agent missed the event, and where the
    state never changed: in both controls and, since the story stops before the event, in
    percept-to-belief. (The release keys percept-to-belief with the other answer: Sec. 3.1 means
    the initial belief.)
    """
    kind = "action" if variable == "forward_action" else "belief"
    aware, not_aware = t[f"{kind}_answer_aware"], t[f"{kind}_answer_not_aware"]
    background = [t["context"], t["desire"], t["percept"], *([t["belief"]] if initial else [])]
    happens = variable != "percept_to_belief"
    changed = happens and condition in ("true_belief", "false_belief")
    if happens:
        background.append(t["causal_event"] if changed else t["random_event"])
    story = [*background, *_last_sentence(t, variable, condition)]
    item_id = f"{t['template_id']}/{variable}/{condition}/{initial}"
    twin = variable == "backward_belief" and condition == "false_control"
    return {
        "benchmark": NAME,
        "item_id": item_id,
        "group_id": t["template_id"],
        "question_type": kind,
        "story": " ".join(story),
        "question": t[f"{kind}_question"],
        "choices": _shuffled([aware, not_aware], f"{seed}/{item_id}"),
        "answer": aware if changed and condition == "true_belief" else not_aware,
        "source": t["source"],
        "variable": variable,
        "condition": condition,
        "initial_belief": initial,
        "background": " ".join(background),
        "reality": aware if changed else not_aware,
        "duplicate_of": item_id.replace("false_control", "true_control") if twin else "",
    }


def _last_sentence(t: Mapping[str, str], variable: str, condition: str) -> list[str]:
    """What tells of the agent's mind: the percept or, backward, the action it led to."""
    aware = condition.startswith("true")
    if variable == "percept_to_belief":
        return []
    if variable == "backward_belief":
        return [t["action_new_state" if condition == "true_belief" else "action_initial_state"]]
    event = "event" if condition.endswith("belief") else "random_event"
    return [t[f"aware_of_{event}" if aware else f"not_aware_of_{event}"]]


def _shuffled(choices: list[str], seed: str) -> list[str]:
    return random.Random(seed).sample(choices, len(choices))


def asked(items: pd.DataFrame, method: str) -> pd.DataFrame:
    """The items that a method is asked (all, or the 12 true- and false-belief cells)."""
    if method not in METHODS:
        raise InputError(f"bigtom: no method {method!r}; there are: {', '.join(METHODS)}")
    if not METHODS[method].main_only:
        return items
    main = items["condition"].isin(["true_belief", "false_belief"])
    return items[main & items["variable"].isin(VARIABLES)]


def messages(
    item: Mapping, method: str, replaced: Mapping[str, str] | None = None
) -> list[dict[str, str]]:
    """The chat messages for one item: instruction, the example as a turn of its own, the question.

    replaced: a user's own prompt files by name (`prompts` in `params.yaml`).
    """
    texts = [prompts.load(name, replaced) for name in METHODS[method].prompts]
    roles = ("system", "user", "assistant")
    turns = [{"role": r, "content": t} for r, t in zip(roles, texts, strict=False)]
    return [*turns, {"role": "user", "content": question_text(item)}]


def question_text(item: Mapping) -> str:
    """Story, question and lettered options in the layout of Fig. 11."""
    options = "\n".join(f"{k}){text}" for k, text in zip(KEYS, item["choices"], strict=True))
    return (
        f"Story: {item['story']}\nQuestion: {item['question']}\n"
        f"Choose one of the following:\n{options}"
    )


def shared_prefix(item: Mapping, method: str) -> str:
    """The beginning of `question_text` that the item shares with its siblings."""
    return f"Story: {item['background']}"


def reference(item: Mapping, method: str, seed: int) -> dict[str, str]:
    """What the baselines answer: `gold`, `omniscient` (as if all knew all) and `random`."""
    chosen = baselines(item, method, seed)
    return {name: f"Answer: {_key_of(item, text)}){text}" for name, text in chosen.items()}


def _key_of(item: Mapping, text: str) -> str:
    return KEYS[list(item["choices"]).index(text)]


_MARKER = re.compile(r"answer\W{0,4}:", re.IGNORECASE)
# The key with its bracket or full stop, or alone on its line; markdown around it is let pass.
_LEADING_KEY = re.compile(
    r"[\s\"'*_(\[<`]*([ab])(?:[\s*_`]*[)\].>]|[\W_]*?(?:\n|\Z))", re.IGNORECASE
)
_ANY_KEY = re.compile(r"(?<![^\W_])([ab])\)", re.IGNORECASE)
_LINE_KEY = re.compile(r"^\W*([ab])\)", re.IGNORECASE | re.MULTILINE)


def read_answer(text: str, finish_reason: str, cot: bool) -> tuple[str, str | None]:
    """The outcome-or-"answered" of one answer, and the option key it names.

    text: the whole answer; cot: it was to reason first. The first "Answer:" opens the answer. A
    key that leads it settles it, even if the rest was cut off; otherwise it must name exactly one
    option. Naming both, or none, or listing the options again is `unparsed`. Chain of thought
    without "Answer:" counts only as a bare answer: it leads with a key, names no other and was not
    cut off.
    """
    said, open_thought = visible(text)
    marker = _MARKER.search(said)
    answer = said[marker.end() :] if marker else said
    lists_both = len({key.lower() for key in _LINE_KEY.findall(answer)}) > 1
    leading = None if lists_both or open_thought else _LEADING_KEY.match(answer)
    named = {key.lower() for key in _ANY_KEY.findall(answer)}
    cut_off = open_thought or finish_reason == "length"
    reasons_only = cot and not marker
    if leading and not (reasons_only and (cut_off or len(named) > 1)):
        return "answered", leading[1].lower()
    if len(named) == 1 and not cut_off and not reasons_only:
        return "answered", named.pop()
    return unanswered(said, finish_reason, open_thought), None


def released_rule(text: str, right_key: str, method: str) -> bool | None:
    """The verdict of the released code, for comparison: True as soon as the right key stands
    anywhere, False if only the other does, None where it turns to a language model as grader.
    """
    answer = text.strip()
    if method == "0-shot-cot":
        # One character more than "Answer:" has is skipped, so "Answer:a)" loses its key; without
        # "Answer:" (index -1) the first seven are.
        answer = answer[answer.find("Answer:") + 8 :]
    answer = answer.lower()
    if f"{right_key})" in answer:
        return True
    return False if any(f"{key})" in answer for key in KEYS) else None


def score(items: pd.DataFrame, responses: pd.DataFrame) -> pd.DataFrame:
    """One row a response, with `outcome`, `score` (1 correct, else 0) and the item's conditions.

    Details: `chosen` (the option's text, None if none), `by_released_rule` (see `released_rule`).
    Errors: `InputError` for responses to unknown items or with an unknown method.
    """
    rows = [_scored(*pair) for pair in pairs(items, responses, METHODS)]
    return check(pd.DataFrame(rows), "scores", "bigtom scores")


def _scored(item: Mapping, response: Mapping) -> dict:
    right_key, chosen, by_released = _key_of(item, item["answer"]), None, None
    if failed(response):
        outcome = "error"
    else:
        text, method = response["response"], response["method"]
        by_released = released_rule(text, right_key, method)
        outcome, key = read_answer(text, response["finish_reason"], METHODS[method].cot)
        if key is not None:
            chosen = item["choices"][KEYS.index(key)]
            outcome = "correct" if key == right_key else "wrong"
    kept = ("item_id", "model", "method", "sample")
    conditions = ("group_id", "source", "variable", "condition", "initial_belief")
    return {
        **{name: response[name] for name in kept},
        **{name: item[name] for name in conditions},
        "outcome": outcome,
        "score": float(outcome == "correct"),
        "chosen": chosen,
        "by_released_rule": by_released,
    }


def metrics(scores: pd.DataFrame, *, resamples: int = 2000, seed: int = 0) -> pd.DataFrame:
    """The metrics table of one or more models; intervals resample templates.

    accuracy: by `<variable>/<condition>/<initial belief>`; tb_and_fb: both right on the same
    template, by `<variable>/tb_and_fb/<initial belief>` and `…/control_tb_and_fb/…`; outcome_rate:
    the share of each outcome among all answers; released_rule: accuracy over all answers by the
    released code's reading, with what it would send to a grader as wrong. `n` counts answers, for
    tb_and_fb pairs.
    """
    rows = []
    for (model, method), part in scores.groupby(["model", "method"], sort=False):
        for metric, condition, values, groups in _series(part):
            interval = cluster_interval(values, groups, resamples=resamples, seed=seed)
            row = {"benchmark": NAME, "model": model, "method": method}
            rows.append(row | {"metric": metric, "condition": condition} | vars(interval))
    return check(pd.DataFrame(rows), "metrics", "bigtom metrics")


def _series(part: pd.DataFrame):
    """The series behind each metric of one model and method: values with their templates."""
    cells = part.groupby(["variable", "condition", "initial_belief"], sort=False)
    for (variable, condition, initial), cell in cells:
        yield "accuracy", f"{variable}/{condition}/{initial}", cell["score"], cell["group_id"]
    for (variable, initial), cell in part.groupby(["variable", "initial_belief"], sort=False):
        for name, pair in (("", "belief"), ("control_", "control")):
            if both := _both(cell, pair):
                yield "tb_and_fb", f"{variable}/{name}tb_and_fb/{initial}", *both
    for outcome in OUTCOMES:
        yield "outcome_rate", outcome, part["outcome"] == outcome, part["group_id"]
    lenient = part["by_released_rule"].eq(True)
    yield "released_rule", "all", lenient, part["group_id"]


def _both(cell: pd.DataFrame, pair: str) -> tuple[pd.Series, pd.Series] | None:
    """1 where the true and the false version of a template are both right, else 0.

    Only templates of which both versions were asked.
    """
    wanted = cell[cell["condition"].isin([f"true_{pair}", f"false_{pair}"])]
    wide = wanted.pivot(index=["group_id", "sample"], columns="condition", values="score").dropna()
    if wide.shape[1] < 2 or wide.empty:
        return None
    return wide.min(axis=1), pd.Series(wide.index.get_level_values("group_id"))


def circularity(scores: pd.DataFrame) -> pd.DataFrame | str:
    """App. F's logistic regression: correct ~ model x data source, on the 0-shot 12 cells.

    Standard errors are clustered by template. All templates count (the paper drew as many of the
    larger source as the smaller one has). Returns one row a coefficient (`term, b, se, p, n,
    n_groups`), or the reason why there are none: fewer than two models or data sources, or a model
    that was always right, always wrong or never asked on one source.
    """
    main = scores["condition"].isin(["true_belief", "false_belief"]) & scores["variable"].isin(
        VARIABLES
    )
    data = scores[main & (scores["method"] == "0-shot")]
    if data["model"].nunique() < 2 or data["source"].nunique() < 2:
        return "it needs items from two data sources and two models"
    share = data.pivot_table("score", "model", "source").stack(future_stack=True)
    if stuck := share.index[share.isna() | share.isin([0.0, 1.0])].tolist():
        model, source = stuck[0]
        return (
            f"{model} is always right, always wrong or never asked on {source}, so that the "
            "regression has no finite solution"
        )
    # Imported here: it takes two seconds, and one table needs it.
    import statsmodels.formula.api as smf

    clusters = data["group_id"].astype("category").cat.codes
    fit = smf.logit("score ~ model * source", data).fit(
        disp=False, cov_type="cluster", cov_kwds={"groups": clusters}
    )
    return (
        pd.DataFrame({"term": fit.params.index, "b": fit.params, "se": fit.bse, "p": fit.pvalues})
        .assign(n=len(data), n_groups=data["group_id"].nunique())
        .reset_index(drop=True)
    )
