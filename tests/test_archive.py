"""A conversation that its tool has deleted is found, read, harvested and quoted all the same; and one that the user
wants gone is gone."""

from __future__ import annotations

import json
import os
import random
import shutil
import stat
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core import conversation_index
from core.conversations import archived
from core.conversations.archived import unpacked
from core.conversations.conversation import Conversation
from core.conversations.packed import pack
from core.sources.archive import content
from gui.gather import gather
from tests import store_makers
from tests.spoken_home import Disk, call, result

DAY = 86_400
TOKEN = "ghp_" + "x7Kq2mZp9LtR4vNw8YbC3dFs6HjG1aQe5UiO"
SAID = "The zyzzogeton pump listens on port 8080"
MODEL = """import sys
sys.stdin.read()
print('{"facts": [{"statement": "The zyzzogeton pump listens on port 8080", "quote": "pump listens on port 8080"}]}')
"""


class Tools(Disk):
    """A disk with Claude Code, which deletes sessions after 30 days."""

    patch: pytest.MonkeyPatch

    def session(self, name: str, *more: tuple[str, Any], days: float = 25, said: str = SAID) -> Path:
        """A session that was last changed so many days ago."""
        path = self.claude(
            name,
            ("user", f"Which port? My key is {TOKEN}"),
            ("assistant", [{"type": "text", "text": f"{said}. Tested it."}]),
            ("assistant", call("c1", "pytest -q tests/pump")),
            ("user", result("c1", "1 failed", failed=True)),
            *more,
        )
        self.age(path, days)
        return path

    def age(self, path: Path, days: float) -> None:
        then = time.time() - days * DAY
        os.utime(path, (then, then))

    def do(self, *words: str) -> str:
        code, out, err = self.run(self.patch, *words)
        assert code == 0, (words, out, err)
        return out

    def told(self, *words: str) -> Any:
        return json.loads(self.do(*words, "--json"))

    def harvest(self, *words: str) -> Any:
        return self.told("harvest", "--apply", *words)

    @property
    def copies(self) -> list[Path]:
        return sorted((self.folder / "home/knowledge/archive").glob("*.zst"))

    def kept(self) -> list[str]:
        return sorted(row["name"] for row in self.told("archive")["conversations"])


@pytest.fixture(name="disk")
def disk_fixture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tools:
    monkeypatch.setattr(conversation_index, "SETTLED_NS", 0)
    made = Tools(tmp_path, {"archive": "expiring", "sources": ["claude_code"]})
    made.patch = monkeypatch
    return made


def by_model(disk: Tools) -> None:
    """From now on a program answers."""
    model = disk.folder / "model.py"
    model.write_text(MODEL, encoding="utf-8")
    disk.settings |= {"provider": "command", "command": [sys.executable, str(model)]}


def test_nothing_is_kept_until_the_user_says_so(disk: Tools) -> None:
    """Nobody's conversations are copied unasked."""
    disk.settings["archive"] = "off"
    disk.session("old")
    disk.harvest()
    assert not (disk.folder / "home/knowledge/archive").exists()


def test_what_is_about_to_go_is_kept_without_secrets_and_for_the_user_alone(disk: Tools) -> None:
    """Of two sessions the one that its tool deletes within a week; `all` keeps both."""
    disk.session("old")
    disk.session("young", days=2)
    assert "kept in the archive: 1 conversation" in " ".join(disk.harvest()["notes"])
    assert disk.kept() == ["claude_code/old"]
    [copy] = disk.copies
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600 and stat.S_IMODE(copy.parent.stat().st_mode) == 0o700
    assert (copy.parent / ".gitignore").read_text() == "*\n"
    disk.settings["archive"] = "all"
    disk.harvest()
    assert disk.kept() == ["claude_code/old", "claude_code/young"]
    before = [copy.stat().st_mtime_ns for copy in disk.copies]
    disk.harvest()
    assert [copy.stat().st_mtime_ns for copy in disk.copies] == before  # a run that finds nothing new writes nothing


