"""A store that somebody else has damaged: the ledger, the journal, the clock. Nothing is taken for empty or for
new."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from unittest.mock import patch

import pytest

from core.harvest.committer import Committer
from tests.bad_input import LEARNED, UUID, Person, person, write_talk
from tests.harvest_world import FakeModel, World
from tests.made_home import Clock, Model, converse, harvested, make_home, one_harvest

__all__ = ["person"]
WHERE = "(~/home/knowledge/ledger.json)"
MOVE = "ove it away, then the next 'knowledge harvest --apply' rebuilds it from the committed plans"
NEXT = "It is set aside and rebuilt from the committed plans by the next 'knowledge harvest --apply'."
NO_JSON = "the ledger is not readable JSON: Expecting value: line 1 column 1 (char 0)"


def by_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def by_link(path: Path) -> None:
    path.rename(path.with_name("elsewhere.json"))
    path.symlink_to("elsewhere.json")


def by_fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


UNUSABLE: list[tuple[str, Callable[[Path], object], str]] = [
    ("folder", by_folder, "not a regular file"),
    ("link", by_link, "a symbolic link stands there, which is not followed"),
    ("FIFO", by_fifo, "not a regular file"),
]


@pytest.mark.parametrize(("make", "why"), [row[1:] for row in UNUSABLE], ids=[row[0] for row in UNUSABLE])
def test_a_ledger_that_is_no_file_stops_the_run_and_comes_back(
    person: Person, make: Callable[[Path], object], why: str
) -> None:
    """An unusable ledger taken for an empty one would harvest and reclaim everything again."""
    write_talk(person)
    person.types("harvest", "--apply")
    ledger = person.knowledge / "ledger.json"
    before = ledger.read_bytes()
    talk = write_talk(person, b"We decided to use tabs.\n", f"new-{UUID}")
    make(ledger)
    sentence = f"the ledger cannot be read: {why}"
    assert f"note: {sentence} {WHERE}. M{MOVE}.\n" in person.types("harvest")
    refused = f"knowledge: the knowledge folder cannot be used: {sentence}; m{MOVE} {WHERE}.\n"
    assert person.types("harvest", "--apply") == refused and person.code == 1
    assert talk.exists() and person.types("ledger") == f"knowledge: {sentence} {WHERE}. M{MOVE}.\n"
    assert f"found: {sentence}; m{MOVE} {WHERE}\n" in person.types("doctor") and person.code == 1
    assert person.types("doctor", "--repair") == refused
    ledger.rmdir() if ledger.is_dir() and not ledger.is_symlink() else ledger.unlink()
    assert "note: the ledger was missing; it was rebuilt from the committed plans\n" in person.types(
        "harvest", "--apply"
    )
    assert person.code == 0 and not talk.exists()
    assert before.split(b'"path"')[0] in ledger.read_bytes() or b'"deleted": true' in ledger.read_bytes()


GARBAGE: list[tuple[bytes, str]] = [
    (b"", NO_JSON),
    (b"garbage", NO_JSON),
    (b"\0" * 500, NO_JSON),
    (b"[]", "the ledger has no table of entries"),
    (b'{"entries": 5}', "the ledger has no table of entries"),
    (b'{"entries": {"a": []}}', "the ledger has no table of entries"),
    (b"[" * 200_000, "the ledger is not readable JSON"),
    (b"\xff\xfe", "the ledger is not readable JSON: 'utf-8' codec can't decode byte 0xff in position 0"),
]


@pytest.mark.parametrize(("data", "why"), GARBAGE, ids=[str(row[0][:9]) for row in GARBAGE])
def test_a_ledger_of_garbage_is_set_aside_and_rebuilt(person: Person, data: bytes, why: str) -> None:
    write_talk(person)
    person.types("harvest", "--apply")
    ledger = person.knowledge / "ledger.json"
    before = ledger.read_bytes()
    ledger.write_bytes(data)
    said = person.types("harvest")
    assert f"note: {why}" in said and f" {WHERE}. {NEXT}\n" in said
    assert f"knowledge: {why}" in person.types("status") and person.code == 1
    said = person.types("harvest", "--apply")
    [aside] = person.knowledge.glob("ledger.corrupt-*.json")
    assert f"note: the ledger was damaged; it was set aside as {aside.name} and rebuilt from the plans\n" in said
    assert aside.read_bytes() == data and ledger.read_bytes() == before and person.code == 0


def test_a_journal_torn_at_every_byte_loses_nothing(tmp_path: Path) -> None:
    """A power cut may end the journal anywhere. Whatever is left of it: each item stands once, or its conversation is
    where it was, and the run after that changes nothing. TORN_AT_EVERY_BYTE=1 does what the name says (minutes)."""
    world = World(tmp_path / "first")
    path = world.converse("a")
    with patch.object(Committer, "finish", lambda self: self._journal.close()):
        world.run(FakeModel())
    journal = world.paths.journal.read_bytes()
    whole = {name: name.read_bytes() for name in sorted(world.folder.rglob("*")) if name.is_file()}
    assert len(journal) > 600
    every = 1 if os.environ.get("TORN_AT_EVERY_BYTE") else 41
    ends = [at for at, char in enumerate(journal) if char == 10]
    for length in sorted({*range(0, len(journal), every), *ends, *(at + 1 for at in ends)}):
        for file in world.folder.rglob("*"):
            if file.is_file() and file not in whole:
                file.unlink()
        for file, data in whole.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
        world.paths.journal.write_bytes(journal[:length])
        report = world.run(FakeModel())
        assert not report.errors, (length, report.errors)
        bullets = world.bullets()
        assert len(bullets) == len(set(bullets)), (length, bullets)
        held = [item.read_bytes() for item in world.trash()]
        assert path.exists() or held == [b"a"], length
        assert all(entry["status"] == "harvested" for entry in world.entries().values())
        again = {name: name.read_bytes() for name in world.folder.rglob("*") if name.is_file()}
        world.run(FakeModel())
        assert {name: name.read_bytes() for name in world.folder.rglob("*") if name.is_file()} == again, length


def test_a_clock_ten_days_back_purges_nothing_early_and_still_in_the_end(tmp_path: Path) -> None:
    """A flat battery, a virtual machine that slept: the grace period must not end because of that."""
    workspace, clock = make_home(tmp_path), Clock()
    one_harvest(workspace, clock)
    clock.days(-10)
    converse(workspace, "second", "other words")
    report = harvested(workspace, Model(), clock)
    assert report.errors == [] and report.reclaimed == 1
    held = sorted(workspace.paths.trash.iterdir())
    assert len(held) == 2
    clock.days(13)  # the second one's grace period ends on the fourth day of our count, the first one's on the 14th
    harvested(workspace, Model(), clock)
    assert sorted(workspace.paths.trash.iterdir()) == held
    clock.days(2)
    harvested(workspace, Model(), clock)
    assert len(list(workspace.paths.trash.iterdir())) == 1
    clock.days(10)
    harvested(workspace, Model(), clock)
    assert list(workspace.paths.trash.iterdir()) == []
    runs = sorted(path.name for path in workspace.paths.plans.iterdir())
    assert len(runs) == len(set(runs)) >= 2 and clock.at - timedelta(days=15) > Clock().at - timedelta(days=1)


def test_a_file_in_the_place_of_the_home_or_of_a_folder(person: Person) -> None:
    """A backup that was unpacked wrongly: the sentence says which place it is."""
    (person.folder / "home" / "knowledge").write_text("x")
    write_talk(person)
    said = person.types("harvest", "--apply")
    assert person.code == 1
    assert said == "knowledge: a file stands where the knowledge belongs (~/home/knowledge). Move it away.\n"
    (person.folder / "home" / "knowledge").unlink()
    (person.folder / "home" / "conversations" / f"talk-{UUID}").unlink()
    (person.folder / "home" / "conversations").rmdir()
    (person.folder / "home" / "conversations").write_text("x")
    said = person.types("harvest")
    assert said == "knowledge: the conversations cannot be listed: Not a directory (~/home/conversations).\n"


@pytest.mark.parametrize(
    "name", ["decisions.md", "quarantine.md", "digest.md", "changes.jsonl", ".state/journal", "facts.md"]
)
@pytest.mark.parametrize("make", [by_folder, by_fifo, by_link], ids=["folder", "FIFO", "link"])
def test_no_knowledge_file_may_be_something_else(person: Person, name: str, make: Callable[[Path], object]) -> None:
    """Whatever stands in the place of one of our files: no hang, no traceback, the conversation is not lost, and once
    it is gone the next run goes on."""
    path = person.knowledge / name
    write_talk(person)
    person.types("harvest", "--apply")
    talk = write_talk(person, b"We decided to use tabs.\n", f"new-{UUID}")
    path.parent.mkdir(exist_ok=True)
    path.touch()
    make(path)
    said = person.types("harvest", "--apply")
    for words in (("status",), ("review",), ("undo",), ("context",), ("doctor",), ("doctor", "--repair")):
        person.types(*words)
        assert person.code in (0, 1)
    kept = [item.read_bytes() for item in (person.talks / ".trash").iterdir()]
    assert talk.exists() or b"We decided to use tabs.\n" in kept, said
    if path.is_symlink() or not path.is_dir():
        path.unlink(missing_ok=True)
    else:
        path.rmdir()
    person.types("harvest", "--apply")
    assert person.code == 0, person.said
    assert LEARNED in person.text("decisions.md") or name == "decisions.md"


def test_an_archive_of_any_name_does_not_stop_the_list_of_runs(person: Person) -> None:
    """A copy that a user made beside the archives, with a date that no calendar has."""
    write_talk(person)
    person.types("harvest", "--apply")
    plans = person.knowledge / ".state" / "plans"
    [archive] = plans.iterdir()
    (plans / "20269999T999999-abcdef.jsonl").write_bytes(archive.read_bytes())
    (plans / "copy of it.jsonl").write_bytes(b"garbage")
    assert archive.stem in person.types("undo") and person.code == 0
