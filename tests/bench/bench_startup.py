"""What a person waits for before anything happens: the commands of every day beside Python itself.

On an empty home, on one of a thousand conversations, and on one of a hundred thousand with ten thousand memories, where
one conversation waits. `knowledge context` is what a hook asks at each session start.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

from core.base.paths import Paths
from core.cli.kept_context import SETTLED_SECONDS
from core.knowledge.digest import regenerate_digest
from core.knowledge.ledger import write_ledger
from core.memory_file import new_memory, render_memory
from tests.bench import Row

ROUNDS = 9
MOST_BULLETS = 3000
START = "from core.cli.main import run; run()"
PASS = "python -c pass"
AT_MOST = {
    "context": (5, 5, 5),  # kept ready while nothing changes
    "add": (9, 9, 11),
    "done": (9, 9, 14),
    "recall": (7, 7, 12),
    "save": (8, 8, 14),
    "search": (14, 14, 30),
    "status": (9, 10, 12),
}
"""Command -> what it may cost on an empty home, at 1,000 and at 100,000 conversations, in bare starts."""


def figures() -> Iterator[Row]:
    """Processor time of whole processes, the middle of several taken in turns with a bare start, with compiled modules
    as an installed program has them."""
    with tempfile.TemporaryDirectory(prefix="knowledge-bench-") as folder:
        place = Path(folder) / "app"
        place.mkdir()
        environment = {**os.environ, "XDG_CACHE_HOME": folder, "XDG_CONFIG_HOME": folder, "HOME": folder}
        environment["PYTHONPYCACHEPREFIX"] = str(Path(folder) / "compiled")
        environment["PYTHONPATH"] = str(Path(__file__).resolve().parents[2])
        environment.pop("PYTHONDONTWRITEBYTECODE", None)

        def ratio(*words: str) -> float:
            rows = []
            for number in range(-2, ROUNDS):
                own = [word.replace("@", str(number + 10)) for word in words]
                took = _seconds(["-c", START, *own], environment, place)
                rows.append((took, _seconds(["-c", "pass"], environment, place)))
            took, bare = zip(*rows[2:], strict=True)
            return statistics.median(took) / statistics.median(bare)

        yield f"start of knowledge --help / {PASS}", ratio("--help"), 5
        yield f"start of an empty dry run / {PASS}", ratio("harvest", "--home", str(Path(folder) / "none")), 8
        bare = statistics.median(_seconds(["-c", "pass"], environment, place) for _ in range(ROUNDS))
        told = [_first_answer(["--home", str(Path(folder) / "none")], environment, place) for _ in range(ROUNDS)]
        yield f"first answer of the MCP server / {PASS}", statistics.median(told[2:]) / bare, 5
        for at, number in enumerate((0, 1000, 100_000)):
            home = Path(folder) / f"home{number}"
            _make_home(home, number, place)
            time.sleep(SETTLED_SECONDS)  # what changed a moment ago is not kept ready
            for command, most in AT_MOST.items():
                words = _WORDS.get(command, (command,))
                if not number and command == "done":
                    continue  # an empty home has no task
                took = ratio(*words, "--home", str(home))
                yield f"{command} at {number:,} conversations / {PASS}", took, most[at]


_WORDS = {
    "add": ("add", "decisions", "words number @ of these"),
    "done": ("done", "number @ of the server"),
    "recall": ("recall", "makefile"),
    "save": ("save", "Prefers tabs in Makefile number @"),
    "search": ("search", "server"),
}


def _seconds(words: list[str], environment: dict[str, str], place: Path) -> float:
    before = _of_children()
    done = subprocess.run([sys.executable, *words], env=environment, cwd=place, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    return _of_children() - before


def _of_children() -> float:
    """Processor time of all processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}


def _first_answer(words: list[str], environment: dict[str, str], place: Path) -> float:
    """Processor time of a server until a client has its first answer."""
    before = _of_children()
    line = json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": HELLO}) + "\n"
    asked = [sys.executable, "-c", START, "mcp", *words]
    with subprocess.Popen(asked, env=environment, cwd=place, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdin is not None and server.stdout is not None
        server.stdin.write(line.encode())
        server.stdin.flush()
        assert json.loads(server.stdout.readline())["id"] == 0
        server.kill()
    return _of_children() - before


def _make_home(home: Path, number: int, place: Path) -> None:
    """A home after `number` harvested conversations, a third of them in the folder of the measurement, with three
    bullets for each of at most three thousand."""
    if not number:
        return
    paths = Paths(home)
    entries = {
        f"{row:064x}": {
            "path": str(paths.conversations / f"talk-{row}"),
            "status": "harvested",
            "at": f"2026-05-{1 + row % 28:02}T10:00:00Z",
            "items": {"facts": 1, "decisions": 1, "tasks_open": 1},
            "run": "20260612T142300-a1b2c3",
            "deleted": True,
            "project": str(place if row % 3 == 0 else place.with_name(f"app{row % 40}")),
        }
        for row in range(number)
    }
    write_ledger(paths, entries)
    for name, head in (("facts", "# Facts\n\n"), ("decisions", "# Decisions\n\n"), ("tasks", "# Tasks\n\n## Open\n")):
        rows = (
            f"- {name} number {row} of the server [from: talk-{row}, 2026-05-{1 + row % 28:02}]\n"
            for row in range(min(number, MOST_BULLETS))
        )
        (paths.knowledge / f"{name}.md").write_text(head + "".join(rows))
    paths.memories.mkdir()
    for row in range(1, number // 10):
        memory = new_memory(row, f"words of memory number {row}, with a makefile", (), datetime(2026, 5, 1, tzinfo=UTC))
        (paths.memories / f"{row:03}-words.md").write_text(render_memory(memory))
    paths.conversations.mkdir()
    (paths.conversations / f"talk-{UUID(int=1, version=4)}").write_text("User: which port?\n")
    regenerate_digest(paths, 4096)
