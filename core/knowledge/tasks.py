"""Puts new tasks into the text of `tasks.md`, whatever shape the person has given it. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.base.conflict import roles_of
from core.knowledge.categories import is_done_heading, is_open_heading

OPEN, DONE = b"## Open", b"## Done"
_HEADING = re.compile(rb"#{1,6}[ \t]")


def insert_tasks(data: bytes, opened: Sequence[str], done: Sequence[str]) -> bytes:
    """Put open tasks at the end of the open section and done ones at the end of `## Done`.

    A section ends at the next heading. Tasks before any heading are open ones. A heading that is missing
    is added: `## Open` before `## Done`, `## Done` at the end of the file. Nothing but the new lines changes.
    """
    mark = b"\r" if b"\r\n" in data[:4096] else b""
    lines = data.split(b"\n")
    last = lines.pop()
    if last:
        lines.append(last if last.endswith(b"\r") else last + mark)
    for heading, texts in ((OPEN, opened), (DONE, done)):
        bullets = [text.encode("utf-8") + mark for text in texts]
        if bullets:
            _insert(lines, heading, bullets, mark)
    return b"".join(line + b"\n" for line in lines)


def _insert(lines: list[bytes], heading: bytes, bullets: list[bytes], blank: bytes) -> None:
    start, stop = _section(lines, heading)
    if any(line.startswith(b"<<<<<<<") for line in lines):
        roles = roles_of([_text(line) for line in lines])
        if stop and roles[stop - 1]:  # whoever ends a merge conflict may throw one side of it away: not into it
            stop = next(at for at in range(stop - 1, -1, -1) if not at or not roles[at - 1])
            lines[stop:stop] = bullets
            return
    if start is None:
        gap = [blank] if stop and lines[stop - 1].strip() else []
        after = [blank] if stop < len(lines) else []
        lines[stop:stop] = [*gap, heading + blank, blank, *bullets, *after]
        return
    at = next((number + 1 for number in range(stop - 1, start - 1, -1) if lines[number].strip()), start)
    if lines[at - 1].startswith((b"- ", b" ", b"\t")):
        lines[at:at] = bullets
        return
    # After the heading itself, or after words of the person's own: a blank line on both sides.
    if at < stop and at < len(lines):
        at, gap = at + 1, []
    else:
        gap = [blank]
    lines[at:at] = [*gap, *bullets, *([blank] if at < len(lines) and lines[at].strip() else [])]


def _section(lines: list[bytes], heading: bytes) -> tuple[int | None, int]:
    """The lines of a section, its heading included. (None, n) when there is none: a new heading goes before line n."""
    is_it = is_done_heading if heading == DONE else is_open_heading
    start = next((number for number, line in enumerate(lines) if b"##" in line and is_it(_text(line))), None)
    if start is not None:
        return start, _next_heading(lines, start + 1)
    if heading == DONE:
        return None, len(lines)
    first = next((n for n, line in enumerate(lines) if b"##" in line and is_done_heading(_text(line))), len(lines))
    loose = next((number for number in range(first) if lines[number].startswith(b"- ")), None)
    if loose is not None:
        return loose, min(first, _next_heading(lines, loose))
    return None, first


def _next_heading(lines: list[bytes], start: int) -> int:
    found = (n for n in range(start, len(lines)) if lines[n][:1] == b"#" and _HEADING.match(lines[n]))
    return next(found, len(lines))


def _text(line: bytes) -> str:
    return line.decode("utf-8", "replace")
