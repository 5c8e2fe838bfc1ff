"""Gemini CLI's sessions: `chats/session-*.json`, newer `.jsonl`, and the index of prompts `logs.json`.

A newer file is a log of changes, which are applied as `packages/core/src/services/chatRecordingService.ts` of
google-gemini/gemini-cli does: a message with a known id replaces it, `{"$rewindTo": id}` takes that message and all
after it back, `{"$set": {...}}` changes what is known of the session. A `$set` of `messages` that only knows old ids
takes the others away. Two things are done more carefully than there, so that nothing is lost that was said: a `$set`
with new ids is the model's context after compression, which adds what is new and takes nothing away; going back to a
message that is not in the file changes nothing and is counted as skipped, where the tool would forget everything.

A history saved by `/chat save` (`checkpoint-*.json`: a list of `{role, parts}`, or that list under `history`) is read
as well.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any

from core.conversations.conversation import Conversation
from core.conversations.events import Call, Plan, ends, exit_status
from core.conversations.lines import INJECTED
from core.conversations.records import Document, Record, json_document, json_lines, keys_in, parse_object
from core.conversations.turns import Reading, answered, kind_of, list_of, table_of, tables_of, text_of, word

INJECTED_HERE = INJECTED | {"session-context": "system", "hook-context": "system", "state-snapshot": "system"}
_ENDED = {"success": False, "error": True, "cancelled": True}
"""How a call can end, and whether it failed then."""
_SHA256 = re.compile(r"[0-9a-f]{64}")
_PATH = re.compile(r"""(?<![\w./~:])(?:/|[A-Za-z]:\\\\)[^\s"'`<>|*?:;,()\[\]{}]{2,400}""")
MAX_FOLDERS_TRIED = 2000
"""At most this many folders are tried for that of a session."""
_SPOKEN = re.compile(r'"type"\s*:\s*"(?:user|gemini|info)"')
FILES = "--- Content from referenced files ---"


def sniff(head: str) -> bool:
    """A session's header, prompts with a running number, or a saved history."""
    keys = keys_in(head)
    prompts = head.lstrip().startswith("[") and {"sessionId", "messageId", "type", "message"} <= keys
    history = head.lstrip().startswith("[") and {"role", "parts"} <= keys and "id" not in keys
    history = history or ("history" in keys and {".role", ".parts"} <= keys)
    # A session without the line about itself.
    bare = "messages" in keys and {".type", ".content"} <= keys and _SPOKEN.search(head) and ".role" not in keys
    return prompts or {"sessionId", "projectHash"} <= keys or bool(history or bare)


def read_all(name: str, data: bytes) -> tuple[Conversation, ...]:
    """One conversation a session file; of `logs.json` one for each session in it."""
    is_list = data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"["
    session = _Session()
    if not is_list and not _is_document(data):
        for record in json_lines(data):
            session.note(record)
        return (session.conversation(name),)
    found = json_document(data, () if is_list else ("messages", "history"))
    if is_list and not any("parts" in (row.value or {}) for row in found.records()):
        return _read_prompts(name, found)
    session.skipped += found.torn
    session.facts.update({key: value for key, value in found.members.items() if key != "messages"})
    for record in found.records() or found.records("messages") or found.records("history"):
        session.put(record)
    return (session.conversation(name),)


def _is_document(data: bytes) -> bool:
    """Whether all of the file is one JSON value: the first line alone is none, or nothing comes after it."""
    cut = data.find(b"\n")
    return cut < 0 or not data[cut:].strip() or parse_object(data[:cut].removeprefix(b"\xef\xbb\xbf")) is None


