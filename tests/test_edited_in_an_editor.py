"""Lines as editors leave them: if these fail, a line that stands in its file is called gone, put back beside itself,
shown in every project, or not forgotten."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from core.base.markdown import Provenance, parse_bullets
from tests.cli_call import call
from tests.harvest_world import FakeModel, World, never, nobody_waits_for_editors, says, taken_back

SENTENCE = "The build of the shop needs Node 20, because the bundler reads its lockfile"


@pytest.fixture(autouse=True)
def _no_editor_is_at_work(monkeypatch: pytest.MonkeyPatch) -> None:
    nobody_waits_for_editors(monkeypatch)


def wrapped(line: str) -> str:
    return line.replace("Node 20, because ", "Node 20, because\n  ").replace("lockfile [from", "lockfile\n  [from")


EDITS: dict[str, Callable[[str], str]] = {
    "a space at the end": lambda line: f"{line} ",
    "a tab at the end": lambda line: f"{line}\t",
    "a star": lambda line: f"*{line[1:]}",
    "a plus": lambda line: f"+{line[1:]}",
    "wrapped": wrapped,
    "wrapped, with carriage returns": lambda line: wrapped(line).replace("\n", "\r\n"),
    "wrapped below a star": lambda line: f"*{wrapped(line)[1:]}",
}


def ask(world: World, *words: str) -> str:
    code, out, err = call("--home", str(world.paths.home), *words)
    assert code == 0, err
    return out


def rows(world: World, *which: str) -> list[dict[str, Any]]:
    words = which or ("facts",)
    found: list[dict[str, Any]] = json.loads(ask(world, "list", *words, "--project", "all", "--json"))["bullets"]
    return found


@pytest.mark.parametrize("how", EDITS)
def test_a_line_is_the_same_line_as_an_editor_leaves_it(world: World, how: str) -> None:
    world.converse("a")
    world.run(says(facts=[SENTENCE]))
    [before] = rows(world)
    written = world.text("facts.md")
    edited = "".join(f"{EDITS[how](line)}\n" if line.startswith("- ") else f"{line}\n" for line in written.split("\n"))
    world.knowledge("facts.md", edited)

    [row] = rows(world)
    assert (row["text"], row["id"], row["provenance"]) == (before["text"], before["id"], before["provenance"])
    assert not world.run(FakeModel(never)).notes and "nothing waits" in ask(world, "review"), "it did not vanish"
    world.converse("b")
    world.run(says(facts=[SENTENCE]))
    assert world.text("facts.md") == edited, "what a second conversation says again is known"
    assert f"- {SENTENCE} (in 2 conversations) [from: " in world.text("digest.md").replace("\n  ", " ")

    ask(world, "edit", row["id"], "The build needs Node 22")
    [row] = rows(world)
    assert row["text"] == "The build needs Node 22" and row["provenance"] == before["provenance"], (
        "it keeps where it comes from"
    )
    assert "bundler" not in world.text("facts.md"), "the whole sentence went"
    ask(world, "rm", row["id"])
    assert rows(world) == [] and world.text("facts.md").split() == ["#", "Facts"]


@pytest.mark.parametrize("how", EDITS)
def test_what_is_removed_for_good_goes_in_each_form(world: World, how: str) -> None:
    world.converse("a")
    world.run(says(facts=[SENTENCE]))
    world.knowledge(
        "facts.md",
        "\n".join(EDITS[how](line) if line[:1] == "-" else line for line in world.text("facts.md").split("\n")),
    )
    ask(world, "rm", rows(world)[0]["id"], "--forever", "--yes")
    left = [path for path in world.paths.knowledge.rglob("*") if path.is_file() and b"lockfile" in path.read_bytes()]
    assert left == []


@pytest.mark.parametrize("how", EDITS)
def test_the_undo_of_its_harvest_takes_it_out_and_the_next_one_writes_it_once(world: World, how: str) -> None:
    world.converse("a")
    run = world.run(says(facts=[SENTENCE, "Another one"])).run
    lines = world.text("facts.md").split("\n")
    world.knowledge("facts.md", "\n".join(EDITS[how](line) if SENTENCE in line else line for line in lines))
    report = taken_back(world, run)
    assert (report.lines_out, report.stayed, report.gone) == (2, [], []) and rows(world) == []
    world.limits(again=True)
    world.run(says(facts=[SENTENCE, "Another one"]))
    assert sorted(row["text"] for row in rows(world)) == ["Another one", SENTENCE]


def test_a_line_struck_through_as_a_whole_is_struck_through(world: World) -> None:
    """That is what an editor's key for it does with the line that is marked."""
    world.converse("a")
    world.run(says(facts=[SENTENCE, "Another one"]))
    line = next(line for line in world.text("facts.md").split("\n") if SENTENCE in line)
    world.knowledge("facts.md", world.text("facts.md").replace(line, f"- ~~{line[2:]}~~"))
    assert not world.run(FakeModel(never)).notes and "nothing waits" in ask(world, "review")
    assert SENTENCE not in world.text("digest.md") and "Another one" in world.text("digest.md")
    [bullet] = [row for row in parse_bullets(world.text("facts.md")) if row.struck]
    assert bullet.text == SENTENCE and bullet.provenance is not None
    ask(world, "edit", f"facts.md:{bullet.line}", "The build needs Node 22")
    assert re.search(r"^- ~~The build needs Node 22~~ \[from: \S+, \d{4}-\d\d-\d\d\]$", world.text("facts.md"), re.M)


