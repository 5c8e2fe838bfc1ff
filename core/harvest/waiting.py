"""Remarks that are too weak alone wait in the cache folder until another session of their project bears them out.

One small JSON file, project -> rows. It is a projection: deleting it loses nothing but what waits. What it holds has
gone through the redaction, whatever the settings say.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from threading import Lock
from typing import Any

from core.base import files
from core.base.redact import redact
from core.conversations.conversation import Conversation
from core.offline.recurring import bear_out, find_remarks

MOST_PROJECTS = 200
MAX_BYTES = 4 << 20
_lock = Lock()


def borne_out(conversation: Conversation, file: Path) -> list[dict[str, str]]:
    """Facts of this conversation that one of an earlier conversation bears out; the rest of its remarks wait."""
    project = project_of(conversation)
    remarks = list(find_remarks(conversation))
    if not project or not remarks:
        return []
    session = conversation.id or conversation.started
    with _lock:
        known = _read(file)
        facts, rows = bear_out(remarks, known.pop(project, []), session)
        known[project] = [row for row in rows if not redact(json.dumps(row, ensure_ascii=False)).counts]
        kept = dict(list(known.items())[-MOST_PROJECTS:])
        data = json.dumps(kept, ensure_ascii=False).encode("utf-8", "replace")
        if len(data) <= MAX_BYTES:
            files.write_cache(file, data)
    return facts


def project_of(conversation: Conversation) -> str:
    """What the sessions of one project have in common: the repository, else the folder without its work tree."""
    folder = re.split(r"[\\/]\.?worktrees?[\\/]", conversation.folder.rstrip("/\\"))[0]
    return redact(conversation.repository or folder).text


def _read(file: Path) -> dict[str, list[Any]]:
    """What is no file of ours, or was damaged, holds nothing."""
    try:
        found = json.loads(files.read_or_empty(file) or b"{}")
    except (OSError, ValueError, RecursionError):
        return {}
    rows = found.items() if isinstance(found, dict) else ()
    return {key: [row for row in held if isinstance(row, dict)] for key, held in rows if isinstance(held, list)}
