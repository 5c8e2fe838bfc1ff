"""Fact: one record of the fact index, the seven validations, and its row for the search.

A fact is named by its id, `{domain}:{category}:{sequence}`. The YAML files are the truth; how they are read is in
items.py and places.py, and `index.json`, their projection, is made in index.py.
"""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from core.base.choices import FACT_CATEGORIES
from core.base.entry import FACT_CHARACTERS, Entry, statement_mark
from core.base.markdown import without_emphasis
from core.base.result import ErrorInfo

CATEGORIES = FACT_CATEGORIES
GLOBAL = "global"
KEYS = (
    "id", "fact", "category", "domain", "confidence", "tags", "source_count", "first_seen", "last_confirmed",
    "expires", "related",
)  # fmt: skip
"""The fields of a fact, in the order of a file."""
REQUIRED = KEYS[:5]
DATES = ("first_seen", "last_confirmed", "expires")

DISK_FAILED = "unreadable-file"
"""The system would not give what a file holds: maybe only now, so that a run in which it happens has failed."""
DAMAGE = ("broken-file", "held-facts", DISK_FAILED)
"""The problems that cost a whole file, or facts that were there: more than a slip in one item."""

_ID = re.compile(r"(?P<domain>[^:\s/\\]+):(?P<category>[^:\s]+):(?P<sequence>[0-9]{3,18})")
_DOMAIN = re.compile(r"[^\W_][\w.-]*")
_TAG = re.compile(r"[a-z0-9-]+")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ].*)?")
_DECORATION = re.compile("[*`\"'“”‘’«»„]+")


class Fact(NamedTuple):
    """One fact with all its fields. `confidence` is from 0.0 to 1.0; dates are YYYY-MM-DD, "" for none;
    `source_count` is None where it is not written. In the index `confidence` is what is left of it after decay and
    `stale` says that the fact has expired, `unread` that its file cannot be read now and this is what it said last; in
    a YAML file none of this is the case."""

    id: str
    fact: str
    category: str
    domain: str
    confidence: float
    tags: tuple[str, ...] = ()
    source_count: int | None = None
    first_seen: str = ""
    last_confirmed: str = ""
    expires: str = ""
    related: tuple[str, ...] = ()
    stale: bool = False
    unread: bool = False

    def to_json(self) -> dict[str, Any]:
        """The row of index.json: the five required fields, then whichever optional ones are there."""
        row = self._asdict() | {"tags": list(self.tags), "related": list(self.related)}
        return {
            key: value
            for key, value in row.items()
            if key in REQUIRED or (value is not False and value not in ("", [], None))
        }


class Problem(NamedTuple):
    """One thing that keeps a fact out of the index: where it stands (`line` counts from 1, 0 for the whole file), which
    fact ("" when it has no id), what is wrong and what is allowed."""

    code: str
    file: str
    line: int
    id: str
    message: str

    @property
    def error(self) -> ErrorInfo:
        """The same as one sentence for a user."""
        where = f"{self.file}:{self.line}" if self.line else self.file
        about = f"{self.id}: " if self.id else ""
        return ErrorInfo(self.code, f"{where}: {about}{self.message}")

    def to_json(self) -> dict[str, Any]:
        """Stable keys for `--json`."""
        return self._asdict()


def split_id(text: str) -> tuple[str, str, int] | None:
    """Domain, category and sequence of an id, None for what is none. The category may be an unknown word."""
    found = _ID.fullmatch(text)
    return (found["domain"], found["category"], int(found["sequence"])) if found else None


def format_id(domain: str, category: str, sequence: int) -> str:
    """The id of a fact: three digits or more."""
    return f"{domain}:{category}:{sequence:03d}"


def is_domain(text: str) -> bool:
    """Whether a text may be a domain: a name without colons, slashes and spaces that begins with a letter or digit."""
    return bool(_DOMAIN.fullmatch(text)) and len(text) <= 100


def check(fields: Mapping[str, object]) -> list[tuple[str, str]]:
    """What is wrong with one fact: (code, sentence) for each of the validations 1 to 6 that it fails, and for an
    optional field of a wrong type. That ids are unique (7) is a matter of all facts together."""
    found: list[tuple[str, str]] = []
    raw, category, domain = fields.get("id"), fields.get("category"), fields.get("domain")
    parts = split_id(raw) if isinstance(raw, str) else None
    if parts is None:
        allowed = "allowed: {domain}:{category}:{sequence} with 3 to 18 digits, such as global:pitfall:001"
        found.append(("bad-id", f"the id is {shown(raw)}; {allowed}"))
    if category not in CATEGORIES:
        found.append(("bad-category", f"the category is {shown(category)}; allowed: {', '.join(CATEGORIES)}"))
    elif parts is not None and parts[1] != category:
        found.append(("bad-id", f"the id names the category {parts[1]!r}, the fact {category!r}; allowed: the same"))
    if not isinstance(domain, str) or not domain.strip():
        found.append(("bad-domain", "the domain is empty; allowed: a repository's name, global, or an agent's name"))
    elif parts is not None and parts[0] != domain:
        found.append(("bad-id", f"the id names the domain {parts[0]!r}, the fact {domain!r}; allowed: the same"))
    elif not is_domain(domain):
        allowed = "letters, digits, '.', '_' and '-', beginning with a letter or digit, at most 100"
        found.append(("bad-domain", f"the domain is {shown(domain)}; allowed: {allowed}"))
    confidence = fields.get("confidence")
    number = isinstance(confidence, (int, float)) and not isinstance(confidence, bool)
    if not number or not 0.0 <= confidence <= 1.0:  # type: ignore[operator]
        found.append(("bad-confidence", f"the confidence is {shown(confidence)}; allowed: a number from 0.0 to 1.0"))
    text = fields.get("fact")
    if not isinstance(text, str) or not text.strip():
        found.append(("bad-fact", f"the fact is {shown(text)}; allowed: a text that is not empty"))
    elif len(text) > FACT_CHARACTERS:
        found.append(("bad-fact", f"the fact has {len(text)} characters; allowed: at most {FACT_CHARACTERS}"))
    return found + _check_optional(fields)


