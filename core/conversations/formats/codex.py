"""Codex's rollout files: `{timestamp, type, payload}` a line; `.jsonl.zst` is unpacked before it comes here.

Every utterance is there twice, as the item that the model saw (`response_item`) and as the event that the screen saw
(`event_msg`); it is read once. User items without an event were put in by the tool: instructions, the environment; from
0.145 on there are no such events (`history_mode: paginated`), and an item says itself what it is made of. A turn that
the user rolled back is left out, as the tool does. Which records exist is told by `codex-rs/rollout/src/
policy.rs` and `codex-rs/protocol` of openai/codex; versions before 0.32 write the bare items without the envelope.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import Any, NamedTuple

from core.conversations.conversation import Conversation
from core.conversations.records import DECODER, Record, json_lines, object_keys, parse_object
from core.conversations.turns import (
    Reading,
    answered,
    arguments,
    clean,
    iso_time,
    kind_of,
    list_of,
    table_of,
    tables_of,
    text_of,
)

_TYPES = ("session_meta", "response_item", "event_msg", "turn_context", "compacted")
_SILENT_ITEMS = frozenset({
    "reasoning", "ghost_snapshot", "compaction", "compaction_summary", "context_compaction", "image_generation_call",
    "additional_tools", "agent_message", "other",
})  # fmt: skip
_SILENT_EVENTS = frozenset({
    "token_count", "agent_reasoning", "agent_reasoning_raw_content", "agent_reasoning_section_break", "task_started",
    "task_complete", "turn_started", "turn_complete", "turn_aborted", "patch_apply_end", "context_compacted",
    "entered_review_mode", "exited_review_mode", "undo_completed", "mcp_tool_call_end", "web_search_end",
    "image_generation_end", "thread_goal_updated", "sub_agent_activity", "item_completed", "error", "warning",
    "exec_command_end", "plan_update", "view_image_tool_call", "thread_name_updated", "thread_settings_applied",
    "guardian_assessment", "collab_agent_spawn_end", "collab_agent_interaction_end", "collab_waiting_end",
    "collab_close_end", "collab_resume_end", "stream_error", "background_event", "deprecation_notice",
})  # fmt: skip
# How the text begins that the tool itself puts in as a message of the user; asked only where no event tells.
_PUT_IN = (
    "<environment_context>", "<user_instructions>", "<INSTRUCTIONS>", "# AGENTS.md instructions", "<turn_aborted>",
    "<permissions instructions>", "<collaboration_mode>", "<skill>", "<skills_instructions>", "<user_shell_command>",
    "<subagent_notification>", "<recommended_plugins>", "<hook_prompt", "<apps_instructions>",
)  # fmt: skip
_REQUEST = "## My request for Codex:"
_REPLY = "<send_user_message_question_reply>"
_ASKS = "request_user_input"
_OWN = (None, "", "functions")
"""The namespaces of the tool's own functions; those of servers and plug-ins bear others."""


class _Entry(NamedTuple):
    """`source` is item or event for what is there twice, call or one for the rest; `call` is what a call and its output
    are known by, and `own` says that they are of a plain function of the tool itself. `put_in`: the user's
    message, so it says, holds here what the user did not type."""

    source: str
    role: str
    said: Any
    time: str
    start: int
    end: int
    call: str = ""
    own: bool = False
    put_in: bool = False


def sniff(head: str) -> bool:
    """The envelope around a known type, a bare session of an old version, or the index of prompts."""
    keys = object_keys(head)
    return (
        {"timestamp", "type", "payload"} <= keys
        or ({"type", "payload"} <= keys and any(f'"{kind}"' in head for kind in _TYPES))
        or {"session_id", "ts", "text"} <= keys
        or ({"id", "timestamp", "instructions"} <= keys and "record_type" in head)
        or ({"id", "timestamp", "instructions", "git"} <= keys and "payload" not in keys)
    )


