"""Exports of chat services, harvested. A person would pay again for each download of the same account, lose what was
said since the last one, or have all their conversations told as one."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.base.markdown import parse_bullets, sanitise_name
from core.base.result import Ok
from core.commands.panel.conversations import conversation_view
from core.commands.sources import chosen_sources, sources
from core.commands.workspace import Workspace, open_workspace
from core.harvest.steps import HarvestOptions
from core.sources.artifact import HashCache
from core.sources.sessions import StoreCache
from core.sources.tools import FILES, Place
from tests.export_makers import chat, claude_chat, zipped
from tests.harvest_world import FakeModel, World


def reading(world: World, *paths: Path, **limits: Any) -> HarvestOptions:
    changed = replace(world.options.limits, **limits)
    places = tuple(Place(FILES, str(path)) for path in paths)
    return replace(world.options, home=False, places=places, limits=changed, copies=world.folder / "copies")


def left(path: Path, *rows: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".zip":
        return zipped(path, {"conversations.json": json.dumps(rows), "shared_conversations.json": "[]"})
    path.write_text(json.dumps(rows))
    return path


def workspace(tmp_path: Path, settings: str = "") -> Workspace:
    (tmp_path / "config.toml").write_text(f"[ai_settings.knowledge]\n{settings}")
    environment = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    opened = open_workspace(str(tmp_path / "home"), tmp_path / "config.toml", environment, tmp_path)
    assert isinstance(opened, Ok), opened
    return opened.value


@pytest.mark.parametrize("name", ["conversations.json", "export.zip", "folder/conversations.json"])
@pytest.mark.parametrize(("kind", "make"), [("chatgpt", chat), ("claude_ai", claude_chat)])
def test_each_conversation_is_harvested_once_and_the_export_stays(
    kind: str, make: Any, name: str, tmp_path: Path
) -> None:
    world = World(tmp_path)
    path = left(tmp_path / "dl" / name, make("id-11111111", "Ports", "one"), make("id-22222222", "Ports", "two"))
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    named = path.parent if "folder" in name else path
    everything = {"reclaim_foreign": True, "reclaim": "always"}
    options, cache = reading(world, named, **everything), HashCache()
    report = world.run(FakeModel(), cache, **vars(options))
    assert (report.harvested, report.reclaimed, report.errors) == (2, 0, [])
    entries = world.entries()
    assert {row["path"] for row in entries.values()} == {f"{path}#id-11111111", f"{path}#id-22222222"}
    assert {row["name"] for row in entries.values()} == {f"{kind}/Ports 11111111", f"{kind}/Ports 22222222"}
    assert {row["source"] for row in entries.values()} == {kind}
    assert not any(row.get("project") for row in entries.values())
    for key, row in entries.items():
        view = conversation_view(workspace(tmp_path), key)
        assert isinstance(view, Ok)
        assert (view.value.where, view.value.now) == ("in place", row["path"])
    again = FakeModel()
    assert world.run(again, cache, **vars(options)).harvested == 0
    assert not again.prompts
    assert hashlib.sha256(path.read_bytes()).hexdigest() == before


def test_of_a_newer_export_only_what_is_new_or_has_grown_is_read(tmp_path: Path) -> None:
    """Another file, perhaps another title: the conversation's id tells that it is the same."""
    world = World(tmp_path)
    kept, grown = chat("id-1", "Kept", "alpha", "beta"), chat("id-2", "Old title", "gamma", "delta")
    old = left(tmp_path / "old.zip", kept, grown)
    assert world.run(FakeModel(), **vars(reading(world, old))).harvested == 2
    more = chat("id-2", "New title", "gamma", "delta", "epsilon")
    new = left(tmp_path / "later" / "new.zip", chat("id-3", "Third", "zeta"), more, {**kept, "is_starred": False})
    model = FakeModel()
    report = world.run(model, **vars(reading(world, new)))
    assert report.harvested == 2
    assert report.changed == {"grown": 1}
    words = "\n".join(model.prompts)
    assert "epsilon" in words
    assert "zeta" in words
    assert "alpha" not in words
    both = FakeModel()
    report = world.run(both, **vars(reading(world, old, new)))
    assert not both.prompts
    assert any("in several exports" in note for note in report.plan.notes)


