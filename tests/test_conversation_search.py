"""What was said in a conversation is found again, whichever tool it is of and wherever it lies now."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from datetime import date
from functools import partial
from pathlib import Path

import pytest

from core import conversation_index, conversation_reading
from core.base.entry import Embed, Entry
from core.base.result import KnowledgeError, Ok, attempt
from core.commands import conversations
from core.commands.conversations import ConversationFilters, build_vectors, find
from core.commands.moment.find import find as find_everything
from core.commands.transcript import index_folder, where_of
from core.conversation_index import look
from core.harvest.report import Progress
from core.knowledge.ledger import format_ledger, known_entries
from core.search import conversation_query, embedders, rank
from core.search.conversations import open_sealed
from core.search.days import Span, day_span, question
from core.search.store import FILE
from tests.bench.retrieval import ours
from tests.bench.retrieval_sets import Asked
from tests.cpu_time import grows_faster
from tests.spoken_home import Disk, call, claude_row, result
from tests.waiting import PATIENCE_SECONDS

ROOT = Path(__file__).resolve().parents[1]
CORPUS = ROOT.parent / "shared/corpus/conversations"
TODAY = date(2026, 5, 6)  # a Wednesday


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Disk:
    """Three conversations, one of them in the home folder. Files that were just written are believed to be settled."""
    monkeypatch.setattr(conversation_index, "SETTLED_NS", 0)
    made = Disk(tmp_path)
    made.claude(
        "flaky",
        ("user", "Why does the login test fail only on the build server?"),
        ("assistant", [{"type": "text", "text": "Two clocks: the fixture freezes one of them."}]),
        ("assistant", call("c1", "pytest -q tests/auth --count 50")),
        ("user", result("c1", "collected 50 items\n" + "ok\n" * 400 + "E   AssertionError: expired\n" + "ok\n" * 90,
                        failed=True)),
        ("user", "Then one clock everywhere."),
    )  # fmt: skip
    made.claude(
        "retry", ("user", "What is the retry budget of the payment client?"), folder="/srv/pay", day="2026-05-05"
    )
    made.own(
        "talk.md", ("user", "Shall the exporter write to a temporary file?"), ("assistant", "Yes, then rename it.")
    )
    return made


def test_a_conversation_is_one_row_with_its_best_turn(disk: Disk) -> None:
    """A user sees at once which session it was, when, where, and what was said."""
    [hit] = disk.find("frozen clock fixture").hits
    assert (hit.name, hit.turn, hit.role, hit.day) == ("claude_code/flaky", 2, "assistant", "2026-05-04")
    assert hit.text.startswith("Two clocks") and "words:" in " ".join(hit.why)
    assert (hit.tool, hit.project, hit.branch, hit.turns) == ("Claude Code", "/srv/shop", "main", 4)
    assert hit.title == "Why does the login test fail only on the build server?"
    assert hit.places == (2, 4)
    assert disk.names("temporary file") == ["talk.md"]


def test_of_a_long_turn_what_answers_is_shown_and_not_where_the_words_of_the_question_stand(disk: Disk) -> None:
    """The words stood thickest where the question was said again, and the cause two pages below it."""
    filler = "Then there was a lot of other work in that week, none of it of interest to anybody. " * 14
    disk.claude("jam", ("assistant", f"You ask why does the printer queue jam? Let me see the printer queue. {filler}"
                        f"The queue of the printer jams because the spooler keeps a stale lock. {filler}"))  # fmt: skip
    [hit] = disk.find("why does the printer queue jam").hits
    assert "because the spooler keeps a stale lock" in hit.text and len(hit.text) < 600


def test_a_search_after_a_harvest_knows_all_that_was_read(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first search after the first harvest answered from a few of 142 conversations, and said so below."""
    exit_code, _, _ = disk.run(monkeypatch, "harvest", "--apply", "--source", "claude_code", "--now")
    found = find(disk.workspace, "frozen clock fixture", seconds=0.0)
    assert (exit_code, found.waiting) == (0, 0)
    assert [hit.name for hit in found.hits] == ["claude_code/flaky"]