def read_all(name: str, data: bytes) -> tuple[Conversation, ...]:
    """One conversation a rollout; of `history.jsonl` (session_id, ts in seconds, text) one for each session."""
    prompts: dict[str, Reading] = {}
    session = _Session()
    for record in json_lines(data):
        value = record.value
        if value is not None and {"session_id", "ts", "text"} <= value.keys():
            prompt = prompts.setdefault(str(value["session_id"]), Reading())
            prompt.at(record, value["ts"])
            prompt.person(text_of(value["text"]))
        else:
            session.note(record)
    found = [row.conversation(name, "codex", id=key) for key, row in prompts.items()]
    if session.entries or session.skipped or not found:
        found.append(session.conversation(name))
    return tuple(found)


class _Session:
    """The entries of a rollout; whose words a user item holds is known only when all events were seen."""

    def __init__(self) -> None:
        self.entries: list[_Entry] = []
        self.skipped = 0
        self.id = self.folder = self.started = self.model = self.branch = self.repository = ""
        self.delegated = False
        self._asked: list[int] = []  # where the user's events stand in `entries`, and their items
        self._typed: list[int] = []
        self._by_events = False

    def note(self, record: Record) -> None:
        value = record.value
        if value is None:
            self.skipped += 1
            return
        kind, payload = value.get("type"), value.get("payload")
        time = iso_time(value.get("timestamp"))
        if not isinstance(payload, dict):
            # An old version: the line is the item itself, and the first line tells of the session.
            if "instructions" in value and "type" not in value:
                self._about(value)
            elif value.get("record_type") != "state":
                self._item(value, time, record)
        elif kind == "session_meta":
            self._about(payload)
        elif kind == "turn_context":
            self.folder = self.folder or text_of(payload.get("cwd"))
            self.model = text_of(payload.get("model")) or self.model
        elif kind == "response_item":
            self._item(payload, time, record)
        elif kind == "event_msg":
            self._event(payload, time, record)
        elif kind == "compacted":
            self._add("one", "summary", text_of(payload.get("message")), time, record)
        elif kind not in ("inter_agent_communication", "inter_agent_communication_metadata", "world_state"):
            self.skipped += 1

    def conversation(self, name: str) -> Conversation:
        """The conversation, each utterance once."""
        reading, asked = Reading(skipped=self.skipped), dict[str, list[str]]()
        for row, role in self._spoken():
            _say(row, role, reading, asked)
        keys = ("id", "folder", "started", "model", "branch", "repository")
        return reading.conversation(name, "codex", **{key: getattr(self, key) for key in keys})

    def _spoken(self) -> Iterator[tuple[_Entry, str]]:
        """The entries that are read, each with its role (or "summary", or "call")."""
        events = Counter(_key(row) for row in self.entries if row.source == "event")
        asked = any(row.source == "event" and row.role == "user" for row in self.entries)
        items = Counter(_key(row) for row in self.entries if row.source == "item" and row.role == "assistant")
        for row in self.entries:
            if row.source == "call":
                yield row, "call"
            elif row.source == "event" and row.role == "assistant" and items[_key(row)] > 0:
                items[_key(row)] -= 1  # said once more by the item
            elif row.source == "item" and row.role == "user" and events[_key(row)] > 0:
                events[_key(row)] -= 1  # said once more by the event
            elif row.role != "user":
                yield row, row.role
            elif self.delegated or (row.source == "item" and (asked or _is_put_in(row))):
                yield row, "system"
            else:
                yield row, "user"

    def _add(
        self, source: str, role: str, said: Any, time: str, record: Record, call: str = "", own: bool = False
    ) -> None:
        self.entries.append(_Entry(source, role, said, time, record.start, record.end, call, own))

    def _about(self, meta: dict[str, Any]) -> None:
        if not self.id:
            self.id = text_of(meta.get("id"))
            self.folder = text_of(meta.get("cwd")) or self.folder
            self.started = iso_time(meta.get("timestamp"))
            # A sub-agent's prompts are written by the assistant that called it.
            self.delegated = isinstance(meta.get("source"), dict) and "subagent" in meta["source"]
            git = table_of(meta.get("git"))
            self.branch, self.repository = text_of(git.get("branch")), text_of(git.get("repository_url"))

    def _event(self, event: dict[str, Any], time: str, record: Record) -> None:
        kind = kind_of(event)
        if kind == "user_message":
            self._asked.append(len(self.entries))
            self._by_events = True
            self._add("event", "user", text_of(event.get("message")), time, record)
        elif kind == "agent_message":
            self._add("event", "assistant", text_of(event.get("message")), time, record)
        elif kind == "thread_rolled_back":
            self._roll_back(event.get("num_turns"))
        elif kind not in _SILENT_EVENTS:
            self.skipped += 1

    def _roll_back(self, turns: Any) -> None:
        """The user took their last `turns` messages back, and what was said to them."""
        begun = self._asked if self._by_events else self._typed
        if not isinstance(turns, int) or isinstance(turns, bool) or turns <= 0 or not begun:
            return
        at = begun[max(0, len(begun) - turns)]
        if at and self.entries[at - 1].source == "item" and _key(self.entries[at - 1]) == _key(self.entries[at]):
            at -= 1
        while at and self.entries[at - 1].start == self.entries[at].start:
            at -= 1  # what was put into the same message
        del self.entries[at:]
        for places in (self._asked, self._typed):
            del places[bisect_left(places, at) :]

    def _user_item(self, item: dict[str, Any], time: str, record: Record) -> None:
        """A message of the user's; where it tells the kinds of its parts, only those are theirs that they typed."""
        content = item.get("content")
        kinds = list_of(table_of(item.get("internal_chat_message_metadata_passthrough")).get("content_item_kinds"))
        theirs = [kind.startswith("user.") if isinstance(kind, str) else False for kind in kinds]
        parts = content if isinstance(content, list) else [content]
        if len(theirs) != len(parts):  # nobody can say which is which
            theirs = [not theirs or all(theirs)] * len(parts)
        told = [(text_of([part]), typed) for part, typed in zip(parts, theirs, strict=True)]
        first = len(self.entries)
        for _, group in groupby(enumerate(told), key=lambda row: -1 if row[1][1] else row[0]):
            rows = [row for _, row in group]
            if said := "\n".join(text for text, _ in rows if text):
                put_in = not rows[0][1]
                self.entries.append(_Entry("item", "user", said, time, record.start, record.end, put_in=put_in))
        typed_at = (at for at in range(first, len(self.entries)) if not _is_put_in(self.entries[at]))
        self._typed += list(typed_at)[:1]

    def _item(self, item: dict[str, Any], time: str, record: Record) -> None:
        kind = kind_of(item)
        if kind == "message":
            role = item.get("role")
            if role == "user":
                self._user_item(item, time, record)
            else:
                self._add("item", role if role == "assistant" else "system", text_of(item.get("content")), time, record)
        elif kind in ("function_call", "custom_tool_call", "tool_search_call", "web_search_call", "local_shell_call"):
            given = arguments(item.get("arguments", item.get("input", item.get("action"))))
            own = kind == "function_call" and item.get("namespace") in _OWN
            self._add("call", "", (item.get("name") or kind, given), time, record, text_of(item.get("call_id")), own)
        elif kind in ("function_call_output", "custom_tool_call_output"):
            own = kind == "function_call_output"
            self._add("one", "tool", _output(item.get("output")), time, record, text_of(item.get("call_id")), own)
        elif kind not in _SILENT_ITEMS and kind != "tool_search_output":
            self.skipped += 1


