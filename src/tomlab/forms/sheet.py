"""One person's answers in a CSV that filtering and calibration read, in the file one by one."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pandera.pandas as pa
from filelock import FileLock

from tomlab.errors import InputError
from tomlab.paths import RESPONSE_STORE
from tomlab.records import files
from tomlab.scoring import stats


@contextmanager
def changing() -> Iterator[None]:
    """Nobody else changes a form meanwhile. The lock lies outside of `forms`, which git keeps."""
    RESPONSE_STORE.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(RESPONSE_STORE.with_name("forms.lock"), timeout=10):
        yield


def read(path: Path, schema: pa.DataFrameSchema) -> pd.DataFrame:
    """All columns of a form that fits its schema, as texts. Errors: `InputError`."""
    files.read_form(path, schema)
    (_, header), *rows = files.csv_rows(path)
    return pd.DataFrame([cells for _, cells in rows], columns=header, dtype=str)


def replace(path: Path, table: pd.DataFrame) -> None:
    """Write a form whole or not at all. Errors: `InputError`."""
    part = path.with_name(f".{path.name}.part")
    try:
        table.to_csv(part, index=False, lineterminator="\n")
        part.replace(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror or error})") from None


class Sheet:
    """What `who` says of tasks; each answer is in the file before the next question is asked.

    schema: of the file. tasks: a row for each thing to judge; its columns that the schema has go
    into the file, a column of lists says what may be answered there. Asked is what else the schema
    has a list of: each column, of each value of one that is part of the key. whole: rows alike in
    these columns stand in the file together, answered or not.
    Attributes: `rows`, as they go into the file; `questions`, each a row and a column; `at`, the
    place of the one that is asked, None after the last.
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
        self.kind = told[self.person]["kind"]
        open_ = [n for n in told if told[n].get("allowed") and n not in tasks]
        open_ += [n for n in told if n in tasks and isinstance(tasks[n].iloc[0], list)]
        self.by = [name for name in open_ if name in (schema.unique or ())]
        self.asked = [name for name in open_ if name not in self.by]
        self.rows = tasks.reset_index(drop=True)
        for name in self.by:
            self.rows = self.rows.merge(pd.Series(told[name]["allowed"], name=name), how="cross")
        self.allowed = {name: self._allowed(name, told[name]) for name in self.asked}
        fixed = {self.person: self.who} | ({self.kind: "human"} if self.kind else {})
        self.rows = self.rows.assign(**fixed, **dict.fromkeys(self.asked, ""))
        self.questions = [(row, name) for row in self.rows.index for name in self.asked]
        self._look()
        if not self.who or (self.kind and (self.saved[self.kind] != "human").any()):
            raise InputError(f"name: found {self.who!r}, expected the name of a person")
        self.done = [place for place in self.questions if self.rows.at[place]]
        self.at = self._next(-1)

    def _allowed(self, name: str, told: dict) -> list[list[str]]:
        """What may be answered in each row."""
        if name in self.rows:
            return self.rows[name].tolist()
        if "by" in told:
            return [[*map(str, told["allowed"][value])] for value in self.rows[told["by"]]]
        return [told["allowed"]] * len(self.rows)

    def choices(self) -> list[str]:
        """What may be answered to the question."""
        row, name = self.questions[self.at]
        return self.allowed[name][row]

    def answer(self, value: str) -> None:
        """Write an answer to the question and go on to the next open one. Errors: `InputError`
        where the file does not take it; then the question stays.
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

    def _look(self) -> None:
        """Read the file, and take in what this person answered."""
        there = read(self.path, self.schema)
        self.content = self.path.read_bytes()
        new = [n for n in self.rows if n in self.schema.columns and n not in there]
        self.there = there.reindex(columns=[*there.columns, *new], fill_value="")
        others = (self.person, self.kind, *self.asked)
        given = [n for n in self.there if n in self.rows and n not in others]
        self.key = [n for n in self.schema.unique or given if n != self.person]
        self.number = {key: row for row, key in enumerate(_keys(self.rows, self.key))}
        self.saved = self._own()
        self.rows[self.asked] = ""
        for row in self.saved.to_dict("records"):
            place = row["place"]
            # An answer to what read otherwise, such as in a former run, is none to this.
            if all(row[name] == self.rows.at[place, name] for name in given):
                self.rows.loc[place, self.asked] = [row[name] for name in self.asked]

    def _own(self) -> pd.DataFrame:
        """The file's rows of this person about the tasks; `place`: the number of each in `rows`."""
        mine = self.there[self.there[self.person] == self.who]
        places = [self.number.get(key) for key in _keys(mine, self.key)]
        known = mine.assign(place=pd.Series(places, mine.index, dtype=float)).dropna(subset="place")
        return known.astype({"place": int})

    def _save(self, place: tuple[int, str], value: str) -> None:
        """Write the file with one answer changed, beside all that others wrote meanwhile."""
        with changing():
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
            mine = new[said].reindex(columns=self.there.columns, fill_value="")
            there = pd.concat([self.there.drop(self.saved.index), mine], ignore_index=True)
            replace(self.path, there)
            self.rows, self.there, self.content = new, there, self.path.read_bytes()
            self.saved = self._own()


def _keys(table: pd.DataFrame, names: list[str]) -> Iterator[tuple]:
    """The key of each row, and how many rows before it have the same: a belief may stand twice."""
    nth = table.groupby(names, sort=False).cumcount()
    return zip(*(table[name] for name in names), nth, strict=True)


def agreement(sheet: Sheet, level: str) -> pd.DataFrame:
    """How far people agree, by question: `question, annotators, n` (what two or more judged),
    `same` (on which share of it they all agree), Krippendorff's `alpha, ci_low, ci_high` over
    templates, sets or stories. level: of measurement, "nominal" or "ordinal". Models don't count.
    """
    there = read(sheet.path, sheet.schema)
    people = there[there[sheet.kind] == "human"] if sheet.kind else there
    people = people.assign(nth=people.groupby([sheet.person, *sheet.key]).cumcount())
    group = "group" if "group" in people else next(n for n in sheet.key if n not in sheet.by)
    unit, rows = [*dict.fromkeys([group, *sheet.key]), "nth"], []
    for name in sheet.asked:
        said = people[people[name] != ""].assign(asked=name)
        for value, part in said.groupby(sheet.by or "asked", sort=False):
            order = list(dict.fromkeys(one for row in sheet.allowed[name] for one in row))
            codes = part.assign(code=part[name].map(order.index))
            wide = codes.pivot(index=unit, columns=sheet.person, values="code")
            found = stats.agreement(wide, level)
            ends = stats.alpha_interval(wide, level, wide.index.get_level_values(group))
            what = value[0] if sheet.by else value
            rows.append((what, wide.shape[1], *found.values(), *ends))
    columns = ["question", "annotators", "n", "same", "alpha", "ci_low", "ci_high"]
    return pd.DataFrame(rows, columns=columns)
