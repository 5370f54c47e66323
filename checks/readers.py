"""The floors a second time: other code, numpy alone, held against `tomlab.scoring.readers`.

    python checks/readers.py                     our items, under results/items
    python checks/readers.py <bigtom.csv>        the released BigToM too; its numbers (no text of it)
                                                go to docs/readers_released.csv

Own tokenizer, own folds (groups dealt out by size), own logistic regression (Newton's method).
Prints both side by side; ends with 1 if a number differs by more than .02. The place of a fact is
learned in two ways (one threshold here, a regression on many there): where it tells nothing, they
guess differently, by up to .05.
"""

import datetime
import json
import sys
from collections import Counter
from importlib import import_module

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from tomlab import paths
from tomlab.scoring import readers

APART, FOLDS = {"place of the fact": 0.05}, 10  # elsewhere .02
DENYING = {"no", "not", "never", "nothing", "nobody", "none", "nor", "neither", "cannot", "without"}
DENYING |= {"unaware"}


def tokens(text):
    """Words in lower case, letters and digits, so that "doesn't" has a "t" of its own."""
    return "".join(c if c.isalnum() or c == "_" else " " for c in text.lower()).split()


def denies(text):
    return bool(DENYING & set(tokens(text))) or "n't" in text or "n’t" in text


def sentences(text):
    parts, begun = [], 0
    text = text.strip()
    for at, sign in enumerate(text[:-1]):
        if sign in ".!?" and text[at + 1].isspace():
            parts.append(text[begun : at + 1].strip())
            begun = at + 1
    return [*parts, text[begun:].strip()]


def fold_of(groups):
    """A fold for each group: the largest first, each to the fold that has the fewest rows."""
    names, sizes = np.unique(groups, return_counts=True)
    filled, where = np.zeros(min(FOLDS, len(names))), {}
    for at in np.argsort(-sizes, kind="stable"):
        where[names[at]] = int(filled.argmin())
        filled[filled.argmin()] += sizes[at]
    return np.array([where[group] for group in groups])


def newton(x, weight, ridge=1.0):
    """Coefficients of a logistic regression without intercept that makes all rows likely, ridge."""
    # In the space of the rows, of which there are fewer than words.
    size, turn = np.linalg.eigh(x @ x.T)
    turn, size = turn[:, size > 1e-9], np.sqrt(size[size > 1e-9])
    z, b = turn * size, np.zeros(len(size))
    for _ in range(30):
        p = 1 / (1 + np.exp(-np.clip(z @ b, -30, 30)))
        curve = z.T @ (z * (weight * p * (1 - p))[:, None]) + ridge * np.eye(len(b))
        step = np.linalg.solve(curve, z.T @ (weight * (p - 1)) + ridge * b)
        b -= step
        if np.abs(step).max() < 1e-8:
            break
    return x.T @ (turn @ (b / size))


def pairs(benchmark, items, method):
    """A row a question of two options: all that the rules below look at."""
    group = next(name for name in ("family", "conversation_id", "group_id") if name in items)
    rows = []
    for item in benchmark.asked(items, method).to_dict("records"):
        options = list(item["choices"]) or (
            ["yes", "no"] if item["answer"] in ("yes", "no") else []
        )
        if len(options) != 2:
            continue
        said = benchmark.reference(item, method, 0)
        kind = [item.get(k) for k in ("question_type", "variable", "variant", "tom_order")]
        kind = "/".join(str(k).split(":")[0] for k in kind if k)
        rows.append(
            item
            | {
                "options": options,
                "kind": kind,
                "group": item[group],
                "side": said["omniscient"] == said["gold"],
            }
            | getattr(benchmark, "in_words", dict)(item)
        )
    return pd.DataFrame(rows)


def credit(liking):
    """What a choice earns by how much more the right option is liked than the other."""
    return np.where(np.abs(liking) < 1e-9, 0.5, liking > 0)


def learned(own, features):
    """By how much a regression likes the right option more; features: right less wrong."""
    fold, found = fold_of(own["group"].to_numpy()), np.zeros(len(own))
    side = own["side"].to_numpy()
    for at in np.unique(fold):
        train = (fold != at) & ~own["control"].to_numpy()
        counts = {s: (side[train] == s).sum() for s in set(side)}
        # Two rows a pair, half the difference and its opposite, are one of twice the weight.
        weight = np.array([2 * train.sum() / counts[s] for s in side[train]])
        b = newton(features[train] / 2, weight)
        found[fold == at] = features[fold == at] @ b
    return found


