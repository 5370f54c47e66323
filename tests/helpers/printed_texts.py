"""The prompts that the papers print, cut out of the papers' text files as they are read.

Nothing of what is printed stands here but the words at which a text begins or ends. What a user
does by hand is done here, too: our placeholders are put where the paper's stand, and what page
breaks and columns tore apart is joined (docs/prompts.md says where).
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

SEEDS = Path(__file__).resolve().parents[2] / ".." / "shared" / "seeds"
CATEGORIES = {
    "AST": "Ambiguous Story Task",
    "FBT": "False Belief Task",
    "FPT": "Faux-pas Recognition Test",
    "HT": "Hinting Task Test",
    "PST": "Persuasion Story Task",
    "SIT": "Scalar Implicature Test",
    "SST": "Strange Story Task",
}

HARM = {
    "simpletom/harm": "Read the following story and determine what level of harmful",
    "simpletom/unethicality": "Read the following story and determine the level of unethicity",
}


class Printed(NamedTuple):
    """One printed prompt."""

    name: str
    version: str
    place: str
    text: str


def printed() -> list[Printed]:
    """All prompts that the papers print, by paper and place."""
    found = [*bigtom(), *bigtom_preprint(), *fantom(), *simpletom(), *omnitom()]
    return [prompt._replace(text=prompt.text.strip()) for prompt in found]


def between(text: str, start: str, end: str, *, keep: bool = False) -> str:
    """What stands between the first `start` and the next `end`; with `keep`, from `start` on."""
    _, mark, after = text.partition(start)
    inside, closing, _ = after.partition(end)
    assert mark and closing, f"found no {start!r} … {end!r}"
    return start + inside if keep else inside


def paper(name: str) -> str:
    return (SEEDS / f"{name}.txt").read_text(encoding="utf-8")


def bigtom() -> Iterator[Printed]:
    text = paper("bigtom")
    template = between(text, "### Prompt for generating model completions.\n\n```", "```")
    yield Printed("bigtom/generation", "paper", "Fig. 4", template)
    yield from bigtom_evaluation(text, "paper", "### Evaluation Prompt {}.")


def bigtom_preprint() -> Iterator[Printed]:
    text = paper("bigtom-preprint")
    template = between(text, "Prompt for generating model completions., width=0.9]", "Figure 4:")
    yield Printed("bigtom/generation", "preprint", "Fig. 4", template)
    yield from bigtom_evaluation(text, "preprint", "Evaluation Prompt {}., width=0.9]")


def bigtom_evaluation(text: str, version: str, heading: str) -> Iterator[Printed]:
    """The prompts of Fig. 9 to 12. heading: of a figure, with {} for the way of asking."""
    instruction = between(text, heading.format("0-shot"), "Figure 9:")
    yield Printed("bigtom/instruction", version, "Fig. 9", instruction)
    thinking = between(text, "# Text Models", "# Chat Models")
    yield Printed("bigtom/instruction-cot", version, "Fig. 10, text models", thinking)
    thinking = between(text, "# Chat Models", "Figure 10:")
    yield Printed("bigtom/instruction-cot", version, "Fig. 10, chat models", thinking)
    shown = between(text, heading.format("1-shot"), "Figure 11:")
    yield from one_shot(shown, version, "Fig. 11")
    shown = between(text, heading.format("1-shot CoT"), "Figure 12:")
    # The file of the preprint lost an apostrophe here.
    yield from one_shot_thinking(shown.replace("Letś", "Let's"), version, "Fig. 12")


def one_shot(shown: str, version: str, place: str) -> Iterator[Printed]:
    instruction, story, example = shown.partition("Story:")
    yield Printed("bigtom/instruction", version, place, instruction)
    yield Printed("bigtom/example-question", version, place, story + example)


def one_shot_thinking(shown: str, version: str, place: str) -> Iterator[Printed]:
    instruction, story, example = shown.partition("Story:")
    question, thought, thinking = example.partition("Thought:")
    yield Printed("bigtom/instruction-cot", version, place, instruction)
    yield Printed("bigtom/example-question", version, place, story + question)
    yield Printed("bigtom/example-answer-cot", version, place, thought + thinking)
    last_line = "Answer:" + thinking.rpartition("Answer:")[2]
    yield Printed("bigtom/example-answer", version, f"{place}, last line", last_line)


def fantom() -> Iterator[Printed]:
    text = paper("fantom")
    ours = {
        "{Character 1}, {Character 2}, ... {Character n}": "{names}",
        "{Character 1}": "{first}",
        "{leaving character}": "{person}",
        "{joining character}": "{person}",
        "{leaving reason}": "{reason}",
        "{Conversation history}": "{history}",
        "{inaccessible information}": "{summary}",
        "{FACTQ }": "{question}",
        "Question: FACTQ ": "Question: {question}",
        "{character name}": "{believer}",
        "{FULL FACT A or LIMITED FACT A }": "{answer}",
        "PersonX": "{person}",
        "Previous conversation": "{previous}",
        "Current conversation": "{current}",
        "\\n": "\n",
    }

    def quoted(start: str) -> str:
        """The text in quotation marks that begins with `start`, with our placeholders."""
        inside = between(text, f"“{start}", "”", keep=True).removeprefix("“")
        for theirs, placeholder in ours.items():
            inside = inside.replace(theirs, placeholder)
        return inside

    yield Printed("fantom/conversation", "paper", "App. A.1", quoted("{Character 1}, {"))
    yield Printed("fantom/leave", "paper", "App. A.1", quoted("Now, {leaving"))
    yield Printed("fantom/join", "paper", "App. A.1", quoted("Now {joining"))
    missed = f"{quoted('Previous conversation')}\n\n{quoted('What information was')}"
    yield Printed("fantom/missed", "paper", "App. A.1", missed)
    yield Printed("fantom/facts", "paper", "App. A.2", quoted("{inaccessible"))
    yield Printed("fantom/answer", "paper", "App. A.2", quoted("{context}"))
    question = quoted("{FACTQ }\\n\\nConvert")
    yield Printed("fantom/belief-question", "paper", "App. A.3", question)
    # Whose belief it is, of the second order, too.
    whose = question.replace("{believer}’s", "{whose}")
    yield Printed("fantom/belief-question", "paper", "App. A.3, with {whose}", whose)
    yield Printed("fantom/belief-answer", "paper", "App. A.3", quoted("Question: FACTQ"))


def simpletom() -> Iterator[Printed]:
    text = paper("simpletom")
    for name, start in HARM.items():
        rating = between(text, start, '"5":', keep=True) + '"5":'
        yield Printed(name, "paper", "App. E.3", rating)

    story = between(text, "I want you to write a short story", "E.5 ENTITY", keep=True)
    steps = between(story, "I want you", "7. Write 2 more", keep=True)
    before, _, after = story.partition("SCENARIO: [")
    between_both = between(after, "report the fried rats", "SCENARIO: [")
    whole = f"{before}{{example}}{between_both}SCENARIO: {{scenario}}\n\n"
    whole += "ENTITIES: {entities}\n\nKEY INFORMATION:"
    yield Printed("simpletom/story", "paper", "App. E.4", whole)

    rest = between(text, "For now, let us focus", "KEY INFORMATION: <key", keep=True)
    before, _, _ = rest.partition("[Unethical")
    after = "Now make 10" + rest.partition("Now make 10")[2]
    whole = f"{steps}\n{before}{{scenario}}\n\nHere is the example:\n\n{{example}}\n\n{after}"
    whole += "KEY INFORMATION: <key information>"
    yield Printed("simpletom/entities", "paper", "App. E.5", whole)

    judgment = between(text, "Read the following story and judge", "1-2 words.", keep=True)
    judgment = judgment.replace("{PersonX}", "{person_x}")
    for who in ("unaware", "aware"):
        judgment = judgment.replace(f"{{action_{who}}}", f"{{{who}_action}}")
    yield Printed("simpletom/describe", "paper", "App. F", judgment + "1-2 words.")

    reminded = between(text, "G.1 PATCHING", "G.2 GUIDING")
    respond = between(reminded, "What is the correct answer?", '"(A)"')
    yield Printed("simpletom/respond", "paper", "App. G.1", respond)
    guided = between(text, "G.2 GUIDING", "G.3 ENCOURAGING")
    yield Printed("simpletom/sysp", "paper", "App. G.2", between(guided, "SysP:", "SysP*:"))
    yield Printed("simpletom/sysp-star", "paper", "App. G.2", guided.partition("SysP*:")[2])
    thinking = between(text, "G.3 ENCOURAGING", "H INFERENCE")
    # The options that end them are the question's, which the code appends.
    plain, star = thinking.split("Think step by step")[1:3]
    for name, said in (("simpletom/cot", plain), ("simpletom/cot-star", star)):
        said = "Think step by step" + said.partition("followed by")[0] + "followed by"
        yield Printed(name, "paper", "App. G.3", said)


def omnitom() -> Iterator[Printed]:
    text = paper("omnitom")
    emphases = between(text, "Table 8:", "###")
    for code, category in CATEGORIES.items():
        emphasis = between(emphases, f"\n{category}\t", "\n")
        yield Printed(f"omnitom/emphasis-{code}", "paper", "App. C.2, Table 8", emphasis)
    extract = between(text, "### Stage 1 Extraction: Level 3 Zero-Shot Base Prompt", "###")
    content = between(text, "### Stage 1 Extraction: Shared Level 4 Content Block", "###")
    form = between(text, "### Stage 1 Extraction: Level 4 Formatting Block", "Few-shot:")
    yield Printed("omnitom/extract-L3", "paper", "App. C.2", extract)
    detailed = f"{extract}\n{content}\n{{emphasis}}\n{form}\n{{examples}}"
    yield Printed("omnitom/extract-L4", "paper", "App. C.2", detailed)
    label = between(text, "#### Stage 2 Belief Labeling: Level 3 Zero-Shot Base Prompt", "###")
    added = between(text, "### Stage 2 Belief Labeling: Level 4 Addition Block", "Few-shot:")
    yield Printed("omnitom/label-L3", "paper", "App. C.3", label)
    yield Printed("omnitom/label-L4", "paper", "App. C.3", f"{label}\n{added}\n{{examples}}")
    judge = between(text, "### Semantic Judge: Level 3 Zero-Shot Base Prompt", "###")
    added = between(text, "### Semantic Judge: Level 4 Addition Block", "- Few-shot:")
    yield Printed("judges/align-L3", "paper", "App. C.4", judge)
    yield Printed("judges/align-L4", "paper", "App. C.4", f"{judge}\n{added}")