def _check_optional(fields: Mapping[str, object]) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    if wrong := _wrong_in(fields.get("tags"), _TAG.fullmatch):
        allowed = "a list of lower-case letters, digits and hyphens, such as [git, api-v1]"
        found.append(("bad-tags", f"the tags have {wrong}; allowed: {allowed}"))
    count = fields.get("source_count")
    if count is not None and (not isinstance(count, int) or isinstance(count, bool) or count < 0):
        found.append(("bad-field", f"source_count is {shown(count)}; allowed: a whole number from 0 up"))
    for key in DATES:
        value = fields.get(key)
        if value and day_of(value) is None:
            found.append(("bad-field", f"{key} is {shown(value)}; allowed: a date such as 2026-04-13"))
    if wrong := _wrong_in(fields.get("related"), split_id):
        found.append(("bad-field", f"related has {wrong}; allowed: a list of ids"))
    return found


def _wrong_in(value: object, read: Callable[[str], object]) -> str:
    """What of a list cannot be read, or what stands in the place of a list; "" for nothing."""
    if value is None or isinstance(value, (list, tuple)):
        return ", ".join(shown(one) for one in value or () if not isinstance(one, str) or read(one) is None)
    return shown(value)


def day_of(value: object) -> str | None:
    """The date of a text in ISO 8601, as YYYY-MM-DD; None for what is none."""
    if not isinstance(value, str) or not _DATE.fullmatch(value):
        return None
    try:
        return datetime.fromisoformat(value).date().isoformat()
    except ValueError:
        return None


def fact_from(fields: Mapping[str, Any]) -> Fact:
    """The record of fields that `check` found nothing wrong with."""
    return Fact(
        fields["id"],
        fields["fact"],
        fields["category"],
        fields["domain"],
        float(fields["confidence"]),
        tuple(fields.get("tags") or ()),
        fields.get("source_count"),
        day_of(fields.get("first_seen")) or "",
        day_of(fields.get("last_confirmed")) or "",
        day_of(fields.get("expires")) or "",
        tuple(fields.get("related") or ()),
        fields.get("stale") is True,
        fields.get("unread") is True,
    )


def sort_key(fact: Fact) -> tuple[str, int, int]:
    """The order of the index: domain, category in the order of the table, number."""
    parts = split_id(fact.id)
    return fact.domain, CATEGORIES.index(fact.category), parts[2] if parts else 0


def marks_of(text: str) -> tuple[str, str]:
    """The names of a text in the record: the mark of its statement, and the one that earlier versions gave it."""
    flat = unicodedata.normalize("NFKC", text).casefold()
    earlier = " ".join(_DECORATION.sub("", flat).split()).rstrip(" .!;:,?…")
    return statement_mark(text), hashlib.sha256(earlier.encode("utf-8", "replace")).hexdigest()[:20]


def shown(value: object) -> str:
    """A foreign value as it may stand in a sentence: short, on one line."""
    text = "missing" if value is None else repr(value) if isinstance(value, (str, bool, int, float)) else str(value)
    text = " ".join(text.split())
    return text if len(text) <= 60 else text[:57] + "..."


def entries(facts: Iterable[Fact], path: str = "") -> Iterator[Entry]:
    """One row a fact that is not known to have expired: its id is the key, its category and domain are the title, its
    domain is among the tags. `path` is the YAML file that they stand in."""
    for fact in facts:
        if not fact.stale:
            yield Entry(
                "fact",
                fact.id,
                f"{fact.category} ({fact.domain})",
                without_emphasis(fact.fact),  # as a bullet's: the two are shown as one
                fact.last_confirmed or fact.first_seen,
                f"[fact: {fact.id}, {fact.confidence:g}]",
                tuple(dict.fromkeys((*fact.tags, fact.domain))),
                "",
                path,
            )


# --- where they lie --------------------------------------------------------------------------------------------------

FOLDERS = ("global", "repos", "agents")
ENDINGS = (".yaml", ".yml")
LINK = "a symbolic link, which is not followed"


def fact_file_names(knowledge: Path) -> Iterator[str]:
    """The names of the YAML files below the knowledge folder, sorted. Raises OSError."""
    return (name for name, why in fact_places(knowledge) if not why)


def fact_places(knowledge: Path) -> list[tuple[str, str]]:
    """The same, and between them what a user may take for one: (name, why it is not read, "" for a file). Folders may
    stand in the three of them, and hidden files and folders are no part of it. Raises OSError."""
    found: list[tuple[str, str]] = []

    def unreadable(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError):
            why = f"a folder that cannot be read ({error.strerror})"
            found.append((os.path.relpath(error.filename, knowledge), why))

    for top in FOLDERS:
        if os.path.islink(knowledge / top):
            found.append((top, LINK))
            continue
        for place, folders, names in os.walk(knowledge / top, onerror=unreadable):
            below = os.path.relpath(place, knowledge)
            for name in (one for one in (*folders, *names) if not one.startswith(".")):
                path = os.path.join(place, name)
                if os.path.islink(path) and (name.endswith(ENDINGS) or name in folders):
                    found.append((f"{below}/{name}", LINK))
                elif name.endswith(ENDINGS) and name in names:
                    found.append((f"{below}/{name}", "" if os.path.isfile(path) else "a pipe, socket or device"))
            folders[:] = [name for name in folders if below == top and not name.startswith(".")]
    return sorted(found)
