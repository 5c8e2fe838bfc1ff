"""The library in the window: if these fail, a user cannot ask it, or what they said of an answer is not counted."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.commands.library.ingest import library_ingest
from core.commands.library.use import library_record, library_retrieve
from core.commands.panel.overview import documents
from core.commands.workspace import Workspace
from gui.toolkit.flow_rows import FlowRow, matching
from gui.views.library import rows as plain
from gui.views.library.rows import LibraryPage, everything, sheet
from gui.views.reader_rows import inline, marked_down
from tests.gui_stand import Stand
from tests.gui_window import Desk, desk_fixture  # noqa: F401 - pytest finds the fixture by itself
from tests.made_home import make_home
from tests.waiting import PATIENCE_SECONDS

pytest.importorskip("sqlalchemy", reason="the extra 'library' is not installed")

QUESTION = "Why does the kettle trip the fuse?"
KETTLE = """# Kettles

## Fuses

A kettle trips the fuse when its heater touches the jacket: measure the heater against the jacket, then descale it.

## Descaling

Citric acid descales a kettle in ten minutes. A fuse is not in danger then.
"""
FUSES = """# Fuses

## Ratings

A fuse of ten amperes trips when a kettle and a toaster share it. The Kettle draws eight amperes by itself.
"""


@pytest.fixture(name="files")
def files_fixture(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "kettles.md").write_text(KETTLE)
    (folder / "fuses.md").write_text(FUSES)
    return folder


@pytest.fixture(name="home")
def home_fixture(tmp_path: Path) -> Workspace:
    return make_home(tmp_path, 'provider = "offline"')


@pytest.fixture(name="stand")
def stand_fixture(desk: Desk, home: Workspace) -> Iterator[Stand]:
    from gui.views.library.view import LibraryView

    stand = Stand(desk, home, LibraryView, width=1000)
    yield stand
    stand.close()


def filled(home: Workspace, files: Path) -> LibraryPage:
    """A page of a library that was asked once."""
    library_ingest(home, [str(files)])
    answered = library_retrieve(home, QUESTION)
    return LibraryPage(answered=answered, chosen=answered.retrieved.dossiers[0].chunk.id)


def said(blocks: list[FlowRow]) -> str:
    """All that a sheet says."""
    return "\n".join(f"{row.meta} {row.text}" for row in blocks)


# --- plain -----------------------------------------------------------------------------------------------------------


def test_a_dossier_says_what_it_is_why_it_was_found_and_how_it_served(home: Workspace, files: Path) -> None:
    page = filled(home, files)
    first = page.answered.retrieved.dossiers[0]  # type: ignore[union-attr]
    row = everything(page)[0]
    assert row.key == first.chunk.id and row.can >= plain.SERVES and "undo" not in row.can
    told = sheet(page)
    assert "Good for" in said(told) and "Source" in said(told) and "Never yet" in said(told)
    assert all(f"{plain.STRATEGIES.get(name, name)} {score:.2f}" in said(told) for name, score in first.why.items())
    labels = [row.text[: row.strong] for row in told]
    assert labels[0] and "Good for" in labels and "Why it was found" in labels, "a label stands over what it says"
    marked = replace(page, said={first.chunk.id: "misleading"})
    assert everything(marked)[0].meta.startswith("you said: misleading") and "undo" in everything(marked)[0].can
    assert "Never yet" not in said(sheet(marked)) and row.meta.startswith("never used yet")
    for outcome in ("win", "misleading"):
        library_record(home, chunk=[first.chunk.id], outcome=outcome, retrieval=page.answered.retrieved.id)  # type: ignore[union-attr]
    again = replace(page, answered=library_retrieve(home, QUESTION), chosen=first.chunk.id)
    assert "1 win, 1 misleading" in said(sheet(again))


def test_documents_are_filtered_and_those_taken_out_come_last(home: Workspace, files: Path) -> None:
    from core.commands.library.documents import library_remove

    filled(home, files)
    library_remove(home, str(files / "fuses.md"))
    page = LibraryPage(documents=documents(home).documents)
    assert [row.text for row in everything(page)] == ["Kettles", "Fuses"]
    assert "archive" in everything(page)[0].can and "restore" in everything(page)[1].can
    assert [row.text for row in matching(everything(page), "kettles.md")] == ["Kettles"]
    assert "archived" in everything(page)[1].meta


def test_code_and_prose_of_a_passage_keep_their_places(home: Workspace, files: Path) -> None:
    """Where code went on in the next line, prose stood as code and code as prose; fences stood among the words."""
    rows = list(
        plain.passage("Call `queue.\njoin()` and wait,\nnever `get()`.\n- one\n- two\n\n```python\nx = 1\n```\n")
    )
    assert [row.text for row in rows] == ["Call queue. join() and wait, never get().\n- one\n- two", "x = 1"]
    assert [rows[0].text[begin:end] for begin, end in rows[0].code] == ["queue. join()", "get()"]
    assert rows[1].code == ((0, 5),)
    assert inline("Call `queue.\njoin()` and `get()`")[1] == ((5, 18, "code"), (23, 28, "code"))
    ticks = "`" * 200_000  # four seconds for a tenth of it, while the window stood still
    assert inline(ticks)[0] == ticks
    for powers in ("2**10 and 2**20 rows", "a**b + c**d", "f(**a, **b)"):
        assert inline(powers) == (powers, ()), "stars of a sum or a call make nothing bold"
    page = filled(home, files)
    one = page.dossier
    assert one is not None and page.answered is not None
    for content, quote in (
        ("# Fuses\n\n## Why\nIt is hot", "It is hot"),
        ("#include <stdio.h>\nint main;\n# a comment", "#include <stdio.h> int main; # a comment"),
        ("Run `make\ncheck` first:\n\n```sh\nmake check\n```", "Run make check first: make check"),
        ("pay \u202e001\x1b[8m hidden", "pay \ufffd001 hidden"),
        ("# Fuses", "Fuses"),
    ):
        other = replace(one, chunk=replace(one.chunk, content=content))
        found = replace(page.answered.retrieved, dossiers=(other,))
        row = everything(replace(page, answered=replace(page.answered, retrieved=found)))[0]
        assert row.text.partition("\n")[2] == quote
    coded = marked_down("k", "a `b c` d `e`")
    assert [coded.text[begin:end] for begin, end in coded.code] == ["b c", "e"]


def test_nothing_of_the_library_is_loaded_before_its_view_is_opened() -> None:
    code = (
        "import sys, gui.workbench, gui.panel; print([name for name in sys.modules if name.startswith('sqlalchemy')])"
    )
    told = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=True
    )
    assert told.stdout.strip() == "[]"


# --- in the window ---------------------------------------------------------------------------------------------------


def ask(stand: Stand, words: str) -> None:
    """Type a question, and wait for the answer."""
    stand.press("slash")
    stand.type_text(words)
    stand.press("Return")


def test_two_files_come_in_are_asked_and_one_key_counts(stand: Stand, home: Workspace, files: Path) -> None:
    stand.press("n")
    for name in ("kettles.md", "fuses.md"):
        stand.desk.dpg.set_value(stand.view.path, str(files / name))
        stand.view.ingest()
        stand.settle()
    assert sorted(stand.texts()) == ["Fuses", "Kettles"]
    stand.press("Escape")
    ask(stand, QUESTION.rstrip("?"))
    assert stand.view.data.dossier is not None and stand.view.list.selected == stand.view.data.chosen
    stand.press("w")
    kept = library_retrieve(home, QUESTION).retrieved.dossiers[0]
    assert [trace.outcome for trace in kept.traces] == ["win"]
    stand.press("w")
    kept = library_retrieve(home, QUESTION, unlogged=True).retrieved.dossiers[0]
    assert sum(sum(numbers.values()) for numbers in kept.tally.values()) == 1, "the same key twice counts once"
    assert stand.errors == []


def test_an_outcome_is_replaced_by_another_and_taken_back(stand: Stand, home: Workspace, files: Path) -> None:
    filled(home, files)
    ask(stand, QUESTION.rstrip("?"))
    chunk = str(stand.view.data.chosen)

    def outcomes() -> list[str]:
        found = library_retrieve(home, QUESTION, unlogged=True).retrieved.dossiers
        return [trace.outcome for one in found if one.chunk.id == chunk for trace in one.traces]

    stand.press("l")
    stand.press("w")
    assert outcomes() == ["win"], "a slip of the finger does not count beside what was meant"
    stand.press("u")
    assert outcomes() == [] and stand.view.data.said == {}
    assert stand.errors == []


def test_answers_take_the_place_of_the_documents(stand: Stand, home: Workspace, files: Path) -> None:
    """Esc brings these back; before there is one the view says what a library is for."""
    dpg, view = stand.desk.dpg, stand.view
    assert dpg.is_item_shown(view._states["documents"].item)
    library_ingest(home, [str(files)])
    view.opened()
    stand.settle()
    assert sorted(stand.texts()) == ["Fuses", "Kettles"]
    ask(stand, QUESTION.rstrip("?"))
    assert all("\n" in text for text in stand.texts()) and not dpg.is_item_shown(view._documents)
    stand.click(stand.point(stand.texts()[0])["win"].item)
    assert view.data.said == {view.list.rows[0].key: "win"}, "the mouse says how it served, too"
    stand.press("Escape")
    assert sorted(stand.texts()) == ["Fuses", "Kettles"] and stand.errors == []


def test_without_the_extra_the_view_names_the_command(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    stand.view.opened()
    stand.settle()
    assert stand.view.missing and stand.desk.dpg.is_item_shown(stand.view._states["missing"].item)
    assert not stand.desk.dpg.is_item_shown(stand.view._documents)
    assert stand.errors == []


def test_an_ingest_is_stopped_and_what_was_taken_in_stays(
    stand: Stand, home: Workspace, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gui.views.library import view

    begun, real = threading.Event(), library_ingest

    def slow(workspace: Workspace, paths: list[str], *, progress: Any, cancelled: Any) -> Any:
        """The real one, which after the first document waits for the user."""

        def told(step: Any) -> None:
            progress(step)
            begun.set()
            while not cancelled():
                time.sleep(0.01)

        return real(workspace, paths, progress=told, cancelled=cancelled)

    monkeypatch.setattr(view, "library_ingest", slow)
    stand.desk.dpg.set_value(stand.view.path, str(files))
    stand.view.ingest()
    assert stand.desk.until(begun.is_set) and stand.desk.until(lambda: stand.desk.dpg.get_value(stand.view.progress))
    assert "of 2" in stand.desk.dpg.get_value(stand.view.progress)
    stand.click(stand.view.stop.item)
    assert stand.desk.until(lambda: stand.view.job is None)
    stand.settle()
    assert len(stand.texts()) < 2 and "stopped" in stand.toast()[0]
    assert not stand.desk.dpg.is_item_shown(stand.view._going) and stand.errors == []


def test_a_document_is_archived_and_brought_back(stand: Stand, home: Workspace, files: Path) -> None:
    library_ingest(home, [str(files)])
    stand.view.opened()
    stand.settle()
    stand.view.list.select(stand.row("Fuses").key)
    stand.press("Delete")
    assert stand.texts() == ["Kettles", "Fuses"] and stand.row("Fuses").meta.startswith("archived")
    assert {one.document.title for one in library_retrieve(home, QUESTION).retrieved.dossiers} == {"Kettles"}
    stand.press("r")
    assert stand.row("Fuses").meta.startswith("note") and stand.errors == []


def test_what_hides_in_a_document_is_seen_and_a_long_title_is_cut(home: Workspace, files: Path) -> None:
    odd = "The kettle\x1b[31m \u202etrips the fuse.\u202c\tYes\x07\n"
    (files / "odd.md").write_text("# Kettle" + " fuse" * 200 + "\n\n" + odd)
    page = filled(home, files)
    titles = [row.text.partition("\n")[0] for row in everything(page)]
    told = "".join(titles) + said(sheet(page))
    assert not set(told) & set("\x1b\x07\u202e\t") and max(map(len, titles)) < 200


def test_what_a_new_text_leaves_behind_is_told_when_it_is_taken_in(
    stand: Stand, home: Workspace, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(home, files)
    best = library_retrieve(home, QUESTION).retrieved.dossiers[0]
    library_record(home, chunk=[best.chunk.id], outcome="win")
    changed = Path(best.document.source)
    changed.write_text("# Nothing\n\nOf what stood here before, no word stands here any more at all.\n")
    told: list[str] = []
    monkeypatch.setattr(stand.view, "tell", told.extend)
    stand.desk.dpg.set_value(stand.view.path, str(changed))
    stand.view.ingest()
    stand.settle()
    assert "Nothing" in stand.texts() and stand.errors == []
    assert any("1 usage record stays" in note for note in told)


def test_documents_that_another_program_took_in_are_there_when_the_user_is_back(stand: Stand, files: Path) -> None:
    """They came with another view and back alone, not with F5."""
    stand.view.opened()
    stand.settle()
    library_ingest(stand.shell.workspace, [str(files / "kettles.md")])
    stand.shell.change(returns=stand.shell.state.returns + 1)
    stand.settle()
    assert stand.texts() == ["Kettles"]
