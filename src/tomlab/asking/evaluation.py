"""Asks a model about a benchmark's items: plans questions, makes requests, tabulates responses."""

import json
import random
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from tomlab.asking import likelihood, prompts, taken
from tomlab.asking.protocol import Benchmark, strange_methods
from tomlab.errors import InputError, refuse
from tomlab.models.ask import ask
from tomlab.models.specs import FILTERED, PROTOCOL, Limits, ModelSpec, Request, Response, TakenModel
from tomlab.paths import RESPONSE_STORE
from tomlab.records.asked import as_shown, first_methods, options_of
from tomlab.records.tidy import AS_ASKED, NO_STORY, REVERSED, check

# What a baseline answers to the first of two calls.
_NOTHING = dict.fromkeys(("gold", "omniscient", "random"), "A baseline does not reason.")
MOST_QUESTIONS = 1_000_000  # for one benchmark and model, as they are all held in memory


@dataclass(frozen=True)
class Question:
    """One item put to a model by one method."""

    item: Mapping  # with its options in the order shown
    method: str
    sample: int  # tells repeats apart
    asked_as: str = AS_ASKED  # see `asked_as` in `records.tidy`
    prompts: Mapping[str, str] = field(default_factory=dict)  # files of another wording
    number: int = 0  # `sample` in the tables; differs between ways of asking


def plan(
    benchmark: Benchmark,
    items: pd.DataFrame,
    model: ModelSpec,
    methods: Sequence[str],
    *,
    samples: int = 1,
    seed: int = 0,
    orders: int = 1,
    wordings: Sequence[Path | str] = (),
) -> list[Question]:
    """The questions to ask a model, method by method, always about whole groups of `UNIT`.

    A model's entry may limit how many `groups` a method asks about (drawn by `seed`; a smaller draw
    is part of a larger one), and in `variants` how many of those are also asked in other ways. A
    baseline skips methods that it cannot answer; a model asked elsewhere gets the questions that
    its log answers. A method without items is skipped with a printed line. samples: repeats of
    each question. orders: 2 also asks two-option questions with swapped options. wordings: folders
    for `prompts.wording`. If the entry says `no_story`, questions with options are also asked
    without the story, by the benchmark's methods `WITHOUT_STORY`. Errors: `InputError` for unknown
    methods and too many questions.
    """
    groups = model.groups.get(benchmark.NAME, {})
    variants = model.variants.get(benchmark.NAME, {})
    methods_of_options: dict[str, Iterable[str]] = {
        f"models.{model.name}.groups.{benchmark.NAME}": groups,
        f"models.{model.name}.variants.{benchmark.NAME}": variants,
        f"{benchmark.NAME}.evaluation.methods": methods,
    }
    refuse(strange_methods(benchmark, methods_of_options), "params.yaml")

    methods = _with_items(benchmark, items, methods)
    other_wordings = []
    if model.provider != "baseline":
        other_wordings = [prompts.wording(folder) for folder in wordings]
    order = drawn(items, benchmark.UNIT, benchmark.STRATA, seed)
    questions = []
    for method in methods:
        chosen_items = items[items[benchmark.UNIT].isin(order[: groups.get(method)])]
        asked = benchmark.asked(chosen_items, method).to_dict("records")
        if model.provider == "taken":
            questions += _taken_questions(benchmark, model, method, asked)
        elif _has_answers(benchmark, model, method, asked):
            ways = _ways(variants.get(method), order, orders, other_wordings)
            if model.no_story and method in getattr(benchmark, "WITHOUT_STORY", ()):
                ways.append(_Way(NO_STORY, {}, order))
            for question in _questions(benchmark, method, asked, ways, samples):
                questions.append(question)
                if len(questions) > MOST_QUESTIONS:
                    found = f"found more than {MOST_QUESTIONS:,} questions to {model.name}"
                    groups_option = f"models.{model.name}.groups.{benchmark.NAME}"
                    advice = f"ask about fewer with {groups_option}, or repeat each less often with"
                    raise InputError(f"{benchmark.NAME}: {found}; {advice} run.samples")
    return questions


class _Way(NamedTuple):
    """A way of asking, with the files of its prompts and the groups that are asked this way."""

    asked_as: str
    prompts: Mapping[str, str]
    groups: Collection[str]


def _ways(
    limits: int | Mapping[Any, int | None] | None,
    order: Sequence[str],
    orders: int,
    wordings: Sequence[tuple[str, Mapping[str, str]]],
) -> list[_Way]:
    """The ways in which a method is asked, the protocol's own first.

    limits: the most groups to ask in the other ways, one number or a number for each; order: the
    groups as drawn; wordings: results of `prompts.wording`.
    """
    if not isinstance(limits, Mapping):
        limits = {REVERSED: limits, "wordings": limits}
    ways = [_Way(AS_ASKED, {}, order)]
    if orders > 1:
        ways.append(_Way(REVERSED, {}, {*order[: limits.get(REVERSED)]}))
    reworded_groups = {*order[: limits.get("wordings")]}
    for asked_as, files in wordings:
        ways.append(_Way(asked_as, files, reworded_groups))
    return ways


