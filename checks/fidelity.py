"""The list of deviations on docs/fidelity.md: writes it, and measures its numbers again.

    python checks/fidelity.py            measure again: on the last run's answers of SmolLM2-135M,
                                         on constructed answers, and on ../shared where it is there
    python checks/fidelity.py --write    write the list into docs/fidelity.md

The list stands in data/published/deviations.yaml. Measuring asks no model. Ends with 1 if a number
that was measured does not stand in the effect of its deviation.
"""

import re
import sys
from collections.abc import Iterator

import pandas as pd
import prompt_overlap

from tomlab import paths
from tomlab.asking import prompts
from tomlab.asking.likelihood import generated
from tomlab.benchmarks import bigtom, simpletom
from tomlab.benchmarks.fantom import scoring as fantom_scoring
from tomlab.benchmarks.fantom.scoring import BY_PAPER, BY_RELEASE, yes_or_no
from tomlab.models import specs
from tomlab.records import deviations, tidy
from tomlab.reporting.numbers import number
from tomlab.scoring import variants
from tomlab.scoring.embeddings import embed
from tomlab.scoring.run_on import before_next_question
from tomlab.scoring.visible import visible

BENCHMARKS = ("bigtom", "fantom", "simpletom", "omnitom")
MODEL = "smollm2-135m"
SHARED = paths.ROOT.parent / "shared"
PAGE = paths.DOCS / "fidelity.md"
BEGIN = (
    "<!-- Written by `python checks/fidelity.py --write` from data/published/deviations.yaml. -->"
)
END = "<!-- End of what is written. -->"
TITLES = {
    "all": "All benchmarks",
    "bigtom": "BigToM",
    "fantom": "FANToM",
    "simpletom": "SimpleToM",
    "omnitom": "OmniToM",
}


