"""Mends what a cut write or a merge left in knowledge files, where it is certain what stood there.

What is written here goes through `swap.replace_expected`: whoever saves the file in that moment keeps every byte, and
the doctor finds the damage again.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import re
from dataclasses import dataclass

from core.base import files
from core.base.conflict import both_sides
from core.base.paths import Paths
from core.knowledge.categories import is_done_heading, is_open_heading
from core.knowledge.changes import parse_change
from core.knowledge.swap import replace_expected

_DATE = re.compile(r"\[from: [^\n]*, (\d{4}-\d\d-\d\d)\]")
_STRUCK = re.compile(r"- ~~(?P<text>.+)~~(?P<rest>(?: \[from: .*\])?)\Z")


def is_torn(line: str) -> bool:
    """Whether a bullet ends in the middle of its provenance, as only a cut write leaves it."""
    start = line.rfind("[from: ")
    return start >= 0 and line.startswith("- ") and "]" not in line[start:]


def clear_changes(paths: Paths) -> None:
    """Take the lines that nobody can read out of changes.jsonl; they are kept beside it. Raises OSError."""
    data = files.read_file(paths.changes).data
    lines = data.split(b"\n")
    bad = [line for line in lines if line.strip() and parse_change(line) is None]
    kept = b"".join(line + b"\n" for line in bad)
    name = f"changes.damaged-{hashlib.sha256(kept).hexdigest()[:16]}.jsonl"
    with contextlib.suppress(FileExistsError):  # an earlier attempt made it, with these very lines
        files.create_atomic(paths.changes.with_name(name), kept)
        files.sync_folder(paths.knowledge)
    good = [line for line in lines if line.strip() and parse_change(line) is not None]
    new = b"".join(line + b"\n" for line in good)
    if new != data and not replace_expected(paths.changes, new, data):
        raise OSError(errno.EBUSY, "another program saved the file just now", str(paths.changes))


# --- merge conflicts -------------------------------------------------------------------------------------------------


@dataclass
class _Section:
    """A heading ("" before the first one) and what stands below it, bullet by bullet with their indented lines."""

    heading: str
    blocks: list[list[str]]


def united(data: bytes) -> bytes | None:
    """A file of bullets as it is with the lines of both sides of every merge conflict in it, each once. A task that one
    side has done is done, a bullet that one side has struck through is struck through; the older side comes first, so
    that it is the same whoever merges. None when there is no conflict, or one that is not whole."""
    try:
        sides = both_sides(data.decode("utf-8"))
    except UnicodeDecodeError:
        return None
    if sides is None:
        return None
    older, newer = sorted(sides, key=lambda side: (max(_DATE.findall(side), default=""), side))
    one, other = _sections(older), _sections(newer)
    done = {_said(block) for part in other if is_done_heading(part.heading) for block in part.blocks}
    below: dict[str, list[str]] = {}
    for part in one:
        if is_open_heading(part.heading):
            going = [block for block in part.blocks if block[0].strip() and _said(block) in done]
            part.blocks = [block for block in part.blocks if block not in going]
            below |= {_said(block): block[1:] for block in going}
    for part in other:
        for block in part.blocks:
            _unite(one, part.heading, [block[0], *dict.fromkeys((*below.get(_said(block), ()), *block[1:]))])
    ending = "\r\n" if "\r\n" in older[:4096] else "\n"
    lines = [
        line
        for part in one
        for line in ([part.heading] if part.heading else []) + [line for block in part.blocks for line in block]
    ]
    return (ending.join(lines).rstrip("\r\n") + ending).encode("utf-8")


def _sections(text: str) -> list[_Section]:
    found = [_Section("", [])]
    for line in text.replace("\r\n", "\n").split("\n"):
        blocks = found[-1].blocks
        if line.startswith("#"):
            found.append(_Section(line, []))
        elif line[:1] in (" ", "\t") and line.strip() and blocks and blocks[-1][0].strip():
            blocks[-1].append(line)
        else:
            blocks.append([line])
    return found


def _unite(one: list[_Section], heading: str, block: list[str]) -> None:
    """Put a block of the other side below its heading, unless it stands there, maybe struck through, already."""
    if not block[0].strip():
        return
    for part in one:
        for at, mine in enumerate(part.blocks):
            if mine == block:
                return
            if _said(mine) == _said(block):  # one of them is struck through, or says more below
                chosen = mine if _is_struck(mine) or not _is_struck(block) else block
                part.blocks[at] = [chosen[0], *dict.fromkeys((*mine[1:], *block[1:]))]
                return
    like = heading.strip().casefold()
    home = next((part for part in one if part.heading.strip().casefold() == like), None)
    if home is None:
        if one[-1].blocks and one[-1].blocks[-1][0].strip():
            one[-1].blocks.append([""])
        home = _Section(heading, [[""]])
        one.append(home)
    at = len(home.blocks)
    while at and not home.blocks[at - 1][0].strip():
        at -= 1
    if not at and home.blocks:
        at = 1  # below the blank line that follows the heading
        if len(home.blocks) == 1:
            home.blocks.append([""])
    home.blocks.insert(at, block)


def _is_struck(block: list[str]) -> bool:
    return block[0] != _said(block)


def _said(block: list[str]) -> str:
    """The first line of a block without a strike-through."""
    found = _STRUCK.match(block[0])
    return f"- {found['text']}{found['rest']}" if found is not None else block[0]
