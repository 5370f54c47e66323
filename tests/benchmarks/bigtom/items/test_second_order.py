"""Templates of second-order beliefs (App. J): what one person believes that another believes."""

from tomlab.benchmarks import bigtom
from tomlab.benchmarks.bigtom.items import writing
from tomlab.benchmarks.bigtom.items.templates import read_templates
from tomlab.paths import DATA

FILE = DATA / "bigtom" / "second_order.csv"


def test_another_persons_belief_changes_only_for_whoever_sees_it_change():
    templates = read_templates(FILE)
    items = bigtom.compose(templates).query("variable == 'forward_belief' and initial_belief == 1")
    assert items["question"].str.match(r"Does (\w+) believe that (\w+) believes ").all()
    answers = items.groupby("condition")["answer"].apply(list)
    aware = templates["belief_answer_aware"].tolist()
    not_aware = templates["belief_answer_not_aware"].tolist()
    assert answers["true_belief"] == aware
    for condition in ("false_belief", "true_control", "false_control"):
        assert answers[condition] == not_aware
    # A model that is asked for more of them sees some.
    [draft] = writing.drafts(templates, 1, "smol")
    assert "believes that" in str(writing.TEMPLATE.request(draft).messages)