def _questions(
    benchmark: Benchmark, method: str, asked: Sequence[dict], ways: Sequence[_Way], samples: int
) -> Iterator[Question]:
    """Yields `samples` questions for each item and each way that changes what the item asks."""
    for item in asked:
        for rank, way in enumerate(ways):
            item_as_shown = as_shown(item, {"asked_as": way.asked_as})
            question = Question(item_as_shown, method, 0, way.asked_as, way.prompts)
            if way.asked_as != AS_ASKED:
                is_chosen = item[benchmark.UNIT] in way.groups
                if not is_chosen or not _changes(benchmark, question):
                    continue
            for sample in range(samples):
                yield replace(question, sample=sample, number=rank * samples + sample)


def _taken_questions(
    benchmark: Benchmark, model: TakenModel, method: str, asked: Sequence[dict]
) -> list[Question]:
    """The questions about `asked` items that a log of another harness answers by this method."""
    answers_by_item = defaultdict(list)
    for answer in taken.given(model, benchmark.NAME).query("method == @method").to_dict("records"):
        answers_by_item[answer["item_id"]].append(answer)
    questions = []
    for item in asked:
        for answer in answers_by_item[item["item_id"]]:
            sample = answer["sample"]
            item_as_shown = as_shown(item, answer)
            question = Question(item_as_shown, method, sample, answer["asked_as"], number=sample)
            questions.append(question)
    return questions


def _has_answers(
    benchmark: Benchmark, model: ModelSpec, method: str, asked: Sequence[Mapping]
) -> bool:
    """Whether a model can be asked by a method; prints a line if a baseline cannot answer it."""
    if not likelihood.is_asked_so(model, method):
        return False
    if model.provider != "baseline" or not asked:
        return True
    if model.model in benchmark.reference(asked[0], method, 0):
        return True
    print(f"{model.name} is left out of {method}: no {model.model} answer to it is known")
    return False


def _with_items(benchmark: Benchmark, items: pd.DataFrame, methods: Sequence[str]) -> Sequence[str]:
    """The methods that can ask about some item; prints why each other method is left out.

    Errors: `InputError` if no method is left.
    """
    if items.empty:
        return methods
    reasons = getattr(benchmark, "WITHOUT_ITEMS", {})
    with_items = []
    lines = []
    for method in methods:
        if benchmark.asked(items, method).empty:
            reason = reasons.get(method, "it has no item to ask about")
            lines.append(f"{benchmark.NAME}: {method} is left out: {reason}")
        else:
            with_items.append(method)
    if not with_items:
        refuse(lines, "params.yaml")
    for line in lines:
        print(line)
    return with_items


def _changes(benchmark: Benchmark, question: Question) -> bool:
    """Whether the question's way of asking changes what its item asks.

    Items with `tried` are never swapped, as they have orders of their own.
    """
    item = question.item
    method = question.method
    if likelihood.is_weighed(method):  # no options are shown; wordings are not varied
        return False
    if question.asked_as == REVERSED:
        return len(item["choices"]) == 2 and "tried" not in item
    if question.asked_as == NO_STORY:  # answers in free text are not compared
        return bool(options_of(item))
    # The item of a second call gets its reasoning only after the first call.
    item = {"reasoning": "", **item}
    usual_messages = benchmark.messages(item, method)
    return benchmark.messages(item, method, question.prompts) != usual_messages


def drawn(items: pd.DataFrame, unit: str, strata: Sequence[str], seed: int) -> list[str]:
    """All groups in an order drawn by `seed`, in which the levels of each stratum take turns.

    So the first n groups cover as many levels as possible of the first stratum, then of the second.
    unit: the column of groups; strata: the columns of levels.
    """
    groups = sorted(items[unit].unique())
    # Each group has its own draw, so that leaving some out keeps the order of the others.
    groups.sort(key=lambda name: random.Random(f"{seed}/{name}").random())
    if not strata:
        return groups
    levels = items.drop_duplicates(unit).set_index(unit).loc[groups, [*strata]]
    rounds = levels.groupby([*strata]).cumcount().sort_values(kind="stable")
    levels = levels.loc[rounds.index]
    turns = pd.DataFrame(index=levels.index)
    for stratum in strata:
        earlier_turns = [turns[name] for name in turns]
        turns[stratum] = levels.groupby([*earlier_turns, levels[stratum]]).cumcount()
    return list(turns.sort_values([*strata], kind="stable").index)


