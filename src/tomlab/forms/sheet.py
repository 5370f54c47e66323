"""One person's answers in a CSV file, which filtering and calibration read.

Each answer is saved at once.
"""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd
import pandera.pandas as pa
from filelock import FileLock

from tomlab.errors import InputError
from tomlab.paths import RESPONSE_STORE, writable
from tomlab.records import files


class Sheet:
    """The answers of one person to the tasks of a form, kept in the form's file.

    schema: that of the file. tasks: one row for each thing to judge. Those of its columns that are
    in the schema go into the file; a column `choices`, if there is one, lists the answers allowed
    in each row, otherwise the schema does. who: the person's name. form: an entry of `tasks.yaml`.

    Attributes: `rows`, the tasks with this person's answers; `questions`, the row and the column of
    each question; `at`, the position in `questions` of the current one, None after the last.
    Errors: `InputError` for a file that does not fit the schema, and for a name that is empty or
    already that of a model in the file.
    """

    def __init__(
        self, path: Path, schema: pa.DataFrameSchema, tasks: pd.DataFrame, who: str, form: Mapping
    ) -> None:
        self.path = path
        self.schema = schema
        self.form = form
        self.who = " ".join(who.split())
        self.rules = {name: column.metadata or {} for name, column in schema.columns.items()}
        [self.person] = [name for name, rule in self.rules.items() if "kind" in rule]
        rows, self.answer_columns = _questions_of(tasks, form)
        task_columns = set(self.rules) - {self.person, *self.answer_columns}
        self.task_columns = [name for name in rows if name in task_columns]
        self.key = [name for name in schema.unique or self.task_columns if name != self.person]
        self.rows = rows.assign(**{self.person: self.who}, **dict.fromkeys(self.answer_columns, ""))
        self.questions = [(row, name) for row in self.rows.index for name in self.answer_columns]
        earlier_rows = self._load()
        kind = self.rules[self.person]["kind"]
        if not self.who or (kind and earlier_rows[kind].ne("human").any()):
            raise InputError(f"name: found {self.who!r}, expected the name of a person")
        if kind:
            self.rows[kind] = "human"
        self.at = self._first_open(0)

    def choices(self) -> list[str]:
        """The answers allowed to the current question; none after the last question."""
        if self.at is None:
            return []
        row, column = self.questions[self.at]
        if "choices" in self.rows:
            return self.rows.at[row, "choices"]
        rule = self.rules[column]
        allowed = rule["allowed"]
        if "by" in rule:
            allowed = allowed[self.rows.at[row, rule["by"]]]
        return [str(choice) for choice in allowed]

    def answer(self, value: str) -> None:
        """Save an answer to the current question and go to the next open one. Errors: `InputError`
        if the answer is not allowed or can't be saved; then the question stays the current one.
        """
        choices = self.choices()
        if self.at is None or value not in choices:
            raise InputError(f"found {value!r}, expected {', '.join(choices)}")
        self._save(*self.questions[self.at], value)
        self.at = self._first_open(self.at + 1)

    def move(self, step: int) -> None:
        """Go to the previous (-1) or next (1) question; from the last, to the first open one."""
        end = len(self.questions)
        target = (end if self.at is None else self.at) + step
        self.at = max(target, 0) if target < end else self._first_open(0)

    def _first_open(self, start: int) -> int | None:
        """The first unanswered question from `start` on, else the first before it; None if all are
        answered.
        """
        for place in (*range(start, len(self.questions)), *range(start)):
            if not self.rows.at[self.questions[place]]:
                return place
        return None

    def _load(self) -> pd.DataFrame:
        """Read the file and take over this person's answers; returns the rows that hold them.

        All other rows of the file go to `other_rows`, so that `_save` can keep them.
        """
        files.read_form(self.path, self.schema)
        (_, header), *lines = files.csv_rows(self.path)
        table = pd.DataFrame([cells for _, cells in lines], columns=header, dtype=str)
        self.content = self.path.read_bytes()
        columns = dict.fromkeys([*header, *self.task_columns])
        table = table.reindex(columns=list(columns), fill_value="")
        of_person = table[table[self.person] == self.who].reset_index(names="line")
        merged = self._numbered(self.rows).merge(
            self._numbered(of_person),
            on=[*self.key, "nth"],
            how="left",
            suffixes=("", "_in_file"),
        )
        # An answer does not count if the task had another text then, such as in an earlier run.
        is_same = merged["line"].notna()
        for name in set(self.task_columns) - set(self.key):
            is_same &= merged[name].eq(merged[f"{name}_in_file"])
        for name in self.answer_columns:
            self.rows[name] = merged[f"{name}_in_file"].where(is_same, "")
        lines_of_tasks = merged["line"].dropna().astype(int)
        self.other_rows = table.drop(lines_of_tasks)
        return table.loc[lines_of_tasks]

    def _numbered(self, rows: pd.DataFrame) -> pd.DataFrame:
        """The rows with a column `nth`: the row's number, from 0, among those with the same key."""
        return rows.assign(nth=rows.groupby(self.key, sort=False).cumcount())

    def _save(self, row: int, column: str, value: str) -> None:
        """Write the file with one answer changed; keep what others have written to it meanwhile."""
        # The lock file lies outside the folder `forms`, which is under version control.
        with FileLock(writable(RESPONSE_STORE.with_name("forms.lock")), timeout=10):
            if not self.path.exists() or self.path.read_bytes() != self.content:
                self._load()
            rows = self.rows.copy()
            rows.at[row, column] = value
            is_answered = rows[self.answer_columns].ne("").any(axis=1)
            if "whole" in self.form:
                tables = [rows[name] for name in self.form["whole"]]
                is_answered = is_answered.groupby(tables).transform("any")
            answered = rows[is_answered].reindex(columns=self.other_rows.columns, fill_value="")
            part = self.path.with_name(f".{self.path.name}.part")
            try:
                files.write_form(pd.concat([self.other_rows, answered]), part)
                part.replace(self.path)
            except OSError as error:
                raise InputError(f"{self.path}: cannot be written ({error.strerror})") from None
            self.rows = rows
            self.content = self.path.read_bytes()


def _questions_of(tasks: pd.DataFrame, form: Mapping) -> tuple[pd.DataFrame, list[str]]:
    """The rows that hold the answers to tasks, and the names of the answer columns. There is one
    row a task with a column for each question or, if the form has `by`, one row for each task and
    question with a single column.
    """
    rows = tasks.reset_index(drop=True)
    if "by" not in form:
        return rows, list(form["ask"])
    questions = pd.DataFrame({form["by"]: list(form["ask"])})
    rows = rows.drop(columns=form["by"], errors="ignore").merge(questions, how="cross")
    return rows, [form["answer"]]