def bags(said):
    """Which words each list has."""
    column = {word: at for at, word in enumerate(sorted({w for words in said for w in words}))}
    found = np.zeros((len(said), len(column)))
    for row, words in enumerate(said):
        found[row, [column[word] for word in words]] = 1
    return found


def difference(own, count):
    """Counts of words in the right option less those in the wrong one."""
    vocabulary = sorted({w for options in own["options"] for text in options for w in tokens(text)})
    column = {word: at for at, word in enumerate(vocabulary)}
    found = np.zeros((len(own), len(vocabulary)))
    for row, (options, answer) in enumerate(zip(own["options"], own["answer"], strict=True)):
        for text in options:
            for word in set(tokens(text)):
                found[row, column[word]] += count if text == answer else -count
    return found


def rules(own):
    """By how much each rule likes the right option more than the wrong one."""
    wrong = [
        next(t for t in o if t != a) for o, a in zip(own["options"], own["answer"], strict=True)
    ]
    both, words = list(zip(own["answer"], wrong, own["story"], strict=True)), difference(own, 1)
    sign = np.array([denies(r) - 0 - denies(w) for r, w, _ in both])
    texts = sorted({text for options in own["options"] for text in options})
    for text in texts if len(texts) <= readers.FEW_TEXTS else ():
        yield f"always “{text}”", np.array([int(r == text) - int(w == text) for r, w, _ in both])
    asked = bags([tokens(question) for question in own["question"]]) * sign[:, None]
    yield "question and options", learned(own, np.hstack([words, asked]))
    if own.get("character", pd.Series("")).all():
        opens = zip(own["story"].str.lower(), own["character"].str.lower(), strict=True)
        is_first = [story.startswith(name) for story, name in opens]
        yield "who speaks first does not know", sign * np.where(is_first, 1, -1)
    if all(len(c) for c in own["choices"]):
        turn = np.array([-1 if denies(sentences(s)[-1]) else 1 for *_, s in both])
        yield "longer option", np.array([len(r) - len(w) for r, w, _ in both])
        first = [o[0] == a for o, a in zip(own["options"], own["answer"], strict=True)]
        yield "first option", np.where(first, 1, -1)
        last = [set(tokens(sentences(s)[-1])) for *_, s in both]
        shared = [
            len(set(tokens(r)) & e) - len(set(tokens(w)) & e)
            for (r, w, _), e in zip(both, last, strict=True)
        ]
        yield "more words of the last sentence", np.array(shared)
        new = []
        for right, other, story in both:
            *early, event, _ = ["", "", *sentences(story)]
            event, early = set(tokens(event)), set(tokens(" ".join(early)))
            r, w = set(tokens(right)) - set(tokens(other)), set(tokens(other)) - set(tokens(right))
            new.append(len(r & event) - len(r & early) - len(w & event) + len(w & early))
        yield "negation in the last sentence", np.array(new) * turn
        yield "words of the options", learned(own, words)
        yield "words of the options, turned by a negation", learned(own, words * turn[:, None])
    if "fact_answer" in own:
        place = []
        for fact, story in zip(own["fact_answer"], own["story"], strict=True):
            shared = [len(set(tokens(fact)) & set(tokens(s))) for s in sentences(story)]
            place.append(shared.index(max(shared)) / len(shared))
        yield "place of the fact", sign * stump(own, np.array(place), sign)


def stump(own, place, sign):
    """Whether the denying option is liked (1) or not (-1): a threshold learned on other groups."""
    fold, found, side = fold_of(own["group"].to_numpy()), np.zeros(len(own)), own["side"].to_numpy()
    for at in np.unique(fold):
        train, best = fold != at, (-1.0, 0.0, 1)
        for cut in np.unique(place):
            for way in (1, -1):
                hit = (np.where(place < cut, way, -way) * sign > 0)[train]
                value = np.mean([hit[side[train] == s].mean() for s in set(side)])
                best = max(best, (value, cut, way))
        found[fold == at] = np.where(place[fold == at] < best[1], best[2], -best[2])
    return found


def second(benchmark, items, method):
    """Balanced accuracy by kind, control and rule."""
    told, rows = pairs(benchmark, items, method), {}
    told["control"] = told.get("control", False)
    for kind, own in told.groupby("kind"):
        own = own.reset_index(drop=True)
        for rule, liking in rules(own):
            earned = own.assign(earned=credit(liking))
            for control, part in earned.groupby("control"):
                rows[kind, control, rule] = part.groupby("side")["earned"].mean().mean()
    return pd.Series(rows)


