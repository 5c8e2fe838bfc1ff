"""What an everyday command may not load: a library for documents, models or windows takes longer than the command, and
what reads conversations by rules is for a harvest."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.waiting import PATIENCE_SECONDS

ROOT = Path(__file__).resolve().parents[1]
HEAVY = {
    "requests", "detect_secrets", "numpy", "mcp", "pydantic", "dearpygui", "markdown_it", "hypothesis", "watchfiles",
    "tokenizers", "onnxruntime", "sqlalchemy", "psycopg", "dask", "distributed", "rapidfuzz",
}  # fmt: skip
READS = {
    "core.harvest.distil", "core.rules.words", "core.rules.worth", "core.base.spoken", "core.conversations.events",
    "core.conversation_reading",
}  # fmt: skip
"""What reads conversations, by rules or for the index: half a second of what `status` and a dry run took."""
SCRIPT = """
import io, json, sys
from core.cli.main import main
out, err = io.StringIO(), io.StringIO()
for command in json.loads(sys.argv[1]):
    code = main([*command.split(), "--home", sys.argv[2]], out, err)
    loaded = sorted({name.partition(".")[0] for name in sys.modules} | {*sys.modules})
    print(json.dumps([command, code, loaded, err.getvalue()]))
"""
COMMANDS = [
    "context", "context --hook claude_code", "status", "list", "notes src/app.py", "search port", "recall port",
    "save tabs", "add facts x", "facts list", "ledger", "harvest", "trash list", "archive list",
]  # fmt: skip


def test_an_everyday_command_loads_no_heavy_library(tmp_path: Path) -> None:
    """A hook waits for it at every session, the user at every command. One after the other in one process: what none
    has loaded in the end, each by itself does not load."""
    knowledge = tmp_path / "home/knowledge"
    knowledge.mkdir(parents=True)
    (knowledge / "facts.md").write_text("# Facts\n\n- The server listens on port 8080\n")
    (knowledge / "digest.md").write_text("# Knowledge digest\n\n## Facts\n- The server listens on port 8080\n")
    environment = {**os.environ, "HOME": str(tmp_path), "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
    environment |= {"XDG_CACHE_HOME": str(tmp_path / "cache"), "XDG_CONFIG_HOME": str(tmp_path / "settings")}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps(COMMANDS), str(tmp_path / "home")],
        cwd=tmp_path, env=environment, input="", capture_output=True, text=True, timeout=PATIENCE_SECONDS,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row[0] for row in rows] == COMMANDS
    for command, code, loaded, told in rows:
        assert code == 0, told
        assert not (HEAVY | READS) & set(loaded), command
