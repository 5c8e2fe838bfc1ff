"""Zed's database `threads/threads.db`: `threads(id, summary, updated_at, data_type, data, parent_id, folder_paths,
folder_paths_order)`.

`data` is JSON, packed with Zstandard where `data_type` says so: `{version, title, messages, model}`. A message is
`{"User": {content}}`, `{"Agent": {content, tool_results}}` or `{"Compaction": {"Summary": …}}`, a block of its content
`{"Text": …}`, `{"Mention": {uri, content}}`, `{"ToolUse": {id, name, input}}`, where newer versions write the input as
`{type: json | text, value}`; up to version 0.2 it is `{role, segments, tool_uses, tool_results}`. After
`crates/agent/src/db.rs`, `thread.rs`, `legacy_thread.rs` and `crates/language_model_core` of zed-industries/zed. The
folders are sorted; `folder_paths_order` tells for each at which place it was opened. Messages have no times of their
own. In a thread that is `imported` somebody else is the user.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from core.conversations.collections.store_file import StoredSession, StoreError, StoreFile, number, seconds, text
from core.conversations.packed import OverpackedError, unpack
from core.conversations.records import parse_object
from core.conversations.turns import Reading, iso_time, kind_of, list_of, table_of, tables_of, text_of, truth_of

NAME = "zed"
_SILENT = frozenset({"Thinking", "RedactedThinking", "Image", "thinking", "redacted_thinking"})


def fits(store: StoreFile) -> bool:
    return store.has("threads", "id", "summary", "data_type", "data")


def sessions(store: StoreFile) -> Iterator[StoredSession]:
    parent, paths = store.column("threads", "parent_id"), store.column("threads", "folder_paths")
    order = store.column("threads", "folder_paths_order")
    query = f"SELECT id, summary, {paths}, {order}, updated_at, LENGTH(data), {parent} FROM threads ORDER BY id"
    for id, title, folders, opened, at, size, above in store.rows(query):
        folder = _first_folder(text(folders).split("\n"), text(opened).split(","))
        yield StoredSession(text(id), text(title), folder, seconds(at), number(size), bool(text(above)))


def _first_folder(folders: list[str], opened: list[str]) -> str:
    """The folder that was opened first, where the order is told for each."""
    return folders[opened.index("0")] if len(opened) == len(folders) and "0" in opened else folders[0]


def records(store: StoreFile, id: str) -> Iterator[dict[str, Any]]:
    """The messages of one thread, the first with the model, the last with the time of the thread."""
    for kind, data, at in store.rows("SELECT data_type, data, updated_at FROM threads WHERE id = ?", (id,)):
        thread = _thread(kind, data if isinstance(data, bytes) else text(data).encode(), store.path)
        rows = tables_of(thread.get("messages"))
        model = text_of(table_of(thread.get("model")).get("model"))
        for left, row in enumerate(rows, start=1 - len(rows)):
            more = {"model": model} if model else {}
            more |= {} if left else {"time": iso_time(at)}
            yield row | more | ({"imported": True} if thread.get("imported") is True else {})


def _thread(kind: Any, data: bytes, path: str) -> dict[str, Any]:
    whole = True
    if text(kind) == "zstd":
        try:
            data, whole = unpack(data)
        except OverpackedError as error:
            raise StoreError(f"a thread cannot be read: {error}", path) from error
    found = parse_object(data)
    if found is None or not whole:
        raise StoreError("a thread in it is damaged", path)
    return found


def read_record(value: dict[str, Any], reading: Reading) -> None:
    reading.model = text_of(value.get("model")) or reading.model
    reading.delegated = reading.delegated or value.get("imported") is True
    if isinstance(value.get("User"), dict):
        _read_person(list_of(value["User"].get("content")), reading)
    elif isinstance(value.get("Agent"), dict):
        message = value["Agent"]
        for block in list_of(message.get("content")):
            _read_block(block, reading)
        results = message.get("tool_results")
        for row in results.values() if isinstance(results, dict) else list_of(results):
            _read_result(table_of(row), reading)
    elif "role" in value:
        _read_older(value, reading)
    elif isinstance(value.get("Compaction"), dict):
        reading.summary(text_of(value["Compaction"].get("Summary")))
    elif "Resume" not in value:
        reading.skipped += 1


def _read_person(blocks: list[Any], reading: Reading) -> None:
    """The user's words in one turn, with the names of what they mention; what a mention brought is not theirs."""
    said, brought = [], []
    for block in blocks:
        held = table_of(block)
        if isinstance(held.get("Text"), str):
            said.append(held["Text"])
        elif isinstance(held.get("Mention"), dict):
            said.append(f"`{_name(held['Mention'].get('uri'))}`")
            brought.append(text_of(held["Mention"].get("content")))
        elif not _SILENT & held.keys():
            reading.skipped += 1
    for words in brought:
        reading.say("tool", words)
    reading.person("".join(said))


def _name(uri: Any) -> str:
    """What a mention is called: the path of a file or folder, else the kind."""
    kind, held = next(iter(table_of(uri).items()), ("", {}))
    about = table_of(held)
    return text_of(about.get("abs_path") or about.get("path") or about.get("name") or about.get("url")) or kind


def _read_block(block: Any, reading: Reading) -> None:
    held = table_of(block)
    if isinstance(held.get("Text"), str):
        reading.say("assistant", held["Text"])
    elif isinstance(held.get("ToolUse"), dict):
        use = held["ToolUse"]
        given = use.get("input")
        if isinstance(given, dict) and given.keys() == {"type", "value"} and given["type"] in ("json", "text"):
            given = given["value"]
        reading.call(use.get("name"), given, id=text_of(use.get("id")))
    elif not _SILENT & held.keys():
        reading.skipped += 1


def _read_result(row: dict[str, Any], reading: Reading) -> None:
    rows = row.get("content")
    shown = [_words(part) for part in (rows if isinstance(rows, list) else [rows])]
    key, failed = text_of(row.get("tool_use_id")), truth_of(row.get("is_error"))
    reading.result("\n".join(part for part in shown if part), id=key, failed=failed)


def _words(part: Any) -> str:
    """A piece of what a tool gave back: a string, or `{"Text": …}`, `{type: text, text}`."""
    if isinstance(part, str):
        return part
    held = table_of(part)
    return text_of(held.get("Text")) or text_of(held.get("text")) or text_of(table_of(held.get("Text")).get("text"))


def _read_older(value: dict[str, Any], reading: Reading) -> None:
    role = kind_of(value, "role")
    segments = [table_of(row) for row in list_of(value.get("segments"))]
    said = "\n".join(text_of(row.get("text")) for row in segments if kind_of(row) not in _SILENT)
    if role == "user":
        reading.say("tool", text_of(value.get("context")))
        reading.person(said)
    elif role == "assistant":
        reading.say("assistant", said)
    elif role != "system":
        reading.skipped += 1
    for use in list_of(value.get("tool_uses")):
        held = table_of(use)
        reading.call(held.get("name"), held.get("input"), id=text_of(held.get("id")))
    for row in list_of(value.get("tool_results")):
        _read_result(table_of(row), reading)
