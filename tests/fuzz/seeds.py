"""Where the fuzzer starts from: small valid inputs of our own for each target, pieces of the corpus for readers, and
valid JSON with one member of another shape, where a blind fuzzer seldom gets and a new version of a tool often."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core.knowledge.journal import encode
from tests.corpus import CORPUS
from tests.fuzz.memory_files import seeds_of
from tests.test_conversations_read import ODD, SAMPLES, data_of, places, put

SEED_BYTES = 12_000
SEEDS_A_FOLDER = 12
SHA = "ab" * 32
PLAN = {
    "files": [{"name": "facts.md", "header": "# Facts", "lines": ["- a [from: t, 2026-01-01]"], "done": []}],
    "items": {"facts": 1},
    "notes": {},
    "entry": {"path": "/t", "status": "harvested", "at": "2026-01-01T00:00:00+00:00", "deleted": False},
}
RECORDS: list[dict[str, Any]] = [
    {"t": "run", "run": "20260101T000000-abcdef", "at": "2026-01-01T00:00:00+00:00"},
    {"t": "intent", "sha": SHA, "path": "/t", "plan": PLAN},
    {"t": "applied", "sha": SHA, "file": "facts.md", "added": ["- a [from: t, 2026-01-01]"]},
    {"t": "done", "sha": SHA, "entry": PLAN["entry"]},
    {"t": "moving", "sha": SHA, "path": "/t"},
    {"t": "reclaimed", "sha": SHA, "path": "/t", "trash": SHA, "until": "2026-01-15T00:00:00+00:00"},
    {"t": "entry", "sha": SHA, "entry": {"path": "/t", "status": "too-large", "deleted": False}},
]
LEDGER = {
    "entries": {
        SHA: {
            **PLAN["entry"],  # type: ignore[dict-item]
            "items": {"facts": 1},
            "run": "20260101T000000-abcdef",
            "trash": {SHA: "/t"},
            "trashed_until": "2026-01-15T00:00:00+00:00",
            "error": "none",
        }
    }
}
EDIT = {
    "before": SHA,
    "after": SHA,
    "hunks": [{"line": 1, "added": ["- b\n"], "removed": [], "above": [], "below": []}],
}
CHANGES = [
    {"when": "2026-01-01", "run": "20260101T000000-abcdef", "file": "facts.md", "added": ["- a"], "sha": SHA},
    {"when": "2026-01-01", "run": "edit-1", "file": "facts.md", "removed": ["- a"], "sha": "", "edit": EDIT},
]
ANSWER = {
    "facts": [{"statement": "the port is 8080", "detail": "local", "quote": "one writer"}, "plain"],
    "playbooks": [{"name": "Run", "steps": "make run", "quote": ""}],
    "files": [{"path": "/home/a/b.py", "note": "starts cold", "quote": ""}],
    "tasks_open": [{"statement": "write it"}],
    "tasks_done": [{"statement": "write it"}],
}
MARKDOWN = (
    "# Tasks\n\n- loose\n\n## Open\n\n- a [from: t, 2026-01-01]\n m\n- ~~b~~\n\n## Done\n- c [from: t, 2026-01-01]\n",
    "\ufeff# Facts\r\n\r\n- a\r\n- cut [from: t, 2026-0",
    "# Quarantine\n\n- [no-quote] files /a: b.py: note [from: t, 2026-01-01]\n- [secret] facts: x\n",
    "{/knowledge} [from: x] \u202e <!-- # - ~~ \u200b password=hunter22xyz https://a:b1c2d3@h/ Bearer abcdefgh12345678",
)
REPLIES: dict[str, Any] = {
    "openai": {
        "model": "m",
        "choices": [{"message": {"content": "{}"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 2},
    },
    "ollama": {"model": "m", "message": {"content": "{}"}, "done": True, "done_reason": "stop", "eval_count": 1},
    "anthropic": {"content": [{"type": "text", "text": "{}"}], "stop_reason": "end_turn", "usage": {"input_tokens": 1}},
    "gemini": {
        "candidates": [{"content": {"parts": [{"text": "{}"}]}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 1},
    },
}


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


def _lines(rows: list[dict[str, Any]]) -> bytes:
    return b"\n".join(map(_json, rows))


def own_seeds(target: str) -> list[bytes]:
    """Our own small inputs for one target; never empty."""
    if (found := seeds_of(target)) is not None:
        return found
    name = target.removeprefix("store-")
    markdown = [text.encode() for text in MARKDOWN]
    if target.startswith("wire-"):
        return [_json(REPLIES[target.removeprefix("wire-")]), b'{"error": {"message": "no"}}']
    if target.startswith("read-"):
        wanted = target.removeprefix("read-")
        found = [data_of(sample) for kind, sample in SAMPLES.items() if wanted in ("any", kind)]
        return [*found, b"User: hello\n\nAssistant: hi\n"]
    known: dict[str, list[bytes]] = {
        "answer": [_json(ANSWER), b"```json\n" + _json(ANSWER) + b"\n```", b"{}"],
        "ledger": [json.dumps(LEDGER, indent=2, sort_keys=True).encode() + b"\n", b'{"entries": {}}'],
        "journal": [b"".join(map(encode, RECORDS)), _lines(RECORDS)],
        "plans": [_lines(RECORDS)],
        "changes": [_lines(CHANGES)],
        "config": [Path(__file__).parents[2].joinpath("config.toml").read_bytes(), b'[paths]\nhome = "~/x"\n'],
        "credentials": [b'[keys]\nopenai = "a"\n'],
        "hashes": [b"knowledge hashes 1 00000000\n"],
        "file-ids": [_json({"1:2.md": {"path": "/a", "birth": 1, "size": 2, "head": "", "was": ["/b"]}})],
        "file-index": [_json({"by_file_id": {"1:2": {"conversation": "talk", "path": "/a"}}})],
        "saved-index": [_json({"conversations": [{"path": "talk"}]})],
        "split-index": [_json({"source_path": "/a", "source_sha256": SHA})],
        "lock": [b"123\n"],
    }
    return known.get(name, markdown)


def corpus_seeds(target: str) -> Iterator[bytes]:
    """The beginnings of real conversations for the readers, cut at a line where there is one; none without a corpus."""
    folder = CORPUS / "conversations"
    if not target.startswith("read-") or not folder.is_dir():
        return
    wanted = target.removeprefix("read-")
    folders = [one for one in sorted(folder.iterdir()) if one.is_dir() and wanted in (one.name, "any", "plain", "home")]
    for one in folders:
        files = sorted((path for path in one.rglob("*") if path.is_file()), key=lambda path: path.stat().st_size)
        for path in files[: SEEDS_A_FOLDER if wanted == one.name else 3]:
            data = path.read_bytes()
            cut = data.rfind(b"\n", 0, SEED_BYTES)
            yield data if len(data) <= SEED_BYTES else data[: cut + 1 if cut > 0 else SEED_BYTES]


def all_seeds(target: str) -> list[bytes]:
    return [*own_seeds(target), *corpus_seeds(target)]


ODD_VALUES = (*ODD, "../../x", "/etc/passwd", "2026-01-01T00:00:00", "20260101T000000-abcdef", 1.5, {"": ""}, [[[]]])


def some_odd(data: bytes, seed: int) -> bytes | None:
    """`data` with a few members of another shape, or without them; None when there is no JSON in it."""
    rows, whole = _rows(data)
    chance = random.Random(seed)
    for _ in range(chance.randint(1, 3)):
        if not rows or not (found := places(row := chance.choice(rows))):
            return None
        put(row, chance.choice(found), chance.choice(ODD_VALUES))
    return _joined(rows, whole)


def _rows(data: bytes) -> tuple[list[Any], bool]:
    try:
        return [json.loads(data)], True
    except (ValueError, RecursionError):
        pass
    rows = []
    for line in data.split(b"\n"):
        try:
            rows.append(json.loads(line))
        except (ValueError, RecursionError):
            continue
    return rows, False


def _joined(rows: list[Any], whole: bool) -> bytes:
    return b"\n".join(json.dumps(row).encode() for row in rows) if not whole else json.dumps(rows[0]).encode()
