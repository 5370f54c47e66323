"""Differences in pairs (`scoring.paired`) as a table, a figure, a plan, and the answers behind."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from tomlab.records.published import Wording
from tomlab.reporting import beside, charts, headings, plotting, printed, readings, tables
from tomlab.reporting.plotting import Drawn
from tomlab.reporting.printed import ABSENT, RUN, WORDS, Table
from tomlab.scoring import paired, power

HOLDS = "†"  # beside a difference that holds among its pairs
WISHED = 0.1
_LOOKS = plotting.described(WORDS["looks"]["differences"])
_KEYS = ["varies", "same", "a", "b"]
Named = Mapping[str, tuple[str, str]]  # metric and condition by name, as a paper's HEADLINES


def table(found: pd.DataFrame, named: Named, wording: Wording) -> Table:
    """The differences of the headlines as printed, all of `found` as its tidy frame.

    found: of `paired.differences`; named: metric and condition by name.
    """
    own = _labelled(found, named, wording)
    own = own.assign(text=[_text(row) for row in own.itertuples()])
    rows = own[["of", "pair"]].drop_duplicates()
    wide = own.pivot(index=["of", "pair"], columns="name", values="text")
    wide = wide.reindex(index=pd.MultiIndex.from_frame(rows), columns=_heads(own, named))
    shown = wide.fillna(ABSENT).reset_index().rename(columns={"of": "Of", "pair": "a − b"})
    tidy = found.assign(source=RUN, value=found["difference"], mark=_marks(found))
    told = {"wording": wording, "rows": len(found), "few": paired.FEW}
    notes = WORDS["differences_notes"] if len(found) else [f"{WORDS['differences_none']}."]
    caption = printed.with_n(WORDS["differences"].format(**told), own.assign(source=RUN))
    notes = [note.format(**told) for note in notes]
    return Table("differences", tidy, printed.once(shown, [["Of"]]), caption, notes)


def figure(found: pd.DataFrame, named: Named, wording: Wording, model: str) -> Drawn:
    """The differences of one model's headlines, from others and between its methods.

    Arguments as of `table`. A line stands at no difference, n and groups beside each row.
    """
    own = _labelled(found, named, wording)
    own = own[own["same"].eq(model) | own["a"].eq(model)]
    rows = {of: list(pairs.unique()) for of, pairs in own.groupby("of", sort=False)["pair"]}
    positions = plotting.row_positions(rows or {"": [WORDS["differences_none"]]})
    y = [positions[place] for place in zip(own["of"], own["pair"], strict=True)]
    points = own.assign(y=y, value=own["difference"], source=RUN, mark=_marks(own))
    heads = _heads(own, named) or list(named)[:1]
    looks = {varies: look for varies, look in _LOOKS.items() if varies in set(own["varies"])}
    row_height = np.clip(8 / len(positions), 0.17, 0.28)  # inches: many rows move closer
    shown = charts.dots(
        points.astype({"y": float}),
        positions,
        ("name", {name: name for name in heads}),
        ("varies", looks),
        "Difference",
        wording.groups,
        is_difference=True,
        empty="not asked",
        empty_x=-0.5,
        row_height=row_height,
        title=_title(own, model),
    )
    told = {"wording": wording, "model": model, "mark": HOLDS}
    caption = headings.counted(WORDS["differences_figure"].format(**told), points, wording.groups)
    notes = [note.format(**told) for note in WORDS["differences_figure_notes"]]
    notes += beside.grey(points, wording.groups)
    return Drawn(shown, caption, notes, {}, points.drop(columns="y"), figure)


def _title(own: pd.DataFrame, model: str) -> str:
    """How many of the differences drawn hold among their pairs, and of how many the title tells."""
    enough = own[~printed.is_few(own.assign(source=RUN))]
    hold = enough["p_holm"].lt(paired.LEVEL).sum()
    says = WORDS["differences_title"]["few" if enough.empty else "some" if hold else "none"]
    return says.format(model=model, hold=hold, all=len(enough))


def labelled(found: pd.DataFrame, named: Named, wording: Wording) -> pd.DataFrame:
    """The differences of the headlines in words: a row each, ready to be drawn or printed.

    found: of `paired.differences`; named: metric and condition by name. Columns added: headline
    (its name), kind ("between models" or "between methods"), shared (the method or model both
    have), pair ("A − B"), value (the difference) and mark ("†" where p is below .05 after Holm's
    correction among the pairs that share a method or a model).
    """
    own = of_headlines(found, named).rename(columns={"name": "headline"})
    is_method = own["varies"].eq("method")
    sides = {"a": is_method, "b": is_method, "same": ~is_method}
    words = {
        side: [
            tables.name(value, "method" if method else "model", wording)
            for value, method in zip(own[side], kind, strict=True)
        ]
        for side, kind in sides.items()
    }
    own = own.assign(
        kind=is_method.map({True: "between methods", False: "between models"}),
        shared=words["same"],
        pair=[f"{a} − {b}" for a, b in zip(words["a"], words["b"], strict=True)],
        value=own["difference"],
        mark=own["p_holm"].lt(paired.LEVEL).map({True: HOLDS, False: ""}),
        source=RUN,
    )
    return own.sort_values("kind", ascending=False, kind="stable", ignore_index=True)


def plan(found: pd.DataFrame, named: Named, wished: float = WISHED) -> pd.DataFrame:
    """A row a headline and pair: how many groups it is from, on how many the two differ, the least
    difference that so many groups show with a power of 80 %, and how many the wished one needs.

    Arguments as of `table`. Missing where no group differs, or none could be shown. See
    `scoring.power`.
    """
    rows = [
        [
            *(row.name, row.same, f"{row.a} − {row.b}", row.n_groups, row.n_discordant),
            round(power.detectable(row.n_groups, row.discordance, row.mean_square), 2),
            power.groups_needed(wished, row.discordance, row.mean_square),
        ]
        for row in of_headlines(found, named).itertuples(index=False)
    ]
    columns = ["headline", "shared", "pair", "groups", "differ", "least shown"]
    planned = pd.DataFrame(rows, columns=[*columns, f"groups for {wished:g}"])
    return planned.astype({f"groups for {wished:g}": "Int64"})


def largest(planned: pd.DataFrame) -> pd.DataFrame:
    """Of a `plan` the first of the pairs with the most groups for each headline, as printed."""
    most = planned.sort_values("groups", ascending=False, kind="stable")
    most = most.drop_duplicates("headline").sort_index().set_index("headline")
    return most.astype(object).where(most.notna(), ABSENT)


def disagreements(
    items: pd.DataFrame,
    responses: pd.DataFrame,
    scores: pd.DataFrame,
    found: pd.DataFrame,
    n: int = 5,
) -> pd.DataFrame:
    """One answer of each of the first n groups on which two sides differ, with both answers.

    Of the first pair in `found` (of `paired.differences`) that differs in `scores`, which may be
    those of one metric alone. Columns: question, gold, and of each side its answer and verdict.
    """
    texts = items.set_index("item_id")[["question", "answer"]]
    for _, pair in found.drop_duplicates(_KEYS).iterrows():
        one, other = (
            scores[scores["model"].eq(model) & scores["method"].eq(method)]
            for model, method in paired.sides(pair)
        )
        both = one.merge(other, on=["item_id", "sample"], suffixes=("_a", "_b"))
        both = both[both["score_a"] != both["score_b"]].drop_duplicates("group_id_a").head(n)
        if not both.empty:
            return _both_answers(both, texts, responses, pair)
    return pd.DataFrame(columns=["group", "item", "question", "gold"]).set_index(["group", "item"])


def _both_answers(
    both: pd.DataFrame, texts: pd.DataFrame, responses: pd.DataFrame, pair: pd.Series
) -> pd.DataFrame:
    answers = responses.set_index(readings.KEY)
    rows = []
    for row in both.to_dict("records"):
        item = texts.loc[row["item_id"]]
        told = {
            "group": row["group_id_a"],
            "item": row["item_id"],
            "question": readings.shortened(item["question"]),
            "gold": readings.shortened(str(item["answer"])),
        }
        for side, (model, method) in zip("ab", paired.sides(pair), strict=True):
            answer = answers.loc[(row["item_id"], model, method, row["sample"])]
            told[f"{model}, {method}"] = readings.said(answer)
            told[f"verdict on {pair[side]}"] = row[f"outcome_{side}"]
        rows.append(told)
    return pd.DataFrame(rows).set_index(["group", "item"])


# ---- words ---------------------------------------------------------------------------------------


def of_headlines(found: pd.DataFrame, named: Named) -> pd.DataFrame:
    """The rows of the headlines, with the `name` of each, in the order of the pairs."""
    names = {cell: name for name, cell in named.items()}
    cells = list(zip(found["metric"], found["condition"], strict=True))
    return found.assign(name=[names.get(cell, "") for cell in cells]).query("name != ''")


def _heads(own: pd.DataFrame, named: Named) -> list[str]:
    return [name for name in named if name in set(own["name"])]


def _labelled(found: pd.DataFrame, named: Named, wording: Wording) -> pd.DataFrame:
    """Those `of_headlines`, models first, with the labels `of`, what a and b share, and `pair`."""
    own, print_of = of_headlines(found, named), {**wording.methods}
    is_method = {"a": "method", "b": "method", "same": "model"}
    a, b, of = (
        own[name].where(own["varies"] != varies, own[name].replace(print_of))
        for name, varies in is_method.items()
    )
    labelled = own.assign(of=of, pair=a + " − " + b)
    return labelled.iloc[labelled["varies"].eq("method").argsort(kind="stable")]


def _marks(rows: pd.DataFrame) -> pd.Series:
    return rows["p_holm"].lt(paired.LEVEL).map({True: HOLDS, False: ""})


def _text(row) -> str:
    mark = HOLDS if row.p_holm < paired.LEVEL else ""
    number = printed.cell(row.difference, row.ci_low, row.ci_high, mark, printed.signed)
    p, q = printed.p_value(row.p_holm), printed.p_value(row.q)
    return (
        f"{number}\np {p}, q {q}\nn = {printed.n_of(row.n, row.n_groups)}, d = {row.n_discordant}"
    )