def test_a_log_of_equal_lines_in_a_message_holds_up_no_search(disk: Disk) -> None:
    """Each letter that was typed in the panel took a second for each such log."""
    for name, lines in (("short", 375), ("long", 3_000)):
        disk.claude(name, ("user", "kiln\n" * lines), folder=f"/srv/{name}")
    small, large = (partial(disk.names, "kiln", allowed=f"/srv/{name}".__eq__) for name in ("short", "long"))
    assert (small(), large()) == (["claude_code/short"], ["claude_code/long"])
    assert not grows_faster(small, large, 20)


def test_what_is_shown_has_no_marks_of_bold_and_every_path_as_it_stands(disk: Disk) -> None:
    """Of patterns of paths half was gone, and what was pasted from there meant another folder."""
    answer = "**The linter** skips `**/zebra/**` and packages/**/okapi/** because nobody edits zebra or okapi by hand."
    after = "\n" + "Then came lunch. " * 60
    disk.claude("paths", ("user", "Which folders of C# are left out?"), ("assistant", f"## Why C#\n{answer}{after}"))
    [hit] = disk.find("linter zebra okapi").hits
    assert f"Why C#: {answer.replace('**The linter**', 'The linter')}" in hit.text


def test_commands_paths_and_errors_are_found_and_the_middle_of_an_output_is_not(disk: Disk) -> None:
    """What a tool printed in its middle stands in every second session; what failed does not."""
    assert disk.names("tests/auth --count") == ["claude_code/flaky"]
    assert disk.names("expired AssertionError") == ["claude_code/flaky"]
    assert disk.names('"collected 50 items"') == ["claude_code/flaky"]
    words = "\n".join(f"line{number} of many" for number in range(400))
    disk.claude("long", ("user", "list it"), ("assistant", call("c", "ls")), ("user", result("c", words)))
    assert disk.names("line1 line398") == ["claude_code/long"]
    assert disk.names("line200") == []


def test_a_call_of_a_tool_that_needs_no_words_is_found_by_its_name(disk: Disk) -> None:
    block = {"type": "tool_use", "id": "c", "name": "mcp__tides__next_ebb", "input": {}}
    disk.claude("sea", ("user", "how is the water?"), ("assistant", [block]), ("user", result("c", "at noon")))
    assert disk.names("next_ebb") == ["claude_code/sea"]


def sessions_of(disk: Disk, words: str, project: str) -> list[str]:
    """The conversations of a project that are found."""
    disk.find()
    return [hit.session for hit in find_everything(disk.workspace, words, project).hits]


def test_filters(disk: Disk) -> None:
    assert disk.names("clock", role="user") == ["claude_code/flaky"]
    assert disk.find("clock", role="user").hits[0].turn == 4
    assert disk.names("fixture", role="user") == []
    assert sessions_of(disk, "budget clock", "/srv/pay") == ["claude_code/retry"]
    assert sessions_of(disk, "budget clock", "PAY") == ["claude_code/retry"]
    assert disk.names("budget clock exporter", sources=("home",)) == ["talk.md"]
    assert disk.names("budget clock", since="2026-05-05") == ["claude_code/retry"]
    assert disk.names("budget clock", before="2026-05-05") == ["claude_code/flaky"]
    assert disk.names("budget clock", since="monday", before="tuesday", today=TODAY) == ["claude_code/flaky"]
    assert isinstance(attempt(find, disk.workspace, "clock", ConversationFilters(since="some day")), KnowledgeError)
    assert isinstance(attempt(find_everything, disk.workspace, "clock", "/srv/nowhere"), KnowledgeError)


def test_without_words_the_newest_are_listed(disk: Disk) -> None:
    """What did I do yesterday in that project."""
    assert disk.names(since="2026-05-01", before="2026-06-01") == ["claude_code/retry", "claude_code/flaky"]
    assert disk.names(since="monday", before="tuesday", today=TODAY) == ["claude_code/flaky"]
    [hit] = disk.find(since="yesterday", before="today", today=TODAY).hits
    assert hit.name == "claude_code/retry" and hit.text.startswith("What is the retry budget")


