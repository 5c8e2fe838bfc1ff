"""A session that goes on is read on from where it ended, and what is told of it is what reading it whole would tell."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from core import conversation_index, conversation_reading
from core.commands.transcript import index_folder
from core.search.conversations import open_sealed
from tests.corpus import need_corpus, sample
from tests.spoken_home import Disk, call, claude_row, result

PLACES = {"claude_code": ".claude/projects/p/one.jsonl", "codex": ".codex/sessions/rollout-one.jsonl"}
TIME = "2026-05-04T10:00:00.000Z"


@pytest.fixture(autouse=True)
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that were just written are believed to be settled."""
    monkeypatch.setattr(conversation_index, "SETTLED_NS", 0)


def grow(disk: Disk, kind: str, pieces: list[bytes]) -> None:
    """The file grows by each of these pieces, and is looked at behind each."""
    for number in range(1, len(pieces) + 1):
        path = disk.write(disk.folder / PLACES[kind], b"".join(pieces[:number]))
        os.utime(path, (1_700_000_000 + number,) * 2)
        disk.find("anything")


def known(disk: Disk) -> tuple[str, list[tuple[object, ...]], list[tuple[object, ...]]]:
    """What the index tells of the one conversation: its state at the end, its turns, its commands."""
    database = open_sealed(index_folder(disk.workspace))
    assert database is not None
    [(end,)] = database.execute("SELECT state_end FROM conversations").fetchall()
    turns = database.execute("SELECT position, role, text FROM turns WHERE position >= 0 ORDER BY position").fetchall()
    ran = database.execute("SELECT position, key, failed FROM commands ORDER BY position, rowid").fetchall()
    database.close()
    return end, turns, ran


# --- what a session may do, as records of Claude Code ----------------------------------------------------------------

Step = Callable[[str, random.Random], list[tuple[str, Any]]]


def said(role: str, words: str) -> Step:
    return lambda id, dice: [(role, [{"type": "text", "text": words}])]


def ran(command: str, output: str, *, failed: bool = False) -> Step:
    return lambda id, dice: [("assistant", call(id, command)), ("user", result(id, output, failed=failed))]


def edit(id: str, name: str, **given: str) -> tuple[str, Any]:
    return "assistant", [{"type": "tool_use", "id": id, "name": "Edit", "input": {"file_path": name, **given}}]


def edited(id: str, dice: random.Random) -> list[tuple[str, Any]]:
    """An edit, which another one may take back later."""
    old, new = dice.sample(["one", "two", "three"], 2)
    name = dice.choice(["/srv/shop/app.py", "/srv/shop/till.py", "/srv/shop/lib/till.py"])
    return [edit(id, name, old_string=old, new_string=new), ("user", result(id, "done"))]


def at_once(id: str, dice: random.Random) -> list[tuple[str, Any]]:
    """Two calls in one answer, whose results come one after the other."""
    rows = [edit(f"{id}a", "/srv/shop/till.py"), ("assistant", call(f"{id}b", "git checkout lib/till.py"))]
    return [*rows, ("user", result(f"{id}a", "done")), ("user", result(f"{id}b", ""))]


def left_hanging(id: str, dice: random.Random) -> list[tuple[str, Any]]:
    """A call that was never answered, since the tool was killed."""
    return [("assistant", call(id, "make all")), ("user", [{"type": "text", "text": "Go on from where you were."}])]


PULL = "https://github.com/shop/shop/pull/7"
STEPS: tuple[Step, ...] = (
    said("user", "Make the till faster, please."),
    said("user", "Is the till any faster now?"),
    said("assistant", "It is. Shall I do the rest?"),
    said("assistant", "Done. Now I run the tests:"),
    said("user", "[Request interrupted by user]"),
    said("assistant", "You have hit your session limit"),
    ran("make test", "ok"),
    ran("make test", "no rule", failed=True),
    ran("git commit -m 'Faster till'", "[main 1a2b3c4d] Faster till\n 1 file changed"),
    ran("git commit -m 'Silent'", ""),
    ran("git push", "   1a2b3c4..5d6e7f8  main -> main"),
    ran("gh pr create --fill", PULL),
    ran("gh pr view 7 --json state", f'{{"state":"OPEN","url":"{PULL}"}}'),
    ran("gh pr merge 7", ""),
    ran("git reset --hard", ""),
    ran("git checkout lib/till.py", ""),
    ran("rm lib/till.py", ""),
    ran("git mv lib/till.py lib/desk.py", ""),
    ran("echo x > note.txt", ""),
    edited, edited, edited, at_once, left_hanging,
)  # fmt: skip


def records(dice: random.Random) -> Iterator[bytes]:
    """A session of such steps; a sub-agent says something now and then."""
    yield claude_row("user", "Look at the till.", TIME)
    for at in range(dice.randrange(4, 22)):
        aside = dice.random() < 0.15
        for role, content in dice.choice(STEPS)(f"call{at}", dice):
            row = json.loads(claude_row(role, content, TIME))
            if aside:
                row |= {"isSidechain": True, "agentId": "a1"}
            yield json.dumps(row).encode() + b"\n"


