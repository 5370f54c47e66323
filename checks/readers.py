"""The table of readers a second time: other code, held against `tomlab.scoring.readers`.

    python checks/readers.py                     our items, under results/items, and fresh items
    python checks/readers.py <bigtom.csv>        the released BigToM too; its numbers (no text of it)
                                                go to docs/readers_released.csv

Own tokenizer, own features, own logistic regression (L-BFGS on differences between two options).
Groups are dealt to the same folds. Prints both numbers side by side; ends with 1 if any of balanced
accuracy, share of versions told and share of pairs or lists right differs by more than .01.
"""

import datetime
import json
import sys
from collections import Counter
from importlib import import_module
from itertools import pairwise

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from tomlab import paths
from tomlab.fresh import asking as fresh
from tomlab.fresh import items as fresh_items
from tomlab.fresh import sets
from tomlab.scoring import cues, readers, stats

APART, FOLDS = 0.01, 10
SEEDS = ["an open seed, for this page alone", "a second open seed", "a third open seed"]
FRESH_PAIRS = 300
METHODS = {"bigtom": "0-shot", "fantom": "short", "simpletom": "likelihood"}
DENYING = {"no", "not", "never", "nothing", "nobody", "none", "nor", "neither", "cannot", "without"}
DENYING |= {"unaware"}
# By version: whoever knows everything is right (BigToM: true belief), or wrong (false belief).
VERSIONS = {True: "when_known", False: "when_not_known"}
MEASURES = ["value", "version", "both_right", *VERSIONS.values()]


# --- texts -----------------------------------------------------------------------------------------


def tokens(text):
    """Words in lower case, letters and digits, so that "doesn't" has a "t" of its own."""
    return "".join(c if c.isalnum() or c == "_" else " " for c in text.lower()).split()


def denies(text):
    return bool(DENYING & set(tokens(text))) or "n't" in text.lower() or "n’t" in text.lower()


def sentences(text):
    parts = []
    begun = 0
    text = text.strip()
    for number, sign in enumerate(text[:-1]):
        if sign in ".!?" and text[number + 1].isspace():
            parts.append(text[begun : number + 1].strip())
            begun = number + 1
    return [*parts, text[begun:].strip()]


def grams(words, longest):
    """Words, and pairs of neighbours."""
    features = set(words)
    if longest == 2:
        features |= set(pairwise(words))
    return features


def role(word, question):
    if word == question["asked"]:
        return "ASKED"
    return "OTHER" if word in question["people"] else word


def masked(words, question):
    return [role(word, question) for word in words]


def tagged(words, question):
    current = ""
    result = []
    for word in masked(words, question):
        if word in ("ASKED", "OTHER"):
            current = word
        result.append(f"{current} {word}")
    return result


def people_of(story):
    """Words with a capital that stand inside a sentence."""
    people = set()
    parts = story.replace("\n", " \n ").split(" ")
    for previous, word in pairwise(parts):
        bare = word.lstrip('“"(')
        opens = not previous or previous[-1] in '.!?:”"\n' or previous.endswith("\n")
        if len(bare) > 1 and bare[0].isalpha() and not ("a" <= bare[0] <= "z") and not opens:
            people.add(tokens(bare)[0] if tokens(bare) else "")
    return people


# --- questions -------------------------------------------------------------------------------------


