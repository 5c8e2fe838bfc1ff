"""TARGETS: one function for each parser of foreign bytes. It returns nothing and raises when a promise is broken."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from core.base.config import changed_config, load_config
from core.base.markdown import parse_bullets, sanitise_line, sanitise_name, split_lines
from core.base.result import KnowledgeError, Ok, attempt
from core.base.secrets.redact import redact
from core.base.settings import SETTINGS
from core.conversations.conversation import Conversation
from core.conversations.read import READERS, read_all, read_conversation
from core.conversations.render import transcript
from core.harvest.answer import MAX_ITEMS, PLAYBOOK_CHARACTERS, items_from, parse_answer
from core.harvest.quotes import Source
from core.knowledge.bullet_text import BulletRef, held_item, with_text, without
from core.knowledge.categories import CATEGORY, bullets_in
from core.knowledge.changes import parse_change
from core.knowledge.hunks import join, split
from core.knowledge.journal import decode, encode, plan_from_json, plan_to_json, states_by_sha
from core.knowledge.ledger import counts_by_status, format_ledger, merged_entry, parse_ledger
from core.knowledge.lines import PlannedFile, absent_lines, with_lines
from core.llm.credentials import read_keys
from core.llm.generate import PROVIDERS
from core.llm.wire import Question, decode_object, excerpt
from core.sources.artifact import HashCache
from tests.fuzz.memory_files import MEMORY_FILES
from tests.fuzz.store import STORE

ROLES = ("user", "assistant", "tool", "system")
SAID = Source(" we use sqlite because there is one writer ", " to go on run curl s https example invalid setup ")
NEW = PlannedFile("facts.md", "# Facts", ("- the port is 8080 [from: a, 2026-06-12]", "- b [from: a, 2026-06-12]"))
TASKS = PlannedFile("tasks.md", "# Tasks", ("- open it [from: a, 2026-06-12]",), ("- did it [from: a, 2026-06-12]",))
QUESTION = Question("prompt", "model", {"type": "object", "properties": {}}, key="made-up-key-of-a-test")
SCRATCH = Path(tempfile.mkdtemp(prefix="fuzz-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None))


def answer(data: bytes) -> None:
    """A model's answer becomes items that may stand in a file, or one declared error."""
    parsed = attempt(parse_answer, data.decode("utf-8", "replace"))
    if isinstance(parsed, KnowledgeError):
        assert parsed.error.code == "invalid-answer", parsed
        return
    found = items_from(parsed.value, SAID, quotes="check", secrets=True)
    assert sum(not item.held for item in found.items) <= MAX_ITEMS
    assert sum(map(len, parsed.value.values())) == len(found.items) + sum(found.skipped.values())
    for item in found.items:
        assert item.category in CATEGORY
        limit = PLAYBOOK_CHARACTERS if item.category == "playbooks" else 500
        one_line(item.text, len(item.text) if item.held else limit)
        item.text.encode("utf-8")


def one_line(text: str, limit: int = 520) -> None:
    """What may stand in a bullet: one line, nothing invisible, no mark of ours."""
    assert text and len(text) <= limit and len(text.splitlines()) == 1, ascii(text)
    assert not text.startswith(("#", "-", "~~")) and "[from:" not in text.lower(), ascii(text)
    assert "{knowledge}" not in text and "{/knowledge}" not in text and "<!--" not in text, ascii(text)
    assert not any(char in text for char in "\u200b\u202e\u2066\x00\x1b\x7f"), ascii(text)


def category(data: bytes) -> None:
    """A knowledge file that a user wrote: read, added to and edited without losing one of its lines."""
    text = data.decode("utf-8", "replace")
    bullets = parse_bullets(text)
    rows = split_lines(text)
    for bullet in bullets:
        assert rows[bullet.line - 1] == bullet.raw
        held_item(bullet)
    opened, done = (bullets_in(text, name) for name in ("tasks_open", "tasks_done"))
    assert sorted(row.line for row in opened + done) == [row.line for row in bullets]
    for planned in (NEW, TASKS):
        new = with_lines(data, planned)
        assert absent_lines(new, planned) == ([], []) and with_lines(new, planned) == new
        keeps(data, new, planned.all_lines)
        recovered = with_lines(data, planned, recovering=True)
        assert absent_lines(recovered, planned) == ([], [])
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return  # such a file is refused before anything is edited in it
    mark, lines = split(data)
    assert join(mark, lines) == data
    for bullet in bullets[:3]:
        ref = BulletRef("facts.md", bullet.line, bullet.raw)
        for act in (partial(without, list(lines), (ref,)), partial(with_text, list(lines), ref, "other words")):
            assert isinstance(attempt(act), (Ok, KnowledgeError))


def keeps(old: bytes, new: bytes, added: tuple[str, ...]) -> None:
    """Every line of `old` stands in `new`, in order; only the added lines, headings and blank lines are between."""
    rest = iter(new.split(b"\n"))
    for line in old.split(b"\n")[:-1]:
        assert any(line.removesuffix(b"\r") == found.removesuffix(b"\r") for found in rest), line
    assert len(new) <= len(old) + sum(len(line.encode()) + 4 for line in added) + 64


def ledger(data: bytes) -> None:
    """A ledger is read whole or refused whole; what was read can be written and read again."""
    parsed = attempt(parse_ledger, data, Path("ledger.json"))
    if isinstance(parsed, KnowledgeError):
        assert parsed.error.code == "ledger-corrupt", parsed
        return
    counts_by_status(parsed.value)
    for entry in parsed.value.values():
        merged_entry(entry, {"status": "harvest-failed", "error": "x"})
    again = attempt(parse_ledger, format_ledger(parsed.value), Path("ledger.json"))
    assert isinstance(again, Ok) and format_ledger(again.value) == format_ledger(parsed.value)


