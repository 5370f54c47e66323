"""One person's answers in a CSV that filtering and calibration read; each is saved at once."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd
import pandera.pandas as pa
from filelock import FileLock

from tomlab.errors import InputError
from tomlab.paths import RESPONSE_STORE, writable
from tomlab.records import files


class Sheet:
    """What `who` answers to tasks, in the file of a form.

    schema: of the file. tasks: a row for each thing to judge; its columns that the schema has go
    into the file, and a column `choices` lists what may be answered where the schema does not.
    form: an entry of `tasks.yaml`. Attributes: `rows`, as they go into the file; `questions`, each
    a row and a column; `at`, the place of the question that is asked, None after the last.
    Errors: `InputError` for a file that does not fit the schema.
    """

    def __init__(
        self, path: Path, schema: pa.DataFrameSchema, tasks: pd.DataFrame, who: str, form: Mapping
    ) -> None:
        self.path, self.schema, self.form = path, schema, form
        self.told = {name: column.metadata or {} for name, column in schema.columns.items()}
        self.person = next(name for name in self.told if "kind" in self.told[name])
        self.who, kind = " ".join(who.split()), self.told[self.person]["kind"]
        self.asked, rows = [*form["ask"]], tasks.reset_index(drop=True)
        if "by" in form:
            rows = rows.drop(columns=[form["by"]], errors="ignore")
            rows = rows.merge(pd.Series(self.asked, name=form["by"]), how="cross")
            self.asked = [form["answer"]]
        self.given = [name for name in rows if name in {*self.told} - {self.person, *self.asked}]
        self.key = [name for name in schema.unique or self.given if name != self.person]
        self.rows = rows.assign(**{self.person: self.who}, **dict.fromkeys(self.asked, ""))
        self.questions = [(row, name) for row in self.rows.index for name in self.asked]
        own = self._load()
        if not self.who or (kind and (own[kind] != "human").any()):
            raise InputError(f"name: found {self.who!r}, expected the name of a person")
        if kind:
            self.rows[kind] = "human"
        self.at = self._next(-1)

    def choices(self) -> list[str]:
        """What may be answered to the question."""
        row, name = self.questions[self.at]
        if "choices" in self.rows:
            return self.rows.at[row, "choices"]
        allowed, by = self.told[name]["allowed"], self.told[name].get("by")
        return [*map(str, allowed[self.rows.at[row, by]] if by else allowed)]

    def answer(self, value: str) -> None:
        """Save an answer and go on; the question stays where that fails (`InputError`)."""
        if value not in self.choices():
            raise InputError(f"found {value!r}, expected {', '.join(self.choices())}")
        self._save(self.questions[self.at], value)
        self.at = self._next(self.at)

    def move(self, step: int) -> None:
        """Go to the question before (-1) or after (1), after the last to the first open one."""
        end = len(self.questions)
        at = (end if self.at is None else self.at) + step
        self.at = max(at, 0) if at < end else self._next(-1)

    def _next(self, at: int) -> int | None:
        """The first open question after a place, or before it; None where all are answered."""
        places = (*range(at + 1, len(self.questions)), *range(at + 1))
        return next((i for i in places if not self.rows.at[self.questions[i]]), None)

    def _load(self) -> pd.DataFrame:
        """Read the file, take in this person's answers and return their rows about the tasks."""
        files.read_form(self.path, self.schema)
        (_, header), *rows = files.csv_rows(self.path)
        there = pd.DataFrame([cells for _, cells in rows], columns=header, dtype=str)
        self.content = self.path.read_bytes()
        there = there.reindex(columns=[*dict.fromkeys([*header, *self.given])], fill_value="")
        mine = there[there[self.person] == self.who].reset_index(names="place")
        # A key may stand there several times, such as that of a belief: the nth is the nth.
        own, mine = (
            table.assign(nth=table.groupby(self.key, sort=False).cumcount())
            for table in (self.rows, mine)
        )
        both = own.merge(mine, on=[*self.key, "nth"], how="left", suffixes=("", "_there"))
        # An answer to what read otherwise, such as in a former run, is none to this.
        is_same = both["place"].notna()
        for name in set(self.given) - set(self.key):
            is_same &= both[name].eq(both[f"{name}_there"])
        for name in self.asked:
            self.rows[name] = both[f"{name}_there"].where(is_same, "")
        places = both["place"].dropna().astype(int)
        self.others = there.drop(places)
        return there.loc[places]

    def _save(self, place: tuple[int, str], value: str) -> None:
        """Write the file with one answer changed, beside all that was written there meanwhile."""
        # The lock lies outside of `forms`, which git keeps.
        with FileLock(writable(RESPONSE_STORE.with_name("forms.lock")), timeout=10):
            if not self.path.exists() or self.path.read_bytes() != self.content:
                self._load()
            new = self.rows.copy()
            new.at[place] = value
            said = (new[self.asked] != "").any(axis=1)
            if whole := self.form.get("whole"):
                said = said.groupby([new[name] for name in whole]).transform("any")
            mine = new[said].reindex(columns=self.others.columns, fill_value="")
            part = self.path.with_name(f".{self.path.name}.part")
            try:
                files.write_form(pd.concat([self.others, mine]), part)
                part.replace(self.path)
            except OSError as error:
                raise InputError(f"{self.path}: cannot be written ({error.strerror})") from None
            self.rows, self.content = new, self.path.read_bytes()
