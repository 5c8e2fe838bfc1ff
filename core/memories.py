"""Memories: short texts that an agent or a person saves, one markdown file each (seed 3, "Memory Tools").

    memories/001-user-prefers-async.md      the id, and the first 50 characters as a slug
    ---
    id: 1
    created: '2026-02-10T09:00:00+00:00'
    tags: [...]
    source: user-told                       or detected, with auto_category, when a tag is a signal
    ---

    User prefers async

The files are the truth and people edit them: whatever is wrong in one is said with file, line and field, and the
others are used all the same. What an agent is shown is in commands/memories.py.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from core.base import files
from core.base.frontmatter import TIMESTAMP, field_line, parse_frontmatter, render_frontmatter
from core.base.markdown import defuse_fences, sanitise_line, without_invisible
from core.base.result import ErrorInfo, Ok, Result, fail
from core.base.search_entry import SearchEntry

SIGNALS = ("preference", "correction", "decision", "context", "pattern")
USER_TOLD, DETECTED = "user-told", "detected"
SLUG_CHARACTERS = 50
CONTENT_BYTES = 64 * 1024
TAGS, TAG_CHARACTERS = 20, 50
ARCHIVE = "archive"
_NUMBERED = re.compile(r"(\d{1,9})-.*\.md\Z|(\d{1,9})\.md\Z")
# name -> what its value must be, as (test, words); the first two are required.
FIELDS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "id": (lambda value: type(value) is int and value > 0, "a whole number above 0"),
    "created": (lambda value: _is_time(value), "a time, YYYY-MM-DDTHH:MM:SS with its time zone"),
    "tags": (
        lambda value: isinstance(value, list) and all(isinstance(tag, str) for tag in value),
        "a list of words",
    ),
    "source": (lambda value: value is None or isinstance(value, str), "text"),
    "auto_category": (lambda value: value is None or isinstance(value, str), f"one of {', '.join(SIGNALS)}"),
    "updated": (lambda value: _is_time(value), "a time, YYYY-MM-DDTHH:MM:SS"),
}
REQUIRED = ("id", "created")


@dataclass(frozen=True)
class Memory:
    """One memory. `created` is ISO 8601 as it stands in the file; `category` one of SIGNALS or ""; `sha256` that of the
    file's bytes; `scope` "global" or "project"."""

    id: int
    created: str
    content: str
    tags: tuple[str, ...] = ()
    source: str = USER_TOLD
    category: str = ""
    path: Path = field(default_factory=Path)
    sha256: str = ""
    scope: str = "global"

    @property
    def summary(self) -> str:
        """The first line, at most 80 characters."""
        first = self.content.split("\n", 1)[0].strip()
        return first[:77] + "..." if len(first) > 80 else first

    def to_json(self) -> dict[str, Any]:
        """Stable keys for `--json`."""
        return {**vars(self), "path": str(self.path), "tags": list(self.tags), "summary": self.summary}


@dataclass(frozen=True)
class Memories:
    """What was found in the folders: the memories by id, and what was left out of them and why. `exists` is false when
    no folder is there yet."""

    memories: tuple[Memory, ...]
    skipped: tuple[ErrorInfo, ...]
    exists: bool


# --- reading ---------------------------------------------------------------------------------------------------------


def load_memories(folders: Iterable[tuple[str, Path]]) -> Memories:
    """All memories of (scope, folder) pairs, by id. A file that is none is skipped and told; nothing raises."""
    found: list[Memory] = []
    skipped: list[ErrorInfo] = []
    exists = False
    for scope, folder in folders:
        try:
            names = sorted(row.name for row in folder.iterdir() if row.name.endswith(".md") and row.name[0] != ".")
        except FileNotFoundError:
            continue
        except OSError as error:
            skipped.append(ErrorInfo("unreadable", f"the memories cannot be read: {error.strerror}", str(folder)))
            continue
        exists = True
        for name in names:
            memory = read_memory(folder / name, scope)
            if isinstance(memory, Ok):
                found.append(memory.value)
            else:
                skipped.append(memory.error)
    return Memories(tuple(sorted(found, key=lambda row: (row.id, row.scope, row.path.name))), tuple(skipped), exists)


