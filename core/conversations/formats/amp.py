"""Amp's threads, `~/.local/share/amp/threads/T-*.json`: one document `{id, created, title, messages, env}` a thread.

A message is `{role, content: [blocks], meta: {sentAt}}`; what a tool gave back is `{type: tool_result, toolUseID, run:
{status, result, error}}`. `env.initial.trees` tells the folder and its repository. The maker does not document the
format; this follows public readers of others (agentsview, coding_agent_session_search).
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
    text_in,
    text_of,
    whole_of,
)


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
        meta, usage = value.get("meta"), table_of(value.get("usage"))
        reading.dated(meta.get("sentAt") if isinstance(meta, dict) else usage.get("timestamp"))
        reading.model = text_of(usage.get("model")) or reading.model
        if role == "info":
            for block in list_of(value.get("content")):
                reading.summary(text_in(table_of(block).get("summary"), "summary"))
        else:
            read_blocks(str(role), value.get("content"), reading, result=_read_result)
    if "messages" not in about:
        reading.skipped += 1
    trees = list_of(table_of(table_of(about.get("env")).get("initial")).get("trees"))
    tree = table_of(trees[0] if trees else None)
    link = table_of(tree.get("repository"))
    branch = text_of(link.get("ref")).removeprefix("refs/heads/")
    facts = {"folder": path_of(tree.get("uri")), "repository": link.get("url"), "branch": branch}
    id, title, created = (about.get(key) for key in ("id", "title", "created"))
    return reading.conversation(name, "amp", id=id, title=title, started=created, **facts)


def _read_result(block: dict[str, Any], reading: Reading) -> None:
    run = table_of(block.get("run"))
    status, back, error = kind_of(run, "status"), run.get("result"), run.get("error")
    output = back.get("output") if isinstance(back, dict) and "output" in back else back
    text = text_of(output) or (
        json.dumps(output, ensure_ascii=False) if isinstance(output, dict | list) and output else ""
    )
    code = whole_of(table_of(back).get("exitCode"))
    key, refused = text_of(block.get("toolUseID") or block.get("tool_use_id")), status.startswith("rejected")
    if status in ("in-progress", "queued", "blocked-on-user"):
        return
    failed = {"done": False, "error": True, "cancelled": True}.get(status, True if refused else None)
    failed = failed or bool(code) if failed is not None else None
    shown = "\n".join(filter(None, (text, text_in(error, "message"))))
    reading.result(shown, id=key, failed=failed, status=code, refused=refused)
