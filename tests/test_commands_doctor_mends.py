"""What the doctor puts right in the trash and in torn lines: if these fail, a repair loses bytes of a person's."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.commands.workspace import Workspace
from core.knowledge.ledger import read_ledger
from tests.made_home import read, value, write
from tests.test_commands_doctor import findings, found, picture, repaired, sound, trashed


def damage_trash(workspace: Workspace) -> None:
    trashed(workspace).write_text("changed")


def foreign_trash(workspace: Workspace) -> None:
    (workspace.paths.trash / "mine.txt").write_text("mine")
    (workspace.paths.trash / "mine.txt").chmod(0o600)


def test_a_foreign_file_in_the_trash_is_named_and_kept(tmp_path: Path) -> None:
    workspace = sound(tmp_path)
    foreign_trash(workspace)
    before = picture(workspace)
    assert found(workspace, "trash-foreign").note
    findings(workspace, repair=True)
    assert picture(workspace) == before


def test_a_trashed_conversation_with_another_hash_is_set_aside_with_every_byte(tmp_path: Path) -> None:
    """It is no longer what was harvested: no purge may take it, and no restore may pass it for the conversation."""
    workspace = sound(tmp_path)
    damage_trash(workspace)
    name = trashed(workspace).name
    assert found(workspace, "trash-damaged").repairable
    rows = {row.code: row for row in findings(workspace, repair=True)}
    assert rows["trash-damaged"].repaired and rows.keys() <= {"trash-damaged", "trash-foreign"}
    assert trashed(workspace).name == f"kept-{name}" and trashed(workspace).read_text() == "changed"
    assert [row.code for row in findings(workspace)] == ["trash-foreign"]
    [entry] = value(read_ledger(workspace.paths)).values()
    assert "trash" not in entry and entry["status"] == "harvested"


@pytest.mark.parametrize("left", [6, 30, 45])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_a_line_that_was_torn_gets_its_end_back_from_the_plan(tmp_path: Path, left: int, ending: str) -> None:
    """The beginning alone has lost where it came from, and a second harvest would put the whole line beside it."""
    workspace = sound(tmp_path)
    text = read(workspace, "facts.md")
    whole = next(line for line in text.split("\n") if "[from: " in line)
    torn = whole[: whole.index("[from: ") + left + 7]
    path = workspace.paths.knowledge / "facts.md"
    path.write_bytes(text.replace(whole, f"{torn}\n- mine").replace("\n", ending).encode())
    write(workspace, "digest.md", "").unlink()
    repaired(workspace, "torn-line")
    assert path.read_bytes() == text.replace(whole, f"{whole}\n- mine").replace("\n", ending).encode()


def test_a_torn_line_that_no_plan_tells_or_that_stands_whole_is_left_to_the_person(tmp_path: Path) -> None:
    workspace = sound(tmp_path)
    write(workspace, "digest.md", "").unlink()
    text = read(workspace, "facts.md")
    whole = next(line for line in text.split("\n") if "[from: " in line)
    for torn in ("- nobody planned this [from: chat, 2026-0", whole[:-8]):
        (workspace.paths.knowledge / "facts.md").write_text(f"{text}{torn}\n")
        assert not found(workspace, "torn-line").repairable
        assert findings(workspace, repair=True)
        assert read(workspace, "facts.md") == f"{text}{torn}\n"


def test_of_several_damages_in_one_file_each_is_counted(tmp_path: Path) -> None:
    """Told of one where there are two, a person mends that one and believes the file whole."""
    workspace = sound(tmp_path)
    write(workspace, "digest.md", "").unlink()
    glued = "- one [from: a, 2026-01-01]- two [from: a, 2026-01-01]\n"
    write(workspace, "facts.md", f"# Facts\n\n{glued}{glued}")
    for repair in (False, True):
        left = [row.message for row in findings(workspace, repair) if row.code == "glued-lines" and not row.repaired]
        assert left == [f"line {number} holds two bullets; a line break is missing" for number in (3, 4)]


def test_a_trash_name_without_a_file_is_forgotten(tmp_path: Path) -> None:
    workspace = sound(tmp_path)
    trashed(workspace).unlink()
    repaired(workspace, "trash-missing")
    [entry] = value(read_ledger(workspace.paths)).values()
    assert "trash" not in entry and entry["deleted"] is True
