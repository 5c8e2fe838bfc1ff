"""The small models of the offline distiller: what is shipped can be read, and a damaged file only costs the models."""

from __future__ import annotations

from array import array
from pathlib import Path

import pytest

from core.conversations.conversation import Conversation, Turn
from core.offline import models as offline_models
from core.offline.models import NAMES, Weights, bucket, chance, pack, shipped_models, unpack
from core.offline.rules import distil_offline


def test_the_shipped_models_are_whole_and_small() -> None:
    models = shipped_models()
    assert set(models) == set(NAMES)
    assert all(any(model.buckets) and 0 < model.threshold < 1 for model in models.values())
    assert offline_models.MODELS_FILE.stat().st_size < 60_000


def test_weights_survive_the_file() -> None:
    """A weight that changes its sign or its size on the way to disk turns answers around."""
    model = Weights(array("f", [0.0, 1.27, -0.5, 0.01]), -0.25, 0.4)
    again = unpack(pack({"request": model}))["request"]
    assert again.bias == -0.25 and again.threshold == 0.4
    assert all(abs(old - new) < 0.006 for old, new in zip(model.buckets, again.buckets, strict=True))
    assert pack({"request": again}) == pack({"request": model})


def test_a_feature_counts_once_and_pulls_its_own_way() -> None:
    weights = array("f", bytes(4 * 16))
    weights[bucket("yes", 16)] = 2.0
    model = Weights(weights, -1.0, 0.5)
    assert chance(model, ["yes", "yes"]) == chance(model, ["yes"]) > 0.7 > chance(model, []) > 0.2


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"models": {"request": {}}}', '{"models": {"request": 1}}', '{"models": []}']
)
def test_a_damaged_file_leaves_the_rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str) -> None:
    """A broken installation must not stop a harvest."""
    damaged = tmp_path / "offline.json"
    damaged.write_text(content)
    monkeypatch.setattr(offline_models, "MODELS_FILE", damaged)
    shipped_models.cache_clear()
    try:
        assert shipped_models() == {}
        found = distil_offline(Conversation("c", "plain", (Turn("user", "TODO: renew the certificate of it"),)))
        assert [row["statement"] for row in found["tasks_open"]] == ["Renew the certificate of it"]
    finally:
        shipped_models.cache_clear()
