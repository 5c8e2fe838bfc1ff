"""What a user does to knowledge files with an editor, a file manager and an old buffer."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from core.base.paths import Paths

FILES = ("facts.md", "decisions.md", "tasks.md")


@dataclass
class Person:
    """`buffers` are texts that an editor has loaded and not saved yet, by file name."""

    paths: Paths
    buffers: dict[str, bytes] = field(default_factory=dict)
    _numbers: count[int] = field(default_factory=lambda: count(1))

    def words(self) -> str:
        """A line that nobody else writes."""
        return f"me-{next(self._numbers)}"

    def text(self, name: str) -> bytes:
        path = self.paths.knowledge / name
        return path.read_bytes() if path.is_file() else b""

    def save(self, name: str, data: bytes, how: str) -> None:
        """As editors do: `rename` a new file over the old one, or write `over` it in place."""
        path = self.paths.knowledge / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if how == "rename":
            other = path.with_name(f"{path.name}.editor~")
            other.write_bytes(data)
            os.replace(other, path)
        else:
            path.write_bytes(data)

    def load(self, name: str) -> None:
        self.buffers[name] = self.text(name)

    def save_buffer(self, name: str, how: str) -> None:
        """Saves what was loaded long ago, with a line of today."""
        old = self.buffers.pop(name)
        self.save(name, _ended(old) + f"- {self.words()} in an old buffer\n".encode(), how)

    def edit(self, name: str, act: str, at: int, how: str) -> None:
        """One change of the text as it is now; `at` picks the line."""
        self.save(name, ACTS[act](self, self.text(name), at), how)

    def move_line(self, name: str, other: str, at: int) -> None:
        """A bullet from one file to another."""
        lines = self.text(name).split(b"\n")
        bullets = [number for number, line in enumerate(lines) if line.startswith(b"- ")]
        if not bullets or name == other:
            return
        line = lines.pop(bullets[at % len(bullets)])
        self.save(other, _ended(self.text(other)) + line + b"\n", "rename")
        self.save(name, b"\n".join(lines), "rename")

    def set_aside(self, name: str) -> None:
        """Rename a whole file out of the way."""
        path = self.paths.knowledge / name
        if path.is_file():
            path.rename(path.with_name(f"{path.stem}-{self.words()}.md"))


def _ended(data: bytes) -> bytes:
    return data if not data or data.endswith(b"\n") else data + b"\n"


def _append(person: Person, data: bytes, at: int) -> bytes:
    return _ended(data) + f"- {person.words()} at the end\n".encode()


def _append_open(person: Person, data: bytes, at: int) -> bytes:
    return _ended(data) + f"- {person.words()} without a line break".encode()


def _insert(person: Person, data: bytes, at: int) -> bytes:
    lines = data.split(b"\n")
    lines.insert(at % (len(lines) + 1), f"- {person.words()} in between\n  with details {person.words()}".encode())
    return b"\n".join(lines)


def _prose(person: Person, data: bytes, at: int) -> bytes:
    return f"Words of {person.words()}, not a bullet.\r\n\r\n".encode() + data


def _delete(person: Person, data: bytes, at: int) -> bytes:
    lines = data.split(b"\n")
    bullets = [number for number, line in enumerate(lines) if line.startswith(b"- ")]
    if bullets:
        del lines[bullets[at % len(bullets)]]
    return b"\n".join(lines)


def _reword(person: Person, data: bytes, at: int) -> bytes:
    lines = data.split(b"\n")
    bullets = [number for number, line in enumerate(lines) if line.startswith(b"- ")]
    if bullets:
        number = bullets[at % len(bullets)]
        lines[number] = f"- by the user: {person.words()} ".encode() + lines[number][2:]
    return b"\n".join(lines)


def _empty(person: Person, data: bytes, at: int) -> bytes:
    return b""


def _torn_alike(person: Person, data: bytes, at: int) -> bytes:
    """The beginning of what a harvest writes, unfinished."""
    return _ended(data) + b"- Fact"


ACTS: dict[str, Callable[[Person, bytes, int], bytes]] = {
    "append": _append,
    "append without line break": _append_open,
    "insert": _insert,
    "prose": _prose,
    "delete": _delete,
    "reword": _reword,
    "empty": _empty,
    "begin like a harvest": _torn_alike,
}


def files_of(paths: Paths) -> list[Path]:
    return [paths.knowledge / name for name in FILES]
