"""What the command line says to a slip of the fingers, and where it needs to be told less. Without it a person reads
twenty-seven names to find the letter that is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.cli.table import Command, command, commands
from tests.cli_call import call
from tests.made_home import make_home, read, write


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("harvst", "there is no command 'harvst'; the nearest is harvest."),
        ("stats --json", "there is no command 'stats'; the nearest is status."),
        ("xyzzy", "there is no command 'xyzzy'. 'knowledge --help' lists them."),
        ("harvest --aply", "'knowledge harvest' has no option '--aply'; the nearest is --apply."),
        ("harvest --limt=3", "'knowledge harvest' has no option '--limt'; the nearest is --limit."),
        ("mcp --allow-write", "'knowledge mcp' has no option '--allow-write'; the nearest is --allow-writes."),
        ("--hom /tmp/x status", "there is no option '--hom'; the nearest is --home."),
        ("--home /tmp/x stats", "there is no command 'stats'; the nearest is status."),
        ("status --jsn", "'knowledge status' has no option '--jsn'; the nearest is --json."),
        ("trash lst", "'knowledge trash' has no 'lst', only list, restore, release, purge; the nearest is list."),
        ("facts --domain list synk", "'knowledge facts' has no 'synk', only list, validate, sync,"),
        ("quarantine list --acept", "'knowledge quarantine' has no option '--acept'"),
        ("trash restore", "'knowledge trash restore' needs SHA. For example 'knowledge trash restore 3fa9'."),
        ("config set jobs", "'knowledge config set' needs VALUE. For example 'knowledge config set jobs 2'."),
        ("harvest --limit few", "--limit takes a whole number, and 'few' is none."),
        ("--quiet", "'knowledge' needs COMMAND. 'knowledge --help' lists them."),
    ],
    ids=str,
)
def test_a_slip_is_answered_with_the_nearest_name(words: str, told: str) -> None:
    code, out, err = call(*words.split())
    assert (code, out) == (2, "")
    assert err.startswith(f"knowledge: {told}") and err.count("\n") == 1


def test_words_that_only_look_like_slips_are_taken_as_they_are(tmp_path: Path) -> None:
    """A bullet about an option is a bullet; the value of an option is no command."""
    home = str(make_home(tmp_path).paths.home)
    assert call("--home", home, "add", "facts", "--aply is no option of harvest")[0] == 0
    assert call("add", "--home", home, "facts", "--", "--aply")[0] == 0


FACTS = "# Facts\n\n- One\n- Two\n- Three\n"


def test_a_place_says_the_category_itself(tmp_path: Path) -> None:
    """`knowledge similar` prints FILE:LINE; pasted behind `rm` or `edit` it was refused as no category."""
    workspace = make_home(tmp_path)
    home = ("--home", str(workspace.paths.home))
    write(workspace, "facts.md", FACTS)
    assert call("rm", "facts.md:4", *home)[0] == 0
    assert call("rm", "--strike", *home, "facts.md:3")[0] == 0
    assert call("edit", *home, "facts.md:4", "facts")[0] == 0
    assert read(workspace, "facts.md") == "# Facts\n\n- ~~One~~\n- facts\n"
    assert call("edit", "facts", "facts.md:4", "Four", *home)[0] == 0
    assert call("rm", "facts", "--strike", "Four", *home)[0] == 0
    assert read(workspace, "facts.md") == "# Facts\n\n- ~~One~~\n- ~~Four~~\n"
    write(workspace, "tasks.md", "# Tasks\n\n## Open\n- Buy milk\n\n## Done\n")
    assert call("done", "tasks.md:4", *home)[0] == 0
    assert call("rm", "tasks.md:7", *home)[0] == 0
    assert "milk" not in read(workspace, "tasks.md")


def test_words_that_one_bullet_has_need_no_category(tmp_path: Path) -> None:
    workspace = make_home(tmp_path)
    home = ("--home", str(workspace.paths.home))
    write(workspace, "facts.md", "# Facts\n\n- The port is 8080\n- Shared words\n")
    write(workspace, "decisions.md", "# Decisions\n\n- Shared words\n- We use SQLite\n")
    assert call("edit", "port is 8080", "The port is 8081", *home)[0] == 0
    assert call("rm", *home, "We use SQLite")[0] == 0
    assert "8081" in read(workspace, "facts.md") and "SQLite" not in read(workspace, "decisions.md")
    code, _, err = call("edit", "Shared words", "Other words", *home)
    assert code == 1 and "2 bullets match" in err and "facts.md:4" in err and "decisions.md:3" in err
    code, _, err = call("edit", "nowhere", "Other words", *home)
    assert code == 1 and "no bullet in any category matches 'nowhere'" in err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("rm", "facts.md:99"), "there is no bullet of facts in line 99 of facts.md; 2 stand in lines 3 to 4"),
        (("rm", "questions.md:3"), "there is no bullet of questions in questions.md"),
        (("done", "nope"), "no open task matches 'nope'"),
        (("done", "tasks.md:99"), "there is no open task in line 99 of tasks.md; one stands in line 4"),
        (("reopen", "nope"), "no task that is done matches 'nope'"),
        (("add", "files", "words", "--file", "."), "this is a folder; a note belongs to one file"),
    ],
    ids=str,
)
def test_what_is_not_there_is_said_in_plain_words(tmp_path: Path, words: tuple[str, ...], told: str) -> None:
    workspace = make_home(tmp_path)
    write(workspace, "facts.md", "# Facts\n\n- One\n- Two\n")
    write(workspace, "tasks.md", "# Tasks\n\n## Open\n- Buy milk\n\n## Done\n")
    code, _, err = call(*words, "--home", str(workspace.paths.home))
    assert code == 1 and told in err and "tasks_" not in err


@pytest.mark.parametrize("name", [row.name for row in commands() if row.subcommands])
def test_a_command_without_its_subcommand_runs_the_first(tmp_path: Path, name: str) -> None:
    """`knowledge trash` has always listed; options may stand on either side of the subcommand."""
    workspace = make_home(tmp_path)
    home = ("--home", str(workspace.paths.home))
    first = command(name).subcommands[0].name
    whole = call(name, first, "--json", *home)
    assert whole[0] == 0 and whole[1]
    for words in ((name, *home, "--json"), ("--json", *home, name), (name, "--json", first, *home)):
        assert call(*words) == whole


def test_an_option_of_a_subcommand_may_stand_before_it(tmp_path: Path) -> None:
    home = ("--home", str(make_home(tmp_path).paths.home))
    for words in ("facts --category pitfall list", "facts --category pitfall", "facts --category=pitfall list"):
        assert call(*words.split(), *home) == call("facts", "list", "--category", "pitfall", *home)
    code, _, err = call("quarantine", "--run", "list", *home)  # a run that is called like a subcommand
    assert code == 1 and "list: no run of that name" in err


@pytest.mark.parametrize("row", [row for row in commands() if row.subcommands], ids=lambda row: row.name)
def test_help_names_every_subcommand_and_each_helps(row: Command, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(row.name, "--help")[0] == 0
    shown = capsys.readouterr().out
    for leaf in row.subcommands:
        assert f"\n    {leaf.name} " in shown and f"Without one: {row.subcommands[0].name}." in shown
        assert call(row.name, leaf.name, "--help")[0] == 0
        assert f"example: {leaf.example}" in capsys.readouterr().out