def questions_of(benchmark, items, method):
    """A dictionary for each question of two options: all that readers look at."""
    group = next(name for name in ("family", "conversation_id", "group_id") if name in items)
    questions = []
    for item in benchmark.asked(items, method).to_dict("records"):
        options = list(item["choices"])
        if not options and item["answer"] in ("yes", "no"):
            options = ["yes", "no"]
        if len(options) != 2:
            continue
        reference = benchmark.reference(item, method, 0)
        words = getattr(benchmark, "in_words", dict)(item)
        parts = [item.get(name) for name in ("question_type", "variable", "variant", "tom_order")]
        kinds = [
            str(part).split(":")[0] for part in parts if part and part not in ("main", "aware")
        ]
        question = {
            "id": item["item_id"],
            "kind": "/".join(kinds),
            "group": item[group],
            "control": bool(item.get("control", False)),
            "stated": {0: "not stated", 1: "stated"}.get(item.get("initial_belief"), ""),
            "side": reference["omniscient"] == reference["gold"],
            "right": item["answer"],
            "wrong": options[1] if options[0] == item["answer"] else options[0],
            "first": options[0],
            "shown": len(item["choices"]) > 0,
            "question": words.get("question", item["question"]),
            "story": item["story"].strip(),
            "fact": item.get("fact_answer", ""),
            "person": item.get("character", ""),
        }
        question["asked"] = asked_person(item, options, question["story"])
        question["people"] = people_of(question["story"]) | {question["asked"]}
        question["together"] = together(item, question)
        questions.append(question)
    sizes = Counter(question["together"] for question in questions)
    for question in questions:
        if sizes[question["together"]] < 2:
            question["together"] = ""
    return questions


def asked_person(item, options, story):
    order = str(item.get("tom_order", ""))
    if order.startswith("second"):
        speakers = {line.split(":")[0].lower() for line in item["full_story"].split("\n")}
        people = [word for word in tokens(options[0]) if word in speakers]
        return people[1] if len(people) > 1 else item["character"]
    if item.get("character"):
        return item["character"]
    if item.get("person_x"):
        return item["person_x"].split()[0].lower()
    for name in "".join(c if c.isalnum() else " " for c in item["question"]).split()[1:]:
        if name[0].isupper() and name in story:
            return name.lower()
    return ""


def together(item, question):
    if "condition" in item:
        return "/".join(
            map(str, (item["group_id"], question["kind"], question["stated"], question["control"]))
        )
    if "story_id" in item:
        return f"{item['story_id']}/{question['kind']}"
    if question["kind"].endswith("_yn"):
        return item["item_id"][: item["item_id"].rindex("_")]
    return ""


# --- learning --------------------------------------------------------------------------------------


def fold_of(groups):
    """A fold for each row: the largest groups first, each to the fold that has the fewest rows."""
    names, sizes = np.unique(groups, return_counts=True)
    filled = np.zeros(min(FOLDS, len(names)))
    where = {}
    for name_number in np.argsort(sizes, kind="stable")[::-1]:
        where[names[name_number]] = int(filled.argmin())
        filled[filled.argmin()] += sizes[name_number]
    return np.array([where[group] for group in groups])


def matrix(bags):
    """A row for each bag of features with their values."""
    column = {}
    row = []
    columns = []
    value = []
    for number, bag in enumerate(bags):
        for feature, size in bag.items():
            row.append(number)
            columns.append(column.setdefault(feature, len(column)))
            value.append(size)
    shape = (len(bags), max(len(column), 1))
    return sparse.csr_matrix((np.array(value, float), (row, columns)), shape=shape)


def regression(x, sign, weight):
    """The coefficients that make sum(weight * log(1 + exp(-sign x b))) + |b|² / 2 least."""

    def loss(b):
        margin = sign * (x @ b)
        value = weight @ np.logaddexp(0, -margin) + b @ b / 2
        slope = -weight * sign / (1 + np.exp(np.clip(margin, -500, 500)))
        return value, x.T @ slope + b

    start = np.zeros(x.shape[1])
    how = {"maxiter": 2000, "ftol": 1e-13, "gtol": 1e-7}
    return minimize(loss, start, jac=True, method="L-BFGS-B", options=how).x


def held_out(x, sign, weight, groups):
    margins = np.zeros(x.shape[0])
    if len(set(groups)) < 2:
        return margins
    fold = fold_of(np.array(groups))
    for number in np.unique(fold):
        train = (fold != number) & (weight > 0)
        margins[fold == number] = x[fold == number] @ regression(
            x[train], sign[train], weight[train]
        )
    return margins


