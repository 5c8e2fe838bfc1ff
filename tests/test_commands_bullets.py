"""What a user does with bullets: editing, deciding on statements, letting held ones in."""

from __future__ import annotations

import hashlib
import io
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.cli.main import main
from core.commands import bullets
from core.commands.bullets import change_all
from core.commands.bullets import notes as notes_of
from core.commands.history.runs import runs
from core.commands.history.undo import undo
from core.commands.panel.bullets import category_view
from core.commands.quarantine import accept_all, drop_all, quarantine_accept, quarantine_drop, quarantine_list
from core.commands.review.decide import review, review_text
from core.commands.review.waiting import similar
from core.commands.statements import LineChange, bullets_of, said, said_with
from core.commands.status import status
from core.commands.workspace import Workspace
from core.knowledge.bullet_text import BulletRef
from tests.edited import held_line
from tests.made_home import (
    HURRIED,
    Clock,
    Model,
    converse,
    error,
    harvested,
    make_home,
    read,
    workspace_fixture,
    write,
)

__all__ = ["workspace_fixture"]

# --- Commands on single bullets: if these fail, a user changes another bullet than the one they named.

FACTS = "# Facts\n\n- The server listens on port 8080 [from: a, 2026-01-01]\n- The client uses port 9090\n- Port\n"


def test_the_whole_text_wins_over_a_part(workspace: Workspace) -> None:
    write(workspace, "facts.md", FACTS)
    bullets.edit(workspace, "facts", "Port", "Harbour")
    assert read(workspace, "facts.md") == FACTS.replace("- Port\n", "- Harbour\n")


def test_a_part_that_only_one_bullet_has_names_it_in_any_case(workspace: Workspace) -> None:
    write(workspace, "facts.md", FACTS)
    done = bullets.edit(workspace, "facts", "PORT 8080", "The server listens on port 8081")
    assert read(workspace, "facts.md") == FACTS.replace("8080", "8081")
    assert done.sha256 == hashlib.sha256(read(workspace, "facts.md").encode()).hexdigest()