@pytest.mark.parametrize("seed", range(16))
def test_how_a_session_stands_is_told_as_reading_it_whole_tells_it(seed: int, tmp_path: Path) -> None:
    """A session that had committed everything was said to have, hours after it wrote the next file; and one that only
    ran a test behind its commit had no commit any more."""
    dice = random.Random(seed)
    data = b"".join(records(dice))
    grown, anew = both(tmp_path, "claude_code", data, dice)
    assert grown == anew


def both(folder: Path, kind: str, data: bytes, dice: random.Random) -> tuple[object, object]:
    """What is known of a session that grew in random pieces, which end anywhere, and of the same, read at once."""
    cuts = sorted(dice.sample(range(1, len(data)), dice.randrange(2, 7)))
    grown, anew = Disk(folder / "grown"), Disk(folder / "anew")
    grow(grown, kind, [data[start:end] for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True)])
    grow(anew, kind, [data])
    return known(grown), known(anew)


@pytest.mark.parametrize("kind", ["claude_code", "codex"])
def test_real_sessions_are_told_as_reading_them_whole_tells_them(kind: str, tmp_path: Path) -> None:
    """The same turns under the same numbers, the same commands, the same state."""
    dice, checked = random.Random(4), 0
    for path in sample(sorted((need_corpus() / kind).rglob("*.jsonl")), 6):
        data = b"".join(path.read_bytes()[:400_000].splitlines(keepends=True)[:-1])
        if data.count(b"\n") > 8:
            grown, anew = both(tmp_path / str(checked), kind, data, dice)
            assert grown == anew, path
            checked += 1
    assert checked


# --- what a user sees of it ------------------------------------------------------------------------------------------


@pytest.fixture
def disk(tmp_path: Path) -> Disk:
    made = Disk(tmp_path)
    asked = ("user", "Why does the login test fail only on the build server?"), ("assistant", "Two clocks.")
    made.claude("flaky", *asked, *ran("pytest -q", "1 passed")("c1", ANY), ("user", "Then one clock everywhere."))
    return made


ANY = random.Random(0)