def weights(questions):
    """Each side has the same weight, controls have none."""
    sizes = Counter((question["control"], question["side"]) for question in questions)
    weights_of_questions = [
        len(questions) / sizes[q["control"], q["side"]] * (not q["control"]) for q in questions
    ]
    return np.array(weights_of_questions, float)


def learned(questions, bags):
    """By how much the right option is liked more; bags: features of the right less the wrong one."""
    x = matrix(bags) / 2
    # Two options of a question, half the difference and its opposite, are one of twice the weight.
    groups = [question["group"] for question in questions]
    return 2 * held_out(x, np.ones(len(bags)), 2 * weights(questions), groups)


def turns(questions, texts, longest):
    """Above 0 where words take the omniscient answer to be right."""
    if len({question["side"] for question in questions}) < 2:
        return np.zeros(len(questions))
    bags = [dict.fromkeys(grams(words, longest), 1.0) | {"intercept": 1.0} for words in texts]
    sign = np.array([1.0 if question["side"] else -1.0 for question in questions])
    groups = [question["group"] for question in questions]
    return held_out(matrix(bags), sign, weights(questions) / 2, groups)


def difference(right, wrong, size=1.0):
    bag = Counter()
    for feature in right:
        bag[feature] += size
    for feature in wrong:
        bag[feature] -= size
    return bag


# --- readers ---------------------------------------------------------------------------------------


def overlap(question, text):
    """How many words of a text only the right option has, less those that only the wrong one has."""
    right = set(tokens(question["right"]))
    wrong = set(tokens(question["wrong"]))
    words = set(tokens(text))
    return len((right - wrong) & words) - len((wrong - right) & words)


def news(question):
    early = sentences(question["story"])
    event = early[-2] if len(early) > 1 else ""
    return overlap(question, event), overlap(question, " ".join(early[:-2]))


def last_named(question):
    words = tokens(" ".join(sentences(question["story"])[:-1]))
    right = set(tokens(question["right"])) - set(tokens(question["wrong"]))
    wrong = set(tokens(question["wrong"])) - set(tokens(question["right"]))
    last_right = max((i for i, word in enumerate(words) if word in right), default=-1)
    last_wrong = max((i for i, word in enumerate(words) if word in wrong), default=-1)
    return last_right - last_wrong


def lean(questions):
    """1 where the right option is the one of somebody who knows everything, by surface cues."""
    denial = np.array([float(denies(q["wrong"])) - float(denies(q["right"])) for q in questions])
    if denial.all():
        return np.sign(denial)
    new = np.array([event - earlier for event, earlier in map(news, questions)])
    return np.sign(np.where(new != 0, new, [last_named(q) for q in questions]))


def blind(questions):
    texts = {question["right"] for question in questions}
    texts |= {question["wrong"] for question in questions}
    if len(texts) <= 4:
        for text in sorted(texts):
            liking = [(q["right"] == text) - (q["wrong"] == text) for q in questions]
            yield f"always “{text}”", np.array(liking), None
    if all(q["shown"] for q in questions):
        length = np.array([len(q["right"]) - len(q["wrong"]) for q in questions])
        first = np.array([1 if q["first"] == q["right"] else -1 for q in questions])
        yield "first option", first, None
        yield "last option", -first, None
        yield "longer option", length, None
        yield "shorter option", -length, None
        bags = [words_of_options(q) for q in questions]
        yield "words of the options", learned(questions, bags), None
    for name, longest in (("words", 1), ("word pairs", 2)):
        bags = []
        for q in questions:
            bag = difference(grams(tokens(q["right"]), longest), grams(tokens(q["wrong"]), longest))
            size = denies(q["right"]) - denies(q["wrong"])
            for word in grams(tokens(q["question"]), longest):
                bag["asked", word] += float(size)
            bags.append(bag)
        yield f"{name} of question and options", learned(questions, bags), None