def test_a_box_that_is_ticked_by_hand_is_a_task_that_is_done(world: World) -> None:
    world.knowledge("tasks.md", "# Tasks\n\n## Open\n\n- [ ] Renew the certificate\n- Water the plants\n\n## Done\n")
    assert [row["text"] for row in rows(world, "tasks")] == ["Water the plants", "Renew the certificate"]
    ask(world, "done", "Renew the certificate")
    assert world.text("tasks.md").endswith("## Done\n\n- [x] Renew the certificate\n")
    ask(world, "reopen", "Renew the certificate")
    assert "- [ ] Renew the certificate\n\n## Done" in world.text("tasks.md")

    world.knowledge("tasks.md", world.text("tasks.md").replace("[ ]", "[X]"))
    assert [row["text"] for row in rows(world, "tasks")] == ["Water the plants"]
    assert [row["text"] for row in rows(world, "tasks", "--done")] == ["Renew the certificate"]
    code, _, err = call("--home", str(world.paths.home), "done", "Renew the certificate")
    assert code and "done already" in err
    ask(world, "reopen", "Renew the certificate")
    assert "- [ ] Renew the certificate\n\n## Done" in world.text("tasks.md"), "it stands below Open still"


def test_a_ticked_box_is_no_line_that_vanished(world: World) -> None:
    world.converse("a")
    world.run(says(tasks_open=[{"statement": "Renew the certificate"}, {"statement": "Water the plants"}]))
    world.knowledge("tasks.md", world.text("tasks.md").replace("- Renew", "- [x] Renew"))
    assert not world.run(FakeModel(never)).notes and "nothing waits" in ask(world, "review")
    ask(world, "digest", "on")
    assert "Renew" not in world.text("digest.md") and "Water" in world.text("digest.md")


LONG = "The build of the shop needs Node 20, because the"
FROM_X = Provenance("x", "2026-01-01")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- mine\n  - of another [from: x, 2026-01-01]\n", [("mine", None, ("  - of another [from: x, 2026-01-01]",))]),
        (
            f"- {LONG}\n  1. step one\n  2. step two, see [from: x, 2026-01-01]\n",
            [(LONG, None, ("  1. step one", "  2. step two, see [from: x, 2026-01-01]"))],
        ),
        (
            f"- ~~{LONG}~~\n  superseded by: that [from: x, 2026-01-01]\n",
            [(LONG, None, ("  superseded by: that [from: x, 2026-01-01]",))],
        ),
        ("- mine\n  see [from: x, 2026-01-01]\n", [("mine", None, ("  see [from: x, 2026-01-01]",))]),
        (f"- {LONG}\n  bundler\n", [(LONG, None, ("  bundler",))]),
        (f"- {LONG}\n  bundler [from:\n  x, 2026-01-01]\n", [(f"{LONG} bundler", FROM_X, ())]),
        (f"- {LONG}\n  bundler [from: x, 2026-01-01]\n  - mine\n", [(f"{LONG} bundler", FROM_X, ("  - mine",))]),
        (f"- ~~{LONG}\n  bundler [from: x, 2026-01-01]~~\n", [(f"{LONG} bundler", FROM_X, ())]),
        ("* * *\n*bold* words\n**more**\n+1\n-1\n", []),
        ("- [x] means done in our lists\n", [("[x] means done in our lists", None, ())]),
        ("## Done\n-  [x] ~~watered~~ [from: x, 2026-01-01]\n", [("watered", FROM_X, ())]),
    ],
)
def test_only_a_sentence_that_goes_on_is_read_as_wrapped(text: str, said: list[tuple[Any, ...]]) -> None:
    """A line of one's own with details below it, of which one cites a conversation, stays one's own."""
    assert [(row.text, row.provenance, row.more) for row in parse_bullets(text)] == said


