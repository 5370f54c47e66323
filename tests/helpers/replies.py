"""Tables of responses to score: given texts, and what a baseline answers."""

import pandas as pd

from tomlab.records import tidy


def answered(items, answers, method, model="model", finish="stop", sample=0, tokens=2):
    """The responses of a model: one text or an error (None) for all items, or one each."""
    is_error = [text is None for text in _each(answers, items)]
    responses = pd.DataFrame(
        {
            "item_id": items["item_id"].to_list(),
            "model": model,
            "method": method,
            "sample": sample,
            "messages": "[]",
            "prompt_hash": "0",
            "response": _each(answers, items),
            "finish_reason": [None if error else finish for error in is_error],
            "prompt_tokens": 0,
            "completion_tokens": _each(tokens, items),
            "error": ["server said no" if error else None for error in is_error],
            "request_key": "key",
        }
    )
    return tidy.check(responses, "responses")


def of_baseline(benchmark, items, policy, method="", seed=0):
    """What a baseline answers to what is asked of the items with a method, else with the first."""
    method = method or next(iter(benchmark.METHODS))
    asked = benchmark.asked(items, method)
    answers = [benchmark.reference(i, method, seed)[policy] for i in asked.to_dict("records")]
    return answered(asked, answers, method, model=policy)


def sorted_rows(metrics):
    return metrics.sort_values(["model", "method", "metric", "condition"], ignore_index=True)


def _each(values, items):
    return values if isinstance(values, list) else [values] * len(items)
