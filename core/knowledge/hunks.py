"""What one edit did to the lines of one file, precisely enough to take it back.

A hunk says which lines went, which came, and what stood above and below. Hunks of an edit are applied one after the
other, so each counts lines in the file as the one before left it. All pure: text in, text out.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from core.base.conflict import may_conflict, roles_of
from core.base.markdown import is_bullet
from core.knowledge.categories import is_done_heading, is_open_heading

BOM = "\ufeff"


@dataclass(frozen=True)
class Hunk:
    """`removed` and `added` are whole lines with their line breaks; `line` counts from 1. `above` and `below` are the
    neighbours without line breaks, None at an edge of the file. `section` is open or done in tasks.md, else ""."""

    line: int
    removed: tuple[str, ...]
    added: tuple[str, ...]
    above: str | None
    below: str | None
    section: str = ""


@dataclass(frozen=True)
class FileEdit:
    """One edit of one file: sha256 (hex) of its bytes before and after, and the hunks between them."""

    before: str
    after: str
    hunks: tuple[Hunk, ...]

    def to_json(self) -> dict[str, Any]:
        """As it stands in changes.jsonl."""
        return {"before": self.before, "after": self.after, "hunks": [vars(hunk) for hunk in self.hunks]}


def edit_from_json(data: Any) -> FileEdit | None:
    """None for None. Raises KeyError, TypeError, ValueError or AttributeError for what is no edit."""
    if data is None:
        return None
    hunks = tuple(
        Hunk(
            int(row["line"]),
            tuple(map(str, row["removed"])),
            tuple(map(str, row["added"])),
            _text_or_none(row["above"]),
            _text_or_none(row["below"]),
            str(row.get("section", "")),
        )
        for row in data["hunks"]
    )
    return FileEdit(str(data["before"]), str(data["after"]), hunks)


def _text_or_none(value: Any) -> str | None:
    return None if value is None else str(value)


# --- lines -----------------------------------------------------------------------------------------------------------


def split(data: bytes) -> tuple[str, list[str]]:
    """A byte order mark ("" for none) and the lines with their breaks, split on "\\n" alone.

    Raises UnicodeDecodeError. `join` of the result gives back the very same bytes.
    """
    text = data.decode("utf-8")
    mark = BOM if text.startswith(BOM) else ""
    lines = [line + "\n" for line in text[len(mark) :].split("\n")]
    last = lines.pop()[:-1]
    return mark, [*lines, last] if last else lines


def join(mark: str, lines: Sequence[str]) -> bytes:
    """The bytes of a file; the inverse of `split`."""
    return (mark + "".join(lines)).encode("utf-8")


def bare(line: str) -> str:
    """A line without its line break."""
    return line.removesuffix("\n").removesuffix("\r")


def line_break(lines: Sequence[str]) -> str:
    """The line break that a file uses, judged by its first one."""
    return "\r\n" if lines and lines[0].endswith("\r\n") else "\n"


def block_end(lines: Sequence[str], start: int) -> int:
    """The index after the bullet at `start` and the indented lines that belong to it."""
    end = start + 1
    while end < len(lines) and lines[end][:1] in (" ", "\t") and lines[end].strip():
        end += 1
    return end


def section_at(lines: Sequence[str], index: int) -> str:
    """`open` or `done`: the section of tasks.md in which the line at `index` stands."""
    section = "open"
    for line in lines[:index]:
        section = "done" if is_done_heading(line) else "open" if is_open_heading(line) else section
    return section


def made(lines: list[str], at: int, removed: int, added: Sequence[str], section: str = "") -> tuple[list[str], Hunk]:
    """Replace `removed` lines at index `at` by `added`; returns the new lines and the hunk."""
    hunk = Hunk(
        at + 1,
        tuple(lines[at : at + removed]),
        tuple(added),
        bare(lines[at - 1]) if at else None,
        bare(lines[at + removed]) if at + removed < len(lines) else None,
        section,
    )
    return [*lines[:at], *added, *lines[at + removed :]], hunk


def apply_hunks(data: bytes, hunks: Sequence[Hunk]) -> bytes:
    """The bytes of a file with the hunks applied, one after the other. Raises UnicodeDecodeError."""
    mark, lines = split(data)
    for hunk in hunks:
        at = hunk.line - 1
        lines[at : at + len(hunk.removed)] = hunk.added
    return join(mark, lines)


def becoming(text: str, lines: list[str]) -> list[Hunk]:
    """The hunks that make a file's lines those of `text`, the last of the file first."""
    from difflib import SequenceMatcher  # few commands change a file by its whole text

    wanted = split(text.encode("utf-8"))[1]
    hunks: list[Hunk] = []
    for tag, start, stop, first, last in reversed(SequenceMatcher(None, lines, wanted, False).get_opcodes()):
        if tag != "equal":
            lines, hunk = made(lines, start, stop - start, wanted[first:last])
            hunks.append(hunk)
    return hunks


