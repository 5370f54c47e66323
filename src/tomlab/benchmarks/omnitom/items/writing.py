"""A language model writes candidate gold tables for OmniToM (Sec. 4, App. B.2).

It first extracts beliefs, then labels them, both at TELeR level L4. In the paper people reconciled
such tables; these are one model's reading (see `source`). A table is used only if all of it can be
read: beliefs that gold lacks would be counted as wrong in right extractions.
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

FIRST_ID = 3001  # candidate records' first id; ours begin at 1001 and 2001
FIELDS = ("story_id", "story_category", "story", "source", "beliefs")  # of a record (App. B.5)


class _Table(Step):
    """A step that asks for a table by the method `prompt`, with examples of the same category."""

    def request(
        self,
        draft: Draft,
        examples: Sequence[Mapping] = (),
        examples_seed: int = 0,
        examples_shown: int = 1,
        replaced: Mapping[str, str] | None = None,
        **options: Any,
    ) -> Request:
        """Errors: `InputError` if `examples` has fewer than `examples_shown` other stories of the
        draft's category.
        """
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
    """`beliefs` in the format of App. B.5, but with `order` as the only label ("" if illegal).
    `Unparsed` if no row, or not every row, can be read.
    """
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
    """The draft's `beliefs` with their labels, in the format of App. B.5. `Unparsed` if a belief
    lacks one of seven legal labels.
    """
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
