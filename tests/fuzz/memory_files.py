"""Targets for what people and other tools keep beside conversations: frontmatter, context files, memories, facts in
YAML, exports and databases of other tools, and memories that are imported."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from io import BytesIO
from pathlib import Path

from core.base.frontmatter import parse_frontmatter
from core.base.result import KnowledgeError, attempt
from core.context_files import join_context, read_context
from core.conversations.collections.export_file import OpenExport, export_kind
from core.conversations.collections.store_file import StoreError
from core.conversations.collections.stores import OpenStore
from core.conversations.read import read_conversation, stream_turns
from core.factindex.index import validate_index
from core.factindex.places import read_one
from core.harvest.answer import items_from
from core.harvest.quotes import NO_SOURCE
from core.memory_file import read_memory, render_memory
from core.sources.remembered import remembered
from tests.export_makers import chat, claude_chat, zipped
from tests.store_makers import MAKERS
from tests.test_conversations_read import SAMPLES, data_of

CONTEXT_BYTES = 20_480
SCRATCH = Path(tempfile.mkdtemp(prefix="fuzz-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None))


def frontmatter(data: bytes) -> None:
    """Never raises; what it could not read, it says."""
    text = data.decode("utf-8", "replace")
    found = parse_frontmatter(text)
    assert found.fields or found.problem
    assert found.line <= text.count("\n") + 1 and found.body in text.replace("\r\n", "\n")


def context_file(data: bytes) -> None:
    """Loaded with its warnings, and never longer than the bound."""
    found = read_context("global", _put("context.md", data))
    text, size, _ = join_context([found])
    assert len(text.encode("utf-8")) <= CONTEXT_BYTES and size >= 0


def memory(data: bytes) -> None:
    """Read whole or not at all; what was read can be written and read again."""
    found = attempt(read_memory, _put("001-a-name.md", data))
    if isinstance(found, KnowledgeError):
        assert str(found.error).endswith((".", ")", '"')) or found.error.message, found
        return
    again = attempt(read_memory, _put("001-a-name.md", render_memory(found.value).encode("utf-8")))
    assert not isinstance(again, KnowledgeError), again
    assert (again.value.id, again.value.tags, again.value.content) == (
        found.value.id,
        found.value.tags,
        found.value.content.strip(),
    )


def facts(data: bytes) -> None:
    """Each item of a YAML file becomes a fact or a problem with its line."""
    found = read_one("global/facts.yaml", data)
    lines = data.count(b"\n") + 1
    assert all(bool(not found.broken) <= problem.line <= lines for problem in found.problems), found.problems
    for placed in found.placed:
        placed.fact.fact.encode("utf-8")


def fact_index(data: bytes) -> None:
    """An index that is none is told, never believed."""
    number, problems = validate_index("index.json", data)
    assert number >= 0 and all(problem.message for problem in problems)


def imported(data: bytes) -> None:
    """Whatever another tool remembers becomes items that may stand in a file."""
    found = remembered("CLAUDE.md", data.decode("utf-8", "replace"))
    for item in items_from(found.arrays, NO_SOURCE, quotes="off", secrets=False).items:
        assert len(item.text.splitlines()) == 1 and "[from:" not in item.text.lower(), ascii(item.text)


def export(name: str, data: bytes) -> None:
    """An export gives conversations that their reader reads, or one sentence."""
    path = str(_put(name, data))
    try:
        if export_kind(path):
            _all_of(OpenExport(path))
    except OSError as error:
        assert error.strerror or error.args, error


def database(data: bytes) -> None:
    """A database of another tool, whatever is in it."""
    for left in SCRATCH.glob("store.db*"):
        left.unlink()
    try:
        _all_of(OpenStore(str(_put("store.db", data))))
    except OSError as error:
        assert error.strerror or error.args, error


def stream(data: bytes) -> None:
    """What is read line by line is what is read as a whole."""
    turns: list[tuple[str, str]] = []
    found = stream_turns("a-name", lambda: BytesIO(data), lambda turn: turns.append((turn.role, turn.text)))
    if found is not None:
        assert turns == [(turn.role, turn.text) for turn in read_conversation("a-name", data).turns]


# --- seeds -----------------------------------------------------------------------------------------------------------

FRONT = (
    b"---\nversion: 1\nupdated: 2026-06-12T09:00:00\n---\n\nBe brief.\n",
    b"---\nid: 1\ncreated: 2026-06-12T09:00:00+00:00\ntags: [preference, tabs]\nsource: detected\n"
    b"auto_category: preference\n---\n\nPrefers tabs.\n",
    b"\xef\xbb\xbf---\r\nversion: 2\r\n---\r\nwords\r\n",
)
FACTS = (
    b"---\ndomain: global\ncategory: fact\n---\n# Facts\n\n- id: global:fact:001\n  fact: The port is 8080\n"
    b"  confidence: 0.9\n  tags: [ports]\n  created: 2026-06-12\n  # a remark\n\n## More\n- fact: no id yet\n",
)
INDEX = (b'{"version": 1, "updated": "2026-06-12T00:00:00Z", "facts": [\n{"id": "global:fact:001", "fact": "x"}\n]}\n',)


def seeds_of(target: str) -> list[bytes] | None:
    """Our own small inputs for one of these targets; None for another's."""
    if target == "database":
        return _databases()
    if target in ("export-json", "export-zip"):
        texts = [json.dumps([make("a", "A", "why?", "so"), make("b", "B", "when?")]) for make in (chat, claude_chat)]
        if target == "export-json":
            return [text.encode() for text in texts]
        return [zipped(SCRATCH / "seed.zip", {"conversations.json": text}).read_bytes() for text in texts]
    if target == "stream":
        return [data_of(SAMPLES[kind]) for kind in ("claude_code", "codex")]
    front = {"frontmatter": FRONT, "context-file": FRONT[:1] + FRONT[2:], "memory": FRONT[1:2]}
    known = {**front, "facts-yaml": FACTS, "fact-index": INDEX}
    return list(known[target]) if target in known else None


def _databases() -> list[bytes]:
    found = []
    for kind, make in MAKERS.items():
        path = SCRATCH / f"seed-{kind}.db"
        path.unlink(missing_ok=True)
        make(path, wal=False).close()
        found.append(path.read_bytes())
    return found


def _all_of(opened: OpenExport | OpenStore) -> None:
    try:
        for session in opened.sessions():
            try:
                content = opened.content(session)
            except StoreError:
                continue
            for turn in read_conversation(session.id, content).turns:
                turn.text.encode("utf-8")
    finally:
        opened.close()


def _put(name: str, data: bytes) -> Path:
    path = SCRATCH / name
    path.write_bytes(data)
    return path


MEMORY_FILES: Mapping[str, Callable[[bytes], None]] = {
    "frontmatter": frontmatter,
    "context-file": context_file,
    "memory": memory,
    "facts-yaml": facts,
    "fact-index": fact_index,
    "import": imported,
    "export-json": partial(export, "conversations.json"),
    "export-zip": partial(export, "export.zip"),
    "database": database,
    "stream": stream,
}
