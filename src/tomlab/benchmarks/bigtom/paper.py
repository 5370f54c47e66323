"""BigToM's paper: where its numbers are printed, in which unit; how it names methods."""

import pandas as pd

from tomlab.records.files import yaml_beside
from tomlab.records.published import Paper, Wording
from tomlab.reporting import numbers
from tomlab.scoring.stats import interval_of_sums

_DATA = yaml_beside(__file__)
PUBLICATION = Paper("bigtom", "BigToM", "Gandhi et al., 2023", _DATA["tables"])

WORDING = Wording("BigToM", _DATA["methods"], groups="templates")

# What `dvc metrics` shows of each method: (metric, condition), both versions of a template right.
_ASKED = ("forward_belief", "forward_action", "backward_belief")
HEADLINES = {kind.replace("_", "-"): ("tb_and_fb", f"{kind}/tb_and_fb/1") for kind in _ASKED}

# What is compared in pairs beside the headlines, and the methods that others are held against.
SET_LEVEL = ("tb_and_fb",)
REFERENCES = ("0-shot",)


def people() -> pd.DataFrame:
    """People's shares right in Figure 3, in the columns of a published table: a row for each
    question and version (`tb_and_fb`: right in both versions) and for what the interval is `over`.

    over "people": the interval that the authors' notebook draws, which resamples the people; none
    where it draws none. over "templates": our interval over the templates that people were asked
    about, of which there are only four, from the same answers.
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
