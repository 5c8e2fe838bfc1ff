"""What an agent reads on in a session that `find` named: `read`, and `show` at the command line."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from pathlib import Path

import pytest

import tests.mcp_tools  # noqa: F401 - describes each tool once
from tests.asking import answered, kept_talk
from tests.cli_call import call
from tests.shop import FAILS, WORKS, edited, kept, ran, shop_fixture, turn  # noqa: F401 - pytest finds the fixture by itself

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="lines of a POSIX shell")


def test_a_page_goes_with_the_words_side_by_side_not_with_a_long_text_that_has_each_somewhere(tmp_path: Path) -> None:
    """What was pasted has all words of the question, far apart; the reply has three of them in a sentence."""
    from core.search import conversations as stored
    from core.search.answering import weighed
    from core.search.terms import parse_query
    from core.search.words import Stems

    words, parts = ("parcel", "label", "printer", "jam", "tray"), "abcdefghijklmn"
    lines = [
        f"- The {'module' if at % 4 else words[at // 4]} has {' '.join(f'{name}{at}x' for name in parts)}."
        for at in range(20)
    ]
    said = ["\n".join(lines), "Paper of 80 grams makes the label printer jam."]
    pieces = [stored.Piece(at, "assistant", "2026-05-06", text) for at, text in enumerate(said)]
    database = stored.open_or_make(tmp_path)
    with stored.writing(database, tmp_path):
        stored.put(database, stored.Held(1, "p", "", "s", "claude_code", turns=len(said)), pieces)
    stems = Stems()
    query = parse_query("why does the label printer jam, the parcel tray?", database, stems)
    made = weighed(query, stems, pieces, {0: 0.4, 1: 0.4}).excerpt(250)
    database.close()
    assert made is not None and "80 grams" in made.text and len(made.text) <= 250


def test_a_turn_that_is_named_or_asked_for_by_role_is_not_cut_hard(shop: Path) -> None:
    """A patch or a stack trace in the middle of an output is what an agent reads a session for."""
    output = "\n".join(f"line {number} of the report" for number in range(120))
    rows = [
        turn("user", [{"type": "text", "text": "Run the report of the warehouse."}], 0, "s4", shop),
        turn(
            "assistant",
            [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "report"}}],
            1,
            "s4",
            shop,
        ),
        turn("user", [{"type": "tool_result", "tool_use_id": "t1", "content": output}], 2, "s4", shop),
        turn("assistant", [{"type": "text", "text": "The warehouse report is there."}], 3, "s4", shop),
    ]
    kept = Path(os.environ["HOME"]) / ".claude" / "projects" / "shop"
    (kept / "s4.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert call("search", "--build", "--quiet")[0] == 0
    named = re.search(r"\[(\d+) tool\]", answered("read", name="s4"))
    assert named is not None and "line 60 of" not in answered("read", name="s4")
    assert "line 60 of" in answered("read", name=f"s4:{named[1]}", characters=6000)
    assert "line 60 of" in answered("read", name="s4", role="tool", characters=6000)
    assert "warehouse" in answered("read", name="s4", role="assistant", query="is the warehouse report there?")


def test_the_head_of_a_page_does_not_list_files(shop: Path) -> None:
    """Every character above the page is one less of it, and the names of files are most of it."""
    rows = [turn("user", "Why does the parcel label tear?", 0, "s7", shop)]
    for number in range(6):
        path = shop / f"a_rather_long_name_of_a_module_{number}.py"
        rows += edited(path, "x", "y", 1 + 2 * number, "s7", shop)
    kept("s7", [*rows, turn("assistant", [{"type": "text", "text": "Its paper is thin."}], 20, "s7", shop)])
    head = answered("read", name="s7:1").splitlines()[1]
    assert "6 files changed" in head and "module_0" not in head and len(head) < 200


def test_what_one_side_said_is_read_from_the_whole_session(shop: Path) -> None:
    said = [f"{'Ask' if at % 2 == 0 else 'Reply'} number {at} about the warehouse." for at in range(30)]
    kept_talk(shop, "s4", said)
    page = answered("read", name="s4:15", role="user")
    assert "[1 user]" in page and "[29 user]" in page and "Reply" not in page
    assert "[1 user]" not in answered("read", name="s4:15", role="user", around=4)


@pytest.mark.parametrize("role", ["", "tool"])
def test_a_question_is_answered_from_the_middle_of_what_a_tool_printed(shop: Path, role: str) -> None:
    """The index has the ends of an output alone; a search of the raw file finds what stands between them."""
    limit = "A client that lost the stream resumes within 60 seconds, or reads the whole list again."
    lines = [f"- part {number} of the plan is as it was" for number in range(60)]
    printed = "\n".join([*lines[:30], limit, "- key: sk-live-4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c", *lines[30:]])
    said = turn("user", "Look at the plan of the stream before you begin.", 0, "s4", shop)
    kept("s4", [said, *ran("cat plan.md", printed, False, 1, "s4", shop)])
    page = answered("read", name="s4:1", query="how long may a client that lost the stream resume?", role=role)
    assert limit in page and "sk-live-4f9a" not in page


def test_a_session_is_read_by_its_bare_id(shop: Path) -> None:
    """That of Claude Code is a UUID, like the id of a part of a document: an agent was told that there is no such
    document."""
    name = "3f1c9a52-737a-41a2-9939-52ce68c95cbe"
    kept_talk(shop, name, ["Why does the zebra importer stall?", "The zebra importer stalls on a quagga header."])
    for called in (name, f"{name}:2", f"claude_code/{name}"):
        assert "quagga" in answered("read", name=called)
    assert "no conversation of that name" in answered("read", name=name.replace("3f", "4f"))


def test_a_library_that_is_damaged_is_told_to_who_reads_a_part_of_a_document(shop: Path) -> None:
    """ "There is no conversation of that name" sent the agent to look elsewhere."""
    name = "3f1c9a52-737a-41a2-9939-52ce68c95cbe"
    kept_talk(shop, name, ["Why does the zebra importer stall?", "The zebra importer stalls on a quagga header."])
    library = Path(os.environ["HOME"]) / ".manual_slop" / "knowledge" / "library.db"
    library.parent.mkdir(parents=True, exist_ok=True)
    library.write_bytes(b"SQLite format 3\0" + b"x" * 9000)
    told = answered("read", name=name.replace("3f", "4f"))
    assert "library" in told and "no conversation" not in told
    assert "quagga" in answered("read", name=name), "a session needs no library"


def test_the_two_sides_of_what_was_left_out_of_an_edit_are_no_sentence(shop: Path) -> None:
    """An agent was shown "MUST include an updated table source reference and or significant expansions"."""
    rules = [f"+Drawer {at} of the till is counted by two people and sealed by the third." for at in range(1, 90)]
    patch = "\n".join(
        ["apply_patch <<'EOF'", "*** Begin Patch", "*** Add File: rules.md", *rules, "*** End Patch", "EOF"]
    )
    kept(
        "s9",
        [
            turn("user", "Write down how the till is counted", 0, "s9", shop),
            *ran(patch, "Success", False, 1, "s9", shop),
        ],
    )
    assert call("search", "--build", "--quiet")[0] == 0
    found = answered("read", name="s9:2", query="which people count and seal the drawers of the till")
    assert "Drawer" in found and all(part.count("Drawer") < 2 for part in re.split(r"(?<=\.)| … |\n", found))


def test_a_long_page_of_a_long_session_takes_no_longer_for_each_line(shop: Path) -> None:
    """Each sentence that was chosen weighed all others again: 30,000 characters of 12,000 lines took six seconds."""
    lines = [[f"Cleared the cache {turn}a{at} {turn}b{at} {turn}c{at}." for at in range(600)] for turn in range(20)]
    said = [text for turn in lines for text in ("And the cache?", "\n".join(turn))]
    kept_talk(shop, "s9", said)
    seconds: dict[int, list[float]] = {3000: [], 30_000: []}
    for characters in (3000, 30_000) * 3:  # beside other load the quickest of three tells
        started = time.perf_counter()
        page = answered("read", name="s9", query="when was the cache of a node cleared?", characters=characters)
        seconds[characters].append(time.perf_counter() - started)
    assert len(page) > 10_000 and min(seconds[30_000]) < 2.5 * min(seconds[3000]), seconds


def test_show_reads_the_part_that_matters(shop: Path) -> None:
    around = call("show", "s1:2", "--around", "1")[1]
    assert "towncrier" in around and "How do we write" in around and "all checks passed" not in around
    assert "Shall I commit" in (end := call("show", "s1", "--end", "--limit", "1")[1]) and "towncrier" not in end
    assert "towncrier" not in call("show", "s1", "--role", "user")[1]


def test_what_stands_in_the_middle_of_a_plan_that_was_written_is_found(shop: Path) -> None:
    """A plan in a file is what the assistant says; of what an edit writes only both ends were kept."""
    lines = [f"- Step {number}: the cashier opens drawer {number} and counts what lies in it." for number in range(60)]
    lines[30] = "- The till rounds to five cents, since the coins of one are gone."
    made = edited(shop / "PLAN.md", "", "\n".join(lines), 1, "s9", shop, "I write the plan.")
    kept("s9", [turn("user", "Write the plan of the till.", 0, "s9", shop), *made])
    assert "five cents" in answered("find", query="to what does the till round, and why")


@pytest.mark.parametrize("side", ["written", "printed"])
def test_what_stands_in_the_middle_of_a_file_or_a_log_is_read(shop: Path, side: str) -> None:
    """A search of the raw file has it; and a page that says how much it leaves out is no answer."""
    lines = [f"setting_{number} = {number * 7}" for number in range(1200)]
    middle, text = lines[600], "\n".join(lines)
    given = (
        {"file_path": "/srv/shop/app.conf", "content": text} if side == "written" else {"file_path": "/srv/app.conf"}
    )
    back = "The file was created." if side == "written" else text
    call_of = {"type": "tool_use", "id": "t1", "name": "Write" if side == "written" else "Read", "input": given}
    rows = [
        turn("user", [{"type": "text", "text": "Look after the settings of the till."}], 0, "s5", shop),
        turn("assistant", [call_of], 1, "s5", shop),
        turn("user", [{"type": "tool_result", "tool_use_id": "t1", "content": back}], 2, "s5", shop),
        turn("assistant", [{"type": "text", "text": "The settings of the till are there."}], 3, "s5", shop),
    ]
    kept = Path(os.environ["HOME"]) / ".claude" / "projects" / "shop"
    (kept / "s5.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert call("search", "--build", "--quiet")[0] == 0
    number = 2 if side == "written" else 3
    assert middle in answered("read", name=f"s5:{number}", characters=30_000)
    assert middle in answered("read", name="s5", query="what is setting_600 of the till?")
    page = answered("read", name="s5")
    assert middle not in page and f"left out of a tool's turn: read s5:{number})" in page, "whoever wants it sees how"
    assert middle in call("show", f"s5:{number}", "--around", "0", "--markdown")[1]
    # A page that is shorter than its own head has the turn that was asked for all the same.
    for name in ("s5", "claude_code/s5", str(kept / "s5.jsonl")):
        short = answered("read", name=f"{name}:4", characters=500)
        assert "The settings of the till are there." in short, short
        assert "left out of a tool's turn" not in short or f"[{number} tool]" in short, "it names a turn that is here"
