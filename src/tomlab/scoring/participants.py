"""People's answers to items: the form they stand in, and the responses that a benchmark scores by
the rules for a model's answers.
"""

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import pandas as pd
import pandera.pandas as pa

from tomlab.records import files
from tomlab.records.asked import options_of
from tomlab.scoring.choices import key_of

MODEL = "people"  # what stands in the place of a model's name
FAILED = "no"  # in the column `passed`


def read(path: Path | str, items: pd.DataFrame) -> pd.DataFrame:
    """People's answers: `participant, item_id, answer, passed`, a row for each person and question.

    An answer to a question with options is the text of one of them, as it stands in `items`, or
    nothing. passed: whether the person passed the attention checks, "yes", "no" or nothing. Errors:
    `InputError` that names every row and field at fault.
    """
    options = {item["item_id"]: options_of(item) for item in items.to_dict("records")}

    def wrong_answers(table: pd.DataFrame) -> Iterator[tuple[int, str, str]]:
        for row, item_id, answer in table[["item_id", "answer"]].itertuples():
            texts = options.get(item_id, ())
            if texts and answer and _option(answer, texts) is None:
                yield row, "answer", f"the text of an option: {' | '.join(texts)}"

    table = with_passed(files.read_form(path, _answers_form(list(options)), wrong_answers))
    answers = []
    for item_id, answer in zip(table["item_id"], table["answer"], strict=True):
        answers.append(_option(answer, options[item_id]) or answer)
    columns = ["participant", "item_id", "answer", "passed"]
    return table.assign(answer=answers)[columns].reset_index(drop=True)


def _answers_form(item_ids: Collection[str]) -> pa.DataFrameSchema:
    """The schema of the form. item_ids: of the questions that may stand in it."""
    return pa.DataFrameSchema(
        {
            "participant": participant(),
            "item_id": files.known(item_ids, "question"),
            "answer": files.text("(?s).*"),
            "seconds": files.text(r"([0-9]+(\.[0-9]+)?)?", "a number of seconds", required=False),
            "passed": passed(),
        },
        strict="filter",
        unique=["participant", "item_id"],
    )


def participant() -> pa.Column:
    """A column of participants' names. Whoever fills it in says that these are people."""
    return files.text(r"(?s)(?!llm:).+", "the name of a participant, who is a person and no model")


def passed() -> pa.Column:
    """A column, perhaps missing, that says whether the participant passed the attention checks."""
    return files.text(
        f"(yes|{FAILED})?", f"yes, {FAILED} or, without checks, nothing", required=False
    )


def with_passed(table: pd.DataFrame) -> pd.DataFrame:
    """A form's rows with the column `passed`, empty where the form has none."""
    return table if "passed" in table else table.assign(passed="")


def responses(
    answers: pd.DataFrame, items: pd.DataFrame, method: str, keys: Sequence[str], option: str
) -> pd.DataFrame:
    """The answers as responses of the model "people", which a benchmark's `score` takes.

    `sample` is the number of the participant, so that questions of one person belong together.
    answers: of `read`. method: how a model is asked the same; keys: the letters of options; option:
    how a chosen option is written, with {key} and {text}.
    """
    items_by_id = {item["item_id"]: item for item in items.to_dict("records")}
    numbers = {name: number for number, name in enumerate(sorted(answers["participant"].unique()))}
    rows = []
    for row in answers.to_dict("records"):
        item = items_by_id[row["item_id"]]
        text = row["answer"]
        if text in list(item["choices"]):
            text = option.format(key=key_of(item, text, keys), text=text)
        rows.append((row["item_id"], MODEL, method, text, numbers[row["participant"]]))
    columns = ["item_id", "model", "method", "response", "sample"]
    return pd.DataFrame(rows, columns=columns)


def _option(answer: str, options: Collection[str]) -> str | None:
    """The option whose text an answer is, or is but for spaces and case; None if there is none."""
    if answer in options:
        return answer
    for text in options:
        if _folded(text) == _folded(answer):
            return text
    return None


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()
