"""A line of quarantine.md, taken apart: why it waits, where it would go, what it says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from core.base.markdown import Bullet
from core.knowledge.bullet_text import BulletRef, split_quote
from core.knowledge.categories import CATEGORY
from core.knowledge.edit import QUARANTINE

_LINE = re.compile(rf"\[(?P<held>[a-z-]+)\] (?P<category>{'|'.join(CATEGORY)})(?P<rest>[: ].*)\Z")


HELD = {
    "secret": "looks like a secret",
    "quote-not-found": "its quote is not in the conversation",
    "no-quote": "came without a quote",
    "from-tool-output": "came from a tool's output",
    "others-work": "is a finding in the review of somebody else's pull request",
    "not-one-line": "has steps that cannot be written on one line and come back as they were",
    "too-long": "longer than an item may be",
    "too-many": "beyond the 200 items that one conversation may teach",
    "order-in-file": "is an order or a procedure in a file of a project",
}


@dataclass(frozen=True)
class HeldItem:
    """One item in quarantine. `held` says why, as a key of HELD, `path` is the file that a note is about, `quote` the
    passage that the model gave for it. `held` and `category` are "" for a line of another form; `number` counts the
    items from 1."""

    ref: BulletRef
    held: str
    category: str
    path: str
    text: str
    provenance: str
    more: tuple[str, ...] = ()
    quote: str = ""
    number: int = 0

    def to_json(self) -> dict[str, Any]:
        """Stable keys for `--json`."""
        row = {key: value for key, value in vars(self).items() if key not in ("ref", "more")}
        empty = {key: None for key in ("path", "provenance", "quote") if not row[key]}
        return {"line": self.ref.line, **row, **empty}


def held_item(bullet: Bullet, number: int = 0) -> HeldItem:
    """A line of quarantine.md, taken apart. A line of another form is an item without category and reason."""
    ref = BulletRef(QUARANTINE, bullet.line, bullet.raw)
    provenance = str(bullet.provenance) if bullet.provenance is not None else ""
    found = _LINE.match(bullet.text)
    splits = list(ways_to_read(found["rest"], found["category"])) if found is not None else []
    if found is None or not splits:
        return HeldItem(ref, "", "", "", bullet.text, provenance, bullet.more, number=number)
    path, text = splits[0]  # which of them is a file is asked when it is let in, and only of paths that are allowed
    text, quote = split_quote(text)
    return HeldItem(ref, found["held"], found["category"], path, text, provenance, bullet.more, quote, number)


def ways_to_read(rest: str, category: str) -> Iterator[tuple[str, str]]:
    """The ways to read what follows the category as path and text; a path may have a colon in it."""
    if rest.startswith(": "):
        yield "", rest[2:].strip()
        return
    if category != "files" or not rest.startswith(" "):
        return
    for found in re.finditer(": ", rest):
        path, text = rest[1 : found.start()], rest[found.end() :].strip()
        if path and text:
            yield path, text