class _Session:
    def __init__(self) -> None:
        self.facts: dict[str, Any] = {}
        self.messages: dict[str, Record] = {}
        self.skipped = 0
        self._said: dict[tuple[str, int], str] | None = None  # the same words under another id; asked for by a `$set`
        self._known: dict[str, str] = {}  # id in a compressed context -> id of the message as it was said

    def note(self, record: Record) -> None:
        value = record.value
        if value is None:
            self.skipped += 1
        elif isinstance(value.get("$rewindTo"), str):
            self._rewind(value["$rewindTo"])
        elif isinstance(value.get("id"), str):
            self.put(record)
        elif isinstance(value.get("$set"), dict):
            self._set(value["$set"], record)
        elif "sessionId" in value:
            self._set(value, record)
        else:
            self.skipped += 1

    def put(self, record: Record) -> None:
        value = record.value
        if value is not None and "type" not in value and isinstance(value.get("parts"), list):
            # A saved history has the model's own form.
            kind = {"user": "user", "model": "gemini"}.get(str(value.get("role")), str(value.get("role")))
            value = {"type": kind, "content": value["parts"]}
            record = Record(value, record.start, record.end)
        if value is None or not isinstance(value.get("type"), str):
            self.skipped += 1
            return
        key = value.get("id")
        key = key if isinstance(key, str) else f"\0{len(self.messages)}"
        self.messages[key] = record
        if self._said is not None:
            self._said[_content(value)] = key

    def _rewind(self, key: str) -> None:
        key = self._known.get(key, key)
        if key not in self.messages:
            self.skipped += 1
            return
        while self.messages.popitem()[0] != key:
            pass

    def _set(self, changes: dict[str, Any], record: Record) -> None:
        self.facts.update({key: value for key, value in changes.items() if key != "messages"})
        rows = changes.get("messages")
        if not isinstance(rows, list) or not rows:
            return
        keys = {key for row in rows if (key := kind_of(row, "id"))}
        if len(keys) == len(rows) and keys <= self.messages.keys():
            self.messages = {key: row for key, row in self.messages.items() if key in keys}
        if self._said is None:
            self._said = {_content(row.value): key for key, row in self.messages.items() if row.value}
        for row in rows:
            value = row if isinstance(row, dict) else None
            before = self._said.get(_content(value)) if value else None
            if value is None or kind_of(value, "id") in self.messages or before not in self.messages:
                self.put(Record(value, record.start, record.end))
            elif before is not None:
                self._known[kind_of(value, "id")] = before

    def conversation(self, name: str) -> Conversation:
        reading = Reading(INJECTED_HERE, self.skipped)
        reading.delegated = self.facts.get("kind") == "subagent"
        reading.agent = "sub-agent" if reading.delegated else ""
        for record in self.messages.values():
            _read_message(record, reading)
        facts = self.facts
        folder = next(iter(list_of(facts.get("directories"))), "")
        if not folder:
            folder = _folder_of(facts.get("projectHash"), (row.value for row in self.messages.values()))
        id, title = facts.get("sessionId"), facts.get("summary")
        times = {"started": facts.get("startTime"), "ended": facts.get("lastUpdated")}
        return reading.conversation(name, "gemini_cli", id=id, title=title, folder=folder, **times)


def _folder_of(project_hash: Any, values: Iterable[Any]) -> str:
    """The folder of the session, of which the file has the SHA-256 alone (`getProjectHash` in `utils/paths.ts` of the
    tool): it often stands above a path that a tool named. "" where no such folder has that hash."""
    if not (isinstance(project_hash, str) and _SHA256.fullmatch(project_hash)):
        return ""
    tried: set[str] = set()
    for value in values:
        for found in _PATH.finditer(json.dumps(value, ensure_ascii=False, check_circular=False)):
            path = found[0].replace("\\\\", "\\")
            for end in (at for at, char in enumerate(f"{path}/") if char in "/\\" and at):
                folder = path[:end]
                if len(tried) >= MAX_FOLDERS_TRIED:
                    return ""
                if folder not in tried:
                    tried.add(folder)
                    if hashlib.sha256(folder.encode("utf-8", "replace")).hexdigest() == project_hash:
                        return folder
    return ""


def _content(value: dict[str, Any]) -> tuple[Any, int]:
    shown = value.get("content")
    shown = shown if isinstance(shown, str) else text_of(shown) or json.dumps(shown, default=str)
    return str(value.get("type")), hash(shown)


