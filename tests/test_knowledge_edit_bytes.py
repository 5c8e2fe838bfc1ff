"""Any edit of any file: every other line keeps its bytes, and undo gives the file back. If these fail, an edit damages
what stands beside it."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from core.base.markdown import parse_bullets
from core.base.paths import Paths
from core.base.result import Ok
from core.knowledge import edit
from core.knowledge.bullet_text import BulletRef
from core.knowledge.changes import read_changes
from core.knowledge.reversal import REVERSED
from tests.edited import (
    NOW,
    data,
    edit_text,
    home,
    mark_done,
    reopen,
    strike,
    undo_last,
    unstrike,
)

LINES = st.sampled_from(
    [
        "- a",
        "- a [from: c, 2026-01-01]",
        "-  ~~b~~ x [from: c, 2026-01-01]",
        "- ~~b~~",
        "  detail",
        "\tmore",
        "",
        " ",
        "## Open",
        "## Done",
        "## done ",
        "# Tasks",
        "text",
        "- c\u2028d",
        "- é\x0b",
        "## Other",
        "- b\r",
        "- ",
        "-",
    ]
)
TEXTS = st.tuples(
    st.sampled_from(["", "\ufeff"]), st.lists(LINES, max_size=12), st.sampled_from(["\n", "\r\n"]), st.booleans()
).map(lambda parts: (parts[0] + parts[2].join(parts[1]) + parts[2] * parts[3]).encode())
OPERATIONS = ("edit", "strike", "unstrike", "delete", "done", "reopen", "add", "add_done", "add_open")


def operate(paths: Paths, name: str, operation: str, number: int) -> object:
    category = {"add": "facts", "add_done": "tasks_done", "add_open": "tasks_open"}.get(operation)
    if category is not None:
        return edit.add_bullet(paths, category, "new words", NOW)
    bullets = parse_bullets(data(paths, name).decode("utf-8", "replace").removeprefix("\ufeff"))
    if not bullets:
        return None
    bullet = bullets[number % len(bullets)]
    ref = BulletRef(name, bullet.line, bullet.raw)
    if operation == "edit":
        return edit_text(paths, ref, "new words", NOW)
    act = {
        "strike": strike,
        "unstrike": unstrike,
        "delete": edit.delete_bullet,
        "done": mark_done,
        "reopen": reopen,
    }[operation]
    return act(paths, ref, NOW)


@settings(max_examples=300)
@given(st.one_of(st.binary(max_size=60), TEXTS), st.sampled_from(OPERATIONS), st.integers(0, 20), st.booleans())
def test_every_other_line_keeps_its_bytes_and_undo_gives_back_the_file(
    old: bytes, operation: str, number: int, tasks: bool
) -> None:
    """Any bytes, any operation: a person would otherwise lose what stands beside the edited bullet."""
    name = "facts.md" if operation == "add" or not (tasks or operation.startswith("add_")) else "tasks.md"
    with tempfile.TemporaryDirectory() as folder:
        paths = home(Path(folder), name, old)
        result = operate(paths, name, operation, number)
        new = data(paths, name)
        if not isinstance(result, Ok):
            assert new == old
            assert not paths.changes.exists()
            return
        change = read_changes(paths)[-1]
        touched = {line.encode() for line in (*change.added, *change.removed)}
        assert others(old, touched) == others(new, touched)
        assert new.startswith(b"\xef\xbb\xbf") == old.startswith(b"\xef\xbb\xbf")
        assert undo_last(paths) == REVERSED
        assert data(paths, name) == old


def others(text: bytes, touched: set[bytes]) -> list[bytes]:
    """The lines of a file that an edit did not name, in their order, without blank ones (a section may gain one)."""
    lines = [line.removesuffix(b"\r") for line in text.removeprefix(b"\xef\xbb\xbf").split(b"\n")]
    return [line for line in lines if line.decode("utf-8", "replace").strip() and line not in touched]
