"""What is kept in the cache for a fast start: never other than what the files say, and nothing is lost with it."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.base import ready
from core.base.ready import kept_ready
from core.base.result import KnowledgeError, refuse
from core.commands.review import waiting
from core.commands.status import status
from core.commands.workspace import Workspace
from core.knowledge.ledger import write_ledger
from core.knowledge.same import mark_of_text
from tests.made_home import make_home

Change = Callable[[Path], object]


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing has to settle for seconds before it is kept: a test looks at what is kept."""
    monkeypatch.setattr(ready, "SETTLED_SECONDS", -3600.0)


def rewritten(path: Path) -> None:
    """Other words of the same length, the time put back: what rsync and some editors do."""
    found = path.stat()
    path.write_text(path.read_text().replace("8080", "9090"))
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))


def replaced(path: Path) -> None:
    """Another file under the name, with the old one's time."""
    found, other = path.stat(), path.with_name(".new")
    other.write_text(path.read_text().replace("8080", "9090"))
    os.utime(other, ns=(found.st_atime_ns, found.st_mtime_ns))
    other.replace(path)


def test_a_value_is_made_once_for_one_state_of_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And again for each other: a file that comes, changes behind its own time, is replaced, or goes."""
    file, place, made = tmp_path / "facts.md", tmp_path / "cache/value", list[str]()

    def make() -> str:
        made.append(file.read_text() if file.exists() else "")
        return made[-1]

    def asked() -> str:
        return kept_ready(place, [file], make)

    assert (asked(), asked(), len(made)) == ("", "", 1)
    file.write_text("port 8080")
    assert (asked(), asked(), len(made)) == ("port 8080", "port 8080", 2)
    for change, now in ((rewritten, "port 9090"), (replaced, "port 9090"), (Path.unlink, "")):
        file.write_text("port 8080")
        asked()
        change(file)
        assert asked() == now
    before = len(made)
    place.write_text('{"made_of": [')
    assert (asked(), len(made)) == ("", before + 1), "a damaged cache is no answer"
    monkeypatch.setattr(ready, "SETTLED_SECONDS", 2.0)
    file.write_text("one")
    other = tmp_path / "cache/other"
    assert kept_ready(other, [file], make) == "one" and not other.exists(), "it may change again and keep its time"


def home(tmp_path: Path) -> Workspace:
    workspace = make_home(tmp_path)
    knowledge = workspace.paths.knowledge
    knowledge.mkdir(parents=True)
    (knowledge / "facts.md").write_text("# Facts\n\n- port 8080\n")
    (knowledge / "tasks.md").write_text("# Tasks\n\n## Open\n- one\n- two\n\n## Done\n")
    write_ledger(workspace.paths, {"a" * 64: {"status": "harvested", "path": "x", "at": "2026-05-01T10:00:00Z"}})
    return workspace


def test_status_counts_what_is_there_now(tmp_path: Path) -> None:
    """The second look is as true as the first: a user sees what an editor and a harvest have just done."""
    workspace = home(tmp_path)

    def seen() -> tuple[int, dict[str, int], int]:
        now = status(workspace)
        bullets = {row.name: row.bullets for row in now.files}
        return bullets["facts"], now.tasks, now.ledger["harvested"]

    assert seen() == seen() == (1, {"open": 2, "done": 0}, 1)
    knowledge = workspace.paths.knowledge
    (knowledge / "facts.md").write_text("# Facts\n\n- port 8080\n- port 9090\n")
    (knowledge / "tasks.md").write_text("# Tasks\n\n## Open\n- one\n\n## Done\n- two\n")
    write_ledger(workspace.paths, {})
    assert seen() == seen() == (2, {"open": 1, "done": 1}, 0)
    shutil.rmtree(workspace.cache)
    assert seen() == (2, {"open": 1, "done": 1}, 0)
    workspace.paths.ledger.write_text("{")
    for _ in range(2):
        assert [row.code for row in status(workspace).errors].count("ledger-corrupt") == 1, "told each time"


def test_offers_of_a_ledger_that_could_not_be_read_are_counted_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that stumbled once left a number that was too small for as long as no file changed."""
    workspace = home(tmp_path)
    offer = {"kind": "finishes", "category": "tasks_open", "old": mark_of_text("one")}
    entry = {"status": "harvested", "path": "x", "at": "2026-05-01T10:00:00Z", "offers": [offer]}
    write_ledger(workspace.paths, {"a" * 64: entry})
    with monkeypatch.context() as stumbling:
        stumbling.setattr(
            waiting, "seen_ledger", lambda paths: refuse(KnowledgeError("ledger-unreadable", "it cannot be read"))
        )
        assert status(workspace).outdated == 0
    assert status(workspace).outdated == 1


# --- single entries of a large ledger --------------------------------------------------------------------------------


def large_ledger(chance: random.Random, number: int = 300) -> dict[str, dict[str, Any]]:
    """Entries as harvests leave them, and with words that try the layout."""
    words = ["a", 'a"b', "x\n    }", "}\n    },\n    ", "né", "\\", "\ud800", "{}"]
    entries: dict[str, dict[str, Any]] = {}
    for row in range(number):
        key = f"{chance.getrandbits(256):064x}" if row % 20 else f"path:/home/{chance.choice(words)}/{row}"
        entry = {
            "path": f"/home/talk-{chance.choice(words)}-{chance.randrange(number // 3)}",
            "status": chance.choice(["harvested", "harvested", "harvest-failed", "pruned"]),
            "at": f"2026-05-{chance.randrange(1, 4):02}T10:00:00Z",
            "items": {"facts": chance.randrange(3)} if row % 3 else {},
            "error": chance.choice(words) * 40,
        }
        if chance.random() < 0.2:
            entry |= {"trash": {chance.choice(words): chance.choice(words)}, "restored": [entry["path"], "b"]}
        entries[key] = entry if row != 7 else {**entry, "error": "long " * 5000}
    return entries


def test_what_waits_is_the_same_beside_a_large_ledger(tmp_path: Path) -> None:
    """New, harvested, grown since, failed: each is told as it is, with and without what is kept."""
    workspace = home(tmp_path)
    talks = workspace.paths.conversations
    talks.mkdir(parents=True)
    wanted = large_ledger(random.Random(2))
    names = [f"talk-{number}-{uuid.UUID(int=number, version=4)}" for number in range(4)]
    for name in names:
        (talks / name).write_text(f"User: what about {name}?\n")
    done, grown, failed = (hashlib.sha256((talks / name).read_bytes()).hexdigest() for name in names[:3])
    entry = {"status": "harvested", "at": "2026-05-01T10:00:00Z", "provider": "openai", "run": "r"}
    wanted |= {done: {**entry, "path": str(talks / names[0])}, grown: {**entry, "path": str(talks / names[1])}}
    wanted |= {failed: {**entry, "status": "harvest-failed", "path": str(talks / names[2])}}
    (talks / names[1]).write_text("User: and more\n")
    write_ledger(workspace.paths, wanted)

    def seen() -> list[dict[str, Any]]:
        found = [status(workspace).pending for _ in range(2)]
        shutil.rmtree(workspace.cache)
        assert found == [status(workspace).pending] * 2
        return found

    assert seen()[0]["conversations"] == 4  # nothing proves the harvests: their plans are not there
    write_ledger(workspace.paths, {key: row for key, row in wanted.items() if key not in (done, grown, failed)})
    assert seen()[0]["conversations"] == 4
