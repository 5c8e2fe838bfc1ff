"""What each setting means, taken from where it is explained: the comments of the shipped config.toml."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from core.base.config import SHIPPED_FILE
from core.base.settings import SETTINGS, Setting

_TITLE = re.compile(r"#\s*-{2,}\s*(?P<title>.*?)\s*-{2,}\s*\Z")
_KEY = re.compile(r"(?P<key>[A-Za-z_][A-Za-z0-9_]*)\s*=")
_CHOICE = re.compile(r'"([^"]*)"')


@dataclass(frozen=True)
class Explained:
    """One setting with its group's title and the comment above it; keys that stand together share one comment.

    `choices` are the words that it accepts, empty where it is no choice.
    """

    key: str
    group: str
    help: str
    kind: str
    accepted: str
    choices: tuple[str, ...]


def explained(text: str) -> tuple[Explained, ...]:
    """Every known key of a commented settings file, in its order. Pure."""
    known = {row.key: row for row in SETTINGS}
    rows: list[Explained] = []
    group, fresh = "", True
    comment: list[str] = []
    for line in text.splitlines():
        found = _TITLE.match(line)
        key = _KEY.match(line)
        if found:
            group, comment = found["title"], []
        elif line.startswith("["):
            group, comment = ("Places" if line.startswith("[paths]") else group), []
        elif line.startswith("#"):
            comment = [line[1:].removeprefix(" ")] if fresh else [*comment, line[1:].removeprefix(" ")]
            fresh = False
        elif key and key["key"] in known:
            row = known[key["key"]]
            rows.append(Explained(row.key, group, "\n".join(comment), row.kind, row.accepted, choices_of(row)))
            fresh = True
        elif not line.strip():
            comment, fresh = [], True
    return tuple(rows)


def choices_of(row: Setting) -> tuple[str, ...]:
    """The words of a setting that is a choice, none for every other."""
    if row.kind != "text" or not row.accepted.startswith('"'):
        return ()
    return tuple(_CHOICE.findall(row.accepted))


@cache
def shipped_help() -> tuple[Explained, ...]:
    """The explanations of the shipped file; empty where it cannot be read (settings then show without them)."""
    try:
        return explained(SHIPPED_FILE.read_text("utf-8"))
    except (OSError, UnicodeDecodeError):
        return ()
