"""What a command loads before it does anything: a person waits for that each time, a hook at every session."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import resolve_name
from pathlib import Path

import pytest

from core.cli.table import MODULE, Command, commands
from tests.waiting import PATIENCE_SECONDS

ROOT = Path(__file__).resolve().parents[1]
BASED_ON = {
    "status": {"harvest", "similar", "supersede", "digest", "context", "sources"},
    "import": {"harvest", "sources", "quarantine", "facts"},
    "doctor": {"search", "sources", "facts", "quarantine", "connect", "library", "schedule"},
    "demo": {"harvest", "status", "similar", "sources", "digest"},
    "harvest": {"sources"},
    "search": {"show"},
    "setup": {"connect", "config", "sources"},
    "schedule": {"connect"},
    "uninstall": {"connect", "schedule"},
    "facts": {"quarantine"},
}
"""Command -> those that it is made of: `status` tells what a harvest would do, and what a new session gets."""
HEAVY = {
    "sqlite3", "yaml", "ruamel", "rapidfuzz", "requests", "urllib3", "detect_secrets", "numpy", "tomlkit", "mcp",
    "pydantic", "dearpygui", "markdown_it", "hypothesis", "watchfiles", "tokenizers", "onnxruntime",
    "sqlalchemy", "alembic", "psycopg", "dask", "distributed",
}  # fmt: skip
NEEDS = {
    "setup": {"requests", "urllib3"},
    "search": {"sqlite3", "yaml"},
    "show": {"sqlite3"},
    "doctor": {"sqlite3", "yaml"},
    "similar": {"rapidfuzz"},
    "trash": {"sqlite3"},
    "undo": {"sqlite3"},
    "missing": {"sqlite3"},
    "import": {"sqlite3"},
    "evidence": {"sqlite3"},
    "facts": {"yaml", "ruamel"},
}
"""Command -> the libraries that it cannot do without."""
WORDS = {
    "schedule": ["--dry-run"],
    "uninstall": ["--dry-run"],
    "add": ["decisions", "SQLite, because there is one writer"],
    "notes": ["src/app.py"],
    "done": ["write the release notes"],
    "reopen": ["tag the release"],
    "edit": ["facts", "port 8080", "The server listens on port 9090"],
    "rm": ["decisions", "SQLite, for now"],
    "unstrike": ["facts", "old port"],
    "evidence": ["port 8080"],
    "search": ["port"],
    "show": ["talk.md"],
    "save": ["Prefers tabs in Makefiles"],
    "import": ["."],
}
WITHOUT = {"mcp", "demo", "vectors"}  # it serves until its client goes; runs three of these; needs a model
SCRIPT = """
import sys
import io, json, pathlib
from core.cli.main import main
typed = json.loads(sys.argv[1])
before = {path: path.read_bytes() for path in pathlib.Path(typed[0][-1]).glob("knowledge/*.md")}
out, err, codes = io.StringIO(), io.StringIO(), []
for more in (["--json"], []):
    for words in typed:
        codes.append(main([*words, *more], out, err))
        for path, data in before.items():
            path.write_bytes(data)
print(json.dumps([codes, sorted(sys.modules), err.getvalue()]))
"""


def rooms_of(name: str) -> set[str]:
    """The modules that have the command's functions."""
    return {room_of(leaf) for row in commands() for leaf in row.leaves if row.name == name}


def room_of(leaf: Command) -> str:
    return resolve_name(leaf.runs.split(":")[0], "core.commands")


def alike() -> list[list[str]]:
    """Commands with the same rows, functions and libraries share a process: what one may load, all may."""
    found: dict[object, list[str]] = {}
    for name in MODULE:
        if name not in WITHOUT:
            needs = frozenset(NEEDS.get(name, ()))
            kind = (MODULE[name], frozenset(rooms_of(name)), needs, name in BASED_ON)
            found.setdefault(kind, []).append(name)
    return list(found.values())


def test_the_table_of_this_test_is_whole() -> None:
    assert {*BASED_ON, *NEEDS, *WORDS, *WITHOUT} <= set(MODULE)


@pytest.mark.parametrize("names", alike(), ids="-".join)
def test_a_command_loads_no_other(names: list[str], tmp_path: Path) -> None:
    """Adding a line must not wait for the trash, the search, or a library of somebody else's command, neither for JSON
    nor for text."""
    knowledge = tmp_path / "home/knowledge"
    knowledge.mkdir(parents=True)
    (knowledge / "facts.md").write_text("# Facts\n\n- The server listens on port 8080\n- ~~The old port was 80~~\n")
    (knowledge / "decisions.md").write_text("# Decisions\n\n- SQLite, for now\n- SQLite, for then\n")
    tasks = "# Tasks\n\n## Open\n- write the release notes\n\n## Done\n- tag the release\n"
    (knowledge / "tasks.md").write_text(tasks)
    (knowledge / "digest.md").write_text("# Knowledge digest\n\n## Facts\n- The server listens on port 8080\n")
    (tmp_path / "home/conversations").mkdir()
    (tmp_path / "home/conversations/talk.md").write_text("<user-prompt>\nWhich port?\n</user-prompt>\n")
    environment = {**os.environ, "HOME": str(tmp_path), "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
    environment |= {"XDG_CACHE_HOME": str(tmp_path / "cache"), "XDG_CONFIG_HOME": str(tmp_path / "settings")}
    typed = [[one, *WORDS.get(one, []), "--home", str(tmp_path / "home")] for one in names]
    name = names[0]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps(typed)],
        cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=PATIENCE_SECONDS,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    codes, loaded, told = json.loads(done.stdout.splitlines()[-1])
    assert set(codes) == {0} or (name in ("import", "doctor") and set(codes) == {1}), told
    assert "Traceback" not in told, told
    named = {f"core.cli.{module}" for module in MODULE.values()} - {f"core.cli.{MODULE[name]}"}
    assert not named & set(loaded), f"{name} loads the rows of {named & set(loaded)}"
    runs = {room_of(leaf): row.name for row in commands() for leaf in row.leaves}
    own = {room for one in (name, *BASED_ON.get(name, ())) for room in rooms_of(one)}
    others = {runs[one] for one in loaded if one in runs and one not in own}
    assert not others, f"{name} loads {others}"
    heavy = {one.split(".")[0] for one in loaded} & HEAVY
    assert heavy <= NEEDS.get(name, set()), f"{name} loads {heavy}"
