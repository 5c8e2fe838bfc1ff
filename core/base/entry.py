"""Entry: anything known, as it is read, shown, judged and handed out; and what *the same statement* is.

Each room yields entries; none is ever written back: the truth stays in the file that the entry came from.

Two texts are the same statement when they differ in nothing but case, white space, punctuation around words, emphasis,
invisible characters, and letters that only look alike. Another value is another statement, and so is a paraphrase: that
is offered to the user, never decided. Confirmations, alike lines, what is known already and what stays
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
    changed. `read` gives what stands for the bytes of a database: it is written to while its entries stay."""

    name: str
    path: Path
    entries: Callable[[bytes], Sequence[Entry]]
    read: Callable[[Path], bytes] | None = None


Embed: TypeAlias = "Callable[[Sequence[str]], Sequence[Sequence[float]]]"
"""Turns texts into vectors of one length, one for each text; close vectors mean alike texts. Never raises for anything
that a network or a missing model can do."""


# --- the same statement ----------------------------------------------------------------------------------------------

# Cyrillic letters (and the omicron) that are drawn like a Latin one in either case, as they are after case folding.
_LOOK_ALIKES = str.maketrans("авекмнорстухіјѕһԁԛԝӏο", "abekmhopctyxijshdqwlo")
_LATIN = re.compile("[a-z]")
# Wide letters and ligatures. Not all that Unicode calls compatible: a superscript and the sign of micro are values.
_SHAPES = {
    code: unicodedata.normalize("NFKC", chr(code)) for code in (0x3000, *range(0xFF01, 0xFF5F), *range(0xFB00, 0xFB07))
}
_QUOTES = str.maketrans("‘’‛“”„«»", '\'\'\'"""""')
_EMPHASIS = re.compile(r"(?<![\w*])(\*\*?)(?=[^\s*])([^*]*[^\s*])\1(?![\w*])")
_BEFORE, _AFTER = "\"'`([{¿¡", "\"'`()]}.,;:!?…。、，！？；："
_DASHES = frozenset("–—―·•")


def statement_key(text: str) -> str:
    """What a text says, in a form that is equal for the same statement. `text` is without dash, strike-through and
    provenance. Signs inside a word or before it stay (`-2`, `v1.2`, `C++`, `.env`), and so does a word of signs alone
    (`git add .`, `()`): they are values."""
    if not text.isascii():
        text = without_invisible(unicodedata.normalize("NFC", text)).translate(_QUOTES).translate(_SHAPES)
    if "*" in text:
        text = _EMPHASIS.sub(r"\2", text)
    words = text.casefold().split()
    last = len(words) - 1
    said = []
    for at, word in enumerate(words):
        if not word.isascii() and _LATIN.search(word):  # letters of two scripts in one word
            word = word.translate(_LOOK_ALIKES)
        joins = word in _DASHES and not (at < last and words[at + 1][0].isdigit())
        if not joins and not (at == last and word in ("!", "?")):
            said.append(word.lstrip(_BEFORE).rstrip(_AFTER) or word.strip("\"'`") or word)
    return " ".join(said) or text.strip()


FACT_CHARACTERS = 280
"""The length of the longest fact."""
DETAIL = " — "
"""What joins a statement and its detail in one line."""


def as_fact(text: str) -> str:
    """The words of a bullet as a fact: a playbook without the stars, and without its detail where it is too long with
    it. A fact is never cut in another place."""
    plain = text.removeprefix("\\")
    plain = plain.replace("**", "", 2) if plain.startswith("**") else plain  # the name of a playbook
    return plain if len(plain) <= FACT_CHARACTERS else plain.partition(DETAIL)[0].rstrip()


def statement_mark(text: str) -> str:
    """A short name for what a text says: 20 hexadecimal digits of the sha256 of its key."""
    return mark_of_key(statement_key(text))


def mark_of_key(key: str) -> str:
    """The same for a key that is known."""
    return hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()[:20]
