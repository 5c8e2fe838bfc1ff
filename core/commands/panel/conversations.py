"""What a window reads of one conversation: its ledger entry, where it is now, and what it taught."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from core.base import files
from core.base.markdown import Bullet, parse_bullets, sanitise_name, split_lines, split_provenance
from core.base.paths import Paths, cache_folder
from core.base.result import ErrorInfo, KnowledgeError
from core.commands.workspace import Workspace
from core.conversations.conversation import Conversation
from core.conversations.read import read_conversation
from core.knowledge.categories import CATEGORY_FILES, QUARANTINE, read_text
from core.knowledge.journal import read_plans
from core.knowledge.ledger import Entry, seen_ledger
from core.knowledge.lines import key_of
from core.knowledge.projects import own_name
from core.sources.archive import stand_in
from core.sources.artifact import Artifact
from core.sources.sessions import StoreCache
from core.sources.tools import EXPORTS

HASHED_BYTES = 64_000_000
IN_PLACE, CHANGED, IN_TRASH, IN_ARCHIVE, GONE = "in place", "changed", "trash", "archive", "gone"


@dataclass(frozen=True)
class Given:
    """One bullet that a conversation gave: its file below the knowledge folder, the line it stands on now (0 when it is
    not there any more, or other words stand there), the line as it was written, and its words."""

    file: str
    line: int
    raw: str
    text: str


@dataclass(frozen=True)
class ConversationView:
    """One conversation, as the ledger and the disk tell of it.

    `key` is its sha256 (or `path:…` for what was pruned); `path` is where it was when it was harvested. `where` is "in
    place", "trash", "archive", "changed" (a file of that name holds other words by now) or "gone"; `now` is the file
    that can be opened, "" when it is gone; `trash` its name in the trash. `problem` says why nobody knows what it gave.
    """

    key: str
    entry: Entry
    path: str
    where: str
    now: str = ""
    trash: str = ""
    given: tuple[Given, ...] = ()
    problem: ErrorInfo | None = None

    @property
    def name(self) -> str:
        """The conversation's own name."""
        return str(self.entry.get("name", "")) or Path(self.path).name or self.key


def conversation_view(workspace: Workspace, key: str) -> ConversationView:
    """One entry of the ledger with what is behind it. `key` is its whole key. Raises KnowledgeError when the ledger
    does not know it."""
    loaded = seen_ledger(workspace.paths)
    entry = loaded.get(key)
    if entry is None:
        hint = "the next harvest looks at every conversation in the home folder"
        raise KnowledgeError("no-entry", "the ledger knows nothing of this conversation (any more)", key, hint)
    path = str(entry.get("path", "")) or key.removeprefix("path:")
    try:
        given = given_by(workspace.paths, key, entry)
        problem = None
    except OSError as error:
        given, problem = (), ErrorInfo("unreadable", f"its harvest cannot be read: {error.strerror}", error.filename)
    if (session := _session(workspace, key, entry, path)) is not None:
        where, now, trash = session[0], path if session[1].turns else "", ""
    else:
        where, now, trash = whereabouts(workspace.paths, key, entry, path)
    return ConversationView(key, entry, path, where, now, trash, given, problem)


def _session(workspace: Workspace, key: str, entry: Entry, path: str) -> tuple[str, Conversation] | None:
    """Where a conversation of a store is and what was said in it; None for one that is a file of its own."""
    source, name = str(entry.get("source", "")), str(entry.get("name", ""))
    id = name.partition("/")[2]
    held = "#" in path if source in EXPORTS else path.endswith(f"#{id}")
    if not source or not held or files.exists(path):
        return None
    copies = cache_folder(workspace.paths.home, workspace.environment) / "stores"
    try:
        with StoreCache(copies) as opened:
            data = opened.content(Artifact(path, name, "session", source=source))
    except OSError:  # gone from there, or from this disk
        return None if stand_in(workspace.paths.archive, path, source) else (GONE, Conversation(name, source, ()))
    return IN_PLACE if hashlib.sha256(data).hexdigest() == key else CHANGED, read_conversation(name, data)


