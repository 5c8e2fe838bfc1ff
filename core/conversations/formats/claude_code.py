"""Claude Code's session files: one JSON record a line, in `projects/<folder>/<session>.jsonl` and `subagents/` below.

Nine of ten `user` lines are tool results; one answer is spread over several lines. The user's words stand in text
content of lines that are neither `isMeta` nor a summary after compaction, behind slash commands, in messages queued
while the assistant worked, and in two kinds of tool result: the refusal of a tool with a reason, and the answers to
the assistant's questions. Messages of a side chain are written by the main assistant for a sub-agent, so nobody's turn
is "user" there. Hooks that keep a copy write the records as one array. The maker does not document the format; this
follows public sessions of versions 1.0 to 2.1.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from core.conversations.conversation import Conversation
from core.conversations.events import NOT_WANTED, Call, Hook, Plan, PullRequest, Todos, shortened
from core.conversations.lines import BOM, INJECTED
from core.conversations.records import Document, Record, json_document, json_lines, keys_in, object_keys
from core.conversations.turns import Reading, answered, clean, kind_of, list_of, table_of, tables_of, text_of, word

_FIRST = re.compile(r'\s*\{\s*"type"\s*:\s*"(?:user|assistant)"\s*,\s*"message"\s*:')
_INJECTED = INJECTED | {
    "ide-selection": "system",
    "ide-diagnostics": "system",
    "user-prompt-submit-hook": "system",
    "post-tool-use-hook": "system",
    "teammate-message": "system",
    "session-start-hook": "system",
    "bash-input": "user",  # a command that the user typed behind `!`
    "user-memory-input": "user",  # what they typed behind `#`
}
# Records that hold nothing that was said: bookkeeping of the tool, and progress that its result repeats.
_SILENT = frozenset({
    "progress", "file-history-snapshot", "queue-operation", "system", "mode", "permission-mode", "pr-link",
    "last-prompt", "agent-name", "agent-color", "agent-setting", "tag", "attribution-snapshot", "content-replacement",
    "context-collapse-commit", "worktree-state", "result", "started", "bridge-session",
})  # fmt: skip
_TITLES = {"custom-title": ("customTitle", "title"), "ai-title": ("aiTitle", "title"), "summary": ("summary",)}
_TYPED = ("<command-args>", "</command-args>")
_PASTED = ("[Image #", "[Pasted text #")
"""What the input line shows for what was pasted into it."""
_BY_THE_TOOL = (
    "[Request interrupted by user", "<task-notification>", "Caveat: The messages below were generated",
    "[SYSTEM NOTIFICATION", "<<autonomous-loop",
)  # fmt: skip
_CONTINUED = "This session is being continued from a previous conversation"
# What follows is the user's; the same words further down in an output are of whoever wrote it.
_REFUSED = re.compile(rf"((?:{'|'.join(NOT_WANTED)})[^\n]*?)(?:[Tt]he user said:\n|reason for the rejection: )")
_HINT = "\n\nNote: The user's next message may contain a correction"
_INSTEAD = ("The user wants to clarify these questions", "The user has indicated they have provided enough answers")
_ANSWER = re.compile(r"^  Answer: (.+)", re.MULTILINE)
_ASKS = "AskUserQuestion"
_ANSWERED = ("User has answered your questions", "Your questions have been answered", "The user answered:")
_MADE = re.compile(r"Task #(\d+) created successfully: (.+)")
_MOVED = re.compile(r"Updated task #(\d+)")


def sniff(head: str) -> bool:
    """Members that only this tool's records have, on the first lines."""
    keys = object_keys(head)
    if not keys and {"parentUuid", "sessionId", "message"} <= keys_in(head):
        return True  # an array
    if not keys or "projectHash" in keys:
        return False
    return (
        "parentUuid" in keys
        or {"type", "summary", "leafUuid"} <= keys
        or {"messageId", "snapshot"} <= keys
        or {"display", "pastedContents"} <= keys
        or ({"type", "sessionId"} <= keys and any(f'"{kind}"' in head for kind in (*_SILENT, *_TITLES)))
        or bool(_FIRST.match(head))
    )


