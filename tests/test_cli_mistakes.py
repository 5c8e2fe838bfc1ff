"""What the command line says to a slip of the fingers, and where it needs to be told less. Without it a person reads
twenty-seven names to find the letter that is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

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
