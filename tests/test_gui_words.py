"""Small words on the screen: what stands in a file is shown as a user reads it, and counts are grammatical."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from core.base.markdown import without_emphasis
from core.base.result import ErrorInfo
from core.commands.panel.overview import FileState
from core.commands.panel.titles import Called
from core.harvest.report import HarvestReport
from core.knowledge.run_state import DELETED, OFF
from gui.harvest_run import ended_words
from gui.state import NOTHING, Selection
from gui.toolkit.flow_rows import SEPARATOR
from gui.toolkit.messages import error_words
from gui.views.conversations import row_of, tip
from gui.views.harvest_dialog import note_words, plan_row, result_lines
from gui.views.harvest_watch import nothing_words
from gui.views.search_rows import waiting_words
from gui.views.start import state_of
from tests.waiting import PATIENCE_SECONDS


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("POST needs an `Idempotency-Key`.", "POST needs an Idempotency-Key."),
        ("``a ` b`` and `c`", "a ` b and c"),
        ("a lone ` stays", "a lone ` stays"),
        ("**Release**: run `make`", "Release: run `make`"),
        ("```", "```"),
    ],
)
def test_marks_of_code_are_for_the_file_not_for_the_screen(written: str, shown: str) -> None:
    """The screen has one kind of letters: backticks there are dirt. One that is no mark is part of what was said."""
    assert without_emphasis(written) == shown


def test_a_tooltip_says_what_a_narrow_cell_cuts() -> None:
    """A reason that ends in the middle of a word is no reason."""
    entry = {"path": "/home/someone/chats/a", "status": "harvest-failed", "error": "no key was found"}
    assert tip(row_of("f" * 64, entry)) == "Failed\nno key was found\n/home/someone/chats/a"


def test_a_selection_belongs_to_the_view_that_shows_it() -> None:
    """The inspector must not speak of a conversation beside the settings."""
    homes = {"conversation": "conversations", "source": "files", "file": "", "": ""}
    assert {kind: Selection(kind, "x").home for kind in homes} == homes
    assert Selection("bullet", "facts.md").home == "knowledge" and Selection("bullet", "files/1.md").home == "files"
    assert NOTHING.home == "" and SEPARATOR.strip() == "·"


def test_a_file_says_in_a_word_how_it_stands() -> None:
    """A digest that the user deleted is not one that was never written."""
    files = [
        FileState("facts.md", "/k/facts.md", "category", True, 900, 12, 100.0, 2, 1),
        FileState("digest.md", "/k/digest.md", "digest", False),
    ]

    def said(digest: str = "") -> list[str]:
        return [state_of(row, False, digest)[0] for row in files]

    assert said() == ["edited", "none"] and said(DELETED) == ["edited", "deleted"] and said(OFF)[-1] == "none"
    assert state_of(files[0], True, "") == ("damaged", "failed"), "worse than edited"


def test_of_a_harvest_that_failed_nobody_says_that_there_was_nothing_new() -> None:
    """The user would believe that their conversations had been read."""
    refused = ErrorInfo("no-model", "the model cannot be reached")
    assert nothing_words(HarvestReport(True, failed=2, errors=[refused])) == (
        "No conversation was read: the model cannot be reached"
    )
    assert nothing_words(HarvestReport(True, harvested=3, failed=1, errors=[refused])).startswith("Nothing new")


def test_the_end_of_a_failed_run_says_one_thing() -> None:
    """ "Harvested: 0 conversations" beside "Harvest failed": the user would have to guess which of them holds."""
    refused = ErrorInfo("no-model", "the model cannot be reached")
    report = HarvestReport(True, failed=1, kept=5, errors=[refused])
    assert [line.text for line in result_lines(report)] == [
        "5 conversations stay where they are", "1 conversation failed and stays where it is",
    ]  # fmt: skip
    assert ended_words(report) == "Nothing was harvested: 1 conversation failed"
    one = HarvestReport(True, harvested=1, lines=[("facts", "a", 1)])
    assert ended_words(one) == "Harvested: 1 conversation, 1 new bullet"


def test_a_note_names_what_the_window_has_in_place_of_a_command() -> None:
    note = "the last harvest was cut off; 'knowledge harvest --finish' puts that right, and so does --apply"
    assert note_words(note) == "The last harvest was cut off; Apply finishes that first"
    note = "the limit is 1.0MB, and 'knowledge config set max_harvest_source_bytes 2000000' raises it"
    words = "The limit is 1.0MB, and max_harvest_source_bytes = 2000000 in the settings file raises it"
    assert note_words(note) == words


def test_a_dry_run_says_in_one_line_what_happens_and_why() -> None:
    """Two columns, one of them empty, cut the titles that a user looks for."""
    told = (("harvest", ""), ("user-kept", "saved by you"), ("keep", ""), ("too-large", "above 5 MB"))
    rows = [plan_row(action, why, "/c", "c", 1) for action, why in told]
    assert [row.meta.split("  ·  ")[0] for row in rows] == [
        "harvest", "saved by you", "not touched", "too large: above 5 MB",
    ]  # fmt: skip
    row = plan_row("harvest", "conversation of Codex", "/c", "c", 1, Called("Talk", "codex", "", "/srv/shop"))
    assert row.meta == "harvest  ·  1B  ·  shop  ·  Codex", "the tool once"


def test_what_is_not_searched_yet_stands_beside_the_button_that_reads_it() -> None:
    """With its reason a line below, "Read them now" would be a button for nothing."""
    assert waiting_words(
        "not searched yet: 40 conversations (7.1MB): about 1 s, 2.7MB in the cache; 'knowledge search --build' reads it"
    ) == "40 conversations not searched yet, about 1 s"  # fmt: skip
    assert waiting_words("not searched yet: the index is gone; do this") == "Not searched yet: the index is gone"


def test_an_error_names_a_place_as_the_rest_of_the_window_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside "Changes go to ~/config.toml" the whole path would look like another file."""
    monkeypatch.setenv("HOME", "/home/someone")
    error = ErrorInfo("read-only", "this file is read-only", "/home/someone/facts.md", "make it writable")
    if os.sep == "/":
        assert error_words(error) == "This file is read-only (~/facts.md). Make it writable."
    other = ErrorInfo("read-only", "this file is read-only", "/backup/home/someone/facts.md")
    assert error_words(other) == "This file is read-only (/backup/home/someone/facts.md)."


def test_whoever_asks_the_gallery_for_help_gets_no_folder_of_pictures(tmp_path: Path) -> None:
    """It took the word for the name of a folder, and 69 pictures stood in the repository."""
    command = [sys.executable, "-m", "tests.panel_gallery", "--help"]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[1])}
    told = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True,
                          timeout=PATIENCE_SECONDS)  # fmt: skip
    assert told.stdout.startswith("Pictures of the whole panel") and not [*tmp_path.iterdir()]