def read_all(name: str, data: bytes) -> tuple[Conversation, ...]:
    """One conversation a session file; of `history.jsonl` one for each project or session in it."""
    prompts: dict[str, Reading] = {}
    folders: dict[str, Any] = {}
    reading, facts = Reading(_INJECTED), _Facts()
    copied = _copied(data)
    reading.skipped += copied is not None and copied.torn
    for record in json_lines(data) if copied is None else copied.records():
        value = record.value
        if value is not None and "display" in value and "pastedContents" in value:
            key = str(value.get("sessionId") or value.get("project") or "")
            folders[key] = value.get("project")
            prompt = prompts.setdefault(key, Reading(_INJECTED))
            prompt.at(record, value.get("timestamp"))
            prompt.person(text_of(value["display"]))
        else:
            _read_record(record, reading, facts)
    found = [row.conversation(name, "claude_code", id=key, folder=folders[key]) for key, row in prompts.items()]
    if reading.entries or not found or reading.skipped:
        found.append(facts.conversation(name, reading))
    return tuple(found)


def _copied(data: bytes) -> Document | None:
    """The array that a hook keeps of a session; None where lines follow an array, or where it is empty."""
    if data.removeprefix(BOM).lstrip()[:1] != b"[":
        return None
    found = json_document(data)
    rows = found.records()
    return found if found.torn or (rows and data[rows[-1].end :].strip() == b"]") else None


class _Facts:
    """What the records tell about their session."""

    def __init__(self) -> None:
        self.session = self.folder = self.agent = ""
        self.titles: dict[str, str] = {}
        self.seen: set[str] = set()
        self.leaf = ""
        self.model = self.branch = ""
        self.queued: list[tuple[str, tuple[str, int, int]]] = []  # words and place; not yet handed over
        self.from_queue: dict[str, slice] = {}  # words that were said from there -> their entries
        self.said: set[str] = set()  # what arrived as a message of its own after messages were queued
        self.tasks: dict[str, str] = {}  # the number of a step -> its subject
        self.command = ("", "")  # id and time of the slash command that was said last

    def note(self, value: dict[str, Any]) -> None:
        self.session = self.session or text_of(value.get("sessionId"))
        self.folder = self.folder or text_of(value.get("cwd"))
        if value.get("isSidechain") and not self.agent:
            self.agent = text_of(value.get("agentId"))
        self.seen.add(text_of(value.get("uuid")))
        self.branch = self.branch or text_of(value.get("gitBranch"))
        model = text_of(table_of(value.get("message")).get("model"))
        self.model = model if model and not model.startswith("<") else self.model

    def has_queued(self, said: str, reading: Reading) -> bool:
        """Whether a message is one that was said from the queue: the same words after an answer are said once more."""
        at = self.from_queue.get(said)
        if at is not None and any(row.role == "assistant" for row in reading.entries[at.stop :]):
            del self.from_queue[said]
        return said in self.from_queue

    def disown(self, said: str, reading: Reading) -> None:
        """Words from the queue turn out to be somebody else's: the queue does not tell, the message behind it does."""
        for row in reading.entries[self.from_queue.pop(said)]:
            row.role = "system" if row.role == "user" else row.role

    def conversation(self, name: str, reading: Reading) -> Conversation:
        # Old versions write summaries of other sessions at the beginning; their leaf is not in this file.
        if self.leaf not in self.seen:
            self.titles.pop("summary", None)
        title = next((self.titles[kind] for kind in _TITLES if kind in self.titles), "")
        # A sub-agent's file carries the id of the session that it worked for.
        own = f"{self.session}/{self.agent}" if self.session and self.agent else self.session
        reading.agent = ""
        for said, reading.place in self.queued:  # the session ended before it was handed over
            if _typed(said) and said not in self.said:
                reading.person(said)
        facts = {"title": title, "folder": self.folder, "model": self.model, "branch": self.branch}
        return reading.conversation(name, "claude_code", id=own, **facts)


