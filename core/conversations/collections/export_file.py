"""ChatGPT's and Claude.ai's exports: one `conversations.json` (or several, numbered), often in the zip that was sent.

Read in place and element by element; nothing is unpacked to the disk, and no path of an archive is ever used as one.
Each conversation is put into a form of its own that holds what its reader reads and nothing else, so that its hash
changes when something was said and not when the owner of the format adds a field or a title is changed.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import zipfile
import zlib
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, NamedTuple, cast

from core.base import files
from core.conversations.collections.store_file import StoredSession, StoreError, seconds, text
from core.conversations.formats import chatgpt, claude_ai
from core.conversations.lines import BOM
from core.conversations.read import HEAD_BYTES, format_of
from core.conversations.records import DECODER
from core.conversations.turns import clean

EXPORT_BYTES = 4 << 30
"""An export that is longer than this, unpacked, is refused."""
ELEMENT_BYTES = 128 << 20
"""At one conversation that is longer than this the reading ends, as where the file is damaged."""
CHUNK_BYTES = 1 << 18
MEMBERS = 200_000
RATIO, RATIO_FROM = 200, 16 << 20
_NAME = re.compile(r"conversations(?:[-_. ]?\(?\d{1,6}\)?)?\.json\Z", re.IGNORECASE)
_ID = re.compile(r"[A-Za-z0-9._-]{1,128}\Z")
_BETWEEN = re.compile(r"[\s,]*")


class Kind(NamedTuple):
    """One format: the names of a conversation's members, and its form without what the reader does not read."""

    id: tuple[str, ...]
    title: str
    started: str
    updated: str
    canonical: Callable[[dict[str, Any], str], dict[str, Any] | None]


KINDS = {
    "chatgpt": Kind(("conversation_id", "id"), "title", "create_time", "update_time", chatgpt.canonical),
    "claude_ai": Kind(("uuid",), "name", "created_at", "updated_at", claude_ai.canonical),
}


def export_kind(path: str) -> str:
    """`chatgpt` or `claude_ai` for an export, "" for any other file: a `.json` by how it begins, a `.zip` by how the
    `conversations.json` in it does. Raises OSError."""
    with _opened(path) as (members, open_member):
        for member in members:
            with open_member(member) as stream:
                kind = _kind_of(stream.read(HEAD_BYTES))
            if kind:
                return kind
    return ""


class OpenExport:
    """An open export, with what `OpenStore` offers. Raises OSError (`StoreError` with words) from every method."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._packed: dict[str, bytes] = {}
        self._rows: dict[str, StoredSession] = {}
        self._lost: dict[str, int] = {}
        self.kind = ""
        with _opened(path) as (members, open_member):
            for member in members:
                with open_member(member) as stream:
                    kind = _kind_of(stream.read(HEAD_BYTES))
                self.kind = self.kind or kind
                if kind and kind == self.kind:
                    with open_member(member) as stream:
                        self._list(stream)
        if not self.kind:
            raise StoreError("this is no export of ChatGPT or Claude.ai", path)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was passed over and why, in words."""
        return tuple(f"{self._path}: {number} {why}" for why, number in self._lost.items())

    def sessions(self) -> list[StoredSession]:
        """Every conversation that can be read and in which something was said, each id once."""
        return list(self._rows.values())

    def content(self, session: StoredSession) -> bytes:
        """One conversation in its canonical form, a JSON document that the format's reader reads."""
        return zlib.decompress(self._packed[session.id])

    def close(self) -> None:
        self._packed.clear()
        self._rows.clear()

    def _list(self, stream: BinaryIO) -> None:
        kind = KINDS[self.kind]
        for value in self._elements(stream):
            if not isinstance(value, dict):
                self._lose("is no conversation")
                continue
            try:
                made = _canonical(kind, value)
            except (ValueError, TypeError, RecursionError):
                made = None
            if made is None:
                self._lose("cannot be read: nothing stands in the place of its messages")
                continue
            id, data = made
            if not data:
                self._lose("without a message")
                continue
            updated = seconds(value.get(kind.updated)) or seconds(value.get(kind.started))
            row = StoredSession(id, text(value.get(kind.title)), "", max(0.0, updated), len(data))
            known = self._rows.get(id)
            if known is not None:
                self._lose("stands there twice; the newer one is read")
                if (known.updated, known.size) >= (row.updated, row.size):
                    continue
            self._rows[id], self._packed[id] = row, zlib.compress(data, 1)

    def _elements(self, stream: BinaryIO) -> Iterator[Any]:
        """The elements of an array, of which one is held at a time. What stands behind a damaged one is lost."""
        decoder = getincrementaldecoder("utf-8-sig")("replace")
        held = decoder.decode(stream.read(CHUNK_BYTES))
        at = held.index("[") + 1
        while True:
            between = _BETWEEN.match(held, at)
            at = between.end() if between else at
            if held.startswith("]", at):
                return
            try:
                value, at = DECODER.raw_decode(held, at)
            except (ValueError, RecursionError):
                more = stream.read(max(CHUNK_BYTES, len(held) - at))
                if not more or len(held) - at > ELEMENT_BYTES:
                    self._lose("file that breaks off or is damaged in the middle; what stands before that is read")
                    return
                held, at = held[at:] + decoder.decode(more), 0
            else:
                yield value

    def _lose(self, why: str) -> None:
        self._lost[why] = self._lost.get(why, 0) + 1