def test_a_word_that_is_misspelt(disk: Disk) -> None:
    """As people type: letters that slipped."""
    assert disk.names("fixtture freezs clok")[0] == "claude_code/flaky"


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        ("what did I do yesterday", ["claude_code/retry"]),
        ("What did we work on monday in project shop?", ["claude_code/flaky"]),
        ("what did I do on 4 May 2026", ["claude_code/flaky"]),
        ("what did we do on 5 May in project pay", ["claude_code/retry"]),
        ("what did i do yesterday in project shop", []),
        ("the clock on monday", ["claude_code/flaky"]),
        ("budget since yesterday", ["claude_code/retry"]),
        ("since yesterday", ["claude_code/retry"]),
        ("today", []),
    ],
)
def test_a_question_about_a_day(disk: Disk, asked: str, names: list[str]) -> None:
    found = disk.find(asked, today=TODAY)
    assert [hit.name for hit in found.hits] == names
    assert found.note.startswith("understood as")


@pytest.mark.parametrize(
    ("days", "told"),
    [
        ("last week", "from 2026-04-27 to 2026-05-03 "),
        ("yesterday", "on 2026-05-05 "),
        ("in April 2026", "from 2026-04-01 to 2026-04-30 "),
        ("since monday", "from 2026-05-04 on "),
    ],
)
def test_the_days_of_a_question_are_told_with_the_last_of_them(disk: Disk, days: str, told: str) -> None:
    """Last week ended on the Monday of this one."""
    note = disk.find(f"what did I do {days}", today=date(2026, 5, 6)).note
    assert note.startswith(f"understood as: {told}")
    assert "before 0002-01-01" in disk.find(before="0002").nothing
    assert not disk.find(since="0002").nothing, "the day before it is a date"


def test_a_name_that_is_no_project_is_looked_for_on_all_days_when_that_day_has_none(disk: Disk) -> None:
    """ "in gryphon" was read as a project, and the machine of that name was in no conversation any more."""
    disk.claude("host", ("user", "The disk of gryphon is full."), day="2025-01-02")
    for asked in ("gryphon yesterday", "yesterday in gryphon"):
        assert disk.names(asked, today=TODAY) == ["claude_code/host"], asked


def test_words_that_are_no_time_stay_words(disk: Disk) -> None:
    """Somebody looks for the words themselves."""
    disk.claude("day", ("user", "The job named yesterday-report failed; why 'yesterday'?"), day="2026-01-02")
    assert disk.names('"yesterday"', today=TODAY) == ["claude_code/day"]
    found = disk.find("yesterday-report", today=TODAY)
    assert [hit.name for hit in found.hits] == ["claude_code/day"] and not found.note
    found = disk.find("failed yesterday", today=TODAY)  # nothing of yesterday failed
    assert "claude_code/day" in [hit.name for hit in found.hits] and not found.note


def test_what_left_the_disk_leaves_the_index(disk: Disk) -> None:
    """At the next look, and its words with it."""
    assert disk.names("clock") == ["claude_code/flaky"]
    (disk.folder / ".claude/projects/p/flaky.jsonl").unlink()
    assert disk.names("clock") == []
    database = open_sealed(index_folder(disk.workspace))
    assert database is not None
    assert database.execute("SELECT count(*) FROM turns WHERE text LIKE '%clock%'").fetchone() == (0,)
    assert database.execute("SELECT count(*) FROM words WHERE words MATCH 'clock'").fetchone() == (0,)
    database.close()
    assert disk.find("budget").conversations == 2


def test_the_trash_is_searched_under_the_name_that_provenances_tell(disk: Disk) -> None:
    """It was harvested and moved; what was said in it is still there for fourteen days."""
    path = disk.folder / "home/conversations/talk.md"
    sha = "ab" * 32
    trash = disk.folder / "home/conversations/.trash"
    trash.mkdir()
    path.rename(trash / sha)
    (disk.folder / "home/knowledge").mkdir()
    entry = {"path": str(path), "status": "harvested", "at": "2026-05-04T10:00:00Z", "items": 0, "deleted": True,
             "error": None, "trash": {sha: str(path)}}  # fmt: skip
    (disk.folder / "home/knowledge/ledger.json").write_bytes(format_ledger({sha: entry}))
    [hit] = disk.find("temporary file").hits
    assert (hit.name, hit.in_trash, hit.source) == ("talk.md", True, "home")


