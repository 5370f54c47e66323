"""Requests that ask for something to be written."""

import pytest

from tomlab.asking.attempts import request


@pytest.fixture
def mine(tmp_path):
    (tmp_path / "mine.txt").write_text("{context}\n\nQuestion: {question}\n")
    return {"fantom/answer": str(tmp_path / "mine.txt")}


def test_placeholders_are_filled_and_braces_in_what_fills_them_are_text(mine):
    values = {"context": "It says {question}.", "question": "{context}?"}
    [message] = request("fantom/answer", values, mine, max_tokens=5).messages
    assert message == {"role": "user", "content": "It says {question}.\n\nQuestion: {context}?"}


@pytest.mark.parametrize(
    ("shared", "beginning"), [(None, ""), ((), ""), (("context",), "A story.\n\nQuestion: ")]
)
def test_beginning_that_is_shared_ends_before_the_first_placeholder_of_its_own(
    mine, shared, beginning
):
    values = {"context": "A story.", "question": "Who?"}
    made = request("fantom/answer", values, mine, shared=shared, max_tokens=5)
    assert made.shared_prefix == beginning
