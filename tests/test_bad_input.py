"""Bad input of every kind ends in a sentence and loses nothing."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import pytest

from core.base import files
from core.base.files import FileRead
from tests.bad_input import (
    LEARNED,
    TALK,
    UUID,
    Person,
    as_nobody,
    closed_to_nobody,
    give_away,
    make_socket,
    person,
    write_talk,
)

# --- Conversations that are damaged, odd, or none at all: the run goes on, nothing is lost, a sentence says why.

__all__ = ["person"]
NAME = f"talk-{UUID}"


def make_device(path: Path) -> None:
    try:
        os.mknod(path, 0o020600, os.makedev(1, 5))  # endless zeros
    except PermissionError:
        pytest.skip("only root can make a device")


ODD: list[tuple[str, Callable[[Path], object], str]] = [
    ("FIFO", os.mkfifo, "a FIFO, never read"),
    ("socket", make_socket, "a socket or device, never read"),
    ("device", make_device, "a socket or device, never read"),
    ("loop", lambda path: path.symlink_to(path.name), "a symbolic link, never read"),
    ("dangling", lambda path: path.symlink_to("nowhere"), "a symbolic link, never read"),
    ("folder", lambda path: path.mkdir(), "a folder, never read"),
]


@pytest.mark.parametrize(("make", "why"), [row[1:] for row in ODD], ids=[row[0] for row in ODD])
def test_what_is_no_file_stays_with_a_sentence(person: Person, make: Callable[[Path], object], why: str) -> None:
    """A FIFO would hang the run for ever; and who is not told wonders why it is never harvested."""
    make(person.talks / NAME)
    write_talk(person, name=f"good-{UUID}")
    for words in (("harvest",), ("harvest", "--apply")):
        assert f"note: stays unread: {NAME} ({why})\n" in person.types(*words)
        assert person.code == 0
    assert LEARNED in person.text("decisions.md") and os.path.lexists(person.talks / NAME)


def test_many_odd_things_are_told_by_their_number(person: Person) -> None:
    """A home full of links must not bury the report."""
    for number in range(9):
        (person.talks / f"link-{number}").symlink_to("nowhere")
    said = person.types("harvest")
    assert said.count("stays unread: ") == 5 and "note: stay unread: 4 more of that kind\n" in said


# --- bytes -----------------------------------------------------------------------------------------------------------

BYTES = [
    ("byte order mark", b"\xef\xbb\xbf" + TALK, LEARNED),
    ("UTF-16", "We decided to use SQLite.\n".encode("utf-16"), LEARNED),
    ("UTF-16, the other way round", b"\xfe\xff" + "We decided to use SQLite.\n".encode("utf-16-be"), LEARNED),
    ("UTF-32", "We decided to use SQLite.\n".encode("utf-32"), LEARNED),
    ("old Mac line ends", b"hello\rWe decided to use SQLite.\r", "We decided to use SQLite. [from: "),
    ("empty", b"", ""),
    ("white space", b" \n\t\r\n", ""),
    ("one line of a megabyte less one", b"x " * 524_287, ""),
]


@pytest.mark.parametrize(("data", "learned"), [row[1:] for row in BYTES], ids=[row[0] for row in BYTES])
def test_any_text_is_a_conversation(person: Person, data: bytes, learned: str) -> None:
    """What Windows programs write is text as well; the trash keeps every byte of it."""
    write_talk(person, data)
    said = person.types("harvest", "--apply")
    assert person.code == 0 and "0 failed" in said
    told = person.text("decisions.md")
    assert learned in told if learned else told == ""
    [kept] = (person.talks / ".trash").iterdir()
    assert kept.read_bytes() == data


UNREADABLE = [
    ("latin-1", b"caf\xe9 au lait\nWe decided to use SQLite.\n", "is not UTF-8 text: byte 4, in line 1,"),
    ("a torn character", "We decided to use SQLite: it is enough für".encode()[:-2], "is not UTF-8 text: byte 41"),
    ("lone surrogate", b"hi\n\xed\xa0\x80\nWe decided to use SQLite.\n", "is not UTF-8 text: byte 4, in line 2,"),
    ("zero bytes", TALK + bytes(512), "is no text: it has zero bytes"),
    ("UTF-16 without its mark", "We decided to use SQLite.\n".encode("utf-16-le"), "is no text: it has zero bytes"),
    ("half of UTF-16", "We decided to use SQLite.\n".encode("utf-16")[:-1], "is no text: it has zero bytes"),
    ("random bytes", random.Random(17).randbytes(2560), "is no"),
    ("JSON", json.dumps({"salaries": [{"who": "a", "pay": 1}]}).encode(), "it is JSON, and no conversation"),
    ("JSON that breaks off", b'{"salaries": [{"who": "a", "pay": 1}, {"who"', "it is JSON, and no conversation"),
    ("lines of JSON", b'{"level": "info"}\n{"level": "warn"}\n', "it is JSON, and no conversation"),
]


@pytest.mark.parametrize(("data", "why"), [row[1:] for row in UNREADABLE], ids=[row[0] for row in UNREADABLE])
def test_what_could_not_be_read_stays_with_a_sentence(person: Person, data: bytes, why: str) -> None:
    """2,560 random bytes were decoded to replacement characters, harvested, and moved to the trash."""
    path = write_talk(person, data)
    said = person.types("harvest", "--apply")
    assert person.code == 1 and "1 failed" in said and why in said
    assert path.read_bytes() == data and not (person.talks / ".trash").exists()
    assert "harvest-failed" in person.types("ledger")


def test_a_huge_file_of_nothing_is_too_large_and_stays(person: Person) -> None:
    """A sparse file must not be read into memory, let alone be sent to a model."""
    path = write_talk(person, b"")
    os.truncate(path, 1 << 28)
    said = person.types("harvest", "--apply")
    assert person.code == 0 and "too large: 1\n" in said and f"(1/1) {NAME}: kept: too large\n" in said
    assert path.stat().st_size == 1 << 28


# --- names -----------------------------------------------------------------------------------------------------------

NAMES: list[tuple[bytes, str]] = [
    (b"a\nknowledge: all is well-" + UUID.encode(), f"a knowledge: all is well-{UUID}"),
    (b"..-" + UUID.encode(), f"..-{UUID}"),
    (b"--help-" + UUID.encode(), f"--help-{UUID}"),
    (b"x" * 218 + b"-" + UUID.encode(), "x" * 218 + f"-{UUID}"),
    (b"\xff\xfe-" + UUID.encode(), f"\ufffd\ufffd-{UUID}"),
    ("\u202eevil\x1b[2J-".encode() + UUID.encode(), f"evil[2J-{UUID}"),
    (b"a] [from: b, 2026-01-01]-" + UUID.encode(), f"a] (from: b, 2026-01-01]-{UUID}"),
]


@pytest.mark.parametrize(("name", "source"), NAMES, ids=[str(row[0][:12]) for row in NAMES])
def test_any_name_is_harvested_told_and_restored(person: Person, name: bytes, source: str) -> None:
    """A name comes from anywhere: it must not forge a line, hide from the trash, or be taken for an option."""
    path = Path(os.fsdecode(os.path.join(os.fsencode(person.talks), name)))
    path.write_bytes(TALK)
    person.types("harvest", "--apply")
    assert person.code == 0 and not path.exists()
    assert all(line.isprintable() for line in person.said.split("\n"))
    assert "\nknowledge: all is well" not in person.said
    assert person.text("decisions.md").count("\n- ") == 1 and f"[from: {source}, " in person.text("decisions.md")
    [held] = (person.talks / ".trash").iterdir()
    for words in (("ledger",), ("trash",), ("doctor",), ("undo",)):
        person.types(*words)
        assert all(line.isprintable() for line in person.said.split("\n"))
    person.types("trash", "restore", held.name)
    assert person.code == 0 and path.read_bytes() == TALK


# --- in the middle of reading ----------------------------------------------------------------------------------------


def between(monkeypatch: pytest.MonkeyPatch, person: Person, act: Callable[[Path], object]) -> None:
    """`act` happens to the conversation after it was listed and hashed, just before it is read for the harvest."""
    real = files.read_file

    def read(path: str | Path, limit: int | None = None) -> FileRead:
        if str(path) == str(person.talks / NAME):
            act(Path(path))
        return real(path, limit)

    monkeypatch.setattr("core.base.files.read_file", read)


def replace_by_fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


CHANGES: list[tuple[str, Callable[[Path], object], str]] = [
    ("vanishes", Path.unlink, "cannot be read: No such file or directory"),
    ("grows", lambda path: path.write_bytes(TALK * 2), "changed since it was looked at"),
    ("is truncated", lambda path: path.write_bytes(b""), "changed since it was looked at"),
    ("becomes too large", lambda path: os.truncate(path, 1 << 21), "cannot be read: larger than 1048576 bytes"),
    ("becomes a FIFO", replace_by_fifo, "cannot be read: not a regular file"),
    (
        "becomes a link",
        lambda path: (path.unlink(), path.symlink_to("/etc/hostname")),
        "cannot be read: a symbolic link stands there, which is not followed",
    ),
]


@pytest.mark.parametrize(("act", "sentence"), [row[1:] for row in CHANGES], ids=[row[0] for row in CHANGES])
def test_a_conversation_that_changes_before_it_is_read_stays(
    person: Person, monkeypatch: pytest.MonkeyPatch, act: Callable[[Path], object], sentence: str
) -> None:
    """The host application writes on while we harvest: what is taken away must be what was read."""
    write_talk(person)
    write_talk(person, b"We decided to use tabs.\n", f"good-{UUID}")
    with monkeypatch.context() as patched:
        between(patched, person, act)
        said = person.types("harvest", "--apply")
    hint = " Run the harvest again." if "changed" in sentence else ""
    assert f"knowledge: the conversation {sentence} (~/home/conversations/{NAME}).{hint}\n" in said
    assert person.code == 1
    assert "tabs" in person.text("decisions.md") and "SQLite" not in person.text("decisions.md")
    if "changed" in sentence:
        assert (person.talks / NAME).exists()
        assert person.types("harvest", "--apply") and person.code == 0


@pytest.mark.parametrize("late", [b"more", b""], ids=["grows", "shrinks"])
def test_a_file_that_changes_while_it_is_read_is_not_believed(person: Person, late: bytes) -> None:
    """Half of an old text and half of a new one is what nobody ever said."""
    path = write_talk(person)
    real = files.read_descriptor

    def read(fd: int, limit: int | None = None) -> bytes:
        data = real(fd, limit)
        if path.exists() and os.fstat(fd).st_ino == path.stat().st_ino:
            path.write_bytes(TALK + late if late else b"")
        return data

    with patch.object(files, "read_descriptor", read):
        said = person.types("harvest", "--apply")
    where = f"(~/home/conversations/{NAME})"
    assert f"knowledge: the conversation cannot be read: the file changed while it was read {where}.\n" in said
    assert person.code == 1 and path.exists() and person.text("decisions.md") == ""


# --- permissions and links -------------------------------------------------------------------------------------------


@pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions")
@pytest.mark.skipif(bool(closed_to_nobody()), reason=f"nobody but root may enter {closed_to_nobody()}")
@pytest.mark.parametrize(
    ("close", "sentence"),
    [
        (f"conversations/{NAME}", "the conversation cannot be read"),
        ("conversations", "the conversations cannot be listed: Permission denied"),
        ("knowledge", "you do not have permission to open this home (~/home/knowledge). Check its owner and rights"),
        ("knowledge/ledger.json", "the ledger cannot be read: Permission denied; check its permissions"),
        ("knowledge/decisions.md", "the knowledge cannot be written: ~/home/knowledge/decisions.md: Permission denied"),
    ],
)
def test_without_permission_a_sentence_names_the_place(person: Person, close: str, sentence: str) -> None:
    """Another account made the file, or a backup came back with the wrong owner."""
    write_talk(person, b"We decided to use tabs.\n", f"old-{UUID}")
    person.types("harvest", "--apply")
    path = write_talk(person)
    if os.geteuid() == 0:
        give_away(person.folder)
    (person.folder / "home" / close).chmod(0)
    told = person.folder / "told"
    told.touch()
    told.chmod(0o666)

    def work() -> int:
        code = 0
        for words in (("harvest",), ("harvest", "--apply")):
            with told.open("a") as stream:
                stream.write(person.types(*words))
            code = person.code
        return code

    assert as_nobody(work) == 1
    assert sentence in told.read_text(), told.read_text()
    (person.folder / "home" / close).chmod(0o700)
    assert path.read_bytes() == TALK


def test_lines_that_could_not_be_looked_for_are_no_end_that_was_not_written(person: Person) -> None:
    """Who is told of the wrong step looks for a fault in a run that ended well."""
    write_talk(person)
    person.types("harvest", "--apply")
    learned = person.knowledge / "decisions.md"
    learned.unlink()
    learned.mkdir()
    said = person.types("harvest", "--apply")
    assert person.code == 1 and "the end of the run" not in said
    why = "not a regular file; the next run looks again"
    looked = f"the check of earlier harvests for missing lines could not be finished: {why}"
    assert f"knowledge: {looked} (~/home/knowledge/decisions.md).\n" in said


def test_hard_links_are_two_conversations_of_one_content(person: Person) -> None:
    """Both names go and both come back, and a name outside of the home is nobody's business."""
    path = write_talk(person)
    os.link(path, person.talks / f"other-{UUID}")
    os.link(path, person.folder / "mine.txt")
    said = person.types("harvest", "--apply")
    assert person.code == 0 and "1 harvested" in said and "2 taken away" in said, said
    assert (person.folder / "mine.txt").read_bytes() == TALK
    assert person.text("decisions.md").count(LEARNED) == 1
    for held in sorted((person.talks / ".trash").iterdir()):
        person.types("trash", "restore", held.name)
        assert person.code == 0, person.said
    assert sorted(item.name for item in person.talks.iterdir() if item.is_file()) == [f"other-{UUID}", NAME]
