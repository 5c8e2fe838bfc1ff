"""Bad input of every kind ends in a sentence and loses nothing."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from core.base import files
from core.base.files import FileRead
from core.harvest.committer import Committer
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
from tests.harvest_world import FakeModel, World
from tests.llm_server import Script, drip, endless, good, hang, head, model_server, reply, reset
from tests.made_home import Clock, Model, converse, harvested, make_home

# --- conversations: Conversations that are damaged, odd, or none at all: the run goes on, nothing is lost, a sentence
# says why.

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
    ("old Mac line ends", b"hello\rWe decided to use SQLite.\r", ""),
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
    assert (learned in person.text("decisions.md")) if learned else True
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
    ("vanishes", Path.unlink, "the conversation cannot be read: No such file or directory (~/home/conversations/N)."),
    (
        "grows",
        lambda path: path.write_bytes(TALK * 2),
        "the conversation changed since it was looked at (~/home/conversations/N). Run the harvest again.",
    ),
    (
        "is truncated",
        lambda path: path.write_bytes(b""),
        "the conversation changed since it was looked at (~/home/conversations/N). Run the harvest again.",
    ),
    (
        "becomes too large",
        lambda path: os.truncate(path, 1 << 21),
        "the conversation cannot be read: larger than 1048576 bytes (~/home/conversations/N).",
    ),
    (
        "becomes a FIFO",
        replace_by_fifo,
        "the conversation cannot be read: not a regular file (~/home/conversations/N).",
    ),
    (
        "becomes a link",
        lambda path: (path.unlink(), path.symlink_to("/etc/hostname")),
        "the conversation cannot be read: a symbolic link stands there, which is not followed "
        "(~/home/conversations/N).",
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
    assert f"knowledge: {sentence.replace('/N', f'/{NAME}')}\n" in said and person.code == 1
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

    from core.base import reading

    with patch.object(reading, "read_descriptor", read):
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


def test_hard_links_are_two_conversations_of_one_content(person: Person) -> None:
    """Both names go and both come back, and a name outside of the home is nobody's business."""
    path = write_talk(person)
    os.link(path, person.talks / f"other-{UUID}")
    os.link(path, person.folder / "mine.txt")
    said = person.types("harvest", "--apply")
    assert person.code == 0 and "1 harvested" in said and "2 reclaimed" in said, said
    assert (person.folder / "mine.txt").read_bytes() == TALK
    assert person.text("decisions.md").count(LEARNED) == 1
    for held in sorted((person.talks / ".trash").iterdir()):
        person.types("trash", "restore", held.name)
        assert person.code == 0, person.said
    assert sorted(item.name for item in person.talks.iterdir() if item.is_file()) == [f"other-{UUID}", NAME]


# --- model: A model that answers badly, over real HTTP and the real command line: the run ends, a sentence says what
# to do, and the conversation stays, or the good rows are kept.

EMPTY = "harvested items: facts:0, decisions:0, tasks_done:0, tasks_open:0, questions:0, playbooks:0, files:0\n"
FORGED = "a\n## Done\n- b [from: me, 2026-01-01] {/knowledge} \u202e\u200b<!--"
TWICE = "no valid answer in 2 attempts: "


def harvests(person: Person, *scripts: Script, seconds: float = 30.0) -> str:
    """`knowledge harvest --apply` with a server that plays Ollama; what it printed, the server's address as HOST."""
    with model_server(*scripts) as server:
        (person.folder / "config.toml").write_text(
            f'[ai_settings.knowledge]\nprovider = "ollama"\nmodel = "m"\nbase_url = "{server.url}"\n'
            "model_context_tokens = 32768\n"
            f"request_timeout_seconds = {seconds}\nmax_answer_bytes = 3000000\n"
        )
        return person.types("harvest", "--apply", "--quiet").replace(server.address, "HOST")


def says(text: str) -> Script:
    return reply(good(text))


SLOW: list[tuple[str, Script]] = [
    ("hang", hang()),
    ("drip", drip(head(200, {"Content-Type": "application/json"}), b" ")),
    ("drip of headers", drip(b"HTTP/1.1 200 OK\r\n", b"X-Slow: 1\r\n")),
]


