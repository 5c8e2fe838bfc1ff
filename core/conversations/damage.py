"""Is a file what a reader takes it for: text, whole, of a known kind? What is not must not count as read.

Where the border lies: a text with bytes that are none is no text, whatever else is in it. Of records that stand one a
line, a torn last one and a few damaged ones (`SHARE`) cost themselves only, and are counted among what was skipped.
A document that breaks off gives what stands before; one that is damaged in its middle hides what stands behind.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE, BOM_UTF32_BE, BOM_UTF32_LE

from core.conversations.lines import BOM
from core.conversations.records import DECODER, json_lines, parse_object

WIDE = (
    (BOM_UTF32_LE, "utf-32-le"),
    (BOM_UTF32_BE, "utf-32-be"),
    (BOM_UTF16_LE, "utf-16-le"),
    (BOM_UTF16_BE, "utf-16-be"),
)
"""Marks of texts that Windows programs write; UTF-32 first, for one of its marks begins like one of UTF-16."""
SHARE = 20
"""Of records one in this many may be damaged and costs itself only; of fewer records one."""
_STRING = r'"(?:[^"\\]|\\.)*+"'
# An object with a name and a colon, alone or in a list: no text begins like this by chance.
_SURELY = re.compile(rf"\s*(?:\[\s*)?\{{\s*(?:{_STRING}\s*:|\Z)")
_PERHAPS = re.compile(rf"\s*(?:\{{\s*\}}|\[\s*(?:\{{|\[|\]|(?:{_STRING}|-?\d[\d.eE+-]*|true|false|null)\s*[,\]]))")


def as_utf8(data: bytes, cut: bool = False) -> bytes:
    """The text of a file in UTF-8; as it is when no mark says that it is UTF-16 or UTF-32, or when it is not that.
    `cut`: only its beginning is at hand, which may end inside a character."""
    for mark, name in WIDE:
        if data.startswith(mark):
            try:
                return data[len(mark) :].decode(name, "ignore" if cut else "strict").encode("utf-8")
            except UnicodeError:
                return data
    return data


def why_no_text(data: bytes, cut: bool = False) -> str:
    """Why bytes cannot be read as text, in words that go on from "the file"; "" when they can."""
    if b"\0" in data:
        return "is no text: it has zero bytes"
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        if cut and error.end >= len(data) and error.reason == "unexpected end of data":
            return ""
        line = data.count(b"\n", 0, error.start) + 1
        return f"is not UTF-8 text: byte {error.start + 1:,}, in line {line:,}, is part of no character"
    return ""


def why_damaged(data: bytes) -> str:
    """Why a file of records says less than it should, in words that go on from "the file"; "" when what is damaged
    affects only itself."""
    if not _one_a_line(data):
        return why_no_text(data) or (
            "is damaged in its middle, and what stands behind is lost" if _broken(data) else ""
        )
    records = list(json_lines(data))
    if records and records[-1].value is None:
        records.pop()  # a last line that is torn is still being written, or was when the power went
    damaged = sum(record.value is None for record in records)
    return f"has {damaged:,} damaged records among {len(records):,}" if damaged > max(1, len(records) // SHARE) else ""


def _one_a_line(data: bytes) -> bool:
    """Whether records stand one a line: the first line is one, or, should that be damaged, the second."""
    lines = data.removeprefix(BOM).lstrip().split(b"\n", 2)
    if len(lines) < 2 or not lines[0].startswith(b"{"):
        return False
    return any(line.startswith(b"{") and parse_object(line.strip()) is not None for line in lines[:2])


def _broken(data: bytes) -> bool:
    """Whether a document is damaged although its end is there."""
    text = data.removeprefix(BOM).decode("utf-8", "replace").rstrip()
    if not text.startswith(("{", "[")) or not text.endswith(("}", "]")):
        return False
    try:
        DECODER.decode(text.lstrip())
    except (ValueError, RecursionError):
        return True
    return False


def begins_like_json(head: str) -> bool:
    """The beginning of an object or a list."""
    return bool(_SURELY.match(head) or _PERHAPS.match(head))


def json_values(data: bytes) -> int:
    """How many JSON values a file is: one document, also one that breaks off, or one a line; 0 for prose, also for a
    note that shows some JSON and goes on in words."""
    text = data.removeprefix(BOM).decode("utf-8", "replace").lstrip()
    if not begins_like_json(text):
        return 0
    try:
        end = DECODER.raw_decode(text)[1]
    except RecursionError:
        return 1
    except ValueError:  # it may be written still, or cut
        return 1 if _SURELY.match(text) else 0
    if not text[end:].strip():
        return 1
    rows = [record.value is not None for record in json_lines(data)]
    return len(rows) if sum(rows) * 10 >= len(rows) * 9 else 0
