"""Targets that put bytes in the place of one file of a small home and run the commands a user would run.

A parser that gives a strange value back does no harm by itself; the command that trusts it does.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from core.cli.main import main
from core.knowledge.journal import encode

TALK = "talk-0f8fad5b-d9cb-469f-a165-70867728950e"
LOOKS = ("status", "ledger", "trash", "undo", "review", "context", "doctor", "harvest")
SETTINGS = '[ai_settings.knowledge]\nfile_roots = ["/nowhere"]\nreclaim = "always"\n'
_homes: dict[str, Path] = {}


def _home() -> Path:
    """A folder with a home that was harvested once; made once a process and copied for each input."""
    if "sound" not in _homes:
        folder = Path(tempfile.mkdtemp(prefix="fuzz-home-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None))
        os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
        (folder / "config.toml").write_text(SETTINGS)
        talks = folder / "sound" / "conversations"
        talks.mkdir(parents=True)
        (talks / TALK).write_text("User: We decided to use SQLite.\n\nAssistant: The port is 8080.\n")
        _run(folder, "sound", "harvest", "--apply")
        (talks / TALK.replace("talk", "late")).write_text("User: We decided to use tabs.\n")
        _homes["sound"], _homes["folder"] = folder / "sound", folder
    copy = _homes["folder"] / "home"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(_homes["sound"], copy)
    return copy


def _run(folder: Path, home: str, *words: str) -> str:
    out, err = io.StringIO(), io.StringIO()
    places = ["--home", str(folder / home), "--config", str(folder / "config.toml"), "--debug"]
    code = main([*words, *places], out, err)
    assert code in (0, 1), (words, code, err.getvalue())
    said = out.getvalue() + err.getvalue()
    assert "Traceback" not in said and all(char == "\n" or char.isprintable() for char in said), ascii(said[:500])
    return said


def store_file(name: str, data: bytes, *, records: bool = False) -> None:
    """`data` stands where the file `name` of the home stood; looking, harvesting and repairing must go on."""
    home = _home()
    path = home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(_as_records(data) if records else data)
    conversations = {item.name: item.read_bytes() for item in (home / "conversations").iterdir() if item.is_file()}
    for command in LOOKS:
        _run(home.parent, home.name, command)
    _run(home.parent, home.name, "harvest", "--apply")
    _run(home.parent, home.name, "doctor", "--repair")
    for talk, before in conversations.items():
        trashed = home / "conversations" / ".trash"
        kept = [home / "conversations" / talk, *(trashed.iterdir() if trashed.is_dir() else ())]
        assert any(item.is_file() and item.read_bytes() == before for item in kept), f"{talk} is gone"


def _as_records(data: bytes) -> bytes:
    """The lines of `data` that are JSON objects, each with a checksum that is right."""
    made = []
    for line in data.split(b"\n"):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict):
            made.append(encode(row))
    return b"".join(made)


FILES = {
    "ledger": "knowledge/ledger.json",
    "changes": "knowledge/changes.jsonl",
    "file-ids": "knowledge/.state/file_ids.json",
    "facts": "knowledge/facts.md",
    "tasks": "knowledge/tasks.md",
    "quarantine": "knowledge/quarantine.md",
    "digest": "knowledge/digest.md",
    "lock": "knowledge/.state/lock",
    "file-index": "conversations/file-index-1.json",
    "saved-index": "conversations/index-saved-conversations-1.json",
    "split-index": "splits/a/index.json",
}
STORE: dict[str, Callable[[bytes], None]] = {
    **{f"store-{name}": partial(store_file, path) for name, path in FILES.items()},
    "store-journal": partial(store_file, "knowledge/.state/journal", records=True),
    "store-plans": partial(store_file, "knowledge/.state/plans/20260101T000000-abcdef.jsonl", records=True),
}