def requested(
    benchmark: Benchmark,
    questions: Sequence[Question],
    model: ModelSpec,
    *,
    seed: int = 0,
    replaced: Mapping[str, str] | None = None,
    max_tokens: Mapping[str, int | None] | None = None,
) -> list[Request]:
    """The requests that ask the questions, in the same order.

    seed: sent to engines, and the seed of `random`'s guesses; a model that samples gets another
    seed for each question. replaced: as for `prompts.load`. max_tokens: the limit of answers for
    each method (None: no limit); the limits in the model's entry come first.
    """
    limits = {**(max_tokens or {}), **model.answer_tokens.get(benchmark.NAME, {})}
    refuse(strange_methods(benchmark, {"max_tokens": limits}), f"{benchmark.NAME}, {model.name}")
    # All protocols ask at temperature 0.
    is_sampled = getattr(model, "temperature", PROTOCOL) not in (0, PROTOCOL)
    first_calls = first_methods(benchmark.METHODS)
    requests = []
    for question in questions:
        reference = _NOTHING
        if model.provider == "baseline" and question.method not in first_calls:
            guess = seed
            if question.asked_as != AS_ASKED:  # the baseline `random` guesses anew
                guess = random.Random(f"{seed}/{question.asked_as}").getrandbits(32)
            reference = benchmark.reference(question.item, question.method, guess)
        question_seed = seed
        if is_sampled:
            # With one seed for all questions, the answers of one repeat would go wrong together.
            lot = f"{seed}/{question.item['item_id']}/{question.method}"
            question_seed = random.Random(lot).getrandbits(30)
        request = _request(benchmark, question, limits, question_seed, reference, replaced or {})
        requests.append(request)
    return requests


def _request(
    benchmark: Benchmark,
    question: Question,
    limits: Mapping[str, int | None],
    seed: int,
    reference: Mapping[str, str],
    replaced: Mapping[str, str],
) -> Request:
    """The request that asks one question, see `requested`. reference: each baseline's answer."""
    item = question.item
    method = question.method
    files = {**replaced, **question.prompts}
    if likelihood.is_weighed(method):
        weighed = likelihood.weighed(benchmark, item, files)
        messages = [{"role": "user", "content": prompt} for prompt, _ in weighed]
        shared_prefix = ""
    else:
        weighed = ()
        messages = benchmark.messages(item, method, files)
        shared_prefix = benchmark.shared_prefix(item, method)

    return Request(
        messages=tuple(messages),
        max_tokens=limits.get(method, benchmark.METHODS[method].max_tokens),
        sample=question.sample,
        seed=seed,
        shared_prefix=shared_prefix,
        reference=reference,
        schema=benchmark.schema(method),
        purpose=f"{method} {question.asked_as}".rstrip(),
        weighed=weighed,
    )


async def evaluate(
    benchmark: Benchmark,
    questions: Sequence[Question],
    model: ModelSpec,
    *,
    limits: Limits | None = None,
    store: Path | str = RESPONSE_STORE,
    **options: Any,
) -> pd.DataFrame:
    """Ask all questions; the responses table has a row for each question and each first call.

    Order of rows: single calls, first calls, second calls, questions whose first call failed.
    options: of `requested`. Errors: those of `models.ask`, and `InputError` if there is no question
    or a larger share than `limits.max_error_share` failed (content filters cause no failure).
    """
    where = f"{benchmark.NAME}, {model.name}"
    limits = limits or Limits()
    if not questions:
        raise InputError(f"{where}: nothing to ask; see `methods`, `items`")
    if model.provider == "taken":
        return check(_taken_answers(benchmark, questions, model), "responses", where)

    async def answers_to(questions: Sequence[Question]) -> pd.DataFrame:
        """The responses table of one call of each question."""
        requests = requested(benchmark, questions, model, **options)
        responses = await ask(requests, model, store=store, limits=limits)
        _demand_few_errors(responses, limits, where)
        replaced = options.get("replaced") or {}
        return _answer_table(benchmark, questions, requests, responses, model.name, replaced)

    single_calls = []
    first_calls = []
    with_first_call = []
    for question in questions:
        first_method = getattr(benchmark.METHODS[question.method], "first", None)
        if first_method:
            with_first_call.append(question)
            first_calls.append(replace(question, method=first_method))
        else:
            single_calls.append(question)
    tables = [await answers_to([*single_calls, *first_calls])]
    if with_first_call:
        ready, failed = second_calls(benchmark, with_first_call, tables[0])
        if ready:
            tables.append(await answers_to(ready))
        tables.append(failed)
    return check(pd.concat(tables, ignore_index=True), "responses", where)


