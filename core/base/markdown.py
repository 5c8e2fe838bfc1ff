"""Lines of our markdown files: bullets with provenance, and the text that may stand in one.

A bullet is `- {text} [from: {conversation}, {YYYY-MM-DD}]`. Files are split on "\\n" alone:
`str.splitlines` also splits on characters that a conversation can smuggle into a line.

This program writes them in that form alone. It also reads what people and their editors make of them: another mark of
a list, white space at the end, a sentence wrapped onto indented lines, a line that was struck through as a whole.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property

from core.base.conflict import ANCESTOR, MARK, may_conflict, roles_of
from core.base.entry import statement_key
from core.base.marks import tame_line, without_invisible

ITEM_CHARACTERS = 500

_PROVENANCE = re.compile(r"\[from: (?P<source>.*), (?P<date>\d{4}-\d{2}-\d{2})\]\s*\Z")
_RULE = re.compile(r"[-*+\s]*\Z")
_SPACE = re.compile(r"[\s\x85\u2028\u2029\x1c-\x1f]+")
MARKS = ("- ", "* ", "+ ")
"""How a bullet begins: the first by this program, the others where an editor prefers them."""
BOX = re.compile(r"\[[ xX]\] ")
"""The box of a task, where somebody gave it one."""
_DETAIL = re.compile(r"\s*(?:[-*+>#|] |\d{1,3}[.)] |`{3}|superseded by: )")
"""How an indented line begins that is no second half of a sentence."""
WRAPPED = 40
"""The characters that the first line of a wrapped sentence has at least: an editor fills its lines."""

BY_HAND = "by-hand"
"""The source of what the user wrote themselves."""


@dataclass(frozen=True)
class Provenance:
    """Where a line came from: the conversation's name and its UTC day (YYYY-MM-DD)."""

    source: str
    date: str

    def __str__(self) -> str:
        return f"[from: {self.source}, {self.date}]"


@dataclass(frozen=True)
class Bullet:
    """One line of a category file, with the indented lines that belong to it.

    `text` is without the mark, the box of a task and the provenance; `raw` is the first line as it stands in the file,
    of a sentence that was wrapped its lines, joined by a space; `line` counts from 1; `section` is the nearest `## `
    heading above, or "". `struck` is true for a line that was struck through, `ticked` for a task whose box is.
    `again` are the other conversations that said the same (knowledge/confirmed.py), the newest first, and `more_again`
    how many more there are than it names.
    """

    text: str
    provenance: Provenance | None
    raw: str
    line: int
    section: str = ""
    more: tuple[str, ...] = ()
    struck: bool = False
    ticked: bool = False
    again: tuple[Provenance, ...] = ()
    more_again: int = 0

    @cached_property
    def key(self) -> str:
        """What it says, in the form in which all say it that say the same."""
        return statement_key(self.text)

    @property
    def last_day(self) -> str:
        """The day on which it was said last (YYYY-MM-DD), "" where nothing tells."""
        came = (self.provenance, *self.again)
        return max((one.date for one in came if one is not None), default="")


def split_provenance(text: str) -> tuple[str, Provenance | None]:
    """Take the provenance off the end of a line; white space behind it, as an editor leaves it, means nothing."""
    start = text.rfind("[from: ")
    found = _PROVENANCE.match(text, start) if start >= 0 else None
    if found is None:
        return text.strip(), None
    return text[: found.start()].strip(), Provenance(found["source"], found["date"])


def split_lines(text: str) -> list[str]:
    """The lines of a file, split on "\\n" only, a final carriage return taken off each."""
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    if lines and not lines[-1]:
        lines.pop()
    return lines


def parse_bullets(text: str) -> list[Bullet]:
    """All bullets of a markdown text in the order of the file; everything else in it is left alone. Of a merge conflict
    both sides count, and what both had before does not."""
    bullets: list[Bullet] = []
    section, more, pending = "", [], None
    lines = split_lines(text)
    roles = roles_of(lines) if may_conflict(text) else None
    for number, line in enumerate(lines, start=1):
        if roles is not None and roles[number - 1] in (MARK, ANCESTOR):
            continue
        if pending is not None and line[:1] in (" ", "\t") and line.strip():
            more.append(line)
            continue
        if pending is not None:
            bullets.append(_bullet(*pending, tuple(more)))
            pending, more = None, []
        if line.startswith("## "):
            section = line[3:].strip()
        elif is_bullet(line):
            pending = (line, number, section)
    if pending is not None:
        bullets.append(_bullet(*pending, tuple(more)))
    return bullets


def is_bullet(line: str) -> bool:
    """Whether a bullet begins with this line; a rule across the page (`* * *`) is none."""
    return line.startswith("- ") or (line.startswith(MARKS) and _RULE.match(line) is None)