def command(workspace: Workspace, *words: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    code = main(["--home", str(workspace.paths.home), *words], out, err)
    return code, out.getvalue(), err.getvalue()


def ids(workspace: Workspace, *words: str) -> dict[str, str]:
    """Text -> id, as `knowledge list --json` has them."""
    _, out, _ = command(workspace, "list", *words, "--project", "all", "--json")
    return {row["text"]: row["id"] for row in json.loads(out)["bullets"]}


def test_an_id_from_the_list_names_one_statement_and_a_stale_one_names_nothing(workspace: Workspace) -> None:
    """If this fails, `done` or `rm` changes another line than the one that the user picked from the list."""
    write(workspace, "tasks.md", "# Tasks\n\n## Open\n\n- see line ~1022\n- call 1 more\n\n## Done\n")
    write(workspace, "facts.md", FACTS)
    before = read(workspace, "tasks.md")
    for word in ("1", "10", "x"):
        code, _, err = command(workspace, "done", word)
        assert code == 1 and "too short to name a bullet" in err and read(workspace, "tasks.md") == before
    shown = ids(workspace)
    assert set(shown) > {"see line ~1022", "call 1 more", "Port"} and len(set(shown.values())) == len(shown)
    first = shown["see line ~1022"]
    assert command(workspace, "done", first)[0] == 0
    assert ids(workspace, "--done") == {"see line ~1022": first}, "the id stays with the words"
    assert command(workspace, "edit", shown["Port"], "Harbour")[0] == 0
    code, _, err = command(workspace, "rm", shown["Port"])
    assert code == 1 and "an id changes with the words of its bullet" in err
    assert command(workspace, "rm", ids(workspace)["Harbour"])[0] == 0 and "Harbour" not in read(workspace, "facts.md")


def test_a_project_lists_what_the_user_wrote_by_hand_and_no_other_projects_lines(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten lines that `context` showed there were "of other projects", and no id was to be had."""
    entry = {
        "status": "harvested",
        "path": "/srv/other/talk",
        "project": "/srv/other",
        "at": "2026-05-01T12:00:00+00:00",
    }
    write(workspace, "ledger.json", json.dumps({"entries": {"a" * 64: entry | {"name": "talk"}}}))
    write(workspace, "facts.md", "# Facts\n\n- The bakery opens at six [from: talk, 2026-05-01]\n")
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "shop")
    assert command(workspace, "add", "facts", "Prices are whole cents")[0] == 0
    _, out, _ = command(workspace, "list", "--json")
    found = json.loads(out)
    assert [row["text"] for row in found["bullets"]] == ["Prices are whole cents"] and found["elsewhere"] == 1


def test_an_id_names_every_line_of_its_statement_and_words_in_the_form_of_an_id_still_name(
    workspace: Workspace,
) -> None:
    write(workspace, "facts.md", "# Facts\n\n- Same [from: a, 2026-01-01]\n- same. [from: b, 2026-01-02]\n- support\n")
    code, out, _ = command(workspace, "list", "facts", "--project", "all")
    assert code == 0 and "in 2 conversations" in out
    assert command(workspace, "rm", ids(workspace)["same."])[0] == 0
    assert read(workspace, "facts.md") == "# Facts\n\n- support\n"
    assert command(workspace, "rm", "support")[0] == 0


def test_an_id_names_what_stands_before_what_is_struck_through(workspace: Workspace) -> None:
    """Of a statement that was struck in one place and stands in another, both lines have the one id of the list."""
    write(workspace, "facts.md", "# Facts\n\n- ~~The port is 8080~~ [from: a, 2026-01-01]\n- The port is 8080\n")
    code, _, err = command(workspace, "rm", ids(workspace)["The port is 8080"])
    assert code == 0, err
    assert read(workspace, "facts.md") == "# Facts\n\n- ~~The port is 8080~~ [from: a, 2026-01-01]\n"


def test_lines_that_share_an_id_are_told_apart_by_their_place(workspace: Workspace) -> None:
    """They differ in what stands below them; who is told to give an id has given the only one."""
    text = "# Decisions\n\n- Same words\n  one below\n- Same words\n  another below\n"
    write(workspace, "decisions.md", text)
    _, _, err = command(workspace, "rm", ids(workspace)["Same words"])
    assert "decisions.md:3" in err and "decisions.md:5" in err and err.endswith(". Give FILE:LINE as it stands here.\n")
    done = bullets.remove(workspace, "", "decisions.md:3")
    assert read(workspace, "decisions.md") == text.replace("- Same words\n  one below\n", "")
    undo(workspace, done.run)
    assert read(workspace, "decisions.md") == text


def test_several_matches_are_listed_and_nothing_changes(workspace: Workspace) -> None:
    write(workspace, "facts.md", "".join(f"- number {at}\n" for at in range(7)))
    found = error(bullets.remove, workspace, "facts", "number")
    assert found.code == "ambiguous"
    assert "facts.md:5 number 4" in found.message and "number 5" not in found.message and "2 more" in found.message
    assert read(workspace, "facts.md").count("number") == 7


SAID_TWICE = """# Facts

- The port is 8080. [from: a, 2026-01-01]
- Something else
- the port is `8080` [from: b, 2026-01-02]
"""


@pytest.mark.parametrize("words", ["port is 8080", "The port is 8080.", "the port is `8080`"])
def test_what_two_conversations_said_is_one_statement_for_its_words(workspace: Workspace, words: str) -> None:
    """Of the lines that say the same, those left over would go on saying the old words in the digest."""
    write(workspace, "facts.md", SAID_TWICE)
    write(workspace, "digest.md", "old")
    bullets.edit(workspace, "facts", words, "The port is 9090")
    changed = read(workspace, "facts.md")
    assert changed.count("- The port is 9090 [from: ") == 2 and "8080" not in changed
    assert "9090 (in 2 conversations)" in read(workspace, "digest.md")
    struck = bullets.remove(workspace, "facts", "9090", strike=True)
    assert len(struck.added) == 2 and "9090" not in read(workspace, "digest.md")
    gone = bullets.remove(workspace, "", "9090")
    assert read(workspace, "facts.md") == "# Facts\n\n- Something else\n" and len(gone.removed) == 2
    undo(workspace, gone.run)
    assert read(workspace, "facts.md").count("9090") == 2


def test_a_place_names_that_very_line_and_tells_of_the_others(workspace: Workspace) -> None:
    """FILE:LINE must not take more than the one line away, nor hide that others say the same."""
    write(workspace, "facts.md", SAID_TWICE)
    done = bullets.remove(workspace, "facts", "facts.md:3")
    assert read(workspace, "facts.md") == SAID_TWICE.replace("- The port is 8080. [from: a, 2026-01-01]\n", "")
    assert done.warning.startswith("other lines say the same") and "facts.md:5" in done.warning
    assert not bullets.remove(workspace, "facts", "facts.md:4").warning
    assert not bullets.remove(workspace, "facts", "facts.md:3").warning


def test_the_same_words_in_two_files_are_not_changed_together(workspace: Workspace) -> None:
    write(workspace, "facts.md", "- same\n")
    write(workspace, "decisions.md", "- same\n- same\n")
    found = error(bullets.remove, workspace, "", "same")
    assert found.code == "ambiguous" and "2 bullets" in found.message
    bullets.remove(workspace, "decisions", "same")
    assert read(workspace, "decisions.md") == "" and read(workspace, "facts.md") == "- same\n"


def test_no_match_names_the_nearest_bullet(workspace: Workspace) -> None:
    write(workspace, "facts.md", FACTS)
    found = error(bullets.remove, workspace, "facts", "the serfer listens at port 8080")
    assert found.code == "no-match" and "port 8080" in found.hint
    assert error(bullets.remove, workspace, "facts", " ").code == "no-match"
    assert error(bullets.remove, workspace, "opinions", "x").code == "no-category"


def test_a_task_that_stands_under_done_is_opened_again_and_not_written_twice(workspace: Workspace) -> None:
    bullets.add(workspace, "tasks", "ask the users")
    bullets.done(workspace, "ask")
    refused = error(bullets.add, workspace, "tasks", "ask the users")
    assert refused.code == "already-there" and "knowledge reopen" in refused.hint
    bullets.reopen(workspace, "ask")
    refused = error(bullets.add, workspace, "tasks", "ask the users")
    assert refused.code == "already-there" and not refused.hint
    assert error(bullets.reopen, workspace, "ask").code == "already-open"


def test_status_counts_no_task_and_no_note_that_is_struck_through(workspace: Workspace) -> None:
    write(workspace, "tasks.md", "# Tasks\n\n## Open\n\n- ~~tea~~\n- milk\n\n## Done\n\n- ~~sweep~~\n")
    write(workspace, "files/1:2.md", "# /app.py\n\n- ~~old~~\n")
    now = status(workspace)
    assert now.tasks == {"open": 1, "done": 0} and [row.bullets for row in now.files[-2:]] == [1, 0]


def test_the_panel_s_stale_view_is_refused(workspace: Workspace) -> None:
    path = write(workspace, "facts.md", "- a\n")
    seen = hashlib.sha256(b"- a\n").hexdigest()
    path.write_text("- a\n- b\n")
    for refused in (
        error(bullets.remove, workspace, "facts", BulletRef("facts.md", 1, "- a"), strike=True, seen=seen),
        error(bullets.remove, workspace, "facts", "a", seen=seen),
        error(bullets.add, workspace, "facts", "c", seen=seen),
    ):
        assert refused.code == "changed-outside"
    assert path.read_text() == "- a\n- b\n"
    assert not runs(workspace)  # nothing that could be taken back


def test_an_edit_refreshes_a_digest_that_is_there(workspace: Workspace) -> None:
    write(workspace, "facts.md", "- old words\n- wrong\n")
    write(workspace, "digest.md", "stale")
    bullets.edit(workspace, "facts", "old", "new words")
    struck = bullets.remove(workspace, "facts", "wrong", strike=True)
    assert "new words" in read(workspace, "digest.md") and "wrong" not in read(workspace, "digest.md")
    undo(workspace, struck.run)
    assert "wrong" in read(workspace, "digest.md")


def test_a_digest_that_is_switched_off_is_left_alone(workspace: Workspace, tmp_path: Path) -> None:
    """By its absence, or in the settings."""
    bullets.add(workspace, "facts", "a")
    assert not workspace.paths.digest.exists()
    workspace = make_home(tmp_path, "digest_enabled = false", "other")
    write(workspace, "digest.md", "by somebody else")
    bullets.add(workspace, "facts", "a")
    assert read(workspace, "digest.md") == "by somebody else"


def test_a_digest_that_cannot_be_written_does_not_undo_the_edit(workspace: Workspace) -> None:
    workspace.paths.digest.mkdir(parents=True)
    done = bullets.add(workspace, "facts", "a")
    assert "digest" in done.warning and "- a [from: by-hand" in read(workspace, "facts.md")


def test_the_notes_of_a_file_are_found_under_its_new_and_its_old_name(tmp_path: Path, workspace: Workspace) -> None:
    (tmp_path / "engine.py").write_text("x = 1\n")
    bullets.add(workspace, "files", "starts cold", file="engine.py")
    (tmp_path / "engine.py").rename(tmp_path / "motor.py")
    for name in ("motor.py", "engine.py", str(tmp_path / "motor.py")):
        found = notes_of(workspace, name)
        assert [row.bullet.text for row in found.bullets] == ["starts cold"]
        assert found.path == str(tmp_path / "motor.py")
    bullets.edit(workspace, "files", "starts", "starts warm")
    assert notes_of(workspace, "motor.py").to_json()["bullets"][0]["text"] == "starts warm"


def test_a_file_without_notes_has_none(workspace: Workspace) -> None:
    found = notes_of(workspace, "nowhere.py")
    assert found.bullets == () and found.note == ""


# --- Several lines that say the same, changed as one: if these fail, a statement that a user deleted comes back.

STATEMENTS_FACTS = """# Facts

- The port is 8080. [from: alpha, 2026-05-01]
- Something else [from: alpha, 2026-05-01]
  with a detail
- the port is `8080` [from: beta, 2026-05-02]
- The port is 8080 [from: by-hand, 2026-05-03]
"""
TASKS = """# Tasks

## Open

- buy tea [from: a, 2026-05-01]
- sweep
- Buy tea [from: b, 2026-05-02]

## Done

- old
"""


@pytest.fixture(name="home")
def home_fixture(workspace: Workspace) -> Workspace:
    write(workspace, "facts.md", STATEMENTS_FACTS)
    write(workspace, "tasks.md", TASKS)
    return workspace


def test_lines_that_say_the_same_are_one_statement_with_its_conversations(home: Workspace) -> None:
    rows = category_view(home, "facts").rows
    other, port = said(rows)
    assert other.others == () and other.conversations == 1
    assert [ref.line for ref in port.refs] == [7, 6, 3] and port.conversations == 2, "by hand is no conversation"
    assert [ref.line for ref in said_with(rows, rows[0]).refs] == [3, 7, 6]
    held = "# Quarantine\n\n- [secret] facts: x\n- [secret] facts: x\n"
    write(home, "quarantine.md", held)
    assert len(said(category_view(home, "quarantine").rows)) == 2, "each is let in or dropped alone"


@pytest.mark.parametrize("act", ["edit", "strike", "delete"])
def test_every_line_is_changed_in_one_step_and_comes_back_in_one(home: Workspace, act: str) -> None:
    view = category_view(home, "facts")
    port = said(view.rows)[1]
    done = change_all(home, LineChange(act, port.refs, "It listens on 9090" if act == "edit" else "", seen=view.sha256))
    text = read(home, "facts.md")
    assert "- Something else [from: alpha, 2026-05-01]\n  with a detail\n" in text
    lines = [line for line in text.splitlines() if "8080" in line or "9090" in line]
    if act == "edit":
        assert lines == [f"- It listens on 9090 [from: {name}" for name in (
            "alpha, 2026-05-01]", "beta, 2026-05-02]", "by-hand, 2026-05-03]")]  # fmt: skip
    elif act == "strike":
        assert [line[:4] for line in lines] == ["- ~~"] * 3
        again = [row.ref for row in category_view(home, "facts").rows if row.bullet.struck]
        change_all(home, LineChange("unstrike", again))
        assert read(home, "facts.md") == STATEMENTS_FACTS
        return
    else:
        assert lines == []
    undo(home, done.run)
    assert read(home, "facts.md") == STATEMENTS_FACTS


def test_a_task_that_two_conversations_wanted_is_done_once_and_for_both(home: Workspace) -> None:
    bullets.done(home, "buy tea")
    wanted = "- sweep\n\n## Done\n\n- old\n- buy tea [from: a, 2026-05-01]\n- Buy tea [from: b, 2026-05-02]\n"
    assert read(home, "tasks.md").endswith(wanted)
    assert error(bullets.done, home, "buy tea").code == "already-done"
    bullets.reopen(home, "tea")
    assert [row.bullet.text for row in bullets_of(home.paths, ("tasks_open",))] == ["sweep", "buy tea", "Buy tea"]


def test_nothing_is_written_when_one_of_the_lines_is_gone_or_the_file_is_another(home: Workspace) -> None:
    view = category_view(home, "facts")
    refs = said(view.rows)[1].refs
    outside = STATEMENTS_FACTS.replace("- the port is `8080`", "- the port is 9090")
    write(home, "facts.md", outside)
    assert error(change_all, home, LineChange("delete", refs, seen=view.sha256)).code == "changed-outside"
    assert (
        error(change_all, home, LineChange("delete", refs)).code == "changed-outside"
        and read(home, "facts.md") == outside
    )
    assert error(change_all, home, LineChange("paint", refs)).code == "usage"


def test_a_line_that_moves_before_it_is_changed_is_found_in_its_new_place(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(workspace, "facts.md", FACTS)
    resolve = bullets.resolve_bullet

    def resolved(*given: Any) -> Any:
        found = resolve(*given)
        write(workspace, "facts.md", FACTS.replace("# Facts\n", "# Facts\n\n- Another program wrote this\n"))
        return found

    monkeypatch.setattr(bullets, "resolve_bullet", resolved)
    assert error(bullets.remove, workspace, "facts", "facts.md:5").code == "changed-outside"  # another stands there now
    write(workspace, "facts.md", FACTS)
    bullets.edit(workspace, "facts", "PORT 8080", "The server listens on port 8081")
    assert "- Another program wrote this\n\n- The server listens on port 8081 [" in read(workspace, "facts.md")


def test_lines_that_are_as_wanted_already_do_not_stop_the_others(home: Workspace) -> None:
    refs = said(category_view(home, "facts").rows)[1].refs
    change_all(home, LineChange("edit", refs, "The port is 8080"))
    assert read(home, "facts.md").count("- The port is 8080 [") == 3
    now = said(category_view(home, "facts").rows)[1].refs
    assert error(change_all, home, LineChange("edit", now, "The port is 8080")).code == "unchanged"


def test_the_same_words_in_another_order_are_alike_and_the_very_same_are_not_listed(workspace: Workspace) -> None:
    words = "- the cache lives in the folder of the home\n"
    write(workspace, "facts.md", f"{words}  a detail\n{words}- in the folder of the home lives the cache\n")
    pairs = similar(workspace.paths)
    assert [(row.first.bullet.line, row.second.bullet.line) for row in pairs] == [(1, 4), (3, 4)]


# --- What an action does not take is refused: it would be done to more than the user named.


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("trash purge 3fa9", "'knowledge trash purge' takes no 3fa9"),
        ("trash list 3fa9", "takes no 3fa9"),
        ("trash list --all", "takes no --all"),
        ("trash restore 3fa9 --all", "takes no --all"),
        ("review list kkkkkkk", "takes no kkkkkkk"),
        ("config show jobs 2", "takes no 2"),
        ("digest off --project .", "takes no --project ."),
        ("memories list 7", "takes no 7"),
        ("import  --apply", "which file or folder"),  # an empty variable of a script: not the folder it runs in
    ],
)
def test_what_an_action_does_not_take_is_refused(words: str, told: str, tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "conversations" / ".trash").mkdir(parents=True)
    out, err = io.StringIO(), io.StringIO()
    assert main([*words.split(" "), "--home", str(home)], out, err) == 2
    assert told in err.getvalue() and out.getvalue() == "" and not (home / "knowledge").exists()


# --- The quarantine: if these fail, an item that the user let in is lost, or one that was held back gets in unasked.

TOLD = "[from: chat, 2026-05-01]"
HELD = f"# Quarantine\n\n- [quote-not-found] facts: water is dry {TOLD}\n- [no-quote] tasks_done: swept {TOLD}\n"


def test_a_harvest_s_held_item_is_listed_and_let_in_with_its_provenance(workspace: Workspace) -> None:
    converse(workspace)
    harvested(workspace, Model(decisions=[{"statement": "use tabs", "quote": "nobody ever said so"}]), Clock())
    [item] = quarantine_list(workspace)
    assert (item.held, item.category, item.text) == ("quote-not-found", "decisions", "use tabs")
    assert quarantine_accept(workspace, held_line(workspace.paths, "use tabs")).file == "decisions.md"
    assert read(workspace, "decisions.md") == f"# Decisions\n\n- use tabs {item.provenance}\n"
    assert "use tabs" not in read(workspace, "quarantine.md")
    assert quarantine_list(workspace) == []
    assert "use tabs" in read(workspace, "digest.md")


def test_a_held_note_goes_to_its_file_or_else_to_the_facts(tmp_path: Path, workspace: Workspace) -> None:
    source = tmp_path / "odd: name.py"
    source.write_text("")
    lines = f"- [no-quote] files {source}: is empty {TOLD}\n- [no-quote] files /nowhere/x.py: is lost {TOLD}\n"
    write(workspace, "quarantine.md", lines)
    note = quarantine_accept(workspace, held_line(workspace.paths, "is empty"))
    assert note.file.startswith("files/")
    assert read(workspace, note.file) == f"# {source}\n\n- is empty {TOLD}\n"
    quarantine_accept(workspace, held_line(workspace.paths, "is lost"))
    assert f"- /nowhere/x.py: is lost {TOLD}\n" in read(workspace, "facts.md")
    assert read(workspace, "quarantine.md") == ""


def test_an_item_stays_held_when_its_file_cannot_take_it(workspace: Workspace) -> None:
    write(workspace, "quarantine.md", HELD)
    write(workspace, "facts.md", "- a\n").chmod(0o444)
    assert error(quarantine_accept, workspace, held_line(workspace.paths, "water")).code == "read-only"
    assert read(workspace, "quarantine.md") == HELD


def test_accepting_again_after_a_crash_between_the_two_files_only_clears_the_quarantine(workspace: Workspace) -> None:
    write(workspace, "quarantine.md", HELD)
    write(workspace, "facts.md", f"# Facts\n\n- water is dry {TOLD}\n")
    quarantine_accept(workspace, held_line(workspace.paths, "water"))
    assert read(workspace, "facts.md").count("water") == 1 and "water" not in read(workspace, "quarantine.md")


def test_a_write_that_does_not_hold_keeps_the_item(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    write(workspace, "quarantine.md", HELD)
    write(workspace, "facts.md", "- a\n")
    monkeypatch.setattr("core.knowledge.log.append_expected", lambda *_: True)
    assert error(quarantine_accept, workspace, held_line(workspace.paths, "water")).code == "not-proven"
    assert read(workspace, "quarantine.md") == HELD


def test_dropping_and_accepting_can_be_undone(workspace: Workspace) -> None:
    write(workspace, "quarantine.md", HELD)
    dropped = quarantine_drop(workspace, held_line(workspace.paths, "water"))
    accepted = quarantine_accept(workspace, held_line(workspace.paths, "swept"))
    assert read(workspace, "tasks.md") == f"# Tasks\n\n## Open\n\n## Done\n\n- swept {TOLD}\n"
    assert read(workspace, "quarantine.md") == "# Quarantine\n\n"
    undo(workspace, accepted.run, editor_wait=HURRIED)
    assert "swept" not in read(workspace, "tasks.md")
    undo(workspace, dropped.run, editor_wait=HURRIED)
    assert sorted(read(workspace, "quarantine.md").split("\n")) == sorted(HELD.split("\n"))


def test_the_quote_is_shown_and_does_not_go_into_the_file(workspace: Workspace) -> None:
    """Without it nobody could judge whether the item is true."""
    converse(workspace)
    rows = [
        {"statement": "use tabs", "quote": 'he "never" said\nso'},
        {"statement": 'it prints (quote: "x")', "quote": "nobody ever said that either"},
        {"statement": 'it reads (quote: "y")'},
        {"statement": "z" * 600},
    ]
    harvested(workspace, Model(decisions=rows), Clock())
    items = quarantine_list(workspace)
    assert [(item.text, item.quote, item.number) for item in items] == [
        ("use tabs", "he 'never' said so", 1), ('it prints (quote: "x")', "nobody ever said that either", 2),
        ("z" * 600, "", 3),
    ]  # fmt: skip
    shown = review_text(review(workspace, kind="held"))
    assert "its quote is not in the conversation, for decisions" in shown and "quote: \"he 'never' said so\"" in shown
    accept_all(workspace, items)
    text = read(workspace, "decisions.md")
    assert "- use tabs [from:" in text and '- it prints (quote: "x") [from:' in text and f"- {'z' * 600} [from:" in text


@pytest.mark.parametrize("action", ["accept", "drop"])
def test_many_are_let_in_or_dropped_at_once_and_one_undo_takes_it_back(
    tmp_path: Path, workspace: Workspace, action: str
) -> None:
    """A user with forty held items had to type the words of each."""
    source = tmp_path / "a.py"
    source.write_text("")
    lines = [f"- [no-quote] {name}: item {at} {TOLD}" for at, name in enumerate(("facts", "facts", "tasks_done"), 1)]
    lines += [f"- [no-quote] files {source}: item 4 {TOLD}", f"- [too-long] tasks_open: {'x ' * 400}5 {TOLD}"]
    held = "# Quarantine\n\n" + "\n".join(lines) + "\n- mine\n"
    write(workspace, "quarantine.md", held)
    write(workspace, "facts.md", "# Facts\n\n- a\n")
    write(workspace, "tasks.md", "# Tasks\n\n## Open\n\n## Done\n")
    items, work = quarantine_list(workspace), accept_all if action == "accept" else drop_all
    done = work(workspace, [items[0], *items[2:5]])
    assert len(done.items) == 4 and not done.errors
    assert read(workspace, "quarantine.md") == f"# Quarantine\n\n{lines[1]}\n- mine\n"
    assert ("item 1" in read(workspace, "facts.md")) == (action == "accept")
    assert read(workspace, "tasks.md").count("5 [from") == (action == "accept")
    rest = drop_all(workspace, quarantine_list(workspace)) if action == "drop" else None
    assert rest is None or read(workspace, "quarantine.md") == "# Quarantine\n\n"
    for run in filter(None, (rest and rest.run, done.run)):
        undo(workspace, run, editor_wait=HURRIED)
    assert sorted(read(workspace, "quarantine.md").split("\n")) == sorted(held.split("\n"))
    assert read(workspace, "facts.md") == "# Facts\n\n- a\n"
    assert read(workspace, "tasks.md") == "# Tasks\n\n## Open\n\n## Done\n"


def test_of_many_those_that_cannot_go_in_stay_and_are_told(workspace: Workspace) -> None:
    write(workspace, "quarantine.md", HELD + "- mine\n")
    write(workspace, "facts.md", "- a\n").chmod(0o444)
    done = accept_all(workspace, quarantine_list(workspace))
    assert [file for file, _ in done.items] == ["tasks.md"]
    assert sorted(row.code for row in done.errors) == ["not-an-item", "read-only"]
    assert "water" in read(workspace, "quarantine.md") and "- mine" in read(workspace, "quarantine.md")
    assert "swept" not in read(workspace, "quarantine.md")


def test_a_stale_view_and_a_foreign_line_are_refused(workspace: Workspace) -> None:
    write(workspace, "quarantine.md", HELD + "- my own line\n")
    old = hashlib.sha256(b"other").hexdigest()
    assert error(quarantine_accept, workspace, held_line(workspace.paths, "water"), seen=old).code == "changed-outside"
    assert error(quarantine_drop, workspace, held_line(workspace.paths, "water"), seen=old).code == "changed-outside"
    gone = replace(held_line(workspace.paths, "water"), line=9)
    assert error(quarantine_accept, workspace, gone).code == "changed-outside"
    assert error(quarantine_accept, workspace, held_line(workspace.paths, "my own")).code == "not-an-item"
    assert read(workspace, "quarantine.md") == HELD + "- my own line\n"


@pytest.mark.parametrize("path", [f"/a: {'x' * 300}.py", "/proc/self/mem: x", "/dev/tty: y", "//host/share: z"])
def test_a_path_that_a_model_wrote_is_not_looked_at_when_it_is_listed(
    workspace: Workspace, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name too long for the file system stopped the whole list, and a path that is not allowed was looked at."""
    write(workspace, "quarantine.md", f"- [no-quote] files {path}: a note {TOLD}\n")
    looked: list[str] = []
    real = os.stat

    def stat(file: object, *arguments: object, **options: object) -> os.stat_result:
        looked.append(str(file))
        return real(file, *arguments, **options)  # type: ignore[call-overload,no-any-return]

    with monkeypatch.context() as patched:
        patched.setattr(os, "stat", stat)
        [item] = quarantine_list(workspace)
    assert item.category == "files" and not any(name.startswith(path[:4]) for name in looked if "pytest" not in name)
    quarantine_accept(workspace, held_line(workspace.paths, "a note"))
    assert f"- {path}: a note {TOLD}\n" in read(workspace, "facts.md")