def words_of_options(question, size=1.0):
    return difference(set(tokens(question["right"])), set(tokens(question["wrong"])), size)


def by_negation(questions):
    last = [sentences(q["story"])[-1] for q in questions]
    shared = []
    for q, sentence in zip(questions, last, strict=True):
        words = set(tokens(sentence))
        shared.append(len(words & set(tokens(q["right"]))) - len(words & set(tokens(q["wrong"]))))
    shared = np.array(shared)
    turn = np.array([-1.0 if denies(sentence) else 1.0 for sentence in last])
    event, earlier = np.array([news(q) for q in questions]).T
    yield "more words of the last sentence", shared, None
    yield "fewer words of the last sentence", -shared, None
    yield "negation, words before it", event * turn, turn
    yield "negation, new words before it", (event - earlier) * turn, turn
    bags = [words_of_options(q, t) for q, t in zip(questions, turn, strict=True)]
    yield "words of the options, turned by a negation", learned(questions, bags), turn


def by_sentences(questions):
    last = [tokens(sentences(q["story"])[-1]) for q in questions]
    roles = [tagged(words, q) for words, q in zip(last, questions, strict=True)]
    whole = [masked(tokens(q["story"]), q) for q in questions]
    number = [[f"n{len(sentences(q['story']))}"] for q in questions]
    seen = {
        "number of sentences": (number, 1),
        "words of the last sentence": (last, 1),
        "word pairs of the last sentence": (last, 2),
        "words of the last sentence, by role": (roles, 1),
        "word pairs of the last sentence, by role": (roles, 2),
        "words of the story": (whole, 1),
        "word pairs of the story": (whole, 2),
    }
    leaning = lean(questions)
    for name, (texts, longest) in seen.items():
        turn = np.sign(np.round(turns(questions, texts, longest), 9))
        bags = [{"lean": 2.0 * way * t} for way, t in zip(leaning, turn, strict=True)]
        yield name, learned(questions, bags), turn


def conversation(question):
    """The lines, and the number of the line that has most words of the fact."""
    lines = question["story"].split("\n")
    fact = set(tokens(question["fact"]))
    shared = [len(fact & set(tokens(line))) for line in lines]
    return lines, shared.index(max(shared))


def near_words(question):
    lines, fact_line = conversation(question)
    people = {line.split(":")[0].lower() for line in lines}
    naming = [number for number, line in enumerate(lines) if question["asked"] in tokens(line)]
    earlier = [number for number in naming if number < fact_line][-1:]
    later = [number for number in naming if number > fact_line][:1]
    words = []
    for position, numbers in (("before", earlier), ("fact", [fact_line]), ("after", later)):
        for number in numbers:
            roles = masked(tokens(lines[number]), question | {"people": people})
            words += [f"{position} {role}" for role in roles]
    return words


def by_conversation(questions, versions):
    sign = np.array([float(denies(q["right"])) - float(denies(q["wrong"])) for q in questions])
    bags = []
    for q, way in zip(questions, sign, strict=True):
        fact = set(tokens(q["fact"]))
        parts = [len(fact & set(tokens(s))) for s in sentences(q["story"])]
        position = parts.index(max(parts)) / len(parts)
        bags.append({step: way for step in np.arange(0, 1, 0.02) if position >= step})
    yield "place of the fact", learned(questions, bags), None
    if not all(q["person"] for q in questions):
        return
    first = np.array([q["story"].lower().startswith(q["asked"]) for q in questions])
    turn = np.where(first, -1.0, 1.0)
    yield "who speaks first does not know", -sign * turn, turn
    speaks_near = []
    for q in questions:
        lines, fact_line = conversation(q)
        window = lines[max(fact_line - 1, 0) : fact_line + 3]
        speaks_near.append(q["asked"] in {line.split(":")[0].lower() for line in window})
    turn = np.where(speaks_near, 1.0, -1.0)
    yield "who speaks near the fact knows", -sign * turn, turn
    for name, by_id in versions.items():
        turn = np.array([by_id[q["id"]] for q in questions])
        yield f"{name} of the lines near the fact", -sign * turn, turn


