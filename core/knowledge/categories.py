"""The seven categories of a harvest and the markdown files that hold them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from core.base.conflict import ANCESTOR, MARK, may_conflict, roles_of
from core.base.files import read_or_empty
from core.base.paths import Paths
from core.knowledge.confirmed import Confirmations, confirmed_bullets, read_confirmed
from core.knowledge.removed import Removed, read_hidden

if TYPE_CHECKING:
    from core.base.markdown import Bullet


class Category(NamedTuple):
    """One row: its name in the model's answer, its file ("" for per-file notes), the first line of a new file,
    and its heading in the digest ("" for what the digest leaves out)."""

    name: str
    file: str
    header: str
    digest_title: str


# The order of the rows is the order in every report.
CATEGORIES = (
    Category("facts", "facts.md", "# Facts", "Facts"),
    Category("decisions", "decisions.md", "# Decisions", "Decisions"),
    Category("tasks_done", "tasks.md", "# Tasks", ""),
    Category("tasks_open", "tasks.md", "# Tasks", "Open tasks"),
    Category("questions", "questions.md", "# Questions", "Open questions"),
    Category("playbooks", "playbooks.md", "# Playbooks", "Playbooks"),
    Category("files", "", "", ""),
)
CATEGORY = {row.name: row for row in CATEGORIES}
CATEGORY_FILES = ("facts.md", "decisions.md", "questions.md", "playbooks.md", "tasks.md")
TASKS_FILE = "tasks.md"
QUARANTINE = "quarantine.md"
NEW_TASKS = "# Tasks\n\n## Open\n\n## Done\n"


def is_done_heading(line: str) -> bool:
    return line.strip().casefold() == "## done"


def is_open_heading(line: str) -> bool:
    return line.strip().casefold() == "## open"


def read_text(path: Path) -> str:
    """A knowledge file as text, "" where there is none. Raises OSError."""
    return text_in(read_or_empty(path))


def text_in(data: bytes) -> str:
    """The text of a knowledge file; bytes that are no UTF-8 show as U+FFFD, a byte order mark is dropped."""
    return data.decode("utf-8", "replace").removeprefix("\ufeff")


def bullets_in(text: str, category: str) -> list[Bullet]:
    """The bullets of one category in the text of its file. Task bullets before any heading count as open, one whose box
    is ticked as done wherever it stands."""
    from core.base.markdown import parse_bullets

    bullets = parse_bullets(text)
    if category not in ("tasks_open", "tasks_done"):
        return bullets
    wanted, done, chosen = category == "tasks_done", False, []
    lines = text.split("\n")
    roles = roles_of(lines) if may_conflict(text) else [""] * len(lines)
    at, before = 0, False
    for bullet in bullets:
        for line, role in zip(lines[at : bullet.line - 1], roles[at : bullet.line - 1], strict=True):
            if role == MARK:  # each side of a merge conflict begins where the conflict began
                before = done if line[0] == "<" else before
                done = before if line[0] == "=" else done
            elif role != ANCESTOR:
                done = True if is_done_heading(line) else False if is_open_heading(line) else done
        at = bullet.line - 1
        if (done or bullet.ticked) == wanted:
            chosen.append(bullet)
    return chosen


def read_category(
    paths: Paths, category: str, removed: Removed | None = None, again: Confirmations | None = None
) -> list[Bullet]:
    """All bullets of a category on disk, oldest first, each with the conversations that said it again, without those
    that say what the user removed. Raises OSError when a file cannot be read. Whoever reads several categories hands
    over what was `removed` and what was said `again`."""
    row = CATEGORY[category]
    places = [paths.knowledge / row.file] if row.file else note_files(paths)
    removed = read_hidden(paths) if removed is None else removed
    again = read_confirmed(paths) if again is None else again
    named = ((row.file if row.file else f"files/{place.name}", read_text(place)) for place in places)
    rows = (row for name, text in named for row in confirmed_bullets(again, name, bullets_in(text, category)))
    return [bullet for bullet in rows if not removed.keeps_away(bullet)]


def note_files(paths: Paths) -> list[Path]:
    """The files of per-file notes, sorted by name; none of a folder that cannot be looked into, as `status` tells."""
    if not paths.file_notes.is_dir():
        return []
    return sorted(path for path in paths.file_notes.glob("*.md") if not path.name.startswith("."))
