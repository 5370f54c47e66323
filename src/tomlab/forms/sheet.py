"""One person's answers in a CSV that filtering and calibration read; each is saved at once."""

from collections.abc import Collection
from pathlib import Path

import pandas as pd
import pandera.pandas as pa
from filelock import FileLock

from tomlab.errors import InputError
from tomlab.paths import RESPONSE_STORE
from tomlab.records import files


class Sheet:
    """What `who` answers to tasks.

    schema: of the file. tasks: a row for each thing to judge; its columns that the schema has go
    into the file, and a column of lists says what may be answered there. Asked is every other
    column of the schema that lists what it allows; where such a column is part of the key, each of
    its values becomes a question. whole: rows alike in these columns stand in the file together,
    answered or not.
    Attributes: `rows`, as they go into the file; `questions`, each a row and a column; `at`, the
    place of the question that is asked, None after the last.
    Errors: `InputError` for a file that does not fit the schema, or nothing to judge.
    """

    def __init__(
        self,
        path: Path,
        schema: pa.DataFrameSchema,
        tasks: pd.DataFrame,
        who: str,
        whole: Collection[str] = (),
    ) -> None:
        self.path, self.schema, self.whole = path, schema, list(whole)
        if tasks.empty:
            raise InputError(f"{path}: found nothing to judge; run the stages before it")
        told = {name: column.metadata or {} for name, column in schema.columns.items()}
        self.who = " ".join(who.split())
        self.person = next(name for name in told if "kind" in told[name])
        kind = told[self.person]["kind"]
        lists = [n for n in told if n in tasks and isinstance(tasks[n].iloc[0], list)]
        open_ = [n for n in told if n in lists or (told[n].get("allowed") and n not in tasks)]
        self.by = [name for name in open_ if name in (schema.unique or ())]
        self.asked = [name for name in open_ if name not in self.by]
        rows = tasks.reset_index(drop=True)
        for name in self.by:
            rows = rows.merge(pd.Series(told[name]["allowed"], name=name), how="cross")
        self.allowed = {}
        for name in self.asked:
            found = told[name].get("allowed")
            if name in lists:
                self.allowed[name] = rows[name].tolist()
            elif "by" in told[name]:
                by = rows[told[name]["by"]]
                self.allowed[name] = [[*map(str, found[value])] for value in by]
            else:
                self.allowed[name] = [found] * len(rows)
        self.rows = rows.assign(**{self.person: self.who}, **dict.fromkeys(self.asked, ""))
        if kind:
            self.rows[kind] = "human"
        self.given = [n for n in told if n in rows and n not in (self.person, kind, *self.asked)]
        self.key = [n for n in schema.unique or self.given if n != self.person]
        self.questions = [(row, name) for row in self.rows.index for name in self.asked]
        own = self._look()
        if not self.who or (kind and (own[kind] != "human").any()):
            raise InputError(f"name: found {self.who!r}, expected the name of a person")
        self.done = [place for place in self.questions if self.rows.at[place]]
        self.at = self._next(-1)

    def choices(self) -> list[str]:
        """What may be answered to the question."""
        row, name = self.questions[self.at]
        return self.allowed[name][row]

    def answer(self, value: str) -> None:
        """Save an answer to the question and go on to the next open one. Errors: `InputError` where
        the file does not take it; then the question stays.
        """
        if value not in self.choices():
            raise InputError(f"found {value!r}, expected {', '.join(self.choices())}")
        place = self.questions[self.at]
        self._save(place, value)
        self.done = [*(one for one in self.done if one != place), place]
        self.at = self._next(self.at)

    def undo(self) -> None:
        """Take the last answer back and ask again. Errors: as of `answer`."""
        if self.done:
            self._save(self.done[-1], "")
            self.at = self.questions.index(self.done.pop())

    def move(self, step: int) -> None:
        """Go to the question before (-1) or after (1), answered or not; after the last to the first
        open one, so that what was skipped comes again.
        """
        end = len(self.questions)
        at = (end if self.at is None else self.at) + step
        self.at = max(at, 0) if at < end else self._next(-1)

    def _next(self, at: int) -> int | None:
        """The first open question after a place, or before it; None where all are answered."""
        places = (*range(at + 1, len(self.questions)), *range(at + 1))
        return next((i for i in places if not self.rows.at[self.questions[i]]), None)

    def _look(self) -> pd.DataFrame:
        """Read the file, take in this person's answers and return their rows about the tasks."""
        files.read_form(self.path, self.schema)
        (_, header), *rows = files.csv_rows(self.path)
        there = pd.DataFrame([cells for _, cells in rows], columns=header, dtype=str)
        self.content = self.path.read_bytes()
        new = [n for n in self.rows if n in self.schema.columns and n not in there]
        there = there.reindex(columns=[*there.columns, *new], fill_value="")
        mine = there[there[self.person] == self.who].reset_index(names="place")
        both = self._numbered(self.rows).merge(
            self._numbered(mine), on=[*self.key, "nth"], how="left", suffixes=("", "_there")
        )
        own = both["place"].notna()
        # An answer to what read otherwise, such as in a former run, is none to this.
        for name in self.given:
            own &= both[name].eq(both.get(f"{name}_there", both[name]))
        for name in self.asked:
            self.rows[name] = both[f"{name}_there"].where(own, "")
        places = both["place"].dropna().astype(int)
        self.others = there.drop(places)
        return there.loc[places]

    def _numbered(self, table: pd.DataFrame) -> pd.DataFrame:
        """With `nth`, how many rows before have the same key: a belief may stand there twice."""
        return table.assign(nth=table.groupby(self.key, sort=False).cumcount())

    def _save(self, place: tuple[int, str], value: str) -> None:
        """Write the file with one answer changed, beside all that others wrote meanwhile."""
        # The lock lies outside of `forms`, which git keeps.
        RESPONSE_STORE.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(RESPONSE_STORE.with_name("forms.lock"), timeout=10):
            if not self.path.exists() or self.path.read_bytes() != self.content:
                before = self.rows[self.asked].copy()
                self._look()
                if not self.rows[self.asked].equals(before):
                    what = f"found other answers of {self.who}, which are taken in now"
                    raise InputError(f"{self.path}: changed meanwhile: {what}; please answer again")
            new = self.rows.copy()
            new.at[place] = value
            said = (new[self.asked] != "").any(axis=1)
            if self.whole:
                said = said.groupby([new[name] for name in self.whole]).transform("any")
            mine = new[said].reindex(columns=self.others.columns, fill_value="")
            part = self.path.with_name(f".{self.path.name}.part")
            try:
                pd.concat([self.others, mine]).to_csv(part, index=False, lineterminator="\n")
                part.replace(self.path)
            except OSError as error:
                raise InputError(f"{self.path}: cannot be written ({error.strerror})") from None
            self.rows, self.content = new, self.path.read_bytes()
