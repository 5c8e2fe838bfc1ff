"""What a user has said yes to: settings of a folder, and the knowledge that lies in a project.

A folder that somebody else made (a clone, an archive) must not decide what is run, what is sent, what is deleted or
what a conversation is told. So its `config.toml` may only narrow until the user has allowed it (config.py), and what
lies in its `.manual_slop` is not read at all. There are two kinds of a yes:

- **a file with its content**: path and sha256. Settings name programs and addresses, so every other content is asked
  about again, as direnv does. What this program itself writes into a project for the user is recorded in this way too.
- **a project's folder**: its path and which folder that is (inode and time of birth), whatever its `.manual_slop` will
  hold, as VS Code trusts a workspace. People edit `context.md` and memories with their editor all day, and a question
  after each save would be answered without being read. A new clone in the same place is another folder.

The record lies in the user's own settings folder, `trusted.json`, 0600. It is no secret, but who can write it can say
yes: so one that is not this user's alone, or cannot be understood, counts as empty and is told.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from core.base import files, locks
from core.base.homes import why_foreign, why_foreign_file, why_refused
from core.base.paths import PROJECT_FOLDER, project_paths, trust_file
from core.base.result import ErrorInfo, KnowledgeError, disk_errors
from core.base.system import birth_ns

MAX_BYTES = 4 << 20
LOCK_SECONDS = 5.0
ALLOW = "'knowledge trust allow'"
OWN_FILE = "make them yours (chown), or take the right to write them from others (chmod go-w)"
REFUSED = "not-own"
"""The code of an error about a folder that no yes helps: it is not this user's own."""


@dataclass(frozen=True)
class Yes:
    """One thing that was allowed: `mark` is the sha256 of a file, or which folder (`folder 1234:1760000000000000000`);
    `at` is the time, ISO 8601 in UTC."""

    mark: str
    at: str

    @property
    def is_folder(self) -> bool:
        return self.mark.startswith("folder ")


@dataclass(frozen=True)
class Trust:
    """All that was allowed, by path. `problem` is a sentence about why nothing of it counts, "" while it does."""

    file: Path
    rows: Mapping[str, Yes] = field(default_factory=dict)
    problem: str = ""

    def knows(self, path: Path) -> bool:
        """Whether something was allowed at that path, whatever stands there now."""
        return str(place_of(path)) in self.rows

    def has_file(self, path: Path, sha256: str) -> bool:
        """Whether a file with that very content was allowed at that path."""
        row = self.rows.get(str(place_of(path)))
        return row is not None and row.mark == sha256

    def has_folder(self, project: Path) -> bool:
        """Whether the `.manual_slop` of that very project folder was allowed."""
        row = self.rows.get(str(place_of(project / PROJECT_FOLDER)))
        return row is not None and row.is_folder and row.mark == folder_mark(project)

    def has_repository(self, root: Path) -> bool:
        """Whether the user said of that very folder that it is the project it claims to be; of one that is gone,
        whether they said it while it was there."""
        row = self.rows.get(str(place_of(root / ".git")))
        return row is not None and row.is_folder and (row.mark == folder_mark(root) or not os.path.lexists(root))

    def allows(self, project: Path, path: Path, sha256: str = "") -> bool:
        """Whether a file in a project's `.manual_slop` may be read: its folder was allowed and nobody else can write
        this file, or it was allowed with its content (`sha256`; looked at when it is not given)."""
        if self.has_folder(project):
            return not why_foreign_file(path)
        if not self.knows(path):
            return False
        try:
            return self.has_file(path, sha256 or files.sha256_of_file(path))
        except OSError:
            return False


def place_of(path: Path) -> Path:
    """The path by which something is remembered: its folder's real one. A link in the last place is not followed: the
    same content in another folder may name another program (`./run`)."""
    return Path(os.path.realpath(path.parent)) / path.name


def folder_mark(folder: Path) -> str:
    """Which folder this is. Device numbers are left out: some systems give others after every start."""
    try:
        return f"folder {os.stat(folder).st_ino}:{birth_ns(os.path.realpath(folder)) or ''}"
    except OSError:
        return "folder"


def read_trust(environment: Mapping[str, str] | None = None) -> Trust:
    """What was allowed so far; nothing is an error, for without the record nothing is trusted."""
    file = trust_file(os.environ if environment is None else environment)
    try:
        found = os.stat(file)
        why = why_foreign(found)
        data = b"" if why else Path(os.path.realpath(file)).read_bytes() if found.st_size <= MAX_BYTES else b"too large"
    except FileNotFoundError:
        return Trust(file)
    except OSError as error:
        return Trust(file, problem=f"{file} cannot be read ({error.strerror}), so nothing in it counts")
    if why:
        return Trust(file, problem=f"{file} {why}, so nothing in it counts: look at it, then chmod 600")
    try:
        rows = {
            str(path): Yes(str(row["mark"]), str(row["at"])) for path, row in dict(json.loads(data)["trusted"]).items()
        }
    except (ValueError, TypeError, KeyError, RecursionError, AttributeError):
        return Trust(file, problem=f"{file} is damaged, so nothing in it counts: move it away and allow again")
    return Trust(file, rows)