def _taken_answers(
    benchmark: Benchmark, questions: Sequence[Question], model: TakenModel
) -> pd.DataFrame:
    """The responses to these questions, from a log of another harness."""
    keys = [(question.item["item_id"], question.method, question.number) for question in questions]
    answers = taken.given(model, benchmark.NAME).set_index(["item_id", "method", "sample"])
    return answers.loc[keys].reset_index()


def _demand_few_errors(responses: Sequence[Response], limits: Limits, where: str) -> None:
    """Errors: `InputError` if a larger share of responses failed than `limits` allow."""
    errors = []
    for response in responses:
        if response.error is not None and not response.filtered:
            errors.append(response.error)
    if len(errors) > limits.max_error_share * len(responses):
        raise InputError(
            f"{where}: {len(errors)} of {len(responses)} requests failed (the last: {errors[-1]}), "
            f"more than limits.max_error_share = {limits.max_error_share}. Other answers are kept: "
            "running again asks for these alone"
        )


def _answer_table(
    benchmark: Benchmark,
    questions: Sequence[Question],
    requests: Sequence[Request],
    responses: Sequence[Response],
    model: str,
    replaced: Mapping[str, str],
) -> pd.DataFrame:
    """The responses table of one call of each question."""
    prompt_columns = {}
    rows = []
    for question, request, response in zip(questions, requests, responses, strict=True):
        way = question.method, question.asked_as
        if way not in prompt_columns:
            prompt_columns[way] = _prompt_columns(benchmark, question, replaced)
        row = {
            "item_id": question.item["item_id"],
            "model": model,
            "method": question.method,
            "sample": question.number,
            "asked_as": question.asked_as,
            "messages": json.dumps([*request.messages], ensure_ascii=False),
            **prompt_columns[way],
            "response": None,
            "finish_reason": FILTERED if response.filtered else None,
            "prompt_tokens": 0,
            "completion_tokens": 0,
            "error": response.error,
            "request_key": response.request_key,
        }
        reply = response.reply
        if reply is not None:
            row["response"] = reply.text
            row["finish_reason"] = reply.finish_reason
            row["prompt_tokens"] = reply.prompt_tokens
            row["completion_tokens"] = reply.completion_tokens
        if request.weighed and reply is not None:
            row["log_likelihoods"] = reply.text
            row["response"] = likelihood.said(
                benchmark, question.item, question.method, request.weighed, reply.text
            )
        rows.append(row)
    return pd.DataFrame(rows)


def _prompt_columns(
    benchmark: Benchmark, question: Question, replaced: Mapping[str, str]
) -> dict[str, str]:
    """The columns `prompt_hash` (12 hex digits) and `prompt_wording` of a question's prompts."""
    names = benchmark.METHODS[question.method].prompts
    files = {**replaced, **question.prompts}
    text = "\0".join(prompts.load(name, files) for name in names)
    wordings = prompts.origins(names, files)["prompt_wording"].unique()
    return {
        "prompt_hash": sha256(text.encode()).hexdigest()[:12],
        "prompt_wording": "; ".join(wordings),
    }


def second_calls(
    benchmark: Any, questions: Sequence[Question], first: pd.DataFrame
) -> tuple[list[Question], pd.DataFrame]:
    """The questions ready for their second call, and response rows for those that are not.

    Each ready item has the `reasoning` of its first call; each other row has the error of its
    first call. first: the responses table with the first calls.
    """
    first_answers = {}
    for answer in first.to_dict("records"):
        first_answers[answer["item_id"], answer["method"], answer["sample"]] = answer
    asked = []
    failed = []
    for question in questions:
        first_method = benchmark.METHODS[question.method].first
        answer = first_answers[question.item["item_id"], first_method, question.number]
        if isinstance(answer["response"], str):
            reasoning = benchmark.reasoning_of(answer["response"], question.method)
            asked.append(replace(question, item={**question.item, "reasoning": reasoning}))
        else:
            error = f"first call: {answer['error']}"
            failed.append({**answer, "method": question.method, "response": None, "error": error})
    return asked, pd.DataFrame(failed, columns=first.columns).astype(first.dtypes)


def usage(responses: pd.DataFrame, model: ModelSpec) -> pd.DataFrame:
    """What the responses cost: a row for each method with the columns answers, failed,
    prompt_tokens, completion_tokens and, if the model has a price, list_price_usd.
    """
    table = responses.groupby("method", sort=False).agg(
        answers=("item_id", "size"),
        failed=("error", "count"),
        prompt_tokens=("prompt_tokens", "sum"),
        completion_tokens=("completion_tokens", "sum"),
    )
    if model.price is not None:
        cost = model.price.usd(table["prompt_tokens"], table["completion_tokens"])
        table["list_price_usd"] = cost
    return table
