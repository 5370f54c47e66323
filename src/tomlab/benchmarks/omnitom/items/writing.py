"""OmniToM's candidate gold by language model: beliefs extracted, then labelled (Sec. 4, App. B.2).

Two steps at TELeR level L4. The paper's people reconciled such tables; these are one model's
reading (see `source`). A table counts if all of it can be read: a right extraction of what the gold
lacks would count as wrong.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tomlab.benchmarks.omnitom.items import compose, parsing
from tomlab.benchmarks.omnitom.items.labels import labels_for
from tomlab.benchmarks.omnitom.items.records import DIMENSIONS, rows
from tomlab.benchmarks.writing import Draft, Step, Unparsed
from tomlab.errors import InputError
from tomlab.models.specs import Request

FIRST_ID = 3001  # of candidate records, after our own (1001 … and 2001 …)
FIELDS = ("story_id", "story_category", "story", "source", "beliefs")  # of a record (App. B.5)


class _Table(Step):
    """A table at the level that `prompt` names, with examples of the story's category."""

    def request(
        self,
        draft: Draft,
        examples: Sequence[Mapping] = (),
        examples_seed: int = 0,
        examples_shown: int = 1,
        replaced: Mapping[str, str] | None = None,
        **options: Any,
    ) -> Request:
        """Errors: `InputError` for a story without so many other stories of its category."""
        solved = compose.examples_for(draft, examples, examples_seed, examples_shown)
        if len(solved) < examples_shown:
            raise InputError(
                f"params.yaml: omnitom.generation.writers: story_id {draft['story_id']}: found "
                f"{len(solved)} other stories of category {draft['story_category']!r} among the "
                f"examples, expected {examples_shown}; take `llm` out, or name a `source` with "
                "more stories of each category"
            )
        record = {"beliefs": [], "source": ""} | draft
        item = compose.item_of(
            record,
            self.name,
            question=compose.table_text(rows(record), 0),
            examples=json.dumps(solved, ensure_ascii=False),
        )
        return Request(tuple(compose.messages(item, self.prompt, replaced)), **options)


def parse_beliefs(text: str, draft: Draft) -> dict[str, list] | Unparsed:
    """`beliefs` as in App. B.5, but of their labels only `order`, "" if none was legal."""
    table = parsing.parse(text)
    if not table.rows:
        return Unparsed(table.reason)
    if table.lost or draft["is_cut"]:
        return Unparsed("part of the table is lost")
    beliefs = [
        {"actor": row.actor, "belief": row.belief, "labels": {"order": row.order}}
        for row in table.rows
    ]
    return {"beliefs": beliefs}


def parse_labels(text: str, draft: Draft) -> dict[str, list] | Unparsed:
    """`beliefs` in the format of App. B.5."""
    table = parsing.parse(text)
    if not table.rows:
        return Unparsed(table.reason)
    extracted = rows(draft)
    beliefs = []
    for belief, row in zip(extracted, labels_for(extracted, table.rows), strict=True):
        labels = row.labels if row else {}
        if not all(map(labels.get, DIMENSIONS)):
            return Unparsed("a belief without seven legal labels")
        beliefs.append({"actor": belief.actor, "belief": belief.belief, "labels": labels})
    return {"beliefs": beliefs}


# The level that did best in the sweep of Table 9.
EXTRACTION = _Table("extraction", parse_beliefs, "stage1-L4")
LABELLING = _Table("labelling", parse_labels, "stage2-L4")