def whole_line(line: str, ending: str) -> str:
    """The line, with a line break if it had none."""
    return line if line.endswith("\n") else line + ending


# --- taking an edit back ---------------------------------------------------------------------------------------------


def inverse(edit: FileEdit) -> FileEdit:
    """The edit that would take this one back: to reverse that is to make this one again."""
    hunks = tuple(replace(one, removed=one.added, added=one.removed) for one in reversed(edit.hunks))
    return FileEdit(edit.after, edit.before, hunks)


def reversed_edit(data: bytes, edit: FileEdit) -> bytes | None:
    """The file without the edit; `data` itself when it is back already; None when the user has changed since what
    the edit put there. Everything else in the file stays. Raises UnicodeDecodeError."""
    sha = hashlib.sha256(data).hexdigest()
    if sha == edit.before:
        return data
    mark, lines = split(data)
    for hunk in reversed(edit.hunks):
        at = hunk.line - 1
        exact = [*lines[:at], *hunk.removed, *lines[at + len(hunk.added) :]]
        changed = exact if sha == edit.after else _back_by_context(lines, hunk)
        if changed is None:
            return None
        lines = changed
    return join(mark, lines)


def _back_by_context(lines: list[str], hunk: Hunk) -> list[str] | None:
    came, went = _own(hunk.added), _own(hunk.removed)
    if not came and not went and any(bare(line).strip() for line in hunk.removed):
        came, went = _text(hunk.added), _text(hunk.removed)  # prose, the body of a memory say
    if came == went:
        return lines  # only a line break or a heading was added: it harms nobody
    ending = line_break(lines)
    if came:
        at = _find_block(lines, came, hunk)
        if at is None:
            return None
        after = at + len(came)
        if not went and after < len(lines) and block_end(lines, after - 1) > after:
            return None  # the user wrote details below it: without it they would belong to another bullet
        back = [line + ending for line in went]
        return [*lines[:at], *back, *lines[after:]]
    at = _place_for(lines, hunk)
    head = [*lines[: at - 1], whole_line(lines[at - 1], ending)] if at else []
    return [*head, *(line + ending for line in went), *lines[at:]]


def _own(block: Sequence[str]) -> list[str]:
    """The bullets of a block with what belongs to them, without headings and blank lines that came along."""
    lines = [bare(line) for line in block]
    return [line for line in lines if is_bullet(line) or (line.startswith((" ", "\t")) and line.strip())]


def _text(block: Sequence[str]) -> list[str]:
    """The lines of a block from its first to its last that is not blank."""
    lines = [bare(line) for line in block]
    full = [at for at, line in enumerate(lines) if line.strip()]
    return lines[full[0] : full[-1] + 1] if full else []


def _find_block(lines: Sequence[str], block: Sequence[str], hunk: Hunk) -> int | None:
    found = [
        at
        for at in range(len(lines) - len(block) + 1)
        if bare(lines[at]) == block[0] and [bare(line) for line in lines[at : at + len(block)]] == list(block)
    ]
    same = [at for at in found if not hunk.section or section_at(lines, at) == hunk.section]
    return min(same, key=lambda at: (_neighbours(lines, at, len(block), hunk), abs(at + 1 - hunk.line)), default=None)


def is_closed(lines: Sequence[str], hunk: Hunk) -> bool:
    """Whether what stood above and below a hunk stands side by side now, with nothing of it between."""
    return any(_neighbours(lines, at, 0, hunk) == 0 for at in range(len(lines) + 1))