def _is_put_in(row: _Entry) -> bool:
    """Whether an item of the user's was put in by the tool, as it says itself or as it begins."""
    return row.put_in or row.said.lstrip().startswith(_PUT_IN)


def _say(row: _Entry, role: str, reading: Reading, asked: dict[str, list[str]]) -> None:
    """One entry. `asked` learns the ids of the questions behind each call that puts some to the user, none for other
    calls; a call whose id another one bears that still waits is no question."""
    reading.place = (row.time, row.start, row.end)
    if role == "call":
        tool, given = row.said
        reading.call(tool, given, id=row.call)
        puts = row.own and tool == _ASKS and bool(row.call) and row.call not in asked
        asked[row.call] = [text_of(one.get("id")) for one in tables_of(table_of(given).get("questions")) if puts]
    elif role == "tool" and (ids := asked.pop(row.call, [])) and row.own and (answers := _answers(row.said, ids)):
        said = [answers.get(id, "") for id in ids]
        by_number = dict(enumerate(said))
        change = partial(answered, answer=lambda at, _: by_number.get(at, ""))
        reading.settle(row.call, "", failed=False, change=change)
        reading.say("user", "\n".join(filter(None, said)))
    elif role == "tool":
        refused = row.said.strip() in _REFUSED
        failed = True if refused or row.said.startswith(_NO_PATCH) else None
        reading.result(row.said, id=row.call, failed=failed, refused=refused)
    elif role == "summary":
        reading.summary(row.said)
    elif role != "user":
        reading.say(role, row.said)
    else:
        context, mark, request = _replied(row.said, reading).rpartition(_REQUEST)
        reading.say("system", context if mark else "")
        reading.person(request)


