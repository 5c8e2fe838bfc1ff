"""A home with a made-up year in it: the picture of the README, and what the timeline looks like when it is full."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from core.base.result import Ok, attempt
from core.commands.context import digest_on
from core.commands.workspace import Workspace
from tests.panel_desk import workspace_at

TOOLS = (("claude_code", 0.62), ("codex", 0.17), ("cursor", 0.11), ("gemini_cli", 0.06), ("aider", 0.04))
PROJECTS = (("shop", 0.30), ("api-gateway", 0.24), ("billing", 0.18), ("mobile", 0.13), ("dotfiles", 0.07),
            ("docs-site", 0.08))  # fmt: skip
TITLES = (
    "Rounding in the invoice totals", "Why does checkout retry twice?", "Move the session store to Redis",
    "Release 2.4: tag, notes, upload", "Dark mode flickers on first load", "Flaky test: test_expiry_at_midnight",
    "Rate limits behind the proxy", "Compare two queue designs", "Cache keys with a tenant in them",
    "The importer eats commas", "Sign the webhook before it leaves", "Two pods write the same row",
    "Make the build half as long", "Why is the first query slow?", "Split the settings page",
    "Retry with an idempotency key", "A migration that can be undone", "Time zones in the report",
)  # fmt: skip
LINES = {
    "facts": ("The gateway drops the client's address: trust X-Forwarded-For only from 10.0.0.0/8",
              "POST is retried only with an Idempotency-Key", "Tests that touch midnight need TZ=UTC",
              "The cache holds for one hour, and nobody clears it on a deploy"),
    "decisions": ("Round once per invoice, on the sum, half to even; never per line",
                  "Back-off starts at 250 ms, doubles, and is capped at 8 s", "One writer, many readers: SQLite"),
    "playbooks": ("Move sessions: dual-write for a day, compare counts, switch reads, stop the old writer",
                  "Cut a release: changelog, tag, wait for the build, announce"),
    "questions": ("Who rotates the signing key while its owner is away?", "Does the cache survive a rename?"),
    "tasks_open": ("Add an idempotency key to the second checkout call", "Write the release notes"),
}  # fmt: skip
SHARES = (("facts", 0.46), ("decisions", 0.20), ("playbooks", 0.12), ("questions", 0.07), ("tasks_open", 0.15))
FILES = {"facts": "facts.md", "decisions": "decisions.md", "playbooks": "playbooks.md", "questions": "questions.md",
         "tasks_open": "tasks.md"}  # fmt: skip


def chosen(chance: random.Random, rows: tuple[tuple[str, float], ...]) -> str:
    """One of these, as often as their shares say."""
    return chance.choices([name for name, _ in rows], [share for _, share in rows])[0]


def year_home(folder: Path) -> Workspace:
    """A year of conversations, of five tools in six projects; weekends are quiet, and in August nobody works."""
    workspace = workspace_at(folder, demo=False)
    workspace = replace(workspace, environment={**workspace.environment, "HOME": str(folder)})
    chance, today = random.Random(11), date.today()
    entries: dict[str, dict[str, Any]] = {}
    files: dict[str, list[str]] = {name: [] for name in FILES}
    changes, number = [], 0
    for back in range(371, -1, -1):
        day = today - timedelta(days=back)
        busy = 0.15 if day.weekday() > 4 else 0.0 if day.month == 8 and 5 < day.day < 22 else 1.0
        season = 0.6 if back > 250 else 0.9 if back > 90 else 1.5
        added: list[str] = []
        for _ in range(round(chance.gammavariate(2.2, 1.5) * busy * season)):
            number += 1
            tool, project = chosen(chance, TOOLS), chosen(chance, PROJECTS)
            name, lost = f"{tool}-{number:05d}", chance.random() < 0.02
            given = 0 if lost or chance.random() < 0.3 else chance.choice((1, 1, 2, 2, 3, 4))
            row: dict[str, Any] = {
                "path": f"/home/someone/src/{project}/{name}", "at": f"{day}T16:42:00+00:00", "date": str(day),
                "status": "deleted-unharvested" if lost else "harvested", "deleted": lost, "source": tool,
                "name": name, "title": chance.choice(TITLES), "project": f"/home/someone/src/{project}",
                "run": f"{day:%Y%m%d}T164200-aaaaaa", "provider": "openai", "model": "gpt-5.4-mini",
                "input_tokens": chance.randrange(6_000, 60_000), "output_tokens": chance.randrange(300, 2500),
            }  # fmt: skip
            for _ in range(given):
                category = chosen(chance, SHARES)
                row.setdefault("items", {}).setdefault(category, 0)
                row["items"][category] += 1
                line = f"- {chance.choice(LINES[category])} ({number}) [from: {name}, {day}]"
                files[category].append(line)
                added.append(line)
            entries[f"{number:064x}"] = row
        if added:
            when = datetime(day.year, day.month, day.day, 16, 42, tzinfo=UTC).isoformat()
            changes += [
                {"when": when, "run": f"{day:%Y%m%d}T164200-aaaaaa", "file": FILES[name], "sha": "a",
                 "added": [line for line in added if line in set(lines[-len(added):])]}
                for name, lines in files.items()
            ]  # fmt: skip
    paths = workspace.paths
    paths.knowledge.mkdir(parents=True)
    paths.ledger.write_text(json.dumps({"entries": entries}), "utf-8")
    for name, lines in files.items():
        head = "# Tasks\n\n## Open\n\n" if name == "tasks_open" else f"# {name.capitalize()}\n\n"
        (paths.knowledge / FILES[name]).write_text(head + "\n".join(lines) + "\n", "utf-8")
    paths.changes.write_text("".join(json.dumps(row) + "\n" for row in changes if row["added"]), "utf-8")
    assert isinstance(attempt(digest_on, workspace), Ok)
    return workspace
