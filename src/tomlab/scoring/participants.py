"""People's answers to items: the form they stand in, and the responses that a benchmark scores by
the rules for a model's answers.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd
import pandera.pandas as pa

from tomlab.errors import InputError, refuse
from tomlab.records import files
from tomlab.scoring.choices import key_of, options_of

MODEL = "people"  # what stands in the place of a model's name
# A row whose item_id begins so is an attention check, and its answer says how that went.
ATTENTION = "attention"
PASSED, FAILED = "passed", "failed"


def read(path: Path | str, items: pd.DataFrame) -> pd.DataFrame:
    """People's answers: `participant, item_id, answer`, a row for each person and question.

    path: a CSV form, or a folder with one for each participant. An answer to a question with
    options is the text of one of them, as it stands in `items`. Errors: `InputError` that names
    every row and field at fault.
    """
    options = {item["item_id"]: options_of(item) for item in items.to_dict("records")}

    def wrong_answers(table: pd.DataFrame) -> Iterator[tuple[int, str, str]]:
        for row in table.itertuples():
            if row.item_id.startswith(ATTENTION):
                allowed = (PASSED, FAILED)
            else:
                allowed = options.get(row.item_id, ())
            if allowed and row.answer and _option(row.answer, allowed) is None:
                yield row.Index, "answer", f"the text of an option: {' | '.join(allowed)}"

    table = read_all(path, answers_form(list(options)), wrong_answers)
    table["answer"] = [
        _option(answer, options.get(item_id, (PASSED, FAILED))) or answer
        for item_id, answer in zip(table["item_id"], table["answer"], strict=True)
    ]
    return table[["participant", "item_id", "answer"]]


def answers_form(item_ids: Sequence[str] | None = None) -> pa.DataFrameSchema:
    """The schema of the form. item_ids: of the questions that may stand in it; any without."""
    item_id = files.text()
    if item_ids is not None:
        known = {*item_ids}
        is_known = pa.Check(
            lambda name: name in known or name.startswith(ATTENTION),
            element_wise=True,
            error=f"the id of a question of this run, or one that begins with {ATTENTION!r}",
        )
        item_id = pa.Column(str, is_known)
    return pa.DataFrameSchema(
        {
            "participant": participant(),
            "item_id": item_id,
            "answer": files.text("(?s).*"),
            "seconds": files.text(r"(\d+(\.\d+)?)?", "a number of seconds", required=False),
        },
        strict="filter",
        unique=["participant", "item_id"],
    )


def participant() -> pa.Column:
    """A column of participants' codes. Whoever fills it in says that these are people."""
    return files.text(r"(?s)(?!llm:).+", "a participant's code; a model is no participant")


def read_all(path: Path | str, form: pa.DataFrameSchema, *checks: files.Check) -> pd.DataFrame:
    """The rows of a form, or of all CSV files of a folder, which together hold each key once.

    Errors: `InputError`, also for a folder without such files.
    """
    path = Path(path)
    if not path.is_dir():
        return files.read_form(path, form, *checks).reset_index(drop=True)
    paths = sorted(path.glob("*.csv"))
    if not paths:
        raise InputError(f"{path}: found no file that ends with .csv, expected one for each person")
    tables = []
    for file in paths:
        table = files.read_form(file, form, *checks)
        tables.append(table.assign(place=[f"{file.name}, row {row}" for row in table.index]))
    both = pd.concat(tables, ignore_index=True)
    refuse([*_doubled(both, form.unique)], str(path))
    return both.drop(columns="place")


def _doubled(table: pd.DataFrame, key: Sequence[str]) -> Iterator[str]:
    first = table.groupby(key, sort=False)["place"].transform("first")
    again = table[first != table["place"]]
    for row, earlier in zip(again.to_dict("records"), first[again.index], strict=True):
        names = ", ".join(f"{name} {files.shown(row[name])}" for name in key)
        yield f"{row['place']}: {names} stands in {earlier} too, expected once"


def responses(
    answers: pd.DataFrame, items: pd.DataFrame, method: str, keys: Sequence[str], option: str
) -> pd.DataFrame:
    """The answers as responses of the model "people", which a benchmark's `score` takes.

    `sample` is the number of the participant, so that questions of one person belong together.
    answers: of `read`, without attention checks. method: how a model is asked the same; keys: the
    letters of options; option: how a chosen option is written, with {key} and {text}.
    """
    by_id = {item["item_id"]: item for item in items.to_dict("records")}
    numbers = {name: number for number, name in enumerate(sorted(answers["participant"].unique()))}
    rows = []
    for answer in answers.to_dict("records"):
        text = _written(by_id[answer["item_id"]], answer["answer"], keys, option)
        row = {"item_id": answer["item_id"], "model": MODEL, "method": method, "response": text}
        rows.append(row | {"sample": numbers[answer["participant"]]})
    columns = ["item_id", "model", "method", "response", "sample"]
    return pd.DataFrame(rows, columns=columns)


def _written(item: Mapping, answer: str, keys: Sequence[str], option: str) -> str:
    """An answer as a model gives it: a chosen option with its letter, anything else as it is."""
    if answer not in list(item["choices"]):
        return answer
    return option.format(key=key_of(item, answer, keys), text=answer)


def _option(answer: str, options: Iterable[str]) -> str | None:
    """The option whose text an answer is, but for spaces and case; None if there is none."""
    for text in options:
        if " ".join(text.split()).casefold() == " ".join(answer.split()).casefold():
            return text
    return None
