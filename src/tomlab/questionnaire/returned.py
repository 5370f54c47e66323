"""Reads the CSV files that participants sent back, checks them and joins them in one table."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import pandas as pd
import pandera.pandas as pa

from tomlab.errors import InputError, refuse
from tomlab.questionnaire.items import CHECK, plain
from tomlab.questionnaire.pages import RATING_OF_CHECK, SCALE, Record
from tomlab.records import files

COLUMNS = {
    "answers": ["participant", "item_id", "answer", "seconds"],
    "ratings": ["participant", "item_id", "question", "rating"],
}


def read_returned(
    record: Path | str, returned: Sequence[Path | str]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Two tables: the answers of all participants, and how each participant did.

    record: the `questionnaire.json` of the pages. returned: the CSV files that participants sent.
    The first table has one row an answer, without those to attention checks. Its columns are
    participant, item_id, answer, seconds (for ratings: participant, item_id, question, rating), and
    about the participant `checks_passed`, such as "1 of 2", and `passed`: yes, no, or "" where no
    checks were asked. The second table has one row for each participant, even if no file of theirs
    is there: participant, answered, asked (numbers of items), checks_passed, passed. A check
    without an answer is not passed. Participants who fail checks are kept. Errors: `InputError`
    that names every faulty file, row and field.
    """
    asked = read_record(record)
    columns = COLUMNS[asked.kind]
    tables = []
    problems = []
    for path in returned:
        try:
            table = files.read_form(path, _form(asked), partial(_faults_of_rows, asked))
        except InputError as error:
            problems.append(str(error))
            continue
        tables.append(table[columns].assign(file=str(path)))
    if problems:
        raise InputError("\n".join(problems))
    if not tables:
        raise InputError(f"{record}: found no files of answers to read, expected at least one")
    answers = pd.concat(tables).reset_index(names="row")
    _demand_once(answers, columns)
    if asked.kind == "answers":
        answers["answer"] = [
            _as_option(answer, asked.pages[participant][item_id])
            for participant, item_id, answer in answers[columns[:3]].itertuples(index=False)
        ]
    participants = _participants(asked, answers)
    is_check = answers["item_id"].str.startswith(CHECK)
    passed = participants[["participant", "checks_passed", "passed"]]
    rows = answers.loc[~is_check, columns].merge(passed, on="participant", how="left")
    return rows, participants


def read_record(path: Path | str) -> Record:
    """The record of a questionnaire. Errors: `InputError` if the file is not such a record."""
    text = files.read_text(path)
    try:
        return Record.model_validate(files.parsed(text))
    except (ValueError, RecursionError):
        expected = "expected the questionnaire.json that was written with the pages"
        raise InputError(f"{path}: found another kind of file, {expected}") from None


def _form(asked: Record) -> pa.DataFrameSchema:
    """The schema of a returned file, which has the answers of one or several participants."""
    item_ids = {item_id for page in asked.pages.values() for item_id in page}
    names = ", ".join(list(asked.pages)[:5])
    if len(asked.pages) > 5:
        names += ", …"
    is_participant = pa.Check.isin([*asked.pages], error=f"one of the participants {names}")
    columns = {
        "participant": pa.Column(str, is_participant),
        "item_id": files.known(item_ids, "question that was asked"),
    }
    if asked.kind == "ratings":
        columns["question"] = files.one_of([*asked.ratings, RATING_OF_CHECK])
        columns["rating"] = files.one_of(SCALE)
    else:
        columns["answer"] = files.text()
        columns["seconds"] = files.text(r"[0-9]{1,9}(\.[0-9]+)?", "a number of seconds")
    unique = COLUMNS[asked.kind][: 3 if asked.kind == "ratings" else 2]
    return pa.DataFrameSchema(columns, strict="filter", unique=unique)


def _faults_of_rows(asked: Record, table: pd.DataFrame) -> Iterator[tuple[int, str, str]]:
    """Yields (line, field, what was expected) for rows whose values do not fit together: an item
    that this participant was not asked, a rating question that the item does not have, or an answer
    that is not an option of the item.
    """
    for line, row in table.to_dict("index").items():
        participant = row["participant"]
        item_id = row["item_id"]
        page = asked.pages.get(participant, {})
        if page and item_id not in page:
            yield line, "item_id", f"the id of a question that {participant} was asked"
        if asked.kind == "ratings":
            is_check = item_id.startswith(CHECK)
            if (row["question"] == RATING_OF_CHECK) != is_check:
                expected = RATING_OF_CHECK if is_check else asked.ratings
                yield line, "question", f"{expected} for this item"
        else:
            options = [plain(option) for option in page.get(item_id, [])]
            if options and plain(row["answer"]) not in options:
                yield line, "answer", " | ".join(options)


def _demand_once(answers: pd.DataFrame, columns: list[str]) -> None:
    """Errors: `InputError` for the same item, and rating question, in two files. Repetitions within
    one file were found by `read_form`. columns: those of `COLUMNS`.
    """
    key = columns[:-1] if "rating" in columns else columns[:2]
    problems = []
    for row in answers[answers.duplicated(key)].to_dict("records"):
        answer = ", ".join(f"{name} {row[name]!r}" for name in key)
        problems.append(f"{row['file']}, row {row['row']}: {answer} stands in an earlier file too")
    refuse(problems, "the same item twice, expected once")


def _as_option(answer: str, options: Sequence[str]) -> str:
    """The option that equals the answer but for white space, as written in the item; the answer
    itself if it equals none, as with free text.
    """
    for option in options:
        if plain(option) == plain(answer):
            return option
    return answer


def _participants(asked: Record, answers: pd.DataFrame) -> pd.DataFrame:
    """The second table of `read_returned`: how many items each participant answered, and how many
    attention checks they passed.
    """
    value = "rating" if asked.kind == "ratings" else "answer"
    rows = []
    for participant, page in asked.pages.items():
        own_answers = answers[answers["participant"] == participant]
        is_check = own_answers["item_id"].str.startswith(CHECK)
        check_answers = own_answers[is_check].set_index("item_id")[value]
        checks = [item_id for item_id in page if item_id.startswith(CHECK)]
        n_passed = 0
        for item_id in checks:
            stated = plain(asked.checks[item_id]).casefold()
            if plain(check_answers.get(item_id, "")).casefold() == stated:
                n_passed += 1
        row = {
            "participant": participant,
            "answered": own_answers.loc[~is_check, "item_id"].nunique(),
            "asked": len(page) - len(checks),
            "checks_passed": f"{n_passed} of {len(checks)}",
            "passed": "yes" if n_passed == len(checks) else "no",
        }
        if not checks:
            row["passed"] = ""
        rows.append(row)
    return pd.DataFrame(rows)