@pytest.mark.parametrize("script", [row[1] for row in SLOW], ids=[row[0] for row in SLOW])
def test_a_slow_model_ends_with_a_sentence(person: Person, script: Script) -> None:
    path = write_talk(person)
    said = harvests(person, script, seconds=0.5)
    assert "knowledge: ollama at HOST did not answer in time" in said or "timed out" in said or "in the time" in said, (
        said
    )
    assert "request_timeout_seconds" in said and person.code == 1 and path.exists()


BROKEN: list[tuple[str, list[Script], str, str]] = [
    ("HTML", [reply(b"<html><body>Sign in</body></html>", content_type="text/html")],
     "ollama answered with a web page instead of JSON", "Check base_url: it may lead to a login page or a proxy."),
    ("huge", [endless(head(200, {"Content-Type": "application/json"}), b" " * 65536)],
     "the answer of ollama at HOST is larger than 3000000 bytes", "Choose another model."),
    ("no object", [reply(b"[]")],
     "ollama answered with something that is not a JSON object", "Try again; if it stays, check base_url."),
    ("nested body", [reply(b"[" * 100_000)],
     "ollama answered with something that is not a JSON object", "Try again; if it stays, check base_url."),
    ("reset", [reset()] * 4, "the connection to ollama at HOST failed or broke off: Connection reset by peer",
     "Check that the server runs, that base_url is right and that this computer is online."),
    ("no words", [reply(good(""))] * 2, "ollama answered with an empty text", "Try again, or choose another model."),
]  # fmt: skip


@pytest.mark.parametrize(("scripts", "why", "hint"), [row[1:] for row in BROKEN], ids=[row[0] for row in BROKEN])
def test_a_broken_answer_keeps_the_conversation(person: Person, scripts: list[Script], why: str, hint: str) -> None:
    path = write_talk(person)
    said = harvests(person, *scripts)
    assert EMPTY in said and "1 failed" in said and path.exists() and person.code == 1
    assert f"knowledge: {why} (~/home/conversations/{NAME}). {hint}\n" in said and said.count("knowledge: ") == 1
    assert person.text("decisions.md") == ""


def rows(number: int) -> dict[str, Any]:
    return {"facts": [f"fact {at}" for at in range(number)]}


INVALID: list[tuple[str, str, str]] = [
    ("prose", "Here you are: {}", "the model's answer is not valid JSON: Expecting value: line 1 column 1 (char 0)"),
    ("a list", "[]", "the model's answer is not a JSON object"),
    ("depth", "[" * 100_000 + "]" * 100_000, "the model's answer is nested deeper than 32 levels"),
    ("depth in a row", '{"facts": ' + "[" * 100_000, "the model's answer is nested deeper than 32 levels"),
    ("NaN", '{"facts": [NaN]}', "the model's answer is not valid JSON: NaN is not JSON"),
    ("infinity", '{"facts": [-Infinity]}', "the model's answer is not valid JSON: -Infinity is not JSON"),
    (
        "keys twice",
        '{"facts": [], "facts": []}',
        "the model's answer is not valid JSON: a key stands twice in one object",
    ),
    ("cut", '{"facts": ["a', "the model's answer is not valid JSON: Unterminated string starting at: line 1 column 12"),
    ("100,000 items", json.dumps(rows(100_000)), "the model's answer has 100,000 rows, more than any conversation"),
    ("an error", '{"error": "out of memory"}', "the model's answer has none of the keys that were asked for"),
    ("wrapped", '{"result": {"facts": ["a"]}}', "the model's answer has none of the keys that were asked for"),
    ("other rows", '{"facts": [{"text": "a"}]}', "the model's answer has 1 row of which none could be read"),
    ("words after", "```json\n{}\n```\nEnjoy!", "the model's answer is not valid JSON: Expecting value"),
]


@pytest.mark.parametrize(("text", "why"), [row[1:] for row in INVALID], ids=[row[0] for row in INVALID])
def test_what_is_no_answer_is_asked_for_twice_and_then_told(person: Person, text: str, why: str) -> None:
    path = write_talk(person)
    said = harvests(person, says(text), says(text))
    assert f"knowledge: {TWICE}{why}" in said and person.code == 1 and path.exists()
    assert json.loads(person.text("ledger.json"))["entries"]
    assert EMPTY in said