def main(arguments: list[str]) -> int:
    if arguments == ["--write"]:
        PAGE.write_text(with_list(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
        print(f"{PAGE.relative_to(paths.ROOT)}: {len(deviations.read())} deviations are written")
        return 0
    effects = {deviation.id: deviation.effect for deviation in deviations.read()}
    missing = 0
    for name, phrase in (*without_a_run(), *on_the_run()):
        verdict = "stands"
        if not stands_in(phrase, effects[name]):
            verdict = f"DOES NOT STAND in: {effects[name]}"
            missing += 1
        print(f"{name:7} {phrase:32} {verdict}")
    return int(missing > 0)


def stands_in(phrase: str, effect: str) -> bool:
    """Whether an effect has a phrase whose numbers are whole numbers of the effect."""
    return re.search(rf"(?<![\d.,]){re.escape(phrase)}(?!\d)", effect) is not None


# The page


def with_list(page: str) -> str:
    """The page with the list as the file of deviations has it."""
    if page.count(BEGIN) != 1 or page.count(END) != 1:
        raise SystemExit(f"{PAGE}: expected each of the two marks around the list once")
    head, _, tail = page.partition(BEGIN)
    _, _, foot = tail.partition(END)
    return f"{head}{BEGIN}\n\n{as_markdown(deviations.read())}\n{END}{foot}"


def as_markdown(listed: list[deviations.Deviation]) -> str:
    """A heading for each benchmark and each deviation, and its fields as a list."""
    lines = []
    benchmark = None
    for deviation in listed:
        if deviation.benchmark != benchmark:
            benchmark = deviation.benchmark
            lines += [f"## {TITLES[benchmark]}", ""]
        lines += [f"### {deviation.id}. {deviation.title}", ""]
        lines.append(f"- **Paper:** {deviation.paper}")
        if deviation.release:
            lines.append(f"- **Release:** {deviation.release}")
        lines.append(f"- **Here:** {deviation.ours}")
        lines.append(f"- **Why:** {deviation.why}")
        if deviation.by_parameter:
            lines.append(f"- **By parameter:** {deviation.by_parameter}")
        lines += [f"- **Effect:** {deviation.effect}", ""]
    return "\n".join(line.replace("<", "&lt;") for line in lines)


# What is measured: the id of a deviation, and what has to stand in its effect


def without_a_run() -> Iterator[tuple[str, str]]:
    """What is measured on constructed answers, our own items and the released texts."""
    changed = [text for text in CONSTRUCTED if yes_or_no(text, BY_PAPER) != yes_or_no(text)]
    yield "FAN-3", f"{len(changed)} of {len(CONSTRUCTED)} constructed answers"
    items = simpletom.read_released(paths.DATA / "simpletom" / "questions")
    asked = simpletom.asked(items, "cot").to_dict("records")
    spaced = [item for item in asked if 'followed by "(A)"' in text_of(item)]
    yield "SIM-3", f"{len(spaced)} of {len(asked)} prompts"
    released = SHARED / "datasets" / "bigtom" / "bigtom.csv"
    if released.is_file():
        items = bigtom.read_released(released)
        other_key = items["variable"].eq("percept_to_belief").sum()
        yield "BIG-5", f"{other_key} of the {len(items):,} released items"
    paper = SHARED / "seeds" / "omnitom.txt"
    if paper.is_file():
        yield from overlap_with(paper.read_text(encoding="utf-8"))


def text_of(item: dict) -> str:
    return simpletom.messages(item, "cot")[-1]["content"]


# Answers to a yes/no question, one of each kind that the two readings might take differently.
CONSTRUCTED = (
    "Yes",
    "No",
    "True.",
    "False.",
    "Yes, Ann knows it.",
    "No, she does not know it.",
    "She does know.",
    "She does not know.",
    "She doesn't know.",
    "Not sure.",
    "No, but Ann knows it.",
    "Ann: yes",
)


def overlap_with(paper: str) -> Iterator[tuple[str, str]]:
    """How much of our prompts' words stands in the same order in the printed ones."""
    printed = {
        "extraction": ("Stage 1 Extraction: Level 3", "Stage 1 Extraction: Shared Level 4"),
        "labelling": ("Stage 2 Belief Labeling: Level 3", "Stage 2 Belief Labeling: Level 4"),
        "judge": ("Semantic Judge: Level 3", "Semantic Judge: Level 4"),
    }
    ours = {
        "extraction": "omnitom/extract-L3",
        "labelling": "omnitom/label-L3",
        "judge": "judges/align-L3",
    }
    for name, (heading, next_heading) in printed.items():
        _, _, tail = paper.partition(f"### {heading} Zero-Shot Base Prompt")
        text, _, _ = tail.partition(f"### {next_heading}")
        share = number(prompt_overlap.overlap(prompts.load(ours[name]), text))
        if name == "judge":
            yield "OMN-3", f"L3 text is {share}"
        else:
            yield "OMN-1", f"{share} ({name})"


def on_the_run() -> Iterator[tuple[str, str]]:
    """What is measured on the answers that the last run has of SmolLM2-135M."""
    run = {benchmark: answers_of(benchmark) for benchmark in BENCHMARKS}
    yield from of_run_ons(run)
    yield from of_bigtom(*run["bigtom"])
    yield from of_fantom(*run["fantom"])
    yield from of_simpletom(run["simpletom"][2])
    yield from of_omnitom()


def answers_of(benchmark: str) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Items, and the written answers to them as the protocol asks: responses and scores."""
    items = tidy.read("items", paths.result("items", benchmark))
    scores = generated(all_scores(benchmark))
    responses = tidy.read("responses", paths.result("responses", benchmark, MODEL))
    responses = generated(variants.protocol(responses))
    is_scored = responses["method"].isin(scores["method"])
    return items, responses[is_scored], variants.protocol(scores)


def all_scores(benchmark: str) -> pd.DataFrame:
    return tidy.read("scores", paths.result("scores", benchmark, MODEL))


def of_run_ons(run: dict) -> Iterator[tuple[str, str]]:
    responses = pd.concat([answers for _, answers, _ in run.values()])
    texts = responses["response"].fillna("")
    thoughts = 0
    run_ons = 0
    for text in texts:
        answer = visible(text)[0].strip()
        thoughts += answer != text.strip()
        beginning = before_next_question(answer, is_read=bool)
        run_ons += beginning is not None and beginning.strip() != answer
    yield "ALL-3", f"Among {len(texts):,} answers"
    yield "ALL-3", f"the number with a thinking block is {thoughts}"
    yield "ALL-3", f"the number with a further question is {run_ons}"


def of_bigtom(
    items: pd.DataFrame, responses: pd.DataFrame, scores: pd.DataFrame
) -> Iterator[tuple[str, str]]:
    to_grader = scores["by_released_rule"].isna()
    yield "BIG-1", f"{to_grader.sum()} of SmolLM2-135M's {len(scores):,} answers"
    yield "BIG-1", f"{to_grader[scores['method'] == '0-shot-cot'].sum()} of them from 0-shot chain"
    unreadable = scores["outcome"].eq("unparsed").sum()
    yield "BIG-1", f"Here {unreadable} answers are unreadable"
    by_text = bigtom.score(items, responses, by_text=True)
    still_unreadable = by_text["outcome"].eq("unparsed").sum()
    yield "BIG-1", f"would make {unreadable - still_unreadable} of them readable"
    by_key = scores.loc[scores["method"] == "0-shot", "score"].mean()
    by_key_or_text = by_text.loc[by_text["method"] == "0-shot", "score"].mean()
    yield "BIG-1", f"from {three_decimals(by_key)} to {three_decimals(by_key_or_text)}"
    read = scores[~to_grader]
    differ = read["by_released_rule"].astype(bool) != read["score"].eq(1)
    yield "BIG-2", f"{differ.sum()} of the {len(read):,} answers"
    yield "BIG-3", swapped("bigtom", "0-shot", items, "group_id")
    varied = variants.variants(all_scores("bigtom"), items, "group_id")
    same_answer = varied.query(
        "method == '0-shot' and asked_as == 'reversed' and metric == 'same_answer'"
    )
    yield "BIG-3", f"keeps only {number(same_answer['value'].item())}"
    templates = pd.read_parquet(paths.raw("bigtom", "templates.parquet"))
    tried = templates[templates["source"].str.startswith("llm:")]
    usable = tried["status"].eq("template").sum()
    yield "BIG-10", f"{usable} of the {len(tried)} templates"
    plain_answers = responses[responses["method"].isin(["0-shot", "1-shot"])]
    longer = plain_answers["completion_tokens"] > 25
    yield "BIG-4", f"{longer.sum()} of SmolLM2-135M's {len(longer):,} answers"


def three_decimals(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")


def swapped(benchmark: str, method: str, items: pd.DataFrame, groups: str) -> str:
    """Such as "from .49 to .51": the score of a method as asked, and with swapped options."""
    varied = variants.variants(all_scores(benchmark), items, groups)
    rows = varied.query("method == @method and asked_as == 'reversed'").set_index("metric")["value"]
    return f"from {number(rows['as_asked'])} to {number(rows['varied'])}"


def of_fantom(
    items: pd.DataFrame, responses: pd.DataFrame, scores: pd.DataFrame
) -> Iterator[tuple[str, str]]:
    texts = responses[["item_id", "method", "sample", "response", "finish_reason"]]
    scored = scores.merge(texts, on=["item_id", "method", "sample"])
    cut_off = scored["finish_reason"].eq("length").sum()
    yield "FAN-5", f"{cut_off} of the {len(scored):,} scored answers"
    beliefs = scored[scored["question_type"] == "belief_dist"]
    gap = cosine_gap(beliefs, items)
    close = gap.abs() < 0.02
    yield "FAN-1", f"In {close.sum()} of SmolLM2-135M's {len(close)} answers"
    short = beliefs[beliefs["method"] == "short"]
    released = number(short["by_released_rule"].mean())
    yield "FAN-2", f"is {number(short['score'].mean())} here and {released} by the released rule"
    yield "FAN-2", f"{short['outcome'].eq('truncated').sum()} of {len(short)} answers cut off"
    yield from of_yes_and_no(items, responses)
    yield "FAN-6", swapped("fantom", "short", items, "conversation_id")
    choices = scores[scores["question_type"] == "belief_choice"]
    differ = (choices["by_released_rule"] != choices["score"]).sum()
    yield "FAN-7", f"the score of {differ} of SmolLM2-135M's {len(choices)} choices"


def of_yes_and_no(items: pd.DataFrame, responses: pd.DataFrame) -> Iterator[tuple[str, str]]:
    """How the answers to yes/no questions are read by the release's rule and by App. A.4."""
    asked = items[items["question_type"].str.endswith("_yn")]
    answers = responses[responses["item_id"].isin(asked["item_id"])]
    by_release, by_paper = (
        fantom_scoring.score(asked, answers, embedder=None, yes_no_as=rule)
        for rule in (BY_RELEASE, BY_PAPER)
    )
    unreadable = by_release["outcome"].eq("unparsed").sum()
    still_unreadable = by_paper["outcome"].eq("unparsed").sum()
    changed = by_release["score"].ne(by_paper["score"]).sum()
    by_release_share = three_decimals(by_release["score"].mean())
    by_paper_share = three_decimals(by_paper["score"].mean())
    yield "FAN-3", f"Of SmolLM2-135M's {len(answers)} yes/no answers"
    yield "FAN-3", f"{unreadable - still_unreadable} more can be read"
    yield "FAN-3", f"{changed} get another verdict"
    yield "FAN-3", f"from {by_release_share} to {by_paper_share}"


def cosine_gap(beliefs: pd.DataFrame, items: pd.DataFrame) -> pd.Series:
    """The cosine of each free answer with the right belief, less that with the other one."""
    encoder = specs.model("minilm")
    keys = items.set_index("item_id").loc[beliefs["item_id"]]
    texts = [fantom_scoring.answer_text(text)[0] for text in beliefs["response"]]
    answers = embed(texts, encoder)
    right = embed(list(keys["answer"]), encoder)
    wrong = embed(list(keys["wrong_answer"]), encoder)
    return pd.Series((answers * right).sum(axis=1) - (answers * wrong).sum(axis=1))


def of_simpletom(scores: pd.DataFrame) -> Iterator[tuple[str, str]]:
    released = scores["by_released_rule"].astype(float)
    differ = released != scores["score"]
    yield "SIM-1", f"{differ.sum()} of SmolLM2-135M's {len(scores):,} answers"
    for method, name in (("none", "without help"), ("cot-star-ms", "for CoT* with reminder it")):
        rows = scores["method"] == method
        ours = number(scores.loc[rows, "score"].mean())
        theirs = number(released[rows].mean())
        yield "SIM-1", f"{name} is {ours} here and {theirs} by the released rule"
    yield "SIM-1", f"({rows.sum()} answers)"


def of_omnitom() -> Iterator[tuple[str, str]]:
    judges = pd.read_csv(paths.RESULTS / "judges" / "omnitom" / "sensitivity.csv")
    random = judges.query("model == 'random' and method == 'stage1-L3'").set_index("judge")
    f1 = random["value"].map(number)
    yield "OMN-2", f"{f1['exact']} with exact matches"
    yield "OMN-2", f"{f1['embedding']} with embeddings"
    yield "OMN-2", f"{f1['token_f1']} with shared words ({random['n'].iloc[0]} stories)"
    agreement = pd.read_csv(paths.RESULTS / "judges" / "omnitom" / "agreement.csv")
    [embedding] = agreement.loc[agreement["judge"] == "embedding", "agreement"]
    yield "OMN-4", f"is {number(embedding)} on constructed edits"
    scores = variants.protocol(all_scores("omnitom"))
    cut_off = scores.groupby("method")["cut_off"].agg(["sum", "size"])
    extracted, labelled = (cut_off.loc[method] for method in ("stage1-L3", "stage2-L3"))
    yield "OMN-6", f"{extracted['sum']} of SmolLM2-135M's {extracted['size']} extracted pipe tables"
    yield "OMN-6", f"{labelled['sum']} of {labelled['size']} labelled ones"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