def test_a_search_reads_the_newest_first_and_tells_what_is_left(disk: Disk) -> None:
    """The first one answers at once, whatever lies on the disk; a build brings the rest, and can be stopped."""
    for number in range(6):
        path = disk.claude(f"n{number}", ("user", f"The word is plentiful, number {number}"))
        os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))
    found = find(disk.workspace, "plentiful", seconds=0.0)
    assert [hit.name for hit in found.hits] == ["claude_code/n5"]
    assert found.waiting == 8
    assert "8 conversations" in found.warnings[0] and "search --build" in found.warnings[0]
    steps: list[str] = []
    from core.commands.conversations import build

    def progress(step: Progress) -> None:
        steps.append(f"{step.name}: {step.outcome}")

    stopped = attempt(build, disk.workspace, progress, lambda: len(steps) > 2)
    assert isinstance(stopped, Ok) and stopped.value.waiting
    assert "8 conversations" in steps[0] and "about" in steps[0], "size and time are said before"
    done = disk.build()
    assert (done.waiting, done.conversations) == (0, 9)
    assert len(disk.names("plentiful")) == 6


def test_switched_off_it_finds_nothing_and_keeps_nothing(disk: Disk) -> None:
    assert disk.names("clock")
    folder = index_folder(disk.workspace)
    assert (folder / FILE).exists()
    disk.settings = {"search_conversations": False}
    assert disk.names("clock") == []
    assert not (folder / FILE).exists()
    disk.settings = {"search_sources": ["home"]}
    assert disk.names("clock exporter") == ["talk.md"]


