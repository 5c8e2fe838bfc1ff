"""Homes of the program before the store changed are read, carried over at the first write, and can be brought back. If
these fail, an update costs a user what two years have taught.

`tests/homes` made them with that program. What must not change is compared to the byte; what changes all the same
stands in `CHANGES`.
"""

from __future__ import annotations

import contextlib
import errno
import json
import re
import sqlite3
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from core.base import files, locks
from core.base.homes import FORMAT, format_of
from core.base.markdown import split_provenance
from core.base.paths import Paths
from core.knowledge import log
from tests.cli_call import call
from tests.harvest_world import nobody_waits_for_editors
from tests.homes import names, put_down

READS = (
    ("status",), ("context",), ("list", "--project", "all"), ("facts", "list"), ("facts", "validate"),
    ("search", "port"), ("recall", "tabs"), ("memories",), ("doctor",), ("review",), ("ledger",), ("trash",),
    ("undo",), ("harvest",),
)  # fmt: skip
ALWAYS = {"backups/COPY", ".state/format", ".state/facts.jsonl", ".state/confirmed.json"}
"""The copy; the number of the store's format; what the fact index has followed; who said what again."""
FROM_A_BACKUP = {"files/NOTE", ".state/file_ids.json"}
"""Each file has another inode where a home is put down, and a note is called after it."""
PURGED = {".state/plans/RUN.jsonl", "ledger.json"}
"""Conversations whose time in the trash was over went for good, and their entries say so."""
RESTING = {".state/log", "digest.md"}
"""The log is emptied; the digest is made again where the user had changed files since, and with the lines that save
most."""
FACTS_FOLLOW = {"repos/shop/facts.yaml", "index.json", ".state/fact_files.json"}
"""A fact goes with its line: three lines were removed, struck, or vanished while nobody saw to that."""
TAKEN_OUT = {"removed.md"}
"""What the user had taken out stays away from other conversations too."""
CHANGES = {
    "each_kind": ALWAYS | FROM_A_BACKUP | PURGED | RESTING | FACTS_FOLLOW | TAKEN_OUT,
    "two_years": ALWAYS | RESTING | TAKEN_OUT,
    "old_library": ALWAYS | FROM_A_BACKUP | PURGED,
    "damaged": ALWAYS | FROM_A_BACKUP | PURGED | RESTING
    | {"ledger.corrupt-RUN.json", "index.json", ".state/fact_files.json"} | TAKEN_OUT,
}  # fmt: skip
"""What a harvest changes that finds no new conversation. A damaged ledger is kept beside the new one; facts of a YAML
file in a conflict stay in the index as unread."""


@dataclass(frozen=True)
class Home:
    """One of the homes, at the command line."""

    name: str
    folder: Path

    @property
    def paths(self) -> Paths:
        return Paths(self.folder / "home")

    def run(self, *words: str) -> tuple[int, str, str]:
        return call(*words, "--home", str(self.paths.home), "--config", str(self.folder / "config.toml"))

    def done(self, *words: str) -> str:
        code, out, err = self.run(*words)
        assert code == 0, (words, out, err)
        return out

    def json(self, *words: str) -> Any:
        return json.loads(self.done(*words, "--json"))

    def text(self, name: str) -> str:
        return (self.paths.knowledge / name).read_text()

    def look(self) -> dict[str, bytes]:
        """Every file of the store but locks and what SQLite keeps beside a library."""
        found = {
            path.relative_to(self.paths.knowledge).as_posix(): path.read_bytes()
            for path in sorted(self.paths.knowledge.rglob("*"))
            if path.is_file()
        }
        return {name: data for name, data in found.items() if not name.endswith(("lock", "-shm", "-wal"))}

    def copied(self) -> list[dict[str, bytes]]:
        """What each copy of the store holds."""
        held = []
        for copy in sorted(self.paths.backups.glob("store-before-*")):
            with tarfile.open(copy) as archive:
                rows = {row.name: archive.extractfile(row) for row in archive if row.isfile()}
                held.append({name: row.read() for name, row in rows.items() if row is not None})
        return held

    def entries(self) -> dict[str, Any]:
        """The entries of the ledger; of a damaged one none."""
        try:
            entries: dict[str, Any] = json.loads(self.text("ledger.json"))["entries"]
        except ValueError:
            return {}
        return entries


