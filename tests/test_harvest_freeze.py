"""From items to lines of files: what is added, where, and which file a note is bound to."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.base import files
from core.base.paths import Paths
from core.base.result import KnowledgeError, Ok, attempt
from core.harvest.answer import Item
from core.harvest.freeze import freeze
from core.harvest.named_paths import Bindings, allowed_path, is_working_folder, source_file
from core.harvest.reclaim import reclaim, restore
from core.knowledge.edit import add_bullet
from core.knowledge.file_notes import file_id, merge_records, read_records, still_true
from core.knowledge.journal import read_journal, states_by_sha
from tests.harvest_world import NOW, FakeModel, World, says, sha256
from tests.waiting import PATIENCE_SECONDS, wait_until

# --- Where a model's words may land: paths it names, the quarantine, and what is taken away afterwards.


@pytest.mark.parametrize(
    "path",
    ["", "relative/x", "~/x", "/home/me/../you/x", "/home/me//x", "/home/me/x\0", "/home/me\\x", "/home/me/x\ny",
     "/etc/x", "/homer/x", "C:/x", "//host/share", "/home/me/" + "x" * 2000, "file:///home/me/x",
     "/proc/self/environ", "\ud800"],
)  # fmt: skip
def test_a_path_is_refused_before_anything_is_looked_at(path: str) -> None:
    with patch.object(os, "stat", side_effect=AssertionError), patch.object(os, "lstat", side_effect=AssertionError):
        assert allowed_path(path, ["/home/me", "/proc"]) is None


def test_a_path_below_a_root_is_allowed() -> None:
    assert allowed_path("/home/me/x y/ü.py", ["/home/me"]) == "/home/me/x y/ü.py"
    assert allowed_path("/home/me/./x", ["/home/me/"]) == "/home/me/x"
    assert allowed_path("/srv/x", ["/"]) == "/srv/x"


def test_what_is_no_regular_file_below_a_root_is_not_bound(tmp_path: Path) -> None:
    """A link out of the roots would put a note on a file the user never opened to it; a FIFO would hang."""
    root, outside = tmp_path / "root", tmp_path / "outside.py"
    root.mkdir()
    outside.write_text("x")
    (root / "link.py").symlink_to(outside)
    (root / "folder").mkdir()
    os.mkfifo(root / "fifo")
    (root / "inside.py").write_text("x")
    (root / "alias.py").symlink_to(root / "inside.py")
    roots = [str(root)]
    bound = {name: source_file(str(root / name), roots) for name in ("link.py", "folder", "fifo", "none.py")}
    assert set(bound.values()) == {None}
    alias = source_file(str(root / "alias.py"), roots)
    assert alias is not None and alias.path == str(root / "inside.py")


@given(st.text(max_size=40), st.lists(st.sampled_from(["/home/me", "/", "/srv/"]), max_size=2))
def test_any_path_is_judged(text: str, roots: list[str]) -> None:
    for path in (text, f"/home/me/{text}"):
        found = allowed_path(path, roots)
        assert found is None or (found.startswith("/") and ".." not in found.split("/") and "\0" not in found)


def test_the_conversations_own_folder_may_hold_files_for_notes(
    world: World, tmp_path_factory: pytest.TempPathFactory
) -> None:
    project = tmp_path_factory.mktemp("project")
    (project / "code.py").write_text("x")
    answer = says(files=[{"path": str(project / "code.py"), "note": "n"}])
    world.converse("a")
    world.run(answer)
    assert not world.paths.file_notes.exists() and "code.py: n" in world.text("facts.md")
    from dataclasses import replace

    from core.conversations.read import read_conversation

    with patch(
        "core.harvest.distil.read_conversation", lambda *args: replace(read_conversation(*args), folder=str(project))
    ):
        world.converse("b")
        world.run(answer)
    assert len(list(world.paths.file_notes.iterdir())) == 1


def test_nothing_is_cut_and_what_does_not_fit_is_counted(world: World) -> None:
    """The last steps of a long playbook and the end of a long fact were gone, and so was the conversation."""
    steps = " && ".join(f"make part-{number}" for number in range(90))
    long = "word " * 119 + "end"
    world.converse(f"User: {steps}\n")
    report = world.run(says(
        facts=[long, "short", {"statement": "made up", "quote": "nobody has ever said this"}],
        playbooks=[{"name": "all", "steps": steps}, {"name": "more", "steps": steps * 4}],
    ))  # fmt: skip
    assert f"- **all**: {steps} [from:" in world.text("playbooks.md")
    held = world.text("quarantine.md")
    assert f"- [too-long] facts: {long} [from:" in held and f"- [too-long] playbooks: **more**: {steps * 4} [" in held
    assert (report.quarantined, report.held_by) == (3, {"too-long": 2, "quote-not-found": 1})
    assert report.to_json()["held_by"] == report.held_by and report.harvested == 1 and not report.errors


def test_the_quotes_of_what_was_let_in_stay_in_the_plan(world: World) -> None:
    """The conversation goes, and with it went the only evidence."""
    key = "ghp_" + "A1b2C3d4E5f6G7h8I9j0" + "K1l2M3n4O5p6Q7r8"
    world.converse("User: the port is 8123, not 80\n")
    said = {"statement": "Port 8123", "quote": "the port is 8123"}
    held = {"statement": "Key", "quote": f"its token was {key} back then"}
    world.run(says(facts=[said, held], decisions=[{"statement": "Not 80", "quote": "8123, not 80"}]))
    [archive] = world.paths.plans.iterdir()
    [plan] = [record.plan for record in states_by_sha(read_journal(archive)).values()]
    assert plan is not None and sorted(plan.facts["quotes"].values()) == ["8123, not 80", "the port is 8123"]
    everything = b"".join(path.read_bytes() for path in world.paths.home.rglob("*") if path.is_file())
    assert key.encode() not in everything and b"its token was" in everything


def test_held_items_wait_in_the_quarantine_and_nowhere_else(world: World) -> None:
    """And their conversation in the trash, where it can be looked at until the user has decided."""
    path = world.converse("User: we use SQLite here, always have\n")
    report = world.run(says(
        facts=[{"statement": "made up", "quote": "a sentence that nobody has ever said"}, {"statement": "right"}],
        files=[{"path": "/x/y", "note": "also made up", "quote": "another sentence that nobody said"}],
    ))  # fmt: skip
    origin = f"[from: {path.name}, 2026-06-12]"
    assert world.text("quarantine.md") == (
        f'# Quarantine\n\n- [quote-not-found] facts: made up (quote: "a sentence that nobody has ever said") {origin}\n'
        f'- [quote-not-found] files /x/y: also made up (quote: "another sentence that nobody said") {origin}\n'
    )
    assert report.quarantined == 2 and report.items["facts"] == 1 and report.items["files"] == 0
    assert "made up" not in world.text("digest.md") + world.text("facts.md")
    assert not path.exists() and len(world.trash()) == 1
    assert world.entry("User: we use SQLite here, always have\n")["quarantined"] == 2


def test_names_and_paths_of_conversations_cannot_forge_lines(tmp_path: Path) -> None:
    items = [Item("facts", "x"), Item("files", "n", "/a\n## Done\n- y"), Item("files", "n", "{/knowledge}")]
    plan = freeze(items, "a\n- b [from: c, 2026-01-01]", "2026-06-12", [], Paths(tmp_path), {})
    lines = [line for planned in plan.files for line in planned.all_lines]
    assert all(line.startswith("- ") and len(line.splitlines()) == 1 and line.count("[from:") == 1 for line in lines)
    assert not any("{/knowledge}" in line for line in lines)


# --- taking away -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name_taken", [False, True])
def test_a_writer_in_the_moment_of_the_move_keeps_every_byte(world: World, name_taken: bool) -> None:
    path = world.converse("a")
    real = files.rename_without_replacing

    def move(source: Path, target: Path) -> None:
        real(source, target)
        if source == path:
            with target.open("a") as late:
                late.write(" and more")
            if name_taken:
                path.write_text("new")

    with patch.object(files, "rename_without_replacing", move):
        found = attempt(reclaim, world.paths, str(path), sha256("a"), 14, NOW)
    assert isinstance(found, KnowledgeError) and found.error.code == "changed"
    if not name_taken:
        assert path.read_text() == "a and more" and not world.trash()
        return
    kept = world.paths.trash / f"kept-{sha256('a')}"
    assert path.read_text() == "new" and kept.read_text() == "a and more" and kept.name in found.error.message


def test_a_link_in_the_place_of_a_conversation_is_not_followed(world: World) -> None:
    other = world.folder / "diary"
    other.write_text("a")
    path = world.paths.conversations / "talk"
    path.parent.mkdir(parents=True)
    path.symlink_to(other)
    assert (
        isinstance(attempt(reclaim, world.paths, str(path), sha256("a"), 14, NOW), KnowledgeError) and path.is_symlink()
    )


def test_restore_brings_every_byte_back_and_refuses_an_occupied_name(world: World) -> None:
    path = world.converse("a")
    assert isinstance(attempt(reclaim, world.paths, str(path), sha256("a"), 14, NOW), Ok)
    path.write_text("new")
    found = attempt(restore, world.paths, sha256("a"), str(path), sha256("a"))
    assert isinstance(found, KnowledgeError) and found.error.code == "occupied" and path.read_text() == "new"
    path.unlink()
    assert restore(world.paths, sha256("a"), str(path), sha256("a")) == path and path.read_text() == "a"
    gone = attempt(restore, world.paths, sha256("a"), str(path), sha256("a"))
    assert isinstance(gone, KnowledgeError) and gone.error.code == "not-in-trash"


def test_a_conversation_that_stands_in_both_places_is_restored_and_leaves_the_trash(world: World) -> None:
    """A power cut between the syncs of both folders may bring the one in the trash back: an undo goes on after it."""
    path = world.converse("a")
    assert isinstance(attempt(reclaim, world.paths, str(path), sha256("a"), 14, NOW), Ok)
    path.write_text("a")
    assert restore(world.paths, sha256("a"), str(path), sha256("a")) == path
    assert path.read_text() == "a" and not (world.paths.trash / sha256("a")).exists()


def test_nothing_is_purged_while_an_index_is_unreadable(world: World) -> None:
    world.converse("a")
    world.run(FakeModel())
    world.clock = NOW + timedelta(days=15)
    world.converse("{", "file-index-1.json")
    world.run(FakeModel())
    assert len(world.trash()) == 1


# --- Notes while a run is at work: what an edit binds meanwhile, a run must not unbind. Otherwise a person's note and
# the harvest's end up in two files, and one of them is shown for no source file at all.


def note_name(path: Path) -> str:
    found = path.stat()
    return f"{file_id(found.st_dev, found.st_ino)}.md"


def wait_for_a_plan(world: World) -> None:
    """The next conversation is asked about while the first is planned: here the plan comes first."""
    journal = world.paths.journal
    assert wait_until(lambda: journal.exists() and b'"intent"' in journal.read_bytes()), "nothing was planned"


def test_a_note_that_an_edit_binds_during_a_run_gets_the_harvest_too(world: World) -> None:
    """The inode was another file's when the run began; the user's note on the new file was written since."""
    code = world.folder / "code.py"
    code.write_text("pass\n")
    name = note_name(code)
    world.knowledge(f"files/{name}", "# /gone.py\n\n- about a file that is gone\n")
    stranger = {"path": "/gone.py", "birth": 1, "size": 1, "head": ""}
    merge_records(world.paths, {name: stranger})

    def answer(number: int, prompt: str) -> dict[str, Any]:
        assert isinstance(attempt(add_bullet, world.paths, "files", "by the user", NOW, path=str(code)), Ok)
        return {"files": [{"path": str(code), "note": "by the model"}]}

    world.converse("a")
    world.run(FakeModel(answer))
    assert "by the user" in world.text(f"files/{name}") and "by the model" in world.text(f"files/{name}")
    assert len(list(world.paths.file_notes.glob("*.md"))) == 2
    assert read_records(world.paths)[name]["path"] == str(code)


def test_what_the_run_itself_has_bound_is_still_known_after_an_edit(world: World) -> None:
    first, second = world.folder / "first.py", world.folder / "second.py"
    for path in (first, second):
        path.write_text(path.name)

    def answer(number: int, prompt: str) -> dict[str, Any]:
        if number == 2:
            wait_for_a_plan(world)
            add_bullet(world.paths, "files", "by the user", NOW, path=str(second))
            os.replace(first, world.folder / "renamed.py")
        path = first if number == 1 else world.folder / "renamed.py"
        return {"files": [{"path": str(path), "note": f"note {number}"}]}

    world.converse("a")
    world.converse("b")
    world.run(FakeModel(answer))
    text = world.text(f"files/{note_name(world.folder / 'renamed.py')}")
    assert "note 1" in text and "note 2" in text
    row = read_records(world.paths)[note_name(world.folder / "renamed.py")]
    assert (row["path"], row["was"]) == (str(world.folder / "renamed.py"), [str(first)])


def test_the_end_of_a_run_does_not_bring_an_old_path_back(world: World) -> None:
    """The user renamed the file and wrote on it after the run had read its name."""
    old, new = world.folder / "old.py", world.folder / "new.py"
    old.write_text("x")

    def answer(number: int, prompt: str) -> dict[str, Any]:
        if number == 1:
            return {"files": [{"path": str(old), "note": "note"}]}
        wait_for_a_plan(world)
        os.replace(old, new)
        add_bullet(world.paths, "files", "by the user", NOW, path=str(new))
        return {}

    world.converse("a")
    world.converse("b")
    world.run(FakeModel(answer))
    assert read_records(world.paths)[note_name(new)]["path"] == str(new)


def test_the_list_is_read_again_only_when_somebody_wrote_it(world: World) -> None:
    """It may hold ten thousand notes, and a run looks at it for each conversation."""
    code = world.folder / "code.py"
    code.write_text("x")
    add_bullet(world.paths, "files", "one", NOW, path=str(code))
    bindings = Bindings(world.paths)
    records = bindings.records
    bindings.refresh()
    assert bindings.records is records
    merge_records(world.paths, {"1:2.md": {"path": "/x", "birth": None, "size": None, "head": ""}})
    bindings.refresh()
    assert set(bindings.records) == {note_name(code), "1:2.md"}


def test_what_waits_to_be_written_is_still_known_after_an_edit(world: World) -> None:
    """Else the second of two conversations about one file forgets the name that the file had in the first."""
    code = world.folder / "code.py"
    code.write_text("x")
    bindings = Bindings(world.paths)
    staged = {note_name(code): {"path": str(code), "birth": None, "size": 1, "head": ""}}
    bindings.stage(staged)
    merge_records(world.paths, {"1:2.md": {"path": "/x", "birth": None, "size": None, "head": ""}})
    bindings.refresh()
    assert set(bindings.records) == {note_name(code), "1:2.md"}
    bindings.add(staged)
    merge_records(world.paths, {"1:3.md": {"path": "/y", "birth": None, "size": None, "head": ""}})
    bindings.refresh()
    assert set(bindings.records) == {"1:2.md", "1:3.md"}, "a note that was written and is gone is forgotten"


def test_rows_of_a_run_win_unless_their_file_has_moved(world: World) -> None:
    here = world.folder / "here.py"
    here.write_text("x")
    gone, there = {"path": "/gone.py", "birth": 1}, {"path": str(here), "birth": 1}
    assert still_true({"n": gone}, {"n": there}) == {"n": there}
    assert still_true({"n": there}, {"n": gone}) == {"n": there}
    assert still_true({"n": gone}, {}) == {"n": gone}


def test_a_name_that_is_another_files_by_now_is_not_taken_back(world: World) -> None:
    """The inode was given to a stranger while the run was at work, and the note was renamed by who saw that."""
    mine = {"1:5.md": {"path": "/a.py", "birth": 1}}
    stranger = {"path": "/b.py", "birth": 9}
    assert still_true(mine, {"1:5.md": stranger}) == {}
    moved = {"path": "/a.py", "birth": 7, "origin": "1:5@1"}
    assert still_true(mine, {"1:5.md": stranger, "1:7.md": moved}) == {}
    assert still_true(mine, {"1:7.md": moved}) == {}


# --- Paths that a model wrote, shown with a trace of system calls: a path that is not allowed is never touched.

ROOT = Path(__file__).resolve().parents[1]
UUID = "0f8fad5b-d9cb-469f-a165-70867728950e"
MARK = "SENTINEL"


def links(tmp_path: Path) -> tuple[Path, Path]:
    """A root with files and links in it, and a folder outside to which some of them lead."""
    root, outside = tmp_path / "root", tmp_path / f"outside-{MARK}"
    root.mkdir()
    outside.mkdir()
    (outside / "key.py").write_text("x")
    (root / "inside.py").write_text("x")
    (root / "leads-out.py").symlink_to(outside / "key.py")
    (root / "folder-out").symlink_to(outside)
    (root / "two-steps.py").symlink_to("leads-out.py")
    (root / "dots.py").symlink_to(f"../outside-{MARK}/key.py")
    (root / "stays.py").symlink_to("./inside.py")
    (root / "here").symlink_to(".")
    (root / "loop.py").symlink_to("loop.py")
    (root / "ping.py").symlink_to("pong.py")
    (root / "pong.py").symlink_to("ping.py")
    return root, outside


def forbidden(tmp_path: Path) -> list[str]:
    """What a model may name and nobody may look at."""
    return [
        f"/etc/{MARK}",
        f"/proc/self/{MARK}",
        f"/dev/{MARK}",
        f"/sys/{MARK}",
        f"/run/{MARK}",
        f"//host/{MARK}",
        f"{MARK}.py",
        f"~/{MARK}",
        f"{tmp_path}/root/../{MARK}",
        f"{tmp_path}/root//{MARK}",
        f"{tmp_path}/root\\{MARK}",
        f"{tmp_path}/rooted/{MARK}",
        f"{tmp_path}/root/{MARK}\0.py",
        f"{tmp_path}/root/{MARK}\n.py",
        f"{tmp_path}/root/{MARK}" + "x" * 1100,
        f"file://{tmp_path}/root/{MARK}",
        f"C:/{MARK}",
        f"{tmp_path}/outside-{MARK}/key.py",
        f"{tmp_path}/root/leads-out.py",
        f"{tmp_path}/root/folder-out/key.py",
        f"{tmp_path}/root/two-steps.py",
        f"{tmp_path}/root/dots.py",
        f"{tmp_path}/root/here/leads-out.py",
        f"{tmp_path}/root/loop.py",
        f"{tmp_path}/root/ping.py",
    ]


def test_a_trace_of_system_calls_shows_no_forbidden_path(tmp_path: Path) -> None:
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed here")
    root, _ = links(tmp_path)
    talks = tmp_path / "home" / "conversations"
    talks.mkdir(parents=True)
    (talks / f"chat-{UUID}").write_text("User: hello\n")
    rows = [
        {"path": path, "note": "a note"}
        for path in [*forbidden(tmp_path), f"{root}/stays.py", f"{root}/here/inside.py"]
    ]
    (tmp_path / "answer.json").write_text(json.dumps({"files": rows}))
    (tmp_path / "config.toml").write_text(
        f'[ai_settings.knowledge]\nfile_roots = ["{root}"]\nprovider = "command"\n'
        f'command = ["cat", "{tmp_path}/answer.json"]\n'
    )
    trace = tmp_path / "trace"
    program = "import sys; from core.cli.main import main; sys.exit(main(sys.argv[1:]))"
    words = ["harvest", "--apply", "--home", str(tmp_path / "home"), "--config", str(tmp_path / "config.toml")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = subprocess.run(
        ["strace", "-f", "-qq", "-e", "trace=%file,%desc", "-e", "trace=!write,read,pwrite64,pread64", "-s", "4096",
         "-o", str(trace),
         sys.executable, "-c", program, *words],
        cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=PATIENCE_SECONDS,
    )  # fmt: skip
    if "ptrace" in done.stderr.lower() and "permit" in done.stderr.lower():
        pytest.skip("strace may not look at a process here")
    assert done.returncode == 0, done.stderr
    calls = trace.read_text("utf-8", "replace").split("\n")
    touched = [line for line in calls if MARK in line and "readlink" not in line and "execve" not in line]
    assert touched == []
    assert any("root/inside.py" in line and "O_PATH" in line for line in calls), "the allowed file was looked at"
    notes = tmp_path / "home" / "knowledge"
    assert [note.read_text().count("a note") for note in (notes / "files").glob("*.md")] == [1]
    assert (notes / "facts.md").read_text().count("a note") == len(forbidden(tmp_path))


@pytest.mark.parametrize("name", ["stays.py", "here/inside.py", "here/here/stays.py", "inside.py"])
def test_a_link_that_stays_inside_is_followed(tmp_path: Path, name: str) -> None:
    """A project with links in it keeps its notes."""
    root, _ = links(tmp_path)
    found = source_file(f"{root}/{name}", [str(root)])
    assert found is not None and found.path == str(root / "inside.py")


def test_a_root_that_is_a_link_itself_is_a_root(tmp_path: Path) -> None:
    """Many homes are: /home -> /usr/home, or a project folder on another disk."""
    root, _ = links(tmp_path)
    (tmp_path / "alias").symlink_to(root)
    roots = [str(tmp_path / "alias")]
    found = source_file(f"{tmp_path}/alias/stays.py", roots)
    assert found is not None and found.path == str(root / "inside.py")
    assert source_file(f"{tmp_path}/alias/leads-out.py", roots) is None
    assert source_file(f"{root}/inside.py", roots) is None, "only what the user named is a root"


def test_a_link_into_another_root_is_followed_and_a_chain_without_end_is_not(tmp_path: Path) -> None:
    root, outside = links(tmp_path)
    both = [str(root), str(outside)]
    for name in ("leads-out.py", "folder-out/key.py", "two-steps.py", "dots.py"):
        found = source_file(f"{root}/{name}", both)
        assert found is not None and found.path == str(outside / "key.py"), name
    assert source_file(f"{root}/loop.py", both) is None
    (root / "sly.py").symlink_to("here/../inside.py")
    assert source_file(f"{root}/sly.py", both) is None, "two dots behind a link say nothing without looking"
    for number in range(20):
        (root / f"chain-{number}").symlink_to(f"chain-{number + 1}" if number < 19 else "inside.py")
    assert source_file(f"{root}/chain-0", both) is None
    assert source_file(f"{root}/chain-8", both) is not None
    assert source_file("/", ["/"]) is None and source_file(f"{root}/inside.py", ["/"]) is not None


SYSTEM = ("etc", "usr", "bin", "sbin", "lib", "boot", "proc", "sys", "dev", "run", "var")
PRIVATE = ("/home/a/.ssh", "/home/a/.config/x", "/", "/home", "home/a/x", "", "/home/a\0b")


@pytest.mark.parametrize("folder", [*PRIVATE, *(f"/{name}/a/b" for name in SYSTEM)])
def test_a_conversation_cannot_open_a_private_folder_for_notes(folder: str) -> None:
    """A forged working folder must not let a model ask which of your keys exist."""
    assert not is_working_folder(folder)
    assert is_working_folder("/home/a/project") and is_working_folder("/srv/app")