@pytest.mark.parametrize("harm", ["middle", "cut", "empty", "other"])
def test_a_damaged_index_is_made_anew(disk: Disk, harm: str) -> None:
    """Nobody should have to know that there is one."""
    for number in range(40):
        disk.claude(f"n{number}", *[("user", f"Filling number {number} {at} " + "word " * 50) for at in range(8)])
    assert disk.names("clock") == ["claude_code/flaky"]
    path = index_folder(disk.workspace) / FILE
    data = bytearray(path.read_bytes())
    if harm == "middle":
        data[len(data) // 4 : len(data) * 3 // 4] = os.urandom(len(data) * 3 // 4 - len(data) // 4)
    elif harm == "other":
        path.unlink()
        other = sqlite3.connect(path)
        other.execute("CREATE TABLE x(y)")
        other.commit()
        other.close()
    if harm != "other":
        path.write_bytes({"middle": bytes(data), "cut": bytes(data[: len(data) // 3]), "empty": b""}[harm])
    assert disk.names("clock") == ["claude_code/flaky"]
    assert disk.find("filling").conversations == 43


def test_a_full_disk_does_not_cost_the_index(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    """No room for one more conversation, or a busy file, is no damage: an hour of reading is kept."""
    assert disk.names("clock") == ["claude_code/flaky"]
    disk.claude("more", ("user", "Something about a zeppelin"))

    def full(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(conversation_index.index, "put", full)
        with pytest.raises(sqlite3.OperationalError):
            look(where_of(disk.workspace)[0], 5.0)
    kept = open_sealed(index_folder(disk.workspace))
    assert kept is not None and kept.execute("SELECT count(*) FROM conversations").fetchone() == (3,)
    kept.close()
    assert disk.names("zeppelin") == ["claude_code/more"]


def test_what_a_kill_left_is_taken_as_it_is(disk: Disk) -> None:
    """Killed between its commit and its seal: an hour of reading is not thrown away."""
    assert disk.names("clock")
    folder = index_folder(disk.workspace)
    (folder / "search.seal").unlink()
    inode = (folder / FILE).stat().st_ino
    assert disk.names("clock") == ["claude_code/flaky"]
    assert (folder / FILE).stat().st_ino == inode


def test_two_programs_at_once(disk: Disk) -> None:
    """A search in one terminal, a build in the other."""
    for number in range(30):
        disk.claude(f"n{number}", *[("user", f"Filling number {number} {at}") for at in range(30)])
    disk.workspace  # noqa: B018
    words = [sys.executable, "-m", "core", "search", "--home", str(disk.folder / "home")]
    environment = {**disk.environment, "PYTHONPATH": str(ROOT)}
    running = [
        subprocess.Popen([*words, *more], cwd=disk.cwd, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for more in (["--build"], ["clock"], ["--build"], ["filling"])
    ]
    outputs = [one.communicate(timeout=PATIENCE_SECONDS) for one in running]
    assert [one.returncode for one in running] == [0] * 4, outputs
    assert disk.find("filling").conversations == 33
    assert disk.names("clock") == ["claude_code/flaky"]


def test_the_bench_runs_what_a_search_runs(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was fitted on conversations with known answers is what a user gets: the same conversations in the same
    order, with vectors and without; and where the search of a user breaks, the figures of the bench fall."""
    dice = random.Random(2)
    words = [f"{a}{b}{c}" for a in ("ba", "do", "ki") for b in ("lu", "me", "ro") for c in ("na", "ti", "so")]
    for number in range(12):
        turns = [("user" if at % 2 == 0 else "assistant", " ".join(dice.choices(words, k=9))) for at in range(10)]
        disk.claude(f"n{number}", *turns)
    disk.build()
    database = open_sealed(index_folder(disk.workspace))
    assert database is not None
    rows = database.execute(
        "SELECT turns.role, text, date, thread, position, name FROM turns JOIN conversations ON"
        " conversations.id = thread ORDER BY turns.id"
    ).fetchall()
    entries = [
        Entry("bullet", f"{name}:{at}", "", text, day, thread=name, position=at, role=role)
        for role, text, day, _, at, name in rows
    ]
    database.close()
    asked = [Asked(" ".join(dice.sample(words, 3)), frozenset()) for _ in range(12)]

    def of_words(texts: Sequence[str]) -> Sequence[Sequence[float]]:
        return [[1.0 + text.count(word) for word in words] for text in texts]

    def by_product() -> list[list[str]]:
        return [disk.names(one.text) for one in asked]

    def by_bench(embed: Embed | None) -> list[list[str]]:
        with ours(entries, embed) as (_, threads):
            return [list(threads(one)) for one in asked]

    by_words = by_product()
    assert by_words == by_bench(None)
    disk.settings["embedder"] = "minilm"
    monkeypatch.setitem(embedders._LOADED, "minilm", of_words)
    build_vectors(disk.workspace)
    assert by_product() == by_bench(of_words) != by_words
    whole, ranked = rank.Features.score_threads, by_product()
    monkeypatch.setattr(
        rank.Features, "score_threads", lambda *given: {name: -score for name, score in whole(*given).items()}
    )
    assert by_product() == by_bench(of_words) != ranked
    answered = conversation_query.rank_threads
    monkeypatch.setattr(conversation_query, "rank_threads", lambda *given: answered(*given)._replace(threads=[]))
    assert by_product() == by_bench(of_words) == [[] for _ in asked]


def test_a_look_costs_the_names_of_files_and_no_more(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    """With nothing new, no conversation is opened."""
    disk.build()
    where, _ = where_of(disk.workspace)
    opened: list[object] = []
    monkeypatch.setattr(conversation_reading, "read_whole", lambda *given: opened.append(given))
    monkeypatch.setattr(conversation_reading, "read_on", lambda *given: opened.append(given))
    database, brought = look(where, 5.0)
    assert database is not None and (brought.read, brought.waiting, opened) == (0, 0, [])
    database.close()


def test_a_file_that_cannot_be_read_costs_itself_only(disk: Disk) -> None:
    disk.write(disk.folder / ".claude/projects/p/bad.jsonl", b"\x00\x80\x81\x01" * 50)
    disk.write(disk.folder / ".claude/projects/p/none.jsonl", b"")
    done = disk.build()
    assert (done.conversations, done.waiting) == (3, 0)
    assert disk.names("clock") == ["claude_code/flaky"]


def test_a_session_that_names_no_folder_is_of_the_project_whose_files_it_changed(disk: Disk) -> None:
    """A harvest knew its project, and a search in that project did not find it."""
    edit = [{"type": "tool_use", "id": "e", "name": "Write", "input": {"file_path": "/srv/mill/a.py", "content": "x"}}]
    disk.claude("mill", ("user", "Oil the wheel of the mill"), ("assistant", edit), folder="")
    assert sessions_of(disk, "wheel of the mill", "/srv/mill") == ["claude_code/mill"]


def test_a_project_folder_is_followed_once_a_build_found_it(disk: Disk) -> None:
    """aider keeps its history in the project: walking through the disk is no work for a search."""
    disk.settings = {"project_roots": [str(disk.folder / "src")]}
    history = disk.folder / "src/app/.aider.chat.history.md"
    disk.write(history, b"# aider chat started at 2026-05-04 10:00:00\n\n#### make the parrot talk\n\nIt talks.\n")
    assert disk.names("parrot") == []
    disk.build()
    assert len(disk.names("parrot")) == 1
    with history.open("ab") as file:
        file.write(b"\n#### and the macaw\n\nDone.\n")
    assert len(disk.names("macaw")) == 1
    shutil.rmtree(disk.folder / "src")
    assert disk.names("parrot") == []


def test_a_file_that_the_user_did_not_hand_over_is_not_told_as_handed_over(disk: Disk) -> None:
    """An agent read "add secret_plan.py" and took it for added."""
    disk.settings = {"project_roots": [str(disk.folder / "src")]}
    asked = "> secret_plan.py  \n> Add file to the chat? (Y)es/(N)o [Yes]: n  \n"
    told = f"# aider chat started at 2026-05-04 10:00:00\n\n#### look at the plan of the heron\n\nI need it.\n\n{asked}"
    disk.write(disk.folder / "src/app/.aider.chat.history.md", told.encode())
    disk.build()
    [hit] = disk.find("secret_plan.py").hits
    assert "secret_plan.py (refused by the user)" in hit.text


def test_each_session_of_a_history_is_of_its_own_day(disk: Disk) -> None:
    """aider writes every session of a project into one file: what was said last week is not of the first day."""
    disk.settings = {"project_roots": [str(disk.folder / "src")]}
    sessions = ("2026-05-01", "parrot"), ("2026-05-05", "macaw")
    text = "".join(
        f"# aider chat started at {day} 10:00:00\n\n#### feed the {bird}  \n\nFed.\n\n" for day, bird in sessions
    )
    disk.write(disk.folder / "src/app/.aider.chat.history.md", text.encode())
    disk.build()
    assert [hit.day for bird in ("parrot", "macaw") for hit in disk.find(bird).hits] == ["2026-05-01", "2026-05-05"]
    [hit] = disk.find("what did I do yesterday in app", today=TODAY).hits
    assert hit.text == "feed the macaw"


def test_a_file_that_was_just_written_is_looked_at_again(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second change within one tick of the clock leaves size and times as they are."""
    monkeypatch.setattr(conversation_index, "SETTLED_NS", 10**18)
    monkeypatch.setattr(conversation_index, "_state", lambda item: f"{item.size} {item.mtime_ns}")
    path = disk.folder / ".claude/projects/p/new.jsonl"
    disk.write(path, claude_row("user", "The first word is aardvark.", "2026-05-04T10:00:00.000Z"), settled=False)
    seen = path.stat()
    assert disk.names("aardvark") == ["claude_code/new"]
    path.write_bytes(claude_row("user", "The other word is buffalo..", "2026-05-04T10:00:00.000Z"))
    os.utime(path, ns=(seen.st_atime_ns, seen.st_mtime_ns))
    assert disk.names("buffalo") == ["claude_code/new"]
    monkeypatch.setattr(conversation_index, "SETTLED_NS", 0)  # as if it had been left alone for a while
    assert disk.names("buffalo") == ["claude_code/new"]


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("2026-05-02", Span("2026-05-02", "2026-05-03")),
        ("2026-12", Span("2026-12-01", "2027-01-01")),
        ("2026", Span("2026-01-01", "2027-01-01")),
        ("today", Span("2026-05-06", "2026-05-07")),
        ("Yesterday", Span("2026-05-05", "2026-05-06")),
        ("wednesday", Span("2026-04-29", "2026-04-30")),
        ("last friday", Span("2026-05-01", "2026-05-02")),
        ("this week", Span("2026-05-04", "2026-05-11")),
        ("last week", Span("2026-04-27", "2026-05-04")),
        ("last month", Span("2026-04-01", "2026-05-01")),
        ("3 days ago", Span("2026-05-03", "2026-05-04")),
        ("7d", Span("2026-04-29", "2026-04-30")),
    ],
)
def test_days(text: str, span: Span) -> None:
    assert day_span(text, TODAY) == span


@pytest.mark.parametrize(
    "text", ["2026-13", "2026-02-30", "0001", "9999", "soon", "", "0 weeks of", "99999d", "last century"]
)
def test_what_is_no_day(text: str) -> None:
    assert day_span(text, TODAY) is None


def test_a_question_is_careful() -> None:
    """Words are taken for a time only where they say one."""
    asked_for = '"what did I do yesterday"'
    for text in ("today's build", "yesterday-report", asked_for, "monday or tuesday", "week 12", "day"):
        assert question(text, TODAY).said == "", text
    asked = question("what did I do last week in the payments repo?", TODAY)
    assert (asked.words, asked.place, asked.open) == ("", "payments", True)
    assert question("flaky test since monday", TODAY)[:2] == ("flaky test", Span("2026-05-04", ""))


def test_a_look_lists_no_folder_twice_and_misses_no_new_file(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten thousand sessions lie in forty folders: as long as these are as they were, only the files are asked for."""
    (disk.folder / ".codex/sessions/2026/05/04").mkdir(parents=True)
    disk.build()
    disk.find("clock")
    surveys: list[object] = []
    whole = conversation_index.survey
    monkeypatch.setattr(conversation_index, "survey", lambda *given: surveys.append(given) or whole(*given))
    with (disk.folder / ".claude/projects/p/flaky.jsonl").open("ab") as file:
        file.write(claude_row("user", "Also the heron.", "2026-05-04T11:00:00.000Z", session="flaky-id"))
    assert disk.names("heron") == ["claude_code/flaky"]
    (disk.folder / ".claude/projects/p/retry.jsonl").unlink()
    assert disk.names("budget") == []
    before = len(surveys)
    assert disk.names("heron") == ["claude_code/flaky"]
    assert len(surveys) - before <= 1, "a folder that has just changed is listed once more"
    disk.claude("new", ("user", "The ibis is new."))
    assert disk.names("ibis") == ["claude_code/new"]
    row = {"timestamp": "2026-05-04T10:00:00.000Z", "type": "session_meta", "payload": {"id": "x", "cwd": "/srv/shop"}}
    said = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "The egret is deep."}]}
    rows = [row, {"timestamp": "2026-05-04T10:00:01.000Z", "type": "response_item", "payload": said}]
    path = disk.folder / ".codex/sessions/2026/05/04/rollout-1.jsonl"
    disk.write(path, b"".join(json.dumps(one).encode() + b"\n" for one in rows))
    assert disk.names("egret") == ["codex/rollout-1"]
    disk.settings = {"search_sources": ["codex"]}
    assert disk.names("ibis egret") == ["codex/rollout-1"]
    disk.settings = {}
    assert sorted(disk.names("ibis egret")) == ["claude_code/new", "codex/rollout-1"]


# --- what is cited can be found --------------------------------------------------------------------------------------


def test_what_was_harvested_at_a_path_is_found_and_read(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder given by its path was harvested with what hides in it, and searched without: the lines of 27
    conversations cited names that could neither be found nor read."""
    work = disk.folder / "work/shop"
    story = (
        b"<!-- Generated by SpecStory -->\n\n_**User**_\n\nWhy is the %b slow?\n\n---\n\n_**Assistant**_\n\nIt syncs.\n"
    )
    disk.write(work / ".specstory/history/2026-05-01_slow.md", story.replace(b"%b", b"gannet"))
    aider = (
        b"# aider chat started at 2026-05-01 10:00:00\n\n#### Why is the cormorant slow?\n\nIt waits for the disk.\n"
    )
    disk.write(work / ".aider.chat.history.md", aider)
    export = [{"uuid": "u-1", "name": "Dunlin", "created_at": "2026-05-02T10:00:00Z", "chat_messages": [
        {"uuid": "m1", "sender": "human", "text": "Why is the dunlin slow?", "created_at": "2026-05-02T10:00:00Z"},
        {"uuid": "m2", "sender": "assistant", "text": "It looks.", "created_at": "2026-05-02T10:00:01Z"}]}]  # fmt: skip
    disk.write(disk.folder / "down/conversations.json", json.dumps(export).encode())
    for place in (work, disk.folder / "down/conversations.json"):
        status, out, err = disk.run(monkeypatch, "harvest", "--source", str(place), "--apply", "--provider", "offline")
        assert status == 0, out + err
    entries = known_entries(disk.workspace.paths).values()
    cited = {str(row["name"]) for row in entries if row.get("source", "home") != "home"}
    found = {bird: disk.names(bird) for bird in ("gannet", "cormorant", "dunlin")}
    assert {name for names in found.values() for name in names} == cited and len(cited) == 3
    for bird, (name,) in found.items():
        status, out, err = disk.run(monkeypatch, "show", name)
        assert status == 0 and f"Why is the {bird} slow?" in out, err
    disk.build()
    assert {bird: disk.names(bird) for bird in found} == found, "nor are they lost when all of it was read"
    disk.settings = {"search_sources": ["all", str(work)]}
    disk.build()
    assert disk.names("gannet") == found["gannet"] and disk.names("gannet") == found["gannet"], "and at the next look"
    disk.settings = {"search_conversations": False}
    assert disk.run(monkeypatch, "show", found["gannet"][0])[0] == 0
    disk.settings = {"search_sources": ["home"]}
    assert disk.names("gannet") == [], "the user named no more than the home"


# --- what an empty answer, and a poor one, says of itself ------------------------------------------------------------


def test_an_empty_answer_says_why(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    """ "Unknown project", "not indexed yet" and "nothing was said" looked the same: an empty list."""
    disk.build()

    def told(*words: str) -> tuple[int, str, str]:
        return disk.run(monkeypatch, "search", *words)

    for style in ((), ("--json",)):
        status, out, err = told("clock", "--project", "nowhere", *style)
        assert status == 1 and not out and "no project of that name is known" in err and "/srv/pay" in err
        status, out, err = told("zeppelin", "--kind", "conversation", "--project", "pay", *style)
        assert status == 0 and "1 conversation of this project was searched, and none says this" in err
        status, out, err = told("zeppelin", "--source", "codex", *style)
        assert "no conversation of Codex has been indexed, so this does not tell that nothing was said" in err
        assert "there are conversations of claude_code, home" in err
        status, out, err = told("zeppelin", *style)
        assert "3 conversations were searched, and none says this" in err and "nothing is known yet" in err
        status, out, err = told("clock", "--source", "claud-cod", *style)
        assert status == 1 and "there is no source 'claud-cod'" in err and "claude_code, codex" in err
    assert isinstance(attempt(find, disk.workspace, "clock", ConversationFilters(sources=("nobody",))), KnowledgeError)


def test_what_was_not_read_yet_is_no_silence(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    """A look has a fraction of a second; the rest waits, and an answer must not sound as if nothing had been said."""
    for at in range(30):
        disk.claude(f"many-{at}", ("user", f"The talk of number {at}"), folder="/srv/other")
    found = find(disk.workspace, "zeppelin", ConversationFilters(sources=("claude_code",)), seconds=0.0)
    assert found.waiting and "no conversation of Claude Code has been indexed yet" in found.nothing
    monkeypatch.setattr(conversations, "LOOK_SECONDS", 0.0)
    unknown = attempt(find_everything, disk.workspace, "zeppelin", "/srv/unread")
    assert isinstance(unknown, KnowledgeError) and "conversations are not indexed" in unknown.error.message


def test_a_copy_at_a_path_is_of_its_tool(disk: Disk) -> None:
    """The description's own example, `claude_code`, found nothing where conversations were named by their path."""
    copies = disk.folder / "copies"
    row = claude_row("user", "The condor of the copies", "2026-05-04T10:00:00.000Z", session="copied")
    disk.write(copies / "one.jsonl", row)
    disk.settings = {"search_sources": ["home", str(copies)]}
    disk.build()
    assert disk.names("condor", sources=("claude_code",)) == ["files/one.jsonl"]
    assert disk.names(sources=("claude_code",)) == ["files/one.jsonl"], "without words too"
    assert disk.names("claude code sessions about the condor") == ["files/one.jsonl"]
    assert disk.names("condor", sources=("codex",)) == []


def test_a_weak_hit_and_a_phrase_that_is_nowhere_say_so(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    """The best of what shares one word with a question looked like an answer, and a phrase became loose words."""
    disk.build()
    [hit] = disk.find("fixture budgie rainbow waterfall saxophone").hits
    assert "weak: 1 of 5 words" in hit.why
    for style in ((), ("--json",)):
        status, out, err = disk.run(monkeypatch, "search", "fixture budgie rainbow waterfall saxophone", *style)
        assert ("weak: 1 of 5 words" if style else "[weak; ") in out and "all hits are weak" in err
        status, out, err = disk.run(monkeypatch, "search", '"fixture freezes clock"', *style)
        assert status == 0 and 'nothing says "fixture freezes clock" as it stands' in err
        status, out, err = disk.run(monkeypatch, "search", '"two clocks" fixture', *style)
        assert "as it stands" not in err and "weak:" not in out + err
