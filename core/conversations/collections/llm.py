"""The log of the program `llm`, `logs.db`, in both generations.

After `llm/migrations.py` and `llm/logs.py` of simonw/llm: older versions log `responses(prompt, system, response,
datetime_utc, conversation_id)`, with `tool_calls` and `tool_results` beside them; newer ones keep `threads` whose tip
is the last of a chain of `messages(hash, parent_hash, role)` with `parts(type, text, payload, tool_name)`. A thread
continues the conversation of its id, so where both are there the thread is the conversation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from core.conversations.collections.store_file import StoredSession, StoreFile, number, parsed, seconds, text
from core.conversations.turns import Reading, iso_time, list_of, table_of, text_of

NAME = "llm"
_LONE = "response-"
"""Before the id of an answer that belongs to no conversation."""
_PART_SIZE = "SELECT SUM(LENGTH(COALESCE(text, '')) + LENGTH(COALESCE(payload, ''))) FROM parts WHERE message_hash = ?"


def _old(store: StoreFile) -> bool:
    return store.has("responses", "id", "prompt", "response", "conversation_id")


def _new(store: StoreFile) -> bool:
    return store.has("threads", "id", "tip_message_hash") and store.has("messages", "hash", "parent_hash", "role")


def fits(store: StoreFile) -> bool:
    return _old(store) or (_new(store) and store.has("parts", "message_hash", "type"))


def sessions(store: StoreFile) -> Iterator[StoredSession]:
    threads: set[str] = set()
    if _new(store):
        turned = "SELECT MAX(datetime_utc) FROM turns WHERE thread_id = threads.id"
        last = f"({turned})" if store.has("turns", "thread_id", "datetime_utc") else "NULL"
        made = store.column("threads", "datetime_utc")
        query = f"SELECT id, {store.column('threads', 'name')}, COALESCE({last}, {made}) FROM threads ORDER BY id"
        for id, name, at in list(store.rows(query)):
            size = sum(number(row[0]) for key, _ in _chain(store, id) for row in store.rows(_PART_SIZE, (key,)))
            if size:
                threads.add(text(id))
                yield StoredSession(text(id), text(name), "", seconds(at), size)
    if _old(store):
        at = store.column("responses", "datetime_utc")
        said = "SUM(LENGTH(COALESCE(prompt, '')) + LENGTH(COALESCE(response, '')))"
        group = f"COALESCE(conversation_id, '{_LONE}' || id)"
        names = "LEFT JOIN conversations ON conversations.id = conversation_id" if store.has("conversations") else ""
        name = "MAX(conversations.name)" if names else "NULL"
        grouped = f"SELECT {group} AS key, conversation_id, MAX({at}) AS at, {said} AS size FROM responses GROUP BY 1"
        query = f"SELECT key, {name}, at, size FROM ({grouped}) {names} GROUP BY key ORDER BY key"
        for key, named, when, size in store.rows(query):
            if text(key) not in threads and number(size):
                yield StoredSession(text(key), text(named), "", seconds(when), number(size))


def records(store: StoreFile, id: str) -> Iterator[dict[str, Any]]:
    """Messages with their parts, or prompts with their answers."""
    if _new(store) and any(True for _ in store.rows("SELECT 1 FROM threads WHERE id = ?", (id,))):
        for key, role in _chain(store, id):
            yield {"role": text(role), "parts": _parts(store, key)}
        return
    lone = id.startswith(_LONE)
    system, at = store.column("responses", "system"), store.column("responses", "datetime_utc")
    where = "id = ? AND conversation_id IS NULL" if lone else "conversation_id = ?"
    query = f"SELECT id, prompt, {system}, response, {at} FROM responses WHERE {where} ORDER BY {at}, id"
    for key, prompt, rules, response, when in list(store.rows(query, (id.removeprefix(_LONE),))):
        row: dict[str, Any] = {"prompt": text(prompt), "response": text(response), "time": iso_time(when)}
        row |= {"system": text(rules)} if rules else {}
        calls = _tools(store, "tool_calls", "arguments", key)
        results = _tools(store, "tool_results", "output", key)
        yield row | ({"calls": calls} if calls else {}) | ({"results": results} if results else {})


def _chain(store: StoreFile, id: Any) -> list[tuple[Any, Any]]:
    """The messages of a thread with their roles, first to last. A chain that bites its tail ends there."""
    chain: dict[Any, Any] = {}
    key = next((row[0] for row in store.rows("SELECT tip_message_hash FROM threads WHERE id = ?", (id,))), None)
    while key is not None and key not in chain:
        row = next(store.rows("SELECT parent_hash, role FROM messages WHERE hash = ?", (key,)), None)
        if row is None:
            break
        chain[key], key = row[1], row[0]
    return list(chain.items())[::-1]


def _tools(store: StoreFile, table: str, column: str, key: Any) -> list[list[str]]:
    if not store.has(table, "response_id", "name", column):
        return []
    query = f"SELECT name, {column} FROM {table} WHERE response_id = ? ORDER BY id"
    return [[text(name), text(value)] for name, value in store.rows(query, (key,))]


def _parts(store: StoreFile, key: Any) -> list[dict[str, Any]]:
    tool = store.column("parts", "tool_name")
    query = f"SELECT type, {tool}, text, payload FROM parts WHERE message_hash = ? ORDER BY position"
    rows = []
    for kind, name, said, payload in list(store.rows(query, (key,))):
        about = table_of(parsed(payload) if payload is not None else None)
        row: dict[str, Any] = {"type": text(kind), "text": text(said)}
        if isinstance(about.get("text_ref"), list):
            row["text"] = "".join(_piece(store, piece) for piece in about["text_ref"])
        row |= {"name": text(name)} if name else {}
        row |= {member: about[member] for member in ("arguments", "output") if member in about}
        rows.append(row)
    return rows


def _piece(store: StoreFile, piece: Any) -> str:
    """A part of a text: as it stands, or a fragment that several texts share."""
    if not isinstance(piece, dict):
        return ""
    if "literal" in piece or not store.has("fragments", "id", "content"):
        return text(piece.get("literal"))
    shared = piece.get("fragment")
    rows = store.rows("SELECT content FROM fragments WHERE id = ?", (shared,)) if isinstance(shared, int) else ()
    return "".join(text(row[0]) for row in rows)


def read_record(value: dict[str, Any], reading: Reading) -> None:
    if "parts" in value:
        _read_message(value, reading)
        return
    reading.say("system", text_of(value.get("system")))
    for key, _, result in _pairs(value.get("results")):
        reading.result(result, id=key)
    reading.person(text_of(value.get("prompt")))
    reading.say("assistant", text_of(value.get("response")))
    for key, name, given in _pairs(value.get("calls")):
        reading.call(name, parsed(given) or given, id=key)


def _pairs(rows: Any) -> list[tuple[str, str, str]]:
    """Calls or results with what they are known by: the tool, and the how manieth of its calls in one answer."""
    found: list[tuple[str, str, str]] = []
    for row in list_of(rows):
        if isinstance(row, list) and len(row) == 2:
            name = str(row[0])
            found.append((f"{name}/{sum(name == other for _, other, _ in found)}", name, str(row[1])))
    return found


def _read_message(value: dict[str, Any], reading: Reading) -> None:
    role = value.get("role")
    parts = value.get("parts")
    count = Counter[str]()
    for part in list_of(parts):
        kind = part.get("type") if isinstance(part, dict) else None
        if kind == "text" and role == "user":
            reading.person(text_of(part.get("text")))
        elif kind == "text":
            reading.say("assistant" if role == "assistant" else "system", text_of(part.get("text")))
        elif kind == "tool_call":
            name = text_of(part.get("name"))
            count[name] += 1
            reading.call(name, part.get("arguments"), id=f"{name}/{count[name]}")
        elif kind == "tool_result":
            name = text_of(part.get("name"))
            count[name] += 1
            text = text_of(part.get("output")) or text_of(part.get("text"))
            reading.result(text, id=f"{name}/{count[name]}")
        elif kind not in ("reasoning", "attachment"):
            reading.skipped += 1
