"""The bullets in what another tool remembers: CLAUDE.md, MEMORY.md, memory banks, Serena's memories, category files.

These files are markdown for people and have no format of their own. What stands in a list is taken, one bullet an item,
with the heading that it stands under where the bullet alone would not say what it is about; numbered steps under one
heading are one playbook. Of prose each short paragraph is an item, unless it only leads to a list or says what the
file is for. Code, tables, links to other files and comments are left out and counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from core.base.markdown import split_provenance

LEAST_WORDS = 3
PARAGRAPH_CHARACTERS = 400
STEP_CHARACTERS = 450
_FRONT = re.compile(r"\A---\n.*?\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_HEADING = re.compile(r"(?P<marks>#{1,6})[ \t]+(?P<title>.*?)[ \t#]*\Z")
_BULLET = re.compile(r"(?P<indent>[ \t]*)(?P<mark>[-*+]|\d{1,3}[.)])[ \t]+(?P<text>\S.*)\Z")
_BOX = re.compile(r"\[(?P<mark>[ xX~-])\][ \t]+")
_LINK_ONLY = re.compile(r"\[[^\]]*\]\([^)]*\)(?:\s*[-–—:].*)?\Z|@\S+\Z|https?://\S+\Z")
_ABOUT = re.compile(r"\AThis (?:file|document|page) (?:provides|contains|describes|gives|defines|is)\b", re.IGNORECASE)
_LETTER = re.compile(r"\w")
_STRUCK = re.compile(r"~~.*~~")
# Words of a heading, in the order in which they are asked, and the category below it.
_SECTIONS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (category, re.compile(words, re.IGNORECASE))
    for category, words in (
        ("tasks_done", r"\A(?:done|completed|finished|erledigt)\b|完了"),
        ("questions", r"\bopen questions?\b|\Aquestions?\Z|\bunknowns\b|\boffene fragen\b|質問|疑問"),
        (
            "tasks_open",
            r"\bto-?dos?\b|\bnext steps?\b|\bbacklog\b|\bremaining\b|\bwhat'?s left\b|\Atasks?\Z"
            r"|\b(?:open|current|pending) tasks?\b|\boffene aufgaben\b|次のステップ",
        ),
        ("decisions", r"\bdecisions?\b|\bdecided\b|\badrs?\b|\bentscheidungen?\b|決定"),
    )
)
_OWN_FILES = {f"{name}.md": name for name in ("facts", "decisions", "questions", "playbooks")}
_OWN_FILES["tasks.md"] = "tasks_open"


@dataclass
class Remembered:
    """What a file holds: rows by category, as a model's answer would have them, and what was left out, by kind."""

    arrays: dict[str, list[Any]] = field(default_factory=dict)
    skipped: dict[str, int] = field(default_factory=dict)

    def add(self, category: str, row: Any) -> None:
        self.arrays.setdefault(category, []).append(row)

    def skip(self, kind: str) -> None:
        self.skipped[kind] = self.skipped.get(kind, 0) + 1


@dataclass
class _Section:
    """A heading with what stands below it, up to the next one. `path` holds the headings above it and itself."""

    path: tuple[str, ...]
    bullets: list[tuple[int, str, str]] = field(default_factory=list)  # indent, mark, text
    paragraphs: list[str] = field(default_factory=list)

    @property
    def title(self) -> str:
        return self.path[-1] if self.path else ""


def remembered(name: str, text: str) -> Remembered:
    """The items of one file; `name` is its file name, which tells the category of a category file."""
    found = Remembered()
    own = _OWN_FILES.get(name.lower(), "")
    body = _COMMENT.sub("", _FRONT.sub("", text.replace("\r\n", "\n").removeprefix("\ufeff")))
    for section in _sections(body, found):
        category = _category(section.path) or own or "facts"
        if not section.bullets:
            _take_prose(section, category, bool(own), found)
        elif category == "facts" and not own and _is_procedure(section):
            _take_steps(section, found)
        else:
            _take_bullets(section, category, bool(own), found)
    return found


def _is_procedure(section: _Section) -> bool:
    """Numbered steps, more than one; what is indented below a step belongs to it."""
    least = min(indent for indent, _, _ in section.bullets)
    steps = [mark for indent, mark, _ in section.bullets if indent == least]
    return len(steps) > 1 and all(mark[0].isdigit() for mark in steps)


def _category(path: Iterable[str]) -> str:
    """The nearest heading that names a category decides."""
    for title in reversed(list(path)):
        for category, words in _SECTIONS:
            if words.search(title):
                return category
    return ""