def test_half_a_secret_that_was_cut_from_an_output_is_not_kept(disk: Tools) -> None:
    """What stands alone behind the cut is no key any more for whoever looks for keys."""
    body = [random.Random(at).randbytes(48).hex()[:64] for at in range(25)]
    key = "\n".join(("-----BEGIN RSA PRIVATE" + " KEY-----", *body, "-----END RSA PRIVATE" + " KEY-----"))
    token = f"{'x' * 700}={TOKEN}={'y' * 9000}"
    more = [("user", result("c2", "one line of a listing\n" * 400 + key)), ("user", result("c3", token))]
    asked = [("assistant", call("c2", "cat notes")), ("assistant", call("c3", "cat blob"))]
    disk.session("old", asked[0], more[0], asked[1], more[1])
    disk.harvest()
    [copy] = disk.copies
    kept = content(copy).decode()
    assert "cat blob" in kept and not any(line in kept for line in body) and TOKEN[:20] not in kept


def test_a_session_that_its_tool_deleted_is_found_read_harvested_and_quoted(disk: Tools) -> None:
    """The whole promise, through the command line."""
    path = disk.session("pump")
    disk.harvest()
    before = disk.told("show", "claude_code/pump")
    path.unlink()
    assert disk.names("zyzzogeton") == ["claude_code/pump"]
    shown = disk.told("show", "claude_code/pump")
    assert shown["archived"] and TOKEN not in json.dumps(shown)
    for row in (before, shown):
        del row["archived"], row["resume"]
    assert shown == before
    by_model(disk)
    assert disk.harvest()["harvested"] == 1
    assert SAID in disk.do("list", "facts", "--project", "all")
    proof = disk.told("evidence", "zyzzogeton")
    assert proof["passage"]["quote"] == "pump listens on port 8080." and proof["passage"]["turn"] == 2
    assert disk.harvest()["harvested"] == 0


def test_a_new_session_is_told_what_it_needs_to_go_on(disk: Tools) -> None:
    """Its tool cannot go on with what it has deleted."""
    path = disk.session("pump")
    disk.harvest()
    path.unlink()
    text = disk.do("show", "claude_code/pump", "--resume")
    assert "Go on with this earlier session" in text and "Which port?" in text and SAID in text and TOKEN not in text


def test_a_session_that_went_on_is_written_anew(disk: Tools) -> None:
    """One file each, and it holds the whole."""
    disk.session("pump")
    disk.harvest()
    [before] = disk.copies
    path = disk.session("pump", ("user", "And the valve?"), days=24)
    disk.harvest()
    path.unlink()
    assert disk.copies == [before]
    assert "And the valve?" in disk.do("show", "claude_code/pump")