def read_memory(path: Path, scope: str = "global") -> Result[Memory]:
    """One file. Err names the file, the line, and the field that is wrong."""
    try:
        read = files.read_file(path, CONTENT_BYTES * 2)
        text = read.data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = read.data.count(b"\n", 0, error.start) + 1
        return fail("not-utf8", f"{path}:{line}: this memory is not UTF-8 text; it is skipped")
    except OSError as error:
        return fail("unreadable", f"{path}: this memory cannot be read: {error.strerror or error}; it is skipped")
    parsed = parse_frontmatter(text)
    if parsed.problem:
        return fail("malformed", f"{path}:{parsed.line}: {parsed.problem}; this memory is skipped")
    wrong = validate_memory(parsed.fields)
    if wrong:
        name, sentence = wrong[0]
        return fail("bad-field", f"{path}:{field_line(text, name)}: {sentence}; this memory is skipped")
    fields = parsed.fields
    return Ok(
        Memory(
            fields["id"],
            fields["created"],
            parsed.body.strip(),
            tuple(fields.get("tags") or ()),
            fields.get("source") or USER_TOLD,
            fields.get("auto_category") or "",
            path,
            read.sha256,
            scope,
        )
    )


def validate_memory(fields: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What is wrong with a memory's frontmatter: (field, sentence that names it), [] for nothing."""
    wrong = [
        (name, f"the field '{name}' is missing; it is {FIELDS[name][1]}") for name in REQUIRED if name not in fields
    ]
    for name, (accepts, words) in FIELDS.items():
        if name in fields and not accepts(fields[name]):
            wrong.append((name, f"the field '{name}' must be {words}, not {fields[name]!r:.60}"))
    return wrong


def _is_time(value: Any) -> bool:
    return isinstance(value, str) and TIMESTAMP.match(value) is not None


# --- writing ---------------------------------------------------------------------------------------------------------


def slugify(text: str) -> str:
    """The first 50 characters as a part of a file name: lower case, letters and digits of any script, hyphens."""
    folded = unicodedata.normalize("NFC", text[:SLUG_CHARACTERS]).lower()
    slug = re.sub(r"[^\w]+|_+", "-", folded).strip("-")[:SLUG_CHARACTERS].rstrip("-")
    while len(slug.encode("utf-8")) > 200:
        slug = slug[:-1]
    return slug or "memory"


def next_id(folder: Path) -> int:
    """One more than the highest id in the folder and its archive, files that cannot be read included."""
    highest = 0
    for place in (folder, folder / ARCHIVE):
        try:
            names = [row.name for row in place.iterdir()]
        except FileNotFoundError:
            continue
        for name in names:
            numbered = _NUMBERED.match(name)
            if numbered is not None:
                highest = max(highest, int(numbered[1] or numbered[2]))
        # A person may have given another id inside than in the name.
        highest = max([highest, *(row.id for row in load_memories([("", place)]).memories)])
    return highest + 1


def clean_content(content: str) -> Result[str]:
    """What may stand in a memory: no invisible characters, no fence of ours. Err: nothing, too much. Secrets are
    the caller's matter."""
    clean = defuse_fences(without_invisible(content.replace("\r\n", "\n"))).strip()
    if not clean:
        return fail("empty", "an empty text is no memory", hint="give some words")
    if len(clean.encode("utf-8")) > CONTENT_BYTES:
        return fail("too-long", f"a memory has at most {CONTENT_BYTES} bytes", hint="save its gist")
    return Ok(clean)


def clean_tags(tags: Iterable[str]) -> Result[tuple[str, ...]]:
    """Tags as they may stand in the frontmatter, each once, in their order. Err names the one that cannot."""
    clean: list[str] = []
    for tag in tags:
        text = sanitise_line(tag, None)
        if not text or len(text) > TAG_CHARACTERS:
            return fail("bad-tag", f"a tag has 1 to {TAG_CHARACTERS} characters, and {tag!r:.60} has not")
        if text not in clean:
            clean.append(text)
    if len(clean) > TAGS:
        return fail("bad-tag", f"a memory has at most {TAGS} tags")
    return Ok(tuple(clean))


def new_memory(number: int, content: str, tags: Sequence[str], now: datetime) -> Memory:
    """A memory with its id. A tag that is a signal sets the category and says that it was detected."""
    signal = next((tag.lower() for tag in tags if tag.lower() in SIGNALS), "")
    created = now.astimezone(UTC).replace(microsecond=0).isoformat()
    return Memory(number, created, content, tuple(tags), DETECTED if signal else USER_TOLD, signal)


def render_memory(memory: Memory) -> str:
    """The file's text."""
    fields: dict[str, Any] = {
        "id": memory.id,
        "created": memory.created,
        "tags": list(memory.tags),
        "source": memory.source,
    }
    if memory.category:
        fields["auto_category"] = memory.category
    return render_frontmatter(fields, memory.content)


def write_memory(folder: Path, content: str, tags: Sequence[str], now: datetime) -> Memory:
    """Write a new memory durably and return it with its path. `content` and `tags` must be clean.

    Call it while holding the lock of the folder: the id is one more than the highest there. Raises OSError.
    """
    files.make_folder(folder)
    memory = new_memory(next_id(folder), content, tags, now)
    path = folder / f"{memory.id:03d}-{slugify(content)}.md"
    files.create_atomic(path, render_memory(memory).encode("utf-8"))
    files.sync_folder(folder)
    return Memory(**{**vars(memory), "path": path, "sha256": files.sha256_of_file(path)})


def archive_memory(path: Path) -> Path:
    """Move a memory out of the way, into `archive/` beside it, without replacing; returns where it is now. Its id is
    not given to another. Raises OSError."""
    folder = path.parent / ARCHIVE
    files.make_folder(folder)
    target = folder / path.name
    files.rename_without_replacing(path, target)
    files.sync_folder(folder)
    files.sync_folder(path.parent)
    return target


def restore_memory(path: Path) -> Path:
    """Move an archived memory back, without replacing; returns where it is now. Raises OSError."""
    target = path.parent.parent / path.name
    files.rename_without_replacing(path, target)
    files.sync_folder(target.parent)
    files.sync_folder(path.parent)
    return target


# --- finding ---------------------------------------------------------------------------------------------------------


def recall(memories: Sequence[Memory], query: str) -> list[Memory]:
    """The memories that have the query, newest first (seed 3: in text or tags, whatever the case): its very words in
    their order, or all of them anywhere. An empty query fits all."""
    folded = query.casefold().strip()
    words = set(folded.split())
    newest = sorted(memories, key=lambda row: (_instant(row.created), row.id), reverse=True)
    hits = []
    for row in newest:
        text = "\n".join([row.content, *row.tags]).casefold()
        if folded in text or all(word in text for word in words):
            hits.append(row)
    return hits


def _instant(created: str) -> float:
    """Seconds since 1970: times of different zones are compared as what they are."""
    try:
        moment = datetime.fromisoformat(created.replace("Z", "+00:00").replace(" ", "T"))
    except ValueError:
        return 0.0
    return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).timestamp()


def entries(memories: Iterable[Memory], project: str = "") -> list[SearchEntry]:
    """One row for the search for each memory."""
    return [
        SearchEntry(
            "memory",
            f"{row.scope}:{row.id}",
            row.summary,
            row.content,
            date=row.created[:10],
            tags=row.tags,
            project=project if row.scope == "project" else "",
            path=str(row.path),
        )
        for row in memories
    ]