def _read_record(record: Record, reading: Reading, facts: _Facts) -> None:
    value = record.value
    kind = value.get("type") if value else None
    if value is None or not isinstance(kind, str):
        reading.skipped += 1
        return
    facts.note(value)
    reading.at(record, value.get("timestamp"))
    reading.agent = (text_of(value.get("agentId")) or "side chain") if value.get("isSidechain") else ""
    if kind == "queue-operation":
        _read_queue(value, reading, facts)
    elif kind == "pr-link":
        reading.note(PullRequest(url=word(value.get("prUrl"), 500), **reading.about))
    elif kind == "system" and value.get("subtype") == "stop_hook_summary":
        _read_hooks(value, reading)
    elif kind in _TITLES:
        facts.titles[kind] = next((text_of(value[key]) for key in _TITLES[kind] if key in value), "")
        facts.leaf = text_of(value.get("leafUuid")) if kind == "summary" else facts.leaf
    elif kind == "attachment":
        _read_attachment(value, reading, facts)
    elif kind not in ("user", "assistant"):
        reading.skipped += kind not in _SILENT
    else:
        content = table_of(value.get("message")).get("content")
        if not isinstance(content, str | list):
            reading.skipped += 1
        elif kind == "user":
            _read_user(value, content, reading, facts)
        else:
            _read_assistant(value, content, reading)


def _read_user(value: dict[str, Any], content: str | list[Any], reading: Reading, facts: _Facts) -> None:
    blocks = [content] if isinstance(content, str) else content
    for block in blocks:
        if isinstance(block, dict) and kind_of(block) == "tool_result":
            _read_result(block, value.get("toolUseResult"), reading, facts)
    said = text_of([row for row in blocks if isinstance(row, str) or kind_of(row) == "text"])
    if value.get("isCompactSummary") or said.startswith(_CONTINUED):
        reading.summary(said)
        return
    # What a slash command stands for is put in behind it in the same moment.
    expanded = facts.command[0] and facts.command == (value.get("parentUuid"), value.get("timestamp"))
    if said.lstrip().startswith("<command-"):
        facts.command = (text_of(value.get("uuid")), text_of(value.get("timestamp")))
    if value.get("isSidechain"):
        reading.say("system", said)
        return
    sent = not _is_persons(value.get("origin"))
    hidden = value.get("isMeta") or value.get("isVisibleInTranscriptOnly")
    if facts.queued:
        facts.said.add(said)
    if sent and facts.has_queued(said, reading):
        facts.disown(said, reading)
        return
    if sent or hidden or expanded or said.startswith(_BY_THE_TOOL):
        reading.remind(said)
        return
    if said.strip() and facts.has_queued(said, reading):
        return
    plan = value.get("planContent")
    if isinstance(plan, str) and plan.strip() and plan in said:
        # A plan that was approved at the end of another session; its words are the assistant's.
        before, _, behind = said.partition(plan)
        reading.person(before)
        reading.say("assistant", plan)
        reading.note(Plan(text=clean(plan), approved=True, tool="ExitPlanMode", **reading.about))
        reading.say("system", behind)
        return
    # What is typed behind a slash command is the user's, though it comes in tags of the tool.
    start = said.find(_TYPED[0]) if said.lstrip().startswith("<command-") else -1
    end = said.find(_TYPED[1], start) if start >= 0 else -1
    if end >= 0:
        reading.person(said[:start] + said[end + len(_TYPED[1]) :])
        reading.say("user", said[start + len(_TYPED[0]) : end])
    else:
        reading.person(said)


def _read_queue(value: dict[str, Any], reading: Reading, facts: _Facts) -> None:
    """Messages that a user typed while the assistant worked: one that is removed from the queue was handed over in
    the middle of a turn and stands nowhere else; one that is dequeued follows as a message of its own."""
    done = value.get("operation")
    said = text_of(value.get("content"))
    if done == "enqueue":
        facts.queued.append((said, reading.place))
    elif done == "popAll":
        facts.queued.clear()
    elif done == "remove" and facts.queued:
        said, reading.place = facts.queued.pop()
        if _typed(said):
            reading.agent, before = "", len(reading.entries)
            reading.person(said)
            facts.from_queue[said] = slice(before, len(reading.entries))


def _is_persons(origin: Any) -> bool:
    """Whether a message comes from the user, who alone is told by this kind, or by none in older versions; all other
    kinds are other sessions, channels, clocks and work in the background."""
    return origin is None or kind_of(origin, "kind") == "human"


def _typed(said: str) -> bool:
    """Whether a queued message is a user's; notices of work in the background are queued as well, in marks."""
    start = said.lstrip()
    return bool(start) and (start.startswith(_PASTED) or not start.startswith(("{", "<", "[")))


def _read_hooks(value: dict[str, Any], reading: Reading) -> None:
    message = "\n".join(text_of(row) for row in list_of(value.get("hookErrors")))
    for info in list_of(value.get("hookInfos")):
        words = text_of(table_of(info).get("command"))
        if words:
            failed = bool(message.strip())
            reading.note(Hook(words=words, output=shortened(message), failed=failed, **reading.about))