def test_a_rule_of_ones_own_keeps_its_steps_when_its_words_change(world: World) -> None:
    own = f"# Facts\n\n- {LONG}\n  1. step one\n  2. step two, see [from: x, 2026-01-01]\n"
    world.knowledge("facts.md", own)
    ask(world, "edit", "facts.md:3", "Another rule")
    assert world.text("facts.md") == own.replace(LONG, "Another rule")


@pytest.mark.parametrize("act", ["done", "edit", "rm"])
@pytest.mark.parametrize("mark", ["-", "*", "+"])
@pytest.mark.parametrize("line", ["TT", "TT\n  a detail", "[ ] TT", f"{LONG}\n  bundler [from: x, 2026-01-01]"])
def test_an_edit_is_taken_back_after_another_line_has_changed(world: World, line: str, mark: str, act: str) -> None:
    before = f"# Tasks\n\n## Open\n\n{mark} {line}\n{mark} buy milk\n\n## Done\n\n{mark} old\n"
    world.knowledge("tasks.md", before)
    out = ask(world, act, "tasks.md:5", *(["Other words"] if act == "edit" else []))
    run = re.search(r"'knowledge undo (\S+)'", out)
    assert run is not None and world.text("tasks.md") != before
    world.knowledge("tasks.md", world.text("tasks.md").replace("milk", "bread"))
    ask(world, "undo", run[1])
    blocks = world.text("tasks.md").replace("bread", "milk")
    if act == "edit":
        assert blocks == before
    else:  # at the end of its section, perhaps
        assert sorted(blocks.split("\n")) == sorted(before.split("\n"))
        opened = blocks.partition("## Open\n")[2].partition("## Done")[0]
        assert f"{mark} {line}\n" in opened


def test_the_quote_of_what_is_removed_for_good_goes_whatever_it_begins_with(world: World) -> None:
    quote = f"* Anna said: {SENTENCE}, so port 8080 stays"
    world.converse(f"User: hello\nAssistant: {quote}\n")
    world.run(
        says(facts=[{"statement": SENTENCE, "quote": SENTENCE}, {"statement": "Port 8080 stays", "quote": quote}])
    )
    number = next(at for at, line in enumerate(world.text("facts.md").split("\n"), start=1) if SENTENCE in line)
    ask(world, "rm", f"facts.md:{number}", "--forever", "--yes")
    left = [path for path in world.paths.knowledge.rglob("*") if path.is_file() and b"bundler" in path.read_bytes()]
    assert left == []


def test_what_was_removed_stays_away_where_its_line_was_wrapped(world: World) -> None:
    for name in ("a", "b"):
        world.converse(name)
        world.run(says(facts=[SENTENCE, "Another one"]))
        row = [row for row in rows(world) if row["text"] == SENTENCE]
        if name == "a":
            ask(world, "rm", row[0]["id"], "--forever", "--yes")
            kept = world.text("removed.md")
            world.knowledge("removed.md", kept.replace(" [forever", "\n  [forever"))
            assert world.text("removed.md") != kept
    assert row == []


def test_a_box_that_a_model_writes_is_no_part_of_a_task(world: World) -> None:
    for name in ("a", "b"):
        world.converse(name)
        world.run(says(tasks_open=[{"statement": "[x] Renew the certificate"}]))
    assert [row["text"] for row in rows(world, "tasks")] == ["Renew the certificate"]


@pytest.mark.parametrize(
    ("ours", "theirs", "left"),
    [
        ("* B", "- ~~B~~", "- ~~B~~"),
        ("- [ ] B", "- [x] B", "- [x] B"),
        ("- B", "* B", "- B"),
        (f"- {LONG}\n  bundler [from: x, 2026-01-01]", f"- {LONG} bundler [from: x, 2026-01-01]", None),
    ],
)
def test_a_merge_knows_a_line_in_each_form(world: World, ours: str, theirs: str, left: str | None) -> None:
    for one, other in ((ours, theirs), (theirs, ours)):
        conflict = f"# Tasks\n\n## Open\n\n<<<<<<< a\n{one}\n=======\n{other}\n>>>>>>> b\n\n## Done\n"
        world.knowledge("tasks.md", conflict)
        call("--home", str(world.paths.home), "doctor", "--merge-conflicts")
        merged = world.text("tasks.md").partition("## Open\n\n")[2].partition("\n\n## Done")[0]
        assert merged in ([left] if (left and "~~" in left) or (left and "[x]" in left) else [ours, theirs])


