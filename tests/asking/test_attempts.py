"""Asking for something to be written, and what becomes of the answer."""

import pytest

from tomlab.asking.attempts import FAILURES, OUTCOME, Unparsed, attempt, label_fault, request
from tomlab.models.specs import Reply, Response


def number(answer):
    return int(answer.text) if answer.text.isdigit() else Unparsed("no number")


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        (Reply("4", "stop"), "rating"),
        (Reply("<think>Or 5?</think>4", "length"), "rating"),
        (Reply("four", "stop"), "unparsed"),
        (Reply("", "stop"), "unparsed"),
        (Reply("four and", "length"), "truncated"),
        (Reply("<think>4", "stop"), "truncated"),
        (Reply("I can't help with that.", "stop"), "refused"),
        (Reply("", "refusal"), "refused"),
    ],
)
def test_answer_is_read_or_kept_with_the_reason(reply, status):
    found, outcome = attempt(Response("key", reply), number, "rating")
    reason = "" if status == "rating" else "no number"
    assert outcome == dict(zip(OUTCOME, (status, reason, reply.text), strict=True))
    assert found == (4 if status == "rating" else None)
    assert status in ("rating", *FAILURES)


def test_failed_request_has_its_error_as_reason():
    found, outcome = attempt(Response("key", None, "429: slow down"), number, "rating")
    assert found is None
    assert outcome == {"status": "error", "reason": "429: slow down", "text": ""}


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


@pytest.mark.parametrize(
    ("found", "fault"),
    [
        ([("A", "x"), ("B", "y")], None),
        ([("A", "x"), ("A", "y")], "A: stands 2 times"),
        ([("A", "x")], "B: missing (1 of 2 lines missing)"),
        ([("B", "y"), ("A", "x")], "B: out of order"),
        ([("A", "x"), ("B", "")], "B: empty"),
    ],
)
def test_labels_are_there_once_in_order_and_with_a_text(found, fault):
    assert label_fault(found, ["A", "B"], "lines") == fault
