"""Rare turns of the modules that write: a person would lose the proof that a line is there, or a line itself."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core.base.paths import Paths
from core.base.result import Err
from core.harvest.batch import write_together
from core.harvest.freeze import with_old_dates
from core.harvest.named_paths import allowed_path
from core.knowledge.changes import Change, append_changes
from core.knowledge.journal import FrozenPlan, encode
from core.knowledge.ledger import PART_BYTES, forget_restored, parse_ledger, rebuild
from core.knowledge.lines import PlannedFile
from tests.harvest_world import HURRIED, World

MINE, THEIRS = "- a fact [from: mine, 2026-01-01]", "- another [from: theirs, 2026-01-01]"


def test_lines_that_are_not_there_after_writing_are_no_proof(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The gate: without the read-back a conversation would be taken away for lines that an editor has just dropped."""
    world.knowledge("facts.md", "# Facts\n")
    plan = FrozenPlan((PlannedFile("facts.md", "# Facts", (MINE,)),), {"facts": 1})
    other = FrozenPlan((PlannedFile("questions.md", "# Questions", ("- why?",)),), {"questions": 1})
    world.knowledge("questions.md", "# Questions\n\n- why?\n")
    monkeypatch.setattr("core.harvest.batch.ensure_lines", lambda *_, **__: ((), False))
    wrong = write_together(
        world.paths,
        [("a", plan), ("b", other)],
        known=lambda _: True,
        on_applied=lambda *_: None,
        editor_wait=HURRIED,
    )
    assert {sha: str(error.strerror) for sha, error in wrong.items()} == {
        "a": "1 planned lines are not in the file after writing"
    }


def test_only_what_was_removed_of_this_conversation_stays_away(world: World) -> None:
    """A line that the person removed from another conversation's harvest says nothing about this one's."""
    removed = Change("2026-01-02", "edit-1", "facts.md", removed=(THEIRS, MINE, "- by nobody"))
    world.paths.knowledge.mkdir(parents=True)
    append_changes(world.paths, [removed])
    lines = (MINE, THEIRS.replace("theirs", "mine"))
    plan = FrozenPlan((PlannedFile("facts.md", "# Facts", lines),), {"facts": 2})
    [kept] = with_old_dates(world.paths, plan, ["mine"]).files
    assert kept.lines == lines[1:]


def test_a_stream_of_windows_is_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "name", "nt")
    assert allowed_path("C:/me/a.py:hidden", ["C:/me"]) is None
    assert allowed_path("C:/me/a.py", ["C:/me"]) == "C:/me/a.py"


def test_a_large_ledger_that_is_broken_inside_is_corrupt_and_not_half_read() -> None:
    entry = b'{\n      "status": "harvested"'
    between = b'\n    },\n    "'
    body = between.join(b'%064x": ' % number + entry for number in range(2 * PART_BYTES // 90))
    head, tail = b'{\n  "entries": {\n    "', b"\n    }\n  }\n}\n"
    whole = parse_ledger(head + body + tail, Path("ledger.json"))
    assert not isinstance(whole, Err)
    broken = parse_ledger(head + body[:-30] + b"!" + body[-30:] + tail, Path("ledger.json"))
    assert isinstance(broken, Err) and broken.error.code == "ledger-corrupt"


def test_an_archive_with_a_move_alone_still_tells_where_the_conversation_was(tmp_path: Path) -> None:
    """A damaged journal may have kept nothing else, and the trash can be put back from that."""
    paths = Paths(tmp_path)
    paths.plans.mkdir(parents=True)
    row = {"t": "reclaimed", "sha": "a" * 64, "path": "/talk", "trash": "a" * 64, "until": "2026-01-01"}
    (paths.plans / "20260101T000000-abcdef.jsonl").write_bytes(encode(row))
    [entry] = rebuild(paths).values()
    assert entry == {"deleted": True, "trash": {"a" * 64: "/talk"}, "trashed_until": "2026-01-01"}


def test_a_place_that_was_let_go_leaves_the_others_held() -> None:
    """Two copies of one conversation were restored: letting the harvest have one must not give it the other."""
    entry = {"restored": ["/a", "/b"]}
    forget_restored(entry, ["/a"])
    assert entry == {"restored": ["/b"]}
    forget_restored(entry, ["/b"])
    assert entry == {}