def _sections(body: str, found: Remembered) -> Iterator[_Section]:
    section, fence, paragraph, table = _Section(()), "", list[str](), False
    titles: list[tuple[int, str]] = []
    for line in [*body.split("\n"), ""]:
        bare = line.strip()
        if fence:
            fence = "" if bare.startswith(fence) and not bare.strip(fence[0]) else fence
            continue
        head, bullet = _HEADING.match(line), _BULLET.match(line)
        in_table, table = table, bare.startswith("|")
        if paragraph and (not bare or head or bullet):
            section.paragraphs.append(" ".join(paragraph))
            paragraph = []
        if bare.startswith(("```", "~~~")):
            fence = bare[:3]
            found.skip("code")
        elif head:
            yield section
            level = len(head["marks"])
            titles = [row for row in titles if row[0] < level] + [(level, head["title"])]
            section = _Section(tuple(title for _, title in titles))
        elif bullet:
            section.bullets.append((len(bullet["indent"].expandtabs(4)), bullet["mark"], bullet["text"].strip()))
        elif bare.startswith("|"):
            if not in_table:
                found.skip("tables")
        elif bare and set(bare) <= set("-=*_ "):
            continue
        elif bare and line[:1] in " \t" and section.bullets and not section.paragraphs and not paragraph:
            indent, mark, said = section.bullets[-1]  # a bullet that goes on in the next line
            section.bullets[-1] = (indent, mark, f"{said} {bare}")
        elif bare:
            paragraph.append(bare)
    if paragraph:
        section.paragraphs.append(" ".join(paragraph))
    yield section


def _take_bullets(section: _Section, category: str, own: bool, found: Remembered) -> None:
    _take_prose(section, category, own, found)
    above: list[tuple[int, str]] = []
    for number, (indent, _, raw) in enumerate(section.bullets):
        box = _BOX.match(raw)
        text = split_provenance(raw[box.end() :] if box else raw)[0]
        above = [row for row in above if row[0] < indent]
        nested = number + 1 < len(section.bullets) and section.bullets[number + 1][0] > indent
        if _STRUCK.fullmatch(text):
            found.skip("struck")
        elif _LINK_ONLY.match(text):
            found.skip("links")
        elif not _LETTER.search(text):
            found.skip("placeholders")
        elif nested and (text.endswith((":", "：")) or len(text.split()) < LEAST_WORDS):
            above.append((indent, text.rstrip(":： ")))  # a heading in the shape of a bullet
            continue
        else:
            kind = category
            if box:
                kind = "tasks_done" if box["mark"] in "xX" else "tasks_open"
            elif kind == "facts" and text.rstrip("*_ ").endswith(("?", "？")):
                kind = "questions"
            context = [title for _, title in above] or ([] if own or box or category != "facts" else [section.title])
            found.add(kind, _with_context(text, context))
        above.append((indent, text.rstrip(":： ")))


def _with_context(text: str, context: list[str]) -> str:
    """What a bullet is about, when it does not say so itself: a heading whose words it does not repeat."""
    title = _plain(context[-1]) if context else ""
    words = {word for word in re.findall(r"\w+", title.lower()) if len(word) > 2}
    if not title or words <= set(re.findall(r"\w+", text.lower())):
        return text
    return f"{title}: {text}"


def _plain(title: str) -> str:
    return title.strip().strip("*_`:：# ").strip()


def _take_steps(section: _Section, found: Remembered) -> None:
    """A numbered list is one playbook, in parts where it is long."""
    least = min(indent for indent, _, _ in section.bullets)
    part: list[str] = []
    number = 0
    for indent, _, text in section.bullets:
        number += indent == least
        step = f"{number}. {text}" if indent == least else text
        if part and len(" ".join(part)) + len(step) > STEP_CHARACTERS:
            found.add("playbooks", {"name": _plain(section.title), "steps": " ".join(part)})
            part = []
        part.append(step)
    found.add("playbooks", {"name": _plain(section.title), "steps": " ".join(part)})


def _take_prose(section: _Section, category: str, own: bool, found: Remembered) -> None:
    for text in section.paragraphs:
        if text.endswith((":", "：")) and section.bullets:
            continue
        if _ABOUT.match(text):
            found.skip("about the file")
        elif len(text) > PARAGRAPH_CHARACTERS or not text.endswith((".", "!", "?", "。", "`", ")")):
            found.skip("prose")
        elif _LINK_ONLY.match(text):
            found.skip("links")
        else:
            asks = category == "facts" and text.endswith("?")
            found.add(
                "questions" if asks else category,
                _with_context(text, [] if own or category != "facts" else [section.title]),
            )
