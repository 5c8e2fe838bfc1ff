"""Commands on single bullets: if these fail, a person changes another bullet than the one they named."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from core.commands import bullets
from core.commands.bullets import list_tasks
from core.commands.bullets import notes as notes_of
from core.commands.statements import resolve_bullet
from core.commands.undo import undo
from core.knowledge.bullet_text import BulletRef
from tests.made_home import error, make_home, read, value, write

FACTS = "# Facts\n\n- The server listens on port 8080 [from: a, 2026-01-01]\n- The client uses port 9090\n- Port\n"


def test_the_whole_text_wins_over_a_part(tmp_path: Path) -> None:
    workspace = make_home(tmp_path)
    write(workspace, "facts.md", FACTS)
    value(bullets.edit(workspace, "facts", "Port", "Harbour"))
    assert read(workspace, "facts.md") == FACTS.replace("- Port\n", "- Harbour\n")


def test_a_part_that_only_one_bullet_has_names_it_in_any_case(tmp_path: Path) -> None:
    workspace = make_home(tmp_path)
    write(workspace, "facts.md", FACTS)
    done = value(bullets.edit(workspace, "facts", "PORT 8080", "The server listens on port 8081"))
    assert read(workspace, "facts.md") == FACTS.replace("8080", "8081")
    assert done.sha256 == hashlib.sha256(read(workspace, "facts.md").encode()).hexdigest()


def test_several_matches_are_listed_and_nothing_changes(tmp_path: Path) -> None:
    workspace = make_home(tmp_path)
    write(workspace, "facts.md", "".join(f"- number {at}\n" for at in range(7)))
    found = error(bullets.remove(workspace, "facts", "number"))
    assert found.code == "ambiguous"
    assert "facts.md:5 number 4" in found.message and "number 5" not in found.message and "2 more" in found.message
    assert read(workspace, "facts.md").count("number") == 7


SAID_TWICE = """# Facts

