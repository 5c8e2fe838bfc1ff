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
from typing import NamedTuple

from core.base import files
from core.base.conflict import both_sides
from core.base.markdown import parse_bullets
from core.base.paths import Paths
from core.knowledge.categories import is_done_heading, is_open_heading
from core.knowledge.changes import parse_change
from core.knowledge.swap import replace_expected

_DATE = re.compile(r"\[from: [^\n]*, (\d{4}-\d\d-\d\d)\]")


def is_torn(line: str, below: str) -> bool:
    """Whether a bullet ends in the middle of its provenance, as only a cut write leaves it; where an editor has wrapped
    it, it ends in the line `below`."""
    start = line.rfind("[from: ")
    goes_on = below[:1] in (" ", "\t") and "]" in below
    return start >= 0 and line.startswith("- ") and "]" not in line[start:] and not goes_on


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
    done = {_read(block).said for part in other if is_done_heading(part.heading) for block in part.blocks}
    below: dict[str, list[str]] = {}
    for part in one:
        if is_open_heading(part.heading):
            going = [block for block in part.blocks if block[0].strip() and _read(block).said in done]
            part.blocks = [block for block in part.blocks if block not in going]
            below |= {_read(block).said: block[_read(block).lines :] for block in going}
    for part in other:
        for block in part.blocks:
            said, _, number = _read(block)
            _unite(one, part.heading, [*block[:number], *dict.fromkeys((*below.get(said, ()), *block[number:]))])
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
            ours, theirs = _read(mine), _read(block)
            if ours.said == theirs.said:  # one of them is struck through or ticked, in another form, or says more below
                head = mine[: ours.lines] if ours.is_over or not theirs.is_over else block[: theirs.lines]
                part.blocks[at] = [*head, *dict.fromkeys((*mine[ours.lines :], *block[theirs.lines :]))]
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


class _Said(NamedTuple):
    """What a block says with where it comes from, in whatever form; whether it is struck through or ticked, and on how
    many of its lines it says that."""

    said: str
    is_over: bool
    lines: int


def _read(block: list[str]) -> _Said:
    bullet = next(iter(parse_bullets("\n".join(("## Open", *block)))), None)
    if bullet is None:
        return _Said(block[0], False, 1)
    said = f"{bullet.text} {bullet.provenance or ''}"
    return _Said(said, bullet.struck or bullet.ticked, len(block) - len(bullet.more))
