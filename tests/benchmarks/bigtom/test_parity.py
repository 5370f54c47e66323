"""BigToM: the released rule for answers, written a second time, beside ours on any answer."""

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tomlab.benchmarks.bigtom import scoring

PIECES = ["Answer:", "answer:", "Thought: ", "a)", "b)", "A)", "B)", "(a)", "(b)", "a", "b.", " "]
PIECES += ["Mei dives.", "schema)", "not ", " or ", "\n"]
METHODS = ["0-shot", "0-shot-cot", "1-shot", "1-shot-cot"]


def released_again(text: str, right_key: str, method: str) -> bool | None:
    """True if the right key with its bracket is anywhere, False if another is, None without one."""
    said = text.strip()
    if method == "0-shot-cot":
        _, cue, behind = said.partition("Answer:")
        # A character behind the cue is lost; without a cue, the first seven are.
        said = behind[1:] if cue else said[7:]
    keys = {key for key in ("a", "b") if key + ")" in said.lower()}
    if not keys:
        return None
    return right_key in keys


@given(st.lists(st.sampled_from(PIECES)).map("".join), st.sampled_from(METHODS))
@example("Answer:a)Mei", "0-shot-cot")
@example("Thought: a) or b)?\nAnswer: b)", "0-shot-cot")
@settings(max_examples=300, deadline=None)
def test_released_rule_is_that_of_the_released_code_on_any_text(text, method):
    for key in ("a", "b"):
        assert scoring.released_rule(text, key, method) is released_again(text, key, method)
