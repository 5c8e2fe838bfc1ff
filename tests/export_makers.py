"""Small exports of ChatGPT and Claude.ai, made as the services make them."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

MADE = 1_700_000_000.5


def chat(id: str, title: str, *words: str) -> dict[str, Any]:
    """A conversation of ChatGPT: user and assistant by turns, and an answer on a side branch that nobody sees."""
    mapping: dict[str, Any] = {"root": {"id": "root", "message": None, "parent": None, "children": ["m0", "side"]}}
    for at, text in enumerate(words):
        mapping[f"m{at}"] = {
            "id": f"m{at}",
            "parent": f"m{at - 1}" if at else "root",
            "children": [f"m{at + 1}"] if at + 1 < len(words) else [],
            "message": {
                "id": f"m{at}",
                "author": {"role": "assistant" if at % 2 else "user", "name": None, "metadata": {}},
                "create_time": MADE + at,
                "content": {"content_type": "text", "parts": [text]},
                "recipient": "all",
                "metadata": {"model_slug": "some"},
            },
        }
    if words:
        side = {"author": {"role": "user"}, "content": {"content_type": "text", "parts": ["edited away"]}}
        mapping["side"] = {"id": "side", "parent": "root", "children": [], "message": side}
    head = {"title": title, "create_time": MADE, "update_time": MADE + len(words)}
    return {**head, "mapping": mapping, "current_node": f"m{len(words) - 1}", "conversation_id": id, "id": id}


def claude_chat(id: str, title: str, *words: str) -> dict[str, Any]:
    """A conversation of Claude.ai; the words stand in `text` and in `content`."""
    messages = [
        {
            "uuid": f"m{at}",
            "sender": "assistant" if at % 2 else "human",
            "text": text,
            "content": [{"type": "text", "text": text, "start_timestamp": "2026-01-02T03:04:05Z", "citations": []}],
            "created_at": f"2026-01-02T03:04:{at:02}Z",
            "attachments": [],
            "files": [],
        }
        for at, text in enumerate(words)
    ]
    times = {"created_at": "2026-01-02T03:04:00Z", "updated_at": f"2026-01-02T03:05:{len(words):02}Z"}
    return {"uuid": id, "name": title, **times, "account": {"uuid": "a"}, "chat_messages": messages}


def zipped(path: Path, files: Mapping[str, str | bytes]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path