def _read_message(record: Record, reading: Reading) -> None:
    value = record.value or {}
    reading.at(record, value.get("timestamp"))
    kind, content = value.get("type"), value.get("content")
    shown = value.get("displayContent")
    rows = content if isinstance(content, list) else [content]
    parts = [row for row in rows if isinstance(row, dict) and ("functionCall" in row or "functionResponse" in row)]
    for row in parts if kind != "gemini" else ():
        _read_part(row, reading, calls=not value.get("toolCalls"))
    words = [row for row in rows if not (isinstance(row, dict) and row.get("thought"))]
    said = text_of(shown) or _text(words)
    if kind == "user":
        own, mark, files = said.partition(FILES)
        reading.person(said if reading.delegated else own)
        reading.say("system", ends(files, 2000, 0)[0] if mark and not reading.delegated else "")
    elif kind == "gemini":
        reading.model = text_of(value.get("model")) or reading.model
        reading.say("assistant", said)
        for row in parts:
            _read_part(row, reading, calls=not value.get("toolCalls"))
        for call in list_of(value.get("toolCalls")):
            if isinstance(call, dict):
                _read_call(call, reading)
            else:
                reading.skipped += 1
    elif kind in ("info", "warning", "error"):
        reading.say("system", said)
    else:
        reading.skipped += 1


def _text(rows: list[Any]) -> str:
    """Parts of one message follow each other without a break, except where one ends a line itself."""
    return "".join(text_of(row if isinstance(row, str) else [row]) for row in rows)


def _read_part(part: dict[str, Any], reading: Reading, calls: bool) -> None:
    answer, call = part.get("functionResponse"), part.get("functionCall")
    if isinstance(answer, dict):
        reading.result(response(answer), id=key_of(answer), failed=failed_of(answer))
    elif isinstance(call, dict) and calls:
        reading.call(call.get("name"), call.get("args"), id=key_of(call))


def key_of(call: dict[str, Any]) -> str:
    """What a call and its answer are known by: older versions give no id."""
    return text_of(call.get("id")) or text_of(call.get("name"))


def failed_of(answer: dict[str, Any]) -> bool | None:
    """Whether an answer says that its call failed; None where it does not say."""
    return True if table_of(answer.get("response")).get("error") else None


def _read_call(call: dict[str, Any], reading: Reading) -> None:
    key, status = key_of(call) or "call", kind_of(call, "status")
    reading.call(call.get("name"), call.get("args"), id=key)
    answers = tables_of([row.get("functionResponse") for row in tables_of(call.get("result"))])
    text = "\n".join(response(row) for row in answers) or text_of(call.get("resultDisplay"))
    if status not in _ENDED and not answers:
        reading.say("tool", text)
        return
    asked = parse_object(text) if call.get("name") == "ask_user" else None
    given = asked.get("answers") if asked else None
    if isinstance(given, dict) and status == "success":
        # The answers stand under the number of their question.
        by_number = partial(answered, answer=lambda at, _: text_of(given.get(str(at))))
        reading.settle(key, "", failed=False, change=by_number)
        reading.say("user", "\n".join(text_of(row) for row in given.values()))
        return
    code = exit_status(text) if status == "success" else None
    failed = _ENDED[status] or bool(code) if status in _ENDED else any(map(failed_of, answers)) or None
    reading.result(text, id=key, failed=failed, status=code, refused=status == "cancelled", change=_approved)


def _approved(event: Call) -> Call:
    if isinstance(event, Plan) and event.output.startswith(("Plan approved", "Plan rejected")):
        return replace(event, approved=event.output.startswith("Plan approved"))
    return event


def response(answer: dict[str, Any]) -> str:
    """What a function gave back: its output, or its error."""
    inside = answer.get("response")
    if not isinstance(inside, dict):
        return text_of(inside)
    return "\n".join(row for key in ("output", "error", "content") if (row := text_of(inside.get(key))))


def _read_prompts(name: str, found: Document) -> tuple[Conversation, ...]:
    sessions: dict[str, Reading] = {}
    skipped = int(found.torn)
    for record in found.records():
        value = record.value
        if value is None or value.get("type") != "user" or not isinstance(value.get("message"), str):
            skipped += 1
            continue
        reading = sessions.setdefault(word(value.get("sessionId")), Reading(INJECTED_HERE))
        reading.at(record, value.get("timestamp"))
        reading.person(value["message"])
    if not sessions:
        return (Reading(skipped=skipped).conversation(name, "gemini_cli"),)
    rows = list(sessions.items())
    rows[0][1].skipped += skipped
    return tuple(row.conversation(name, "gemini_cli", id=key) for key, row in rows)