def test_a_task_ticked_by_hand_stays_done_when_its_harvest_is_undone_and_made_again(world: World) -> None:
    world.converse("a")
    run = world.run(says(tasks_open=[{"statement": "Renew the certificate"}])).run
    world.knowledge("tasks.md", world.text("tasks.md").replace("- Renew", "- [x] Renew"))
    ticked = world.text("tasks.md")
    report = taken_back(world, run)
    assert report.lines_out == 0 and len(report.stayed) == 1
    world.limits(again=True)
    world.run(says(tasks_open=[{"statement": "Renew the certificate"}]))
    assert world.text("tasks.md") == ticked


@pytest.mark.parametrize("how", ["rm", "rm --forever --yes"])
def test_a_task_with_a_box_is_removed_and_nobody_offers_it_again(world: World, how: str) -> None:
    """Its words were kept with the box: they stayed in the record for good, and `review` put the line back."""
    world.converse("a")
    world.run(says(tasks_open=[{"statement": "Write the zebra import for the partner portal"}]))
    world.knowledge("tasks.md", world.text("tasks.md").replace("- Write", "- [ ] Write"))
    act, *options = how.split()
    ask(world, act, "tasks", "zebra", *options)
    call("--home", str(world.paths.home), "review", "all", "vanished", "--yes")
    assert "zebra" not in world.text("tasks.md")
    held = [path.name for path in world.paths.knowledge.rglob("*") if path.is_file() and b"zebra" in path.read_bytes()]
    assert bool(held) is not bool(options), held


def test_the_halves_of_a_wrapped_line_go_for_good_with_it(world: World) -> None:
    ask(world, "add", "facts", "The zebra quokka server of the customer listens on port 5544 since spring")
    world.knowledge("facts.md", world.text("facts.md").replace(" on port", "\n  on port"))
    run = re.search(r"undo (edit-\S+)'", ask(world, "rm", "facts", "zebra quokka", "--strike"))
    assert run is not None
    ask(world, "undo", run[1])
    ask(world, "rm", "facts", "zebra quokka", "--forever", "--yes")
    held = [path.name for path in world.paths.knowledge.rglob("*") if path.is_file() and b"5544" in path.read_bytes()]
    assert held == []


@pytest.mark.parametrize(
    ("file", "line", "words", "now"),
    [
        ("tasks", "- [ ] Call the plumber", "[x] Call the plumber today", "- [x] Call the plumber today"),
        ("tasks", "- [x] Call the plumber", "Call the plumber today", "- [x] Call the plumber today"),
        ("facts", "- [x] the plumber of the table is sold", "The plumber is sold", "- The plumber is sold"),
    ],
)
def test_an_edit_leaves_one_box_and_takes_no_other_word_for_one(
    world: World, file: str, line: str, words: str, now: str
) -> None:
    heads = {"tasks": "# Tasks\n\n## Open\n\n", "facts": "# Facts\n\n"}
    world.knowledge(f"{file}.md", f"{heads[file]}{line}\n")
    ask(world, "edit", file, "plumber", words)
    assert world.text(f"{file}.md") == f"{heads[file]}{now}\n"


def test_a_task_with_a_box_that_is_done_is_told_as_moved(world: World) -> None:
    world.knowledge("tasks.md", "# Tasks\n\n## Open\n\n- [ ] Call the plumber\n")
    assert "moved to Done: Call the plumber\n" in ask(world, "done", "plumber")


def test_the_middle_of_a_word_names_no_line(world: World) -> None:
    """A task that was done already was asked for, and another one was moved."""
    lines = "- [x] Ticked thing that was done\n- [ ] Unticked thing\n- Straße fegen\n"
    world.knowledge("tasks.md", f"# Tasks\n\n## Open\n\n{lines}")
    code, _, err = call("--home", str(world.paths.home), "done", "Ticked thing")
    assert code == 1 and "is done already" in err and lines in world.text("tasks.md")
    assert "moved to Done: Straße fegen" in ask(world, "done", "STRASSE")
