"""What a user does to one bullet, on the text of its file: every other line keeps its bytes. Pure.

Each function takes the lines of a file with their breaks (`hunks.split`) and returns the hunks that make the change.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.base.markdown import (
    BOX,
    MARKS,
    Bullet,
    bullet_line,
    is_struck,
    parse_bullets,
    sanitise_line,
    split_provenance,
    unmarked,
)
from core.base.result import KnowledgeError
from core.knowledge.categories import CATEGORY, QUARANTINE, TASKS_FILE
from core.knowledge.hunks import Hunk, bare, block_end, line_break, made, place_in, section_at, whole_line

TEXT_CHARACTERS = 4000
"""The longest bullet that a user may write."""

LOOK_AGAIN = "look at the file as it is now, then decide again"


@dataclass(frozen=True)
class BulletRef:
    """One bullet as it was seen: its file below the knowledge folder, its line (from 1) and that line as it stood
    there. The line number tells two equal bullets apart; the text proves that it is the right one."""

    file: str
    line: int
    raw: str


_QUOTED = re.compile(r'(?P<text>.*) \(quote: "(?P<quote>[^"]*)"\)\Z', re.DOTALL)
QUOTE_CHARACTERS = 500
"""The characters of a quote that are shown: it is looked at, not kept as knowledge."""


def with_quote(text: str, quote: str) -> str:
    """A held item with the quote that it came with, as it stands in the quarantine. `text` must be sanitised."""
    shown = sanitise_line(quote, QUOTE_CHARACTERS).replace('"', "'")
    return f'{text} (quote: "{shown}")' if shown or _QUOTED.match(text) else text


def split_quote(text: str) -> tuple[str, str]:
    """(the item, its quote or ""), as `with_quote` joined them."""
    found = _QUOTED.match(text)
    return (found["text"], found["quote"]) if found else (text, "")


def clean_text(text: str) -> str:
    """A user's words as they may stand in a bullet. Raises KnowledgeError when nothing is left or it is too long
    (never cut)."""
    clean = sanitise_line(text, None)
    if not clean.strip("\\#- "):
        raise KnowledgeError("empty-text", "there is no text to write", hint="give the words of the bullet")
    if len(clean) > TEXT_CHARACTERS:
        message = f"the text has {len(clean)} characters; a bullet holds at most {TEXT_CHARACTERS}"
        raise KnowledgeError("too-long", message, hint="shorten it, or write several bullets")
    return clean


def locate(lines: Sequence[str], ref: BulletRef) -> int:
    """The index of the bullet; KnowledgeError(changed-outside) when another line stands there."""
    at = ref.line - 1
    if not ref.raw.startswith(MARKS) or not 0 <= at < len(lines) or _standing(lines, at)[0] != ref.raw:
        message = f"line {ref.line} no longer holds this bullet; nothing was written"
        raise KnowledgeError("changed-outside", message, ref.file, LOOK_AGAIN)
    return at


def _standing(lines: Sequence[str], at: int) -> tuple[str, int]:
    """The bullet that begins at a line as `parse_bullets` has it, and on how many lines its sentence stands; ("", 0)
    for none."""
    block = lines[at : block_end(lines, at)]
    found = next(iter(parse_bullets("".join(block))), None)
    return ("", 0) if found is None else (found.raw, len(block) - len(found.more))


# --- one line --------------------------------------------------------------------------------------------------------


def _parts(ref: BulletRef) -> tuple[str, str, str]:
    """`- ` with odd spacing and the box of a task, the text, and all that follows it (spaces, provenance). Of a line
    that was struck through as a whole the text alone is."""
    raw = ref.raw
    _, provenance = split_provenance(raw[2:])
    tail = str(provenance) if provenance is not None else ""
    head = raw.rstrip().removesuffix(tail)
    text = head[2:].strip()
    start = head.index(text, 2) if text else len(head)
    if ref.file == TASKS_FILE and (box := BOX.match(text)):
        start, text = start + box.end(), text[box.end() :]
    if is_struck(text) and provenance is None:
        inner, provenance = split_provenance(text[2:-2])
        if provenance is not None:
            return head[:start], f"~~{inner}~~", f" {provenance}"
    return head[:start], text, raw[start + len(text) :]


def with_text(lines: list[str], ref: BulletRef, text: str) -> list[Hunk]:
    """Other words; provenance, strike-through and indented lines stay, and the box of a task where they bring none."""
    clean = clean_text(text)
    lead, old, tail = _parts(ref)
    lead = BOX.sub("", lead) if BOX.match(clean) else lead
    new = f"~~{clean}~~" if is_struck(old) else clean
    return _with_line(lines, ref, f"{lead}{new}{tail}")


def struck(lines: list[str], ref: BulletRef) -> list[Hunk]:
    """`- ~~text~~ [from: …]`: out of the digest, still to be read."""
    lead, text, tail = _parts(ref)
    if is_struck(text):
        raise KnowledgeError("already-struck", "this bullet is struck through already", ref.file)
    if not text:
        raise KnowledgeError("empty-text", "this bullet has no text to strike through", ref.file)
    return _with_line(lines, ref, f"{lead}~~{text}~~{tail}")


def superseded(lines: list[str], ref: BulletRef, by: str) -> list[Hunk]:
    """The bullet struck through, and below it, indented, the line that is true instead."""
    lead, text, tail = _parts(ref)
    at, ending = locate(lines, ref), line_break(lines)
    if is_struck(text) or not text:
        raise KnowledgeError("already-struck", "this bullet is struck through already", ref.file)
    number = _standing(lines, at)[1]
    first = whole_line(f"{lead}~~{text}~~{tail}" + _break_of(lines[at + number - 1]), ending)
    return [made(lines, at, number, [first, f"  superseded by: {by}{ending}"], _section(ref.file, lines, at))[1]]


def unstruck(lines: list[str], ref: BulletRef) -> list[Hunk]:
    """The bullet without its strike-through."""
    lead, text, tail = _parts(ref)
    if not is_struck(text):
        raise KnowledgeError("not-struck", "this bullet is not struck through", ref.file)
    return _with_line(lines, ref, f"{lead}{text[2:-2]}{tail}")


def _with_line(lines: list[str], ref: BulletRef, new: str) -> list[Hunk]:
    at = locate(lines, ref)
    if new == ref.raw:
        raise KnowledgeError("unchanged", "the bullet says that already; nothing was written", ref.file)
    number = _standing(lines, at)[1]
    return [made(lines, at, number, [new + _break_of(lines[at + number - 1])], _section(ref.file, lines, at))[1]]


def _break_of(line: str) -> str:
    return line[len(bare(line)) :]


def _section(file: str, lines: Sequence[str], at: int) -> str:
    return section_at(lines, at) if file == TASKS_FILE else ""


# --- whole bullets ---------------------------------------------------------------------------------------------------


def without(lines: list[str], refs: Sequence[BulletRef]) -> list[Hunk]:
    """The file without these bullets and their indented lines."""
    hunks: list[Hunk] = []
    for ref in sorted(refs, key=lambda one: one.line, reverse=True):  # the lowest first: the others keep their lines
        at = locate(lines, ref)
        lines, hunk = made(lines, at, block_end(lines, at) - at, (), _section(ref.file, lines, at))
        hunks.append(hunk)
    return hunks


def moved(lines: list[str], ref: BulletRef, section: str) -> list[Hunk]:
    """A task with its indented lines at the end of the other section (`done` or `open`), its box as it is there."""
    if ref.file != TASKS_FILE:
        raise KnowledgeError("not-a-task", "only a task can be done or open", ref.file)
    at, ending = locate(lines, ref), line_break(lines)
    lead, before = _parts(ref)[0], section_at(lines, at)
    box = BOX.search(lead)
    ticked = box is not None and box[0] != "[ ] "
    if ("done" if ticked else before) == section:
        raise KnowledgeError(f"already-{section}", f"this task is {section} already", ref.file)
    block = [whole_line(line, ending) for line in lines[at : block_end(lines, at)]]
    if box is not None:
        block[0] = f"{lead[: box.start()]}[{'x' if section == 'done' else ' '}] {block[0][box.end() :]}"
    if before == section:
        return [made(lines, at, len(block), block, before)[1]]
    rest, cut = made(lines, at, len(block), (), before)
    return [cut, *inserted(rest, block, section, ending)]


def inserted(lines: list[str], block: Sequence[str], section: str, ending: str) -> list[Hunk]:
    """Put whole lines at the end of a section of tasks.md, or ("") at the end of any other file. A heading that is
    missing is added."""
    hunks: list[Hunk] = []
    at, lead, trail = place_in(lines, section, ending)
    if at and not lines[at - 1].endswith("\n"):
        lines, hunk = made(lines, at - 1, 1, [lines[at - 1] + ending], section)
        hunks.append(hunk)
    return [*hunks, made(lines, at, 0, [*lead, *block, *trail], section)[1]]


def without_lines(lines: list[str], unwanted: Sequence[str]) -> tuple[list[Hunk], list[str]]:
    """Take lines out, each once, the lowest in the file first; returns the hunks and the lines that stay because they
    are not there as they were, or because somebody has written details below them. A line as an editor left it, with
    another mark, wrapped, or with blanks at its end, is there as it was."""
    hunks: list[Hunk] = []
    stay: list[str] = []
    where: dict[str, list[int]] = {}
    for at, line in enumerate(lines):
        where.setdefault(bare(line), []).append(at)
    left = _as_left(lines) if any(line not in where for line in unwanted) else {}
    places: list[tuple[int, int]] = []
    for line in unwanted:
        there = where.get(line) or left.get(_said_by(line))
        found = there.pop() if there else None
        number = 1 if found is None or bare(lines[found]) == line else _standing(lines, found)[1]
        if found is None or block_end(lines, found) > found + number:
            stay.append(line)
        else:
            places.append((found, number))
    for at, number in sorted(places, reverse=True):
        lines, hunk = made(lines, at, number, ())
        hunks.append(hunk)
    return hunks, stay


def _as_left(lines: Sequence[str]) -> dict[tuple[str, str], list[int]]:
    """What the bullets say that stand in another form than this program writes, each with its origin and place."""
    found: dict[tuple[str, str], list[int]] = {}
    for bullet in parse_bullets("".join(lines)):
        written, theirs = bullet_line(bullet.text, bullet.provenance), bullet.struck or bullet.ticked
        if bullet.provenance is not None and not theirs and bare(lines[bullet.line - 1]) != written:
            found.setdefault(_said_by(written), []).append(bullet.line - 1)
    return found


def _said_by(line: str) -> tuple[str, str]:
    """The words of a line in their form, to the letter but for blanks, and where it comes from."""
    text, provenance = split_provenance(unmarked(line))
    return " ".join(text.split()), str(provenance)


# --- a line of quarantine.md ------------------------------------------------------------------------------------------

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
