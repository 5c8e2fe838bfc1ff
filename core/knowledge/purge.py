"""Statements that leave every place for good: how they are recognised, and how they are taken out of what holds them.

Known by keyed hashes alone, so that a purge that was cut off can be completed from `.state/purging`, which does not
hold the words either. A line is recognised as the same statement (base/entry.py); a passage of a longer text by its
words in their order. The lines of other statements are never touched.
"""

from __future__ import annotations

import hmac
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from core.base import files
from core.base.checked_lines import decode_line, encode
from core.base.entry import statement_key, statement_mark
from core.base.markdown import is_bullet, parse_bullets, split_provenance, without_box
from core.base.paths import Paths
from core.knowledge.bullet_text import held_item
from core.knowledge.categories import CATEGORY_FILES, QUARANTINE
from core.knowledge.hunks import block_end
from core.knowledge.removed import REMOVED, hashed, read_removed, with_hash
from core.knowledge.same import mark_of_text
from core.knowledge.swap import replace_expected

PURGING = "purging"
"""The file below `.state` that tells of a purge at work: {"secret", "digests", "passages", "marks", "harvests"}."""
LEAST_WORDS = 3
"""A shorter statement is looked for as a whole only: its words stand in many a sentence that says something else."""
ATTEMPTS = 5
DROP = object()
_ARTICLES = frozenset(("the", "a", "an"))
_WORD = re.compile(r"[^\W_]+(?:[._:/+#'-][^\W_]+)*")
_MARK = re.compile(r" \[[a-z]+: \d{4}-\d\d-\d\d\]\Z")
_POINTER = "superseded by: "


STRUCTURE = frozenset({
    "t", "sha", "sha256", "run", "file", "name", "path", "status", "source", "kind", "when", "at", "date", "day",
    "header", "section", "category", "domain", "id", "provider", "model", "format", "project", "project_root",
    "project_key", "before", "after", "trashed_until",
})  # fmt: skip
"""Keys of records whose texts name things and quote nobody: a bullet may be the very word "status"."""
OWN = frozenset((*CATEGORY_FILES, QUARANTINE, REMOVED, "digest.md", "changes.jsonl", "ledger.json", "index.json"))
"""What this program writes beside `.state/` and `files/`; YAML files of facts are the fact index's matter."""


@dataclass(frozen=True)
class Purge:
    """Statements: `digests` are the hashes of what they say, `passages` those of their words, by how many these are
    (of those that are too short to be looked for in other texts there is none). `marks` are the short names
    (entry.statement_mark, same.mark_of_text) under which plans and the ledger speak of them; those of other spellings
    are added when they are met. `harvests` are conversations (sha256) of which nothing stays that a plan or a row of
    changes.jsonl says."""

    secret: bytes
    digests: frozenset[str]
    passages: Mapping[int, frozenset[str]] = field(default_factory=dict)
    marks: set[str] = field(default_factory=set)
    harvests: frozenset[str] = frozenset()

    def says(self, line: str) -> bool:
        """Whether a line of a file, or a text, is this very statement."""
        for text in _readings(line):
            if hashed(self.secret, statement_key(text)) in self.digests:
                self.marks.update((mark_of_text(text), statement_mark(text)))
                return True
        return False

    def without(self, text: str, *, blank: bool = False) -> str:
        """A longer text without the passages that say it; with `blank` spaces stand in their place, one for each
        character, where offsets into the text must stay true."""
        for words, hashes in sorted(self.passages.items(), reverse=True):
            text = self._without(text, words, hashes, blank)
        return text

    def _without(self, text: str, words: int, hashes: frozenset[str], blank: bool) -> str:
        if len(text) < words * 2:
            return text
        found = [(one.start(), one.end(), word) for one in _WORD.finditer(text) if (word := _plain(one[0]))]
        pieces, at, number = [], 0, 0
        while number + words <= len(found):
            window = found[number : number + words]
            if _hash(self.secret, " ".join(word for *_, word in window)) in hashes:
                start, end = window[0][0], window[-1][1]
                pieces += [text[at:start], " " * (end - start) * blank]
                at, number = end, number + words
            else:
                number += 1
        return "".join([*pieces, text[at:]]) if pieces else text

    @property
    def has_short(self) -> bool:
        """Whether one of the statements is too short to be looked for as a passage."""
        return len(self.digests) > sum(map(len, self.passages.values()))

    def holds(self, text: str) -> bool:
        """Whether a text has it in any form."""
        return self.without(text) != text or any(map(self.says, text.split("\n")))

    def scrubbed(self, value: Any) -> Any:
        """A JSON value without it: lines that say it leave their lists, passages their texts, and what is kept under
        one of its marks goes. DROP where nothing is left."""
        if isinstance(value, str):
            if value in self.marks or statement_mark(value) in self.marks or self.says(value):
                return DROP
            return value if value.startswith("- ") else self.without(value)
        if isinstance(value, list):
            rows = [row for one in self._without_wrapped(value) if (row := self.scrubbed(one)) is not DROP]
            named = any(isinstance(one, str) and one in self.marks for one in value)
            return DROP if named and any(not isinstance(one, str) for one in value) else rows
        if not isinstance(value, dict):
            return value
        made = {}
        for key, one in value.items():
            if key in self.marks:
                continue
            row = one if key in STRUCTURE and isinstance(one, str) else self.scrubbed(one)
            if row is DROP and key in ("fact", "text", "statement", "old", "new", "mark"):
                return DROP
            made[key] = "" if row is DROP else row
        return made

    def _without_wrapped(self, lines: Sequence[Any]) -> Sequence[Any]:
        """Lines of a file without a bullet that says it in several of them, and what is indented below it."""
        kept, left = list[Any](), list(lines)
        while left:
            block = [left.pop(0)]
            if isinstance(block[0], str) and is_bullet(block[0]):
                while left and isinstance(left[0], str) and left[0][:1] in (" ", "\t") and left[0].strip():
                    block.append(left.pop(0))
            wrapped = parse_bullets("\n".join(block)) if len(block) > 1 else []
            kept += [] if wrapped and self.says(wrapped[0].raw) else block
        return kept

    def to_json(self) -> dict[str, Any]:
        """What `.state/purging` says."""
        passages = {str(words): sorted(hashes) for words, hashes in self.passages.items()}
        lists = {name: sorted(getattr(self, name)) for name in ("digests", "marks", "harvests")}
        return {"secret": self.secret.hex(), "passages": passages, **lists}