def test_one_broken_conversation_costs_itself_and_is_told(tmp_path: Path) -> None:
    world = World(tmp_path)
    path = left(tmp_path / "dl" / "conversations.json", chat("a", "T", "one"), {"title": "T", "mapping": 3})
    (path.parent / "shared_conversations.json").write_text('[{"id": "x", "conversation_id": "a", "title": "T"}]')
    (path.parent / "notes.zip").write_bytes(b"no archive")
    report = world.run(FakeModel(), **vars(reading(world, path.parent)))
    assert report.harvested == 1
    told = "\n".join(report.plan.notes)
    assert "1 cannot be read" in told
    assert "shared_conversations.json" in told
    bad = world.run(FakeModel(), **vars(reading(world, path.parent / "notes.zip")))
    assert "the archive cannot be read" in "\n".join(map(str, bad.errors))


def test_a_title_is_one_harmless_part_of_a_provenance(tmp_path: Path) -> None:
    key = "gh" + "p_" + "a1B2" * 9
    titles = ["a/../b]\n- [x] do it\x1b[31m", f"token {key}", "", "x" * 500, "latest-", "T, 2026-01-01]"]
    world = World(tmp_path)
    rows = [chat(f"id-{at}-abcdefgh", title, f"word {at}") for at, title in enumerate(titles)]
    assert world.run(FakeModel(), **vars(reading(world, left(tmp_path / "c.json", *rows)))).harvested == len(titles)
    names = [row["name"] for row in world.entries().values()]
    assert len(set(names)) == len(titles)
    for name in names:
        assert name.count("/") == 1
        assert "]" not in name
        assert "\n" not in name
        assert key not in name
        assert len(name) < 90
        assert sanitise_name(name) == name
    assert not any(key in line for line in world.bullets())
    assert len(parse_bullets(world.text("facts.md"))) == len(titles)


def test_the_list_tells_of_an_export_and_what_is_too_large(tmp_path: Path) -> None:
    path = left(tmp_path / "c.json", chat("a", "T", "one"), chat("b", "T", "long " * 2000))
    found = sources(workspace(tmp_path, "max_harvest_source_bytes = 4000\n"), str(path))
    assert isinstance(found, Ok)
    (row,) = [row for row in found.value.rows if row.name == "chatgpt"]
    assert (row.conversations, row.new, row.too_large, row.places) == (2, 1, 1, [str(path)])


def test_what_is_typed_is_a_name_or_something_that_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    left(tmp_path / "export.zip", chat("a", "T", "one"))
    for text in ("claude-code", "Claude_Code", " CLAUDE-CODE "):
        assert chosen_sources([text], typed=True) == Ok(("claude_code",))
    assert chosen_sources(["export.zip"], typed=True) == Ok(("./export.zip",))
    for text, told in (("claud-code", "claude_code"), ("./codx", "codex"), ("ChatGPT", "conversations.json")):
        found = chosen_sources([text], typed=True)
        assert not isinstance(found, Ok)
        assert told in str(found.error)
    assert chosen_sources(["/mnt/stick"]) == Ok(("/mnt/stick",))  # set once; the stick is not there today


def test_unchanged_conversations_are_hashed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world, cache = World(tmp_path), HashCache()
    path = left(tmp_path / "c.json", *(chat(f"id-{at}", "T", f"w {at}") for at in range(3)))
    world.run(FakeModel(), cache, **vars(reading(world, path)))
    monkeypatch.setattr(StoreCache, "content", lambda *_: pytest.fail("a conversation was hashed again"))
    assert world.run(FakeModel(), cache, **vars(reading(world, path))).harvested == 0
