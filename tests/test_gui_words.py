"""Small words on the screen: what stands in a file is shown as a person reads it, and counts are grammatical."""

from __future__ import annotations

import pytest

from core.base.markdown import without_emphasis
from core.base.result import ErrorInfo
from core.commands.panel.overview import FileState
from core.commands.panel.settings import shipped_help
from core.harvest.report import HarvestReport
from core.knowledge.run_state import DELETED
from gui.state import NOTHING, Selection
from gui.toolkit.flow_rows import SEPARATOR
from gui.views.frame import age_letters, file_rows
from gui.views.harvest_dialog import PlanRow, plan_tip
from gui.views.harvest_watch import nothing_words
from gui.views.ledger import row_of, tip
from gui.views.settings import help_words


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


def test_no_comment_of_a_setting_ends_in_a_lonely_full_stop() -> None:
    """Dear ImGui may break a line after a straight quote, and leaves the full stop to stand alone."""
    words = [help_words(row.help) for row in shipped_help()]
    lines = [line for one in words for line in one.split("\n") if "[" not in line]
    assert not [line for line in lines if '".' in line or '",' in line]
    assert help_words('Say "a" or "b".\nIt is\nread.') == "Say “a” or “b”. It is read."
    assert help_words('Who:\n  "x"    far away').split("\n") == ["Who:", "    “x”  –  far away"]
    shown = help_words('Who:\n  "x"  far\n       away\n  "y"  near\nNobody else.\nNot even z.').split("\n")
    assert shown == ["Who:", "    “x”  –  far away", "    “y”  –  near", "Nobody else. Not even z."], (
        "a line that goes on is no line of its own, and what stands below a list is none of its rows"
    )


def test_a_tooltip_says_what_a_narrow_cell_cuts() -> None:
    """A reason that ends in the middle of a word is no reason."""
    assert plan_tip(PlanRow("defer", "a-name", 5, "the provider refused it")) == (
        "a-name\nnext time: the provider refused it\n5B"
    )
    entry = {"path": "/home/someone/chats/a", "status": "harvest-failed", "error": "no key was found"}
    assert tip(row_of("f" * 64, entry)) == "Failed\nno key was found\n/home/someone/chats/a"


def test_a_selection_belongs_to_the_view_that_shows_it() -> None:
    """The inspector must not speak of a conversation beside the settings."""
    homes = {"conversation": "ledger", "source": "files", "file": "", "": ""}
    assert {kind: Selection(kind, "x").home for kind in homes} == homes
    assert Selection("bullet", "facts.md").home == "knowledge" and Selection("bullet", "files/1.md").home == "files"
    assert NOTHING.home == "" and SEPARATOR.strip() == "·"


def test_a_file_that_is_not_there_says_why_and_takes_no_room_from_the_others() -> None:
    """A digest that the person deleted is not one that was never written."""
    files = [
        FileState("facts.md", "/k/facts.md", "category", True, 900, 12, 100.0, 2, 1),
        FileState("digest.md", "/k/digest.md", "digest", False),
    ]
    assert [row.age for row in file_rows(files, 400.0)] == ["edited", "none yet"]
    assert [row.age for row in file_rows(files, 400.0, DELETED)] == ["edited", "deleted"]
    assert age_letters(file_rows(files, 400.0)) == len("edited") + 2, "no name is cut for it"


def test_of_a_harvest_that_failed_nobody_says_that_there_was_nothing_new() -> None:
    """The person would believe that their conversations had been read."""
    refused = ErrorInfo("no-model", "the model cannot be reached")
    assert nothing_words(HarvestReport(True, failed=2, errors=[refused])) == (
        "No conversation was read: the model cannot be reached"
    )
    assert nothing_words(HarvestReport(True, harvested=3, failed=1, errors=[refused])).startswith("Nothing new")
