"""How fast each reader is, beside the least that anybody must do with the same bytes: `json.loads` of every record for
formats of records, one look at each line for formats of text. Real conversations where they lie beside the
project, else made-up ones."""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from core.conversations.read import read_conversation
from tests.corpus import CORPUS
from tests.made_records import document, lines

Row = tuple[str, float, float]
ROUNDS = 5
LEAST_BYTES = 1 << 20
# The most a reader may cost beside its floor. Readers of text ask several questions about every line, in Python; a
# document whose texts are long costs json.loads, which is C, next to nothing.
LIMITS = {"lines": 5.0, "documents": 40.0, "text": 60.0}
ONE = ("chatgpt", "claude_ai", "gemini_cli", "opencode", "swe_agent")
TEXT = ("aider", "specstory", "cline", "home", "plain")
_WORDS = "The build is slow because the key of the cache has the date in it.\n" * 6


def figures() -> Iterator[Row]:
    for kind, files in samples().items():
        text = kind in TEXT
        size = sum(map(len, files))
        ours, floor = timed(partial(_read, files), partial(_least, files, text))
        print(f"  {kind}: {size / ours / 1e6:.1f} MB/s, the floor {size / floor / 1e6:.1f} MB/s", file=sys.stderr)
        name = "one look at each line" if text else "json.loads of the same bytes"
        yield (
            f"reading {kind} / {name}",
            ours / floor,
            LIMITS["text" if text else "documents" if kind in ONE else "lines"],
        )


def made() -> dict[str, bytes]:
    """Formats of which there are no real files here."""
    said = [("user" if number % 2 == 0 else "assistant", f"{number}: {_WORDS}") for number in range(200)]
    goose = [
        {"role": role, "created": 1_767_000_000, "content": [{"type": "text", "text": text}]} for role, text in said
    ]
    cursor = [{"role": role, "message": {"content": [{"type": "text", "text": text}]}} for role, text in said]
    claude_ai = [
        {"sender": "human" if role == "user" else "assistant", "text": text, "created_at": "2026-01-02T03:04:05Z"}
        for role, text in said
    ]
    tags = {"user": "user-prompt", "assistant": "agent-response"}
    about = {"working_dir": "/srv/app", "description": "made up"}
    export = {"uuid": "u", "name": "n", "created_at": "2026-01-02T03:04:05Z", "chat_messages": claude_ai}
    return {
        "goose": lines(about, *goose),
        "cursor": lines(*cursor),
        "claude_ai": document([export]),
        "home": "".join(f"<{tags[role]}>\n{text}</{tags[role]}>\n" for role, text in said).encode(),
        "plain": "".join(f"{role.title()}: {text}\n" for role, text in said).encode(),
    }


def samples() -> dict[str, list[bytes]]:
    """At least a megabyte of each format."""
    found: dict[str, list[bytes]] = {}
    folder = CORPUS / "conversations"
    for kind in sorted(path.name for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else ():
        files = [path.read_bytes() for path in sorted((folder / kind).rglob("*")) if _is_sample(path)]
        if files and kind != "format_fixtures":
            found[kind] = files
    for kind, data in made().items():
        found.setdefault(kind, [data])
    return {kind: files * (1 + LEAST_BYTES // (1 + sum(map(len, files)))) for kind, files in found.items()}


def _is_sample(path: Path) -> bool:
    return path.is_file() and not path.name.endswith(".metadata.json")


def _read(files: list[bytes]) -> int:
    return sum(len(read_conversation("x", data).turns) for data in files)


def _least(files: list[bytes], text: bool) -> int:
    return sum(_looks(data) if text else _loads(data) for data in files)


def _looks(data: bytes) -> int:
    return sum(line.startswith("x") for line in data.decode("utf-8", "replace").split("\n"))


def _loads(data: bytes) -> int:
    try:
        return len(json.loads(data))
    except ValueError:
        return sum(bool(_loaded(line)) for line in data.split(b"\n"))


def _loaded(line: bytes) -> object:
    try:
        return json.loads(line)
    except ValueError:
        return None


def timed(ours: Callable[[], object], floor: Callable[[], object]) -> tuple[float, float]:
    """The medians of both, taken in turns: both see the same neighbours."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(ROUNDS):
        for work, took in zip((ours, floor), times, strict=True):
            started = time.perf_counter()
            work()
            took.append(time.perf_counter() - started)
    return statistics.median(times[0]), statistics.median(times[1])