def purge_of(texts: Iterable[str], secret: bytes, harvests: Iterable[str] = ()) -> Purge:
    """The purge of what some texts say."""
    digests, marks, passages = set[str](), set[str](), dict[int, set[str]]()
    for text in texts:
        digests.add(hashed(secret, statement_key(text)))
        title = f"{text[:79].rstrip()}…"  # of a conversation that begins with it, as a ledger has it
        marks.update((mark_of_text(text), statement_mark(text), statement_mark(title)))
        words = [word for one in _WORD.findall(text) if (word := _plain(one))]
        if len(words) >= LEAST_WORDS:
            passages.setdefault(len(words), set()).add(_hash(secret, " ".join(words)))
    by_length = {number: frozenset(hashes) for number, hashes in passages.items()}
    return Purge(secret, frozenset(digests), by_length, marks, frozenset(harvests))


@lru_cache(maxsize=1 << 16)
def _plain(word: str) -> str:
    key = statement_key(word)
    return "" if key in _ARTICLES else key


def _hash(secret: bytes, words: str) -> str:
    return hmac.digest(secret, b"passage " + words.encode("utf-8", "replace"), "sha256").hex()


def _readings(line: str) -> Iterator[str]:
    """What a line may say: as it is; as a bullet, also of the quarantine and of removed.md; as a pointer to what
    superseded another line."""
    text = line.strip()
    yield text
    if text.startswith(_POINTER):
        yield split_provenance(text.removeprefix(_POINTER))[0]
    elif is_bullet(text):
        for bullet in parse_bullets(text):
            yield bullet.text
            yield without_box(bullet.text)
            yield _MARK.sub("", bullet.text)
            yield held_item(bullet).text


# --- the intent -------------------------------------------------------------------------------------------------------


def begun(paths: Paths) -> Purge | None:
    """The purge that was cut off, None for none. Raises OSError."""
    try:
        row = json.loads(files.read_or_empty(paths.state / PURGING) or b"null")
        passages = {int(words): frozenset(map(str, hashes)) for words, hashes in row["passages"].items()}
        digests, marks, harvests = (set(map(str, row[key])) for key in ("digests", "marks", "harvests"))
        return Purge(bytes.fromhex(row["secret"]), frozenset(digests), passages, marks, frozenset(harvests))
    except (ValueError, LookupError, TypeError, AttributeError):
        return None


def begin_purge(paths: Paths, texts: Sequence[str], day: str, harvests: Iterable[str] = ()) -> Purge:
    """Remember for ever that these texts stay away, and that they are about to be purged. Durable, in this order: kept
    away, then what is to be done; from then on a purge that is cut off can be completed without its words. Raises
    OSError."""
    removed = read_removed(paths)
    purge = purge_of(texts, removed.secrets[0] if removed.secrets else os.urandom(32), harvests)
    path = paths.knowledge / REMOVED
    files.make_folder(paths.state)
    for _ in range(ATTEMPTS if texts else 0):
        old = files.read_or_empty(path)
        new = old
        for digest in sorted(purge.digests):
            new = with_hash(new, purge.secret, digest, day)
        if new == old:
            break
        if not old:
            files.create_atomic(path, new)
            break
        if replace_expected(path, new, old):
            break
    files.write_atomic(paths.state / PURGING, json.dumps(purge.to_json()).encode())
    return purge


