"""Replies that a server should not give: odd counts, answers that are no text, other forms."""

import json

from faulty_server import Act

COUNTS = {
    "none": {},
    "null": {"in": None, "out": None},
    "text": {"in": "many", "out": "few"},
    "negative": {"in": -3, "out": -1},
    "huge": {"in": 10**30, "out": 10**30},
    "fraction": {"in": 1.5, "out": 2.5},
    "not a mapping": None,
    "lists": {"in": [1], "out": [2]},
}
TEXTS = {
    "lone surrogate": "The \ud800 attic.",
    "list": [7],
    "object": {"text": "in the attic"},
    "number": 7,
    "true": True,
}
BODIES = {
    "list": [],
    "text": "in the attic",
    "number": 7,
    "null": None,
    "empty object": {},
    "choices as text": {"choices": "a", "content": "a"},
    "choices null": {"choices": None, "content": None},
    "choices of null": {"choices": [None], "content": [None]},
    "no message": {"choices": [{"index": 0}], "content": [{}]},
}


def body(client: str, text="in the attic", finish="stop", usage=COUNTS["null"]) -> Act:
    """A reply in a protocol's form with odd parts; it is valid JSON in ASCII."""
    names = {
        "openai": {"in": "prompt_tokens", "out": "completion_tokens"},
        "anthropic": {"in": "input_tokens", "out": "output_tokens"},
    }[client]
    counted = usage and {names[side]: count for side, count in usage.items()}
    if client == "openai":
        choice = {"message": {"role": "assistant", "content": text}, "finish_reason": finish}
        reply = {"choices": [choice], "usage": counted}
    else:
        content = [{"type": "text", "text": text}]
        reply = {"content": content, "stop_reason": finish, "usage": counted}
    return Act(body=json.dumps(reply))
