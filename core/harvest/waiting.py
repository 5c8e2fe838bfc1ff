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
from core.offline.closing import read_session
from core.offline.recurring import bear_out, checks_borne_out, find_remarks
from core.offline.sessions import check_steps

MOST_PROJECTS = 200
MAX_BYTES = 4 << 20
_lock = Lock()


def borne_out(conversation: Conversation, file: Path) -> dict[str, list[dict[str, str]]]:
    """Facts and playbooks of this conversation that an earlier one of its project bears out; the rest waits."""
    project = project_of(conversation)
    remarks = list(find_remarks(conversation))
    session = read_session(conversation)
    steps, _ = check_steps(session)
    if not project or not (remarks or steps):
        return {}
    name = conversation.id or conversation.started
    with _lock:
        known = _read(file)
        facts, rows = bear_out(remarks, known.pop(project, []), name)
        checks, rows = checks_borne_out(session.project, steps, rows, name, conversation.started)
        known[project] = [row for row in rows if not redact(json.dumps(row, ensure_ascii=False)).counts]
        kept = dict(list(known.items())[-MOST_PROJECTS:])
        data = json.dumps(kept, ensure_ascii=False).encode("utf-8", "replace")
        if len(data) <= MAX_BYTES:
            files.write_cache(file, data)
    return {"facts": facts, "playbooks": checks}


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
