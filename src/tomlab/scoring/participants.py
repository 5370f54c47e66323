"""People's answers to items: read from a form, and turned into responses that a benchmark scores by
the same rules as a model's answers.
"""

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import pandas as pd
import pandera.pandas as pa

from tomlab.records import files
from tomlab.records.asked import options_of
from tomlab.scoring.choices import key_of

MODEL = "people"  # stands in the column `model`, as a model's name does
FAILED = "no"  # in the column `passed`: the participant failed the attention checks


def read(path: Path | str, items: pd.DataFrame) -> pd.DataFrame:
    """People's answers: `participant, item_id, answer, passed`, a row for each person and question.

    An answer to a question with options is the text of one option, as it stands in `items`, or "".
    passed: whether the person passed the attention checks: "yes", "no", or "" if there were none.
    Errors: `InputError` that names every row and field at fault.
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
    """The schema of the form with people's answers. item_ids: the questions that it may have."""
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
    """A column of participants' names, which must not begin with "llm:": whoever fills it in
    declares that these are people.
    """
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

    `sample` is the participant's number, so that one person's answers belong together. answers: of
    `read`; method: the method by which models are asked the same questions; keys: the letters of
    the options; option: the template of a response that chooses an option, with {key} and {text}.
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
    """The option whose text equals the answer, but for spaces and case; None if there is none."""
    if answer in options:
        return answer
    for text in options:
        if _folded(text) == _folded(answer):
            return text
    return None


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()
