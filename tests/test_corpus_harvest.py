"""The whole harvest on real conversations that nobody here wrote: what a user's first day looks like."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from core.base.markdown import parse_bullets
from core.base.result import Ok, attempt
from core.commands.harvest import harvest
from core.commands.harvest_options import HarvestRequest
from core.commands.workspace import Workspace, open_workspace
from core.harvest.reclaim import restore
from core.harvest.report import HarvestReport
from core.knowledge.journal import plan_from_json, read_journal
from core.knowledge.swap import EditorWait
from tests.chatty_model import chatty_model
from tests.corpus import archive_into, text_conversations, tree

NO_WAITING = EditorWait(0, 0, 0)
LIMIT = 1_048_576


def workspace_of(tmp_path: Path, settings: str = "") -> Workspace:
    config = tmp_path / "config.toml"
    config.write_text(f"[ai_settings.knowledge]\n{settings}", encoding="utf-8")
    environment = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "XDG_CONFIG_HOME": str(tmp_path), "OPENAI_API_KEY": "k"}
    return open_workspace(str(tmp_path / "home"), config, environment, tmp_path)


def run(workspace: Workspace, request: HarvestRequest) -> HarvestReport:
    return harvest(workspace, request, editor_wait=NO_WAITING)


def ledger(workspace: Workspace) -> dict[str, Any]:
    entries: dict[str, Any] = json.loads(workspace.paths.ledger.read_bytes())["entries"]
    return entries


def bullets_on_disk(workspace: Workspace) -> list[tuple[str, str]]:
    """(text, conversation) of every bullet in the store, the quarantine included."""
    found = []
    for path in [*workspace.paths.knowledge.glob("*.md"), *workspace.paths.file_notes.glob("*.md")]:
        if path.name == "digest.md":
            continue
        for bullet in parse_bullets(path.read_text(encoding="utf-8")):
            assert bullet.provenance is not None, f"{path.name}:{bullet.line} has no provenance"
            found.append((bullet.text, bullet.provenance.source))
    return found


def show(capsys: pytest.CaptureFixture[str], title: str, report: HarvestReport) -> None:
    """With `pytest -s` the figures of the run can be read."""
    from core.commands.harvest_report import harvest_text

    with capsys.disabled():
        if "-s" in __import__("sys").argv:
            print(f"\n--- {title}\n{harvest_text(report)}")


def test_offline_harvest_of_real_conversations(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A dry run touches nothing, an offline harvest takes no conversation away, and a second one changes nothing."""
    workspace = workspace_of(tmp_path)
    sources = text_conversations(every=2)
    made = archive_into(workspace.paths.home, sources)
    small = [path for path in made if path.stat().st_size <= LIMIT]
    before = tree(workspace.paths.home)

    dry = run(workspace, HarvestRequest())
    assert tree(workspace.paths.home) == before, "the dry run changed a byte"
    assert dry.plan.counts["harvest"] == len(made)

    applied = run(workspace, HarvestRequest(apply=True))
    show(capsys, f"offline, {len(made)} conversations", applied)
    assert not applied.errors
    assert {name: data for name, data in tree(workspace.paths.home).items() if name in before} == before
    entries = ledger(workspace)
    for path in made:
        entry = entries[hashlib.sha256(path.read_bytes()).hexdigest()]
        # What is shown of a large one may be small enough.
        assert entry["status"] == "harvested" or (path not in small and entry["status"] == "too-large"), path
        assert entry["deleted"] is False
    names = {path.name for path in made}
    assert all(source in names for _, source in bullets_on_disk(workspace))
    assert workspace.paths.digest.stat().st_size <= 4096

    after = tree(workspace.paths.home)
    again = run(workspace, HarvestRequest(apply=True))
    assert not again.errors
    assert again.harvested == 0
    changed = {name for name, data in tree(workspace.paths.home).items() if after.get(name) != data}
    assert {Path(name).name for name in changed} <= {"ledger.json", "lock"} | {f"{again.run}.jsonl"}, (
        "the second run changed the knowledge"
    )


def test_model_harvest_survives_a_bad_server(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With a server that fails and babbles, every conversation is accounted for, and what is gone can come back."""
    with chatty_model() as model:
        settings = f'provider = "openai"\nmodel = "made-up"\nbase_url = "{model.url}"\njobs = 4\n'
        workspace = workspace_of(tmp_path, settings)
        made = archive_into(workspace.paths.home, text_conversations())
        originals = {path: path.read_bytes() for path in made}
        applied = run(workspace, HarvestRequest(apply=True))
    show(capsys, f"openai on loopback, {len(made)} conversations, {model.calls} calls", applied)
    assert model.failed, "the server never failed: the test shows nothing"
    assert model.garbled
    entries, bullets = ledger(workspace), bullets_on_disk(workspace)
    plans = {
        record["sha"]: plan_from_json(record["plan"])
        for record in read_journal(workspace.paths.plans / f"{applied.run}.jsonl")
        if record["t"] == "intent"
    }
    statuses = {"harvested": 0, "harvest-failed": 0, "too-large": 0}
    for path, data in originals.items():
        sha = hashlib.sha256(data).hexdigest()
        entry = entries[sha]
        statuses[entry["status"]] += 1
        if entry["status"] != "harvested":
            assert path.read_bytes() == data
            assert entry["status"] == "too-large" or entry["error"]
            continue
        assert not path.exists()
        for planned in plans[sha].files:
            text = (workspace.paths.knowledge / planned.name).read_text(encoding="utf-8").split("\n")
            assert all(text.count(line) == 1 for line in planned.all_lines)
    assert statuses["harvested"] > len(made) // 2
    assert statuses["harvest-failed"] == len(applied.errors)
    assert len(bullets) == sum(applied.items.values()) + applied.quarantined
    for sha, entry in entries.items():
        for name, place in entry.get("trash", {}).items():
            assert isinstance(attempt(restore, workspace.paths, name, place, sha), Ok)
    assert {path: path.read_bytes() for path in made} == originals, "a conversation came back differently"
