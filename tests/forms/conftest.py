"""The lock of the forms lies apart in tests."""

import pytest

from tomlab.forms import sheet


@pytest.fixture(autouse=True)
def _own_lock(tmp_path, monkeypatch):
    monkeypatch.setattr(sheet, "RESPONSE_STORE", tmp_path / "responses" / "store.sqlite")