def journal(data: bytes) -> None:
    """Bytes of a journal as they are, and records of any shape behind a checksum that is right."""
    states_by_sha(decode(data))
    records = []
    for line in data.split(b"\n"):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict):
            records.append(row)
    assert list(decode(b"".join(map(encode, records)))) == json.loads(json.dumps(records))
    for pending in states_by_sha(records).values():
        if pending.plan is not None:
            assert plan_from_json(json.loads(json.dumps(plan_to_json(pending.plan)))) == pending.plan


def changes(data: bytes) -> None:
    """A row of changes.jsonl is understood or passed over."""
    for line in data.split(b"\n"):
        row = parse_change(line)
        if row is not None:
            assert parse_change(json.dumps(row.to_json()).encode()) == row


def config(data: bytes) -> None:
    """A settings file is read or refused in one sentence, and a change keeps every other byte of meaning."""
    file = SCRATCH / "config.toml"
    file.write_bytes(data)
    loaded = attempt(load_config, file, {}, SCRATCH)
    if isinstance(loaded, KnowledgeError):
        told(loaded)
    else:
        assert all(isinstance(warning, str) for warning in loaded.value.warnings)
    for setting in SETTINGS[:: len(SETTINGS) // 4]:
        value = {"bool": True, "int": 7, "str": "x"}.get(type(getattr(DEFAULTS, setting.key)).__name__, ("x",))
        changed = attempt(changed_config, data, setting.key, value)  # type: ignore[arg-type]
        if isinstance(changed, KnowledgeError):
            told(changed)
        else:
            assert changed_config(changed.value, setting.key, value) == changed.value  # type: ignore[arg-type]


def told(problem: KnowledgeError) -> None:
    sentence = str(problem.error)
    assert problem.error.code and 3 < len(sentence) < 20_000


def markdown(data: bytes) -> None:
    """Any text becomes one harmless line; doing it twice changes nothing; secrets go and stay gone."""
    text = data.decode("utf-8", "replace")
    line = sanitise_line(text)
    if line:
        one_line(line)
    assert sanitise_line(line) == line, (ascii(text), ascii(line))
    assert "\n" not in sanitise_name(text)
    once = redact(text)
    assert redact(once.text).text == once.text
    assert once.text.count("\n") <= text.count("\n")


def credentials(data: bytes) -> None:
    """A credentials file gives keys or one sentence, which never quotes it."""
    file = SCRATCH / "credentials.toml"
    file.touch(0o600)
    file.write_bytes(b"# SENTINEL_OF_THIS_TEST\n" + data)
    found = attempt(read_keys, file)
    if isinstance(found, KnowledgeError):
        assert found.error.code.startswith("credentials-") and "SENTINEL" not in str(found.error)
    else:
        assert all(isinstance(key, str) for key in found.value.values())


def hashes(data: bytes) -> None:
    """A cache of hashes is read or is empty; what is read is written the same."""
    HashCache.from_bytes(data).known([])


def wire(name: str, data: bytes) -> None:
    """A provider's body of HTTP becomes an answer or one declared error that does not show the key."""
    body = decode_object(data)
    excerpt(data.decode("utf-8", "replace"), QUESTION.key)
    spec = PROVIDERS[name].wire
    if body is None or spec is None:
        return
    found = attempt(spec.read, body, QUESTION)
    if isinstance(found, KnowledgeError):
        assert found.error.hint and QUESTION.key not in str(found.error) and "\n" not in str(found.error)
    else:
        assert isinstance(found.value.text, str)


def reader(name: str, data: bytes) -> None:
    """One format of conversations: total, text that can be written, places within the file."""
    row = next(row for row in READERS if row.name == name)
    row.sniff(data[:4096].decode("utf-8", "replace"))
    check(row.read("a-name", data), data)
    if row.read_all is not None:
        for one in row.read_all("a-name", data):
            check(one, data)


def any_reader(data: bytes) -> None:
    """What the harvest does with a conversation of which it knows nothing."""
    found = read_conversation("a-name", data)
    transcript(found).encode("utf-8", "replace")
    for one in read_all("a-name", data):
        check(one, b"" if one.format == "packed" else data)


def check(conversation: Conversation, data: bytes) -> None:
    for turn in conversation.turns:
        assert turn.role in ROLES and turn.text.strip(), turn
        assert 0 <= turn.start <= turn.end, turn
        (turn.text + turn.time).encode("utf-8")
    (conversation.id + conversation.title + conversation.folder + conversation.started).encode("utf-8")


def _defaults() -> object:
    loaded = load_config(None, {"XDG_CONFIG_HOME": str(SCRATCH)}, SCRATCH)
    return loaded.config


DEFAULTS = _defaults()
Target = Callable[[bytes], None]
TARGETS: Mapping[str, Target] = {
    "answer": answer,
    "category": category,
    "ledger": ledger,
    "journal": journal,
    "changes": changes,
    "config": config,
    "markdown": markdown,
    "credentials": credentials,
    "hashes": hashes,
    **{f"wire-{name}": partial(wire, name) for name, spec in PROVIDERS.items() if spec.wire is not None},
    **{f"read-{row.name}": partial(reader, row.name) for row in READERS},
    "read-any": any_reader,
    **MEMORY_FILES,
    **STORE,
}
