"""What a reader gets who skips our FANToM conversations, and the shares by which they were written."""

import own_shortcuts
import pytest

from tomlab.paths import DATA

OURS = DATA / "fantom" / "fantom.json"

pytestmark = pytest.mark.skipif(not OURS.is_file(), reason="data is missing: `make data` pulls it")


def test_no_reader_who_follows_nobody_gets_more_than_aimed_at():
    shortcuts = own_shortcuts.fantom_shortcuts(OURS)
    above = shortcuts[shortcuts["value"] > shortcuts["at most"]]
    assert above["reader"].tolist() == []
