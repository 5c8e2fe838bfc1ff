"""Amp's threads, `~/.local/share/amp/threads/T-*.json`: one document `{id, created, title, messages, env}` a thread.

A message is `{role, content: [blocks], meta: {sentAt}}`; what a tool gave back is `{type: tool_result, toolUseID, run:
{status, result, error}}`; a message of the role `info` holds summaries and the commands that the user ran. What
another thread, the manager of agents or an automation sends has the user's role, and says so in its `meta`. Since 2026
the threads lie with the maker; `amp threads export` writes them in this form. `env.initial` tells the folder and its
repository. The maker does not document the format; this follows public readers of others (agentsview,
coding_agent_session_search, neilberkman/ccrider).
"""

from __future__ import annotations

import json
from typing import Any

from core.conversations.conversation import Conversation
from core.conversations.records import json_document, object_keys
from core.conversations.turns import (
    Reading,
    kind_of,
    list_of,
    path_of,
    read_blocks,
    table_of,
    tables_of,
    text_in,
    text_of,
    whole_of,
)

_SENT_BY_OTHERS = ("fromAggman", "fromExecutorThreadID", "fromAutomation")


def sniff(head: str) -> bool:
    """A document with the id of a thread and its messages, or what stands before them."""
    keys = object_keys(head)
    return '"T-' in head and "id" in keys and bool({"messages", "created", "v"} & keys)


def read(name: str, data: bytes) -> Conversation:
    """Read one thread."""
    found = json_document(data, ("messages",))
    about = found.members
    reading = Reading(skipped=int(found.torn))
    for value in reading.values(found.records("messages"), ""):
        role = value.get("role")
        if role not in ("user", "assistant", "info"):
            reading.skipped += 1
            continue
        meta, usage = table_of(value.get("meta")), table_of(value.get("usage"))
        reading.dated(meta.get("sentAt") or usage.get("timestamp") or value.get("createdAt"))
        reading.model = text_of(usage.get("model")) or reading.model
        if role == "info":
            for block in tables_of(value.get("content")):
                _read_info(block, reading)
        else:
            reading.delegated = any(map(meta.get, _SENT_BY_OTHERS)) or bool(value.get("parentToolUseId"))
            _read_said(str(role), value.get("content"), reading)
    if "messages" not in about:
        reading.skipped += 1
    initial = table_of(table_of(about.get("env")).get("initial"))
    trees = list_of(initial.get("trees"))
    tree = table_of(trees[0] if trees else None)
    link = table_of(tree.get("repository"))
    branch = text_of(link.get("ref")).removeprefix("refs/heads/")
    folder = path_of(tree.get("uri")) or initial.get("workingDirectory")
    facts = {"folder": folder, "repository": link.get("url"), "branch": branch}
    id, title, created = (about.get(key) for key in ("id", "title", "created"))
    return reading.conversation(name, "amp", id=id, title=title, started=created, **facts)


def _read_said(role: str, content: Any, reading: Reading) -> None:
    """What a user or the assistant said; the user neither wrote nor saw a text that is hidden."""
    hidden = [row for row in tables_of(content) if row.get("hidden") is True] if role == "user" else []
    reading.remind(text_of(hidden))
    read_blocks(role, [row for row in content if row not in hidden] if hidden else content, reading, _read_result)


def _read_info(block: dict[str, Any], reading: Reading) -> None:
    """A summary, or a command that the user ran beside the conversation."""
    reading.summary(text_in(block.get("summary"), "summary"))
    if kind_of(block) == "manual_bash_invocation":
        command = text_of(table_of(block.get("args")).get("cmd"))
        reading.say("tool", f"$ {command}\n{_shown(table_of(block.get('toolRun')))}")
    else:
        reading.say("system", text_of([block]))


def _shown(run: dict[str, Any]) -> str:
    """What a tool gave back, or why it gave nothing."""
    back = run.get("result")
    output = back.get("output") if isinstance(back, dict) and "output" in back else back
    text = text_of(output) or (
        json.dumps(output, ensure_ascii=False) if isinstance(output, dict | list) and output else ""
    )
    return "\n".join(filter(None, (text, text_in(run.get("error"), "message"))))


def _read_result(block: dict[str, Any], reading: Reading) -> None:
    run = table_of(block.get("run"))
    status, code = kind_of(run, "status"), whole_of(table_of(run.get("result")).get("exitCode"))
    key, refused = text_of(block.get("toolUseID") or block.get("tool_use_id")), status.startswith("rejected")
    if status in ("in-progress", "queued", "blocked-on-user"):
        return
    failed = {"done": False, "error": True, "cancelled": True}.get(status, True if refused else None)
    failed = failed or bool(code) if failed is not None else None
    reading.result(_shown(run), id=key, failed=failed, status=code, refused=refused)