def _replied(said: str, reading: Reading) -> str:
    """The answers in front of a message, which the tool writes beside its questions; what is left of the message."""
    text = said.lstrip().removeprefix(_REPLY).lstrip()
    if not said.lstrip().startswith(_REPLY) or not text.startswith(("[", "{")):
        return said
    try:
        found, end = DECODER.raw_decode(text)
    except (ValueError, RecursionError):  # nobody can say where the questions end
        reading.say("system", said)
        return ""
    rows = found if isinstance(found, list) else [found]
    answers = [text_of(table_of(row).get("answer")).strip() for row in rows]
    if not answers or not all(answers):
        reading.say("system", text[:end])
    reading.say("user", "\n".join(filter(None, answers)))
    return text[end:].lstrip().removeprefix(_REPLY.replace("<", "</")).lstrip()


def _answers(output: str, ids: Sequence[str]) -> dict[str, str]:
    """What the user answered, by the ids of the questions; empty for any other output, also where an answer is to none
    of them: it is told as the tool printed it."""
    given = table_of((parse_object(output) or {}).get("answers"))
    known = all(id in ids and isinstance(table_of(one).get("answers"), list) for id, one in given.items())
    return {id: ", ".join(map(text_of, one["answers"])) for id, one in given.items()} if known else {}


def _key(row: _Entry) -> tuple[str, int]:
    """The same for an item and its event; texts are compared by hash so that long ones are not held twice."""
    return row.role, hash(clean(row.said).strip()) if isinstance(row.said, str) else 0


# What Codex writes around the output of a command: how long it took, how many tokens it had, and the sandbox's word.
_AROUND = re.compile(
    r"(?:Chunk ID: \w+\n)?(?:Exit code: (?P<code>-?\d+)\n)?Wall time: [\d.]+ seconds\n"
    r"(?:Process exited with code (?P<exited>-?\d+)\n)?(?P<more>Process running with session ID \d+\n)?"
    r"(?:Original token count: \d+\n)?(?:Total output lines: \d+\n)?Output:\n?"
)
_NO_PATCH = "apply_patch verification failed"
_REFUSED = ("exec command rejected by user", "patch rejected by user")
_DENIED = re.compile(
    r"failed in sandbox [^\n]{0,120}?exit code: (?P<code>-?\d+), stdout: (?P<out>.*?)(?:, stderr: (?P<err>.*))?\Z",
    re.DOTALL,
)


def _output(output: Any) -> str:
    """What a tool gave back, its exit code on a line of its own below; older versions wrap it in one more JSON text,
    newer ones put lines about the process above it."""
    if isinstance(output, str) and output.startswith('{"output"'):
        output = parse_object(output) or output
    if isinstance(output, str):
        found = _AROUND.match(output)
        if found:
            code, rest = found["code"] or found["exited"], output[found.end() :].rstrip("\n")
            running = f"\n[{found['more'].strip()}]" if found["more"] else ""
            return f"{rest}\nexit code: {code}" if code else f"{rest}{running}"
        denied = _DENIED.match(output) if output.startswith("failed in sandbox") else None
        if denied:
            said = "\n".join(part for part in (denied["out"], denied["err"] or "") if part.strip())
            return f"{said}\nexit code: {denied['code']}"
    if isinstance(output, dict):
        code = table_of(output.get("metadata")).get("exit_code")
        text = text_of(output.get("output", output.get("content")))
        return f"{text}\nexit code: {code}" if isinstance(code, int) else text
    return text_of(output)