@pytest.fixture
def home(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    """The home whose name is the test's parameter."""
    with tempfile.TemporaryDirectory(prefix="home-") as place:
        folder = put_down(request.param, Path(place))
        for variable, name in (("CACHE", "cache"), ("CONFIG", "settings"), ("DATA", "share"), ("STATE", "state")):
            monkeypatch.setenv(f"XDG_{variable}_HOME", str(folder / name))
        monkeypatch.setenv("HOME", str(folder))
        monkeypatch.chdir(folder)
        nobody_waits_for_editors(monkeypatch)
        yield Home(request.param, folder)
        monkeypatch.undo()


def of(*wanted: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("home", wanted or names(), indirect=True)


def without_library(seen: dict[str, bytes]) -> dict[str, bytes]:
    """The library has copies of its own."""
    return {
        name: data for name, data in seen.items() if not name.startswith(("library.db", "experience.db", "backups/"))
    }


# --- read ------------------------------------------------------------------------------------------------------------


@of()
def test_whoever_only_looks_changes_nothing(home: Home) -> None:
    """But for the tables of an old library, which are brought up to date when it is opened, after a copy."""
    before = home.look()
    old = version(home.paths.library) if home.paths.library.exists() else ""
    for words in READS:
        code, out, err = home.run(*words)
        assert code in (0, 1) and "Traceback" not in err and (out or err), (words, out, err)
    seen = home.look()
    if old:
        (copy,) = home.paths.backups.glob("library-*-before-*.db")
        assert version(copy) == old < version(home.paths.library)
        before, seen = without_library(before), without_library(seen)
    if home.name == "old_library":
        assert (
            old == "0002"
            and len(home.json("library", "list")) == 2
            and 4 in home.json("library", "status")["counts"].values()
        )
    assert seen == before


def version(library: Path) -> str:
    with contextlib.closing(sqlite3.connect(library)) as connection:
        return str(connection.execute("SELECT version_num FROM alembic_version").fetchone()[0])


@of("each_kind")
def test_every_kind_of_thing_is_told(home: Home) -> None:
    told = {
        ("list", "--project", "all"): [
            "The shop listens on port 9090",
            "Buy coffee",
            "A line of mine",
            "Release the shop",
        ],
        ("context",): ["Answer in short sentences", "No meeting on Fridays"],
        ("facts", "list"): ["2x The radio buffers 64 frames", "The blog is built with make"],
        ("recall", "tabs"): ["Prefer tabs in Makefiles"],
        ("review",): ["The blog has a thousand readers", "Who renews the certificate", "The radio plays at 48 kHz"],
        ("notes", "code/cart.py"): ["the total is kept in cents"],
        ("search", "port"): ["The shop listens on port 8080"],
        ("undo",): ["Coffee is in the right shelf -> Coffee is in the left shelf", "(undone)"],
        ("ledger",): ["harvested", "undone", "pruned"],
        ("evidence", "The blog is built with make"): ["user in turn 1"],
    }
    for words, wanted in told.items():
        out = home.done(*words)
        assert [row for row in wanted if row not in out] == [], (words, out)
    assert "(in 4 conversations)" in home.text("digest.md")


# --- carried over ----------------------------------------------------------------------------------------------------


@of(*CHANGES)
def test_a_harvest_without_new_conversations_changes_what_stands_in_the_list(home: Home) -> None:
    before, entries = home.look(), home.entries()
    code, _, err = home.run("harvest", "--apply")
    assert code == (home.name in ("each_kind", "damaged")), err  # lines vanished: it says so
    after = home.look()
    changed = {plainly(name) for name in before | after if before.get(name) != after.get(name)}
    assert changed == CHANGES[home.name]
    now = home.entries()
    assert {sha: lasting(now[sha]) for sha in entries} == {sha: lasting(row) for sha, row in entries.items()}
    assert home.copied() == [without_library(before)]
    home.done("harvest", "--apply")
    assert home.look() == after


@of("two_years")
def test_what_was_taken_out_before_stays_away_from_now_on(home: Home) -> None:
    home.done("harvest", "--apply")
    lines = (home.paths.knowledge / "removed.md").read_text().splitlines()
    away = [line for line in lines if line.startswith("- ")]
    assert any(line.startswith("- By hand in month 11 [removed: ") for line in away)
    texts = (path.read_text() for path in home.paths.knowledge.glob("*.md") if path.name != "removed.md")
    stands = {split_provenance(line[2:])[0] for text in texts for line in text.splitlines() if line.startswith("- ")}
    assert not stands & {line[2:].rpartition(" [")[0] for line in away}


def lasting(entry: dict[str, Any]) -> dict[str, Any]:
    """An entry without what says that its conversation waits in the trash, or that a vanished line was told."""
    return {key: value for key, value in entry.items() if key not in ("trash", "trashed_until", "missing_told")}


def plainly(name: str) -> str:
    """A name without what differs from run to run."""
    name = re.sub(r"\d{8}T\d{6,}(-\w+)?", "RUN", name)
    return re.sub(r"^files/.*", "files/NOTE", re.sub(r"^backups/store-.*", "backups/COPY", name))


RUN = "the run of 11 December"
WRITES = (
    ("add", "facts", "A new line"), ("edit", "facts", "Tea is in the left shelf", "Tea is gone"),
    ("done", "Buy coffee"),
    ("rm", "facts", "Tea is in the left shelf"), ("rm", "--strike", "facts", "Tea is in the left shelf"),
    ("save", "A new memory"), ("memories", "archive", "1"), ("memories", "edit", "1", "Prefer spaces"),
    ("rm", "--forever", "--yes", "facts", "Tea is in the left shelf"), ("retract", "Tea is in the left shelf"),
    ("facts", "sync"), ("review", "all", "held", "--yes"),
    ("review", "all", "held", "--no"), ("review", "all", "finished", "--yes"), ("review", "all", "finished", "--no"),
    ("review", "all", "vanished", "--yes"), ("review", "all", "vanished", "--no"),
    ("review", "all", "stale", "--later"), ("undo", RUN), ("trash", "purge"), ("doctor", "--repair"),
    ("import", "CLAUDE.md", "--apply"), ("harvest", "--apply"), ("harvest", "--finish"),
)  # fmt: skip


def december(home: Home) -> str:
    return str(next(row["run"] for row in home.json("undo") if row["run"].startswith("20241211")))


@pytest.mark.parametrize("words", WRITES, ids=" ".join)
@of("each_kind")
def test_before_the_first_write_the_store_is_copied_or_nothing_is_written(
    home: Home, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    (home.folder / "CLAUDE.md").write_text("# Notes\n\n- Always run the tests before a release\n")
    words = tuple(december(home) if word == RUN else word for word in words)
    before = home.look()
    write = files.write_atomic

    def full(path: Path, *arguments: Any, **named: Any) -> None:
        if path.parent == home.paths.backups:
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        write(path, *arguments, **named)

    with monkeypatch.context() as patched:
        patched.setattr(files, "write_atomic", full)
        code, _, err = home.run(*words)
        assert code == 1 and "an earlier version wrote this store" in err and "No space left on device" in err
        assert without_library(home.look()) == without_library(before)

    code, _, err = home.run(*words)
    assert code == 0 or "vanished" in err, err
    assert format_of(home.paths) == FORMAT
    if "--forever" in words:  # the copy held the words, and went with them
        assert home.copied() == []
        return
    assert home.copied() == [without_library(before)]
    home.done("add", "decisions", "One more")
    assert len(home.copied()) == 1
    (copy,) = home.paths.backups.glob("store-*")
    assert home.json("status")["copies"] == [str(copy)] and copy.name in home.done("status")
    assert copy.name in home.run("doctor")[1]


@of("each_kind")
def test_a_removal_for_good_takes_the_copy_along_that_holds_the_words(home: Home) -> None:
    home.done("add", "decisions", "Carried over")
    (copy,) = home.paths.backups.glob("store-*")
    done = home.json("rm", "--forever", "--yes", "facts", "Tea is in the left shelf")
    assert f"backups/{copy.name}" in done["backups"] and home.copied() == []


@of("each_kind")
def test_nothing_is_carried_over_beside_a_run_of_the_earlier_version(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log, "CARRYING_SECONDS", 0.1)
    before = home.look()
    with locks.locked(home.paths.lock, work="harvest"):
        code, _, err = home.run("add", "facts", "A new line")
        assert code == 1 and "'knowledge harvest' is at work" in err
        assert home.look() == before
    home.done("add", "facts", "A new line")


def test_a_new_home_needs_no_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for words in (("add", "facts", "The first line"), ("save", "The first memory"), ("harvest", "--apply")):
        code, _, err = call(*words, "--home", str(tmp_path / "home"))
        assert code == 0, err
    paths = Paths(tmp_path / "home")
    assert format_of(paths) == FORMAT and not paths.backups.exists()


@of("each_kind")
def test_an_old_harvest_and_an_old_edit_can_be_taken_back(home: Home) -> None:
    runs = home.json("undo")
    edit = next(row["run"] for row in runs if "right shelf ->" in row["text"])
    before = home.text("facts.md").split("\n")
    home.done("undo", december(home))
    home.done("undo", edit)
    after = home.text("facts.md").split("\n")
    gone, come = [[row for row in one if row not in other] for one, other in ((before, after), (after, before))]
    assert [row.partition(" [from")[0] for row in gone] == [
        "- The shop listens on port 9090", "- Anna renews the certificate", "- The blog is built with make",
        "- Coffee is in the left shelf",
    ]  # fmt: skip
    assert [row.partition(" [from")[0] for row in come] == ["- Coffee is in the right shelf"]


# --- what a kill or a disk left ---------------------------------------------------------------------------------------


@of("killed_harvest")
def test_what_an_earlier_harvest_left_is_finished_without_asking_again(home: Home) -> None:
    told = home.done("harvest", "--finish")
    assert "finished 1 harvest" in told
    assert home.text("facts.md").count("- The till has 3 drawers [") == 1
    assert home.text("tasks.md").count("- Oil drawer 3 [") == 1
    assert not home.paths.journal.exists() and home.run("doctor")[0] == 0
    (before,) = home.copied()
    assert ".state/journal" in before and b"Oil drawer 3" not in before["tasks.md"]


@of("killed_edit")
def test_an_edit_of_the_earlier_version_that_was_killed_can_be_taken_back(home: Home) -> None:
    home.done("facts", "sync")
    home.done("harvest", "--apply")
    assert "port 8081" in home.text("facts.md")
    assert home.text("repos/blog/facts.yaml").count("The blog has 12 pages") == 1
    home.done("undo", next(row["run"] for row in home.json("undo") if "8081" in row["text"]))
    assert "port 8081" not in home.text("facts.md") and home.text("facts.md").count("port 8080") == 1


@of("damaged")
def test_damage_of_the_earlier_home_is_told_and_mended_as_ever(home: Home) -> None:
    _, told, _ = home.run("doctor")
    for words in ("ledger.json", "repos/shop/facts.yaml", "merge conflict"):
        assert words in told, told
    facts = {fact["fact"] for fact in home.json("facts", "list")}
    bullets = home.text("facts.md")
    home.run("doctor", "--repair", "--merge-conflicts")
    assert "<<<<<<<" not in home.text("repos/shop/facts.yaml") and home.text("facts.md") == bullets
    assert home.entries() and facts
    (before,) = home.copied()
    assert b"<<<<<<<" in before["repos/shop/facts.yaml"] and before["ledger.json"] not in (b"", None)


# --- the way back ----------------------------------------------------------------------------------------------------


@of("each_kind", "two_years", "killed_edit", "damaged")
def test_the_documented_way_back_gives_the_store_as_it_was(home: Home) -> None:
    before = home.look()
    home.run("harvest", "--apply")
    home.done("add", "facts", "Learned since")
    page = (Path(__file__).parents[1] / "assets" / "docs" / "uninstall.md").read_text()
    block = page.partition("## Back to an earlier version")[2].partition("```\n")[2].partition("```")[0]
    script = block.replace("~/.manual_slop", str(home.paths.home))
    subprocess.run(["sh", "-e", "-c", script], check=True, capture_output=True)
    assert home.look() == before
    assert "Learned since" in (home.paths.home / "knowledge-later" / "facts.md").read_text()
    home.done("add", "facts", "And on again")  # this version carries it over once more
    assert home.copied() == [without_library(before)]