- The port is 8080. [from: a, 2026-01-01]
- Something else
- the port is `8080` [from: b, 2026-01-02]
"""


@pytest.mark.parametrize("words", ["port is 8080", "The port is 8080.", "the port is `8080`"])
def test_what_two_conversations_said_is_one_statement_for_its_words(tmp_path: Path, words: str) -> None:
    """Of the lines that say the same, those left over would go on saying the old words in the digest."""
    workspace = make_home(tmp_path)
    write(workspace, "facts.md", SAID_TWICE)
    write(workspace, "digest.md", "old")
    value(bullets.edit(workspace, "facts", words, "The port is 9090"))
    changed = read(workspace, "facts.md")
    assert changed.count("- The port is 9090 [from: ") == 2 and "8080" not in changed
    assert "9090 (in 2 conversations)" in read(workspace, "digest.md")
    struck = value(bullets.remove(workspace, "facts", "9090", strike=True))
    assert len(struck.added) == 2 and "9090" not in read(workspace, "digest.md")
    gone = value(bullets.remove(workspace, "", "9090"))
    assert read(workspace, "facts.md") == "# Facts\n\n- Something else\n" and len(gone.removed) == 2
    value(undo(workspace, gone.run))
    assert read(workspace, "facts.md").count("9090") == 2


def test_a_task_of_two_conversations_is_done_once(tmp_path: Path) -> None:
    workspace = make_home(tmp_path)
    write(
        workspace,
        "tasks.md",
        "# Tasks\n\n## Open\n\n- buy tea [from: a, 2026-01-01]\n- Buy tea [from: b, 2026-01-02]\n",
    )
    value(bullets.done(workspace, "buy tea"))
    assert not value(list_tasks(workspace, "open")) and len(value(list_tasks(workspace, "done"))) == 2
    assert error(bullets.done(workspace, "buy tea")).code == "already-done"
    value(bullets.reopen(workspace, "tea"))
    assert len(value(list_tasks(workspace, "open"))) == 2


def test_a_place_names_that_very_line_and_tells_of_the_others(tmp_path: Path) -> None:
    """FILE:LINE must not take more than the one line away, nor hide that others say the same."""
    workspace = make_home(tmp_path)
    write(workspace, "facts.md", SAID_TWICE)
    done = value(bullets.remove(workspace, "facts", "facts.md:3"))
    assert read(workspace, "facts.md") == SAID_TWICE.replace("- The port is 8080. [from: a, 2026-01-01]\n", "")
    assert done.warning.startswith("one more line says the same") and "facts.md:5" in done.warning
    assert not value(bullets.remove(workspace, "facts", "facts.md:4")).warning
    assert not value(bullets.remove(workspace, "facts", "facts.md:3")).warning


def test_the_same_words_in_two_files_are_not_changed_together(tmp_path: Path) -> None:
    workspace = make_home(tmp_path)
    write(workspace, "facts.md", "- same\n")
    write(workspace, "decisions.md", "- same\n- same\n")
    found = error(bullets.remove(workspace, "", "same"))
    assert found.code == "ambiguous" and "2 bullets" in found.message
    value(bullets.remove(workspace, "decisions", "same"))
    assert read(workspace, "decisions.md") == "" and read(workspace, "facts.md") == "- same\n"


def test_no_match_names_the_nearest_bullet(tmp_path: Path) -> None:
    workspace = make_home(tmp_path)
    write(workspace, "facts.md", FACTS)
    found = error(bullets.remove(workspace, "facts", "the serfer listens at port 8080"))
    assert found.code == "no-match" and "port 8080" in found.hint
    assert error(bullets.remove(workspace, "facts", " ")).code == "no-match"
    assert error(bullets.remove(workspace, "opinions", "x")).code == "no-category"


def test_a_task_is_done_once_and_can_be_reopened(tmp_path: Path) -> None:
    workspace = make_home(tmp_path)
    value(bullets.add(workspace, "tasks", "write the release notes"))
    value(bullets.done(workspace, "release"))
    assert error(bullets.done(workspace, "release")).code == "already-done"
    done = resolve_bullet(workspace.paths, "tasks_done", "release")
    assert value(done).refs[0].line > read(workspace, "tasks.md").split("\n").index("## Done")
    value(bullets.reopen(workspace, "release"))
    assert value(resolve_bullet(workspace.paths, "tasks_open", "release"))
    assert value(resolve_bullet(workspace.paths, "tasks", "release"))


def test_words_bring_back_the_line_that_is_struck_and_not_the_one_that_replaced_it(tmp_path: Path) -> None:
    """Who takes a strike-through back names it by words that the newer bullet has, too."""
    workspace = make_home(tmp_path)
    path = write(workspace, "facts.md", "- ~~the port is 8080~~ [from: a, 2026-01-01]\n- the port is 8081\n")
    value(bullets.unstrike(workspace, "facts", "the port"))
    assert path.read_text() == "- the port is 8080 [from: a, 2026-01-01]\n- the port is 8081\n"
    assert error(bullets.unstrike(workspace, "facts", "the port")).code == "no-match"
    assert error(bullets.unstrike(workspace, "facts", "facts.md:1")).code == "not-struck"


def test_a_task_that_stands_under_done_is_opened_again_and_not_written_twice(tmp_path: Path) -> None:
    workspace = make_home(tmp_path)
    value(bullets.add(workspace, "tasks", "ask the users"))
    value(bullets.done(workspace, "ask"))
    refused = error(bullets.add(workspace, "tasks", "ask the users"))
    assert refused.code == "already-there" and "knowledge reopen" in refused.hint
    value(bullets.reopen(workspace, "ask"))
    refused = error(bullets.add(workspace, "tasks", "ask the users"))
    assert refused.code == "already-there" and not refused.hint
    assert error(bullets.reopen(workspace, "ask")).code == "already-open"


def test_the_panel_s_stale_view_is_refused(tmp_path: Path) -> None:
    workspace = make_home(tmp_path)
    path = write(workspace, "facts.md", "- a\n")
    seen = hashlib.sha256(b"- a\n").hexdigest()
    path.write_text("- a\n- b\n")
    for refused in (
        bullets.strike(workspace, "facts", BulletRef("facts.md", 1, "- a"), seen=seen),
        bullets.remove(workspace, "facts", "a", seen=seen),
        bullets.add(workspace, "facts", "c", seen=seen),
    ):
        assert error(refused).code == "changed-outside"
    assert path.read_text() == "- a\n- b\n"


def test_an_edit_refreshes_a_digest_that_is_there(tmp_path: Path) -> None:
    workspace = make_home(tmp_path)
    write(workspace, "facts.md", "- old words\n- wrong\n")
    write(workspace, "digest.md", "stale")
    value(bullets.edit(workspace, "facts", "old", "new words"))
    value(bullets.remove(workspace, "facts", "wrong", strike=True))
    assert "new words" in read(workspace, "digest.md") and "wrong" not in read(workspace, "digest.md")
    value(bullets.unstrike(workspace, "facts", "wrong"))
    assert "wrong" in read(workspace, "digest.md")


def test_an_edit_does_not_bring_back_a_deleted_digest(tmp_path: Path) -> None:
    """Its absence is how the person switched it off."""
    workspace = make_home(tmp_path)
    value(bullets.add(workspace, "facts", "a"))
    assert not workspace.paths.digest.exists()


def test_a_digest_that_is_off_in_the_settings_is_left_alone(tmp_path: Path) -> None:
    workspace = make_home(tmp_path, "digest_enabled = false")
    write(workspace, "digest.md", "by somebody else")
    value(bullets.add(workspace, "facts", "a"))
    assert read(workspace, "digest.md") == "by somebody else"


def test_a_digest_that_cannot_be_written_does_not_undo_the_edit(tmp_path: Path) -> None:
    workspace = make_home(tmp_path)
    workspace.paths.digest.mkdir(parents=True)
    done = value(bullets.add(workspace, "facts", "a"))
    assert "digest" in done.warning and "- a [from: by-hand" in read(workspace, "facts.md")


def test_the_notes_of_a_file_are_found_under_its_new_and_its_old_name(tmp_path: Path) -> None:
    workspace = make_home(tmp_path)
    (tmp_path / "engine.py").write_text("x = 1\n")
    value(bullets.add(workspace, "files", "starts cold", file="engine.py"))
    (tmp_path / "engine.py").rename(tmp_path / "motor.py")
    for name in ("motor.py", "engine.py", str(tmp_path / "motor.py")):
        found = value(notes_of(workspace, name))
        assert [row.bullet.text for row in found.bullets] == ["starts cold"]
        assert found.path == str(tmp_path / "motor.py")
    value(bullets.edit(workspace, "files", "starts", "starts warm"))
    assert value(notes_of(workspace, "motor.py")).to_json()["bullets"][0]["text"] == "starts warm"


def test_a_file_without_notes_has_none(tmp_path: Path) -> None:
    workspace = make_home(tmp_path)
    found = value(notes_of(workspace, "nowhere.py"))
    assert found.bullets == () and found.note == ""
