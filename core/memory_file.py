"""One memory: a short text that an agent or a user saved, in a markdown file of its own.

    memories/001-user-prefers-async.md      the id, and the first 50 characters as a slug
    ---
    id: 1
    created: '2026-02-10T09:00:00+00:00'
    tags: [...]
    source: user-told                       or detected, with auto_category, when a tag is a signal; one that an agent
                                            saved: agent-approved (the user said yes) or agent-unapproved
    ---

    User prefers async

The files are the truth and people edit them: whatever is wrong in one is said with file, line and field, and the
others are used all the same.
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
from core.base.conflict import without_marks
from core.base.frontmatter import TIMESTAMP, field_line, parse_frontmatter, render_frontmatter
from core.base.homes import own_target
from core.base.markdown import sanitise_line
from core.base.marks import BREAKS, tame_line, without_invisible
from core.base.result import KnowledgeError

SIGNALS = ("preference", "correction", "decision", "context", "pattern")
USER_TOLD, DETECTED = "user-told", "detected"
AGENTS: Mapping[str, str] = {
    "agent-approved": "saved by an agent, approved by the user",
    "agent-unapproved": "saved by an agent, not approved by the user",
}
"""What the file says of a memory that an agent saved -> what everybody is told of it. The way in which it was written
decides, never its words or tags. The later, the less it counts."""
SLUG_CHARACTERS = 50
CONTENT_BYTES = 64 * 1024
TAGS, TAG_CHARACTERS = 20, 50
LARGEST_ID = 10**18 - 1
"""A larger one fits no file name, and Python writes none of thousands of digits."""
# name -> what its value must be, as (test, words); the first two are required.
FIELDS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "id": (lambda value: type(value) is int and 0 < value <= LARGEST_ID, "a whole number above 0, at most 18 digits"),
    "created": (lambda value: _is_time(value) and _has_zone(value), "a time, YYYY-MM-DDTHH:MM:SS with its time zone"),
    "tags": (
        lambda value: value is None or (isinstance(value, list) and all(isinstance(tag, str) for tag in value)),
        "a list of words",
    ),
    "source": (lambda value: value is None or isinstance(value, str), "text"),
    "auto_category": (lambda value: value is None or isinstance(value, str), f"one of {', '.join(SIGNALS)}"),
    "updated": (lambda value: _is_time(value), "a time, YYYY-MM-DDTHH:MM:SS"),
}
REQUIRED = ("id", "created")
_MERGE_MARK = re.compile(r"^(?=<{7}|>{7})", re.MULTILINE)
"""Where a line of the text would be taken for the mark of a conflict in the file."""


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
    def saved_by(self) -> str:
        """A few words about an agent's memory, "" for the user's own."""
        return AGENTS.get(self.source, "")

    @property
    def summary(self) -> str:
        """The first line, at most 80 characters."""
        first = self.content.split("\n", 1)[0].strip()
        return first[:77] + "..." if len(first) > 80 else first


def trust_of(source: str) -> int:
    """0 for the user's own, more for what an agent saved."""
    return [*AGENTS].index(source) + 1 if source in AGENTS else 0


def read_memory(path: Path, scope: str = "global") -> Memory:
    """One file, of a merge conflict in it both sides; in the home (scope `global`) also one that is linked to and the
    person's own. Raises KnowledgeError, which names the file, the line, and the field that is wrong."""
    try:
        read = files.read_file(own_target(path) if scope == "global" else path, CONTENT_BYTES * 2)
        text = without_marks(read.data.decode("utf-8"))
    except UnicodeDecodeError as error:
        line = read.data.count(b"\n", 0, error.start) + 1
        raise KnowledgeError("not-utf8", f"{path}:{line}: this memory is not UTF-8 text; it is skipped") from error
    except OSError as error:
        message = f"{path}: this memory cannot be read: {error.strerror or error}; it is skipped"
        raise KnowledgeError("unreadable", message) from error
    parsed = parse_frontmatter(text)
    if parsed.problem:
        raise KnowledgeError("malformed", f"{path}:{parsed.line}: {parsed.problem}; this memory is skipped")
    wrong = validate_memory(parsed.fields)
    if wrong:
        name, sentence = wrong[0]
        raise KnowledgeError("bad-field", f"{path}:{field_line(text, name)}: {sentence}; this memory is skipped")
    fields = parsed.fields
    tags, source, category = tuple(fields.get("tags") or ()), fields.get("source"), fields.get("auto_category")
    written = (fields["id"], fields["created"], parsed.body.strip(), tags, source or USER_TOLD, category or "")
    return Memory(*written, path, read.sha256, scope)


