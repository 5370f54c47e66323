"""What repeats of a question would bring (`scoring.repeats`): a table and a figure."""

import matplotlib.pyplot as plt
import pandas as pd
import seaborn as sns
from IPython.display import display

from tomlab.models.specs import ModelSpec, is_sampled
from tomlab.records.published import Wording
from tomlab.reporting import draw, tables
from tomlab.reporting.numbers import cell, few, number
from tomlab.scoring.repeats import PARTS, split

REPEATS = (1, 2, 3, 5, 8, 10, 20)
_NONE = (
    "Not known here: every question has to be asked more than once (`run.samples: 5`, say) at a "
    "temperature above 0 (`temperature` in the model's entry). At 0 an answer repeats itself."
)


def show(scores: pd.DataFrame, group: str, wording: Wording, model: ModelSpec) -> None:
    """Display both by method for the scores of one model, or why there is nothing to tell."""
    if not is_sampled(model) or not scores["sample"].any():
        display(tables.say(_NONE))
        return
    told, widths = table(scores, group, wording)
    display(tables.show(told, wording))
    axes = plt.figure(figsize=(0.7 * draw.WIDTH, 2.6)).subplots()
    sns.lineplot(widths, x="K", y="half-width", hue="method", style="method", markers=True, ax=axes)
    axes.set(xticks=REPEATS, ylim=(0, None), xlabel="Answers to each question, K")
    axes.set_ylabel("Half-width of the 95 % interval")
    about = f"{wording.name}: the interval of the mean, had each question been asked K times."
    draw.show(axes.figure, "How many answers to each question pay?", about)


def table(scores: pd.DataFrame, group: str, wording: Wording) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A row a method: where the variance of a score lies, the share of repeats, the K that pays;
    and, a row a method and K of `REPEATS`, the half-width of the mean's 95 % interval.

    A variance that is estimated below 0 is set to 0 and marked †. The K that pays is the least
    after which one more repeat narrows the half-width by less than 1 % of it.
    """
    rows, widths = [], []
    for method in dict.fromkeys([*wording.methods, *scores["method"]]):
        own = scores[scores["method"] == method]
        if own.empty:
            continue
        one, called = split(own, group), tables.name(method, "method", wording)
        parts = {
            f"between {part}": f"{getattr(one, part):.3f}{'†' * (part in one.below_0)}"
            for part in PARTS
        }
        share = one.share
        told = cell(share.value, share.ci_low, share.ci_high)
        is_few = few(pd.DataFrame([vars(share)])).iloc[0]
        row = {"method": method, **parts, "share of repeats": "too few groups" if is_few else told}
        rows.append(row | {"n": share.n, "n_groups": share.n_groups, "K that pays": one.pays()})
        half = {"method": called, "K": REPEATS, "half-width": [*map(one.half_width, REPEATS)]}
        widths.append(pd.DataFrame(half))
    shown = pd.DataFrame(rows)
    shown["K that pays"] = [number(k if pd.isna(k) else int(k)) for k in shown["K that pays"]]
    return shown, pd.concat(widths, ignore_index=True)
