"""A knowledge folder with one file, and a user who edits its bullets, for the tests of edits."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from core.base.markdown import parse_bullets
from core.base.paths import Paths
from core.base.result import KnowledgeError
from core.knowledge import bullet_text, edit
from core.knowledge.bullet_text import BulletRef
from core.knowledge.changes import read_changes
from core.knowledge.edit import Edited
from core.knowledge.hunks import Hunk
from core.knowledge.reversal import take_back

NOW = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)
TASKS = "# Tasks\n\n## Open\n\n- one [from: a, 2026-01-01]\n  detail\n- two\n\n## Done\n\n- old\n"


def home(tmp_path: Path, name: str = "", data: bytes | str = b"") -> Paths:
    paths = Paths(tmp_path)
    paths.knowledge.mkdir(parents=True, exist_ok=True)
    if name:
        (paths.knowledge / name).parent.mkdir(exist_ok=True)
        (paths.knowledge / name).write_bytes(data if isinstance(data, bytes) else data.encode())
    return paths


def ref_of(paths: Paths, name: str, number: int = 0) -> BulletRef:
    text = (paths.knowledge / name).read_bytes().decode().removeprefix("\ufeff")
    bullet = parse_bullets(text)[number]
    return BulletRef(name, bullet.line, bullet.raw)


def code(change: Callable[..., Edited], *arguments: Any, **named: Any) -> str:
    """The code of the error that a change is refused with."""
    with pytest.raises(KnowledgeError) as caught:
        change(*arguments, **named)
    return caught.value.error.code


def data(paths: Paths, name: str) -> bytes:
    return (paths.knowledge / name).read_bytes()


def act(change: Callable[..., list[Hunk]], paths: Paths, ref: BulletRef, *words: str) -> Any:
    """One change of one bullet, as the commands make it."""
    return edit.change_file(paths, ref.file, lambda lines: change(lines, ref, *words), NOW)


edit_text = partial(act, bullet_text.with_text)
strike = partial(act, bullet_text.struck)
unstrike = partial(act, bullet_text.unstruck)


def mark_done(paths: Paths, ref: BulletRef) -> Any:
    return act(bullet_text.moved, paths, ref, "done")


def reopen(paths: Paths, ref: BulletRef) -> Any:
    return act(bullet_text.moved, paths, ref, "open")


def undo_last(paths: Paths) -> str:
    return take_back(paths, read_changes(paths)[-1], NOW, "undo-test")


def held_line(paths: Paths, words: str) -> BulletRef:
    """The line of the quarantine in which these words stand."""
    rows = parse_bullets((paths.knowledge / "quarantine.md").read_text(encoding="utf-8"))
    row = next(row for row in rows if words in row.raw)
    return BulletRef("quarantine.md", row.line, row.raw)