def validate_memory(fields: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What is wrong with a memory's frontmatter: (field, sentence that names it), [] for nothing."""
    missing = [name for name in REQUIRED if name not in fields]
    wrong = [(name, f"the field '{name}' is missing; it is {FIELDS[name][1]}") for name in missing]
    for name, (accepts, words) in FIELDS.items():
        if name in fields and not accepts(fields[name]):
            wrong.append((name, f"the field '{name}' must be {words}, not {_shown(fields[name])}"))
    return wrong


def _shown(value: Any) -> str:
    try:
        return f"{value!r:.60}"
    except ValueError:  # a hexadecimal number of thousands of digits
        return "a number as long as that"


def _is_time(value: Any) -> bool:
    return isinstance(value, str) and TIMESTAMP.match(value) is not None


def _has_zone(time: str) -> bool:
    return time.endswith("Z") or "+" in time or "-" in time[10:]


# --- what may be written ---------------------------------------------------------------------------------------------


def slugify(text: str) -> str:
    """The first 50 characters as a part of a file name: lower case, letters and digits of any script, hyphens."""
    folded = unicodedata.normalize("NFC", text[:SLUG_CHARACTERS]).lower()
    return re.sub(r"[^\w]+|_+", "-", folded).strip("-")[:SLUG_CHARACTERS].rstrip("-") or "memory"


def clean_content(content: str) -> str:
    """What may stand in a memory: no invisible characters, no mark of base/marks.py. Raises KnowledgeError: nothing,
    too much. Secrets are the caller's matter."""
    clean = _MERGE_MARK.sub(r"\\", tame_line(BREAKS.sub("\n", without_invisible(content))).strip())
    if not clean:
        raise KnowledgeError("empty", "an empty text is no memory", hint="give some words")
    if len(clean.encode("utf-8")) > CONTENT_BYTES:
        raise KnowledgeError("too-long", f"a memory has at most {CONTENT_BYTES} bytes", hint="save its gist")
    return clean


def clean_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Tags as they may stand in the frontmatter, each once, in their order. Raises KnowledgeError, which names the one
    that cannot."""
    clean: list[str] = []
    for tag in tags:
        text = sanitise_line(tag, None)
        if not text or len(text) > TAG_CHARACTERS:
            raise KnowledgeError("bad-tag", f"a tag must have 1 to {TAG_CHARACTERS} characters: {tag!r:.60}")
        if text not in clean:
            clean.append(text)
    if len(clean) > TAGS:
        raise KnowledgeError("bad-tag", f"a memory has at most {TAGS} tags")
    return tuple(clean)


def new_memory(number: int, content: str, tags: Sequence[str], now: datetime, source: str = "") -> Memory:
    """A memory with its id. A tag that is a signal sets the category and says that it was detected, unless the `source`
    is known to be one of AGENTS."""
    signal = next((tag.lower() for tag in tags if tag.lower() in SIGNALS), "")
    created = now.astimezone(UTC).replace(microsecond=0).isoformat()
    return Memory(number, created, content, tuple(tags), source or (DETECTED if signal else USER_TOLD), signal)


def render_memory(memory: Memory) -> str:
    """The file's text."""
    fields = {"id": memory.id, "created": memory.created, "tags": list(memory.tags), "source": memory.source}
    if memory.category:
        fields["auto_category"] = memory.category
    return render_frontmatter(fields, memory.content)