def end_purge(paths: Paths) -> None:
    """Everything is purged. Raises OSError."""
    files.discard(paths.state / PURGING)


# --- the files --------------------------------------------------------------------------------------------------------


def purge_files(paths: Paths, purge: Purge) -> tuple[list[str], list[str]]:
    """Take it out of every file of the knowledge folder that a bullet or a record of one stands in; which files changed
    and which still hold it, for they are the user's texts or cannot be written (their names below the folder). The
    caller holds the run lock. Raises OSError."""
    went, left = [], []
    for path in _all_files(paths):
        name = path.relative_to(paths.knowledge).as_posix()
        data = files.read_or_empty(path)
        made = _purged(name, data, purge)
        if made is None or made == data:
            continue
        for _ in range(ATTEMPTS):  # an edit does not wait for the run lock
            if replace_expected(path, made, data):
                went.append(name)
                break
            data = files.read_or_empty(path)
            made = _purged(name, data, purge) or data
        else:
            left.append(name)
    return went, left


def still_held(paths: Paths, purge: Purge) -> list[str]:
    """The files of the knowledge folder in which it can still be read: memories, context, prompts, what a user wrote
    himself around it."""
    found = []
    for path in _all_files(paths):
        data = files.read_or_empty(path)
        if b"\0" not in data[:4096] and purge.holds(data.decode("utf-8", "replace")):
            found.append(path.relative_to(paths.knowledge).as_posix())
    return found


def _all_files(paths: Paths) -> list[Path]:
    """Plans before what only names lines by their marks."""
    found = [path for path in sorted(paths.knowledge.rglob("*")) if path.is_file() and not path.is_symlink()]
    kept = [
        path
        for path in found
        if not {paths.backups, paths.archive} & {*path.parents} and path.suffix not in (".db", ".lock")
    ]
    kept = [path for path in kept if path != paths.state / PURGING and not path.name.endswith(("-wal", "-shm"))]
    return sorted(kept, key=lambda path: paths.plans not in path.parents)


def _purged(name: str, data: bytes, purge: Purge) -> bytes | None:
    """The content of one file without it; None for what is not this program's: the user's own files are named."""
    if name not in OWN and not name.startswith((".state/", "files/")):
        return None
    try:
        if name in (".state/journal", ".state/log", ".state/facts.jsonl") or name.startswith(".state/plans/"):
            return b"".join(_records(data, purge))
        if name.endswith(".jsonl"):
            return b"".join(_rows(data, purge))
        if name.endswith(".json"):
            value = json.loads(data)
            made = purge.scrubbed(value)
            if made == value:
                return data
            if name == "ledger.json":
                from core.knowledge.ledger import format_ledger

                return format_ledger(made["entries"])
            return (json.dumps(made, ensure_ascii=False, indent=1) + "\n").encode()
    except (ValueError, RecursionError, KeyError, TypeError):
        return None
    if name.endswith(".md"):
        return "".join(_lines(data.decode("utf-8", "surrogateescape"), purge)).encode("utf-8", "surrogateescape")
    return None


def _records(data: bytes, purge: Purge) -> Iterator[bytes]:
    """Lines with checksums: those that change get new ones. A damaged line that holds it goes."""
    for line in data.splitlines(keepends=True):
        record = decode_line(line.rstrip(b"\n"))
        if record is None:
            yield b"" if purge.holds(line.decode("utf-8", "replace")) else line
        elif record.get("sha") not in purge.harvests or record.get("t") == "entry":
            made = purge.scrubbed(record)
            yield line if made == record else b"" if made is DROP else encode(made)


def _rows(data: bytes, purge: Purge) -> Iterator[bytes]:
    """Lines of JSON. A row that told of nothing else goes."""
    for line in data.splitlines(keepends=True):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            yield b"" if purge.holds(line.decode("utf-8", "replace")) else line
            continue
        made = purge.scrubbed(row)
        if isinstance(row, dict) and row.get("sha") in purge.harvests:
            continue
        if made == row:
            yield line
        elif isinstance(row, dict) and str(row.get("file", "")).endswith((".yaml", ".yml")):
            continue  # half of a fact cannot be brought back
        elif made is not DROP and (
            not isinstance(made, dict) or "added" not in made or made["added"] or made.get("removed")
        ):
            yield (json.dumps(made, ensure_ascii=False, separators=(",", ":")) + "\n").encode("utf-8", "replace")


def _lines(text: str, purge: Purge) -> Iterable[str]:
    """Lines of markdown without the bullets that say it, nor what is indented below them."""
    lines = re.split(r"(?<=\n)", text)
    inside = False
    for at, line in enumerate(lines):
        if inside and line[:1] in (" ", "\t") and line.strip():
            continue
        inside = is_bullet(line) and purge.says(parse_bullets("".join(lines[at : block_end(lines, at)]))[0].raw)
        if not inside and not (line.strip().startswith(_POINTER) and purge.says(line)):
            yield line
