"""A home with a library, and what a test types and reads there."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from core.commands.workspace import Workspace, open_workspace
from tests.cli_call import call
from tests.spoken_home import LONG_AGO, claude_row, result
from tests.spoken_home import call as call_of

GUIDE = "# Locks\n\nA semaphore is a counter that several tasks share. `asyncio.Lock` is a lock for one of them.\n"
GOTCHA = "Ran into this exact issue: calling await inside a sync callback. Use asyncio.create_task() instead."


@pytest.fixture
def home(tmp_path: Path) -> Path:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "async.md").write_text(f"# Async deadlocks\n\n{GOTCHA}\n")
    (notes / "soup.md").write_text("# Soup\n\nLentils need twenty minutes and a little salt.\n")
    assert run(tmp_path / "home", "ingest", str(notes))["errors"] == []
    return tmp_path / "home"


def run(home: Path, *words: str) -> Any:
    """One command, its JSON."""
    return json.loads(text(home, *words, "--json"))


def text(home: Path, *words: str) -> str:
    code, out, err = call("library", *words, "--home", str(home))
    assert code == 0, err
    return out


def recorded(home: Path) -> list[Any]:
    """How the documents were used, as showing each of them tells."""
    shown = [run(home, "show", document["id"])["traces"] for document in run(home, "list", "--status", "all")]
    return list({trace["id"]: trace for traces in shown for trace in traces}.values())


def switch(home: Path, key: str, on: bool) -> None:
    assert call("config", "set", key, str(on).lower(), "--home", str(home))[0] == 0


def workspace(home: Path) -> Workspace:
    return open_workspace(str(home))


def asked_in_a_session(
    home: Path, at: int, asked: str = "why does my async callback deadlock", said: str = "thanks, that fixed it"
) -> str:
    """An agent retrieves, answers with what it found, and is told how that went; the id of the retrieval."""
    (best, *_) = run(home, "retrieve", f"why does my async callback deadlock {at}")
    rows = [
        claude_row("user", asked, f"2026-06-0{at}T10:00:00Z", session=f"s{at}"),
        claude_row("assistant", call_of("c", "knowledge library retrieve"), f"2026-06-0{at}T10:00:01Z"),
        claude_row("user", result("c", json.dumps([best])), f"2026-06-0{at}T10:00:02Z"),
        claude_row("assistant", f"{GOTCHA} So that is what to change.", f"2026-06-0{at}T10:00:03Z"),
        claude_row("user", said, f"2026-06-0{at}T10:00:04Z"),
    ]
    (home / "conversations").mkdir(exist_ok=True)
    path = home / "conversations" / f"talk-{uuid4()}"
    path.write_bytes(b"".join(rows))
    os.utime(path, (LONG_AGO + at, LONG_AGO + at))
    return str(best["retrieval"])


def heard(home: Path, **said: str) -> list[Any]:
    """What is recorded of what was found after a harvest of such a session, misses apart."""
    asked_in_a_session(home, 1, **said)
    harvested(home)
    return [trace for trace in recorded(home) if trace["outcome"] != "miss"]


def harvested(home: Path) -> Any:
    """What a harvest says."""
    code, out, err = call(
        "harvest", "--apply", "--provider", "offline", "--source", "home", "--home", str(home), "--json"
    )
    assert code == 0, err
    return json.loads(out)