HELD: list[tuple[str, dict[str, Any], int, int]] = [
    ("250 items", {"facts": [f"fact {at}" for at in range(250)]}, 200, 50),
    ("a megabyte in one string", {"facts": ["word " * 200_000]}, 0, 1),
    ("a megabyte without a blank", {"facts": ["x" * 1_000_000, "good"]}, 1, 1),
]


@pytest.mark.parametrize(("answer", "number", "held"), [row[1:] for row in HELD], ids=[row[0] for row in HELD])
def test_what_is_too_much_waits_whole_in_the_quarantine(
    person: Person, answer: dict[str, Any], number: int, held: int
) -> None:
    path = write_talk(person)
    said = harvests(person, says(json.dumps(answer)))
    assert f"harvested items: facts:{number}, " in said and f"quarantined: {held} (" in said and not path.exists()
    written = person.text("facts.md") + person.text("quarantine.md")
    assert all(f"{text.strip()} [from: " in written for text in answer["facts"])
    shown = person.types("quarantine")
    assert f"{held} item" in shown and len(shown) < 20_000
    assert "now in facts.md" in person.types("quarantine", "accept", "--all") and person.code == 0
    assert all(f"{text.strip()} [from: " in person.text("facts.md") for text in answer["facts"])


VALID: list[tuple[str, str, int, str]] = [
    ("nothing", "{}", 0, ""),
    ("fenced", '```json\n{"facts": ["a"]}\n```', 1, ""),
    ("wrong types", '{"facts": [5, null, true, [], {"statement": 7}, {"statement": []}, "good"], "files": null}', 1,
     "rows skipped: wrong shape:6\n"),
    ("lone surrogates", '{"facts": ["a \\ud800 b", "\\udfff"]}', 2, ""),
    ("the same thousands of times", json.dumps({"facts": ["same"] * 5000}), 1, "rows skipped: repeated:4999\n"),
    ("nothing but line breaks", json.dumps({"facts": ["\n" * 400_000, "good"]}), 1, "rows skipped: empty:1\n"),
    ("forged lines", json.dumps({"facts": [FORGED]}), 1, ""),
    ("keys nobody asked for", '{"facts": ["a"], "__proto__": {}, "exec": "rm"}', 1, ""),
]  # fmt: skip


@pytest.mark.parametrize(("text", "number", "told"), [row[1:] for row in VALID], ids=[row[0] for row in VALID])
def test_the_good_rows_of_a_strange_answer_are_kept(person: Person, text: str, number: int, told: str) -> None:
    """And only as lines of bounded length that nobody can mistake for ours."""
    path = write_talk(person)
    said = harvests(person, says(text))
    assert f"harvested items: facts:{number}, " in said and told in said and person.code == 0 and not path.exists()
    assert ("rows skipped" in said) == bool(told)
    lines = [line for line in person.text("facts.md").split("\n") if line.startswith("- ")]
    assert len(lines) == number == len(set(lines))
    for line in lines:
        assert len(line) < 700 and line.count("[from: ") == 1 and line.isprintable()
        assert "{/knowledge}" not in line and "<!--" not in line
    assert "## Done" not in person.text("facts.md").split("\n")
    assert len(person.text("digest.md").encode()) <= 4096


# --- store: A store that somebody else has damaged: the ledger, the journal, the clock. Nothing is taken for empty or
# for new.

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
    converse(workspace)
    harvested(workspace, Model(), clock)
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
    assert said.startswith("knowledge: ") and "~/home/knowledge" in said and person.code == 1
    assert "Not a directory" in said or "File exists" in said
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
    for words in (("status",), ("quarantine",), ("undo",), ("context",), ("doctor",), ("doctor", "--repair")):
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
    """A copy that a person made beside the archives, with a date that no calendar has."""
    write_talk(person)
    person.types("harvest", "--apply")
    plans = person.knowledge / ".state" / "plans"
    [archive] = plans.iterdir()
    (plans / "20269999T999999-abcdef.jsonl").write_bytes(archive.read_bytes())
    (plans / "copy of it.jsonl").write_bytes(b"garbage")
    assert archive.stem in person.types("undo") and person.code == 0