def allow(environment: Mapping[str, str], marks: Mapping[Path, str], now: Callable[[], datetime] | None = None) -> None:
    """Say yes to files (`path` -> sha256 of the content that was looked at) and projects (`.manual_slop` -> its
    `folder_mark`). What was allowed as it is keeps its day. Durable when it returns."""
    at = (now() if now else datetime.now(UTC)).replace(microsecond=0).isoformat()
    said = {str(place_of(path)): mark for path, mark in marks.items()}

    def with_these(rows: dict[str, Yes]) -> dict[str, Yes]:
        new = {path: mark for path, mark in said.items() if path not in rows or rows[path].mark != mark}
        return rows | {path: Yes(mark, at) for path, mark in new.items()}

    _change(environment, with_these)


def forget(environment: Mapping[str, str], paths: Iterable[str]) -> None:
    """Take back what was said of these paths (as they stand in the record)."""
    gone = set(paths)
    _change(environment, lambda rows: {path: row for path, row in rows.items() if path not in gone})


def _change(environment: Mapping[str, str], work: Callable[[dict[str, Yes]], dict[str, Yes]]) -> None:
    file = trust_file(environment)
    alone = locks.only_one(file.with_name("trusted.lock"), work="trust", editor_wait=LOCK_SECONDS)
    with disk_errors("trust-failed", "your word cannot be written down", file), alone:
        known = read_trust(environment)
        if known.problem:
            raise KnowledgeError("bad-trust", known.problem, file)
        rows = work(dict(known.rows))
        if rows != known.rows:
            plain = {path: {"mark": row.mark, "at": row.at} for path, row in sorted(rows.items())}
            text = json.dumps({"version": 1, "trusted": plain}, indent=2, ensure_ascii=False)
            files.write_atomic(file, (text + "\n").encode("utf-8", "surrogateescape"), 0o600)


# --- a project's own knowledge ---------------------------------------------------------------------------------------


def left_out(project: Path, environment: Mapping[str, str] | None = None) -> ErrorInfo | None:
    """What of a project's `.manual_slop` is not read and why, None when all of it is (or there is nothing)."""
    place = project_paths(project)
    if refused := why_refused(project):
        return ErrorInfo(REFUSED, refused, str(place.home))
    waiting = unread(project, environment)
    if not waiting:
        return None
    trust = read_trust(environment)
    if trust.has_folder(project):
        message = f"in {place.home} files are not yours alone, so they were left out ({' and '.join(waiting)})"
        return ErrorInfo(REFUSED, message, str(place.home), OWN_FILE)
    known = trust.knows(place.home)
    before = "is another folder than the one you allowed" if known else "may come from somebody else"
    message = f"{place.home} {before}, so what it holds was left out ({' and '.join(waiting)})"
    return ErrorInfo("not-trusted", message, str(place.home), f"{ALLOW} there lets it in")


def unread(project: Path, environment: Mapping[str, str] | None = None) -> list[str]:
    """What waits in a project's `.manual_slop`, in words: `context.md`, `2 in memories/`; [] for nothing."""
    trust, knowledge = read_trust(environment), project_paths(project).knowledge
    return _counted(knowledge, [path for path in _readable(project) if not trust.allows(project, path)])


def allow_written(project: Path, environment: Mapping[str, str], paths: Iterable[Path]) -> None:
    """What this program has just written into a project for the user needs no further word: these files, as they are.
    Nothing to do where the whole folder is trusted."""
    if read_trust(environment).has_folder(project):
        return
    with disk_errors("trust-failed", "what was written cannot be read"):
        marks = {path: files.sha256_of_file(path) for path in paths if files.exists(path)}
    if marks:
        allow(environment, marks)


def _readable(project: Path) -> list[Path]:
    """The files of a project that commands would read."""
    place = project_paths(project)
    found = [place.context] if files.exists(place.context) else []
    for folder in (place.knowledge, place.memories, place.file_notes):
        try:
            names = sorted(name for name in os.listdir(folder) if name.endswith(".md") and name[0] != ".")
        except OSError:
            continue
        found += [folder / name for name in names if folder / name != place.context]
    return found


def _counted(knowledge: Path, paths: Sequence[Path]) -> list[str]:
    names = [path.name for path in paths if path.parent == knowledge]
    inside = Counter(path.parent.name for path in paths if path.parent != knowledge)
    return names + [f"{number} in {name}/" for name, number in inside.items()]
