"""What the user removed, struck, replaced or retracted: remembered by its statement in `removed.md`, and kept away.

    # Removed

    What stands here was taken out and stays away. Delete a line, and what it says may come back.

    - The port is 8080. [removed: 2026-02-10]
    <!-- key: 64 hexadecimal digits -->
    - 64 hexadecimal digits [forever: 2026-02-11]

What was removed for ever (core/knowledge/purge.py) stands there without its words: as the HMAC-SHA256 of what it says,
under a key beside it. That keeps the same words away, and tells nobody who has not guessed them.

What was reworded or deleted in an editor is remembered when its harvest is undone (core/commands/history/by_hand.py).
A user reads and edits the file, git carries it to other machines. Whatever writes knowledge asks it first; whatever
shows knowledge leaves out a line that came back all the same (through a merge, a backup, a kill between two steps).
What the user wrote by hand is their word, and is never kept away.
"""

from __future__ import annotations

import contextlib
import hmac
import json
import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property

from core.base import files
from core.base.entry import statement_key
from core.base.markdown import BY_HAND, Bullet, parse_bullets, split_provenance, unmarked
from core.base.paths import Paths

REMOVED = "removed.md"
INDEX = "index.json"
HEADER = "# Removed\n\nWhat stands here was taken out and stays away. Delete a line, and what it says may come back."
FOREVER = "forever"
HOW = ("removed", "struck", "replaced", "retracted", "forgotten", FOREVER)
"""How a statement went, as its line says."""

_SECRET = re.compile(r"(?m)^<!-- key: ([0-9a-f]{64}) -->[ \t]*\r?$")
_EXPIRES = b'"expires": "'
_MARK = re.compile(rf"\[(?P<how>{'|'.join(HOW)}): (?P<day>\d{{4}}-\d\d-\d\d)\]\Z")


@dataclass(frozen=True)
class RemovedStatement:
    """One line of `removed.md`: what it says, how it went (one of HOW, "" where the user wrote the line) and the UTC
    day YYYY-MM-DD ("" for none)."""

    text: str
    how: str = ""
    day: str = ""
    raw: str = ""


@dataclass(frozen=True)
class Removed:
    """All of them. `text in removed` asks whether a statement stays away. Of what is removed for ever the text is a
    hash under one of the `secrets`: there are several after two machines were merged. `expired` are the keys of
    statements whose fact has passed its last day (`expires`): they stand, and nobody is told them any more."""

    rows: tuple[RemovedStatement, ...] = ()
    secrets: tuple[bytes, ...] = ()
    expired: frozenset[str] = frozenset()

    def __contains__(self, text: object) -> bool:
        return bool(self.rows) and isinstance(text, str) and self._has(statement_key(text))

    def _has(self, key: str) -> bool:
        return key in self._keys or any(hashed(one, key) in self._hashes for one in self.secrets)

    def is_purged(self, text: str) -> bool:
        """Whether a statement was removed for good."""
        return any(hashed(one, statement_key(text)) in self._hashes for one in self.secrets)

    def __bool__(self) -> bool:
        return bool(self.rows)

    @cached_property
    def _keys(self) -> frozenset[str]:
        return frozenset(statement_key(row.text) for row in self.rows if row.how != FOREVER)

    @cached_property
    def _hashes(self) -> frozenset[str]:
        return frozenset(row.text for row in self.rows if row.how == FOREVER)

    def keeps_away(self, bullet: Bullet) -> bool:
        """Whether a line that stands is to be left out of everything that is shown: it says what was removed or has
        expired, and the user has not written it. What is struck through is history and stays where it is."""
        if bullet.struck or bullet.provenance is None or bullet.provenance.source == BY_HAND:
            return False
        return self.hides(bullet.text)

    def hides(self, text: str) -> bool:
        """Whether nobody is to be told a text: removed or expired."""
        if not self.rows and not self.expired:
            return False
        key = statement_key(text)
        return key in self.expired or self._has(key)


def read_removed(paths: Paths) -> Removed:
    """What the file says, of a merge conflict both sides. Raises OSError when it cannot be read."""
    text = files.read_or_empty(paths.knowledge / REMOVED).decode("utf-8", "replace").removeprefix("\ufeff")
    rows = tuple(row for row in map(statement_of, parse_bullets(text)) if row.text)
    secrets = tuple(map(bytes.fromhex, _SECRET.findall(text)))
    return Removed(rows, secrets)


def read_hidden(paths: Paths) -> Removed:
    """What nobody is to be told: what the user removed, and the facts in index.json that have expired by today (UTC).
    Raises OSError when a file cannot be read."""
    return replace(read_removed(paths), expired=_expired(files.read_or_empty(paths.knowledge / INDEX)))


def hashed(secret: bytes, key: str) -> str:
    """What stands in the file for a statement that is removed for ever; `key` is that of entry.statement_key."""
    return hmac.digest(secret, key.encode("utf-8", "replace"), "sha256").hex()


def with_hash(data: bytes, secret: bytes, digest: str, day: str) -> bytes:
    """The file with a statement that is removed for ever, and with the key of its hash."""
    text = data.decode("utf-8", "surrogateescape") or f"{HEADER}\n\n"
    text = text if text.endswith("\n") else f"{text}\n"
    if secret.hex() not in text:
        text += f"<!-- key: {secret.hex()} -->\n"
    if f"- {digest} [" not in text:
        text += f"- {digest} [{FOREVER}: {day}]\n"
    return text.encode("utf-8", "surrogateescape")


def _expired(data: bytes) -> frozenset[str]:
    """The keys of expired facts: one fact stands on one line of the index, and few have a last day."""
    if _EXPIRES not in data:
        return frozenset()
    today = datetime.now(UTC).date().isoformat()
    found: set[str] = set()
    for line in data.split(b"\n"):
        if _EXPIRES in line:
            with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError):
                row = json.loads(line.rstrip(b", \r"))
                said = f'"fact": {json.dumps(row["fact"], ensure_ascii=False)}'.encode("utf-8", "replace")
                if str(row["expires"]) < today and data.count(said) == 1:  # what holds in another project has not
                    found.add(statement_key(row["fact"]))
    return frozenset(found)


def statement_of(bullet: Bullet) -> RemovedStatement:
    """What one line of the file says."""
    said = " ".join([unmarked(bullet.raw), *map(str.strip, bullet.more)]).strip()  # an editor may have wrapped it
    found = _MARK.search(said)
    text = split_provenance(said[: found.start()] if found else said)[0].strip()
    return RemovedStatement(text, found["how"] if found else "", found["day"] if found else "", bullet.raw)