def _canonical(kind: Kind, value: dict[str, Any]) -> tuple[str, bytes] | None:
    """The id and the canonical form, empty when nothing was said; None for what is no conversation."""
    id = next((row for key in kind.id if (row := text(value.get(key)))), "")
    if not _ID.match(id):
        # Without a usable id its beginning stands for it, so that it is the same one when it has grown.
        identity = id or f"{value.get(kind.started)} {value.get(kind.title)}"
        id = f"x{hashlib.sha256(clean(identity).encode('utf-8', 'replace')).hexdigest()[:24]}"
    made = kind.canonical(value, id)
    if made is None:
        return None
    if not made:
        return id, b""
    words = json.dumps(made, ensure_ascii=False, separators=(",", ":"))
    return id, clean(words).encode("utf-8", "replace")


def _kind_of(head: bytes) -> str:
    """Only an array holds many; a single conversation is a file like others."""
    if head.removeprefix(BOM).lstrip()[:1] != b"[":
        return ""
    kind = format_of(head)
    return kind if kind in KINDS else ""


@contextmanager
def _opened(path: str) -> Iterator[tuple[list[str], Callable[[str], BinaryIO]]]:
    """The files in which conversations may stand, and what opens one; of a plain file there is one, without a name."""
    with os.fdopen(files.open_regular(path), "rb") as file:
        if not path.lower().endswith(".zip"):
            size = os.fstat(file.fileno()).st_size
            if size > EXPORT_BYTES:
                raise StoreError(_too_long(size), path)
            yield [""], lambda _: os.fdopen(files.open_regular(path), "rb")
            return
        try:
            with zipfile.ZipFile(file) as archive:
                rows = {row.filename: row for row in _members(archive, path)}
                yield list(rows), lambda name: cast(BinaryIO, archive.open(rows[name]))
        # zlib.error: the packed bytes are damaged; NotImplementedError: packed in a way that Python does not know.
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
            raise StoreError(f"the archive cannot be read: {error}", path) from error


def _members(archive: zipfile.ZipFile, path: str) -> list[zipfile.ZipInfo]:
    """Those of an archive that are called as an export calls its conversations, whatever folder they are in. Refuses
    what is larger than any export is, or was packed to look small."""
    rows = archive.infolist()
    if len(rows) > MEMBERS:
        raise StoreError(f"the archive holds more than {MEMBERS} files", path)
    found = [row for row in rows if _NAME.match(row.filename.rpartition("/")[2])]
    size = sum(row.file_size for row in found)
    if size > EXPORT_BYTES:
        raise StoreError(_too_long(size), path)
    for row in found:
        if row.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise StoreError(
                "the archive is packed in an unusual way; unpack it first and name conversations.json", path
            )
        if row.flag_bits & 1:
            raise StoreError("the archive is locked with a password; unpack it first and name conversations.json", path)
        if row.file_size > RATIO_FROM and row.file_size > RATIO * max(1, row.compress_size):
            raise StoreError("the archive would unpack to far more than it looks (a zip bomb); it is not read", path)
    return found


def _too_long(size: int) -> str:
    return f"its conversations take {size} bytes, more than the {EXPORT_BYTES} that are read"
