"""Entry: anything known, as it is read, shown, judged and handed out; and what *the same statement* is.

Each room yields entries; none is ever written back: the truth stays in the file that the entry came from.

Two texts are the same statement when they differ in nothing but case, white space, punctuation around words, emphasis,
the articles, invisible characters, and letters that only look alike. Another value is another statement, and so is a
paraphrase: that is offered to the user, never decided. Confirmations, alike lines, what is known already and what stays
away all compare by `statement_key`.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

from core.base.marks import without_invisible


class Entry(NamedTuple):
    """One thing that can be found.

    `kind` is one of ENTRY_KINDS; `key` names it within its kind and stays the same while the text changes (`facts:…`, a
    memory's id, a fact's id); `title` is a short heading or "", `text` all that is searched. `date` is YYYY-MM-DD or
    "", `provenance` the bracketed source as it stands in a file or "". `project` is a folder's path or "" for what
    belongs to no project; `path` is the file in which a user can read it.

    `thread` names the conversation or document that this is a piece of ("" for what stands alone) and `position` its
    place in it, counted from 0: what stands beside a hit, and the whole it is a part of, speak for it. `role` is who
    spoke in a conversation: user, assistant or tool; "" where there are no such roles.
    """

    kind: str
    key: str
    title: str
    text: str
    date: str = ""
    provenance: str = ""
    tags: tuple[str, ...] = ()
    project: str = ""
    path: str = ""
    thread: str = ""
    position: int = 0
    role: str = ""


class SearchSource(NamedTuple):
    """One file that entries come from. `name` is stable and unique (`bullets:facts.md`); `entries` turns the file's
    bytes into rows, Raises KnowledgeError for a file that holds none and should. It is called only when the bytes have
    changed."""

    name: str
    path: Path
    entries: Callable[[bytes], Sequence[Entry]]


Embed: TypeAlias = "Callable[[Sequence[str]], Sequence[Sequence[float]]]"
"""Turns texts into vectors of one length, one for each text; close vectors mean alike texts. Never raises for anything
that a network or a missing model can do."""


# --- the same statement ----------------------------------------------------------------------------------------------

# Cyrillic and Greek letters that are drawn like a Latin one in either case, as they are after case folding. A word of
# such letters alone may meet a Latin one: so rare that nothing is lost by it.
_LOOK_ALIKES = str.maketrans("авекмнорстухіјѕһԁԛԝӏαβεζηικμνορτυχϲϳ", "abekmhopctyxijshdqwlabezhikmnoptyxcj")
_QUOTES = str.maketrans("‘’‛“”„«»", '\'\'\'"""""')
_EMPHASIS = re.compile(r"(?<![\w*])(\*\*?)(?=[^\s*])([^*]*[^\s*])\1(?![\w*])")
_BEFORE, _AFTER = "\"'`([{¿¡", "\"'`()]}.,;:!?…。、，！？；："
_NOTHING = frozenset({"the", "an", *"-–—―·•"})


def statement_key(text: str) -> str:
    """What a text says, in a form that is equal for the same statement. `text` is without dash, strike-through and
    provenance. Signs inside a word or before it stay (`-2`, `v1.2`, `C++`, `.env`): they are values."""
    if not text.isascii():
        text = without_invisible(unicodedata.normalize("NFKC", text)).translate(_QUOTES)
    if "*" in text:
        text = _EMPHASIS.sub(r"\2", text)
    folded = text.casefold()
    if not folded.isascii():
        folded = folded.translate(_LOOK_ALIKES)
    said = []
    for at, (raw, word) in enumerate(zip(text.split(), folded.split(), strict=True)):
        bare = word.lstrip(_BEFORE).rstrip(_AFTER)
        # A capital A in the middle is a name (plan A), and so is a letter in quotes.
        if bare and bare not in _NOTHING and not (bare == "a" and (raw == "a" or (at == 0 and raw == "A"))):
            said.append(bare)
    return " ".join(said) or folded.strip()


def statement_mark(text: str) -> str:
    """A short name for what a text says: 20 hexadecimal digits of the sha256 of its key."""
    return mark_of_key(statement_key(text))


def mark_of_key(key: str) -> str:
    """The same for a key that is known."""
    return hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()[:20]
