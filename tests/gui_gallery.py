"""A picture book of the panel's parts, for eyes: `python tests/gui_gallery.py FOLDER` writes screenshots there.

All data in it is made up. It is not a test and not shipped.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.gui_window import Desk, open_desk

COUNT = 100_000
NAMES = [
    "retry_policy.md",
    "session_store.md",
    "digest_builder.py",
    "設計メモ.md",
    "회의록-요약.md",
    "заметки.md",
    "🔥 release 🚀.md",
]
FOLDERS = ["src/net", "src/gui", "notes/会議", "docs/adr", "заметки/2026"]
STATUS = ["harvested", "harvested", "failed", "harvested", "too-large", "harvested", "deleted", "edited"]
ICONS = {
    "harvested": "circle-check",
    "failed": "circle-x",
    "deleted": "file-x",
    "too-large": "weight",
    "edited": "file-pen",
}
CATEGORIES = ["decisions", "pitfalls", "patterns", "domain", "people"]


def cell(row: int, column: int) -> Any:
    """A made-up row of the ledger."""
    from gui.toolkit.icons import icon

    status = STATUS[row % len(STATUS)]
    category = row * 7 % len(CATEGORIES)
    return (
        (icon(ICONS[status]), status),
        NAMES[row % len(NAMES)],
        (FOLDERS[row * 3 % len(FOLDERS)], "hint"),
        (CATEGORIES[category], f"ramp:{category}"),
        str(row % 9),
        f"{row * 37 % 640 / 10:.1f}K",
        (f"{row % 28}d", "hint"),
    )[column]


def main_page(desk: Desk) -> dict[str, Any]:
    """Header, rail, table, inspector, status line: as the panel will be."""
    import dearpygui.dearpygui as dpg

    from gui.toolkit.charts import Bars, Legend, Part, Progress, SegmentBar
    from gui.toolkit.columns import Column
    from gui.toolkit.icons import icon
    from gui.toolkit.layout import ChipRow, Columns, Pane, box, card, gap, lowered, spread, trailing_row
    from gui.toolkit.table import BigTable
    from gui.toolkit.widgets import Button, CopyText, Toggle, field, heading, section, text

    look, nothing = desk.look, lambda *_: None
    root = box(look, desk.page, "root")
    bar = box(look, root, "bar", height=48)
    left, right = spread(look, bar)
    title = lowered(look, left, 4)
    text(look, title, icon("library"), "heading", "accent")
    text(look, title, "Knowledge", "heading")
    text(look, lowered(look, left, 8), "~/.manual_slop", "mono", "hint")
    gap(look, left, 16)
    field(look, left, placeholder=f"{icon('search')}  Search all knowledge        Ctrl+K", width=330)
    gap(look, left, 16)
    Toggle(look, left, "Digest in prompt", nothing, on=True, tip="Put the digest before every prompt", shortcut="D")
    Button(look, right, "", nothing, icon="refresh-cw", kind="ghost", tip="Look again", shortcut="F5")
    Button(look, right, "", nothing, icon="power", kind="ghost", tip="Turn off")
    Button(look, right, "Harvest…", nothing, icon="wheat", kind="primary", shortcut="Ctrl+H")
    middle = box(look, root, "gutter")
    look.follow(root, lambda _w, h: dpg.configure_item(middle, height=int(h) - look.px(48 + 48 + 16)))
    columns = Columns(look, middle, [Pane("rail", 246, scroll=True), Pane("work", 0, 300), Pane("inspector", 352)])
    rail, work, inspector = (pane.item for pane in columns.panes)

    digest = card(look, rail, "Digest", "4 KB budget")
    row = dpg.add_group(horizontal=True, parent=digest.item)
    text(look, row, "3,150", "number")
    text(look, lowered(look, row, 11), "of 4,096 B · 76 %", "text", "muted")
    parts = [Part(name, 1010 - 190 * at, f"ramp:{at}", f"{1010 - 190 * at:,} B") for at, name in enumerate(CATEGORIES)]
    SegmentBar(look, digest.item, digest.item).set(parts, 4096, 3700)
    Legend(look, digest.item, 8).set(parts)
    files = card(look, rail, "Files", height=330)
    group = look.theme(dpg.add_group(parent=files.item), "loose")
    for at, name in enumerate(CATEGORIES):
        one, two, three = trailing_row(look, group, 3, 1)
        text(look, one, icon("file-text"), "text", f"ramp:{at}")
        text(look, one, f"{name}.md")
        text(look, two, f"{8.9 - at:.1f}K  ".rjust(7), "mono", "hint")
        text(look, three, "2 min".rjust(6), "mono", "edited" if at == 3 else "hint")
    days = card(look, rail, "Harvests", "last 14 days", height=-1)
    Bars(look, days.item, days.item).set([2, 1, 4, 7, 3, 1, 1, 5, 9, 4, 2, 6, 11, 3], "3 harvests today")

    pane = box(look, work)
    chips = ChipRow(look, pane, pane)
    for name, color, count in (
        ("All", "muted", COUNT), ("Harvested", "harvested", 89938), ("Failed", "failed", 4062),
        ("Deleted", "deleted", 2963), ("Too large", "too-large", 3037),
    ):  # fmt: skip
        chips.add(name, color, nothing).set_count(count)
    chips.chips[0].set_on(True)
    spec = [
        Column("status", "", 24, sortable=False), Column("file", "File", 0, 1.6),
        Column("folder", "Folder", 0, least=520),
        Column("category", "Category", 88), Column("notes", "Notes", 58, role="mono", chars=6, least=460),
        Column("size", "Size", 62, role="mono", chars=7, least=340),
        Column("age", "Age", 54, role="mono", chars=6, least=400),
    ]  # fmt: skip
    table = BigTable(look, spec, cell)
    table.build(pane)
    table.set_rows(range(COUNT))
    table.select(0)

    side = box(look, inspector)
    heading(look, side, "retry_policy.md", "circle-check", "harvested")
    CopyText(look, side, "src/net/retry_policy.md")
    row = dpg.add_group(horizontal=True, parent=side)
    text(look, row, icon("circle-check"), "text", "harvested")
    text(look, row, "harvested · 42.0 KB · 4 notes · 2 d ago", "text", "muted")
    row = dpg.add_group(horizontal=True, parent=side)
    Button(look, row, "Open", nothing, icon="external-link")
    Button(look, row, "Harvest again", nothing, icon="wheat")
    section(look, side, "Notes", "4")
    notes = card(look, side, height=250, scroll=True)
    for words in (
        "Retry only idempotent requests; POST is retried only with an Idempotency-Key.",
        "429 の Retry-After は秒でも日付でも来る → 両方を解釈する。⚠️",
        "회로는 30초 안에 5번 실패하면 열린다. Цепь размыкается.",
    ):
        look.theme(text(look, notes.item, words, wrap=True), "")
        text(look, notes.item, "decisions · L4–6", "small", "hint")
    section(look, side, "Source", "27 lines · sha 9f3c1a…")
    well = look.theme(dpg.add_group(parent=box(look, side, "well", scroll=True)), "tight")
    for line in (
        "# Retry policy",
        "",
        "base = 0.25 s, factor 2, cap 8 s,",
        "## 429 と Retry-After",
        "日付でも来る。両方を解釈",
    ):
        text(look, well, line, "mono", "accent" if line.startswith("#") else "muted")

    foot = box(look, root, "bar")
    left, right = spread(look, foot)
    Button(look, left, "Cancel", nothing, icon="x")
    progress = Progress(look, lowered(look, left, 10))
    progress.set(0.42)
    text(look, lowered(look, left, 6), "Harvesting 49 of 118 · 2 min left · 0.02 $", "text", "muted")
    text(look, lowered(look, right, 7), "100,000 of 100,000 rows", "mono", "hint")
    return {"table": table, "columns": columns, "chips": chips}


def parts_page(desk: Desk) -> dict[str, Any]:
    """Everything that the main page does not show."""
    import dearpygui.dearpygui as dpg

    from core.base.result import ErrorInfo
    from gui.toolkit.charts import Progress
    from gui.toolkit.icons import ICONS
    from gui.toolkit.layout import box, card
    from gui.toolkit.messages import Banner, EmptyState, Toast
    from gui.toolkit.widgets import Button, Toggle, field, heading, hint, section, text

    look, nothing = desk.look, lambda *_: None
    root = box(look, desk.page)
    heading(look, root, "Settings", "settings")
    row = dpg.add_group(horizontal=True, parent=root)
    for kind, label, icon in (
        ("primary", "Apply", "check"), ("secondary", "Open", "external-link"), ("danger", "Delete", "trash-2"),
        ("ghost", "Undo", "undo-2"), ("link", "What is this?", "info"),
    ):  # fmt: skip
        Button(look, row, label, nothing, icon=icon, kind=kind)
    Button(look, row, "Not now", nothing, icon="ban").enable(False)
    Button(look, row, "Not now", nothing, kind="primary").enable(False)
    row = dpg.add_group(horizontal=True, parent=root)
    Toggle(look, row, "Off", nothing)
    Toggle(look, row, "On", nothing, on=True)
    dpg.add_checkbox(label="Checkbox", parent=row, default_value=True)
    look.size(dpg.add_combo(["openai", "anthropic", "設定"], default_value="anthropic", parent=row), width=150)
    look.size(dpg.add_input_int(default_value=4096, parent=row), width=130)
    field(look, row, placeholder="Type here", width=180)
    field(look, root, value="日本語 한국어 Кириллица ελληνικά 简体 🎉", lines=2)
    Banner(look, root).set(
        ErrorInfo("no-credentials", "No key for anthropic was found", "~/.manual_slop/credentials.toml", "Set it"),
        "Open settings", nothing,
    )  # fmt: skip
    Banner(look, root, kind="notice").set(ErrorInfo("edited", "notes.md was changed outside; your edit was kept aside"))
    section(look, root, "Progress", "12 of 40")
    Progress(look, root, width=400).set(0.3)
    section(look, root, "Type", "text 16, strong 16, heading 20, number 30, small 14, mono 14")
    for role in ("text", "strong", "heading", "small", "mono"):
        text(look, root, f"{role}: Hamburgefonstiv 設計メモ 한국어 Привет ελλ → ≈ ½ 🔥 👍🏽 0123", role)
    icons = text(look, root, "  ".join(ICONS.values()), "heading", "muted", wrap=True)
    hint(look, icons, "All icons", "Ctrl+I")
    empty = card(look, root, height=-1, kind="well")
    state = EmptyState(
        look, empty.item, empty.item, icon="leaf", title="No knowledge yet",
        words="What your conversations taught appears here.\nThe first harvest fills it.",
        command="knowledge harvest --dry-run", action="Harvest…", on_action=nothing,
    )  # fmt: skip
    state.show(True)
    Toast(look).show("12 bullets added", action="Undo", on_action=nothing, seconds=600)
    return {}


def dialog_over(desk: Desk) -> None:
    """The main page with the dry run over it."""
    import dearpygui.dearpygui as dpg

    from gui.toolkit.dialogs import Dialog
    from gui.toolkit.icons import icon
    from gui.toolkit.layout import card, trailing_row
    from gui.toolkit.widgets import text

    look = desk.look
    dialog = Dialog(look, "Dry run", "Apply", lambda: None, icon="wheat", width=540)
    text(look, dialog.body, "Nothing has been written. Apply would:", "text", "muted")
    box = card(look, dialog.body, height=190, kind="card")
    group = look.theme(dpg.add_group(parent=box.item), "loose")
    for name, color, words, aside in (
        ("circle-check", "harvested", "harvest 118 new or changed conversations", "≈ 214 notes"),
        ("weight", "too-large", "skip 2 that are too large", "> 64 KB"),
        ("file-x", "deleted", "mark 1 as deleted unharvested", "kept in ledger"),
        ("sparkles", "accent", "rebuild digest.md", "3,150 → 3,402 B"),
        ("triangle-alert", "edited", "leave prompt.md alone (edited by hand)", ""),
    ):
        one, two = trailing_row(look, group, 2, 1)
        text(look, one, icon(name), "text", color)
        text(look, one, words)
        text(look, two, aside, "mono", "muted")
    dialog.set_note("est. 0.04 $ · 1 min 10 s")
    dialog.open()


def main(folder: Path) -> None:
    """Write all pictures."""
    desk = open_desk()
    for theme in ("dark", "light"):
        for scale in (1.0, 1.5):
            desk.fresh(scale, theme)
            main_page(desk)
            desk.frames(8)
            desk.screenshot(folder / f"main-{theme}-{scale}.png")
            dialog_over(desk)
            desk.frames(8)
            desk.screenshot(folder / f"dialog-{theme}-{scale}.png")
            desk.clear()
            desk.fresh(scale, theme)
            parts_page(desk)
            desk.frames(8)
            desk.screenshot(folder / f"parts-{theme}-{scale}.png")
            print(theme, scale, desk.jobs.errors)
            desk.clear()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "shots"))