def _neighbours(lines: Sequence[str], at: int, size: int, hunk: Hunk) -> int:
    """How many of the two neighbours differ."""
    above = bare(lines[at - 1]) if at else None
    below = bare(lines[at + size]) if at + size < len(lines) else None
    return (above != hunk.above) + (below != hunk.below)


def _place_for(lines: Sequence[str], hunk: Hunk) -> int:
    """Where removed lines come back: between their old neighbours, else beside the one that is left, else at the end
    of their section."""
    places = range(len(lines) + 1)
    for wanted in (0, 1):
        fits = [
            at
            for at in places
            if _neighbours(lines, at, 0, hunk) <= wanted
            and (wanted == 0 or _beside_text(lines, at, hunk))
            and (not hunk.section or section_at(lines, at) == hunk.section)
            and (at == len(lines) or at == 0 or lines[at][:1] not in (" ", "\t") or not lines[at].strip())
        ]
        if fits:
            return min(fits, key=lambda at: abs(at + 1 - hunk.line))
    return place_in(lines, hunk.section)[0]


def _beside_text(lines: Sequence[str], at: int, hunk: Hunk) -> bool:
    """One neighbour alone counts only if it is text: blank lines and edges are everywhere."""
    if at and bare(lines[at - 1]) == hunk.above:
        return bool(hunk.above and hunk.above.strip())
    return bool(hunk.below and hunk.below.strip())


# --- where new lines go, whatever shape the user has given tasks.md ---------------------------------------------------

_HEADING = re.compile(r"#{1,6}[ \t]")


def place_in(lines: Sequence[str], section: str, ending: str = "\n") -> tuple[int, list[str], list[str]]:
    """The index at which new bullets go, and the lines that are new above and below them: at the end of a section of
    tasks.md (`open`, `done`), or ("") at the end of any other file.

    A section ends at the next heading. Tasks before any heading are open ones. A heading that is missing is added:
    `## Open` before `## Done`, `## Done` at the end of the file.
    """
    if not section:
        return len(lines), [], []
    start, stop = _section(lines, section)
    roles = roles_of(lines) if any(map(may_conflict, lines)) else []
    if roles and stop and roles[stop - 1]:  # whoever ends a merge conflict may throw one side of it away: not into it
        stop = next(at for at in range(stop - 1, -1, -1) if not at or not roles[at - 1])
        if start is None or start >= stop:
            if section != "done" or roles_of([*lines, ""])[-1]:
                return stop, [], []
            start, stop = None, len(lines)  # above it they would be open ones
    if start is None:
        gap = [ending] if stop and lines[stop - 1].strip() else []
        return stop, [*gap, f"## {section.capitalize()}{ending}", ending], [ending] if stop < len(lines) else []
    at = next((number + 1 for number in range(stop - 1, start - 1, -1) if lines[number].strip()), start)
    if is_bullet(lines[at - 1]) or lines[at - 1].startswith((" ", "\t")):
        return at, [], []
    # After the heading itself, or after words of the user's own: a blank line on both sides.
    lead = [] if at < stop else [ending]
    at += at < stop
    return at, lead, [ending] if at < len(lines) and lines[at].strip() else []


def _section(lines: Sequence[str], section: str) -> tuple[int | None, int]:
    """The lines of a section, its heading included. (None, n) when there is none: a new heading goes before line n."""
    start, done = _heading_of(lines, is_open_heading), _heading_of(lines, is_done_heading)
    if section == "done":
        return (done, _next_heading(lines, done + 1)) if done is not None else (None, len(lines))
    if start is not None:
        return start, _next_heading(lines, start + 1)
    first = len(lines) if done is None else done
    loose = next((at for at in range(first) if is_bullet(lines[at])), None)
    return (None, first) if loose is None else (loose, min(first, _next_heading(lines, loose)))


def _heading_of(lines: Sequence[str], is_it: Callable[[str], bool]) -> int | None:
    return next((at for at, line in enumerate(lines) if "##" in line and is_it(line)), None)


def _next_heading(lines: Sequence[str], start: int) -> int:
    return next((at for at in range(start, len(lines)) if _HEADING.match(lines[at])), len(lines))
