"""The states of the views that are lists, for `panel_gallery.py`: filled, edited, refused, to be decided, empty.

All data in it is made up. It is not a test and not shipped.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from core.base.result import ErrorInfo
from core.commands.workspace import Workspace
from tests.panel_desk import Seat

Shot = Callable[[str], object]
SAID = """- The session layer keeps 30 connections open for each host [from: session-store-11, 2026-03-02]
- A circuit opens after 5 failures within 30 seconds 🔌 [from: retry-policy-rework, 2026-04-01]
- A circuit opens after 5 failures within 30 seconds 🔌. [from: flaky-tests, 2026-05-11]
- A circuit opens after 5 failures within `30` seconds 🔌 [from: 회의록-요약-2026, 2026-09-20]
- 索引の再構築は夜に一回だけ走る。 [from: 設計メモ-検索, 2026-02-11]
- The index is rebuilt on port 8080 [from: index-cache, 2026-05-01]
- The index is rebuilt on port 9090 [from: index-cache-2, 2026-10-04]
- The session layer keeps 60 connections open for each host [from: session-store-29, 2026-10-21]
- Release builds of the exporter are made on Fridays before noon [from: заметки-о-выпуске, 2026-06-01]
- Release builds of the exporter are made on Fridays well before noon [from: 🔥-release-day-🚀, 2026-07-01]
"""


def leave_said(workspace: Workspace) -> None:
    """Facts that several conversations told, that contradict, and that are alike."""
    with (workspace.paths.knowledge / "facts.md").open("a", encoding="utf-8") as file:
        file.write(SAID)


def leave_facts(workspace: Workspace) -> None:
    """Facts of several kinds beside those of the harvests."""
    rows = (
        ("pitfall", "Never rerun the migration by hand: it is not idempotent. ⚠️", 0.95, "2026-11-02", "[database]"),
        ("pattern", "検索は語と意味の両方で探し、重みで混ぜる。", 0.8, "2026-10-20", "[search]"),
        ("tool-quirk", "pytest-xdist 는 세션 픽스처를 작업자마다 만든다.", 0.66, "2026-08-11", "[pytest]"),
        ("fact", "Индекс перестраивается за минуту на ста тысячах строк.", 0.5, "2026-05-01", "[index]"),
        ("fact", "The session layer retries idempotent requests only.", 1.0, "2026-11-20", "[http, retry]"),
        ("fact", "The session layer retries only idempotent requests 🔁", 0.4, "2026-03-20", "[http]"),
        ("question", "Does the cache survive a rename of the home folder?", 0.3, "2026-04-02", "[]"),
    )
    lines = ["# session-store\n"]
    for number, (category, words, sure, day, tags) in enumerate(rows, start=1):
        expires = "  expires: 2026-06-01\n" if category == "question" else ""
        lines.append(
            f"- id: session-store:{category}:{number:03d}\n  fact: {json.dumps(words, ensure_ascii=False)}\n"
            f"  category: {category}\n  domain: session-store\n  confidence: {sure}\n"
            f"  tags: {tags}\n  source_count: {number}\n"
            f"  last_confirmed: {day}\n{expires}"
        )
    lines.append("- id: session-store:fact:1\n  fact: x\n  category: fact\n  domain: session-store\n  confidence: 2\n")
    place = workspace.paths.knowledge / "repos/session-store/facts.yaml"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("\n".join(lines), encoding="utf-8")


def opened(seat: Seat, name: str) -> Any:
    """A view of the panel, as it stands once it has been read."""
    seat.panel.shell.run("search" if name == "search" else f"view.{name}")
    seat.settle()
    return seat.panel.workbench.views[name]


def choose(seat: Seat, view: Any, row: Any) -> None:
    """Choose a row; its evidence is shown."""
    view.list.select(row.key)
    view.select(row)
    seat.settle()


def _row(view: Any, words: str) -> Any:
    return next(row for row in view.list.rows if words in row.text)


def lists(seat: Seat, shot: Shot) -> None:
    """Knowledge with what wants a look, and a left column that could not be read, in a home that is full."""
    view = opened(seat, "knowledge")
    view.show("facts")
    choose(seat, view, _row(view, "circuit opens"))
    shot("knowledge-confirmed")
    seat.panel.shell.select()
    seat.until(lambda: view.looks.waiting)
    view.show("all")
    shot("wants")
    for kind in {row.kind for row in view.looks.waiting}:
        view.looks.begin(kind)
        seat.settle()
        shot(f"wants-{kind}")
    view.looks.close()
    conversations = opened(seat, "conversations")
    error = ErrorInfo("unreadable", "The conversations of Codex cannot be read: permission denied", "~/.codex/sessions")
    seat.panel.shell.error(error, "Try again", conversations.side.look)
    shot("sources-error")
    seat.panel.workbench.banner.hide()


def nothing(seat: Seat, shot: Shot) -> None:
    """The same views before anything is there."""
    for name in ("knowledge", "conversations"):
        opened(seat, name)
        shot(f"{name}-empty")
    searching = opened(seat, "search")
    seat.desk.type_text("kettle")
    seat.until(lambda: not searching.pending)
    seat.settle()
    shot("search-empty")
