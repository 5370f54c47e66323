"""BigToM's paper: where its numbers are printed, in which unit, and how methods are named."""

import pandas as pd

from tomlab.records.files import yaml_beside
from tomlab.records.published import Paper, Wording
from tomlab.reporting import numbers
from tomlab.scoring.stats import interval_of_sums

_DATA = yaml_beside(__file__)
PUBLICATION = Paper("bigtom", "BigToM", "Gandhi et al., 2023", _DATA["tables"])

WORDING = Wording("BigToM", _DATA["methods"], groups="templates")

# The numbers that `dvc metrics` shows for each method, as (metric, condition): the share of
# templates with both versions right.
_ASKED = ("forward_belief", "forward_action", "backward_belief")
HEADLINES = {kind.replace("_", "-"): ("tb_and_fb", f"{kind}/tb_and_fb/1") for kind in _ASKED}

# Metrics that are compared in pairs besides the headlines, and the methods that all others are
# compared with.
SET_LEVEL = ("tb_and_fb",)
REFERENCES = ("0-shot",)


def people() -> pd.DataFrame:
    """People's shares of right answers in Figure 3, in the columns of a published table. There is a
    row for each question and version (`tb_and_fb`: right in both versions) and each kind of
    interval, which `over` names.

    over "people": the interval that the authors' notebook draws by resampling the people; missing
    if it draws none. over "templates": our interval, from the same answers, over the templates
    that people were asked about, of which there are only four.
    """
    over_people = numbers.published(PUBLICATION, "release_human", "accuracy")
    counts = PUBLICATION.read("people_counts").query("in_figure3 == 1")
    over_people = over_people.assign(over="people", n=counts["people"].max())
    question = ["variable", "contingency", "initial_belief"]
    rows = []
    for key, answers in counts.groupby(question, sort=False):
        sums = answers[["right", "people"]].set_axis(["sum", "count"], axis=1)
        interval = interval_of_sums(sums, n=answers["people"].sum())
        rows.append(dict(zip(question, key, strict=True)) | vars(interval))
    source = PUBLICATION.source("people_counts")
    over_templates = pd.DataFrame(rows).assign(
        over="templates", source=numbers.PAPER, mark="", reason="", printed_in=source
    )
    return pd.concat([over_people, over_templates], ignore_index=True)