def all_readers(questions, versions):
    yield from blind(questions)
    if all(q["shown"] for q in questions):
        yield from by_negation(questions)
    if all(q["fact"] for q in questions):
        yield from by_conversation(questions, versions)
    else:
        yield from by_sentences(questions)


def second(benchmark, items, method):
    """Balanced accuracy, versions told, and pairs or lists right, by kind and reader."""
    all_questions = sorted(questions_of(benchmark, items, method), key=lambda q: q["id"])
    versions = {}
    people = [q for q in all_questions if q["fact"] and q["person"]]
    if people:
        texts = [near_words(q) for q in people]
        for name, longest in (("words", 1), ("word pairs", 2)):
            turn = turns(people, texts, longest)
            versions[name] = dict(zip((q["id"] for q in people), turn, strict=True))
    rows = []
    for kind in sorted({q["kind"] for q in all_questions}):
        questions = [q for q in all_questions if q["kind"] == kind]
        for reader, liking, turn in all_readers(questions, versions):
            liking = np.round(np.asarray(liking, float), 6)
            table = pd.DataFrame(questions)[["kind", "control", "stated", "side", "together"]]
            table["credit"] = np.where(liking == 0, 0.5, liking > 0)
            table["version"] = np.nan
            if turn is not None:
                way = np.sign(np.round(turn, 9)) * np.where(table["side"], 1, -1)
                table["version"] = (way + 1) / 2
            for (control, stated), part in table.groupby(["control", "stated"]):
                whole = part[part["together"] != ""].groupby("together")["credit"].min()
                row = {"kind": kind, "control": control, "initial_belief": stated, "reader": reader}
                row |= part.groupby("side")[["credit", "version"]].mean().mean().to_dict()
                row |= part.groupby("side")["credit"].mean().rename(VERSIONS).to_dict()
                rows.append(row | {"both_right": whole.eq(1).mean() if len(whole) else np.nan})
    return pd.DataFrame(rows).rename(columns={"credit": "value"})


# --- OmniToM ---------------------------------------------------------------------------------------


def labels(items):
    """The share of labels that words give rightly, all regressions of a dimension at once."""
    rows = [(i["family"], b) for i in items.to_dict("records") for b in json.loads(i["answer"])]
    texts = [set(tokens(f"{b['actor']} {b['belief']}")) for _, b in rows]
    x = matrix([dict.fromkeys(words, 1.0) | {"intercept": 1.0} for words in texts])
    x = x.toarray().astype(np.float32)
    fold = fold_of(np.array([family for family, _ in rows]))
    shares = {}
    for name in rows[0][1]["labels"]:
        gold = np.array([b["labels"][name] for _, b in rows])
        legal = np.unique(gold)
        hits = 0
        for number in np.unique(fold):
            train = fold != number
            b = descent(x[train], (gold[train, None] == legal).astype(np.float32))
            hits += (legal[(x[~train] @ b).argmax(axis=1)] == gold[~train]).sum()
        shares[name] = hits / len(gold)
    return pd.Series(shares)


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


def labels_of_readers(items):
    """The same by `tomlab.scoring.readers`."""
    table = items.assign(row=items["answer"].map(json.loads)).explode("row", ignore_index=True)
    words = cues.counts([f"{row['actor']} {row['belief']}" for row in table["row"]]).astype(float)
    model = OneVsRestClassifier(LogisticRegression(solver="liblinear"))
    shares = {}
    for name in table["row"][0]["labels"]:
        gold = table["row"].map(lambda row, name=name: row["labels"][name])
        shares[name] = (cues.held_out(model, words, gold, table["family"]) == gold).mean()
    return pd.Series(shares)