def test_a_copy_that_was_written_badly_takes_no_good_ones_place(disk: Tools, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk is full of surprises: what comes back is another conversation. The copy from before stays."""
    path = disk.session("pump")
    disk.harvest()
    disk.session("pump", ("user", "And the valve?"), days=24)
    packed = archived.packed

    def badly(clean: Conversation, about: Mapping[str, Any]) -> bytes:
        return packed(replace(clean, turns=clean.turns[:1]), about)

    monkeypatch.setattr(archived, "packed", badly)
    disk.run(monkeypatch, "harvest", "--apply")
    path.unlink()
    assert "Tested it" in disk.do("show", "claude_code/pump")


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data[: len(data) // 2] + bytes([data[len(data) // 2] ^ 0xFF]) + data[len(data) // 2 + 1 :],
        lambda data: data[:-20],
        lambda data: b"",
        lambda data: pack(unpacked(data).rpartition(b"\n")[0].rpartition(b"\n")[0] + b"\n"),
    ],
    ids=["a byte", "its end", "empty", "a turn"],
)
def test_damage_to_one_costs_one(disk: Tools, change: Callable[[bytes], bytes]) -> None:
    """The others are found; the doctor names the damaged one."""
    paths = [disk.session(name, said=f"The {name} is green") for name in ("apple", "birch", "cedar")]
    disk.harvest()
    for path in paths:
        path.unlink()
    broken = disk.copies[1]
    data = broken.read_bytes()
    broken.write_bytes(change(data))
    names = {f"claude_code/{name}" for name in ("apple", "birch", "cedar")}
    assert len(names & set(disk.names("green"))) == 2
    told = disk.run(disk.patch, "doctor", "--json")
    assert [row["path"] for row in json.loads(told[1])["findings"] if row["code"] == "archive-damaged"] == [str(broken)]


def test_what_was_removed_stays_away(disk: Tools) -> None:
    """Although its tool still has it, and the ledger may be lost."""
    disk.session("pump")
    disk.session("valve", said="The valve is blue")
    disk.harvest()
    assert disk.told("archive", "remove", "claude_code/pump", "--yes")["removed"] == ["claude_code/pump"]
    disk.harvest()
    assert disk.kept() == ["claude_code/valve"] and len(disk.copies) == 1
    ledger = disk.folder / "home/knowledge/ledger.json"
    ledger.unlink()
    disk.harvest()
    assert disk.kept() == ["claude_code/valve"]
    ledger.write_bytes(ledger.read_bytes()[:-4])  # cut off, and no plan is left to make it from
    for plan in (ledger.parent / ".state/plans").iterdir():
        plan.unlink()
    disk.harvest()
    assert disk.kept() == ["claude_code/valve"]


@pytest.mark.parametrize("gone", [False, True])
def test_forgotten_and_purged_words_are_nowhere(disk: Tools, gone: bool) -> None:
    """Not in the archive, not in a search, also after everything was made again."""
    by_model(disk)
    path = disk.session("pump")
    other = disk.session("valve", said="The valve is blue")
    disk.harvest()
    assert len(disk.copies) == 2
    if gone:
        path.unlink(), other.unlink()
    disk.do("rm", "facts", SAID, "--forever", "--yes")
    if gone:
        assert disk.names('"zyzzogeton"') == []
        assert sorted(disk.names('"Tested it"')) == ["claude_code/pump", "claude_code/valve"]
    else:  # it goes on, and is read again
        disk.session("pump", ("user", "And the lamp?"), days=24)
        disk.harvest()
    assert all(b"zyzzogeton" not in content(copy) for copy in disk.copies)
    disk.do("forget", "claude_code/valve", "--yes")
    assert len(disk.copies) == 1
    (disk.folder / "home/knowledge/ledger.json").unlink()
    disk.harvest()
    assert disk.kept() == ["claude_code/pump"] and disk.names('"valve is blue"') == []


def test_tools_and_projects_are_left_out(disk: Tools) -> None:
    """Nothing of them is kept; of a folder whose name only begins like theirs everything is."""
    disk.settings |= {"archive": "all", "archive_without": ["/srv/shop"]}
    disk.session("pump")
    disk.harvest()
    assert disk.copies == []
    disk.settings["archive_without"] = ["/srv/sh"]
    disk.harvest()
    assert len(disk.copies) == 1
    disk.settings["archive_without"] = ["claude-code"]
    disk.session("valve")
    disk.harvest()
    assert len(disk.copies) == 1


def test_the_trash_knows_both(disk: Tools) -> None:
    """A user looks for what is gone in one place."""
    path = disk.session("pump")
    disk.harvest()
    assert disk.told("trash") == []
    path.unlink()
    [row] = disk.told("trash")
    assert row["name"] == "claude_code/pump" and not row["until"]
    which = disk.do("trash").split()[0]
    assert row["sha256"].startswith(which), "what the list prints is what restore takes"
    restored = disk.told("trash", "restore", which)
    assert SAID in Path(restored["path"]).read_text()


def test_what_lies_in_one_database_or_in_many_small_files_is_gone_once_its_tool_has_deleted_it(disk: Tools) -> None:
    """`trash` listed every conversation of such a tool, the session that was open included."""
    disk.settings |= {"archive": "all", "sources": ["goose", "opencode"]}
    at_tool = store_makers.goose(disk.folder / "data/goose/sessions/sessions.db")
    storage = store_makers.opencode_files(disk.folder / "data/opencode/storage")
    disk.harvest("--now")
    assert {name.partition("/")[0] for name in disk.kept()} == {"goose", "opencode"}
    assert disk.told("trash") == [] and "not in their tools" not in disk.do("archive")
    store_makers.opencode(disk.folder / "data/opencode/opencode.db").close()
    shutil.rmtree(storage)
    assert disk.told("trash") == [], "the tool moved to a database, under the same ids"
    one = at_tool.execute("SELECT session_id FROM messages LIMIT 1").fetchone()[0]
    for table, column in (("messages", "session_id"), ("sessions", "id")):
        at_tool.execute(f"DELETE FROM {table} WHERE {column} = ?", (one,))
    at_tool.close()
    assert [row["name"] for row in disk.told("trash")] == [f"goose/{one}"]
    assert "1 of them not in their tools any more" in disk.do("archive")
    assert f"knowledge show goose/{one} --resume" in disk.told("trash", "restore", f"goose/{one}")["note"]


def test_list_names_what_export_and_remove_would_take(disk: Tools) -> None:
    """A part of a name gave "0 conversations", and `remove` took it all the same."""
    disk.session("pump")
    disk.session("valve")
    disk.harvest()
    [row] = disk.told("archive", "list", "PUM")["conversations"]
    assert row["name"] == "claude_code/pump"
    assert disk.told("archive", "list", "codex")["conversations"] == []


def test_export_writes_one_file_each(disk: Tools) -> None:
    """To take along, or to read without this program; a file that is there is not touched."""
    assert "nothing in the archive" in disk.run(disk.patch, "archive", "export", "all", "--to", "out")[2]
    disk.session("pump")
    disk.harvest()
    [file] = disk.told("archive", "export", "all", "--to", "out")["files"]
    assert SAID in Path(file).read_text() and TOKEN not in Path(file).read_text()
    assert disk.run(disk.patch, "archive", "export", "all", "--to", "out")[0] == 1


def test_a_user_is_warned_in_time(disk: Tools, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no hook and no timer harvests, and something is about to go."""
    disk.settings["archive"] = "off"
    disk.session("pump")
    [warning] = [row for row in disk.told("status")["warnings"] if "will be deleted" in row]
    assert "1 Claude Code conversation" in warning and "--apply --source all' reads" in warning
    monkeypatch.setenv("HOME", str(disk.folder))
    [problem] = gather(disk.workspace, {}).snapshot.problems
    assert problem.code == "archive-late" and problem.message.endswith("harvests here"), "a window has a button"
    told = json.loads(disk.run(monkeypatch, "doctor", "--json")[1])["findings"]
    assert "archive-late" in [row["code"] for row in told]
    disk.harvest()
    run = next(row["run"] for row in disk.told("ledger"))
    assert disk.run(monkeypatch, "undo", run)[0] == 0
    [warning] = [row for row in disk.told("status")["warnings"] if "will be deleted" in row]
    assert "--source all --again' reads" in warning, "what was undone is read on demand alone"
    disk.harvest("--since-last")
    assert not [row for row in disk.told("status")["warnings"] if "will be deleted" in row]
    disk.settings["archive"] = "expiring"
    disk.session("valve")
    assert not [row for row in disk.told("status")["warnings"] if "will be deleted" in row]


def test_what_its_tool_will_delete_is_harvested_before_what_stays(disk: Tools) -> None:
    """A limit, or a run that is cut off, must not leave it for a day on which it is gone."""
    disk.settings |= {"archive": "off", "sources": ["home", "claude_code"]}
    waits = disk.folder / "home/conversations/talk-12345678-1234-4234-8234-123456789abc"
    waits.parent.mkdir(parents=True)
    waits.write_text("User: We decided to use SQLite for the shop.\n")
    disk.age(waits, 200)
    disk.session("pump", days=29)
    disk.harvest("--limit", "1")
    assert [row["path"].rpartition("/")[2] for row in disk.told("ledger")] == ["pump.jsonl"]


def test_no_copy_goes_for_good_that_was_not_meant(disk: Tools) -> None:
    """A folder whose name another one begins with, and letters with which a hash may begin."""
    disk.session("pump")
    disk.harvest()
    [row] = disk.told("archive")["conversations"]
    for which in ("/srv/sh", row["sha256"][:3]):
        assert disk.run(disk.patch, "archive", "remove", which, "--yes")[0] == 1
    assert disk.kept() == ["claude_code/pump"]
    assert disk.told("archive", "remove", "/srv/shop", "--yes")["removed"] == ["claude_code/pump"]


def test_a_copy_that_was_removed_leaves_no_word_in_the_index(disk: Tools) -> None:
    """Its tool has deleted it, too: nobody has it any more."""
    path = disk.session("pump", ("user", "And the quixotron?"))
    disk.harvest()
    path.unlink()
    assert disk.names("quixotron") == ["claude_code/pump"]
    disk.do("archive", "remove", "claude_code/pump", "--yes")
    cache = Path(disk.environment["XDG_CACHE_HOME"])
    kept = [one.read_bytes() for one in cache.rglob("*") if one.is_file()]
    assert not [data for data in kept if b"quixotron" in data or b"tests/pump" in data]


def test_a_conversation_that_was_forgotten_is_never_kept(disk: Tools) -> None:
    """Neither because the archive was switched on later, nor because a kill left its copy."""
    disk.settings["archive"] = "off"
    disk.session("pump")
    disk.harvest()
    disk.do("forget", "claude_code/pump", "--yes")
    disk.settings["archive"] = "all"
    disk.session("valve")
    disk.harvest()
    assert disk.kept() == ["claude_code/valve"]
    [copy] = disk.copies
    left = copy.read_bytes()
    disk.do("forget", "claude_code/valve", "--yes")
    copy.write_bytes(left)
    disk.harvest()
    assert disk.copies == []


def test_a_file_that_the_ledger_lost_counts_again(disk: Tools) -> None:
    """After a kill between the file and the journal, or a ledger that was lost with its plans."""
    path = disk.session("pump")
    disk.harvest()
    knowledge = disk.folder / "home/knowledge"
    (knowledge / "ledger.json").unlink()
    for plan in (knowledge / ".state/plans").iterdir():
        plan.unlink()
    path.unlink()
    disk.harvest()
    assert disk.kept() == ["claude_code/pump"] and disk.names("zyzzogeton") == ["claude_code/pump"]


def test_a_day_of_hooks_with_a_tool_that_deletes_loses_no_session(disk: Tools) -> None:
    """Sessions begin, go on, end and grow old, a hook harvests at each end, Claude Code deletes after 30 days: every
    word of every session is found in the end, and nothing is left to be read."""
    by_model(disk)
    age: dict[Path, float] = {}
    deleted = []
    for hour in range(24):
        path = disk.session(f"s{hour}", said=f"Valve number {hour} is green")
        age[path] = 0.02
        if hour % 3 == 0:  # an earlier one goes on, days later
            late = ("user", f"Late words {hour}")
            again = disk.session(f"s{hour // 2}", late, said=f"Valve number {hour // 2} is green")
            age[again] = 0.02
        for one, days in list(age.items()):
            if days > 30:
                one.unlink()
                deleted.append(one)
                del age[one]
            else:
                disk.age(one, days)
        report = disk.harvest("--since-last", "--ended", str(path))
        assert not report["failed"], report
        age = {one: days + 2 for one, days in age.items()}
    assert len(deleted) >= 5 and disk.told("status")["archive"]["files"] >= len(deleted)
    for hour in range(24):
        assert f"Valve number {hour} is green" in disk.do("show", f"claude_code/s{hour}")
    assert "Late words 12" in disk.do("show", "claude_code/s6")
    disk.build()
    assert len(disk.find("valve green", limit=100).hits) == 24
    assert disk.harvest()["harvested"] == 0
