"""The rows of a large ledger are those of the whole, and its figures are there at once."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from core.base.markdown import sanitise_name
from core.commands.history.ledger import LedgerRow, ledger
from core.commands.panel.ledger_rows import counts_at_once, ledger_rows
from core.commands.panel.titles import called
from core.knowledge import ledger as ledger_module
from core.knowledge.ledger import counts_by_status, write_ledger
from core.knowledge.projects import own_name
from tests.panel_desk import workspace_at


def entries(count: int, seed: int = 1) -> dict[str, dict[str, Any]]:
    """Entries with everything that could be taken for another one: names, line breaks and fields within fields."""
    chance = random.Random(seed)
    words = ['\n      "at": "1999', '"status": "pruned"', "会議\n    }", "\\", '\n    },\n    "', ""]
    found: dict[str, dict[str, Any]] = {}
    for number in range(count):
        key = f"{chance.getrandbits(256):064x}" if number % 5 else f'path:/tmp/"{chance.choice(words)}{number}"'
        found[key] = {
            "at": f"2026-01-{chance.randrange(1, 28):02d}T12:00:00+00:00",
            "path": f"/c/{chance.choice(words)}-{number}",
            "status": chance.choice(["harvested", "pruned", "too-large", "会"]),
            "items": {"status": 3, "at": "x"} if number % 3 else {},
            "trash": {"at": {"at": chance.choice(words), "status": "y"}},
            "title": chance.choice(words) * chance.randrange(3),
        }
    return found


@pytest.mark.parametrize("large", [0, 1 << 30])
def test_rows_and_their_columns_are_those_of_the_ledger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, large: int
) -> None:
    """Else the window shows one conversation and opens another, or files it under another day or project."""
    monkeypatch.setattr(ledger_module, "LARGE_BYTES", large)
    workspace, made = workspace_at(tmp_path, demo=False), entries(300)
    for number, entry in enumerate(made.values()):
        entry |= {"date": f"2026-02-{number % 28 + 1:02d}", "source": "codex"} if number % 3 else {}
        entry |= {"project_root": f"/p/{number % 7}", "quarantined": number % 2} if number % 5 else {}
    made |= {
        f"archive:{number:08x}": {"status": "archived", "path": "/c/-1", "at": "2026-03-01"} for number in range(9)
    }
    write_ledger(workspace.paths, made)
    # A window listed each conversation twice once its copy was kept.
    found, whole = ledger_rows(workspace), [row for row in ledger(workspace) if not row.key.startswith("archive:")]
    counts = counts_by_status(made) if not large else None
    assert counts_at_once(workspace) == (counts and {name: number for name, number in counts.items() if number})
    assert list(found) == whole and found[-1] == whole[-1]
    assert found.statuses == [row.entry["status"] for row in whole]
    known = [called(row.entry) for row in whole]
    assert (found.days, found.projects) == ([one.day for one in known], [one.project for one in known])
    assert [found.place_of(row.key) for row in whole] == list(range(300)) and found.place_of("a") is None
    newest = {own_name(row.entry): called(row.entry) for row in reversed(whole)}
    for row in whole:
        name = own_name(row.entry)
        assert (
            found.called(name).day == newest[name].day and found.called(sanitise_name(name)).tool == newest[name].tool
        )
    waiting = [LedgerRow("", {"status": "waiting", "date": "2026-02-03", "project_root": "/p/9"})]
    both = found.behind(waiting)
    assert list(both) == waiting + whole and both.place_of(whole[7].key) == 8 and both.projects[0] == "/p/9"
    assert both.by_day["2026-02-03"] == found.by_day["2026-02-03"] + 1 and both.newest == found.newest


def test_a_ledger_that_is_exchanged_meanwhile_gives_no_row_of_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A harvest may end while the window opens; half an entry of one and half of the other is no conversation."""
    monkeypatch.setattr(ledger_module, "LARGE_BYTES", 0)
    workspace = workspace_at(tmp_path, demo=False)
    write_ledger(workspace.paths, entries(20))
    found = ledger_rows(workspace)
    assert found[3].key
    write_ledger(workspace.paths, entries(20, seed=2))
    assert found[3].key == "" and found[3].entry == {"name": "Reading…"} and len(found) == 20
    workspace.paths.ledger.unlink()
    assert found[0].key == ""