def unmarked(line: str) -> str:
    """A bullet's line without its mark; any other line as it is."""
    return line[2:] if line.startswith(MARKS) else line


def without_box(text: str) -> str:
    """The words of a task without the box in front of them."""
    return text[box.end() :] if (box := BOX.match(text)) else text


def is_struck(text: str) -> bool:
    """Whether the text of a bullet is struck through."""
    return len(text) > 4 and text.startswith("~~") and text.endswith("~~")


def _bullet(raw: str, number: int, section: str, more: tuple[str, ...]) -> Bullet:
    text, provenance, struck = _parts(raw[2:])
    if more and provenance is None and (lines := _wrapped(raw, more)):
        raw, more = " ".join([raw.rstrip(), *map(str.strip, more[:lines])]), more[lines:]
        text, provenance, struck = _parts(raw[2:])
    box = BOX.match(text) if section.casefold() in ("open", "done") else None
    if box is not None:
        text = text[box.end() :]
        struck = struck or is_struck(text)
        text = text[2:-2].strip() if is_struck(text) else text
    ticked = box is not None and box[0] != "[ ] "
    return Bullet(text, provenance, raw, number, section, more, struck, ticked)


def _parts(words: str) -> tuple[str, Provenance | None, bool]:
    """The text of a bullet, its provenance, and whether it is struck through: the text alone, or the whole line."""
    text, provenance = split_provenance(words)
    if not is_struck(text):
        return text, provenance, False
    text = text[2:-2].strip()
    return (text, provenance, True) if provenance is not None else (*split_provenance(text), True)


def _wrapped(raw: str, more: tuple[str, ...]) -> int:
    """How many of the indented lines belong to the sentence of a bullet: those up to its provenance; 0 where it has
    none there, and they say something of their own."""
    joined = raw.rstrip()
    for at, line in enumerate(more if len(raw) >= WRAPPED else (), start=1):
        if _DETAIL.match(line):
            return 0
        joined = f"{joined} {line.strip()}"
        if _parts(joined[2:])[1] is not None:
            return at
    return 0


def bullet_line(text: str, provenance: Provenance | None) -> str:
    """One bullet as it stands in a file, without the line break. `text` must be sanitised."""
    return f"- {text} {provenance}" if provenance is not None else f"- {text}"


def sanitise_line(text: str, limit: int | None = ITEM_CHARACTERS) -> str:
    """Make foreign text safe to stand in one line of a knowledge file.

    White space and every line separator become one space; what nobody sees goes, and every mark that a model or this
    program would act on is defused but stays legible (`base/marks.py`); so is a leading `#`, `-` or `~~`. Longer than
    `limit` characters: cut at a word, with an ellipsis. Safe text comes back unchanged, so doing it twice changes
    nothing.
    """
    if text.isascii() and text.isprintable():
        flat = _SPACE.sub(" ", text).strip() if "  " in text else text.strip()
    else:
        flat = without_invisible(_SPACE.sub(" ", text))
        flat = _SPACE.sub(" ", flat).strip()
    flat = tame_line(flat)
    if flat.startswith(("#", "-", "~~")):
        flat = "\\" + flat
    if limit is not None and len(flat) > limit:
        cut = flat[: limit - 1]
        while cut and unicodedata.combining(flat[len(cut)]):
            cut = cut[:-1]
        space = cut.rfind(" ")
        flat = (cut[:space] if space > limit // 2 else cut).rstrip() + "…"
    return flat


ARROW = " -> "
"""Joins the steps of a playbook on its line."""
NOT_COMMITTED = "changed and not committed when the session ended"
CONFLICTS_LEFT = "it had conflicts, and no commit followed in the session"
NO_RESULT = "the session ends before its result"
"""How a harvest by rules ends a task about what a session left in its work tree; so it is known again."""
_CODE = re.compile(r"(?<!`)(`{1,2})(?!`)(.+?)(?<!`)\1(?!`)")


def without_emphasis(text: str) -> str:
    """A bullet's text for a screen with one kind of letters: a playbook's name loses its stars, code its backticks. The
    steps of a playbook stay as they are: stars and backticks of a command mean something."""
    name, stars, rest = text[2:].partition("**") if text.startswith("**") else ("", "", "")
    if stars and rest.startswith(": "):
        return f"{name}{rest}"
    return _CODE.sub(lambda found: found[2], f"{name}{rest}" if stars else text)


def sanitise_name(name: str) -> str:
    """A conversation's name as it may stand in a provenance; ordinary names come back unchanged."""
    return sanitise_line(name, 255).removeprefix("\\") or "unnamed"