# --- both ------------------------------------------------------------------------------------------


def side_by_side(benchmark, items, method):
    """Both computations of a benchmark, a row for each kind, control, initial belief and reader."""
    if benchmark.NAME == "bigtom" and "control" not in items and "condition" in items:
        items = items.assign(control=items["condition"].str.endswith("control"))
    chosen = readers.choices(benchmark, items, method)
    keys = ["kind", "control", "initial_belief", "reader"]
    first = readers.table(chosen).merge(by_version(chosen, keys), on=keys)
    table = first.merge(
        second(benchmark, items, method), on=keys, suffixes=("", "_second"), how="outer"
    )
    apart = [(table[m].fillna(-1) - table[f"{m}_second"].fillna(-1)).abs() for m in MEASURES]
    return table.assign(apart=pd.concat(apart, axis=1).max(axis=1))


def by_version(chosen, keys):
    """The share right in each version of `VERSIONS`, with its interval over groups."""
    shares = stats.shares(chosen, [*keys, "side"], "credit", "group")
    columns = ["value", "ci_low", "ci_high"]
    wide = shares.pivot(index=keys, columns="side", values=columns)
    names = [f"{VERSIONS[side]}{column.removeprefix('value')}" for column, side in wide.columns]
    return wide.set_axis([name.replace("ci", "") for name in names], axis=1).reset_index()


def all_tables(released):
    for name, method in METHODS.items():
        items = pd.read_parquet(paths.result("items", name))
        benchmark = import_module(f"tomlab.benchmarks.{name}")
        yield f"{name}, ours", side_by_side(benchmark, items, method)
    for seed_number, seed in enumerate(SEEDS, 1):
        items = fresh_items.table(sets.drawn(seed, FRESH_PAIRS)).query("not control")
        yield f"fresh {seed_number}", side_by_side(fresh, items, "0-shot")
    if released:
        bigtom = import_module("tomlab.benchmarks.bigtom")
        table = side_by_side(bigtom, bigtom.read_released(released), "0-shot")
        write(table)
        yield "bigtom, released", table
    asked = import_module("tomlab.benchmarks.omnitom").asked
    beliefs = asked(pd.read_parquet(paths.result("items", "omnitom")), "stage2-L3")
    table_of_labels = pd.DataFrame(
        {"value": labels_of_readers(beliefs), "value_second": labels(beliefs)}
    )
    table_of_labels = (
        table_of_labels.rename_axis("kind")
        .reset_index()
        .assign(reader="words of the belief", control=False)
    )
    yield (
        "omnitom, ours",
        table_of_labels.assign(
            apart=(table_of_labels["value"] - table_of_labels["value_second"]).abs()
        ),
    )


def write(table):
    """The numbers of the released BigToM, for the pages."""
    head = "# What blind and shallow readers get on the released BigToM (200 templates by GPT-4,\n"
    head += "# Gandhi et al. 2023, data/bigtom/bigtom.csv of its repository). Numbers alone.\n"
    head += f"# Computed {datetime.date.today()} by: python checks/readers.py <bigtom.csv>\n"
    text = head + table.drop(columns="apart").round(4).to_csv(index=False)
    (paths.DOCS / "readers_released.csv").write_text(text, encoding="utf-8")


def main(released):
    failed = False
    columns = ["items", "kind", "control", "initial_belief", "reader"]
    columns += [f"{m}{end}" for m in MEASURES for end in ("", "_second")] + ["apart"]
    for name, table in all_tables(released):
        printed = table.assign(items=name).reindex(columns=columns)
        print(printed.round(3).to_string(index=False), flush=True)
        differ = ~(table["apart"] <= APART + 1e-9)
        print(f"{name}: {len(table)} rows, {differ.sum()} differ by more than {APART}", flush=True)
        failed = failed or differ.any()
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(*(sys.argv[1:] or [""])))