def labels(items):
    """OmniToM: the share of labels that words give rightly, all regressions of a dimension at once."""
    told = [(i["family"], b) for i in items.to_dict("records") for b in json.loads(i["answer"])]
    said = [set(tokens(f"{b['actor']} {b['belief']}")) for _, b in told]
    times = Counter(word for words in said for word in words)
    column = {word: at for at, word in enumerate(w for w, n in times.items() if n > 1)}
    x = np.zeros((len(told), len(column) + 1), np.float32)
    x[:, -1] = 1
    for row, words in enumerate(said):
        x[row, [column[word] for word in words if word in column]] = 1
    fold, found = fold_of(np.array([family for family, _ in told])), {}
    for name in told[0][1]["labels"]:
        gold = np.array([b["labels"][name] for _, b in told])
        legal, hits = np.unique(gold), 0
        for at in range(FOLDS):
            train, test = fold != at, fold == at
            b = descent(x[train], (gold[train, None] == legal).astype(np.float32))
            hits += (legal[(x[test] @ b).argmax(axis=1)] == gold[test]).sum()
        found[name] = hits / len(gold)
    return pd.Series(found)


def descent(x, y, ridge=1.0):
    """Logistic regressions by accelerated gradient descent, one for each column of y."""
    v = np.ones(x.shape[1], np.float32)
    for _ in range(20):
        v = x.T @ (x @ v)
        size = np.linalg.norm(v)
        v /= size
    b = ahead = np.zeros((x.shape[1], y.shape[1]), np.float32)
    for step in range(100):
        p = 1 / (1 + np.exp(-x @ ahead))
        following = ahead - (x.T @ (p - y) + ridge * ahead) / (0.25 * size + ridge)
        b, ahead = following, following + step / (step + 3) * (following - b)
    return b


def labels_of_floors(items):
    """The same by `tomlab.scoring.readers`."""
    told = items.assign(row=items["answer"].map(json.loads)).explode("row", ignore_index=True)
    words = readers.counts([f"{row['actor']} {row['belief']}" for row in told["row"]]).astype(float)
    model, found = OneVsRestClassifier(LogisticRegression(solver="liblinear")), {}
    for name in told["row"][0]["labels"]:
        gold = told["row"].map(lambda row, name=name: row["labels"][name])
        found[name] = (readers.held_out(model, words, gold, told["family"]) == gold).mean()
    return pd.Series(found)


def beside(name, items, method):
    """Both computations of a benchmark, a row a kind, control and rule."""
    benchmark = import_module(f"tomlab.benchmarks.{name}")
    if name == "bigtom":
        items = items.assign(control=items["condition"].str.endswith("control"))
    first = readers.table(readers.choices(benchmark, items, method))
    other = (
        second(benchmark, items, method).rename_axis(["kind", "control", "rule"]).rename("second")
    )
    return first.merge(other.reset_index(), on=["kind", "control", "rule"])


def main(released):
    own = {"bigtom": "0-shot", "simpletom": "none", "fantom": "short"}
    told = {n: beside(n, pd.read_parquet(paths.result("items", n)), m) for n, m in own.items()}
    if released:
        bigtom = import_module("tomlab.benchmarks.bigtom")
        found = beside("bigtom", bigtom.read_released(released), "0-shot")
        told["bigtom, released"] = found
        path = paths.DOCS / "readers_released.csv"
        head = "# What a reader gets who skips the story, on the released BigToM (200 templates by GPT-4,\n"
        head += "# Gandhi et al. 2023, data/bigtom/bigtom.csv of its repository). Numbers alone.\n"
        head += f"# Computed {datetime.date.today()} by: python checks/readers.py <bigtom.csv>\n"
        path.write_text(head + found.round(4).to_csv(index=False), encoding="utf-8")
    asked = import_module("tomlab.benchmarks.omnitom").asked
    beliefs = asked(pd.read_parquet(paths.result("items", "omnitom")), "stage2-L3")
    both = pd.DataFrame({"value": labels_of_floors(beliefs), "second": labels(beliefs)})
    both = both.rename_axis("kind").reset_index().assign(rule="words of the belief", control=False)
    told["omnitom"] = both
    table = pd.concat(told, names=["items"]).reset_index("items")
    table["apart"] = (table["value"] - table["second"]).abs()
    shown = ["items", "kind", "control", "rule", "value", "second", "apart"]
    print(table[shown].round(3).to_string(index=False))
    return int((table["apart"].round(3) > table["rule"].map(APART).fillna(0.02)).any())


if __name__ == "__main__":
    sys.exit(main(*(sys.argv[1:] or [""])))