def conversation_key(workspace: Workspace, source: str) -> str:
    """The key of the newest ledger entry for a conversation's name as provenances tell it. Raises KnowledgeError when
    there is none."""
    loaded = seen_ledger(workspace.paths)
    found = [
        (str(row.get("at", "")), key)
        for key, row in loaded.items()
        if source in (own := own_name(row), sanitise_name(own))
    ]
    if not found:
        raise KnowledgeError("no-entry", f"the ledger knows no conversation named {source}")
    return max(found)[1]


def whereabouts(paths: Paths, key: str, entry: Entry, path: str) -> tuple[str, str, str]:
    """Where a conversation is: in words, the file to read, its name in the trash."""
    here = _holds(path, key)
    if here:
        return IN_PLACE, path, ""
    listed = entry.get("trash")
    names = [*(listed if isinstance(listed, dict) else ()), key]
    for name in names:
        held = os.path.join(paths.trash, str(name))
        if "/" not in str(name) and ":" not in str(name) and os.path.isfile(held) and not os.path.islink(held):
            return IN_TRASH, held, str(name)
    if here is False:
        return CHANGED, path, ""
    kept = stand_in(paths.archive, path, str(entry.get("source", "")))
    return (IN_ARCHIVE, kept.kept, "") if kept is not None else (GONE, "", "")


def place_of_entry(workspace: Workspace, key: str, entry: Entry) -> tuple[str, Conversation | None]:
    """The file in which a conversation can be read now ("": none), and the conversation itself where it has no file of
    its own but lies in a store."""
    path = str(entry.get("path", "")) or key.removeprefix("path:")
    session = _session(workspace, key, entry, path)
    if session is not None:
        return path, session[1]
    return whereabouts(workspace.paths, key, entry, path)[1], None


def _holds(path: str, key: str) -> bool | None:
    """Whether a file has exactly the content of that hash; None when there is no such file."""
    try:
        found = os.stat(path, follow_symlinks=False)
        if found.st_size > HASHED_BYTES:  # too large to be asked about at every look: its name must do
            return True
        return files.sha256_of_file(path) == key
    except (OSError, ValueError):
        return None


# --- what it gave ----------------------------------------------------------------------------------------------------


def given_by(paths: Paths, key: str, entry: Entry) -> tuple[Given, ...]:
    """The bullets of its committed plan, each with the line it stands on now. Raises OSError."""
    plan = read_plans(paths.plans, str(entry.get("run", ""))).get(key)
    if plan is None:
        return ()
    found: list[Given] = []
    for planned in plan.files:
        file = _present_name(paths, planned.name, planned.all_lines)
        by_raw: dict[str, Bullet] = {}
        by_key: dict[str, Bullet] = {}
        for bullet in parse_bullets(read_text(paths.knowledge / file)):
            by_raw.setdefault(bullet.raw, bullet)
            by_key.setdefault(bullet.key, bullet)
        for raw in planned.all_lines:
            here = by_raw.get(raw) or (by_key.get(key_of(raw)) if file != QUARANTINE else None)
            line, standing = (here.line, here.raw) if here is not None else (0, raw)
            found.append(Given(file, line, standing, split_provenance(raw[2:])[0]))
    order = {name: at for at, name in enumerate((*CATEGORY_FILES, QUARANTINE))}
    return tuple(sorted(found, key=lambda row: (order.get(row.file, len(order)), row.line or 10**9)))


def _present_name(paths: Paths, name: str, lines: tuple[str, ...]) -> str:
    """A note is renamed when its source file gets another inode: the one that holds most of these lines."""
    if not name.startswith("files/") or (paths.knowledge / name).is_file() or not paths.file_notes.is_dir():
        return name
    wanted = set(lines)
    best, most = name, 0
    for note in sorted(paths.file_notes.glob("*.md")):
        number = len(wanted & set(split_lines(read_text(note))))
        if number > most:
            best, most = f"files/{note.name}", number
    return best