def refuse_wholes(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on no conversation may be read from its beginning."""

    def refuse(*_: object) -> None:
        raise AssertionError("the whole file was read again")

    monkeypatch.setattr(conversation_reading, "read_whole", refuse)


def test_search_and_find_tell_how_a_grown_session_stands(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its commit stood in what was read before, and its next file in what came behind: one was lost, or the other."""
    path = disk.folder / ".claude/projects/p/flaky.jsonl"
    disk.build()
    refuse_wholes(monkeypatch)
    commit, push = (
        ran("git commit -m 'One clock'", "[main 1a2b3c4d] One clock\n"),
        ran("git push", " a..b  main -> main"),
    )
    till = [edit("e1", "/srv/shop/till.py"), ("user", result("e1", "done"))]
    for rows, left in (
        (commit("g1", ANY), "commit 1a2b3c4d not pushed in the session"),
        (ran("make", "ok")("m1", ANY), "commit 1a2b3c4d not pushed in the session"),
        (push("p1", ANY), "commit 1a2b3c4d pushed"),
        (till, "1 file changed and not committed in the session (`till.py`); commit 1a2b3c4d pushed"),
        ([("assistant", [{"type": "text", "text": "Shall the clock go on?"}])],
         "1 file changed and not committed in the session (`till.py`); commit 1a2b3c4d pushed; a question open"),
    ):  # fmt: skip
        with path.open("ab") as file:
            file.write(b"".join(claude_row(role, content, TIME, session="flaky-id") for role, content in rows))
        out = disk.run(monkeypatch, "search", "clock", "--json")[1]
        assert [row["end"] for row in json.loads(out) if row["kind"] == "conversation"] == [left]
        shown = left.replace(" (`till.py`)", "")
        for command in ("search", "find"):
            assert shown[:60] in " ".join(disk.run(monkeypatch, command, "clock")[1].split()), command


def test_a_result_that_comes_later_is_of_its_call(disk: Disk) -> None:
    """The user spoke while a commit waited for its word; whether it went through was never told any more."""
    path = disk.folder / ".claude/projects/p/flaky.jsonl"
    asked, answered = ran("git commit -m 'One clock'", "[main 1a2b3c4d] One clock\n")("g1", ANY)
    for rows, left in (
        ((asked, ("user", "Also the zeppelin."), ("assistant", "Yes.")), ""),
        ((answered,), "commit 1a2b3c4d not pushed in the session"),
    ):
        with path.open("ab") as file:
            file.write(b"".join(claude_row(role, content, TIME, session="flaky-id") for role, content in rows))
        disk.find("zeppelin")
        assert known(disk)[0] == left


def test_what_has_grown_is_read_on_from_where_it_ended(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    """A session of many megabytes goes on all day."""
    path = disk.folder / ".claude/projects/p/flaky.jsonl"
    before = disk.find("clock").hits[0]
    refuse_wholes(monkeypatch)
    with path.open("ab") as file:
        file.write(claude_row("user", "Also for the zeppelin.", "2026-05-04T11:00:00.000Z", session="flaky-id"))
    [hit] = disk.find("zeppelin").hits
    assert (hit.name, hit.turn, hit.turns, hit.title) == ("claude_code/flaky", 5, 5, before.title)
    with path.open("ab") as file:
        file.write(claude_row("assistant", [{"type": "text", "text": "Zeppelins too."}], "2026-05-04T11:01:00.000Z"))
        file.write(claude_row("user", "And a", "2026-05-04T11:02:00.000Z")[:-20])  # still being written
    assert disk.find("zeppelins").hits[0].places == (5, 6)
    with path.open("rb+") as file:
        file.truncate(path.stat().st_size - len(claude_row("user", "And a", "2026-05-04T11:02:00.000Z")[:-20]))
        file.seek(0, os.SEEK_END)
        file.write(claude_row("user", "And a balloon.", "2026-05-04T11:02:00.000Z"))
    assert disk.find("balloon").hits[0].turn == 7


def test_a_call_that_is_never_answered_does_not_hold_the_cut(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    """All that came behind it was read again at each look, until the user spoke."""
    path = disk.folder / ".claude/projects/p/flaky.jsonl"
    steps = [row for at in range(20) for row in ran(f"make part{at}", "ok")(f"c{at}", ANY)]
    for rows in ([("assistant", call("lost", "make all")), *steps], ran("make zeppelin", "ok")("z1", ANY)):
        with path.open("ab") as file:
            file.write(b"".join(claude_row(role, content, TIME, session="flaky-id") for role, content in rows))
        assert disk.find("make").hits
    read = conversation_reading._bytes_from
    sizes = []
    monkeypatch.setattr(conversation_reading, "_bytes_from", lambda *at: sizes.append(at[1]) or read(*at))
    with path.open("ab") as file:
        file.write(claude_row("assistant", [{"type": "text", "text": "All is built."}], TIME, session="flaky-id"))
    assert disk.find("built").hits
    assert sizes and path.stat().st_size - sizes[0] < conversation_reading.EDGE_BYTES + 2000


def test_a_conversation_that_is_no_list_of_records_is_read_anew_when_it_grows(disk: Disk) -> None:
    """Where it ended before says nothing: its tool writes the whole file each time."""
    said = [("user", "Shall it write?"), ("assistant", "To what?"), ("user", "A temporary file."), ("assistant", "Yes")]
    disk.own("more.md", *said)
    assert disk.names("temporary")[0] == "more.md"
    disk.own("more.md", *said, ("user", "And the zeppelin?"), ("assistant", "That too."))
    assert disk.names("zeppelin") == ["more.md"]


def test_what_was_rewritten_is_read_anew(disk: Disk) -> None:
    """A file that is larger, and another one."""
    assert disk.names("zeppelin") == []
    disk.claude("flaky", *[("user", f"Something about zeppelin number {at}") for at in range(30)])
    assert disk.names("zeppelin") == ["claude_code/flaky"]
    assert disk.names("clock") == []


def test_a_hit_says_in_which_state_the_session_was_left(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever takes up work again would otherwise read the whole session to learn that nothing was committed."""
    work = disk.folder / "work/shop"
    edit = (
        '<tool-use data-tool-type="write" data-tool-name="edit_file_v2">\n<details><summary>Tool use: '
        "**edit_file_v2** • Edit file: gannet.py</summary>\n\n</details>\n</tool-use>\n"
    )
    head = "<!-- Generated by SpecStory, Markdown v2.1.0 -->\n\n_**User**_\n\nMake the gannet faster\n\n---\n\n"
    disk.write(work / ".specstory/history/fast.md", f"{head}_**Agent (x)**_\n\n{edit}\n---\n\nDone.\n".encode())
    status, out, err = disk.run(monkeypatch, "harvest", "--source", str(work), "--apply", "--provider", "offline")
    assert status == 0, out + err
    left = "1 file changed and not committed in the session (`gannet.py`)"
    status, out, err = disk.run(monkeypatch, "search", "gannet", "--json")
    assert [row["end"] for row in json.loads(out) if row["kind"] == "conversation"] == [left], err
    assert f"(session: {left.partition(' (')[0]})" in disk.run(monkeypatch, "search", "gannet")[1]
    name = disk.names("gannet")[0]
    assert f"as it was left: {left}" in disk.run(monkeypatch, "show", name)[1]
    assert json.loads(disk.run(monkeypatch, "show", name, "--json")[1])["end"] == left
