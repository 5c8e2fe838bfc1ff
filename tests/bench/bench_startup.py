"""What a user waits for before anything happens: the commands of every day beside Python itself.

On homes of a thousand, ten thousand and a hundred thousand conversations, where one conversation waits. `knowledge
context` is what a hook asks at each session start.
"""

from __future__ import annotations

import json
import math
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
from core.base.ready import SETTLED_SECONDS
from core.knowledge.digest import regenerate_digest
from core.knowledge.ledger import write_ledger
from core.memory_file import new_memory, render_memory
from tests.bench import Row

ROUNDS = 9
MOST_BULLETS = 3000
SIZES = (1_000, 10_000, 100_000)
START = "from core.cli.main import run; run()"
COMMAND_SECONDS, HOOK_SECONDS = 0.3, 0.1
"""What a command that answers from the store may take at 10,000 conversations, and what a hook runs at any size, in
processor time; at other sizes a command's figure is told."""
COMMANDS = ("add", "done", "list", "recall", "save", "search", "status", "facts")


def figures() -> Iterator[Row]:
    """Seconds of processor time of whole processes, the middle of several, with compiled modules as an installed
    program has them."""
    with tempfile.TemporaryDirectory(prefix="knowledge-bench-") as folder:
        place = Path(folder) / "app"
        place.mkdir()
        environment = {**os.environ, "XDG_CACHE_HOME": folder, "XDG_CONFIG_HOME": folder, "HOME": folder}
        environment["PYTHONPYCACHEPREFIX"] = str(Path(folder) / "compiled")
        environment["PYTHONPATH"] = str(Path(__file__).resolve().parents[2])
        environment.pop("PYTHONDONTWRITEBYTECODE", None)

        def taken(*words: str) -> float:
            rows = []
            for number in range(-2, ROUNDS):
                own = [word.replace("@", str(number + 10)) for word in words]
                rows.append(_seconds(["-c", START, *own], environment, place))
            return statistics.median(rows[2:])

        bare = statistics.median(_seconds(["-c", "import json, sqlite3"], environment, place) for _ in range(ROUNDS))
        yield "an interpreter that imports json and sqlite3", bare, math.inf
        yield "knowledge --help", taken("--help"), COMMAND_SECONDS
        for number in SIZES:
            home = Path(folder) / f"home{number}"
            _make_home(home, number, place)
            time.sleep(SETTLED_SECONDS)  # what changed a moment ago is not kept ready
            for command in ("context", "context --hook claude_code"):
                took = taken(*command.split(), "--home", str(home))
                yield f"{command} at {number:,} conversations", took, HOOK_SECONDS
            for command in COMMANDS:
                took = taken(*_WORDS.get(command, (command,)), "--home", str(home))
                yield f"{command} at {number:,} conversations", took, COMMAND_SECONDS if number == 10_000 else math.inf


_WORDS = {
    "add": ("add", "decisions", "words number @ of these"),
    "done": ("done", "number @ of the server"),
    "recall": ("recall", "makefile"),
    "save": ("save", "Prefers tabs in Makefile number @"),
    "search": ("search", "server"),
    "facts": ("facts", "list"),
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
    # A harvest that nobody waited for has just run: the start of a session has nothing to catch up with.
    paths.state.mkdir(exist_ok=True)
    paths.autopilot.write_text(json.dumps({"at": datetime.now(UTC).isoformat()}))
    paths.conversations.mkdir()
    (paths.conversations / f"talk-{UUID(int=1, version=4)}").write_text("User: which port?\n")
    regenerate_digest(paths, 4096)