def _read_result(block: dict[str, Any], detail: Any, reading: Reading, facts: _Facts) -> None:
    text, key = text_of(block.get("content")), text_of(block.get("tool_use_id"))
    failed = bool(block.get("is_error")) or table_of(detail).get("interrupted") is True
    refusal = _REFUSED.match(text) if failed else None
    if refusal is not None:
        reading.result(refusal[1], id=key, failed=True, refused=True, change=_refused)
        words = text[refusal.end() :].partition(_HINT)[0]
        # In place of answers the tool itself speaks, and quotes those that were given already.
        reading.person("\n".join(_ANSWER.findall(words)) if words.startswith(_INSTEAD) else words)
        return
    answers = table_of(table_of(detail).get("answers")) if text.startswith(_ANSWERED) else None
    if answers and reading.waits(key, _ASKS):
        # The questions stand in the call just above, as the assistant's words.
        said = list(map(text_of, answers.values()))
        by_words = dict(zip(map(str, answers), said, strict=True))

        def answer(at: int, asked: str) -> str:
            return by_words.get(asked, said[at] if at < len(said) else "")

        reading.settle(key, "", failed=False, change=lambda event: answered(event, answer))
        reading.say("user", "\n".join(said))
        return

    def change(event: Call) -> Call:
        if isinstance(event, Todos):
            return _numbered(event, text, facts.tasks)
        refused = failed and text.startswith(NOT_WANTED)
        if isinstance(event, Plan):
            return replace(event, approved=False if failed else True if "approved" in text[:300] else None)
        return replace(event, refused=refused)

    reading.result(text, id=key, failed=failed, change=change)


def _refused(event: Call) -> Call:
    return replace(event, approved=False) if isinstance(event, Plan) else event


def _numbered(event: Todos, text: str, tasks: dict[str, str]) -> Todos:
    """Steps are made one by one and named by number afterwards: the subject is what a reader wants."""
    made = _MADE.match(text)
    if made:
        tasks[made[1]] = made[2].strip()
    moved = _MOVED.match(text)
    if moved and moved[1] in tasks and [text for text, _ in event.items] == [f"#{moved[1]}"]:
        return replace(event, items=((tasks[moved[1]], event.items[0][1]),))
    return event


def _read_assistant(value: dict[str, Any], content: str | list[Any], reading: Reading) -> None:
    role = "system" if value.get("isApiErrorMessage") else "assistant"
    for block in [content] if isinstance(content, str) else content:
        if isinstance(block, str):
            reading.say(role, block)
        elif not isinstance(block, dict):
            reading.skipped += 1
        elif block.get("type") == "text":
            reading.say(role, text_of(block.get("text")))
        elif block.get("type") in ("tool_use", "server_tool_use"):
            _read_call(block, reading)
        elif str(block.get("type")).endswith("_result"):
            reading.say("tool", text_of(block.get("content")))


def _read_call(block: dict[str, Any], reading: Reading) -> None:
    """Questions and plans are put to the user through a tool; they are the assistant's words all the same."""
    tool, given, key = block.get("name"), block.get("input"), text_of(block.get("id"))
    about = table_of(given)
    if tool == _ASKS and isinstance(about.get("questions"), list):
        said = "\n".join(text_of(row.get("question")) for row in tables_of(about["questions"]))
    elif tool == "ExitPlanMode" and isinstance(about.get("plan"), str):
        said = about["plan"]
    else:
        reading.call(tool, given, id=key)
        return
    reading.say("assistant", said)
    reading.called(tool, given, id=key)


def _read_attachment(value: dict[str, Any], reading: Reading, facts: _Facts) -> None:
    held = table_of(value.get("attachment"))
    if held.get("type") == "queued_command":
        said = text_of(held.get("prompt"))
        origin = held.get("origin")
        typed = _is_persons(origin) and (origin is not None or _typed(said))
        typed = typed and held.get("commandMode", "prompt") == "prompt"
        if facts.has_queued(said, reading):
            if not typed:
                facts.disown(said, reading)
            return
        facts.queued[:] = [row for row in facts.queued if row[0] != said]
        if typed and not value.get("isSidechain"):
            reading.person(said)
        else:
            reading.say("system", said)
